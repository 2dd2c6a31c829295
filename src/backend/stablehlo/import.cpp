// Scopes, functions and types of the text; see import.h.
#include "backend/stablehlo/import.h"

#include <algorithm>

#include "base/interrupt.h"
#include "transform/simplify.h"

namespace anvil::stablehlo {
namespace {

const Rules& own_rules() {
  static const Rules table = [] {
    Rules all;
    for (auto add_family : {add_plain_rules, add_elementwise_rules, add_shape_rules, add_index_rules, add_reduce_rules,
                            add_window_rules, add_contract_rules, add_sort_rules, add_linalg_rules,
                            add_householder_rules, add_batch_norm_rules, add_random_rules, add_control_rules})
      add_family(all);
    return all;
  }();
  return table;
}

// Custom calls are found by their target.
std::string rule_name(const Operation& op) {
  if (op.name != "stablehlo.custom_call") return op.name;
  return "custom_call @" + word(op, "call_target_name");
}

}  // namespace

void check_type(Position at, const std::string& what, const TensorType& got, const TensorType& declared) {
  if (!same_type(got, declared))
    refuse(at, "the " + what + " has type " + hlo_text(got) + " but " + hlo_text(declared) + " is written");
}

// ---- functions ----------------------------------------------------------------------------

Importer::Importer(const Module& m, const Rules& extra) : module_(m), extra_(extra) {
  for (const Function& f : m.functions)
    if (!functions_.emplace(f.name, &f).second) refuse(f.at, "the function `@" + f.name + "` is defined twice");
}

Program Importer::run(std::string_view name) {
  const Function& f = entry(name);
  auto g = std::make_shared<Graph>();
  Frame frame(*this, *g);
  top_ = g.get();
  std::vector<ValuePtr> arguments;
  for (const Argument& a : f.body.arguments) arguments.push_back(graph::make_value(graph::Value::Kind::input, a.type));
  g->inputs = arguments;
  g->outputs = inlined(f, arguments);
  Program program{g, {}, f.result_info};
  for (const Argument& a : f.body.arguments)
    program.arguments.push_back(a.location.empty() ? a.name.substr(1) : a.location);
  program.results.resize(g->outputs.size());
  return program;
}

const Function& Importer::entry(std::string_view name) const {
  if (!name.empty()) {
    if (auto it = functions_.find(std::string(name)); it != functions_.end()) return *it->second;
    std::string names;
    for (const Function& f : module_.functions) names += (names.empty() ? "@" : ", @") + f.name;
    throw Error("stablehlo", "There is no function `@" + std::string(name) + "`.", {"i The text has " + names + "."});
  }
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

std::vector<ValuePtr> Importer::inlined(const Function& f, const std::vector<ValuePtr>& arguments) {
  if (std::find(active_.begin(), active_.end(), &f) != active_.end())
    refuse(f.at, "`@" + f.name + "` calls itself; recursion is not supported");
  if (f.is_declaration) refuse(f.at, "`@" + f.name + "` is called but has no body");
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

std::vector<ValuePtr> Importer::call(const Operation& op, const std::string& callee, const Vars& x) {
  auto it = functions_.find(callee);
  if (it == functions_.end()) refuse(op.at, "there is no function `@" + callee + "`");
  const Function& f = *it->second;
  if (f.body.arguments.size() != x.size())
    refuse(op.at, "`@" + callee + "` takes " + std::to_string(f.body.arguments.size()) + " arguments");
  for (size_t i = 0; i < x.size(); ++i)
    check_type(op.at, "argument of `@" + callee + "`", x[i].type(), f.body.arguments[i].type);
  return inlined(f, values(x));
}

// ---- regions ------------------------------------------------------------------------------

Importer::Deeper::Deeper(Importer& i, Position at, int n) : importer(i), levels(n) {
  if ((importer.depth_ += levels) > deepest_bodies) refuse(at, "calls and regions are nested too deeply");
}

// The operations of a region in a scope of its own; gives what its terminator returns.
std::vector<ValuePtr> Importer::body(const Region& r, const std::vector<ValuePtr>& arguments) {
  Deeper deeper(*this, r.at);
  scopes_.emplace_back();
  for (size_t i = 0; i < r.arguments.size(); ++i)
    if (!scopes_.back().emplace(r.arguments[i].name, arguments[i]).second)
      refuse(r.at, "the argument `" + r.arguments[i].name + "` is defined twice");
  for (size_t k = 0; k < r.operations.size(); ++k) {
    const Operation& op = r.operations[k];
    if (op.name == "func.return" || op.name == "stablehlo.return") {
      if (k + 1 != r.operations.size()) refuse(op.at, "operations follow a return");
      std::vector<ValuePtr> results = values(operands(op));
      scopes_.pop_back();
      return results;
    }
    operation(op);
  }
  refuse(r.operations.empty() ? r.at : r.operations.back().at, "a region or function does not end with a return");
}

GraphPtr Importer::region(const Region& r) {
  auto g = std::make_shared<Graph>();
  Frame frame(*this, *g);
  for (const Argument& a : r.arguments) g->inputs.push_back(graph::make_value(graph::Value::Kind::input, a.type));
  g->outputs = body(r, g->inputs);
  return g;
}

static const Region& region_with(const Operation& op, size_t k, const std::vector<TensorType>& inputs) {
  const Region& r = need_region(op, k);
  if (r.arguments.size() != inputs.size())
    refuse(op.at, "the region of `" + op.name + "` takes " + std::to_string(inputs.size()) + " arguments, not " +
                      std::to_string(r.arguments.size()));
  for (size_t i = 0; i < inputs.size(); ++i)
    check_type(op.at, "argument `" + r.arguments[i].name + "` of the region of `" + op.name + "`", inputs[i],
               r.arguments[i].type);
  return r;
}
GraphPtr Importer::region(const Operation& op, size_t k, const std::vector<TensorType>& inputs) {
  return region(region_with(op, k, inputs));
}
std::vector<ValuePtr> Importer::inlined(const Operation& op, size_t k) { return body(region_with(op, k, {}), {}); }

// ---- operations ---------------------------------------------------------------------------

ValuePtr Importer::lookup(const std::string& id) const {
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope)
    if (auto it = scope->find(id); it != scope->end()) return it->second;
  return nullptr;
}

Vars Importer::operands(const Operation& op) {
  Vars found;
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

// What the rule of an operation records; a mistake that is found there gets the operation's place.
std::vector<ValuePtr> Importer::results(const Operation& op, const Vars& inputs) {
  std::string name = rule_name(op);
  auto rule = extra_.find(name);
  if (rule == extra_.end() && (rule = own_rules().find(name)) == own_rules().end())
    refuse(op.at, "the operation `" + name + "` is not supported");
  if (!op.words.empty()) refuse(op.words[0].at, "`" + op.name + "` has no such part");
  try {
    return rule->second(*this, op, inputs);
  } catch (const Error& e) {
    if (e.kind == "shape" || e.kind == "dtype" || e.kind == "argument")
      refuse(op.at, "`" + op.name + "`: " + e.what(), e.details);
    throw;  // of this text already, or none of its mistakes
  }
}

void Importer::operation(const Operation& op) {
  poll();
  if (active_.size() > 1) inlined_ += 1 + op.operands.size() + op.result_types.size();
  if (inlined_ > most_inlined) refuse(op.at, "the calls of the text stand for too many operations");
  std::vector<ValuePtr> list = results(op, operands(op));
  if (list.size() != op.result_types.size())
    refuse(op.at, "`" + op.name + "` has " + std::to_string(list.size()) + " results");
  for (size_t i = 0; i < list.size(); ++i) {
    check_type(op.at, "result of `" + op.name + "`", list[i]->type, op.result_types[i]);
    if (i < op.results.size() && !scopes_.back().emplace(op.results[i], list[i]).second)
      refuse(op.at, "`" + op.results[i] + "` is defined twice");
  }
}

// ---- what rules share ---------------------------------------------------------------------

std::vector<ValuePtr> Importer::record(const char* primitive, const Vars& operands, graph::Params params) {
  return primitives::record(*graph_, primitives::registry().at(primitive), values(operands), std::move(params));
}

const Importer::Origin* Importer::origin(const ValuePtr& v, Origin::Kind kind) const {
  auto it = origins_.find(v);
  return it != origins_.end() && it->second.kind == kind ? &it->second : nullptr;
}

// A reversal of the one that x is, if that may be taken back, is none.
Var Importer::mirrored(const Var& x, const Ints& dims, bool running) {
  const Origin* inner = origin(x.value, Origin::run_backwards);
  if (!inner && running) inner = origin(x.value, Origin::reversed);
  if (inner && inner->dims == dims) return var(inner->x);
  Var y = primitives::reverse(x, dims);
  note(y.value, {running ? Origin::run_backwards : Origin::reversed, x.value, dims});
  return y;
}
Var Importer::reversed(const Var& x, const Ints& dims) { return mirrored(x, dims, false); }
Var Importer::run_backwards(const Var& x, const Ints& dims) { return mirrored(x, dims, true); }

ValuePtr Importer::constant(const graph::Tensor& t) {
  top_->constants.push_back(graph::make_constant(t));
  return top_->constants.back();
}
ValuePtr Importer::constant(const Operation& op, const std::function<graph::Tensor()>& read) {
  ValuePtr& made = constants_[&op];
  if (!made) made = constant(read());
  return made;
}

const graph::Call* recent(const Graph& g, const ValuePtr& v, size_t window) {
  const auto end = g.calls.rbegin() + static_cast<std::ptrdiff_t>(std::min(window, g.calls.size()));
  const auto call = std::find_if(g.calls.rbegin(), end, [&](const graph::Call& c) {
    return std::find(c.outputs.begin(), c.outputs.end(), v) != c.outputs.end();
  });
  return call != end ? &*call : nullptr;
}

Program read_program(std::string_view text, std::string_view entry, const Rules& extra) {
  Program program;
  citing(text, [&] {
    Module module = parse(text);
    program = Importer(module, extra).run(entry);
    transform::join_turns(*program.graph);  // a program that was written and read prints as before
    transform::absorb_readers(*program.graph);
    transform::remove_dead_calls(*program.graph);  // what the rules took back
    transform::remove_unused_constants(*program.graph);
  });
  return program;
}

GraphPtr read(std::string_view text, const Rules& extra) { return read_program(text, {}, extra).graph; }

}  // namespace anvil::stablehlo
