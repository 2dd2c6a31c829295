module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<3x4xf64>) -> (tensor<5x5xf64> {jax.result_info = "result[0]"}) {
    %0 = stablehlo.reverse %arg0, dims = [0] : tensor<3x4xf64>
    %1 = stablehlo.reverse %arg0, dims = [1] : tensor<3x4xf64>
    %2 = stablehlo.multiply %1, %1 : tensor<3x4xf64>
    %3 = stablehlo.concatenate %0, %2, dim = 0 : (tensor<3x4xf64>, tensor<3x4xf64>) -> tensor<6x4xf64>
    %4 = stablehlo.slice %3 [1:5, 0:4:2] : (tensor<6x4xf64>) -> tensor<4x2xf64>
    %c = stablehlo.constant dense<0> : tensor<i64>
    %5 = call @_pad(%4, %c) : (tensor<4x2xf64>, tensor<i64>) -> tensor<5x5xf64>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f64>
    %6 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f64>) -> tensor<5x5xf64>
    %7 = stablehlo.reshape %6 : (tensor<5x5xf64>) -> tensor<25xf64>
    %8 = call @_roll_static(%7) : (tensor<25xf64>) -> tensor<25xf64>
    %9 = stablehlo.reshape %8 : (tensor<25xf64>) -> tensor<5x5xf64>
    %10 = stablehlo.multiply %5, %9 : tensor<5x5xf64>
    return %10 : tensor<5x5xf64>
  }
  func.func private @_pad(%arg0: tensor<4x2xf64>, %arg1: tensor<i64>) -> tensor<5x5xf64> {
    %0 = stablehlo.convert %arg1 : (tensor<i64>) -> tensor<f64>
    %1 = stablehlo.pad %arg0, %0, low = [1, 2], high = [0, 1], interior = [0, 0] : (tensor<4x2xf64>, tensor<f64>) -> tensor<5x5xf64>
    return %1 : tensor<5x5xf64>
  }
  func.func private @_roll_static(%arg0: tensor<25xf64>) -> tensor<25xf64> {
    %0 = stablehlo.slice %arg0 [24:25] : (tensor<25xf64>) -> tensor<1xf64>
    %1 = stablehlo.slice %arg0 [0:24] : (tensor<25xf64>) -> tensor<24xf64>
    %2 = stablehlo.concatenate %0, %1, dim = 0 : (tensor<1xf64>, tensor<24xf64>) -> tensor<25xf64>
    return %2 : tensor<25xf64>
  }
}
