// Lowering of general reductions: several accumulators that a region of the program gives
// their next values, all at once, in the order of the elements.
//
//   argmax over the rows of x1:            for i in 0..64 {
//                                            a1 = -Inf, a2 = 0
//                                            for p in 0..32 {
//                                              let n1 = select(x1[i, p] > a1, x1[i, p], a1)
//                                              let n2 = select(x1[i, p] > a1, p, a2)
//                                              a1 := n1, a2 := n2
//                                            }
//                                            out1[i] = a1, out2[i] = a2
//                                          }
#include "compiler/lower.h"
#include "compiler/traverse.h"

namespace anvil::compiler {

Lowerer::Locals Lowerer::declare(const std::vector<ValuePtr>& results, const std::function<Exprs()>& initial) {
  Block here;
  Exprs first;
  evaluate([&] { return (first = initial())[0]; }, here);
  emit(std::move(here));
  Locals locals;
  for (size_t k = 0; k < results.size(); ++k) {
    locals.push_back(make_local(program_, results[k]->type.dtype));
    emit({loops::Declare{locals[k], primitives::narrowed(exprs(), first[k], results[k]->type.dtype)}});
  }
  return locals;
}

Lowerer::Exprs Lowerer::values_of(const Locals& locals) {
  Exprs values;
  for (loops::LocalId l : locals) values.push_back(exprs().local(l, program_.locals[static_cast<size_t>(l)].dtype));
  return values;
}

namespace {

// An accumulation where the new value is one.
loops::Update changed(loops::LocalId local, Expr old, Expr fresh) {
  for (int k = 0; k < 2 && loops::accumulates(fresh->op); ++k)
    if (const Expr other = fresh->args[static_cast<size_t>(1 - k)];
        fresh->args[static_cast<size_t>(k)] == old && !loops::reads_local(other, local))
      return {local, fresh->op, other};
  return {local, Op::local, fresh};
}

}  // namespace

// All new values are known before the first old one goes.
void Lowerer::assign(const Locals& locals, const std::function<Exprs()>& next) {
  Block here;
  Exprs old = values_of(locals), fresh;
  evaluate([&] { return (fresh = next())[0]; }, here);
  emit(std::move(here));
  for (size_t k = 0; locals.size() > 1 && k < locals.size(); ++k) {
    Expr& e = fresh[k];
    if (e == old[k] || e->op == Op::constant) continue;
    auto l = static_cast<loops::LocalId>(program_.locals.size());
    program_.locals.push_back({"n" + std::to_string(l + 1), e->dtype});
    emit({loops::Let{l, e}});
    e = exprs().local(l, e->dtype);
  }
  for (size_t k = 0; k < locals.size(); ++k)
    if (fresh[k] != old[k]) emit({changed(locals[k], old[k], fresh[k])});
}

void Lowerer::store(const std::vector<BufferId>& to, const Index& place, const Locals& locals) {
  Exprs values = values_of(locals);
  for (size_t k = 0; k < to.size(); ++k) emit(stored(to[k], place, values[k]));
}

void Lowerer::fold(const std::vector<ValuePtr>& results, const Shape& extents,
                   std::function<Exprs(const Index&)> initial,
                   std::function<Exprs(const Index&, const Index&, const Exprs&)> next) {
  const Shape& shape = results[0]->type.shape;
  std::vector<BufferId> to;
  for (const ValuePtr& v : results) to.push_back(result_buffer(v));
  if (elements(shape) == 0) return;
  Index o = index(shape, &Lowerer::dimension), r = index(extents, &Lowerer::reduced);
  Block body;
  Block* outer = std::exchange(block_, &body);
  Locals locals = declare(results, [&] { return initial(o); });
  if (elements(extents) > 0) {
    Block step;
    Block* around = std::exchange(block_, &step);
    assign(locals, [&] { return next(o, r, values_of(locals)); });
    block_ = around;
    for (size_t d = extents.size(); d-- > 0;) {
      if (extents[d] == 1) continue;
      loops::For loop;
      loop.variable = reduced(d);
      loop.end = extents[d];
      loop.body = std::exchange(step, {});
      step.push_back({std::move(loop)});
    }
    emit(std::move(step));
  }
  store(to, o, locals);
  block_ = outer;
  nest(shape, &Lowerer::dimension, std::move(body));
}

void Lowerer::running(const std::vector<ValuePtr>& results, int64_t axis, std::function<Exprs(const Index&)> initial,
                      std::function<Exprs(const Index&, const Exprs&)> next) {
  const Shape& shape = results[0]->type.shape;
  std::vector<BufferId> to;
  for (const ValuePtr& v : results) to.push_back(result_buffer(v));
  if (elements(shape) == 0) return;
  Shape others = shape, along(shape.size(), 1);
  std::swap(others[static_cast<size_t>(axis)], along[static_cast<size_t>(axis)]);
  Index i = index(shape, &Lowerer::dimension), start = index(others, &Lowerer::dimension);
  Block body, step;
  Block* outer = std::exchange(block_, &body);
  Locals locals = declare(results, [&] { return initial(start); });
  block_ = &step;
  assign(locals, [&] { return next(i, values_of(locals)); });
  store(to, i, locals);
  block_ = &body;
  nest(along, &Lowerer::dimension, std::move(step));
  block_ = outer;
  nest(others, &Lowerer::dimension, std::move(body));
}

}  // namespace anvil::compiler
