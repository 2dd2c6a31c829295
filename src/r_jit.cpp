// jit(): the cache of compiled programs and the way of a call. A hit never leaves C++: the
// arguments are flattened into a key, the program is looked up and run on the tensors'
// memory, and its results are put into the tree that the function returned. A miss calls
// back to R, which traces the function.
#include <algorithm>
#include <list>
#include <memory>
#include <unordered_map>

#include "primitives/composite.h"
#include "r_common.h"
#include "r_routines.h"

namespace anvil::r {
namespace {

// --- compiled programs ---------------------------------------------------------------------

struct Tree {  // of results
  enum class Kind : uint8_t { leaf, list, null } kind = Kind::leaf;
  R_xlen_t leaf = 0;
  std::vector<Tree> children;
  Kept labels;
};

struct Output {
  enum class Kind : uint8_t { computed, input, fixed } kind = Kind::computed;
  size_t index = 0;  // of a computed result or of an input
  TensorType type;
  Kept tag, data;    // data: of a fixed result
};

struct Compiled {
  runtime::Executable native;
  GraphPtr interpreted;             // without LLVM: what Eigen evaluates
  std::vector<TensorType> inputs;
  std::vector<Tensor> constants;
  std::vector<TensorType> computed;
  std::vector<Output> outputs;
  Tree tree;
};

SEXP element_named(SEXP list, const char* name) {
  SEXP labels = Rf_getAttrib(list, R_NamesSymbol);
  for (R_xlen_t i = 0; labels != R_NilValue && i < XLENGTH(list); ++i)
    if (std::string_view(CHAR(STRING_ELT(labels, i))) == name) return VECTOR_ELT(list, i);
  return R_NilValue;
}

Tree tree_from(SEXP node) {
  Tree tree;
  if (Rf_inherits(node, "LeafNode")) {
    tree.leaf = Rf_asInteger(element_named(node, "i")) - 1;
    return tree;
  }
  if (Rf_inherits(node, "NullNode")) {
    tree.kind = Tree::Kind::null;
    return tree;
  }
  tree.kind = Tree::Kind::list;
  SEXP nodes = element_named(node, "nodes");
  for (R_xlen_t i = 0; i < XLENGTH(nodes); ++i) tree.children.push_back(tree_from(VECTOR_ELT(nodes, i)));
  if (SEXP labels = element_named(node, "names"); labels != R_NilValue) tree.labels = Kept(labels);
  return tree;
}

Tree flat_tree(size_t n) {
  Tree tree;
  tree.kind = Tree::Kind::list;
  for (size_t i = 0; i < n; ++i) tree.children.push_back({Tree::Kind::leaf, static_cast<R_xlen_t>(i), {}, {}});
  return tree;
}

// Results that need no computation (inputs, constants, literals) are taken out, equal ones
// are computed once; what is left is compiled.
std::shared_ptr<Compiled> compile(const Graph& traced, Tree tree) {
  auto c = std::make_shared<Compiled>();
  c->tree = std::move(tree);
  graph::Substitution map;
  GraphPtr g = graph::clone(*primitives::expand(traced, true), map);
  transform::inline_scalar_constants(*g);
  transform::remove_unused_constants(*g);
  transform::optimize(*g);
  for (const ValuePtr& v : g->inputs) c->inputs.push_back(v->type);
  std::vector<ValuePtr> computed;
  for (size_t i = 0; i < g->outputs.size(); ++i) {
    const ValuePtr& v = g->outputs[i];
    Output out;
    out.type = {v->type.dtype, v->type.shape, traced.outputs[i]->type.ambiguous};
    out.tag = Kept(guarded([&] { return tag_of(out.type); }));
    if (v->kind == Value::Kind::input) {
      out.kind = Output::Kind::input;
      out.index = static_cast<size_t>(std::find(g->inputs.begin(), g->inputs.end(), v) - g->inputs.begin());
    } else if (v->kind != Value::Kind::result) {
      out.kind = Output::Kind::fixed;
      Shield<SEXP> tensor(tensor_from(v->kind == Value::Kind::constant ? v->constant : graph::full(v->type, v->literal)));
      data_of(tensor);
      out.data = Kept(R_ExternalPtrProtected(tensor));
    } else {
      auto found = std::find(computed.begin(), computed.end(), v);
      out.index = static_cast<size_t>(found - computed.begin());
      if (found == computed.end()) {
        computed.push_back(v);
        c->computed.push_back(out.type);
      }
    }
    c->outputs.push_back(std::move(out));
  }
  g->outputs = computed;
  if (computed.empty()) return c;
  transform::remove_unused_constants(*g);
  if (!llvm_backend::available()) {
    call_r("inform_without_llvm", {});
    c->interpreted = g;
    return c;
  }
  for (const ValuePtr& v : g->constants)
    if (v->kind == Value::Kind::constant) c->constants.push_back(v->constant);
  c->native = llvm_backend::compile(compiler::compile(*g, llvm_backend::target()));
  return c;
}

SEXP unflatten(const Tree& tree, SEXP leaves) {  // may jump
  if (tree.kind == Tree::Kind::leaf) return VECTOR_ELT(leaves, tree.leaf);
  if (tree.kind == Tree::Kind::null) return R_NilValue;
  SEXP list = PROTECT(Rf_allocVector(VECSXP, static_cast<R_xlen_t>(tree.children.size())));
  for (size_t i = 0; i < tree.children.size(); ++i) SET_VECTOR_ELT(list, static_cast<R_xlen_t>(i), unflatten(tree.children[i], leaves));
  if (tree.labels) Rf_setAttrib(list, R_NamesSymbol, tree.labels.get());
  UNPROTECT(1);
  return list;
}

SEXP results_of(const Compiled& c, const std::vector<SEXP>& tensors, SEXP data, SEXP cls) {
  auto result = [&](const Output& out) {  // may jump
    SEXP held = out.kind == Output::Kind::computed ? VECTOR_ELT(data, static_cast<R_xlen_t>(out.index))
                : out.kind == Output::Kind::input  ? R_ExternalPtrProtected(tensors[out.index])
                                                   : out.data.get();
    return wrap_tensor(held, out.tag.get(), cls);
  };
  if (c.tree.kind == Tree::Kind::leaf) return guarded([&] { return result(c.outputs[0]); });
  return guarded([&] {
    SEXP leaves = PROTECT(Rf_allocVector(VECSXP, static_cast<R_xlen_t>(c.outputs.size())));
    for (size_t i = 0; i < c.outputs.size(); ++i) SET_VECTOR_ELT(leaves, static_cast<R_xlen_t>(i), result(c.outputs[i]));
    SEXP x = unflatten(c.tree, leaves);
    UNPROTECT(1);
    return x;
  });
}

SEXP run(const Compiled& c, const std::vector<SEXP>& tensors, SEXP cls) {
  Shield<SEXP> data(guarded([&] {
    SEXP list = PROTECT(Rf_allocVector(VECSXP, static_cast<R_xlen_t>(c.computed.size())));
    for (size_t i = 0; i < c.computed.size(); ++i) SET_VECTOR_ELT(list, static_cast<R_xlen_t>(i), allocate_data(c.computed[i]));
    UNPROTECT(1);
    return list;
  }));
  auto memory = [&](size_t i) { return const_cast<void*>(DATAPTR_RO(VECTOR_ELT(data, static_cast<R_xlen_t>(i)))); };
  if (c.interpreted) {
    std::vector<Tensor> inputs;
    for (SEXP x : tensors) inputs.push_back(borrow(x));
    std::vector<Tensor> results = evaluate_graph(*c.interpreted, inputs);
    for (size_t i = 0; i < results.size(); ++i) {
      const Tensor& t = results[i];
      std::copy_n(t.as<char>(), static_cast<size_t>(elements(t.type.shape)) * size_of(t.type.dtype), static_cast<char*>(memory(i)));
    }
  } else {
    for (SEXP x : tensors) data_of(x);
    if (!c.computed.empty()) {
      std::vector<void*> buffers;
      buffers.reserve(tensors.size() + c.constants.size() + c.computed.size());
      for (SEXP x : tensors) buffers.push_back(data_of(x));
      for (const Tensor& t : c.constants) buffers.push_back(t.data.get());
      for (size_t i = 0; i < c.computed.size(); ++i) buffers.push_back(memory(i));
      runtime::run(c.native, buffers.data(), interrupted);
    }
  }
  return results_of(c, tensors, data, cls);
}

// --- the cache ---------------------------------------------------------------------------------

// What a call is known by: the tree of its arguments with the types at its leaves, in
// words, and the static values.
struct Key {
  std::vector<int64_t> words;
  std::vector<SEXP> statics;
  std::vector<SEXP> labels;      // vectors whose strings stand in `words` by their addresses
  bool operator==(const Key& o) const {
    if (words != o.words) return false;
    for (size_t i = 0; i < statics.size(); ++i)
      if (!R_compute_identical(statics[i], o.statics[i], 16)) return false;
    return true;
  }
  size_t hash() const {
    size_t h = words.size();
    for (int64_t w : words) h = (h ^ static_cast<size_t>(w)) * 0x9e3779b97f4a7c15u;
    return h;
  }
};

struct Slot {
  Key key;
  std::vector<Kept> kept;
  std::shared_ptr<Compiled> compiled;
};

class Cache {
 public:
  explicit Cache(SEXP spec) : limit_(static_cast<size_t>(std::max(1.0, std::min(1e9, Rf_asReal(element_named(spec, "cache_size")))))),
                              convert_(Rf_asLogical(element_named(spec, "convert")) == TRUE) {
    auto strings_in = [](SEXP x) {
      std::vector<SEXP> list;
      for (R_xlen_t i = 0; i < XLENGTH(x); ++i) list.push_back(STRING_ELT(x, i));
      return list;
    };
    static_ = strings_in(element_named(spec, "static"));
    donate_ = strings_in(element_named(spec, "donate"));
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
    slots_.push_front({std::move(key), std::move(kept), std::move(compiled)});
    index_.emplace(hash, slots_.begin());
    while (slots_.size() > limit_) {
      auto [first, last] = index_.equal_range(slots_.back().key.hash());
      for (auto it = first; it != last; ++it)
        if (&*it->second == &slots_.back()) {
          index_.erase(it);
          break;
        }
      slots_.pop_back();
    }
  }

