// What a call with rules of its own keeps for them is no result of the function that they are about, and their
// derivatives do not speak of it. Where a derivative is taken that flows through what is kept, as a second one
// does, it is made again beside the call by the calls of its definition, which have derivatives:
//
//   %y, %r = f(%x)                    %y, %s = f(%x)
//   %g = mul(%r, %dy)                 %r = exp(%x)          as the definition says
//                                     %g = mul(%r, %dy)
#include <algorithm>

#include "primitives/vocabulary/composite.h"
#include "transform/rewrite.h"
#include "transform/simplify.h"

namespace anvil::transform {

namespace {

bool has_residuals(const Graph& g) {
  return std::any_of(g.calls.begin(), g.calls.end(), [](const Call& c) {
    if (primitives::residuals_of(c) > 0) return true;
    const auto inner = subgraphs(c);
    return std::any_of(inner.begin(), inner.end(), [](const GraphPtr& i) { return has_residuals(*i); });
  });
}

class Splitter {
 public:
  void visit(Graph& g) {
    Values read;
    collect_reads(g, read);
    std::vector<Call> calls;
    calls.swap(g.calls);
    for (Call& c : calls) add(std::move(c), read, g);
    substitute_all(map_, g.outputs);
    substitute_all(map_, g.constants);
  }

 private:
  void add(Call c, const Values& read, Graph& to) {
    substitute_all(map_, c.inputs);
    rewrite_subgraphs(c, [this](Graph& inner) { visit(inner); });
    const size_t first = c.outputs.size() - primitives::residuals_of(c);
    const bool is_read = std::any_of(c.outputs.begin() + static_cast<std::ptrdiff_t>(first), c.outputs.end(),
                                     [&](const ValuePtr& v) { return read.count(v.get()) != 0; });
    if (!is_read) {
      to.calls.push_back(std::move(c));
      return;
    }
    const Graph& definition = *c.params.graph("definition");  // visited already
    primitives::add_constants(to, definition);
    const std::vector<ValuePtr> made = inline_calls(definition, c.inputs, to);
    for (size_t k = first; k < c.outputs.size(); ++k) {
      map_[c.outputs[k].get()] = made[k];
      c.outputs[k] = make_value(Value::Kind::result, c.outputs[k]->type);
    }
    to.calls.push_back(std::move(c));
  }

  graph::Substitution map_;
};

}  // namespace

void split_residuals(Graph& g) {
  if (!has_residuals(g)) return;
  const KeptValues kept(g);
  Splitter().visit(g);
}

}  // namespace anvil::transform
