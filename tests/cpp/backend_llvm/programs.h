// Loop programs written by hand, compiled and compared with the interpreter of loop programs.
#pragma once
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>

#include "backend/llvm/compile.h"
#include "support/interpret_loops.h"
#include "support/load_llvm.h"

namespace anvil::test {

using namespace loops;  // NOLINT
using graph::Tensor;

inline void load_library() {
  setenv("ANVIL_VERIFY", "1", 0);
  load_llvm();
}

// A program and short ways to add to it.
struct ProgramBuilder {
  Program p;

  BufferId buffer(Buffer::Kind kind, DType t, Shape shape, std::string name) {
    Buffer b;
    b.kind = kind;
    b.dtype = t;
    b.name = name + std::to_string(p.buffers.size());
    if (kind == Buffer::Kind::temporary) {
      b.offset = p.arena_bytes;
      p.arena_bytes += (elements(shape) * int64_t(size_of(t)) + 63) / 64 * 64;
    } else {
      b.position = (kind == Buffer::Kind::input ? p.inputs : p.outputs)++;
    }
    b.shape = std::move(shape);
    p.buffers.push_back(std::move(b));
    return BufferId(p.buffers.size()) - 1;
  }
  BufferId input(DType t, Shape shape) { return buffer(Buffer::Kind::input, t, std::move(shape), "x"); }
  BufferId output(DType t, Shape shape) { return buffer(Buffer::Kind::output, t, std::move(shape), "y"); }
  BufferId temporary(DType t, Shape shape) { return buffer(Buffer::Kind::temporary, t, std::move(shape), "t"); }
  Variable index(std::string name = "i") {
    p.variables.push_back({name + std::to_string(p.variables.size()), false});
    return Variable(p.variables.size()) - 1;
  }
  Variable parameter(int64_t low, int64_t high) {
    p.variables.push_back({"$" + std::to_string(p.variables.size()), true, low, high});
    return Variable(p.variables.size()) - 1;
  }
  LocalId local(DType t, std::string name = "a") {
    p.locals.push_back({name + std::to_string(p.locals.size()), t});
    return LocalId(p.locals.size()) - 1;
  }
  Expr load(BufferId b, Index place) { return p.exprs.load(b, p.buffers[size_t(b)].dtype, std::move(place)); }
  Expr get(LocalId l) { return p.exprs.local(l, p.locals[size_t(l)].dtype); }
  Expr number(Scalar x, DType t) { return p.exprs.constant(x, t); }
  ExprPool& e() { return p.exprs; }
};

inline Affine at(Variable v) { return variable(v); }

inline Stmt serial(Variable v, int64_t begin, int64_t end, Block body) {
  For f;
  f.variable = v, f.begin = begin, f.end = end, f.body = std::move(body);
  return {f};
}
inline Stmt vector(Variable v, int64_t begin, int64_t end, int width, int copies, Block body) {
  Stmt s = serial(v, begin, end, std::move(body));
  auto& f = std::get<For>(s.is);
  f.kind = For::Kind::vector, f.width = width, f.copies = copies;
  return s;
}
inline Stmt unroll(Variable v, int64_t begin, int64_t end, int copies, Block body) {
  Stmt s = serial(v, begin, end, std::move(body));
  auto& f = std::get<For>(s.is);
  f.kind = For::Kind::unroll, f.copies = copies;
  return s;
}

inline std::vector<Tensor> outputs_of(const Program& p) {
  std::vector<Tensor> outputs(size_t(p.outputs));
  for (const Buffer& b : p.buffers)
    if (b.kind == Buffer::Kind::output && b.alias < 0) {
      outputs[size_t(b.position)] = graph::allocate({b.dtype, b.shape});
      std::memset(outputs[size_t(b.position)].data.get(), 255, size_t(elements(b.shape)) * size_of(b.dtype));
    }
  return outputs;
}
inline void run_into(const runtime::Executable& executable, const std::vector<Tensor>& inputs,
                     const std::vector<Tensor>& outputs) {
  std::vector<void*> buffers;
  for (const Tensor& t : inputs) buffers.push_back(t.data.get());
  for (const Tensor& t : outputs) buffers.push_back(t.data.get());
  runtime::run(executable, buffers.data());
}
inline std::vector<Tensor> run_native(const Program& p, const std::vector<Tensor>& inputs) {
  load_library();
  std::vector<Tensor> outputs = outputs_of(p);
  run_into(llvm_backend::compile(p), inputs, outputs);
  return outputs;
}

// Random numbers of any dtype; with `special`, also infinities, NaN, zeros and limits.
inline Tensor random_tensor(DType t, const Shape& shape, uint64_t seed, bool special = false) {
  Tensor x = graph::allocate({t, shape});
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  for (int64_t i = 0; i < elements(shape); ++i) {
    Scalar s = is_float(t)  ? Scalar(normal(random))
               : is_bool(t) ? Scalar(random() % 2 == 0)
                            : Scalar(int64_t(random() % 201) - 100);
    if (special) {
      const uint64_t pick = random() % 12;
      if (is_float(t)) {
        const double inf = std::numeric_limits<double>::infinity();
        const double list[] = {0.0, -0.0, inf, -inf, std::nan(""), 0.5, -1.5, 2.5, 3e9, -1e300, 1e-310};
        if (pick < std::size(list)) s = list[pick];
      } else if (!is_bool(t)) {
        const Scalar list[] = {
            Scalar(0), Scalar(-1), lowest(t), highest(t), Scalar(1), Scalar(7), Scalar(size_of(t) * 8)};
        if (pick < std::size(list))
          s = list[pick];
        else
          s = Scalar(random());
      }
    }
    set_element(x, i, s.rounded_to(t));
  }
  return x;
}

// The same bits, NaN equal to NaN; or, with a tolerance, close.
inline void expect_equal(const Tensor& a, const Tensor& b, double tolerance, const std::string& what) {
  const int64_t n = elements(a.type.shape);
  for (int64_t i = 0; i < n; ++i) {
    const Scalar x = element(a, i), y = element(b, i);
    if (x == y) continue;
    if (is_float(a.type.dtype)) {
      const double u = x.as<double>(), v = y.as<double>();
      if (std::isnan(u) && std::isnan(v)) continue;
      if (tolerance > 0 && std::abs(u - v) <= tolerance * (1 + std::abs(v))) continue;
    }
    FAIL() << what << ": element " << i << " is " << x.text(a.type.dtype) << ", expected " << y.text(a.type.dtype);
  }
}
inline void make_serial(Block& block) {
  for (Stmt& s : block) {
    if (auto* f = std::get_if<For>(&s.is)) f->kind = For::Kind::serial, make_serial(f->body);
    if (auto* w = std::get_if<While>(&s.is)) make_serial(w->before), make_serial(w->body);
    if (auto* i = std::get_if<If>(&s.is)) make_serial(i->yes), make_serial(i->no);
  }
}
// As interpreted one step after the other, even where the schedule says otherwise.
inline void expect_as_interpreted(Program& p, const std::vector<Tensor>& inputs, double tolerance = 0) {
  ASSERT_NO_THROW(verify(p)) << print(p);
  const Block scheduled = p.body;
  make_serial(p.body);
  LoopInterpreter serial(p, inputs);
  const std::vector<Tensor> expected = serial.run();
  p.body = scheduled;
  LoopInterpreter side_by_side(p, inputs, {}, nullptr, true);
  side_by_side.run();
  EXPECT_TRUE(side_by_side.terms() == serial.terms()) << "the schedule changes what a result is made of\n" << print(p);
  const std::vector<Tensor> got = run_native(p, inputs);
  for (size_t i = 0; i < got.size(); ++i)
    expect_equal(got[i], expected[i], tolerance, "output " + std::to_string(i) + " of\n" + print(p));
}

}  // namespace anvil::test
