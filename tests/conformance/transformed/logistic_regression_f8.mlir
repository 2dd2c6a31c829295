module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<6x3xf64>, %arg1: tensor<3xf64>) -> (tensor<f64> {jax.result_info = "result[0]"}) {
    %0 = stablehlo.iota dim = 0 : tensor<6xi64>
    %c = stablehlo.constant dense<2> : tensor<i64>
    %1 = call @remainder(%0, %c) : (tensor<6xi64>, tensor<i64>) -> tensor<6xi64>
    %2 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<6x3xf64>, tensor<3xf64>) -> tensor<6xf64>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %3 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f64>) -> tensor<6xf64>
    %4 = stablehlo.maximum %3, %2 : tensor<6xf64>
    %5 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f64>) -> tensor<6xf64>
    %6 = stablehlo.subtract %5, %2 : tensor<6xf64>
    %7 = stablehlo.compare NE, %6, %6, FLOAT : (tensor<6xf64>, tensor<6xf64>) -> tensor<6xi1>
    %8 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f64>) -> tensor<6xf64>
    %9 = stablehlo.add %8, %2 : tensor<6xf64>
    %10 = stablehlo.abs %6 : tensor<6xf64>
    %11 = stablehlo.negate %10 : tensor<6xf64>
    %12 = stablehlo.exponential %11 : tensor<6xf64>
    %13 = stablehlo.log_plus_one %12 : tensor<6xf64>
    %14 = stablehlo.add %4, %13 : tensor<6xf64>
    %15 = stablehlo.select %7, %9, %14 : tensor<6xi1>, tensor<6xf64>
    %16 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<6x3xf64>, tensor<3xf64>) -> tensor<6xf64>
    %17 = stablehlo.convert %1 : (tensor<6xi64>) -> tensor<6xf64>
    %18 = stablehlo.multiply %17, %16 : tensor<6xf64>
    %19 = stablehlo.subtract %15, %18 : tensor<6xf64>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %20 = stablehlo.reduce(%19 init: %cst_0) applies stablehlo.add across dimensions = [0] : (tensor<6xf64>, tensor<f64>) -> tensor<f64>
    %cst_1 = stablehlo.constant dense<6.000000e+00> : tensor<f64>
    %21 = stablehlo.divide %20, %cst_1 : tensor<f64>
    return %21 : tensor<f64>
  }
  func.func private @remainder(%arg0: tensor<6xi64>, %arg1: tensor<i64>) -> tensor<6xi64> {
    %0 = stablehlo.convert %arg1 : tensor<i64>
    %c = stablehlo.constant dense<0> : tensor<i64>
    %1 = stablehlo.compare EQ, %0, %c, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
    %c_0 = stablehlo.constant dense<1> : tensor<i64>
    %2 = call @_where(%1, %c_0, %0) : (tensor<i1>, tensor<i64>, tensor<i64>) -> tensor<i64>
    %3 = stablehlo.broadcast_in_dim %2, dims = [] : (tensor<i64>) -> tensor<6xi64>
    %4 = stablehlo.remainder %arg0, %3 : tensor<6xi64>
    %c_1 = stablehlo.constant dense<0> : tensor<i64>
    %5 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<i64>) -> tensor<6xi64>
    %6 = stablehlo.compare NE, %4, %5, SIGNED : (tensor<6xi64>, tensor<6xi64>) -> tensor<6xi1>
    %c_2 = stablehlo.constant dense<0> : tensor<i64>
    %7 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i64>) -> tensor<6xi64>
    %8 = stablehlo.compare LT, %4, %7, SIGNED : (tensor<6xi64>, tensor<6xi64>) -> tensor<6xi1>
    %c_3 = stablehlo.constant dense<0> : tensor<i64>
    %9 = stablehlo.compare LT, %2, %c_3, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
    %10 = stablehlo.broadcast_in_dim %9, dims = [] : (tensor<i1>) -> tensor<6xi1>
    %11 = stablehlo.compare NE, %8, %10, UNSIGNED : (tensor<6xi1>, tensor<6xi1>) -> tensor<6xi1>
    %12 = stablehlo.and %11, %6 : tensor<6xi1>
    %13 = stablehlo.broadcast_in_dim %2, dims = [] : (tensor<i64>) -> tensor<6xi64>
    %14 = stablehlo.add %4, %13 : tensor<6xi64>
    %15 = stablehlo.select %12, %14, %4 : tensor<6xi1>, tensor<6xi64>
    return %15 : tensor<6xi64>
  }
  func.func private @_where(%arg0: tensor<i1>, %arg1: tensor<i64>, %arg2: tensor<i64>) -> tensor<i64> {
    %0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<i1>, tensor<i64>
    return %0 : tensor<i64>
  }
}
