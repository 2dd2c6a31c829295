// The tree of a StableHLO text to a graph. Elementwise operators come from the registry's
// table; the others have one function each. Functions are inlined where they are called.
#include <algorithm>
#include <functional>
#include <unordered_map>

#include "backend/stablehlo/attributes.h"
#include "backend/stablehlo/layout.h"
#include "backend/stablehlo/stablehlo.h"
#include "primitives/build.h"
#include "transform/simplify.h"

namespace anvil::stablehlo {
namespace {

using graph::Graph;
using graph::GraphPtr;
using graph::Params;
using graph::TensorType;
using graph::ValuePtr;
using primitives::Var;

class Importer {
 public:
  explicit Importer(const Module& m) : module_(m) {
    for (const Function& f : m.functions)
      if (!functions_.emplace(f.name, &f).second) refuse(f.at, "the function `@" + f.name + "` is defined twice");
    for (const primitives::Primitive* p : primitives::registry().all())
      if (p->elementwise && p->hlo.form.empty() && !p->hlo.op.empty() && p->parameters.empty())
        elementwise_.emplace(p->hlo.op, p);
  }

  GraphPtr run() {
    const Function& f = entry();
    auto g = std::make_shared<Graph>();
    Frame frame(*this, *g);
    std::vector<ValuePtr> arguments;
    for (const Argument& a : f.body.arguments)
      arguments.push_back(graph::make_value(graph::Value::Kind::input, a.type));
    g->inputs = arguments;
    g->outputs = inlined(f, arguments);
    return g;
  }

 private:
  using Rule = std::vector<ValuePtr> (Importer::*)(const Operation&, const std::vector<Var>&);
  using Scope = std::unordered_map<std::string, ValuePtr>;

  // Where calls are recorded: the graph of the function or region being read.
  struct Frame {
    Frame(Importer& i, Graph& g) : importer(i), outer(i.graph_) { i.graph_ = &g; }
    ~Frame() { importer.graph_ = outer; }
    Importer& importer;
    Graph* outer;
  };

  const Function& entry() const {
    if (auto it = functions_.find("main"); it != functions_.end()) return *it->second;
    const Function* found = nullptr;
    for (const Function& f : module_.functions) {
      if (!f.is_public) continue;
      if (found) refuse(f.at, "there is no `@main`, and more than one public function");
      found = &f;
    }
    if (!found) refuse({}, "the text has no function to run");
    return *found;
  }

  std::vector<ValuePtr> inlined(const Function& f, const std::vector<ValuePtr>& arguments) {
    if (std::find(active_.begin(), active_.end(), &f) != active_.end())
      refuse(f.at, "`@" + f.name + "` calls itself; recursion is not supported");
    active_.push_back(&f);
    std::vector<Scope> outer = std::move(scopes_);
    scopes_ = {};
    std::vector<ValuePtr> results = body(f.body, arguments);
    scopes_ = std::move(outer);
    active_.pop_back();
    if (results.size() != f.results.size())
      refuse(f.at, "`@" + f.name + "` returns " + std::to_string(results.size()) + " values but declares " +
                       std::to_string(f.results.size()));
    for (size_t i = 0; i < results.size(); ++i)
      check_type(f.at, "result of `@" + f.name + "`", results[i]->type, f.results[i]);
    return results;
  }

  // The operations of a region in a scope of its own; gives what its terminator returns.
  std::vector<ValuePtr> body(const Region& r, const std::vector<ValuePtr>& arguments) {
    scopes_.emplace_back();
    for (size_t i = 0; i < r.arguments.size(); ++i) scopes_.back()[r.arguments[i].name] = arguments[i];
    for (size_t k = 0; k < r.operations.size(); ++k) {
      const Operation& op = r.operations[k];
      if (op.name == "func.return" || op.name == "stablehlo.return") {
        if (k + 1 != r.operations.size()) refuse(op.at, "operations follow a return");
        std::vector<ValuePtr> results;
        for (const Var& v : operands(op)) results.push_back(v.value);
        scopes_.pop_back();
        return results;
      }
      operation(op);
    }
    refuse(r.operations.empty() ? Position{} : r.operations.back().at,
           "a region or function does not end with a return");
  }

