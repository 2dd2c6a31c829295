// Which loops become vectors and blocks of registers, and in which order they come.
#include "compiler/stage_text.h"
#include "primitives/vocabulary/composite.h"
#include "support/regions.h"

namespace anvil::test {
namespace {

using namespace primitives;
using loops::For;
using loops::Store;

TEST(Schedule, TransposesWalkAlongLines) {
  Builder b;
  b.output(transpose(b.input(DType::f32, {100, 20, 90}), {2, 1, 0}));
  loops::Program p = expect_passes_agree(*b.g, numbers_for(*b.g));
  // the loop over the first dimension of the input, 100 steps, has moved next to the vector loop; that over the
  // second one, 20 steps, is four tasks
  std::string text = print(p);
  auto outer = text.find("in 0..5 {"), along = text.find("in 0..100 unroll 16"), lanes = text.find("vector 16");
  EXPECT_TRUE(outer < along && along < lanes && lanes != std::string::npos) << text;
}

// The loop along the reads has fewer steps than vectors have lanes.
TEST(Schedule, ShortLoopsAlongReadsAreMadeAtOnceToo) {
  for (const int64_t n : {4, 9, 15}) {
    Builder b;
    b.output(transpose(b.input(DType::f32, {n, 5000}), {1, 0}));
    const std::string text = print(expect_passes_agree(*b.g, numbers_for(*b.g)));
    const auto along = text.find("unroll " + std::to_string(n == 4 ? 4 : 8)), lanes = text.find("vector 16");
    EXPECT_TRUE(along < lanes && lanes != std::string::npos) << text;
  }
}

TEST(Schedule, LinesThatAreWrittenInPartAreFilledSoon) {
  Builder b;
  b.output(transpose(b.input(DType::f32, {64, 128, 2}), {2, 1, 0}));
  const std::string text = print(expect_passes_agree(*b.g, numbers_for(*b.g)));
  const auto blocks = text.find("in 0..8"), fill = text.find("in 0..128", blocks),
             along = text.find("in 0..8 unroll 8", fill), lanes = text.find("in 0..2 vector 2", along);
  EXPECT_TRUE(blocks < fill && fill < along && along < lanes && lanes != std::string::npos) << text;
}

// a = 0.9 a + x
TEST(Schedule, RecurrencesGoAlongSeveralColumns) {
  const auto body =
      region({DType::f32, DType::f32}, [](const std::vector<Var>& v) { return std::vector<Var>{v[0] * 0.9 + v[1]}; });
  for (const int64_t columns : {3, 100}) {
    Builder b;
    Var x = b.input(DType::f32, {600, columns}), start = b.input(DType::f32, {});
    b.output(call("cumulative", {x, start}, {{"dim", int64_t(0), true}, {"body", body}})[0]);
    const std::string text = print(expect_passes_agree(*b.g, numbers_for(*b.g)));
    EXPECT_NE(text.find("unroll " + std::to_string(std::min<int64_t>(8, columns))), std::string::npos) << text;
    EXPECT_EQ(text.find("vector"), std::string::npos) << text;
  }
  Builder b;  // rows lie side by side, and functions are made for several columns
  Var x = b.input(DType::f32, {600, 100});
  b.output(record("cumsum", {x}, {{"dim", int64_t(1), true}}));
  b.output(record("cumlogsumexp", {x}, {{"dim", int64_t(0), true}}));
  const std::string text = print(expect_passes_agree(*expand(*b.g, Reader::backend), numbers_for(*b.g)));
  EXPECT_EQ(text.find("unroll"), std::string::npos) << text;
  EXPECT_NE(text.find("vector"), std::string::npos) << text;
}

TEST(Schedule, ProductsAreBlocksOfRegisters) {
  Builder b;
  b.output(dot_general(b.input(DType::f32, {64, 64}), b.input(DType::f32, {64, 60}), {1}, {0}, {}, {}));
  for (compiler::Target target : {compiler::Target{64, 32}, compiler::Target{32, 16}, compiler::Target{16, 16}}) {
    loops::Program p = compiler::compile(*b.g, target);
    const For& tasks = std::get<For>(p.body.at(0).is);
    const For& columns = std::get<For>(tasks.body.at(0).is);
    const For& rows = std::get<For>(columns.body.at(0).is);
    EXPECT_EQ(tasks.kind, For::Kind::parallel);
    EXPECT_EQ(columns.kind, For::Kind::unroll);
    EXPECT_EQ(rows.kind, For::Kind::vector);
    EXPECT_EQ(rows.width * 4, target.vector_bytes);
    EXPECT_GE(columns.copies * rows.copies, 8);
    EXPECT_LT(columns.copies * rows.copies, target.registers);
  }
}

// Products of many small matrices, of which the vectors hold the same element: of the rows of one and the columns of
// the other some are in registers together.
TEST(Schedule, SmallProductsShareRowsAndColumns) {
  struct {
    int64_t rows, columns;
    const char* block;
  } const cases[] = {{8, 8, "unroll 4 { unroll 4 { vector 16 {"},
                     {4, 60, "unroll 6 { unroll 4 { vector 16 {"},
                     {6, 1, "unroll 6 { vector 16 x 2 {"}};
  for (const auto& c : cases) {
    Builder b;
    Var x = b.input(DType::f32, {96, c.rows, 12}), y = b.input(DType::f32, {96, 12, c.columns});
    b.output(dot_general(x, y, {2}, {1}, {0}, {0}));
    const loops::Program p = expect_passes_agree(*b.g, numbers_for(*b.g), 1e-5);
    std::string block;
    const auto add = [&](auto& self, const loops::Block& body) -> void {
      if (auto f = std::get_if<For>(&body.at(0).is)) {
        if (f->kind == For::Kind::unroll || f->kind == For::Kind::vector)
          block += (block.empty() ? "" : " ") + loops::schedule_text(*f) + " {";
        self(self, f->body);
      }
    };
    add(add, p.body);
    EXPECT_EQ(block, c.block) << print(p);
  }
}

// A transposed matrix, more than a cache holds, times a few columns: it is read once, for all of them.
TEST(Schedule, ALargeOperandIsReadOnce) {
  Builder b;
  b.output(dot_general(b.input(DType::f32, {1000, 900}), b.input(DType::f32, {1000, 3}), {0}, {0}, {}, {}));
  const std::string text = after(*b.g, "schedule");
  const auto lines = text.find("in 0..900 {"), columns = text.find("in 0..3 unroll 3"), depth = text.find("vector 16");
  EXPECT_LT(lines, columns) << text;
  EXPECT_LT(columns, depth) << text;
  EXPECT_LT(depth, text.size()) << text;
}

TEST(Schedule, SumsRunAlongLanes) {
  Builder b;
  const auto product = [](DType t) {
    return region({t, t}, [](const std::vector<Var>& v) { return std::vector<Var>{v[1] * v[0]}; });
  };
  Var x = b.input(DType::f32, {100, 3}), i = b.input(DType::i32, {100, 3}), one = b.input(DType::i32, {});
  b.output(cumsum(x * x, 0));
  b.output(cumsum(cumsum(x, 0), 0));
  b.output(call("cumulative", {i, one}, {{"dim", int64_t(0), true}, {"body", product(DType::i32)}})[0]);
  const std::string text = print(expect_passes_agree(*b.g, numbers_for(*b.g), 1e-5));
  int running = 0;
  for (size_t k = text.find(" running"); k != std::string::npos; k = text.find(" running", k + 1)) ++running;
  EXPECT_EQ(running, 4) << text;
  EXPECT_NE(text.find("+= x1[i, j] * x1[i, j] running"), std::string::npos) << text;
  EXPECT_NE(text.find("*= x2[i, j] running"), std::string::npos) << text;
  Builder of_floats;  // of which some lanes may overflow where all so far are small
  Var y = of_floats.input(DType::f32, {64}), start = of_floats.input(DType::f32, {});
  of_floats.output(call("cumulative", {y, start}, {{"dim", int64_t(0), true}, {"body", product(DType::f32)}})[0]);
  Tensor numbers = graph::full({DType::f32, {64}}, Scalar(1e-3)), first = graph::full({DType::f32, {}}, Scalar(1));
  for (int64_t k = 0; k < 32; ++k) set_element(numbers, k, Scalar(10));
  EXPECT_EQ(print(expect_passes_agree(*of_floats.g, {numbers, first}, 1e-5)).find("running"), std::string::npos);
  Builder c;  // along rows of a matrix the columns are side by side
  c.output(cumsum(c.input(DType::f32, {100, 7}), 1));
  const loops::Program p = expect_passes_agree(*c.g, numbers_for(*c.g));
  EXPECT_EQ(std::get<For>(p.body.at(0).is).kind, For::Kind::vector);
}

TEST(Schedule, VectorsFitTheTarget) {
  Builder b;
  Var x = b.input(DType::f32, {1000});
  b.output(convert(x, DType::f64) * 2.0);
  loops::Program p = compiler::compile(*b.g, {32, 16});
  EXPECT_EQ(std::get<For>(p.body.at(0).is).width, 4);
}

// What tells where an element is has eight bytes, and takes lanes from nothing but a few operations.
TEST(Schedule, LanesComeFromTheDataNotFromTheirPlaces) {
  for (const bool function : {true, false}) {
    Builder b;
    Var x = b.input(DType::f32, {400}), at = b.input(DType::i32, {900, 1});
    Var found = gather(x, at, {1}, {{}, {0}, {}, {}, {0}, 1});
    b.output(function ? record("tanh", {found}) : found + found);
    const std::string text = after(*b.g, "schedule", {64, 32});
    EXPECT_NE(text.find(function ? "vector 16" : "vector 8"), std::string::npos) << text;
    expect_passes_agree(*b.g, numbers_for(*b.g), 1e-6, {64, 32});
  }
}

// A step of a recurrent cell: eight sums of one register are under way at a time, and then the function is called.
TEST(Schedule, AFunctionOfLongSumsLeavesThemInBlocks) {
  const auto text_of = [](int64_t depth) {
    Builder b;
    Var h = b.input(DType::f32, {8, depth}), u = b.input(DType::f32, {depth, 64});
    b.output(record("tanh", {dot_general(h, u, {1}, {0}, {}, {})}));
    const compiler::Target target = {32, 16};
    expect_passes_agree(*b.g, numbers_for(*b.g), 1e-5, target);
    return print(compiler::compile(*b.g, target));
  };
  const std::string deep = text_of(200), flat = text_of(8);
  EXPECT_NE(deep.find("unroll 8 {"), std::string::npos) << deep;
  EXPECT_EQ(flat.find("unroll"), std::string::npos) << flat;
}

// Sums that wait for others of the same row, four rows at a time; not where rows are stored, long or heavy.
TEST(Schedule, SumsOfShortRowsGoSeveralAtATime) {
  const auto text = [](const Shape& shape, DType t, auto f) {
    Builder b;
    b.output(f(b.input(t, shape)));
    return print(expect_passes_agree(*b.g, numbers_for(*b.g), 1e-5));
  };
  const auto centred = [](Var x) { return x - broadcast_in_dim(reduce_sum(x, {0}), x.shape(), {1}); };
  const auto log_sum = [](Var x) {
    const Var top = reduce_max(x, {0});
    return top + log(reduce_sum(exp(x - broadcast_in_dim(top, x.shape(), {1})), {0}));
  };
  const auto squares = [&](Var x) { return reduce_sum(centred(x) * centred(x), {0}); };
  for (const Shape& shape : {Shape{100, 40}, {300, 8}, {41, 63}, {2000, 7}}) {
    EXPECT_NE(text(shape, DType::f32, squares).find("unroll 4"), std::string::npos);
    EXPECT_NE(text({shape[0] / 2, shape[1]}, DType::f64, log_sum).find("unroll 4"), std::string::npos);
  }
  EXPECT_EQ(text({2100, 7}, DType::f32, squares).find("unroll 4"), std::string::npos);
  EXPECT_EQ(text({100, 5}, DType::f32, squares).find("unroll"), std::string::npos);
  EXPECT_EQ(text({100, 40}, DType::f32, centred).find("unroll 4"), std::string::npos);
}

// Columns of a stencil, whose loads are the same vectors; not where each has its own, few, or the same for all.
TEST(Schedule, ColumnsOfStencilsShareLoads) {
  const auto text = [](const Shape& shape, auto f) {
    Builder b;
    const Var x = b.input(DType::f64, shape);
    const auto part = [&](int64_t i, int64_t j) {
      return slice(x, {i, j}, {i + shape[0] - 2, j + shape[1] - 2}, {1, 1});
    };
    b.output(f(part));
    return print(expect_passes_agree(*b.g, numbers_for(*b.g), 1e-12));
  };
  const auto cross = [](auto part) { return part(0, 1) + part(2, 1) + part(1, 0) + part(1, 2) - 4.0 * part(1, 1); };
  const auto square = [](auto part) {
    Var sum = part(0, 0);
    for (int64_t k = 1; k < 9; ++k) sum = sum + part(k % 3, k / 3) * double(k);
    return sum;
  };
  const auto column = [](auto part) { return part(0, 0) + part(1, 0) + part(2, 0) * part(0, 0); };
  const auto difference = [](auto part) { return part(0, 1) - part(0, 0); };
  for (const Shape& shape : {Shape{40, 30}, {41, 31}, {67, 9}, {16, 6}}) {
    EXPECT_NE(text(shape, cross).find("unroll 4"), std::string::npos) << text(shape, cross);
    EXPECT_NE(text(shape, square).find("unroll 4"), std::string::npos);
    EXPECT_EQ(text(shape, column).find("unroll 4"), std::string::npos);
    EXPECT_EQ(text(shape, difference).find("unroll 4"), std::string::npos);
  }
}

}  // namespace
}  // namespace anvil::test
