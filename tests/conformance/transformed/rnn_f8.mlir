module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<5x3xf64>, %arg1: tensor<4x4xf64>, %arg2: tensor<3x4xf64>) -> (tensor<4xf64> {jax.result_info = "result[0]"}, tensor<5xf64> {jax.result_info = "result[1]"}) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f64>) -> tensor<4xf64>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %1 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f64>) -> tensor<5xf64>
    %c = stablehlo.constant dense<0> : tensor<i64>
    %2:6 = stablehlo.while(%iterArg = %arg0, %iterArg_1 = %arg1, %iterArg_2 = %arg2, %iterArg_3 = %c, %iterArg_4 = %0, %iterArg_5 = %1) : tensor<5x3xf64>, tensor<4x4xf64>, tensor<3x4xf64>, tensor<i64>, tensor<4xf64>, tensor<5xf64>
    cond {
      %c_6 = stablehlo.constant dense<5> : tensor<i64>
      %3 = stablehlo.compare LT, %iterArg_3, %c_6, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
      stablehlo.return %3 : tensor<i1>
    } do {
      %3 = func.call @dynamic_index_in_dim(%iterArg, %iterArg_3) : (tensor<5x3xf64>, tensor<i64>) -> tensor<3xf64>
      %4:2 = func.call @closed_call(%iterArg_1, %iterArg_2, %iterArg_4, %3) : (tensor<4x4xf64>, tensor<3x4xf64>, tensor<4xf64>, tensor<3xf64>) -> (tensor<4xf64>, tensor<f64>)
      %5 = func.call @dynamic_update_index_in_dim(%iterArg_5, %4#1, %iterArg_3) : (tensor<5xf64>, tensor<f64>, tensor<i64>) -> tensor<5xf64>
      %c_6 = stablehlo.constant dense<1> : tensor<i64>
      %6 = stablehlo.add %iterArg_3, %c_6 : tensor<i64>
      stablehlo.return %iterArg, %iterArg_1, %iterArg_2, %6, %4#0, %5 : tensor<5x3xf64>, tensor<4x4xf64>, tensor<3x4xf64>, tensor<i64>, tensor<4xf64>, tensor<5xf64>
    }
    return %2#4, %2#5 : tensor<4xf64>, tensor<5xf64>
  }
  func.func private @dynamic_index_in_dim(%arg0: tensor<5x3xf64>, %arg1: tensor<i64>) -> tensor<3xf64> {
    %c = stablehlo.constant dense<0> : tensor<i64>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, sizes = [1, 3] : (tensor<5x3xf64>, tensor<i64>, tensor<i64>) -> tensor<1x3xf64>
    %1 = stablehlo.reshape %0 : (tensor<1x3xf64>) -> tensor<3xf64>
    return %1 : tensor<3xf64>
  }
  func.func private @closed_call(%arg0: tensor<4x4xf64>, %arg1: tensor<3x4xf64>, %arg2: tensor<4xf64>, %arg3: tensor<3xf64>) -> (tensor<4xf64>, tensor<f64>) {
    %0 = stablehlo.dot_general %arg2, %arg0, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4xf64>, tensor<4x4xf64>) -> tensor<4xf64>
    %1 = stablehlo.dot_general %arg3, %arg1, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<3xf64>, tensor<3x4xf64>) -> tensor<4xf64>
    %2 = stablehlo.add %0, %1 : tensor<4xf64>
    %3 = stablehlo.tanh %2 : tensor<4xf64>
    %4 = stablehlo.multiply %3, %3 : tensor<4xf64>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %5 = stablehlo.reduce(%4 init: %cst) applies stablehlo.add across dimensions = [0] : (tensor<4xf64>, tensor<f64>) -> tensor<f64>
    return %3, %5 : tensor<4xf64>, tensor<f64>
  }
  func.func private @dynamic_update_index_in_dim(%arg0: tensor<5xf64>, %arg1: tensor<f64>, %arg2: tensor<i64>) -> tensor<5xf64> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<f64>) -> tensor<1xf64>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2 : (tensor<5xf64>, tensor<1xf64>, tensor<i64>) -> tensor<5xf64>
    return %1 : tensor<5xf64>
  }
}
