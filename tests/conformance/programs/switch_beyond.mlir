module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<i32>, %arg1: tensor<40xf64>) -> (tensor<40xf64> {jax.result_info = "result"}) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<4> : tensor<i32>
    %0 = stablehlo.clamp %c, %arg0, %c_0 : tensor<i32>
    %1 = "stablehlo.case"(%0) ({
      %cst = stablehlo.constant dense<1.000000e+00> : tensor<f64>
      %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f64>) -> tensor<40xf64>
      %3 = stablehlo.add %arg1, %2 : tensor<40xf64>
      stablehlo.return %3 : tensor<40xf64>
    }, {
      %cst = stablehlo.constant dense<2.000000e+00> : tensor<f64>
      %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f64>) -> tensor<40xf64>
      %3 = stablehlo.multiply %arg1, %2 : tensor<40xf64>
      stablehlo.return %3 : tensor<40xf64>
    }, {
      %2 = stablehlo.negate %arg1 : tensor<40xf64>
      stablehlo.return %2 : tensor<40xf64>
    }, {
      %2 = stablehlo.multiply %arg1, %arg1 : tensor<40xf64>
      stablehlo.return %2 : tensor<40xf64>
    }, {
      %2 = stablehlo.sine %arg1 : tensor<40xf64>
      stablehlo.return %2 : tensor<40xf64>
    }) : (tensor<i32>) -> tensor<40xf64>
    return %1 : tensor<40xf64>
  }
}
