// Runs a loop program one scalar at a time and checks every access: the meaning of loop
// programs that the passes of the compiler are tested against. Vector and unrolled loops run
// backwards.
#pragma once
#include <cstring>
#include <stdexcept>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "graph/tensor.h"
#include "loops/program.h"
#include "runtime/functions.h"
#include "runtime/scalar.h"

namespace anvil::test {

class LoopInterpreter {
 public:
  // With `arena`, temporaries lie where the program says, so that overlaps show.
  LoopInterpreter(const loops::Program& p, std::vector<graph::Tensor> inputs, std::vector<graph::Tensor> constants = {},
                  runtime::Run* run = nullptr, bool arena = false)
      : program_(p), run_(run), memory_(p.buffers.size()), variables_(p.variables.size()), locals_(p.locals.size()) {
    if (arena) arena_ = graph::full({DType::ui8, {p.arena_bytes + 64}}, 255);
    for (size_t b = 0; b < p.buffers.size(); ++b) {
      const loops::Buffer& buffer = p.buffers[b];
      auto position = static_cast<size_t>(buffer.position);
      graph::TensorType type{buffer.dtype, buffer.shape};
      if (buffer.alias >= 0) continue;
      if (buffer.kind == loops::Buffer::Kind::input)
        memory_[b] = inputs.at(position);
      else if (buffer.kind == loops::Buffer::Kind::constant)
        memory_[b] = constants.at(position);
      else if (buffer.kind == loops::Buffer::Kind::temporary && arena) {
        if (buffer.offset < 0) continue;
        memory_[b] = {type, {arena_.data, static_cast<char*>(arena_.data.get()) + buffer.offset}};
      } else {
        memory_[b] = graph::allocate(type);
        std::memset(memory_[b].data.get(), 255,
                    static_cast<size_t>(elements(type.shape)) * size_of(type.dtype));  // NaN
        if (buffer.kind == loops::Buffer::Kind::output) {
          outputs_.resize(std::max(outputs_.size(), position + 1));
          outputs_[position] = memory_[b];
        }
      }
    }
  }
  std::vector<graph::Tensor> run() {
    block(program_.body);
    outputs_.resize(static_cast<size_t>(program_.outputs));
    return outputs_;
  }
  int64_t steps = 0;  // stores and updates done
  int64_t loads = 0;

 private:
  using Expr = loops::Expr;
  using Op = loops::Op;

  static void fail(const std::string& what) { throw std::logic_error("interpreter: " + what); }
  const graph::Tensor& memory(loops::BufferId b) const {
    loops::BufferId root = program_.buffers[static_cast<size_t>(b)].alias;
    const graph::Tensor& t = memory_[static_cast<size_t>(root < 0 ? b : root)];
    if (!t) fail("buffer " + program_.buffers[static_cast<size_t>(b)].name + " has no memory");
    return t;
  }
  int64_t value(const loops::Affine& a) const {
    int64_t x = a.constant;
    for (const loops::Term& t : a.terms) x += t.factor * variables_[static_cast<size_t>(t.variable)];
    return x;
  }
  int64_t position(loops::BufferId b, const loops::Index& place) const {
    const Shape& shape = program_.buffers[static_cast<size_t>(b)].shape;
    if (shape.size() != place.size()) fail("wrong rank");
    int64_t at = 0, stride = 1;
    for (size_t d = 0; d < shape.size(); ++d) {
      int64_t i = value(place[d]);
      if (i < 0 || i >= shape[d]) fail("access outside " + program_.buffers[static_cast<size_t>(b)].name);
      at += i * stride;
      stride *= shape[d];
    }
    return at;
  }

  Scalar evaluate(Expr e) {
    cache_.clear();
    return at(e);
  }
  Scalar at(Expr e) {
    auto known = cache_.find(e);
    if (known != cache_.end()) return known->second;
    Scalar x = node(e);
    cache_[e] = x;
    return x;
  }
  template <class T>
  T argument(Expr e, size_t i) {
    return at(e->args[i]).as<T>();
  }

