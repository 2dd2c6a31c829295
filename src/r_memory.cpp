// Memory for the elements of tensors. Large R vectors take theirs from the runtime's pool,
// whose pages stay mapped; what nobody needed for a while goes back to the system after a
// collection of R's.
#include <R_ext/Rallocators.h>

#include <chrono>
#include <utility>

#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "base/memory.h"
#include "base/timing.h"
#include "r_common.h"
#include "r_routines.h"
#include "runtime/pool.h"
#include "runtime/threads.h"

namespace anvil::r {
namespace {

constexpr size_t large = size_t(1) << 16;
constexpr size_t header = sizeof(R_allocator_t) + 48;  // what R puts before the elements
constexpr size_t offset = (64 - header % 64) % 64;     // puts the elements on a cache line

// R asks for a block where nothing may be thrown. So it is taken before.
struct Ahead {
  char* block = nullptr;
  size_t bytes = 0;
} ahead;

void take_ahead(size_t bytes) {
  runtime::give(std::exchange(ahead.block, nullptr));  // of a jump in between
  bool collected = false;
  for (;;) {
    try {
      ahead = {static_cast<char*>(runtime::take(bytes)), bytes};
      return;
    } catch (const Error&) {
      if (collected) throw;
    }
    R_gc();
    collected = true;
  }
}

void* pool_alloc(R_allocator_t*, size_t bytes) {
  char* p = nullptr;
  if (ahead.block != nullptr && bytes + offset <= ahead.bytes) {
    p = std::exchange(ahead.block, nullptr);
  } else {
    try {
      p = static_cast<char*>(runtime::take(bytes + offset));
    } catch (...) {
      return nullptr;
    }
  }
  return p + offset;
}
void pool_free(R_allocator_t*, void* p) { runtime::give(static_cast<char*>(p) - offset); }

// R does not see what results cost: new pages take many times what it takes to fill them. A collection gives old
// results back to the pool, for less where it looks at young objects only: some fiftieth of the time. The result that
// is in use survives as an old one, which the next collection of young objects does not see. So several results
// share one, and what they leave behind is for a collection of all objects, should R's own not come before: of every
// twenty of the young ones R extends one to the objects that such results are among.
class Collection {
 public:
  Collection(bool of_all, double seconds, double worth) : of_all_(of_all), seconds_(seconds), worth_(worth) {}

  void add(ptrdiff_t bytes) { since_ = std::max<ptrdiff_t>(since_ + bytes, 0); }
  // Whether new pages for what came since the last one would take `worth` times as long as it takes.
  bool due(double seconds_of_byte, ptrdiff_t least) const {
    return since_ >= least && static_cast<double>(since_) * seconds_of_byte >= worth_ * seconds_ * patience_;
  }
  // Gives the bytes that are left of those since the last one; less than none, if older ones went too.
  ptrdiff_t run() {
    const size_t used = runtime::pool_statistics().used;
    const double start = thread_seconds();
    collect();
    // some R extends to older objects: they take many times what the next one will
    seconds_ = std::min(thread_seconds() - start, 1.5 * seconds_);
    const auto freed = static_cast<ptrdiff_t>(used - runtime::pool_statistics().used);
    const ptrdiff_t came = std::exchange(since_, 0);
    patience_ = freed >= came / 2 ? 1 : std::min(2 * patience_, 1024.0);
    return came - freed;
  }

 private:
  void collect() const {
    if (of_all_) return R_gc();
    SEXP call = PROTECT(Rf_lang2(Rf_install("gc"), Rf_ScalarLogical(FALSE)));
    SET_TAG(CDR(call), Rf_install("full"));
    Rf_eval(call, R_BaseEnv);
    UNPROTECT(1);
  }

