module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<f32>, %arg1: tensor<f32>) -> (tensor<f32> {jax.result_info = "result[0]"}) {
    %cst = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %0 = stablehlo.add %cst, %arg0 : tensor<f32>
    %c = stablehlo.constant dense<0> : tensor<i64>
    %1:4 = stablehlo.while(%iterArg = %arg1, %iterArg_0 = %arg1, %iterArg_1 = %0, %iterArg_2 = %c) : tensor<f32>, tensor<f32>, tensor<f32>, tensor<i64>
    cond {
      %2 = stablehlo.multiply %iterArg_1, %iterArg_1 : tensor<f32>
      %cst_3 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
      %3 = stablehlo.add %cst_3, %iterArg : tensor<f32>
      %4 = stablehlo.subtract %2, %3 : tensor<f32>
      %5 = stablehlo.abs %4 : tensor<f32>
      %cst_4 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
      %6 = stablehlo.compare GT, %5, %cst_4, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %c_5 = stablehlo.constant dense<20> : tensor<i64>
      %7 = stablehlo.compare LT, %iterArg_2, %c_5, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
      %c_6 = stablehlo.constant dense<false> : tensor<i1>
      %8 = stablehlo.broadcast_in_dim %c_6, dims = [] : (tensor<i1>) -> tensor<i1>
      %9 = stablehlo.compare NE, %7, %8, UNSIGNED : (tensor<i1>, tensor<i1>) -> tensor<i1>
      %10 = stablehlo.convert %9 : tensor<i1>
      %11 = stablehlo.and %6, %10 : tensor<i1>
      stablehlo.return %11 : tensor<i1>
    } do {
      %cst_3 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
      %2 = stablehlo.add %cst_3, %iterArg_0 : tensor<f32>
      %3 = stablehlo.divide %2, %iterArg_1 : tensor<f32>
      %4 = stablehlo.add %iterArg_1, %3 : tensor<f32>
      %cst_4 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
      %5 = stablehlo.multiply %cst_4, %4 : tensor<f32>
      %c_5 = stablehlo.constant dense<1> : tensor<i64>
      %6 = stablehlo.add %iterArg_2, %c_5 : tensor<i64>
      stablehlo.return %iterArg, %iterArg_0, %5, %6 : tensor<f32>, tensor<f32>, tensor<f32>, tensor<i64>
    }
    return %1#2 : tensor<f32>
  }
}
