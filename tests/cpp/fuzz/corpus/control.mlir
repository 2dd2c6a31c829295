func.func @main(%n: tensor<i32>, %x: tensor<3xf32>) -> (tensor<i32>, tensor<3xf32>, tensor<3xf32>) {
  %c = stablehlo.constant dense<0> : tensor<i32>
  %0:2 = stablehlo.while(%i = %c, %v = %x) : tensor<i32>, tensor<3xf32> attributes {a.b = true}
   cond {
    %p = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %o = stablehlo.constant dense<1> : tensor<i32>
    %j = stablehlo.add %i, %o : tensor<i32>
    %w = stablehlo.multiply %v, %x : tensor<3xf32>
    stablehlo.return %j, %w : tensor<i32>, tensor<3xf32>
  }
  %1 = "stablehlo.case"(%0#0) ({
    stablehlo.return %x : tensor<3xf32>
  }, {
    %y = stablehlo.negate %x : tensor<3xf32>
    stablehlo.return %y : tensor<3xf32>
  }) : (tensor<i32>) -> tensor<3xf32>
  %q = stablehlo.compare EQ, %0#0, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
  %2 = "stablehlo.if"(%q) ({
    stablehlo.return %1 : tensor<3xf32>
  }, {
    stablehlo.return %x : tensor<3xf32>
  }) : (tensor<i1>) -> tensor<3xf32>
  return %0#0, %0#1, %2 : tensor<i32>, tensor<3xf32>, tensor<3xf32>
}
