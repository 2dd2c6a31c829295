module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<40xf64>, %arg1: tensor<i32>) -> (tensor<40xf64> {jax.result_info = "result"}) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<4> : tensor<i32>
    %0 = stablehlo.clamp %c, %arg1, %c_0 : tensor<i32>
    %1 = "stablehlo.case"(%0) ({
      %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
      %4 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f64>) -> tensor<40xf64>
      stablehlo.return %4 : tensor<40xf64>
    }, {
      %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
      %4 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f64>) -> tensor<40xf64>
      stablehlo.return %4 : tensor<40xf64>
    }, {
      %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
      %4 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f64>) -> tensor<40xf64>
      stablehlo.return %4 : tensor<40xf64>
    }, {
      stablehlo.return %arg0 : tensor<40xf64>
    }, {
      %4 = stablehlo.cosine %arg0 : tensor<40xf64>
      stablehlo.return %4 : tensor<40xf64>
    }) : (tensor<i32>) -> tensor<40xf64>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f64>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f64>) -> tensor<40xf64>
    %3 = "stablehlo.case"(%0) ({
      stablehlo.return %2 : tensor<40xf64>
    }, {
      %cst_1 = stablehlo.constant dense<2.000000e+00> : tensor<f64>
      %4 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f64>) -> tensor<40xf64>
      %5 = stablehlo.multiply %2, %4 : tensor<40xf64>
      stablehlo.return %5 : tensor<40xf64>
    }, {
      %4 = stablehlo.negate %2 : tensor<40xf64>
      stablehlo.return %4 : tensor<40xf64>
    }, {
      %4 = stablehlo.multiply %1, %2 : tensor<40xf64>
      %5 = stablehlo.multiply %2, %1 : tensor<40xf64>
      %6 = stablehlo.add %4, %5 : tensor<40xf64>
      stablehlo.return %6 : tensor<40xf64>
    }, {
      %4 = stablehlo.multiply %2, %1 : tensor<40xf64>
      stablehlo.return %4 : tensor<40xf64>
    }) : (tensor<i32>) -> tensor<40xf64>
    return %3 : tensor<40xf64>
  }
}
