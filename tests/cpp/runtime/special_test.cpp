// The functions of special.h against values by mpmath, and at their poles and edges.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "runtime/elementary/table.h"
#include "runtime/special_values.h"

namespace anvil::elementary {
namespace {

using F = Function;
constexpr double inf = INFINITY, nan = NAN;

void expect_near(F f, double x, double y, double wanted, double tolerance) {
  double got = arity(f) == 2 ? call(f, x, y) : call(f, x);
  EXPECT_LE(std::fabs(got - wanted), tolerance * std::fabs(wanted))
      << name(f) << " at " << x << " " << y << " is " << got;
  auto single = static_cast<float>(x), second = static_cast<float>(y);
  if (single != x || second != y) return;
  float rounded = arity(f) == 2 ? call(f, single, second) : call(f, single);
  EXPECT_FLOAT_EQ(rounded, static_cast<float>(got)) << name(f) << " at " << x << " " << y;
}

struct Known {
  double n, x, value;
};
const Known polygammas[] = {
    {0, 0.5, -1.96351002602142348},        {0, 1, -0.577215664901532861},        {0, 1.5, 0.0364899739785765206},
    {0, 1.4375, -0.0236135440052978991},   {0, 2.25, 0.572546466623734592},      {0, 100.5, 4.60517435258184521},
    {0, 1e10, 23.0258509298904568},        {0, 1e-10, -10000000000.5772153},     {0, -0.75, -2.89412020004293207},
    {0, -10.25, 5.51685841988627331},      {0, -1e-10, 9999999999.42278397},     {1, 0.125, 65.3881334449880345},
    {1, 1, 1.64493406684822644},           {1, 3.5, 0.330357756100234865},       {1, 30, 0.0338950603577399442},
    {1, 1e200, 1.00000000000000003e-200},  {1, 1e-10, 9.99999999999999927e+19},  {1, -0.5, 8.93480220054467931},
    {1, -20.75, 19.6921586563724974},      {2, 0.5, -16.82879664423432},         {2, 7.25, -0.0218289522951977392},
    {2, -3.25, 123.955211039422023},       {3, 1.25, 2.78214400918839602},       {3, -7.75, 1558.54192059160656},
    {5, 2, 2.08116743813389677},           {5, 1000, 2.40600599999440001e-14},   {10, 0.5, -7431824508.85876898},
    {10, 25, -4.62166451504883193e-9},     {10, -1.25, 15220204740174.3376},     {40, 3, -2.23705623046787669e+28},
    {40, -2.75, -3.94552421014626834e+72}, {100, 9.5, -1.65934699377747991e+59}, {171, 40, 3.51339555285775399e+33},
};

TEST(Special, Polygamma) {
  for (const Known& k : polygammas) {
    expect_near(F::polygamma, k.n, k.x, k.value, 2e-13);
    if (k.n == 0) expect_near(F::digamma, k.x, 0, k.value, 2e-13);
    if (k.n == 1) expect_near(F::trigamma, k.x, 0, k.value, 2e-13);
  }
  EXPECT_NEAR(call(F::digamma, 0x1.762d86356be3fp+0), -0x1.b86a722197829p-54 * 0x1.ef72bc8ee38acp-1,
              1e-30);  // next to the zero
  for (double n : {-1., 0.5, -0.5, inf, nan}) EXPECT_TRUE(std::isnan(call(F::polygamma, n, 1.5))) << n;
  EXPECT_EQ(call(F::digamma, inf), inf);
  EXPECT_EQ(call(F::trigamma, inf), 0);
  EXPECT_EQ(call(F::polygamma, 1000.0, 1e-3), -inf);
}
TEST(Special, PolesOfPolygamma) {
  for (double pole : {0., -0., -1., -2., -1e15, -1e300}) {
    for (double n : {0., 2.}) EXPECT_TRUE(std::isnan(call(F::polygamma, n, pole))) << n << " " << pole;
    for (double n : {1., 3.}) EXPECT_EQ(call(F::polygamma, n, pole), inf) << n << " " << pole;
    EXPECT_EQ(call(F::trigamma, pole), inf);
    EXPECT_TRUE(std::isnan(call(F::digamma, pole)));
  }
  for (double n : {0., 1., 2., 3.}) EXPECT_TRUE(std::isnan(call(F::polygamma, n, -inf))) << n;
}

const Known zetas[] = {
    {1.5, 0.5, 4.77653794755483325},        {2, 1, 1.64493406684822644},         {3, 0.25, 64.6638699687684602},
    {1.0009765625, 2, 1023.57728676950459}, {10, 1e-3, 9.99999999999999792e+29}, {2.5, 1e6, 6.66667166666875e-10},
    {30, 25.5, 9.38800284823060222e-43},    {4, -0.5, 32.2348485056670729},      {3, -2.25, -61.9484748870300828},
    {60, 2, 8.67361738011993373e-19},       {200, 1.5, 6.04989989819374873e-36}, {1.25, 1e-20, 1.00000000000000007e+25},
};
TEST(Special, Zeta) {
  for (const Known& k : zetas) expect_near(F::zeta, k.n, k.x, k.value, 1e-14);
  for (double a : {0.5, 2., -0.5, inf}) {
    EXPECT_EQ(call(F::zeta, 1., a), inf);
    EXPECT_TRUE(std::isnan(call(F::zeta, 0.5, a))) << a;
    EXPECT_TRUE(std::isnan(call(F::zeta, nan, a))) << a;
  }
  for (double pole : {0., -1., -1e300}) {
    EXPECT_EQ(call(F::zeta, 2., pole), inf);
    EXPECT_TRUE(std::isnan(call(F::zeta, 3., pole)));
    EXPECT_TRUE(std::isnan(call(F::zeta, 2.5, pole)));
  }
  EXPECT_TRUE(std::isnan(call(F::zeta, 2.5, -0.5)));
  EXPECT_TRUE(std::isnan(call(F::zeta, 2., -inf)));
  EXPECT_EQ(call(F::zeta, 2., inf), 0);
  EXPECT_EQ(call(F::zeta, inf, 0.5), inf);
  EXPECT_EQ(call(F::zeta, inf, 1.), 1);
  EXPECT_EQ(call(F::zeta, inf, 2.), 0);
}

const Known bessels[] = {
    {0, 1e-300, 5.00000000000000013e-301}, {0, 1e-05, 4.99995000031249895e-6}, {0, 0.5, 0.156420803184871697},
    {0, 1, 0.207910415349708449},          {0, 3.25, 0.192031054333136035},    {0, 10, 0.121262681384455519},
    {0, 20, 0.0875062221832886654},        {0, 23.99, 0.0801602960529434597},  {0, 24, 0.0801441392765347384},
    {0, 30, 0.0719163305986475547},        {0, 100, 0.0397441530251302527},    {0, 1e10, 3.98942280386472342e-6},
};
TEST(Special, BesselI1e) {
  for (const Known& k : bessels) {
    expect_near(F::bessel_i1e, k.x, 0, k.value, 2e-15);
    expect_near(F::bessel_i1e, -k.x, 0, -k.value, 2e-15);
  }
  EXPECT_EQ(call(F::bessel_i1e, 0.), 0);
  EXPECT_TRUE(std::signbit(call(F::bessel_i1e, -0.)));
  EXPECT_EQ(call(F::bessel_i1e, inf), 0);
  EXPECT_TRUE(std::isnan(call(F::bessel_i1e, nan)));
}

// I_nu K_(nu + 1) + I_(nu + 1) K_nu = 1 / x (DLMF 10.28.2), where K changes from one formula to the next.
TEST(Special, ModifiedBesselFunctionsFitTogether) {
  for (const double nu : {0., 1e-9, 0.25, 0.49999, 0.5, 0.50001, 0.75, 1., 2.5, 10.3, 99., 299.2, 301.})
    for (const double x : {1e-3, 0.299, 0.301, 1., 3., 7.99, 8.01, 24.9, 25.1, 80., 299., 301., 2000.}) {
      const double i = call(F::bessel_ie, nu, x), next_i = call(F::bessel_ie, nu + 1, x);
      const double k = call(F::bessel_ke, nu, x), next_k = call(F::bessel_ke, nu + 1, x);
      if (!std::isfinite(next_k) || i == 0 || next_i == 0) continue;
      EXPECT_NEAR(x * (i * next_k + next_i * k), 1, 1e-12) << nu << " " << x;
      EXPECT_NEAR(x * (next_k - call(F::bessel_ke, std::fabs(nu - 1), x)), 2 * nu * k, 1e-11 * x * next_k)
          << nu << " " << x;
    }
}

// ---- by tables of special_values.py ---------------------------------------------------------------

template <size_t n>
void expect_values(const Values (&table)[n], std::vector<F> functions, double tolerance) {
  for (const Values& v : table) {
    const double x = v.at[0], y = v.at[1], z = v.at.size() > 2 ? v.at[2] : 0;
    for (size_t k = 0; k < functions.size(); ++k) {
      const double got = call(functions[k], x, y, z), wanted = v.expected[k];
      EXPECT_LE(std::fabs(got - wanted), tolerance * std::fabs(wanted))
          << name(functions[k]) << " at " << x << " " << y << " " << z << " is " << got << ", not " << wanted;
      const auto f = static_cast<float>(x), g = static_cast<float>(y), h = static_cast<float>(z);
      EXPECT_EQ(call(functions[k], f, g, h), static_cast<float>(call(functions[k], double(f), double(g), double(h))));
    }
  }
}

TEST(Special, IncompleteGamma) {
  expect_values(gammas, {F::igamma, F::igammac, F::gamma_density, F::igamma_grad_a}, 2e-13);
}
TEST(Special, IncompleteBeta) {
  expect_values(betas, {F::betainc, F::beta_density, F::betainc_grad_a, F::betainc_grad_b}, 2e-13);
  for (const Values& v : betas) {
    const double a = v.at[0], b = v.at[1], x = v.at[2], upper = call(F::betaincc, a, b, x);
    EXPECT_NEAR(upper + v.expected[0], 1, 2e-13);
    if (x < 0.5) continue;
    EXPECT_NEAR(upper / call(F::betainc, b, a, 1 - x), 1, 2e-13) << a << " " << b << " " << x;
  }
  // P(F(1, 2e6) > 50) and P(B(1/10, 1) > 1e-10): 1 - x has no digits of x
  EXPECT_NEAR(call(F::betaincc, 0.5, 1e6, 50 / (2e6 + 50)) / 1.5379593762004183886e-12, 1, 1e-12);
  EXPECT_NEAR(call(F::betaincc, 0.1, 1., 1e-10), 0.9, 1e-15);
}
TEST(Special, BesselOfRealOrder) {
  expect_values(bessels_of_order, {F::bessel_j, F::bessel_y, F::bessel_i, F::bessel_k}, 5e-14);
  for (const Values& v : bessels_of_order) {
    const double nu = v.at[0], x = v.at[1];
    expect_near(F::bessel_ie, nu, x, v.expected[2] * std::exp(-x), 5e-14);
    expect_near(F::bessel_ke, nu, x, v.expected[3] * std::exp(x), 5e-14);
  }
}

TEST(Special, IncompleteGammaAtItsEnds) {
  for (const auto& [a, x, p] : std::vector<std::array<double, 3>>{{2, 0, 0},
                                                                  {2, inf, 1},
                                                                  {0, 2, 1},
                                                                  {inf, 2, 0},
                                                                  {1e-300, 1, 1},
                                                                  {3, 1e300, 1},
                                                                  {1e300, 1, 0},
                                                                  {5e-324, 1, 1}}) {
    EXPECT_DOUBLE_EQ(call(F::igamma, a, x), p) << a << " " << x;
    EXPECT_NEAR(call(F::igammac, a, x), 1 - p, 1e-299) << a << " " << x;
  }
  for (const auto& [a, x] :
       std::vector<std::array<double, 2>>{{-1, 2}, {2, -1}, {0, 0}, {inf, inf}, {nan, 1}, {1, nan}})
    for (F f : {F::igamma, F::igammac, F::igamma_grad_a, F::gamma_density}) EXPECT_TRUE(std::isnan(call(f, a, x)));
  EXPECT_EQ(call(F::gamma_density, 1., 0.), 1);
  EXPECT_EQ(call(F::gamma_density, 0.5, 0.), inf);
  EXPECT_EQ(call(F::gamma_density, 2., 0.), 0);
  EXPECT_EQ(call(F::igamma_grad_a, 2., 0.), 0);
  EXPECT_TRUE(std::isnan(call(F::igamma_grad_a, 0., 1.)));
}

TEST(Special, IncompleteBetaAtItsEnds) {
  for (const auto& [a, b, x, i] : std::vector<std::array<double, 4>>{{2, 3, 0, 0},
                                                                     {2, 3, 1, 1},
                                                                     {0, 3, 0.5, 1},
                                                                     {2, 0, 0.5, 0},
                                                                     {inf, 2, 0.5, 0},
                                                                     {2, inf, 0.5, 1},
                                                                     {1e300, 1, 0.5, 0},
                                                                     {1, 1e300, 0.5, 1}})
    EXPECT_EQ(call(F::betainc, a, b, x), i) << a << " " << b << " " << x;
  for (const auto& [a, b, x] : std::vector<std::array<double, 3>>{
           {-1, 2, 0.5}, {1, -2, 0.5}, {1, 2, -0.5}, {1, 2, 1.5}, {0, 0, 0.5}, {inf, inf, 0.5}, {1, 1, nan}})
    for (F f : {F::betainc, F::betaincc, F::betainc_grad_a, F::betainc_grad_b, F::beta_density})
      EXPECT_TRUE(std::isnan(call(f, a, b, x))) << name(f) << " " << a << " " << b << " " << x;
  EXPECT_EQ(call(F::beta_density, 1., 3., 0.), 3);
  EXPECT_EQ(call(F::beta_density, 3., 1., 1.), 3);
  EXPECT_EQ(call(F::beta_density, 0.5, 3., 0.), inf);
}

// By mpmath: tiny x, orders next to whole and half ones, values next to the largest and the least number.
const struct {
  F function;
  double nu, x, value;
} far_bessels[] = {
    {F::bessel_y, 0.5, 1e-290, -7.97884560802865328e+144},
    {F::bessel_y, 0.25, 1e-250, -4.33998972451260285e+62},
    {F::bessel_y, 0.75, 1e-200, -6.56003897333752942e+149},
    {F::bessel_y, 0.001, 1e-200, -303.730223396844492},
    {F::bessel_y, 1e-8, 1e-300, -439.835163641972339},
    {F::bessel_y, 0, 1e-310, -454.493875600353889},
    {F::bessel_y, 0, 5e-324, -473.99907342300431},
    {F::bessel_y, 0.9999999925494194, 1e-100, -6.36618679659483924e+99},
    {F::bessel_y, 2, 1e-153, -1.27323954473516259e+306},
    {F::bessel_y, 317, 60, -6.47287943495383815e+186},
    {F::bessel_y, -0.25, 1e-250, -3.06883616448279774e+62},
    {F::bessel_y, -0.5000000074505806, 0.5, 0.540973807492722794},
    {F::bessel_j, 0.5, 5e-324, 1.77350488860362727e-162},
    {F::bessel_j, 340, 60, 2.30612123509221776e-214},
    {F::bessel_j, -0.5, 1e-290, 7.97884560802865328e+144},
    {F::bessel_j, -1.0000000074505806, 0.5, -0.242268488880312463},
    {F::bessel_i, 40, 713, 2.18225822837843418e+307},
    {F::bessel_i, -0.25, 1e-310, 3.06883616448280012e+77},
    {F::bessel_ie, -1000.5, 350, 2.15844632769994025e+156},
    {F::bessel_k, 100, 0.0607, 2.83857306282479758e+307},
    {F::bessel_k, 0, 710, 2.10509745556885138e-310},
    {F::bessel_k, 0.1, 1e-310, 5.09816254353395581e+31},
    {F::bessel_k, 0.001, 5e-324, 815.281301365003644},
};
TEST(Special, BesselOfRealOrderFarOut) {
  for (const auto& k : far_bessels) expect_near(k.function, k.nu, k.x, k.value, 2e-13);
}

TEST(Special, BesselOfRealOrderWhereItOverflows) {
  const double reached[][2] = {{50, 1e-10}, {5, 1e-100}, {200, 0.1}, {200, 3},      {1.75, 1e-200},
                               {2, 1e-160}, {1, 1e-310}, {600, 60},  {400.25, 0.5}, {1e5, 1000}};
  for (const auto& [nu, x] : reached) {
    EXPECT_EQ(call(F::bessel_y, nu, x), -inf) << nu << " " << x;
    EXPECT_EQ(call(F::bessel_k, nu, x), inf) << nu << " " << x;
    EXPECT_LT(std::fabs(call(F::bessel_j, nu, x)), 1e-300) << nu << " " << x;
  }
  EXPECT_EQ(call(F::bessel_y, 10.f, 1e-5f), -inf);
  EXPECT_EQ(call(F::bessel_y, -5., 1e-100), inf);
  EXPECT_EQ(call(F::bessel_j, -5.5, 1e-100), -inf);
  EXPECT_EQ(call(F::bessel_j, -5., 1e-100), 0);
}

TEST(Special, BesselOfRealOrderAtItsEnds) {
  for (double nu : {0., 1., 2.5}) {
    EXPECT_EQ(call(F::bessel_j, nu, 0.), nu == 0);
    EXPECT_EQ(call(F::bessel_i, nu, 0.), nu == 0);
    EXPECT_EQ(call(F::bessel_y, nu, 0.), -inf);
    EXPECT_EQ(call(F::bessel_k, nu, 0.), inf);
    for (F f : {F::bessel_j, F::bessel_y, F::bessel_k, F::bessel_ie, F::bessel_ke}) EXPECT_EQ(call(f, nu, inf), 0);
    EXPECT_EQ(call(F::bessel_i, nu, inf), inf);
    for (F f : {F::bessel_y, F::bessel_k, F::bessel_ke}) EXPECT_TRUE(std::isnan(call(f, nu, -1.)));
    for (F f : {F::bessel_j, F::bessel_y, F::bessel_i, F::bessel_k}) {
      EXPECT_TRUE(std::isnan(call(f, nu, nan)));
      EXPECT_TRUE(std::isnan(call(f, nan, 1.)));
      EXPECT_TRUE(std::isnan(call(f, 1e6, 1.))) << "an order that no primitive takes";
    }
  }
  for (F f : {F::bessel_j, F::bessel_i, F::bessel_ie}) {
    for (double x : {0.5, 3., 30.}) {
      EXPECT_EQ(call(f, 2., -x), call(f, 2., x));
      EXPECT_EQ(call(f, 3., -x), -call(f, 3., x));
    }
    EXPECT_TRUE(std::isnan(call(f, 2.5, -1.)));
  }
  EXPECT_EQ(call(F::bessel_j, -3., 2.), -call(F::bessel_j, 3., 2.));
  EXPECT_EQ(call(F::bessel_i, -3., 2.), call(F::bessel_i, 3., 2.));
  EXPECT_EQ(call(F::bessel_k, -2.5, 2.), call(F::bessel_k, 2.5, 2.));
}

}  // namespace
}  // namespace anvil::elementary
