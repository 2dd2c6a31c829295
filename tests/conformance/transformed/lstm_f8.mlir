module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4x2xf64>, %arg1: tensor<3x12xf64>, %arg2: tensor<2x12xf64>) -> (tensor<3xf64> {jax.result_info = "result[0]"}) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f64>) -> tensor<3xf64>
    %c = stablehlo.constant dense<0> : tensor<i64>
    %1:6 = stablehlo.while(%iterArg = %arg0, %iterArg_0 = %arg1, %iterArg_1 = %arg2, %iterArg_2 = %c, %iterArg_3 = %0, %iterArg_4 = %0) : tensor<4x2xf64>, tensor<3x12xf64>, tensor<2x12xf64>, tensor<i64>, tensor<3xf64>, tensor<3xf64>
    cond {
      %c_5 = stablehlo.constant dense<4> : tensor<i64>
      %2 = stablehlo.compare LT, %iterArg_2, %c_5, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
      stablehlo.return %2 : tensor<i1>
    } do {
      %2 = func.call @dynamic_index_in_dim(%iterArg, %iterArg_2) : (tensor<4x2xf64>, tensor<i64>) -> tensor<2xf64>
      %3:2 = func.call @closed_call(%iterArg_0, %iterArg_1, %iterArg_3, %iterArg_4, %2) : (tensor<3x12xf64>, tensor<2x12xf64>, tensor<3xf64>, tensor<3xf64>, tensor<2xf64>) -> (tensor<3xf64>, tensor<3xf64>)
      %c_5 = stablehlo.constant dense<1> : tensor<i64>
      %4 = stablehlo.add %iterArg_2, %c_5 : tensor<i64>
      stablehlo.return %iterArg, %iterArg_0, %iterArg_1, %4, %3#0, %3#1 : tensor<4x2xf64>, tensor<3x12xf64>, tensor<2x12xf64>, tensor<i64>, tensor<3xf64>, tensor<3xf64>
    }
    return %1#4 : tensor<3xf64>
  }
  func.func private @dynamic_index_in_dim(%arg0: tensor<4x2xf64>, %arg1: tensor<i64>) -> tensor<2xf64> {
    %c = stablehlo.constant dense<0> : tensor<i64>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, sizes = [1, 2] : (tensor<4x2xf64>, tensor<i64>, tensor<i64>) -> tensor<1x2xf64>
    %1 = stablehlo.reshape %0 : (tensor<1x2xf64>) -> tensor<2xf64>
    return %1 : tensor<2xf64>
  }
  func.func private @closed_call(%arg0: tensor<3x12xf64>, %arg1: tensor<2x12xf64>, %arg2: tensor<3xf64>, %arg3: tensor<3xf64>, %arg4: tensor<2xf64>) -> (tensor<3xf64>, tensor<3xf64>) {
    %0 = stablehlo.dot_general %arg2, %arg0, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<3xf64>, tensor<3x12xf64>) -> tensor<12xf64>
    %1 = stablehlo.dot_general %arg4, %arg1, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2xf64>, tensor<2x12xf64>) -> tensor<12xf64>
    %2 = stablehlo.add %0, %1 : tensor<12xf64>
    %3 = stablehlo.slice %2 [0:3] : (tensor<12xf64>) -> tensor<3xf64>
    %4 = stablehlo.slice %2 [3:6] : (tensor<12xf64>) -> tensor<3xf64>
    %5 = stablehlo.slice %2 [6:9] : (tensor<12xf64>) -> tensor<3xf64>
    %6 = stablehlo.slice %2 [9:12] : (tensor<12xf64>) -> tensor<3xf64>
    %7 = stablehlo.negate %4 : tensor<3xf64>
    %8 = stablehlo.exponential %7 : tensor<3xf64>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f64>
    %9 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f64>) -> tensor<3xf64>
    %10 = stablehlo.add %9, %8 : tensor<3xf64>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<f64>
    %11 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f64>) -> tensor<3xf64>
    %12 = stablehlo.divide %11, %10 : tensor<3xf64>
    %13 = stablehlo.multiply %12, %arg3 : tensor<3xf64>
    %14 = stablehlo.negate %3 : tensor<3xf64>
    %15 = stablehlo.exponential %14 : tensor<3xf64>
    %cst_1 = stablehlo.constant dense<1.000000e+00> : tensor<f64>
    %16 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f64>) -> tensor<3xf64>
    %17 = stablehlo.add %16, %15 : tensor<3xf64>
    %cst_2 = stablehlo.constant dense<1.000000e+00> : tensor<f64>
    %18 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f64>) -> tensor<3xf64>
    %19 = stablehlo.divide %18, %17 : tensor<3xf64>
    %20 = stablehlo.tanh %5 : tensor<3xf64>
    %21 = stablehlo.multiply %19, %20 : tensor<3xf64>
    %22 = stablehlo.add %13, %21 : tensor<3xf64>
    %23 = stablehlo.negate %6 : tensor<3xf64>
    %24 = stablehlo.exponential %23 : tensor<3xf64>
    %cst_3 = stablehlo.constant dense<1.000000e+00> : tensor<f64>
    %25 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f64>) -> tensor<3xf64>
    %26 = stablehlo.add %25, %24 : tensor<3xf64>
    %cst_4 = stablehlo.constant dense<1.000000e+00> : tensor<f64>
    %27 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f64>) -> tensor<3xf64>
    %28 = stablehlo.divide %27, %26 : tensor<3xf64>
    %29 = stablehlo.tanh %22 : tensor<3xf64>
    %30 = stablehlo.multiply %28, %29 : tensor<3xf64>
    return %30, %22 : tensor<3xf64>, tensor<3xf64>
  }
}