  bool of_all_;
  double seconds_, worth_;
  double patience_ = 1;  // doubled by those that gave little back, because the results are in use
  ptrdiff_t since_ = 0;  // bytes of results since the last one
};

// Where programs need new pages again.
void collect_when_due(size_t bytes) {
  static Collection young(false, 0.001, 8), all(true, 0.03, 2);
  static size_t fresh = 0;
  young.add(static_cast<ptrdiff_t>(bytes));
  const runtime::PoolStatistics pool = runtime::pool_statistics();
  const bool needs_pages = pool.fresh > std::exchange(fresh, pool.fresh) || runtime::would_be_fresh(bytes);
  const auto some = static_cast<ptrdiff_t>(std::min(4 * bytes, pool.limit / 2));
  if (!needs_pages || !young.due(pool.seconds_of_byte, some)) return;
  all.add(young.run());
  if (all.due(pool.seconds_of_byte, 0)) all.run();
}

SEXP allocate_at_once(const TensorType& type) {
  const size_t bytes = bytes_of(type.dtype, type.shape);
  const SEXPTYPE kind = type.dtype == DType::f64 ? REALSXP : type.dtype == DType::i32 ? INTSXP : RAWSXP;
  const auto length = static_cast<R_xlen_t>(kind == RAWSXP ? bytes : bytes / size_of(type.dtype));
  if (bytes < large) return Rf_allocVector(kind, length);
  take_ahead(bytes + header + offset);
  R_allocator_t allocator{pool_alloc, pool_free, nullptr, nullptr};
  SEXP data = PROTECT(Rf_allocVector3(kind, length, &allocator));
  if (kind != RAWSXP && is_large(length)) set_dim(data, type.shape);
  UNPROTECT(1);
  return data;
}

}  // namespace

SEXP allocate_data(const TensorType& type) {
  const size_t bytes = bytes_of(type.dtype, type.shape);
  if (bytes >= large) collect_when_due(bytes);
  return allocate_at_once(type);
}

// The list comes after the collection: if it had survived one, its elements would survive the next.
SEXP allocate_list_of_data(const std::vector<TensorType>& types, std::vector<Kept>& spares, size_t more) {
  size_t bytes = 0;
  for (size_t i = 0; i < types.size(); ++i)
    if (i >= spares.size() || !spares[i]) bytes += bytes_of(types[i].dtype, types[i].shape);
  if (bytes >= large) collect_when_due(bytes);
  SEXP list = PROTECT(Rf_allocVector(VECSXP, static_cast<R_xlen_t>(types.size() + more)));
  for (size_t i = 0; i < types.size(); ++i) {
    const auto at = static_cast<R_xlen_t>(i);
    if (i < spares.size() && spares[i]) {
      const Kept spare = std::exchange(spares[i], Kept());
      if (SEXP cell = R_WeakRefValue(spare.get()); cell != R_NilValue) SET_VECTOR_ELT(list, at, CAR(cell));
    }
    if (VECTOR_ELT(list, at) == R_NilValue) SET_VECTOR_ELT(list, at, allocate_at_once(types[i]));
  }
  UNPROTECT(1);
  return list;
}

// R's next collection takes it, unless a result did before: nothing but a reference that does not count keeps it.
void set_aside(SEXP data, const TensorType& type, const std::vector<TensorType>& types, std::vector<Kept>& spares) {
  if (bytes_of(type.dtype, type.shape) < large) return;
  spares.resize(types.size());
  for (size_t i = 0; i < types.size(); ++i) {
    if (types[i].dtype != type.dtype || types[i].shape != type.shape) continue;
    if (spares[i] && R_WeakRefValue(spares[i].get()) != R_NilValue) continue;
    spares[i] = Kept(guarded([&] {
      SEXP key = PROTECT(R_MakeExternalPtr(nullptr, R_NilValue, R_NilValue));
      SEXP cell = PROTECT(Rf_list1(data));  // R copies what others refer to
      SEXP spare = R_MakeWeakRef(key, cell, R_NilValue, FALSE);
      UNPROTECT(2);
      return spare;
    }));
    return;
  }
}

// --- collections ------------------------------------------------------------------------

// An object that nobody refers to is finalised by the next collection, and makes its successor.
static void watch_collections() {
  SEXP watcher = PROTECT(R_MakeExternalPtr(nullptr, R_NilValue, R_NilValue));
  R_RegisterCFinalizerEx(
      watcher,
      [](SEXP) {
        using Clock = std::chrono::steady_clock;
        static Clock::time_point last = Clock::now();
        if (Clock::now() - last >= std::chrono::seconds(5)) {
          last = Clock::now();
          runtime::trim_idle();
        }
        watch_collections();
      },
      FALSE);
  UNPROTECT(1);
}

// What nobody refers to any more, and what the pool keeps; R code that finalises must not jump.
static void reclaim() {
  R_ToplevelExec([](void*) { R_gc(); }, nullptr);
  runtime::trim_pool();
}

static double heap_in_use() {
#if defined(__GLIBC__) && defined(__GLIBC_PREREQ)
#if __GLIBC_PREREQ(2, 33)
  const struct mallinfo2 info = mallinfo2();
  return static_cast<double>(info.uordblks) + static_cast<double>(info.hblkhd);
#endif
#endif
  return NA_REAL;
}

// Gives c(used, kept, limit, available, heap) in bytes; `release`: after giving back what is kept.
SEXP anvil_memory(SEXP release) {
  return entry([&] {
    if (flag_of(release, "release")) {
      runtime::trim_pool();
#ifdef __GLIBC__
      malloc_trim(0);
#endif
    }
    const runtime::PoolStatistics s = runtime::pool_statistics();
    const size_t bytes[] = {s.used, s.kept, s.limit, memory_available()};
    return guarded([&] {
      SEXP x = Rf_allocVector(REALSXP, 5);
      for (int i = 0; i < 4; ++i) REAL(x)[i] = static_cast<double>(bytes[i]);
      REAL(x)[4] = heap_in_use();
      return x;
    });
  });
}

SEXP anvil_watch_collections() {
  return entry([&] {
    set_reclaim(reclaim);
    return guarded([&] {
      watch_collections();
      return R_NilValue;
    });
  });
}

// NULL: how many threads work at once. Otherwise sets that, 0 as many as at first, and gives the former number.
SEXP anvil_threads(SEXP n) {
  return entry([&] {
    const int former = runtime::threads();
    if (n != R_NilValue) runtime::set_threads(integer_of(n, "n"));
    return guarded([&] { return Rf_ScalarInteger(former); });
  });
}

// For tests: lets the n-th next allocation fail; 0: none.
SEXP anvil_fail_allocation(SEXP n) {
  return entry([&] {
    fail_allocation(integer_of(n, "n"));
    return R_NilValue;
  });
}

}  // namespace anvil::r
