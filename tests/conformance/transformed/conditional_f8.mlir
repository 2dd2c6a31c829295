module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4xf64>, %arg1: tensor<f64>) -> (tensor<4xf64> {jax.result_info = "result[0]"}) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %0 = stablehlo.compare GT, %arg1, %cst, FLOAT : (tensor<f64>, tensor<f64>) -> tensor<i1>
    %1 = stablehlo.convert %0 : (tensor<i1>) -> tensor<i32>
    %2 = "stablehlo.case"(%1) ({
      %3 = stablehlo.multiply %arg0, %arg0 : tensor<4xf64>
      %4 = stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<f64>) -> tensor<4xf64>
      %5 = stablehlo.subtract %3, %4 : tensor<4xf64>
      stablehlo.return %5 : tensor<4xf64>
    }, {
      %3 = stablehlo.sine %arg0 : tensor<4xf64>
      %4 = stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<f64>) -> tensor<4xf64>
      %5 = stablehlo.multiply %3, %4 : tensor<4xf64>
      stablehlo.return %5 : tensor<4xf64>
    }) : (tensor<i32>) -> tensor<4xf64>
    return %2 : tensor<4xf64>
  }
}
