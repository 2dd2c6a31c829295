// Operators that are formulas of several primitives when they are read: values, and refusals.
#include <gtest/gtest.h>

#include "backend_stablehlo/refused.h"
#include "support/gradient_check.h"

namespace anvil::test {
namespace {

Tensor ints(DType t, Shape shape, const std::vector<uint64_t>& values) {
  Tensor x = graph::allocate({t, std::move(shape)});
  for (size_t k = 0; k < values.size(); ++k) graph::set_element(x, static_cast<int64_t>(k), Scalar(values[k]));
  return x;
}
std::vector<Tensor> run(const std::string& text, const std::vector<Tensor>& inputs) {
  return eigen::evaluate(*stablehlo::read(text), inputs);
}
std::vector<double> values(const Tensor& t) {  // column-major
  std::vector<double> list;
  for (int64_t i = 0; i < elements(t.type.shape); ++i) list.push_back(graph::element(t, i).as<double>());
  return list;
}
// A function of %x and perhaps more: one operation.
std::string function(const std::string& arguments, const std::string& result, const std::string& operation) {
  return "func.func @main(" + arguments + ") -> " + result + " {\n%0 = " + operation + "\nreturn %0 : " + result +
         "\n}\n";
}

// ---- control ----------------------------------------------------------------------------------

std::string branches(int n) {
  std::string regions, t = "tensor<f64>";
  for (int k = 0; k < n; ++k) {
    std::string number = std::to_string(k);
    regions += std::string(k ? ", " : "") + "{\n%c" + number + " = stablehlo.constant dense<" + number + ".5> : " + t +
               "\n%y" + number + " = stablehlo.multiply %x, %c" + number + " : " + t + "\nstablehlo.return %y" +
               number + " : " + t + "\n}";
  }
  return function("%i: tensor<i32>, %x: " + t, t, "\"stablehlo.case\"(%i) (" + regions + ") : (tensor<i32>) -> " + t);
}

TEST(StablehloCase, TakesTheLastBranchForAnIndexThatIsNone) {
  for (int n : {1, 2, 3, 4, 7})
    for (int index = -2; index < n + 3; ++index) {
      Tensor i = tensor(DType::i32, {}, {double(index)}), x = tensor(DType::f64, {}, {2});
      int taken = index < 0 || index >= n ? n - 1 : index;
      EXPECT_EQ(values(run(branches(n), {i, x})[0]), std::vector<double>{2 * (taken + 0.5)}) << n << ", " << index;
    }
  expect_refused(function("%i: tensor<i32>", "tensor<f64>", "\"stablehlo.case\"(%i) : (tensor<i32>) -> tensor<f64>"),
                 "at least one branch");
}

TEST(StablehloCase, OnABoolIsABranchOnIt) {
  std::string text = branches(2);
  text.replace(text.find("tensor<i32>"), 11, "tensor<i1>");
  text.replace(text.find("%0 = \"stablehlo.case\"(%i)"), 25,
               "%j = stablehlo.convert %i : (tensor<i1>) -> tensor<i32>\n%0 = \"stablehlo.case\"(%j)");
  auto g = stablehlo::read(text);
  ASSERT_EQ(g->calls.size(), 1u);
  EXPECT_EQ(g->calls[0].primitive->name, "if");
  EXPECT_EQ(g->calls[0].inputs[0], g->inputs[0]);
  for (bool condition : {false, true}) {
    Tensor i = ints(DType::boolean, {}, {condition}), x = tensor(DType::f64, {}, {2});
    EXPECT_EQ(values(eigen::evaluate(*g, {i, x})[0]), std::vector<double>{condition ? 3.0 : 1.0});
  }
}

TEST(StablehloComposite, IsWhatItsDecompositionSays) {
  std::string twice =
      "func.func private @twice(%a: tensor<f64>) -> tensor<f64> {\n%0 = stablehlo.add %a, %a : tensor<f64>\n"
      "return %0 : tensor<f64>\n}\n";
  auto text = [&](const std::string& name, const std::string& of) {
    return "module {\n" +
           function(
               "%x: tensor<f64>", "tensor<f64>",
               "stablehlo.composite \"" + name + "\" %x {decomposition = @" + of + "} : (tensor<f64>) -> tensor<f64>") +
           twice + "}\n";
  };
  EXPECT_EQ(values(run(text("my.twice", "twice"), {tensor(DType::f64, {}, {3})})[0]), std::vector<double>{6});
  expect_refused(text("my.twice", "thrice"), "there is no function `@thrice`");
  for (const char* name : {"twice", ".twice", "0.twice", "my.%"}) expect_refused(text(name, "twice"), "namespace");
}

// ---- factorisations as JAX calls LAPACK for them ------------------------------------------------

const char* layouts =
    "operand_layouts = [dense<[0, 1]> : tensor<2xindex>], result_layouts = [dense<[0, 1]> : "
    "tensor<2xindex>, dense<> : tensor<0xindex>]";
std::string potrf(int uplo, const char* layout = layouts, const char* name = "lapack_dpotrf_ffi") {
  return "func.func @main(%x: tensor<2x2xf64>) -> (tensor<2x2xf64>, tensor<i32>) {\n%0:2 = stablehlo.custom_call @" +
         std::string(name) + "(%x) {backend_config = \"\", mhlo.backend_config = {uplo = " + std::to_string(uplo) +
         " : ui8}, mhlo.frontend_attributes = {num_batch_dims = \"0\"}, " + layout +
         "} : (tensor<2x2xf64>) -> (tensor<2x2xf64>, tensor<i32>)\nreturn %0#0, %0#1 : tensor<2x2xf64>, "
         "tensor<i32>\n}\n";
}

TEST(Lapack, CholeskyKeepsTheOtherTriangleAndSaysWhetherThereIsAFactor) {
  Tensor a = tensor(DType::f64, {2, 2}, {4, 2, 7, 5}), b = tensor(DType::f64, {2, 2}, {4, 7, 2, 5});
  EXPECT_EQ(values(run(potrf('L'), {a})[0]), (std::vector<double>{2, 1, 7, 2}));
  EXPECT_EQ(values(run(potrf('U'), {b})[0]), (std::vector<double>{2, 7, 1, 2}));
  EXPECT_EQ(values(run(potrf('L'), {a})[1]), std::vector<double>{0});
  EXPECT_EQ(values(run(potrf('L'), {tensor(DType::f64, {2, 2}, {1, 2, 2, 1})})[1]), std::vector<double>{1});
  expect_refused(potrf('X'), "uplo");
  expect_refused(potrf('L', "operand_layouts = [dense<[1, 0]> : tensor<2xindex>]"), "by columns");
  expect_refused(potrf('L', layouts, "lapack_dgeqp3_ffi"), "QR factorisation with pivots");
}

// Packed reflections of the matrix with columns (3, 4, 0) and (1, 2, 2), and what orgqr makes of them, here with
// as many numbers.
std::string geqrf(int taus = 2) {
  const std::string matrix = "tensor<3x2xf64>", numbers = "tensor<2xf64>",
                    some = "tensor<" + std::to_string(taus) + "xf64>";
  return "func.func @main(%x: " + matrix + ", %t: " + some + ") -> (" + matrix + ", " + numbers + ", " + matrix +
         ") {\n%0:2 = stablehlo.custom_call @lapack_dgeqrf_ffi(%x) : (" + matrix + ") -> (" + matrix + ", " + numbers +
         ")\n%1 = stablehlo.custom_call @lapack_dorgqr_ffi(%0#0, " + (taus == 2 ? "%0#1" : "%t") + ") : (" + matrix +
         ", " + some + ") -> " + matrix + "\nreturn %0#0, %0#1, %1 : " + matrix + ", " + numbers + ", " + matrix +
         "\n}\n";
}
void expect_near(const Tensor& t, const std::vector<double>& expected) {
  const std::vector<double> found = values(t);
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], 1e-14) << i;
}

