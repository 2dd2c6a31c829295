// Branches, loops, calls of functions, printing, and what changes nothing.
#include <bit>
#include <cctype>
#include <limits>

#include "backend/stablehlo/import.h"
#include "primitives/families/control.h"

namespace anvil::stablehlo {
namespace {

using Values = std::vector<ValuePtr>;

void need_regions(const Operation& op, size_t n) {
  if (op.regions.size() != n)
    refuse(op.at, "`" + op.name + "` has " + std::to_string(n) + " regions, not " + std::to_string(op.regions.size()));
}
// What decides on a branch.
void need_scalar(const Operation& op, const Vars& x, DType t) {
  need_operands(op, 1);
  check_type(op.at, "operand of `" + op.name + "`", x[0].type(), {t, {}});
}

Values branch(Importer& in, const Operation& op, const Vars& x) {
  need_regions(op, 2);
  need_scalar(op, x, DType::boolean);
  GraphPtr yes = in.region(op, 0, {}), no = in.region(op, 1, {});
  return in.record("if", x, {{"true_graph", yes}, {"false_graph", no}});
}

// ---- case -------------------------------------------------------------------------------------

// The bool that was converted to an index, as JAX does for its `cond`.
std::optional<Var> converted_bool(Importer& in, const Var& index) {
  const graph::Call* c = recent(in.graph(), index.value, 16);
  if (!c || c->primitive->name != "convert" || !is_bool(c->inputs[0]->type.dtype)) return {};
  return in.var(c->inputs[0]);
}

// An index that is none of a branch takes the last one.
Values cases(Importer& in, const Operation& op, const Vars& x) {
  need_scalar(op, x, DType::i32);
  size_t n = op.regions.size();
  if (n == 0) refuse(op.at, "`stablehlo.case` needs at least one branch");
  if (n == 1) return in.inlined(op, 0);
  std::optional<Var> condition = n == 2 ? converted_bool(in, x[0]) : std::nullopt;
  Importer::Deeper halves(in, op.at, std::bit_width(n - 1) - 1);
  std::vector<GraphPtr> branches;
  for (size_t k = 0; k < n; ++k) branches.push_back(in.region(op, k, {}));
  if (condition) return in.record("if", {*condition}, {{"true_graph", branches[1]}, {"false_graph", branches[0]}});
  return primitives::choose(in.graph(), x[0].value, branches);
}

// ---- loops and calls ----------------------------------------------------------------------------

Values loop(Importer& in, const Operation& op, const Vars& x) {
  need_regions(op, 2);
  std::vector<TensorType> state;
  for (const Var& v : x) state.push_back(v.type());
  GraphPtr test = in.region(op, 0, state), step = in.region(op, 1, state);
  return in.record("while", x, {{"cond_graph", test}, {"body_graph", step}});
}

Values call(Importer& in, const Operation& op, const Vars& x) { return in.call(op, word(op, "callee"), x); }

// A composite is what its decomposition says. Its name has a namespace: "chlo.erf".
Values composite(Importer& in, const Operation& op, const Vars& x) {
  std::string name = word(op, "name");
  auto letter = [](char c, bool first) {
    auto u = static_cast<unsigned char>(c);
    return std::isalpha(u) || (!first && (std::isdigit(u) || c == '_' || c == '$'));
  };
  size_t dot = name.find('.');
  bool good = dot != std::string::npos && dot > 0 && dot + 1 < name.size();
  for (size_t i = 0; i < name.size(); ++i)
    good = good && (letter(name[i], i == 0) || i == dot || (i > dot && name[i] == '.'));
  if (!good) refuse(op.at, "`" + name + "` is no name of an operation with a namespace");
  return in.call(op, word(op, "decomposition"), x);
}

// What is called for its effect. Whatever else the call says belongs to another printer.
std::string configured(const Operation& op, const char* name) {
  const Attribute* a = find(op, "backend_config");
  if (a == nullptr || !std::holds_alternative<std::shared_ptr<Dictionary>>(a->value)) return "";
  const Dictionary& config = fields(op, *a);
  const auto found = config.find(name);
  const auto* text = found == config.end() ? nullptr : std::get_if<std::string>(&found->second.value);
  return text ? *text : "";
}
Values for_effect(Importer& in, const Operation& op, const Vars& x, const char* primitive,
                  std::initializer_list<const char*> texts) {
  if (x.empty()) refuse(op.at, "`" + word(op, "call_target_name") + "` needs an operand");
  graph::Params params;
  for (const char* name : texts) params.items.push_back({name, configured(op, name)});
  in.record(primitive, x, params);
  return op.result_types.empty() ? Values() : Values{x[0].value};
}
Values print(Importer& in, const Operation& op, const Vars& x) { return for_effect(in, op, x, "print", {"format"}); }
Values check(Importer& in, const Operation& op, const Vars& x) {
  return for_effect(in, op, x, "check", {"error", "message"});
}

Values same(Importer&, const Operation&, const Vars& x) { return values(x); }

// Sizes are known here.
Values dimension_size(Importer& in, const Operation& op, const Vars& x) {
  need_operands(op, 1);
  int64_t dim = integer(op, need(op, "dimension")), rank = static_cast<int64_t>(x[0].shape().size());
  if (dim < 0 || dim >= rank)
    refuse(op.at, "`dimension` is " + std::to_string(dim) + ", but should be from 0 to " + std::to_string(rank - 1));
  int64_t size = x[0].shape()[static_cast<size_t>(dim)];
  if (size > std::numeric_limits<int32_t>::max()) refuse(op.at, "the size " + std::to_string(size) + " is no i32");
  return {primitives::literal(in.graph(), size, {DType::i32, {}}).value};
}

}  // namespace

void add_control_rules(Rules& rules) {
  add(rules, "stablehlo.if", branch);
  add(rules, "stablehlo.case", cases);
  add(rules, "stablehlo.while", loop);
  add(rules, "func.call", call);
  add(rules, "call", call);
  add(rules, "stablehlo.composite", composite);
  add(rules, "custom_call @print_tensor", print);
  add(rules, "custom_call @anvil.check", check);
  add(rules, "stablehlo.optimization_barrier", same);
  add(rules, "sdy.sharding_constraint", same);
  add(rules, "stablehlo.get_dimension_size", dimension_size);
}

}  // namespace anvil::stablehlo
