#include "support/loop_rule.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <unordered_map>

#include "backend/eigen/evaluate.h"
#include "primitives/vocabulary/composite.h"
#include "primitives/vocabulary/infer.h"
#include "primitives/vocabulary/lowering.h"
#include "primitives/vocabulary/primitive.h"
#include "runtime/functions.h"
#include "runtime/run.h"
#include "runtime/scalar.h"

namespace anvil::test {
namespace {

using graph::Tensor;
using graph::ValuePtr;
using loops::Affine;
using loops::Expr;
using loops::Index;
using loops::Op;
using primitives::Ints;

// clang-format off
template <class T> Scalar binary(Op op, T a, T b) {
#define ANVIL_CASE(name) \
  case Op::name:         \
    if constexpr (requires { scalar::name(a, b); }) return scalar::name(a, b); else break;
  switch (op) {
    case Op::sub:
      if constexpr (!std::is_same_v<T, bool>) return scalar::sub(a, b); else break;
    ANVIL_CASE(add) ANVIL_CASE(mul) ANVIL_CASE(minimum) ANVIL_CASE(maximum)
    ANVIL_CASE(bit_and) ANVIL_CASE(bit_or) ANVIL_CASE(bit_xor) ANVIL_CASE(shift_left)
    ANVIL_CASE(shift_right_logical) ANVIL_CASE(shift_right_arithmetic)
    ANVIL_CASE(eq) ANVIL_CASE(ne) ANVIL_CASE(lt) ANVIL_CASE(le) ANVIL_CASE(gt) ANVIL_CASE(ge)
    default: break;
  }
#undef ANVIL_CASE
  throw InternalError(std::string("loop rule: unexpected operation ") + name(op));
}
// clang-format on

// Indices are constants here, so a node has one value for ever.
class Interpreter : public primitives::Lowering {
 public:
  Interpreter(const graph::Call& call, const std::vector<Tensor>& inputs) : call_(call) {
    for (size_t k = 0; k < inputs.size(); ++k) bind(call.inputs[k], inputs[k]);
    for (const ValuePtr& v : call.outputs) results_[v.get()] = graph::allocate(v->type);
  }
  std::vector<Tensor> results() {
    std::vector<Tensor> list;
    for (const ValuePtr& v : call_.outputs) {
      auto& count = writes_[v.get()];
      if (elements(v->type.shape) > 0 && std::count(count.begin(), count.end(), true) != elements(v->type.shape))
        throw InternalError("loop rule: an element is not written");
      list.push_back(results_.at(v.get()));
    }
    return list;
  }

