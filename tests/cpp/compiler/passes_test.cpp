// What single passes do, in their printed form, and how long they take.
#include <chrono>

#include "compiler/stage_text.h"
#include "transform/reverse.h"
#include "transform/simplify.h"

namespace anvil::test {
namespace {

using namespace primitives;
using loops::For;
using loops::Store;

TEST(Stages, NameEveryPass) {
  Builder b;
  b.output(b.input(DType::f32, {3}) + 1.0);
  std::vector<std::string> names;
  for (const compiler::Stage& s : compiler::stages(*b.g, {64, 32})) names.push_back(s.name);
  EXPECT_EQ(names, (std::vector<std::string>{"lower",    "unroll",    "inline",   "contraction", "pieces", "layout",
                                             "sums",     "merge",     "steps",    "shrink",      "states", "results",
                                             "rows",     "triangles", "collapse", "schedule",    "blocks", "streams",
                                             "parallel", "overlap",   "prefetch", "around",      "beside", "buffers"}));
}

TEST(Lower, OneNestForEachValue) {
  Builder b;
  Var x = b.input(DType::f32, {3, 4});
  b.output(reduce_sum(x * 2.0, {0}));
  EXPECT_EQ(after(*b.g, "lower"),
            "  t1: f32[3, 4] temporary\n"
            "  for j in 0..4 {\n"
            "    for i in 0..3 {\n"
            "      t1[i, j] = x1[i, j] * 2\n"
            "    }\n"
            "  }\n"
            "  for i in 0..4 {\n"
            "    a1 = 0\n"
            "    for p in 0..3 {\n"
            "      a1 += t1[p, i]\n"
            "    }\n"
            "    out1[i] = a1\n"
            "  }\n");
}

// An element of a value changes in a branch: where the value lies, unless the branch also gives what the value was.
TEST(Lower, ABranchChangesNothingThatItGives) {
  for (const bool given : {false, true}) {
    Builder b;
    const Var x = exp(b.input(DType::f64, {40})), u = b.input(DType::f64, {1}), at = b.scalar(7, DType::i32);
    const auto side = [&](double by) {
      return [&, by](graph::Graph& g) {
        std::vector<Var> results = {dynamic_update_slice(in(g, x), in(g, u) * by, {in(g, at)})};
        if (given) results.push_back(reverse(in(g, x), {0}));
        return results;
      };
    };
    for (Var v : if_else(*b.g, reshape(u, {}) < 0.5, side(2), side(3))) b.output(v);
    const std::string text = after(*b.g, "lower");
    EXPECT_EQ(text.find(" t1[7] = ") == std::string::npos, given) << text;
    expect_passes_agree(*b.g, numbers_for(*b.g), 1e-12);
  }
}

TEST(Inline, FunctionsAreComputedOnce) {
  Builder b;
  Var x = b.input(DType::f32, {30}), e = exp(x);
  b.output(slice(e, {0}, {29}, {1}) + slice(e, {1}, {30}, {1}));
  std::string text = after(*b.g, "inline");
  EXPECT_NE(text.find("t1[i] = exp(x1[i])"), std::string::npos) << text;
  EXPECT_NE(text.find("out1[i] = t1[i] + t1[i + 1]"), std::string::npos) << text;
}

TEST(Inline, LightProducersAreComputedAgain) {
  Builder b;
  Var x = b.input(DType::f32, {30}), e = x + 1.0;
  b.output(slice(e, {0}, {29}, {1}) + slice(e, {1}, {30}, {1}));
  EXPECT_NE(after(*b.g, "inline").find("out1[i] = (x1[i] + 1) + (x1[i + 1] + 1)"), std::string::npos)
      << after(*b.g, "inline");
}

TEST(Inline, ConversionsToLessStayWhereTheirOperandIsMade) {
  Builder b;
  Var x = b.input(DType::f64, {4, 30}), sums = reduce_sum(x, {0});
  Var small = broadcast_in_dim(convert(sums, DType::f32), {9, 30}, {1}), y = b.input(DType::f32, {9, 30});
  b.output(y * small);
  std::string text = after(*b.g, "shrink");
  EXPECT_NE(text.find("let t2 = f32("), std::string::npos) << text;
  EXPECT_EQ(text.find("t1[i]"), std::string::npos) << text;
}

TEST(Inline, AProductDoesNotRepeatItsOperands) {
  Builder b;
  Var x = b.input(DType::f32, {16, 16}), y = b.input(DType::f32, {16, 16});
  Var turned = transpose(y, {1, 0}), made = x + 1.0;
  b.output(dot_general(made, turned, {1}, {0}, {}, {}));
  std::string text = after(*b.g, "inline");
  EXPECT_NE(text.find("a1 += t2[i, p] * x2[j, p]"), std::string::npos) << text;
}

TEST(Inline, WhatLiesCloserTogetherBeforeItWasMovedForAViewIsReadThere) {
  for (const bool others : {false, true}) {
    Builder b;
    Var x = b.input(DType::f32, {8, 6}), turned = transpose(x, {1, 0});
    b.output(reshape(turned, {48}) * 2.0);
    b.output(transpose(turned, {1, 0}) * 3.0);
    if (others) b.output(turned + 4.0);  // has it closer together where it is now
    const std::string text = after(*b.g, "inline");
    EXPECT_NE(text.find("out1[i] = t1v"), std::string::npos) << text;
    EXPECT_EQ(text.find("out2[i, j] = x1[i, j] * 3") != std::string::npos, !others) << text;
    EXPECT_EQ(text.find("out3[i, j] = t1[i, j] + 4") != std::string::npos, others) << text;
    expect_passes_agree(*b.g, numbers_for(*b.g));
  }
}

TEST(Inline, WhatHasChangedSinceItWasMovedForAViewIsNotReadThere) {
  Builder b;
  Var x = b.input(DType::f64, {16, 16}), y = b.input(DType::f64, {256}), z = b.input(DType::f64, {16, 16});
  auto r = while_loop(
      *b.g, {x, y, z, b.scalar(1, DType::i32)}, [](std::vector<Var>& s) { return s[3] < 4.0; },
      [](std::vector<Var>& s) {
        Var one = literal(*s[0].graph, 1, {DType::i32, {}}), turned = transpose(s[0], {1, 0});
        Var sums = reshape(turned, {256}) + s[1];
        Var changed = dynamic_update_slice(s[0], slice(s[2], {0, 0}, {16, 1}, {1, 1}), {one, one});
        return std::vector<Var>{changed, sums, transpose(turned, {1, 0}) - s[2], s[3] + 1.0};
      });
  for (size_t i = 0; i < 3; ++i) b.output(r[i]);
  expect_passes_agree(*b.g, numbers_for(*b.g));
}

TEST(Layout, AnOperandIsPackedOnce) {
  Builder b;
  Var x = b.input(DType::f32, {16, 16}), w = b.input(DType::f32, {16, 16});
  for (int k = 0; k < 3; ++k) x = dot_general(w, exp(x), {0}, {0}, {}, {});
  b.output(x);
  std::string text = after(*b.g, "layout");
  auto first = text.find("= x2[p, i]");
  EXPECT_NE(first, std::string::npos) << text;
  EXPECT_EQ(text.find("= x2[p, i]", first + 1), std::string::npos) << text;
}

// A column of the packed operand changes in place between two products of one block.
// A few rows times a matrix that lies along the sum: the rows are turned so that the sum is a vector; a short one is none.
TEST(Layout, AFewRowsAreTurnedForALongSum) {
  for (const int64_t depth : {200, 20}) {
    Builder b;
    b.output(dot_general(b.input(DType::f32, {4, depth}), b.input(DType::f32, {depth, 90}), {1}, {0}, {}, {}));
    EXPECT_EQ(after(*b.g, "layout").find("temporary") != std::string::npos, depth == 200) << after(*b.g, "layout");
    const std::string text = after(*b.g, "schedule");
    EXPECT_EQ(text.find("in 0..200 vector 16 x 2 reduction") != std::string::npos, depth == 200) << text;
    for (const compiler::Target& target : targets) expect_passes_agree(*b.g, numbers_for(*b.g), 1e-4, target);
  }
}

TEST(Layout, AnOperandThatHasChangedIsPackedAgain) {
  Builder b;
  Var x = b.input(DType::f64, {16, 16}), w = b.input(DType::f64, {16, 16}), from = b.scalar(1, DType::i32);
  auto r = while_loop(
      *b.g, {x, w, from}, [](std::vector<Var>& s) { return s[2] < 4.0; },
      [](std::vector<Var>& s) {
        Var one = literal(*s[0].graph, 1, {DType::i32, {}});
        Var first = dot_general(s[0], s[1], {0}, {0}, {}, {});
        Var changed = dynamic_update_slice(s[0], slice(first, {0, 0}, {16, 1}, {1, 1}), {one, one});
        Var second = dot_general(changed, s[1], {0}, {0}, {}, {});
        return std::vector<Var>{changed, record("tanh", {first - second}), s[2] + 1.0};
      });
  b.output(r[0]);
  b.output(r[1]);
  const std::string text = after(*b.g, "layout");
  const auto changed = text.find("t1[i, 1] = ");
  ASSERT_NE(changed, std::string::npos) << text;
  EXPECT_LT(text.find("= t1[p, i]"), changed) << text;
  EXPECT_NE(text.find("= t1[p, i]", changed), std::string::npos) << text;
  expect_passes_agree(*b.g, numbers_for(*b.g));
}

// Stores of what was just loaded.
int copies(const loops::Block& block) {
  int n = 0;
  for (const loops::Stmt& s : block) {
    if (auto store = std::get_if<Store>(&s.is)) n += store->value->op == loops::Op::load;
    if (auto f = std::get_if<For>(&s.is)) n += copies(f->body);
  }
  return n;
}

// What a reader of StableHLO makes of: reshape, product, reshape, softmax, reshape.
TEST(Layout, ReshapesInRowMajorOrderCopyNothing) {
  Builder b;
  Var x = b.input(DType::f32, {4, 6, 16}), w = b.input(DType::f32, {16, 16});
  auto turned = [](Var v) {
    std::vector<int64_t> p;
    for (auto d = static_cast<int64_t>(v.shape().size()); d-- > 0;) p.push_back(d);
    return transpose(v, p);
  };
  auto row_major = [&](Var v, Shape shape) { return turned(reshape(turned(v), Shape(shape.rbegin(), shape.rend()))); };
  Var y = exp(x);
  for (int layer = 0; layer < 3; ++layer) {
    y = row_major(dot_general(row_major(y, {24, 16}), w, {1}, {0}, {}, {}), {4, 6, 16});
    Var e = exp(y - broadcast_in_dim(reduce_max(y, {2}), y.shape(), {0, 1}));
    y = e / broadcast_in_dim(reduce_sum(e, {2}), y.shape(), {0, 1});
  }
  b.output(y);
  transform::optimize(*b.g);
  loops::Program p = expect_passes_agree(*b.g, numbers_for(*b.g));
  // the weights are packed for the vector loop, once
  EXPECT_LE(copies(p.body), 1) << print(p);
}

TEST(Merge, KeepsTheOrderOfDependences) {
  Builder b;  // the second nest needs all of the first: no common loop
  Var x = b.input(DType::f32, {30}), e = exp(x);
  b.output(e);
  b.output(e * record("reverse", {e}, {{"dims", std::vector<int64_t>{0}, true}}));
  EXPECT_EQ(count<For>(expect_passes_agree(*b.g, numbers_for(*b.g)).body), 2);
}

// Ten functions in a step of a loop are a vector, where lines of ten numbers before and behind them are vectors each.
TEST(Merge, FunctionsAmongShortLinesAreVectors) {
  for (const int64_t line : {10, 40}) {
    Builder b;
    Var w = b.input(DType::f64, {line, 10}), x = b.input(DType::f64, {line}), sums = b.input(DType::f64, {line, 10});
    Var f = record("tanh", {dot_general(x, w, {0}, {0}, {}, {})});
    b.output(sums + dot_general(reshape(x, {line, 1}), reshape(f, {1, 10}), {1}, {0}, {}, {}));
    const std::string text = after(*b.g, "schedule");
    const auto function = text.find("tanh"), loop = text.rfind("for ", function);
    EXPECT_EQ(text.substr(loop, text.find("\n", loop) - loop).find("in 0..10 vector") != std::string::npos, line == 10)
        << text;
    for (const compiler::Target& target : targets) expect_passes_agree(*b.g, numbers_for(*b.g), 1e-10, target);
  }
}

// A sum along memory is a vector of its own, and so is what a function makes of many such sums.
TEST(Merge, FunctionsOfSumsAlongMemoryAreVectors) {
  for (const int64_t columns : {1, 4})
    for (const int64_t rows : {300, 3}) {
      Builder b;
      Var w = b.input(DType::f32, {64, rows}), x = b.input(DType::f32, {64, columns});
      b.output(record("tanh", {dot_general(x, w, {0}, {0}, {}, {})}));
      const std::string text = after(*b.g, "schedule");
      const auto function = text.find("tanh"), loop = text.rfind("for ", function);
      const std::string around = text.substr(loop, text.find("\n", loop) - loop);
      EXPECT_EQ(around.find("vector") != std::string::npos && around.find("reduction") == std::string::npos,
                rows == 300)
          << text;
      for (const compiler::Target& target : targets) expect_passes_agree(*b.g, numbers_for(*b.g), 1e-4, target);
    }
}

TEST(Results, WhatTheLastReaderReplacesLiesThere) {
  for (const bool elsewhere : {false, true}) {  // what is read at other places, too, must stay
    Builder b;
    Var x = b.input(DType::f32, {128, 128}), y = exp(x);
    Var shares = y / broadcast_in_dim(reduce_sum(y, {1}), {128, 128}, {0});
    b.output(elsewhere ? shares + reverse(y, {0}) : shares);
    const std::string text = after(*b.g, "results");
    EXPECT_EQ(text.find("f32[128, 128] temporary") != std::string::npos, elsewhere) << text;
    expect_passes_agree(*b.g, numbers_for(*b.g), 1e-4);
  }
}

TEST(Layout, ATransposedResultIsMadeTransposed) {
  Builder b;
  Var x = b.input(DType::f32, {32, 20}), y = b.input(DType::f32, {32, 24}), w = b.input(DType::f32, {20, 24});
  b.output(w - transpose(dot_general(y, x, {0}, {0}, {}, {}), {1, 0}));
  loops::Program p = expect_passes_agree(*b.g, numbers_for(*b.g), 1e-4);
  EXPECT_EQ(count<Store>(p.body), 2);  // of the packed operand and of the result
}

// Sums that read much more than they make go on reading it in the order of memory.
TEST(Layout, SumsOfMuchAreNotMadeTransposed) {
  for (const auto& [depth, turned] : {std::pair<int64_t, bool>{4, true}, {64, false}}) {
    Builder b;
    Var x = b.input(DType::f32, {16, depth, 32}), w = b.input(DType::f32, {16, depth}),
        y = b.input(DType::f32, {32, 16});
    Var sums = reduce_sum(x * broadcast_in_dim(w, x.shape(), {0, 1}), {1});
    b.output(y - transpose(sums, {1, 0}));
    EXPECT_EQ(after(*b.g, "layout").find("f32[32, 16] temporary") != std::string::npos, turned) << depth;
    expect_passes_agree(*b.g, numbers_for(*b.g), 1e-4);
  }
}

// Queries of several heads times the keys that they share: examples and groups are one vector, as a copy of the queries
// lies as the keys do. Not for a few products.
TEST(Layout, LoopsOverFewRowsAreOneByACopyOfWhatIsSmall) {
  for (const auto& [keys, one] : {std::pair<int64_t, bool>{50, true}, {1, false}}) {
    Builder b;
    Var q = b.input(DType::f32, {4, 12, 10}), k = b.input(DType::f32, {4, 4, keys, 10});
    b.output(exp(dot_general(reshape(q, {4, 3, 4, 10}), k, {3}, {3}, {0, 2}, {0, 1})));
    const std::string text = after(*b.g, "collapse");
    EXPECT_EQ(text.find("x1p") != std::string::npos, one) << text;
    EXPECT_EQ(text.find("for i in 0..16 {") != std::string::npos, one) << text;
    expect_passes_agree(*b.g, numbers_for(*b.g), 1e-4);
  }
}

// Nor by one that is as large as the nest.
TEST(Layout, SmallOperandsAreNotCopiedForEachStepOfALongLoop) {
  Builder b;
  Var x = b.input(DType::f64, {7, 4000, 5}), w = b.input(DType::f64, {7, 5});
  b.output(dot_general(x, w, {2}, {1}, {0}, {0}));
  const std::string text = after(*b.g, "collapse");
  EXPECT_EQ(text.find("x2p"), std::string::npos) << text;
  expect_passes_agree(*b.g, numbers_for(*b.g), 1e-12);
}

// Crossproducts of many matrices, whose elements lie side by side: some of the matrices stay in the cache for all
// products with their columns. Those left over follow.
TEST(Blocks, WhatIsReadAgainStaysInTheCache) {
  const auto text_of = [](int64_t matrices, int64_t rows, int64_t columns) {
    Builder b;
    Var x = b.input(DType::f64, {matrices, rows, columns}), y = b.input(DType::f64, {matrices, rows, columns});
    b.output(dot_general(x, y, {1}, {1}, {0}, {0}));
    const compiler::Target target = {64, 32};
    expect_passes_agree(*b.g, numbers_for(*b.g), 1e-12, target);
    return after(*b.g, "blocks", target);
  };
  const auto blocks = [](int64_t count, int columns, int k, int j, int64_t size) {
    const std::string all = std::to_string(columns);
    return "for i in 0.." + std::to_string(count) + " {\n    for k in 0.." + all + " unroll " + std::to_string(k) +
           " {\n      for j in 0.." + all + " unroll " + std::to_string(j) + " {\n        for i2 in 0.." +
           std::to_string(size) + " ";
  };
  // all columns of one are in registers together, some of the other
  const std::string large = text_of(210, 100, 6);
  EXPECT_NE(large.find(blocks(5, 6, 6, 3, 40)), std::string::npos) << large;
  EXPECT_NE(large.find("in 200..210 "), std::string::npos) << large;
  // some of both
  const std::string wide = text_of(200, 50, 12);
  EXPECT_NE(wide.find(blocks(4, 12, 6, 4, 48)), std::string::npos) << wide;
  EXPECT_NE(wide.find("in 192..200 "), std::string::npos) << wide;
  const std::string small = text_of(200, 10, 6);
  EXPECT_NE(small.find("in 0..200 "), std::string::npos) << small;
}

TEST(Buffers, ShareMemoryOverTime) {
  Builder b;
  Var x = b.input(DType::f64, {100});
  for (int k = 0; k < 6; ++k) x = exp(-abs(cumsum(x, 0)));
  b.output(x);
  loops::Program p = expect_passes_agree(*b.g, numbers_for(*b.g));
  EXPECT_LE(p.arena_bytes, 3 * 832);
}

TEST(Empty, TensorsWithoutElements) {
  Builder b;
  Var x = b.input(DType::f64, {0, 3}), y = b.input(DType::f64, {3, 0});
  b.output(x + 1.0);
  b.output(reduce_sum(x, {0}));
  b.output(reduce_max(x, {0, 1}));
  b.output(dot_general(y, x, {1}, {0}, {}, {}));
  expect_passes_agree(*b.g, numbers_for(*b.g));
}

TEST(Outputs, MayBeInputsAndLiteralsAndRepeated) {
  Builder b;
  Var x = b.input(DType::f64, {5}), y = x * 2.0;
  b.output(x);
  b.output(y);
  b.output(y);
  b.output(literal(x, 3));
  expect_passes_agree(*b.g, numbers_for(*b.g));
}

TEST(Time, IsLinearInTheSizeOfTheGraph) {
  Builder b;
  Var v = b.input(DType::f64, {}), a = b.input(DType::f64, {}), x = v, w = b.input(DType::f32, {50});
  for (int i = 0; i < 3000; ++i) x = sin(x * a), w = w * 1.01 + 0.5;
  b.output(x);
  graph::GraphPtr g = transform::gradient(*b.g, {true, false, false}, true);
  g->outputs.push_back(w.value);
  transform::optimize(*g);
  auto start = std::chrono::steady_clock::now();
  compiler::compile(*g, {64, 32});
  EXPECT_LT(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(),
            10);  // well under one when nothing else runs
}

}  // namespace
}  // namespace anvil::test
