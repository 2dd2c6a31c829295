// The programs that must compile to good code: the result of every pass is right, and the
// shape of the final program is the expected one.
#include "compiler/graphs.h"
#include "primitives/vocabulary/composite.h"
#include "transform/reverse.h"
#include "transform/simplify.h"

namespace anvil::test {
namespace {

using namespace primitives;
using loops::For;
using loops::Store;

Var spread(Var v, Var like) {  // [1, m] or [n, 1] to [n, m]
  return broadcast_in_dim(v, like.shape(), {0, 1});
}
Var matmul(Var a, Var b) { return dot_general(a, b, {1}, {0}, {}, {}); }

TEST(Workloads, ChainIsOneLoop) {
  Builder b;
  Var v = b.input(DType::f32, {1000});
  for (int i = 0; i < 4; ++i) v = sqrt(maximum(v * 0.9 + 0.1, literal(v, 0)) + 1.0);
  b.output(v);
  loops::Program p = expect_passes_agree(*b.g, numbers_for(*b.g));
  EXPECT_EQ(count<For>(p.body), 1);
  EXPECT_EQ(count<Store>(p.body), 1);
}

TEST(Workloads, BlackScholesIsOneLoop) {
  Builder b;
  Var S = b.input(DType::f64, {301}), K = b.input(DType::f64, {301}), T = b.input(DType::f64, {301});
  auto phi = [](Var x) { return 0.5 * (1.0 + record("erf", {x * 0.7071067811865476})); };
  Var vst = 0.30 * sqrt(T), d1 = (log(S / K) + 0.065 * T) / vst, d2 = d1 - vst, df = K * exp(-0.02 * T);
  Var C = S * phi(d1) - df * phi(d2);
  b.output(C);
  b.output(C - S + df);
  loops::Program p = expect_passes_agree(*b.g, numbers_for(*b.g, 1, 30));
  EXPECT_EQ(count<For>(p.body), 1);
  EXPECT_EQ(p.arena_bytes, 0);
}

TEST(Workloads, SoftmaxKeepsNoMatrix) {
  Builder b;
  Var m = b.input(DType::f32, {40, 12});
  Var k = reduce_max(m, {0}, false), e = exp(m - spread(k, m));
  b.output(e / spread(reduce_sum(e, {0}, false), m));
  loops::Program p = expect_passes_agree(*b.g, numbers_for(*b.g));
  EXPECT_EQ(count<For>(p.body), 4);
  EXPECT_LE(largest_temporary(p), 40);
}

TEST(Workloads, LogSumExpAndMeanVariance) {
  Builder b;
  Var m = b.input(DType::f32, {40, 12});
  Var k = reduce_max(m, {0}, false);
  b.output(k + log(reduce_sum(exp(m - spread(k, m)), {0}, false)));
  loops::Program p = expect_passes_agree(*b.g, numbers_for(*b.g));
  EXPECT_EQ(count<For>(p.body), 3);
  EXPECT_EQ(p.arena_bytes, 0);

  Builder c;
  Var v = c.input(DType::f32, {1000});
  Var mean = reduce_sum(v, {0}) / 1000.0, d = v - broadcast_in_dim(mean, {1000}, {});
  c.output(mean);
  c.output(reduce_sum(d * d, {0}) / 999.0);
  p = expect_passes_agree(*c.g, numbers_for(*c.g));
  EXPECT_EQ(count<For>(p.body), 2);
  EXPECT_EQ(p.arena_bytes, 0);
}

TEST(Workloads, LayerNorm) {
  Builder b;
  Var m = b.input(DType::f32, {40, 12}), g = b.input(DType::f32, {40});
  Var mu = reduce_sum(m, {0}, false) / 40.0, d = m - spread(mu, m), v = reduce_sum(d * d, {0}, false) / 40.0;
  Var gm = spread(reshape(g, {40, 1}), m);
  b.output(d * spread(1.0 / sqrt(v + 1e-5), m) * gm + gm);
  loops::Program p = expect_passes_agree(*b.g, numbers_for(*b.g));
  EXPECT_EQ(count<For>(p.body), 4);
  EXPECT_LE(largest_temporary(p), 40);
}

TEST(Workloads, RowSumsAreVectorisedOverRows) {
  Builder b;
  b.output(reduce_sum(b.input(DType::f32, {256, 30}), {1}));
  loops::Program p = expect_passes_agree(*b.g, numbers_for(*b.g));
  const For& outer = std::get<For>(p.body.at(0).is);
  EXPECT_EQ(outer.kind, For::Kind::vector);
  EXPECT_EQ(outer.width, 16);
  EXPECT_EQ(outer.end, 256);
}

TEST(Workloads, SumOfAMatrixIsOneLoop) {
  Builder b;
  b.output(reduce_sum(b.input(DType::f64, {50, 20}), {0, 1}));
  loops::Program p = expect_passes_agree(*b.g, numbers_for(*b.g));
  EXPECT_EQ(count<For>(p.body), 1);
}

// A call after a sum, or another sum, spills nothing of it.
TEST(Workloads, SumsOneAfterTheOtherHaveAllRegisters) {
  Builder b;
  Var x = b.input(DType::f32, {4096, 64});
  const auto along = [&](Var v) { return broadcast_in_dim(v, x.shape(), {0}); };
  Var mean = reduce_sum(x, {1}) / 64.0, d = x - along(mean);
  b.output(record("rsqrt", {reduce_sum(d * d, {1}) / 64.0 + 1e-5}));
  const loops::Program p = compiler::compile(*b.g, {32, 16, false, 1e12, 1 << 24});
  ASSERT_EQ(p.body.size(), 1u) << print(p);
  EXPECT_EQ(std::get<For>(p.body[0].is).copies, 4) << print(p);
}

// Of steps whose operations wait for each other two are interleaved, as one of vectors of twice the width.
TEST(Workloads, LongChainsOverlap) {
  const auto width = [](int chains, int64_t n) {
    Builder b;
    Var x = b.input(DType::f32, {n});
    std::vector<Var> ends(static_cast<size_t>(chains), x);
    for (int k = 0; k < 24; ++k)
      ends[static_cast<size_t>(k % chains)] = ends[static_cast<size_t>(k % chains)] * x + 0.5 * k;
    Var sum = ends[0];
    for (size_t k = 1; k < ends.size(); ++k) sum = sum + ends[k];
    b.output(sum);
    return std::get<For>(compiler::compile(*b.g, {32, 16, false, 1e12}).body.at(0).is).width;
  };
  EXPECT_EQ(width(1, 4096), 16);
  EXPECT_EQ(width(8, 4096), 8);  // they run side by side
  EXPECT_EQ(width(1, 32), 8);    // the last step would repeat much
}
// A block of random bits serves two neighbours: of these there are so many that the blocks fill the registers. Its
// operations are on integers, which wait for each other: twice as many registers hold them.
TEST(Workloads, WhatNeighboursShareFillsRegisters) {
  const auto width = [](bool both) {
    Builder b;
    Var state = b.input(DType::ui64, {2});
    Var bits{b.g.get(),
             primitives::record(
                 *b.g, primitives::registry().at("rng_bit_generator"), {state.value},
                 {{"rng_algorithm", std::string("THREE_FRY")}, {"dtype", DType::ui32}, {"shape", Shape{4096}}})
                 .at(1)};
    if (both) {  // as many operations that neighbours do not share
      Var x = b.input(DType::ui32, {4096});
      for (int k = 0; k < 60; ++k) x = x * x + bits;
      bits = x;
    }
    b.output(bits);
    const auto program = compiler::compile(*b.g, {32, 16, false, 1e12});
    return std::get<For>(program.body.at(0).is).width;
  };
  EXPECT_EQ(width(false), 64);
  EXPECT_EQ(width(true), 32);
}
// Truth values are small, the numbers that they are about are not: these take few registers each.
TEST(Workloads, ComparisonsAreNoWiderThanNumbers) {
  Builder b;
  Var x = b.input(DType::f64, {4096}), y = x;
  for (int k = 0; k < 8; ++k) y = y * x + 0.5;
  Var inside = y < 0.0;
  for (int k = 0; k < 40; ++k) inside = inside | (y < double(k));
  b.output(select(inside, y, x));
  EXPECT_LE(std::get<For>(compiler::compile(*b.g, {32, 16, false, 1e12}).body.at(0).is).width, 16);
}

TEST(Workloads, WhatLeavesInAnotherShapeIsWrittenThere) {
  Builder b;
  Var x = b.input(DType::f32, {8, 6, 4}), y = b.input(DType::f32, {24, 10});
  Var sums = reduce_sum(x, {2});
  b.output(reshape(sums, {48}));
  b.output(reshape(matmul(reshape(x, {8, 24}), y), {4, 20}));
  b.output(reshape(transpose(exp(x), {2, 0, 1}), {32, 6}));
  b.output(sums * 2.0);
  b.output(reshape(x, {24, 8}));
  const loops::Program p = expect_passes_agree(*b.g, numbers_for(*b.g));
  EXPECT_EQ(count<Store>(p.body), 8) << print(p);  // four of exp, and four
  EXPECT_EQ(p.arena_bytes, 0) << print(p);
}

TEST(Workloads, StatesInAnotherShapeAreWrittenInPlace) {
  Builder b;
  Var x = b.input(DType::f64, {5, 8});
  auto r = while_loop(
      *b.g, {x, b.scalar(0, DType::i32)}, [](std::vector<Var>& s) { return s[1] < 4.0; },
      [](std::vector<Var>& s) {
        return std::vector<Var>{reshape(sin(reshape(s[0], {8, 5})) + 1.0, {5, 8}), s[1] + 1.0};
      });
  b.output(r[0]);
  b.output(reshape(r[0] * 2.0, {40}));
  expect_passes_agree(*b.g, numbers_for(*b.g), 1e-12);
}

graph::GraphPtr mlp(int64_t batch, int64_t width) {
  Builder b;
  Var x = b.input(DType::f32, {batch, 10}), y = b.input(DType::f32, {batch, 1});
  std::vector<int64_t> dims = {10, width, width, 1};
  std::vector<Var> W, B;
  for (size_t l = 0; l + 1 < dims.size(); ++l) {
    W.push_back(b.input(DType::f32, {dims[l], dims[l + 1]}));
    B.push_back(b.input(DType::f32, {1, dims[l + 1]}));
  }
  for (size_t l = 0; l < W.size(); ++l) {
    Var z = matmul(x, W[l]);
    z = z + spread(B[l], z);
    x = l + 1 < W.size() ? maximum(z, literal(z, 0)) : z;
  }
  Var d = x - y;
  b.output(reduce_sum(d * d, {0, 1}) / static_cast<double>(batch));
  std::vector<bool> wrt(b.g->inputs.size(), true);
  wrt[0] = wrt[1] = false;
  graph::GraphPtr g = transform::gradient(*b.g, wrt, true);
  for (size_t k = 0; k + 1 < g->outputs.size(); ++k) {
    Var p{g.get(), g->inputs[k + 2]}, dp{g.get(), g->outputs[k + 1]};
    g->outputs[k + 1] = (p - 1e-2 * dp).value;
  }
  transform::optimize(*g);
  return g;
}

TEST(Workloads, MlpStep) {
  graph::GraphPtr g = mlp(32, 20);
  expect_passes_agree(*g, numbers_for(*g), 1e-3);
}

TEST(Workloads, LogisticRegression) {
  Builder b;
  constexpr int64_t n = 201, k = 5;
  Var X = b.input(DType::f32, {n, k}), y = b.input(DType::f32, {n, 1});
  auto results = while_loop(
      *b.g, {literal(*b.g, 0, {DType::f32, {k, 1}}), b.scalar(0, DType::f32), b.scalar(0, DType::i32)},
      [](std::vector<Var>& s) { return s[2] < 7.0; },
      [&](std::vector<Var>& s) {
        Builder f;
        Var beta = f.input(DType::f32, {k, 1}), alpha = f.input(DType::f32, {});
        Var z = matmul(in(*f.g, X), beta);
        z = z + broadcast_to_like(alpha, z);
        f.output(reduce_sum(maximum(z, literal(z, 0)) + record("log1p", {exp(-abs(z))}) - in(*f.g, y) * z, {0, 1}) /
                 double(n));
        graph::GraphPtr g = transform::gradient(*f.g, {true, true}, false);
        auto d = graph::inline_calls(*g, {s[0].value, s[1].value}, *s[0].graph);
        auto grad = [&](size_t i) { return Var{s[0].graph, d[i]}; };
        return std::vector<Var>{s[0] - 0.1 * grad(0), s[1] - 0.1 * grad(1), s[2] + 1.0};
      });
  for (Var v : results) b.output(v);
  transform::optimize(*b.g);
  expect_passes_agree(*b.g, numbers_for(*b.g), 1e-3);
}

TEST(Workloads, ScalarLoopStaysInLocals) {
  Builder b;
  Var v = b.input(DType::f64, {});
  auto r = while_loop(
      *b.g, {v, b.scalar(0, DType::i32)}, [](std::vector<Var>& s) { return s[1] < 100.0; },
      [](std::vector<Var>& s) {
        return std::vector<Var>{s[0] * 0.999 + 0.001, s[1] + 1.0};
      });
  b.output(r[0]);
  b.output(r[1]);
  loops::Program p = expect_passes_agree(*b.g, numbers_for(*b.g));
  EXPECT_EQ(p.arena_bytes, 0);
  EXPECT_EQ(count<Store>(p.body), 2);
}

TEST(Workloads, HeatSwapsTwoGrids) {
  Builder b;
  constexpr int64_t n = 20;
  Var t = b.input(DType::f64, {n, n});
  auto r = while_loop(
      *b.g, {t, b.scalar(0, DType::i32)}, [](std::vector<Var>& s) { return s[1] < 5.0; },
      [](std::vector<Var>& s) {
        auto at = [&](int64_t i, int64_t j) { return slice(s[0], {i, j}, {i + n - 2, j + n - 2}, {1, 1}); };
        Var inside = at(1, 1) + 0.1 * (at(0, 1) + at(2, 1) + at(1, 0) + at(1, 2) - 4.0 * at(1, 1));
        Var two = literal(*s[0].graph, 2, {DType::i32, {}});
        return std::vector<Var>{dynamic_update_slice(s[0], inside, {two, two}), s[1] + 1.0};
      });
  b.output(r[0]);
  loops::Program p = expect_passes_agree(*b.g, numbers_for(*b.g));
  EXPECT_EQ(count<loops::Swap>(p.body), 1);
}

TEST(Workloads, SmallMatrixProductInALoop) {
  Builder b;
  Var a = b.input(DType::f64, {3, 3}), m = b.input(DType::f64, {3, 3});
  auto r = while_loop(
      *b.g, {a, b.scalar(0, DType::i32)}, [](std::vector<Var>& s) { return s[1] < 9.0; },
      [&](std::vector<Var>& s) {
        return std::vector<Var>{matmul(s[0], in(*s[0].graph, m)), s[1] + 1.0};
      });
  b.output(r[0]);
  expect_passes_agree(*b.g, numbers_for(*b.g));
}

TEST(Workloads, StoringOneElementPerStepIsInPlace) {
  Builder b;
  constexpr int64_t n = 50;
  auto r = while_loop(
      *b.g, {literal(*b.g, 0, {DType::f64, {n}}), b.scalar(1, DType::f64), b.scalar(1, DType::i32)},
      [](std::vector<Var>& s) { return s[2] <= double(n); },
      [](std::vector<Var>& s) {
        Var x = s[1] * 1.01;
        return std::vector<Var>{dynamic_update_slice(s[0], reshape(x, {1}), {s[2]}), x, s[2] + 1.0};
      });
  b.output(r[0]);
  loops::Program p = expect_passes_agree(*b.g, {});
  EXPECT_EQ(count<loops::Swap>(p.body), 0);
  LoopInterpreter run(p, {});
  run.run();
  EXPECT_LT(run.steps, n * 12);
}

TEST(Workloads, GradientOfALoopUsesATape) {
  for (Shape shape : {Shape{}, Shape{3}, Shape{20}}) {
    Builder b;
    Var x = b.input(DType::f64, shape), a = b.input(DType::f64, {});
    auto r = while_loop(
        *b.g, {x, b.scalar(0, DType::i32)}, [](std::vector<Var>& s) { return s[1] < 6.0; },
        [&](std::vector<Var>& s) {
          return std::vector<Var>{sin(s[0] * broadcast_to_like(in(*s[0].graph, a), s[0])) * 1.5, s[1] + 1.0};
        });
    b.output(shape.empty() ? r[0] : reduce_sum(r[0], {0}));
    graph::GraphPtr g = transform::gradient(*b.g, {true, true}, true);
    transform::optimize(*g);
    expect_passes_agree(*g, numbers_for(*g), 1e-9);
  }
}

TEST(Workloads, ChainGradientIsScalarAndFast) {
  Builder b;
  Var v = b.input(DType::f64, {}), a = b.input(DType::f64, {});
  Var x = v;
  for (int i = 0; i < 500; ++i) x = sin(x * a);
  b.output(x);
  graph::GraphPtr g = transform::gradient(*b.g, {true, false}, true);
  transform::optimize(*g);
  loops::Program p = expect_passes_agree(*g, numbers_for(*g), 1e-9);
  EXPECT_EQ(p.arena_bytes, 0);
  EXPECT_EQ(count<Store>(p.body), 2);
}

}  // namespace
}  // namespace anvil::test
