func.func @main(%x: tensor<2x2xi64>, %y: tensor<2x2xi64>) -> tensor<2x2xi64> {
  %0 = "stablehlo.map"(%x, %y) <{dimensions = array<i64: 0, 1>}> ({
  ^bb0(%a: tensor<i64>, %b: tensor<i64>):
    %1 = stablehlo.multiply %a, %b : tensor<i64>
    stablehlo.return %1 : tensor<i64>
  }) : (tensor<2x2xi64>, tensor<2x2xi64>) -> tensor<2x2xi64>
  return %0 : tensor<2x2xi64>
}
