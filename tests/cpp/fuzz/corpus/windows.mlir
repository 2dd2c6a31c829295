func.func @main(%x: tensor<1x6x6xf32>) -> (tensor<1x3x3xf32>, tensor<1x6x6xf32>, tensor<1x6x6xf32>) {
  %i = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = "stablehlo.reduce_window"(%x, %i) <{window_dimensions = array<i64: 1, 2, 2>, window_strides = array<i64: 1, 2, 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %m = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %m : tensor<f32>
  }) : (tensor<1x6x6xf32>, tensor<f32>) -> tensor<1x3x3xf32>
  %1 = "stablehlo.select_and_scatter"(%x, %0, %z) <{window_dimensions = array<i64: 1, 2, 2>, window_strides = array<i64: 1, 2, 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %m = stablehlo.compare GE, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %m : tensor<i1>
  }, {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %m = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %m : tensor<f32>
  }) : (tensor<1x6x6xf32>, tensor<1x3x3xf32>, tensor<f32>) -> tensor<1x6x6xf32>
  %2 = "stablehlo.reduce_window"(%x, %z) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %m = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %m : tensor<f32>
  }) {window_dimensions = dense<[1, 6, 1]> : tensor<3xi64>, padding = dense<[[0, 0], [5, 0], [0, 0]]> : tensor<3x2xi64>, base_dilations = dense<1> : tensor<3xi64>} : (tensor<1x6x6xf32>, tensor<f32>) -> tensor<1x6x6xf32>
  return %0, %1, %2 : tensor<1x3x3xf32>, tensor<1x6x6xf32>, tensor<1x6x6xf32>
}
