func.func @main() -> (tensor<1000000x1000000xf32>, tensor<f32>) {
  %0 = stablehlo.constant dense<"0x0000803F"> : tensor<1000000x1000000xf32>
  %1 = stablehlo.constant dense<0.0> : tensor<f32>
  %2 = stablehlo.reduce(%0 init: %1) applies stablehlo.add across dimensions = [0, 1] : (tensor<1000000x1000000xf32>, tensor<f32>) -> tensor<f32>
  return %0, %2 : tensor<1000000x1000000xf32>, tensor<f32>
}
