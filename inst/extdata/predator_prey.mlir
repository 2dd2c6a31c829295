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
      %4 = stablehlo.slice %iterArg_4 [0:1] : (tensor<4xf64>) -> tensor<1xf64>
      %5 = stablehlo.reshape %4 : (tensor<1xf64>) -> tensor<f64>
      %6 = stablehlo.slice %iterArg_4 [1:2] : (tensor<4xf64>) -> tensor<1xf64>
      %7 = stablehlo.reshape %6 : (tensor<1xf64>) -> tensor<f64>
      %8 = stablehlo.slice %iterArg_4 [2:3] : (tensor<4xf64>) -> tensor<1xf64>
      %9 = stablehlo.reshape %8 : (tensor<1xf64>) -> tensor<f64>
      %10 = stablehlo.slice %iterArg_4 [3:4] : (tensor<4xf64>) -> tensor<1xf64>
      %11 = stablehlo.reshape %10 : (tensor<1xf64>) -> tensor<f64>
      %12 = stablehlo.slice %iterArg_7 [0:1] : (tensor<2xf64>) -> tensor<1xf64>
      %13 = stablehlo.reshape %12 : (tensor<1xf64>) -> tensor<f64>
      %14 = stablehlo.slice %iterArg_7 [1:2] : (tensor<2xf64>) -> tensor<1xf64>
      %15 = stablehlo.reshape %14 : (tensor<1xf64>) -> tensor<f64>
      %16 = stablehlo.multiply %7, %15 : tensor<f64>
      %17 = stablehlo.subtract %5, %16 : tensor<f64>
      %18 = stablehlo.multiply %13, %17 : tensor<f64>
      %19 = stablehlo.slice %iterArg_7 [1:2] : (tensor<2xf64>) -> tensor<1xf64>
      %20 = stablehlo.reshape %19 : (tensor<1xf64>) -> tensor<f64>
      %21 = stablehlo.slice %iterArg_7 [0:1] : (tensor<2xf64>) -> tensor<1xf64>
      %22 = stablehlo.reshape %21 : (tensor<1xf64>) -> tensor<f64>
      %23 = stablehlo.multiply %9, %22 : tensor<f64>
      %24 = stablehlo.subtract %23, %11 : tensor<f64>
      %25 = stablehlo.multiply %20, %24 : tensor<f64>
      %26 = stablehlo.broadcast_in_dim %18, dims = [] : (tensor<f64>) -> tensor<1xf64>
      %27 = stablehlo.broadcast_in_dim %25, dims = [] : (tensor<f64>) -> tensor<1xf64>
      %28 = stablehlo.concatenate %26, %27, dim = 0 : (tensor<1xf64>, tensor<1xf64>) -> tensor<2xf64>
      %cst_11 = stablehlo.constant dense<2.000000e-01> : tensor<f64>
      %29 = stablehlo.broadcast_in_dim %cst_11, dims = [] : (tensor<f64>) -> tensor<2xf64>
      %30 = stablehlo.multiply %29, %28 : tensor<2xf64>
      %cst_12 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
      %31 = stablehlo.broadcast_in_dim %cst_12, dims = [] : (tensor<f64>) -> tensor<2xf64>
      %32 = stablehlo.add %31, %30 : tensor<2xf64>
      %33 = stablehlo.broadcast_in_dim %3, dims = [] : (tensor<f64>) -> tensor<2xf64>
      %34 = stablehlo.multiply %33, %32 : tensor<2xf64>
      %35 = stablehlo.add %iterArg_7, %34 : tensor<2xf64>
      %36 = stablehlo.slice %iterArg_4 [0:1] : (tensor<4xf64>) -> tensor<1xf64>
      %37 = stablehlo.reshape %36 : (tensor<1xf64>) -> tensor<f64>
      %38 = stablehlo.slice %iterArg_4 [1:2] : (tensor<4xf64>) -> tensor<1xf64>
      %39 = stablehlo.reshape %38 : (tensor<1xf64>) -> tensor<f64>
      %40 = stablehlo.slice %iterArg_4 [2:3] : (tensor<4xf64>) -> tensor<1xf64>
      %41 = stablehlo.reshape %40 : (tensor<1xf64>) -> tensor<f64>
      %42 = stablehlo.slice %iterArg_4 [3:4] : (tensor<4xf64>) -> tensor<1xf64>
      %43 = stablehlo.reshape %42 : (tensor<1xf64>) -> tensor<f64>
      %44 = stablehlo.slice %35 [0:1] : (tensor<2xf64>) -> tensor<1xf64>
      %45 = stablehlo.reshape %44 : (tensor<1xf64>) -> tensor<f64>
      %46 = stablehlo.slice %35 [1:2] : (tensor<2xf64>) -> tensor<1xf64>
      %47 = stablehlo.reshape %46 : (tensor<1xf64>) -> tensor<f64>
      %48 = stablehlo.multiply %39, %47 : tensor<f64>
      %49 = stablehlo.subtract %37, %48 : tensor<f64>
      %50 = stablehlo.multiply %45, %49 : tensor<f64>
      %51 = stablehlo.slice %35 [1:2] : (tensor<2xf64>) -> tensor<1xf64>
      %52 = stablehlo.reshape %51 : (tensor<1xf64>) -> tensor<f64>
      %53 = stablehlo.slice %35 [0:1] : (tensor<2xf64>) -> tensor<1xf64>
      %54 = stablehlo.reshape %53 : (tensor<1xf64>) -> tensor<f64>
      %55 = stablehlo.multiply %41, %54 : tensor<f64>
      %56 = stablehlo.subtract %55, %43 : tensor<f64>
      %57 = stablehlo.multiply %52, %56 : tensor<f64>
      %58 = stablehlo.broadcast_in_dim %50, dims = [] : (tensor<f64>) -> tensor<1xf64>
      %59 = stablehlo.broadcast_in_dim %57, dims = [] : (tensor<f64>) -> tensor<1xf64>
      %60 = stablehlo.concatenate %58, %59, dim = 0 : (tensor<1xf64>, tensor<1xf64>) -> tensor<2xf64>
      %cst_13 = stablehlo.constant dense<0.074999999999999997> : tensor<f64>
      %61 = stablehlo.broadcast_in_dim %cst_13, dims = [] : (tensor<f64>) -> tensor<2xf64>
      %62 = stablehlo.multiply %61, %28 : tensor<2xf64>
      %cst_14 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
      %63 = stablehlo.broadcast_in_dim %cst_14, dims = [] : (tensor<f64>) -> tensor<2xf64>
      %64 = stablehlo.add %63, %62 : tensor<2xf64>
      %cst_15 = stablehlo.constant dense<2.250000e-01> : tensor<f64>
      %65 = stablehlo.broadcast_in_dim %cst_15, dims = [] : (tensor<f64>) -> tensor<2xf64>
      %66 = stablehlo.multiply %65, %60 : tensor<2xf64>
      %67 = stablehlo.add %64, %66 : tensor<2xf64>
      %68 = stablehlo.broadcast_in_dim %3, dims = [] : (tensor<f64>) -> tensor<2xf64>
      %69 = stablehlo.multiply %68, %67 : tensor<2xf64>
      %70 = stablehlo.add %iterArg_7, %69 : tensor<2xf64>
      %71 = stablehlo.slice %iterArg_4 [0:1] : (tensor<4xf64>) -> tensor<1xf64>
      %72 = stablehlo.reshape %71 : (tensor<1xf64>) -> tensor<f64>
      %73 = stablehlo.slice %iterArg_4 [1:2] : (tensor<4xf64>) -> tensor<1xf64>
      %74 = stablehlo.reshape %73 : (tensor<1xf64>) -> tensor<f64>
      %75 = stablehlo.slice %iterArg_4 [2:3] : (tensor<4xf64>) -> tensor<1xf64>
      %76 = stablehlo.reshape %75 : (tensor<1xf64>) -> tensor<f64>
      %77 = stablehlo.slice %iterArg_4 [3:4] : (tensor<4xf64>) -> tensor<1xf64>
      %78 = stablehlo.reshape %77 : (tensor<1xf64>) -> tensor<f64>
      %79 = stablehlo.slice %70 [0:1] : (tensor<2xf64>) -> tensor<1xf64>
      %80 = stablehlo.reshape %79 : (tensor<1xf64>) -> tensor<f64>
      %81 = stablehlo.slice %70 [1:2] : (tensor<2xf64>) -> tensor<1xf64>
      %82 = stablehlo.reshape %81 : (tensor<1xf64>) -> tensor<f64>
      %83 = stablehlo.multiply %74, %82 : tensor<f64>
      %84 = stablehlo.subtract %72, %83 : tensor<f64>
      %85 = stablehlo.multiply %80, %84 : tensor<f64>
      %86 = stablehlo.slice %70 [1:2] : (tensor<2xf64>) -> tensor<1xf64>
      %87 = stablehlo.reshape %86 : (tensor<1xf64>) -> tensor<f64>
      %88 = stablehlo.slice %70 [0:1] : (tensor<2xf64>) -> tensor<1xf64>
      %89 = stablehlo.reshape %88 : (tensor<1xf64>) -> tensor<f64>
      %90 = stablehlo.multiply %76, %89 : tensor<f64>
      %91 = stablehlo.subtract %90, %78 : tensor<f64>
      %92 = stablehlo.multiply %87, %91 : tensor<f64>
      %93 = stablehlo.broadcast_in_dim %85, dims = [] : (tensor<f64>) -> tensor<1xf64>
      %94 = stablehlo.broadcast_in_dim %92, dims = [] : (tensor<f64>) -> tensor<1xf64>
      %95 = stablehlo.concatenate %93, %94, dim = 0 : (tensor<1xf64>, tensor<1xf64>) -> tensor<2xf64>
      %cst_16 = stablehlo.constant dense<0.97777777777777774> : tensor<f64>
      %96 = stablehlo.broadcast_in_dim %cst_16, dims = [] : (tensor<f64>) -> tensor<2xf64>
      %97 = stablehlo.multiply %96, %28 : tensor<2xf64>
      %cst_17 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
      %98 = stablehlo.broadcast_in_dim %cst_17, dims = [] : (tensor<f64>) -> tensor<2xf64>
      %99 = stablehlo.add %98, %97 : tensor<2xf64>
      %cst_18 = stablehlo.constant dense<-3.7333333333333334> : tensor<f64>
      %100 = stablehlo.broadcast_in_dim %cst_18, dims = [] : (tensor<f64>) -> tensor<2xf64>
      %101 = stablehlo.multiply %100, %60 : tensor<2xf64>
      %102 = stablehlo.add %99, %101 : tensor<2xf64>
      %cst_19 = stablehlo.constant dense<3.5555555555555554> : tensor<f64>
      %103 = stablehlo.broadcast_in_dim %cst_19, dims = [] : (tensor<f64>) -> tensor<2xf64>
      %104 = stablehlo.multiply %103, %95 : tensor<2xf64>
      %105 = stablehlo.add %102, %104 : tensor<2xf64>
      %106 = stablehlo.broadcast_in_dim %3, dims = [] : (tensor<f64>) -> tensor<2xf64>
      %107 = stablehlo.multiply %106, %105 : tensor<2xf64>
      %108 = stablehlo.add %iterArg_7, %107 : tensor<2xf64>
      %109 = stablehlo.slice %iterArg_4 [0:1] : (tensor<4xf64>) -> tensor<1xf64>
      %110 = stablehlo.reshape %109 : (tensor<1xf64>) -> tensor<f64>
      %111 = stablehlo.slice %iterArg_4 [1:2] : (tensor<4xf64>) -> tensor<1xf64>
      %112 = stablehlo.reshape %111 : (tensor<1xf64>) -> tensor<f64>
      %113 = stablehlo.slice %iterArg_4 [2:3] : (tensor<4xf64>) -> tensor<1xf64>
      %114 = stablehlo.reshape %113 : (tensor<1xf64>) -> tensor<f64>
      %115 = stablehlo.slice %iterArg_4 [3:4] : (tensor<4xf64>) -> tensor<1xf64>
      %116 = stablehlo.reshape %115 : (tensor<1xf64>) -> tensor<f64>
      %117 = stablehlo.slice %108 [0:1] : (tensor<2xf64>) -> tensor<1xf64>
      %118 = stablehlo.reshape %117 : (tensor<1xf64>) -> tensor<f64>
      %119 = stablehlo.slice %108 [1:2] : (tensor<2xf64>) -> tensor<1xf64>
      %120 = stablehlo.reshape %119 : (tensor<1xf64>) -> tensor<f64>
      %121 = stablehlo.multiply %112, %120 : tensor<f64>
      %122 = stablehlo.subtract %110, %121 : tensor<f64>
      %123 = stablehlo.multiply %118, %122 : tensor<f64>
      %124 = stablehlo.slice %108 [1:2] : (tensor<2xf64>) -> tensor<1xf64>
      %125 = stablehlo.reshape %124 : (tensor<1xf64>) -> tensor<f64>
      %126 = stablehlo.slice %108 [0:1] : (tensor<2xf64>) -> tensor<1xf64>
      %127 = stablehlo.reshape %126 : (tensor<1xf64>) -> tensor<f64>
      %128 = stablehlo.multiply %114, %127 : tensor<f64>
      %129 = stablehlo.subtract %128, %116 : tensor<f64>
      %130 = stablehlo.multiply %125, %129 : tensor<f64>
      %131 = stablehlo.broadcast_in_dim %123, dims = [] : (tensor<f64>) -> tensor<1xf64>
      %132 = stablehlo.broadcast_in_dim %130, dims = [] : (tensor<f64>) -> tensor<1xf64>
      %133 = stablehlo.concatenate %131, %132, dim = 0 : (tensor<1xf64>, tensor<1xf64>) -> tensor<2xf64>
      %cst_20 = stablehlo.constant dense<2.9525986892242035> : tensor<f64>
      %134 = stablehlo.broadcast_in_dim %cst_20, dims = [] : (tensor<f64>) -> tensor<2xf64>
      %135 = stablehlo.multiply %134, %28 : tensor<2xf64>
      %cst_21 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
      %136 = stablehlo.broadcast_in_dim %cst_21, dims = [] : (tensor<f64>) -> tensor<2xf64>
      %137 = stablehlo.add %136, %135 : tensor<2xf64>
      %cst_22 = stablehlo.constant dense<-11.595793324188385> : tensor<f64>
      %138 = stablehlo.broadcast_in_dim %cst_22, dims = [] : (tensor<f64>) -> tensor<2xf64>
      %139 = stablehlo.multiply %138, %60 : tensor<2xf64>
      %140 = stablehlo.add %137, %139 : tensor<2xf64>
      %cst_23 = stablehlo.constant dense<9.8228928516994358> : tensor<f64>
      %141 = stablehlo.broadcast_in_dim %cst_23, dims = [] : (tensor<f64>) -> tensor<2xf64>
      %142 = stablehlo.multiply %141, %95 : tensor<2xf64>
      %143 = stablehlo.add %140, %142 : tensor<2xf64>
      %cst_24 = stablehlo.constant dense<-0.29080932784636487> : tensor<f64>
      %144 = stablehlo.broadcast_in_dim %cst_24, dims = [] : (tensor<f64>) -> tensor<2xf64>
      %145 = stablehlo.multiply %144, %133 : tensor<2xf64>
      %146 = stablehlo.add %143, %145 : tensor<2xf64>
      %147 = stablehlo.broadcast_in_dim %3, dims = [] : (tensor<f64>) -> tensor<2xf64>
      %148 = stablehlo.multiply %147, %146 : tensor<2xf64>
      %149 = stablehlo.add %iterArg_7, %148 : tensor<2xf64>
      %150 = stablehlo.slice %iterArg_4 [0:1] : (tensor<4xf64>) -> tensor<1xf64>
      %151 = stablehlo.reshape %150 : (tensor<1xf64>) -> tensor<f64>
      %152 = stablehlo.slice %iterArg_4 [1:2] : (tensor<4xf64>) -> tensor<1xf64>
      %153 = stablehlo.reshape %152 : (tensor<1xf64>) -> tensor<f64>
      %154 = stablehlo.slice %iterArg_4 [2:3] : (tensor<4xf64>) -> tensor<1xf64>
      %155 = stablehlo.reshape %154 : (tensor<1xf64>) -> tensor<f64>
      %156 = stablehlo.slice %iterArg_4 [3:4] : (tensor<4xf64>) -> tensor<1xf64>
      %157 = stablehlo.reshape %156 : (tensor<1xf64>) -> tensor<f64>
      %158 = stablehlo.slice %149 [0:1] : (tensor<2xf64>) -> tensor<1xf64>
      %159 = stablehlo.reshape %158 : (tensor<1xf64>) -> tensor<f64>
      %160 = stablehlo.slice %149 [1:2] : (tensor<2xf64>) -> tensor<1xf64>
      %161 = stablehlo.reshape %160 : (tensor<1xf64>) -> tensor<f64>
      %162 = stablehlo.multiply %153, %161 : tensor<f64>
      %163 = stablehlo.subtract %151, %162 : tensor<f64>
      %164 = stablehlo.multiply %159, %163 : tensor<f64>
      %165 = stablehlo.slice %149 [1:2] : (tensor<2xf64>) -> tensor<1xf64>
      %166 = stablehlo.reshape %165 : (tensor<1xf64>) -> tensor<f64>
      %167 = stablehlo.slice %149 [0:1] : (tensor<2xf64>) -> tensor<1xf64>
      %168 = stablehlo.reshape %167 : (tensor<1xf64>) -> tensor<f64>
      %169 = stablehlo.multiply %155, %168 : tensor<f64>
      %170 = stablehlo.subtract %169, %157 : tensor<f64>
      %171 = stablehlo.multiply %166, %170 : tensor<f64>
      %172 = stablehlo.broadcast_in_dim %164, dims = [] : (tensor<f64>) -> tensor<1xf64>
      %173 = stablehlo.broadcast_in_dim %171, dims = [] : (tensor<f64>) -> tensor<1xf64>
      %174 = stablehlo.concatenate %172, %173, dim = 0 : (tensor<1xf64>, tensor<1xf64>) -> tensor<2xf64>
      %cst_25 = stablehlo.constant dense<2.8462752525252526> : tensor<f64>
      %175 = stablehlo.broadcast_in_dim %cst_25, dims = [] : (tensor<f64>) -> tensor<2xf64>
      %176 = stablehlo.multiply %175, %28 : tensor<2xf64>
      %cst_26 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
      %177 = stablehlo.broadcast_in_dim %cst_26, dims = [] : (tensor<f64>) -> tensor<2xf64>
      %178 = stablehlo.add %177, %176 : tensor<2xf64>
      %cst_27 = stablehlo.constant dense<-10.757575757575758> : tensor<f64>
      %179 = stablehlo.broadcast_in_dim %cst_27, dims = [] : (tensor<f64>) -> tensor<2xf64>
      %180 = stablehlo.multiply %179, %60 : tensor<2xf64>
      %181 = stablehlo.add %178, %180 : tensor<2xf64>
      %cst_28 = stablehlo.constant dense<8.9064227177434727> : tensor<f64>
      %182 = stablehlo.broadcast_in_dim %cst_28, dims = [] : (tensor<f64>) -> tensor<2xf64>
      %183 = stablehlo.multiply %182, %95 : tensor<2xf64>
      %184 = stablehlo.add %181, %183 : tensor<2xf64>
      %cst_29 = stablehlo.constant dense<0.27840909090909088> : tensor<f64>
      %185 = stablehlo.broadcast_in_dim %cst_29, dims = [] : (tensor<f64>) -> tensor<2xf64>
      %186 = stablehlo.multiply %185, %133 : tensor<2xf64>
      %187 = stablehlo.add %184, %186 : tensor<2xf64>
      %cst_30 = stablehlo.constant dense<-0.2735313036020583> : tensor<f64>
      %188 = stablehlo.broadcast_in_dim %cst_30, dims = [] : (tensor<f64>) -> tensor<2xf64>
      %189 = stablehlo.multiply %188, %174 : tensor<2xf64>
      %190 = stablehlo.add %187, %189 : tensor<2xf64>
      %191 = stablehlo.broadcast_in_dim %3, dims = [] : (tensor<f64>) -> tensor<2xf64>
      %192 = stablehlo.multiply %191, %190 : tensor<2xf64>
      %193 = stablehlo.add %iterArg_7, %192 : tensor<2xf64>
      %194 = stablehlo.slice %iterArg_4 [0:1] : (tensor<4xf64>) -> tensor<1xf64>
      %195 = stablehlo.reshape %194 : (tensor<1xf64>) -> tensor<f64>
      %196 = stablehlo.slice %iterArg_4 [1:2] : (tensor<4xf64>) -> tensor<1xf64>
      %197 = stablehlo.reshape %196 : (tensor<1xf64>) -> tensor<f64>
      %198 = stablehlo.slice %iterArg_4 [2:3] : (tensor<4xf64>) -> tensor<1xf64>
      %199 = stablehlo.reshape %198 : (tensor<1xf64>) -> tensor<f64>
      %200 = stablehlo.slice %iterArg_4 [3:4] : (tensor<4xf64>) -> tensor<1xf64>
      %201 = stablehlo.reshape %200 : (tensor<1xf64>) -> tensor<f64>
      %202 = stablehlo.slice %193 [0:1] : (tensor<2xf64>) -> tensor<1xf64>
      %203 = stablehlo.reshape %202 : (tensor<1xf64>) -> tensor<f64>
      %204 = stablehlo.slice %193 [1:2] : (tensor<2xf64>) -> tensor<1xf64>
      %205 = stablehlo.reshape %204 : (tensor<1xf64>) -> tensor<f64>
      %206 = stablehlo.multiply %197, %205 : tensor<f64>
      %207 = stablehlo.subtract %195, %206 : tensor<f64>
      %208 = stablehlo.multiply %203, %207 : tensor<f64>
      %209 = stablehlo.slice %193 [1:2] : (tensor<2xf64>) -> tensor<1xf64>
      %210 = stablehlo.reshape %209 : (tensor<1xf64>) -> tensor<f64>
      %211 = stablehlo.slice %193 [0:1] : (tensor<2xf64>) -> tensor<1xf64>
      %212 = stablehlo.reshape %211 : (tensor<1xf64>) -> tensor<f64>
      %213 = stablehlo.multiply %199, %212 : tensor<f64>
      %214 = stablehlo.subtract %213, %201 : tensor<f64>
      %215 = stablehlo.multiply %210, %214 : tensor<f64>
      %216 = stablehlo.broadcast_in_dim %208, dims = [] : (tensor<f64>) -> tensor<1xf64>
      %217 = stablehlo.broadcast_in_dim %215, dims = [] : (tensor<f64>) -> tensor<1xf64>
      %218 = stablehlo.concatenate %216, %217, dim = 0 : (tensor<1xf64>, tensor<1xf64>) -> tensor<2xf64>
      %cst_31 = stablehlo.constant dense<0.091145833333333329> : tensor<f64>
      %219 = stablehlo.broadcast_in_dim %cst_31, dims = [] : (tensor<f64>) -> tensor<2xf64>
      %220 = stablehlo.multiply %219, %28 : tensor<2xf64>
      %cst_32 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
      %221 = stablehlo.broadcast_in_dim %cst_32, dims = [] : (tensor<f64>) -> tensor<2xf64>
      %222 = stablehlo.add %221, %220 : tensor<2xf64>
      %cst_33 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
      %223 = stablehlo.broadcast_in_dim %cst_33, dims = [] : (tensor<f64>) -> tensor<2xf64>
      %224 = stablehlo.multiply %223, %60 : tensor<2xf64>
      %225 = stablehlo.add %222, %224 : tensor<2xf64>
      %cst_34 = stablehlo.constant dense<0.44923629829290207> : tensor<f64>
      %226 = stablehlo.broadcast_in_dim %cst_34, dims = [] : (tensor<f64>) -> tensor<2xf64>
      %227 = stablehlo.multiply %226, %95 : tensor<2xf64>
      %228 = stablehlo.add %225, %227 : tensor<2xf64>
      %cst_35 = stablehlo.constant dense<0.65104166666666663> : tensor<f64>
      %229 = stablehlo.broadcast_in_dim %cst_35, dims = [] : (tensor<f64>) -> tensor<2xf64>
      %230 = stablehlo.multiply %229, %133 : tensor<2xf64>
      %231 = stablehlo.add %228, %230 : tensor<2xf64>
      %cst_36 = stablehlo.constant dense<-0.322376179245283> : tensor<f64>
      %232 = stablehlo.broadcast_in_dim %cst_36, dims = [] : (tensor<f64>) -> tensor<2xf64>
      %233 = stablehlo.multiply %232, %174 : tensor<2xf64>
      %234 = stablehlo.add %231, %233 : tensor<2xf64>
      %cst_37 = stablehlo.constant dense<0.13095238095238096> : tensor<f64>
      %235 = stablehlo.broadcast_in_dim %cst_37, dims = [] : (tensor<f64>) -> tensor<2xf64>
      %236 = stablehlo.multiply %235, %218 : tensor<2xf64>
      %237 = stablehlo.add %234, %236 : tensor<2xf64>
      %238 = stablehlo.broadcast_in_dim %3, dims = [] : (tensor<f64>) -> tensor<2xf64>
      %239 = stablehlo.multiply %238, %237 : tensor<2xf64>
      %240 = stablehlo.add %iterArg_7, %239 : tensor<2xf64>
      %241 = stablehlo.slice %iterArg_4 [0:1] : (tensor<4xf64>) -> tensor<1xf64>
      %242 = stablehlo.reshape %241 : (tensor<1xf64>) -> tensor<f64>
      %243 = stablehlo.slice %iterArg_4 [1:2] : (tensor<4xf64>) -> tensor<1xf64>
      %244 = stablehlo.reshape %243 : (tensor<1xf64>) -> tensor<f64>
      %245 = stablehlo.slice %iterArg_4 [2:3] : (tensor<4xf64>) -> tensor<1xf64>
      %246 = stablehlo.reshape %245 : (tensor<1xf64>) -> tensor<f64>
      %247 = stablehlo.slice %iterArg_4 [3:4] : (tensor<4xf64>) -> tensor<1xf64>
      %248 = stablehlo.reshape %247 : (tensor<1xf64>) -> tensor<f64>
      %249 = stablehlo.slice %240 [0:1] : (tensor<2xf64>) -> tensor<1xf64>
      %250 = stablehlo.reshape %249 : (tensor<1xf64>) -> tensor<f64>
      %251 = stablehlo.slice %240 [1:2] : (tensor<2xf64>) -> tensor<1xf64>
      %252 = stablehlo.reshape %251 : (tensor<1xf64>) -> tensor<f64>
      %253 = stablehlo.multiply %244, %252 : tensor<f64>
      %254 = stablehlo.subtract %242, %253 : tensor<f64>
      %255 = stablehlo.multiply %250, %254 : tensor<f64>
      %256 = stablehlo.slice %240 [1:2] : (tensor<2xf64>) -> tensor<1xf64>
      %257 = stablehlo.reshape %256 : (tensor<1xf64>) -> tensor<f64>
      %258 = stablehlo.slice %240 [0:1] : (tensor<2xf64>) -> tensor<1xf64>
      %259 = stablehlo.reshape %258 : (tensor<1xf64>) -> tensor<f64>
      %260 = stablehlo.multiply %246, %259 : tensor<f64>
      %261 = stablehlo.subtract %260, %248 : tensor<f64>
      %262 = stablehlo.multiply %257, %261 : tensor<f64>
      %263 = stablehlo.broadcast_in_dim %255, dims = [] : (tensor<f64>) -> tensor<1xf64>
      %264 = stablehlo.broadcast_in_dim %262, dims = [] : (tensor<f64>) -> tensor<1xf64>
      %265 = stablehlo.concatenate %263, %264, dim = 0 : (tensor<1xf64>, tensor<1xf64>) -> tensor<2xf64>
      %cst_38 = stablehlo.constant dense<0.091145833333333329> : tensor<f64>
      %266 = stablehlo.broadcast_in_dim %cst_38, dims = [] : (tensor<f64>) -> tensor<2xf64>
      %267 = stablehlo.multiply %266, %28 : tensor<2xf64>
      %cst_39 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
      %268 = stablehlo.broadcast_in_dim %cst_39, dims = [] : (tensor<f64>) -> tensor<2xf64>
      %269 = stablehlo.add %268, %267 : tensor<2xf64>
      %cst_40 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
      %270 = stablehlo.broadcast_in_dim %cst_40, dims = [] : (tensor<f64>) -> tensor<2xf64>
      %271 = stablehlo.multiply %270, %60 : tensor<2xf64>
      %272 = stablehlo.add %269, %271 : tensor<2xf64>
      %cst_41 = stablehlo.constant dense<0.44923629829290207> : tensor<f64>
      %273 = stablehlo.broadcast_in_dim %cst_41, dims = [] : (tensor<f64>) -> tensor<2xf64>
      %274 = stablehlo.multiply %273, %95 : tensor<2xf64>
      %275 = stablehlo.add %272, %274 : tensor<2xf64>
      %cst_42 = stablehlo.constant dense<0.65104166666666663> : tensor<f64>
      %276 = stablehlo.broadcast_in_dim %cst_42, dims = [] : (tensor<f64>) -> tensor<2xf64>
      %277 = stablehlo.multiply %276, %133 : tensor<2xf64>
      %278 = stablehlo.add %275, %277 : tensor<2xf64>
      %cst_43 = stablehlo.constant dense<-0.322376179245283> : tensor<f64>
      %279 = stablehlo.broadcast_in_dim %cst_43, dims = [] : (tensor<f64>) -> tensor<2xf64>
      %280 = stablehlo.multiply %279, %174 : tensor<2xf64>
      %281 = stablehlo.add %278, %280 : tensor<2xf64>
      %cst_44 = stablehlo.constant dense<0.13095238095238096> : tensor<f64>
      %282 = stablehlo.broadcast_in_dim %cst_44, dims = [] : (tensor<f64>) -> tensor<2xf64>
      %283 = stablehlo.multiply %282, %218 : tensor<2xf64>
      %284 = stablehlo.add %281, %283 : tensor<2xf64>
      %285 = stablehlo.broadcast_in_dim %3, dims = [] : (tensor<f64>) -> tensor<2xf64>
      %286 = stablehlo.multiply %285, %284 : tensor<2xf64>
      %287 = stablehlo.add %iterArg_7, %286 : tensor<2xf64>
      %cst_45 = stablehlo.constant dense<0.0012326388888888888> : tensor<f64>
      %288 = stablehlo.broadcast_in_dim %cst_45, dims = [] : (tensor<f64>) -> tensor<2xf64>
      %289 = stablehlo.multiply %288, %28 : tensor<2xf64>
      %cst_46 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
      %290 = stablehlo.broadcast_in_dim %cst_46, dims = [] : (tensor<f64>) -> tensor<2xf64>
      %291 = stablehlo.add %290, %289 : tensor<2xf64>
      %cst_47 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
      %292 = stablehlo.broadcast_in_dim %cst_47, dims = [] : (tensor<f64>) -> tensor<2xf64>
      %293 = stablehlo.multiply %292, %60 : tensor<2xf64>
      %294 = stablehlo.add %291, %293 : tensor<2xf64>
      %cst_48 = stablehlo.constant dense<-0.0042527702905061394> : tensor<f64>
      %295 = stablehlo.broadcast_in_dim %cst_48, dims = [] : (tensor<f64>) -> tensor<2xf64>
      %296 = stablehlo.multiply %295, %95 : tensor<2xf64>
      %297 = stablehlo.add %294, %296 : tensor<2xf64>
      %cst_49 = stablehlo.constant dense<0.036979166666666667> : tensor<f64>
      %298 = stablehlo.broadcast_in_dim %cst_49, dims = [] : (tensor<f64>) -> tensor<2xf64>
      %299 = stablehlo.multiply %298, %133 : tensor<2xf64>
      %300 = stablehlo.add %297, %299 : tensor<2xf64>
      %cst_50 = stablehlo.constant dense<-0.05086379716981132> : tensor<f64>
      %301 = stablehlo.broadcast_in_dim %cst_50, dims = [] : (tensor<f64>) -> tensor<2xf64>
      %302 = stablehlo.multiply %301, %174 : tensor<2xf64>
      %303 = stablehlo.add %300, %302 : tensor<2xf64>
      %cst_51 = stablehlo.constant dense<0.041904761904761903> : tensor<f64>
      %304 = stablehlo.broadcast_in_dim %cst_51, dims = [] : (tensor<f64>) -> tensor<2xf64>
      %305 = stablehlo.multiply %304, %218 : tensor<2xf64>
      %306 = stablehlo.add %303, %305 : tensor<2xf64>
      %cst_52 = stablehlo.constant dense<-2.500000e-02> : tensor<f64>
      %307 = stablehlo.broadcast_in_dim %cst_52, dims = [] : (tensor<f64>) -> tensor<2xf64>
      %308 = stablehlo.multiply %307, %265 : tensor<2xf64>
      %309 = stablehlo.add %306, %308 : tensor<2xf64>
      %310 = stablehlo.broadcast_in_dim %3, dims = [] : (tensor<f64>) -> tensor<2xf64>
      %311 = stablehlo.multiply %310, %309 : tensor<2xf64>
      %312 = stablehlo.abs %iterArg_7 : tensor<2xf64>
      %313 = stablehlo.abs %287 : tensor<2xf64>
      %314 = stablehlo.maximum %312, %313 : tensor<2xf64>
      %cst_53 = stablehlo.constant dense<1.000000e+00> : tensor<f64>
      %315 = stablehlo.broadcast_in_dim %cst_53, dims = [] : (tensor<f64>) -> tensor<2xf64>
      %316 = stablehlo.add %315, %314 : tensor<2xf64>
      %317 = stablehlo.broadcast_in_dim %iterArg_5, dims = [] : (tensor<f64>) -> tensor<2xf64>
      %318 = stablehlo.multiply %317, %316 : tensor<2xf64>
      %319 = stablehlo.divide %311, %318 : tensor<2xf64>
      %320 = stablehlo.multiply %319, %319 : tensor<2xf64>
      %cst_54 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
      %321 = stablehlo.reduce(%320 init: %cst_54) applies stablehlo.add across dimensions = [0] : (tensor<2xf64>, tensor<f64>) -> tensor<f64>
      %cst_55 = stablehlo.constant dense<2.000000e+00> : tensor<f64>
      %322 = stablehlo.divide %321, %cst_55 : tensor<f64>
      %323 = stablehlo.sqrt %322 : tensor<f64>
      %cst_56 = stablehlo.constant dense<1.000000e+00> : tensor<f64>
      %324 = stablehlo.compare LE, %323, %cst_56, FLOAT : (tensor<f64>, tensor<f64>) -> tensor<i1>
      %cst_57 = stablehlo.constant dense<1.000000e-10> : tensor<f64>
      %325 = stablehlo.maximum %323, %cst_57 : tensor<f64>
      %cst_58 = stablehlo.constant dense<-2.000000e-01> : tensor<f64>
      %326 = stablehlo.power %325, %cst_58 : tensor<f64>
      %cst_59 = stablehlo.constant dense<9.000000e-01> : tensor<f64>
      %327 = stablehlo.multiply %cst_59, %326 : tensor<f64>
      %cst_60 = stablehlo.constant dense<2.000000e-01> : tensor<f64>
      %cst_61 = stablehlo.constant dense<5.000000e+00> : tensor<f64>
      %328 = func.call @clip(%327, %cst_60, %cst_61) : (tensor<f64>, tensor<f64>, tensor<f64>) -> tensor<f64>
      %329 = stablehlo.add %iterArg_6, %3 : tensor<f64>
      %330 = func.call @_where(%324, %329, %iterArg_6) : (tensor<i1>, tensor<f64>, tensor<f64>) -> tensor<f64>
      %331 = func.call @_where_0(%324, %287, %iterArg_7) : (tensor<i1>, tensor<2xf64>, tensor<2xf64>) -> tensor<2xf64>
      %332 = stablehlo.multiply %3, %328 : tensor<f64>
      %333 = stablehlo.convert %324 : (tensor<i1>) -> tensor<i64>
      %334 = stablehlo.add %iterArg_9, %333 : tensor<i64>
      %335 = stablehlo.not %324 : tensor<i1>
      %336 = stablehlo.convert %335 : (tensor<i1>) -> tensor<i64>
      %337 = stablehlo.add %iterArg_10, %336 : tensor<i64>
      stablehlo.return %iterArg, %iterArg_3, %iterArg_4, %iterArg_5, %330, %331, %332, %334, %337 : tensor<f64>, tensor<f64>, tensor<4xf64>, tensor<f64>, tensor<f64>, tensor<2xf64>, tensor<f64>, tensor<i64>, tensor<i64>
    }
    return %1#7, %1#8, %1#5 : tensor<i64>, tensor<i64>, tensor<2xf64>
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
