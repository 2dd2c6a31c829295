func.func @main(%a: tensor<6xf32>, %b: tensor<6xf32>, %i: tensor<6xi32>) -> (tensor<6xf32>, tensor<6xi32>) {
  %0 = stablehlo.tanh %a {result_accuracy = #stablehlo.result_accuracy<atol = 1.000000e-05, ulps = 3, mode = #stablehlo.result_accuracy_mode<TOLERANCE>>} : tensor<6xf32>
  %1 = stablehlo.add %0, %b : tensor<6xf32>
  %2 = stablehlo.power %1, %b : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
  %3 = stablehlo.compare  LT, %2, %b,  TOTALORDER : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xi1>
  %4 = stablehlo.select %3, %a, %2 : tensor<6xi1>, tensor<6xf32>
  %c = stablehlo.constant dense<0.0> : tensor<f32>
  %5 = stablehlo.clamp %c, %4, %c : (tensor<f32>, tensor<6xf32>, tensor<f32>) -> tensor<6xf32>
  %6 = chlo.erf %5 : tensor<6xf32> -> tensor<6xf32>
  %7 = chlo.next_after %6, %a : tensor<6xf32>, tensor<6xf32> -> tensor<6xf32>
  %8 = stablehlo.shift_right_logical %i, %i : tensor<6xi32>
  %9 = stablehlo.popcnt %8 : tensor<6xi32>
  %10 = stablehlo.convert %7 : (tensor<6xf32>) -> tensor<6xi32>
  %11 = stablehlo.bitcast_convert %10 : (tensor<6xi32>) -> tensor<6xf32>
  %12 = stablehlo.reduce_precision %11, format = e8m10 : tensor<6xf32>
  %13 = stablehlo.round_nearest_even %12 : tensor<6xf32>
  %14:2 = stablehlo.optimization_barrier %13, %9 : tensor<6xf32>, tensor<6xi32>
  return %14#0, %14#1 : tensor<6xf32>, tensor<6xi32>
}