  Scalar node(Expr e) {
    switch (e->op) {
      case Op::constant: return e->constant;
      case Op::index: return value(e->place[0]);
      case Op::local: return locals_[static_cast<size_t>(e->local)];
      case Op::load: ++loads; return graph::element(memory(e->buffer), position(e->buffer, e->place));
      case Op::convert:
        return visit(e->args[0]->dtype, [&]<class From>() {
          return visit(e->dtype, [&]<class To>() { return Scalar(scalar::convert<To>(argument<From>(e, 0))); });
        });
      case Op::bitcast:
        return visit(e->args[0]->dtype, [&]<class From>() {
          return visit(e->dtype, [&]<class To>() {
            if constexpr (sizeof(From) == sizeof(To))
              return Scalar(scalar::bitcast<To>(argument<From>(e, 0)));
            else
              return Scalar();
          });
        });
      case Op::select: return at(e->args[0]).as<bool>() ? at(e->args[1]) : at(e->args[2]);
      case Op::function:
        return visit_float(e->dtype, [&]<class T>() {
          auto f = elementary::find(e->name);
          if (!f) fail(std::string("unknown function ") + e->name);
          return Scalar(e->argument_count() == 1 ? elementary::call(*f, argument<T>(e, 0))
                                                 : elementary::call(*f, argument<T>(e, 0), argument<T>(e, 1)));
        });
      case Op::fma:
        return visit_float(e->dtype, [&]<class T>() {
          return Scalar(scalar::fma(argument<T>(e, 0), argument<T>(e, 1), argument<T>(e, 2)));
        });
      default:
        return visit(e->args[0]->dtype, [&]<class T>() {
          return e->argument_count() == 1 ? unary<T>(e->op, argument<T>(e, 0))
                                          : binary<T>(e->op, argument<T>(e, 0), argument<T>(e, 1));
        });
    }
  }
#define ANVIL_CASE(op, ...)                                                              \
  case Op::op:                                                                           \
    if constexpr (requires { scalar::op(__VA_ARGS__); }) return scalar::op(__VA_ARGS__); \
    break;
  template <class T>
  Scalar unary(Op op, T a) {
    if constexpr (!std::is_same_v<T, bool>)
      if (op == Op::negate) return scalar::negate(a);
    switch (op) {
      ANVIL_CASE(bit_not, a)
      ANVIL_CASE(abs, a)
      ANVIL_CASE(sign, a) ANVIL_CASE(popcnt, a) ANVIL_CASE(sqrt, a) ANVIL_CASE(floor, a) ANVIL_CASE(ceil, a)
          ANVIL_CASE(trunc, a) ANVIL_CASE(round_even, a) ANVIL_CASE(round_away, a) ANVIL_CASE(is_finite, a) default
          : break;
    }
    throw std::logic_error(std::string("interpreter: no unary ") + loops::name(op));
  }
  template <class T>
  Scalar binary(Op op, T a, T b) {
    switch (op) {
      ANVIL_CASE(add, a, b)
      ANVIL_CASE(mul, a, b)
      ANVIL_CASE(minimum, a, b) ANVIL_CASE(maximum, a, b) ANVIL_CASE(bit_and, a, b) ANVIL_CASE(bit_or, a, b)
          ANVIL_CASE(bit_xor, a, b) ANVIL_CASE(shift_left, a, b) ANVIL_CASE(shift_right_logical, a, b)
              ANVIL_CASE(shift_right_arithmetic, a, b) ANVIL_CASE(eq, a, b) ANVIL_CASE(ne, a, b) ANVIL_CASE(lt, a, b)
                  ANVIL_CASE(le, a, b) ANVIL_CASE(gt, a, b) ANVIL_CASE(ge, a, b) default : break;
    }
    if constexpr (!std::is_same_v<T, bool>) switch (op) {
        ANVIL_CASE(sub, a, b)
        ANVIL_CASE(divide, a, b) ANVIL_CASE(remainder, a, b) ANVIL_CASE(power, a, b) default : break;
      }
    throw std::logic_error(std::string("interpreter: no binary ") + loops::name(op));
  }
#undef ANVIL_CASE

