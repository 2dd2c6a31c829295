// Sums of short rows, of several at a time. Where one loop over a row needs what another has made of all of it, it waits
// until that has been added up from all lanes, and there is nothing else to do meanwhile but the other rows:
//
//   for j in 0..4096 {                             for j in 0..4096 unroll 4 {
//     a1 = -Inf, a2 = 0                              a1 = -Inf, a2 = 0
//     for p in 0..256 vector 16 x 8 {                for p in 0..256 vector 16 x 2 {
//       a1 max = x1[p, j]                              a1 max = x1[p, j]
//     }                                              }
//     for p in 0..256 vector 16 x 2 {                for p in 0..256 vector 16 {
//       a2 += exp(x1[p, j] - a1)                       a2 += exp(x1[p, j] - a1)
//     }                                              }
//     out1[j] = a1 + log(a2)                         out1[j] = a1 + log(a2)
//   }                                              }
//
// Not of rows that are stored as well: those are too many places for the processor to write to.
#include <algorithm>

#include "compiler/schedule.h"

namespace anvil::compiler {
namespace {

using loops::For;

constexpr int most_at_a_time = 4;
constexpr int64_t short_row = 128;  // steps of a vector loop
constexpr double little_work = 48;  // of such a step

bool is_sum_of_row(const For& f) {
  return f.kind == For::Kind::vector && extent(f) <= short_row * f.width && loop_facts(f).weight <= little_work &&
         std::none_of(f.body.begin(), f.body.end(), [](const Stmt& s) {
           return std::holds_alternative<For>(s.is) || std::holds_alternative<loops::Store>(s.is);
         });
}
using Locals = std::unordered_set<LocalId>;
bool reads_any(Expr e, const Locals& locals) {
  return loops::any_node(e, [&](Expr x) { return x->op == Op::local && locals.count(x->local) > 0; });
}
bool reads_any(const For& f, const Locals& locals) {
  bool found = false;
  for (const Stmt& s : f.body) each_expression(s, [&](Expr e) { found = found || reads_any(e, locals); });
  return found;
}

}  // namespace

void take_rows_at_once(const Program& p, For& f) {
  const int rows = fitting_copies(extent(f), 1, most_at_a_time);
  if (f.kind != For::Kind::serial || rows == 1) return;
  Locals sums;  // and what is computed from them
  bool waits = false;
  for (Stmt& s : f.body) {
    if (auto row = std::get_if<For>(&s.is)) {
      if (!is_sum_of_row(*row)) return;
      waits = waits || reads_any(*row, sums);
      for (LocalId l : loop_facts(*row).updated) sums.insert(l);
    } else if (auto l = std::get_if<loops::Let>(&s.is); l && reads_any(l->value, sums)) {
      sums.insert(l->local);
    }
  }
  if (!waits || loop_facts(f).one_by_one || !independent(p, f)) return;
  f.kind = For::Kind::unroll;
  f.copies = rows;
  for (Stmt& s : f.body)
    if (auto row = std::get_if<For>(&s.is)) row->copies = std::max(1, row->copies / rows);
}

}  // namespace anvil::compiler