 private:
  size_t limit_;
  bool convert_;
  std::vector<SEXP> static_, donate_;   // kept by the cache's own R object
  std::list<Slot> slots_;
  std::unordered_multimap<size_t, std::list<Slot>::iterator> index_;
};

// A cache that comes from another session has no address and starts empty.
Cache& cache_of(SEXP x) {
  if (auto* cache = static_cast<Cache*>(R_ExternalPtrAddr(x))) return *cache;
  auto cache = std::make_unique<Cache>(R_ExternalPtrProtected(x));
  guarded([&] {
    R_RegisterCFinalizerEx(x, [](SEXP p) {
      delete static_cast<Cache*>(R_ExternalPtrAddr(p));
      R_ClearExternalPtr(p);
    }, FALSE);
    return R_NilValue;
  });
  R_SetExternalPtrAddr(x, cache.get());
  return *cache.release();
}

// --- arguments -----------------------------------------------------------------------------------

class Arguments {
 public:
  explicit Arguments(const Cache& cache) : cache_(cache) {}
  Key key;
  std::vector<SEXP> tensors;     // the leaves, in order
  std::vector<SEXP> donated;
  std::vector<Kept> converted;
  bool abstract = false;         // some argument is a debug box without data

  void add(SEXP args) {
    SEXP labels = Rf_getAttrib(args, R_NamesSymbol);
    add_labels(labels, XLENGTH(args));
    for (R_xlen_t i = 0; i < XLENGTH(args); ++i) {
      SEXP name = labels == R_NilValue ? R_BlankString : STRING_ELT(labels, i);
      SEXP x = VECTOR_ELT(args, i);
      if (cache_.is_static(name)) {
        key.words.push_back(2 + 16 * TYPEOF(x));
        key.words.push_back(Rf_isVector(x) ? XLENGTH(x) : 0);
        key.statics.push_back(x);
        continue;
      }
      size_t first = tensors.size();
      path_.push_back({name, i});
      leaf_or_list(x);
      path_.pop_back();
      if (cache_.donates() && cache_.is_donated(name)) donated.insert(donated.end(), tensors.begin() + static_cast<std::ptrdiff_t>(first), tensors.end());
    }
  }

