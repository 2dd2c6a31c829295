// Sums in registers. Around a vector loop with a sum whose operands are used by several steps of the loop outside it
// (products), that one is unrolled as well, so that a block of sums stays in registers:
//
//   for j in 0..64 {                       for j in 0..64 unroll 6 {
//     for i in 0..64 {                       for i in 0..64 vector 16 x 4 {
//       a1 = 0                                 a1 = 0
//       for p in 0..64 {                       for p in 0..64 reduction {
//         a1 += x1[i, p] * x2[p, j]              a1 := fma(x1[i, p], x2[p, j], a1)
//
// And of products of many small matrices that lie side by side both loops around it: some rows of each with some columns.
//
//   for j in 0..8 {                        for j in 0..8 unroll 4 {
//     for k in 0..8 {                        for k in 0..8 unroll 4 {
//       for i in 0..1024 {                     for i in 0..1024 vector 16 {
//         a1 = 0                                 a1 = 0
//         for p in 0..40 {                       for p in 0..40 reduction {
//           a1 += x1[i, k, p] * x2[i, p, j]        a1 := fma(x1[i, k, p], x2[i, p, j], a1)
#include <algorithm>
#include <array>
#include <limits>
#include <span>

#include "compiler/schedule.h"

namespace anvil::compiler {
namespace {

using loops::For;

// The sums inside a vector loop, and what their operands depend on: of that loop and those around it which are given
// by their variables, those whose bits are set.
struct Sums {
  std::unordered_set<LocalId> locals;
  std::unordered_map<Expr, unsigned> operands;
  double steps = 0;       // of the loops between the vector loop and the sums
  bool function = false;  // in one of these

