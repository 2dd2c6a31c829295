func.func @main(%a: tensor<2x3xf32>, %i: tensor<i32>) -> (tensor<6x5xf32>, tensor<2x4xf32>, tensor<1x2xf32>) {
  %0 = stablehlo.iota dim = 1 : tensor<2x3xf32>
  %1 = stablehlo.concatenate %a, %0, dim = 0 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<4x3xf32>
  %v = stablehlo.constant dense<0.0> : tensor<f32>
  %2 = stablehlo.pad %1, %v, low = [1, -1], high = [1, 2], interior = [0, 1] : (tensor<4x3xf32>, tensor<f32>) -> tensor<6x6xf32>
  %3 = stablehlo.slice %2 [0:6, 1:6:1] : (tensor<6x6xf32>) -> tensor<6x5xf32>
  %4 = stablehlo.reverse %3, dims = [0, 1] : tensor<6x5xf32>
  %5 = stablehlo.transpose %a, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %6 = stablehlo.reshape %5 : (tensor<3x2xf32>) -> tensor<6xf32>
  %7 = stablehlo.dynamic_slice %6, %i, sizes = [4] : (tensor<6xf32>, tensor<i32>) -> tensor<4xf32>
  %8 = stablehlo.dynamic_update_slice %6, %7, %i : (tensor<6xf32>, tensor<4xf32>, tensor<i32>) -> tensor<6xf32>
  %9 = stablehlo.slice %8 [0:4] : (tensor<6xf32>) -> tensor<4xf32>
  %10 = stablehlo.broadcast_in_dim %9, dims = [1] : (tensor<4xf32>) -> tensor<2x4xf32>
  %11 = "stablehlo.slice"(%8) {start_indices = dense<0> : tensor<1xi64>, limit_indices = dense<[2]> : tensor<1xi64>, strides = array<i64: 1>} : (tensor<6xf32>) -> tensor<2xf32>
  %12 = stablehlo.reshape %11 : (tensor<2xf32>) -> tensor<1x2xf32>
  return %4, %10, %12 : tensor<6x5xf32>, tensor<2x4xf32>, tensor<1x2xf32>
}
