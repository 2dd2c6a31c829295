module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<3xf64>) -> (tensor<3xf64> {jax.result_info = "result[0]"}, tensor<5xf64> {jax.result_info = "result[1]"}) {
    %0 = stablehlo.iota dim = 0 : tensor<5xf64>
    %c = stablehlo.constant dense<true> : tensor<i1>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %1 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f64>) -> tensor<5xf64>
    %c_0 = stablehlo.constant dense<0> : tensor<i64>
    %2:5 = stablehlo.while(%iterArg = %0, %iterArg_1 = %c_0, %iterArg_2 = %arg0, %iterArg_3 = %c, %iterArg_4 = %1) : tensor<5xf64>, tensor<i64>, tensor<3xf64>, tensor<i1>, tensor<5xf64>
    cond {
      %c_5 = stablehlo.constant dense<5> : tensor<i64>
      %3 = stablehlo.compare LT, %iterArg_1, %c_5, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
      stablehlo.return %3 : tensor<i1>
    } do {
      %3 = func.call @dynamic_index_in_dim(%iterArg, %iterArg_1) : (tensor<5xf64>, tensor<i64>) -> tensor<f64>
      %4:3 = func.call @closed_call(%iterArg_2, %iterArg_3, %3) : (tensor<3xf64>, tensor<i1>, tensor<f64>) -> (tensor<3xf64>, tensor<i1>, tensor<f64>)
      %5 = func.call @dynamic_update_index_in_dim(%iterArg_4, %4#2, %iterArg_1) : (tensor<5xf64>, tensor<f64>, tensor<i64>) -> tensor<5xf64>
      %c_5 = stablehlo.constant dense<1> : tensor<i64>
      %6 = stablehlo.add %iterArg_1, %c_5 : tensor<i64>
      stablehlo.return %iterArg, %6, %4#0, %4#1, %5 : tensor<5xf64>, tensor<i64>, tensor<3xf64>, tensor<i1>, tensor<5xf64>
    }
    return %2#2, %2#4 : tensor<3xf64>, tensor<5xf64>
  }
  func.func private @dynamic_index_in_dim(%arg0: tensor<5xf64>, %arg1: tensor<i64>) -> tensor<f64> {
    %0 = stablehlo.dynamic_slice %arg0, %arg1, sizes = [1] : (tensor<5xf64>, tensor<i64>) -> tensor<1xf64>
    %1 = stablehlo.reshape %0 : (tensor<1xf64>) -> tensor<f64>
    return %1 : tensor<f64>
  }
  func.func private @closed_call(%arg0: tensor<3xf64>, %arg1: tensor<i1>, %arg2: tensor<f64>) -> (tensor<3xf64>, tensor<i1>, tensor<f64>) {
    %cst = stablehlo.constant dense<8.000000e-01> : tensor<f64>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f64>) -> tensor<3xf64>
    %1 = stablehlo.multiply %0, %arg0 : tensor<3xf64>
    %2 = stablehlo.broadcast_in_dim %arg2, dims = [] : (tensor<f64>) -> tensor<3xf64>
    %3 = stablehlo.multiply %arg0, %2 : tensor<3xf64>
    %4 = stablehlo.sine %3 : tensor<3xf64>
    %cst_0 = stablehlo.constant dense<3.000000e-01> : tensor<f64>
    %5 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f64>) -> tensor<3xf64>
    %6 = stablehlo.multiply %5, %4 : tensor<3xf64>
    %7 = stablehlo.add %1, %6 : tensor<3xf64>
    %8 = call @_where(%arg1, %7, %arg0) : (tensor<i1>, tensor<3xf64>, tensor<3xf64>) -> tensor<3xf64>
    %9 = stablehlo.multiply %8, %8 : tensor<3xf64>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %10 = stablehlo.reduce(%9 init: %cst_1) applies stablehlo.add across dimensions = [0] : (tensor<3xf64>, tensor<f64>) -> tensor<f64>
    %cst_2 = stablehlo.constant dense<5.000000e-01> : tensor<f64>
    %11 = stablehlo.compare GT, %10, %cst_2, FLOAT : (tensor<f64>, tensor<f64>) -> tensor<i1>
    %12 = stablehlo.and %arg1, %11 : tensor<i1>
    %13 = stablehlo.slice %8 [0:1] : (tensor<3xf64>) -> tensor<1xf64>
    %14 = stablehlo.reshape %13 : (tensor<1xf64>) -> tensor<f64>
    return %8, %12, %14 : tensor<3xf64>, tensor<i1>, tensor<f64>
  }
  func.func private @_where(%arg0: tensor<i1>, %arg1: tensor<3xf64>, %arg2: tensor<3xf64>) -> tensor<3xf64> {
    %0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<i1>, tensor<3xf64>
    return %0 : tensor<3xf64>
  }
  func.func private @dynamic_update_index_in_dim(%arg0: tensor<5xf64>, %arg1: tensor<f64>, %arg2: tensor<i64>) -> tensor<5xf64> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<f64>) -> tensor<1xf64>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2 : (tensor<5xf64>, tensor<1xf64>, tensor<i64>) -> tensor<5xf64>
    return %1 : tensor<5xf64>
  }
}
