// The tree of a StableHLO text to a graph. The importer keeps the scopes, checks types and
// inlines functions where they are called; what an operation means is said by one rule for
// each, found by the operation's name: in import_<family>.cpp, or in decompositions/ when it
// is no one primitive of ours. Plain elementwise operators need no rule: they come from the
// registry's table.
#pragma once
#include <functional>
#include <unordered_map>

#include "backend/stablehlo/attributes.h"
#include "backend/stablehlo/layout.h"
#include "backend/stablehlo/stablehlo.h"
#include "backend/stablehlo/syntax.h"
#include "primitives/vocabulary/inner_graph.h"

namespace anvil::stablehlo {

using graph::Graph;
using graph::GraphPtr;
using graph::TensorType;
using graph::ValuePtr;
using primitives::Var;
using primitives::Vars;

// What bounds hostile text whose functions call each other.
constexpr int deepest_bodies = 200;
constexpr size_t most_inlined = 1 << 21;  // operations, their operands and results

class Importer {
 public:
  // `extra` rules come before the package's own: for operations that are no part of it.
  Importer(const Module&, const Rules& extra);
  Program run(std::string_view entry);

  // ---- for rules ----
  Graph& graph() { return *graph_; }              // where calls are recorded
  bool at_top() const { return graph_ == top_; }  // in no region
  // A tensor of the text: it belongs to the outermost graph, whose constants programs are given. That
  // of an operation is made once, however often its function is called.
  ValuePtr constant(const graph::Tensor&);
  ValuePtr constant(const Operation&, const std::function<graph::Tensor()>&);
  // The operations of a region that has no arguments, recorded here.
  std::vector<ValuePtr> inlined(const Operation&, size_t k);
  // A region as a graph of its own, whose inputs have the types that the operation gives them; it may
  // read values around it.
  GraphPtr region(const Operation&, size_t k, const std::vector<TensorType>& inputs);
  // The results of a function of the module for these arguments, recorded here.
  std::vector<ValuePtr> call(const Operation&, const std::string& function, const Vars& arguments);
  // Bodies in bodies are bounded; an operation that puts graphs around its bodies counts these, too.
  struct Deeper {
    Deeper(Importer& i, Position at, int levels = 1);
    ~Deeper() { importer.depth_ -= levels; }
    Deeper(const Deeper&) = delete;
    Deeper& operator=(const Deeper&) = delete;
    Importer& importer;
    int levels;
  };
  // All results of a primitive.
  std::vector<ValuePtr> record(const char* primitive, const Vars& operands, graph::Params = {});
  Var var(const ValuePtr& v) { return {graph_, v}; }
  // A reversal along some dimensions that the text has; and one that a run from the end needs, which takes back a
  // reversal that x is. The text's reversal of the latter's result does the same.
  Var reversed(const Var& x, const Ints& dims);
  Var run_backwards(const Var& x, const Ints& dims);
  // A comparison by StableHLO's word for its direction: LT, GE, ...
  Var compare(const Operation&, const std::string& direction, const Var&, const Var&);
  // What some values were made of, for rules that take it back.
  struct Origin {
    enum Kind : uint8_t {
      reversed,      // by the text
      run_backwards  // by a run from the end
    } kind;
    ValuePtr x;
    Ints dims = {};  // those reversed
  };
  void note(const ValuePtr& result, Origin origin) { origins_.insert_or_assign(result, std::move(origin)); }

 private:
  using Scope = std::unordered_map<std::string, ValuePtr>;
  // Where calls are recorded: the graph of the function or region being read.
  struct Frame {
    Frame(Importer& i, Graph& g) : importer(i), outer(i.graph_) { i.graph_ = &g; }
    ~Frame() { importer.graph_ = outer; }
    Importer& importer;
    Graph* outer;
  };

  const Function& entry(std::string_view name) const;
  std::vector<ValuePtr> inlined(const Function&, const std::vector<ValuePtr>& arguments);
  std::vector<ValuePtr> body(const Region&, const std::vector<ValuePtr>& arguments);
  GraphPtr region(const Region&);
  Vars operands(const Operation&);
  ValuePtr lookup(const std::string& id) const;
  void operation(const Operation&);
  std::vector<ValuePtr> results(const Operation&, const Vars& inputs);
  const Origin* origin(const ValuePtr&, Origin::Kind) const;
  Var mirrored(const Var& x, const Ints& dims, bool running);

  const Module& module_;
  const Rules& extra_;
  std::unordered_map<std::string, const Function*> functions_;
  // The keys are owned: a value whose graph is gone leaves its address to no other.
  std::unordered_map<ValuePtr, Origin> origins_;
  std::unordered_map<const Operation*, ValuePtr> constants_;  // what has been read, however often it is called
  std::vector<const Function*> active_;
  std::vector<Scope> scopes_;
  Graph *graph_ = nullptr, *top_ = nullptr;
  int depth_ = 0;       // of bodies in bodies
  size_t inlined_ = 0;  // what calls have brought: see most_inlined
};

// A rule by the name of its operation; there is one of a name.
template <class R, class F>
void add(R& rules, typename R::key_type name, F&& rule) {
  if (!rules.emplace(name, std::forward<F>(rule)).second)
    throw InternalError("stablehlo: there are two rules for " + std::string(name));
}
// The rules of a family.
void add_plain_rules(Rules&);
void add_elementwise_rules(Rules&);
void add_shape_rules(Rules&);
void add_index_rules(Rules&);
void add_reduce_rules(Rules&);
void add_window_rules(Rules&);
void add_contract_rules(Rules&);
void add_sort_rules(Rules&);
void add_linalg_rules(Rules&);
void add_householder_rules(Rules&);
void add_batch_norm_rules(Rules&);
void add_random_rules(Rules&);
void add_control_rules(Rules&);

// The call that made a value, if it is among the latest.
const graph::Call* recent(const Graph&, const ValuePtr&, size_t window = 8);

// Refuses unless a value has the type that the text declares for `what`.
void check_type(Position, const std::string& what, const TensorType& got, const TensorType& declared);

}  // namespace anvil::stablehlo
