func.func @main(%a0: tensor<4x3x2xf32>, %a1: tensor<3xf32>, %a2: tensor<3xf32>, %a3: tensor<3xf32>, %a4: tensor<3xf32>) -> (tensor<4x3x2xf32>) {
  %0 = "stablehlo.batch_norm_inference"(%a0, %a1, %a2, %a3, %a4) {epsilon = 0.001 : f32, feature_index = 1 : i64} : (tensor<4x3x2xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<4x3x2xf32>)
  return %0 : tensor<4x3x2xf32>
}
