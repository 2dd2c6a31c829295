module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<3xf64>) -> (tensor<3xf64> {jax.result_info = "result[0]"}) {
    %0 = stablehlo.exponential %arg0 : tensor<3xf64>
    %1 = stablehlo.multiply %0, %arg0 : tensor<3xf64>
    %2 = stablehlo.sine %1 : tensor<3xf64>
    %3 = stablehlo.exponential %2 : tensor<3xf64>
    %4 = stablehlo.multiply %3, %2 : tensor<3xf64>
    %5 = stablehlo.sine %4 : tensor<3xf64>
    return %5 : tensor<3xf64>
  }
}
