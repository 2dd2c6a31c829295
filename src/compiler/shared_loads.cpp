// Steps of the loop around a vector loop that load the same: the columns of a stencil are the neighbours of each other.
//
//   for j in 0..98 {                                 for j in 0..98 unroll 4 {
//     for i in 0..98 vector 8 x 2 {                    for i in 0..98 vector 8 {
//       out1[i, j] = (x1[i, j] + x1[i, j + 1])           out1[i, j] = (x1[i, j] + x1[i, j + 1])
//                    + (x1[i, j + 2] + x1[i, j + 3])                  + (x1[i, j + 2] + x1[i, j + 3])
//     }                                                }
//   }                                                }
//
// Each result takes four loads on the left; four take seven on the right.
#include <algorithm>
#include <map>
#include <set>

#include "compiler/schedule.h"

namespace anvil::compiler {
namespace {

using loops::For;

constexpr int most_at_once = 4, most_vectors = 24;  // steps; vectors that they load
constexpr double least_loads = 4, fewer_loads = 0.85;

// Vectors that so many steps of u at once load, but for those that all steps do.
double vectors_loaded(const Program& p, const For& u, const For& v, int steps) {
  std::set<std::pair<BufferId, std::pair<std::vector<std::pair<Variable, int64_t>>, int64_t>>> places;
  loops::ExprSet seen;
  for (const Stmt& s : v.body)
    each_expression(s, [&](Expr e) {
      each_node(e, seen, [&](Expr x) {
        if (x->op != Op::load) return;
        const Affine at = linear(p, x->buffer, x->place);
        if (loops::factor(at, u.variable) == 0) return;
        std::vector<std::pair<Variable, int64_t>> terms;
        for (const loops::Term& t : at.terms) terms.emplace_back(t.variable, t.factor);
        for (int k = 0; k < steps; ++k)
          places.insert({root(p, x->buffer), {terms, at.constant + k * loops::factor(at, u.variable)}});
      });
    });
  return static_cast<double>(places.size());
}

}  // namespace

void share_loads(const Program& p, For& u) {
  For* v = only_loop(u);
  if (u.kind != For::Kind::serial || v == nullptr || v->kind != For::Kind::vector) return;
  const LoopFacts facts = loop_facts(*v);
  if (!facts.updated.empty() || facts.function || loop_facts(u).one_by_one) return;
  const double one = vectors_loaded(p, u, *v, 1);
  if (one < least_loads || !independent(p, u)) return;
  int best = 1;
  double least = fewer_loads * one;
  for (int n = 2; n <= most_at_once; ++n)
    if (const double each = vectors_loaded(p, u, *v, n) / n;
        each < least && each * n <= most_vectors && fitting_copies(extent(u), 1, n) == n)
      best = n, least = each;
  if (best == 1) return;
  u.kind = For::Kind::unroll;
  u.copies = best;
  v->copies = std::max(1, v->copies / best);
}

}  // namespace anvil::compiler
