// The incomplete gamma and beta functions, the densities that are their derivatives by x, and those by their
// parameters.
#include "primitives/families/families.h"
#include "primitives/vocabulary/elementwise.h"

namespace anvil::primitives {
namespace {

using elementary::Function;
using Operands3 = std::array<Var, 3>;
// The cotangent of one operand, from the operands, the result and its cotangent.
template <size_t N>
using Partial = Var (*)(const std::array<Var, N>& x, const Var& y, const Var& g);

// An elementary function with a derivative for each operand. Those with a single point as domain take a number
// in random programs.
template <size_t N>
Primitive incomplete(const char* name, Function f, std::vector<std::string> operands,
                     std::array<Partial<N>, N> partials, std::vector<Domain> domain) {
  Primitive p = elementwise_form(name, name, ("custom_call @anvil." + std::string(name)).c_str(), Group::floating);
  p.operands = operands;
  p.domain = std::move(domain);
  p.infer = [operands](const std::vector<TensorType>& t, const Params&) {
    bool ambiguous = true;
    for (size_t k = 0; k < N; ++k) {
      check_same_type(operands[0].c_str(), t[0], operands[k].c_str(), t[k]);
      ambiguous = ambiguous && t[k].ambiguous;
    }
    return std::vector<TensorType>{{t[0].dtype, t[0].shape, ambiguous}};
  };
  set_function(p, f);
  p.reverse = [partials](ReverseStep& s) {
    std::array<Var, N> x;
    for (size_t k = 0; k < N; ++k) x[k] = operand(s, k);
    for (size_t k = 0; k < N; ++k)
      if (s.required[k]) set(s, k, partials[k](x, result(s), cotangent(s)));
  };
  return p;
}

// Of a derivative by a parameter: there is no other one by a parameter.
template <size_t N>
Var no_second(const std::array<Var, N>&, const Var&, const Var&) {
  throw Error("gradient", "Incomplete gamma and beta functions have no second derivatives by their parameters.",
              {"i Only `x` can be differentiated by more than once, and before or after that a parameter once."});
}

Var log1m(const Var& x) { return record("log1p", {-x}); }
// The derivatives of the logarithms of the densities by their parameters.
Var gamma_score(const Var& a, const Var& x) { return log(x) - digamma(a); }
Var beta_score(const Var& a, const Var& b, const Var& log_x) {
  Var own = digamma(a), both = digamma(a + b);
  return log_x - own + both;
}
Var gamma_density(const Var& a, const Var& x) { return record("gamma_density", {a, x}); }
Var beta_density(const Operands3& x) { return record("beta_density", {x[0], x[1], x[2]}); }
Var like(const char* name, const Operands3& x) { return record(name, {x[0], x[1], x[2]}); }

constexpr Domain by_number = {2.5, 2.5}, gamma_arguments = {0.2, 10}, unit_interval = {0.05, 0.95};

}  // namespace

// One statement a primitive, laid out by hand.
// clang-format off
void register_incomplete(Registry& r) {
  using Two = const std::array<Var, 2>&;
  using Three = const Operands3&;
  r.add(incomplete<2>("igamma", Function::igamma, {"a", "x"},
                      {[](Two x, const Var&, const Var& g) { return g * record("igamma_grad_a", {x[0], x[1]}); },
                       [](Two x, const Var&, const Var& g) { return g * gamma_density(x[0], x[1]); }}, {by_number, gamma_arguments}));
  r.add(incomplete<2>("igammac", Function::igammac, {"a", "x"},
                      {[](Two x, const Var&, const Var& g) { return -(g * record("igamma_grad_a", {x[0], x[1]})); },
                       [](Two x, const Var&, const Var& g) { return -(g * gamma_density(x[0], x[1])); }}, {by_number, gamma_arguments}));
  r.add(incomplete<2>("igamma_grad_a", Function::igamma_grad_a, {"a", "x"},
                      {no_second<2>,
                       [](Two x, const Var&, const Var& g) { return g * gamma_density(x[0], x[1]) * gamma_score(x[0], x[1]); }},
                      {by_number, gamma_arguments}));
  r.add(incomplete<2>("gamma_density", Function::gamma_density, {"a", "x"},
                      {[](Two x, const Var& y, const Var& g) { return g * y * gamma_score(x[0], x[1]); },
                       [](Two x, const Var& y, const Var& g) { return g * y * ((x[0] - 1.0) / x[1] - 1.0); }}, {gamma_arguments, gamma_arguments}));
  r.add(incomplete<3>("betainc", Function::betainc, {"a", "b", "x"},
                      {[](Three x, const Var&, const Var& g) { return g * like("betainc_grad_a", x); },
                       [](Three x, const Var&, const Var& g) { return g * like("betainc_grad_b", x); },
                       [](Three x, const Var&, const Var& g) { return g * beta_density(x); }}, {by_number, by_number, unit_interval}));
  r.add(incomplete<3>("betaincc", Function::betaincc, {"a", "b", "x"},
                      {[](Three x, const Var&, const Var& g) { return -(g * like("betainc_grad_a", x)); },
                       [](Three x, const Var&, const Var& g) { return -(g * like("betainc_grad_b", x)); },
                       [](Three x, const Var&, const Var& g) { return -(g * beta_density(x)); }}, {by_number, by_number, unit_interval}));
  r.add(incomplete<3>("betainc_grad_a", Function::betainc_grad_a, {"a", "b", "x"},
                      {no_second<3>, no_second<3>,
                       [](Three x, const Var&, const Var& g) { return g * beta_density(x) * beta_score(x[0], x[1], log(x[2])); }},
                      {by_number, by_number, unit_interval}));
  r.add(incomplete<3>("betainc_grad_b", Function::betainc_grad_b, {"a", "b", "x"},
                      {no_second<3>, no_second<3>,
                       [](Three x, const Var&, const Var& g) { return g * beta_density(x) * beta_score(x[1], x[0], log1m(x[2])); }},
                      {by_number, by_number, unit_interval}));
  r.add(incomplete<3>("beta_density", Function::beta_density, {"a", "b", "x"},
                      {[](Three x, const Var& y, const Var& g) { return g * y * beta_score(x[0], x[1], log(x[2])); },
                       [](Three x, const Var& y, const Var& g) { return g * y * beta_score(x[1], x[0], log1m(x[2])); },
                       [](Three x, const Var& y, const Var& g) {
                         Var rise = (x[0] - 1.0) / x[2], fall = (x[1] - 1.0) / (1.0 - x[2]);
                         return g * y * (rise - fall);
                       }}, {gamma_arguments, gamma_arguments, unit_interval}));
}
// clang-format on

}  // namespace anvil::primitives
