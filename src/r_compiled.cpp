// Compiling a traced graph, and running it on the memory of R tensors.
#include "r_compiled.h"

#include <algorithm>

#include "base/memory.h"
#include "primitives/families/custom_call.h"
#include "primitives/vocabulary/composite.h"
#include "r_routines.h"

namespace anvil::r {

namespace {
// Lists within lists; R's own functions end at about this depth, too.
constexpr int deepest = 1000;

Tree subtree_from(SEXP node, size_t leaves, int depth) {
  Tree tree;
  if (Rf_inherits(node, "NullNode")) {
    tree.kind = Tree::Kind::null;
  } else if (Rf_inherits(node, "LeafNode")) {
    tree.leaf = integer_of(element_named(node, "i"), "i") - 1;
    if (tree.leaf < 0 || static_cast<size_t>(tree.leaf) >= leaves)
      throw Error("argument", "A tree has a leaf that is not there.");
  } else {
    if (depth == 0) throw Error("argument", "Lists are nested too deeply.");
    tree.kind = Tree::Kind::list;
    SEXP nodes = list_of(element_named(node, "nodes"), "nodes");
    for (R_xlen_t i = 0; i < XLENGTH(nodes); ++i)
      tree.children.push_back(subtree_from(VECTOR_ELT(nodes, i), leaves, depth - 1));
    SEXP labels = element_named(node, "names");
    if (TYPEOF(labels) == STRSXP && XLENGTH(labels) == XLENGTH(nodes)) tree.labels = Kept(labels);
    if (Rf_inherits(node, "SparseNode")) tree.pattern = Kept(element_named(node, "pattern"));
  }
  return tree;
}
}  // namespace

Tree tree_from(SEXP node, size_t leaves) { return subtree_from(node, leaves, deepest); }

static Tree flat_tree(size_t n) {
  Tree tree;
  tree.kind = Tree::Kind::list;
  for (size_t i = 0; i < n; ++i) tree.children.push_back({Tree::Kind::leaf, static_cast<R_xlen_t>(i), {}, {}, {}});
  return tree;
}

// Results that need no computation (inputs, constants, literals) are taken out, equal ones
// are computed once; what is left is compiled.
std::shared_ptr<Compiled> compile(const Graph& traced, Tree tree, Compilation how) {
  auto c = std::make_shared<Compiled>();
  c->tree = std::move(tree);
  c->timings = std::move(how.timings);
  c->locations = std::move(how.locations);
  Stopwatch watch;
  graph::Substitution map;
  GraphPtr g = graph::clone(*primitives::expand(traced, primitives::Reader::backend), map);
  add_checks(*g);
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
      Shield<SEXP> tensor(
          tensor_from(v->kind == Value::Kind::constant ? v->constant : graph::full(v->type, v->literal)));
      out.data = Kept(tensor_data(tensor));
    } else {
      auto found = std::find(computed.begin(), computed.end(), v);
      out.index = static_cast<size_t>(found - computed.begin());
      if (found == computed.end()) {
        computed.push_back(v);
        c->computed.push_back(out.type);
      } else {
        for (Output& other : c->outputs) other.twice |= other.kind == out.kind && other.index == out.index;
        out.twice = true;
      }
    }
    c->outputs.push_back(std::move(out));
  }
  g->outputs = computed;
  if (g->calls.empty()) return c;
  transform::remove_unused_constants(*g);
  watch.lap(c->timings, "transform");
  if (!llvm_backend::available()) {
    call_r("inform_without_llvm", {});
    c->interpreted = g;
    return c;
  }
  for (const ValuePtr& v : g->constants)
    if (v->kind == Value::Kind::constant) c->constants.push_back(v->constant);
  c->functions = primitives::owned_by(*g);
  watch.lap(c->timings, "load");
  loops::Program program = compiler::compile(*g, llvm_backend::target(), &c->timings);
  c->nests = compiler::summarise(program);
  if (how.timed) compiler::time_nests(program);
  llvm_backend::ObjectCache objects;
  if (c->functions.empty()) objects.folder = text_of(call_r("cache_folder", {}), "anvil.cache_dir");
  c->native = llvm_backend::compile(program, &c->timings, &objects);
  if (!objects.problem.empty()) call_r("warn_cache", {Shield<SEXP>(guarded([&] { return string(objects.problem); }))});
  return c;
}

static SEXP unflatten(const Tree& tree, SEXP leaves) {  // may jump
  if (tree.kind == Tree::Kind::leaf) return VECTOR_ELT(leaves, tree.leaf);
  if (tree.kind == Tree::Kind::null) return R_NilValue;
  SEXP list = PROTECT(Rf_allocVector(VECSXP, static_cast<R_xlen_t>(tree.children.size())));
  for (size_t i = 0; i < tree.children.size(); ++i)
    SET_VECTOR_ELT(list, static_cast<R_xlen_t>(i), unflatten(tree.children[i], leaves));
  if (tree.labels) Rf_setAttrib(list, R_NamesSymbol, tree.labels.get());
  if (tree.pattern) {
    Rf_setAttrib(list, names.pattern, tree.pattern.get());
    Rf_setAttrib(list, R_ClassSymbol, Rf_mkString("AnvilSparse"));
  }
  UNPROTECT(1);
  return list;
}

