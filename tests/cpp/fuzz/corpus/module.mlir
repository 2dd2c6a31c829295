#loc = loc(unknown)
#loc3 = loc("name \22 <("(#loc7))
#dims = array<i64: 1, 0>
!pair = tensor<2x3xf32>
module @jit_f attributes {mhlo.num_partitions = 1 : i32, jax.uses_shape_polymorphism = false} {
  sdy.mesh @empty_mesh = <[]> {stablehlo.mesh = {axes = []}}
  func.func public @main(%arg0: !pair {mhlo.layout_mode = "default", tf.aliasing_output = 0 : i32} loc("x['w']")) -> (tensor<3x2xf32> {jax.result_info = "result[1]['b1']"}) {
    %0 = call @"<lambda>"(%arg0) : (tensor<2x3xf32>) -> tensor<3x2xf32> loc("a.py":5:68 to :71)
    %1 = sdy.sharding_constraint %0 <@empty_mesh, [{}, {?}]> : tensor<3x2xf32>
    return %1 : tensor<3x2xf32> loc(callsite(#loc3 at #loc))
  } loc(#loc)
  func.func private @"<lambda>"(%arg0: tensor<2x3xf32>) -> tensor<3x2xf32> {
    %0 = "stablehlo.transpose"(%arg0) <{permutation = #dims}> : (tensor<2x3xf32>) -> tensor<3x2xf32>
    return %0 : tensor<3x2xf32>
  }
  func.func private @declared(tensor<f32>) -> tensor<f32>
} loc(#loc)
#loc7 = loc("later":1:1)
