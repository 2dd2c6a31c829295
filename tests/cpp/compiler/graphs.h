// Graphs for the tests of the compiler.
#pragma once
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <iostream>

#include "backend/eigen/evaluate.h"
#include "compiler/passes.h"
#include "compiler/validate_passes.h"
#include "primitives/vocabulary/var.h"
#include "runtime/run.h"
#include "support/interpret_loops.h"

namespace anvil::test {

using graph::Tensor;
using primitives::Var;

struct Builder {
  graph::GraphPtr g = std::make_shared<graph::Graph>();
  Var input(DType t, Shape shape) {
    g->inputs.push_back(graph::make_value(graph::Value::Kind::input, {t, std::move(shape), false}));
    return {g.get(), g->inputs.back()};
  }
  Var scalar(double x, DType t) { return primitives::literal(*g, x, {t, {}, false}); }
  void output(Var v) { g->outputs.push_back(v.value); }
};

// while (cond(state)) state = body(state)
template <class Cond, class Body>
std::vector<Var> while_loop(graph::Graph& g, const std::vector<Var>& init, Cond cond, Body body) {
  Builder c, b;
  std::vector<Var> c_state, b_state;
  std::vector<graph::ValuePtr> initial;
  for (const Var& v : init) {
    initial.push_back(v.value);
    c_state.push_back(c.input(v.dtype(), v.shape()));
    b_state.push_back(b.input(v.dtype(), v.shape()));
  }
  c.output(cond(c_state));
  for (Var v : body(b_state)) b.output(v);
  primitives::Params params{{"cond_graph", c.g, false}, {"body_graph", b.g, false}};
  std::vector<Var> results;
  for (auto& v : primitives::record(g, primitives::registry().at("while"), initial, params)) results.push_back({&g, v});
  return results;
}
template <class Yes, class No>
std::vector<Var> if_else(graph::Graph& g, Var condition, Yes yes, No no) {
  Builder t, f;
  for (Var v : yes(*t.g)) t.output(v);
  for (Var v : no(*f.g)) f.output(v);
  std::vector<Var> results;
  primitives::Params params{{"true_graph", t.g, false}, {"false_graph", f.g, false}};
  for (auto& v : primitives::record(g, primitives::registry().at("if"), {condition.value}, params))
    results.push_back({&g, v});
  return results;
}
// A value of another graph, used in this one.
inline Var in(graph::Graph& g, Var outer) { return {&g, outer.value}; }

inline Tensor numbers(DType t, const Shape& shape, double low = -1, double high = 1, int seed = 1) {
  Tensor x = graph::allocate({t, shape, false});
  for (int64_t k = 0; k < elements(shape); ++k) {
    double u = std::fmod(static_cast<double>(k + 1 + 1000 * seed) * 0.6180339887498949, 1.0);
    double value = low + (high - low) * u;
    if (is_float(t))
      graph::set_element(x, k, value);
    else if (is_bool(t))
      graph::set_element(x, k, u < 0.5);
    else
      graph::set_element(x, k, static_cast<int64_t>(std::floor(value)));
  }
  return x;
}
inline std::vector<Tensor> numbers_for(const graph::Graph& g, double low = -1, double high = 1) {
  std::vector<Tensor> list;
  for (size_t i = 0; i < g.inputs.size(); ++i)
    list.push_back(numbers(g.inputs[i]->type.dtype, g.inputs[i]->type.shape, low, high, static_cast<int>(i) + 1));
  return list;
}

inline void expect_equal(const std::vector<Tensor>& got, const std::vector<Tensor>& expected, double tolerance,
                         const std::string& where) {
  ASSERT_EQ(got.size(), expected.size()) << where;
  for (size_t o = 0; o < got.size(); ++o) {
    ASSERT_TRUE(graph::same_type(got[o].type, expected[o].type)) << where;
    int wrong = 0;
    for (int64_t k = 0, n = elements(expected[o].type.shape); k < n && wrong < 3; ++k) {
      double a = graph::element(got[o], k).as<double>(), b = graph::element(expected[o], k).as<double>();
      bool same =
          a == b || (a != a && b != b) || std::fabs(a - b) <= tolerance * std::max({1.0, std::fabs(a), std::fabs(b)});
      if (!same) ++wrong;
      EXPECT_TRUE(same) << where << ": output " << o << "[" << k << "] is " << a << ", expected " << b;
    }
  }
}

// Validates every pass; gives the finished program.
inline loops::Program expect_passes_agree(const graph::Graph& g, const std::vector<Tensor>& inputs,
                                          double tolerance = 1e-5, const compiler::Target& target = {64, 32}) {
  loops::Program p;
  const std::string wrong = validate_passes(g, inputs, {tolerance, target}, &p);
  if (!wrong.empty()) ADD_FAILURE() << wrong;
  return p;
}

// How many statements of a kind a program has.
template <class T>
int count(const loops::Block& b);
template <class T>
int count(const loops::Stmt& s) {
  int n = std::holds_alternative<T>(s.is);
  if (auto f = std::get_if<loops::For>(&s.is)) n += count<T>(f->body);
  if (auto f = std::get_if<loops::If>(&s.is)) n += count<T>(f->yes) + count<T>(f->no);
  if (auto f = std::get_if<loops::While>(&s.is)) n += count<T>(f->before) + count<T>(f->body);
  return n;
}
template <class T>
int count(const loops::Block& b) {
  int n = 0;
  for (const loops::Stmt& s : b) n += count<T>(s);
  return n;
}
// The largest temporary that is still there, in elements.
inline int64_t largest_temporary(const loops::Program& p) {
  int64_t most = 0;
  for (const loops::Buffer& b : p.buffers)
    if (b.kind == loops::Buffer::Kind::temporary && b.alias < 0 && b.offset >= 0)
      most = std::max(most, elements(b.shape));
  return most;
}

}  // namespace anvil::test
