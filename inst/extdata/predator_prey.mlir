module @jit_predator_prey attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2xf64> loc("y0"), %arg1: tensor<4xf64> loc("theta"), %arg2: tensor<f64> loc("t_end"), %arg3: tensor<f64> loc("tolerance")) -> (tensor<i64> {jax.result_info = "result['accepted']"}, tensor<i64> {jax.result_info = "result['rejected']"}, tensor<2xf64> {jax.result_info = "result['y']"}) {
    %cst = stablehlo.constant dense<1.000000e-02> : tensor<f64>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<f64>
    %0 = stablehlo.multiply %cst, %cst_0 : tensor<f64>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %c = stablehlo.constant dense<0> : tensor<i64>
    %c_2 = stablehlo.constant dense<0> : tensor<i64>
    %1:9 = stablehlo.while(%iterArg = %arg2, %iterArg_3 = %arg2, %iterArg_4 = %arg1, %iterArg_5 = %arg3, %iterArg_6 = %cst_1, %iterArg_7 = %arg0, %iterArg_8 = %0, %iterArg_9 = %c, %iterArg_10 = %c_2) : tensor<f64>, tensor<f64>, tensor<4xf64>, tensor<f64>, tensor<f64>, tensor<2xf64>, tensor<f64>, tensor<i64>, tensor<i64>
    cond {
      %2 = stablehlo.compare LT, %iterArg_6, %iterArg, FLOAT : (tensor<f64>, tensor<f64>) -> tensor<i1>
      stablehlo.return %2 : tensor<i1>
    } do {
      %2 = stablehlo.subtract %iterArg_3, %iterArg_6 : tensor<f64>
      %3 = stablehlo.minimum %iterArg_8, %2 : tensor<f64>
      %4 = func.call @rate(%iterArg_7, %iterArg_4) : (tensor<2xf64>, tensor<4xf64>) -> tensor<2xf64>
      %cst_11 = stablehlo.constant dense<2.000000e-01> : tensor<f64>
      %5 = stablehlo.broadcast_in_dim %cst_11, dims = [] : (tensor<f64>) -> tensor<2xf64>
      %6 = stablehlo.multiply %5, %4 : tensor<2xf64>
      %cst_12 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
      %7 = stablehlo.broadcast_in_dim %cst_12, dims = [] : (tensor<f64>) -> tensor<2xf64>
      %8 = stablehlo.add %7, %6 : tensor<2xf64>
      %9 = stablehlo.broadcast_in_dim %3, dims = [] : (tensor<f64>) -> tensor<2xf64>
      %10 = stablehlo.multiply %9, %8 : tensor<2xf64>
      %11 = stablehlo.add %iterArg_7, %10 : tensor<2xf64>
      %12 = func.call @rate(%11, %iterArg_4) : (tensor<2xf64>, tensor<4xf64>) -> tensor<2xf64>
      %cst_13 = stablehlo.constant dense<0.074999999999999997> : tensor<f64>
      %13 = stablehlo.broadcast_in_dim %cst_13, dims = [] : (tensor<f64>) -> tensor<2xf64>
      %14 = stablehlo.multiply %13, %4 : tensor<2xf64>
      %cst_14 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
      %15 = stablehlo.broadcast_in_dim %cst_14, dims = [] : (tensor<f64>) -> tensor<2xf64>
      %16 = stablehlo.add %15, %14 : tensor<2xf64>
      %cst_15 = stablehlo.constant dense<2.250000e-01> : tensor<f64>
      %17 = stablehlo.broadcast_in_dim %cst_15, dims = [] : (tensor<f64>) -> tensor<2xf64>
      %18 = stablehlo.multiply %17, %12 : tensor<2xf64>
      %19 = stablehlo.add %16, %18 : tensor<2xf64>
      %20 = stablehlo.broadcast_in_dim %3, dims = [] : (tensor<f64>) -> tensor<2xf64>
      %21 = stablehlo.multiply %20, %19 : tensor<2xf64>
      %22 = stablehlo.add %iterArg_7, %21 : tensor<2xf64>
      %23 = func.call @rate(%22, %iterArg_4) : (tensor<2xf64>, tensor<4xf64>) -> tensor<2xf64>
      %cst_16 = stablehlo.constant dense<0.97777777777777774> : tensor<f64>
      %24 = stablehlo.broadcast_in_dim %cst_16, dims = [] : (tensor<f64>) -> tensor<2xf64>
      %25 = stablehlo.multiply %24, %4 : tensor<2xf64>
      %cst_17 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
      %26 = stablehlo.broadcast_in_dim %cst_17, dims = [] : (tensor<f64>) -> tensor<2xf64>
      %27 = stablehlo.add %26, %25 : tensor<2xf64>
      %cst_18 = stablehlo.constant dense<-3.7333333333333334> : tensor<f64>
      %28 = stablehlo.broadcast_in_dim %cst_18, dims = [] : (tensor<f64>) -> tensor<2xf64>
      %29 = stablehlo.multiply %28, %12 : tensor<2xf64>
      %30 = stablehlo.add %27, %29 : tensor<2xf64>
      %cst_19 = stablehlo.constant dense<3.5555555555555554> : tensor<f64>
      %31 = stablehlo.broadcast_in_dim %cst_19, dims = [] : (tensor<f64>) -> tensor<2xf64>
      %32 = stablehlo.multiply %31, %23 : tensor<2xf64>
      %33 = stablehlo.add %30, %32 : tensor<2xf64>
      %34 = stablehlo.broadcast_in_dim %3, dims = [] : (tensor<f64>) -> tensor<2xf64>
      %35 = stablehlo.multiply %34, %33 : tensor<2xf64>
      %36 = stablehlo.add %iterArg_7, %35 : tensor<2xf64>
      %37 = func.call @rate(%36, %iterArg_4) : (tensor<2xf64>, tensor<4xf64>) -> tensor<2xf64>
      %cst_20 = stablehlo.constant dense<2.9525986892242035> : tensor<f64>
      %38 = stablehlo.broadcast_in_dim %cst_20, dims = [] : (tensor<f64>) -> tensor<2xf64>
      %39 = stablehlo.multiply %38, %4 : tensor<2xf64>
      %cst_21 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
      %40 = stablehlo.broadcast_in_dim %cst_21, dims = [] : (tensor<f64>) -> tensor<2xf64>
      %41 = stablehlo.add %40, %39 : tensor<2xf64>
      %cst_22 = stablehlo.constant dense<-11.595793324188385> : tensor<f64>
      %42 = stablehlo.broadcast_in_dim %cst_22, dims = [] : (tensor<f64>) -> tensor<2xf64>
      %43 = stablehlo.multiply %42, %12 : tensor<2xf64>
      %44 = stablehlo.add %41, %43 : tensor<2xf64>
      %cst_23 = stablehlo.constant dense<9.8228928516994358> : tensor<f64>
      %45 = stablehlo.broadcast_in_dim %cst_23, dims = [] : (tensor<f64>) -> tensor<2xf64>
      %46 = stablehlo.multiply %45, %23 : tensor<2xf64>
      %47 = stablehlo.add %44, %46 : tensor<2xf64>
      %cst_24 = stablehlo.constant dense<-0.29080932784636487> : tensor<f64>
      %48 = stablehlo.broadcast_in_dim %cst_24, dims = [] : (tensor<f64>) -> tensor<2xf64>
      %49 = stablehlo.multiply %48, %37 : tensor<2xf64>
      %50 = stablehlo.add %47, %49 : tensor<2xf64>
      %51 = stablehlo.broadcast_in_dim %3, dims = [] : (tensor<f64>) -> tensor<2xf64>
      %52 = stablehlo.multiply %51, %50 : tensor<2xf64>
      %53 = stablehlo.add %iterArg_7, %52 : tensor<2xf64>
      %54 = func.call @rate(%53, %iterArg_4) : (tensor<2xf64>, tensor<4xf64>) -> tensor<2xf64>
      %cst_25 = stablehlo.constant dense<2.8462752525252526> : tensor<f64>
      %55 = stablehlo.broadcast_in_dim %cst_25, dims = [] : (tensor<f64>) -> tensor<2xf64>
      %56 = stablehlo.multiply %55, %4 : tensor<2xf64>
      %cst_26 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
      %57 = stablehlo.broadcast_in_dim %cst_26, dims = [] : (tensor<f64>) -> tensor<2xf64>
      %58 = stablehlo.add %57, %56 : tensor<2xf64>
      %cst_27 = stablehlo.constant dense<-10.757575757575758> : tensor<f64>
      %59 = stablehlo.broadcast_in_dim %cst_27, dims = [] : (tensor<f64>) -> tensor<2xf64>
      %60 = stablehlo.multiply %59, %12 : tensor<2xf64>
      %61 = stablehlo.add %58, %60 : tensor<2xf64>
      %cst_28 = stablehlo.constant dense<8.9064227177434727> : tensor<f64>
      %62 = stablehlo.broadcast_in_dim %cst_28, dims = [] : (tensor<f64>) -> tensor<2xf64>
      %63 = stablehlo.multiply %62, %23 : tensor<2xf64>
      %64 = stablehlo.add %61, %63 : tensor<2xf64>
      %cst_29 = stablehlo.constant dense<0.27840909090909088> : tensor<f64>
      %65 = stablehlo.broadcast_in_dim %cst_29, dims = [] : (tensor<f64>) -> tensor<2xf64>
      %66 = stablehlo.multiply %65, %37 : tensor<2xf64>
      %67 = stablehlo.add %64, %66 : tensor<2xf64>
      %cst_30 = stablehlo.constant dense<-0.2735313036020583> : tensor<f64>
      %68 = stablehlo.broadcast_in_dim %cst_30, dims = [] : (tensor<f64>) -> tensor<2xf64>
      %69 = stablehlo.multiply %68, %54 : tensor<2xf64>
      %70 = stablehlo.add %67, %69 : tensor<2xf64>
      %71 = stablehlo.broadcast_in_dim %3, dims = [] : (tensor<f64>) -> tensor<2xf64>
      %72 = stablehlo.multiply %71, %70 : tensor<2xf64>
      %73 = stablehlo.add %iterArg_7, %72 : tensor<2xf64>
      %74 = func.call @rate(%73, %iterArg_4) : (tensor<2xf64>, tensor<4xf64>) -> tensor<2xf64>
      %cst_31 = stablehlo.constant dense<0.091145833333333329> : tensor<f64>
      %75 = stablehlo.broadcast_in_dim %cst_31, dims = [] : (tensor<f64>) -> tensor<2xf64>
      %76 = stablehlo.multiply %75, %4 : tensor<2xf64>
      %cst_32 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
      %77 = stablehlo.broadcast_in_dim %cst_32, dims = [] : (tensor<f64>) -> tensor<2xf64>
      %78 = stablehlo.add %77, %76 : tensor<2xf64>
      %cst_33 = stablehlo.constant dense<0.44923629829290207> : tensor<f64>
      %79 = stablehlo.broadcast_in_dim %cst_33, dims = [] : (tensor<f64>) -> tensor<2xf64>
      %80 = stablehlo.multiply %79, %23 : tensor<2xf64>
      %81 = stablehlo.add %78, %80 : tensor<2xf64>
      %cst_34 = stablehlo.constant dense<0.65104166666666663> : tensor<f64>
      %82 = stablehlo.broadcast_in_dim %cst_34, dims = [] : (tensor<f64>) -> tensor<2xf64>
      %83 = stablehlo.multiply %82, %37 : tensor<2xf64>
      %84 = stablehlo.add %81, %83 : tensor<2xf64>
      %cst_35 = stablehlo.constant dense<-0.322376179245283> : tensor<f64>
      %85 = stablehlo.broadcast_in_dim %cst_35, dims = [] : (tensor<f64>) -> tensor<2xf64>
      %86 = stablehlo.multiply %85, %54 : tensor<2xf64>
      %87 = stablehlo.add %84, %86 : tensor<2xf64>
      %cst_36 = stablehlo.constant dense<0.13095238095238096> : tensor<f64>
      %88 = stablehlo.broadcast_in_dim %cst_36, dims = [] : (tensor<f64>) -> tensor<2xf64>
      %89 = stablehlo.multiply %88, %74 : tensor<2xf64>
      %90 = stablehlo.add %87, %89 : tensor<2xf64>
      %91 = stablehlo.broadcast_in_dim %3, dims = [] : (tensor<f64>) -> tensor<2xf64>
      %92 = stablehlo.multiply %91, %90 : tensor<2xf64>
      %93 = stablehlo.add %iterArg_7, %92 : tensor<2xf64>
      %94 = func.call @rate(%93, %iterArg_4) : (tensor<2xf64>, tensor<4xf64>) -> tensor<2xf64>
      %cst_37 = stablehlo.constant dense<0.091145833333333329> : tensor<f64>
      %95 = stablehlo.broadcast_in_dim %cst_37, dims = [] : (tensor<f64>) -> tensor<2xf64>
      %96 = stablehlo.multiply %95, %4 : tensor<2xf64>
      %cst_38 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
      %97 = stablehlo.broadcast_in_dim %cst_38, dims = [] : (tensor<f64>) -> tensor<2xf64>
      %98 = stablehlo.add %97, %96 : tensor<2xf64>
      %cst_39 = stablehlo.constant dense<0.44923629829290207> : tensor<f64>
      %99 = stablehlo.broadcast_in_dim %cst_39, dims = [] : (tensor<f64>) -> tensor<2xf64>
      %100 = stablehlo.multiply %99, %23 : tensor<2xf64>
      %101 = stablehlo.add %98, %100 : tensor<2xf64>
      %cst_40 = stablehlo.constant dense<0.65104166666666663> : tensor<f64>
      %102 = stablehlo.broadcast_in_dim %cst_40, dims = [] : (tensor<f64>) -> tensor<2xf64>
      %103 = stablehlo.multiply %102, %37 : tensor<2xf64>
      %104 = stablehlo.add %101, %103 : tensor<2xf64>
      %cst_41 = stablehlo.constant dense<-0.322376179245283> : tensor<f64>
      %105 = stablehlo.broadcast_in_dim %cst_41, dims = [] : (tensor<f64>) -> tensor<2xf64>
      %106 = stablehlo.multiply %105, %54 : tensor<2xf64>
      %107 = stablehlo.add %104, %106 : tensor<2xf64>
      %cst_42 = stablehlo.constant dense<0.13095238095238096> : tensor<f64>
      %108 = stablehlo.broadcast_in_dim %cst_42, dims = [] : (tensor<f64>) -> tensor<2xf64>
      %109 = stablehlo.multiply %108, %74 : tensor<2xf64>
      %110 = stablehlo.add %107, %109 : tensor<2xf64>
      %111 = stablehlo.broadcast_in_dim %3, dims = [] : (tensor<f64>) -> tensor<2xf64>
      %112 = stablehlo.multiply %111, %110 : tensor<2xf64>
      %113 = stablehlo.add %iterArg_7, %112 : tensor<2xf64>
      %cst_43 = stablehlo.constant dense<0.0012326388888888888> : tensor<f64>
      %114 = stablehlo.broadcast_in_dim %cst_43, dims = [] : (tensor<f64>) -> tensor<2xf64>
      %115 = stablehlo.multiply %114, %4 : tensor<2xf64>
      %cst_44 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
      %116 = stablehlo.broadcast_in_dim %cst_44, dims = [] : (tensor<f64>) -> tensor<2xf64>
      %117 = stablehlo.add %116, %115 : tensor<2xf64>
      %cst_45 = stablehlo.constant dense<-0.0042527702905061394> : tensor<f64>
      %118 = stablehlo.broadcast_in_dim %cst_45, dims = [] : (tensor<f64>) -> tensor<2xf64>
      %119 = stablehlo.multiply %118, %23 : tensor<2xf64>
      %120 = stablehlo.add %117, %119 : tensor<2xf64>
      %cst_46 = stablehlo.constant dense<0.036979166666666667> : tensor<f64>
      %121 = stablehlo.broadcast_in_dim %cst_46, dims = [] : (tensor<f64>) -> tensor<2xf64>
      %122 = stablehlo.multiply %121, %37 : tensor<2xf64>
      %123 = stablehlo.add %120, %122 : tensor<2xf64>
      %cst_47 = stablehlo.constant dense<-0.05086379716981132> : tensor<f64>
      %124 = stablehlo.broadcast_in_dim %cst_47, dims = [] : (tensor<f64>) -> tensor<2xf64>
      %125 = stablehlo.multiply %124, %54 : tensor<2xf64>
      %126 = stablehlo.add %123, %125 : tensor<2xf64>
      %cst_48 = stablehlo.constant dense<0.041904761904761903> : tensor<f64>
      %127 = stablehlo.broadcast_in_dim %cst_48, dims = [] : (tensor<f64>) -> tensor<2xf64>
      %128 = stablehlo.multiply %127, %74 : tensor<2xf64>
      %129 = stablehlo.add %126, %128 : tensor<2xf64>
      %cst_49 = stablehlo.constant dense<-2.500000e-02> : tensor<f64>
      %130 = stablehlo.broadcast_in_dim %cst_49, dims = [] : (tensor<f64>) -> tensor<2xf64>
      %131 = stablehlo.multiply %130, %94 : tensor<2xf64>
      %132 = stablehlo.add %129, %131 : tensor<2xf64>
      %133 = stablehlo.broadcast_in_dim %3, dims = [] : (tensor<f64>) -> tensor<2xf64>
      %134 = stablehlo.multiply %133, %132 : tensor<2xf64>
      %135 = stablehlo.abs %iterArg_7 : tensor<2xf64>
      %136 = stablehlo.abs %113 : tensor<2xf64>
      %137 = stablehlo.maximum %135, %136 : tensor<2xf64>
      %cst_50 = stablehlo.constant dense<1.000000e+00> : tensor<f64>
      %138 = stablehlo.broadcast_in_dim %cst_50, dims = [] : (tensor<f64>) -> tensor<2xf64>
      %139 = stablehlo.add %138, %137 : tensor<2xf64>
      %140 = stablehlo.broadcast_in_dim %iterArg_5, dims = [] : (tensor<f64>) -> tensor<2xf64>
      %141 = stablehlo.multiply %140, %139 : tensor<2xf64>
      %142 = stablehlo.divide %134, %141 : tensor<2xf64>
      %143 = stablehlo.multiply %142, %142 : tensor<2xf64>
      %cst_51 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
      %144 = stablehlo.reduce(%143 init: %cst_51) applies stablehlo.add across dimensions = [0] : (tensor<2xf64>, tensor<f64>) -> tensor<f64>
      %cst_52 = stablehlo.constant dense<2.000000e+00> : tensor<f64>
      %145 = stablehlo.divide %144, %cst_52 : tensor<f64>
      %146 = stablehlo.sqrt %145 : tensor<f64>
      %cst_53 = stablehlo.constant dense<1.000000e+00> : tensor<f64>
      %147 = stablehlo.compare LE, %146, %cst_53, FLOAT : (tensor<f64>, tensor<f64>) -> tensor<i1>
      %cst_54 = stablehlo.constant dense<1.000000e-10> : tensor<f64>
      %148 = stablehlo.maximum %146, %cst_54 : tensor<f64>
      %cst_55 = stablehlo.constant dense<-2.000000e-01> : tensor<f64>
      %149 = stablehlo.power %148, %cst_55 : tensor<f64>
      %cst_56 = stablehlo.constant dense<9.000000e-01> : tensor<f64>
      %150 = stablehlo.multiply %cst_56, %149 : tensor<f64>
      %cst_57 = stablehlo.constant dense<2.000000e-01> : tensor<f64>
      %cst_58 = stablehlo.constant dense<5.000000e+00> : tensor<f64>
      %151 = func.call @clip(%150, %cst_57, %cst_58) : (tensor<f64>, tensor<f64>, tensor<f64>) -> tensor<f64>
      %152 = stablehlo.add %iterArg_6, %3 : tensor<f64>
      %153 = func.call @_where(%147, %152, %iterArg_6) : (tensor<i1>, tensor<f64>, tensor<f64>) -> tensor<f64>
      %154 = func.call @_where_0(%147, %113, %iterArg_7) : (tensor<i1>, tensor<2xf64>, tensor<2xf64>) -> tensor<2xf64>
      %155 = stablehlo.multiply %3, %151 : tensor<f64>
      %156 = stablehlo.convert %147 : (tensor<i1>) -> tensor<i64>
      %157 = stablehlo.add %iterArg_9, %156 : tensor<i64>
      %158 = stablehlo.not %147 : tensor<i1>
      %159 = stablehlo.convert %158 : (tensor<i1>) -> tensor<i64>
      %160 = stablehlo.add %iterArg_10, %159 : tensor<i64>
      stablehlo.return %iterArg, %iterArg_3, %iterArg_4, %iterArg_5, %153, %154, %155, %157, %160 : tensor<f64>, tensor<f64>, tensor<4xf64>, tensor<f64>, tensor<f64>, tensor<2xf64>, tensor<f64>, tensor<i64>, tensor<i64>
    }
    return %1#7, %1#8, %1#5 : tensor<i64>, tensor<i64>, tensor<2xf64>
  }
  func.func private @rate(%arg0: tensor<2xf64>, %arg1: tensor<4xf64>) -> tensor<2xf64> {
    %0 = stablehlo.slice %arg1 [0:1] : (tensor<4xf64>) -> tensor<1xf64>
    %1 = stablehlo.reshape %0 : (tensor<1xf64>) -> tensor<f64>
    %2 = stablehlo.slice %arg1 [1:2] : (tensor<4xf64>) -> tensor<1xf64>
    %3 = stablehlo.reshape %2 : (tensor<1xf64>) -> tensor<f64>
    %4 = stablehlo.slice %arg1 [2:3] : (tensor<4xf64>) -> tensor<1xf64>
    %5 = stablehlo.reshape %4 : (tensor<1xf64>) -> tensor<f64>
    %6 = stablehlo.slice %arg1 [3:4] : (tensor<4xf64>) -> tensor<1xf64>
    %7 = stablehlo.reshape %6 : (tensor<1xf64>) -> tensor<f64>
    %8 = stablehlo.slice %arg0 [0:1] : (tensor<2xf64>) -> tensor<1xf64>
    %9 = stablehlo.reshape %8 : (tensor<1xf64>) -> tensor<f64>
    %10 = stablehlo.slice %arg0 [1:2] : (tensor<2xf64>) -> tensor<1xf64>
    %11 = stablehlo.reshape %10 : (tensor<1xf64>) -> tensor<f64>
    %12 = stablehlo.multiply %3, %11 : tensor<f64>
    %13 = stablehlo.subtract %1, %12 : tensor<f64>
    %14 = stablehlo.multiply %9, %13 : tensor<f64>
    %15 = stablehlo.slice %arg0 [1:2] : (tensor<2xf64>) -> tensor<1xf64>
    %16 = stablehlo.reshape %15 : (tensor<1xf64>) -> tensor<f64>
    %17 = stablehlo.slice %arg0 [0:1] : (tensor<2xf64>) -> tensor<1xf64>
    %18 = stablehlo.reshape %17 : (tensor<1xf64>) -> tensor<f64>
    %19 = stablehlo.multiply %5, %18 : tensor<f64>
    %20 = stablehlo.subtract %19, %7 : tensor<f64>
    %21 = stablehlo.multiply %16, %20 : tensor<f64>
    %22 = stablehlo.broadcast_in_dim %14, dims = [] : (tensor<f64>) -> tensor<1xf64>
    %23 = stablehlo.broadcast_in_dim %21, dims = [] : (tensor<f64>) -> tensor<1xf64>
    %24 = stablehlo.concatenate %22, %23, dim = 0 : (tensor<1xf64>, tensor<1xf64>) -> tensor<2xf64>
    return %24 : tensor<2xf64>
  }
  func.func private @clip(%arg0: tensor<f64>, %arg1: tensor<f64>, %arg2: tensor<f64>) -> tensor<f64> {
    %0 = stablehlo.convert %arg1 : tensor<f64>
    %1 = stablehlo.maximum %0, %arg0 : tensor<f64>
    %2 = stablehlo.convert %arg2 : tensor<f64>
    %3 = stablehlo.minimum %2, %1 : tensor<f64>
    return %3 : tensor<f64>
  }
  func.func private @_where(%arg0: tensor<i1>, %arg1: tensor<f64>, %arg2: tensor<f64>) -> tensor<f64> {
    %0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<i1>, tensor<f64>
    return %0 : tensor<f64>
  }
  func.func private @_where_0(%arg0: tensor<i1>, %arg1: tensor<2xf64>, %arg2: tensor<2xf64>) -> tensor<2xf64> {
    %0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<i1>, tensor<2xf64>
    return %0 : tensor<2xf64>
  }
}
