// Random programs under random stacks of transformations, to depth 3: gradients of batches, forward mode of
// loops over gradients, batches of Jacobians, ... Each stack is made in two ways (two_ways.h), and
// machine code of the first one has to give what the evaluator gives.
//   ANVIL_FUZZ_SEED=17 ANVIL_FUZZ_COUNT=1 ./anvil_test_api --gtest_filter='RandomStacks*'
#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>
#include <map>

#include "support/batches.h"
#include "support/gradient_check.h"
#include "support/ordinary_program.h"
#include "support/random_loops.h"
#include "support/random_program.h"
#include "support/run_compiled.h"
#include "support/two_ways.h"

namespace anvil::test {
namespace {

enum class Step : uint8_t { jvp, vjp, gradient, jacobian, batch, loop, branch, checkpoint, simplified, written };
constexpr const char* step_names[] = {"jvp",  "vjp",    "gradient",   "jacobian",   "batch",
                                      "loop", "branch", "checkpoint", "simplified", "written"};
using Steps = std::vector<Step>;

std::string text_of(const Steps& steps) {
  std::string s = "f";
  for (const Step k : steps) s = std::string(step_names[static_cast<size_t>(k)]) + "(" + s + ")";
  return s;
}
Steps drawn_steps(std::mt19937_64& random) {
  static constexpr int weights[] = {3, 3, 4, 1, 4, 3, 1, 1, 1, 1};
  std::discrete_distribution<int> any(std::begin(weights), std::end(weights));
  Steps steps(1 + random() % 3);
  for (Step& s : steps) s = static_cast<Step>(any(random));
  return steps;
}

// ---- a program and what is made of it -----------------------------------------------------------

struct Stacked {
  TwoWays f;
  Tensors at;
};

int64_t size_of_floats(const std::vector<graph::ValuePtr>& values) {
  int64_t n = 0;
  for (const auto& v : values) n += is_float(v->type.dtype) ? elements(v->type.shape) : 0;
  return n;
}
int64_t calls_in(const Graph& g) {
  auto n = static_cast<int64_t>(g.calls.size());
  for (const graph::Call& c : g.calls)
    for (const GraphPtr& inner : graph::subgraphs(c)) n += calls_in(*inner);
  return n;
}
// Some of the inputs that are floats, one at least.
Flags some_floats(const Graph& g, std::mt19937_64& random) {
  Flags flags;
  std::vector<size_t> floats;
  for (size_t k = 0; k < g.inputs.size(); ++k) {
    const bool number = is_float(g.inputs[k]->type.dtype);
    flags.push_back(number && random() % 3 != 0);
    if (number) floats.push_back(k);
  }
  flags[floats[random() % floats.size()]] = true;
  return flags;
}
double sum_of_elements(const Tensor& t) {
  double sum = 0;
  for (int64_t i = 0; i < elements(t.type.shape); ++i) sum += element(t, i).as<double>();
  return sum;
}

// Text has values only: where no derivative goes through, it does not say so.
bool stops_derivatives(const Graph& g) {
  return std::any_of(g.calls.begin(), g.calls.end(), [](const graph::Call& c) {
    const std::vector<GraphPtr> inner = graph::subgraphs(c);
    return c.primitive->name == "stop_gradient" ||
           std::any_of(inner.begin(), inner.end(), [](const GraphPtr& i) { return stops_derivatives(*i); });
  });
}

// The next transformation; gives whether there is one: programs without floats have no derivatives, and
// what has grown too large is left as it is.
bool take(Step step, Stacked& s, std::mt19937_64& random) {
  constexpr int64_t most_calls = 1500, most_derivatives = 150;
  const Graph& g = *s.f.way;
  if (calls_in(*s.f.other) > most_calls) return false;
  const int64_t numbers = size_of_floats(g.inputs), results = size_of_floats(g.outputs);
  const auto is_float_value = [](const auto& v) { return is_float(v->type.dtype); };
  const bool floats = std::any_of(g.inputs.begin(), g.inputs.end(), is_float_value) &&
                      std::any_of(g.outputs.begin(), g.outputs.end(), is_float_value);
  if (step <= Step::jacobian || step == Step::loop || step == Step::branch)
    if (!floats) return false;
  switch (step) {
    case Step::jvp: s.f = jvp_of(s.f, some_floats(g, random)); break;
    case Step::vjp: s.f = vjp_of(s.f, some_floats(g, random)); break;
    case Step::gradient: s.f = gradient_of(s.f, some_floats(g, random), random() % 2 == 0, 3); break;
    case Step::jacobian:
      if (numbers * results == 0 || numbers * results > most_derivatives || numbers > 30) return false;
      s.f = jacobian_of(s.f, some_floats(g, random));
      break;
    case Step::batch: {
      const int64_t size = 1 + static_cast<int64_t>(random() % 3);
      const Flags flags = any_flags(g.inputs.size(), random());
      s.f = batch_of(s.f, flags, size);
      s.at = examples_like(s.at, flags, size, random());
      break;
    }
    case Step::loop: {
      const auto steps = static_cast<int64_t>(random() % 4);
      s.f = loop_of(s.f, {some_floats(g, random), 1 + steps % 3, random() % 2 == 0, 0.5 * static_cast<double>(steps)});
      break;
    }
    case Step::branch: {
      const Flags by = some_floats(g, random);
      const auto k = static_cast<size_t>(std::find(by.begin(), by.end(), true) - by.begin());
      const double sum = sum_of_elements(s.at[k]);
      s.f = branch_of(s.f, k, sum + (random() % 2 == 0 ? 0.25 : -0.25));
      break;
    }
    case Step::checkpoint: s.f = checkpoint_of(s.f); break;
    case Step::simplified: s.f = simplified(s.f); break;
    case Step::written:
      if (stops_derivatives(g)) return false;
      s.f = written(s.f);
      break;
  }
  for (size_t k = s.at.size(); k < s.f.way->inputs.size(); ++k) s.at.push_back(direction(s.f.way->inputs[k]->type, k));
  return true;
}

Stacked program_of(uint64_t seed) {
  Stacked s;
  if (seed % 4 == 0) {
    const Shape arrays = {RandomLoops(seed).length};
    const auto at = static_cast<double>(seed % 100);
    s.at = {spread_values(DType::f64, {}, -0.8, 0.8, at), spread_values(DType::f64, arrays, -1, 1, at + 1),
            spread_values(DType::f64, arrays, -1, 1, at + 2)};
    s.f.way = std::make_shared<Graph>(
        build([seed](Graph& g, const std::vector<Var>& x) { return RandomLoops(seed, seed % 8 == 0)(g, x); }, s.at));
  } else {
    const bool smooth = seed % 4 != 1;
    const RandomProgram p(seed, {.float_only = smooth, .calls = 4});
    s.f.way = std::make_shared<Graph>(p.graph);
    s.at = p.inputs;
  }
  s.f.other = s.f.way;
  return s;
}

// ---- the judge ------------------------------------------------------------------------------------

// Whether every float on the way is a number: where a slope is infinite, it may meet a zero in one way and
// not in the other.
bool all_finite(const Graph& g, const Tensors& at) {
  bool finite = true;
  eigen::Options options;
  options.observe = [&finite](const graph::Call&, const Tensor& t) {
    if (!finite || !is_float(t.type.dtype) || t.type.tape) return;
    for (int64_t i = 0; i < elements(t.type.shape); ++i) finite = finite && std::isfinite(element(t, i).as<double>());
  };
  eigen::evaluate(g, at, options);
  return finite;
}

struct Found {
  std::string why;  // what is wrong, if anything
  bool compared = false;
};
// Two ways agree where the rounding of one of them accounts for what is between them.
Found judge(const Stacked& s) {
  const Graph &g = *s.f.way, &h = *s.f.other;
  primitives::verify(g);
  const Tensors expected = eigen::evaluate(g, s.at);
  std::string why = disagreement(g, s.at, expected, run_compiled(g, s.at));
  if (!why.empty()) return {"compiled: " + why};
  if (!all_finite(g, s.at) || !all_finite(h, s.at)) return {""};
  const Tensors other = eigen::evaluate(h, s.at);
  why = disagreement(g, s.at, expected, other);
  if (!why.empty() && !disagreement(h, s.at, other, expected).empty()) return {"the other way: " + why, true};
  return {"", true};
}
// The same with steps that are left out where they cannot be taken; `only` makes one value of the program its
// single result.
Found tried(uint64_t seed, const Steps& steps, const graph::ValuePtr& only, Stacked& s, Steps* taken = nullptr) {
  try {
    for (size_t k = 0; k < steps.size(); ++k) {
      std::mt19937_64 random(seed * 31 + static_cast<uint64_t>(steps[k]) * 7 + k);
      if (take(steps[k], s, random) && taken != nullptr) taken->push_back(steps[k]);
    }
    return judge(s);
  } catch (const Error& e) {
    // what has no derivative, and what text has no words for
    if (e.kind == "gradient" || e.kind == "stablehlo") return {""};
    return {std::string(e.kind) + ": " + e.what()};
  } catch (const std::exception& e) {
    return {std::string(only ? "in part: " : "") + e.what()};
  }
}

// The fewest steps, then the first value of the program alone, that still fail.
std::string shrunk(uint64_t seed, Steps steps) {
  for (bool smaller = true; smaller;) {
    smaller = false;
    for (size_t k = 0; k < steps.size() && !smaller; ++k) {
      Steps fewer = steps;
      fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(k));
      Stacked s = program_of(seed);
      if (!tried(seed, fewer, nullptr, s).why.empty()) steps = std::move(fewer), smaller = true;
    }
  }
  const Stacked whole = program_of(seed);
  for (const graph::Call& c : whole.f.way->calls)
    for (const auto& v : c.outputs) {
      Stacked s = whole;
      const auto part = std::make_shared<Graph>(*whole.f.way);
      part->outputs = {v};
      transform::remove_dead_calls(*part);
      s.f = {part, part};
      const std::string why = tried(seed, steps, v, s).why;
      if (!why.empty()) return text_of(steps) + ", one result: " + why + "\n" + graph::print(*part);
    }
  return text_of(steps) + "\n" + graph::print(*whole.f.way);
}

int64_t setting(const char* name, int64_t otherwise) {
  const char* text = std::getenv(name);
  return text != nullptr ? std::atoll(text) : otherwise;
}

TEST(RandomStacks, BothWaysAgreeAndCompiledCodeGivesTheSame) {
  const int64_t first = setting("ANVIL_FUZZ_SEED", 1), count = setting("ANVIL_FUZZ_COUNT", 1500) / 5;
  int64_t compared = 0;
  for (int64_t seed = first; seed < first + count; ++seed) {
    const auto number = static_cast<uint64_t>(seed);
    std::mt19937_64 random(number);
    const Steps steps = drawn_steps(random);
    Stacked s = program_of(number);
    if (std::any_of(s.f.way->calls.begin(), s.f.way->calls.end(), test::rounds_slopes)) continue;
    const Found found = tried(number, steps, nullptr, s);
    compared += found.compared ? 1 : 0;
    if (!found.why.empty())
      ADD_FAILURE() << "seed " << seed << ", " << text_of(steps) << ": " << found.why << "\n" << shrunk(number, steps);
  }
  EXPECT_GE(compared, count / 2);
}

}  // namespace
}  // namespace anvil::test
