// The printed form of a graph, as R users see it: 1-based, with R's spelling of values.
#include "base/interrupt.h"
#include "graph/labels.h"

namespace anvil::graph {
namespace {

std::string vector_text(const std::vector<int64_t>& v, bool index) {
  if (v.empty()) return "<any>";
  std::string s;
  for (size_t i = 0; i < v.size(); ++i) s += (i ? ", " : "") + std::to_string(v[i] + (index ? 1 : 0));
  return v.size() == 1 ? s : "c(" + s + ")";
}

// Numbers that labels of one call's inner graphs, or of the whole program, have used up.
struct Numbers {
  int inputs = 0, constants = 0, results = 0;
};

void label_values(const Graph& g, const std::string& scope, Numbers& used, Labels& labels) {
  for (const auto& v : g.inputs) labels.try_emplace(v.get(), scope + "x" + std::to_string(++used.inputs));
  for (const auto& v : g.constants)
    if (!labels.count(v.get())) labels.emplace(v.get(), scope + "c" + std::to_string(++used.constants));
  for (const Call& c : g.calls) {
    poll();
    const auto inner = subgraphs(c);
    const std::string first = scope + std::to_string(used.results + 1);
    if (c.outputs.empty() && !inner.empty()) ++used.results;  // nothing else is called so
    for (const auto& v : c.outputs) labels.try_emplace(v.get(), scope + std::to_string(++used.results));
    Numbers within;
    for (const GraphPtr& body : inner) label_values(*body, first + ".", within, labels);
  }
}

template <class F>
std::string joined(const std::vector<ValuePtr>& values, F&& text_of) {
  std::string s;
  for (const auto& v : values) s += (s.empty() ? "" : ", ") + text_of(v);
  return s;
}

// The calls of a graph, below each of them its inner graphs.
void print_calls(const Graph& g, const Labels& labels, const std::string& indent, bool nested, std::string& s) {
  for (const Call& c : g.calls) {
    poll();
    s += indent + text(labels, c) + "\n";
    if (!nested) continue;
    for (const Param& p : c.params.items) {
      const auto* inner = std::get_if<GraphPtr>(&p.value);
      if (inner == nullptr) continue;
      const Graph& body = **inner;
      s += indent + "  " + p.name + "(" + joined(body.inputs, [&](const auto& v) { return definition(labels, v); }) +
           "):\n";
      print_calls(body, labels, indent + "    ", true, s);
      s += indent + "    return " + joined(body.outputs, [&](const auto& v) { return label(labels, v); }) + "\n";
    }
  }
}

}  // namespace

std::string text(const ParamValue& value, bool index) {
  struct Visitor {
    bool index;
    std::string operator()(bool x) const { return x ? "TRUE" : "FALSE"; }
    std::string operator()(int64_t x) const { return std::to_string(x + (index ? 1 : 0)); }
    std::string operator()(const Scalar& x) const { return x.text(x.is_real() ? DType::f64 : DType::i64); }
    std::string operator()(const std::string& x) const { return x; }
    std::string operator()(DType x) const { return std::string(name(x)); }
    std::string operator()(const std::vector<int64_t>& x) const { return vector_text(x, index); }
    std::string operator()(const IntegerLists& x) const {
      std::string s;
      for (size_t i = 0; i < x.size(); ++i) s += (i ? ", " : "") + vector_text(x[i], index);
      return "[" + s + "]";
    }
    std::string operator()(const GraphPtr& g) const {
      return "graph[" + std::to_string(g->inputs.size()) + " -> " + std::to_string(g->outputs.size()) + "]";
    }
    std::string operator()(const Owned&) const { return "<own>"; }
  };
  return std::visit(Visitor{index}, value);
}

int add_labels(const Graph& g, const std::string& scope, Labels& labels) {
  Numbers used;
  label_values(g, scope, used, labels);
  return used.results;
}

Labels labels_of(const Graph& g) {
  Labels labels;
  add_labels(g, "%", labels);
  return labels;
}

std::string label(const Labels& labels, const ValuePtr& v) {
  if (v->kind == Value::Kind::literal) {
    std::string s =
        v->literal.text(v->type.dtype) + ":" + std::string(name(v->type.dtype)) + (v->type.ambiguous ? "?" : "");
    return v->type.shape.empty() ? s : s + "[" + in_parentheses(v->type.shape) + "]";
  }
  const auto it = labels.find(v.get());
  return it == labels.end() ? "???" : it->second;
}

std::string definition(const Labels& labels, const ValuePtr& v) {
  return label(labels, v) + (v->kind == Value::Kind::literal ? "" : ": " + text(v->type));
}

std::string text(const Labels& labels, const Call& c) {
  const auto label_of = [&](const ValuePtr& v) { return label(labels, v); };
  std::string s = c.outputs.size() == 1 ? definition(labels, c.outputs[0])
                                        : "(" + joined(c.outputs, label_of) + "): (" +
                                              joined(c.outputs, [](const ValuePtr& v) { return text(v->type); }) + ")";
  s += " = " + c.primitive->name;
  if (!c.params.items.empty()) {
    s += " [";
    for (size_t i = 0; i < c.params.items.size(); ++i) {
      const Param& p = c.params.items[i];
      s += (i ? ", " : "") + p.name + " = " + text(p.value, p.index);
    }
    s += "] ";
  }
  return s + "(" + joined(c.inputs, label_of) + ")";
}

std::string print(const Graph& g, std::string_view title, const Labels& labels, bool nested) {
  std::string s = "<" + std::string(title) + ">\n";
  auto section = [&](const char* heading, const std::vector<ValuePtr>& values, const char* none) {
    s += std::string("  ") + heading + ":";
    if (values.empty()) s += none;
    s += "\n";
    for (const auto& v : values) s += "    " + definition(labels, v) + "\n";
  };
  section("Inputs", g.inputs, " (none)");
  if (!g.constants.empty()) section("Constants", g.constants, "");
  s += g.calls.empty() ? "  Body: (empty)\n" : "  Body:\n";
  print_calls(g, labels, "    ", nested, s);
  section("Outputs", g.outputs, " (none)");
  s.pop_back();
  return s;
}

std::string print(const Graph& g, std::string_view title) { return print(g, title, labels_of(g), false); }

}  // namespace anvil::graph
