// Loading the code generator: where it is missing, and many compilations at once.
#include <thread>

#include "backend_llvm/programs.h"
#include "base/error.h"

namespace anvil::test {
namespace {

Program square(int64_t n) {
  ProgramBuilder b;
  const BufferId x = b.input(DType::f64, {n}), y = b.output(DType::f64, {n});
  const Variable i = b.index();
  b.p.body = {vector(i, 0, n, n < 4 ? 1 : 4, 1,
                     {{Store{y, {at(i)}, b.e().binary(Op::mul, b.load(x, {at(i)}), b.load(x, {at(i)}))}}})};
  return std::move(b.p);
}

// In a process of its own, since a library that is loaded stays.
void compile_without(const char* path) {
  setenv("ANVIL_LLVM_LIBRARY", path, 1);
  std::string reason;
  if (llvm_backend::available(&reason)) exit(1);
  try {
    llvm_backend::compile(square(3));
    exit(2);
  } catch (const Error& e) {
    fprintf(stderr, "%s: %s %s", e.kind.c_str(), e.what(), e.details.at(0).c_str());
    exit(reason.empty() ? 3 : 0);
  }
}

TEST(LibraryDeathTest, MissingLibrariesAreExplained) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(compile_without("/nowhere/anvil_llvm.so"), testing::ExitedWithCode(0),
              "llvm: .*LLVM.*Cannot load /nowhere/anvil_llvm.so");
  EXPECT_EXIT(compile_without("libm.so.6"), testing::ExitedWithCode(0), "does not belong to this version");
}

TEST(Library, TargetFitsTheProcessor) {
  const compiler::Target t = llvm_backend::target();
  EXPECT_TRUE(t.vector_bytes == 16 || t.vector_bytes == 32 || t.vector_bytes == 64);
  EXPECT_GE(t.registers, 16);
}

TEST(Library, ExecutablesComeAndGo) {
  load_library();
  std::vector<runtime::Executable> kept;
  const Tensor x = random_tensor(DType::f64, {50}, 1);
  for (int64_t n = 1; n < 50; ++n) kept.push_back(llvm_backend::compile(square(n)));
  for (size_t i = 0; i < kept.size(); i += 2) kept[i] = {};
  for (size_t i = 1; i < kept.size(); i += 2) {
    const Tensor y = graph::allocate({DType::f64, {int64_t(i) + 1}});
    run_into(kept[i], {x}, {y});
    EXPECT_EQ(y.as<double>()[i], x.as<double>()[i] * x.as<double>()[i]);
  }
}

TEST(Library, ThreadsCompileTogether) {
  load_library();
  std::vector<std::thread> threads;
  std::atomic<int> right = 0;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&right] {
      for (int64_t n = 5; n < 15; ++n) {
        const Tensor x = random_tensor(DType::f64, {n}, 2);
        right += run_native(square(n), {x})[0].as<double>()[n - 1] == x.as<double>()[n - 1] * x.as<double>()[n - 1];
      }
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(right, 40);
}

}  // namespace
}  // namespace anvil::test
