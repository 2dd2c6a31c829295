// Drawing rules of random_program.h: factorisations of well-conditioned matrices, and functions of
// their results that do not depend on signs and are as smooth as the matrices allow.
#include "support/random_program.h"

namespace anvil::test {

std::optional<Var> RandomProgram::separated(bool square) {
  Var x = any();
  const size_t rank = x.shape().size();
  if (!is_float(x.dtype()) || rank < 2 || rank > 3 || options_.exportable) return std::nullopt;
  const int64_t m = x.shape()[rank - 2], n = x.shape()[rank - 1], k = std::min(m, n);
  if (m > 8 || n > 8 || elements(x.shape()) == 0) return std::nullopt;
  if (square && m != n) {
    Shape end = x.shape();
    end[rank - 2] = end[rank - 1] = k;
    x = primitives::slice(x, Ints(rank, 0), end, Ints(rank, 1));
  }
  const auto axis = static_cast<int64_t>(rank);
  Var row = primitives::iota(graph, axis - 2, DType::i32, x.shape()),
      column = primitives::iota(graph, axis - 1, DType::i32, x.shape());
  Var finite = primitives::select(x == x, x, primitives::zeros_like(x));
  Var noise = primitives::record("tanh", {finite * 0.5}) * 0.1;
  return noise +
         primitives::select(row == column, primitives::convert(row + 2.0, x.dtype()), primitives::zeros_like(x));
}

void RandomProgram::add_factorisations(Rules& t) {
  using P = RandomProgram;
  static const auto factors = [](P& p, const char* name, Var a) {
    std::vector<Var> results;
    for (const auto& v : primitives::record(p.graph, primitives::registry().at(name), {a.value}))
      results.push_back({&p.graph, v});
    return results;
  };
  t["lu"] = [](P& p) {
    const auto a = p.separated(false);
    if (!a) return false;
    const auto lu = factors(p, "lu", *a);
    p.keep(lu[0]);
    if (!p.options_.float_only) p.keep(lu[2]);
    return true;
  };
  t["qr"] = [](P& p) {
    const auto a = p.separated(false);
    if (!a) return false;
    for (const Var& v : factors(p, "qr", *a)) p.keep(v);
    return true;
  };
  t["geqrf"] = [](P& p) {
    const auto a = p.separated(false);
    if (!a) return false;
    for (const Var& v : factors(p, "geqrf", *a)) p.keep(v);
    return true;
  };
  t["householder_product"] = [](P& p) {
    const auto a = p.separated(false);
    if (!a || a->shape()[a->shape().size() - 2] < a->shape().back()) return false;
    const auto packed = factors(p, "geqrf", *a);
    p.keep(primitives::record("householder_product", packed));
    return true;
  };
  t["eigh"] = [](P& p) {
    const auto a = p.separated(true);
    if (!a) return false;
    const auto eigh = factors(p, "eigh", *a);
    p.keep(eigh[0]);
    p.keep(eigh[1] * eigh[1]);
    return true;
  };
  t["svd"] = [](P& p) {
    const auto a = p.separated(false);
    if (!a) return false;
    const auto svd = factors(p, "svd", *a);
    p.keep(svd[1]);
    p.keep(p.chance(50) ? svd[0] * svd[0] : svd[2] * svd[2]);
    return true;
  };
  for (const auto& [name, symmetric] : {std::pair{"eigh_values", true}, {"svd_values", false}})
    t[name] = [name = name, symmetric = symmetric](P& p) {
      const auto a = p.separated(symmetric);
      if (!a) return false;
      p.keep(primitives::record(name, {*a}));
      return true;
    };
  t["solve"] = [](P& p) {
    const auto a = p.separated(true);
    if (!a) return false;
    p.keep(primitives::record("solve", {*a, p.like(*a)}));
    return true;
  };
}

}  // namespace anvil::test
