// Elementary functions that are written out in long loops give the bits of those that are called.
#include "backend_llvm/programs.h"
#include "runtime/elementary_arguments.h"

namespace anvil::test {
namespace {

constexpr int64_t n = 1000;
const char* const expanded[] = {"exp", "expm1", "log", "log1p", "tanh", "logistic", "erf", "rsqrt"};

// y[i] = f(x[i]), `runs` times.
Program function_of_vector(const char* f, DType t, int width, int copies, int64_t runs) {
  ProgramBuilder b;
  const BufferId x = b.input(t, {n}), y = b.output(t, {n});
  const Variable r = b.index("r"), i = b.index("i");
  const Expr value = b.e().function(f, b.load(x, {at(i)}));
  b.p.body = {serial(r, 0, runs, {vector(i, 0, n, width, copies, {{Store{y, {at(i)}, value}}})})};
  return std::move(b.p);
}

template <class T>
void check(const char* name, int width, int copies) {
  const DType t = sizeof(T) == 4 ? DType::f32 : DType::f64;
  const elementary::Function f = *elementary::find(name);
  const std::vector<T> x = elementary::arguments<T>(n, -5, 5, 1);
  std::vector<T> called(n);
  elementary::apply(f, {x.data(), nullptr, nullptr}, called.data(), n);
  const Tensor input = graph::allocate({t, {n}});
  std::memcpy(input.data.get(), x.data(), n * sizeof(T));
  const Tensor output = run_native(function_of_vector(name, t, width, copies, 4096), {input})[0];
  for (int64_t i = 0; i < n; ++i) {
    T y;
    std::memcpy(&y, static_cast<const char*>(output.data.get()) + i * int64_t(sizeof(T)), sizeof(T));
    const bool same =
        std::isnan(y) ? std::isnan(called[size_t(i)]) : std::memcmp(&y, &called[size_t(i)], sizeof(T)) == 0;
    ASSERT_TRUE(same) << name << "(" << x[size_t(i)] << ") is " << y << ", called " << called[size_t(i)];
  }
}

TEST(Expand, GivesTheBitsOfTheCalls) {
  load_library();
  for (const char* name : expanded)
    for (const int width : {2, 8, 16}) {
      check<float>(name, width, 2);
      check<double>(name, width, 1);
    }
}

TEST(Expand, OnlyWhatRunsOften) {
  load_library();
  if (elementary::detected_isa() == elementary::Isa::baseline) return;
  const auto calls = [](const char* f, int64_t runs) {
    const Program p = function_of_vector(f, DType::f32, 8, 1, runs);
    return llvm_backend::text(p, llvm_backend::Text::llvm).find(std::string("anvil_") + f) != std::string::npos;
  };
  EXPECT_TRUE(calls("exp", 1));
  EXPECT_FALSE(calls("exp", 4096));
  EXPECT_TRUE(calls("lgamma", 4096));
}

}  // namespace
}  // namespace anvil::test
