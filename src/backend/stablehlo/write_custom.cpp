// What StableHLO leaves to custom calls: printing, checks, and compiled functions of the user's.
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

// What is called for its effect, with texts for it. The text's calls have no result: who reads that of ours
// reads the operand.
Items for_effect(Writer& w, const Call& c, const char* target, std::initializer_list<const char*> texts) {
  const Items operands = w.use_all(c.inputs);
  std::string config;
  for (const char* name : texts)
    config += (config.empty() ? "" : ", ") + (name + (" = " + quoted(c.params.string(name))));
  w.op("stablehlo.custom_call", operands, std::vector<TensorType>(),
       {"call_target_name = \"" + std::string(target) + "\"", "api_version = 4 : i32", "has_side_effect = true",
        "backend_config = {" + config + "}"});
  return {operands[0]};
}
Items print(Writer& w, const Call& c) { return for_effect(w, c, "print_tensor", {"format"}); }
Items check(Writer& w, const Call& c) { return for_effect(w, c, "anvil.check", {"error", "message"}); }

// Our functions take and give column-major memory: the first dimension is the minor one.
std::string column_major(const std::vector<ValuePtr>& values) {
  std::string list;
  for (const ValuePtr& v : values) {
    const auto rank = static_cast<int64_t>(v->type.shape.size());
    Ints order;
    for (int64_t d = 0; d < rank; ++d) order.push_back(d);
    list += (list.empty() ? "" : ", ") + ("dense<" + (rank > 0 ? brackets(order) : "") + "> : tensor<") +
            std::to_string(rank) + "xindex>";
  }
  return "[" + list + "]";
}
Items custom_call(Writer& w, const Call& c) {
  return w.same_operands(
      "stablehlo.custom_call", c,
      {"call_target_name = \"" + c.params.string("name") + "\"", "api_version = 4 : i32",
       "has_side_effect = " + boolean(primitives::primitive_of(c).effect),
       "operand_layouts = " + column_major(c.inputs), "result_layouts = " + column_major(c.outputs)});
}

}  // namespace

void add_custom_writers(WriteRules& rules) {
  add(rules, "print", print);
  add(rules, "check", check);
  add(rules, "custom_call", custom_call);
}

}  // namespace anvil::stablehlo
