// Recurrences along memory, of several columns at a time. A vector of columns would gather and scatter every element; as
// scalars each column is read and written as it lies, and the steps of one column, which wait for each other, leave room
// for those of the others:
//
//   for j in 0..1000 vector 16 x 8 {       for j in 0..1000 unroll 8 {
//     a1 = 0                                 a1 = 0
//     for i in 0..500 {                      for i in 0..500 {
//       a1 := 0.9 * a1 + x1[i, j]              a1 := 0.9 * a1 + x1[i, j]
//       out1[i, j] = a1                        out1[i, j] = a1
//
// Sums that run along one column are vectors: running_sums.cpp.
#include <algorithm>

#include "compiler/schedule.h"

namespace anvil::compiler {
namespace {

using loops::For;

constexpr int at_once = 8, registers = 16;  // columns; of scalars
constexpr double free_operations = 6;       // for each access: a lane of a vector is put in or taken out meanwhile

// How many accesses there are, if each is along `inner` as it lies in memory, and apart for the steps of `outer`.
std::optional<int> accesses_along(const Program& p, const For& outer, const For& inner) {
  int count = 0;
  bool along = true;
  for (const Stmt& s : inner.body)
    each_access(s, [&](BufferId b, const Index* place, AccessKind) {
      if (place == nullptr) {
        along = false;
        return;
      }
      const Affine offset = linear(p, b, *place);
      const int64_t apart = loops::factor(offset, outer.variable);
      if (apart == 0) return;
      const auto bytes = static_cast<int64_t>(size_of(p.buffers[static_cast<size_t>(b)].dtype));
      along =
          along && std::abs(apart) * bytes >= loops::cache_line && std::abs(loops::factor(offset, inner.variable)) == 1;
      ++count;
    });
  return along && count > 0 ? std::optional(count) : std::nullopt;
}

}  // namespace

bool run_columns(const Program& p, For& f) {
  const For* inner = only_loop(f);
  if (inner == nullptr || inner->kind != For::Kind::serial || independent(p, *inner) || !independent(p, f))
    return false;
  const auto is_loop = [](const Stmt& s) { return std::holds_alternative<For>(s.is); };
  if (std::any_of(inner->body.begin(), inner->body.end(), is_loop)) return false;
  const LoopFacts facts = loop_facts(*inner);
  const std::optional<int> accesses = accesses_along(p, f, *inner);
  if (!accesses || facts.function || facts.ops > free_operations * *accesses) return false;
  const int sums = std::max<int>(1, static_cast<int>(facts.updated.size()));
  f.width = 1;
  f.copies = static_cast<int>(std::min<int64_t>(extent(f), std::clamp(registers / sums, 1, at_once)));
  f.kind = f.copies > 1 ? For::Kind::unroll : For::Kind::serial;
  return true;
}

}  // namespace anvil::compiler