  GraphPtr region(const Region& r) {
    auto g = std::make_shared<Graph>();
    Frame frame(*this, *g);
    for (const Argument& a : r.arguments) g->inputs.push_back(graph::make_value(graph::Value::Kind::input, a.type));
    g->outputs = body(r, g->inputs);
    return g;
  }

  static void check_type(Position at, const std::string& what, const TensorType& got, const TensorType& declared) {
    if (!same_type(got, declared))
      refuse(at, "the " + what + " has type " + hlo_text(got) + " but " + hlo_text(declared) + " is written");
  }

  std::vector<Var> operands(const Operation& op) {
    std::vector<Var> found;
    for (size_t i = 0; i < op.operands.size(); ++i) {
      std::string id = op.operands[i];
      ValuePtr v = lookup(id);
      if (!v && id.size() > 2 && id.substr(id.size() - 2) == "#0") v = lookup(id.substr(0, id.size() - 2));
      if (!v) refuse(op.at, "`" + id + "` is not defined");
      check_type(op.at, "value `" + id + "`", v->type, op.operand_types[i]);
      found.push_back({graph_, v});
    }
    return found;
  }
  ValuePtr lookup(const std::string& id) const {
    for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope)
      if (auto it = scope->find(id); it != scope->end()) return it->second;
    return nullptr;
  }

  void operation(const Operation& op) {
    std::vector<Var> inputs = operands(op);
    std::vector<ValuePtr> results;
    try {
      if (auto it = elementwise_.find(op.name); it != elementwise_.end()) {
        std::vector<ValuePtr> values;
        for (const Var& v : inputs) values.push_back(v.value);
        results = primitives::record(*graph_, *it->second, values);
        if (op.name == "stablehlo.subtract" && is_one(values[1])) decremented_[results[0].get()] = values[0];
      } else if (auto rule = rules().find(op.name); rule != rules().end()) {
        results = (this->*rule->second)(op, inputs);
      } else {
        refuse(op.at, "the operation `" + op.name + "` is not supported");
      }
    } catch (const Error& e) {
      if (e.kind == "stablehlo") throw;
      refuse(op.at, "`" + op.name + "`: " + e.what(), e.details);
    }
    if (results.size() != op.results.size() && !op.results.empty())
      refuse(op.at, "`" + op.name + "` has " + std::to_string(results.size()) + " results");
    for (size_t i = 0; i < op.results.size(); ++i) {
      check_type(op.at, "result of `" + op.name + "`", results[i]->type, op.result_types[i]);
      scopes_.back()[op.results[i]] = results[i];
    }
  }

