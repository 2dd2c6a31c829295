// The printed form of a graph, as R users see it: 1-based, with R's spelling of values.
#include "base/interrupt.h"
#include "graph/graph.h"

namespace anvil::graph {
namespace {

std::string vector_text(const std::vector<int64_t>& v, bool index) {
  if (v.empty()) return "<any>";
  std::string s;
  for (size_t i = 0; i < v.size(); ++i) s += (i ? ", " : "") + std::to_string(v[i] + (index ? 1 : 0));
  return v.size() == 1 ? s : "c(" + s + ")";
}

class Printer {
 public:
  explicit Printer(const Graph& g) {
    for (size_t i = 0; i < g.inputs.size(); ++i) names_[g.inputs[i].get()] = "%x" + std::to_string(i + 1);
    for (size_t i = 0; i < g.constants.size(); ++i) names_[g.constants[i].get()] = "%c" + std::to_string(i + 1);
    int next = 0;
    for (const Call& c : g.calls)
      for (const auto& v : c.outputs) names_[v.get()] = "%" + std::to_string(++next);
  }
  std::string use(const ValuePtr& v) const {
    if (v->kind == Value::Kind::literal) {
      std::string s =
          v->literal.text(v->type.dtype) + ":" + std::string(name(v->type.dtype)) + (v->type.ambiguous ? "?" : "");
      return v->type.shape.empty() ? s : s + "[" + in_parentheses(v->type.shape) + "]";
    }
    auto it = names_.find(v.get());
    return it == names_.end() ? "???" : it->second;
  }
  std::string definition(const ValuePtr& v) const {
    return v->kind == Value::Kind::literal ? use(v) : use(v) + ": " + text(v->type);
  }
  std::string call(const Call& c) const {
    std::string s;
    if (c.outputs.size() == 1)
      s = definition(c.outputs[0]);
    else {
      std::string ids, types;
      for (size_t i = 0; i < c.outputs.size(); ++i) {
        ids += (i ? ", " : "") + use(c.outputs[i]);
        types += (i ? ", " : "") + text(c.outputs[i]->type);
      }
      s = "(" + ids + "): (" + types + ")";
    }
    s += " = " + c.primitive->name;
    if (!c.params.items.empty()) {
      s += " [";
      for (size_t i = 0; i < c.params.items.size(); ++i) {
        const Param& p = c.params.items[i];
        s += (i ? ", " : "") + p.name + " = " + text(p.value, p.index);
      }
      s += "] ";
    }
    s += "(";
    for (size_t i = 0; i < c.inputs.size(); ++i) s += (i ? ", " : "") + use(c.inputs[i]);
    return s + ")";
  }

 private:
  std::unordered_map<const Value*, std::string> names_;
};

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

std::string print(const Graph& g, std::string_view title) {
  Printer p(g);
  std::string s = "<" + std::string(title) + ">\n";
  auto section = [&](const char* heading, const std::vector<ValuePtr>& values, const char* none) {
    s += std::string("  ") + heading + ":";
    if (values.empty()) s += none;
    s += "\n";
    for (const auto& v : values) s += "    " + p.definition(v) + "\n";
  };
  section("Inputs", g.inputs, " (none)");
  if (!g.constants.empty()) section("Constants", g.constants, "");
  s += g.calls.empty() ? "  Body: (empty)\n" : "  Body:\n";
  for (const Call& c : g.calls) {
    poll();
    s += "    " + p.call(c) + "\n";
  }
  section("Outputs", g.outputs, " (none)");
  s.pop_back();
  return s;
}

}  // namespace anvil::graph
