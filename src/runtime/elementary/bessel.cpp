// Bessel functions of real order: power series, Hankel's expansions, recurrences and, between these, integrals of
// Schlaefli's kind over paths on which nothing cancels, by the trapezoidal rule, which converges geometrically there
// (DLMF 3.5(i)).
#include <algorithm>
#include <array>
#include <complex>
#include <utility>

#include "runtime/elementary/special_tools.h"

namespace anvil::elementary::special {
namespace {

constexpr double asymptotic = 25;

bool is_whole(double x) { return x == std::floor(x); }
bool is_odd(double x) { return std::fabs(std::fmod(x, 2)) == 1; }
// cos(pi (x + quarters / 2)) from the nearest zero or extremum, which a small relative error needs next to a zero.
double cos_pi(double x, int quarters = 0) {
  const double turn = std::fmod(x, 2), nearest = std::round(2 * turn), rest = pi * (turn - 0.5 * nearest);
  const int k = (static_cast<int>(nearest) + quarters) & 3;
  const double y = k % 2 == 0 ? std::cos(rest) : std::sin(rest);
  return k == 1 || k == 2 ? -y : y;
}
double sin_pi(double x) { return cos_pi(x, 3); }
// factor e^exponent, also where the power alone over- or underflows.
double times_exp(double factor, double exponent) {
  const double root = std::exp(0.5 * exponent);
  return root * factor * root;
}

// (x / 2)^nu / Gamma(nu + 1), nu >= 0.
double leading_term(double nu, double x) {
  if (nu <= 150) {
    const double root = std::pow(x, 0.5 * nu) * std::exp2(-0.5 * nu);  // half of the least x is 0
    return root / std::tgamma(nu + 1) * root;
  }
  return std::exp(nu * (1 + std::log(0.5 * x / nu))) / (std::sqrt(2 * pi * nu) * scaled_gamma(nu));
}
// The power series of J (sign -1) and of I (sign 1) over its first term (DLMF 10.2.2, 10.25.2).
double power_series(double nu, double x, double sign) {
  const double z = sign * 0.25 * x * x;
  double term = 1, sum = 1;
  for (int k = 1; !negligible(term, sum); ++k) sum += term *= z / (k * (k + nu));
  return sum;
}

// ---- K ------------------------------------------------------------------------------------------

// K_nu(x) for x < least, by the leading terms of I_nu and I_-nu (DLMF 10.27.4, 10.30.1), or of the latter alone.
constexpr double least = 1e-40;
double second_limit(double nu, double x) {
  const double log_half = std::log(x) - std::log(2.0);  // half of the least x is 0
  if (nu < 1e-20) return -0.577215664901532860607 - log_half;
  if (nu >= 0.25) return 0.5 * std::tgamma(nu) * std::exp2(nu) * std::pow(x, -nu);
  return 0.5 * pi * leading_term(nu, x) * std::expm1(log_gamma_ratio(1 - nu, 2 * nu) - 2 * nu * log_half) / sin_pi(nu);
}
// (1 / Gamma(1 - mu) - 1 / Gamma(1 + mu)) / (2 mu) and the mean of the two, |mu| <= 1/2: the odd and the even terms of
// the power series of 1 / Gamma(1 + z) (DLMF 5.7.1).
std::array<double, 2> reciprocal_gammas(double mu) {
  static constexpr double odd[] = {-0x1.2788cfc6fb619p-1,  0x1.5815e8fa27048p-5,   0x1.59af103c34092p-5,
                                   -0x1.d919c527f60b2p-8,  0x1.c364fe6f1563dp-13,  0x1.51ce8af47eabep-16,
                                   -0x1.302509dbc0de3p-20, -0x1.a44b7ba22d629p-28, 0x1.44b4cedca388fp-30};
  static constexpr double even[] = {1,
                                    -0x1.4fcf4026afa2ep-1,
                                    0x1.5512320b43fbep-3,
                                    -0x1.3b4af28483e21p-7,
                                    -0x1.317112ce3a2a8p-10,
                                    0x1.0c8a78cd9f9d2p-13,
                                    -0x1.4fad41fc34fbbp-20,
                                    -0x1.b9986666c225dp-23,
                                    0x1.57bc3fc384334p-28,
                                    0x1.cae7675c18607p-34};
  return {polynomial(mu * mu, odd), polynomial(mu * mu, even)};
}
// K_mu and K_(mu + 1), |mu| <= 1/2, of small x by the series of Temme (1975, section 2).
std::array<double, 2> second_series(double mu, double x) {
  const auto [difference, mean] = reciprocal_gammas(mu);
  const double log_half = std::log(2 / x), sigma = mu * log_half, power = std::exp(sigma);
  const double turn = mu == 0 ? 1 : pi * mu / std::sin(pi * mu), z = 0.25 * x * x;
  const double slope = std::fabs(sigma) < 1e-4 ? 1 + sigma * sigma / 6 : std::sinh(sigma) / sigma;
  double f = turn * (difference * std::cosh(sigma) + slope * log_half * mean);
  double p = 0.5 * power / (mean - mu * difference), q = 0.5 / (power * (mean + mu * difference));
  double factor = 1, first = f, second = p, term = f;
  for (int k = 1; !negligible(term, first); ++k) {
    f = (k * f + p + q) / ((k - mu) * (k + mu));
    p /= k - mu;
    q /= k + mu;
    factor *= z / k;
    first += term = factor * f;
    second += factor * (p - k * f);
  }
  return {first, 2 / x * second};
}
constexpr size_t most_nodes = 32;
// cosh t - 1 at multiples of a step.
std::array<double, most_nodes> rises(double step) {
  std::array<double, most_nodes> list{};
  for (size_t k = 0; k < most_nodes; ++k) {
    const double half = std::sinh(0.5 * step * double(k));
    list[k] = 2 * half * half;
  }
  return list;
}
// K_mu and K_(mu + 1) times e^x: the integral of exp(-x (cosh t - 1)) cosh(mu t) (DLMF 10.32.9) at multiples of a step,
// for x from 0.3 to asymptotic.
std::array<double, 2> second_integral(double mu, double x) {
  static const auto wide = rises(0.2), narrow = rises(0.15);
  const double step = x < 8 ? 0.2 : 0.15, by = std::exp(mu * step), by_next = std::exp(step);
  const auto& rise = x < 8 ? wide : narrow;
  double power = 1, next = 1, first = 0.5, second = 0.5, last = 1;
  for (size_t k = 1; k < most_nodes && last > 1e-18 * second; ++k) {
    power *= by, next *= by_next;
    const double weight = 0.5 * std::exp(-x * rise[k]), beyond = power * next;
    first += weight * (power + 1 / power);
    second += last = weight * (beyond + 1 / beyond);
  }
  return {step * first, step * second};
}
// K_nu(x) e^(growth x) for large orders (DLMF 10.32.9 from where the integrand is largest, at sinh t = nu / x): e^phi / 2
// times the integral of exp(-(hypot - nu) (cosh t - 1) - nu (e^(-+t) - 1 +- t)), with hypot - nu = x^2 / (hypot + nu).
double second_of_large_order(double nu, double x, int growth) {
  const double size = std::hypot(x, nu), excess = x / (size + nu), step = std::min(0.14, 0.55 / std::sqrt(size));
  const double decay = growth > 0 ? nu * (nu / (x + size)) : size - growth * x;
  const double peak = nu * std::log((nu + size) / x) - decay;
  double sum = 1, left = 1;
  for (int k = 1; left > 1e-18 * sum; ++k) {
    const double t = k * step, half = std::sinh(0.5 * t), common = 2 * (x * half) * (excess * half);
    left = std::exp(-common - nu * exp_rest(-t));
    sum += left + std::exp(-common - nu * exp_rest(t));
  }
  return times_exp(0.5 * step * sum, peak);
}
// sum of (-1)^k a_k(nu) / x^k (DLMF 10.40.1; of -x in 10.40.2).
double decaying_expansion(double nu, double x) {
  double term = 1, sum = 1;
  for (int k = 1; k < 200 && !negligible(term, sum); ++k)
    sum += term *= (2 * k - 1 - 2 * nu) * (2 * k - 1 + 2 * nu) / (8 * k * x);
  return sum;
}
// K_nu(x) e^(growth x), x > 0, nu >= 0, growth 1, 0 or -1: from the orders next to 0 by recurrence (DLMF 10.29.1), which
// is stable upwards.
double modified_second(double nu, double x, int growth) {
  constexpr double many = 300, small = 0.3, far = 300;
  if (x < least) return second_limit(nu, x);
  if (nu > many) return second_of_large_order(nu, x, growth);
  const double whole = std::floor(nu + 0.5), mu = nu - whole;
  std::array<double, 2> k;
  double exponent = (growth - 1) * x;  // of what K e^x is multiplied with
  if (x < small) {
    k = second_series(mu, x), exponent = growth * x;
  } else if (x < asymptotic) {
    k = second_integral(mu, x);
  } else {
    const double leading = std::sqrt(0.5 * pi / x);
    k = {leading * decaying_expansion(mu, -x), leading * decaying_expansion(mu + 1, -x)};
  }
  if (x < far)  // where further orders may overflow before
    for (double& y : k) y *= std::exp(exponent);
  for (double order = 1; order <= whole; order += 1) k = {k[1], 2 * (mu + order) / x * k[1] + k[0]};
  return x < far ? k[0] : times_exp(k[0], exponent);
}

// ---- I ------------------------------------------------------------------------------------------

// The integral of exp(x cosh u cos v - nu u) over 0 < v < pi on the path of steepest descent x sinh u = nu v / sin v
// (DLMF 10.32.12), from its value at v = 0; d = u - u(0).
double steepest_integral(double nu, double x) {
  const double size = std::hypot(x, nu), step = 0.7 / std::sqrt(size);
  double sum = 0.5;
  for (double v = step; v < pi; v += step) {
    const double ratio = v / std::sin(v), s = nu / x * ratio;
    const double sinh_d = nu * (ratio * ratio - 1) / (ratio * size + std::hypot(x, x * s)), d = std::asinh(sinh_d);
    const double half = std::sin(0.5 * v), rise = std::sinh(0.5 * d);
    const double exponent =
        size * (2 * rise * rise * std::cos(v) - 2 * half * half) + nu * (sinh_d - d - 2 * half * half * sinh_d);
    const double term = std::exp(exponent);
    sum += term;
    if (term < 1e-18 * sum) break;
  }
  return step / pi * sum;
}

// I_nu(x) e^-x, x > 0, nu >= 0, or without the factor.
double modified_first(double nu, double x, bool scaled) {
  if (x <= 30 || x * x <= 80 * (nu + 1))
    return leading_term(nu, x) * power_series(nu, x, 1) * (scaled ? std::exp(-x) : 1);
  if (2 * x >= nu * nu)
    return times_exp(decaying_expansion(nu, x) / (std::sqrt(2 * pi) * std::sqrt(x)), scaled ? 0 : x);
  const double size = std::hypot(x, nu), level = scaled ? nu * (nu / (x + size)) : size;
  return times_exp(steepest_integral(nu, x), level - nu * std::asinh(nu / x));
}

// ---- J and Y ------------------------------------------------------------------------------------

using Hankel = std::complex<double>;  // J + i Y

// Hankel's expansion (DLMF 10.17.5): sqrt(2 / (pi x)) e^(i (x - nu pi / 2 - pi / 4)) sum i^k a_k(nu) / x^k.
Hankel outgoing_expansion(double nu, double x) {
  double term = 1, parts[4] = {1, 0, 0, 0};
  for (int k = 1; k < 200 && std::fabs(term) > 1e-18; ++k) {
    term *= (2 * nu - (2 * k - 1)) * (2 * nu + (2 * k - 1)) / (8 * k * x);
    parts[k % 4] += term;
  }
  const Hankel sum(parts[0] - parts[2], parts[1] - parts[3]), phase(cos_pi(0.5 * nu + 0.25), -sin_pi(0.5 * nu + 0.25));
  return std::sqrt(2 / (pi * x)) * (Hankel(std::cos(x), std::sin(x)) * phase * sum);
}

// H_nu and H_(nu + 1) for 0 <= nu < 1 and small x, from e^(-i nu pi / 2) / (pi i) times the integral of
// 2 e^(i x cosh w) cosh(nu w) over w > 0 (DLMF 10.9.10), on the path w = t + i g, g = pi / 2 tanh t, where
// i cosh w = -sinh t sin g + i cosh t cos g decays. pi / 2 - g is pi / (e^2t + 1).
std::array<Hankel, 2> outgoing_integral(double nu, double x) {
  const double step = std::min(0.1, 0.3 / std::sqrt(x));
  auto hyperbolic = [](double power, double angle) {  // cosh and sinh of log(power) + i angle
    const double c = std::cos(angle), s = std::sin(angle), sum = 0.5 * (power + 1 / power), rest = power - sum;
    return std::array<Hankel, 2>{Hankel(sum * c, rest * s), Hankel(rest * c, sum * s)};
  };
  Hankel first = 0, second = 0;
  for (int k = 0;; ++k) {
    const double t = k * step, power = std::exp(t), rest = pi / (power * power + 1), g = 0.5 * pi - rest;
    const auto [cosh_w, sinh_w] = hyperbolic(power, g);
    const double decay = x * cosh_w.imag();
    if (!(decay <= 745)) break;
    const double cosh_t = 0.5 * (power + 1 / power), phase = x * cosh_t * std::sin(rest);
    const Hankel slope(1, 0.5 * pi / (cosh_t * cosh_t));
    const Hankel weight = (k == 0 ? 0.5 : 1) * slope * std::polar(std::exp(-decay), phase);
    const auto [of_first, other] = hyperbolic(std::exp(nu * t), nu * g);
    const Hankel last = weight * (of_first * cosh_w + other * sinh_w);  // cosh((nu + 1) w)
    first += weight * of_first;
    second += last;
    if (std::abs(last) < 1e-18 * std::abs(second)) break;
  }
  const Hankel turn = 2 * step / pi * Hankel(-sin_pi(0.5 * nu), -cos_pi(0.5 * nu));  // e^(-i nu pi / 2) / i
  return {turn * first, turn * Hankel(0, -1) * second};
}

// H_0 and H_1 for small x: J by recurrence downwards from where it is negligible, with 1 = J_0 + 2 sum J_2k (DLMF
// 10.12.4), and Neumann's series of Y_0 and Y_1 (DLMF 10.23.16, 10.23.17).
std::array<Hankel, 2> outgoing_series(double x) {
  constexpr double euler = 0.577215664901532860607;
  const double log_half = std::log(0.5 * x) + euler;
  if (x < 1e-12) return {Hankel(1, 2 / pi * log_half), Hankel(0.5 * x, -2 / (pi * x))};
  double above = 0, j = 1e-300, total = 0, even = 0, odd = 0;
  for (int n = x < 2 ? 20 : 2 * static_cast<int>(0.5 * x + 20); n > 0; --n) {
    const double k = n / 2, sign = n / 2 % 2 ? -1 : 1;
    if (n % 2 == 0) {
      total += 2 * j;
      even += sign * j / k;
    } else if (n > 1) {
      odd += sign * n * j / (k * (k + 1));
    }
    above = std::exchange(j, 2 * n / x * j - above);
  }
  total += j;
  const double j0 = j / total, j1 = above / total;
  return {Hankel(j0, 2 / pi * (log_half * j0 - 2 * even / total)),
          Hankel(j1, 2 / pi * ((log_half - 1) * j1 - odd / total - j0 / x))};
}

// H_nu and H_(nu + 1) for x < least, without J, which is negligible.
std::array<Hankel, 2> outgoing_limit(double nu, double x) {
  const double tangent = std::tan(0.5 * pi * nu);  // Y_nu = -2 / pi K_nu - J_nu tan(pi nu / 2) by leading terms
  return {Hankel(0, -2 / pi * second_limit(nu, x) - tangent * leading_term(nu, x)),
          Hankel(0, -2 / pi * second_limit(nu + 1, x))};
}

// J_(nu + 1) / J_nu for nu > x / 2 or so (DLMF 10.10.1).
double ratio_of_neighbours(double nu, double x) {
  struct Step {
    double a, b;
  };
  auto denominator = [&](int n) { return 2 * (nu + n) / x; };
  return inverse_fraction(denominator(1), [&](int n) { return Step{-1, denominator(n + 1)}; });
}

// J_nu and Y_nu for x > 0, nu >= 0.
Hankel first_and_second(double nu, double x) {
  if (x >= asymptotic && 2 * x >= nu * nu) return outgoing_expansion(nu, x);
  const double whole = std::floor(nu), base = nu - whole;
  Hankel h, next;
  if (x >= asymptotic) {
    h = outgoing_expansion(base, x), next = outgoing_expansion(base + 1, x);
  } else {
    const auto both = x < least ? outgoing_limit(base, x) : base == 0 ? outgoing_series(x) : outgoing_integral(base, x);
    h = both[0], next = both[1];
  }
  constexpr double unit = 0x1p600;  // J is a number also where Y overflows
  h /= unit, next /= unit;
  double k = 0;
  for (; k < whole && std::isfinite(next.imag()); k += 1) {  // DLMF 10.6.1, stable upwards for Y, for J below order x
    const Hankel after = 2 * (base + k + 1) / x * next - h;
    h = next, next = after;
  }
  const bool overflows = k < whole;  // Y of all further orders does
  double j = h.real() * unit;
  if (0.25 * x * x <= nu + 1) {
    j = leading_term(nu, x) * power_series(nu, x, -1);
  } else if (nu > x) {  // by the Wronskian J_(nu + 1) Y_nu - J_nu Y_(nu + 1) = 2 / (pi x) (DLMF 10.5.2)
    j = overflows ? 0 : 2 / (pi * x) / (ratio_of_neighbours(nu, x) * h.imag() - next.imag()) / unit;
  }
  return {j, overflows ? -infinity : h.imag() * unit};
}

double positive_j(double nu, double x) {
  if (x == 0) return nu == 0;
  if (x == infinity) return 0;
  if (0.25 * x * x <= nu + 1) return leading_term(nu, x) * power_series(nu, x, -1);
  return first_and_second(nu, x).real();
}
double positive_y(double nu, double x) {
  if (x == 0) return -infinity;
  if (x == infinity) return 0;
  return first_and_second(nu, x).imag();
}
double positive_i(double nu, double x, bool scaled) {
  if (x == 0) return nu == 0;
  if (x == infinity) return scaled ? 0 : infinity;
  return modified_first(nu, x, scaled);
}
double positive_k(double nu, double x, int growth) {
  if (x == 0) return infinity;
  if (x == infinity) return 0;
  return modified_second(nu, x, growth);
}

// f(|nu|, |x|) where that is all: with the sign of (-1)^nu for whole orders, NaN outside of the domain. `even` says
// that order -nu is order nu also where it is odd.
template <class F>
double by_parity(double nu, double x, bool even, F f) {
  if (nu != nu || x != x) return nu + x;
  if (!(std::fabs(nu) <= largest_order) || (x < 0 && !is_whole(nu))) return nan;
  const bool turned = is_odd(nu) && ((x < 0) != (nu < 0 && !even));
  const double y = f(std::fabs(nu), std::fabs(x));
  return turned ? -y : y;
}
// a b, where a factor 0 means that there is no such part.
double part(double factor, double (*f)(double, double), double nu, double x) {
  return factor == 0 ? 0 : factor * f(nu, x);
}

double first_kind(double nu, double x, bool scaled) {
  return by_parity(nu, x, true, [&](double n, double z) {
    const double y = positive_i(n, z, scaled);
    if (nu >= 0 || is_whole(nu)) return y;
    return y + 2 / pi * sin_pi(n) * positive_k(n, z, scaled ? -1 : 0);  // DLMF 10.27.2
  });
}
double second_kind(double nu, double x, bool scaled) {
  if (nu != nu || x != x) return nu + x;
  if (!(std::fabs(nu) <= largest_order) || x < 0) return nan;
  return positive_k(std::fabs(nu), x, scaled);
}

}  // namespace

// Negative orders by DLMF 10.4.5 and 10.4.6.
double bessel_j(double nu, double x) {
  return by_parity(nu, x, false, [&](double n, double z) {
    if (nu >= 0 || is_whole(nu)) return positive_j(n, z);
    return part(cos_pi(n), positive_j, n, z) - part(sin_pi(n), positive_y, n, z);
  });
}
double bessel_y(double nu, double x) {
  if (nu != nu || x != x) return nu + x;
  if (!(std::fabs(nu) <= largest_order) || x < 0) return nan;
  if (nu >= 0) return positive_y(nu, x);
  return part(sin_pi(-nu), positive_j, -nu, x) + part(cos_pi(-nu), positive_y, -nu, x);
}
double bessel_i(double nu, double x) { return first_kind(nu, x, false); }
double bessel_ie(double nu, double x) { return first_kind(nu, x, true); }
double bessel_k(double nu, double x) { return second_kind(nu, x, false); }
double bessel_ke(double nu, double x) { return second_kind(nu, x, true); }

}  // namespace anvil::elementary::special