  // ---- one rule an operation -----------------------------------------------------------
  std::vector<ValuePtr> constant(const Operation& op, const std::vector<Var>&) {
    const Attribute& a = need(op, {"value"});
    auto d = std::get_if<Dense>(&a.value);
    if (!d) refuse(op.at, "the value of a constant should be a dense literal");
    size_t first = d->body.find_first_not_of(" \t\r\n");
    char c = first == std::string_view::npos ? '\0' : d->body[first];
    if (c != '[' && c != '"' && c != '\0')  // one number for all elements
      return {
          graph::make_literal(graph::element(dense_tensor({d->body, {d->type.dtype, {}, false}}, op.at), 0), d->type)};
    graph::Tensor t = dense_tensor(*d, op.at);
    if (elements(t.type.shape) == 1) return {graph::make_literal(graph::element(t, 0), t.type)};
    ValuePtr v = graph::make_constant(t);
    graph_->constants.push_back(v);
    return {v};
  }
  std::vector<ValuePtr> compare(const Operation& op, const std::vector<Var>& x) {
    need_operands(op, 2);
    std::string direction = word(op, "comparison_direction"), kind = word(op, "compare_type");
    for (const Attribute& a : op.words)
      if (auto w = std::get_if<Word>(&a.value)) (direction.empty() ? direction : kind) = w->text;
    if (kind == "TOTALORDER" && is_float(x[0].dtype())) refuse(op.at, "comparisons in total order are not supported");
    static const std::unordered_map<std::string, const char*> names = {{"EQ", "equal"},   {"NE", "not_equal"},
                                                                       {"GT", "greater"}, {"GE", "greater_equal"},
                                                                       {"LT", "less"},    {"LE", "less_equal"}};
    auto it = names.find(direction);
    if (it == names.end()) refuse(op.at, "`" + direction + "` is no direction of a comparison");
    return {primitives::record(it->second, x).value};
  }
  std::vector<ValuePtr> round(const Operation& op, const std::vector<Var>& x) {
    bool even = op.name == "stablehlo.round_nearest_even";
    return {primitives::record("round", x, {{"method", std::string(even ? "nearest_even" : "afz")}}).value};
  }
  std::vector<ValuePtr> convert(const Operation& op, const std::vector<Var>& x) {
    return {primitives::record("convert", x, {{"dtype", result_type(op).dtype}, {"ambiguous", false}}).value};
  }
  std::vector<ValuePtr> bitcast(const Operation& op, const std::vector<Var>& x) {
    return {primitives::record("bitcast_convert", x, {{"dtype", result_type(op).dtype}}).value};
  }
  std::vector<ValuePtr> iota(const Operation& op, const std::vector<Var>&) {
    const TensorType& t = result_type(op);
    int64_t dim = integer(op, need(op, {"iota_dimension", "dim"}));
    return {primitives::iota(*graph_, dim, t.dtype, t.shape, 0).value};
  }
  std::vector<ValuePtr> broadcast_in_dim(const Operation& op, const std::vector<Var>& x) {
    need_operands(op, 1);
    return {
        primitives::broadcast_in_dim(x[0], result_type(op).shape, ints(op, need(op, {"broadcast_dimensions", "dims"})))
            .value};
  }
  // Transposes of transposes are one, or none.
  Var transposed(Var x, Ints permutation) {
    Var source = x;
    if (auto it = transposes_.find(x.value.get()); it != transposes_.end()) {
      source.value = it->second.first;
      for (int64_t& d : permutation) d = it->second.second[static_cast<size_t>(d)];
    }
    if (std::is_sorted(permutation.begin(), permutation.end())) return source;
    Var y = primitives::transpose(source, permutation);
    transposes_[y.value.get()] = {source.value, permutation};
    return y;
  }
  std::vector<ValuePtr> transpose(const Operation& op, const std::vector<Var>& x) {
    need_operands(op, 1);
    Ints permutation = ints(op, need(op, {"permutation", "dims"})), sorted = permutation;
    std::sort(sorted.begin(), sorted.end());
    for (size_t d = 0; d < sorted.size(); ++d)
      if (sorted[d] != static_cast<int64_t>(d) || sorted.size() != x[0].shape().size())
        refuse(op.at, "`permutation` is no permutation");
    return {transposed(x[0], permutation).value};
  }
  // Row-major order is R's order of the reversed dimensions.
  std::vector<ValuePtr> reshape(const Operation& op, const std::vector<Var>& x) {
    need_operands(op, 1);
    const Shape& shape = result_type(op).shape;
    if (same_without_ones(x[0].shape(), shape)) return {primitives::reshape(x[0], shape).value};
    auto turned = [this](Var v) { return v.shape().size() < 2 ? v : transposed(v, reversal(v.shape().size())); };
    return {turned(primitives::reshape(turned(x[0]), reversed(shape))).value};
  }
  std::vector<ValuePtr> concatenate(const Operation& op, const std::vector<Var>& x) {
    return {primitives::concatenate(x, integer(op, need(op, {"dimension", "dim"}))).value};
  }
  std::vector<ValuePtr> slice(const Operation& op, const std::vector<Var>& x) {
    need_operands(op, 1);
    size_t rank = x[0].shape().size();
    Ints starts, limits, strides;
    if (op.words.empty()) {
      starts = ints(op, need(op, {"start_indices"}));
      limits = ints(op, need(op, {"limit_indices"}));
      strides = ints_or(op, {"strides"}, Ints(rank, 1));
    } else {
      const auto* items = std::get_if<std::vector<Attribute>>(&op.words[0].value);
      if (!items) refuse(op.at, "the ranges of `stablehlo.slice` are malformed");
      for (const Attribute& item : *items) {
        const auto* range = std::get_if<std::vector<Attribute>>(&item.value);
        if (!range || range->size() < 2) refuse(op.at, "the ranges of `stablehlo.slice` are malformed");
        starts.push_back(integer(op, (*range)[0]));
        limits.push_back(integer(op, (*range)[1]));
        strides.push_back(range->size() > 2 ? integer(op, (*range)[2]) : 1);
      }
    }
    return {primitives::slice(x[0], starts, limits, strides).value};
  }
  // Starts are 1-based in our graphs; the writer's subtraction of 1 is taken back.
  std::vector<Var> one_based(const std::vector<Var>& x, size_t first) {
    std::vector<Var> starts;
    for (size_t i = first; i < x.size(); ++i) {
      const auto& v = x[i].value;
      if (auto it = decremented_.find(v.get()); it != decremented_.end())
        starts.push_back({graph_, it->second});
      else if (v->kind == graph::Value::Kind::literal)
        starts.push_back({graph_, graph::make_literal(Scalar(v->literal.as<int64_t>() + 1), v->type)});
      else
        starts.push_back(x[i] + primitives::literal(x[i], Scalar(1)));
    }
    return starts;
  }
  static bool is_one(const ValuePtr& v) {
    return v->kind == graph::Value::Kind::literal && v->type.shape.empty() && is_integer(v->type.dtype) &&
           v->literal.as<int64_t>() == 1;
  }
  std::vector<ValuePtr> dynamic_slice(const Operation& op, const std::vector<Var>& x) {
    if (x.empty()) refuse(op.at, "`stablehlo.dynamic_slice` needs an operand");
    return {primitives::dynamic_slice(x[0], one_based(x, 1), ints(op, need(op, {"slice_sizes", "sizes"}))).value};
  }
  std::vector<ValuePtr> dynamic_update_slice(const Operation& op, const std::vector<Var>& x) {
    if (x.size() < 2) refuse(op.at, "`stablehlo.dynamic_update_slice` needs an operand and an update");
    return {primitives::dynamic_update_slice(x[0], x[1], one_based(x, 2)).value};
  }
  std::vector<ValuePtr> pad(const Operation& op, const std::vector<Var>& x) {
    need_operands(op, 2);
    return {primitives::pad(x[0], x[1], ints(op, need(op, {"edge_padding_low", "low"})),
                            ints(op, need(op, {"edge_padding_high", "high"})),
                            ints(op, need(op, {"interior_padding", "interior"})))
                .value};
  }
  std::vector<ValuePtr> reverse(const Operation& op, const std::vector<Var>& x) {
    need_operands(op, 1);
    return {primitives::reverse(x[0], ints(op, need(op, {"dimensions", "dims"}))).value};
  }
  std::vector<ValuePtr> select(const Operation& op, const std::vector<Var>& x) {
    need_operands(op, 3);
    return {primitives::select(x[0], x[1], x[2]).value};
  }
  std::vector<ValuePtr> clamp(const Operation& op, const std::vector<Var>& x) {
    need_operands(op, 3);
    return {primitives::record("clamp", x).value};
  }

