// The workloads of bench.R as plain loops, called through .Call: what a person would write
// in C for this one shape, compiled with -O3 -march=native -ffast-math. Floats travel in
// raw vectors; outputs are written into vectors that R has made, so no call allocates.
#include <R.h>
#include <Rinternals.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

namespace {
float* f32(SEXP x) { return reinterpret_cast<float*>(RAW(x)); }
double* f64(SEXP x) { return REAL(x); }
long count32(SEXP x) { return static_cast<long>(XLENGTH(x) / 4); }

template <class T>
void black_scholes(const T* __restrict__ s, const T* __restrict__ k, const T* __restrict__ t, T* __restrict__ call,
                   T* __restrict__ put, long n) {
  const T r2 = T(0.7071067811865476);
  for (long i = 0; i < n; ++i) {
    T vst = T(0.30) * std::sqrt(t[i]);
    T d1 = (std::log(s[i] / k[i]) + T(0.065) * t[i]) / vst, d2 = d1 - vst;
    T df = k[i] * std::exp(T(-0.02) * t[i]);
    T c = s[i] * (T(0.5) * (1 + std::erf(d1 * r2))) - df * (T(0.5) * (1 + std::erf(d2 * r2)));
    call[i] = c;
    put[i] = c - s[i] + df;
  }
}

template <class T>
void rows(const T* __restrict__ x, const int* __restrict__ at, T* __restrict__ out, long n, long columns, long m) {
  for (long j = 0; j < columns; ++j)
    for (long i = 0; i < n; ++i) out[i + j * n] = x[at[i] - 1 + j * m];
}

// The network of the MLP workload: column-major, batch in rows.
struct Mlp {
  int batch, layers;
  std::vector<int> sizes;
  std::vector<std::vector<float>> w, b, z, dw, db, dz;
  void make(int batch_, const std::vector<int>& sizes_) {
    batch = batch_;
    sizes = sizes_;
    layers = static_cast<int>(sizes.size()) - 1;
    for (int l = 0; l < layers; ++l) {
      w.emplace_back(static_cast<size_t>(sizes[l]) * sizes[l + 1], 0.05f);
      b.emplace_back(sizes[l + 1], 0.f);
      dw.push_back(w.back());
      db.push_back(b.back());
    }
    for (int l = 0; l <= layers; ++l) {
      z.emplace_back(static_cast<size_t>(batch) * sizes[l]);
      dz.push_back(z.back());
    }
  }
  float step(const float* x, const float* y) {
    int n = batch;
    std::memcpy(z[0].data(), x, sizeof(float) * z[0].size());
    for (int l = 0; l < layers; ++l) {
      int p = sizes[l], q = sizes[l + 1];
      float* __restrict__ out = z[l + 1].data();
      const float* __restrict__ in = z[l].data();
      for (int j = 0; j < q; ++j) {
        float* __restrict__ o = out + j * n;
        for (int i = 0; i < n; ++i) o[i] = b[l][j];
        for (int k = 0; k < p; ++k) {
          float a = w[l][k + j * p];
          for (int i = 0; i < n; ++i) o[i] += a * in[i + k * n];
        }
        if (l + 1 < layers)
          for (int i = 0; i < n; ++i) o[i] = o[i] > 0 ? o[i] : 0;
      }
    }
    float loss = 0;
    for (int i = 0; i < n; ++i) {
      float d = z[layers][i] - y[i];
      loss += d * d;
      dz[layers][i] = 2 * d / n;
    }
    for (int l = layers - 1; l >= 0; --l) {
      int p = sizes[l], q = sizes[l + 1];
      const float* __restrict__ in = z[l].data();
      const float* __restrict__ d = dz[l + 1].data();
      for (int j = 0; j < q; ++j) {
        float s = 0;
        for (int i = 0; i < n; ++i) s += d[i + j * n];
        db[l][j] = s;
        for (int k = 0; k < p; ++k) {
          float t = 0;
          for (int i = 0; i < n; ++i) t += in[i + k * n] * d[i + j * n];
          dw[l][k + j * p] = t;
        }
      }
      if (l > 0) {
        float* __restrict__ e = dz[l].data();
        std::fill(e, e + static_cast<size_t>(n) * p, 0.f);
        for (int k = 0; k < p; ++k) {
          for (int j = 0; j < q; ++j) {
            float a = w[l][k + j * p];
            for (int i = 0; i < n; ++i) e[i + k * n] += a * d[i + j * n];
          }
          for (int i = 0; i < n; ++i) e[i + k * n] = in[i + k * n] > 0 ? e[i + k * n] : 0;
        }
      }
    }
    for (int l = 0; l < layers; ++l) {
      for (size_t i = 0; i < w[l].size(); ++i) w[l][i] -= 1e-4f * dw[l][i];
      for (size_t i = 0; i < b[l].size(); ++i) b[l][i] -= 1e-4f * db[l][i];
    }
    return loss / n;
  }
};
}  // namespace

