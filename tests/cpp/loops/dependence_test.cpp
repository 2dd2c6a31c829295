// Which steps of loops meet in memory, against all the steps run through one by one.
#include "loops/dependence.h"

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <random>

namespace anvil::loops {
namespace {

constexpr Variable v = 0, w = 1, i = 2, j = 3, outer = 4, bound = 5;

// Buffer 0 in one shape, the same memory as a vector, buffer 1, and buffer 2 beside them.
Program program(Shape shape) {
  Program p;
  for (const char* name : {"v", "w", "i", "j", "o"}) p.variables.push_back({name, false});
  p.variables.push_back({"p", true, 0, 3});
  Buffer b;
  b.shape = shape;
  p.buffers.push_back(b);
  b.shape = {elements(shape)};
  b.alias = 0;
  p.buffers.push_back(b);
  b.alias = -1;
  p.buffers.push_back(b);
  return p;
}
Stmt store(Program& p, BufferId b, Index place) {
  return {Store{b, std::move(place), p.exprs.constant(0, DType::f32)}};
}
For loop(Variable x, int64_t begin, int64_t end, Block body) {
  For f;
  f.variable = x, f.begin = begin, f.end = end, f.body = std::move(body);
  return f;
}

struct Seen {
  bool together = false, apart = false;  // equal elements in the same step, in different ones
};
// All values of the variables of both accesses; `outer` has one for both.
Seen enumerate(const Program& p, const Access& a, const Steps& s, const Access& b, const Steps& t) {
  Seen seen;
  const Affine x = linear(p, a.view, a.place), y = linear(p, b.view, b.place);
  using Values = std::map<Variable, int64_t>;
  const auto evaluate = [](const Affine& e, const Values& values) {
    int64_t sum = e.constant;
    for (const Term& term : e.terms) sum += term.factor * values.at(term.variable);
    return sum;
  };
  const auto each = [&](const Access& access, const Steps& steps, int64_t o,
                        const std::function<void(const Values&)>& f) {
    std::vector<Range> ranges = access.inside;
    ranges.push_back({steps.variable, steps.begin, steps.end - 1});
    if (steps.body.binds(bound)) ranges.push_back({bound, 0, 3});
    std::function<void(size_t, Values&)> run = [&](size_t k, Values& values) {
      if (k == ranges.size()) return f(values);
      for (int64_t n = ranges[k].low; n <= ranges[k].high; ++n) values[ranges[k].variable] = n, run(k + 1, values);
    };
    Values values{{outer, o}, {bound, 0}};
    run(0, values);
  };
  for (int64_t o = 0; o < 3; ++o)
    each(a, s, o, [&](const Values& at_a) {
      each(b, t, o, [&](const Values& at_b) {
        if (evaluate(x, at_a) != evaluate(y, at_b)) return;
        (at_a.at(s.variable) == at_b.at(t.variable) ? seen.together : seen.apart) = true;
      });
    });
  return seen;
}

TEST(Dependence, WhatIsProvenHoldsForEveryStep) {
  std::mt19937 random(7);
  const auto pick = [&](int n) { return static_cast<int64_t>(random() % static_cast<unsigned>(n)); };
  int proven = 0, missed = 0;
  for (int trial = 0; trial < 5000; ++trial) {
    Program p = program({64, 64});
    const int64_t begin = pick(3), end = begin + 1 + pick(5);
    const bool binds = pick(4) == 0;
    const auto affine = [&](Variable step, std::vector<Variable> inner) {
      Affine a;
      a.constant = pick(12);
      if (pick(4)) a = a + variable(step) * (1 + pick(5));
      for (Variable x : inner)
        if (pick(2)) a = a + variable(x) * (1 + pick(9));
      if (pick(5) == 0) a = a + variable(outer);
      if (binds && pick(3) == 0) a = a + variable(bound);
      return a;
    };
    const auto nest = [&](Variable step, Variable inner) {
      const bool view = pick(4) == 0;
      Index place = view ? Index{affine(step, {inner})} : Index{affine(step, {inner}), affine(step, {inner})};
      Block body{store(p, view ? 1 : 0, place)};
      Block around{{loop(inner, 0, 1 + pick(4), std::move(body))}};
      if (binds) around.insert(around.begin(), {Bind{bound, p.exprs.constant(0, DType::i64)}});
      return around;
    };
    const Block first = nest(v, i), second = nest(w, j);
    const Footprint x(p, first), y(p, second);
    const Steps s{v, begin, end, x}, t{w, begin, end, y};
    const Access &a = x.memory().at(0).accesses.at(0), &b = y.memory().at(0).accesses.at(0);
    const Seen seen = enumerate(p, a, s, b, t);
    const Meeting m = meeting(p, a, s, b, t);
    if (m == Meeting::never) {
      EXPECT_FALSE(seen.together || seen.apart) << trial;
    } else if (m == Meeting::same_step) {
      EXPECT_FALSE(seen.apart) << trial;
    }
    proven += m != Meeting::unknown;
    missed += m == Meeting::unknown && !seen.apart;
    const Seen own = enumerate(p, a, s, a, s);
    if (meeting(p, a, s, a, s) == Meeting::same_step) {
      EXPECT_FALSE(own.apart) << trial;
    }
    EXPECT_NE(meeting(p, a, s, a, s), Meeting::never) << trial;
    // a buffer that only one of them touches changes nothing
    const bool fuse = may_fuse(p, s, t);
    EXPECT_TRUE(!fuse || !seen.apart) << trial;
    Block more = first, others = second;
    more.push_back(store(p, 2, {variable(v)}));
    others.push_back(store(p, 2, {variable(w)}));
    const Footprint larger(p, more), large(p, others);
    EXPECT_EQ(may_fuse(p, {v, begin, end, larger}, t), fuse) << trial;
    EXPECT_EQ(may_fuse(p, s, {w, begin, end, large}), fuse) << trial;
    EXPECT_EQ(may_fuse(p, {v, begin, end, larger}, {w, begin, end, large}), fuse) << trial;
  }
  EXPECT_GT(proven, missed);  // of what holds, more is proven than not
}

Meeting meet(Program& p, Index first, Index second, int64_t extent, Block more = {}) {
  Block a{store(p, static_cast<BufferId>(first.size() == 1), first)},
      b{store(p, static_cast<BufferId>(second.size() == 1), second)};
  for (Stmt& s : more) a.insert(a.begin(), s), b.insert(b.begin(), s);
  const Footprint x(p, a), y(p, b);
  return meeting(p, x.memory().at(0).accesses.at(0), {v, 0, extent, x}, y.memory().at(0).accesses.at(0),
                 {w, 0, extent, y});
}

TEST(Dependence, DimensionsThatTheStepsIndexAlone) {
  Program p = program({10, 10});
  const Affine a = variable(v), b = variable(w), o = variable(outer);
  EXPECT_EQ(meet(p, {a, o}, {b, o}, 10), Meeting::same_step);
  EXPECT_EQ(meet(p, {o, a}, {o, b}, 10), Meeting::same_step);
  EXPECT_EQ(meet(p, {a, o}, {o, b}, 10), Meeting::unknown);
  EXPECT_EQ(meet(p, {a, {}}, {b + 1, {}}, 9), Meeting::unknown);        // the step before
  EXPECT_EQ(meet(p, {a * 2, {}}, {b * 2 + 1, {}}, 4), Meeting::never);  // even and odd
  EXPECT_EQ(meet(p, {a, {}}, {b + 5, {}}, 5), Meeting::never);          // beyond the loop
  EXPECT_EQ(meet(p, {a, {}}, {a, {3, {}}}, 3), Meeting::never);
  EXPECT_EQ(meet(p, {{}, {}}, {{}, {}}, 2), Meeting::unknown);
  EXPECT_EQ(meet(p, {a + variable(bound), o}, {b + variable(bound), o}, 4), Meeting::same_step);  // bound around both
}

TEST(Dependence, ParametersBoundInsideOfAStepMove) {
  Program p = program({10, 10});
  const Affine a = variable(v), b = variable(w), q = variable(bound);
  Block bind{{Bind{bound, p.exprs.constant(0, DType::i64)}}};
  EXPECT_EQ(meet(p, {a + q, {}}, {b + q, {}}, 4, bind), Meeting::unknown);
  EXPECT_EQ(meet(p, {a * 4 + q, {}}, {b * 4 + q, {}}, 2, bind), Meeting::same_step);  // q is less than 4
}

TEST(Dependence, ViewsAreComparedByTheirOffset) {
  Program p = program({8, 8});
  const Affine a = variable(v), b = variable(w);
  EXPECT_EQ(meet(p, {{}, a}, {b * 8}, 8), Meeting::same_step);
  EXPECT_EQ(meet(p, {{1, {}}, a}, {b * 8}, 8), Meeting::never);
  EXPECT_EQ(meet(p, {a, {}}, {b * 8}, 8), Meeting::unknown);
}

TEST(Dependence, LoopsFuseWhereOnlyEqualStepsMeet) {
  Program p = program({10, 10});
  const auto columns = [&](Variable column, Variable row) {
    return loop(column, 0, 10, {{loop(row, 0, 10, {store(p, 0, {variable(row), variable(column)})})}});
  };
  // for v { for i { t[i, v] } }, for w { for j { t[w, j] } }: columns and rows meet anywhere
  const For first = columns(v, i), second = columns(w, j);
  For across = loop(w, 0, 10, {{loop(j, 0, 10, {store(p, 0, {variable(w), variable(j)})})}});
  const Footprint x(p, first.body), y(p, second.body), z(p, across.body);
  EXPECT_TRUE(may_fuse(p, steps(first, x), steps(second, y)));
  EXPECT_FALSE(may_fuse(p, steps(first, x), steps(across, z)));
  EXPECT_FALSE(may_fuse(p, steps(across, z), steps(first, x)));
  EXPECT_TRUE(steps_apart(p, steps(first, x)));
  EXPECT_TRUE(conflict(x, y));
  // a local that goes from one to the other
  p.locals.push_back({"a", DType::f32});
  For sums = loop(v, 0, 10, {{Update{0, Op::add, p.exprs.constant(1, DType::f32)}}});
  For reads = loop(w, 0, 10, {{Store{0, {variable(w), {}}, p.exprs.local(0, DType::f32)}}});
  const Footprint sum(p, sums.body), read(p, reads.body);
  EXPECT_FALSE(may_fuse(p, steps(sums, sum), steps(reads, read)));
  EXPECT_TRUE(conflict(sum, read));
}

TEST(Dependence, MoreAccessesThanAreKeptMayBeAnything) {
  Program p = program({1000, 1});
  Block body;
  for (int64_t k = 0; k < 200; ++k) body.push_back(store(p, 0, {variable(v) * 200 + k, {}}));
  const Footprint x(p, body);
  EXPECT_TRUE(x.memory().at(0).whole);
  EXPECT_FALSE(steps_apart(p, {v, 0, 5, x}));
}

}  // namespace
}  // namespace anvil::loops
