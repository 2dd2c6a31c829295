// LU, QR, eigenvalues, singular values and systems of equations: their definitions, derivatives, and
// what has no good answer.
#include "primitives/vocabulary/composite.h"
#include "support/structured.h"

namespace anvil::test {
namespace {

using namespace primitives;
using Vars = std::vector<Var>;

Vars factors(const char* name, Var a) {
  Vars results;
  for (const auto& v : record(*a.graph, registry().at(name), {a.value})) results.push_back({a.graph, v});
  return results;
}
Program factor(const char* name) {
  return [name](graph::Graph&, const Vars& x) { return factors(name, x[0]); };
}
Program solve_system() {
  return [](graph::Graph&, const Vars& x) { return Vars{record("solve", {x[0], x[1]})}; };
}

// Stacks of matrices whose pivots, values and singular values are apart from each other and from 0.
Tensor separated(Shape shape, DType t = DType::f64) {
  Tensor a = spread_values(t, shape, -0.4, 0.4);
  const int64_t m = shape[shape.size() - 2], n = shape.back(), batch = m * n == 0 ? 0 : elements(shape) / (m * n);
  for (int64_t b = 0; b < batch; ++b)
    for (int64_t i = 0; i < std::min(m, n); ++i) {
      const int64_t at = b + batch * (i + m * ((i + 1) % std::min(m, n)));  // off the diagonal: rows are exchanged
      set_element(a, at, element(a, at).as<double>() + static_cast<double>(i + 2));
    }
  return a;
}
graph::GraphPtr gradient_of(const Program& program, const Tensor& at) {
  graph::Graph g = build(program, {at});
  weigh(g, 1);
  return transform::gradient(g, {true}, false);
}
double number(const Tensor& t, int64_t b, int64_t batch, int64_t rows, int64_t i, int64_t j) {
  return element(t, b + batch * (i + rows * j)).as<double>();
}
// The largest difference of all matrices of x y, with its rows in an order if there is one, and a.
double distance(const std::vector<std::vector<double>>& x, const std::vector<std::vector<double>>& y,
                const std::vector<std::vector<double>>& a) {
  double worst = 0;
  for (size_t i = 0; i < a.size(); ++i)
    for (size_t j = 0; j < a[i].size(); ++j) {
      double sum = 0;
      for (size_t k = 0; k < y.size(); ++k) sum += x[i][k] * y[k][j];
      worst = std::max(worst, std::fabs(sum - a[i][j]));
    }
  return worst;
}
using Rows = std::vector<std::vector<double>>;
Rows matrix(const Tensor& t, int64_t b, int64_t batch) {
  const Shape& s = t.type.shape;
  const int64_t m = s[s.size() - 2], n = s.back();
  Rows rows(static_cast<size_t>(m), std::vector<double>(static_cast<size_t>(n)));
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) rows[static_cast<size_t>(i)][static_cast<size_t>(j)] = number(t, b, batch, m, i, j);
  return rows;
}
Rows transposed_rows(const Rows& x) {
  Rows y(x.empty() ? 0 : x[0].size(), std::vector<double>(x.size()));
  for (size_t i = 0; i < x.size(); ++i)
    for (size_t j = 0; j < x[i].size(); ++j) y[j][i] = x[i][j];
  return y;
}
Rows identity(size_t n) {
  Rows eye(n, std::vector<double>(n));
  for (size_t i = 0; i < n; ++i) eye[i][i] = 1;
  return eye;
}

const std::vector<Shape> shapes = {{1, 1},   {3, 3},     {4, 2},    {2, 4},     {40, 70},
                                   {70, 40}, {100, 100}, {5, 3, 3}, {21, 4, 2}, {2, 3, 2, 4}};

TEST(Lu, MultipliesToTheRowsInOrder) {
  for (const Shape& shape : shapes) {
    const Tensor a = separated(shape);
    graph::Graph g = build(factor("lu"), {a});
    expect_loop_rules_agree(g, {a});
    const auto out = eigen::evaluate(g, {a});
    const int64_t m = shape[shape.size() - 2], n = shape.back(), batch = elements(shape) / (m * n), k = std::min(m, n);
    for (int64_t b = 0; b < batch; ++b) {
      Rows packed = matrix(out[0], b, batch), l(packed.size(), std::vector<double>(static_cast<size_t>(k))),
           u(static_cast<size_t>(k), std::vector<double>(static_cast<size_t>(n))), from = matrix(a, b, batch), ordered;
      std::vector<int64_t> order(static_cast<size_t>(m));
      for (int64_t i = 0; i < m; ++i) {
        order[static_cast<size_t>(i)] = i;
        ordered.push_back(from[element(out[2], b + batch * i).as<size_t>()]);
        for (int64_t j = 0; j < n; ++j) {
          const double x = packed[static_cast<size_t>(i)][static_cast<size_t>(j)];
          if (i > j && j < k) l[static_cast<size_t>(i)][static_cast<size_t>(j)] = x;
          if (i <= j && i < k) u[static_cast<size_t>(i)][static_cast<size_t>(j)] = x;
          EXPECT_TRUE(i <= j || std::fabs(x) <= 1);
        }
        if (i < k) l[static_cast<size_t>(i)][static_cast<size_t>(i)] = 1;
      }
      EXPECT_LT(distance(l, u, ordered), 1e-12) << in_parentheses(shape);
      for (int64_t i = 0; i < k; ++i)
        std::swap(order[static_cast<size_t>(i)], order[element(out[1], b + batch * i).as<size_t>()]);
      for (int64_t i = 0; i < m; ++i)
        EXPECT_EQ(order[static_cast<size_t>(i)], element(out[2], b + batch * i).as<int64_t>());
    }
  }
}

TEST(Qr, IsOrthonormalTimesTriangular) {
  for (const Shape& shape : shapes) {
    const Tensor a = separated(shape);
    graph::Graph g = build(factor("qr"), {a});
    expect_loop_rules_agree(g, {a});
    const auto out = eigen::evaluate(g, {a});
    const int64_t batch = elements(shape) / (shape[shape.size() - 2] * shape.back());
    for (int64_t b = 0; b < batch; ++b) {
      const Rows q = matrix(out[0], b, batch), r = matrix(out[1], b, batch);
      EXPECT_LT(distance(q, r, matrix(a, b, batch)), 1e-12);
      EXPECT_LT(distance(transposed_rows(q), q, identity(r.size())), 1e-12);
      for (size_t i = 0; i < r.size(); ++i)
        for (size_t j = 0; j < i; ++j) EXPECT_EQ(r[i][j], 0);
    }
  }
  // no over- or underflow of squares
  for (const double size : {1e-300, 1e300}) {
    const Tensor a = tensor(DType::f64, {2, 1}, {3 * size, 4 * size});
    const auto out = eigen::evaluate(build(factor("qr"), {a}), {a});
    EXPECT_NEAR(element(out[1], 0).as<double>() / size, -5, 1e-12);
  }
}

// More columns than a panel of reflections has; columns that are tiny beside others, or nothing.
TEST(Qr, OfManyColumns) {
  for (const DType t : {DType::f64, DType::f32})
    for (const Shape& shape : {Shape{33, 33}, Shape{130, 90}, Shape{70, 100}, Shape{200, 5}}) {
      Tensor a = spread_values(t, shape, -1, 1);
      const double tiny = t == DType::f64 ? 1e-200 : 1e-30;
      for (int64_t i = 0; i < shape[0]; ++i) {
        set_element(a, i + shape[0], element(a, i + shape[0]).as<double>() * tiny);
        set_element(a, i + 3 * shape[0], 0.0);
      }
      const auto out = eigen::evaluate(build(factor("qr"), {a}), {a});
      const Rows q = matrix(out[0], 0, 1), r = matrix(out[1], 0, 1);
      const double tolerance = t == DType::f64 ? 1e-13 : 3e-5;
      EXPECT_LT(distance(q, r, matrix(a, 0, 1)), tolerance) << in_parentheses(shape);
      EXPECT_LT(distance(transposed_rows(q), q, identity(r.size())), tolerance) << in_parentheses(shape);
      for (size_t i = 0; i < q.size(); ++i) {
        const double made = q[i][0] * (r[0][1] / tiny) + q[i][1] * (r[1][1] / tiny);
        ASSERT_NEAR(made, matrix(a, 0, 1)[i][1] / tiny, tolerance);
      }
      expect_loop_rules_agree(build(factor("qr"), {a}), {a}, 0);
    }
}

// What is left of a column that depends on others is rounding, of rounding, and so on to the smallest numbers.
TEST(Qr, OfColumnsThatAreSubnormal) {
  const auto check = [](const Tensor& a, double tolerance) {
    const auto out = eigen::evaluate(build(factor("qr"), {a}), {a});
    const Rows q = matrix(out[0], 0, 1), r = matrix(out[1], 0, 1);
    EXPECT_LT(distance(q, r, matrix(a, 0, 1)), tolerance) << in_parentheses(a.type.shape);
    EXPECT_LT(distance(transposed_rows(q), q, identity(r.size())), tolerance) << in_parentheses(a.type.shape);
  };
  for (const int64_t n : {30, 120, 300})
    check(tensor(DType::f32, {n, n}, std::vector<double>(size_t(n * n), 1)), 1e-6 * double(n));
  for (const double d : {5e-324, 1e-320, 1e-315})
    check(tensor(DType::f64, {4, 3}, {1, 0, 0, 0, 0, d, d, d, 0, d, 2 * d, 4 * d}), 1e-14);
}

Program packed_product(int64_t taus) {
  return [taus](graph::Graph&, const Vars& x) {
    const Vars packed = factors("geqrf", x[0]);
    Shape low(packed[1].shape().size(), 0), high = packed[1].shape(), ones(low.size(), 1);
    high.back() = taus;
    return Vars{record("householder_product", {packed[0], slice(packed[1], low, high, ones)})};
  };
}

TEST(Reflections, AreThoseOfTheirLoops) {
  for (const Shape& shape : {Shape{1, 1}, Shape{5, 3}, Shape{3, 5}, Shape{4, 4}, Shape{2, 5, 3}, Shape{3, 2, 2, 4},
                             Shape{70, 50}, Shape{60, 80}}) {
    Tensor a = separated(shape);
    const int64_t m = shape[shape.size() - 2], n = shape.back(), batch = elements(shape) / (m * n);
    for (int64_t i = 0; i < m && n > 2; ++i) set_element(a, batch * (i + 2 * m), 0.0);
    std::vector<Program> programs = {factor("geqrf")};
    if (m >= n)
      for (const int64_t taus : {n, n - n / 3}) programs.push_back(packed_product(taus));
    for (const Program& program : programs) {
      const graph::Graph g = build(program, {a});
      expect_loop_rules_agree(g, {a}, 0);
      const auto whole = eigen::evaluate(g, {a}),
                 steps = eigen::evaluate(*primitives::expand(g, primitives::Reader::reverse), {a});
      for (size_t k = 0; k < whole.size(); ++k) {
        const auto x = values(whole[k]), y = values(steps[k]);
        for (size_t e = 0; e < x.size(); ++e) ASSERT_NEAR(x[e], y[e], 1e-11) << in_parentheses(shape);
      }
    }
  }
}

TEST(Svd, IsMadeOfOrthonormalVectors) {
  for (const Shape& shape : shapes) {
    const Tensor a = separated(shape);
    graph::Graph g = build(factor("svd"), {a});
    expect_loop_rules_agree(g, {a});
    const auto out = eigen::evaluate(g, {a});
    const int64_t batch = elements(shape) / (shape[shape.size() - 2] * shape.back());
    for (int64_t b = 0; b < batch; ++b) {
      Rows u = matrix(out[0], b, batch), vt = matrix(out[2], b, batch);
      EXPECT_LT(distance(transposed_rows(u), u, identity(vt.size())), 1e-12);
      EXPECT_LT(distance(vt, transposed_rows(vt), identity(vt.size())), 1e-12);
      for (size_t k = 0; k < vt.size(); ++k) {
        const double s = element(out[1], b + batch * static_cast<int64_t>(k)).as<double>();
        EXPECT_TRUE(k == 0 || s <= element(out[1], b + batch * static_cast<int64_t>(k - 1)).as<double>());
        for (auto& row : u) row[k] *= s;
      }
      EXPECT_LT(distance(u, vt, matrix(a, b, batch)), 1e-12);
    }
  }
}

TEST(Eigh, ReadsTheLowerTriangle) {
  for (const Shape& shape : {Shape{1, 1}, Shape{4, 4}, Shape{60, 60}, Shape{9, 3, 3}}) {
    const Tensor a = separated(shape);
    graph::Graph g = build(factor("eigh"), {a});
    expect_loop_rules_agree(g, {a});
    const auto out = eigen::evaluate(g, {a});
    const int64_t n = shape.back(), batch = elements(shape) / (n * n);
    for (int64_t b = 0; b < batch; ++b) {
      Rows v = matrix(out[1], b, batch), scaled = v, symmetric = matrix(a, b, batch);
      EXPECT_LT(distance(transposed_rows(v), v, identity(v.size())), 1e-12);
      for (size_t i = 0; i < v.size(); ++i)
        for (size_t j = 0; j < v.size(); ++j) {
          scaled[i][j] *= element(out[0], b + batch * static_cast<int64_t>(j)).as<double>();
          if (i < j) symmetric[i][j] = symmetric[j][i];
        }
      EXPECT_LT(distance(scaled, transposed_rows(v), symmetric), 1e-11);
    }
  }
}

TEST(Factorisations, ValuesAloneAreThoseWithVectors) {
  for (const auto& [whole, alone] : {std::pair{"svd", "svd_values"}, {"eigh", "eigh_values"}})
    for (const Shape& shape : shapes) {
      if (std::string(whole) == "eigh" && shape[shape.size() - 2] != shape.back()) continue;
      const Tensor a = separated(shape);
      const graph::Graph g = build(factor(alone), {a});
      expect_loop_rules_agree(g, {a});
      const auto found = values(eigen::evaluate(g, {a}).at(0)),
                 expected = values(eigen::evaluate(build(factor(whole), {a}), {a}).at(whole[0] == 's' ? 1 : 0));
      ASSERT_EQ(found.size(), expected.size());
      for (size_t k = 0; k < found.size(); ++k)
        EXPECT_NEAR(found[k], expected[k], 1e-12 * (1 + std::fabs(expected[k])));
    }
}

TEST(Solve, AgreesWithTheProduct) {
  for (const auto& [a_shape, b_shape] : std::vector<std::pair<Shape, Shape>>{
           {{1, 1}, {1, 3}}, {{4, 4}, {4, 2}}, {{70, 70}, {70, 5}}, {{9, 3, 3}, {9, 3, 2}}}) {
    const Tensor a = separated(a_shape), b = spread_values(DType::f64, b_shape);
    const Tensor x = eigen::evaluate(build(solve_system(), {a, b}), {a, b}).at(0);
    const int64_t batch = a_shape.size() == 3 ? a_shape[0] : 1;
    for (int64_t k = 0; k < batch; ++k)
      EXPECT_LT(distance(matrix(a, k, batch), matrix(x, k, batch), matrix(b, k, batch)), 1e-11);
  }
}

TEST(Factorisations, Gradients) {
  for (const Shape& shape : {Shape{1, 1}, Shape{3, 3}, Shape{4, 2}, Shape{2, 4}, Shape{2, 3, 3}, Shape{2, 3, 2}})
    for (const char* name : {"lu", "qr", "geqrf", "svd", "svd_values"}) {
      SCOPED_TRACE(std::string(name) + in_parentheses(shape));
      expect_gradients(factor(name), {separated(shape)}, 2, 1e-5);
    }
  for (const Shape& shape : {Shape{3, 3}, Shape{4, 2}, Shape{2, 3, 2}})
    expect_gradients(packed_product(shape.back()), {separated(shape)}, 1, 1e-5);
  for (const Shape& shape : {Shape{1, 1}, Shape{3, 3}, Shape{2, 3, 3}})
    for (const char* name : {"eigh", "eigh_values"}) expect_gradients(factor(name), {separated(shape)}, 2, 1e-5);
  expect_gradients(solve_system(), {separated({3, 3}), spread_values(DType::f64, {3, 2})}, 2, 1e-5);
  expect_gradients(solve_system(), {separated({2, 3, 3}), spread_values(DType::f64, {2, 3, 1})}, 1, 1e-5);
}

// The derivative of vectors of equal values does not exist, and is NaN; other vectors have theirs. Values
// have one in any case.
TEST(Factorisations, GradientsWithEqualValues) {
  const auto first = [](const char* name, size_t result) {
    return [=](graph::Graph&, const Vars& x) {
      const Var v = factors(name, x[0])[result];
      return Vars{slice(v * v, {0, 0}, {v.shape()[0], 1}, {1, 1})};
    };
  };
  const auto sum = [](const char* name, size_t result) {
    return [=](graph::Graph&, const Vars& x) { return Vars{reduce_sum(factors(name, x[0])[result], {0})}; };
  };
  const Tensor last_equal = tensor(DType::f64, {3, 3}, {1, 0.1, 0, 0, 2, 0, 0, 0, 2}),
               rank_one = tensor(DType::f64, {3, 2}, {0, 2, 1, 0, 4, 2}),
               identity = tensor(DType::f64, {2, 2}, {2, 0, 0, 2});
  EXPECT_TRUE(std::isfinite(values(eigen::evaluate(*gradient_of(first("svd", 0), rank_one), {rank_one}).at(0))[0]));
  expect_gradients(first("svd", 0), {rank_one}, 1);
  expect_gradients(first("eigh", 1), {last_equal}, 1);
  expect_gradients(sum("eigh", 0), {last_equal}, 1);
  expect_gradients(sum("svd", 1), {identity}, 1);
  expect_gradients(sum("eigh_values", 0), {last_equal}, 1);
  expect_gradients(sum("svd_values", 0), {identity}, 1);
  for (const char* name : {"eigh", "svd"}) {
    const Tensor g = eigen::evaluate(*gradient_of(first(name, name[0] == 'e'), identity), {identity}).at(0);
    EXPECT_TRUE(std::isnan(element(g, 1).as<double>())) << name;
  }
}

TEST(Factorisations, EmptyMatricesAndThoseThatAreNoNumbers) {
  for (const char* name : {"lu", "qr", "geqrf", "svd", "eigh", "svd_values", "eigh_values"}) {
    for (const Shape& shape : {Shape{0, 0}, Shape{0, 3, 3}, Shape{3, 0, 0}, Shape{0, 2}, Shape{2, 0}, Shape{2, 0, 3}}) {
      if (std::string(name).starts_with("eigh") && shape[shape.size() - 2] != shape.back()) continue;
      const Tensor a = counting(shape);
      graph::Graph g = build(factor(name), {a});
      expect_loop_rules_agree(g, {a});
    }
    for (const double bad : {std::nan(""), double(INFINITY)})
      for (const int64_t batch : {1, 2, 20}) {
        Tensor a = separated({batch, 3, 3});
        const int64_t which = batch / 2;
        set_element(a, which + batch * 1, bad);
        graph::Graph g = build(factor(name), {a});
        expect_loop_rules_agree(g, {a});
        for (const Tensor& t : eigen::evaluate(g, {a}))
          for (int64_t e = 0; e < elements(t.type.shape); ++e) {
            const bool here = e % batch == which;
            EXPECT_TRUE(is_float(t.type.dtype) ? std::isnan(element(t, e).as<double>()) == here
                                               : !here || element(t, e).as<int64_t>() == e / batch)
                << name;
          }
      }
  }
  for (const auto& [a, b] :
       std::vector<std::pair<Shape, Shape>>{{{0, 0}, {0, 2}}, {{2, 2}, {2, 0}}, {{0, 2, 2}, {0, 2, 1}}})
    EXPECT_EQ(
        eigen::evaluate(build(solve_system(), {counting(a), counting(b)}), {counting(a), counting(b)})[0].type.shape,
        b);
  const Tensor singular = tensor(DType::f64, {2, 2}, {1, 2, 2, 4}), b = counting({2, 1});
  for (const double x : values(eigen::evaluate(build(solve_system(), {singular, b}), {singular, b}).at(0)))
    EXPECT_FALSE(std::isfinite(x));
}

TEST(Factorisations, Errors) {
  for (const char* name : {"lu", "qr", "geqrf", "svd", "eigh", "svd_values", "eigh_values"}) {
    expect_error(name, {f64({2})}, {}, "shape", "`operand` must have at least 2 dimensions.", "x Got shape (2).");
    expect_error(name, {i32({2, 2})}, {}, "dtype",
                 "`operand` must have dtype " + primitives::name(Group::floating) + ".", "x Got <i32>.");
  }
  for (const Shape& taus : {Shape{}, Shape{3}, Shape{1, 2}})
    expect_error("householder_product", {f64({4, 2}), f64(taus)}, {}, "shape",
                 "`taus` must have one element for each of the first columns of `packed`.");
  expect_error("householder_product", {f64({2, 4}), f64({2})}, {}, "shape",
               "`packed` must not have more columns than rows.");
  for (const char* name : {"eigh", "eigh_values"})
    expect_error(name, {f64({2, 3})}, {}, "shape", "`operand` must be a square matrix.", "x Got shape (2,3).");
  expect_error("solve", {f64({2, 2}), f64({3, 1})}, {}, "shape", "`b` must have as many rows as `a`.",
               "x Got shapes (2,2) and (3,1).");
}

}  // namespace
}  // namespace anvil::test
