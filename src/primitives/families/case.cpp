// case [branch1_graph, branch2_graph, ...] (index): runs the branch of that number, counted from 0; a number that is
// none of a branch takes the last one. The branches take nothing and may read the values around them. It stands for
// `if`s that choose one half of the branches after the other:
//
//   case (%i): a, b, c        if (%j < 1): a, else if (%j < 2): b, else c        %j = %i, or 2 if that is no branch
#include "primitives/families/control.h"
#include "primitives/families/families.h"
#include "primitives/vocabulary/composite.h"
#include "primitives/vocabulary/structured.h"

namespace anvil::primitives {
namespace {

std::vector<graph::GraphPtr> branches_of(const Params& params) {
  std::vector<graph::GraphPtr> branches;
  for (const graph::Param& p : params.items) branches.push_back(std::get<graph::GraphPtr>(p.value));
  return branches;
}

void check_branch(size_t k, const graph::Graph& g, const graph::Graph& first) {
  const std::string name = "branch " + std::to_string(k + 1);
  if (!g.inputs.empty()) throw Error("argument", "The branches of a case must take no arguments.");
  if (g.outputs.size() != first.outputs.size())
    throw Error("argument", "All branches must have the same output structure.",
                {"x Branch 1 returns " + std::to_string(first.outputs.size()) + " values, " + name + " " +
                 std::to_string(g.outputs.size()) + "."});
  for (size_t i = 0; i < g.outputs.size(); ++i) {
    const TensorType &a = first.outputs[i]->type, &b = g.outputs[i]->type;
    if (same_type(a, b)) continue;
    const bool dtype = a.dtype != b.dtype;
    throw Error(
        dtype ? "dtype" : "shape", "All branches must return the same types.",
        {"x Output " + std::to_string(i + 1) + " is " + text(a) + " in branch 1 and " + text(b) + " in " + name + ".",
         dtype ? "i Convert one of them with `nv_convert()`." : "i Broadcast or reshape one of them."});
  }
}

Types infer_case(const Types& operands, const Params& params) {
  if (operands[0].dtype != DType::i32 || !operands[0].shape.empty())
    throw Error(operands[0].shape.empty() ? "dtype" : "shape", "`index` must be an i32 scalar.",
                {"x Got " + text(operands[0]) + "."});
  const auto branches = branches_of(params);
  if (branches.empty()) throw Error("argument", "A case needs at least one branch.");
  Types results;
  for (const ValuePtr& v : branches[0]->outputs) results.push_back(v->type);
  for (size_t k = 0; k < branches.size(); ++k) {
    check_branch(k, *branches[k], *branches[0]);
    for (size_t i = 0; i < results.size(); ++i)
      results[i].ambiguous = results[i].ambiguous && branches[k]->outputs[i]->type.ambiguous;
  }
  return results;
}

// Branches first to last - 1 by halves: `if (index < middle) lower half, else upper half`.
std::vector<ValuePtr> choose(graph::Graph& to, const std::vector<graph::GraphPtr>& branches, size_t first, size_t last,
                             const ValuePtr& index) {
  const size_t middle = first + (last - first) / 2;
  auto half = [&](size_t from, size_t end) {
    if (end - from == 1) return branches[from];
    auto g = std::make_shared<graph::Graph>();
    g->outputs = choose(*g, branches, from, end, index);
    return g;
  };
  const Var lower = Var{&to, index} < static_cast<double>(middle);
  return branch(to, lower.value, half(first, middle), half(middle, last));
}

}  // namespace

std::vector<ValuePtr> choose(graph::Graph& to, const ValuePtr& index, const std::vector<graph::GraphPtr>& branches) {
  const Var i{&to, index};
  if (branches.size() == 2) return branch(to, (i == 0.0).value, branches[0], branches[1]);
  const Var last = literal(i, static_cast<int64_t>(branches.size()) - 1);
  return choose(to, branches, 0, branches.size(), select((i < 0.0) | (i > last), last, i).value);
}

void register_case(Registry& r) {
  Primitive p = make_primitive("control", "case", {"index"}, {{"...", Kind::graph}});
  p.infer = infer_case;
  p.expand = [](graph::Graph& to, const graph::Call& c) {
    const auto branches = branches_of(c.params);
    if (branches.size() > 1) return choose(to, c.inputs[0], branches);
    add_constants(to, *branches[0]);
    return inline_calls(*branches[0], {}, to);
  };
  p.hlo = {"stablehlo.case", {}, special};
  r.add(std::move(p));
}

}  // namespace anvil::primitives
