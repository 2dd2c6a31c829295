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

void check_state(const Types& state, const std::vector<ValuePtr>& next, size_t fields) {
  if (next.size() != state.size() + fields)
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

Types infer_loop(const Types& state, const Params& params, size_t fields) {
  const Graph &condition = *params.graph("cond_graph"), &body = *params.graph("body_graph");
  if (state.empty())
    throw Error("argument", "`init` must have at least one element.", {"i A loop without a state can never end."});
  check_condition(condition, state);
  check_inputs("cond", condition, state);
  check_inputs("body", body, state);
  check_state(state, body.outputs, fields);
  return state;
}
Types infer_while(const Types& state, const Params& params) { return infer_loop(state, params, 0); }

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
    results.push_back({a.dtype, a.shape, a.ambiguous && b.ambiguous, a.tape});
  }
  return results;
}

size_t total(const std::vector<int64_t>& counts) {
  return static_cast<size_t>(std::accumulate(counts.begin(), counts.end(), int64_t(0)));
}

Types infer_while_record(const Types& state, const Params& params) {
  const auto& counts = params.ints("new_field_counts");
  Types results = infer_loop(state, params, total(counts));
  results.insert(results.end(), counts.size(), graph::tape_type);
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

// The fields of new tapes leave a body after what it carries.
void leave_as_records(const Call& c, Region& body) {
  size_t result = carried(c), made = result;
  for (int64_t fields : new_field_counts(c)) {
    for (int64_t i = 0; i < fields; ++i) body.leave.push_back({made++, result});
    ++result;
  }
}

std::vector<Region> loop_regions(const Call& c) {
  const auto state = side_by_side(c.inputs.size());
  Region test{c.params.graph("cond_graph"), state, state, {}, {}};
  Region body{c.params.graph("body_graph"), state, state, state, state};
  leave_as_records(c, body);
  return {test, body};
}

std::vector<Region> scan_regions(const Call& c) {
  const auto& counts = c.params.ints("field_counts");
  const size_t tapes = counts.size(), fields = total(counts), n = carried(c);
  Region body{c.params.graph("body_graph"), side_by_side(n, tapes, fields), side_by_side(n, 0, fields), side_by_side(n),
              side_by_side(n, fields)};
  size_t field = 0;
  for (size_t t = 0; t < tapes; ++t)
    for (int64_t i = 0; i < counts[t]; ++i) body.enter.push_back({t, field++});
  leave_as_records(c, body);
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

std::vector<int64_t> new_field_counts(const Call& c) {
  return c.params.find("new_field_counts") == nullptr ? std::vector<int64_t>() : c.params.ints("new_field_counts");
}

std::vector<TensorType> record_layout(const Call& call, size_t output) {
  const auto counts = new_field_counts(call);
  size_t field = carried(call);
  const size_t tape = output - field;
  for (size_t t = 0; t < tape; ++t) field += static_cast<size_t>(counts.at(t));
  std::vector<TensorType> layout;
  for (int64_t i = 0; i < counts.at(tape); ++i)
    layout.push_back(call.params.graph("body_graph")->outputs.at(field++)->type);
  return layout;
}

ValuePtr add_tape(Call& c, GraphPtr body, size_t fields) {
  std::vector<int64_t> counts = new_field_counts(c);
  if (counts.empty() && control_of(c) == Control::loop) {
    c.primitive = &registry().at("while_record");
    c.params.items.push_back({"new_field_counts", counts});
  }
  counts.push_back(static_cast<int64_t>(fields));
  c.params.set("new_field_counts", std::move(counts));
  c.params.set("body_graph", std::move(body));
  c.outputs.push_back(make_value(graph::Value::Kind::result, graph::tape_type));
  return c.outputs.back();
}

void keep_tapes(Call& c, const std::vector<bool>& keep) {
  const auto counts = new_field_counts(c);
  const size_t n = carried(c);
  auto body = std::make_shared<Graph>(*c.params.graph("body_graph"));
  const std::vector<ValuePtr> made = body->outputs, results = c.outputs;
  body->outputs.resize(n);
  c.outputs.resize(n);
  std::vector<int64_t> kept;
  size_t field = n;
  for (size_t t = 0; t < counts.size(); ++t) {
    const size_t end = field + static_cast<size_t>(counts[t]);
    if (keep[t]) {
      kept.push_back(counts[t]);
      c.outputs.push_back(results[n + t]);
      for (size_t k = field; k < end; ++k) body->outputs.push_back(made[k]);
    }
    field = end;
  }
  c.params.set("body_graph", body);
  if (kept.empty() && control_of(c) == Control::loop) {
    c.primitive = &registry().at("while");
    std::erase_if(c.params.items, [](const graph::Param& p) { return p.name == "new_field_counts"; });
  } else {
    c.params.set("new_field_counts", std::move(kept));
  }
}

std::vector<ValuePtr> branch(Graph& to, const ValuePtr& condition, GraphPtr yes, GraphPtr no) {
  return record(to, registry().at("if"), {condition}, {{"true_graph", std::move(yes)}, {"false_graph", std::move(no)}});
}
Vars loop(Graph& to, const Vars& state, const Test& go_on, const Writer& step) {
  Types types;
  for (const Var& v : state) types.push_back(v.type());
  const auto test = [&go_on](Graph& g, const Vars& now) { return Vars{go_on(g, now)}; };
  return vars(to, record(to, registry().at("while"), values(state),
                         {{"cond_graph", inner_graph(types, test)}, {"body_graph", inner_graph(types, step)}}));
}
Vars counting_loop(Graph& to, const Var& end, const Vars& state, const CountedStep& step, int64_t by) {
  Vars counted = {literal(to, 0, {DType::i64, {}})};
  counted.insert(counted.end(), state.begin(), state.end());
  const auto below = [&end](Graph& g, const Vars& now) { return now[0] < Var{&g, end.value}; };
  counted = loop(to, counted, below, [&](Graph& g, const Vars& now) {
    Vars next = step(g, now[0], {now.begin() + 1, now.end()});
    next.insert(next.begin(), now[0] + static_cast<double>(by));
    return next;
  });
  return {counted.begin() + 1, counted.end()};
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
  Primitive loop = make_control("while", Control::loop, {"..."}, {"cond_graph", "body_graph"}, infer_while,
                                {"stablehlo.while", {}, special});
  loop.parameters.push_back({"segment", ParamSpec::Kind::integer, true});
  r.add(std::move(loop));
  Primitive record =
      make_control("while_record", Control::loop, {"..."}, {"cond_graph", "body_graph"}, infer_while_record, {});
  record.parameters.push_back({"new_field_counts", ParamSpec::Kind::sizes});
  r.add(std::move(record));
  Primitive scan = make_control("tape_scan", Control::scan, {"..."}, {"body_graph"}, infer_tape_scan, {});
  for (const char* counts : {"field_counts", "last_first", "new_field_counts"})
    scan.parameters.push_back({counts, ParamSpec::Kind::sizes});
  r.add(std::move(scan));
}

}  // namespace anvil::primitives
