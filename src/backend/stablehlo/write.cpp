// Graph to StableHLO text, in the generic form that the package's documents show. Values
// are numbered in the order in which they are printed; a literal is a constant right
// before its first use in each region.
#include <algorithm>

#include "backend/stablehlo/layout.h"
#include "backend/stablehlo/stablehlo.h"
#include "backend/stablehlo/text_writer.h"
#include "primitives/composite.h"

namespace anvil::stablehlo {
namespace {

using graph::Call;
using graph::Graph;

class Writer : public TextWriter {
 public:
  Item use(const ValuePtr& v) {
    for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope)
      if (auto it = scope->find(v.get()); it != scope->end()) return {it->second, v->type};
    if (v->kind == graph::Value::Kind::literal) {
      Item item = elements(v->type.shape) == 0 ? constant("dense<>", v->type)
                                               : number(v->literal, v->type.dtype, v->type.shape);
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

  void calls(const Graph& g) {
    for (const Call& c : g.calls) call(c);
  }
  std::vector<Item> use_all(const std::vector<ValuePtr>& values) {
    std::vector<Item> items;
    for (const auto& v : values) items.push_back(use(v));
    return items;
  }

 private:
  using Rule = std::vector<Item> (Writer::*)(const Call&);
  static const std::unordered_map<std::string_view, Rule>& special();

  void call(const Call& c) {
    std::vector<Item> items;
    if (auto it = special().find(c.primitive->name); it != special().end()) {
      items = (this->*it->second)(c);
    } else {
      items = plain(c);
    }
    for (size_t i = 0; i < c.outputs.size(); ++i) define(c.outputs[i], items[i].name);
  }

  std::vector<Item> plain(const Call& c) {
    const auto& p = primitives::primitive_of(c);
    if (p.hlo.op.empty())
      throw Error(
          "stablehlo", "`" + p.name + "` cannot be written as StableHLO.",
          {"i It comes from the gradient of a `nv_while()`, whose number of iterations is known only when it runs."});
    std::vector<Item> operands = use_all(c.inputs);
    std::vector<std::string> attributes;
    for (const auto& a : p.hlo.attributes) {
      std::string value;
      switch (a.kind) {
        case primitives::HloAttribute::Kind::i64_array: value = array(c.params.ints(a.parameter)); break;
        case primitives::HloAttribute::Kind::i64:
          value = std::to_string(c.params.integer(a.parameter)) + " : i64";
          break;
        case primitives::HloAttribute::Kind::boolean: value = boolean(c.params.flag(a.parameter)); break;
      }
      attributes.push_back(a.name + " = " + value);
    }
    std::vector<TensorType> results;
    for (const auto& v : c.outputs) results.push_back(v->type);
    return op(p.hlo.op, operands, results, attributes);
  }

  std::vector<Item> fill(const Call& c) {
    const TensorType& type = c.outputs[0]->type;
    if (elements(type.shape) == 0) return {constant("dense<>", type)};
    return {number(c.params.get<Scalar>("value"), type.dtype, type.shape)};
  }
  std::vector<Item> round(const Call& c) {
    bool even = c.params.string("method") == "nearest_even";
    return {op(even ? "stablehlo.round_nearest_even" : "stablehlo.round_nearest_afz", use_all(c.inputs),
               c.outputs[0]->type)};
  }
  Item compared(const char* direction, const Item& a, const Item& b) {
    const char* kind = is_float(a.type.dtype) ? "FLOAT" : is_signed_integer(a.type.dtype) ? "SIGNED" : "UNSIGNED";
    return pretty(std::string("stablehlo.compare ") + direction + ", " + a.name + ", " + b.name + ", " + kind, {a, b},
                  typed(DType::boolean, a.type.shape), " : ");
  }
  std::vector<Item> compare(const Call& c) {
    static const std::unordered_map<std::string_view, const char*> directions = {
        {"equal", "EQ"},         {"not_equal", "NE"}, {"greater", "GT"},
        {"greater_equal", "GE"}, {"less", "LT"},      {"less_equal", "LE"}};
    std::vector<Item> o = use_all(c.inputs);
    return {compared(directions.at(c.primitive->name), o[0], o[1])};
  }

  Item transposed(const Item& x) {
    if (x.type.shape.size() < 2) return x;
    return op("stablehlo.transpose", {x}, typed(x.type.dtype, reversed(x.type.shape)),
              {"permutation = " + array(reversal(x.type.shape.size()))});
  }
  // R's order is row-major order of the reversed dimensions.
  Item reshaped(const Item& x, const Shape& shape) {
    TensorType type = typed(x.type.dtype, shape);
    if (same_without_ones(x.type.shape, shape)) return op("stablehlo.reshape", {x}, type);
    Item turned = op("stablehlo.reshape", {transposed(x)}, typed(x.type.dtype, reversed(shape)));
    return transposed(turned);
  }
  std::vector<Item> reshape(const Call& c) { return {reshaped(use(c.inputs[0]), c.outputs[0]->type.shape)}; }

  std::vector<Item> iota(const Call& c) {
    const TensorType& type = c.outputs[0]->type;
    Item x = op("stablehlo.iota", {}, type, {"iota_dimension = " + std::to_string(c.params.integer("dim")) + " : i64"});
    int64_t start = c.params.integer("start");
    if (start == 0) return {x};
    return {op("stablehlo.add", {x, number(Scalar(start), type.dtype, type.shape)}, type)};
  }

  std::vector<Item> zero_based(const Call& c, size_t first) {
    std::vector<Item> items;
    for (size_t i = 0; i < c.inputs.size(); ++i) {
      const ValuePtr& v = c.inputs[i];
      if (i >= first && v->kind == graph::Value::Kind::literal) {
        items.push_back(number(Scalar(v->literal.as<int64_t>() - 1), v->type.dtype));
        continue;
      }
      items.push_back(use(v));
      if (i < first) continue;
      Item one = number(Scalar(1), v->type.dtype);
      items[i] = op("stablehlo.subtract", {items[i], one}, v->type);
    }
    return items;
  }
  std::vector<Item> dynamic_slice(const Call& c) {
    auto items = zero_based(c, 1);
    return {op("stablehlo.dynamic_slice", items, c.outputs[0]->type,
               {"slice_sizes = " + array(c.params.ints("slice_sizes"))})};
  }
  std::vector<Item> dynamic_update_slice(const Call& c) {
    auto items = zero_based(c, 2);
    return {op("stablehlo.dynamic_update_slice", items, c.outputs[0]->type)};
  }

  // The two scalars of a reducer and its body.
  std::function<void()> reducer(const std::string& operation, DType dtype) {
    return [this, operation, dtype] {
      std::string id = std::to_string(next_++);
      std::vector<Item> arguments = {{"%a" + id, typed(dtype)}, {"%b" + id, typed(dtype)}};
      block_arguments(arguments);
      yield("stablehlo.return", {op(operation, arguments, typed(dtype))});
    };
  }
  struct Monoid {
    std::string op;
    Scalar initial;
  };
  static Monoid monoid(std::string_view primitive, DType t) {
    std::string_view kind = primitive.substr(primitive.find_first_of("_") + 1);
    if (kind == "sum") return {is_bool(t) ? "stablehlo.or" : "stablehlo.add", Scalar(0)};
    if (kind == "prod") return {is_bool(t) ? "stablehlo.and" : "stablehlo.multiply", Scalar(1)};
    if (kind == "max") return {"stablehlo.maximum", lowest(t)};
    if (kind == "min") return {"stablehlo.minimum", highest(t)};
    if (kind == "any") return {"stablehlo.or", Scalar(false)};
    return {"stablehlo.and", Scalar(true)};
  }
  std::vector<Item> reduce(const Call& c) {
    Item x = use(c.inputs[0]);
    const Ints& dims = c.params.ints("dims");
    Monoid m = monoid(c.primitive->name, x.type.dtype);
    Item initial = number(m.initial, x.type.dtype);
    Shape kept;
    for (size_t d = 0; d < x.type.shape.size(); ++d)
      if (std::find(dims.begin(), dims.end(), static_cast<int64_t>(d)) == dims.end()) kept.push_back(x.type.shape[d]);
    Item y = op_with_regions("stablehlo.reduce", {x, initial}, {typed(x.type.dtype, kept)},
                             {reducer(m.op, x.type.dtype)}, {"dimensions = " + array(dims)})[0];
    if (!c.params.flag("drop")) y = op("stablehlo.reshape", {y}, c.outputs[0]->type);
    return {y};
  }
  std::vector<Item> cumsum(const Call& c) {
    Item x = use(c.inputs[0]);
    auto axis = static_cast<size_t>(c.params.integer("dim"));
    size_t rank = x.type.shape.size();
    if (x.type.shape[axis] == 0) return {x};
    Item initial = number(Scalar(0), x.type.dtype);
    Ints window(rank, 1), ones(rank, 1);
    window[axis] = x.type.shape[axis];
    std::string padding;
    for (size_t d = 0; d < rank; ++d) padding += (d ? ", [" : "[") + std::to_string(window[d] - 1) + ", 0]";
    return op_with_regions("stablehlo.reduce_window", {x, initial}, {x.type}, {reducer("stablehlo.add", x.type.dtype)},
                           {"window_dimensions = " + array(window), "window_strides = " + array(ones),
                            "base_dilations = " + array(ones), "window_dilations = " + array(ones),
                            "padding = dense<[" + padding + "]> : tensor<" + std::to_string(rank) + "x2xi64>"});
  }

  std::vector<Item> dot_general(const Call& c) {
    std::vector<Item> o = use_all(c.inputs);
    const auto& contracting = c.params.get<std::vector<Ints>>("contracting_dims");
    const auto& batching = c.params.get<std::vector<Ints>>("batching_dims");
    std::string body = "stablehlo.dot_general " + o[0].name + ", " + o[1].name +
                       ", batching_dims = " + brackets(batching[0]) + " x " + brackets(batching[1]) +
                       ", contracting_dims = " + brackets(contracting[0]) + " x " + brackets(contracting[1]);
    return {pretty(body, o, c.outputs[0]->type, ": ")};
  }

  // StableHLO leaves the other triangle open; ours is zero.
  std::vector<Item> cholesky(const Call& c) {
    Item x = use(c.inputs[0]);
    bool lower = c.params.flag("lower");
    Item y = op("stablehlo.cholesky", {x}, x.type, {"lower = " + boolean(lower)});
    auto rank = static_cast<int64_t>(x.type.shape.size());
    TensorType index = typed(DType::i32, x.type.shape);
    Item row = op("stablehlo.iota", {}, index, {"iota_dimension = " + std::to_string(rank - 2) + " : i64"});
    Item column = op("stablehlo.iota", {}, index, {"iota_dimension = " + std::to_string(rank - 1) + " : i64"});
    Item keep = compared(lower ? "GE" : "LE", row, column);
    Item zero = number(Scalar(0), x.type.dtype, x.type.shape);
    return {op("stablehlo.select", {keep, y, zero}, x.type)};
  }
  std::vector<Item> triangular_solve(const Call& c) {
    return {op("stablehlo.triangular_solve", use_all(c.inputs), c.outputs[0]->type,
               {"left_side = " + boolean(c.params.flag("left_side")), "lower = " + boolean(c.params.flag("lower")),
                "unit_diagonal = " + boolean(c.params.flag("unit_diagonal")),
                std::string("transpose_a = #stablehlo<transpose ") +
                    (c.params.flag("transpose_a") ? "TRANSPOSE>" : "NO_TRANSPOSE>")})};
  }
  std::vector<Item> rng_bit_generator(const Call& c) {
    const TensorType& type = c.outputs[1]->type;
    // the operator draws integers; floats take their bits
    DType bits = type.dtype == DType::f32 ? DType::ui32 : type.dtype == DType::f64 ? DType::ui64 : type.dtype;
    std::vector<Item> items =
        op("stablehlo.rng_bit_generator", use_all(c.inputs), {c.outputs[0]->type, typed(bits, type.shape)},
           {"rng_algorithm = #stablehlo<rng_algorithm " + c.params.string("rng_algorithm") + ">"});
    if (bits != type.dtype) items[1] = op("stablehlo.bitcast_convert", {items[1]}, type);
    return items;
  }

  std::vector<Item> branch(const Call& c) {
    Item predicate = use(c.inputs[0]);
    std::vector<TensorType> results;
    for (const auto& v : c.outputs) results.push_back(v->type);
    auto region = [this](const graph::GraphPtr& g) {
      return [this, g] {
        calls(*g);
        yield("stablehlo.return", use_all(g->outputs));
      };
    };
    return op_with_regions("stablehlo.if", {predicate}, results,
                           {region(c.params.graph("true_graph")), region(c.params.graph("false_graph"))}, {});
  }
  std::vector<Item> loop(const Call& c) {
    std::vector<Item> state = use_all(c.inputs);
    std::vector<TensorType> results;
    for (const auto& v : c.outputs) results.push_back(v->type);
    auto region = [this](const graph::GraphPtr& g) {
      return [this, g] {
        std::vector<Item> arguments;
        for (const auto& v : g->inputs) {
          arguments.push_back({"%arg" + std::to_string(next_++), v->type});
          define(v, arguments.back().name);
        }
        block_arguments(arguments);
        calls(*g);
        yield("stablehlo.return", use_all(g->outputs));
      };
    };
    return op_with_regions("stablehlo.while", state, results,
                           {region(c.params.graph("cond_graph")), region(c.params.graph("body_graph"))}, {});
  }
};

const std::unordered_map<std::string_view, Writer::Rule>& Writer::special() {
  static const std::unordered_map<std::string_view, Rule> rules = {
      {"fill", &Writer::fill},
      {"round", &Writer::round},
      {"reshape", &Writer::reshape},
      {"iota", &Writer::iota},
      {"equal", &Writer::compare},
      {"not_equal", &Writer::compare},
      {"greater", &Writer::compare},
      {"greater_equal", &Writer::compare},
      {"less", &Writer::compare},
      {"less_equal", &Writer::compare},
      {"dynamic_slice", &Writer::dynamic_slice},
      {"dynamic_update_slice", &Writer::dynamic_update_slice},
      {"reduce_sum", &Writer::reduce},
      {"reduce_prod", &Writer::reduce},
      {"reduce_max", &Writer::reduce},
      {"reduce_min", &Writer::reduce},
      {"reduce_any", &Writer::reduce},
      {"reduce_all", &Writer::reduce},
      {"cumsum", &Writer::cumsum},
      {"dot_general", &Writer::dot_general},
      {"cholesky", &Writer::cholesky},
      {"triangular_solve", &Writer::triangular_solve},
      {"rng_bit_generator", &Writer::rng_bit_generator},
      {"if", &Writer::branch},
      {"while", &Writer::loop}};
  return rules;
}

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

Written write(const Graph& written_graph, bool constants_as_inputs) {
  graph::GraphPtr expanded = primitives::expand(written_graph, true);
  const Graph& g = *expanded;
  Written written;
  if (constants_as_inputs) {
    // in the order of the graph's list, as far as they are in use
    std::unordered_set<const graph::Value*> seen;
    std::vector<ValuePtr> used;
    collect_constants(g, seen, used);
    for (const auto& v : g.constants)
      if (seen.count(v.get())) written.constants.push_back(v);
    for (const auto& v : used)
      if (std::find(written.constants.begin(), written.constants.end(), v) == written.constants.end())
        written.constants.push_back(v);
  }
  Writer w;
  std::string arguments, results;
  auto argument = [&](const ValuePtr& v) {
    std::string id = w.fresh();
    w.define(v, id);
    arguments += (arguments.empty() ? "" : ", ") + id + ": " + hlo_text(v->type);
  };
  for (const auto& v : written.constants) argument(v);
  for (const auto& v : g.inputs) argument(v);
  std::vector<TensorType> out;
  for (const auto& v : g.outputs) out.push_back(v->type);
  results = out.size() == 1 ? hlo_text(out[0]) : types(out);
  w.calls(g);
  w.yield("func.return", w.use_all(g.outputs));
  written.text = "func.func @main (" + arguments + ") -> " + results + " {\n" + w.text + "}\n";
  return written;
}

}  // namespace anvil::stablehlo