extern "C" {

SEXP peer_black_scholes_f32(SEXP s, SEXP k, SEXP t, SEXP call, SEXP put) {
  black_scholes(f32(s), f32(k), f32(t), f32(call), f32(put), count32(s));
  return R_NilValue;
}
SEXP peer_black_scholes_f64(SEXP s, SEXP k, SEXP t, SEXP call, SEXP put) {
  black_scholes(f64(s), f64(k), f64(t), f64(call), f64(put), static_cast<long>(XLENGTH(s)));
  return R_NilValue;
}
SEXP peer_chain20(SEXP x, SEXP y) {
  const float* __restrict__ in = f32(x);
  float* __restrict__ out = f32(y);
  for (long i = 0, n = count32(x); i < n; ++i) {
    float v = in[i];
    for (int k = 0; k < 4; ++k) v = std::sqrt(std::max(v * 0.9f + 0.1f, 0.f) + 1.f);
    out[i] = v;
  }
  return R_NilValue;
}
SEXP peer_sum_f32(SEXP x) {
  float s = 0;
  const float* v = f32(x);
  for (long i = 0, n = count32(x); i < n; ++i) s += v[i];
  return Rf_ScalarReal(s);
}
SEXP peer_sum_f64(SEXP x) {
  double s = 0;
  const double* v = f64(x);
  for (long i = 0, n = static_cast<long>(XLENGTH(x)); i < n; ++i) s += v[i];
  return Rf_ScalarReal(s);
}
SEXP peer_meanvar(SEXP x) {
  const float* v = f32(x);
  long n = count32(x);
  float s = 0, q = 0;
  for (long i = 0; i < n; ++i) s += v[i];
  float m = s / n;
  for (long i = 0; i < n; ++i) q += (v[i] - m) * (v[i] - m);
  return Rf_ScalarReal(q / (n - 1));
}
SEXP peer_cumsum_f32(SEXP x, SEXP y) {
  float s = 0;
  const float* __restrict__ in = f32(x);
  float* __restrict__ out = f32(y);
  for (long i = 0, n = count32(x); i < n; ++i) out[i] = s += in[i];
  return R_NilValue;
}
SEXP peer_cumsum_f64(SEXP x, SEXP y) {
  double s = 0;
  const double* __restrict__ in = f64(x);
  double* __restrict__ out = f64(y);
  for (long i = 0, n = static_cast<long>(XLENGTH(x)); i < n; ++i) out[i] = s += in[i];
  return R_NilValue;
}
// Rows of length `inner`, contiguous.
SEXP peer_logsumexp(SEXP x, SEXP inner_, SEXP y) {
  long inner = Rf_asInteger(inner_), rows = count32(x) / inner;
  for (long r = 0; r < rows; ++r) {
    const float* v = f32(x) + r * inner;
    float top = v[0], s = 0;
    for (long i = 0; i < inner; ++i) top = std::max(top, v[i]);
    for (long i = 0; i < inner; ++i) s += std::exp(v[i] - top);
    f32(y)[r] = top + std::log(s);
  }
  return R_NilValue;
}
SEXP peer_softmax(SEXP x, SEXP inner_, SEXP y) {
  long inner = Rf_asInteger(inner_), rows = count32(x) / inner;
  for (long r = 0; r < rows; ++r) {
    const float* __restrict__ v = f32(x) + r * inner;
    float* __restrict__ o = f32(y) + r * inner;
    float top = v[0], s = 0;
    for (long i = 0; i < inner; ++i) top = std::max(top, v[i]);
    for (long i = 0; i < inner; ++i) s += o[i] = std::exp(v[i] - top);
    float scale = 1 / s;
    for (long i = 0; i < inner; ++i) o[i] *= scale;
  }
  return R_NilValue;
}
SEXP peer_layernorm(SEXP x, SEXP gain, SEXP inner_, SEXP y) {
  long inner = Rf_asInteger(inner_), rows = count32(x) / inner;
  const float* g = f32(gain);
  for (long r = 0; r < rows; ++r) {
    const float* __restrict__ v = f32(x) + r * inner;
    float* __restrict__ o = f32(y) + r * inner;
    float s = 0, q = 0;
    for (long i = 0; i < inner; ++i) s += v[i];
    float m = s / inner;
    for (long i = 0; i < inner; ++i) q += (v[i] - m) * (v[i] - m);
    float scale = 1 / std::sqrt(q / inner + 1e-5f);
    for (long i = 0; i < inner; ++i) o[i] = (v[i] - m) * scale * g[i] + g[i];
  }
  return R_NilValue;
}
SEXP peer_sum_strided(SEXP x, SEXP inner_, SEXP y) {
  long inner = Rf_asInteger(inner_), rows = count32(x) / inner;
  const float* __restrict__ v = f32(x);
  float* __restrict__ o = f32(y);
  std::fill(o, o + inner, 0.f);
  for (long r = 0; r < rows; ++r)
    for (long i = 0; i < inner; ++i) o[i] += v[i + r * inner];
  return R_NilValue;
}
SEXP peer_logreg(SEXP x_, SEXP y_, SEXP steps_, SEXP beta_) {
  const float* __restrict__ x = f32(x_);
  const float* __restrict__ y = f32(y_);
  long n = count32(y_), p = count32(x_) / n;
  float* beta = f32(beta_);
  std::vector<float> g(n), slope(p);
  float alpha = 0;
  std::fill(beta, beta + p, 0.f);
  for (int step = Rf_asInteger(steps_); step > 0; --step) {
    float* __restrict__ r = g.data();
    for (long i = 0; i < n; ++i) r[i] = alpha;
    for (long k = 0; k < p; ++k)
      for (long i = 0; i < n; ++i) r[i] += x[i + k * n] * beta[k];
    float s = 0;
    for (long i = 0; i < n; ++i) {
      r[i] = 1 / (1 + std::exp(-r[i])) - y[i];
      s += r[i];
    }
    for (long k = 0; k < p; ++k) {
      float t = 0;
      for (long i = 0; i < n; ++i) t += x[i + k * n] * r[i];
      slope[k] = t;
    }
    for (long k = 0; k < p; ++k) beta[k] -= 0.1f * slope[k] / n;
    alpha -= 0.1f * s / n;
  }
  return R_NilValue;
}
// One epoch after the other over `batches` contiguous batches of ten inputs.
SEXP peer_mlp(SEXP x, SEXP y, SEXP batch_, SEXP width_, SEXP depth_, SEXP epochs_) {
  int batch = Rf_asInteger(batch_), width = Rf_asInteger(width_), depth = Rf_asInteger(depth_);
  std::vector<int> sizes = {10};
  for (int l = 0; l < depth; ++l) sizes.push_back(width);
  sizes.push_back(1);
  Mlp net;
  net.make(batch, sizes);
  long batches = count32(y) / batch;
  float loss = 0;
  for (int e = Rf_asInteger(epochs_); e > 0; --e)
    for (long k = 0; k < batches; ++k) loss = net.step(f32(x) + k * batch * 10, f32(y) + k * batch);
  return Rf_ScalarReal(loss);
}
SEXP peer_counter(SEXP start, SEXP steps_) {
  double v = Rf_asReal(start);
  for (int i = 0, n = Rf_asInteger(steps_); i < n; ++i) v = v * 0.999 + 0.001;
  return Rf_ScalarReal(v);
}
SEXP peer_heat(SEXP t0, SEXP n_, SEXP steps_) {
  int n = Rf_asInteger(n_);
  std::vector<double> a(f64(t0), f64(t0) + static_cast<long>(n) * n), b = a;
  for (int s = Rf_asInteger(steps_); s > 0; --s) {
    for (int j = 1; j < n - 1; ++j)
      for (int i = 1; i < n - 1; ++i) {
        int k = i + j * n;
        b[k] = a[k] + 0.1 * (a[k - 1] + a[k + 1] + a[k - n] + a[k + n] - 4 * a[k]);
      }
    a.swap(b);
  }
  return Rf_ScalarReal(a[n / 2 + static_cast<long>(n / 2) * n]);
}
SEXP peer_scan3(SEXP m_, SEXP steps_) {
  const double* m = f64(m_);
  double a[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, b[9];
  for (int s = Rf_asInteger(steps_); s > 0; --s) {
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j) b[i + 3 * j] = a[i] * m[3 * j] + a[i + 3] * m[1 + 3 * j] + a[i + 6] * m[2 + 3 * j];
    std::memcpy(a, b, sizeof a);
  }
  return Rf_ScalarReal(a[0]);
}
// The gradient of v -> sin(a v) applied 500 times.
SEXP peer_chain_gradient(SEXP v_, SEXP a_) {
  double v[501], a = Rf_asReal(a_), g = 1;
  v[0] = Rf_asReal(v_);
  for (int i = 0; i < 500; ++i) v[i + 1] = std::sin(v[i] * a);
  for (int i = 500; i-- > 0;) g *= std::cos(v[i] * a) * a;
  return Rf_ScalarReal(g);
}
// x[i, ] of a matrix with m rows, for doubles and floats.
SEXP peer_rows_f64(SEXP x_, SEXP i_, SEXP m_, SEXP out_) {
  rows(f64(x_), INTEGER(i_), f64(out_), XLENGTH(i_), XLENGTH(x_) / Rf_asInteger(m_), Rf_asInteger(m_));
  return R_NilValue;
}
SEXP peer_rows_f32(SEXP x_, SEXP i_, SEXP m_, SEXP out_) {
  rows(f32(x_), INTEGER(i_), f32(out_), XLENGTH(i_), count32(x_) / Rf_asInteger(m_), Rf_asInteger(m_));
  return R_NilValue;
}
// The sums of the weights of each bin.
SEXP peer_histogram(SEXP i_, SEXP weight_, SEXP out_) {
  const double* __restrict__ weight = f64(weight_);
  double* __restrict__ out = f64(out_);
  const int* __restrict__ bin = INTEGER(i_);
  std::fill(out, out + XLENGTH(out_), 0.0);
  for (long k = 0, n = XLENGTH(i_); k < n; ++k) out[bin[k] - 1] += weight[k];
  return R_NilValue;
}
SEXP peer_add(SEXP a, SEXP b) { return Rf_ScalarReal(Rf_asReal(a) + Rf_asReal(b)); }
}
