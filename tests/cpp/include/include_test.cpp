// The layers of the core: a folder includes itself and what is below it, nothing else.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>

namespace {

namespace fs = std::filesystem;

// What each folder may include besides itself.
const std::map<std::string, std::set<std::string>>& allowed() {
  static const std::map<std::string, std::set<std::string>> table = [] {
    std::map<std::string, std::set<std::string>> t;
    t["base"] = {};
    t["runtime"] = t["graph"] = t["loops"] = {"base"};
    std::set<std::string> below = {"base", "runtime", "graph", "loops"};
    for (const char* layer : {"primitives/vocabulary", "primitives/families", "transform", "compiler"}) {
      t[layer] = below;
      below.insert(layer);
    }
    for (const char* backend : {"backend/eigen", "backend/llvm", "backend/stablehlo"})
      t[backend] = below;
    return t;
  }();
  return table;
}

// "backend/eigen" for backend/eigen/shape.cpp, "runtime" for runtime/elementary/table.h, "" for anvil.h.
std::string layer_of(const std::string& path) {
  static const std::regex folder("^((?:backend|primitives)/[^/]+|[^/]+)/");
  std::smatch match;
  return std::regex_search(path, match, folder) ? match[1].str() : "";
}

struct Include {
  std::string file, target;
  bool quoted;
};
std::vector<Include> includes() {
  static const std::regex pattern("^\\s*#\\s*include\\s*([\"<])([^\">]+)[\">]");
  std::vector<Include> found;
  fs::path source = fs::path(ANVIL_SOURCE_DIR) / "src";
  for (const auto& entry : fs::recursive_directory_iterator(source)) {
    static const std::set<std::string> code = {".h", ".cpp", ".inc", ".hpp", ".c"};
    if (!entry.is_regular_file() || code.count(entry.path().extension().string()) == 0) continue;
    std::ifstream in(entry.path());
    std::string file = fs::relative(entry.path(), source).generic_string();
    std::smatch match;
    for (std::string line; std::getline(in, line);)
      if (std::regex_search(line, match, pattern)) found.push_back({file, match[2].str(), match[1].str() == "\""});
  }
  return found;
}

TEST(Includes, AreFound) { EXPECT_GT(includes().size(), 100u); }

TEST(Includes, PointDown) {
  for (const Include& i : includes()) {
    std::string from = layer_of(i.file), to = layer_of(i.target);
    if (!i.quoted || from.empty()) continue;  // the facade and the bindings stand above everything
    ASSERT_TRUE(allowed().count(from)) << i.file << " is in a folder that is no layer";
    if (to.empty()) {
      EXPECT_NE(i.target, "anvil.h") << i.file;
      continue;
    }
    EXPECT_TRUE(from == to || allowed().at(from).count(to)) << i.file << " includes " << i.target;
  }
}

TEST(Includes, GiveTheWholePath) {
  for (const Include& i : includes())
    if (i.quoted && !layer_of(i.file).empty()) {
      EXPECT_TRUE(fs::exists(fs::path(ANVIL_SOURCE_DIR) / "src" / i.target)) << i.file << " includes " << i.target;
    }
}

TEST(Includes, CoreKnowsNoR) {
  static const std::regex r("^(R|Rcpp|Rinternals|Rdefines|Rmath|Rversion|Rconfig)\\.h$|^(Rcpp|R_ext)/|^cpp11");
  for (const Include& i : includes())
    if (i.file.find('/') != std::string::npos || i.file == "anvil.h") {
      EXPECT_FALSE(std::regex_search(i.target, r)) << i.file << " includes " << i.target;
    }
}

TEST(Includes, OneHeaderIncludesLlvm) {
  static const std::regex llvm("^llvm(-c)?/");
  for (const Include& i : includes())
    if (std::regex_search(i.target, llvm)) {
      EXPECT_EQ(i.file, "backend/llvm/llvm.h") << "includes " << i.target;
    }
}

}  // namespace
