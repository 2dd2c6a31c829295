// What a step of a loop costs on the way back: it touches the elements that the step reads and changes, however large
// the arrays are of which they are elements.
#include <functional>

#include "compiler/graphs.h"
#include "transform/reverse.h"
#include "transform/simplify.h"

namespace anvil::test {
namespace {

using namespace primitives;
using Step = std::function<Var(Var x, Var y, Var i)>;

Var element_of(Var array, Var at) { return dynamic_slice(array, {at}, {1}); }
Var index_of(Var like, int64_t k) { return literal(*like.graph, k, {DType::i32, {}}); }
Var with_element_of(Var array, Var at, Var x) { return dynamic_update_slice(array, x, {at}); }

// Twenty steps that change y, which is x at first, in a program of arrays of a size; what the gradient does.
int64_t steps_of_gradient(int64_t size, const Step& step) {
  Builder b;
  const Var x = b.input(DType::f64, {size});
  const auto r = while_loop(
      *b.g, {x * 0.5, b.scalar(0, DType::i32)}, [](std::vector<Var>& s) { return s[1] < 20.0; },
      [&](std::vector<Var>& s) {
        return std::vector<Var>{step(in(*s[0].graph, x), s[0], s[1]), s[1] + 1.0};
      });
  b.output(reduce_sum(r[0] * r[0], {0}));
  const graph::GraphPtr g = transform::gradient(*b.g, {true}, false);
  transform::optimize(*g);
  loops::Program p = compiler::lower(*g);
  for (const compiler::Pass& pass : compiler::passes()) pass.run(p, {});
  runtime::Run state;  // which holds tapes
  LoopInterpreter run(p, {numbers(DType::f64, {size})}, {}, &state);
  run.run();
  return run.steps;
}
void expect_few_steps(const Step& step) {
  const int64_t difference = steps_of_gradient(20'000, step) - steps_of_gradient(10'000, step);
  EXPECT_LT(difference, 12 * 10'000);  // of twenty steps of a loop
}

TEST(LoopSteps, OfReversedReads) {
  expect_few_steps([](Var x, Var y, Var i) { return with_element_of(y, i, sin(element_of(reverse(x, {0}), i))); });
}
TEST(LoopSteps, OfStridedReads) {
  expect_few_steps([](Var x, Var y, Var i) {
    const Var third = slice(x, {0}, {x.shape()[0]}, {3}), few = slice(y, {2}, {9}, {3});
    return with_element_of(y, i, sin(element_of(third, i)) * reshape(reduce_sum(few, {0}), {1}));
  });
}
TEST(LoopSteps, OfBranchesInBranches) {
  expect_few_steps([](Var, Var y, Var i) {
    graph::Graph& g = *y.graph;
    const auto changed = [&](graph::Graph& to, double by) {
      const Var array = in(to, y), at = in(to, i);
      return with_element_of(array, at, sin(element_of(array, at) * by));
    };
    return if_else(
        g, i < 3.0, [&](graph::Graph& a) { return std::vector<Var>{changed(a, 1.1)}; },
        [&](graph::Graph& b) {
          return if_else(
              b, in(b, i) < 9.0, [&](graph::Graph& c) { return std::vector<Var>{changed(c, 0.7)}; },
              [&](graph::Graph& c) { return std::vector<Var>{changed(c, 0.4)}; });
        })[0];
  });
}
TEST(LoopSteps, OfLoopsInLoops) {
  expect_few_steps([](Var, Var y, Var i) {
    return while_loop(
        *y.graph, {y, index_of(y, 0)}, [](std::vector<Var>& s) { return s[1] * s[1] < 10.0; },
        [&](std::vector<Var>& s) {
          const Var at = in(*s[0].graph, i) + s[1];
          return std::vector<Var>{with_element_of(s[0], at, sin(element_of(s[0], at))), s[1] + 1.0};
        })[0];
  });
}
TEST(LoopSteps, OfReadsOfCallsPerElement) {
  expect_few_steps([](Var x, Var y, Var i) {
    const Var by = broadcast_in_dim(reshape(element_of(y, i), {}), x.shape(), {});
    return with_element_of(y, i, element_of(exp(sin(x) * by) + x * y, i));
  });
}

// y[i] joined with an element of x, or y at three places of which two are one with three elements.
TEST(LoopSteps, OfScatters) {
  const IndexDims by_element{{}, {0}, {}, {}, {0}, 1};
  for (const char* how : {"", "add", "mul", "maximum", "minimum"}) {
    SCOPED_TRACE(how);
    expect_few_steps([&](Var x, Var y, Var i) {
      return scatter(y, reshape(i, {1}), sin(element_of(x, i)), by_element, how, false);
    });
    expect_few_steps([&](Var x, Var y, Var i) {
      const Var one = reshape(i, {1}), all = concatenate({one, one + 1.0, one}, 0);
      return scatter(y, all, sin(dynamic_slice(x, {i}, {3})), by_element, how, false);
    });
  }
}

}  // namespace
}  // namespace anvil::test