  // Our reductions start from the neutral element; another initial value enters by the operator.
  Var with_initial(Var reduced, Var initial, const std::string& combine, Scalar neutral) {
    if (initial.value->kind == graph::Value::Kind::literal &&
        initial.value->literal.rounded_to(initial.dtype()) == neutral.rounded_to(initial.dtype()))
      return reduced;
    return primitives::record(combine.c_str(), {primitives::broadcast_to_like(initial, reduced), reduced});
  }
  std::vector<ValuePtr> reduce(const Operation& op, const std::vector<Var>& x) {
    need_operands(op, 2);
    std::string f = reducer(op);
    DType t = x[0].dtype();
    struct Kind {
      const char* primitive;
      const char* combine;
      Scalar neutral;
    };
    Kind k{};
    if (f == "stablehlo.add")
      k = {"reduce_sum", "add", Scalar(0)};
    else if (f == "stablehlo.multiply")
      k = {"reduce_prod", "mul", Scalar(1)};
    else if (f == "stablehlo.maximum")
      k = {"reduce_max", "maximum", lowest(t)};
    else if (f == "stablehlo.minimum")
      k = {"reduce_min", "minimum", highest(t)};
    else if (f == "stablehlo.or" && is_bool(t))
      k = {"reduce_any", "or", Scalar(false)};
    else if (f == "stablehlo.and" && is_bool(t))
      k = {"reduce_all", "and", Scalar(true)};
    else
      refuse(op.at, "reductions by `" + f + "` are not supported");
    Var y =
        primitives::record(k.primitive, {x[0]}, {{"dims", ints(op, need(op, {"dimensions"})), true}, {"drop", true}});
    return {with_initial(y, x[1], k.combine, k.neutral).value};
  }
  // Windows that grow along one axis are running sums.
  std::vector<ValuePtr> reduce_window(const Operation& op, const std::vector<Var>& x) {
    need_operands(op, 2);
    std::string f = reducer(op);
    const Shape& shape = x[0].shape();
    size_t rank = shape.size();
    Ints ones(rank, 1), window = ints(op, need(op, {"window_dimensions"})),
                        padding = ints_or(op, {"padding"}, Ints(2 * rank, 0));
    bool plain = ints_or(op, {"window_strides"}, ones) == ones && ints_or(op, {"base_dilations"}, ones) == ones &&
                 ints_or(op, {"window_dilations"}, ones) == ones && window.size() == rank && padding.size() == 2 * rank;
    int64_t axis = -1;
    for (size_t d = 0; plain && d < rank; ++d) {
      plain = padding[2 * d + 1] == 0 && padding[2 * d] == window[d] - 1 &&
              (window[d] == 1 || (window[d] == shape[d] && axis < 0));
      if (window[d] != 1) axis = static_cast<int64_t>(d);
    }
    if (!plain || rank == 0 || f != "stablehlo.add")
      refuse(op.at, "of `stablehlo.reduce_window` only running sums along one axis are supported");
    Var sums = axis < 0 ? x[0] : primitives::cumsum(x[0], axis);  // windows of one element sum nothing
    return {with_initial(sums, x[1], "add", Scalar(0)).value};
  }
  std::vector<ValuePtr> dot_general(const Operation& op, const std::vector<Var>& x) {
    need_operands(op, 2);
    std::vector<Ints> contracting = {{}, {}}, batching = {{}, {}};
    if (const Attribute* a = find(op, {"dot_dimension_numbers"})) {
      auto d = std::get_if<std::shared_ptr<Dictionary>>(&a->value);
      if (!d) refuse(op.at, "`dot_dimension_numbers` is malformed");
      batching = {field(op, **d, "lhs_batching_dimensions"), field(op, **d, "rhs_batching_dimensions")};
      contracting = {field(op, **d, "lhs_contracting_dimensions"), field(op, **d, "rhs_contracting_dimensions")};
    } else {
      auto pair = [&](const char* name, std::vector<Ints>& into) {
        const Attribute* p = find(op, {name});
        if (!p) return;
        auto items = std::get_if<std::vector<Attribute>>(&p->value);
        if (!items || items->size() != 2) refuse(op.at, std::string("`") + name + "` is malformed");
        into = {ints(op, (*items)[0]), ints(op, (*items)[1])};
      };
      pair("batching_dims", batching);
      pair("contracting_dims", contracting);
    }
    return {primitives::dot_general(x[0], x[1], contracting[0], contracting[1], batching[0], batching[1]).value};
  }
  std::vector<ValuePtr> cholesky(const Operation& op, const std::vector<Var>& x) {
    return {primitives::record("cholesky", x, {{"lower", flag(op, "lower", false)}}).value};
  }
  std::vector<ValuePtr> triangular_solve(const Operation& op, const std::vector<Var>& x) {
    need_operands(op, 2);
    std::string transpose = word(op, "transpose_a");
    return {primitives::triangular_solve(x[0], x[1], flag(op, "left_side", true), flag(op, "lower", true),
                                         flag(op, "unit_diagonal", false),
                                         transpose == "TRANSPOSE" || transpose == "ADJOINT")
                .value};
  }
  std::vector<ValuePtr> rng_bit_generator(const Operation& op, const std::vector<Var>& x) {
    need_operands(op, 1);
    if (op.result_types.size() != 2) refuse(op.at, "`stablehlo.rng_bit_generator` has two results");
    std::string algorithm = word(op, "rng_algorithm");
    if (algorithm.empty()) algorithm = word(op, "algorithm");
    return primitives::record(
        *graph_, primitives::registry().at("rng_bit_generator"), {x[0].value},
        {{"rng_algorithm", algorithm}, {"dtype", op.result_types[1].dtype}, {"shape", op.result_types[1].shape}});
  }
  std::vector<ValuePtr> branch(const Operation& op, const std::vector<Var>& x) {
    need_operands(op, 1);
    GraphPtr yes = region(need_region(op, 0)), no = region(need_region(op, 1));
    return primitives::record(*graph_, primitives::registry().at("if"), {x[0].value},
                              {{"true_graph", yes}, {"false_graph", no}});
  }
  std::vector<ValuePtr> loop(const Operation& op, const std::vector<Var>& x) {
    std::vector<ValuePtr> state;
    for (const Var& v : x) state.push_back(v.value);
    for (size_t k = 0; k < 2; ++k)
      if (need_region(op, k).arguments.size() != x.size())
        refuse(op.at, "the regions of `stablehlo.while` take one argument for each operand");
    GraphPtr test = region(op.regions[0]), step = region(op.regions[1]);
    return primitives::record(*graph_, primitives::registry().at("while"), state,
                              {{"cond_graph", test}, {"body_graph", step}});
  }
  std::vector<ValuePtr> call(const Operation& op, const std::vector<Var>& x) {
    std::string callee = word(op, "callee");
    auto it = functions_.find(callee);
    if (it == functions_.end()) refuse(op.at, "there is no function `@" + callee + "`");
    const Function& f = *it->second;
    if (f.body.arguments.size() != x.size())
      refuse(op.at, "`@" + callee + "` takes " + std::to_string(f.body.arguments.size()) + " arguments");
    std::vector<ValuePtr> arguments;
    for (size_t i = 0; i < x.size(); ++i) {
      check_type(op.at, "argument of `@" + callee + "`", x[i].type(), f.body.arguments[i].type);
      arguments.push_back(x[i].value);
    }
    return inlined(f, arguments);
  }
  std::vector<ValuePtr> same(const Operation&, const std::vector<Var>& x) {
    std::vector<ValuePtr> values;
    for (const Var& v : x) values.push_back(v.value);
    return values;
  }