  // Those that depend on these loops and no others.
  double loads(unsigned loops) const {
    return static_cast<double>(
        std::count_if(operands.begin(), operands.end(), [&](const auto& o) { return o.second == loops; }));
  }
  // Cycles that these take at each step, for so many copies of each loop.
  template <class CyclesOfLoad>
  double cycles_of_loads(std::span<const int> copies, CyclesOfLoad cycles) const {
    double sum = 0;
    for (const auto& [operand, loops] : operands) {
      if (loops == 0) continue;
      double vectors = 1;
      for (size_t l = 0; l < copies.size(); ++l)
        if (loops >> l & 1) vectors *= copies[l];
      sum += vectors * cycles(operand);
    }
    return sum;
  }
};
void find_sums(const Block& b, std::span<const Variable> loops, Sums& sums, double steps = 1) {
  for (const Stmt& s : b) {
    if (auto f = std::get_if<For>(&s.is)) {
      const LoopFacts facts = loop_facts(*f);
      sums.function = sums.function || (facts.function && !facts.updated.empty());
      find_sums(f->body, loops, sums, steps * static_cast<double>(extent(*f)));
    }
    auto update = std::get_if<loops::Update>(&s.is);
    if (update == nullptr) continue;
    sums.locals.insert(update->local);
    sums.steps = std::max(sums.steps, steps);
    each_node(update->value, [&](Expr e) {
      if (e->op != Op::load) return;
      unsigned on = 0;
      for (size_t l = 0; l < loops.size(); ++l)
        for (const Affine& a : e->place)
          if (loops::factor(a, loops[l])) on |= 1u << l;
      sums.operands.emplace(e, on);
    });
  }
}
// Cycles of a step of blocks of sums: each waits for the one before it, two are added to at a time.
double cycles(const Sums& sums, double block, double of_loads) {
  return std::max({4.0, 0.5 * static_cast<double>(sums.locals.size()) * block, of_loads});
}
// Of all its steps, and of the stores that follow.
double cycles_of_block(const Sums& sums, double block, double step) { return sums.steps * step + 3 * block + 4; }
constexpr double cycles_of_load = 0.5, cycles_of_line = 2;  // from the first cache, from others
constexpr double least_steps_before_a_function = 16, smaller_code = 0.002;

}  // namespace

RegisterBlock register_block(const Program& p, const Target& target, const For& u, const For& v) {
  Sums sums;
  find_sums(v.body, std::array{v.variable, u.variable}, sums);
  bool v_sums = !loop_facts(v).updated.empty();
  LoopFacts facts = loop_facts(u);
  const double loads_v = sums.loads(1u);
  if (sums.locals.empty() || loads_v == 0 || sums.function || (v_sums && facts.function) || facts.one_by_one ||
      !facts.updated.empty() || !independent(p, u))
    return {};
  // what follows sums is code for each of them, and short sums are no reason for more of it
  const double most = facts.function ? 8 : 32;
  if (facts.function && sums.steps < least_steps_before_a_function) return {};
  const auto accumulators = static_cast<double>(sums.locals.size());
  RegisterBlock best;
  for (int n = 1; n <= 12 && n <= extent(u); ++n)
    for (int m = 1; m <= 8 && int64_t(m) * v.width <= extent(v); ++m) {
      double block = static_cast<double>(m) * n;
      if (block > most || accumulators * block + loads_v * m + 1 > target.registers) continue;
      const double step =
          cycles(sums, block, sums.cycles_of_loads(std::array{m, n}, [](Expr) { return cycles_of_load; }));
      double blocks_v = ceil_div(extent(v), int64_t(m) * v.width), blocks_u = ceil_div(extent(u), n);
      double cost = v_sums ? blocks_u * (blocks_v * sums.steps * step + accumulators * n * (m + 12))
                           : blocks_u * blocks_v * cycles_of_block(sums, block, step);
      cost *= 1 + smaller_code * block;  // of equal ones
      if (best.m == 0 || cost < best.cost) best = {m, n, cost};
    }
  return best;
}
// Steps of the loop w around the two of a block, if operands are shared by these as well, as in products of many small
// matrices that lie side by side: some rows of each with some columns, and more at once where there are few rows.
void share_further(const Program& p, const Target& target, For& w) {
  For* const u = only_loop(w);
  if (w.kind != For::Kind::serial || w.body.size() != 1 || u == nullptr || u->kind == For::Kind::vector ||
      u->body.size() != 1)
    return;
  For* const v = only_loop(*u);
  if (v == nullptr || v->kind != For::Kind::vector || !loop_facts(*v).updated.empty()) return;
  const LoopFacts facts = loop_facts(w);
  if (facts.function || facts.one_by_one || !facts.updated.empty()) return;
  constexpr unsigned by_v = 1, by_u = 2, by_w = 4;
  Sums sums;
  find_sums(v->body, std::array{v->variable, u->variable, w.variable}, sums);
  const auto accumulators = static_cast<double>(sums.locals.size());
  const double of_u = sums.loads(by_v | by_u), of_w = sums.loads(by_v | by_w);
  if (of_u == 0 || !independent(p, w) || !independent(p, *u)) return;
  const auto cycles_of = [&](Expr load) {
    const loops::Buffer& b = p.buffers[static_cast<size_t>(load->buffer)];
    return elements(b.shape) * static_cast<int64_t>(size_of(b.dtype)) <= first_cache ? cycles_of_load : cycles_of_line;
  };
  const auto cost = [&](int m, int n, int q) {
    const double block = static_cast<double>(m) * n * q;
    if (accumulators * block + m * std::min(of_u * n, std::max(1.0, of_w) * q) + 1 > target.registers)
      return std::numeric_limits<double>::infinity();
    const double step = cycles(sums, block, sums.cycles_of_loads(std::array{m, n, q}, cycles_of));
    return ceil_div(extent(*v), int64_t(m) * v->width) * ceil_div(extent(*u), n) * ceil_div(extent(w), q) *
           (1 + smaller_code * block) * cycles_of_block(sums, block, step);
  };
  constexpr int most_of_u = 12, most_of_w = 8;
  constexpr double worthwhile = 0.8, as_good = 1.05;  // more of w than of equal ones: fewer loads
  struct {
    int m, n, q;
    double cost;
  } best = {v->copies, u->copies, 1, worthwhile * cost(v->copies, u->copies, 1)};
  for (int q = 2; q <= most_of_w; ++q)
    for (int n = 1; n <= most_of_u; ++n)
      for (int m = 1; m <= v->copies; ++m)
        if (extent(w) % q == 0 && extent(*u) % n == 0)
          if (const double c = cost(m, n, q); c < (q > best.q && best.q > 1 ? as_good : 1) * best.cost)
            best = {m, n, q, c};
  if (best.q == 1) return;
  v->copies = best.m;
  u->kind = best.n > 1 ? For::Kind::unroll : For::Kind::serial;
  u->copies = best.n;
  w.kind = For::Kind::unroll;
  w.copies = best.q;
}
bool block_registers(const Program& p, const Target& target, For& u, For& v) {
  RegisterBlock best = register_block(p, target, u, v);
  if (best.m == 0) return false;
  v.copies = best.m;
  if (best.n > 1) u.kind = For::Kind::unroll, u.copies = best.n;
  return true;
}

}  // namespace anvil::compiler