TEST(Lapack, ReflectionsArePackedAndMakeQ) {
  const double norm = std::sqrt(0.16 + 4);
  const auto r = run(geqrf(), {tensor(DType::f64, {3, 2}, {3, 4, 0, 1, 2, 2}), tensor(DType::f64, {2}, {0, 0})});
  expect_near(r[0], {-5, 0.5, 0, -2.2, -norm, 2 / (0.4 + norm)});
  expect_near(r[1], {1.6, 1 + 0.4 / norm});
  expect_near(r[2], {-0.6, -0.8, 0, (-2.2 * -0.6 - 1) / norm, (-2.2 * -0.8 - 2) / norm, -2 / norm});
  expect_refused(geqrf(3), "no more than the columns");
}

// A routine with one 2 x 2 operand and results of these types.
std::string lapack(const std::string& routine, const std::string& config, const std::string& results) {
  std::string types = results, returned;
  const auto count = 1 + std::count(results.begin(), results.end(), ',');
  for (int i = 0; i < count; ++i) returned += (i ? ", %0#" : "%0#") + std::to_string(i);
  return "func.func @main(%x: tensor<2x2xf64>) -> (" + types + ") {\n%0:" + std::to_string(count) +
         " = stablehlo.custom_call @lapack_" + routine + "_ffi(%x) {mhlo.backend_config = {" + config +
         "}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>]} : (tensor<2x2xf64>) -> (" + types + ")\nreturn " +
         returned + " : " + types + "\n}\n";
}

