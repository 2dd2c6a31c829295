func.func @main(%l: tensor<2x6x6x4xf32>, %r: tensor<3x3x2x4xf32>) -> (tensor<2x3x4x4xf32>, tensor<2x4x4x4xf32>) {
  %0 = stablehlo.convolution(%l, %r) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [2, 1], pad = [[1, 0], [0, 0]], rhs_dilate = [1, 1], reverse = [false, true]} {batch_group_count = 1 : i64, feature_group_count = 2 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<2x6x6x4xf32>, tensor<3x3x2x4xf32>) -> tensor<2x3x4x4xf32>
  %1 = "stablehlo.convolution"(%l, %r) <{dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, batch_group_count = 1 : i64, feature_group_count = 2 : i64, padding = dense<0> : tensor<2x2xi64>}> : (tensor<2x6x6x4xf32>, tensor<3x3x2x4xf32>) -> tensor<2x4x4x4xf32>
  return %0, %1 : tensor<2x3x4x4xf32>, tensor<2x4x4x4xf32>
}
