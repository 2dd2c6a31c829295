module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4x3xf64>, %arg1: tensor<3x5xf64>, %arg2: tensor<5xf64>, %arg3: tensor<5x2xf64>) -> (tensor<4x2xf64> {jax.result_info = "result[0]"}) {
    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x3xf64>, tensor<3x5xf64>) -> tensor<4x5xf64>
    %1 = stablehlo.broadcast_in_dim %arg2, dims = [1] : (tensor<5xf64>) -> tensor<1x5xf64>
    %2 = stablehlo.broadcast_in_dim %1, dims = [0, 1] : (tensor<1x5xf64>) -> tensor<4x5xf64>
    %3 = stablehlo.add %0, %2 : tensor<4x5xf64>
    %4 = stablehlo.tanh %3 : tensor<4x5xf64>
    %5 = stablehlo.dot_general %4, %arg3, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x5xf64>, tensor<5x2xf64>) -> tensor<4x2xf64>
    %6 = call @softplus(%5) : (tensor<4x2xf64>) -> tensor<4x2xf64>
    return %6 : tensor<4x2xf64>
  }
  func.func private @softplus(%arg0: tensor<4x2xf64>) -> tensor<4x2xf64> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f64>) -> tensor<4x2xf64>
    %1 = stablehlo.maximum %arg0, %0 : tensor<4x2xf64>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f64>) -> tensor<4x2xf64>
    %3 = stablehlo.subtract %arg0, %2 : tensor<4x2xf64>
    %4 = stablehlo.compare NE, %3, %3, FLOAT : (tensor<4x2xf64>, tensor<4x2xf64>) -> tensor<4x2xi1>
    %5 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f64>) -> tensor<4x2xf64>
    %6 = stablehlo.add %arg0, %5 : tensor<4x2xf64>
    %7 = stablehlo.abs %3 : tensor<4x2xf64>
    %8 = stablehlo.negate %7 : tensor<4x2xf64>
    %9 = stablehlo.exponential %8 : tensor<4x2xf64>
    %10 = stablehlo.log_plus_one %9 : tensor<4x2xf64>
    %11 = stablehlo.add %1, %10 : tensor<4x2xf64>
    %12 = stablehlo.select %4, %6, %11 : tensor<4x2xi1>, tensor<4x2xf64>
    return %12 : tensor<4x2xf64>
  }
}
