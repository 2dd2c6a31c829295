// What primitives say of themselves (primitives/properties.h) against what their calls do: each call
// of random programs, alone, on operands of its own.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <regex>
#include <set>

#include "anvil.h"
#include "backend/eigen/evaluate.h"
#include "primitives/families/control.h"
#include "primitives/families/monoid.h"
#include "primitives/vocabulary/simplification.h"
#include "support/agreement.h"
#include "support/random_program.h"

namespace anvil::test {
namespace {

using graph::Call;
using primitives::Acts;
using primitives::Axes;
using primitives::Primitive;
using primitives::primitive_of;
using Tensors = std::vector<Tensor>;

// The calls of random programs that `wanted` chooses, inner graphs left out.
template <class Wanted, class F>
void each_call(Wanted wanted, F&& f) {
  for (uint64_t seed = 1; seed <= 800; ++seed) {
    const RandomProgram p(seed, {.float_only = seed % 2 == 0});
    for (const Call& c : p.graph.calls)
      if (wanted(primitive_of(c))) {
        SCOPED_TRACE(c.primitive->name + ", seed " + std::to_string(seed));
        std::mt19937_64 random(seed);
        f(c, random);
      }
  }
}

// A graph of one call; all of its operands are inputs.
Graph alone(Call c) {
  Graph g;
  for (graph::ValuePtr& v : c.inputs) g.inputs.push_back(v = graph::make_value(Value::Kind::input, v->type));
  g.outputs = c.outputs;
  g.calls.push_back(std::move(c));
  return g;
}
Tensors results(const Call& c, const Tensors& operands) { return eigen::evaluate(alone(c), operands); }

// Small multiples of 1/4: sums and products of a few are exact.
Tensor drawn(const TensorType& type, std::mt19937_64& random) {
  Tensor t = graph::allocate(type);
  for (int64_t i = 0; i < elements(type.shape); ++i) {
    const auto k = static_cast<int>(random() % 17) - 8;
    graph::set_element(t, i, is_float(type.dtype) ? Scalar(0.25 * k) : is_bool(type.dtype) ? Scalar(k > 0) : Scalar(k));
  }
  return t;
}
Tensors drawn_operands(const Call& c, std::mt19937_64& random) {
  Tensors list;
  for (const auto& v : c.inputs) list.push_back(drawn(v->type, random));
  return list;
}
bool all_float(const Call& c, const primitives::Operands& chosen) {
  for (size_t k = 0; k < c.inputs.size(); ++k)
    if (chosen.contains(k, c.inputs.size()) && !is_float(c.inputs[k]->type.dtype)) return false;
  return is_float(c.outputs[0]->type.dtype);
}
// 2 a - 3 b, element by element.
Tensor combined(const Tensor& a, const Tensor& b) {
  Tensor t = graph::allocate(a.type);
  for (int64_t i = 0; i < elements(a.type.shape); ++i)
    graph::set_element(t, i, Scalar(2 * element(a, i).as<double>() - 3 * element(b, i).as<double>()));
  return t;
}
void expect_linear(const Call& c, const primitives::Operands& chosen, std::mt19937_64& random) {
  if (!all_float(c, chosen)) return;
  Tensors a = drawn_operands(c, random), b = a, both = a;
  for (size_t k = 0; k < a.size(); ++k)
    if (chosen.contains(k, a.size())) b[k] = drawn(a[k].type, random), both[k] = combined(a[k], b[k]);
  const Tensors fa = results(c, a), fb = results(c, b), f = results(c, both);
  double rounding = 1e-5;
  for (const Tensors& list : {a, f})
    for (const Tensor& t : list)
      if (is_small(t.type.dtype)) rounding = std::max(rounding, 32 * test::unit_roundoff(t.type.dtype));
  for (size_t r = 0; r < f.size(); ++r) {
    const Tensor expected = combined(fa[r], fb[r]);
    for (int64_t i = 0; i < elements(f[r].type.shape); ++i) {
      const double x = element(f[r], i).as<double>(), y = element(expected, i).as<double>();
      if (!std::isfinite(y)) continue;  // a divisor of 0
      const double bound = rounding * (std::abs(element(fa[r], i).as<double>()) + std::abs(y) + 1);
      ASSERT_NEAR(x, y, bound) << "element " << i;
    }
  }
}

TEST(Properties, LinearOperandsAreLinearTogether) {
  std::set<std::string> seen;
  each_call([](const Primitive& p) { return !p.linear.empty(); },
            [&](const Call& c, std::mt19937_64& random) {
              seen.insert(c.primitive->name);
              expect_linear(c, primitive_of(c).linear, random);
            });
  for (const Primitive* p : primitives::registry().all())
    if (!p->linear.empty()) {
      EXPECT_TRUE(seen.count(p->name)) << p->name << " was never drawn";
    }
}
TEST(Properties, BilinearOperandsAreLinearEachAlone) {
  std::set<std::string> seen;
  each_call([](const Primitive& p) { return p.bilinear; },
            [&](const Call& c, std::mt19937_64& random) {
              seen.insert(c.primitive->name);
              for (size_t k : {0, 1}) expect_linear(c, primitives::Operands::only(k), random);
            });
  EXPECT_EQ(seen.size(), 3u);  // mul, dot_general, convolution
}

// ... and every element of what is moved is there before.
TEST(Properties, MovedElementsComeFromOperands) {
  each_call([](const Primitive& p) { return p.acts == Acts::moves; },
            [&](const Call& c, std::mt19937_64& random) {
              const Tensors x = drawn_operands(c, random), y = results(c, x);
              std::vector<Scalar> there;
              for (size_t k = 0; k < x.size(); ++k)
                for (int64_t i = 0; !primitive_of(c).indices.contains(k, x.size()) && i < elements(x[k].type.shape);
                     ++i)
                  there.push_back(element(x[k], i));
              for (int64_t i = 0; i < elements(y[0].type.shape); ++i) {
                const Scalar e = element(y[0], i);
                ASSERT_TRUE(std::any_of(there.begin(), there.end(), [&](const Scalar& s) { return s == e; }));
              }
            });
}

void expect_nearly(const Tensor& got, const Tensor& expected, int64_t i) {
  const double x = element(got, i).as<double>(), y = element(expected, i).as<double>();
  double largest = 0;
  for (int64_t k = 0; k < elements(expected.type.shape); ++k)
    largest = std::max(largest, std::fabs(element(expected, k).as<double>()));
  const double rounding = got.type.dtype == DType::f64 ? 1e-14 : 1e-6;
  EXPECT_TRUE((std::isnan(x) && std::isnan(y)) || std::fabs(x - y) <= rounding * largest) << x << " " << y;
}

// An augmented call gives the results of the call, then others, where the rule of this call reads any. LAPACK finds values
// without vectors by another method, which rounds differently.
void expect_same_augmented(const Call& c, std::mt19937_64& random, std::set<std::string>& seen) {
  const Tensors x = drawn_operands(c, random), expected = results(c, x);
  Call again = c;
  Graph g;
  for (graph::ValuePtr& v : again.inputs) g.inputs.push_back(v = graph::make_value(Value::Kind::input, v->type));
  g.outputs = primitive_of(c).augment(g, again);
  primitives::verify(g);
  ASSERT_GE(g.outputs.size(), c.outputs.size());
  const Tensors got = eigen::evaluate(g, x);
  for (size_t k = 0; k < expected.size(); ++k)
    for (int64_t i = 0; i < elements(expected[k].type.shape); ++i)
      if (c.primitive->name == "eigh_values" || c.primitive->name == "svd_values")
        expect_nearly(got[k], expected[k], i);
      else
        ASSERT_EQ(element(got[k], i), element(expected[k], i));
  if (g.outputs.size() > c.outputs.size()) seen.insert(c.primitive->name);
}
TEST(Properties, AugmentedCallsGiveTheSameResults) {
  std::set<std::string> seen;
  each_call([](const Primitive& p) { return static_cast<bool>(p.augment); },
            [&](const Call& c, std::mt19937_64& random) { expect_same_augmented(c, random, seen); });
  for (const char* joined : {"mul", "maximum"}) {  // few updates, of which hardly any are drawn
    Graph g;
    const auto input = [&g](DType t, const Shape& s) { return Var{&g, graph::make_value(Value::Kind::input, {t, s})}; };
    const Var x = input(DType::f64, {200}), at = input(DType::i32, {3, 1}), u = input(DType::f64, {3});
    primitives::scatter(x, at, u, {{}, {0}, {}, {}, {0}, 1}, joined);
    std::mt19937_64 random(1);
    expect_same_augmented(g.calls.at(0), random, seen);
  }
  for (const Primitive* p : primitives::registry().all())
    if (p->augment) {
      EXPECT_TRUE(seen.count(p->name)) << p->name << " was never drawn";
    }
}

TEST(Properties, PerElementMeansThatThereIsAFormula) {
  for (const Primitive* p : primitives::registry().all()) {
    SCOPED_TRACE(p->name);
    if (p->acts == Acts::per_element) {
      EXPECT_TRUE(p->elementwise);
      EXPECT_EQ(p->axes, Axes::kept);
    }
    EXPECT_FALSE(p->bilinear && !p->linear.empty());
  }
}

// Reversing all dimensions of operands and results, and of the parameters by dimension, changes nothing
// else; transform/mirror relies on it. Here: the ranks and sizes that `kept` promises.
TEST(Properties, KeptDimensionsAreThoseOfTheOperands) {
  each_call([](const Primitive& p) { return p.axes == Axes::kept && p.acts == Acts::per_element; },
            [&](const Call& c, std::mt19937_64&) {
              for (const auto& v : c.inputs)
                EXPECT_TRUE(v->type.shape.empty() || v->type.shape == c.outputs[0]->type.shape);
            });
}

TEST(Properties, IdentitiesAreExact) {
  static const double values[] = {0.0, -0.0, 1, -1.5, 1e-310, 1e308, INFINITY, -INFINITY, NAN};
  int count = 0;
  for (const Primitive* p : primitives::registry().all())
    for (const auto& [k, number] : p->identities)
      for (DType t : {DType::f32, DType::f64, DType::i32, DType::ui8})
        for (double v : values) {
          SCOPED_TRACE(p->name + " in " + std::string(name(t)));
          if (!is_float(t) && !std::isfinite(v)) continue;
          const Scalar x = Scalar(v).rounded_to(t);
          Graph g;
          Tensors operands(2);
          operands[k] = graph::full({t, {}}, number);
          operands[1 - k] = graph::full({t, {}}, x);
          for (int i = 0; i < 2; ++i) g.inputs.push_back(graph::make_value(Value::Kind::input, {t, {}}));
          g.outputs = primitives::record(g, *p, g.inputs);
          const Scalar y = element(eigen::evaluate(g, operands)[0], 0);
          EXPECT_TRUE(y == x || (std::isnan(v) && std::isnan(y.as<double>()))) << x.text(t) << " became " << y.text(t);
          ++count;
        }
  EXPECT_GT(count, 100);
}

TEST(Properties, MonoidsStartWhereTheyLeaveEveryElementAsItIs) {
  for (const primitives::Monoid& m : primitives::monoids())
    for (DType t : {DType::boolean, DType::i8, DType::ui32, DType::f32, DType::f64}) {
      if (m.only_bool() && t != DType::boolean) continue;
      SCOPED_TRACE(std::string(m.reduction) + " of " + std::string(name(t)));
      const auto join = [&](Scalar a, Scalar b) {
        Graph g;
        for (int i = 0; i < 2; ++i) g.inputs.push_back(graph::make_value(Value::Kind::input, {t, {}}));
        const char* operation = is_bool(t) ? m.on_bool : m.operation;
        g.outputs = primitives::record(g, primitives::registry().at(operation), g.inputs);
        return element(eigen::evaluate(g, {graph::full({t, {}}, a), graph::full({t, {}}, b)})[0], 0);
      };
      for (double v : {0.0, -0.0, 1.0, 3.0, 100.0}) {
        const Scalar x = Scalar(v).rounded_to(t);
        EXPECT_TRUE(join(primitives::neutral(m, t), x) == x) << x.text(t);
        EXPECT_TRUE(join(x, primitives::neutral(m, t)) == x) << x.text(t);
        if (m.idempotent) {
          EXPECT_TRUE(join(x, x) == x) << x.text(t);
        }
      }
      EXPECT_EQ(primitives::registry().at(m.reduction).monoid, &m);
      EXPECT_EQ(primitives::registry().at(m.operation).op, m.op);
    }
}

// Values that flow into one another have one type, and every input and result has a source.
TEST(Properties, RegionsConnectValuesOfOneType) {
  std::set<std::string> seen;
  const auto look = [&](const auto& self, const Graph& g) -> void {
    for (const Call& c : g.calls) {
      for (const auto& inner : graph::subgraphs(c)) self(self, *inner);
      const Primitive& p = primitive_of(c);
      if (p.control == primitives::Control::none) continue;
      SCOPED_TRACE(p.name);
      seen.insert(p.name);
      const auto regions = p.regions(c);
      std::set<size_t> made;
      for (const primitives::Region& r : regions) {
        std::set<size_t> given;
        const auto flow = [&](const auto& flows, const auto& from, const auto& to, std::set<size_t>& targets) {
          for (const auto& [a, b] : flows) {
            ASSERT_LT(a, from.size());
            ASSERT_LT(b, to.size());
            if (!from[a]->type.tape && !to[b]->type.tape) {
              EXPECT_TRUE(same_type(from[a]->type, to[b]->type));
            }
            targets.insert(b);
          }
        };
        flow(r.enter, c.inputs, r.graph->inputs, given);
        EXPECT_EQ(given.size(), r.graph->inputs.size());
        flow(r.carry, regions.back().graph->outputs, r.graph->inputs, given);
        EXPECT_EQ(given.size(), r.graph->inputs.size());
        flow(r.leave, r.graph->outputs, c.outputs, made);
        flow(r.pass, r.graph->inputs, c.outputs, made);
      }
      EXPECT_EQ(made.size(), c.outputs.size());
    }
  };
  for (uint64_t seed = 1; seed <= 150; ++seed) {
    const RandomProgram p(seed, {.float_only = true});
    look(look, p.graph);
    Graph g = p.graph;
    Var sum{&g, nullptr};
    for (const auto& v : p.graph.outputs) {
      Var x{&g, v};
      if (!is_float(x.dtype())) continue;
      std::vector<int64_t> all;
      for (size_t d = 0; d < x.shape().size(); ++d) all.push_back(static_cast<int64_t>(d));
      Var term = all.empty() ? x : primitives::reduce_sum(x, all);
      sum.value = sum.value ? (sum + term).value : term.value;
    }
    if (!sum.value) continue;
    g.outputs = {sum.value};
    look(look, *transform::gradient(g, std::vector<bool>(g.inputs.size(), true), false));
  }
  EXPECT_EQ(seen, (std::set<std::string>{"if", "while", "while_record", "tape_scan"}));
}

// Layers that ask primitives what they are do not know them by name.
TEST(Properties, NoLayerKnowsPrimitivesByName) {
  namespace fs = std::filesystem;
  std::set<std::string> names;
  for (const Primitive* p : primitives::registry().all()) names.insert(p->name);
  const std::regex literal("\"([a-z_0-9]+)\"");
  const fs::path source = fs::path(ANVIL_SOURCE_DIR) / "src";
  int files = 0;
  for (const char* folder : {"graph", "transform", "compiler", "backend/llvm"})
    for (const auto& entry : fs::recursive_directory_iterator(source / folder)) {
      if (!entry.is_regular_file()) continue;
      ++files;
      std::ifstream in(entry.path());
      for (std::string line; std::getline(in, line);) {
        line = line.substr(0, line.find("//"));
        for (std::sregex_iterator it(line.begin(), line.end(), literal), end; it != end; ++it)
          EXPECT_FALSE(names.count((*it)[1].str())) << entry.path().filename() << ": " << line;
      }
    }
  EXPECT_GT(files, 50);
}

}  // namespace
}  // namespace anvil::test
