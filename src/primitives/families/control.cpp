// if, while, while_record and tape_scan. They have no loop rule and no reverse rule here:
// the compiler and reverse mode treat them with their inner graphs as a whole.
#include "primitives/families/control.h"
#include "primitives/families/families.h"

#include <numeric>

namespace anvil::primitives {
namespace {

using graph::Call;
using graph::Graph;
using graph::GraphPtr;
using Types = std::vector<TensorType>;

std::string counted(size_t n, const char* what) { return std::to_string(n) + " " + what + (n == 1 ? "" : "s"); }

void check_state(const Types& state, const std::vector<ValuePtr>& next) {
  if (next.size() != state.size())
    throw Error("argument", "`body` must have the same input and output structure.",
                {"x The state has " + counted(state.size(), "element") + ", but `body` returns " +
                 counted(next.size(), "element") + "."});
  for (size_t i = 0; i < state.size(); ++i) {
    const TensorType &expected = state[i], &got = next[i]->type;
    if (same_type(expected, got)) continue;
    bool dtype = expected.dtype != got.dtype;
    std::string element = "state element " + std::to_string(i + 1);
    throw Error(dtype ? "dtype" : "shape", "`body` must return the types of the state that it gets.",
                {"x Expected " + text(expected) + " for " + element + ", but `body` returns " + text(got) + ".",
                 dtype ? "i Give `init` the dtype " + std::string(name(got.dtype)) +
                             ", or convert the result of `body` with `nv_convert()`."
                       : "i A state cannot change its shape from one iteration to the next."});
  }
}

void check_condition(const Graph& condition, const Types& state) {
  if (condition.inputs.size() != state.size())
    throw Error("argument", "`cond` and `body` must have the same input structure.",
                {"x The state has " + counted(state.size(), "element") + ", but `cond` takes " +
                 counted(condition.inputs.size(), "input") + "."});
  if (condition.outputs.size() != 1)
    throw Error("argument", "`cond` must return a single value.",
                {"x Got " + counted(condition.outputs.size(), "value") + "."});
  const TensorType& t = condition.outputs[0]->type;
  if (!is_bool(t.dtype))
    throw Error("dtype", "`cond` must return a bool scalar.",
                {"x Got " + text(t) + ".", "i Compare values, for example with `<`."});
  if (!t.shape.empty())
    throw Error("shape", "`cond` must return a bool scalar.",
                {"x Got " + text(t) + ".", "i Reduce it with `nv_reduce_any()` or `nv_reduce_all()`."});
}

void check_inputs(const char* graph_name, const Graph& g, const Types& expected) {
  if (g.inputs.size() != expected.size())
    throw Error("argument", std::string("`") + graph_name + "` takes " + counted(g.inputs.size(), "input") +
                                ", but the state has " + counted(expected.size(), "element") + ".");
  for (size_t i = 0; i < expected.size(); ++i)
    if (!same_type(g.inputs[i]->type, expected[i]))
      throw InternalError(std::string("graph: input ") + std::to_string(i + 1) + " of " + graph_name + " is " +
                          text(g.inputs[i]->type) + ", the state is " + text(expected[i]));
}

Types infer_while(const Types& state, const Params& params) {
  const Graph &condition = *params.graph("cond_graph"), &body = *params.graph("body_graph");
  if (state.empty())
    throw Error("argument", "`init` must have at least one element.", {"i A loop without a state can never end."});
  check_condition(condition, state);
  check_inputs("cond", condition, state);
  check_inputs("body", body, state);
  check_state(state, body.outputs);
  return state;
}

Types infer_if(const Types& operands, const Params& params) {
  if (!operands[0].shape.empty())
    throw Error("shape", "`pred` must be a scalar.", {"x Got shape " + in_parentheses(operands[0].shape) + "."});
  const Graph &yes = *params.graph("true_graph"), &no = *params.graph("false_graph");
  if (!yes.inputs.empty() || !no.inputs.empty()) throw Error("argument", "`true` and `false` must take no arguments.");
  if (yes.outputs.size() != no.outputs.size())
    throw Error("argument", "true and false branches must have the same output structure.",
                {"x `true` returns " + counted(yes.outputs.size(), "value") + ", `false` " +
                 counted(no.outputs.size(), "value") + "."});
  Types results;
  for (size_t i = 0; i < yes.outputs.size(); ++i) {
    const TensorType &a = yes.outputs[i]->type, &b = no.outputs[i]->type;
    if (!same_type(a, b)) {
      bool dtype = a.dtype != b.dtype;
      throw Error(
          dtype ? "dtype" : "shape", "true and false branches must return the same types.",
          {"x Output " + std::to_string(i + 1) + " is " + text(a) + " in `true` and " + text(b) + " in `false`.",
           dtype ? "i Convert one of them with `nv_convert()`." : "i Broadcast or reshape one of them."});
    }
    results.push_back({a.dtype, a.shape, a.ambiguous && b.ambiguous});
  }
  return results;
}

size_t total(const std::vector<int64_t>& counts) {
  return static_cast<size_t>(std::accumulate(counts.begin(), counts.end(), int64_t(0)));
}

Types infer_while_record(const Types& state, const Params& params) {
  Types results = infer_while(state, params);
  for (int64_t field : params.ints("fields"))
    if (field < 0 || static_cast<size_t>(field) >= state.size())
      throw InternalError("while_record: there is no such state element");
  results.push_back(graph::tape_type);
  return results;
}

Types infer_tape_scan(const Types& operands, const Params& params) {
  const Graph& body = *params.graph("body_graph");
  const auto& field_counts = params.ints("field_counts");
  size_t tapes = field_counts.size();
  auto check = [](bool right, const char* what) {
    if (!right) throw InternalError(std::string("tape_scan: ") + what);
  };
  check(tapes >= 1 && tapes <= operands.size(), "the number of tapes is wrong");
  for (size_t i = 0; i < tapes; ++i) check(operands[i].tape, "an operand is no tape");
  Types results(operands.begin() + static_cast<std::ptrdiff_t>(tapes), operands.end());
  size_t first_carry = total(field_counts);
  check(params.ints("last_first").size() == tapes, "a tape has no direction");
  check(body.inputs.size() == first_carry + results.size(), "the body has another number of inputs");
  check(body.outputs.size() == results.size() + total(params.ints("new_field_counts")),
        "the body has another number of outputs");
  for (size_t i = 0; i < results.size(); ++i) {
    check(same_type(body.inputs[first_carry + i]->type, results[i]), "the body takes another carry");
    check(same_type(body.outputs[i]->type, results[i]), "the body gives another carry");
  }
  results.insert(results.end(), params.ints("new_field_counts").size(), graph::tape_type);
  return results;
}

// ---- how values enter and leave the inner graphs --------------------------------------------

// n values, from place `from` of one list on, are those from place `to` on of another.
std::vector<Flow> side_by_side(size_t n, size_t from = 0, size_t to = 0) {
  std::vector<Flow> flows;
  for (size_t i = 0; i < n; ++i) flows.push_back({from + i, to + i});
  return flows;
}

std::vector<Region> branch_regions(const Call& c) {
  const auto leave = side_by_side(c.outputs.size());
  return {{c.params.graph("true_graph"), {}, {}, leave, {}}, {c.params.graph("false_graph"), {}, {}, leave, {}}};
}

std::vector<Region> loop_regions(const Call& c) {
  const size_t n = c.inputs.size();
  const auto state = side_by_side(n);
  Region test{c.params.graph("cond_graph"), state, state, {}, {}};
  Region body{c.params.graph("body_graph"), state, state, state, state};
  if (records(c))
    for (int64_t field : c.params.ints("fields")) body.pass.push_back({static_cast<size_t>(field), n});
  return {test, body};
}

std::vector<Region> scan_regions(const Call& c) {
  const auto &counts = c.params.ints("field_counts"), &new_counts = c.params.ints("new_field_counts");
  const size_t tapes = counts.size(), fields = total(counts), carried = c.inputs.size() - tapes;
  Region body{c.params.graph("body_graph"), side_by_side(carried, tapes, fields), side_by_side(carried, 0, fields),
              side_by_side(carried), side_by_side(carried, fields)};
  size_t field = 0, made = carried;
  for (size_t t = 0; t < tapes; ++t)
    for (int64_t i = 0; i < counts[t]; ++i) body.enter.push_back({t, field++});
  for (size_t t = 0; t < new_counts.size(); ++t)
    for (int64_t i = 0; i < new_counts[t]; ++i) body.leave.push_back({made++, carried + t});
  return {body};
}

Primitive make_control(std::string name, Control control, std::vector<std::string> operands,
                       std::vector<std::string> graphs, Types (*infer)(const Types&, const Params&), HloForm hlo) {
  Primitive p;
  p.name = std::move(name);
  p.family = "control";
  p.control = control;
  p.regions = control == Control::branch ? branch_regions : control == Control::loop ? loop_regions : scan_regions;
  p.operands = std::move(operands);
  for (std::string& g : graphs) p.parameters.push_back({std::move(g), ParamSpec::Kind::graph});
  p.infer = infer;
  p.hlo = std::move(hlo);
  return p;
}

}  // namespace

std::vector<TensorType> record_layout(const graph::Call& call, size_t output) {
  std::vector<TensorType> layout;
  if (control_of(call) == Control::loop) {
    for (int64_t field : call.params.ints("fields")) layout.push_back(call.inputs.at(static_cast<size_t>(field))->type);
    return layout;
  }
  size_t carried = call.inputs.size() - call.params.ints("field_counts").size(), field = carried;
  const auto& counts = call.params.ints("new_field_counts");
  for (size_t t = 0; t < output - carried; ++t) field += static_cast<size_t>(counts.at(t));
  for (int64_t i = 0; i < counts.at(output - carried); ++i)
    layout.push_back(call.params.graph("body_graph")->outputs.at(field++)->type);
  return layout;
}

bool records(const Call& c) { return control_of(c) == Control::loop && c.params.find("fields") != nullptr; }

ValuePtr begin_recording(Call& c, std::vector<int64_t> fields) {
  c.primitive = &registry().at("while_record");
  c.params.items.push_back({"fields", std::move(fields), true});
  c.outputs.push_back(make_value(graph::Value::Kind::result, graph::tape_type));
  return c.outputs.back();
}

std::vector<ValuePtr> branch(Graph& to, const ValuePtr& condition, GraphPtr yes, GraphPtr no) {
  return record(to, registry().at("if"), {condition}, {{"true_graph", std::move(yes)}, {"false_graph", std::move(no)}});
}
std::vector<ValuePtr> loop(Graph& to, std::vector<ValuePtr> state, GraphPtr condition, GraphPtr body) {
  return record(to, registry().at("while"), std::move(state),
                {{"cond_graph", std::move(condition)}, {"body_graph", std::move(body)}});
}
std::vector<ValuePtr> recording_loop(Graph& to, std::vector<ValuePtr> state, GraphPtr condition, GraphPtr body,
                                     std::vector<int64_t> fields) {
  return record(
      to, registry().at("while_record"), std::move(state),
      {{"cond_graph", std::move(condition)}, {"body_graph", std::move(body)}, {"fields", std::move(fields), true}});
}
std::vector<ValuePtr> scan_tapes(Graph& to, std::vector<ValuePtr> operands, Scan s) {
  return record(to, registry().at("tape_scan"), std::move(operands),
                {{"body_graph", std::move(s.body)},
                 {"field_counts", std::move(s.field_counts)},
                 {"last_first", std::move(s.last_first)},
                 {"new_field_counts", std::move(s.new_field_counts)}});
}

void register_control(Registry& r) {
  Primitive branch = make_control("if", Control::branch, {"pred"}, {"true_graph", "false_graph"}, infer_if,
                                  {"stablehlo.if", {}, special});
  branch.group = Group::boolean;
  r.add(std::move(branch));
  r.add(make_control("while", Control::loop, {"..."}, {"cond_graph", "body_graph"}, infer_while,
                     {"stablehlo.while", {}, special}));
  Primitive record =
      make_control("while_record", Control::loop, {"..."}, {"cond_graph", "body_graph"}, infer_while_record, {});
  record.parameters.push_back({"fields", ParamSpec::Kind::axes});
  r.add(std::move(record));
  Primitive scan = make_control("tape_scan", Control::scan, {"..."}, {"body_graph"}, infer_tape_scan, {});
  for (const char* counts : {"field_counts", "last_first", "new_field_counts"})
    scan.parameters.push_back({counts, ParamSpec::Kind::sizes});
  r.add(std::move(scan));
}

}  // namespace anvil::primitives
