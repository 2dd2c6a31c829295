// jit(): the cache of compiled programs and the way of a call. A hit never leaves C++: the
// arguments are flattened into a key, the program is looked up and run on the tensors'
// memory, and its results are put into the tree that the function returned. A miss calls
// back to R, which traces the function.
#include "r_jit.h"

#include <algorithm>
#include <memory>

#include "base/interrupt.h"
#include "r_routines.h"

namespace anvil::r {

// --- the cache ---------------------------------------------------------------------------------

Cache::Cache(SEXP spec)
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
std::shared_ptr<Compiled> Cache::find(const Key& key) {
  if (!slots_.empty() && slots_.front().key == key) return slots_.front().compiled;
  auto [first, last] = index_.equal_range(key.hash());
  for (auto it = first; it != last; ++it)
    if (it->second->key == key) {
      slots_.splice(slots_.begin(), slots_, it->second);
      return slots_.front().compiled;
    }
  return nullptr;
}
void Cache::insert(Key key, std::vector<Argument> arguments, std::shared_ptr<Compiled> compiled) {
  std::vector<Kept> kept;
  for (SEXP x : key.statics) kept.emplace_back(x);
  for (SEXP x : key.labels) kept.emplace_back(x);
  if (shapes_.size() < many) {
    std::string all;
    for (const Argument& a : arguments)
      if (!a.value) all += a.name + graph::text({DType::f32, a.type.shape}) + " ";
    shapes_.insert(all);
  }
  size_t hash = key.hash();
  std::list<Slot> slot;
  slot.push_back({std::move(key), std::move(kept), std::move(compiled), std::move(arguments), ++made_});
  index_.emplace(hash, slot.begin());
  slots_.splice(slots_.begin(), slot);
  while (slots_.size() > limit_) drop_last();
}

void Cache::drop_last() {
  auto [first, last] = index_.equal_range(slots_.back().key.hash());
  for (auto it = first; it != last; ++it)
    if (&*it->second == &slots_.back()) {
      index_.erase(it);
      break;
    }
  slots_.pop_back();
}

Cache& cache_of(SEXP x) {
  if (!is_kind(x, names.a_cache)) throw wrong_argument("cache", "the cache of a jitted function", x);
  if (auto* cache = owned<Cache>(x, names.a_cache)) return *cache;
  auto cache = std::make_unique<Cache>(list_of(R_ExternalPtrProtected(x), "spec"));
  Cache& made = *cache;
  adopt(x, std::move(cache));
  return made;
}

// --- calls ---------------------------------------------------------------------------------------

std::shared_ptr<Compiled> traced_and_compiled(SEXP cache, SEXP args, const Arguments& given, bool timed) {
  const std::vector<SEXP>& tensors = given.tensors;
  Stopwatch watch;
  Shield<SEXP> leaves(guarded([&] {
    SEXP list = Rf_allocVector(VECSXP, static_cast<R_xlen_t>(tensors.size()));
    for (size_t i = 0; i < tensors.size(); ++i) SET_VECTOR_ELT(list, static_cast<R_xlen_t>(i), tensors[i]);
    return list;
  }));
  Shield<SEXP> graph(call_r("jit_trace", {R_ExternalPtrProtected(cache), args, leaves}));
  const GraphHolder& traced = graph_of(graph);
  Compilation how{traced.locations, timed, {}};
  watch.lap(how.timings, "trace");
  const SEXP fields = fields_of(graph);
  auto compiled = compile(*traced.graph, tree_from(element_named(fields, "out_tree"), traced.graph->outputs.size()),
                          std::move(how));
  if (SEXP captured = element_named(fields, "captured"); captured != R_NilValue) compiled->captured = Kept(captured);
  return compiled;
}

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
    const auto size = static_cast<int64_t>(cache_of(cache).slots().size());
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
      std::vector<Argument> arguments;
      Arguments(known, &arguments).add(args);
      compiled = traced_and_compiled(cache, args, given);
      const size_t before = known.shapes();
      known.insert(given.key, std::move(arguments), compiled);
      if (before < Cache::many && known.shapes() == Cache::many) call_r("inform_shapes", {cache});
    } else if (compiled->captured) {
      call_r("check_captured", {compiled->captured.get()});
    }
    Shield<SEXP> result(run(*compiled, given.tensors, names.tensor));
    take_donated(*compiled, given.donated);
    return static_cast<SEXP>(result);
  });
}

}  // namespace anvil::r
