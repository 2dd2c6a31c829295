// Lanes that lie a few elements apart: every dtype, strides both ways, numbers of lanes, starts, and ranges that end
// with a part of a vector. What lies between the lanes of a store stays as it was.
#include <cstring>

#include "backend_llvm/programs.h"

namespace anvil::test {
namespace {

struct Lanes {
  int64_t stride, steps;
  int width, copies;
};

// y = x[first + stride * i], or y[first + stride * i] = x over what y was.
void expect_near(DType t, const Lanes& l, bool stores) {
  SCOPED_TRACE(std::string(stores ? "stores " : "loads ") + std::string(name(t)) + " stride " +
               std::to_string(l.stride) + ", " + std::to_string(l.steps) + " steps, vector " + std::to_string(l.width) +
               " x " + std::to_string(l.copies));
  const int64_t first = l.stride > 0 ? 0 : (1 - l.steps) * l.stride;
  const int64_t apart = (l.steps - 1) * std::abs(l.stride) + 1;  // no element behind the last lane
  ProgramBuilder b;
  const BufferId x = b.input(t, {stores ? l.steps : apart}), y = b.output(t, {stores ? apart : l.steps});
  const Variable i = b.index(), k = b.index();
  Affine near;
  near.constant = first;
  near.terms.push_back({i, l.stride});
  Block body;
  const BufferId was = stores ? b.input(t, {apart}) : -1;
  if (stores) body.push_back(serial(k, 0, apart, {{Store{y, {at(k)}, b.load(was, {at(k)})}}}));
  const Stmt move = {Store{y, {stores ? near : at(i)}, b.load(x, {stores ? at(i) : near})}};
  body.push_back(vector(i, 0, l.steps, l.width, l.copies, {move}));
  b.p.body = body;
  std::vector<Tensor> in = {random_tensor(t, {stores ? l.steps : apart}, 7)};
  if (stores) in.push_back(random_tensor(t, {apart}, 8));
  const Tensor out = run_native(b.p, in)[0];
  const size_t size = size_of(t);
  const auto same = [&](int64_t to, const Tensor& from, int64_t of) {
    return std::memcmp(out.as<char>() + size_t(to) * size, from.as<char>() + size_t(of) * size, size) == 0;
  };
  for (int64_t s = 0; s < l.steps; ++s)
    ASSERT_TRUE(stores ? same(first + s * l.stride, in[0], s) : same(s, in[0], first + s * l.stride)) << s;
  if (!stores) return;
  for (int64_t e = 0; e < apart; ++e) ASSERT_TRUE(e % std::abs(l.stride) == 0 || same(e, in[1], e)) << e;
}

TEST(Strided, EveryDtype) {
  for (DType t : {DType::boolean, DType::i8, DType::ui16, DType::i32, DType::i64, DType::f16, DType::bf16, DType::f32,
                  DType::f64})
    for (bool stores : {false, true})
      for (int64_t stride : {2, 3, 4, -2, -3}) expect_near(t, {stride, 61, 8, 2}, stores);
}

TEST(Strided, LanesAndTails) {
  for (int width : {2, 4, 8, 16, 32})
    for (int64_t steps : {width, width + 1, 3 * width - 1, 9 * width})
      for (int64_t stride : {2, 3, 4, 5, -4})
        for (bool stores : {false, true}) {
          expect_near(DType::f32, {stride, steps, width, 4}, stores);
          expect_near(DType::f64, {stride, steps, width, 1}, stores);
        }
}

}  // namespace
}  // namespace anvil::test