TEST(Lapack, LuFactorsCountRowsFromOne) {
  const std::string text = lapack("dgetrf", "", "tensor<2x2xf64>, tensor<2xi32>, tensor<i32>");
  auto found = run(text, {tensor(DType::f64, {2, 2}, {1, 2, 3, 4})});
  EXPECT_EQ(values(found[0]), (std::vector<double>{2, 0.5, 4, 1}));
  EXPECT_EQ(values(found[1]), (std::vector<double>{2, 2}));
  EXPECT_EQ(values(found[2]), std::vector<double>{0});
  EXPECT_EQ(values(run(text, {tensor(DType::f64, {2, 2}, {1, 2, 2, 4})})[2]), std::vector<double>{2});
}

TEST(Lapack, EigenvaluesAndSingularValues) {
  const Tensor a = tensor(DType::f64, {2, 2}, {2, 9, 0, 1}), bad = tensor(DType::f64, {2, 2}, {NAN, 0, 0, 1});
  const std::string types = "tensor<2x2xf64>, tensor<2xf64>, tensor<i32>";
  const std::string upper = lapack("dsyevd", "mode = 86 : ui8, uplo = 85 : ui8", types);
  EXPECT_EQ(values(run(upper, {a})[1]), (std::vector<double>{1, 2}));
  EXPECT_EQ(values(run(upper, {a})[0]), (std::vector<double>{0, 1, 1, 0}));
  EXPECT_EQ(values(run(upper, {a})[2]), std::vector<double>{0});
  EXPECT_EQ(values(run(upper, {bad})[2]), std::vector<double>{1});
  const auto alone = run(lapack("dsyevd", "mode = 78 : ui8, uplo = 85 : ui8", types), {a});
  for (const size_t k : {0, 1}) EXPECT_NEAR(values(alone[1])[k], 1.0 + double(k), 1e-14);
  EXPECT_EQ(values(alone[2]), std::vector<double>{0});
  const std::string all = "tensor<2x2xf64>, tensor<2xf64>, tensor<2x2xf64>, tensor<2x2xf64>, tensor<i32>";
  const Tensor d = tensor(DType::f64, {2, 2}, {3, 0, 0, -2});
  auto found = run(lapack("dgesdd", "mode = 83 : ui8", all), {d});
  EXPECT_EQ(values(found[1]), (std::vector<double>{3, 2}));
  EXPECT_EQ(values(found[2]), (std::vector<double>{1, 0, 0, 1}));
  EXPECT_EQ(values(found[3]), (std::vector<double>{1, 0, 0, -1}));
  EXPECT_EQ(values(found[4]), std::vector<double>{0});
  found = run(lapack("dgesdd", "mode = 78 : ui8", all), {d});  // values alone: the vectors are anything
  for (const size_t k : {0, 1}) EXPECT_NEAR(values(found[1])[k], 3.0 - double(k), 1e-14);
  EXPECT_EQ(values(found[4]), std::vector<double>{0});
  expect_refused(lapack("dgesdd", "mode = 79 : ui8", all),
                 "`mode` of the call should be S, A or N (83, 65 or 78), not 79");
}

