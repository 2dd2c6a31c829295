// Names of values, constants and regions of the text, and whole functions; see write.h.
#include "backend/stablehlo/write.h"

#include <algorithm>

#include "backend/stablehlo/stablehlo.h"
#include "base/interrupt.h"
#include "primitives/vocabulary/composite.h"
#include "transform/tapes.h"

namespace anvil::stablehlo {

std::vector<TensorType> result_types(const Call& c) {
  std::vector<TensorType> types;
  for (const auto& v : c.outputs) types.push_back(v->type);
  return types;
}

// ---- values -------------------------------------------------------------------------------

Item Writer::use(const ValuePtr& v) {
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope)
    if (auto it = scope->find(v.get()); it != scope->end()) return {it->second, v->type};
  if (v->kind == graph::Value::Kind::literal) {
    Item item = number(v->literal, v->type.dtype, v->type.shape);
    define(v, item.name);
    return item;
  }
  if (v->kind == graph::Value::Kind::constant) {
    Item item = constant(dense_literal(v->constant), v->type);
    define(v, item.name);
    return item;
  }
  throw InternalError("stablehlo: a value is used before it is written");
}

Items Writer::use_all(const std::vector<ValuePtr>& values) {
  Items items;
  for (const auto& v : values) items.push_back(use(v));
  return items;
}

// ---- calls --------------------------------------------------------------------------------

static const WriteRules& rules() {
  static const WriteRules table = [] {
    WriteRules all;
    for (auto add_family : {add_elementwise_writers, add_shape_writers, add_index_writers, add_reduce_writers,
                            add_window_writers, add_contract_writers, add_sort_writers, add_linalg_writers,
                            add_random_writers, add_control_writers, add_custom_writers})
      add_family(all);
    return all;
  }();
  return table;
}

void Writer::calls(const Graph& g) {
  for (const Call& c : g.calls) call(c);
}

void Writer::call(const Call& c) {
  poll();
  auto rule = rules().find(c.primitive->name);
  Items items = primitives::primitive_of(c).monoid ? reduce_by_monoid(*this, c)
                : rule == rules().end()            ? plain(c)
                                                   : rule->second(*this, c);
  for (size_t i = 0; i < c.outputs.size(); ++i) define(c.outputs[i], items[i].name);
}

Items Writer::same_operands(const std::string& name, const Call& c, const std::vector<std::string>& attributes) {
  return op(name, use_all(c.inputs), result_types(c), attributes);
}

Items Writer::plain(const Call& c) {
  const auto& p = primitives::primitive_of(c);
  if (p.hlo.op.empty()) throw Error("stablehlo", "`" + p.name + "` cannot be written as StableHLO.");
  std::vector<std::string> attributes;
  const std::string custom = "custom_call @";
  const bool is_custom = p.hlo.op.starts_with(custom);
  if (is_custom)
    attributes = {"call_target_name = \"" + p.hlo.op.substr(custom.size()) + "\"", "api_version = 4 : i32"};
  for (const auto& a : p.hlo.attributes) {
    std::string value;
    switch (a.kind) {
      case primitives::HloAttribute::Kind::i64_array: value = array(c.params.ints(a.parameter)); break;
      case primitives::HloAttribute::Kind::i64: value = std::to_string(c.params.integer(a.parameter)) + " : i64"; break;
      case primitives::HloAttribute::Kind::i32: value = std::to_string(c.params.integer(a.parameter)) + " : i32"; break;
      case primitives::HloAttribute::Kind::boolean: value = boolean(c.params.flag(a.parameter)); break;
      case primitives::HloAttribute::Kind::f64:
        value = dense_number(c.params.get<Scalar>(a.parameter), DType::f64) + " : f64";
        break;
    }
    attributes.push_back(a.name + " = " + value);
  }
  return same_operands(is_custom ? "stablehlo.custom_call" : p.hlo.op, c, attributes);
}

// ---- what rules share ---------------------------------------------------------------------

Item Writer::compared(const char* direction, const Item& a, const Item& b) {
  const char* kind = is_float(a.type.dtype) ? "FLOAT" : is_signed_integer(a.type.dtype) ? "SIGNED" : "UNSIGNED";
  return pretty(std::string("stablehlo.compare ") + direction + ", " + a.name + ", " + b.name + ", " + kind, {a, b},
                typed(DType::boolean, a.type.shape), " : ");
}

Item Writer::transposed(const Item& x) {
  if (x.type.shape.size() < 2) return x;
  return op("stablehlo.transpose", {x}, typed(x.type.dtype, reversed(x.type.shape)),
            {"permutation = " + array(reversal(x.type.shape.size()))});
}

