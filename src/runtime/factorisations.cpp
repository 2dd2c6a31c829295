// Factorisations of batches, for generated code. Many small matrices have their LU factors found
// several at a time; other matrices follow one after the other.
#include <algorithm>
#include <Eigen/Core>
#include <limits>
#include <vector>

#include "base/interrupt.h"
#include "runtime/factorise.h"
#include "runtime/interleaved/interleaved.h"
#include "runtime/linalg.h"
#include "runtime/run.h"
#include "runtime/threads.h"

namespace anvil::runtime {
namespace {

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

// f(first, end) for parts of a batch of matrices of n rows or columns.
template <class F>
void in_parts(int64_t batch, int64_t n, F&& f) {
  const auto size = static_cast<double>(n);
  share_ranges(batch, size * size * size, f);
}

template <class T>
int32_t call_lu(Run* run, void* const* p, const int64_t* d) {
  return guarded(run, [&] {
    const int64_t m = d[0], n = d[1], batch = d[2], k = std::min(m, n);
    if (m <= interleaved::largest && n <= interleaved::largest && batch >= interleaved::several)
      return interleaved::lu(static_cast<T*>(p[0]), static_cast<int32_t*>(p[1]), static_cast<int32_t*>(p[2]),
                             static_cast<const T*>(p[3]), m, n, batch);
    in_parts(batch, std::max(m, n), [&](int64_t first, int64_t end) {
      OneOfBatch<T> packed(p[0], m * n, batch), a(p[3], m * n, batch);
      OneOfBatch<int32_t> rows(p[1], k, batch), order(p[2], m, batch);
      for (int64_t b = first; b < end; ++b) {
        a.get(b);
        lu<T>(packed.data(), rows.data(), order.data(), a.data(), m, n);
        packed.put(b), rows.put(b), order.put(b);
      }
    });
  });
}

template <class T>
int32_t call_qr(Run* run, void* const* p, const int64_t* d) {
  return guarded(run, [&] {
    const int64_t m = d[0], n = d[1], batch = d[2], k = std::min(m, n);
    in_parts(batch, std::max(m, n), [&](int64_t first, int64_t end) {
      OneOfBatch<T> q(p[0], m * k, batch), r(p[1], k * n, batch), a(p[2], m * n, batch);
      for (int64_t b = first; b < end; ++b) {
        a.get(b);
        qr<T>(q.data(), r.data(), a.data(), m, n);
        q.put(b), r.put(b);
      }
    });
  });
}

template <class T>
int32_t call_geqrf(Run* run, void* const* p, const int64_t* d) {
  return guarded(run, [&] {
    const int64_t m = d[0], n = d[1], batch = d[2], k = std::min(m, n);
    in_parts(batch, std::max(m, n), [&](int64_t first, int64_t end) {
      OneOfBatch<T> packed(p[0], m * n, batch), taus(p[1], k, batch), a(p[2], m * n, batch);
      for (int64_t b = first; b < end; ++b) {
        a.get(b);
        geqrf<T>(packed.data(), taus.data(), a.data(), m, n);
        packed.put(b), taus.put(b);
      }
    });
  });
}

template <class T>
int32_t call_householder_product(Run* run, void* const* p, const int64_t* d) {
  return guarded(run, [&] {
    const int64_t m = d[0], n = d[1], k = d[2], batch = d[3];
    in_parts(batch, m, [&](int64_t first, int64_t end) {
      OneOfBatch<T> q(p[0], m * n, batch), packed(p[1], m * n, batch), taus(p[2], k, batch);
      for (int64_t b = first; b < end; ++b) {
        packed.get(b), taus.get(b);
        householder_product<T>(q.data(), packed.data(), taus.data(), m, n, k);
        q.put(b);
      }
    });
  });
}

template <class T>
int32_t call_eigh(Run* run, void* const* p, const int64_t* d) {
  return guarded(run, [&] {
    const int64_t n = d[0], batch = d[2];
    in_parts(batch, n, [&](int64_t first, int64_t end) {
      OneOfBatch<T> w(p[0], n, batch), v(p[1], n * n, batch), a(p[2], n * n, batch);
      for (int64_t b = first; b < end; ++b) {
        a.get(b);
        eigh<T>(w.data(), v.data(), a.data(), n);
        w.put(b), v.put(b);
      }
    });
  });
}

template <class T>
int32_t call_svd(Run* run, void* const* p, const int64_t* d) {
  return guarded(run, [&] {
    const int64_t m = d[0], n = d[1], batch = d[2], k = std::min(m, n);
    in_parts(batch, std::max(m, n), [&](int64_t first, int64_t end) {
      OneOfBatch<T> u(p[0], m * k, batch), s(p[1], k, batch), vt(p[2], k * n, batch), a(p[3], m * n, batch);
      for (int64_t b = first; b < end; ++b) {
        a.get(b);
        svd<T>(u.data(), s.data(), vt.data(), a.data(), m, n);
        u.put(b), s.put(b), vt.put(b);
      }
    });
  });
}

}  // namespace

int32_t lu_f32(Run* run, void* const* p, const int64_t* d) { return call_lu<float>(run, p, d); }
int32_t lu_f64(Run* run, void* const* p, const int64_t* d) { return call_lu<double>(run, p, d); }
int32_t geqrf_f32(Run* run, void* const* p, const int64_t* d) { return call_geqrf<float>(run, p, d); }
int32_t geqrf_f64(Run* run, void* const* p, const int64_t* d) { return call_geqrf<double>(run, p, d); }
int32_t householder_product_f32(Run* run, void* const* p, const int64_t* d) {
  return call_householder_product<float>(run, p, d);
}
int32_t householder_product_f64(Run* run, void* const* p, const int64_t* d) {
  return call_householder_product<double>(run, p, d);
}
int32_t qr_f32(Run* run, void* const* p, const int64_t* d) { return call_qr<float>(run, p, d); }
int32_t qr_f64(Run* run, void* const* p, const int64_t* d) { return call_qr<double>(run, p, d); }
int32_t eigh_f32(Run* run, void* const* p, const int64_t* d) { return call_eigh<float>(run, p, d); }
int32_t eigh_f64(Run* run, void* const* p, const int64_t* d) { return call_eigh<double>(run, p, d); }
int32_t svd_f32(Run* run, void* const* p, const int64_t* d) { return call_svd<float>(run, p, d); }
int32_t svd_f64(Run* run, void* const* p, const int64_t* d) { return call_svd<double>(run, p, d); }

}  // namespace anvil::runtime