TEST(Lapack, TriangularSystems) {
  // A = [2 0; 3 4] (lower), as LAPACK's letters say
  Tensor a = tensor(DType::f64, {2, 2}, {2, 3, 9, 4});
  auto solve = [&](const char* side, int trans, int diag, int uplo, const Tensor& b) {
    std::string t = "tensor<" + std::to_string(b.type.shape[0]) + "x" + std::to_string(b.type.shape[1]) + "xf64>";
    return values(run(function("%a: tensor<2x2xf64>, %b: " + t, t,
                               "stablehlo.custom_call @lapack_dtrsm_ffi(%a, %b) {mhlo.backend_config = {diag = " +
                                   std::to_string(diag) + " : ui8, side = " + std::to_string(side[0]) +
                                   " : ui8, trans_x = " + std::to_string(trans) + " : ui8, uplo = " +
                                   std::to_string(uplo) + " : ui8}} : (tensor<2x2xf64>, " + t + ") -> " + t),
                      {a, b})[0]);
  };
  Tensor column = tensor(DType::f64, {2, 1}, {2, 11}), row = tensor(DType::f64, {1, 2}, {8, 4});
  EXPECT_EQ(solve("L", 'N', 'N', 'L', column), (std::vector<double>{1, 2}));
  EXPECT_EQ(solve("L", 'T', 'N', 'L', tensor(DType::f64, {2, 1}, {8, 8})), (std::vector<double>{1, 2}));
  EXPECT_EQ(solve("L", 'C', 'N', 'L', tensor(DType::f64, {2, 1}, {8, 8})), (std::vector<double>{1, 2}));
  EXPECT_EQ(solve("R", 'N', 'N', 'L', row), (std::vector<double>{2.5, 1}));
  EXPECT_EQ(solve("L", 'N', 'U', 'L', column), (std::vector<double>{2, 5}));
  EXPECT_EQ(solve("L", 'N', 'N', 'U', tensor(DType::f64, {2, 1}, {11, 4})), (std::vector<double>{1, 1}));
}

// ---- products ---------------------------------------------------------------------------------

TEST(RaggedDot, RowsOfEachGroupMeetTheirOwnMatrix) {
  // groups of 1 and 2 rows; the last row is of none, and what a group does not meet may be infinite
  std::string text = function(
      "%l: tensor<4x2xf64>, %r: tensor<2x2x1xf64>, %g: tensor<2xi64>", "tensor<4x1xf64>",
      "\"chlo.ragged_dot\"(%l, %r, %g) {ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_batching_dimensions = [], "
      "rhs_batching_dimensions = [], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], "
      "lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>} : (tensor<4x2xf64>, tensor<2x2x1xf64>, "
      "tensor<2xi64>) -> tensor<4x1xf64>");
  Tensor l = tensor(DType::f64, {4, 2}, {1, 2, 3, 4, 10, 20, 30, INFINITY}),
         r = tensor(DType::f64, {2, 2, 1}, {1, 100, 1, 1000}), sizes = ints(DType::i64, {2}, {1, 2});
  EXPECT_EQ(values(run(text, {l, r, sizes})[0]), (std::vector<double>{11, 20200, 30300, 0}));
}

TEST(RaggedDot, EachGroupOfSummandsGivesAResult) {
  std::string text = function(
      "%l: tensor<1x3xf64>, %r: tensor<3x1xf64>, %g: tensor<2xi64>", "tensor<2x1x1xf64>",
      "\"chlo.ragged_dot\"(%l, %r, %g) {ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_batching_dimensions = [], "
      "rhs_batching_dimensions = [], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0], "
      "lhs_ragged_dimensions = [1], rhs_group_dimensions = []>} : (tensor<1x3xf64>, tensor<3x1xf64>, tensor<2xi64>) "
      "-> tensor<2x1x1xf64>");
  Tensor l = tensor(DType::f64, {1, 3}, {1, 2, INFINITY}), r = tensor(DType::f64, {3, 1}, {10, 100, 1000});
  EXPECT_EQ(values(run(text, {l, r, ints(DType::i64, {2}, {1, 1})})[0]), (std::vector<double>{10, 200}));
}

