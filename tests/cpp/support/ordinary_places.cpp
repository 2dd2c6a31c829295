// Steps of ordinary programs that move elements or change some of them, and loops, conditions and
// derivatives inside of a program.
#include <algorithm>

#include "primitives/vocabulary/infer.h"
#include "support/ordinary_program.h"
#include "transform/reverse.h"
#include "transform/simplify.h"

namespace anvil::test {

using namespace primitives;

Shape OrdinaryProgram::part_of(const Shape& shape) {
  Shape part;
  for (int64_t n : shape) part.push_back(chance(40) ? n : 1 + below(static_cast<int>(n)));
  return part;
}
// Where a part begins: known when it is compiled, or not.
OrdinaryProgram::Var OrdinaryProgram::start(int64_t n, int64_t part) {
  const graph::TensorType i32{DType::i32, {}, false};
  if (depth_ > 0 || chance(50)) return literal(*g_, 1 + below(static_cast<int>(n - part) + 2), i32);
  return reshape(index_input({1}, n), {});
}

void OrdinaryProgram::sliced() {
  Var x = recent();
  Ints from, to, by;
  for (int64_t n : x.shape()) {
    int64_t a = chance(50) ? 0 : below(static_cast<int>(n)), b = a + 1 + below(static_cast<int>(n - a));
    from.push_back(a), to.push_back(chance(40) ? n : b), by.push_back(chance(80) ? 1 : 2);
  }
  Var y = slice(x, from, to, by);
  if (chance(40) && x.dtype() == dtype && y.shape() == x.shape()) y = y * x;
  // differences of neighbours
  if (!x.shape().empty() && x.shape()[0] > 1 && x.dtype() == dtype && chance(40)) {
    Ints zero(x.shape().size(), 0), one = zero, ones(x.shape().size(), 1), end = x.shape(), before = x.shape();
    one[0] = 1, before[0] -= 1;
    y = slice(x, one, end, ones) - slice(x, zero, before, ones);
  }
  keep(y);
}

void OrdinaryProgram::moved() {
  Var x = recent();
  const Shape s = x.shape();
  const auto rank = static_cast<int64_t>(s.size());
  Ints order = all_axes(s.size());
  std::shuffle(order.begin(), order.end(), random_);
  switch (below(5)) {
    case 0: return keep(transpose(x, order));
    case 1: return keep(rank > 0 ? record("reverse", {x}, {{"dims", Ints{below(static_cast<int>(rank))}, true}}) : x);
    case 2: {
      if (rank != 2 || s[0] % 2 != 0) return keep(reshape(x, {elements(s)}));
      return keep(reshape(x, {s[0] / 2, 2, s[1]}));
    }
    case 3: {
      Ints low, high, interior;
      for (int64_t d = 0; d < rank; ++d)
        low.push_back(below(3)), high.push_back(below(3)), interior.push_back(chance(20));
      return keep(pad(x, literal(*g_, 0, {x.dtype(), {}, false}), low, high, interior));
    }
    default: {
      if (rank == 0 || x.dtype() != dtype) return;
      return keep(cumsum(x * 0.1, below(static_cast<int>(rank))));
    }
  }
}

void OrdinaryProgram::joined() {
  Var x = table();
  const int64_t dim = below(2);
  Var y = chance(50) ? activation(x) : slice(x, {0, 0}, part_of(x.shape()), {1, 1});
  if (y.shape()[static_cast<size_t>(1 - dim)] != x.shape()[static_cast<size_t>(1 - dim)]) y = x * 0.5;
  Var both = concatenate({x, y}, dim);
  if (chance(30)) {  // a column or a row of ones, for an intercept
    Shape thin = both.shape();
    thin[static_cast<size_t>(dim)] = 1;
    both = concatenate({literal(*g_, 1, {dtype, thin, false}), both}, dim);
  }
  keep(both);
}

// x[part] = something
void OrdinaryProgram::assigned() {
  Var x = recent();
  if (x.dtype() != dtype || x.shape().empty()) return;
  const Shape part = part_of(x.shape());
  std::vector<Var> starts;
  for (size_t d = 0; d < part.size(); ++d) starts.push_back(start(x.shape()[d], part[d]));
  Var old = dynamic_slice(x, starts, part);
  if (chance(30)) return keep(old);
  keep(dynamic_update_slice(
      x, chance(50) ? old * 2.0 : activation(slice(x, Ints(part.size(), 0), part, Ints(part.size(), 1))), starts));
}

// Rows (or columns) by index: x[i, ], then what is done with them.
void OrdinaryProgram::looked_up() {
  Var x = table();
  if (depth_ > 0) return;
  const int64_t dim = below(2), n = x.shape()[static_cast<size_t>(dim)],
                other = x.shape()[static_cast<size_t>(1 - dim)], count = fitting(other, 1500);
  Shape sizes = x.shape();
  sizes[static_cast<size_t>(dim)] = 1;
  IndexDims dims{{1 - dim}, {dim}, {}, {}, {dim}, 1};
  Var rows = gather(x, index_input({count}, n), sizes, dims);
  keep(rows);
  if (chance(50)) keep(reduce_sum(rows, {below(2)}));
}

// Sums by group, histograms, and updates of whole windows, among them those without an index.
void OrdinaryProgram::added_at() {
  Var x = table();
  if (depth_ > 0) return;
  const int64_t n = x.shape()[0], f = x.shape()[1];
  if (n * f > 600) return;
  if (chance(25)) {  // index vectors without components
    const int64_t a = 1 + below(3), b = 1 + below(3);
    Var u = input(dtype, {a, n, b, f});
    if (chance(50)) x = exp(x * 0.5);
    return keep(scatter(x, input(DType::i32, {a, b, 0}), u, {{1, 3}, {}, {}, {}, {}, 2}, chance(70) ? "add" : ""));
  }
  const int64_t groups = 1 + below(9), dim = below(2), count = x.shape()[static_cast<size_t>(dim)];
  Shape to = x.shape();
  to[static_cast<size_t>(dim)] = groups;
  IndexDims dims{{1 - dim}, {dim}, {}, {}, {dim}, 1};
  Var base = chance(50) ? literal(*g_, 0, {dtype, to, false}) : input(dtype, to) * 2.0;
  Var sums = scatter(base, index_input({count}, groups), x, dims, "add");
  keep(sums);
  if (chance(40)) keep(sums / (1.0 + sums * sums));
}

void OrdinaryProgram::ordered() {
  Var x = recent();
  if (x.shape().empty() || x.dtype() != dtype) return;
  const int64_t dim = below(static_cast<int>(x.shape().size()));
  keep(chance(50) ? sort({x}, dim, chance(30))[0] : sort({x, iota(*g_, dim, DType::i32, x.shape())}, dim)[1]);
}

void OrdinaryProgram::solved() {
  Var x = table();
  if (x.shape()[1] > 9 || elements(x.shape()) > 400) return;
  Var t = record("tanh", {x});
  Var a = dot_general(t, t, {0}, {0}, {}, {});
  Var row = iota(*g_, 0, DType::i32, a.shape()), column = iota(*g_, 1, DType::i32, a.shape());
  a = a + select(row == column, literal(a, 2), literal(a, 0));
  Var l = record("cholesky", {a}, {{"lower", true}});
  keep(chance(50) ? l : triangular_solve(l, transpose(x, {1, 0}), true, true, false, chance(50)));
}

// for some steps: state = body(state), with the values around it, of which steps may read a part each; what they make
// may be recorded.
void OrdinaryProgram::repeated() {
  if (depth_ > 1) return;
  std::vector<Var> init = {recent()};
  if (chance(60)) init.push_back(recent());
  if (chance(40) && init[0].shape().size() == 2) keep(transpose(init[0], {1, 0}));  // what the body may read
  const size_t states = init.size();
  const int64_t steps = 1 + below(3);
  const bool records = init[0].dtype() == dtype && elements(init[0].shape()) * steps <= most_elements() && chance(50);
  Shape recorded = init[0].shape();
  recorded.push_back(steps);
  if (records) init.push_back(fill(*g_, 0, {dtype, recorded}));
  const Var read = chance(50) ? recent() : Var{};
  const graph::TensorType i32{DType::i32, {}, false};
  init.push_back(literal(*g_, 0, i32));
  auto condition = std::make_shared<graph::Graph>(), body = std::make_shared<graph::Graph>();
  for (Var v : init)
    for (const auto& inner : {condition, body})
      inner->inputs.push_back(graph::make_value(graph::Value::Kind::input, {v.dtype(), v.shape()}));
  Var counter{condition.get(), condition->inputs.back()};
  condition->outputs = {(counter < double(steps)).value};
  graph::Graph* outer = std::exchange(g_, body.get());
  const size_t mark = pool_.size();
  const double work = work_;
  ++depth_;
  const Var step{g_, body->inputs.back()}, place = chance(50) ? step : literal(step, steps - 1) - step;
  for (size_t k = 0; k < states; ++k) pool_.push_back({g_, body->inputs[k]});
  if (read.value && !read.shape().empty()) {
    const int64_t dim = below(static_cast<int>(read.shape().size()));
    if (read.shape()[static_cast<size_t>(dim)] > 0) pool_.push_back(element(here(read), dim, place));
  }
  grow(1 + below(3));
  std::vector<Var> next;
  const auto made_like = [&](Var s) {
    Var made = s;
    for (Var v : pool_)
      if (v.shape() == s.shape() && v.dtype() == s.dtype() && !(v.value == s.value) && chance(70)) made = here(v);
    return made;
  };
  for (size_t k = 0; k < states; ++k) {
    const Var s{g_, body->inputs[k]};
    Var made = made_like(s);
    if (s.dtype() == dtype && chance(70)) made = s * 0.9 + record("tanh", {made}) * 0.1;
    next.push_back(made);
  }
  if (next.size() == 2 && next[0].shape() == next[1].shape() && next[0].dtype() == next[1].dtype() && chance(40))
    std::swap(next[0], next[1]);
  if (records)
    next.push_back(with_element({g_, body->inputs[states]}, static_cast<int64_t>(recorded.size()) - 1, place,
                                made_like({g_, body->inputs[0]})));
  next.push_back(step + 1.0);
  for (Var v : next) body->outputs.push_back(v.value);
  --depth_;
  work_ = work + 3 * (work_ - work);
  pool_.resize(mark);
  g_ = outer;
  std::vector<graph::ValuePtr> values;
  for (Var v : init) values.push_back(v.value);
  for (auto& v : record(*g_, registry().at("while"), values, {{"cond_graph", condition}, {"body_graph", body}}))
    if (v->type.shape.size() + 1 > 1 || is_float(v->type.dtype)) keep({g_, v});
}

void OrdinaryProgram::branched() {
  if (depth_ > 1) return;
  Var x = recent(), decides = depth_ == 0 ? input(dtype, {}) : number(0.3);
  graph::GraphPtr branches[2];
  Var results[2];
  graph::Graph* outer = g_;
  const size_t mark = pool_.size();
  for (int k : {0, 1}) {
    branches[k] = std::make_shared<graph::Graph>();
    g_ = branches[k].get();
    ++depth_;
    grow(below(3));
    results[k] = here(x);
    for (Var v : pool_)
      if (v.shape() == x.shape() && v.dtype() == x.dtype() && chance(60)) results[k] = here(v);
    if (x.dtype() == dtype && chance(60)) results[k] = activation(results[k]);
    branches[k]->outputs = {results[k].value};
    --depth_;
    pool_.resize(mark);
  }
  g_ = outer;
  auto r = record(*g_, registry().at("if"), {(decides > 0.0).value},
                  {{"true_graph", branches[0]}, {"false_graph", branches[1]}});
  keep({g_, r[0]});
}

// A step down the gradient of something made of a table, as in a training loop.
void OrdinaryProgram::differentiated() {
  Var x = table();
  const int64_t n = x.shape()[0], f = x.shape()[1];
  if (n * f > 700) return;
  auto inner = std::make_shared<graph::Graph>();
  inner->inputs.push_back(graph::make_value(graph::Value::Kind::input, {dtype, {f}}));
  inner->inputs.push_back(graph::make_value(graph::Value::Kind::input, {dtype, {n, f}}));
  Var w{inner.get(), inner->inputs[0]}, data{inner.get(), inner->inputs[1]};
  Var scores = chance(50) ? dot_general(data, w, {1}, {0}, {}, {})
                          : reduce_sum(data * broadcast_in_dim(exp(w * 0.3), {n, f}, {1}), {1});
  Var loss = reduce_sum(activation(scores) * scores, {0}) / double(n);
  inner->outputs = {loss.value};
  const bool both = chance(50);
  graph::GraphPtr g = transform::gradient(*inner, {true, both}, false);
  transform::inline_scalar_constants(*g);  // the seed
  Var at = vector(f) * 0.3;
  auto d = graph::inline_calls(*g, {at.value, x.value}, *g_);
  keep(at - Var{g_, d[0]} * 0.1);
  if (both) keep(x - Var{g_, d[1]} * 0.5);
}

}  // namespace anvil::test
