module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<150x4xf32> loc("x")) -> (tensor<150x3xf32> {jax.result_info = "result"}) {
    %cst = stablehlo.constant dense<[[0.161372036, -0.271130115, -0.250412792, -0.336645335, -0.339098513, -0.0114060938, 0.00153196743, 0.306234568, 0.508675933, 4.533160e-03, 0.332085252, 0.295200765, -0.319866508, 0.0730221868, -0.211534634, 9.18360171E-7], [-0.23263979, -0.462596893, -0.386606067, -0.439746946, -0.311964393, -0.312991232, 5.18007902E-4, 0.422008574, -0.0336524062, -0.00210600602, -0.130751759, 0.402589589, -0.0364223085, 0.372016072, 0.0930259377, 4.59118077E-8], [0.674147129, 0.491882414, 8.235260e-01, 0.75611949, 0.181314275, 0.607104718, -5.32173817E-6, -0.769725203, 0.709640979, 0.00657073921, 0.702764093, -0.735277057, -0.555577278, -0.645611167, -0.54724139, 4.33348551E-10], [0.270830333, 0.238183558, 1.1571461, 1.12659121, 0.319548726, 0.256305307, -5.2593576E-17, -1.13331783, 0.252152413, -0.00408260524, 0.26472947, -1.08043706, -0.488402277, -0.274326682, -0.663230478, -8.31933087E-31]]> : tensor<4x16xf32>
    %cst_0 = stablehlo.constant dense<[-2.11378407, 1.48115301, -3.30613685, -2.24313807, 1.79347491, -0.730532944, -10.5603514, 2.5587678, -4.74393272, -1.38978374, -3.44212317, 2.42423701, 5.88933945, 0.323210657, 4.96299505, -9.64545249]> : tensor<16xf32>
    %cst_1 = stablehlo.constant dense<[[-0.794083178, 0.705108582, 8.385810e-02], [-0.624976217, 0.413299292, 0.205567345], [-0.239894792, -0.942193806, 1.13484323], [-0.228126615, -0.922933817, 1.15324795], [-0.320200205, -0.0703176111, 0.458285421], [-0.692531406, 0.579314291, 0.12141148], [-0.0154944109, 0.0484716222, -0.029143719], [0.229701057, 0.923923909, -1.14569509], [-0.779827177, 0.724237561, 0.0424772352], [-0.0133474497, 0.0381376483, -0.0243430249], [-0.787186622, 0.717531979, 0.0591755174], [0.261965603, 0.858377695, -1.09710538], [0.172271475, 0.297615856, -0.471436054], [0.782739102, -0.656665683, -0.110061571], [0.219219774, 0.405241102, -0.625784575], [-0.0133363912, 0.0470259637, -0.0335676074]]> : tensor<16x3xf32>
    %cst_2 = stablehlo.constant dense<[1.0458591, -1.38320398, 1.59470105]> : tensor<3xf32>
    %0 = stablehlo.dot_general %arg0, %cst, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<150x4xf32>, tensor<4x16xf32>) -> tensor<150x16xf32>
    %1 = stablehlo.broadcast_in_dim %cst_0, dims = [1] : (tensor<16xf32>) -> tensor<1x16xf32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [0, 1] : (tensor<1x16xf32>) -> tensor<150x16xf32>
    %3 = stablehlo.add %0, %2 : tensor<150x16xf32>
    %4 = stablehlo.tanh %3 : tensor<150x16xf32>
    %5 = stablehlo.dot_general %4, %cst_1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<150x16xf32>, tensor<16x3xf32>) -> tensor<150x3xf32>
    %6 = stablehlo.broadcast_in_dim %cst_2, dims = [1] : (tensor<3xf32>) -> tensor<1x3xf32>
    %7 = stablehlo.broadcast_in_dim %6, dims = [0, 1] : (tensor<1x3xf32>) -> tensor<150x3xf32>
    %8 = stablehlo.add %5, %7 : tensor<150x3xf32>
    %9 = call @log_softmax(%8) : (tensor<150x3xf32>) -> tensor<150x3xf32>
    %10 = stablehlo.exponential %9 : tensor<150x3xf32>
    return %10 : tensor<150x3xf32>
  }
  func.func private @log_softmax(%arg0: tensor<150x3xf32>) -> tensor<150x3xf32> {
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.maximum across dimensions = [1] : (tensor<150x3xf32>, tensor<f32>) -> tensor<150xf32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<150xf32>
    %2 = stablehlo.maximum %1, %0 : tensor<150xf32>
    %3 = stablehlo.broadcast_in_dim %2, dims = [0] : (tensor<150xf32>) -> tensor<150x1xf32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1] : (tensor<150x1xf32>) -> tensor<150x3xf32>
    %5 = stablehlo.subtract %arg0, %4 : tensor<150x3xf32>
    %6 = stablehlo.exponential %5 : tensor<150x3xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %7 = stablehlo.reduce(%6 init: %cst_1) applies stablehlo.add across dimensions = [1] : (tensor<150x3xf32>, tensor<f32>) -> tensor<150xf32>
    %8 = stablehlo.broadcast_in_dim %7, dims = [0] : (tensor<150xf32>) -> tensor<150x1xf32>
    %9 = stablehlo.log %8 : tensor<150x1xf32>
    %10 = stablehlo.broadcast_in_dim %9, dims = [0, 1] : (tensor<150x1xf32>) -> tensor<150x3xf32>
    %11 = stablehlo.subtract %5, %10 : tensor<150x3xf32>
    return %11 : tensor<150x3xf32>
  }
}