TEST(Einsum, ProductsByLetters) {
  auto text = [](const std::string& config, const std::string& a, const std::string& b, const std::string& y) {
    return function(
        "%a: " + a + ", %b: " + b, y,
        "\"stablehlo.einsum\"(%a, %b) {einsum_config = \"" + config + "\"} : (" + a + ", " + b + ") -> " + y);
  };
  Tensor a = tensor(DType::f64, {2, 2}, {1, 3, 2, 4}), b = tensor(DType::f64, {2}, {10, 100});
  std::string m = "tensor<2x2xf64>", v = "tensor<2xf64>";
  EXPECT_EQ(values(run(text("ij,j->i", m, v, v), {a, b})[0]), (std::vector<double>{210, 430}));
  EXPECT_EQ(values(run(text("ij,i->j", m, v, v), {a, b})[0]), (std::vector<double>{310, 420}));
  EXPECT_EQ(values(run(text("ij,k->k", m, v, v), {a, b})[0]), (std::vector<double>{100, 1000}));
  EXPECT_EQ(values(run(text("ij,i->ji", m, v, m), {a, b})[0]), (std::vector<double>{10, 20, 300, 400}));
  expect_refused(text("ii,i->i", m, v, v), "einsum_config");
  expect_refused(text("ij,j->k", m, v, v), "`k`");
}

// ---- random numbers: what XLA draws -------------------------------------------------------------

TEST(Philox, DrawsTheBitsOfXla) {
  auto text = [](const char* state, const char* bits, const char* algorithm = "PHILOX") {
    std::string s = std::string("tensor<") + state + "xui64>", b = std::string("tensor<") + bits + ">";
    return "func.func @main(%s: " + s + ") -> (" + s + ", " + b +
           ") {\n%0, %1 = stablehlo.rng_bit_generator %s, algorithm = " + algorithm + " : (" + s + ") -> (" + s + ", " +
           b + ")\nreturn %0, %1 : " + s + ", " + b + "\n}\n";
  };
  Tensor longer = ints(DType::ui64, {3}, {9223372036854788153u, 18446744073709551614u, 77}),
         shorter = ints(DType::ui64, {2}, {9223372036854788153u, 18446744073709551614u});
  auto drawn = run(text("3", "2x3xui32"), {longer});  // column-major here
  EXPECT_EQ(values(drawn[1]),
            (std::vector<double>{2194519338, 1697261621, 1518429489, 2678876971, 2330379649, 2875443864}));
  drawn = run(text("3", "7x3xui32"), {longer});
  EXPECT_EQ(element(drawn[0], 1).as<uint64_t>(), 4u);
  EXPECT_EQ(element(drawn[0], 2).as<uint64_t>(), 78u);
  drawn = run(text("2", "5xui64"), {shorter});
  EXPECT_EQ(element(drawn[0], 1).as<uint64_t>(), 1u);
  EXPECT_EQ(element(drawn[1], 0).as<uint64_t>(), 2913938777595397577u);
  EXPECT_EQ(element(drawn[1], 4).as<uint64_t>(), 16752448546507145264u);
  EXPECT_EQ(values(run(text("2", "4xui8"), {shorter})[1]), (std::vector<double>{201, 225, 95, 57}));
  EXPECT_EQ(values(run(text("2", "4xui8", "DEFAULT"), {shorter})[1]), (std::vector<double>{201, 225, 95, 57}));
}

TEST(Rng, NumbersOfADistribution) {
  auto text = [](const char* kind, const char* a, const char* b) {
    return std::string("func.func @main() -> tensor<1000xf32> {\n%a = stablehlo.constant dense<") + a +
           "> : tensor<f32>\n%b = stablehlo.constant dense<" + b +
           "> : tensor<f32>\n%n = stablehlo.constant dense<[1000]> : tensor<1xi64>\n%0 = \"stablehlo.rng\"(%a, %b, %n) "
           "{rng_distribution = #stablehlo<rng_distribution " +
           kind +
           ">} : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<1000xf32>\nreturn %0 : tensor<1000xf32>\n}\n";
  };
  for (const char* kind : {"UNIFORM", "NORMAL"}) {
    double sum = 0, squares = 0;
    for (double x : values(run(text(kind, "2.0", "4.0"), {})[0])) {
      sum += x / 1000;
      squares += x * x / 1000;
      if (kind[0] == 'U') {
        EXPECT_TRUE(x >= 2 && x < 4) << x;
      }
    }
    double variance = squares - sum * sum;
    EXPECT_NEAR(sum, kind[0] == 'U' ? 3 : 2, kind[0] == 'U' ? 0.1 : 0.6) << kind;
    EXPECT_NEAR(variance, kind[0] == 'U' ? 1.0 / 3 : 16, kind[0] == 'U' ? 0.05 : 2.5) << kind;
  }
  expect_refused(text("POISSON", "2.0", "4.0"), "no distribution");
}

