module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<f64>, %arg1: tensor<f64>) -> (tensor<f64> {jax.result_info = "result[0]"}) {
    %0 = stablehlo.power %arg0, %arg1 : tensor<f64>
    %c = stablehlo.constant dense<0> : tensor<i64>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f64>
    %c_0 = stablehlo.constant dense<0> : tensor<i64>
    %1:5 = stablehlo.while(%iterArg = %arg1, %iterArg_1 = %arg0, %iterArg_2 = %c_0, %iterArg_3 = %c, %iterArg_4 = %cst) : tensor<f64>, tensor<f64>, tensor<i64>, tensor<i64>, tensor<f64>
    cond {
      %c_5 = stablehlo.constant dense<10> : tensor<i64>
      %3 = stablehlo.compare LT, %iterArg_2, %c_5, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
      stablehlo.return %3 : tensor<i1>
    } do {
      %3:2 = func.call @closed_call(%iterArg, %iterArg_1, %iterArg_3, %iterArg_4) : (tensor<f64>, tensor<f64>, tensor<i64>, tensor<f64>) -> (tensor<i64>, tensor<f64>)
      %c_5 = stablehlo.constant dense<1> : tensor<i64>
      %4 = stablehlo.add %iterArg_2, %c_5 : tensor<i64>
      stablehlo.return %iterArg, %iterArg_1, %4, %3#0, %3#1 : tensor<f64>, tensor<f64>, tensor<i64>, tensor<i64>, tensor<f64>
    }
    %2 = stablehlo.divide %0, %1#4 : tensor<f64>
    return %2 : tensor<f64>
  }
  func.func private @closed_call(%arg0: tensor<f64>, %arg1: tensor<f64>, %arg2: tensor<i64>, %arg3: tensor<f64>) -> (tensor<i64>, tensor<f64>) {
    %c = stablehlo.constant dense<1> : tensor<i64>
    %0 = stablehlo.add %arg2, %c : tensor<i64>
    %c_0 = stablehlo.constant dense<10> : tensor<i64>
    %1 = stablehlo.subtract %c_0, %arg2 : tensor<i64>
    %2 = stablehlo.convert %1 : (tensor<i64>) -> tensor<f64>
    %3 = stablehlo.add %arg0, %2 : tensor<f64>
    %4 = stablehlo.convert %1 : (tensor<i64>) -> tensor<f64>
    %5 = stablehlo.multiply %4, %3 : tensor<f64>
    %6 = stablehlo.multiply %5, %arg1 : tensor<f64>
    %c_1 = stablehlo.constant dense<2> : tensor<i64>
    %7 = stablehlo.multiply %c_1, %1 : tensor<i64>
    %8 = stablehlo.convert %7 : (tensor<i64>) -> tensor<f64>
    %9 = stablehlo.add %arg0, %8 : tensor<f64>
    %c_2 = stablehlo.constant dense<2> : tensor<i64>
    %10 = stablehlo.multiply %c_2, %1 : tensor<i64>
    %11 = stablehlo.convert %10 : (tensor<i64>) -> tensor<f64>
    %12 = stablehlo.add %arg0, %11 : tensor<f64>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f64>
    %13 = stablehlo.add %12, %cst : tensor<f64>
    %14 = stablehlo.multiply %9, %13 : tensor<f64>
    %15 = stablehlo.divide %6, %14 : tensor<f64>
    %16 = stablehlo.divide %15, %arg3 : tensor<f64>
    %cst_3 = stablehlo.constant dense<1.000000e+00> : tensor<f64>
    %17 = stablehlo.add %cst_3, %16 : tensor<f64>
    return %0, %17 : tensor<i64>, tensor<f64>
  }
}
