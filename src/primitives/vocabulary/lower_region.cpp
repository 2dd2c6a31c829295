// Regions in loops: their calls become one expression for each result. The loop rules of
// elementwise primitives serve here too; "every element of the result" is the one scalar.
// Expressions are walked recursively, so a long chain of calls is cut into named values.
#include <algorithm>
#include <unordered_map>

#include "primitives/vocabulary/lowering.h"
#include "primitives/vocabulary/primitive.h"

namespace anvil::primitives {
namespace {

constexpr int deepest = 50;  // calls in one expression

class ScalarLowering final : public Lowering {
 public:
  explicit ScalarLowering(Lowering& outer) : outer_(outer) {}
  void bind(const ValuePtr& v, Expr e) {
    e = narrowed(exprs(), e, v->type.dtype);
    if (depth_ > deepest) e = let(e);
    values_[v.get()] = {e, depth_ > deepest ? 0 : depth_};
  }

  std::vector<Expr> run(const graph::Graph& region) {
    for (const graph::Call& c : region.calls) {
      depth_ = 1 + depth(c.inputs);
      if (primitive_of(c).control == Control::branch) {
        branch(c);
        continue;
      }
      const Primitive& p = primitive_of(c);
      if (!p.lower) throw InternalError("lower: a region calls " + p.name);
      rule_ = &p;
      p.lower(*this, c);
    }
    std::vector<Expr> results;
    for (const ValuePtr& v : region.outputs) results.push_back(stored(v));
    return results;
  }

  loops::ExprPool& exprs() override { return outer_.exprs(); }
  Expr load(const ValuePtr& v, const Index&) override { return widened(exprs(), rule_, stored(v)); }
  void map(const ValuePtr& result, std::function<Expr(const Index&)> element) override { bind(result, element({})); }
  void alias(const ValuePtr& result, const ValuePtr& operand) override { bind(result, stored(operand)); }
  Affine parameter(Expr value, int64_t low, int64_t high) override { return outer_.parameter(value, low, high); }
  Expr let(Expr value) override { return outer_.let(value); }
  void reduce(const ValuePtr&, const Shape&, loops::Op, Scalar,
              std::function<Expr(const Index&, const Index&)>) override {
    refuse();
  }
  void scan(const ValuePtr&, int64_t, loops::Op, Scalar, std::function<Expr(const Index&)>) override { refuse(); }
  void fold(const std::vector<ValuePtr>&, const Shape&, std::function<Exprs(const Index&)>,
            std::function<Exprs(const Index&, const Index&, const Exprs&)>) override {
    refuse();
  }
  void running(const std::vector<ValuePtr>&, int64_t, std::function<Exprs(const Index&)>,
               std::function<Exprs(const Index&, const Exprs&)>) override {
    refuse();
  }
  void parts(const ValuePtr&, std::vector<Part>, const ValuePtr&) override { refuse(); }
  void update(const std::vector<ValuePtr>&, const std::vector<ValuePtr>&, const Updates&) override { refuse(); }
  void call(const char*, const std::vector<ValuePtr>&, const std::vector<ValuePtr>&,
            const std::vector<int64_t>&) override {
    refuse();
  }

 private:
  Expr stored(const ValuePtr& v) {
    auto it = values_.find(v.get());
    return it != values_.end() ? it->second.expression : outer_.load(v, {});
  }
  [[noreturn]] static void refuse() { throw InternalError("lower: a region has a call that is not elementwise"); }
  void branch(const graph::Call& c) {
    Expr condition = stored(c.inputs[0]);
    const graph::GraphPtr &if_true = c.params.graph("true_graph"), &if_false = c.params.graph("false_graph");
    std::vector<Expr> yes = run(*if_true), no = run(*if_false);
    depth_ = 1 + std::max({depth(c.inputs), depth(if_true->outputs), depth(if_false->outputs)});
    for (size_t i = 0; i < yes.size(); ++i) bind(c.outputs[i], exprs().select(condition, yes[i], no[i]));
  }

  int depth(const std::vector<ValuePtr>& values) const {
    int most = 0;
    for (const ValuePtr& v : values)
      if (auto it = values_.find(v.get()); it != values_.end()) most = std::max(most, it->second.depth);
    return most;
  }

  struct Known {
    Expr expression;
    int depth;
  };
  Lowering& outer_;
  const Primitive* rule_ = nullptr;  // whose rule runs
  std::unordered_map<const graph::Value*, Known> values_;
  int depth_ = 0;  // of the call that is lowered
};

}  // namespace

std::vector<Expr> lower_region(Lowering& l, const graph::Graph& region, const std::vector<Expr>& arguments) {
  ScalarLowering scalars(l);
  for (size_t i = 0; i < arguments.size(); ++i) scalars.bind(region.inputs[i], arguments[i]);
  return scalars.run(region);
}

}  // namespace anvil::primitives
