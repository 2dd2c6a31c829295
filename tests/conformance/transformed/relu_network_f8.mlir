module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4x3xf64>, %arg1: tensor<3x5xf64>, %arg2: tensor<5x2xf64>) -> (tensor<4x2xf64> {jax.result_info = "result[0]"}) {
    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x3xf64>, tensor<3x5xf64>) -> tensor<4x5xf64>
    %cst = stablehlo.constant dense<1.000000e-01> : tensor<f64>
    %1 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f64>) -> tensor<4x5xf64>
    %2 = stablehlo.add %0, %1 : tensor<4x5xf64>
    %3 = call @relu(%2) : (tensor<4x5xf64>) -> tensor<4x5xf64>
    %4 = stablehlo.dot_general %3, %arg2, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x5xf64>, tensor<5x2xf64>) -> tensor<4x2xf64>
    %cst_0 = stablehlo.constant dense<-5.000000e-02> : tensor<f64>
    %5 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f64>) -> tensor<4x2xf64>
    %6 = stablehlo.maximum %4, %5 : tensor<4x2xf64>
    return %6 : tensor<4x2xf64>
  }
  func.func private @relu(%arg0: tensor<4x5xf64>) -> tensor<4x5xf64> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f64>) -> tensor<4x5xf64>
    %1 = stablehlo.maximum %arg0, %0 : tensor<4x5xf64>
    return %1 : tensor<4x5xf64>
  }
}
