// Bessel functions of an order that is a number. Their derivatives are those of the neighbouring orders.
#include "primitives/families/families.h"
#include "primitives/vocabulary/elementwise.h"
#include "runtime/elementary/special.h"

namespace anvil::primitives {
namespace {

using elementary::Function;

struct Bessel {
  Function function;
  double nu;
  template <class T>
  Number<T> operator()(Number<T> x) const {
    return {elementary::call(function, static_cast<T>(nu), x.value)};
  }
  Expression operator()(Expression x) const {
    return {x.pool, x.pool->function(elementary::name(function), x.pool->constant(nu, x.dtype()), x.node)};
  }
};

double order(const Params& params) { return params.get<Scalar>("nu").as<double>(); }

// (sign of the lower neighbour) f[nu - 1] + (sign of the upper one) f[nu + 1] is twice the derivative of f[nu]
// (DLMF 10.6.1, 10.29.1); a factor e^(growth |x|) adds its own part.
struct Slope {
  double lower, upper, growth;
};

Primitive bessel(const char* name, Function f, Slope slope, Domain domain) {
  Primitive p = unary_form(name, ("custom_call @anvil." + std::string(name)).c_str(), Group::floating, domain);
  p.operands = {"x"};
  p.parameters = {{"nu", ParamSpec::Kind::real}};
  p.hlo.attributes = {{"nu", "nu", HloAttribute::Kind::f64}};
  p.infer = [](const std::vector<TensorType>& x, const Params& params) {
    if (std::fabs(order(params)) <= elementary::special::largest_order) return infer_unary(x, params);
    throw Error("argument", "`nu` must be a number between -100000 and 100000.");
  };
  set_formula_of_parameters<1>(p, floating, [f](const Params& params) { return Bessel{f, order(params)}; });
  p.reverse = [name = std::string(name), slope](ReverseStep& s) {
    if (!s.required[0]) return;
    const double nu = order(s.call.params);
    const Var x = operand(s, 0);
    auto neighbour = [&](double n) { return record(name.c_str(), {x}, {{"nu", Scalar(n)}}); };
    Var farther = neighbour(nu - 1) * (0.5 * slope.lower), nearer = neighbour(nu + 1) * (0.5 * slope.upper);
    if (nu >= 0) std::swap(farther, nearer);
    Var rest = nearer;
    if (slope.growth != 0) rest = rest + result(s) * (sign(x) * slope.growth);
    // where the order farther from 0 overflows, it is all of the derivative, and others that do must not cancel it
    set(s, 0, cotangent(s) * (farther + select(is_finite(farther), rest, zeros_like(rest))));
  };
  return p;
}

constexpr Domain bessel_domain = {0.2, 10};

}  // namespace

void register_bessel(Registry& r) {
  r.add(bessel("bessel_j", Function::bessel_j, {1, -1, 0}, bessel_domain));
  r.add(bessel("bessel_y", Function::bessel_y, {1, -1, 0}, bessel_domain));
  r.add(bessel("bessel_i", Function::bessel_i, {1, 1, 0}, bessel_domain));
  r.add(bessel("bessel_k", Function::bessel_k, {-1, -1, 0}, bessel_domain));
  r.add(bessel("bessel_ie", Function::bessel_ie, {1, 1, -1}, bessel_domain));
  r.add(bessel("bessel_ke", Function::bessel_ke, {-1, -1, 1}, bessel_domain));
}

}  // namespace anvil::primitives