  static const std::unordered_map<std::string, Rule>& rules();

  const Module& module_;
  std::unordered_map<std::string, const Function*> functions_;
  std::unordered_map<std::string, const primitives::Primitive*> elementwise_;
  std::unordered_map<const graph::Value*, ValuePtr> decremented_;                  // x - 1: x
  std::unordered_map<const graph::Value*, std::pair<ValuePtr, Ints>> transposes_;  // result: operand, permutation
  std::vector<const Function*> active_;
  std::vector<Scope> scopes_;
  Graph* graph_ = nullptr;
};

const std::unordered_map<std::string, Importer::Rule>& Importer::rules() {
  static const std::unordered_map<std::string, Rule> table = {
      {"stablehlo.constant", &Importer::constant},
      {"stablehlo.compare", &Importer::compare},
      {"stablehlo.round_nearest_even", &Importer::round},
      {"stablehlo.round_nearest_afz", &Importer::round},
      {"stablehlo.convert", &Importer::convert},
      {"stablehlo.bitcast_convert", &Importer::bitcast},
      {"stablehlo.iota", &Importer::iota},
      {"stablehlo.broadcast_in_dim", &Importer::broadcast_in_dim},
      {"stablehlo.transpose", &Importer::transpose},
      {"stablehlo.reshape", &Importer::reshape},
      {"stablehlo.concatenate", &Importer::concatenate},
      {"stablehlo.slice", &Importer::slice},
      {"stablehlo.dynamic_slice", &Importer::dynamic_slice},
      {"stablehlo.dynamic_update_slice", &Importer::dynamic_update_slice},
      {"stablehlo.pad", &Importer::pad},
      {"stablehlo.reverse", &Importer::reverse},
      {"stablehlo.select", &Importer::select},
      {"stablehlo.clamp", &Importer::clamp},
      {"stablehlo.reduce", &Importer::reduce},
      {"stablehlo.reduce_window", &Importer::reduce_window},
      {"stablehlo.dot_general", &Importer::dot_general},
      {"stablehlo.cholesky", &Importer::cholesky},
      {"stablehlo.triangular_solve", &Importer::triangular_solve},
      {"stablehlo.rng_bit_generator", &Importer::rng_bit_generator},
      {"stablehlo.if", &Importer::branch},
      {"stablehlo.while", &Importer::loop},
      {"func.call", &Importer::call},
      {"stablehlo.optimization_barrier", &Importer::same}};
  return table;
}

}  // namespace

GraphPtr read(std::string_view text) {
  GraphPtr g = Importer(parse(text)).run();
  transform::remove_dead_calls(*g);  // what the rules took back
  return g;
}

}  // namespace anvil::stablehlo
