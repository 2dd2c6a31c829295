// Convolutions against a nest of loops: strides, padding, dilations, reversal, groups, orders of
// dimensions; derivatives; errors.
#include <random>

#include "primitives/vocabulary/composite.h"
#include "support/regions.h"
#include "support/structured.h"

namespace anvil::test {
namespace {

using namespace primitives;
using Vars = std::vector<Var>;

struct Convolution {
  Ints strides, low, high, input_dilation, kernel_dilation, reversed, input_dims, kernel_dims, output_dims;
  int64_t feature_groups = 1, batch_groups = 1;
  Params params() const {
    return {{"window_strides", strides},
            {"padding_low", low},
            {"padding_high", high},
            {"lhs_dilation", input_dilation},
            {"rhs_dilation", kernel_dilation},
            {"reversed", reversed, true},
            {"input_dims", input_dims, true},
            {"kernel_dims", kernel_dims, true},
            {"output_dims", output_dims, true},
            {"feature_group_count", feature_groups},
            {"batch_group_count", batch_groups}};
  }
  Program program() const {
    return [p = params()](graph::Graph&, const Vars& x) { return call("convolution", {x[0], x[1]}, p); };
  }
};

int64_t at(const Shape& shape, const std::vector<int64_t>& i) {
  auto steps = strides(shape);
  int64_t sum = 0;
  for (size_t d = 0; d < i.size(); ++d) sum += i[d] * steps[d];
  return sum;
}

// One output element after the other, as the definition has it.
std::vector<double> by_definition(const Convolution& c, const Tensor& x, const Tensor& w, const Shape& out) {
  const Shape &from = x.type.shape, &kernel = w.type.shape;
  auto in = [](const Shape& s, int64_t d) { return s[static_cast<size_t>(d)]; };
  std::vector<double> y(static_cast<size_t>(elements(out)), 0);
  std::vector<int64_t> o(out.size(), 0);
  if (!y.empty()) do {
      int64_t b = o[static_cast<size_t>(c.output_dims[0])], f = o[static_cast<size_t>(c.output_dims[1])];
      int64_t features = in(kernel, c.kernel_dims[0]), per_group = in(kernel, c.kernel_dims[1]);
      std::vector<int64_t> k(kernel.size(), 0);
      do {
        if (k[static_cast<size_t>(c.kernel_dims[0])] != f) continue;
        std::vector<int64_t> p(from.size());
        int64_t batch = in(out, c.output_dims[0]);
        p[static_cast<size_t>(c.input_dims[0])] = b + f / (features / c.batch_groups) * batch;
        p[static_cast<size_t>(c.input_dims[1])] =
            k[static_cast<size_t>(c.kernel_dims[1])] +
            f / (features / c.feature_groups) * per_group * (c.feature_groups > 1 ? 1 : 0);
        bool inside = true;
        for (size_t s = 0; s < c.strides.size(); ++s) {
          int64_t place = k[static_cast<size_t>(c.kernel_dims[s + 2])], size = in(kernel, c.kernel_dims[s + 2]);
          if (contains(c.reversed, static_cast<int64_t>(s))) place = size - 1 - place;
          int64_t q =
              o[static_cast<size_t>(c.output_dims[s + 2])] * c.strides[s] + place * c.kernel_dilation[s] - c.low[s];
          inside = inside && q >= 0 && q % c.input_dilation[s] == 0 &&
                   q / c.input_dilation[s] < in(from, c.input_dims[s + 2]);
          p[static_cast<size_t>(c.input_dims[s + 2])] = q / c.input_dilation[s];
        }
        if (inside)
          y[static_cast<size_t>(at(out, o))] +=
              element(x, at(from, p)).as<double>() * element(w, at(kernel, k)).as<double>();
      } while (next_index(k, kernel));
    } while (next_index(o, out));
  return y;
}

struct Case {
  Convolution c;
  Shape input, kernel;
};
// Everything at random, but such that it fits. Of each four one has a kernel that meets little but padding.
Case random_case(uint64_t seed) {
  std::mt19937_64 random(seed);
  auto below = [&](int n) { return static_cast<int64_t>(random() % static_cast<uint64_t>(n)); };
  auto spatial = static_cast<size_t>(below(3));
  Case k;
  int64_t groups = 1 + below(3), batch = 1 + below(2), features = 1 + below(2), results = 1 + below(2);
  bool by_feature = below(2) == 0;
  (by_feature ? k.c.feature_groups : k.c.batch_groups) = groups;
  auto dims = [&] {
    Ints d = all_axes(spatial + 2);
    std::shuffle(d.begin(), d.end(), random);
    return d;
  };
  k.c.input_dims = dims(), k.c.kernel_dims = dims(), k.c.output_dims = dims();
  k.input.resize(spatial + 2), k.kernel.resize(spatial + 2);
  auto put = [](Shape& s, int64_t d, int64_t n) { s[static_cast<size_t>(d)] = n; };
  put(k.input, k.c.input_dims[0], by_feature ? batch : batch * groups);
  put(k.input, k.c.input_dims[1], by_feature ? features * groups : features);
  put(k.kernel, k.c.kernel_dims[0], results * groups);
  put(k.kernel, k.c.kernel_dims[1], features);
  for (size_t s = 0; s < spatial; ++s) {
    put(k.input, k.c.input_dims[s + 2], seed % 4 == 0 ? 1 + below(2) : 3 + below(3));
    put(k.kernel, k.c.kernel_dims[s + 2], seed % 4 == 0 ? 3 + below(3) : 1 + below(3));
    k.c.strides.push_back(seed % 4 == 0 ? 1 : 1 + below(2));
    for (Ints* padding : {&k.c.low, &k.c.high}) padding->push_back(seed % 4 == 0 ? 2 + below(5) : below(4) - 1);
    k.c.input_dilation.push_back(1 + below(3));
    k.c.kernel_dilation.push_back(1 + below(2));
    if (below(2)) k.c.reversed.push_back(static_cast<int64_t>(s));
  }
  return k;
}

TEST(Convolution, AgainstTheDefinition) {
  for (uint64_t seed = 1; seed <= 400; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Case k = random_case(seed);
    Tensor x = counting(k.input), w = tensor(DType::f64, k.kernel, values(spread_values(DType::i32, k.kernel, -5, 5)));
    Tensor y = evaluate(k.c.program(), {x, w});
    EXPECT_EQ(values(y), by_definition(k.c, x, w, y.type.shape));
  }
}

TEST(Convolution, Gradients) {
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Case k = random_case(seed);
    expect_gradients(k.c.program(), {spread_values(DType::f64, k.input), spread_values(DType::f64, k.kernel, -1, 1, 3)},
                     seed % 5 == 0 ? 2 : 1);
  }
}

TEST(Convolution, DerivativesAreConvolutions) {
  Case k = random_case(7);
  std::string printed = printed_gradient(k.c.program(), {f64(k.input), f64(k.kernel)});
  EXPECT_NE(printed.find("convolution"), std::string::npos);
  EXPECT_EQ(printed.find("windows"), std::string::npos);
}

// Of [1, 2, size, size] and a kernel of [3, 2, window, window].
double products_of(int64_t size, int64_t window, int64_t padding, int64_t dilation) {
  const Convolution c{{1, 1}, {padding, padding}, {padding, padding}, {dilation, dilation}, {1, 1},
                      {},     {0, 1, 2, 3},       {0, 1, 2, 3},       {0, 1, 2, 3}};
  const graph::Graph g = build(c.program(), {counting({1, 2, size, size}), counting({3, 2, window, window})});
  const graph::GraphPtr expanded = primitives::expand(g, primitives::Reader::backend);
  double sum = 0;
  for (const graph::Call& call : expanded->calls)
    if (const auto& of = primitives::primitive_of(call).products; of)
      sum += static_cast<double>(elements(call.outputs[0]->type.shape) * of(call));
  return sum;
}

// From one pixel to as many as the kernel has each product is one of a pixel and a place of the kernel.
TEST(Convolution, DoesNotMultiplyPadding) {
  EXPECT_EQ(products_of(1, 7, 6, 1), 2 * 3 * 7 * 7);
  EXPECT_EQ(products_of(2, 16, 15, 1), 2 * 2 * 2 * 3 * 16 * 16);
  EXPECT_EQ(products_of(12, 3, 1, 1), 12 * 12 * 2 * 3 * 3 * 3);  // little of it
}

// Of an input with zeros between its elements each result takes every second product of a window, in each dimension.
TEST(Convolution, DoesNotMultiplyZerosBetweenElements) {
  const auto products = [](int64_t dilation) { return products_of(dilation == 1 ? 20 : 10, 4, 1, dilation); };
  EXPECT_LT(products(2), 0.3 * products(1));
  EXPECT_GT(products(2), 0.2 * products(1));
}

TEST(Convolution, Errors) {
  Convolution plain{{1}, {0}, {0}, {1}, {1}, {}, {0, 1, 2}, {0, 1, 2}, {0, 1, 2}};
  auto expect = [&](const std::function<void(Convolution&)>& change, Shape x, Shape w, const char* message) {
    Convolution c = plain;
    change(c);
    try {
      graph::Graph g;
      std::vector<graph::ValuePtr> operands = {graph::make_value(graph::Value::Kind::input, f64(x)),
                                               graph::make_value(graph::Value::Kind::input, f64(w))};
      record(g, registry().at("convolution"), operands, c.params());
      ADD_FAILURE() << "accepted; expected: " << message;
    } catch (const Error& e) {
      EXPECT_STREQ(e.what(), message);
    }
  };
  auto same = [](Convolution&) {};
  expect(same, {2, 3}, {2, 3, 4}, "`input` and `kernel` must have the same number of dimensions, at least 2.");
  expect(same, {2, 3, 9}, {4, 2, 4},
         "The input feature dimension of `kernel` must have the size of a group of features.");
  expect([](Convolution& c) { c.feature_groups = 2; }, {2, 3, 9}, {4, 3, 4},
         "The feature dimension of `input` must be divisible by `feature_group_count`.");
  expect([](Convolution& c) { c.batch_groups = 2; }, {3, 3, 9}, {4, 3, 4},
         "The batch dimension of `input` must be divisible by `batch_group_count`.");
  expect([](Convolution& c) { c.batch_groups = c.feature_groups = 2; }, {2, 2, 9}, {4, 1, 4},
         "`feature_group_count` and `batch_group_count` must not both be greater than 1.");
  expect([](Convolution& c) { c.strides = {0}; }, {2, 3, 9}, {4, 3, 4}, "`window_strides` must be positive.");
  expect(
      [](Convolution& c) {
        c.input_dims = {0, 0, 2};
      },
      {2, 3, 9}, {4, 3, 4}, "`input_dims` must be a permutation of c(1, 2, 3).");
}

}  // namespace
}  // namespace anvil::test
