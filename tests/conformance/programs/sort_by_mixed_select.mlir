func.func @main(%x: tensor<37xf64>, %y: tensor<37xi32>) -> (tensor<37xf64>, tensor<37xi32>) {
  %0:2 = "stablehlo.sort"(%x, %y) ({
  ^bb0(%a: tensor<f64>, %b: tensor<f64>, %c: tensor<i32>, %d: tensor<i32>):
    %p = stablehlo.compare GT, %c, %d, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %e = stablehlo.compare EQ, %c, %d, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %l = stablehlo.compare LT, %a, %b, FLOAT : (tensor<f64>, tensor<f64>) -> tensor<i1>
    %r = stablehlo.select %e, %l, %p : tensor<i1>, tensor<i1>
    stablehlo.return %r : tensor<i1>
  }) {dimension = 0 : i64, is_stable = true} : (tensor<37xf64>, tensor<37xi32>) -> (tensor<37xf64>, tensor<37xi32>)
  return %0#0, %0#1 : tensor<37xf64>, tensor<37xi32>
}
