// Nests that read across memory, such as transposing copies. The loop along which the reads lie side by side comes next
// to the vector loop, and several of its steps are made at once, so that vectors are loaded along it and transposed in
// registers (backend/llvm/transposed.cpp):
//
//   for j in 0..512 {                      for j in 0..512 unroll 16 {
//     for i in 0..512 vector 16 {            for i in 0..512 vector 16 {
//       out1[i, j] = x1[j, i]                  out1[i, j] = x1[j, i]
//
// Where the vector loop is so short that it writes a part of a cache line only, the steps that fill the line come before
// those of other lines: what is written in part leaves the cache, if there is much of it.
//
//   for j in 0..64 {                       for k2 in 0..64 {
//     for k in 0..512 {                      for j in 0..64 {
//       for i in 0..2 vector 2 {               for k in 0..8 unroll 8 {
//         out1[i, j, k] = x1[k, j, i]            for i in 0..2 vector 2 {
//                                                  out1[i, j, k + 8*k2] = x1[k + 8*k2, j, i]
#include <algorithm>

#include "compiler/schedule.h"

namespace anvil::compiler {
namespace {

using loops::For;

constexpr int least = 4, usual = 8, most = 16;  // steps at once

constexpr size_t none = size_t(-1);

// Of loops around a vector loop the one along which it reads what it reads across memory.
size_t loop_along_reads(const Program& p, const std::vector<For*>& loops) {
  const For& v = *loops.back();
  size_t along = none;
  bool fits = true;
  for (const Stmt& s : v.body) {
    fits = fits && std::holds_alternative<loops::Store>(s.is);
    each_access(s, [&](BufferId b, const Index* place, AccessKind kind) {
      const Affine offset = place ? linear(p, b, *place) : Affine{};
      const loops::Buffer& buffer = p.buffers[static_cast<size_t>(b)];
      if (kind != AccessKind::read || std::abs(loops::factor(offset, v.variable)) <= 1 ||
          elements(buffer.shape) * static_cast<int64_t>(size_of(buffer.dtype)) <= first_cache)
        return;
      size_t k = 0;
      while (k + 1 < loops.size() && loops::factor(offset, loops[k]->variable) != 1) ++k;
      fits = fits && k + 1 < loops.size() && (along == none || along == k);
      along = k;
    });
  }
  return fits ? along : none;
}

// Whether the vector loop writes parts of lines that the steps of the next loop fill.
bool leaves_lines_open(const Program& p, const For& v, const For& next) {
  return std::all_of(v.body.begin(), v.body.end(), [&](const Stmt& s) {
    const auto& store = std::get<loops::Store>(s.is);
    const Affine offset = linear(p, store.buffer, store.place);
    const auto bytes = static_cast<int64_t>(size_of(p.buffers[static_cast<size_t>(store.buffer)].dtype));
    return extent(v) * bytes < loops::cache_line && loops::factor(offset, v.variable) == 1 &&
           loops::factor(offset, next.variable) == extent(v);
  });
}

}  // namespace

bool walk_along_lines(Program& p, const std::vector<For*>& loops) {
  For& v = *loops.back();
  const size_t along = loop_along_reads(p, loops), inside = loops.size() - 2;
  if (along == none || loop_facts(v).function) return false;
  int at_once = std::clamp(v.width, usual, most);
  while (at_once > extent(*loops[along])) at_once /= 2;
  if (at_once < least) return false;
  for (const For* l : loops)
    if (!independent(p, *l)) return false;
  move_loop(loops, along, inside);
  For& steps = *loops[inside];
  steps.kind = For::Kind::unroll;
  steps.copies = at_once;
  v.width = std::min(v.width, most);
  if (inside > 0 && extent(steps) % at_once == 0 && leaves_lines_open(p, v, *loops[inside - 1])) {
    For& around = *loops[inside - 1];
    For blocks = loop_over_blocks(p, steps, extent(steps) / at_once, at_once);
    std::swap(around, blocks);
    around.body.push_back({std::move(blocks)});
  }
  return true;
}

}  // namespace anvil::compiler
