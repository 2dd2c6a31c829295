// The derivatives of primitives as R functions, and primitives whose rules are R functions.
#include <unordered_map>

#include "primitives/vocabulary/batching.h"
#include "primitives/vocabulary/composite.h"
#include "r_common.h"
#include "r_routines.h"

namespace anvil::r {

// Their types, null left out, must be those of other values.
static void check_values(const graph::Call& c, const std::vector<ValuePtr>& values,
                         const std::vector<ValuePtr>& expected, const char* argument, const char* of) {
  bool same = values.size() == expected.size();
  for (size_t i = 0; same && i < values.size(); ++i)
    same = !values[i] || graph::same_type(values[i]->type, expected[i]->type);
  if (same) return;
  std::string types;
  for (const ValuePtr& v : expected) types += (types.empty() ? "" : ", ") + graph::text(v->type);
  throw Error("argument", "`" + std::string(argument) + "` must have the types of the " + of + " of `" +
                              c.primitive->name + "`: " + types + ".");
}
static std::vector<ValuePtr> results_of(const graph::Call& c) {
  Graph scratch;
  return primitives::record(scratch, primitives::primitive_of(c), c.inputs, c.params);
}

// A list of boxes, and NULL where a value is null.
static SEXP boxes_or_null(Recording& recording, const std::vector<ValuePtr>& values) {
  std::vector<ValuePtr> found;
  for (const ValuePtr& v : values)
    if (v) found.push_back(v);
  Shield<SEXP> boxes(found.empty() ? R_NilValue : recording.finish(found));
  return guarded([&] {
    SEXP list = PROTECT(Rf_allocVector(VECSXP, static_cast<R_xlen_t>(values.size())));
    R_xlen_t next = 0;
    for (size_t i = 0; i < values.size(); ++i)
      if (values[i])
        SET_VECTOR_ELT(list, static_cast<R_xlen_t>(i),
                       found.size() == 1 ? static_cast<SEXP>(boxes) : VECTOR_ELT(boxes, next++));
    UNPROTECT(1);
    return list;
  });
}

// The reverse rule on boxes: a list with one gradient, or NULL, per input.
SEXP anvil_reverse(SEXP name, SEXP inputs, SEXP outputs, SEXP grads, SEXP rest) {
  return entry([&] {
    const Primitive& p = core_primitive(primitive_named(name));
    if (XLENGTH(list_of(rest, "rest")) != 2) throw Error("argument", "`rest` must hold the parameters and `required`.");
    SEXP required = VECTOR_ELT(rest, 1);
    Recording recording;
    graph::Call call{&p, recording.operands(inputs, "inputs"), params_from(p, VECTOR_ELT(rest, 0)),
                     recording.operands(outputs, "outputs"), -1};
    primitives::ReverseStep step{
        recording.graph(), call, recording.operands(grads, "grads"), {}, std::vector<ValuePtr>(call.inputs.size())};
    const std::vector<ValuePtr> expected = results_of(call);
    check_values(call, call.outputs, expected, "outputs", "results");
    check_values(call, step.cotangents, expected, "grads", "results");
    settled(required);
    for (size_t i = 0; i < call.inputs.size(); ++i) {
      bool all = TYPEOF(required) != LGLSXP || static_cast<R_xlen_t>(i) >= XLENGTH(required);
      step.required.push_back(all || LOGICAL_ELT(required, static_cast<R_xlen_t>(i)) == TRUE);
    }
    if (p.augment) {
      std::vector<ValuePtr> made = p.augment(recording.graph(), call);
      step.residuals.assign(made.begin() + static_cast<std::ptrdiff_t>(call.outputs.size()), made.end());
    }
    if (p.reverse)
      p.reverse(step);
    else if (!p.zero_derivative)
      throw Error("gradient", "No reverse rule for primitive " + p.name + ".",
                  {"x Cannot compute gradient through this primitive."});
    return boxes_or_null(recording, step.results);
  });
}

// Likewise the forward rule: a list with one tangent, or NULL, per output. A tangent that is NULL is zero.
SEXP anvil_forward(SEXP name, SEXP inputs, SEXP outputs, SEXP tangents, SEXP params) {
  return entry([&] {
    const Primitive& p = core_primitive(primitive_named(name));
    Recording recording;
    const graph::Call call{&p, recording.operands(inputs, "inputs"), params_from(p, params),
                           recording.operands(outputs, "outputs"), -1};
    std::vector<ValuePtr> given;
    for (R_xlen_t i = 0; i < XLENGTH(list_of(tangents, "tangents")); ++i) {
      SEXP x = VECTOR_ELT(tangents, i);
      given.push_back(x == R_NilValue ? nullptr : recording.operand(x, "tangents"));
      if (given.back() && !is_float(given.back()->type.dtype)) given.back() = nullptr;
    }
    check_values(call, call.outputs, results_of(call), "outputs", "results");
    check_values(call, given, call.inputs, "tangents", "operands");
    return boxes_or_null(recording, transform::tangents_of(call, given, recording.graph()));
  });
}

// --- primitives defined in R -----------------------------------------------------------------

namespace {

// A rule is held here: it may replace itself.
void reverse_by_rule(const Kept rule, primitives::ReverseStep& step) {
  std::vector<ValuePtr> results = run_backward_rule(rule.get(), step);
  if (results.size() != step.call.inputs.size())
    throw Error(
        "argument",
        "The backward rule of `" + step.call.primitive->name + "` must return a list with one entry per input.",
        {"x Got " + std::to_string(results.size()) + " for " + std::to_string(step.call.inputs.size()) + " inputs."});
  for (size_t i = 0; i < results.size(); ++i) {
    if (!step.required[i] || !results[i]) continue;
    if (!graph::same_type(results[i]->type, step.call.inputs[i]->type))
      throw Error(
          "argument",
          "The backward rule of `" + step.call.primitive->name + "` must return gradients of the inputs' types.",
          {"x Entry " + std::to_string(i + 1) + " is " + graph::text(results[i]->type) + ", the input is " +
           graph::text(step.call.inputs[i]->type) + "."});
    step.results[i] = results[i];
  }
}

bool forward_by_rule(const Kept rule, primitives::ForwardStep& step) {
  std::vector<ValuePtr> results = run_jvp_rule(rule.get(), step);
  const std::string& name = step.call.primitive->name;
  if (results.size() != step.call.outputs.size())
    throw Error(
        "argument", "The jvp rule of `" + name + "` must return a list with one entry per output.",
        {"x Got " + std::to_string(results.size()) + " for " + std::to_string(step.call.outputs.size()) + " outputs."});
  for (size_t i = 0; i < results.size(); ++i)
    if (results[i] && !graph::same_type(results[i]->type, step.call.outputs[i]->type))
      throw Error("argument", "The jvp rule of `" + name + "` must return tangents of the outputs' types.",
                  {"x Entry " + std::to_string(i + 1) + " is " + graph::text(results[i]->type) + ", the output is " +
                   graph::text(step.call.outputs[i]->type) + "."});
  step.results = std::move(results);
  return true;
}

// What a rule gives in the place of a call begins with its results.
void check_results(const graph::Call& call, const std::vector<ValuePtr>& given, const char* rule) {
  for (size_t i = 0; i < call.outputs.size(); ++i)
    if (const TensorType& type = given.at(i)->type; !graph::same_type(type, call.outputs[i]->type))
      throw Error(std::string(rule) == "stablehlo" ? "stablehlo" : "argument",
                  "The " + std::string(rule) + " rule of `" + call.primitive->name +
                      "` must return the outputs of the forward rule.",
                  {"x Output " + std::to_string(i + 1) + " is " + graph::text(type) + ", that of forward is " +
                   graph::text(call.outputs[i]->type) + "."});
}

// The call that takes the place of one in a derivative: it gives residuals besides, and has the rules of the call,
// which read them there.
Primitive with_residuals(const graph::Call& call) {
  const auto without = [call](const graph::Call& whole) {
    graph::Call one = call;
    one.inputs = whole.inputs;
    one.outputs.assign(whole.outputs.begin(), whole.outputs.begin() + static_cast<std::ptrdiff_t>(call.outputs.size()));
    return one;
  };
  const auto rest = [n = static_cast<std::ptrdiff_t>(call.outputs.size())](const std::vector<ValuePtr>& values) {
    return std::vector<ValuePtr>(values.begin() + n, values.end());
  };
  const Primitive& p = primitives::primitive_of(call);
  Primitive own = primitives::composite(p.name, [without, rest](primitives::ReverseStep& step) {
    const graph::Call one = without(step.call);
    primitives::ReverseStep inner = {step.graph,   one,       step.cotangents, step.required,
                                     step.results, step.sums, step.taken,      rest(step.call.outputs)};
    inner.cotangents.resize(one.outputs.size());
    primitives::primitive_of(one).reverse(inner);
    step.results = inner.results;
  });
  if (p.forward)
    own.forward = [without](primitives::ForwardStep& step) {
      const graph::Call one = without(step.call);
      primitives::ForwardStep inner{step.graph, one, step.tangents, std::vector<ValuePtr>(one.outputs.size())};
      const bool covers = primitives::primitive_of(one).forward(inner);
      std::copy(inner.results.begin(), inner.results.end(), step.results.begin());
      return covers;
    };
  return own;
}

std::vector<ValuePtr> augment_by_rule(const Kept rule, Graph& to, const graph::Call& call) {
  auto definition = std::make_shared<Graph>();
  graph::Call one = call;
  for (ValuePtr& v : one.inputs) v = graph::make_value(Value::Kind::input, v->type);
  definition->inputs = one.inputs;
  definition->outputs = run_augment_rule(rule.get(), *definition, one);
  check_results(call, definition->outputs, "augment");
  primitives::add_constants(to, *definition);
  const size_t residuals = definition->outputs.size() - call.outputs.size();
  return primitives::record_ruled(to, std::make_shared<const Primitive>(with_residuals(call)), call.inputs,
                                  std::move(definition), residuals);
}

std::vector<ValuePtr> text_by_rule(const Kept rule, Graph& to, const graph::Call& call) {
  std::vector<ValuePtr> results = run_text_rule(rule.get(), to, call);
  check_results(call, results, "stablehlo");
  return results;
}

void batch_by_rule(const Kept rule, primitives::BatchStep& step) {
  std::vector<ValuePtr> results = run_batch_rule(rule.get(), step);
  for (size_t i = 0; i < step.call.outputs.size(); ++i) {
    graph::TensorType expected = step.call.outputs[i]->type;
    expected.shape.push_back(step.size);
    if (!graph::same_type(results.at(i)->type, expected))
      throw Error("argument",
                  "The batch rule of `" + step.call.primitive->name +
                      "` must return the outputs of all examples, along a last dimension.",
                  {"x Output " + std::to_string(i + 1) + " is " + graph::text(results[i]->type) + ", expected " +
                   graph::text(expected) + "."});
  }
  step.results = std::move(results);
}

}  // namespace

// rules: a list of five, each a function or NULL: backward(inputs, outputs, grads, residuals, params,
// required), augment(inputs, params), jvp(inputs, outputs, tangents, params),
// batch(inputs, batched, size, params) and stablehlo(inputs, params)
static Primitive composite_of(const std::string& name, SEXP rules) {
  if (XLENGTH(list_of(rules, "rules")) != 5) throw Error("argument", "`rules` must be a list of five.");
  const auto rule = [rules](R_xlen_t i) {
    SEXP f = VECTOR_ELT(rules, i);
    if (f != R_NilValue && !Rf_isFunction(f)) throw wrong_argument("rules", "functions", f);
    return f;
  };
  SEXP backward = rule(0), augment = rule(1), jvp = rule(2), batch = rule(3), hlo = rule(4);
  std::function<void(primitives::ReverseStep&)> reverse;
  if (backward != R_NilValue)
    reverse = [kept = Kept(backward)](primitives::ReverseStep& step) { reverse_by_rule(kept, step); };
  Primitive p = primitives::composite(name, std::move(reverse));
  if (augment != R_NilValue)
    p.augment = [kept = Kept(augment)](Graph& to, const graph::Call& c) { return augment_by_rule(kept, to, c); };
  if (jvp != R_NilValue)
    p.forward = [kept = Kept(jvp)](primitives::ForwardStep& step) { return forward_by_rule(kept, step); };
  if (batch != R_NilValue) p.batch = [kept = Kept(batch)](primitives::BatchStep& step) { batch_by_rule(kept, step); };
  if (hlo != R_NilValue)
    p.expand_in_text = [kept = Kept(hlo)](Graph& to, const graph::Call& c) { return text_by_rule(kept, to, c); };
  return p;
}

SEXP anvil_register(SEXP name, SEXP rules, SEXP overwrite) {
  return entry([&] {
    const std::string text = text_of(name, "name");
    Primitive p = composite_of(text, rules);
    const Primitive* taken = primitives::registry().find(text);
    if (taken != nullptr && !primitives::is_composite(*taken))
      throw Error("argument", "`" + text + "` is a primitive of the package and cannot be replaced.");
    if (flag_of(overwrite, "overwrite"))
      primitives::registry().replace(std::move(p));
    else
      primitives::registry().add(std::move(p));
    return R_NilValue;
  });
}

// --- rules of the core's primitives in the place of which others stand for a while -------------

namespace {
struct Originals {
  std::unordered_map<const Primitive*, std::unique_ptr<const Primitive>> list;
  std::vector<int64_t> in_force;
};
Originals& originals() {
  static Originals known;
  return known;
}
}  // namespace

const Primitive& core_primitive(const Primitive& p) {
  const auto at = originals().list.find(&p);
  return at == originals().list.end() ? p : *at->second;
}
const std::vector<int64_t>& local_rules() { return originals().in_force; }

// rules: as for anvil_register; NULL stands for the core's own. in_force: the numbers of all such rules.
SEXP anvil_override(SEXP name, SEXP rules, SEXP in_force) {
  return entry([&] {
    const Primitive& p = primitive_named(name);
    const std::vector<int64_t> numbers = integers_of(in_force, "in_force");
    auto& original = originals().list[&p];
    if (!original) original = std::make_unique<const Primitive>(p);
    Primitive changed = *original, given = composite_of(p.name, rules);
    if (given.reverse) {
      changed.reverse = given.reverse;
      changed.augment = nullptr;
      changed.reverses = nullptr;
      changed.zero_derivative = false;
    }
    if (given.forward) changed.forward = given.forward;
    if (given.batch) changed.batch = given.batch;
    primitives::registry().replace(std::move(changed));
    originals().in_force = numbers;
    return R_NilValue;
  });
}

// The deleter of such a primitive: what it was made of, for a graph that is saved.
struct RulesInR {
  Kept made_of;
  void operator()(const Primitive* p) const { delete p; }
};

std::shared_ptr<const Primitive> primitive_of_rules(SEXP name, SEXP rules) {
  auto own = std::make_unique<const Primitive>(composite_of(text_of(name, "name"), rules));
  Shield<SEXP> list(guarded([&] {
    SEXP x = Rf_allocVector(VECSXP, 2);
    SET_VECTOR_ELT(x, 0, name);
    SET_VECTOR_ELT(x, 1, rules);
    return x;
  }));
  return {own.release(), RulesInR{Kept(list)}};
}

SEXP rules_behind(const graph::Owned& primitive) {
  const auto* made = std::get_deleter<RulesInR>(primitive);
  return made != nullptr ? made->made_of.get() : R_NilValue;
}

// A call with rules of its own: name, rules, operands, definition, and how many of its last outputs are kept for
// the rules.
SEXP anvil_record_ruled(SEXP, SEXP, SEXP args, SEXP frame) {
  return entry([&] {
    External arguments{args};
    SEXP name = arguments.next(), rules = arguments.next(), operands = arguments.next();
    const GraphPtr definition = graph_of(arguments.next()).graph;
    const int64_t residuals = integer_of(arguments.next(), "residuals");
    if (residuals < 0 || static_cast<size_t>(residuals) > definition->outputs.size())
      throw Error("argument", "`residuals` must be some of the outputs.");
    auto own = primitive_of_rules(name, rules);
    Recording recording(frame);
    std::vector<ValuePtr> values = recording.operands(operands, "operands");
    if (values.size() != definition->inputs.size())
      throw Error("argument", "`operands` must have one for each input of the definition.");
    return recording.finish(primitives::record_ruled(recording.graph(), std::move(own), std::move(values), definition,
                                                     static_cast<size_t>(residuals)));
  });
}

}  // namespace anvil::r