  void block(const loops::Block& b) {
    for (const loops::Stmt& s : b) std::visit([this](const auto& x) { statement(x); }, s.is);
  }
  void set(loops::LocalId local, Scalar x) {
    locals_[static_cast<size_t>(local)] = x.rounded_to(program_.locals[static_cast<size_t>(local)].dtype);
  }
  void statement(const loops::For& f) {
    // steps that may run side by side must not care about their order
    bool backwards = f.kind != loops::For::Kind::serial;
    for (int64_t k = f.begin; k < f.end; ++k) {
      variables_[static_cast<size_t>(f.variable)] = backwards ? f.end - 1 - (k - f.begin) : k;
      block(f.body);
    }
  }
  void statement(const loops::Store& s) {
    Scalar x = evaluate(s.value);
    ++steps;
    graph::set_element(memory(s.buffer), position(s.buffer, s.place), x);
  }
  void statement(const loops::Let& s) { set(s.local, evaluate(s.value)); }
  void statement(const loops::Declare& s) { set(s.local, evaluate(s.value)); }
  void statement(const loops::Update& s) {
    Scalar x = evaluate(s.value), old = locals_[static_cast<size_t>(s.local)];
    ++steps;
    if (s.op == Op::local) return set(s.local, x);
    visit(program_.locals[static_cast<size_t>(s.local)].dtype,
          [&]<class T>() { set(s.local, binary<T>(s.op, old.as<T>(), x.as<T>())); });
  }
  void statement(const loops::Bind& s) {
    variables_[static_cast<size_t>(s.parameter)] = evaluate(s.value).as<int64_t>();
    const loops::VariableInfo& v = program_.variables[static_cast<size_t>(s.parameter)];
    if (variables_[static_cast<size_t>(s.parameter)] < v.low || variables_[static_cast<size_t>(s.parameter)] > v.high)
      fail("parameter out of range");
  }
  void statement(const loops::If& s) { block(evaluate(s.condition).as<bool>() ? s.yes : s.no); }
  void statement(const loops::While& s) {
    for (;;) {
      block(s.before);
      if (!evaluate(s.condition).as<bool>()) return;
      block(s.body);
    }
  }
  void statement(const loops::Call& s) {
    std::vector<void*> buffers;
    std::vector<int64_t> numbers;
    for (loops::BufferId b : s.buffers) buffers.push_back(memory(b).data.get());
    for (Expr e : s.numbers) numbers.push_back(evaluate(e).as<int64_t>());
    for (const runtime::NamedFunction& f : runtime::functions())
      if (std::string_view(f.name) == s.function) {
        if (f.function(run_, buffers.data(), numbers.data()) != 0) fail(s.function + " failed");
        return;
      }
    fail("the runtime has no " + s.function);
  }
  void statement(const loops::Swap& s) {
    std::swap(memory_[static_cast<size_t>(s.first)], memory_[static_cast<size_t>(s.second)]);
  }

  const loops::Program& program_;
  runtime::Run* run_;
  graph::Tensor arena_;
  std::vector<graph::Tensor> memory_, outputs_;
  std::vector<int64_t> variables_;
  std::vector<Scalar> locals_;
  std::unordered_map<Expr, Scalar> cache_;
};

inline std::vector<graph::Tensor> interpret(const loops::Program& p, const std::vector<graph::Tensor>& inputs,
                                            const std::vector<graph::Tensor>& constants = {},
                                            runtime::Run* run = nullptr, bool arena = false) {
  return LoopInterpreter(p, inputs, constants, run, arena).run();
}

}  // namespace anvil::test
