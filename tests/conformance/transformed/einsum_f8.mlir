module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<3x4xf64>, %arg1: tensor<4x2x3xf64>) -> (tensor<2x3xf64> {jax.result_info = "result[0]"}) {
    %0 = stablehlo.dot_general %arg1, %arg0, batching_dims = [2] x [0], contracting_dims = [0] x [1], precision = [DEFAULT, DEFAULT] : (tensor<4x2x3xf64>, tensor<3x4xf64>) -> tensor<3x2xf64>
    %1 = stablehlo.transpose %0, dims = [1, 0] : (tensor<3x2xf64>) -> tensor<2x3xf64>
    return %1 : tensor<2x3xf64>
  }
}
