// Loop programs written out, as the scheduler would leave them.
#include "compiler/peak.h"

namespace anvil::compiler {
namespace {

using loops::Buffer;
using loops::For;

constexpr int chains = 12;  // of sums: more than a multiplication takes cycles times how many start at once

int lanes(DType t, const Target& target) { return target.vector_bytes / static_cast<int>(size_of(t)); }

loops::Program with_buffers(DType t, int64_t read, int64_t written) {
  loops::Program p;
  p.inputs = p.outputs = 1;
  p.buffers.push_back({Buffer::Kind::input, t, {read}, 0, -1, -1, "x1"});
  p.buffers.push_back({Buffer::Kind::output, t, {written}, 0, -1, -1, "out1"});
  p.variables = {{"i"}, {"p"}};
  return p;
}
For vector_loop(int64_t steps, int width, int copies, loops::Block body) {
  For f;
  f.variable = 0;
  f.end = steps;
  f.kind = For::Kind::vector;
  f.width = width;
  f.copies = copies;
  f.body = std::move(body);
  return f;
}

}  // namespace

double operations_of_peak(DType t, const Target& target, int64_t steps) {
  return 2.0 * lanes(t, target) * chains * static_cast<double>(steps);
}

loops::Program multiply_add_peak(DType t, const Target& target, int64_t steps) {
  const int width = lanes(t, target);
  loops::Program p = with_buffers(t, 2, width * chains);
  p.locals.push_back({"a1", t});
  loops::ExprPool& e = p.exprs;
  const auto number = [&](int64_t place) { return e.load(0, t, {loops::Affine{place, {}}}); };
  For sum;
  sum.variable = 1;
  sum.end = steps;
  sum.reduction = true;
  sum.body = {{loops::Update{0, loops::Op::local, e.fma(number(0), number(1), e.local(0, t))}}};
  p.body = {{vector_loop(width * chains, width, chains,
                         {{loops::Declare{0, e.constant(0, t)}},
                          {std::move(sum)},
                          {loops::Store{1, {loops::variable(0)}, e.local(0, t)}}})}};
  return p;
}

loops::Program memory_peak(const Target& target, int64_t n) {
  const DType t = DType::f32;
  loops::Program p = with_buffers(t, n, n);
  const loops::Index at = {loops::variable(0)};
  loops::ExprPool& e = p.exprs;
  p.body = {{vector_loop(n, lanes(t, target), 4,
                         {{loops::Store{1, at, e.binary(loops::Op::add, e.load(0, t, at), e.constant(1, t))}}})}};
  return p;
}

}  // namespace anvil::compiler
