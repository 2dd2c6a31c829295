module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<40xf64>) -> (tensor<40xf64> {jax.result_info = "result"}) {
    %values, %indices = chlo.top_k(%arg0, k = 5) : tensor<40xf64> -> (tensor<5xf64>, tensor<5xi32>)
    %0 = stablehlo.reshape %indices : (tensor<5xi32>) -> tensor<5x1xi32>
    %cst = stablehlo.constant dense<2.000000e+00> : tensor<f64>
    %1 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f64>) -> tensor<5xf64>
    %2 = stablehlo.multiply %1, %values : tensor<5xf64>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<f64>
    %3 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f64>) -> tensor<5xf64>
    %4 = stablehlo.multiply %3, %2 : tensor<5xf64>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %5 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f64>) -> tensor<40xf64>
    %6 = "stablehlo.scatter"(%5, %0, %4) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%arg1: tensor<f64>, %arg2: tensor<f64>):
      %7 = stablehlo.add %arg1, %arg2 : tensor<f64>
      stablehlo.return %7 : tensor<f64>
    }) : (tensor<40xf64>, tensor<5x1xi32>, tensor<5xf64>) -> tensor<40xf64>
    return %6 : tensor<40xf64>
  }
}
