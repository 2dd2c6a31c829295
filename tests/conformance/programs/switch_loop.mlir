module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<40xf64>) -> (tensor<40xf64> {jax.result_info = "result"}) {
    %c = stablehlo.constant dense<0> : tensor<i64>
    %c_0 = stablehlo.constant dense<0> : tensor<i64>
    %0:3 = stablehlo.while(%iterArg = %c_0, %iterArg_1 = %c, %iterArg_2 = %arg0) : tensor<i64>, tensor<i64>, tensor<40xf64>
    cond {
      %c_3 = stablehlo.constant dense<9> : tensor<i64>
      %1 = stablehlo.compare LT, %iterArg, %c_3, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    } do {
      %1:2 = func.call @closed_call(%iterArg_1, %iterArg_2) : (tensor<i64>, tensor<40xf64>) -> (tensor<i64>, tensor<40xf64>)
      %c_3 = stablehlo.constant dense<1> : tensor<i64>
      %2 = stablehlo.add %iterArg, %c_3 : tensor<i64>
      stablehlo.return %2, %1#0, %1#1 : tensor<i64>, tensor<i64>, tensor<40xf64>
    }
    return %0#2 : tensor<40xf64>
  }
  func.func private @closed_call(%arg0: tensor<i64>, %arg1: tensor<40xf64>) -> (tensor<i64>, tensor<40xf64>) {
    %c = stablehlo.constant dense<1> : tensor<i64>
    %0 = stablehlo.add %arg0, %c : tensor<i64>
    %c_0 = stablehlo.constant dense<2> : tensor<i64>
    %1 = stablehlo.subtract %arg0, %c_0 : tensor<i64>
    %2 = stablehlo.convert %1 : (tensor<i64>) -> tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %c_2 = stablehlo.constant dense<4> : tensor<i32>
    %3 = stablehlo.clamp %c_1, %2, %c_2 : tensor<i32>
    %4 = "stablehlo.case"(%3) ({
      %cst = stablehlo.constant dense<1.000000e+00> : tensor<f64>
      %5 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f64>) -> tensor<40xf64>
      %6 = stablehlo.add %arg1, %5 : tensor<40xf64>
      stablehlo.return %6 : tensor<40xf64>
    }, {
      %cst = stablehlo.constant dense<2.000000e+00> : tensor<f64>
      %5 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f64>) -> tensor<40xf64>
      %6 = stablehlo.multiply %arg1, %5 : tensor<40xf64>
      stablehlo.return %6 : tensor<40xf64>
    }, {
      %5 = stablehlo.negate %arg1 : tensor<40xf64>
      stablehlo.return %5 : tensor<40xf64>
    }, {
      %5 = stablehlo.multiply %arg1, %arg1 : tensor<40xf64>
      stablehlo.return %5 : tensor<40xf64>
    }, {
      %5 = stablehlo.sine %arg1 : tensor<40xf64>
      stablehlo.return %5 : tensor<40xf64>
    }) : (tensor<i32>) -> tensor<40xf64>
    return %0, %4 : tensor<i64>, tensor<40xf64>
  }
}
