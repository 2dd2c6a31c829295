func.func @main() -> (tensor<2x2xf32>, tensor<3xi8>, tensor<5xi1>, tensor<2xf64>, tensor<0x2xf32>, tensor<12xi1>, tensor<2xf32>, tensor<4xui64>) {
  %0 = stablehlo.constant dense<[[1.0, -2.5e-03], // a comment > here
    [0x7FC00001, 9.99999935E-39]]> : tensor<2x2xf32>
  %1 = stablehlo.constant dense<[0xFF, -128, 127]> : tensor<3xi8>
  %2 = stablehlo.constant dense<"0x0100010001"> : tensor<5xi1>
  %3 = stablehlo.constant dense<"0x000000000000F03F0000000000000040"> : tensor<2xf64>
  %4 = stablehlo.constant dense<> : tensor<0x2xf32>
  %5 = stablehlo.constant dense<"0xFF"> : tensor<12xi1>
  %6 = stablehlo.constant {a.b = 1 : i32} dense<0xFF800000> : tensor<2xf32>
  %7 = stablehlo.constant dense<18446744073709551615> : tensor<4xui64>
  return %0, %1, %2, %3, %4, %5, %6, %7 : tensor<2x2xf32>, tensor<3xi8>, tensor<5xi1>, tensor<2xf64>, tensor<0x2xf32>, tensor<12xi1>, tensor<2xf32>, tensor<4xui64>
}
