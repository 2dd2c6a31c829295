// Reductions.
#include "backend/stablehlo/write.h"
#include "primitives/families/fold.h"

namespace anvil::stablehlo {
namespace {

Items fold(Writer& w, const Call& c) {
  return w.op_with_regions("stablehlo.reduce", w.use_all(c.inputs), result_types(c), {w.region(c.params.graph("body"))},
                           {"dimensions = " + array(c.params.ints("dims"))});
}

}  // namespace

Items reduce_by_monoid(Writer& w, const Call& c) {
  Item x = w.use(c.inputs[0]);
  const Ints& dims = c.params.ints("dims");
  const DType t = x.type.dtype;
  const primitives::Monoid& m = *primitives::primitive_of(c).monoid;
  Item initial = w.number(dims.empty() ? primitives::neutral(m, t) : m.start(t), t);
  Shape kept;
  for (size_t d = 0; d < x.type.shape.size(); ++d)
    if (std::find(dims.begin(), dims.end(), static_cast<int64_t>(d)) == dims.end()) kept.push_back(x.type.shape[d]);
  Item y = w.op_with_regions("stablehlo.reduce", {x, initial}, {typed(t, kept)},
                             {w.reducer(primitives::registry().at(is_bool(t) ? m.on_bool : m.operation).hlo.op, t)},
                             {"dimensions = " + array(dims)})[0];
  if (!c.params.flag("drop")) y = w.op("stablehlo.reshape", {y}, c.outputs[0]->type);
  return {y};
}

void add_reduce_writers(WriteRules& rules) { add(rules, "reduce", fold); }

}  // namespace anvil::stablehlo