 private:
  void add_labels(SEXP labels, R_xlen_t n) {
    key.words.push_back(3 + 16 * n + (labels == R_NilValue ? 0 : 8));
    if (labels == R_NilValue) return;
    key.labels.push_back(labels);
    for (R_xlen_t i = 0; i < n; ++i) key.words.push_back(reinterpret_cast<int64_t>(STRING_ELT(labels, i)));
  }

  void add_tensor(SEXP x) {
    SEXP tag = R_ExternalPtrTag(x);
    const int* t = INTEGER(tag);
    R_xlen_t n = XLENGTH(tag);
    key.words.push_back(1 + 16 * (t[0] + 256 * (t[1] + 2 * static_cast<int64_t>(n))));
    for (R_xlen_t d = 2; d < n; ++d) key.words.push_back(t[d]);
    tensors.push_back(x);
  }

  void leaf_or_list(SEXP x) {
    switch (class_of(x)) {
      case Class::tensor: return add_tensor(x);
      case Class::debug_box: {
        SEXP tensor = concrete_of(x);
        if (tensor != R_NilValue) return add_tensor(tensor);
        abstract = true;
        return;
      }
      case Class::abstract: return wrong(x);
      default: break;
    }
    if (x == R_NilValue) return key.words.push_back(4);
    if (TYPEOF(x) == VECSXP) {
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
    converted.emplace_back(make_tensor(x, nullptr, scalar ? Shape{} : shape_of_data(x), TYPEOF(x) != LGLSXP, false));
    add_tensor(converted.back().get());
  }

  [[noreturn]] void wrong(SEXP x) const {
    std::string path;
    for (size_t i = 0; i < path_.size(); ++i) {
      std::string name = CHAR(path_[i].first);
      if (i == 0) path = name.empty() ? "..." + std::to_string(path_[i].second + 1) : name;
      else path += name.empty() ? "[[" + std::to_string(path_[i].second + 1) + "]]" : "$" + name;
    }
    std::vector<std::string> details = {"x Got " + describe(x) + "."};
    std::string argument = CHAR(path_[0].first);
    if (is_data(x)) details.push_back("i Make a tensor of it with `nv_tensor()` or `nv_scalar()`, or let `jit(convert = TRUE)` do so.");
    if (class_of(x) == Class::abstract) details.push_back("i An AbstractTensor has a type, but no data.");
    else details.push_back("i If it is to be known when the function is compiled, name `" + argument + "` in `static`.");
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
  return compile(*graph_of(graph).graph, tree_from(element_named(R_ExternalPtrProtected(graph), "out_tree")));
}

}  // namespace

SEXP anvil_cache(SEXP spec, SEXP cls) {
  return entry([&] {
    return guarded([&] {
      SEXP x = PROTECT(R_MakeExternalPtr(nullptr, R_NilValue, spec));
      Rf_setAttrib(x, R_ClassSymbol, cls);
      UNPROTECT(1);
      return x;
    });
  });
}

SEXP anvil_cache_info(SEXP cache) {
  return entry([&] {
    int size = static_cast<int>(cache_of(cache).size());
    return guarded([&] { return Rf_ScalarInteger(size); });
  });
}

SEXP anvil_jit_call(SEXP cache, SEXP args) {
  return entry([&] {
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
    for (SEXP x : given.donated) anvil_invalidate(x);
    return static_cast<SEXP>(result);
  });
}

// --- programs without a traced function -----------------------------------------------------------

SEXP anvil_compile(SEXP graph) {
  return entry([&] {
    const Graph& g = *graph_of(graph).graph;
    auto compiled = std::make_unique<std::shared_ptr<Compiled>>(compile(g, flat_tree(g.outputs.size())));
    SEXP x = guarded([&] { return own(compiled.get(), names.executable); });
    compiled.release();
    return x;
  });
}

// inputs: tensors or raw buffers; gives a list of raw buffers
SEXP anvil_execute(SEXP executable, SEXP inputs) {
  return entry([&] {
    auto* held = static_cast<std::shared_ptr<Compiled>*>(R_ExternalPtrAddr(executable));
    if (held == nullptr) throw Error("argument", "This executable was saved in another session.", {"i Compile the program again."});
    std::shared_ptr<Compiled> c = *held;
    std::vector<SEXP> tensors;
    for (R_xlen_t i = 0; i < XLENGTH(inputs); ++i) tensors.push_back(VECTOR_ELT(inputs, i));
    if (tensors.size() != c->inputs.size())
      throw Error("argument", "The program has " + std::to_string(c->inputs.size()) + " inputs.", {"x Got " + std::to_string(tensors.size()) + "."});
    for (size_t i = 0; i < tensors.size(); ++i) {
      std::string argument = "Input " + std::to_string(i + 1);
      Class cls = class_of(tensors[i]);
      if (cls != Class::tensor && cls != Class::buffer) throw Error("argument", argument + " must be a tensor or a raw buffer.", {"x Got " + describe(tensors[i]) + "."});
      TensorType type = type_of(R_ExternalPtrTag(tensors[i]));
      if (!graph::same_type(type, c->inputs[i]))
        throw Error("argument", argument + " must be " + graph::text(c->inputs[i]) + ".", {"x Got " + graph::text(type) + "."});
    }
    return run(*c, tensors, names.buffer);
  });
}

}  // namespace anvil::r
