// What runs along a vector loop: a sum, product, minimum or maximum of all steps so far, of which each step is read.
//
//   for i in 0..n vector 8 {       s = splat(a1)
//     a1 += x1[i] running      ->  i: p = scan(x1[i..i+7]); out1[i..i+7] = s + p; s = s + splat(p's last lane)
//     out1[i] = a1                 a1 = s's first lane
//   }
//
// One addition is all that a step waits for from the one before.
#include "backend/llvm/emitter.h"

namespace anvil::llvm_backend {

std::vector<Emitter::Running> Emitter::begin_running(const loops::For& f) {
  std::vector<Running> result;
  for (const loops::Update* u : running_updates(f)) {
    const loops::LocalInfo& local = program_.locals[size_t(u->local)];
    const int width = analysis_.plan(&f).width;
    Running r{u, ops_.type(local.dtype, width), local_state(u->local), {}};
    for (Value outside : r.outside.values) {
      r.so_far.push_back(outside ? slot(r.type, local.name + ".so.far") : nullptr);
      if (outside) b_.CreateStore(ops_.splat(b_.CreateLoad(ops_.type(local.dtype), outside), width), r.so_far.back());
    }
    result.push_back(std::move(r));
  }
  return result;
}

void Emitter::run_along(const Running& r) {
  const loops::Op op = r.update->op;
  const DType t = r.update->value->dtype;
  LocalState now;
  now.axes = r.outside.axes | AxisMask(1) << vector_axis_;
  now.lanes = true;
  now.level = int(scopes_.size()) - 1;
  now.values = per_coordinate(now.axes, [&](const Coordinate& c) {
    Value x = spread(r.update->value, c, lanes());
    if (const int done = done_lanes(c); done > 0)
      x = b_.CreateSelect(not_done(done), x, ops_.constant(loops::identity(op, t), t, lanes()));
    Value place = r.so_far[size_t(project(r.outside.axes, c))];
    Value before = b_.CreateLoad(r.type, place), sums = ops_.scan(op, t, x);
    b_.CreateStore(ops_.binary(op, t, before, ops_.last(sums)), place);
    return ops_.binary(op, t, before, sums);
  });
  now.changed = ++time_;
  locals_[r.update->local] = std::move(now);
}

void Emitter::end_running(const Running& r) {
  for (size_t k = 0; k < r.so_far.size(); ++k)
    if (r.so_far[k])
      b_.CreateStore(b_.CreateExtractElement(b_.CreateLoad(r.type, r.so_far[k]), uint64_t(0)), r.outside.values[k]);
  LocalState& after = locals_[r.update->local] = r.outside;
  after.changed = ++time_;
}

}  // namespace anvil::llvm_backend
