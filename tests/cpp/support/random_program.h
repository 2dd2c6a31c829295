// Random graphs over the registry, with inputs to run them on. Everything follows from a
// seed. Elementwise primitives come from the registry itself; each structured one has a
// drawing rule here, and a test fails when one is missing.
#pragma once
#include <algorithm>
#include <functional>
#include <map>
#include <random>
#include <set>
#include <string>

#include "primitives/build.h"
#include "primitives/window.h"
#include "support/random_index.h"
#include "support/regions.h"

namespace anvil::test {

using graph::Graph;
using graph::GraphPtr;
using graph::Params;
using graph::Tensor;
using graph::TensorType;
using graph::Value;
using primitives::Var;
using Ints = std::vector<int64_t>;

class RandomProgram {
 public:
  struct Options {
    bool float_only = false;  // f64 and smooth primitives: for gradients
    bool exportable = false;  // what StableHLO text and its readers agree on
    int calls = 12;
  };
  Graph graph;
  std::vector<Tensor> inputs;

  RandomProgram(uint64_t seed, Options options) : random_(seed), options_(options) {
    int count = 1 + below(3);
    for (int i = 0; i < count; ++i) {
      TensorType type{options_.float_only ? DType::f64 : any_dtype(), any_shape(), false};
      graph.inputs.push_back(graph::make_value(Value::Kind::input, type));
      inputs.push_back(any_tensor(type));
      pool_.push_back({&graph, graph.inputs.back()});
    }
    for (int k = 0; k < options_.calls;) k += step(0);
    // the last values, so that chains fuse, and one from anywhere
    for (int k = 0; k < 2 && k < static_cast<int>(pool_.size()); ++k)
      graph.outputs.push_back(pool_[pool_.size() - 1 - static_cast<size_t>(k)].value);
    graph.outputs.push_back(any().value);
  }

  // The structured primitives that have a rule.
  static std::set<std::string> structured() {
    std::set<std::string> names;
    for (const auto& [name, rule] : rules()) names.insert(name);
    return names;
  }

  int below(int n) { return static_cast<int>(random_() % static_cast<uint64_t>(n)); }

 private:
  using Rule = std::function<bool(RandomProgram&)>;

  bool chance(int percent) { return below(100) < percent; }
  DType any_dtype() {
    static const DType list[] = {DType::f32,  DType::f32,  DType::f64,  DType::f64,    DType::i32,
                                 DType::i32,  DType::i64,  DType::i8,   DType::i16,    DType::ui8,
                                 DType::ui16, DType::ui32, DType::ui64, DType::boolean};
    return list[below(14)];
  }
  Shape any_shape() {
    static const int64_t sizes[] = {0, 1, 1, 2, 3, 4, 5, 7, 2, 3, 8, 16, 17, 31, 33};
    Shape s(static_cast<size_t>(std::min(below(5), below(5))));
    for (auto& d : s) d = options_.float_only ? 1 + below(3) : sizes[below(15)];
    while (elements(s) > 600) *std::max_element(s.begin(), s.end()) = 2;
    return s;
  }
  // Small multiples of 1/4 make sums exact; the rest is ordinary, some of it special.
  Tensor any_tensor(const TensorType& type) {
    Tensor t = graph::allocate(type);
    bool exact = chance(50), special = !options_.float_only && !options_.exportable && chance(15);
    static const double specials[] = {0.0, -0.0, INFINITY, -INFINITY, NAN, 1e-310, 1e30, -1e30, 0.5, 1};
    for (int64_t i = 0; i < elements(type.shape); ++i) {
      double x = exact ? 0.25 * (below(33) - 16) : std::uniform_real_distribution<double>(-2, 2)(random_);
      if (options_.float_only) x = std::uniform_real_distribution<double>(0.3, 1.7)(random_);
      if (special && chance(30)) x = specials[below(10)];
      if (is_float(type.dtype))
        graph::set_element(t, i, Scalar(x));
      else if (is_bool(type.dtype))
        graph::set_element(t, i, Scalar(chance(50)));
      else if (special && chance(30))
        graph::set_element(t, i, chance(50) ? lowest(type.dtype) : highest(type.dtype));
      else
        graph::set_element(t, i, Scalar(is_unsigned_integer(type.dtype) ? below(9) : below(17) - 8));
    }
    return t;
  }
  Var any() {
    size_t n = pool_.size();
    if (n > 6 && chance(70)) return pool_[n - 1 - static_cast<size_t>(below(6))];
    return pool_[static_cast<size_t>(below(static_cast<int>(n)))];
  }
  Var like(Var x) {  // another value of x's type: from the pool, or a literal
    std::vector<Var> same;
    for (Var v : pool_)
      if (same_type(v.type(), x.type())) same.push_back(v);
    if (!same.empty() && chance(80))
      return {graph_of(x), same[static_cast<size_t>(below(static_cast<int>(same.size())))].value};
    return primitives::literal(x, is_float(x.dtype()) ? Scalar(0.5 * (1 + below(4))) : Scalar(1 + below(2)));
  }
  static Graph* graph_of(Var x) { return x.graph; }
  void keep(Var v) {
    if (elements(v.shape()) <= 4000) pool_.push_back(v);
  }

