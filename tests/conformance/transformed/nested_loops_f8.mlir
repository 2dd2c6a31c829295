module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<3x3xf64>) -> (tensor<f64> {jax.result_info = "result[0]"}) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.add across dimensions = [0, 1] : (tensor<3x3xf64>, tensor<f64>) -> tensor<f64>
    %c = stablehlo.constant dense<0> : tensor<i64>
    %c_0 = stablehlo.constant dense<0> : tensor<i64>
    %1:4 = stablehlo.while(%iterArg = %arg0, %iterArg_1 = %c_0, %iterArg_2 = %c, %iterArg_3 = %0) : tensor<3x3xf64>, tensor<i64>, tensor<i64>, tensor<f64>
    cond {
      %c_4 = stablehlo.constant dense<3> : tensor<i64>
      %2 = stablehlo.compare LT, %iterArg_1, %c_4, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
      stablehlo.return %2 : tensor<i1>
    } do {
      %2:2 = func.call @closed_call(%iterArg, %iterArg_2, %iterArg_3) : (tensor<3x3xf64>, tensor<i64>, tensor<f64>) -> (tensor<i64>, tensor<f64>)
      %c_4 = stablehlo.constant dense<1> : tensor<i64>
      %3 = stablehlo.add %iterArg_1, %c_4 : tensor<i64>
      stablehlo.return %iterArg, %3, %2#0, %2#1 : tensor<3x3xf64>, tensor<i64>, tensor<i64>, tensor<f64>
    }
    return %1#3 : tensor<f64>
  }
  func.func private @closed_call(%arg0: tensor<3x3xf64>, %arg1: tensor<i64>, %arg2: tensor<f64>) -> (tensor<i64>, tensor<f64>) {
    %c = stablehlo.constant dense<1> : tensor<i64>
    %0 = stablehlo.add %arg1, %c : tensor<i64>
    %c_0 = stablehlo.constant dense<0> : tensor<i64>
    %c_1 = stablehlo.constant dense<0> : tensor<i64>
    %1:5 = stablehlo.while(%iterArg = %arg1, %iterArg_2 = %arg0, %iterArg_3 = %c_1, %iterArg_4 = %c_0, %iterArg_5 = %arg2) : tensor<i64>, tensor<3x3xf64>, tensor<i64>, tensor<i64>, tensor<f64>
    cond {
      %c_6 = stablehlo.constant dense<3> : tensor<i64>
      %2 = stablehlo.compare LT, %iterArg_3, %c_6, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
      stablehlo.return %2 : tensor<i1>
    } do {
      %2:2 = func.call @closed_call_0(%iterArg, %iterArg_2, %iterArg_4, %iterArg_5) : (tensor<i64>, tensor<3x3xf64>, tensor<i64>, tensor<f64>) -> (tensor<i64>, tensor<f64>)
      %c_6 = stablehlo.constant dense<1> : tensor<i64>
      %3 = stablehlo.add %iterArg_3, %c_6 : tensor<i64>
      stablehlo.return %iterArg, %iterArg_2, %3, %2#0, %2#1 : tensor<i64>, tensor<3x3xf64>, tensor<i64>, tensor<i64>, tensor<f64>
    }
    return %0, %1#4 : tensor<i64>, tensor<f64>
  }
  func.func private @closed_call_0(%arg0: tensor<i64>, %arg1: tensor<3x3xf64>, %arg2: tensor<i64>, %arg3: tensor<f64>) -> (tensor<i64>, tensor<f64>) {
    %c = stablehlo.constant dense<1> : tensor<i64>
    %0 = stablehlo.add %arg2, %c : tensor<i64>
    %cst = stablehlo.constant dense<9.000000e-01> : tensor<f64>
    %1 = stablehlo.multiply %arg3, %cst : tensor<f64>
    %2 = stablehlo.convert %arg0 : (tensor<i64>) -> tensor<i32>
    %3 = stablehlo.convert %arg2 : (tensor<i64>) -> tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %4 = stablehlo.compare LT, %2, %c_0, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_1 = stablehlo.constant dense<3> : tensor<i32>
    %5 = stablehlo.add %2, %c_1 : tensor<i32>
    %6 = stablehlo.select %4, %5, %2 : tensor<i1>, tensor<i32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %7 = stablehlo.compare LT, %3, %c_2, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_3 = stablehlo.constant dense<3> : tensor<i32>
    %8 = stablehlo.add %3, %c_3 : tensor<i32>
    %9 = stablehlo.select %7, %8, %3 : tensor<i1>, tensor<i32>
    %10 = stablehlo.dynamic_slice %arg1, %6, %9, sizes = [1, 1] : (tensor<3x3xf64>, tensor<i32>, tensor<i32>) -> tensor<1x1xf64>
    %11 = stablehlo.reshape %10 : (tensor<1x1xf64>) -> tensor<f64>
    %12 = stablehlo.multiply %11, %arg3 : tensor<f64>
    %13 = stablehlo.sine %12 : tensor<f64>
    %cst_4 = stablehlo.constant dense<1.000000e-01> : tensor<f64>
    %14 = stablehlo.multiply %cst_4, %13 : tensor<f64>
    %15 = stablehlo.add %1, %14 : tensor<f64>
    return %0, %15 : tensor<i64>, tensor<f64>
  }
}
