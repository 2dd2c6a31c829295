// Lowering of results that are made in parts: what a part leaves of a tensor is copied around it,
// or stays where it is when nobody needs the old values.
//
//   x1 with x2 in rows 2 to 4              for i in 0..2 { out1[i] = x1[i] }
//                                          for i in 0..3 { out1[i + 2] = x2[i] }
//                                          for i in 0..5 { out1[i + 5] = x1[i + 5] }
#include "compiler/lower.h"

namespace anvil::compiler {

// What a part with a fixed place leaves of `base`, as boxes: below and above it in the last
// dimension, then, between those, in the one before, and so on.
bool Lowerer::store_around(BufferId result, const Part& part, const ValuePtr& base) {
  const Shape& whole = base->type.shape;
  Index corner = part.place(Index(whole.size()));
  Index shifted = part.place(index(part.extents, &Lowerer::dimension));
  for (size_t d = 0; d < whole.size(); ++d) {
    Affine expected = (part.extents[d] == 1 ? Affine{} : loops::variable(dimension(d))) + corner[d];
    if (!corner[d].terms.empty() || shifted[d] != expected) return false;
  }
  Shape low(whole.size(), 0), extents = whole;
  for (size_t d = whole.size(); d-- > 0;) {
    int64_t begin = corner[d].constant, end = begin + part.extents[d];
    for (auto [from, to] : {std::pair{int64_t(0), begin}, std::pair{end, whole[d]}}) {
      Shape box = extents, start = low;
      box[d] = to - from;
      start[d] = from;
      auto moved = [&start](Index i) {
        for (size_t k = 0; k < i.size(); ++k) i[k] = i[k] + start[k];
        return i;
      };
      store_box(result, {box, moved, [&](const Index& i) { return load(base, moved(i)); }});
    }
    low[d] = begin;
    extents[d] = part.extents[d];
  }
  return true;
}

void Lowerer::parts(const ValuePtr& result, std::vector<Part> parts, const ValuePtr& base) {
  // A part that covers most of a tensor usually depends on the old values around it (the
  // inside of a grid): then writing in place would need another copy.
  bool small = base && parts.size() == 1 && 2 * elements(parts[0].extents) <= elements(base->type.shape);
  if (base && small && dead_after_this_call(base) && only_operand(base)) {
    place(result, buffer_of(base));
    for (const Part& part : parts) store_box(buffer_of(base), part);
    return finish_in_place(result, buffer_of(base));
  }
  BufferId to = result_buffer(result);
  if (base && !(parts.size() == 1 && store_around(to, parts[0], base))) copy(to, base);
  for (const Part& part : parts) store_box(to, part);
}

}  // namespace anvil::compiler
