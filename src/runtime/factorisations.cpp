// Factorisations of batches, for generated code. Small matrices have their LU factors found several
// at a time, which batch-first storage makes contiguous; other matrices follow one after the other.
#include <algorithm>
#include <Eigen/Core>
#include <limits>
#include <vector>

#include "base/interrupt.h"
#include "runtime/factorise.h"
#include "runtime/lanes_of_matrices.h"
#include "runtime/linalg.h"
#include "runtime/run.h"

namespace anvil::runtime {
namespace {

// ---- several small matrices at a time ------------------------------------------------

template <class T>
struct LuLanes {
  int64_t m, n, batch, count;
  Lanes<T>* x;  // element (i, j) of each matrix at i + m * j
  Lanes<T>& at(int64_t i, int64_t j) const { return x[i + m * j]; }

  // Rows k and best of each matrix change places.
  void exchange(int64_t k, const Lanes<T>& best) const {
    for (int64_t c = 0; c < width<T>; ++c)
      if (const auto i = static_cast<int64_t>(best[c]); i != k)
        for (int64_t j = 0; j < n; ++j) std::swap(at(k, j)[c], at(i, j)[c]);
  }
  Lanes<T> pivot_rows(int64_t k) const {
    Lanes<T> best = Lanes<T>::Constant(T(k)), largest = at(k, k).abs();
    for (int64_t i = k + 1; i < m; ++i) {
      const Lanes<T> size = at(i, k).abs();
      best = (size > largest).select(Lanes<T>::Constant(T(i)), best);
      largest = (size > largest).select(size, largest);
    }
    return best;
  }
  void eliminate(int64_t k) const {
    const Lanes<T> pivot = (at(k, k) == T(0)).select(Lanes<T>::Ones(), at(k, k));
    for (int64_t i = k + 1; i < m; ++i) at(i, k) /= pivot;
    for (int64_t j = k + 1; j < n; ++j) {
      const Lanes<T> u = at(k, j);
      for (int64_t i = k + 1; i < m; ++i) at(i, j) -= at(i, k) * u;
    }
  }
};

// The same steps as lu(), so that the results are the same to the last bit.
template <class T>
void lu_lanes(const LuLanes<T>& s, T* packed, int32_t* pivots, int32_t* permutation, const T* a) {
  const int64_t k = std::min(s.m, s.n);
  Lanes<T> unsound = Lanes<T>::Zero();
  for (int64_t e = 0; e < s.m * s.n; ++e) {
    s.x[e] = load(a + e * s.batch, s.count);
    unsound += s.x[e] * T(0);
  }
  for (int64_t e = 0; e < s.m * s.n; ++e) s.x[e] = (unsound == T(0)).select(s.x[e], Lanes<T>::Zero());
  for (int64_t c = 0; c < s.count; ++c)
    for (int64_t i = 0; i < s.m; ++i) permutation[c + s.batch * i] = static_cast<int32_t>(i);
  for (int64_t i = 0; i < k; ++i) {
    const Lanes<T> best = s.pivot_rows(i);
    s.exchange(i, best);
    s.eliminate(i);
    for (int64_t c = 0; c < s.count; ++c) {
      pivots[c + s.batch * i] = static_cast<int32_t>(best[c]);
      std::swap(permutation[c + s.batch * i], permutation[c + s.batch * static_cast<int64_t>(best[c])]);
    }
  }
  for (int64_t e = 0; e < s.m * s.n; ++e)
    store<T>(packed + e * s.batch, (unsound == T(0)).select(s.x[e], Lanes<T>(unsound)), s.count);
}

// ---- one matrix at a time --------------------------------------------------------------

// The elements of one matrix, or vector, of a batch in their own memory: element e of number b is
// all[b + batch * e].
template <class T>
class OneOfBatch {
 public:
  OneOfBatch(void* all, int64_t size, int64_t batch)
      : all_(static_cast<T*>(all)), size_(size), batch_(batch), own_(batch == 1 ? 0 : static_cast<size_t>(size)) {}
  T* data() { return batch_ == 1 ? all_ : own_.data(); }
  void get(int64_t b) {
    if (batch_ == 1) return;
    for (int64_t e = 0; e < size_; ++e) own_[static_cast<size_t>(e)] = all_[b + batch_ * e];
  }
  void put(int64_t b) {
    if (batch_ == 1) return;
    for (int64_t e = 0; e < size_; ++e) all_[b + batch_ * e] = own_[static_cast<size_t>(e)];
  }

