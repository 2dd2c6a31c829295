// Sorting.
#include "backend/stablehlo/write.h"

namespace anvil::stablehlo {
namespace {

// Zeros made one zero and NaNs made one NaN, so that the total order of floats is ours.
Item canonical(Writer& w, const Item& x) {
  DType t = x.type.dtype;
  if (!is_float(t)) return x;
  Item zero = w.number(Scalar(0.0), t), nan = w.number(Scalar(std::numeric_limits<double>::quiet_NaN()), t);
  Item one_zero = w.op("stablehlo.select", {w.compared("EQ", x, zero), zero, x}, x.type);
  return w.op("stablehlo.select", {w.compared("NE", x, x), nan, one_zero}, x.type);
}
Item ordered(Writer& w, const char* direction, const Item& a, const Item& b) {
  if (!is_float(a.type.dtype)) return w.compared(direction, a, b);
  return w.pretty(std::string("stablehlo.compare ") + direction + ", " + a.name + ", " + b.name + ", TOTALORDER",
                  {a, b}, typed(DType::boolean), " : ");
}

// first, or where it is equal the rest: from the last key to the first one.
std::function<void()> comparator(Writer& w, const Call& c) {
  return [&w, &c] {
    Items arguments;
    for (const ValuePtr& v : c.inputs)
      for (int side = 0; side < 2; ++side) arguments.push_back({w.fresh(), typed(v->type.dtype)});
    w.block_arguments(arguments);
    const char* direction = c.params.flag("descending") ? "GT" : "LT";
    Item result;
    for (auto k = static_cast<size_t>(c.params.integer("num_keys")); k-- > 0;) {
      Item a = canonical(w, arguments[2 * k]), b = canonical(w, arguments[2 * k + 1]);
      Item before = ordered(w, direction, a, b);
      if (result.name.empty()) {
        result = before;
        continue;
      }
      Item tied = w.op("stablehlo.and", {ordered(w, "EQ", a, b), result}, before.type);
      result = w.op("stablehlo.or", {before, tied}, before.type);
    }
    w.yield("stablehlo.return", {result});
  };
}

Items sort(Writer& w, const Call& c) {
  return w.op_with_regions("stablehlo.sort", w.use_all(c.inputs), result_types(c), {comparator(w, c)},
                           {"dimension = " + std::to_string(c.params.integer("dim")) + " : i64",
                            "is_stable = " + boolean(c.params.flag("is_stable"))});
}

}  // namespace

void add_sort_writers(WriteRules& rules) { add(rules, "sort", sort); }

}  // namespace anvil::stablehlo
