// Graphs that are built by hand: descriptors that are not current, or read and finished while they are, and boxes of
// values that somebody made.
#include <algorithm>
#include <charconv>

#include "r_descriptor.h"
#include "r_routines.h"

namespace anvil::r {

// A descriptor that is current only while something is recorded into it.
SEXP anvil_descriptor() {
  return entry([&] {
    auto made = std::make_unique<Descriptor>();
    Descriptor* d = made.get();
    d->purpose = Purpose::record;
    d->locations = std::make_shared<Locations>();
    d->handle = own(std::move(made), names.a_descriptor, names.descriptor);
    return d->handle;
  });
}

Descriptor& descriptor_from(SEXP handle) {
  auto* d = owned<Descriptor>(handle, names.a_descriptor);
  if (d == nullptr && is_kind(handle, names.a_descriptor))
    throw Error("argument", "This descriptor was saved in another session.",
                {"i Finish the graph by `as_graph()`, and save that."});
  if (d == nullptr) throw wrong_argument("desc", "a GraphDescriptor", handle);
  if (!d->live) throw Error("trace", "The trace of this descriptor has ended.");
  return *d;
}

// Makes it current; false where it is already.
SEXP anvil_enter(SEXP handle) {
  return entry([&] {
    Descriptor& d = descriptor_from(handle);
    const bool fresh = stack.empty() || stack.back() != &d;
    if (fresh) {
      if (std::find(stack.begin(), stack.end(), &d) != stack.end())
        throw Error("trace", "This descriptor cannot be used while a graph inside of it is being built.");
      stack.push_back(&d);
    }
    return guarded([&] { return Rf_ScalarLogical(fresh); });
  });
}
SEXP anvil_leave(SEXP handle) {
  return entry([&] {
    Descriptor& d = descriptor_from(handle);
    if (std::find(stack.begin(), stack.end(), &d) == stack.end()) return R_NilValue;
    while (stack.back() != &d) pop(stack.back());  // what an error left behind
    stack.pop_back();
    return R_NilValue;
  });
}

// The graph that a descriptor has made so far, with these outputs.
SEXP anvil_graph_of(SEXP handle, SEXP outputs, SEXP fields) {
  return entry([&] {
    Descriptor& d = descriptor_from(handle);
    auto copy = std::make_shared<Graph>();
    if (XLENGTH(list_of(outputs, "outputs")) > 0) {
      if (stack.empty() || stack.back() != &d)
        throw Error("trace", "The graph to finish is not the one that is being built.");
      Recording recording;
      copy->outputs = recording.operands(outputs, "value");
    }
    copy->inputs = d.graph->inputs;
    copy->constants = d.graph->constants;
    copy->calls = d.graph->calls;
    return wrap_graph(copy, d.locations, fields);
  });
}

// --- by hand -----------------------------------------------------------------------------------

// An integer that R has no number for is given as text.
static Scalar integer_in(const std::string& text, DType dtype) {
  int64_t value = 0;
  uint64_t natural = 0;
  const char *first = text.data(), *last = first + text.size();
  const bool is_natural = dtype == DType::ui64;
  const auto [end, error] = is_natural ? std::from_chars(first, last, natural) : std::from_chars(first, last, value);
  if (!is_integer(dtype) || error != std::errc() || end != last)
    throw Error("argument", "`data` must be a number or flag, or an integer as text.", {"x Got \"" + text + "\"."});
  return is_natural ? Scalar(natural) : Scalar(value);
}

ValuePtr literal_of_type(SEXP data, const TensorType& type) {
  if (TYPEOF(data) == STRSXP && XLENGTH(data) == 1)
    return graph::make_literal(integer_in(text_of(data, "data"), type.dtype), type);
  if (!is_data(data) || XLENGTH(data) != 1) throw wrong_argument("data", "a number or flag", data);
  const Scalar value = scalar_of(data);
  return graph::make_literal(is_integer(type.dtype) && value.is_real() ? value.rounded_to(type.dtype) : value, type);
}

// Whether a value is an input, a constant or a result of a graph.
static bool belongs(const ValuePtr& v, const Graph& g) {
  const auto is_v = [&](const ValuePtr& other) { return other.get() == v.get(); };
  const auto holds = [&](const std::vector<ValuePtr>& values) {
    return std::any_of(values.begin(), values.end(), is_v);
  };
  return holds(g.inputs) || holds(g.constants) ||
         std::any_of(g.calls.begin(), g.calls.end(), [&](const graph::Call& c) { return holds(c.outputs); });
}

// The box of a value in a descriptor or in one around it. A value of no graph becomes an input, a constant or a
// literal there, or the call that makes a range of numbers.
SEXP anvil_box(SEXP x, SEXP descriptor) {
  return entry([&] {
    const Node n = node_of(x);
    Descriptor& current = descriptor_from(descriptor);
    const Graph& from = *n.holder.graph;
    const bool alone = from.outputs.size() == 1 && from.outputs[0].get() == n.value.get() &&
                       (from.calls.empty() || (from.calls.size() == 1 && from.calls[0].inputs.empty()));
    const ValuePtr v = alone ? from.outputs[0] : n.value;
    Descriptor* d = &current;
    while (d != nullptr && v->kind != Value::Kind::literal && !belongs(v, *d->graph)) d = d->parent;
    if (d == nullptr) {
      if (!alone)
        throw Error("trace", "This value belongs to another graph.", {"i `walk_graph()` records a graph again."});
      d = &current;
      if (v->kind == Value::Kind::input) d->graph->inputs.push_back(v);
      if (v->kind == Value::Kind::constant) list_constant(*d, v);
      d->graph->calls.insert(d->graph->calls.end(), from.calls.begin(), from.calls.end());
    }
    return guarded([&] { return new_box(*d, v); });
  });
}

// The labels of the values of the descriptors that `d` is inside of, and its own. The inner graph that is being built
// belongs to the next call of the outer one.
static std::string label_scopes(const Descriptor& d, graph::Labels& labels) {
  std::string scope = d.parent ? label_scopes(*d.parent, labels) : "%";
  const int results = graph::add_labels(*d.graph, scope, labels);
  return scope + std::to_string(results + 1) + ".";
}

// The label, type and call of the value of a box.
SEXP anvil_box_text(SEXP box) {
  return entry([&] {
    const ValuePtr v = value_of(box);
    const Descriptor& own = descriptor_of(box);
    if (!own.live) {
      const std::string type = graph::text(v->type);
      return guarded([&] { return string(type); });
    }
    graph::Labels labels;
    label_scopes(own, labels);
    std::string text = graph::definition(labels, v);
    for (const Descriptor* d = &own; d != nullptr; d = d->parent)
      for (const graph::Call& c : d->graph->calls)
        if (std::find(c.outputs.begin(), c.outputs.end(), v) != c.outputs.end()) text = graph::text(labels, c);
    return guarded([&] { return string(text); });
  });
}

}  // namespace anvil::r
