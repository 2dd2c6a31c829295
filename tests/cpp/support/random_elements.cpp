// Drawing rules of random_program.h: making, moving and combining elements.
#include "primitives/families/monoid.h"
#include "support/random_program.h"

namespace anvil::test {

void RandomProgram::add_elements(Rules& t) {
  using P = RandomProgram;
  for (const primitives::Monoid& m : primitives::monoids())
    t[m.reduction] = [&m](P& p) {
      return p.options_.float_only && m.op != loops::Op::add ? false : p.reduction(m.reduction);
    };
  t["fill"] = [](P& p) {
    TensorType type{p.any_dtype(), p.any_shape(), false};
    p.pool_.push_back(
        {&p.graph,
         primitives::record(
             p.graph, primitives::registry().at("fill"), {},
             {{"value", Scalar(p.below(3))}, {"dtype", type.dtype}, {"shape", type.shape}, {"ambiguous", false}})[0]});
    return true;
  };
  t["iota"] = [](P& p) {
    Shape s = p.any_shape();
    DType d = p.any_dtype();
    if (s.empty() || is_bool(d)) return false;
    p.keep(primitives::iota(p.graph, p.below(static_cast<int>(s.size())), d, s, p.below(3)));
    return true;
  };
  t["convert"] = [](P& p) {
    if (p.options_.float_only) return false;
    Var x = p.any();
    DType to = p.any_dtype();
    if (p.options_.exportable && is_float(x.dtype()) && !is_float(to)) return false;  // out of range is open there
    p.keep(primitives::convert(x, to));
    return true;
  };
  t["bitcast_convert"] = [](P& p) {
    Var x = p.any();
    DType to = p.any_dtype();
    if (p.options_.float_only || is_bool(x.dtype()) || is_bool(to) || is_float(to) || size_of(to) != size_of(x.dtype()))
      return false;
    if (p.options_.exportable && is_float(x.dtype())) return false;  // would compare roundings bit by bit
    p.keep(primitives::record("bitcast_convert", {x}, {{"dtype", to}}));
    return true;
  };
  t["round"] = [](P& p) {
    Var x = p.any();
    if (p.options_.float_only || !is_float(x.dtype())) return false;
    p.keep(primitives::record("round", {x}, {{"method", std::string(p.chance(50) ? "nearest_even" : "afz")}}));
    return true;
  };
  t["reduce_precision"] = [](P& p) {
    Var x = p.any();
    if (p.options_.float_only || !is_float(x.dtype())) return false;
    p.keep(primitives::record("reduce_precision", {x},
                              {{"exponent_bits", int64_t{2 + p.below(8)}}, {"mantissa_bits", int64_t{p.below(30)}}}));
    return true;
  };
  for (const char* name : {"polygamma", "zeta"})
    t[name] = [name](P& p) {
      Var x = p.any();
      if (!is_float(x.dtype()) || p.options_.float_only) return false;
      Var positive = primitives::abs(primitives::record("tanh", {x})) + 0.5;
      p.keep(primitives::record(name, {primitives::literal(x, Scalar(double(p.below(3)))), positive}));
      return true;
    };
  for (const char* name : {"igamma", "igammac", "igamma_grad_a", "betainc", "betaincc", "betainc_grad_a",
                           "betainc_grad_b", "beta_density"})
    t[name] = [name](P& p) {
      Var x = p.any();
      if (!is_float(x.dtype()) || p.options_.exportable) return false;
      auto number = [&] { return primitives::literal(x, Scalar(0.5 + p.below(3))); };
      std::vector<Var> operands = {number()};
      if (primitives::registry().at(name).operands.size() == 3) operands.push_back(number());
      operands.push_back(primitives::record("tanh", {x}) * 0.25 + 0.5);
      p.keep(primitives::record(name, operands));
      return true;
    };
  for (const char* name : {"bessel_j", "bessel_y", "bessel_i", "bessel_k", "bessel_ie", "bessel_ke"})
    t[name] = [name](P& p) {
      Var x = p.any();
      if (!is_float(x.dtype()) || p.options_.exportable) return false;
      Var positive = primitives::record("tanh", {x}) + 1.5;
      p.keep(primitives::record(name, {positive}, {{"nu", Scalar(0.5 * p.below(5))}}));
      return true;
    };
  t["select"] = [](P& p) {
    Var x = p.any(), y = p.like(x);
    p.keep(primitives::select(x < y, y, x));
    return true;
  };
  t["clamp"] = [](P& p) {
    Var x = p.any();
    if (is_bool(x.dtype()) || p.options_.float_only) return false;
    TensorType bound{x.dtype(), p.chance(50) ? Shape{} : x.shape(), false};
    p.keep(primitives::record("clamp", {primitives::literal(*x.graph, Scalar(0), bound), x,
                                        primitives::literal(*x.graph, Scalar(2), bound)}));
    return true;
  };
  t["broadcast_in_dim"] = [](P& p) {
    Var x = p.any();
    size_t rank = x.shape().size() + static_cast<size_t>(p.below(2));
    if (rank > 4) return false;
    std::vector<int64_t> dims = p.permutation(rank);
    dims.resize(x.shape().size());
    // the independent evaluator takes dimensions in their order only
    if (p.chance(70) || p.options_.exportable) std::sort(dims.begin(), dims.end());
    Shape s(rank, 1 + p.below(4));
    for (size_t d = 0; d < dims.size(); ++d)
      if (x.shape()[d] != 1) s[static_cast<size_t>(dims[d])] = x.shape()[d];
    p.keep(primitives::broadcast_in_dim(x, s, dims));
    return true;
  };
  t["reshape"] = [](P& p) {
    Var x = p.any();
    int64_t n = elements(x.shape());
    Shape s = {n};
    for (int64_t f : {2, 3, 5})
      if (n > 0 && s.back() % f == 0 && p.chance(60)) {
        s.back() /= f;
        s.insert(s.begin() + p.below(static_cast<int>(s.size()) + 1), f);
      }
    if (elements(s) != n) return false;
    if (p.chance(30)) s.insert(s.begin(), 1);
    p.keep(primitives::reshape(x, s));
    return true;
  };
  t["transpose"] = [](P& p) {
    Var x = p.any();
    p.keep(primitives::transpose(x, p.permutation(x.shape().size())));
    return true;
  };
  t["reverse"] = [](P& p) {
    Var x = p.any();
    auto dims = p.some_dims(x.shape().size());
    if (dims.empty()) return false;
    p.keep(primitives::reverse(x, dims));
    return true;
  };
  t["static_slice"] = [](P& p) {
    Var x = p.any();
    Ints a, b, s;
    for (int64_t n : x.shape()) {
      if (n == 0) return false;
      a.push_back(p.below(static_cast<int>(n)));
      b.push_back(a.back() + 1 + p.below(static_cast<int>(n - a.back())));
      s.push_back(1 + p.below(2));
    }
    p.keep(primitives::slice(x, a, b, s));
    return true;
  };
  t["pad"] = [](P& p) {
    Var x = p.any();
    Ints low, high, interior;
    for (int64_t n : x.shape()) {
      low.push_back(p.below(3) - (n > 2 ? 1 : 0));
      high.push_back(p.below(3) - (n > 2 ? 1 : 0));
      interior.push_back(p.chance(30) ? 1 : 0);
    }
    p.keep(primitives::pad(x, primitives::literal(*x.graph, Scalar(1), {x.dtype(), {}, false}), low, high, interior));
    return true;
  };
  t["concatenate"] = [](P& p) {
    Var x = p.any();
    if (x.shape().empty()) return false;
    std::vector<Var> list = {x, p.like(x)};
    if (p.chance(40)) list.push_back(p.like(x));
    p.keep(primitives::concatenate(list, p.below(static_cast<int>(x.shape().size()))));
    return true;
  };
}

}  // namespace anvil::test
