// Calls of functions of somebody else's: types, loops, and why there is no derivative.
#include "primitives/families/custom_call.h"

#include "primitives/vocabulary/structured.h"

namespace anvil::primitives {
namespace {

// A type as numbers: its dtype, then its sizes.
std::vector<int64_t> numbers_of(const TensorType& t) {
  std::vector<int64_t> list = {static_cast<int64_t>(t.dtype)};
  list.insert(list.end(), t.shape.begin(), t.shape.end());
  return list;
}

std::vector<TensorType> infer_custom_call(const std::vector<TensorType>&, const Params& params) {
  std::vector<TensorType> types;
  for (const std::vector<int64_t>& t : params.get<graph::IntegerLists>("types"))
    types.push_back({static_cast<DType>(t.at(0)), Shape(t.begin() + 1, t.end())});
  return types;
}

void lower_custom_call(Lowering& l, const graph::Call& c) {
  Ints numbers = {static_cast<int64_t>(reinterpret_cast<intptr_t>(&function_of(c)))};
  for (const auto* values : {&c.outputs, &c.inputs}) {
    const Ints part = described(*values);
    numbers.insert(numbers.end(), part.begin(), part.end());
  }
  l.call("custom_call", c.outputs, c.inputs, numbers);
}

void no_derivative(ReverseStep& step) {
  throw Error("gradient", "The custom call `" + step.call.params.string("name") + "` has no derivative.",
              {"i `nv_custom_call()` takes one as `backward` or `jvp`."});
}

void collect_owned(const graph::Graph& g, std::vector<graph::Owned>& found) {
  for (const graph::Call& c : g.calls)
    for (const graph::Param& p : c.params.items) {
      if (const auto* owned = std::get_if<graph::Owned>(&p.value)) found.push_back(*owned);
      if (const auto* inner = std::get_if<graph::GraphPtr>(&p.value)) collect_owned(**inner, found);
    }
}

}  // namespace

CustomCall make_custom_call(runtime::CustomFunction function, bool effect) {
  Primitive p;
  p.name = "custom_call";
  p.family = "custom";
  p.operands = {"..."};
  p.effect = effect;
  p.as_stored = true;
  p.infer = infer_custom_call;
  p.reverse = no_derivative;
  p.lower = lower_custom_call;
  p.hlo = {"stablehlo.custom_call", {}, special};
  return {std::make_shared<const runtime::CustomFunction>(std::move(function)),
          std::make_shared<const Primitive>(std::move(p))};
}

std::vector<ValuePtr> record(graph::Graph& g, const CustomCall& call, std::vector<ValuePtr> operands,
                             const std::vector<TensorType>& results) {
  graph::IntegerLists types;
  for (const TensorType& t : results) types.push_back(numbers_of(t));
  return record(g, *call.primitive, std::move(operands),
                {{"name", call.function->name},
                 {"types", std::move(types)},
                 {"function", graph::Owned(call.function)},
                 {"rules", graph::Owned(call.primitive)}});
}

const runtime::CustomFunction& function_of(const graph::Call& c) {
  return *static_cast<const runtime::CustomFunction*>(c.params.get<graph::Owned>("function").get());
}

std::vector<graph::Owned> owned_by(const graph::Graph& g) {
  std::vector<graph::Owned> found;
  collect_owned(g, found);
  return found;
}

}  // namespace anvil::primitives
