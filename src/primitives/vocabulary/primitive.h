// What a primitive is: one struct that holds its rules for every purpose. Families fill
// it in through factories; the tests, the R bindings, the evaluator, the compiler and the
// StableHLO reader and writer only ever look here.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "primitives/vocabulary/properties.h"

namespace anvil::primitives {

using graph::Params;
using graph::Tensor;
using graph::TensorType;
using graph::ValuePtr;

// A parameter as R passes it. Index kinds are 1-based in R, 0-based here. `limits` are
// R's inclusive ends, which are numerically the exclusive ones here.
struct ParamSpec {
  enum class Kind : uint8_t {
    flag,
    integer,
    real,
    string,
    dtype,
    shape,
    axis,
    axes,
    axis_pairs,
    starts,
    limits,
    sizes,
    graph
  };
  std::string name;
  Kind kind;
  bool optional = false;  // calls may be without it
  // Of `sizes` with an entry for each dimension: that of one in which nothing happens. None: its size.
  std::optional<int64_t> untouched = std::nullopt;
};

// How the primitive reads in StableHLO, for the reader and the writer alike: an operator, or a custom call where
// there is none, and attributes that stand for parameters. Parameters without one follow from the type of the result.
// What is `special` is read or written by a rule of its own, in backend/stablehlo.
struct HloAttribute {
  std::string name;       // in the text: "broadcast_dimensions"
  std::string parameter;  // ours
  enum class Kind : uint8_t { i64_array, i64, i32, boolean, f64 } kind;
  std::string pretty = {};                          // its name in the pretty form, where that is another
  std::optional<int64_t> otherwise = std::nullopt;  // where the text leaves it out; of a list, each entry
};
struct HloForm {
  std::string op;  // "stablehlo.add", "chlo.erf", "custom_call @anvil.lu"
  std::vector<HloAttribute> attributes;
  bool special = false;
};
inline constexpr bool special = true;

// Where tests draw the operands of an elementwise primitive from. With low == high there is
// nothing to differentiate by.
struct Domain {
  double low = -10, high = 10;
};

using Maker = std::function<const graph::Call*(const ValuePtr&)>;  // the call that made a value; null: none near

class Lowering;        // primitives/vocabulary/lowering.h
class Simplification;  // primitives/vocabulary/simplification.h
struct ReverseStep;
struct ForwardStep;
struct BatchStep;  // primitives/vocabulary/batching.h

struct Primitive : graph::Operation {
  std::string key;                    // R's name: nvl_<key>, prim("<key>")
  std::string family;                 // "elementwise", "reduce", ...
  std::vector<std::string> operands;  // names for messages; a last "..." stands for any number
  Group group = Group::any;           // dtypes of the (first) operand
  std::vector<ParamSpec> parameters;

  // ---- what it is ----
  Acts acts = Acts::other;
  Axes axes = Axes::other;
  bool view = false;    // an element of the result costs no more than reading one: made again rather than kept
  bool effect = false;  // does more than make its results: must not be left out, moved or doubled
  // Asks how its elements are stored (their bits, their order), not only for the numbers that they are. All
  // other primitives compute with the compute types of their dtypes and round once to what is stored.
  bool as_stored = false;
  bool computes() const { return !view && !as_stored && control == Control::none; }
  // In these operands, all of them together, it is linear; a bilinear one in each of its two alone.
  Operands linear = Operands::none();
  bool bilinear = false;
  // How many products an element of the result is the sum of.
  std::function<int64_t(const graph::Call&)> products;
  // Takes elements of some operands and leaves others, whose cotangents are zero whatever they are: no
  // NaN of theirs may come back.
  bool selects = false;
  std::function<bool(const graph::Call&)> selects_if;  // where only some of its calls do so
  // Gives the elements of each operand in another order: no two of them are added up on the way back.
  bool rearranges = false;
  Operands indices = Operands::none();  // those that are positions
  // The result is operand 0 but for a box that operand 1 fills, from the positions on that the others give, or
  // from where it fits.
  bool updates = false;
  std::vector<size_t> index_results;  // and the results that are
  std::optional<loops::Op> op;        // per element, the one operation on numbers that it is
  // x where operand k is this number: `identities` holds (k, number), x is the other operand.
  std::vector<std::pair<size_t, Scalar>> identities;
  const Monoid* monoid = nullptr;  // of a reduction
  Control control = Control::none;
  std::function<std::vector<Region>(const graph::Call&)> regions;  // of control flow

  // ---- its rules ----

