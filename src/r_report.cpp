// What compiled functions do and where their time goes, as R lists: jit_report() and anvil_profile().
#include <algorithm>
#include <limits>

#include "base/memory.h"
#include "r_jit.h"
#include "r_routines.h"
#include "runtime/pool.h"

namespace anvil::r {
namespace {

using compiler::NestSummary;

// A list with these names, whose elements are made one after the other.
class Fields {
 public:
  explicit Fields(std::initializer_list<const char*> labels)
      : list_(guarded([&] {
          SEXP x = PROTECT(Rf_allocVector(VECSXP, static_cast<R_xlen_t>(labels.size())));
          SEXP n = PROTECT(Rf_allocVector(STRSXP, XLENGTH(x)));
          for (size_t i = 0; i < labels.size(); ++i)
            SET_STRING_ELT(n, static_cast<R_xlen_t>(i), Rf_mkChar(labels.begin()[i]));
          Rf_setAttrib(x, R_NamesSymbol, n);
          UNPROTECT(2);
          return x;
        })) {}
  // make(): the next element, in a guarded body.
  template <class F>
  void add(F&& make) {
    SET_VECTOR_ELT(list_, next_++, guarded(make));
  }
  void add_value(SEXP x) { SET_VECTOR_ELT(list_, next_++, x); }
  template <class List, class F>
  void add_numbers(const List& list, F&& number_in) {
    add([&] {
      SEXP x = Rf_allocVector(REALSXP, static_cast<R_xlen_t>(list.size()));
      double* to = REAL(x);
      for (const auto& element : list) *to++ = number_in(element);
      return x;
    });
  }
  template <class List, class F>
  void add_texts(const List& list, F&& text_in) {
    std::vector<std::string> texts;
    for (const auto& element : list) texts.push_back(text_in(element));
    add([&] { return strings(texts); });
  }
  operator SEXP() const { return list_; }

