module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<3xf64>, %arg1: tensor<f64>) -> (tensor<3xf64> {jax.result_info = "result[0]"}, tensor<8xf64> {jax.result_info = "result[1]"}) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f64>) -> tensor<8xf64>
    %c = stablehlo.constant dense<0> : tensor<i64>
    %1:4 = stablehlo.while(%iterArg = %arg1, %iterArg_0 = %c, %iterArg_1 = %arg0, %iterArg_2 = %0) : tensor<f64>, tensor<i64>, tensor<3xf64>, tensor<8xf64>
    cond {
      %c_3 = stablehlo.constant dense<8> : tensor<i64>
      %2 = stablehlo.compare LT, %iterArg_0, %c_3, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
      stablehlo.return %2 : tensor<i1>
    } do {
      %2:2 = func.call @closed_call(%iterArg, %iterArg_1) : (tensor<f64>, tensor<3xf64>) -> (tensor<3xf64>, tensor<f64>)
      %3 = func.call @dynamic_update_index_in_dim(%iterArg_2, %2#1, %iterArg_0) : (tensor<8xf64>, tensor<f64>, tensor<i64>) -> tensor<8xf64>
      %c_3 = stablehlo.constant dense<1> : tensor<i64>
      %4 = stablehlo.add %iterArg_0, %c_3 : tensor<i64>
      stablehlo.return %iterArg, %4, %2#0, %3 : tensor<f64>, tensor<i64>, tensor<3xf64>, tensor<8xf64>
    }
    return %1#2, %1#3 : tensor<3xf64>, tensor<8xf64>
  }
  func.func private @closed_call(%arg0: tensor<f64>, %arg1: tensor<3xf64>) -> (tensor<3xf64>, tensor<f64>) {
    %0 = stablehlo.slice %arg1 [1:2] : (tensor<3xf64>) -> tensor<1xf64>
    %1 = stablehlo.reshape %0 : (tensor<1xf64>) -> tensor<f64>
    %2 = stablehlo.slice %arg1 [0:1] : (tensor<3xf64>) -> tensor<1xf64>
    %3 = stablehlo.reshape %2 : (tensor<1xf64>) -> tensor<f64>
    %4 = stablehlo.sine %3 : tensor<f64>
    %5 = stablehlo.negate %4 : tensor<f64>
    %6 = stablehlo.slice %arg1 [1:2] : (tensor<3xf64>) -> tensor<1xf64>
    %7 = stablehlo.reshape %6 : (tensor<1xf64>) -> tensor<f64>
    %8 = stablehlo.multiply %arg0, %7 : tensor<f64>
    %9 = stablehlo.subtract %5, %8 : tensor<f64>
    %10 = stablehlo.slice %arg1 [2:3] : (tensor<3xf64>) -> tensor<1xf64>
    %11 = stablehlo.reshape %10 : (tensor<1xf64>) -> tensor<f64>
    %12 = stablehlo.slice %arg1 [0:1] : (tensor<3xf64>) -> tensor<1xf64>
    %13 = stablehlo.reshape %12 : (tensor<1xf64>) -> tensor<f64>
    %14 = stablehlo.multiply %11, %13 : tensor<f64>
    %15 = stablehlo.broadcast_in_dim %1, dims = [] : (tensor<f64>) -> tensor<1xf64>
    %16 = stablehlo.broadcast_in_dim %9, dims = [] : (tensor<f64>) -> tensor<1xf64>
    %17 = stablehlo.broadcast_in_dim %14, dims = [] : (tensor<f64>) -> tensor<1xf64>
    %18 = stablehlo.concatenate %15, %16, %17, dim = 0 : (tensor<1xf64>, tensor<1xf64>, tensor<1xf64>) -> tensor<3xf64>
    %cst = stablehlo.constant dense<5.000000e-02> : tensor<f64>
    %19 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f64>) -> tensor<3xf64>
    %20 = stablehlo.multiply %19, %18 : tensor<3xf64>
    %21 = stablehlo.add %arg1, %20 : tensor<3xf64>
    %22 = stablehlo.slice %21 [1:2] : (tensor<3xf64>) -> tensor<1xf64>
    %23 = stablehlo.reshape %22 : (tensor<1xf64>) -> tensor<f64>
    %24 = stablehlo.slice %21 [0:1] : (tensor<3xf64>) -> tensor<1xf64>
    %25 = stablehlo.reshape %24 : (tensor<1xf64>) -> tensor<f64>
    %26 = stablehlo.sine %25 : tensor<f64>
    %27 = stablehlo.negate %26 : tensor<f64>
    %28 = stablehlo.slice %21 [1:2] : (tensor<3xf64>) -> tensor<1xf64>
    %29 = stablehlo.reshape %28 : (tensor<1xf64>) -> tensor<f64>
    %30 = stablehlo.multiply %arg0, %29 : tensor<f64>
    %31 = stablehlo.subtract %27, %30 : tensor<f64>
    %32 = stablehlo.slice %21 [2:3] : (tensor<3xf64>) -> tensor<1xf64>
    %33 = stablehlo.reshape %32 : (tensor<1xf64>) -> tensor<f64>
    %34 = stablehlo.slice %21 [0:1] : (tensor<3xf64>) -> tensor<1xf64>
    %35 = stablehlo.reshape %34 : (tensor<1xf64>) -> tensor<f64>
    %36 = stablehlo.multiply %33, %35 : tensor<f64>
    %37 = stablehlo.broadcast_in_dim %23, dims = [] : (tensor<f64>) -> tensor<1xf64>
    %38 = stablehlo.broadcast_in_dim %31, dims = [] : (tensor<f64>) -> tensor<1xf64>
    %39 = stablehlo.broadcast_in_dim %36, dims = [] : (tensor<f64>) -> tensor<1xf64>
    %40 = stablehlo.concatenate %37, %38, %39, dim = 0 : (tensor<1xf64>, tensor<1xf64>, tensor<1xf64>) -> tensor<3xf64>
    %cst_0 = stablehlo.constant dense<1.000000e-01> : tensor<f64>
    %41 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f64>) -> tensor<3xf64>
    %42 = stablehlo.multiply %41, %40 : tensor<3xf64>
    %43 = stablehlo.add %arg1, %42 : tensor<3xf64>
    %44 = stablehlo.slice %arg1 [0:1] : (tensor<3xf64>) -> tensor<1xf64>
    %45 = stablehlo.reshape %44 : (tensor<1xf64>) -> tensor<f64>
    return %43, %45 : tensor<3xf64>, tensor<f64>
  }
  func.func private @dynamic_update_index_in_dim(%arg0: tensor<8xf64>, %arg1: tensor<f64>, %arg2: tensor<i64>) -> tensor<8xf64> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<f64>) -> tensor<1xf64>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2 : (tensor<8xf64>, tensor<1xf64>, tensor<i64>) -> tensor<8xf64>
    return %1 : tensor<8xf64>
  }
}
