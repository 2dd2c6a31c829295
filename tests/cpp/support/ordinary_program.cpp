#include "support/ordinary_program.h"

#include <algorithm>

#include "primitives/vocabulary/infer.h"
#include "transform/reverse.h"

namespace anvil::test {

using namespace primitives;

OrdinaryProgram::OrdinaryProgram(uint64_t seed, bool large) : random_(seed * 7919 + 1), g_(graph.get()), large_(large) {
  if (chance(20)) dtype = DType::f32;
  const int64_t rows = size();
  keep(input(dtype, {rows, fitting(rows, 1500)}));
  if (chance(30)) keep(input(dtype, {size()}));
  if (chance(20)) keep(input(dtype, {1 + below(5), 1 + below(9), fitting(20, 600)}));
  grow(2 + below(6));
  finish();
}

// ---- sizes and inputs ---------------------------------------------------------------------

int64_t OrdinaryProgram::size() {
  static constexpr int64_t sizes[] = {1,  2,  2,  3,  3,  4,  4,  5,  6,  7,  8,  9,  9,  10, 12, 15, 16,
                                      17, 17, 18, 20, 23, 25, 31, 32, 33, 33, 34, 40, 49, 63, 64, 65, 100};
  static constexpr int64_t large_sizes[] = {63, 64, 65, 100, 127, 128, 129, 150, 200, 257};
  if (large_ && chance(50)) return large_sizes[below(static_cast<int>(std::size(large_sizes)))];
  return sizes[below(static_cast<int>(std::size(sizes)))];
}
int64_t OrdinaryProgram::fitting(int64_t others, int64_t most) {
  for (int tries = 0; tries < 20; ++tries)
    if (int64_t n = size(); n * others <= most) return n;
  return 1 + below(2);
}

OrdinaryProgram::Var OrdinaryProgram::input(DType t, Shape shape) {
  graph::Tensor x = graph::allocate({t, shape});
  for (int64_t k = 0; k < elements(shape); ++k)
    set_element(x, k, Scalar(std::uniform_real_distribution<double>(-1, 1)(random_)).rounded_to(t));
  inputs.push_back(x);
  graph->inputs.push_back(graph::make_value(graph::Value::Kind::input, {t, std::move(shape)}));
  return {g_, graph->inputs.back()};
}
OrdinaryProgram::Var OrdinaryProgram::index_input(Shape shape, int64_t n) {
  Var v = input(DType::i32, std::move(shape));
  for (int64_t k = 0; k < elements(inputs.back().type.shape); ++k)
    set_element(inputs.back(), k, Scalar(chance(5) ? n + 1 : 1 + below(static_cast<int>(n))));
  return v;
}

// ---- values -------------------------------------------------------------------------------

void OrdinaryProgram::keep(Var v) {
  if (elements(v.shape()) <= most_elements()) pool_.push_back(v);
}
OrdinaryProgram::Var OrdinaryProgram::recent() {
  auto n = static_cast<int>(pool_.size());
  return here(pool_[static_cast<size_t>(n - 1 - (chance(70) ? below(std::min(n, 3)) : below(n)))]);
}
OrdinaryProgram::Var OrdinaryProgram::table() {
  for (int tries = 0; tries < 6; ++tries)
    if (Var v = recent(); v.shape().size() == 2 && v.dtype() == dtype) return v;
  Var v = recent();
  if (v.dtype() != dtype) v = convert(v, dtype);
  const Shape& s = v.shape();
  if (s.size() == 2) return v;
  if (s.size() < 2) return chance(50) ? reshape(v, {elements(s), 1}) : reshape(v, {1, elements(s)});
  int64_t rows = chance(50) ? s[0] : elements(s) / s.back();
  return reshape(v, {rows, elements(s) / rows});
}
OrdinaryProgram::Var OrdinaryProgram::vector(int64_t n) {
  std::vector<Var> fitting;
  for (Var v : pool_) {
    if (v.dtype() != dtype) continue;
    if (v.shape() == Shape{n}) fitting.push_back(here(v));
    if (v.shape().size() == 2 && v.shape()[1] == n) fitting.push_back(reduce_sum(here(v), {0}) * (1.0 / 16));
    if (v.shape().size() == 2 && v.shape()[0] == n) fitting.push_back(reduce_max(here(v), {1}));
  }
  if (!fitting.empty() && (chance(60) || depth_ > 0))
    return fitting[static_cast<size_t>(below(static_cast<int>(fitting.size())))];
  if (depth_ > 0) return convert(iota(*g_, 0, DType::i32, {n}), dtype) * 0.1;
  Var v = input(dtype, {n});
  return chance(60) ? exp(v) : v;
}
OrdinaryProgram::Var OrdinaryProgram::matrix(int64_t rows, int64_t columns) {
  std::vector<Var> fitting;
  for (Var v : pool_) {
    if (v.dtype() != dtype || v.shape().size() != 2) continue;
    if (v.shape() == Shape{rows, columns}) fitting.push_back(here(v));
    if (v.shape() == Shape{columns, rows}) fitting.push_back(transpose(here(v), {1, 0}));
  }
  if (!fitting.empty() && (chance(40) || depth_ > 0))
    return fitting[static_cast<size_t>(below(static_cast<int>(fitting.size())))];
  if (depth_ > 0) return broadcast_in_dim(vector(rows) * 0.3, {rows, columns}, {0});
  return input(dtype, {rows, columns});
}

// ---- steps --------------------------------------------------------------------------------

void OrdinaryProgram::grow(int steps) {
  for (int k = 0; k < steps; ++k) step();
}

void OrdinaryProgram::step() {
  using Step = void (OrdinaryProgram::*)();
  using P = OrdinaryProgram;
  static constexpr std::pair<int, Step> steps[] = {
      {18, &P::layer},        {14, &P::scaled}, {8, &P::standardised}, {6, &P::softmax},     {14, &P::summarised},
      {8, &P::crossed},       {8, &P::batched}, {5, &P::masked},       {8, &P::elementwise}, {6, &P::several},
      {5, &P::sliced},        {5, &P::moved},   {4, &P::joined},       {4, &P::assigned},    {5, &P::looked_up},
      {5, &P::added_at},      {2, &P::ordered}, {2, &P::solved},       {5, &P::repeated},    {4, &P::branched},
      {5, &P::differentiated}};
  int all = 0;
  for (const auto& [weight, s] : steps) all += weight;
  int drawn = below(all);
  for (const auto& [weight, s] : steps)
    if ((drawn -= weight) < 0) return (this->*s)();
}

// Some of what was made is returned; or the derivatives of a number made of it.
void OrdinaryProgram::finish() {
  auto add = [&](Var v) { graph->outputs.push_back(v.value); };
  if (chance(45)) {
    Var x = pool_.back();
    if (x.dtype() != dtype) x = convert(x, dtype);
    Var loss = x.shape().empty() ? x : reduce_sum(chance(50) ? x * x : activation(x), all_axes(x.shape().size()));
    std::vector<bool> wrt;
    bool any = false;
    for (const auto& v : graph->inputs) wrt.push_back(is_float(v->type.dtype) && chance(60)), any = any || wrt.back();
    if (!any) wrt[0] = true;
    graph->outputs = {loss.value};
    graph = transform::gradient(*graph, wrt, chance(50));
    return;
  }
  add(pool_.back());
  for (int k = below(3); k > 0; --k) {
    Var v = recent();
    add(chance(50) || v.shape().empty() || v.dtype() != dtype
            ? v
            : reduce_sum(v, {below(static_cast<int>(v.shape().size()))}, chance(60)));
  }
}

}  // namespace anvil::test