static SEXP results_of(const Compiled& c, const std::vector<SEXP>& tensors, SEXP data, SEXP cls) {
  auto result = [&](const Output& out) {  // may jump
    SEXP held = out.kind == Output::Kind::computed ? VECTOR_ELT(data, static_cast<R_xlen_t>(out.index))
                : out.kind == Output::Kind::input  ? tensor_data(tensors[out.index])
                                                   : out.data.get();
    SEXP x = wrap_tensor(held, out.tag.get(), cls);
    if (out.kind == Output::Kind::input) set_alone(tensors[out.index], false);
    if (out.kind == Output::Kind::computed && !out.twice) set_alone(x, true);
    return x;
  };
  if (c.tree.kind == Tree::Kind::leaf)
    return guarded([&] { return result(c.outputs[static_cast<size_t>(c.tree.leaf)]); });
  return guarded([&] {
    SEXP leaves = PROTECT(Rf_allocVector(VECSXP, static_cast<R_xlen_t>(c.outputs.size())));
    for (size_t i = 0; i < c.outputs.size(); ++i)
      SET_VECTOR_ELT(leaves, static_cast<R_xlen_t>(i), result(c.outputs[i]));
    SEXP x = unflatten(c.tree, leaves);
    UNPROTECT(1);
    return x;
  });
}

namespace {
// How many programs run, of which one may call R, and so the next.
int running = 0;
struct Running {
  Running() { ++running; }
  Running(const Running&) = delete;
  ~Running() { --running; }
};
}  // namespace

SEXP run(const Compiled& c, const std::vector<SEXP>& tensors, SEXP cls, runtime::Profile* profile) {
  // behind the results the data that are given: they stay, should a program that this one calls be donated their tensors
  Shield<SEXP> data(guarded([&] { return allocate_list_of_data(c.computed, c.spares, tensors.size()); }));
  const auto data_at = [&](size_t i) { return VECTOR_ELT(data, static_cast<R_xlen_t>(i)); };
  for (size_t i = 0; i < tensors.size(); ++i)
    SET_VECTOR_ELT(data, static_cast<R_xlen_t>(c.computed.size() + i), tensor_data(tensors[i]));
  const Running now;
  auto memory = [&](size_t i) { return writable(data_at(i)); };
  if (c.interpreted) {
    std::vector<Tensor> inputs;
    for (SEXP x : tensors) inputs.push_back(borrow(x));
    std::vector<Tensor> results =
        naming_calls(c.locations.get(), [&] { return eigen::evaluate(*c.interpreted, inputs); });
    for (size_t i = 0; i < results.size(); ++i) {
      const Tensor& t = results[i];
      std::copy_n(t.as<char>(), bytes_of(t.type.dtype, t.type.shape), static_cast<char*>(memory(i)));
    }
  } else {
    std::vector<void*> buffers;
    buffers.reserve(tensors.size() + c.constants.size() + c.computed.size());
    for (size_t i = 0; i < tensors.size(); ++i) buffers.push_back(elements_of(data_at(c.computed.size() + i)));
    if (c.native.entry != nullptr) {
      for (const Tensor& t : c.constants) buffers.push_back(t.data.get());
      for (size_t i = 0; i < c.computed.size(); ++i) buffers.push_back(memory(i));
      naming_calls(c.locations.get(), [&] { runtime::run(c.native, buffers.data(), profile); });
    }
  }
  ++c.runs;
  return results_of(c, tensors, data, cls);
}

// After an error nobody calls it: what was given is still there.
void take_donated(const Compiled& c, const std::vector<SEXP>& tensors) {
  for (SEXP x : tensors) {
    if (is_donated(x)) continue;  // given twice
    Shield<SEXP> data(tensor_data(x));
    const bool free = running == 0 && is_alone(x);
    invalidate(x);
    if (free) set_aside(data, type_of(tensor_tag(x)), c.computed, c.spares);
  }
}

// --- programs without a traced function -----------------------------------------------------------

using SharedCompiled = std::shared_ptr<Compiled>;

static std::unique_ptr<SharedCompiled> compiled_graph(SEXP graph) {
  const GraphHolder& holder = graph_of(graph);
  const Graph& g = *holder.graph;
  return std::make_unique<SharedCompiled>(compile(g, flat_tree(g.outputs.size()), {holder.locations, false, {}}));
}

SEXP anvil_compile(SEXP graph) {
  return entry([&] { return own(compiled_graph(graph), names.an_executable, names.executable, graph); });
}

// inputs: tensors or raw buffers; gives a list of raw buffers
SEXP anvil_execute(SEXP executable, SEXP inputs) {
  return entry([&] {
    if (!is_kind(executable, names.an_executable)) throw wrong_argument("executable", "an AnvilExecutable", executable);
    if (owned<SharedCompiled>(executable, names.an_executable) == nullptr)  // saved in another session
      adopt(executable, compiled_graph(R_ExternalPtrProtected(executable)));
    SharedCompiled c = *owned<SharedCompiled>(executable, names.an_executable);
    std::vector<SEXP> tensors;
    for (R_xlen_t i = 0; i < XLENGTH(list_of(inputs, "inputs")); ++i) tensors.push_back(VECTOR_ELT(inputs, i));
    if (tensors.size() != c->inputs.size())
      throw Error("argument", "The program has " + std::to_string(c->inputs.size()) + " inputs.",
                  {"x Got " + std::to_string(tensors.size()) + "."});
    for (size_t i = 0; i < tensors.size(); ++i) {
      std::string argument = "Input " + std::to_string(i + 1);
      Class cls = class_of(tensors[i]);
      if (cls != Class::tensor && cls != Class::buffer)
        throw Error("argument", argument + " must be a tensor or a raw buffer.",
                    {"x Got " + describe(tensors[i]) + "."});
      TensorType type = type_of(tensor_tag(tensors[i]));
      if (!graph::same_type(type, c->inputs[i]))
        throw Error("argument", argument + " must be " + graph::text(c->inputs[i]) + ".",
                    {"x Got " + graph::text(type) + "."});
    }
    return run(*c, tensors, names.buffer);
  });
}

}  // namespace anvil::r
