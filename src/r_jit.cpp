// jit(): the cache of compiled programs and the way of a call. A hit never leaves C++: the
// arguments are flattened into a key, the program is looked up and run on the tensors'
// memory, and its results are put into the tree that the function returned. A miss calls
// back to R, which traces the function.
#include <algorithm>
#include <bit>
#include <list>
#include <memory>
#include <unordered_map>

#include "base/interrupt.h"
#include "r_compiled.h"
#include "r_routines.h"

namespace anvil::r {
namespace {

// --- the cache ---------------------------------------------------------------------------------

// What a call is known by: the tree of its arguments with the types at its leaves, in
// words, and the static values. Those are compared by content, 0 and -0 and NA and NaN being
// different; functions by their code and environment.
struct Key {
  std::vector<int64_t> words;
  std::vector<SEXP> statics;
  std::vector<SEXP> labels;  // vectors whose strings stand in `words` by their addresses
  bool operator==(const Key& o) const {
    constexpr int numbers_as_bits = 1, with_environments = 16;
    if (words != o.words) return false;
    for (size_t i = 0; i < statics.size(); ++i)
      if (!R_compute_identical(statics[i], o.statics[i], numbers_as_bits | with_environments)) return false;
    return true;
  }
  size_t hash() const {
    size_t h = words.size();
    for (int64_t w : words) h = (h ^ static_cast<size_t>(w)) * 0x9e3779b97f4a7c15u;
    return h;
  }
};

template <class F>
void each_attribute(SEXP x, F&& f) {
#if R_VERSION >= R_Version(4, 5, 0)
  if (!ANY_ATTRIB(x)) return;
  Shield<SEXP> all(call_r("attributes", {x}));
  for (R_xlen_t i = 0; i < XLENGTH(all); ++i) f(VECTOR_ELT(all, i));
#else
  for (SEXP rest = ATTRIB(x); rest != R_NilValue; rest = CDR(rest)) f(CAR(rest));
#endif
}

// A program is compiled for the content of a static value. What can change under its name
// cannot be known by it.
void check_static(SEXP x, const std::string& argument, int depth) {
  auto refuse = [&](const std::string& what, const char* fix) -> Error {
    return {"argument",
            "The static argument `" + argument + "` cannot be " + what + ".",
            {"x It can change while the program that was compiled for it stays.", fix}};
  };
  if (depth == 0) throw Error("argument", "The static argument `" + argument + "` is nested too deeply.");
  const auto look_into = [&](SEXP part) { check_static(part, argument, depth - 1); };
  if (Class c = class_of(x); c == Class::tensor || c == Class::buffer) {
    tensor_data(x);  // not donated
    return;
  }
  switch (TYPEOF(x)) {
    case ENVSXP: throw refuse("an environment, or hold one", "i Pass the values, for example `as.list()` of it.");
    case EXTPTRSXP:
      if (class_of(x) == Class::debug_box || is_kind(x, names.a_graph)) return;
      throw refuse("an external pointer, or hold one", "i Pass the values that it stands for.");
    case WEAKREFSXP: throw refuse("a weak reference, or hold one", "i Pass the values.");
    case S4SXP:
      if (TYPEOF(Rf_getAttrib(x, names.reference)) == ENVSXP)
        throw refuse("an object of a reference class", "i Pass the values of its fields.");
      break;
    case VECSXP:
    case EXPRSXP:
      for (R_xlen_t i = 0; i < XLENGTH(x); ++i) look_into(VECTOR_ELT(x, i));
      break;
    case LISTSXP:
    case LANGSXP:
      for (SEXP rest = x; rest != R_NilValue; rest = CDR(rest)) {
        look_into(CAR(rest));
        if (TYPEOF(CDR(rest)) != LISTSXP) break;
      }
      break;
    default: break;
  }
  // Functions and formulas are what they say, in their environment; code knows its source file.
  if (TYPEOF(x) != CLOSXP && TYPEOF(x) != LANGSXP) each_attribute(x, look_into);
}

struct Slot {
  Key key;
  std::vector<Kept> kept;
  std::shared_ptr<Compiled> compiled;
};

class Cache {
 public:
  explicit Cache(SEXP spec)
      : limit_(static_cast<size_t>(std::clamp(number_of(element_named(spec, "cache_size"), "cache_size"), 1.0, 1e9))),
        convert_(flag_of(element_named(spec, "convert"), "convert")) {
    auto strings_in = [&](const char* name) {
      std::vector<SEXP> list;
      SEXP x = element_named(spec, name);
      texts_of(x, name);
      for (R_xlen_t i = 0; x != R_NilValue && i < XLENGTH(x); ++i) list.push_back(STRING_ELT(x, i));
      return list;
    };
    static_ = strings_in("static");
    donate_ = strings_in("donate");
  }
  bool is_static(SEXP name) const { return std::find(static_.begin(), static_.end(), name) != static_.end(); }
  bool is_donated(SEXP name) const { return std::find(donate_.begin(), donate_.end(), name) != donate_.end(); }
  bool donates() const { return !donate_.empty(); }
  bool converts() const { return convert_; }
  size_t size() const { return slots_.size(); }

