// Tensors that are made in pieces, and what reads them.
#include "compiler/graphs.h"

namespace anvil::test {
namespace {

using namespace primitives;

Var joined(Var a, Var b, int64_t dim) { return concatenate({a, b}, dim); }
Var rolled(Var x, int64_t by, int64_t dim) {
  const auto d = static_cast<size_t>(dim);
  Shape zero(x.shape().size(), 0), one(x.shape().size(), 1), border = zero, end = x.shape();
  border[d] = end[d] = x.shape()[d] - by;
  return joined(slice(x, border, x.shape(), one), slice(x, zero, end, one), dim);
}
std::string text_after_pieces(const graph::Graph& g) {
  for (const compiler::Stage& s : compiler::stages(g, {64, 32}))
    if (s.name == "pieces") return s.text;
  return "no such pass";
}
size_t temporaries(const graph::Graph& g) {
  const std::string text = text_after_pieces(g);
  size_t n = 0;
  for (size_t at = 0; (at = text.find(" temporary", at)) != std::string::npos; ++at) ++n;
  return n;
}
void expect_valid(const graph::Graph& g) {
  for (const compiler::Target& target : targets) expect_passes_agree(g, numbers_for(g), 1e-12, target);
}

TEST(Pieces, AreReadWhereTheyComeFrom) {
  Builder b;
  Var x = b.input(DType::f64, {200});
  b.output(rolled(x, 1, 0) - x);
  EXPECT_EQ(text_after_pieces(*b.g),
            "program(x1: f64[200]) -> (out1: f64[200])\n"
            "  out1[0] = x1[199] - x1[0]\n"
            "  for i in 0..199 {\n"
            "    out1[i + 1] = x1[i] - x1[i + 1]\n"
            "  }\n");
  expect_valid(*b.g);
}

// A step on a periodic grid: both states are made in one pass over memory.
TEST(Pieces, ReadersOfTheResultAreCutAlike) {
  Builder b;
  Var u = b.input(DType::f64, {140, 6}), v = b.input(DType::f64, {140, 6});
  auto r = while_loop(
      *b.g, {u, v, b.scalar(0, DType::i32)}, [](std::vector<Var>& s) { return s[2] < 2.0; },
      [](std::vector<Var>& s) {
        Var sum = rolled(s[0], 1, 0) + rolled(s[0], 139, 0) + rolled(s[0], 1, 1) + rolled(s[0], 5, 1);
        Var next = s[1] + 0.1 * (sum - 4.0 * s[0]);
        return std::vector<Var>{s[0] + 0.1 * next, next, s[2] + 1.0};
      });
  b.output(r[0]);
  b.output(r[1]);
  EXPECT_EQ(temporaries(*b.g), 7u) << text_after_pieces(
      *b.g);  // the states, the next ones, and the counter with its condition
  expect_valid(*b.g);
}

// The steps of a record have a place that is known after the first reader of the pieces.
TEST(Pieces, AReaderWhosePlaceIsKnownLaterStaysThere) {
  Builder b;
  Var x = b.input(DType::f64, {40, 6}), y = b.input(DType::f64, {24, 6}), w = b.input(DType::f64, {64, 6});
  auto r = while_loop(
      *b.g, {b.scalar(0, DType::i32), w, fill(*b.g, 0, {DType::f64, {64, 6, 3}})},
      [](std::vector<Var>& s) { return s[0] < 3.0; },
      [&](std::vector<Var>& s) {
        graph::Graph& g = *s[0].graph;
        const Var t = record("tanh", {joined(in(g, x), in(g, y), 0) + s[1]});
        const Var place = s[0] * s[0] - s[0];
        return std::vector<Var>{s[0] + 1.0, t * 0.5, with_element(s[2], 2, place, t)};
      });
  b.output(r[1]);
  b.output(r[2]);
  expect_valid(*b.g);
}

// Each piece is computed once: by the only reader, or before two of them.
TEST(Pieces, FunctionsAreComputedOnce) {
  for (const bool twice : {false, true}) {
    Builder b;
    Var x = b.input(DType::f64, {200}), y = b.input(DType::f64, {150});
    Var t = joined(record("tanh", {x}), record("tanh", {y}), 0), w = b.input(DType::f64, {350});
    b.output(t * w);
    if (twice) b.output(w - t);
    const std::string text = text_after_pieces(*b.g);
    size_t n = 0;
    for (size_t at = 0; (at = text.find("tanh", at)) != std::string::npos; ++at) ++n;
    EXPECT_EQ(n, 2u) << text;
    expect_valid(*b.g);
  }
}

// The cotangents of slices are padded and added up: what is computed for several readers is kept without the padding,
// also where one of the sums is not read element by element.
TEST(Pieces, ThatAreComputedAreKeptWithoutTheirPadding) {
  Builder b;
  Var x = b.input(DType::f64, {40, 30}), y = b.input(DType::f64, {40, 30}), zero = b.scalar(0, DType::f64);
  const auto padded = [&](Var v, int64_t low) { return pad(v, zero, {0, low}, {0, 60 - low}, {0, 0}); };
  Var first = padded(sinh(x), 0), second = padded(x * y, 30), third = padded(exp(y), 60);
  b.output(first + second + third);
  Var two = first + second;
  b.output(dot_general(b.input(DType::f64, {50, 40}), two, {1}, {0}, {}, {}));
  b.output(reduce_sum(two, {0}));
  const std::string text = text_after_pieces(*b.g);
  const auto buffers_of = [&](const std::string& shape) {
    size_t n = 0;
    for (size_t at = 0; (at = text.find("f64[" + shape + "] temporary", at)) != std::string::npos; ++at) ++n;
    return n;
  };
  EXPECT_EQ(buffers_of("40, 30"), 2u) << text;  // of what is read twice
  EXPECT_EQ(buffers_of("40, 90"), 1u) << text;  // the sum of two
  expect_valid(*b.g);
}

// Readers that take the result in another order, elsewhere, or as a sum, and pieces short in memory.
TEST(Pieces, OtherReadersSeeAllOfIt) {
  for (const Shape& shape : {Shape{70, 70}, Shape{5, 130}, Shape{130, 5}}) {
    Builder b;
    Var x = b.input(DType::f64, shape), y = rolled(x, 2, 0) * x, z = rolled(x, 3, 1) * y;
    b.output(transpose(y, {1, 0}) + transpose(z, {1, 0}));
    b.output(y * rolled(z, 1, 0));
    b.output(reduce_sum(z, {0}));
    if (shape[0] == shape[1]) b.output(exp(y) * transpose(y, {1, 0}));
    expect_valid(*b.g);
  }
}

// The result is only a part of what is read behind it.
TEST(Pieces, OfAPieceAreNotTheWhole) {
  Builder b;
  Var x = b.input(DType::f64, {90, 7}), y = b.input(DType::f64, {90, 1});
  Var inner = joined(exp(x), x * x, 1), outer = joined(y, inner, 1);
  b.output(outer);
  b.output(outer);
  b.output(outer * 2.0);
  expect_valid(*b.g);
}

// What a piece holds changes between the piece and its reader.
TEST(Pieces, OfAStateThatChangesStayAsTheyWere) {
  Builder b;
  Var x = b.input(DType::f64, {150, 3}), zero = b.scalar(0, DType::i32);
  auto r = while_loop(
      *b.g, {x * 2.0, x, zero}, [](std::vector<Var>& s) { return s[2] < 2.0; },
      [&](std::vector<Var>& s) {
        Var before = rolled(s[0], 1, 0);
        Var from = literal(*s[0].graph, 1, {DType::i32, {}});
        Var changed = dynamic_update_slice(s[0], slice(s[1], {0, 0}, {1, 3}, {1, 1}), {from, from - from});
        return std::vector<Var>{changed, before + changed, s[2] + 1.0};
      });
  b.output(r[0]);
  b.output(r[1]);
  expect_valid(*b.g);
}

// The place of the reader is known only when the program runs.
TEST(Pieces, OfWhatALoopRecords) {
  Builder b;
  Var x = b.input(DType::f64, {150}), zero = b.scalar(0, DType::i32);
  auto r = while_loop(
      *b.g, {x, b.input(DType::f64, {150, 4}) * 2.0, zero}, [](std::vector<Var>& s) { return s[2] < 3.0; },
      [](std::vector<Var>& s) {
        Var from = literal(*s[0].graph, 0, {DType::i32, {}}), next = rolled(s[0], 1, 0) * 0.5;
        return std::vector<Var>{next, dynamic_update_slice(s[1], reshape(rolled(next, 3, 0), {150, 1}), {from, s[2]}),
                                s[2] + 1.0};
      });
  b.output(r[0]);
  b.output(r[1]);
  expect_valid(*b.g);
}

}  // namespace
}  // namespace anvil::test
