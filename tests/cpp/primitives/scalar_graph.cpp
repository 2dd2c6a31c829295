#include "primitives/scalar_graph.h"

#include "backend/eigen/evaluate.h"
#include "runtime/scalar.h"

namespace anvil::primitives::testing {

using loops::Op;

graph::Tensor ScalarGraph::tensor(const ValuePtr& v) {
  return v->kind == graph::Value::Kind::literal ? graph::full(v->type, v->literal) : values_.at(v.get());
}

void ScalarGraph::run() {
  for (const graph::Call& c : graph_.calls) {
    if (values_.count(c.outputs[0].get())) continue;
    std::vector<graph::Tensor> operands;
    for (const auto& v : c.inputs) operands.push_back(tensor(v));
    std::vector<const graph::Tensor*> pointers;
    for (const auto& t : operands) pointers.push_back(&t);
    graph::Tensor out = graph::allocate(c.outputs[0]->type);
    primitive_of(c).elementwise(pointers, out, c.params);
    values_[c.outputs[0].get()] = out;
  }
}

std::vector<std::optional<Var>> pull_back(ScalarGraph& g, const Var& y, const Var& cotangent,
                                          std::optional<size_t> only) {
  graph::Call call;
  for (const graph::Call& c : g.graph().calls)
    if (c.outputs[0] == y.value) call = c;
  size_t n = call.inputs.size();
  ReverseStep step{g.graph(), call, {cotangent.value}, std::vector<bool>(n, true), std::vector<ValuePtr>(n)};
  if (only)
    for (size_t i = 0; i < n; ++i) step.required[i] = i == *only;
  const Primitive& p = primitive_of(call);
  if (p.reverse) p.reverse(step);
  std::vector<std::optional<Var>> cotangents(n);
  for (size_t i = 0; i < n; ++i)
    if (step.results[i]) cotangents[i] = Var{&g.graph(), step.results[i]};
  return cotangents;
}

namespace {

// Interprets the expression of one element at a time; index variables are the dimensions.
class Interpreter : public Lowering {
 public:
  explicit Interpreter(const Primitive& rule) : rule_(rule) {}
  std::map<const graph::Value*, graph::Tensor> operands;
  graph::Tensor out;

  loops::ExprPool& exprs() override { return pool_; }
  Expr load(const ValuePtr& v, const Index& i) override {
    loaded_.push_back(v.get());
    return widened(pool_, &rule_, pool_.load(static_cast<int>(loaded_.size()) - 1, v->type.dtype, i));
  }
  void map(const ValuePtr& result, std::function<Expr(const Index&)> element) override {
    const Shape& shape = result->type.shape;
    Index index;
    for (size_t d = 0; d < shape.size(); ++d) index.push_back(loops::variable(static_cast<int>(d)));
    Expr e = narrowed(pool_, element(index), result->type.dtype);
    if (e->dtype != result->type.dtype) throw InternalError("the loop rule gives another dtype");
    place_.assign(shape.size(), 0);
    for (int64_t i = 0, n = elements(shape); i < n; ++i, next_index(place_, shape))
      graph::set_element(out, i, value(e));
  }
  void reduce(const ValuePtr&, const Shape&, Op, Scalar, std::function<Expr(const Index&, const Index&)>) override {
    unexpected();
  }
  void scan(const ValuePtr&, int64_t, Op, Scalar, std::function<Expr(const Index&)>) override { unexpected(); }
  void fold(const std::vector<ValuePtr>&, const Shape&, std::function<Exprs(const Index&)>,
            std::function<Exprs(const Index&, const Index&, const Exprs&)>) override {
    unexpected();
  }
  void running(const std::vector<ValuePtr>&, int64_t, std::function<Exprs(const Index&)>,
               std::function<Exprs(const Index&, const Exprs&)>) override {
    unexpected();
  }
  Expr let(Expr value) override { return value; }
  void parts(const ValuePtr&, std::vector<Part>, const ValuePtr&) override { unexpected(); }
  void update(const std::vector<ValuePtr>&, const std::vector<ValuePtr>&, const Updates&) override { unexpected(); }
  void alias(const ValuePtr&, const ValuePtr&) override { unexpected(); }
  Affine parameter(Expr, int64_t, int64_t) override { unexpected(); }
  void call(const char*, const std::vector<ValuePtr>&, const std::vector<ValuePtr>&,
            const std::vector<int64_t>&) override {
    unexpected();
  }

 private:
  [[noreturn]] static void unexpected() { throw InternalError("not an elementwise loop rule"); }

