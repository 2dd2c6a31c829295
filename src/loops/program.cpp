// Where accesses are in memory, and what the axes of a contraction move.
#include "loops/program.h"

#include <algorithm>

namespace anvil::loops {

Affine linear(const Program& p, BufferId id, const Index& place) {
  Affine offset;
  int64_t stride = 1;
  const Shape& shape = p.buffers[static_cast<size_t>(id)].shape;
  for (size_t d = 0; d < shape.size(); ++d) {
    offset = offset + place[d] * stride;
    stride *= shape[d];
  }
  return offset;
}

int64_t step(const Program& p, BufferId id, const Index& place, Variable v) {
  int64_t stride = 1, sum = 0;
  const Shape& shape = p.buffers[static_cast<size_t>(id)].shape;
  for (size_t d = 0; d < place.size(); ++d) {
    sum += factor(place[d], v) * stride;
    stride *= shape[d];
  }
  return sum;
}
int64_t step(const Program& p, Expr load, Variable v) { return step(p, load->buffer, load->place, v); }

static bool moves(Expr load, Variable v) {
  return std::any_of(load->place.begin(), load->place.end(), [v](const Affine& a) { return factor(a, v) != 0; });
}
bool Contraction::is_row(Variable v) const { return moves(left(), v) && !moves(right(), v); }
bool Contraction::is_column(Variable v) const { return moves(right(), v) && !moves(left(), v); }

}  // namespace anvil::loops
