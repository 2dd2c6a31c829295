module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<6x3xf64>, %arg1: tensor<3xf64>) -> (tensor<f64> {jax.result_info = "result[0]"}) {
    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<6x3xf64>, tensor<3xf64>) -> tensor<6xf64>
    %1 = stablehlo.exponential %0 : tensor<6xf64>
    %2 = stablehlo.iota dim = 0 : tensor<6xi64>
    %3 = stablehlo.convert %2 : (tensor<6xi64>) -> tensor<6xf64>
    %4 = stablehlo.multiply %3, %0 : tensor<6xf64>
    %5 = stablehlo.subtract %1, %4 : tensor<6xf64>
    %6 = stablehlo.iota dim = 0 : tensor<6xi64>
    %7 = stablehlo.convert %6 : (tensor<6xi64>) -> tensor<6xf64>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f64>
    %8 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f64>) -> tensor<6xf64>
    %9 = stablehlo.add %7, %8 : tensor<6xf64>
    %10 = stablehlo.multiply %0, %0 : tensor<6xf64>
    %11 = stablehlo.convert %9 : tensor<6xf64>
    %12 = stablehlo.add %11, %10 : tensor<6xf64>
    %13 = chlo.lgamma %12 : tensor<6xf64> -> tensor<6xf64>
    %14 = stablehlo.add %5, %13 : tensor<6xf64>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %15 = stablehlo.reduce(%14 init: %cst_0) applies stablehlo.add across dimensions = [0] : (tensor<6xf64>, tensor<f64>) -> tensor<f64>
    return %15 : tensor<f64>
  }
}
