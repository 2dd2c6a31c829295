// Inputs that loops read slice by slice and that are turned ahead of them.
#include <gtest/gtest.h>

#include "transform/simplify.h"
#include "transform/tracing.h"

namespace anvil::testing {
namespace {

using graph::Call;
using primitives::element;

struct Case {
  Shape xs = {6, 100, 100};
  int64_t along = 0;     // the dimension that the steps go along
  int64_t steps = 6;     // of the loop
  int64_t rounds = 1;    // of a loop around it
  bool carried = false;  // the loop carries the input, as it is
  bool changed = false;  // the loop carries it and changes it
  bool planes = false;   // of two that follow each other along the next dimension
  bool known = true;     // how often the loop runs
};

// h = h / 2 + xs[i]^2 sum(x), step by step
GraphPtr scan(const Case& of) {
  Shape part = of.xs;
  part.erase(part.begin() + of.along);
  if (of.planes) part.erase(part.begin() + of.along);
  const auto around_steps = [=](Graph& g, Var xs, Var h) {
    const bool carries = of.carried || of.changed;
    return while_loop(
        g, {integer(g, 0), h, carries ? xs : h},
        [&](Graph& c, const Vars& s) {
          const Var more = s[0] < integer(c, of.steps);
          return of.known ? more : more & (reduce_sum(s[1], {0, 1}) < number(c, 1e300));
        },
        [&](Graph& c, const Vars& s) {
          const Var whole = carries ? s[2] : in(c, xs);
          const auto at = [&](int64_t plane) {
            std::vector<Var> starts(of.xs.size(), integer(c, 0));
            Shape sizes = of.xs;
            starts[size_t(of.along)] = s[0], starts[size_t(of.along) + 1] = integer(c, plane);
            sizes[size_t(of.along)] = sizes[size_t(of.along) + 1] = 1;
            return reshape(dynamic_slice(whole, starts, sizes), part);
          };
          const Var x = of.planes ? at(0) * at(1) : element(whole, of.along, s[0]);
          return Vars{s[0] + integer(c, 1), s[1] * 0.5 + x * x * 0.25, of.changed ? whole * 0.5 : s[2]};
        })[1];
  };
  return trace({f64(of.xs), f64(part)}, [=](Graph& g, const Vars& in_) {
    if (of.rounds == 1) return Vars{around_steps(g, in_[0], in_[1])};
    return Vars{while_loop(
        g, {integer(g, 0), in_[1]}, [&](Graph& c, const Vars& s) { return s[0] < integer(c, of.rounds); },
        [&](Graph& c, const Vars& s) {
          return Vars{s[0] + integer(c, 1), around_steps(c, in(c, in_[0]), s[1])};
        })[1]};
  });
}

// Turns inputs, which changes no result.
Graph with_turned_inputs(const Graph& g) {
  Graph made = g;
  transform::turn_sliced_inputs(made);
  std::vector<Tensor> inputs;
  for (const auto& v : g.inputs) {
    std::vector<double> x;
    for (int64_t k = 0; k < elements(v->type.shape); ++k) x.push_back(std::sin(double(k)));
    inputs.push_back(tensor(v->type.shape, x));
  }
  const auto expected = eigen::evaluate(g, inputs), got = eigen::evaluate(made, inputs);
  for (size_t k = 0; k < got.size(); ++k) EXPECT_EQ(numbers(got[k]), numbers(expected[k])) << k;
  return made;
}
bool is_turn(const Call& c) { return c.primitive->name == "transpose"; }
// Whether something is turned, ahead of all loops.
bool turns(const Case& of) {
  const Graph made = with_turned_inputs(*scan(of));
  EXPECT_LE(std::count_if(made.calls.begin(), made.calls.end(), is_turn), 1);
  return is_turn(made.calls.at(0));
}

TEST(SlicedInputs, AreTurnedWhereSlicesLieApart) {
  EXPECT_TRUE(turns({}));
  EXPECT_TRUE(turns({.carried = true}));
  EXPECT_TRUE(turns({.xs = {3, 6, 9000}, .along = 1}));
  EXPECT_TRUE(turns({.xs = {6, 2, 100, 100}, .planes = true}));
  EXPECT_TRUE(turns({.xs = {3, 6, 2, 9000}, .along = 1, .planes = true}));
  EXPECT_FALSE(turns({.xs = {6, 3, 100, 100}, .steps = 3, .planes = true})) << "a third of it";
  EXPECT_FALSE(turns({.xs = {20, 6, 9000}, .along = 1})) << "runs of more than a line";
  EXPECT_FALSE(turns({.xs = {100, 100, 6}, .along = 2}));
  EXPECT_FALSE(turns({.xs = {6, 50, 40}})) << "slices that stay in the cache";
}

TEST(SlicedInputs, AreTurnedForWhatIsReadOfThem) {
  EXPECT_TRUE(turns({.steps = 3}));
  EXPECT_FALSE(turns({.steps = 2}));
  EXPECT_TRUE(turns({.steps = 2, .rounds = 2}));
  EXPECT_FALSE(turns({.known = false}));
  EXPECT_FALSE(turns({.changed = true}));
}

// The same body once with an input, once with what is made of it.
TEST(SlicedInputs, OfLoopsThatShareTheirBody) {
  for (const bool input_first : {true, false}) {
    Graph g = *scan({.carried = true});
    const Call loop = g.calls.back();
    const Var other = Var{&g, g.inputs[0]} * 2.0;
    Call again = loop;
    for (auto& v : again.inputs)
      if (v == g.inputs[0]) v = other.value;
    for (auto& v : again.outputs) v = graph::make_value(graph::Value::Kind::result, v->type);
    g.outputs.push_back(again.outputs[1]);
    g.calls.push_back(again);
    if (!input_first) {  // the loop over the input comes last
      g.calls.erase(
          std::find_if(g.calls.begin(), g.calls.end(), [&](const Call& c) { return c.outputs == loop.outputs; }));
      g.calls.push_back(loop);
    }
    const Graph made = with_turned_inputs(g);
    EXPECT_EQ(std::count_if(made.calls.begin(), made.calls.end(), is_turn), 1);
  }
}

}  // namespace
}  // namespace anvil::testing
