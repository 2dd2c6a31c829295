module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x5x4xf64>) -> (tensor<2x4x5xf64> {jax.result_info = "result[0]"}, tensor<2x4xf64> {jax.result_info = "result[1]"}) {
    %cst = stablehlo.constant dense<[[1.000000e+00, 1.000000e+00, 0.000000e+00, 1.000000e+00], [0.000000e+00, 1.000000e+00, 0.000000e+00, 1.000000e+00], [0.000000e+00, 1.000000e+00, 0.000000e+00, 1.000000e+00], [0.000000e+00, 1.000000e+00, 0.000000e+00, 1.000000e+00], [0.000000e+00, 1.000000e+00, 0.000000e+00, 1.000000e+00]]> : tensor<5x4xf64>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [1, 2] : (tensor<5x4xf64>) -> tensor<1x5x4xf64>
    %1 = stablehlo.broadcast_in_dim %0, dims = [0, 1, 2] : (tensor<1x5x4xf64>) -> tensor<2x5x4xf64>
    %2 = stablehlo.multiply %arg0, %1 : tensor<2x5x4xf64>
    %3:2 = call @qr(%2) : (tensor<2x5x4xf64>) -> (tensor<2x4x5xf64>, tensor<2x4xf64>)
    return %3#0, %3#1 : tensor<2x4x5xf64>, tensor<2x4xf64>
  }
  func.func private @qr(%arg0: tensor<2x5x4xf64>) -> (tensor<2x4x5xf64>, tensor<2x4xf64>) {
    %0:2 = stablehlo.custom_call @lapack_dgeqrf_ffi(%arg0) {backend_config = "", mhlo.backend_config = {}, mhlo.frontend_attributes = {num_batch_dims = "1"}, operand_layouts = [dense<[1, 2, 0]> : tensor<3xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[1, 2, 0]> : tensor<3xindex>, dense<[1, 0]> : tensor<2xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j, k])->([i, l, m], [i, n]) {i=2, j=5, k=4, l=5, m=4, n=4}, custom>} : (tensor<2x5x4xf64>) -> (tensor<2x5x4xf64>, tensor<2x4xf64>)
    %1 = stablehlo.transpose %0#0, dims = [0, 2, 1] : (tensor<2x5x4xf64>) -> tensor<2x4x5xf64>
    return %1, %0#1 : tensor<2x4x5xf64>, tensor<2x4xf64>
  }
}
