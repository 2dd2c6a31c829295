// The way back through a Cholesky factor, element by element: of one matrix, or of several whose elements stand side by
// side in registers.
#pragma once
#include <cstdint>

namespace anvil::runtime {

// With v_ij = A_ij - sum of L_ip L_jp for p < j, L_jj is the root of v_jj and L_ij = v_ij / L_jj. From the last column
// on, the lower triangle g(i, j) of the cotangent of L becomes that of A; l(i, j) is L.
template <class V, class L, class G>
void reverse_few(int64_t n, L l, G g) {
  for (int64_t j = n; j-- > 0;) {
    V sum = g(j, j);
    for (int64_t i = j + 1; i < n; ++i) {
      g(i, j) = g(i, j) / l(j, j);
      sum = sum - g(i, j) * l(i, j);
    }
    g(j, j) = sum / (l(j, j) + l(j, j));
    for (int64_t p = 0; p < j; ++p) {
      V all = g(j, j) * l(j, p);
      for (int64_t i = j; i < n; ++i) {
        g(i, p) = g(i, p) - g(i, j) * l(j, p);
        all = all + (i > j ? g(i, j) * l(i, p) : V(0));
      }
      g(j, p) = g(j, p) - all;
    }
  }
}

}  // namespace anvil::runtime
