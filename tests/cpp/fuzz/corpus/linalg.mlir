func.func @main(%a: tensor<2x2xf64>, %b: tensor<2x1xf64>) -> (tensor<2x2xf64>, tensor<2x1xf64>) {
  %0 = stablehlo.cholesky %a, lower = true : tensor<2x2xf64>
  %1 = "stablehlo.triangular_solve"(%0, %b) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<2x2xf64>, tensor<2x1xf64>) -> tensor<2x1xf64>
  return %0, %1 : tensor<2x2xf64>, tensor<2x1xf64>
}
