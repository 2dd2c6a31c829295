// a byte-order mark and CRLF
func.func @main(%a: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.negate %a : tensor<f32> // here
  return %0 : tensor<f32>
}
{-#
  dialect_resources: { builtin: { a: "0x01" } }
#-}
