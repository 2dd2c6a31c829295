// Sparse Cholesky factors by panels ("supernodes"): columns beside each other with the same rows below their square are one dense
// matrix, so that the work is that of dense products. Columns that elimination fills in are most of the work, and mostly
// such (Ng and Peyton, Block sparse Cholesky algorithms on advanced uniprocessor computers, 1993).
#pragma once
#include <cstdint>
#include <vector>

#include "runtime/sparse_cholesky.h"

namespace anvil::runtime {

class SparsePanels {
 public:
  explicit SparsePanels(const SparsePattern&);

  bool pay() const { return widest_ >= 8; }  // rather than working column by column
  // The lower triangle of A at the places of L becomes L; false where A is not positive definite.
  bool factorise(double* x) const;
  // Elements of the inverse of A at the places of those of L.
  void invert(const double* factor, double* z) const;

 private:
  // Panel k: its columns and rows, the square's first, and where its dense matrix starts, which is stored by columns.
  struct Panel {
    int32_t first, columns;
    const int32_t* rows;
    int64_t height;
    size_t at;
    int64_t below() const { return height - columns; }
  };
  Panel panel(size_t k) const;
  size_t count() const { return starts_.size() - 1; }
  void subtract(const Panel& from, int64_t at, int64_t stop, const Panel& to, const std::vector<int32_t>& place,
                double* dense, std::vector<double>& product) const;
  void invert_panel(const Panel&, const double* l, double* z, std::vector<int32_t>& place) const;
  template <class F>
  void each_column(F&&) const;

  const SparsePattern& pattern_;
  std::vector<int32_t> starts_, of_;  // of the panels, the columns; of the columns, the panels
  std::vector<size_t> at_;
  int64_t widest_ = 0;
};

}  // namespace anvil::runtime