  // Types of the results; throws Error("shape" | "dtype" | "argument", ...).
  std::function<std::vector<TensorType>(const std::vector<TensorType>& operands, const Params&)> infer;
  // Cotangents of the operands, made of primitives. Empty: see zero_derivative.
  std::function<void(ReverseStep&)> reverse;
  // The call once more, with residuals: records calls that give its results and then what the reverse
  // rule reads besides. In a gradient they stand in the place of the call. Empty: there is nothing to keep.
  std::function<std::vector<ValuePtr>(graph::Graph&, const graph::Call&)> augment;
  // Tangents of the results, where what they are does not follow well enough from the properties above or from
  // `reverse`; false where it does not cover the call. Nearly all primitives need none (transform/forward.h).
  std::function<bool(ForwardStep&)> forward;
  // The call on a batch of examples, where the properties above do not say it: batching.h.
  std::function<void(BatchStep&)> batch;
  bool zero_derivative = false;  // derivative zero or none (integers, comparisons, fill): a stated property
  // Of a primitive that is made of others: its call as calls of those, recorded into the
  // graph. Whatever runs a graph expands it first (composite.h); the rules below that such a
  // primitive lacks are those of its expansion.
  std::function<std::vector<ValuePtr>(graph::Graph&, const graph::Call&)> expand;
  // Where text shall hold other calls in its place than `expand` records, these.
  std::function<std::vector<ValuePtr>(graph::Graph&, const graph::Call&)> expand_in_text;
  // Where the derivatives of such a primitive cover some calls only: whether this one. The others are
  // differentiated through their expansions.
  std::function<bool(const graph::Call&)> reverses;
  HloForm hlo;
  // A value that is the result already, or null; may make the call a cheaper one of the same value.
  std::function<ValuePtr(Simplification&)> simplify;
  // Where the parameters list dimensions otherwise than `axes` says: makes the call that of operands and results whose
  // dimensions are all in reverse order. `mirrors` says for which calls it is the same; empty: for all.
  std::function<void(graph::Call&)> mirror;
  std::function<bool(const graph::Call&)> mirrors;
  // Of a call that looks up places of its first operand: how much it moves at each, by that operand's dimensions.
  std::function<Shape(const graph::Call&)> window;
  // Of a call `made` and `reader`, the only one that reads its result: whether both are one call, which this
  // makes of `made` by its parameters. Text that has no such parameter says it by two operators.
  std::function<bool(graph::Call& made, const graph::Call& reader, const Maker&)> absorb;
  // Loops of one call. Empty for control flow, which the compiler lowers itself.
  std::function<void(Lowering&, const graph::Call&)> lower;
  // Elementwise primitives: all elements at once, operands of one shape, for the Eigen
  // evaluator. The scalar formula is the one that `lower` uses.
  std::function<void(const std::vector<const Tensor*>& operands, const Tensor& out, const Params&)> elementwise;
  std::vector<Domain> domain;  // elementwise: one per operand
};

// One step of reverse mode: the call, what flows in, and where to record.
struct ReverseStep {
  graph::Graph& graph;
  const graph::Call& call;
  std::vector<ValuePtr> cotangents;  // one per result; null: zero, nothing that is differentiated reads the result
  std::vector<bool> required;        // one per operand
  std::vector<ValuePtr> results;     // one per operand, null where not required or zero
  // What the operands' cotangents have come to so far, null where they are zero. A rule that
  // changes few elements of one takes it (sum_so_far) and gives it back with its own part.
  std::vector<ValuePtr> sums = {};
  std::vector<bool> taken = {};
  std::vector<ValuePtr> residuals = {};  // of the primitive's `augment`
};

// The same of forward mode, where at least one operand has a tangent.
struct ForwardStep {
  graph::Graph& graph;
  const graph::Call& call;
  std::vector<ValuePtr> tangents;  // one per operand; null: zero
  std::vector<ValuePtr> results;   // one per result, null where zero
};

class Registry {
 public:
  // The primitive of a printed name or of a key ("divide" and "div"); null when unknown.
  const Primitive* find(std::string_view name) const;
  const Primitive& at(std::string_view name) const;  // InternalError when unknown
  std::vector<const Primitive*> all() const;         // in order of registration
  void add(Primitive);                               // Error("argument") when the name is taken
  void replace(Primitive);                           // in place: graphs that use it see the new rules

 private:
  std::vector<std::unique_ptr<Primitive>> list_;
  std::unordered_map<std::string_view, Primitive*> names_;  // views into names and keys of list_
};
// The one registry, filled at first use: families/registry.cpp.
Registry& registry();

inline const Primitive& primitive_of(const graph::Call& c) { return static_cast<const Primitive&>(*c.primitive); }

// Infers the types, appends the call to `graph` and gives its results. Everything that
// records goes through here: tracing, reverse rules, the StableHLO reader.
std::vector<ValuePtr> record(graph::Graph&, const Primitive&, std::vector<ValuePtr> operands, Params = {},
                             int location = -1);

// verify_structure() and a second inference of every call.
void verify(const graph::Graph&);

}  // namespace anvil::primitives
