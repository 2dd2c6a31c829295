// Primitives that make or move elements without computing on them: each is one or two
// strided copies.
#include <algorithm>

#include "backend/eigen/kernels.h"
#include "backend/eigen/odometer.h"

namespace anvil::eigen {
namespace {

using graph::full;

Tensors fill(const Call& call, const Tensors&) {
  return {full(call.outputs[0]->type, call.params.get<Scalar>("value"))};
}

Tensors iota(const Call& call, const Tensors&) {
  const graph::TensorType& type = call.outputs[0]->type;
  Tensor out = graph::allocate({DType::i64, type.shape});
  size_t dim = static_cast<size_t>(call.params.integer("dim"));
  int64_t start = call.params.integer("start");
  View along{0, std::vector<int64_t>(type.shape.size(), 0)};
  along.strides[dim] = 1;
  int64_t* data = out.as<int64_t>();
  walk(type.shape, along, whole(out), [&](int64_t i, int64_t o) { data[o] = start + i; });
  return {graph::converted(out, type.dtype)};
}

Tensors reshape(const Call& call, const Tensors& in) { return {{call.outputs[0]->type, in[0].data}}; }

Tensors broadcast_in_dim(const Call& call, const Tensors& in) {
  Tensor out = make_result(call);
  const auto& dims = call.params.ints("broadcast_dimensions");
  auto steps = strides(in[0].type.shape);
  View source{0, std::vector<int64_t>(out.type.shape.size(), 0)};
  for (size_t d = 0; d < dims.size(); ++d)
    if (in[0].type.shape[d] != 1) source.strides[static_cast<size_t>(dims[d])] = steps[d];
  copy_box(out.type.shape, in[0], source, out, whole(out));
  return {out};
}

Tensors transpose(const Call& call, const Tensors& in) {
  Tensor out = make_result(call);
  auto steps = strides(in[0].type.shape);
  View source;
  for (int64_t d : call.params.ints("permutation")) source.strides.push_back(steps[static_cast<size_t>(d)]);
  copy_box(out.type.shape, in[0], source, out, whole(out));
  return {out};
}

Tensors reverse(const Call& call, const Tensors& in) {
  Tensor out = make_result(call);
  View source = whole(in[0]);
  for (int64_t dim : call.params.ints("dims")) {
    size_t d = static_cast<size_t>(dim);
    source.offset += (in[0].type.shape[d] - 1) * source.strides[d];
    source.strides[d] = -source.strides[d];
  }
  copy_box(out.type.shape, in[0], source, out, whole(out));
  return {out};
}

Tensors concatenate(const Call& call, const Tensors& in) {
  Tensor out = make_result(call);
  size_t dim = static_cast<size_t>(call.params.integer("dimension"));
  View target = whole(out);
  for (const Tensor& part : in) {
    copy_box(part.type.shape, part, whole(part), out, target);
    target.offset += part.type.shape[dim] * target.strides[dim];
  }
  return {out};
}

Tensors static_slice(const Call& call, const Tensors& in) {
  Tensor out = make_result(call);
  const auto &starts = call.params.ints("start_indices"), &steps = call.params.ints("strides");
  View source = whole(in[0]);
  for (size_t d = 0; d < starts.size(); ++d) {
    source.offset += starts[d] * source.strides[d];
    source.strides[d] = scaled(source.strides[d], steps[d]);
  }
  copy_box(out.type.shape, in[0], source, out, whole(out));
  return {out};
}

// Element i of the operand goes to low + i (interior + 1); those that negative edges
// push out of the result are left out.
Tensors pad(const Call& call, const Tensors& in) {
  Tensor out = full(call.outputs[0]->type, element(in[1], 0));
  const auto &low = call.params.ints("edge_padding_low"), &interior = call.params.ints("interior_padding");
  View source = whole(in[0]), target = whole(out);
  Shape box = in[0].type.shape;
  for (size_t d = 0; d < box.size(); ++d) {
    int64_t step = interior[d] + 1, size = out.type.shape[d];
    int64_t first = low[d] < 0 ? (-low[d] - 1) / step + 1 : 0;
    int64_t end = size > low[d] ? std::min(box[d], (size - low[d] - 1) / step + 1) : 0;
    box[d] = std::max<int64_t>(end - first, 0);
    source.offset += first * source.strides[d];
    target.offset += box[d] == 0 ? 0 : (low[d] + first * step) * target.strides[d];
    target.strides[d] = scaled(target.strides[d], step);
  }
  copy_box(box, in[0], source, out, target);
  return {out};
}

// The place of a start, moved inside [0, high].
int64_t clamped_start(const Tensor& start, int64_t high) {
  return visit(start.type.dtype, [&]<class T>() {
    T x = *start.as<T>();
    if (x <= T(0)) return int64_t(0);
    return static_cast<uint64_t>(x) >= static_cast<uint64_t>(high) ? high : static_cast<int64_t>(x);
  });
}
View dynamic_window(const Tensor& t, const Shape& sizes, const Tensors& in, size_t first_start) {
  View view = whole(t);
  for (size_t d = 0; d < sizes.size(); ++d)
    view.offset += clamped_start(in[first_start + d], t.type.shape[d] - sizes[d]) * view.strides[d];
  return view;
}

Tensors dynamic_slice(const Call& call, const Tensors& in) {
  Tensor out = make_result(call);
  copy_box(out.type.shape, in[0], dynamic_window(in[0], out.type.shape, in, 1), out, whole(out));
  return {out};
}

Tensors dynamic_update_slice(const Call& call, const Tensors& in) {
  Tensor out = make_result(call);
  copy_box(out.type.shape, in[0], whole(in[0]), out, whole(out));
  const Shape& box = in[1].type.shape;
  copy_box(box, in[1], whole(in[1]), out, dynamic_window(out, box, in, 2));
  return {out};
}

}  // namespace

std::vector<NamedKernel> shape_kernels() {
  return {{"fill", fill},
          {"iota", iota},
          {"reshape", reshape},
          {"broadcast_in_dim", broadcast_in_dim},
          {"transpose", transpose},
          {"reverse", reverse},
          {"concatenate", concatenate},
          {"static_slice", static_slice},
          {"pad", pad},
          {"dynamic_slice", dynamic_slice},
          {"dynamic_update_slice", dynamic_update_slice}};
}

}  // namespace anvil::eigen