  std::shared_ptr<Compiled> find(const Key& key) {
    if (!slots_.empty() && slots_.front().key == key) return slots_.front().compiled;
    auto [first, last] = index_.equal_range(key.hash());
    for (auto it = first; it != last; ++it)
      if (it->second->key == key) {
        slots_.splice(slots_.begin(), slots_, it->second);
        return slots_.front().compiled;
      }
    return nullptr;
  }
  void insert(Key key, std::shared_ptr<Compiled> compiled) {
    std::vector<Kept> kept;
    for (SEXP x : key.statics) kept.emplace_back(x);
    for (SEXP x : key.labels) kept.emplace_back(x);
    size_t hash = key.hash();
    std::list<Slot> slot;
    slot.push_back({std::move(key), std::move(kept), std::move(compiled)});
    index_.emplace(hash, slot.begin());
    slots_.splice(slots_.begin(), slot);
    while (slots_.size() > limit_) drop_last();
  }

 private:
  void drop_last() {
    auto [first, last] = index_.equal_range(slots_.back().key.hash());
    for (auto it = first; it != last; ++it)
      if (&*it->second == &slots_.back()) {
        index_.erase(it);
        break;
      }
    slots_.pop_back();
  }

  size_t limit_;
  bool convert_;
  std::vector<SEXP> static_, donate_;  // kept by the cache's own R object
  std::list<Slot> slots_;
  std::unordered_multimap<size_t, std::list<Slot>::iterator> index_;
};

// A cache starts empty, without an address; so does one that comes from another session.
Cache& cache_of(SEXP x) {
  if (!is_kind(x, names.a_cache)) throw wrong_argument("cache", "the cache of a jitted function", x);
  if (auto* cache = owned<Cache>(x, names.a_cache)) return *cache;
  auto cache = std::make_unique<Cache>(list_of(R_ExternalPtrProtected(x), "spec"));
  guarded([&] {
    R_RegisterCFinalizerEx(
        x,
        [](SEXP p) {
          delete static_cast<Cache*>(R_ExternalPtrAddr(p));
          R_ClearExternalPtr(p);
        },
        FALSE);
    return R_NilValue;
  });
  R_SetExternalPtrAddr(x, cache.get());
  return *cache.release();
}

// --- arguments -----------------------------------------------------------------------------------

class Arguments {
 public:
  explicit Arguments(const Cache& cache) : cache_(cache) {
    key.words.reserve(32);
    tensors.reserve(8);
  }
  Key key;
  std::vector<SEXP> tensors;  // the leaves, in order
  std::vector<SEXP> donated;
  std::vector<Kept> converted;
  bool abstract = false;  // some argument is a debug box without data

  void add(SEXP args) {
    if (args == R_NilValue) return;
    SEXP labels = Rf_getAttrib(list_of(args, "args"), R_NamesSymbol);
    add_labels(labels, XLENGTH(args));
    for (R_xlen_t i = 0; i < XLENGTH(args); ++i) {
      SEXP name = labels == R_NilValue ? R_BlankString : STRING_ELT(labels, i);
      SEXP x = VECTOR_ELT(args, i);
      if (cache_.is_static(name)) {
        add_static(x, name);
        continue;
      }
      size_t first = tensors.size();
      path_.push_back({name, i});
      leaf_or_list(x);
      path_.pop_back();
      if (cache_.donates() && cache_.is_donated(name))
        donated.insert(donated.end(), tensors.begin() + static_cast<std::ptrdiff_t>(first), tensors.end());
    }
  }

 private:
  void add_static(SEXP x, SEXP name) {
    check_static(x, CHAR(name), 100);
    const bool vector = Rf_isVector(x);
    key.words.push_back(2 + 16 * TYPEOF(x));
    key.words.push_back(vector ? XLENGTH(x) : 0);
    if (vector && XLENGTH(x) == 1 && !ALTREP(x)) {  // most are single values: found by these
      if (TYPEOF(x) == REALSXP) key.words.push_back(std::bit_cast<int64_t>(REAL_ELT(x, 0)));
      if (TYPEOF(x) == INTSXP || TYPEOF(x) == LGLSXP) key.words.push_back(*static_cast<const int*>(DATAPTR_RO(x)));
      if (TYPEOF(x) == STRSXP) key.words.push_back(reinterpret_cast<int64_t>(STRING_ELT(x, 0)));
    }
    key.statics.push_back(x);
  }

  void add_labels(SEXP labels, R_xlen_t n) {
    key.words.push_back(3 + 16 * n + (labels == R_NilValue ? 0 : 8));
    if (labels == R_NilValue) return;
    key.labels.push_back(settled(labels));
    for (R_xlen_t i = 0; i < n; ++i) key.words.push_back(reinterpret_cast<int64_t>(STRING_ELT(labels, i)));
  }