  int step(int depth) {
    if (chance(60)) return elementwise() ? 1 : 0;
    const auto& list = rules();
    auto it = list.begin();
    std::advance(it, below(static_cast<int>(list.size())));
    if (depth > 0 && (it->first == "while" || it->first == "if")) return 0;
    return it->second(*this) ? 1 : 0;
  }

  bool elementwise() {
    auto all = primitives::registry().all();
    const primitives::Primitive* p = all[static_cast<size_t>(below(static_cast<int>(all.size())))];
    if (!p->elementwise || !p->parameters.empty() || p->operands.size() > 2) return false;
    if (p->domain[0].low == p->domain[0].high) return false;  // takes a number, not any operand
    if (options_.float_only && p->zero_derivative) return false;
    Var x = any();
    if (!contains(p->group, x.dtype())) return false;
    // XLA takes integer powers modulo 64 in the exponent
    if (options_.exportable && p->name == "power" && !is_float(x.dtype())) return false;
    std::vector<Var> operands = {into_domain(x, p->domain.at(0))};
    if (p->operands.size() == 2)
      operands.push_back(into_domain(like(x), p->domain.size() > 1 ? p->domain[1] : p->domain[0]));
    keep(primitives::record(p->name.c_str(), operands));
    return true;
  }
  // Floats are drawn into the primitive's interval by a smooth map, most of the time.
  Var into_domain(Var x, primitives::Domain d) {
    if (!is_float(x.dtype()) || (!options_.float_only && chance(20))) return x;
    double low = std::max(d.low, -4.0), high = std::min(d.high, 4.0);
    if (low <= -4 && high >= 4 && !options_.float_only) return x;
    double middle = 0.5 * (low + high), half = 0.45 * (high - low);
    return primitives::record("tanh", {x * 0.25}) * half + middle;
  }

  std::vector<int64_t> some_dims(size_t rank) {
    std::vector<int64_t> dims;
    for (size_t d = 0; d < rank; ++d)
      if (chance(50)) dims.push_back(static_cast<int64_t>(d));
    return dims;
  }
  std::vector<int64_t> permutation(size_t rank) {
    std::vector<int64_t> p(rank);
    for (size_t d = 0; d < rank; ++d) p[d] = static_cast<int64_t>(d);
    std::shuffle(p.begin(), p.end(), random_);
    return p;
  }
  Var start(Var x, int64_t size) {
    return primitives::literal(*x.graph, Scalar(1 + below(static_cast<int>(size) + 2) - 1), {DType::i32, {}, false});
  }

