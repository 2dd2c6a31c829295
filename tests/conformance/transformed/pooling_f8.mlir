module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<1x6x6x2xf64>) -> (tensor<1x3x3x2xf64> {jax.result_info = "result[0]"}, tensor<1x6x6x2xf64> {jax.result_info = "result[1]"}) {
    %cst = stablehlo.constant dense<0xFFF0000000000000> : tensor<f64>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f64>) -> tensor<f64>
    %1 = "stablehlo.reduce_window"(%arg0, %0) <{base_dilations = array<i64: 1, 1, 1, 1>, padding = dense<0> : tensor<4x2xi64>, window_dilations = array<i64: 1, 1, 1, 1>, window_dimensions = array<i64: 1, 2, 2, 1>, window_strides = array<i64: 1, 2, 2, 1>}> ({
    ^bb0(%arg1: tensor<f64>, %arg2: tensor<f64>):
      %5 = stablehlo.maximum %arg1, %arg2 : tensor<f64>
      stablehlo.return %5 : tensor<f64>
    }) : (tensor<1x6x6x2xf64>, tensor<f64>) -> tensor<1x3x3x2xf64>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %2 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f64>) -> tensor<f64>
    %3 = "stablehlo.reduce_window"(%arg0, %2) <{base_dilations = array<i64: 1, 1, 1, 1>, padding = dense<[[0, 0], [1, 1], [1, 1], [0, 0]]> : tensor<4x2xi64>, window_dilations = array<i64: 1, 1, 1, 1>, window_dimensions = array<i64: 1, 3, 3, 1>, window_strides = array<i64: 1, 1, 1, 1>}> ({
    ^bb0(%arg1: tensor<f64>, %arg2: tensor<f64>):
      %5 = stablehlo.add %arg1, %arg2 : tensor<f64>
      stablehlo.return %5 : tensor<f64>
    }) : (tensor<1x6x6x2xf64>, tensor<f64>) -> tensor<1x6x6x2xf64>
    %4 = stablehlo.multiply %3, %arg0 : tensor<1x6x6x2xf64>
    return %1, %4 : tensor<1x3x3x2xf64>, tensor<1x6x6x2xf64>
  }
}
