// Gathers and scatters in loops: every pass keeps the results, an input that nobody else needs
// is changed in place, and parameters are bound no deeper than they must be.
#include <set>

#include "compiler/graphs.h"
#include "support/campaign.h"
#include "support/loop_rule.h"
#include "support/random_index.h"
#include "transform/reverse.h"
#include "transform/simplify.h"

namespace anvil::test {
namespace {

using namespace primitives;

Tensor indices(const Shape& shape, const std::vector<int64_t>& values, DType t = DType::i32) {
  Tensor x = graph::allocate({t, shape});
  for (size_t k = 0; k < values.size(); ++k) graph::set_element(x, static_cast<int64_t>(k), Scalar(values[k]));
  return x;
}

TEST(RandomIndices, LoopRulesAgreeAndPassesKeepResults) {
  const Campaign campaign(600);
  for (unsigned seed = campaign.first; seed < campaign.first + campaign.count && !HasFailure(); ++seed) {
    SCOPED_TRACE("ANVIL_SEED=" + std::to_string(seed));
    RandomIndexed p(seed);
    expect_loop_rules_agree(p.graph, p.inputs);
    expect_passes_agree(p.graph, p.inputs, 1e-12);
  }
}

// x2[i] += x3[i] at x1[i], n times: each iteration must touch only the places.
TEST(Scatter, ChangesTheStateOfALoopInPlace) {
  Builder b;
  Var x = b.input(DType::f64, {1000}), at = b.input(DType::i32, {3}), u = b.input(DType::f64, {3});
  Var zero = b.scalar(0, DType::i32);
  auto r = while_loop(
      *b.g, {x, zero}, [](std::vector<Var>& s) { return s[1] < 100.0; },
      [&](std::vector<Var>& s) {
        graph::Graph& g = *s[0].graph;
        IndexDims dims{{}, {0}, {}, {}, {0}, 1};
        return std::vector<Var>{scatter(s[0], in(g, at), in(g, u), dims, "add"), s[1] + 1.0};
      });
  b.output(r[0]);
  std::vector<Tensor> inputs = {numbers(DType::f64, {1000}), indices({3}, {5, 5, 900}), numbers(DType::f64, {3})};
  expect_passes_agree(*b.g, inputs, 1e-12);
  loops::Program p = compiler::lower(*b.g);
  for (const compiler::Pass& pass : compiler::passes()) pass.run(p, {});
  LoopInterpreter run(p, inputs);
  run.run();
  EXPECT_LT(run.steps, 4000);  // two copies of 1000 elements, and 100 times a few
}

int64_t steps_of(const graph::Graph& g, const std::vector<Tensor>& inputs) {
  loops::Program p = compiler::lower(g);
  for (const compiler::Pass& pass : compiler::passes()) pass.run(p, {});
  runtime::Run state;  // which holds tapes
  LoopInterpreter run(p, inputs, {}, &state);
  run.run();
  return run.steps;
}

// x[at] = u in a loop: on the way back, too, a step touches what it changes, and no more.
TEST(Scatter, ReplacesInALoopBackwardsInPlace) {
  for (const int64_t updates : {1, 3}) {
    const auto steps = [updates](int64_t size) {
      Builder b;
      Var x = b.input(DType::f64, {size}), u = b.input(DType::f64, {updates}), at = b.input(DType::i32, {updates});
      auto r = while_loop(
          *b.g, {x, b.scalar(0, DType::i32)}, [](std::vector<Var>& s) { return s[1] < 20.0; },
          [&](std::vector<Var>& s) {
            graph::Graph& g = *s[0].graph;
            const Var place = in(g, at) + broadcast_to_like(s[1], in(g, at));
            const IndexDims dims{{}, {0}, {}, {}, {0}, 1};
            const Var old = gather(s[0], place, {1}, dims);
            return std::vector<Var>{scatter(s[0], place, old * in(g, u), dims, ""), s[1] + 1.0};
          });
      b.output(reduce_sum(r[0] * r[0], {0}));
      graph::GraphPtr g = transform::gradient(*b.g, {true, true, false}, false);
      transform::optimize(*g);
      std::vector<int64_t> places(static_cast<size_t>(updates), 7);
      return steps_of(*g, {numbers(DType::f64, {size}), numbers(DType::f64, {updates}), indices({updates}, places)});
    };
    EXPECT_LT(steps(20'000) - steps(10'000), 10 * 10'000) << updates;  // twenty steps of a loop
  }
}

// The derivative of a scatter by a function of its own takes one pass, however many updates a place has.
TEST(Scatter, ByAnyFunctionIsOnePassBackwards) {
  const auto steps = [](int64_t updates) {
    Builder b, region;
    Var x = b.input(DType::f64, {4}), u = b.input(DType::f64, {updates}), at = b.input(DType::i32, {updates});
    Var old = region.input(DType::f64, {}), update = region.input(DType::f64, {});
    region.output(record("sine", {old}) * update);
    b.output(scatter(x, at, u, {{}, {0}, {}, {}, {0}, 1}, "add"));
    b.g->calls.back().params.set("update_computation", region.g);
    b.g->outputs = {reduce_sum({b.g.get(), b.g->outputs[0]}, {0}).value};
    graph::GraphPtr g = transform::gradient(*b.g, {true, true, false}, false);
    transform::optimize(*g);
    const std::vector<int64_t> places(static_cast<size_t>(updates), 2);
    return steps_of(*g, {numbers(DType::f64, {4}), numbers(DType::f64, {updates}), indices({updates}, places)});
  };
  EXPECT_LT(steps(80), 3 * steps(40));
}

// Sums go through a table of places as it lies in memory. Of elements that are replaced at one place the last one
// stays, row by row; the same where what is added depends on what is there.
TEST(Scatter, SumsComeInTheOrderOfMemory) {
  const std::vector<int64_t> at = {3, 1, 3, 0, 3, 1, 4, 3, 0, 3, 9, 2};
  for (const char* name : {"add", "maximum", "minimum", "", "divide", "mul"}) {
    for (const DType t : {DType::f64, DType::i32}) {
      Builder b;
      Var x = b.input(t, {5}), places = b.input(DType::i32, {4, 3}), u = b.input(t, {4, 3});
      b.output(scatter(x, places, u, {{}, {0}, {}, {}, {0}, 2}, name));
      const bool any_order = std::set<std::string>{"add", "maximum", "minimum"}.count(name) > 0 ||
                             (!is_float(t) && std::string(name) == "mul");
      const std::string text = print(compiler::lower(*b.g));
      const size_t over_rows = text.find("in 0..4 {"), over_columns = text.find("in 0..3 {");
      ASSERT_TRUE(over_rows != std::string::npos && over_columns != std::string::npos) << text;
      EXPECT_EQ(over_columns < over_rows, any_order) << name << "\n" << text;
      expect_passes_agree(*b.g, {numbers(t, {5}, 1, 9), indices({4, 3}, at), numbers(t, {4, 3}, 1, 9, 5)}, 1e-12);
    }
  }
}

TEST(Scatter, KeepsAnInputThatIsReadElsewhere) {
  Builder b;
  Var x = b.input(DType::f64, {4}), at = b.input(DType::i32, {2});
  Var t = x * 2.0;
  IndexDims dims{{}, {0}, {}, {}, {0}, 1};
  Var y = scatter(t, at, literal(*b.g, 1, {DType::f64, {2}}), dims, "add");
  b.output(y);
  b.output(t);
  b.output(scatter(y, at, gather(y, at, {1}, dims), dims, "add"));
  expect_passes_agree(*b.g, {numbers(DType::f64, {4}), indices({2}, {4, 1})}, 1e-12);
}

// The indices lie in the memory that changes.
TEST(Scatter, KeepsItsIndices) {
  Builder b;
  Var x = b.input(DType::i32, {4}) + 0.0, ones = literal(*b.g, 1, {DType::i32, {4}});
  IndexDims dims{{}, {0}, {}, {}, {0}, 1};
  Var t = x * literal(x, 1) + x - x;
  b.output(scatter(t, t, ones, dims, "add"));
  b.output(scatter(t, reshape(t, {2, 2}), reshape(ones, {2, 2}), {{}, {0}, {}, {}, {0}, 2}, "add"));
  expect_passes_agree(*b.g, {indices({4}, {2, 3, 1, 4})}, 0);
}

// Where updates go is computed for many of them at once, before the loop that branches.
TEST(Scatter, PlacesAreVectors) {
  Builder b;
  Var x = b.input(DType::f64, {500}), u = b.input(DType::f64, {500});
  Var place = convert(record("floor", {x * x * 3.0 + x * 7.0 + 9.0}), DType::i32);
  Var zero = broadcast_in_dim(b.scalar(0, DType::f64), {16}, {});
  b.output(scatter(zero, place, u, {{}, {0}, {}, {}, {0}, 1}, "add"));
  const loops::Program p = expect_passes_agree(*b.g, numbers_for(*b.g), 1e-12);
  EXPECT_NE(print(p).find("for i in 0..500 vector"), std::string::npos) << print(p);
}

std::string nest_of(const graph::Graph& g) { return loops::print(compiler::lower(g)); }

TEST(Gather, BindsAnIndexOutsideOfTheLoopsOfAWindow) {
  Builder b;
  Var x = b.input(DType::f64, {10, 7}), at = b.input(DType::i32, {5});
  b.output(gather(x, at, {10, 1}, {{0}, {1}, {}, {}, {1}, 1}));
  std::string text = nest_of(*b.g);
  EXPECT_LT(text.find("for j"), text.find("$p"));
  EXPECT_LT(text.find("$p"), text.find("for i"));
}

// Each update has a branch: eight of them stand in the loop's body, the rest behind it.
TEST(Scatter, WritesOutEightUpdates) {
  for (const auto& [updates, branches] : {std::pair(0, 0), std::pair(5, 5), std::pair(16, 8), std::pair(21, 8 + 5)}) {
    Builder b;
    Var x = b.input(DType::f64, {1000}), at = b.input(DType::i32, {updates}), u = b.input(DType::f64, {updates});
    b.output(scatter(x, at, u, {{}, {0}, {}, {}, {0}, 1}, "add"));
    std::vector<int64_t> places(static_cast<size_t>(updates));
    for (size_t k = 0; k < places.size(); ++k)
      places[k] = static_cast<int64_t>(k * k * 7 % 1003);  // some beyond the end
    const std::vector<Tensor> inputs = {numbers(DType::f64, {1000}), indices({updates}, places),
                                        numbers(DType::f64, {updates})};
    const std::string text = print(expect_passes_agree(*b.g, inputs, 0));
    int found = 0;
    for (size_t i = text.find("if "); i != std::string::npos; i = text.find("if ", i + 1)) ++found;
    EXPECT_EQ(found, branches) << text;
  }
}

}  // namespace
}  // namespace anvil::test