 private:
  Shield<SEXP> list_;
  R_xlen_t next_ = 0;
};

double known(double x) { return x < 0 ? NA_REAL : x; }

const char* kind_text(NestSummary::Kind kind) {
  switch (kind) {
    case NestSummary::Kind::loop: return "loop";
    case NestSummary::Kind::call: return "call";
    case NestSummary::Kind::contraction: return "contraction";
    case NestSummary::Kind::numbers: return "numbers";
  }
  return "";
}

// The nests as columns; `calls`: for each the R calls that it comes from.
SEXP nests_of(const Compiled& c) {
  const auto& nests = c.nests;
  Fields columns({"kind", "name", "steps", "schedule", "calls", "flops", "wide_flops", "bytes"});
  columns.add_texts(nests, [](const NestSummary& n) { return kind_text(n.kind); });
  columns.add_texts(nests, [](const NestSummary& n) { return n.name; });
  columns.add_texts(nests, [](const NestSummary& n) { return n.steps; });
  columns.add_texts(nests, [](const NestSummary& n) { return n.schedule; });
  Shield<SEXP> calls(guarded([&] { return Rf_allocVector(VECSXP, static_cast<R_xlen_t>(nests.size())); }));
  for (size_t i = 0; i < nests.size(); ++i)
    SET_VECTOR_ELT(calls, static_cast<R_xlen_t>(i), calls_at(c.locations.get(), nests[i].origins));
  columns.add_value(calls);
  columns.add_numbers(nests, [](const NestSummary& n) { return known(n.flops); });
  columns.add_numbers(nests, [](const NestSummary& n) { return known(n.wide_flops); });
  columns.add_numbers(nests, [](const NestSummary& n) { return known(n.bytes); });
  return columns;
}

double total_bytes(const std::vector<TensorType>& types) {
  double sum = 0;
  for (const TensorType& t : types) sum += static_cast<double>(bytes_of(t.dtype, t.shape));
  return sum;
}

SEXP version_of(const Slot& slot) {
  const Compiled& c = *slot.compiled;
  Fields fields({"number", "arguments", "types", "values", "stages", "seconds", "runs", "arena", "results", "constants",
                 "code", "captured", "nests"});
  fields.add([&] { return number(slot.number); });
  fields.add_texts(slot.arguments, [](const Argument& a) { return a.name; });
  fields.add_texts(slot.arguments, [](const Argument& a) { return a.value ? "" : graph::text(a.type); });
  fields.add([&] {
    SEXP values = Rf_allocVector(VECSXP, static_cast<R_xlen_t>(slot.arguments.size()));
    R_xlen_t i = 0;
    for (const Argument& a : slot.arguments) SET_VECTOR_ELT(values, i++, a.value.get());
    return values;
  });
  fields.add_texts(c.timings, [](const Timing& t) { return t.stage; });
  fields.add_numbers(c.timings, [](const Timing& t) { return t.seconds; });
  fields.add([&] { return number(c.runs); });
  fields.add([&] { return Rf_ScalarReal(static_cast<double>(c.native.arena_bytes)); });
  fields.add([&] { return Rf_ScalarReal(total_bytes(c.computed)); });
  fields.add([&] {
    double sum = 0;
    for (const Tensor& t : c.constants) sum += static_cast<double>(bytes_of(t.type.dtype, t.type.shape));
    return Rf_ScalarReal(sum);
  });
  fields.add([&] { return Rf_ScalarReal(static_cast<double>(c.native.code_bytes)); });
  fields.add_value(c.captured ? c.captured.get() : R_NilValue);
  Shield<SEXP> nests(nests_of(c));
  fields.add_value(nests);
  return fields;
}

void require_llvm(const char* what) {
  std::string reason;
  if (!llvm_backend::available(&reason))
    throw Error("llvm", std::string(what) + " needs LLVM, which is not available.", {"x " + reason});
}

// The least time of a few runs, in seconds.
template <class F>
double least_time(int runs, F&& run) {
  double least = std::numeric_limits<double>::infinity();
  for (int i = 0; i < runs; ++i) {
    poll();
    Stopwatch watch;
    run();
    least = std::min(least, watch.lap());
  }
  return least;
}

double multiply_add_rate(DType t) {
  constexpr int64_t steps = 100'000;
  const compiler::Target target = llvm_backend::target();
  const auto code = llvm_backend::compile(compiler::multiply_add_peak(t, target, steps));
  runtime::Block in(2 * size_of(t)), out(4096);
  std::fill_n(in.data(), 2 * size_of(t), 0);
  void* buffers[] = {in.data(), out.data()};
  return compiler::operations_of_peak(t, target, steps) / least_time(20, [&] { runtime::run(code, buffers); });
}

double memory_rate() {
  constexpr size_t most = size_t(128) << 20, least = size_t(8) << 20;  // bytes, more than caches hold
  const size_t bytes = std::clamp(memory_available() / 8, least, most);
  const auto code = llvm_backend::compile(
      compiler::memory_peak(llvm_backend::target(), static_cast<int64_t>(bytes / size_of(DType::f32))));
  runtime::Block in(bytes), out(bytes);
  std::fill_n(in.data(), bytes, 0);
  void* buffers[] = {in.data(), out.data()};
  return 2 * static_cast<double>(bytes) / least_time(10, [&] { runtime::run(code, buffers); });
}

}  // namespace

SEXP calls_at(const Locations* locations, const loops::Origins& origins) {
  return guarded([&] {
    SEXP calls = PROTECT(Rf_allocVector(VECSXP, static_cast<R_xlen_t>(origins.size())));
    for (size_t i = 0; i < origins.size() && locations != nullptr; ++i)
      SET_VECTOR_ELT(calls, static_cast<R_xlen_t>(i), locations->at(origins[i]));
    UNPROTECT(1);
    return calls;
  });
}

// What was compiled, in the order in which it was; and how many there were, those that are gone included.
SEXP anvil_jit_report(SEXP cache) {
  return entry([&] {
    const Cache& known_cache = cache_of(cache);
    std::vector<const Slot*> slots;
    for (const Slot& s : known_cache.slots()) slots.push_back(&s);
    std::sort(slots.begin(), slots.end(), [](const Slot* a, const Slot* b) { return a->number < b->number; });
    Fields fields({"versions", "made"});
    Shield<SEXP> versions(guarded([&] { return Rf_allocVector(VECSXP, static_cast<R_xlen_t>(slots.size())); }));
    for (size_t i = 0; i < slots.size(); ++i) SET_VECTOR_ELT(versions, static_cast<R_xlen_t>(i), version_of(*slots[i]));
    fields.add_value(versions);
    fields.add([&] { return number(known_cache.made()); });
    return static_cast<SEXP>(fields);
  });
}

// Runs the function that the cache belongs to with these arguments for so long, each nest timed. The first run, which
// finds memory and caches cold, does not count.
SEXP anvil_profile(SEXP cache, SEXP args, SEXP seconds) {
  return entry([&] {
    require_llvm("A profile");
    const double limit = number_of(seconds, "seconds");
    if (!(limit >= 0 && limit <= 3600)) throw wrong_argument("seconds", "a number from 0 to 3600", seconds);
    Arguments given(cache_of(cache));
    given.add(args);
    if (given.abstract) throw Error("argument", "A profile needs tensors with data.");
    const std::shared_ptr<Compiled> c = traced_and_compiled(cache, args, given, true);
    const double reading = runtime::cost_of_reading();
    Shield<SEXP> first(run(*c, given.tensors, names.tensor));
    runtime::Profile profile(c->nests.size());
    double total = 0;
    int64_t runs = 0;
    for (; runs == 0 || total < limit; ++runs) {
      poll();
      Stopwatch one;
      Shield<SEXP> result(run(*c, given.tensors, names.tensor, &profile));
      total += one.lap();
    }
    Fields fields({"nests", "runs", "seconds", "times", "total"});
    Shield<SEXP> nests(nests_of(*c));
    fields.add_value(nests);
    fields.add_numbers(profile.nests, [](const auto& n) { return static_cast<double>(n.runs); });
    // half of what the two readings around a nest cost lies between them
    double within = 0, readings = 0;
    fields.add_numbers(profile.nests, [&](const auto& n) {
      const double cost = reading * static_cast<double>(n.runs);
      const double own = std::max(0.0, static_cast<double>(n.nanoseconds) - cost) * 1e-9;
      within += own;
      readings += 2 * cost * 1e-9;
      return own;
    });
    fields.add([&] { return Rf_ScalarReal(static_cast<double>(runs)); });
    fields.add([&] { return Rf_ScalarReal(std::max(within, total - readings)); });
    return static_cast<SEXP>(fields);
  });
}

// Operations a second on f32 and on f64, and bytes a second.
SEXP anvil_peak() {
  return entry([&] {
    require_llvm("The speed of the machine");
    const double rates[] = {multiply_add_rate(DType::f32), multiply_add_rate(DType::f64), memory_rate()};
    return guarded([&] {
      SEXP x = Rf_allocVector(REALSXP, 3);
      std::copy_n(rates, 3, REAL(x));
      return x;
    });
  });
}

}  // namespace anvil::r
