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

using Sizes = std::vector<int64_t>;

// f(matrices) for one of a batch after the other, of results and operands of so many elements each, in the order of the
// buffers; n as above.
template <class T, class F>
int32_t each_matrix(Run* run, void* const* p, int64_t batch, int64_t n, const Sizes& results, const Sizes& operands,
                    F f) {
  return guarded(run, [&] {
    in_parts(batch, n, [&](int64_t first, int64_t end) {
      std::vector<OneOfBatch<T>> x;
      for (const Sizes* sizes : {&results, &operands})
        for (const int64_t size : *sizes) x.emplace_back(p[x.size()], size, batch);
      for (int64_t b = first; b < end; ++b) {
        for (size_t k = results.size(); k < x.size(); ++k) x[k].get(b);
        f(x);
        for (size_t k = 0; k < results.size(); ++k) x[k].put(b);
      }
    });
  });
}

template <class T>
int32_t call_qr(Run* run, void* const* p, const int64_t* d) {
  const int64_t m = d[0], n = d[1], k = std::min(m, n);
  return each_matrix<T>(run, p, d[2], std::max(m, n), {m * k, k * n}, {m * n},
                        [&](auto& x) { qr<T>(x[0].data(), x[1].data(), x[2].data(), m, n); });
}

template <class T>
int32_t call_geqrf(Run* run, void* const* p, const int64_t* d) {
  const int64_t m = d[0], n = d[1];
  return each_matrix<T>(run, p, d[2], std::max(m, n), {m * n, std::min(m, n)}, {m * n},
                        [&](auto& x) { geqrf<T>(x[0].data(), x[1].data(), x[2].data(), m, n); });
}

template <class T>
int32_t call_householder_product(Run* run, void* const* p, const int64_t* d) {
  const int64_t m = d[0], n = d[1], k = d[2];
  return each_matrix<T>(run, p, d[3], m, {m * n}, {m * n, k},
                        [&](auto& x) { householder_product<T>(x[0].data(), x[1].data(), x[2].data(), m, n, k); });
}

template <class T>
int32_t call_eigh(Run* run, void* const* p, const int64_t* d) {
  const int64_t n = d[0];
  return each_matrix<T>(run, p, d[2], n, {n, n * n}, {n * n},
                        [&](auto& x) { eigh<T>(x[0].data(), x[1].data(), x[2].data(), n); });
}

template <class T>
int32_t call_eigh_values(Run* run, void* const* p, const int64_t* d) {
  const int64_t n = d[0];
  return each_matrix<T>(run, p, d[2], n, {n}, {n * n}, [&](auto& x) { eigh<T>(x[0].data(), nullptr, x[1].data(), n); });
}

template <class T>
int32_t call_svd_values(Run* run, void* const* p, const int64_t* d) {
  const int64_t m = d[0], n = d[1];
  return each_matrix<T>(run, p, d[2], std::max(m, n), {std::min(m, n)}, {m * n},
                        [&](auto& x) { svd<T>(nullptr, x[0].data(), nullptr, x[1].data(), m, n); });
}

template <class T>
int32_t call_svd(Run* run, void* const* p, const int64_t* d) {
  const int64_t m = d[0], n = d[1], k = std::min(m, n);
  return each_matrix<T>(run, p, d[2], std::max(m, n), {m * k, k, k * n}, {m * n},
                        [&](auto& x) { svd<T>(x[0].data(), x[1].data(), x[2].data(), x[3].data(), m, n); });
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
int32_t eigh_values_f32(Run* run, void* const* p, const int64_t* d) { return call_eigh_values<float>(run, p, d); }
int32_t eigh_values_f64(Run* run, void* const* p, const int64_t* d) { return call_eigh_values<double>(run, p, d); }
int32_t svd_values_f32(Run* run, void* const* p, const int64_t* d) { return call_svd_values<float>(run, p, d); }
int32_t svd_values_f64(Run* run, void* const* p, const int64_t* d) { return call_svd_values<double>(run, p, d); }

}  // namespace anvil::runtime
