// Regions in loops: their calls become one expression for each result. The loop rules of
// elementwise primitives serve here too; "every element of the result" is the one scalar.
#include <unordered_map>

#include "primitives/lowering.h"
#include "primitives/primitive.h"

namespace anvil::primitives {
namespace {

class ScalarLowering final : public Lowering {
 public:
  explicit ScalarLowering(Lowering& outer) : outer_(outer) {}
  void bind(const ValuePtr& v, Expr e) { values_[v.get()] = e; }

  std::vector<Expr> run(const graph::Graph& region) {
    for (const graph::Call& c : region.calls) {
      if (c.primitive->name == "if") {
        branch(c);
        continue;
      }
      const Primitive& p = primitive_of(c);
      if (!p.lower) throw InternalError("lower: a region calls " + p.name);
      p.lower(*this, c);
    }
    std::vector<Expr> results;
    for (const ValuePtr& v : region.outputs) results.push_back(load(v, {}));
    return results;
  }

  loops::ExprPool& exprs() override { return outer_.exprs(); }
  Expr load(const ValuePtr& v, const Index&) override {
    auto it = values_.find(v.get());
    return it != values_.end() ? it->second : outer_.load(v, {});
  }
  void map(const ValuePtr& result, std::function<Expr(const Index&)> element) override { bind(result, element({})); }
  void alias(const ValuePtr& result, const ValuePtr& operand) override { bind(result, load(operand, {})); }
  Affine parameter(Expr value, int64_t low, int64_t high) override { return outer_.parameter(value, low, high); }
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
  [[noreturn]] static void refuse() { throw InternalError("lower: a region has a call that is not elementwise"); }
  void branch(const graph::Call& c) {
    Expr condition = load(c.inputs[0], {});
    std::vector<Expr> yes = run(*c.params.graph("true_graph")), no = run(*c.params.graph("false_graph"));
    for (size_t i = 0; i < yes.size(); ++i) bind(c.outputs[i], exprs().select(condition, yes[i], no[i]));
  }

  Lowering& outer_;
  std::unordered_map<const graph::Value*, Expr> values_;
};

}  // namespace

std::vector<Expr> lower_region(Lowering& l, const graph::Graph& region, const std::vector<Expr>& arguments) {
  ScalarLowering scalars(l);
  for (size_t i = 0; i < arguments.size(); ++i) scalars.bind(region.inputs[i], arguments[i]);
  return scalars.run(region);
}

}  // namespace anvil::primitives
