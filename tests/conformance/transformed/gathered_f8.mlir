module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<5x3xf64>, %arg1: tensor<4xi32>) -> (tensor<4x3xf64> {jax.result_info = "result[0]"}) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<4xi32>
    %1 = stablehlo.compare LT, %arg1, %0, SIGNED : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
    %c_0 = stablehlo.constant dense<5> : tensor<i32>
    %2 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<4xi32>
    %3 = stablehlo.add %arg1, %2 : tensor<4xi32>
    %4 = stablehlo.select %1, %3, %arg1 : tensor<4xi1>, tensor<4xi32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [0] : (tensor<4xi32>) -> tensor<4x1xi32>
    %6 = "stablehlo.gather"(%arg0, %5) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 3>}> : (tensor<5x3xf64>, tensor<4x1xi32>) -> tensor<4x3xf64>
    %7 = stablehlo.sine %6 : tensor<4x3xf64>
    %8 = stablehlo.iota dim = 0 : tensor<3xi64>
    %c_1 = stablehlo.constant dense<1> : tensor<i64>
    %9 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<i64>) -> tensor<3xi64>
    %10 = stablehlo.add %9, %8 : tensor<3xi64>
    %11 = stablehlo.convert %10 : (tensor<3xi64>) -> tensor<3xf64>
    %12 = stablehlo.broadcast_in_dim %11, dims = [1] : (tensor<3xf64>) -> tensor<1x3xf64>
    %13 = stablehlo.broadcast_in_dim %12, dims = [0, 1] : (tensor<1x3xf64>) -> tensor<4x3xf64>
    %14 = stablehlo.multiply %7, %13 : tensor<4x3xf64>
    return %14 : tensor<4x3xf64>
  }
}