std::function<void()> Writer::region(const graph::GraphPtr& g) {
  return [this, g] {
    if (++depth_ > deepest_regions)
      throw Error("stablehlo", "Functions within functions are written to a depth of " +
                                   std::to_string(deepest_regions) + ", not beyond.");
    Items arguments;
    for (const auto& v : g->inputs) {
      arguments.push_back({"%arg" + std::to_string(next_++), v->type});
      define(v, arguments.back().name);
    }
    if (!arguments.empty()) block_arguments(arguments);
    calls(*g);
    yield("stablehlo.return", use_all(g->outputs));
    --depth_;
  };
}

std::function<void()> Writer::reducer(const std::string& operation, DType dtype) {
  return [this, operation, dtype] {
    std::string id = std::to_string(next_++);
    std::vector<Item> arguments = {{"%a" + id, typed(dtype)}, {"%b" + id, typed(dtype)}};
    block_arguments(arguments);
    yield("stablehlo.return", {op(operation, arguments, typed(dtype))});
  };
}

// ---- functions ----------------------------------------------------------------------------

namespace {

// Captured tensors with more than one element, those of inner graphs included.
void collect_constants(const Graph& g, std::unordered_set<const graph::Value*>& seen, std::vector<ValuePtr>& found) {
  auto use = [&](const ValuePtr& v) {
    if (v->kind != graph::Value::Kind::constant || elements(v->type.shape) == 1) return;
    if (seen.insert(v.get()).second) found.push_back(v);
  };
  for (const Call& c : g.calls) {
    for (const auto& v : c.inputs) use(v);
    for (const auto& inner : subgraphs(c)) collect_constants(*inner, seen, found);
  }
  for (const auto& v : g.outputs) use(v);
}

}  // namespace

// For each donated input the first result of its type that no other has, else an empty text.
static std::vector<std::string> aliases(const Graph& g, const std::vector<bool>& donated) {
  std::vector<std::string> list(g.inputs.size());
  std::vector<bool> taken(g.outputs.size());
  for (size_t i = 0; i < std::min(donated.size(), list.size()); ++i)
    for (size_t k = 0; donated[i] && k < taken.size(); ++k) {
      const graph::TensorType &from = g.inputs[i]->type, &to = g.outputs[k]->type;
      if (taken[k] || from.dtype != to.dtype || from.shape != to.shape) continue;
      list[i] = " {tf.aliasing_output = " + std::to_string(k) + " : i32}";
      taken[k] = true;
      break;
    }
  return list;
}

Written write(const Graph& written_graph, bool constants_as_inputs, const Labels& labels) {
  graph::GraphPtr expanded = transform::without_tapes(*primitives::expand(written_graph, primitives::Reader::text));
  const Graph& g = *expanded;
  Written written;
  if (constants_as_inputs) {
    // in the order of the graph's list, as far as they are in use
    std::unordered_set<const graph::Value*> seen;
    std::vector<ValuePtr> used;
    collect_constants(g, seen, used);
    std::unordered_set<const graph::Value*> listed;
    for (const auto& v : g.constants)
      if (seen.count(v.get()) && listed.insert(v.get()).second) written.constants.push_back(v);
    for (const auto& v : used)
      if (listed.insert(v.get()).second) written.constants.push_back(v);
  }
  Writer w;
  std::string arguments, results;
  auto argument = [&](const ValuePtr& v) {
    std::string id = w.fresh();
    w.define(v, id);
    arguments += (arguments.empty() ? "" : ", ") + id + ": " + hlo_text(v->type);
  };
  auto label = [](const std::vector<std::string>& list, size_t i) { return i < list.size() ? list[i] : ""; };
  for (const auto& v : written.constants) argument(v);
  const std::vector<std::string> alias = aliases(g, labels.donated);
  for (size_t i = 0; i < g.inputs.size(); ++i) {
    argument(g.inputs[i]);
    arguments += alias[i];
    if (std::string name = label(labels.arguments, i); !name.empty()) arguments += " loc(\"" + name + "\")";
  }
  for (size_t i = 0; i < g.outputs.size(); ++i) {
    results += (i ? ", " : "") + hlo_text(g.outputs[i]->type);
    if (std::string info = label(labels.results, i); !info.empty()) results += " {jax.result_info = \"" + info + "\"}";
  }
  if (g.outputs.size() != 1 || !label(labels.results, 0).empty()) results = "(" + results + ")";
  w.calls(g);
  w.yield("func.return", w.use_all(g.outputs));
  written.text = "func.func @main (" + arguments + ") -> " + results + " {\n" + w.text + "}\n";
  return written;
}

}  // namespace anvil::stablehlo
