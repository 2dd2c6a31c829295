// The graph language: values, and calls of primitives that make values from values. A
// value is compared by identity. A graph may refer to values of the graphs around it
// (the branches of `if`, the body of `while`), so a scope is nothing but nesting.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>

#include "base/error.h"
#include "graph/tensor.h"

namespace anvil::graph {

struct Graph;
using GraphPtr = std::shared_ptr<Graph>;

struct Value {
  enum class Kind : uint8_t { input, result, literal, constant };
  Kind kind = Kind::result;
  TensorType type;
  Scalar literal;   // literal: every element has this value, type.shape may be any shape
  Tensor constant;  // constant: a tensor that the traced function captured
};
using ValuePtr = std::shared_ptr<Value>;
ValuePtr make_value(Value::Kind, TensorType);
ValuePtr make_literal(Scalar, TensorType);
ValuePtr make_constant(Tensor);

// What a call needs to know of its primitive; primitives::Primitive derives from it.
struct Operation {
  std::string name;  // as printed: "add", "divide", "reduce_sum"
};

// A type of its own, which a variant does not take for one that is always cheap to move:
// libstdc++ before 14 destroys a variant of such types alone as if it held a value when
// copying one runs out of memory.
struct IntegerLists : std::vector<std::vector<int64_t>> {
  using vector::vector;
  IntegerLists(std::vector<std::vector<int64_t>> lists) : vector(std::move(lists)) {}
};

// What belongs to calls and is no data: the rules of some calls alone, a function of somebody else's. Known by
// identity, and alive as long as a call has it.
using Owned = std::shared_ptr<const void>;

// A parameter that is not a tensor. Axes and indices are 0-based here; `index` marks
// those that R and the printed form show 1-based.
using ParamValue =
    std::variant<bool, int64_t, Scalar, std::string, DType, std::vector<int64_t>, IntegerLists, GraphPtr, Owned>;
struct Param {
  std::string name;
  ParamValue value;
  bool index = false;
};
class Params {
 public:
  std::vector<Param> items;
  Params() = default;
  Params(std::initializer_list<Param> list) : items(list) {}
  const Param* find(std::string_view name) const;
  void set(std::string_view name, ParamValue value);  // of one that is there
  template <class T>
  const T& get(std::string_view name) const {
    const Param* p = find(name);
    if (p == nullptr || !std::holds_alternative<T>(p->value))
      throw InternalError("missing parameter " + std::string(name));
    return std::get<T>(p->value);
  }
  const std::vector<int64_t>& ints(std::string_view n) const { return get<std::vector<int64_t>>(n); }
  int64_t integer(std::string_view n) const { return get<int64_t>(n); }
  bool flag(std::string_view n) const { return get<bool>(n); }
  DType dtype(std::string_view n) const { return get<DType>(n); }
  const std::string& string(std::string_view n) const { return get<std::string>(n); }
  const GraphPtr& graph(std::string_view n) const { return get<GraphPtr>(n); }
};

struct Call {
  const Operation* primitive = nullptr;
  std::vector<ValuePtr> inputs;
  Params params;
  std::vector<ValuePtr> outputs;
  int location = -1;        // which of the user's calls made it (an index that the R side resolves), -1 unknown
  bool derivative = false;  // whether it computes a derivative of what that call made
};

struct Graph {
  std::vector<ValuePtr> inputs;
  std::vector<ValuePtr> constants;  // captured tensors, and in an inner graph captured outer values
  std::vector<Call> calls;
  std::vector<ValuePtr> outputs;
};

// The calls of a graph from `first` on that no call of the user's is known to have made are those of this one, or of its derivative.
void locate(std::vector<Call>&, size_t first, int location, bool derivative = false);
int location_of(const ValuePtr& result, const std::vector<Call>&);  // of the call that makes it, -1 where none does

std::vector<GraphPtr> subgraphs(const Call&);
// Outer values that a graph (with its own inner graphs) reads without making them, literals
// and constants with data left out, in order of first use.
std::vector<ValuePtr> captures(const Graph&);

using Substitution = std::unordered_map<const Value*, ValuePtr>;
ValuePtr substitute(const Substitution&, const ValuePtr&);
// A copy with fresh results; values found in `map` are replaced, and `map` grows by the new ones.
GraphPtr clone(const Graph&, Substitution& map);
// The calls of `from`, its inputs replaced by `arguments`, appended to `to`; gives the outputs.
std::vector<ValuePtr> inline_calls(const Graph& from, const std::vector<ValuePtr>& arguments, Graph& to);

// The printed form of design.md; `title` is "AnvilGraph" or "GraphDescriptor".
std::string print(const Graph&, std::string_view title = "AnvilGraph");
std::string text(const ParamValue&, bool index);  // as in the printed form: c(2, 1), TRUE, f32, graph[1 -> 1]

// Throws InternalError when a value is used before it is made, made twice, or typed wrongly.
void verify_structure(const Graph&);

}  // namespace anvil::graph