  loops::ExprPool& exprs() override { return pool_; }
  Expr load(const ValuePtr& v, const Index& i) override {
    if (v->kind == graph::Value::Kind::literal) return pool_.constant(v->literal, v->type.dtype);
    return pool_.load(buffers_.at(v.get()), v->type.dtype, i);
  }
  void map(const ValuePtr& result, std::function<Expr(const Index&)> element) override {
    each(result->type.shape, [&](const Index& i) { store(result, i, value(element(i))); });
  }
  void reduce(const ValuePtr& result, const Shape& extents, Op op, Scalar initial,
              std::function<Expr(const Index&, const Index&)> element) override {
    each(result->type.shape, [&](const Index& o) {
      Scalar sum = initial.rounded_to(result->type.dtype);
      each(extents, [&](const Index& r) { sum = apply(op, result->type.dtype, sum, value(element(o, r))); });
      store(result, o, sum);
    });
  }
  void scan(const ValuePtr& result, int64_t axis, Op op, Scalar initial,
            std::function<Expr(const Index&)> element) override {
    auto d = static_cast<size_t>(axis);
    Shape outer = result->type.shape;
    outer[d] = std::min<int64_t>(outer[d], 1);
    each(outer, [&](Index i) {
      Scalar sum = initial.rounded_to(result->type.dtype);
      for (i[d].constant = 0; i[d].constant < result->type.shape[d]; ++i[d].constant)
        store(result, i, sum = apply(op, result->type.dtype, sum, value(element(i))));
    });
  }
  void fold(const std::vector<ValuePtr>& results, const Shape& extents, std::function<Exprs(const Index&)> initial,
            std::function<Exprs(const Index&, const Index&, const Exprs&)> next) override {
    Shape slowest_first(extents.rbegin(), extents.rend());
    each(results[0]->type.shape, [&](const Index& o) {
      Exprs accumulators = constants(initial(o));
      each(slowest_first, [&](Index r) {
        std::reverse(r.begin(), r.end());
        accumulators = constants(next(o, r, accumulators));
      });
      for (size_t k = 0; k < results.size(); ++k) store(results[k], o, value(accumulators[k]));
    });
  }
  void running(const std::vector<ValuePtr>& results, int64_t axis, std::function<Exprs(const Index&)> initial,
               std::function<Exprs(const Index&, const Exprs&)> next) override {
    auto d = static_cast<size_t>(axis);
    const Shape& shape = results[0]->type.shape;
    Shape outer = shape;
    outer[d] = std::min<int64_t>(outer[d], 1);
    each(outer, [&](Index i) {
      Exprs accumulators = constants(initial(i));
      for (i[d].constant = 0; i[d].constant < shape[d]; ++i[d].constant) {
        accumulators = constants(next(i, accumulators));
        for (size_t k = 0; k < results.size(); ++k) store(results[k], i, value(accumulators[k]));
      }
    });
  }
  Expr let(Expr value) override { return value; }
  void parts(const ValuePtr& result, std::vector<Part> list, const ValuePtr& base) override {
    if (base && base->kind == graph::Value::Kind::literal) throw InternalError("loop rule: the base is a literal");
    if (base) map(result, [&](const Index& i) { return load(base, i); });
    for (const Part& part : list)
      each(part.extents, [&](const Index& i) { store(result, part.place(i), value(part.element(i))); });
  }
  void update(const std::vector<ValuePtr>& results, const std::vector<ValuePtr>& bases, const Updates& u) override {
    const Shape& shape = results[0]->type.shape;
    for (size_t k = 0; k < results.size(); ++k) map(results[k], [&](const Index& i) { return load(bases[k], i); });
    Ints order;  // of the dimensions of an update, the fastest first
    for (size_t d = u.extents.size(); d-- > 0;)
      order.insert(primitives::contains(u.window, static_cast<int64_t>(d)) ? order.begin() : order.end(),
                   static_cast<int64_t>(d));
    each(primitives::take(u.extents, order), [&](const Index& turned) {
      Index i = primitives::take(turned, primitives::inverse(order)), place = u.offset(i);
      Exprs start = u.start(i), old;
      for (size_t d = 0; d < shape.size(); ++d) {
        if (place[d].constant < 0 || place[d].constant >= u.sizes[d])
          throw InternalError("loop rule: an offset outside the window");
        if (start[d]) place[d].constant += value(start[d]).as<int64_t>();
        if (start[d] && (place[d].constant < 0 || place[d].constant >= shape[d])) return;
      }
      for (const ValuePtr& v : results)
        old.push_back(pool_.constant(element(results_.at(v.get()), position(shape, place)), v->type.dtype));
      Exprs fresh = u.element(i, old);
      for (size_t k = 0; k < results.size(); ++k) store(results[k], place, value(fresh[k]));
    });
  }
  void alias(const ValuePtr& result, const ValuePtr& operand) override {
    if (operand->kind == graph::Value::Kind::literal) throw InternalError("loop rule: alias of a literal");
    if (elements(result->type.shape) != elements(operand->type.shape))
      throw InternalError("loop rule: alias of another size");
    for (int64_t k = 0; k < elements(result->type.shape); ++k)
      set_element(results_.at(result.get()), k, element(tensor(operand), k));
    writes_[result.get()].assign(static_cast<size_t>(elements(result->type.shape)), true);
  }
  Affine parameter(Expr x, int64_t low, int64_t high) override {
    if (x->dtype != DType::i64) throw InternalError("loop rule: a parameter that is no i64");
    return {std::clamp(value(x).as<int64_t>(), low, high), {}};
  }
  void call(const char* function, const std::vector<ValuePtr>& outputs, const std::vector<ValuePtr>& operands,
            const std::vector<int64_t>& numbers) override {
    std::vector<void*> buffers;
    for (const ValuePtr& v : outputs) {
      buffers.push_back(results_.at(v.get()).data.get());
      writes_[v.get()].assign(static_cast<size_t>(elements(v->type.shape)), true);
    }
    for (const ValuePtr& v : operands) buffers.push_back(tensor(v).data.get());
    for (const runtime::NamedFunction& f : runtime::functions())
      if (std::string_view(f.name) == function) {
        runtime::Run run;
        if (f.function(&run, buffers.data(), numbers.data()) != 0)
          throw InternalError("loop rule: a function of the runtime failed");
        return;
      }
    throw InternalError(std::string("loop rule: the runtime has no ") + function);
  }

 private:
  void bind(const ValuePtr& v, const Tensor& t) {
    if (!buffers_.emplace(v.get(), static_cast<int>(tensors_.size())).second) return;
    tensors_.push_back(t);
  }
  Exprs constants(const Exprs& list) {
    Exprs known;
    for (Expr e : list) known.push_back(pool_.constant(value(e), e->dtype));
    return known;
  }
  const Tensor& tensor(const ValuePtr& v) const { return tensors_[static_cast<size_t>(buffers_.at(v.get()))]; }

