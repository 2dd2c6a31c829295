func.func @main() {
  %0 = stablehlo.concatenate dim = 0 : () -> tensor<2xf32>
  return
}
