// How fast StableHLO text is read: megabytes a second for the files given, and the time for a
// module of 10,000 operations and for large literals that it makes itself.
//
//   anvil_bench_read_stablehlo [FILE...], built by CMake from tests/cpp
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "backend/stablehlo/stablehlo.h"
#include "backend/stablehlo/syntax.h"
#include "base/error.h"

namespace {

// The best of several runs, in seconds of processor time.
template <class F>
double best(F&& f) {
  double least = 1e30, total = 0;
  for (int k = 0; k < 200 && (k < 3 || total < 0.5); ++k) {
    std::clock_t start = std::clock();
    f();
    double t = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
    least = std::min(least, std::max(t, 1e-9));
    total += t;
  }
  return least;
}

void row(const std::string& name, const std::string& text) {
  double mb = static_cast<double>(text.size()) / 1e6;
  double parse = best([&] { anvil::stablehlo::parse(text); });
  std::printf("%-48s %9.3f MB  parse %8.3f ms %8.1f MB/s", name.c_str(), mb, parse * 1e3, mb / parse);
  try {
    double read = best([&] { anvil::stablehlo::read(text); });
    std::printf("  read %8.3f ms %8.1f MB/s\n", read * 1e3, mb / read);
  } catch (const anvil::Error& e) {
    std::printf("  not imported: %s\n", e.what());
  }
}

std::string chain(int operations) {
  std::string text = "func.func @main(%x: tensor<16x32xf32>) -> tensor<16x32xf32> {\n";
  const char* names[] = {"add", "multiply", "subtract", "maximum"};
  std::string last = "%x";
  for (int i = 0; i < operations; ++i) {
    std::string id = "%" + std::to_string(i);
    text += "  " + id + " = stablehlo." + names[i % 4] + " " + last + ", %x : tensor<16x32xf32>\n";
    last = id;
  }
  return text + "  return " + last + " : tensor<16x32xf32>\n}\n";
}

std::string literal(const char* body, int64_t rows, int64_t columns, const char* type) {
  std::string list;
  for (int64_t i = 0; i < rows; ++i) {
    list += i ? ", [" : "[";
    for (int64_t j = 0; j < columns; ++j) {
      char number[32];
      std::snprintf(number, sizeof number, body, static_cast<double>(i * 31 + j) * 0.37001e-3);
      list += (j ? ", " : "") + std::string(number);
    }
    list += "]";
  }
  std::string t = "tensor<" + std::to_string(rows) + "x" + std::to_string(columns) + "x" + type + ">";
  return "func.func @main() -> " + t + " {\n  %0 = stablehlo.constant dense<[" + list + "]> : " + t +
         "\n  return %0 : " + t + "\n}\n";
}

std::string blob(int64_t n) {
  std::string t = "tensor<" + std::to_string(n) + "xf32>", digits(static_cast<size_t>(8 * n), '3');
  return "func.func @main() -> " + t + " {\n  %0 = stablehlo.constant dense<\"0x" + digits + "\"> : " + t +
         "\n  return %0 : " + t + "\n}\n";
}

}  // namespace

int main(int argc, char** argv) {
  row("10,000 operations", chain(10000));
  row("40,000 operations", chain(40000));
  row("f32 as [[1.234567e-01, ...]], 1000x1000", literal("%.6e", 1000, 1000, "f32"));
  row("f64, 17 digits, 1000x300", literal("%.16e", 1000, 300, "f64"));
  row("f32 as \"0x...\", 4,000,000", blob(4000000));
  for (int i = 1; i < argc; ++i) {
    std::ifstream file(argv[i], std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    std::string name = argv[i];
    try {
      row(name.substr(name.find_last_of('/') + 1), text.str());
    } catch (const anvil::Error& e) {
      std::printf("%s: %s\n", argv[i], e.what());
    }
  }
}
