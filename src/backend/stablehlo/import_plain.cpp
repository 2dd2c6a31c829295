// Operators of which a primitive's data say all: HloForm.
#include "backend/stablehlo/import.h"

namespace anvil::stablehlo {
namespace {

using primitives::HloAttribute;
using primitives::ParamSpec;
using primitives::Primitive;

// Ours is always the highest that StableHLO asks for; a request must only make sense.
void check_accuracy(const Operation& op) {
  const Attribute* a = find(op, "result_accuracy");
  if (!a) return;
  const Dictionary& d = fields(op, *a);
  auto mode = d.find("mode");
  auto name = mode == d.end() ? nullptr : std::get_if<Word>(&mode->second.value);
  for (const char* tolerance : {"atol", "rtol", "ulps"}) {
    auto it = d.find(tolerance);
    double x = it == d.end() ? 0 : real(op, it->second);
    if (x < 0) refuse(a->at, std::string("`") + tolerance + "` of `result_accuracy` must not be negative");
    if (x > 0 && name && name->text != "TOLERANCE")
      refuse(a->at, std::string("`") + tolerance + "` of `result_accuracy` goes with the mode TOLERANCE only");
  }
}

bool counts_from_one_in_r(ParamSpec::Kind kind) {
  return kind == ParamSpec::Kind::axis || kind == ParamSpec::Kind::axes || kind == ParamSpec::Kind::starts;
}

graph::ParamValue value_of(const Operation& op, const HloAttribute& a, size_t rank) {
  const char* name = a.name.c_str();
  if (!a.otherwise) need(op, name);
  const int64_t otherwise = a.otherwise.value_or(0);
  switch (a.kind) {
    case HloAttribute::Kind::i64_array: return ints_or(op, name, Ints(rank, otherwise));
    case HloAttribute::Kind::i64:
    case HloAttribute::Kind::i32: return integer_or(op, name, otherwise);
    case HloAttribute::Kind::boolean: return flag(op, name, otherwise != 0);
    case HloAttribute::Kind::f64: return Scalar(real_or(op, name, static_cast<double>(otherwise)));
  }
  throw InternalError("stablehlo: an attribute of no kind");
}

// What no attribute says follows from the type of the result.
graph::ParamValue from_result(const Operation& op, const Primitive& p, ParamSpec::Kind kind) {
  switch (kind) {
    case ParamSpec::Kind::shape: return result_type(op).shape;
    case ParamSpec::Kind::dtype: return result_type(op).dtype;
    case ParamSpec::Kind::flag: return false;  // nothing is ambiguous in a text
    default: throw InternalError("stablehlo: no attribute of `" + p.hlo.op + "` gives a parameter of " + p.name);
  }
}

graph::Params parameters(const Operation& op, const Primitive& p, const Vars& x) {
  graph::Params params;
  for (const ParamSpec& s : p.parameters) {
    const auto& all = p.hlo.attributes;
    const auto a = std::find_if(all.begin(), all.end(), [&](const HloAttribute& h) { return h.parameter == s.name; });
    params.items.push_back(
        {s.name, a == all.end() ? from_result(op, p, s.kind) : value_of(op, *a, x.empty() ? 0 : x[0].shape().size()),
         counts_from_one_in_r(s.kind)});
  }
  return params;
}

void check_operands(const Operation& op, const Primitive& p) {
  if (p.operands.empty() || p.operands.back() != "...") return need_operands(op, p.operands.size());
  const size_t least = std::max<size_t>(p.operands.size() - 1, 1);
  if (op.operands.size() >= least) return;
  refuse(op.at, "`" + op.name + "` needs " + (least == 1 ? "an operand" : std::to_string(least) + " operands"));
}

Rule plain(const Primitive* p) {
  return [p](Importer& in, const Operation& op, const Vars& x) {
    check_accuracy(op);
    check_operands(op, *p);
    return primitives::record(in.graph(), *p, values(x), parameters(op, *p, x));
  };
}

}  // namespace

void add_plain_rules(Rules& rules) {
  for (const Primitive* p : primitives::registry().all())
    if (!p->hlo.special && !p->hlo.op.empty()) add(rules, p->hlo.op, plain(p));
  add(rules, "chlo.tan", plain(&primitives::registry().at("tan")));
}

}  // namespace anvil::stablehlo
