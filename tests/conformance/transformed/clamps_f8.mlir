module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<6xf64>) -> (tensor<6xf64> {jax.result_info = "result[0]"}) {
    %cst = stablehlo.constant dense<2.000000e+00> : tensor<f64>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f64>) -> tensor<6xf64>
    %1 = stablehlo.multiply %arg0, %0 : tensor<6xf64>
    %cst_0 = stablehlo.constant dense<-5.000000e-01> : tensor<f64>
    %cst_1 = stablehlo.constant dense<0.69999999999999996> : tensor<f64>
    %2 = call @clip(%1, %cst_0, %cst_1) : (tensor<6xf64>, tensor<f64>, tensor<f64>) -> tensor<6xf64>
    %3 = stablehlo.multiply %2, %2 : tensor<6xf64>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %4 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f64>) -> tensor<6xf64>
    %5 = stablehlo.compare GT, %arg0, %4, FLOAT : (tensor<6xf64>, tensor<6xf64>) -> tensor<6xi1>
    %6 = stablehlo.abs %arg0 : tensor<6xf64>
    %cst_3 = stablehlo.constant dense<1.000000e-01> : tensor<f64>
    %7 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f64>) -> tensor<6xf64>
    %8 = stablehlo.add %6, %7 : tensor<6xf64>
    %9 = stablehlo.sqrt %8 : tensor<6xf64>
    %10 = stablehlo.multiply %arg0, %arg0 : tensor<6xf64>
    %11 = stablehlo.multiply %10, %arg0 : tensor<6xf64>
    %12 = call @_where(%5, %9, %11) : (tensor<6xi1>, tensor<6xf64>, tensor<6xf64>) -> tensor<6xf64>
    %13 = stablehlo.add %3, %12 : tensor<6xf64>
    return %13 : tensor<6xf64>
  }
  func.func private @clip(%arg0: tensor<6xf64>, %arg1: tensor<f64>, %arg2: tensor<f64>) -> tensor<6xf64> {
    %0 = stablehlo.convert %arg1 : tensor<f64>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f64>) -> tensor<6xf64>
    %2 = stablehlo.maximum %1, %arg0 : tensor<6xf64>
    %3 = stablehlo.convert %arg2 : tensor<f64>
    %4 = stablehlo.broadcast_in_dim %3, dims = [] : (tensor<f64>) -> tensor<6xf64>
    %5 = stablehlo.minimum %4, %2 : tensor<6xf64>
    return %5 : tensor<6xf64>
  }
  func.func private @_where(%arg0: tensor<6xi1>, %arg1: tensor<6xf64>, %arg2: tensor<6xf64>) -> tensor<6xf64> {
    %0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<6xi1>, tensor<6xf64>
    return %0 : tensor<6xf64>
  }
}
