func.func @main(%a: tensor<2xf16>, %b: tensor<?x3xcomplex<f32>>, %c: tuple<tensor<f32>, !stablehlo.token>, %d: tensor<*xf32>, %e: tensor<2x!quant.uniform<i8:f32, 0.1:-30>>) {
  return
}
