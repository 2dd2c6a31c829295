/* Systems of equations as one would write them in C for small matrices: Gaussian elimination with partial
   pivoting, one matrix after the other, each stored by columns. */
#include <math.h>

void small_solves(const double *a, const double *b, double *x, const int *size, const int *count) {
  const int n = *size;
  double m[64];
  for (int c = 0; c < *count; ++c) {
    double *y = x + (long)c * n;
    for (int i = 0; i < n * n; ++i) m[i] = a[(long)c * n * n + i];
    for (int i = 0; i < n; ++i) y[i] = b[(long)c * n + i];
    for (int k = 0; k < n; ++k) {
      int p = k;
      for (int i = k + 1; i < n; ++i)
        if (fabs(m[i + n * k]) > fabs(m[p + n * k])) p = i;
      if (p != k) {
        for (int j = k; j < n; ++j) {
          const double t = m[k + n * j];
          m[k + n * j] = m[p + n * j];
          m[p + n * j] = t;
        }
        const double t = y[k];
        y[k] = y[p];
        y[p] = t;
      }
      const double inverse = 1 / m[k + n * k];
      for (int i = k + 1; i < n; ++i) {
        const double l = m[i + n * k] * inverse;
        for (int j = k + 1; j < n; ++j) m[i + n * j] -= l * m[k + n * j];
        y[i] -= l * y[k];
      }
    }
    for (int k = n - 1; k >= 0; --k) {
      double s = y[k];
      for (int j = k + 1; j < n; ++j) s -= m[k + n * j] * y[j];
      y[k] = s / m[k + n * k];
    }
  }
}