  int64_t at(const Affine& a) const {
    int64_t x = a.constant;
    for (const auto& t : a.terms) x += t.factor * place_[static_cast<size_t>(t.variable)];
    return x;
  }
  Scalar value(Expr e) const {
    switch (e->op) {
      case Op::constant: return e->constant;
      case Op::index: return Scalar(at(e->place[0]));
      case Op::load: {
        const graph::Tensor& t = operands.at(loaded_.at(static_cast<size_t>(e->buffer)));
        auto steps = strides(t.type.shape);
        int64_t offset = 0;
        for (size_t d = 0; d < steps.size(); ++d) offset += steps[d] * at(e->place.at(d));
        return graph::element(t, offset);
      }
      case Op::select: return value(e->args[0]).as<bool>() ? value(e->args[1]) : value(e->args[2]);
      case Op::convert:
      case Op::bitcast: return visit(e->args[0]->dtype, [&]<class T>() { return conversion<T>(e); });
      default: return visit_computed(e->args[0]->dtype, [&]<class T>() { return operation<T>(e); });
    }
  }
  template <class T>
  Scalar conversion(Expr e) const {
    T a = value(e->args[0]).as<T>();
    return visit(e->dtype, [&]<class To>() {
      if (e->op == Op::convert) return Scalar(scalar::convert<To>(a));
      if constexpr (sizeof(To) == sizeof(T) && !scalar::is_bool<To> && !scalar::is_bool<T>)
        return Scalar(scalar::bitcast<To>(a));
      else
        return Scalar(0);
    });
  }
  template <class T>
  Scalar operation(Expr e) const {
    T a = value(e->args[0]).as<T>(), b = e->args[1] ? value(e->args[1]).as<T>() : T();
    if constexpr (scalar::Float<T>)
      if (e->op == Op::function) {
        auto f = *elementary::find(e->name);
        return elementary::call(f, a, b, e->args[2] ? value(e->args[2]).as<T>() : T());
      }
    return arithmetic(e->op, a, b);
  }
  template <class T>
  static Scalar arithmetic(Op op, T a, T b) {
    switch (op) {
      case Op::eq: return scalar::eq(a, b);
      case Op::ne: return scalar::ne(a, b);
      case Op::lt: return scalar::lt(a, b);
      case Op::le: return scalar::le(a, b);
      case Op::gt: return scalar::gt(a, b);
      case Op::ge: return scalar::ge(a, b);
      default: break;
    }
    if constexpr (!scalar::is_bool<T>) switch (op) {
        case Op::add: return scalar::add(a, b);
        case Op::sub: return scalar::sub(a, b);
        case Op::mul: return scalar::mul(a, b);
        case Op::divide: return scalar::divide(a, b);
        case Op::minimum: return scalar::minimum(a, b);
        case Op::maximum: return scalar::maximum(a, b);
        case Op::negate: return scalar::negate(a);
        case Op::abs: return scalar::abs(a);
        case Op::sign: return scalar::sign(a);
        default: break;
      }
    if constexpr (scalar::Float<T>) switch (op) {
        case Op::sqrt: return scalar::sqrt(a);
        case Op::floor: return scalar::floor(a);
        case Op::ceil: return scalar::ceil(a);
        case Op::round_even: return scalar::round_even(a);
        case Op::round_away: return scalar::round_away(a);
        case Op::is_finite: return scalar::is_finite(a);
        default: break;
      }
    else
      switch (op) {
        case Op::bit_and: return scalar::bit_and(a, b);
        case Op::bit_or: return scalar::bit_or(a, b);
        case Op::bit_xor: return scalar::bit_xor(a, b);
        case Op::bit_not: return scalar::bit_not(a);
        case Op::shift_left: return scalar::shift_left(a, b);
        case Op::shift_right_logical: return scalar::shift_right_logical(a, b);
        case Op::shift_right_arithmetic: return scalar::shift_right_arithmetic(a, b);
        default: break;
      }
    if constexpr (scalar::Integer<T>) switch (op) {
        case Op::popcnt: return scalar::popcnt(a);
        case Op::remainder: return scalar::remainder(a, b);
        case Op::power: return scalar::power(a, b);
        default: break;
      }
    throw InternalError(std::string("unexpected operation ") + loops::name(op) + " on " +
                        std::string(name(dtype_of<T>())));
  }

  const Primitive& rule_;
  loops::ExprPool pool_;
  std::vector<const graph::Value*> loaded_;
  std::vector<int64_t> place_;
};

struct Recorded {
  graph::Graph graph;
  Recorded(const Primitive& p, const std::vector<graph::Tensor>& operands, const Params& params) {
    std::vector<ValuePtr> values;
    for (const auto& t : operands) values.push_back(graph::make_constant(t));
    record(graph, p, values, params);
  }
  const graph::Call& call() const { return graph.calls[0]; }
};

}  // namespace

graph::Tensor by_loop_rule(const Primitive& p, const std::vector<graph::Tensor>& operands, const Params& params) {
  Recorded r(p, operands, params);
  Interpreter interpreter(p);
  for (const auto& v : r.call().inputs) interpreter.operands[v.get()] = v->constant;
  interpreter.out = graph::allocate(r.call().outputs[0]->type);
  p.lower(interpreter, r.call());
  return interpreter.out;
}

graph::Tensor by_elements(const Primitive& p, const std::vector<graph::Tensor>& operands, const Params& params) {
  Recorded r(p, operands, params);
  r.graph.outputs = r.call().outputs;
  return eigen::evaluate(r.graph, {})[0];
}

}  // namespace anvil::primitives::testing
