// Random programs as people write them: a table of data, and on it layers with biases, columns and
// rows that are scaled or standardised, softmax, products, cross products, batches of matrices,
// slices and assignments, look-ups by index, sums along either side, loops, conditions, and
// derivatives of all of it. Everything follows from a seed. Sizes are those around the widths of
// vectors and blocks, where loops have last steps of their own.
#pragma once
#include <random>
#include <string>
#include <vector>

#include "primitives/vocabulary/var.h"

namespace anvil::test {

class OrdinaryProgram {
 public:
  explicit OrdinaryProgram(uint64_t seed, bool large = false);
  graph::GraphPtr graph = std::make_shared<graph::Graph>();
  std::vector<graph::Tensor> inputs;
  DType dtype = DType::f64;  // of its numbers

 private:
  using Var = primitives::Var;
  using Ints = std::vector<int64_t>;

  // ---- ordinary_program.cpp: values and the choice of steps ----
  int below(int n) { return static_cast<int>(random_() % static_cast<uint64_t>(n)); }
  bool chance(int percent) { return below(100) < percent; }
  int64_t size();
  int64_t fitting(int64_t others, int64_t most);  // a size, so that `others` times it is not too much
  Var input(DType, Shape);
  Var index_input(Shape, int64_t size);  // from 1 to size, seldom outside
  Var number(double x) { return primitives::literal(*g_, x, {dtype, {}, false}); }
  Var recent();           // any value made so far, later ones more often
  Var table();            // of rank 2
  Var vector(int64_t n);  // of this length: an input, or made of something else
  Var matrix(int64_t rows, int64_t columns);
  Var here(Var v) { return {g_, v.value}; }  // of a graph around this one
  void keep(Var);
  void grow(int steps);
  void step();
  void finish();

  // ---- ordinary_tables.cpp: steps on tables ----
  Var activation(Var);
  Var along(Var v, Var x, int64_t dim);  // a vector spread over x, one number for each index of dim
  Var summary(Var, Ints dims, bool drop);
  void layer();
  void scaled();
  void standardised();
  void softmax();
  void summarised();
  void crossed();
  void batched();
  void masked();
  void elementwise();
  void several();  // products that share an operand

  // ---- ordinary_places.cpp: steps that move elements, and control flow ----
  Shape part_of(const Shape&);
  Var start(int64_t size, int64_t part);
  void sliced();
  void moved();
  void joined();
  void assigned();
  void looked_up();
  void added_at();
  void ordered();
  void solved();
  void repeated();
  void branched();
  void differentiated();

  std::mt19937_64 random_;
  graph::Graph* g_ = nullptr;  // that is being made
  std::vector<Var> pool_;
  int depth_ = 0;
  double work_ = 0;  // multiplications in products so far
  bool large_;       // sizes beyond all blocks, and products that the packed kernels make
  int64_t most_elements() const { return large_ ? 40'000 : 3000; }
  double most_work() const { return large_ ? 2e6 : 60'000; }
};

}  // namespace anvil::test
