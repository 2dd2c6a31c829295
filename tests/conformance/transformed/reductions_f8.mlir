module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4x5xf64>) -> (tensor<5xf64> {jax.result_info = "result[0]"}, tensor<4xf64> {jax.result_info = "result[1]"}, tensor<4xf64> {jax.result_info = "result[2]"}, tensor<f64> {jax.result_info = "result[3]"}, tensor<5xf64> {jax.result_info = "result[4]"}) {
    %cst = stablehlo.constant dense<0xFFF0000000000000> : tensor<f64>
    %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.maximum across dimensions = [0] : (tensor<4x5xf64>, tensor<f64>) -> tensor<5xf64>
    %cst_0 = stablehlo.constant dense<0xFFF0000000000000> : tensor<f64>
    %1 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f64>) -> tensor<5xf64>
    %2 = stablehlo.maximum %1, %0 : tensor<5xf64>
    %3 = stablehlo.is_finite %2 : (tensor<5xf64>) -> tensor<5xi1>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %4 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f64>) -> tensor<5xf64>
    %5 = stablehlo.select %3, %2, %4 : tensor<5xi1>, tensor<5xf64>
    %6 = stablehlo.broadcast_in_dim %5, dims = [1] : (tensor<5xf64>) -> tensor<1x5xf64>
    %7 = stablehlo.broadcast_in_dim %6, dims = [0, 1] : (tensor<1x5xf64>) -> tensor<4x5xf64>
    %8 = stablehlo.subtract %arg0, %7 : tensor<4x5xf64>
    %9 = stablehlo.exponential %8 : tensor<4x5xf64>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %10 = stablehlo.reduce(%9 init: %cst_2) applies stablehlo.add across dimensions = [0] : (tensor<4x5xf64>, tensor<f64>) -> tensor<5xf64>
    %11 = stablehlo.sign %10 : tensor<5xf64>
    %12 = stablehlo.abs %10 : tensor<5xf64>
    %13 = stablehlo.log %12 : tensor<5xf64>
    %14 = stablehlo.add %13, %5 : tensor<5xf64>
    %cst_3 = stablehlo.constant dense<1.500000e+00> : tensor<f64>
    %15 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f64>) -> tensor<4x5xf64>
    %16 = stablehlo.add %arg0, %15 : tensor<4x5xf64>
    %cst_4 = stablehlo.constant dense<1.000000e+00> : tensor<f64>
    %17 = stablehlo.reduce(%16 init: %cst_4) applies stablehlo.multiply across dimensions = [1] : (tensor<4x5xf64>, tensor<f64>) -> tensor<4xf64>
    %cst_5 = stablehlo.constant dense<0xFFF0000000000000> : tensor<f64>
    %18 = stablehlo.reduce(%arg0 init: %cst_5) applies stablehlo.maximum across dimensions = [1] : (tensor<4x5xf64>, tensor<f64>) -> tensor<4xf64>
    %c = stablehlo.constant dense<0> : tensor<i64>
    %19 = call @_var(%arg0, %c) : (tensor<4x5xf64>, tensor<i64>) -> tensor<f64>
    %20 = call @norm(%arg0) : (tensor<4x5xf64>) -> tensor<5xf64>
    return %14, %17, %18, %19, %20 : tensor<5xf64>, tensor<4xf64>, tensor<4xf64>, tensor<f64>, tensor<5xf64>
  }
  func.func private @_var(%arg0: tensor<4x5xf64>, %arg1: tensor<i64>) -> tensor<f64> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x5xf64>, tensor<f64>) -> tensor<f64>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f64>) -> tensor<1x1xf64>
    %cst_0 = stablehlo.constant dense<2.000000e+01> : tensor<f64>
    %2 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f64>) -> tensor<1x1xf64>
    %3 = stablehlo.divide %1, %2 : tensor<1x1xf64>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1] : (tensor<1x1xf64>) -> tensor<4x5xf64>
    %5 = stablehlo.subtract %arg0, %4 : tensor<4x5xf64>
    %6 = chlo.square %5 : tensor<4x5xf64> -> tensor<4x5xf64>
    %7 = stablehlo.convert %arg1 : (tensor<i64>) -> tensor<f64>
    %cst_1 = stablehlo.constant dense<2.000000e+01> : tensor<f64>
    %8 = stablehlo.subtract %cst_1, %7 : tensor<f64>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %9 = stablehlo.reduce(%6 init: %cst_2) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x5xf64>, tensor<f64>) -> tensor<f64>
    %10 = stablehlo.divide %9, %8 : tensor<f64>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %11 = stablehlo.compare GT, %8, %cst_3, FLOAT : (tensor<f64>, tensor<f64>) -> tensor<i1>
    %cst_4 = stablehlo.constant dense<0x7FF8000000000000> : tensor<f64>
    %12 = call @_where(%11, %10, %cst_4) : (tensor<i1>, tensor<f64>, tensor<f64>) -> tensor<f64>
    return %12 : tensor<f64>
  }
  func.func private @_where(%arg0: tensor<i1>, %arg1: tensor<f64>, %arg2: tensor<f64>) -> tensor<f64> {
    %0 = stablehlo.convert %arg2 : tensor<f64>
    %1 = stablehlo.select %arg0, %arg1, %0 : tensor<i1>, tensor<f64>
    return %1 : tensor<f64>
  }
  func.func private @norm(%arg0: tensor<4x5xf64>) -> tensor<5xf64> {
    %0 = stablehlo.multiply %arg0, %arg0 : tensor<4x5xf64>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %1 = stablehlo.reduce(%0 init: %cst) applies stablehlo.add across dimensions = [0] : (tensor<4x5xf64>, tensor<f64>) -> tensor<5xf64>
    %2 = stablehlo.sqrt %1 : tensor<5xf64>
    return %2 : tensor<5xf64>
  }
}
