// Drawing rules of random_program.h: running reductions, windows and convolutions.
#include "primitives/families/window.h"
#include "support/random_program.h"
#include "support/regions.h"

namespace anvil::test {

void RandomProgram::add_windows(Rules& t) {
  using P = RandomProgram;
  t["cumsum"] = [](P& p) {
    Var x = p.any();
    if (x.shape().empty() || is_bool(x.dtype())) return false;
    p.keep(primitives::cumsum(x, p.below(static_cast<int>(x.shape().size()))));
    return true;
  };
  t["reduce"] = [](P& p) {
    Var x = p.any();
    auto dims = p.some_dims(x.shape().size());
    // over no dimensions XLA gives the operand, whatever the initial value
    if (is_bool(x.dtype()) || (p.options_.exportable && dims.empty())) return false;
    p.fold("reduce", x, {{"dims", dims, true}});
    return true;
  };
  t["cumulative"] = [](P& p) {
    Var x = p.any();
    if (x.shape().empty() || is_bool(x.dtype())) return false;
    p.fold("cumulative", x, {{"dim", int64_t(p.below(static_cast<int>(x.shape().size()))), true}});
    return true;
  };
  t["reduce_window"] = [](P& p) {
    Var x = p.any();
    if (is_bool(x.dtype()) || elements(x.shape()) > 300) return false;
    p.fold("reduce_window", x, p.any_window(x.shape(), true));
    return true;
  };
  t["select_and_scatter"] = [](P& p) {
    Var x = p.any();
    if (is_bool(x.dtype()) || x.shape().empty() || elements(x.shape()) > 300 || elements(x.shape()) == 0) return false;
    Params window = p.any_window(x.shape(), false);
    Params counted = window;
    for (const char* name : {"base_dilations", "window_dilations"})
      counted.items.push_back({name, Ints(x.shape().size(), 1)});
    counted.items.push_back({"body", operation("add", x.dtype())});
    Var zero = primitives::literal(p.graph, 0, {x.dtype(), {}});
    Shape windows = call("reduce_window", {x, zero}, counted)[0].shape();
    const char* direction = p.chance(50) ? "greater_equal" : "less_equal";
    window.items.push_back({"select", region({x.dtype(), x.dtype()}, [&](const std::vector<Var>& v) {
                              return std::vector<Var>{primitives::record(direction, {v[0], v[1]})};
                            })});
    window.items.push_back(
        {"scatter", operation(p.options_.float_only || p.chance(50) ? "add" : "maximum", x.dtype())});
    Var ones = primitives::literal(p.graph, 1, {x.dtype(), windows});
    Var source = ones * primitives::broadcast_in_dim(p.spread_scalar(x), windows, {});
    p.keep(call("select_and_scatter", {x, source, zero}, window)[0]);
    return true;
  };
  t["windows"] = [](P& p) {
    Var x = p.any();
    Ints dims, sizes, strides, dilations;
    for (size_t d = 0; d < x.shape().size(); ++d) {
      if (p.chance(40)) continue;
      dims.push_back(static_cast<int64_t>(d));
      sizes.push_back(1 + p.below(3));
      strides.push_back(1 + p.below(2));
      dilations.push_back(1 + p.below(2));
    }
    p.keep(primitives::windows(x, dims, sizes, strides, dilations));
    return true;
  };
  t["sum_windows"] = [](P& p) {
    Var x = p.any();
    if (is_bool(x.dtype()) || x.shape().size() < 2 || x.shape()[0] < 2 * x.shape().back() || x.shape().back() == 0)
      return false;
    p.keep(primitives::sum_windows(x, {0}, {1 + p.below(2)}));
    return true;
  };
  t["convolution"] = [](P& p) {
    Var x = p.any();
    size_t rank = x.shape().size();
    if (rank < 2 || is_bool(x.dtype()) || elements(x.shape()) > 300 || elements(x.shape()) == 0) return false;
    Ints in = p.permutation(rank), kernel = p.permutation(rank), out = p.permutation(rank);
    int64_t batch = x.shape()[static_cast<size_t>(in[0])], features = x.shape()[static_cast<size_t>(in[1])];
    int64_t by_feature = features % 2 == 0 && p.chance(30) ? 2 : 1,
            by_batch = by_feature == 1 && batch % 2 == 0 && p.chance(30) ? 2 : 1;
    Shape shape(rank);
    shape[static_cast<size_t>(kernel[0])] = by_feature * by_batch * (1 + p.below(2));
    shape[static_cast<size_t>(kernel[1])] = features / by_feature;
    Ints strides, low, high, input_dilation, kernel_dilation, reversed;
    for (size_t s = 2; s < rank; ++s) {
      shape[static_cast<size_t>(kernel[s])] = 1 + p.below(3);
      strides.push_back(1 + p.below(2));
      low.push_back(p.below(3));
      high.push_back(p.below(3));
      input_dilation.push_back(1 + p.below(2));
      kernel_dilation.push_back(1 + p.below(2));
      if (p.chance(30)) reversed.push_back(static_cast<int64_t>(s) - 2);
    }
    Var w = primitives::literal(p.graph, 2, {x.dtype(), shape});  // one element is no constant
    if (elements(shape) > 1) {
      p.graph.constants.push_back(graph::make_constant(p.any_tensor({x.dtype(), shape})));
      w.value = p.graph.constants.back();
    }
    p.keep(call("convolution", {x, w},
                {{"window_strides", strides},
                 {"padding_low", low},
                 {"padding_high", high},
                 {"lhs_dilation", input_dilation},
                 {"rhs_dilation", kernel_dilation},
                 {"reversed", reversed, true},
                 {"input_dims", in, true},
                 {"kernel_dims", kernel, true},
                 {"output_dims", out, true},
                 {"feature_group_count", by_feature},
                 {"batch_group_count", by_batch}})[0]);
    return true;
  };
}

}  // namespace anvil::test
