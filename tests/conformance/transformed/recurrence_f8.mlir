module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<5xf64>, %arg1: tensor<5xf64>) -> (tensor<5xf64> {jax.result_info = "result[0]"}) {
    %0 = stablehlo.slice %arg0 [0:4:2] : (tensor<5xf64>) -> tensor<2xf64>
    %1 = stablehlo.slice %arg1 [0:4:2] : (tensor<5xf64>) -> tensor<2xf64>
    %2 = stablehlo.slice %arg0 [1:5:2] : (tensor<5xf64>) -> tensor<2xf64>
    %3 = stablehlo.slice %arg1 [1:5:2] : (tensor<5xf64>) -> tensor<2xf64>
    %4 = stablehlo.multiply %0, %2 : tensor<2xf64>
    %5 = stablehlo.multiply %2, %1 : tensor<2xf64>
    %6 = stablehlo.add %5, %3 : tensor<2xf64>
    %7 = stablehlo.slice %4 [0:1:2] : (tensor<2xf64>) -> tensor<1xf64>
    %8 = stablehlo.slice %6 [0:1:2] : (tensor<2xf64>) -> tensor<1xf64>
    %9 = stablehlo.slice %4 [1:2:2] : (tensor<2xf64>) -> tensor<1xf64>
    %10 = stablehlo.slice %6 [1:2:2] : (tensor<2xf64>) -> tensor<1xf64>
    %11 = stablehlo.multiply %7, %9 : tensor<1xf64>
    %12 = stablehlo.multiply %9, %8 : tensor<1xf64>
    %13 = stablehlo.add %12, %10 : tensor<1xf64>
    %14 = stablehlo.slice %11 [0:0] : (tensor<1xf64>) -> tensor<0xf64>
    %15 = stablehlo.slice %13 [0:0] : (tensor<1xf64>) -> tensor<0xf64>
    %16 = stablehlo.slice %4 [2:2:2] : (tensor<2xf64>) -> tensor<0xf64>
    %17 = stablehlo.slice %6 [2:2:2] : (tensor<2xf64>) -> tensor<0xf64>
    %18 = stablehlo.multiply %14, %16 : tensor<0xf64>
    %19 = stablehlo.multiply %16, %15 : tensor<0xf64>
    %20 = stablehlo.add %19, %17 : tensor<0xf64>
    %21 = stablehlo.slice %4 [0:1] : (tensor<2xf64>) -> tensor<1xf64>
    %22 = stablehlo.concatenate %21, %18, dim = 0 : (tensor<1xf64>, tensor<0xf64>) -> tensor<1xf64>
    %23 = stablehlo.slice %6 [0:1] : (tensor<2xf64>) -> tensor<1xf64>
    %24 = stablehlo.concatenate %23, %20, dim = 0 : (tensor<1xf64>, tensor<0xf64>) -> tensor<1xf64>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %25 = stablehlo.pad %22, %cst, low = [0], high = [1], interior = [1] : (tensor<1xf64>, tensor<f64>) -> tensor<2xf64>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %26 = stablehlo.pad %11, %cst_0, low = [1], high = [0], interior = [1] : (tensor<1xf64>, tensor<f64>) -> tensor<2xf64>
    %27 = stablehlo.add %25, %26 : tensor<2xf64>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %28 = stablehlo.pad %24, %cst_1, low = [0], high = [1], interior = [1] : (tensor<1xf64>, tensor<f64>) -> tensor<2xf64>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %29 = stablehlo.pad %13, %cst_2, low = [1], high = [0], interior = [1] : (tensor<1xf64>, tensor<f64>) -> tensor<2xf64>
    %30 = stablehlo.add %28, %29 : tensor<2xf64>
    %31 = stablehlo.slice %arg0 [2:5:2] : (tensor<5xf64>) -> tensor<2xf64>
    %32 = stablehlo.slice %arg1 [2:5:2] : (tensor<5xf64>) -> tensor<2xf64>
    %33 = stablehlo.multiply %27, %31 : tensor<2xf64>
    %34 = stablehlo.multiply %31, %30 : tensor<2xf64>
    %35 = stablehlo.add %34, %32 : tensor<2xf64>
    %36 = stablehlo.slice %arg0 [0:1] : (tensor<5xf64>) -> tensor<1xf64>
    %37 = stablehlo.concatenate %36, %33, dim = 0 : (tensor<1xf64>, tensor<2xf64>) -> tensor<3xf64>
    %38 = stablehlo.slice %arg1 [0:1] : (tensor<5xf64>) -> tensor<1xf64>
    %39 = stablehlo.concatenate %38, %35, dim = 0 : (tensor<1xf64>, tensor<2xf64>) -> tensor<3xf64>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %40 = stablehlo.pad %37, %cst_3, low = [0], high = [0], interior = [1] : (tensor<3xf64>, tensor<f64>) -> tensor<5xf64>
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %41 = stablehlo.pad %27, %cst_4, low = [1], high = [1], interior = [1] : (tensor<2xf64>, tensor<f64>) -> tensor<5xf64>
    %42 = stablehlo.add %40, %41 : tensor<5xf64>
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %43 = stablehlo.pad %39, %cst_5, low = [0], high = [0], interior = [1] : (tensor<3xf64>, tensor<f64>) -> tensor<5xf64>
    %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %44 = stablehlo.pad %30, %cst_6, low = [1], high = [1], interior = [1] : (tensor<2xf64>, tensor<f64>) -> tensor<5xf64>
    %45 = stablehlo.add %43, %44 : tensor<5xf64>
    return %45 : tensor<5xf64>
  }
}
