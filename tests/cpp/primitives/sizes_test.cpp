// Sizes near 2^62 and 2^63, on types alone: inference gives the right shape or Error("shape"), and
// never a size that has wrapped.
#include <climits>

#include "support/regions.h"
#include "support/structured.h"

namespace anvil::test {
namespace {

using namespace primitives;
using Pairs = std::vector<Ints>;

constexpr int64_t huge = int64_t(1) << 62, half = huge / 2, large = int64_t(1) << 40;

TensorType i8(Shape shape) { return {DType::i8, std::move(shape)}; }

// The shape of the first result; empty with `refused` when it is refused for its size.
struct Outcome {
  Shape shape;
  bool refused = false;
  std::string message;
};
Outcome outcome(const char* primitive, const std::vector<TensorType>& operands, const Params& params) {
  graph::Graph g;
  std::vector<graph::ValuePtr> values;
  for (const TensorType& t : operands) values.push_back(graph::make_value(graph::Value::Kind::input, t));
  try {
    return {record(g, registry().at(primitive), values, params).at(0)->type.shape, false, ""};
  } catch (const Error& e) {
    EXPECT_TRUE(e.kind == "shape" || e.kind == "argument") << e.kind;
    return {{}, true, e.what()};
  }
}
void expect_refused(const char* primitive, const std::vector<TensorType>& operands, const Params& params) {
  Outcome o = outcome(primitive, operands, params);
  EXPECT_TRUE(o.refused) << primitive << " gives " << in_parentheses(o.shape);
}
void expect_shape(const char* primitive, const std::vector<TensorType>& operands, const Params& params,
                  const Shape& shape) {
  Outcome o = outcome(primitive, operands, params);
  EXPECT_EQ(o.shape, shape) << primitive << " " << o.message;
}

TEST(Sizes, CheckedArithmetic) {
  EXPECT_EQ(add_sizes(half, half, 0), huge);
  EXPECT_EQ(multiply_sizes(half, -2, 0), -huge);
  for (auto f : {add_sizes, multiply_sizes}) {
    try {
      f(huge, huge, 1);
      ADD_FAILURE();
    } catch (const Error& e) {
      EXPECT_EQ(e.kind, "shape");
      EXPECT_STREQ(e.what(), "Dimension 2 would be too large.");
    }
    EXPECT_THROW(f(LLONG_MAX, LLONG_MAX, 0), Error);
    EXPECT_THROW(f(LLONG_MIN, LLONG_MIN, 0), Error);
  }
}

TEST(Sizes, ElementsDoNotWrap) {
  EXPECT_EQ(elements({huge}), huge);
  EXPECT_EQ(elements({huge, 1, 0}), 0);
  for (Shape s : {Shape{huge, 2}, {huge, 4}, {large, large}, {huge, huge, huge, huge}, {LLONG_MAX}, {3, LLONG_MAX}})
    EXPECT_THROW(elements(s), Error) << in_parentheses(s);
  EXPECT_EQ(strides({large, large, 0}).size(), 3u);
  EXPECT_THROW(graph::allocate({DType::f64, {huge}}), Error);
  EXPECT_THROW(graph::allocate({DType::f64, {int64_t(1) << 61}}), Error);
}

TEST(Sizes, MakingAndJoining) {
  auto along = [](int64_t d) { return Params{{"dimension", d, true}}; };
  expect_shape("concatenate", {i8({half}), i8({half})}, along(0), {huge});
  expect_refused("concatenate", {i8({huge}), i8({huge}), i8({huge}), i8({huge}), i8({4})}, along(0));
  expect_refused("concatenate", {i8({huge}), i8({1})}, along(0));
  expect_refused("concatenate", {i8({large, large / 2}), i8({large, large / 2})}, along(1));
  auto iota_of = [](Shape s, int64_t start) {
    return Params{
        {"dim", int64_t(0), true}, {"dtype", DType::i64}, {"shape", s}, {"start", start}, {"ambiguous", false}};
  };
  expect_shape("iota", {}, iota_of({large}, large), {large});
  expect_refused("iota", {}, iota_of({large}, LLONG_MAX - 5));
  expect_refused("iota", {}, iota_of({large, large}, 0));
  auto fill_of = [](Shape s) {
    return Params{{"value", Scalar(0)}, {"dtype", DType::f32}, {"shape", s}, {"ambiguous", false}};
  };
  expect_refused("fill", {}, fill_of({large, large}));
  expect_refused("fill", {}, fill_of({LLONG_MAX}));
  auto to = [](Shape s) { return Params{{"shape", s}, {"broadcast_dimensions", Ints{0}, true}}; };
  expect_shape("broadcast_in_dim", {i8({large})}, to({large, large >> 20}), {large, large >> 20});
  expect_refused("broadcast_in_dim", {i8({large})}, to({large, large}));
  expect_refused("reshape", {i8({large})}, {{"shape", Shape{large, large}}});
  expect_refused("reshape", {i8({0})}, {{"shape", Shape{huge, 4}}});  // 2^64 is not 0
}

TEST(Sizes, Padding) {
  auto by = [](int64_t low, int64_t high, int64_t interior) {
    return Params{
        {"edge_padding_low", Ints{low}}, {"edge_padding_high", Ints{high}}, {"interior_padding", Ints{interior}}};
  };
  expect_shape("pad", {i8({4}), i8({})}, by(large, large, large), {5 * large + 4});
  expect_shape("pad", {i8({huge}), i8({})}, by(-half, 0, 0), {half});
  for (Params p : {by(huge, huge, 0), by(0, 0, huge), by(LLONG_MAX, 0, 0), by(0, LLONG_MAX, 0), by(0, 0, LLONG_MAX),
                   by(LLONG_MIN, 0, 0), by(LLONG_MIN, LLONG_MAX, 0), by(-huge, LLONG_MAX, 0)})
    expect_refused("pad", {i8({4}), i8({})}, p);
  expect_refused("pad", {i8({huge}), i8({})}, by(0, 0, 3));
}

TEST(Sizes, Slices) {
  auto from = [](int64_t a, int64_t b, int64_t by) {
    return Params{{"start_indices", Ints{a}, true}, {"limit_indices", Ints{b}}, {"strides", Ints{by}}};
  };
  expect_shape("static_slice", {i8({huge})}, from(1, huge, LLONG_MAX), {1});
  expect_shape("static_slice", {i8({huge})}, from(0, huge, half), {2});
  expect_shape("static_slice", {i8({huge})}, from(7, 7, LLONG_MAX), {0});
  expect_refused("static_slice", {i8({huge})}, from(0, LLONG_MAX, 1));
  expect_refused("dynamic_slice", {i8({huge}), i32()}, {{"slice_sizes", Shape{LLONG_MAX}}});
}

TEST(Sizes, Windows) {
  auto windows = [](int64_t size, int64_t stride, int64_t dilation) {
    return Params{
        {"dims", Ints{0}, true}, {"sizes", Ints{size}}, {"strides", Ints{stride}}, {"dilations", Ints{dilation}}};
  };
  expect_shape("windows", {i8({large})}, windows(2, large, 1), {1, 2});
  expect_shape("windows", {i8({large})}, windows(2, 1, large - 1), {1, 2});
  expect_refused("windows", {i8({large})}, windows(huge, 1, huge));
  expect_refused("windows", {i8({large})}, windows(LLONG_MAX, LLONG_MAX, LLONG_MAX));
  expect_refused("windows", {i8({large})}, windows(large / 2, 1, 1));
  expect_refused("sum_windows", {i8({large, large / 1024})}, {{"dims", Ints{0}, true}, {"dilations", Ints{LLONG_MAX}}});
  auto reduce = [](int64_t size, int64_t base, int64_t dilation, int64_t low, int64_t high) {
    return Params{{"window_dimensions", Ints{size}},    {"window_strides", Ints{1}}, {"base_dilations", Ints{base}},
                  {"window_dilations", Ints{dilation}}, {"padding_low", Ints{low}},  {"padding_high", Ints{high}},
                  {"body", operation("add", DType::i8)}};
  };
  expect_shape("reduce_window", {i8({4}), i8({})}, reduce(1, large, 1, 0, 0), {3 * large + 1});
  for (Params p : {reduce(2, LLONG_MAX, 1, 0, 0), reduce(LLONG_MAX, 1, LLONG_MAX, 0, 0), reduce(1, 1, 1, huge, huge),
                   reduce(1, 1, 1, LLONG_MAX, LLONG_MAX), reduce(1, 1, 1, LLONG_MIN, LLONG_MAX)})
    expect_refused("reduce_window", {i8({4}), i8({})}, p);
}

TEST(Sizes, Products) {
  auto pairs = [](Ints a, Ints b) {
    return Params{{"contracting_dims", Pairs{a, b}, true}, {"batching_dims", Pairs{{}, {}}, true}};
  };
  expect_shape("dot_general", {i8({large, 4}), i8({4, 1024})}, pairs({1}, {0}), {large, 1024});
  expect_refused("dot_general", {i8({large, 4}), i8({4, large})}, pairs({1}, {0}));
  expect_refused("dot_general", {i8({large}), i8({large})}, pairs({}, {}));
  auto convolution = [](int64_t stride, int64_t low, int64_t dilation) {
    return Params{
        {"window_strides", Ints{stride}},    {"padding_low", Ints{low}},           {"padding_high", Ints{0}},
        {"lhs_dilation", Ints{dilation}},    {"rhs_dilation", Ints{dilation}},     {"reversed", Ints{}, true},
        {"input_dims", Ints{0, 1, 2}, true}, {"kernel_dims", Ints{0, 1, 2}, true}, {"output_dims", Ints{0, 1, 2}, true},
        {"feature_group_count", int64_t(1)}, {"batch_group_count", int64_t(1)}};
  };
  std::vector<TensorType> small = {i8({1, 1, 4}), i8({1, 1, 2})};
  expect_shape("convolution", small, convolution(large, large, 1), {1, 1, 2});
  expect_refused("convolution", small, convolution(1, LLONG_MAX, 1));
  expect_refused("convolution", small, convolution(1, 0, LLONG_MAX));
  expect_refused("convolution", {i8({large, 1, 4}), i8({large, 1, 2})}, convolution(1, 0, 1));
}

TEST(Sizes, GathersAndRandomBits) {
  Params gather{{"slice_sizes", Shape{large}},
                {"offset_dims", Ints{1}, true},
                {"collapsed_slice_dims", Ints{}, true},
                {"operand_batching_dims", Ints{}, true},
                {"start_indices_batching_dims", Ints{}, true},
                {"start_index_map", Ints{0}, true},
                {"index_vector_dim", int64_t(1), true},
                {"indices_are_sorted", false},
                {"unique_indices", false}};
  expect_refused("gather", {i8({large}), i32({large, 1})}, gather);
  expect_shape("gather", {i8({large}), i32({1024, 1})}, gather, {1024, large});
  auto bits = [](Shape s) {
    return Params{{"rng_algorithm", std::string("THREE_FRY")}, {"dtype", DType::ui64}, {"shape", s}};
  };
  expect_refused("rng_bit_generator", {{DType::ui64, {2}}}, bits({large, large}));
  expect_shape("rng_bit_generator", {{DType::ui64, {2}}}, bits({0, large, large}), {2});
}

}  // namespace
}  // namespace anvil::test
