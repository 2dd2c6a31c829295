// What a contraction costs over packed blocks and as loops.
#pragma once
#include <optional>

#include "compiler/compiler.h"

namespace anvil::compiler {

// A contraction as the packed kernel sees it: products of `a` with `b` of which the rows, those of a, come first
// in the result where one side does. `together`: how many lie together in memory.
struct ProductShape {
  double all = 1;  // multiplications
  int64_t rows = 1, columns = 1, depth = 1;
  int64_t bytes_of_a = 0;
  int element_bytes = 4;  // of what is computed with
  bool widened = false;   // from small floats
  int depth_loops = 0;
  int64_t rows_together = 1;   // in the result
  int64_t batch_together = 0;  // there: it is copied to its place (contraction_batch.cpp), as in the operands
  bool batch_of_a_together = false, batch_of_b_together = false;
  bool rows_of_a_together = false;  // in a, the dimension that does
  bool depth_of_a_together = false;
  bool b_together = false;  // columns or depth
  int64_t depth_of_b_together = 1;
  bool depth_together = false;        // in both, long enough for vectors
  bool whole_depth_together = false;  // all of it, in both
  bool one_operand = false;           // with itself
  bool windows = false;               // those of an operand overlap
};
// None where a loop moves one operand only: then it is no contraction.
std::optional<ProductShape> shape_of(const loops::Program&, const loops::Contraction&);

bool packed_is_faster(const ProductShape&, const Target&);
// Whether `other` is a product of lines that lie together, read as they lie, with the columns of another product of these
// lines beside its own: X'y beside X'X. Loops would read the lines from memory again.
bool faster_beside(const ProductShape& other, const ProductShape&, const Target&);

}  // namespace anvil::compiler
