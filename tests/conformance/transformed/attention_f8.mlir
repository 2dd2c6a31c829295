module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4x3xf64>, %arg1: tensor<3x3xf64>, %arg2: tensor<3x3xf64>, %arg3: tensor<3x3xf64>) -> (tensor<4x3xf64> {jax.result_info = "result[0]"}) {
    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x3xf64>, tensor<3x3xf64>) -> tensor<4x3xf64>
    %1 = stablehlo.dot_general %arg0, %arg2, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x3xf64>, tensor<3x3xf64>) -> tensor<4x3xf64>
    %2 = stablehlo.transpose %1, dims = [1, 0] : (tensor<4x3xf64>) -> tensor<3x4xf64>
    %3 = stablehlo.dot_general %0, %2, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x3xf64>, tensor<3x4xf64>) -> tensor<4x4xf64>
    %cst = stablehlo.constant dense<3.000000e+00> : tensor<f64>
    %4 = stablehlo.sqrt %cst : tensor<f64>
    %5 = stablehlo.convert %4 : tensor<f64>
    %6 = stablehlo.broadcast_in_dim %5, dims = [] : (tensor<f64>) -> tensor<4x4xf64>
    %7 = stablehlo.divide %3, %6 : tensor<4x4xf64>
    %cst_0 = stablehlo.constant dense<0xFFF0000000000000> : tensor<f64>
    %8 = stablehlo.reduce(%7 init: %cst_0) applies stablehlo.maximum across dimensions = [1] : (tensor<4x4xf64>, tensor<f64>) -> tensor<4xf64>
    %cst_1 = stablehlo.constant dense<0xFFF0000000000000> : tensor<f64>
    %9 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f64>) -> tensor<4xf64>
    %10 = stablehlo.maximum %9, %8 : tensor<4xf64>
    %11 = stablehlo.broadcast_in_dim %10, dims = [0] : (tensor<4xf64>) -> tensor<4x1xf64>
    %12 = stablehlo.broadcast_in_dim %11, dims = [0, 1] : (tensor<4x1xf64>) -> tensor<4x4xf64>
    %13 = stablehlo.subtract %7, %12 : tensor<4x4xf64>
    %14 = stablehlo.exponential %13 : tensor<4x4xf64>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %15 = stablehlo.reduce(%14 init: %cst_2) applies stablehlo.add across dimensions = [1] : (tensor<4x4xf64>, tensor<f64>) -> tensor<4xf64>
    %16 = stablehlo.broadcast_in_dim %15, dims = [0] : (tensor<4xf64>) -> tensor<4x1xf64>
    %17 = stablehlo.broadcast_in_dim %16, dims = [0, 1] : (tensor<4x1xf64>) -> tensor<4x4xf64>
    %18 = stablehlo.divide %14, %17 : tensor<4x4xf64>
    %19 = stablehlo.dot_general %arg0, %arg3, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x3xf64>, tensor<3x3xf64>) -> tensor<4x3xf64>
    %20 = stablehlo.dot_general %18, %19, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x4xf64>, tensor<4x3xf64>) -> tensor<4x3xf64>
    return %20 : tensor<4x3xf64>
  }
}
