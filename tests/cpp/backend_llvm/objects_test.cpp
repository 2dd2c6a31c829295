// Machine code that is shared, and kept in a folder: what is found again, what is not, and folders that are of no use.
#include <sys/stat.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "backend_llvm/programs.h"

namespace anvil::test {
namespace {

namespace fs = std::filesystem;

class Objects : public testing::Test {
 protected:
  Objects() {
    load_library();
    std::string name = (fs::temp_directory_path() / "anvil-objects-XXXXXX").string();
    folder_ = mkdtemp(name.data());
  }
  ~Objects() override { fs::remove_all(folder_); }

  // y[i] = factor x[i]; says whether code had to be generated.
  bool generates(double factor, const std::string& folder) {
    ProgramBuilder b;
    const BufferId x = b.input(DType::f64, {7}), y = b.output(DType::f64, {7});
    const Variable i = b.index();
    b.p.body = {serial(i, 0, 7,
                       {{Store{y, {at(i)}, b.e().binary(Op::mul, b.number(factor, DType::f64), b.load(x, {at(i)}))}}})};
    llvm_backend::ObjectCache cache{folder, {}};
    Timings timings;
    last_ = llvm_backend::compile(b.p, &timings, &cache);
    problem_ = cache.problem;
    const Tensor in = random_tensor(DType::f64, {7}, 3), out = graph::allocate({DType::f64, {7}});
    run_into(last_, {in}, {out});
    for (int k = 0; k < 7; ++k) EXPECT_EQ(out.as<double>()[k], factor * in.as<double>()[k]);
    for (const Timing& t : timings)
      if (t.stage == "generate") return t.seconds > 0;
    return false;
  }
  bool generates_anew(double factor, const std::string& folder) {
    last_ = {};
    return generates(factor, folder);
  }
  std::vector<fs::path> files() const {
    std::vector<fs::path> found;
    for (const auto& file : fs::directory_iterator(folder_))
      if (file.is_regular_file() && file.file_size() > 64) found.push_back(file.path());
    return found;
  }

  std::string folder_, problem_;
  runtime::Executable last_;
};

TEST_F(Objects, EqualProgramsShareCodeWhileOneOfThemIsThere) {
  EXPECT_TRUE(generates(2, ""));
  const runtime::Executable first = last_;
  EXPECT_FALSE(generates(2, ""));
  EXPECT_EQ(last_.entry, first.entry);
  EXPECT_TRUE(generates(3, ""));
}

TEST_F(Objects, CodeComesBackFromItsFolder) {
  EXPECT_TRUE(generates(2, folder_));
  EXPECT_EQ(files().size(), 1u);
  EXPECT_FALSE(generates_anew(2, folder_));
  EXPECT_TRUE(generates_anew(2, ""));
  EXPECT_TRUE(generates_anew(4, folder_));
  EXPECT_EQ(files().size(), 2u);
  EXPECT_EQ(problem_, "");
  struct stat status;
  ASSERT_EQ(stat(files()[0].c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 077, 0u) << "files belong to their user";
}

TEST_F(Objects, DamagedFilesDoNotCount) {
  generates(2, folder_);
  const fs::path path = files().at(0);
  std::string whole;
  {
    std::ifstream in(path, std::ios::binary);
    whole.assign(std::istreambuf_iterator<char>(in), {});
  }
  const auto damage = [&](const std::string& content) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << content;
    EXPECT_TRUE(generates_anew(2, folder_));
    EXPECT_NE(problem_.find("damaged"), std::string::npos) << problem_;
    EXPECT_FALSE(generates_anew(2, folder_)) << "it is written again";
    EXPECT_EQ(problem_, "");
  };
  damage("");
  damage(whole.substr(0, whole.size() / 2));
  for (size_t at : {size_t(0), whole.size() / 3, whole.size() - 65, whole.size() - 1}) {
    std::string changed = whole;
    changed[at] = char(changed[at] ^ 1);
    damage(changed);
  }
}

TEST_F(Objects, AFileUnderTheNameOfAnotherDoesNotCount) {
  generates(2, folder_);
  const fs::path two = files().at(0);
  fs::rename(two, folder_ + "/two");
  generates_anew(4, folder_);
  fs::path four;
  for (const fs::path& p : files())
    if (p.filename() != "two") four = p;
  fs::rename(folder_ + "/two", four);
  EXPECT_TRUE(generates_anew(4, folder_));
  EXPECT_NE(problem_.find("damaged"), std::string::npos);
}

TEST_F(Objects, FoldersOfNoUseAreSaid) {
  EXPECT_TRUE(generates(2, folder_ + "/new/inner"));
  EXPECT_TRUE(fs::exists(folder_ + "/new/inner"));
  std::ofstream(folder_ + "/file") << "x";
  EXPECT_TRUE(generates_anew(2, folder_ + "/file"));
  EXPECT_NE(problem_, "");
  fs::permissions(folder_, fs::perms::all);
  EXPECT_TRUE(generates_anew(2, folder_));
  EXPECT_NE(problem_.find("everybody"), std::string::npos) << problem_;
  EXPECT_EQ(files().size(), 0u);
}

// The session's signals are R's.
TEST_F(Objects, SignalsStayWhoseTheyAre) {
  struct sigaction before, after;
  sigaction(SIGINT, nullptr, &before);
  EXPECT_TRUE(generates(2, folder_));
  sigaction(SIGINT, nullptr, &after);
  EXPECT_EQ(before.sa_handler, after.sa_handler);
}

TEST_F(Objects, ManyUseAFolderAtOnce) {
  std::vector<std::thread> threads;
  std::atomic<int> problems = 0;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int k = 0; k < 10; ++k) {
        ProgramBuilder b;
        const BufferId y = b.output(DType::f64, {3});
        const Variable i = b.index();
        b.p.body = {serial(i, 0, 3, {{Store{y, {at(i)}, b.number(double(k % 5), DType::f64)}}})};
        llvm_backend::ObjectCache cache{folder_, {}};
        const runtime::Executable code = llvm_backend::compile(b.p, nullptr, &cache);
        const Tensor out = graph::allocate({DType::f64, {3}});
        run_into(code, {}, {out});
        problems += cache.problem != "" || out.as<double>()[t % 3] != k % 5;
      }
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(problems, 0);
  EXPECT_EQ(files().size(), 5u);
}

}  // namespace
}  // namespace anvil::test
