// Printing, which StableHLO leaves to custom calls. The text's one has no result: who reads that of ours
// reads the operand.
#include "backend/stablehlo/write.h"

namespace anvil::stablehlo {
namespace {

std::string quoted(const std::string& s) {
  static constexpr char digits[] = "0123456789ABCDEF";
  std::string text = "\"";
  for (const char c : s) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && c != '"' && c != '\\' && byte != 0x7F)
      text += c;
    else
      text += {'\\', digits[byte / 16], digits[byte % 16]};
  }
  return text + '"';
}

Items print(Writer& w, const Call& c) {
  const Items operands = w.use_all(c.inputs);
  w.op("stablehlo.custom_call", operands, std::vector<TensorType>(),
       {"call_target_name = \"print_tensor\"", "api_version = 4 : i32", "has_side_effect = true",
        "backend_config = {format = " + quoted(c.params.string("format")) + "}"});
  return {operands[0]};
}

}  // namespace

void add_print_writers(WriteRules& rules) { add(rules, "print", print); }

}  // namespace anvil::stablehlo
