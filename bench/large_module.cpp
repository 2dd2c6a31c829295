// How long large StableHLO modules take to read, compile and run, and how much of a program
// only moves data. Without arguments: modules of 10,000 operations in several shapes, made
// here. With arguments: the files named.
//
//   anvil_bench_large_module [options] [shape or file.mlir ...]
//     --ops n         operations of the modules made here
//     --passes        the time of each pass of the compiler
//     --unmirrored    without mirror_values(), which makes row-major reshapes free
//     --gradient      of the sum of the first result by all inputs
//     --compile-only  does not run
//     --check         compares with the evaluator
//     --write folder  keeps the modules
//
// Times are of this process, not of the clock on the wall. The library with the code
// generator is taken from ANVIL_LLVM_LIBRARY.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <functional>
#include <iostream>
#include <map>
#include <sstream>

#include "anvil.h"
#include "compiler/passes.h"
#include "compiler/traverse.h"
#include "modules.h"
#include "primitives/vocabulary/composite.h"
#include "runtime/run.h"

namespace {

using namespace anvil;
using bench::column_major_network;
using bench::shapes;

// ---- copies -------------------------------------------------------------------------------

// Stores of what was just loaded, and the bytes that they read and write.
struct Moves {
  int count = 0;
  double bytes = 0;
};
void count_moves(const loops::Program& p, const loops::Block& block, double visits, Moves& m) {
  for (const loops::Stmt& s : block) {
    if (auto store = std::get_if<loops::Store>(&s.is); store && store->value->op == loops::Op::load && visits > 1) {
      ++m.count;
      m.bytes += visits * 2 * static_cast<double>(size_of(store->value->dtype));
    }
    auto loop = std::get_if<loops::For>(&s.is);
    double inner = visits * (loop ? static_cast<double>(loop->end - loop->begin) : 1);
    compiler::each_block(s, [&](const loops::Block& b) { count_moves(p, b, inner, m); });
  }
}

// ---- measuring ----------------------------------------------------------------------------

double now() {  // of this process, so that neighbours do not count
  timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

struct Clock {
  double start = now();
  double lap() {
    double t = now(), d = t - start;
    start = t;
    return 1000 * d;
  }
};

graph::Tensor operand(const graph::TensorType& type) {
  graph::Tensor t = graph::allocate(type);
  for (int64_t k = 0; k < elements(type.shape); ++k)
    graph::set_element(
        t, k,
        is_float(type.dtype) ? Scalar(0.005 * static_cast<double>(k * 37 % 97 - 40)) : Scalar(int64_t(1 + k % 2)));
  return t;
}

// The largest difference, relative to numbers beyond 1; 1e300 where one is not a number.
double distance(const std::vector<graph::Tensor>& a, const std::vector<graph::Tensor>& b) {
  double most = 0;
  for (size_t k = 0; k < a.size(); ++k)
    for (int64_t i = 0; i < elements(a[k].type.shape); ++i) {
      double x = graph::element(a[k], i).as<double>(), y = graph::element(b[k], i).as<double>();
      if (x == y || (x != x && y != y)) continue;
      double d = std::abs(x - y) / std::max({1.0, std::abs(x), std::abs(y)});
      most = std::max(most, d == d ? d : 1e300);
    }
  return most;
}

struct Options {
  bool passes = false, mirror = true, run = true, gradient = false, check = false;
};

// The gradient of the sum of the first result by all inputs.
graph::GraphPtr gradient(graph::GraphPtr g) {
  auto sum = std::make_shared<graph::Graph>(*g);
  primitives::Var y{sum.get(), g->outputs[0]};
  std::vector<int64_t> all;
  for (size_t d = 0; d < y.shape().size(); ++d) all.push_back(static_cast<int64_t>(d));
  sum->outputs = {(all.empty() ? y : primitives::reduce_sum(y, all)).value};
  return transform::gradient(*sum, std::vector<bool>(g->inputs.size(), true), false);
}

void measure(const std::string& name, const std::function<graph::GraphPtr()>& make, const Options& options) {
  Clock clock;
  graph::GraphPtr g = make();
  double read = clock.lap();
  graph::GraphPtr original = g;
  if (options.gradient) g = gradient(primitives::expand(*g, primitives::Reader::reverse));
  g = primitives::expand(*g, primitives::Reader::backend);
  if (options.mirror) {
    transform::optimize(*g);
  } else {
    transform::inline_scalar_constants(*g);
    transform::simplify_algebra(*g);
    transform::merge_equal_calls(*g);
    transform::remove_dead_calls(*g);
    transform::remove_unused_constants(*g);
  }
  double optimize = clock.lap();
  loops::Program p = compiler::lower(*g);
  std::vector<std::pair<std::string, double>> times = {{"lower", clock.lap()}};
  double compile = times[0].second;
  auto target = llvm_backend::target();
  clock.lap();
  for (const compiler::Pass& pass : compiler::passes()) {
    pass.run(p, target);
    times.push_back({pass.name, clock.lap()});
    compile += times.back().second;
  }
  Moves moves;
  count_moves(p, p.body, 1, moves);
  clock.lap();
  runtime::Executable code = llvm_backend::compile(p);
  double generate = clock.lap();
  std::vector<void*> buffers;
  std::vector<graph::Tensor> kept;
  for (const auto& v : g->inputs) kept.push_back(operand(v->type));
  for (const auto& v : g->constants) kept.push_back(v->constant);
  for (const auto& v : g->outputs) kept.push_back(graph::allocate(v->type));
  for (const auto& t : kept) buffers.push_back(t.data.get());
  clock.lap();
  if (options.run) runtime::run(code, buffers.data());
  double first = clock.lap(), best = first;
  for (int k = 0; options.run && k < 20 && best * k < 1000; ++k) {
    clock.lap();
    runtime::run(code, buffers.data());
    best = std::min(best, clock.lap());
  }
  std::printf(
      "%-24s %6zu calls  read %7.1f  optimize %6.1f  passes %7.1f  code %8.1f  run %8.3f  total %8.1f ms  arena %8.1f "
      "KB  moves %3d, %9.1f KB\n",
      name.c_str(), g->calls.size(), read, optimize, compile, generate, best,
      read + optimize + compile + generate + first, static_cast<double>(p.arena_bytes) / 1024, moves.count,
      moves.bytes / 1024);
  if (options.check) {
    std::vector<graph::Tensor> inputs(kept.begin(), kept.begin() + static_cast<std::ptrdiff_t>(g->inputs.size()));
    std::vector<graph::Tensor> outputs(kept.end() - static_cast<std::ptrdiff_t>(g->outputs.size()), kept.end());
    std::printf("    farthest from the evaluator: %.3g\n", distance(outputs, eigen::evaluate(*original, inputs)));
  }
  if (options.passes) {
    for (auto& [pass, t] : times) std::printf("    %s %.1f", pass.c_str(), t);
    std::printf("\n");
  }
  if (std::getenv("ANVIL_SHOW")) std::cout << graph::print(*g) << "\n" << loops::print(p) << "\n";
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  int ops = 10000;
  Options options;
  std::string folder;
  std::vector<std::string> names;
  for (int i = 1; i < argc; ++i) {
    std::string a = argv[i];
    if (a == "--ops")
      ops = std::atoi(argv[++i]);
    else if (a == "--passes")
      options.passes = true;
    else if (a == "--unmirrored")
      options.mirror = false;
    else if (a == "--compile-only")
      options.run = false;
    else if (a == "--gradient")
      options.gradient = true;
    else if (a == "--check")
      options.check = true;
    else if (a == "--write")
      folder = argv[++i];
    else
      names.push_back(a);
  }
  if (const char* library = std::getenv("ANVIL_LLVM_LIBRARY")) llvm_backend::set_library(library);
  std::string reason;
  if (!llvm_backend::available(&reason)) {
    std::cerr << reason << "\n";
    return 1;
  }
  if (names.empty())
    for (auto& [name, make] : shapes()) names.push_back(name);
  for (const std::string& name : names) {
    if (name == "column_major_network") {
      measure(name, column_major_network, options);
      continue;
    }
    std::string text;
    if (auto shape = shapes().find(name); shape != shapes().end()) {
      text = shape->second(ops);
      if (!folder.empty()) std::ofstream(folder + "/" + name + ".mlir") << text;
    } else {
      std::ifstream file(name);
      std::stringstream s;
      s << file.rdbuf();
      text = s.str();
    }
    try {
      measure(
          name.substr(name.rfind('/') + 1), [&] { return stablehlo::read(text); }, options);
    } catch (const std::exception& e) {
      std::printf("%-24s %s\n", name.substr(name.rfind('/') + 1).c_str(), e.what());
    }
  }
}