  template <class F>
  static void each(const Shape& shape, F f) {
    if (elements(shape) == 0) return;
    std::vector<int64_t> at(shape.size(), 0);
    do {
      Index i(shape.size());
      for (size_t d = 0; d < shape.size(); ++d) i[d].constant = at[d];
      f(i);
    } while (next_index(at, shape));
  }
  static int64_t position(const Shape& shape, const Index& i) {
    if (i.size() != shape.size()) throw InternalError("loop rule: an index of the wrong rank");
    auto steps = strides(shape);
    int64_t at = 0;
    for (size_t d = 0; d < shape.size(); ++d) {
      if (!i[d].terms.empty() || i[d].constant < 0 || i[d].constant >= shape[d])
        throw InternalError("loop rule: an index out of range");
      at += steps[d] * i[d].constant;
    }
    return at;
  }
  void store(const ValuePtr& result, const Index& i, Scalar x) {
    const Shape& shape = result->type.shape;
    auto& written = writes_[result.get()];
    written.resize(static_cast<size_t>(elements(shape)), false);
    written[static_cast<size_t>(position(shape, i))] = true;
    set_element(results_.at(result.get()), position(shape, i), x);
  }
  static Scalar apply(Op op, DType t, const Scalar& a, const Scalar& b) {
    return visit_computed(t, [&]<class T>() { return binary(op, a.as<T>(), b.as<T>()); });
  }
  Scalar value(Expr e) {
    if (auto known = values_.find(e); known != values_.end()) return known->second;
    return values_[e] = compute(e);
  }
  Scalar compute(Expr e) {
    switch (e->op) {
      case Op::constant: return e->constant.rounded_to(e->dtype);
      case Op::load: {
        const Tensor& t = tensors_.at(static_cast<size_t>(e->buffer));
        return element(t, position(t.type.shape, e->place));
      }
      case Op::index: return e->place.at(0).constant;
      case Op::convert: return value(e->args[0]).rounded_to(e->dtype);
      case Op::select: return value(e->args[0]).as<bool>() ? value(e->args[1]) : value(e->args[2]);
      case Op::bitcast: {
        Tensor bits = graph::full({e->args[0]->dtype, {}}, value(e->args[0]));
        if (size_of(e->dtype) != size_of(e->args[0]->dtype))
          throw InternalError("loop rule: a bitcast to another width");
        bits.type.dtype = e->dtype;
        return element(bits, 0);
      }
      default: break;
    }
    if (e->argument_count() != 2) throw InternalError(std::string("loop rule: unexpected operation ") + name(e->op));
    if (e->args[0]->dtype != e->args[1]->dtype)
      throw InternalError(std::string("loop rule: two dtypes in ") + name(e->op));
    return apply(e->op, e->args[0]->dtype, value(e->args[0]), value(e->args[1]));
  }

  const graph::Call& call_;
  loops::ExprPool pool_;
  std::vector<Tensor> tensors_;
  std::unordered_map<const graph::Value*, int> buffers_;
  std::unordered_map<const graph::Value*, Tensor> results_;
  std::unordered_map<const graph::Value*, std::vector<bool>> writes_;
  std::unordered_map<Expr, Scalar> values_;
};

}  // namespace

std::vector<Tensor> run_loop_rule(const graph::Call& call, const std::vector<Tensor>& inputs) {
  Interpreter run(call, inputs);
  primitives::primitive_of(call).lower(run, call);
  return run.results();
}

// Regions may read values around the call; the interpreter knows the call's own operands only.
static bool reads_outside(const graph::Call& call) {
  for (const graph::GraphPtr& g : subgraphs(call))
    if (!graph::captures(*g).empty()) return true;
  return false;
}

void expect_loop_rules_agree(const graph::Graph& given, const std::vector<Tensor>& inputs, double tolerance) {
  graph::GraphPtr expanded = primitives::expand(given, primitives::Reader::backend);
  const graph::Graph& g = *expanded;
  std::unordered_map<const graph::Value*, Tensor> known;
  for (size_t k = 0; k < inputs.size(); ++k) known[g.inputs[k].get()] = inputs[k];
  eigen::Options options;
  const graph::Call* last = nullptr;
  size_t next = 0;
  options.observe = [&](const graph::Call& call, const Tensor& t) {
    if (&call != last) next = 0;
    last = &call;
    known[call.outputs[next++ % call.outputs.size()].get()] = t;
  };
  eigen::evaluate(g, inputs, options);

  auto value = [&](const ValuePtr& v) {
    if (v->kind == graph::Value::Kind::literal) return graph::full(v->type, v->literal);
    return v->kind == graph::Value::Kind::constant ? v->constant : known.at(v.get());
  };
  for (const graph::Call& call : g.calls) {
    const primitives::Primitive& p = primitives::primitive_of(call);
    if (p.elementwise || !p.lower || reads_outside(call)) continue;
    std::vector<Tensor> in;
    for (const ValuePtr& v : call.inputs) in.push_back(value(v));
    std::vector<Tensor> results = run_loop_rule(call, in);
    for (size_t r = 0; r < results.size(); ++r)
      for (int64_t k = 0; k < elements(results[r].type.shape); ++k) {
        Scalar got = element(results[r], k), expected = element(known.at(call.outputs[r].get()), k);
        if (got == expected) continue;
        double x = got.as<double>(), y = expected.as<double>();
        if (is_float(results[r].type.dtype) &&
            (x == y || (x != x && y != y) || std::fabs(x - y) <= tolerance * std::max(1.0, std::fabs(y))))
          continue;
        ADD_FAILURE() << p.name << ", result " << r + 1 << ", element " << k + 1 << ": the loop rule gives "
                      << got.text(results[r].type.dtype) << ", Eigen " << expected.text(results[r].type.dtype);
      }
  }
}

}  // namespace anvil::test
