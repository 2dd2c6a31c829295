// Reductions by a region, and scans.
#include "backend/stablehlo/import_fold.h"
#include "primitives/families/control.h"

namespace anvil::stablehlo {

using Values = std::vector<ValuePtr>;

// ---- what the reductions share ------------------------------------------------------------

bool widens(DType from, DType to) {
  bool same_kind = (is_float(from) && is_float(to)) || (is_signed_integer(from) && is_signed_integer(to)) ||
                   (is_unsigned_integer(from) && is_unsigned_integer(to));
  return same_kind && size_of(to) > size_of(from);
}

std::vector<TensorType> widen(const Region& r, Vars& x, size_t second) {
  size_t n = x.size() - second;
  std::vector<TensorType> arguments;
  for (size_t first : {size_t(0), second})
    for (size_t k = 0; k < n; ++k) {
      Var& v = x[first + k];
      if (r.arguments.size() == 2 * n && widens(v.dtype(), r.arguments[k].type.dtype))
        v = primitives::convert(v, r.arguments[k].type.dtype);
      arguments.push_back({v.dtype(), {}});
    }
  return arguments;
}

// JAX broadcasts the numbers from which reductions start to scalars, which they are already.
static Var start(Importer& in, const Var& x) {
  const graph::Call* c = x.shape().empty() ? recent(in.graph(), x.value, 64) : nullptr;
  bool same = c && c->primitive->name == "broadcast_in_dim" && c->inputs[0]->kind == graph::Value::Kind::literal;
  return same ? in.var(c->inputs[0]) : x;
}

FoldOperands fold_operands(Importer& in, const Operation& op, const Vars& x) {
  if (x.empty() || x.size() % 2 != 0)
    refuse(op.at, "`" + op.name + "` takes operands and as many initial values, not " + std::to_string(x.size()));
  size_t n = x.size() / 2;
  Vars all = x;
  for (size_t k = n; k < 2 * n; ++k) all[k] = start(in, all[k]);
  std::vector<TensorType> arguments = widen(need_region(op, 0), all, n);
  auto middle = all.begin() + static_cast<std::ptrdiff_t>(n);
  return {{all.begin(), middle}, {middle, all.end()}, in.region(op, 0, arguments)};
}

namespace {

Values reduce(Importer& in, const Operation& op, const Vars& x) {
  FoldOperands f = fold_operands(in, op, x);
  primitives::check_fold("reduce", f.types(), *f.body);
  return values(primitives::fold(f.operands, f.initial, ints(op, need(op, "dimensions")), f.body));
}

// ---- scans --------------------------------------------------------------------------------

// A loop over `steps` positions of dimension `dim`, which takes a slice of every input and puts one into every output.
struct Scan {
  size_t inputs, carries, outputs;
  int64_t dim, steps;
  bool backwards;
  GraphPtr step;  // (slices.., carries..) -> (slices.., carries..)

  // The state is the outputs, the carries and the counter.
  Vars run(Graph& to, const Vars& scanned, const Vars& initial) const {
    const auto go_on = [this](Graph&, const Vars& now) {
      return backwards ? now.back() >= 0.0 : now.back() < static_cast<double>(steps);
    };
    return primitives::loop(to, initial, go_on, [&](Graph& g, const Vars& now) {
      const Var counter = now.back();
      Vars arguments;
      for (const Var& x : scanned) arguments.push_back(element({&g, x.value}, dim, counter));
      for (size_t k = 0; k < carries; ++k) arguments.push_back(now[outputs + k]);
      Vars next = inlined(*step, arguments, g);
      for (size_t k = 0; k < outputs; ++k) next[k] = with_element(now[k], dim, counter, next[k]);
      next.push_back(counter + (backwards ? -1.0 : 1.0));
      return next;
    });
  }
};

Values scan(Importer& in, const Operation& op, const Vars& x) {
  Scan s{};
  Ints counts = ints_or(op, "operandSegmentSizes", {static_cast<int64_t>(x.size()), 0});
  if (counts.size() != 2 || counts[0] < 1 || counts[1] < 0 || counts[0] + counts[1] != static_cast<int64_t>(x.size()))
    refuse(op.at, "the operands of `chlo.scan` are not counted right");
  s.inputs = static_cast<size_t>(counts[0]);
  s.carries = static_cast<size_t>(counts[1]);
  s.dim = integer(op, need(op, "dimension"));
  s.backwards = flag(op, "is_reverse", false);
  std::vector<TensorType> arguments;
  for (size_t k = 0; k < x.size(); ++k) {
    TensorType t = x[k].type();
    if (k < s.inputs) {
      if (s.dim < 0 || s.dim >= static_cast<int64_t>(t.shape.size()))
        refuse(op.at, "`dimension` is none of operand " + std::to_string(k + 1));
      int64_t steps = t.shape[static_cast<size_t>(s.dim)];
      if (k > 0 && steps != s.steps) refuse(op.at, "the operands of `chlo.scan` differ in the scanned dimension");
      s.steps = steps;
      t.shape.erase(t.shape.begin() + s.dim);
    }
    arguments.push_back(t);
  }
  if (integer_or(op, "scan_dim_size", s.steps) != s.steps)
    refuse(op.at, "`scan_dim_size` is not the size of the scanned dimension");
  s.step = in.region(op, 0, arguments);
  if (s.step->outputs.size() < s.carries) refuse(op.at, "the region of `chlo.scan` returns too few values");
  s.outputs = s.step->outputs.size() - s.carries;

  Vars initial;
  for (size_t k = 0; k < s.step->outputs.size(); ++k) {
    TensorType t = s.step->outputs[k]->type;
    if (k >= s.outputs) {
      initial.push_back(x[s.inputs + k - s.outputs]);
      check_type(op.at, "carry that the region of `chlo.scan` returns", t, initial.back().type());
      continue;
    }
    if (s.dim > static_cast<int64_t>(t.shape.size()))
      refuse(op.at, "`dimension` is none of output " + std::to_string(k + 1));
    t.shape.insert(t.shape.begin() + s.dim, s.steps);
    initial.push_back(primitives::literal(in.graph(), 0, t));
  }
  initial.push_back(primitives::literal(in.graph(), s.backwards ? s.steps - 1 : 0, {DType::i64, {}}));
  Vars results = s.run(in.graph(), {x.begin(), x.begin() + counts[0]}, initial);
  results.pop_back();
  return values(results);
}

}  // namespace

void add_reduce_rules(Rules& rules) {
  add(rules, "stablehlo.reduce", reduce);
  add(rules, "chlo.scan", scan);
}

}  // namespace anvil::stablehlo
