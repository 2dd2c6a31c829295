func.func @main(%x: tensor<3x4xf32>, %y: tensor<3x4xi32>) -> (tensor<3xf32>, tensor<f32>, tensor<3xf32>, tensor<3xi32>) {
  %i = stablehlo.constant dense<0.0> : tensor<f32>
  %j = stablehlo.constant dense<0> : tensor<i32>
  %0 = stablehlo.reduce(%x init: %i) applies stablehlo.add across dimensions = [1] : (tensor<3x4xf32>, tensor<f32>) -> tensor<3xf32>
  %1 = stablehlo.reduce(%x init: %i) across dimensions = [0, 1] : (tensor<3x4xf32>, tensor<f32>) -> tensor<f32>
   reducer(%a: tensor<f32> loc("reduce:"("reduce")), %b: tensor<f32> loc(unknown))  {
    %m = stablehlo.maximum %a, %b : tensor<f32>
    %n = stablehlo.abs %m : tensor<f32>
    stablehlo.return %n : tensor<f32>
  }
  %2:2 = stablehlo.reduce(%x init: %i), (%y init: %j) across dimensions = [1] : (tensor<3x4xf32>, tensor<3x4xi32>, tensor<f32>, tensor<i32>) -> (tensor<3xf32>, tensor<3xi32>)
   reducer(%a: tensor<f32>, %c: tensor<f32>) (%b: tensor<i32>, %d: tensor<i32>)  {
    %p = stablehlo.compare GT, %a, %c, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %q = stablehlo.select %p, %a, %c : tensor<i1>, tensor<f32>
    %r = stablehlo.select %p, %b, %d : tensor<i1>, tensor<i32>
    stablehlo.return %q, %r : tensor<f32>, tensor<i32>
  }
  return %0, %1, %2#0, %2#1 : tensor<3xf32>, tensor<f32>, tensor<3xf32>, tensor<3xi32>
}
