"builtin.module"() <{sym_name = "jit_f"}> ({
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<4xi32>) -> tensor<4xi32>, res_attrs = [{jax.result_info = ""}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg0: tensor<4xi32> loc("w:"(#loc9))):
    %0 = "stablehlo.constant"() <{value = dense<[1, -2, 0x3, 4]> : tensor<4xi32>}> : () -> tensor<4xi32>
    %1 = "func.call"(%0, %arg0) <{callee = @f}> : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
    "func.return"(%1) : (tensor<4xi32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>, sym_name = "f", sym_visibility = "private"}> ({
  ^bb0(%a: tensor<4xi32>, %b: tensor<4xi32>):
    %0 = "stablehlo.xor" (%a, %b) : (tensor<4xi32>, tensor<4xi32>) -> (tensor<4xi32>)
    "func.return"(%0) : (tensor<4xi32>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32} : () -> ()