 private:
  T* all_;
  int64_t size_, batch_;
  std::vector<T> own_;
};

template <class T>
int32_t call_lu(Run* run, void* const* p, const int64_t* d) {
  return guarded(run, [&] {
    const int64_t m = d[0], n = d[1], batch = d[2], k = std::min(m, n);
    auto *pivots = static_cast<int32_t*>(p[1]), *permutation = static_cast<int32_t*>(p[2]);
    if (m <= small && n <= small && batch >= several) {
      std::vector<Lanes<T>, Eigen::aligned_allocator<Lanes<T>>> x(static_cast<size_t>(m * n));
      return in_groups<T>(batch, [&](int64_t first, int64_t count) {
        lu_lanes<T>({m, n, batch, count, x.data()}, static_cast<T*>(p[0]) + first, pivots + first, permutation + first,
                    static_cast<const T*>(p[3]) + first);
      });
    }
    OneOfBatch<T> packed(p[0], m * n, batch), a(p[3], m * n, batch);
    OneOfBatch<int32_t> rows(p[1], k, batch), order(p[2], m, batch);
    for (int64_t b = 0; b < batch; ++b) {
      a.get(b);
      lu<T>(packed.data(), rows.data(), order.data(), a.data(), m, n);
      packed.put(b), rows.put(b), order.put(b);
    }
  });
}

template <class T>
int32_t call_qr(Run* run, void* const* p, const int64_t* d) {
  return guarded(run, [&] {
    const int64_t m = d[0], n = d[1], batch = d[2], k = std::min(m, n);
    OneOfBatch<T> q(p[0], m * k, batch), r(p[1], k * n, batch), a(p[2], m * n, batch);
    for (int64_t b = 0; b < batch; ++b) {
      a.get(b);
      qr<T>(q.data(), r.data(), a.data(), m, n);
      q.put(b), r.put(b);
    }
  });
}

template <class T>
int32_t call_eigh(Run* run, void* const* p, const int64_t* d) {
  return guarded(run, [&] {
    const int64_t n = d[0], batch = d[2];
    OneOfBatch<T> w(p[0], n, batch), v(p[1], n * n, batch), a(p[2], n * n, batch);
    for (int64_t b = 0; b < batch; ++b) {
      a.get(b);
      eigh<T>(w.data(), v.data(), a.data(), n);
      w.put(b), v.put(b);
    }
  });
}

template <class T>
int32_t call_svd(Run* run, void* const* p, const int64_t* d) {
  return guarded(run, [&] {
    const int64_t m = d[0], n = d[1], batch = d[2], k = std::min(m, n);
    OneOfBatch<T> u(p[0], m * k, batch), s(p[1], k, batch), vt(p[2], k * n, batch), a(p[3], m * n, batch);
    for (int64_t b = 0; b < batch; ++b) {
      a.get(b);
      svd<T>(u.data(), s.data(), vt.data(), a.data(), m, n);
      u.put(b), s.put(b), vt.put(b);
    }
  });
}

}  // namespace

int32_t lu_f32(Run* run, void* const* p, const int64_t* d) { return call_lu<float>(run, p, d); }
int32_t lu_f64(Run* run, void* const* p, const int64_t* d) { return call_lu<double>(run, p, d); }
int32_t qr_f32(Run* run, void* const* p, const int64_t* d) { return call_qr<float>(run, p, d); }
int32_t qr_f64(Run* run, void* const* p, const int64_t* d) { return call_qr<double>(run, p, d); }
int32_t eigh_f32(Run* run, void* const* p, const int64_t* d) { return call_eigh<float>(run, p, d); }
int32_t eigh_f64(Run* run, void* const* p, const int64_t* d) { return call_eigh<double>(run, p, d); }
int32_t svd_f32(Run* run, void* const* p, const int64_t* d) { return call_svd<float>(run, p, d); }
int32_t svd_f64(Run* run, void* const* p, const int64_t* d) { return call_svd<double>(run, p, d); }

}  // namespace anvil::runtime