// ---- the rest -----------------------------------------------------------------------------------

TEST(BatchNorm, ItsGradientIsThatOfTheFormula) {
  std::string x = "tensor<4x2xf64>", f = "tensor<2xf64>", at = "{epsilon = 0.001 : f32, feature_index = 1 : i64}";
  auto train = stablehlo::read("func.func @main(%x: " + x + ", %s: " + f + ", %o: " + f + ") -> (" + x + ", " + f +
                               ", " + f + ") {\n%0:3 = \"stablehlo.batch_norm_training\"(%x, %s, %o) " + at + " : (" +
                               x + ", " + f + ", " + f + ") -> (" + x + ", " + f + ", " + f +
                               ")\nreturn %0#0, %0#1, %0#2 : " + x + ", " + f + ", " + f + "\n}\n");
  auto backward =
      stablehlo::read("func.func @main(%x: " + x + ", %s: " + f + ", %m: " + f + ", %v: " + f + ", %g: " + x +
                      ") -> (" + x + ", " + f + ", " + f + ") {\n%0:3 = \"stablehlo.batch_norm_grad\"(%x, " +
                      "%s, %m, %v, %g) " + at + " : (" + x + ", " + f + ", " + f + ", " + f + ", " + x + ") -> (" + x +
                      ", " + f + ", " + f + ")\nreturn %0#0, %0#1, %0#2 : " + x + ", " + f + ", " + f + "\n}\n");
  Tensor data = spread_values(DType::f64, {4, 2}), scale = tensor(DType::f64, {2}, {1, 2}),
         offset = tensor(DType::f64, {2}, {0.5, -1}), g = spread_values(DType::f64, {4, 2}, 0.5, 1.5, 3);
  auto forward = eigen::evaluate(*train, {data, scale, offset});
  auto own = [&] {
    graph::Graph weighted = *train;
    weighted.outputs.resize(1);
    weighted.constants.push_back(graph::make_constant(g));
    Var sum =
        primitives::reduce_sum(Var{&weighted, weighted.outputs[0]} * Var{&weighted, weighted.constants.back()}, {0, 1});
    weighted.outputs = {sum.value};
    return eigen::evaluate(*transform::gradient(weighted, {true, true, true}, false), {data, scale, offset});
  }();
  auto theirs = eigen::evaluate(*backward, {data, scale, forward[1], forward[2], g});
  for (size_t k = 0; k < 3; ++k)
    for (int64_t i = 0; i < elements(own[k].type.shape); ++i)
      EXPECT_NEAR(element(own[k], i).as<double>(), element(theirs[k], i).as<double>(), 1e-12) << k;
}

TEST(Refusals, NameWhatIsMissing) {
  expect_refused(function("%x: tensor<f32>", "tensor<ui32>", "stablehlo.replica_id : tensor<ui32>"),
                 "stablehlo.replica_id");
  expect_refused(
      function("%x: tensor<4xf32>", "tensor<4xf32>",
               "\"stablehlo.all_reduce\"(%x) ({\n^bb0(%a: tensor<f32>, %b: tensor<f32>):\n%1 = stablehlo.add "
               "%a, %b : tensor<f32>\nstablehlo.return %1 : tensor<f32>\n}) {replica_groups = dense<0> : "
               "tensor<1x1xi64>} : (tensor<4xf32>) -> tensor<4xf32>"),
      "stablehlo.all_reduce");
  expect_refused(function("%x: tensor<4xf32>", "tensor<i32>",
                          "stablehlo.get_dimension_size %x, dim = 1 : (tensor<4xf32>) -> tensor<i32>"),
                 "`dimension`");
}

}  // namespace
}  // namespace anvil::test
