// Compiled programs: native code with what it needs to run on R tensors and to give back
// the structure that the traced function returned.
#pragma once
#include "r_common.h"

namespace anvil::r {

struct Tree {  // of results
  enum class Kind : uint8_t { leaf, list, null } kind = Kind::leaf;
  R_xlen_t leaf = 0;
  std::vector<Tree> children;
  Kept labels;
  Kept pattern;  // of a sparse tensor, a list of its values
};

struct Output {
  enum class Kind : uint8_t { computed, input, fixed } kind = Kind::computed;
  size_t index = 0;    // of a computed result or of an input
  bool twice = false;  // whether it is a computed result that others are, too
  TensorType type;
  Kept tag, data;  // data: of a fixed result
};

// What compile() is told, and finds out, beside the graph.
struct Compilation {
  std::shared_ptr<Locations> locations;
  bool timed = false;  // with readings of the clock around each nest
  Timings timings;     // of what went before
};

struct Compiled {
  runtime::Executable native;
  GraphPtr interpreted;                 // without LLVM: what Eigen evaluates
  std::vector<graph::Owned> functions;  // of somebody else's, that the code refers to
  std::vector<TensorType> inputs;
  std::vector<Tensor> constants;
  std::vector<TensorType> computed;
  std::vector<Output> outputs;
  Tree tree;
  // for reports
  Timings timings;
  std::vector<compiler::NestSummary> nests;
  std::shared_ptr<Locations> locations;
  Kept captured;  // what R/captured.R noted when it was traced, if it was told to
  mutable int64_t runs = 0;
  mutable std::vector<Kept> spares;  // for each computed result, of former donated arguments
};

Tree tree_from(SEXP node, size_t leaves);  // of build_tree()
std::shared_ptr<Compiled> compile(const Graph& traced, Tree, Compilation = {});
// Lets go of the data of tensors that were donated to the run before; the next results may lie there.
void take_donated(const Compiled&, const std::vector<SEXP>& tensors);
// Results are tensors or raw buffers, as `cls` says.
SEXP run(const Compiled&, const std::vector<SEXP>& tensors, SEXP cls, runtime::Profile* = nullptr);

}  // namespace anvil::r
