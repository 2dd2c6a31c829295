module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<5x3xf64>, %arg1: tensor<3x4xf64>, %arg2: tensor<4xf64>) -> (tensor<f64> {jax.result_info = "result[0]"}) {
    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<5x3xf64>, tensor<3x4xf64>) -> tensor<5x4xf64>
    %1 = stablehlo.broadcast_in_dim %arg2, dims = [1] : (tensor<4xf64>) -> tensor<1x4xf64>
    %2 = stablehlo.broadcast_in_dim %1, dims = [0, 1] : (tensor<1x4xf64>) -> tensor<5x4xf64>
    %3 = stablehlo.add %0, %2 : tensor<5x4xf64>
    %4 = call @log_softmax(%3) : (tensor<5x4xf64>) -> tensor<5x4xf64>
    %5 = stablehlo.iota dim = 0 : tensor<5xi64>
    %6 = stablehlo.iota dim = 0 : tensor<5xi64>
    %c = stablehlo.constant dense<4> : tensor<i64>
    %7 = call @remainder(%6, %c) : (tensor<5xi64>, tensor<i64>) -> tensor<5xi64>
    %c_0 = stablehlo.constant dense<0> : tensor<i64>
    %8 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i64>) -> tensor<5xi64>
    %9 = stablehlo.compare LT, %5, %8, SIGNED : (tensor<5xi64>, tensor<5xi64>) -> tensor<5xi1>
    %c_1 = stablehlo.constant dense<5> : tensor<i64>
    %10 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<i64>) -> tensor<5xi64>
    %11 = stablehlo.add %5, %10 : tensor<5xi64>
    %12 = stablehlo.select %9, %11, %5 : tensor<5xi1>, tensor<5xi64>
    %c_2 = stablehlo.constant dense<0> : tensor<i64>
    %13 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i64>) -> tensor<5xi64>
    %14 = stablehlo.compare LT, %7, %13, SIGNED : (tensor<5xi64>, tensor<5xi64>) -> tensor<5xi1>
    %c_3 = stablehlo.constant dense<4> : tensor<i64>
    %15 = stablehlo.broadcast_in_dim %c_3, dims = [] : (tensor<i64>) -> tensor<5xi64>
    %16 = stablehlo.add %7, %15 : tensor<5xi64>
    %17 = stablehlo.select %14, %16, %7 : tensor<5xi1>, tensor<5xi64>
    %18 = stablehlo.convert %12 : (tensor<5xi64>) -> tensor<5xi32>
    %19 = stablehlo.convert %17 : (tensor<5xi64>) -> tensor<5xi32>
    %20 = stablehlo.broadcast_in_dim %18, dims = [0] : (tensor<5xi32>) -> tensor<5x1xi32>
    %21 = stablehlo.broadcast_in_dim %19, dims = [0] : (tensor<5xi32>) -> tensor<5x1xi32>
    %22 = stablehlo.concatenate %20, %21, dim = 1 : (tensor<5x1xi32>, tensor<5x1xi32>) -> tensor<5x2xi32>
    %23 = "stablehlo.gather"(%4, %22) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 1>}> : (tensor<5x4xf64>, tensor<5x2xi32>) -> tensor<5xf64>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %24 = stablehlo.reduce(%23 init: %cst) applies stablehlo.add across dimensions = [0] : (tensor<5xf64>, tensor<f64>) -> tensor<f64>
    %cst_4 = stablehlo.constant dense<5.000000e+00> : tensor<f64>
    %25 = stablehlo.divide %24, %cst_4 : tensor<f64>
    %26 = stablehlo.negate %25 : tensor<f64>
    return %26 : tensor<f64>
  }
  func.func private @log_softmax(%arg0: tensor<5x4xf64>) -> tensor<5x4xf64> {
    %cst = stablehlo.constant dense<0xFFF0000000000000> : tensor<f64>
    %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.maximum across dimensions = [1] : (tensor<5x4xf64>, tensor<f64>) -> tensor<5xf64>
    %cst_0 = stablehlo.constant dense<0xFFF0000000000000> : tensor<f64>
    %1 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f64>) -> tensor<5xf64>
    %2 = stablehlo.maximum %1, %0 : tensor<5xf64>
    %3 = stablehlo.broadcast_in_dim %2, dims = [0] : (tensor<5xf64>) -> tensor<5x1xf64>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1] : (tensor<5x1xf64>) -> tensor<5x4xf64>
    %5 = stablehlo.subtract %arg0, %4 : tensor<5x4xf64>
    %6 = stablehlo.exponential %5 : tensor<5x4xf64>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %7 = stablehlo.reduce(%6 init: %cst_1) applies stablehlo.add across dimensions = [1] : (tensor<5x4xf64>, tensor<f64>) -> tensor<5xf64>
    %8 = stablehlo.broadcast_in_dim %7, dims = [0] : (tensor<5xf64>) -> tensor<5x1xf64>
    %9 = stablehlo.log %8 : tensor<5x1xf64>
    %10 = stablehlo.broadcast_in_dim %9, dims = [0, 1] : (tensor<5x1xf64>) -> tensor<5x4xf64>
    %11 = stablehlo.subtract %5, %10 : tensor<5x4xf64>
    return %11 : tensor<5x4xf64>
  }
  func.func private @remainder(%arg0: tensor<5xi64>, %arg1: tensor<i64>) -> tensor<5xi64> {
    %0 = stablehlo.convert %arg1 : tensor<i64>
    %c = stablehlo.constant dense<0> : tensor<i64>
    %1 = stablehlo.compare EQ, %0, %c, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
    %c_0 = stablehlo.constant dense<1> : tensor<i64>
    %2 = call @_where(%1, %c_0, %0) : (tensor<i1>, tensor<i64>, tensor<i64>) -> tensor<i64>
    %3 = stablehlo.broadcast_in_dim %2, dims = [] : (tensor<i64>) -> tensor<5xi64>
    %4 = stablehlo.remainder %arg0, %3 : tensor<5xi64>
    %c_1 = stablehlo.constant dense<0> : tensor<i64>
    %5 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<i64>) -> tensor<5xi64>
    %6 = stablehlo.compare NE, %4, %5, SIGNED : (tensor<5xi64>, tensor<5xi64>) -> tensor<5xi1>
    %c_2 = stablehlo.constant dense<0> : tensor<i64>
    %7 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i64>) -> tensor<5xi64>
    %8 = stablehlo.compare LT, %4, %7, SIGNED : (tensor<5xi64>, tensor<5xi64>) -> tensor<5xi1>
    %c_3 = stablehlo.constant dense<0> : tensor<i64>
    %9 = stablehlo.compare LT, %2, %c_3, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
    %10 = stablehlo.broadcast_in_dim %9, dims = [] : (tensor<i1>) -> tensor<5xi1>
    %11 = stablehlo.compare NE, %8, %10, UNSIGNED : (tensor<5xi1>, tensor<5xi1>) -> tensor<5xi1>
    %12 = stablehlo.and %11, %6 : tensor<5xi1>
    %13 = stablehlo.broadcast_in_dim %2, dims = [] : (tensor<i64>) -> tensor<5xi64>
    %14 = stablehlo.add %4, %13 : tensor<5xi64>
    %15 = stablehlo.select %12, %14, %4 : tensor<5xi1>, tensor<5xi64>
    return %15 : tensor<5xi64>
  }
  func.func private @_where(%arg0: tensor<i1>, %arg1: tensor<i64>, %arg2: tensor<i64>) -> tensor<i64> {
    %0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<i1>, tensor<i64>
    return %0 : tensor<i64>
  }
}