  // Slices of x at random places, which lie in a constant; with a combiner, changes of them.
  struct Indexed {
    RandomIndex index;
    Var places;
  };
  std::optional<Indexed> indexed(Var x, bool whole = false) {
    const Shape& shape = x.shape();
    if (shape.size() > 3 || (shape.empty() && options_.exportable) || elements(shape) == 0 || elements(shape) > 600)
      return std::nullopt;
    auto draw = [this](int n) { return below(n); };
    RandomIndex index(shape, draw);
    if (elements(index.indices) < 2 || elements(index.indices) > 200) return std::nullopt;
    static const DType kinds[] = {DType::i32, DType::i32, DType::i64, DType::ui8, DType::ui32, DType::i16};
    Tensor places = index.values(kinds[below(6)], shape, draw, whole);
    int64_t other = 1;  // all equal: text reads back as a literal
    while (other < elements(index.indices) && element(places, other) == element(places, 0)) ++other;
    if (other == elements(index.indices)) return std::nullopt;
    graph.constants.push_back(graph::make_constant(places));
    return Indexed{index, {&graph, graph.constants.back()}};
  }
  const char* any_combiner(DType t) {
    static const char* floats[] = {"add", "mul", "", "sub", "maximum", "minimum"};
    static const char* bits[] = {"and", "or", "xor", ""};
    return is_bool(t) ? bits[below(4)] : floats[below(6)];
  }

  // Floats whose order is the same for all who compute them: with one NaN, and far apart, or
  // for gradients without ties.
  Var order_key(Var x) {
    if (!is_float(x.dtype())) return x;
    if (options_.float_only) return x + 0.618 * primitives::iota(graph, 0, DType::f64, x.shape());
    Var rounded = primitives::round(x);
    return primitives::select(rounded != rounded, primitives::literal(x, Scalar(NAN)), rounded);
  }

  // Any window that has a chance to fit.
  Params any_window(const Shape& shape, bool dilated) {
    Ints size, stride, base, dilation, low, high;
    for (int64_t n : shape) {
      size.push_back(1 + below(n > 4 ? 4 : 2));
      stride.push_back(1 + below(2));
      base.push_back(chance(20) ? 2 : 1);
      dilation.push_back(chance(20) ? 2 : 1);
      low.push_back(below(2));
      high.push_back(below(3) - (n > 3 ? 1 : 0));
    }
    Params window{{"window_dimensions", size}, {"window_strides", stride}};
    if (dilated) {
      window.items.push_back({"base_dilations", base});
      window.items.push_back({"window_dilations", dilation});
    }
    window.items.push_back({"padding_low", low});
    window.items.push_back({"padding_high", high});
    return window;
  }
  // A reduction of x by a function that has no reduction of its own, or of x and where its
  // elements are.
  void fold(const char* primitive, Var x, Params params) {
    auto scalar = [&](Scalar value, DType t) { return primitives::literal(graph, value, {t, {}}); };
    DType t = x.dtype();
    if (!options_.float_only && !x.shape().empty() && chance(50)) {
      Var place = primitives::iota(graph, 0, DType::i32, x.shape());
      params.items.push_back({"body", first_largest(t, DType::i32)});
      for (Var v : call(primitive, {x, place, scalar(lowest(t), t), scalar(-1, DType::i32)}, params)) keep(v);
      return;
    }
    graph::GraphPtr body =
        is_float(t)
            ? region({t, t},
                     [](const std::vector<Var>& v) { return std::vector<Var>{v[0] + v[1] + v[0] * v[1] * 0.5}; })
            : operation("xor", t);
    params.items.push_back({"body", body});
    Var bounded = is_float(t) ? primitives::record("tanh", {x * 0.5}) * 0.25 : x;
    keep(call(primitive, {bounded, scalar(0, t)}, params)[0]);
  }
  // A number made of x.
  Var spread_scalar(Var x) {
    std::vector<int64_t> all;
    for (size_t d = 0; d < x.shape().size(); ++d) all.push_back(static_cast<int64_t>(d));
    return options_.float_only ? primitives::reduce_sum(x, all) : primitives::reduce_max(x, all);
  }

  static const std::map<std::string, Rule>& rules();
  bool reduction(const char* name);

