// The one way a call enters a graph: operands are counted and checked, types inferred,
// results made.
#include "primitives/vocabulary/primitive.h"

namespace anvil::primitives {
namespace {

void check_count(const Primitive& p, size_t got) {
  size_t named = p.operands.size();
  bool open = named > 0 && p.operands.back() == "...";
  size_t least = open ? named - 1 : named;
  if (open ? got >= least : got == least) return;
  throw Error("argument",
              "`" + p.name + "` takes " + (open ? "at least " : "") + std::to_string(least) +
                  (least == 1 ? " operand." : " operands."),
              {"x Got " + std::to_string(got) + "."});
}

void check_group(const Primitive& p, const std::vector<TensorType>& types) {
  if (types.empty() || contains(p.group, types[0].dtype)) return;
  // operands that were brought to one dtype are all named: any of them may be the cause
  std::string operand = p.operands.empty() || p.operands[0] == "..." ? "operand" : p.operands[0];
  if (types.size() == 2 && p.operands.size() == 2 && types[1].dtype == types[0].dtype)
    operand += "` and `" + p.operands[1];
  std::vector<std::string> details = {"x Got <" + std::string(anvil::name(types[0].dtype)) + ">."};
  if (p.group == Group::floating) details.push_back("i Convert it before, for example by `nv_convert(x, \"f32\")`.");
  throw Error("dtype", "`" + operand + "` must have dtype " + name(p.group) + ".", details);
}

std::vector<TensorType> infer(const Primitive& p, const std::vector<ValuePtr>& operands, const Params& params) {
  check_count(p, operands.size());
  std::vector<TensorType> types;
  types.reserve(operands.size());
  for (const auto& v : operands) types.push_back(v->type);
  check_group(p, types);
  return p.infer(types, params);
}

}  // namespace

std::vector<ValuePtr> record(graph::Graph& graph, const Primitive& p, std::vector<ValuePtr> operands, Params params,
                             int location) {
  std::vector<ValuePtr> results;
  for (TensorType& type : infer(p, operands, params)) {
    elements(type.shape);  // throws when there would be too many
    results.push_back(make_value(graph::Value::Kind::result, std::move(type)));
  }
  graph.calls.push_back({&p, std::move(operands), std::move(params), results, location});
  return results;
}

static void verify_types(const graph::Graph& g) {
  for (const graph::Call& c : g.calls) {
    std::vector<TensorType> types = infer(primitive_of(c), c.inputs, c.params);
    bool same = types.size() == c.outputs.size();
    for (size_t i = 0; same && i < types.size(); ++i) same = same_type(types[i], c.outputs[i]->type);
    if (!same)
      throw InternalError("graph: the results of a call of " + c.primitive->name + " have other types than inferred");
    for (const auto& inner : subgraphs(c)) verify_types(*inner);
  }
}

void verify(const graph::Graph& g) {
  verify_structure(g);
  verify_types(g);
}

}  // namespace anvil::primitives