  void add_tensor(SEXP x) {
    SEXP tag = tensor_tag(x);
    const R_xlen_t n = XLENGTH(tag);
    key.words.push_back(1 + 16 * static_cast<int64_t>(n));
    for (R_xlen_t i = 0; i < n; ++i)
      key.words.push_back(TYPEOF(tag) == INTSXP ? INTEGER_RO(tag)[i] : static_cast<int64_t>(REAL_RO(tag)[i]));
    tensors.push_back(x);
  }

  void leaf_or_list(SEXP x) {
    switch (class_of(x)) {
      case Class::tensor: return add_tensor(x);
      case Class::debug_box: abstract = true; return;
      case Class::abstract: return wrong(x);
      default: break;
    }
    if (x == R_NilValue) return key.words.push_back(4);
    if (TYPEOF(x) == VECSXP && (!Rf_isObject(x) || Rf_inherits(x, "data.frame"))) {
      if (path_.size() > 1000) throw Error("argument", "Lists are nested too deeply.");
      SEXP labels = Rf_getAttrib(x, R_NamesSymbol);
      add_labels(labels, XLENGTH(x));
      for (R_xlen_t i = 0; i < XLENGTH(x); ++i) {
        path_.push_back({labels == R_NilValue ? R_BlankString : STRING_ELT(labels, i), i});
        leaf_or_list(VECTOR_ELT(x, i));
        path_.pop_back();
      }
      return;
    }
    if (!cache_.converts() || !is_data(x)) return wrong(x);
    bool scalar = XLENGTH(x) == 1 && Rf_getAttrib(x, R_DimSymbol) == R_NilValue;
    DType dtype = array_dtype(x);
    converted.emplace_back(make_tensor(x, &dtype, scalar ? Shape{} : shape_of_data(x), false, false));
    add_tensor(converted.back().get());
  }

  [[noreturn]] void wrong(SEXP x) const {
    std::string path;
    for (size_t i = 0; i < path_.size(); ++i) {
      std::string name = CHAR(path_[i].first);
      if (i == 0)
        path = name.empty() ? "..." + std::to_string(path_[i].second + 1) : name;
      else
        path += name.empty() ? "[[" + std::to_string(path_[i].second + 1) + "]]" : "$" + name;
    }
    std::vector<std::string> details = {"x Got " + describe(x) + "."};
    std::string argument = CHAR(path_[0].first);
    if (is_data(x))
      details.push_back(
          "i Make a tensor of it with `nv_tensor()` or `nv_scalar()`, or let `jit(convert = TRUE)` do so.");
    if (class_of(x) == Class::abstract)
      details.push_back("i An AbstractTensor has a type, but no data.");
    else if (!argument.empty())
      details.push_back("i If it is to be known when the function is compiled, name `" + argument + "` in `static`.");
    throw Error("argument", "`" + path + "` must be an AnvilTensor.", details);
  }

  const Cache& cache_;
  std::vector<std::pair<SEXP, R_xlen_t>> path_;
};

std::shared_ptr<Compiled> traced_and_compiled(SEXP cache, SEXP args, const std::vector<SEXP>& tensors) {
  Shield<SEXP> leaves(guarded([&] {
    SEXP list = Rf_allocVector(VECSXP, static_cast<R_xlen_t>(tensors.size()));
    for (size_t i = 0; i < tensors.size(); ++i) SET_VECTOR_ELT(list, static_cast<R_xlen_t>(i), tensors[i]);
    return list;
  }));
  Shield<SEXP> graph(call_r("jit_trace", {R_ExternalPtrProtected(cache), args, leaves}));
  const Graph& traced = *graph_of(graph).graph;
  return compile(traced, tree_from(element_named(R_ExternalPtrProtected(graph), "out_tree"), traced.outputs.size()));
}

}  // namespace

SEXP anvil_cache(SEXP spec) {
  return entry([&] {
    Cache checked(list_of(spec, "spec"));
    return guarded([&] {
      SEXP x = PROTECT(R_MakeExternalPtr(nullptr, names.a_cache, spec));
      Rf_setAttrib(x, R_ClassSymbol, names.cache);
      UNPROTECT(1);
      return x;
    });
  });
}

SEXP anvil_cache_info(SEXP cache) {
  return entry([&] {
    const auto size = static_cast<int64_t>(cache_of(cache).size());
    return guarded([&] { return number(size); });
  });
}

SEXP anvil_jit_call(SEXP cache, SEXP args) {
  return entry([&] {
    poll();  // R itself asks seldom while a loop does nothing but call
    Cache& known = cache_of(cache);
    auto inlined = [&] { return call_r("jit_inline", {R_ExternalPtrProtected(cache), args}); };
    if (tracing()) return inlined();
    Arguments given(known);
    given.add(args);
    if (given.abstract) return inlined();
    std::shared_ptr<Compiled> compiled = known.find(given.key);
    if (!compiled) {
      compiled = traced_and_compiled(cache, args, given.tensors);
      known.insert(given.key, compiled);
    }
    Shield<SEXP> result(run(*compiled, given.tensors, names.tensor));
    for (SEXP x : given.donated) invalidate(x);
    return static_cast<SEXP>(result);
  });
}

}  // namespace anvil::r