  std::mt19937_64 random_;
  Options options_;
  std::vector<Var> pool_;
};

inline bool RandomProgram::reduction(const char* name) {
  Var x = any();
  const auto& p = primitives::registry().at(name);
  if (!contains(p.group, x.dtype()) ||
      (options_.exportable && is_bool(x.dtype()) && std::string(name) == "reduce_prod"))
    return false;
  // where a product over- or underflows half-way depends on its order
  if (std::string(name) == "reduce_prod" && is_float(x.dtype()) && !options_.float_only)
    x = primitives::record("tanh", {x}) + 0.5;
  auto dims = some_dims(x.shape().size());
  if (options_.exportable && is_bool(x.dtype()) && dims.empty()) return false;
  keep(primitives::record(name, {x}, {{"dims", dims, true}, {"drop", chance(50)}}));
  return true;
}

inline const std::map<std::string, RandomProgram::Rule>& RandomProgram::rules() {
  using P = RandomProgram;
  static const std::map<std::string, Rule> table = [] {
    std::map<std::string, Rule> t;
    for (const char* name : {"reduce_sum", "reduce_prod", "reduce_max", "reduce_min", "reduce_any", "reduce_all"})
      t[name] = [name](P& p) { return p.options_.float_only && name[7] != 's' ? false : p.reduction(name); };
    t["fill"] = [](P& p) {
      TensorType type{p.options_.float_only ? DType::f64 : p.any_dtype(), p.any_shape(), false};
      p.pool_.push_back({&p.graph, primitives::record(p.graph, primitives::registry().at("fill"), {},
                                                      {{"value", Scalar(p.below(3))},
                                                       {"dtype", type.dtype},
                                                       {"shape", type.shape},
                                                       {"ambiguous", false}})[0]});
      return true;
    };
    t["iota"] = [](P& p) {
      Shape s = p.any_shape();
      DType d = p.options_.float_only ? DType::f64 : p.any_dtype();
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
      if (p.options_.float_only || is_bool(x.dtype()) || is_bool(to) || is_float(to) ||
          size_of(to) != size_of(x.dtype()))
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
    t["cumsum"] = [](P& p) {
      Var x = p.any();
      if (x.shape().empty() || is_bool(x.dtype())) return false;
      p.keep(primitives::cumsum(x, p.below(static_cast<int>(x.shape().size()))));
      return true;
    };
    t["reduce"] = [](P& p) {
      Var x = p.any();
      auto dims = p.some_dims(x.shape().size());
      // over no dimensions XLA gives the operand, whatever the initial value
      if (is_bool(x.dtype()) || (p.options_.exportable && dims.empty())) return false;
      p.fold("reduce", x, {{"dims", dims, true}});
      return true;
    };
    t["cumulative"] = [](P& p) {
      Var x = p.any();
      if (x.shape().empty() || is_bool(x.dtype())) return false;
      p.fold("cumulative", x, {{"dim", int64_t(p.below(static_cast<int>(x.shape().size()))), true}});
      return true;
    };
    t["reduce_window"] = [](P& p) {
      Var x = p.any();
      if (is_bool(x.dtype()) || elements(x.shape()) > 300) return false;
      p.fold("reduce_window", x, p.any_window(x.shape(), true));
      return true;
    };
    t["select_and_scatter"] = [](P& p) {
      Var x = p.any();
      if (is_bool(x.dtype()) || x.shape().empty() || elements(x.shape()) > 300 || elements(x.shape()) == 0)
        return false;
      Params window = p.any_window(x.shape(), false);
      Params counted = window;
      for (const char* name : {"base_dilations", "window_dilations"})
        counted.items.push_back({name, Ints(x.shape().size(), 1)});
      counted.items.push_back({"body", operation("add", x.dtype())});
      Var zero = primitives::literal(p.graph, 0, {x.dtype(), {}});
      Shape windows = call("reduce_window", {x, zero}, counted)[0].shape();
      const char* direction = p.chance(50) ? "greater_equal" : "less_equal";
      window.items.push_back({"select", region({x.dtype(), x.dtype()}, [&](const std::vector<Var>& v) {
                                return std::vector<Var>{primitives::record(direction, {v[0], v[1]})};
                              })});
      window.items.push_back(
          {"scatter", operation(p.options_.float_only || p.chance(50) ? "add" : "maximum", x.dtype())});
      Var ones = primitives::literal(p.graph, 1, {x.dtype(), windows});
      Var source = ones * primitives::broadcast_in_dim(p.spread_scalar(x), windows, {});
      p.keep(call("select_and_scatter", {x, source, zero}, window)[0]);
      return true;
    };
    t["windows"] = [](P& p) {
      Var x = p.any();
      Ints dims, sizes, strides, dilations;
      for (size_t d = 0; d < x.shape().size(); ++d) {
        if (p.chance(40)) continue;
        dims.push_back(static_cast<int64_t>(d));
        sizes.push_back(1 + p.below(3));
        strides.push_back(1 + p.below(2));
        dilations.push_back(1 + p.below(2));
      }
      p.keep(primitives::windows(x, dims, sizes, strides, dilations));
      return true;
    };
    t["sum_windows"] = [](P& p) {
      Var x = p.any();
      if (is_bool(x.dtype()) || x.shape().size() < 2 || x.shape()[0] < 2 * x.shape().back() || x.shape().back() == 0)
        return false;
      p.keep(primitives::sum_windows(x, {0}, {1 + p.below(2)}));
      return true;
    };
    t["convolution"] = [](P& p) {
      Var x = p.any();
      size_t rank = x.shape().size();
      if (rank < 2 || is_bool(x.dtype()) || elements(x.shape()) > 300 || elements(x.shape()) == 0) return false;
      Ints in = p.permutation(rank), kernel = p.permutation(rank), out = p.permutation(rank);
      int64_t batch = x.shape()[static_cast<size_t>(in[0])], features = x.shape()[static_cast<size_t>(in[1])];
      int64_t by_feature = features % 2 == 0 && p.chance(30) ? 2 : 1,
              by_batch = by_feature == 1 && batch % 2 == 0 && p.chance(30) ? 2 : 1;
      Shape shape(rank);
      shape[static_cast<size_t>(kernel[0])] = by_feature * by_batch * (1 + p.below(2));
      shape[static_cast<size_t>(kernel[1])] = features / by_feature;
      Ints strides, low, high, input_dilation, kernel_dilation, reversed;
      for (size_t s = 2; s < rank; ++s) {
        shape[static_cast<size_t>(kernel[s])] = 1 + p.below(3);
        strides.push_back(1 + p.below(2));
        low.push_back(p.below(3));
        high.push_back(p.below(3));
        input_dilation.push_back(1 + p.below(2));
        kernel_dilation.push_back(1 + p.below(2));
        if (p.chance(30)) reversed.push_back(static_cast<int64_t>(s) - 2);
      }
      Var w = primitives::literal(p.graph, 2, {x.dtype(), shape});  // one element is no constant
      if (elements(shape) > 1) {
        p.graph.constants.push_back(graph::make_constant(p.any_tensor({x.dtype(), shape})));
        w.value = p.graph.constants.back();
      }
      p.keep(call("convolution", {x, w},
                  {{"window_strides", strides},
                   {"padding_low", low},
                   {"padding_high", high},
                   {"lhs_dilation", input_dilation},
                   {"rhs_dilation", kernel_dilation},
                   {"reversed", reversed, true},
                   {"input_dims", in, true},
                   {"kernel_dims", kernel, true},
                   {"output_dims", out, true},
                   {"feature_group_count", by_feature},
                   {"batch_group_count", by_batch}})[0]);
      return true;
    };
    t["dynamic_slice"] = [](P& p) {
      Var x = p.any();
      std::vector<Var> starts;
      Shape sizes;
      for (int64_t n : x.shape()) {
        if (n == 0) return false;
        sizes.push_back(1 + p.below(static_cast<int>(n)));
        starts.push_back(p.start(x, n));
      }
      p.keep(primitives::dynamic_slice(x, starts, sizes));
      return true;
    };
    t["dynamic_update_slice"] = [](P& p) {
      Var x = p.any();
      if (p.options_.exportable && x.shape().empty()) return false;  // the independent evaluator has no case for it
      std::vector<Var> starts;
      Ints zero, limits, ones;
      for (int64_t n : x.shape()) {
        if (n == 0) return false;
        zero.push_back(0);
        limits.push_back(1 + p.below(static_cast<int>(n)));
        ones.push_back(1);
        starts.push_back(p.start(x, n));
      }
      p.keep(primitives::dynamic_update_slice(x, primitives::slice(p.like(x), zero, limits, ones), starts));
      return true;
    };
    t["gather"] = [](P& p) {
      Var x = p.any();
      auto drawn = p.indexed(x);
      if (!drawn) return false;
      p.keep(primitives::gather(x, drawn->places, drawn->index.slice_sizes, drawn->index.dims));
      return true;
    };
    t["scatter"] = [](P& p) {
      Var x = p.any();
      auto drawn = p.indexed(x, p.options_.exportable);
      if (!drawn) return false;
      // an update has the type of the slices of such a tensor at other places
      auto from = p.chance(50) ? drawn->places : primitives::literal(drawn->places, Scalar(int64_t{1}));
      Var update = primitives::gather(p.like(x), from, drawn->index.slice_sizes, drawn->index.dims);
      p.keep(primitives::scatter(x, drawn->places, update, drawn->index.dims, p.any_combiner(x.dtype())));
      return true;
    };
    t["dot_general"] = [](P& p) {
      Var x = p.any();
      size_t rank = x.shape().size();
      if (rank == 0 || rank > 3) return false;
      Var y = primitives::transpose(p.like(x), p.permutation(rank));
      // pair dimensions of equal size: contracted, batched or free
      std::vector<int64_t> cl, cr, bl, br;
      std::set<int64_t> used;
      for (size_t d = 0; d < rank; ++d)
        for (size_t e = 0; e < rank; ++e) {
          if (used.count(static_cast<int64_t>(e)) || y.shape()[e] != x.shape()[d]) continue;
          int what = p.below(4);
          if (what == 3 && !(cl.empty() && d + 1 == rank)) break;
          used.insert(static_cast<int64_t>(e));
          (what == 0 ? bl : cl).push_back(static_cast<int64_t>(d));
          (what == 0 ? br : cr).push_back(static_cast<int64_t>(e));
          break;
        }
      p.keep(primitives::dot_general(x, y, cl, cr, bl, br));
      return true;
    };
    t["sort"] = [](P& p) {
      Var x = p.any();
      if (x.shape().empty()) return false;
      std::vector<Var> operands = {p.order_key(x)};
      while (p.chance(50) && operands.size() < 3) operands.push_back(p.order_key(p.like(x)));
      int64_t dim = p.below(static_cast<int>(x.shape().size())), keys = 1 + p.below(static_cast<int>(operands.size()));
      operands.push_back(x);
      for (Var v : primitives::sort(operands, dim, p.chance(30), keys)) p.keep(v);
      return true;
    };
    t["top_k"] = [](P& p) {
      Var x = p.any();
      if (x.shape().empty()) return false;
      auto r = primitives::record(p.graph, primitives::registry().at("top_k"), {p.order_key(x).value},
                                  {{"k", int64_t(p.below(static_cast<int>(x.shape().back()) + 1))}});
      for (auto& v : r) p.keep({&p.graph, v});
      return true;
    };
    t["cholesky"] = [](P& p) {
      Var x = p.any();
      if (!is_float(x.dtype()) || x.shape().size() != 2 || x.shape()[0] == 0 || x.shape()[0] > 8) return false;
      Var bounded = primitives::record("tanh", {x});
      Var a = primitives::dot_general(bounded, bounded, {1}, {1}, {}, {});
      Var row = primitives::iota(*x.graph, 0, DType::i32, a.shape()),
          column = primitives::iota(*x.graph, 1, DType::i32, a.shape());
      a = a +
          primitives::select(row == column, primitives::literal(a, Scalar(2.0)), primitives::literal(a, Scalar(0.0)));
      p.keep(primitives::record("cholesky", {a}, {{"lower", p.chance(50)}}));
      return true;
    };
    t["triangular_solve"] = [](P& p) {
      Var x = p.any();
      if (!is_float(x.dtype()) || x.shape().size() != 2 || x.shape()[0] == 0 || x.shape()[0] > 8 || x.shape()[1] == 0)
        return false;
      Var a = primitives::dot_general(primitives::record("tanh", {x}), primitives::record("tanh", {p.like(x)}), {1},
                                      {1}, {}, {}) *
              0.1;
      Var row = primitives::iota(*x.graph, 0, DType::i32, a.shape()),
          column = primitives::iota(*x.graph, 1, DType::i32, a.shape());
      a = primitives::select(row == column, primitives::literal(a, Scalar(1.5)), a);
      bool left = p.chance(50);
      Var b = left ? x : primitives::transpose(x, {1, 0});
      p.keep(primitives::triangular_solve(a, b, left, p.chance(50), p.chance(30), p.chance(50)));
      return true;
    };
    t["rng_bit_generator"] = [](P& p) {
      if (p.options_.float_only) return false;
      static const DType kinds[] = {DType::ui32, DType::ui64, DType::i32, DType::i64};
      // the independent evaluator draws 64-bit numbers only
      DType d = kinds[p.options_.exportable ? 1 + 2 * p.below(2) : p.below(4)];
      Var state = primitives::literal(p.graph, Scalar(uint64_t(p.below(1000))), {DType::ui64, {2}, false});
      auto r =
          primitives::record(p.graph, primitives::registry().at("rng_bit_generator"), {state.value},
                             {{"rng_algorithm", std::string("THREE_FRY")}, {"dtype", d}, {"shape", p.any_shape()}});
      for (auto& v : r) p.keep({&p.graph, v});
      return true;
    };
    t["if"] = [](P& p) {
      Var x = p.any(), y = p.like(x), n = p.any();
      if (is_bool(n.dtype()) || !n.shape().empty())
        n = primitives::literal(p.graph, Scalar(p.below(3)), {DType::i32, {}, false});
      Var predicate = n < primitives::literal(n, Scalar(1));
      auto yes = std::make_shared<Graph>(), no = std::make_shared<Graph>();
      Var a{yes.get(), x.value}, b{no.get(), y.value};
      yes->outputs = {is_float(a.dtype()) ? (a * 0.5 + Var{yes.get(), y.value}).value
                                          : primitives::record("maximum", {a, Var{yes.get(), y.value}}).value};
      no->outputs = {b.value};
      auto r = primitives::record(p.graph, primitives::registry().at("if"), {predicate.value},
                                  {{"true_graph", yes}, {"false_graph", no}});
      p.keep({&p.graph, r[0]});
      return true;
    };
    t["while"] = [](P& p) {
      Var x = p.any(), captured = p.like(x);
      auto condition = std::make_shared<Graph>(), body = std::make_shared<Graph>();
      TensorType counter{DType::i32, {}, false};
      for (auto& g : {condition, body})
        g->inputs = {graph::make_value(Value::Kind::input, x.type()), graph::make_value(Value::Kind::input, x.type()),
                     graph::make_value(Value::Kind::input, counter)};
      condition->outputs = {(Var{condition.get(), condition->inputs[2]} < double(p.below(4))).value};
      Var a{body.get(), body->inputs[0]}, b{body.get(), body->inputs[1]}, i{body.get(), body->inputs[2]},
          c{body.get(), captured.value};
      Var next = is_float(a.dtype()) ? primitives::record("tanh", {a * 0.5 + c})
                                     : primitives::record("maximum", {primitives::record("minimum", {a, c}), b});
      bool swap = p.chance(50);  // the state's elements change places
      body->outputs = {swap ? b.value : next.value, swap ? next.value : a.value, (i + 1.0).value};
      Var zero = primitives::literal(p.graph, Scalar(0), counter);
      auto r = primitives::record(p.graph, primitives::registry().at("while"), {x.value, captured.value, zero.value},
                                  {{"cond_graph", condition}, {"body_graph", body}});
      p.keep({&p.graph, r[0]});
      p.keep({&p.graph, r[1]});
      return true;
    };
    return t;
  }();
  return table;
}

}  // namespace anvil::test
