func.func @main(%a: tensor<2x3x4xf32>, %b: tensor<4x2x5xf32>) -> tensor<5x2x3xf32> {
  %0 = "stablehlo.einsum"(%a, %b) {einsum_config = "bij,jbk->kbi"} : (tensor<2x3x4xf32>, tensor<4x2x5xf32>) -> tensor<5x2x3xf32>
  return %0 : tensor<5x2x3xf32>
}
