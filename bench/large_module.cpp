// How long large StableHLO modules take to read, compile and run, and how much of a program
// only moves data. Without arguments: modules of 10,000 operations in several shapes, made
// here. With arguments: the files named.
//
//   bench/large_module [--ops n] [--passes] [--unmirrored] [--compile-only] [--gradient] [--write folder] [shape or file.mlir ...]
//
// The library with the code generator is taken from ANVIL_LLVM_LIBRARY.
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
#include "primitives/composite.h"
#include "runtime/run.h"

namespace {

using namespace anvil;

// ---- modules ------------------------------------------------------------------------------

// Writes one function; values are named by number.
class Text {
 public:
  std::string add(const std::string& line) {
    body_ += "    %" + std::to_string(count_) + " = " + line + "\n";
    return "%" + std::to_string(count_++);
  }
  std::string elementwise(const std::string& op, const std::string& operands, const std::string& type) {
    return add("stablehlo." + op + " " + operands + " : " + type);
  }
  std::string constant(const std::string& value, const std::string& type) {
    return add("stablehlo.constant dense<" + value + "> : " + type);
  }
  std::string module(const std::string& arguments, const std::string& result, const std::string& type) const {
    return "module @large {\n  func.func public @main(" + arguments + ") -> (" + type + ") {\n" + body_ +
           "    return " + result + " : " + type + "\n  }\n}\n";
  }
  std::string body_;
  int count_ = 0;
};

// One of a few operations that keep numbers between -1 and 1 or so.
std::string step(Text& t, int k, const std::string& x, const std::string& y, const std::string& type) {
  switch (k % 6) {
    case 0: return t.elementwise("add", x + ", " + y, type);
    case 1: return t.elementwise("multiply", x + ", " + y, type);
    case 2: return t.elementwise("tanh", x, type);
    case 3: return t.elementwise("subtract", x + ", " + y, type);
    case 4: return t.elementwise("maximum", x + ", " + y, type);
    default: return t.elementwise("sine", x, type);
  }
}

std::string chain(int ops, const std::string& type) {
  Text t;
  std::string v = "%x";
  for (int k = 0; k < ops; ++k) v = step(t, k, v, "%y", type);
  return t.module("%x: " + type + ", %y: " + type, v, type);
}
std::string vector_chain(int ops) { return chain(ops, "tensor<1000xf32>"); }
std::string scalar_chain(int ops) { return chain(ops, "tensor<f32>"); }

std::string matrix_with_sums(int ops) {
  Text t;
  const std::string type = "tensor<50x40xf32>", row = "tensor<40xf32>";
  std::string v = "%x";
  const std::string zero = t.constant("0.0", "tensor<f32>");
  for (int k = 0; t.count_ < ops; ++k) {
    v = step(t, k, v, "%y", type);
    if (k % 10 != 9) continue;
    std::string sum = t.add("stablehlo.reduce(" + v + " init: " + zero +
                            ") applies stablehlo.add across dimensions = [0] : (" + type + ", tensor<f32>) -> " + row);
    sum = t.elementwise("tanh", sum, row);
    v = t.elementwise(
        "add", v + ", " + t.add("stablehlo.broadcast_in_dim " + sum + ", dims = [1] : (" + row + ") -> " + type), type);
  }
  return t.module("%x: " + type + ", %y: " + type, v, type);
}

std::string small_dots(int ops) {
  Text t;
  const std::string type = "tensor<16x16xf32>";
  std::string v = "%x";
  while (t.count_ < ops) {
    v = t.add("stablehlo.dot_general " + v + ", %y, contracting_dims = [1] x [0] : (" + type + ", " + type + ") -> " +
              type);
    v = t.elementwise("tanh", v, type);
  }
  return t.module("%x: " + type + ", %y: " + type, v, type);
}

std::string scalar_loop(int ops) {
  Text t;
  t.body_ =
      "    %n = stablehlo.constant dense<100> : tensor<i32>\n"
      "    %one = stablehlo.constant dense<1> : tensor<i32>\n"
      "    %i0 = stablehlo.constant dense<0> : tensor<i32>\n"
      "    %w:2 = stablehlo.while(%i = %i0, %s = %x) : tensor<i32>, tensor<f32>\n"
      "     cond {\n"
      "      %less = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
      "      stablehlo.return %less : tensor<i1>\n"
      "    } do {\n";
  std::string v = "%s";
  for (int k = 0; k < ops; ++k) v = step(t, k, v, "%y", "tensor<f32>");
  t.body_ += "      %next = stablehlo.add %i, %one : tensor<i32>\n      stablehlo.return %next, " + v +
             " : tensor<i32>, tensor<f32>\n    }\n";
  return t.module("%x: tensor<f32>, %y: tensor<f32>", "%w#1", "tensor<f32>");
}

// Every value is read long after it was made.
std::string wide(int ops, const std::string& type) {
  Text t;
  std::vector<std::string> live = {"%x", "%y"};
  const size_t width = 500;
  for (int k = 0; t.count_ + static_cast<int>(width) < ops; ++k) {
    size_t n = live.size(), far = n > width ? n - width : 0;
    std::string v = step(t, k, live[far], live[n - 1 - static_cast<size_t>(k) % std::min<size_t>(n, 7)], type);
    live.push_back(k % 6 == 2 || k % 6 == 5 ? t.elementwise("add", v + ", " + live.back(), type) : v);
  }
  std::string sum = live.back();
  for (size_t k = 2; k <= width && k < live.size(); ++k)
    sum = t.elementwise("add", sum + ", " + live[live.size() - k], type);
  return t.module("%x: " + type + ", %y: " + type, sum, type);
}
std::string wide_vectors(int ops) { return wide(ops, "tensor<1000xf32>"); }
std::string wide_scalars(int ops) { return wide(ops, "tensor<f32>"); }

// Row-major reshapes, transposes, softmax: a transformer's building blocks.
std::string reshapes(int ops) {
  Text t;
  const std::string cube = "tensor<4x6x8xf32>", matrix = "tensor<24x8xf32>", square = "tensor<8x8xf32>";
  std::string v = "%x";
  while (t.count_ < ops) {
    std::string m = t.add("stablehlo.reshape " + v + " : (" + cube + ") -> " + matrix);
    m = t.add("stablehlo.dot_general " + m + ", %w, contracting_dims = [1] x [0] : (" + matrix + ", " + square +
              ") -> " + matrix);
    m = t.elementwise("tanh", m, matrix);
    v = t.add("stablehlo.reshape " + m + " : (" + matrix + ") -> " + cube);
    v = t.elementwise("add", v + ", %x", cube);
  }
  return t.module("%x: " + cube + ", %w: " + square, v, cube);
}

// Layers of reshape, product, reshape, softmax on larger tensors, as other tools write them.
constexpr int rows = 32, steps = 64, width = 64, layers = 6;
std::string row_major_network(int) {
  Text t;
  auto tensor = [](std::initializer_list<int> sizes) {
    std::string s = "tensor<";
    for (int n : sizes) s += std::to_string(n) + "x";
    return s + "f32>";
  };
  const std::string cube = tensor({rows, steps, width}), matrix = tensor({rows * steps, width}),
                    square = tensor({width, width}), sums = tensor({rows, steps});
  const std::string zero = t.constant("0.0", "tensor<f32>");
  std::string v = "%x";
  for (int k = 0; k < layers; ++k) {
    std::string m = t.add("stablehlo.reshape " + v + " : (" + cube + ") -> " + matrix);
    m = t.add("stablehlo.dot_general " + m + ", %w, contracting_dims = [1] x [0] : (" + matrix + ", " + square +
              ") -> " + matrix);
    v = t.add("stablehlo.reshape " + m + " : (" + matrix + ") -> " + cube);
    v = t.elementwise("exponential", t.elementwise("tanh", v, cube), cube);
    std::string sum = t.add("stablehlo.reduce(" + v + " init: " + zero +
                            ") applies stablehlo.add across dimensions = [2] : (" + cube + ", tensor<f32>) -> " + sums);
    v = t.elementwise(
        "divide", v + ", " + t.add("stablehlo.broadcast_in_dim " + sum + ", dims = [0, 1] : (" + sums + ") -> " + cube),
        cube);
  }
  return t.module("%x: " + cube + ", %w: " + square, v, cube);
}
// The same network as one writes it where memory is column-major.
graph::GraphPtr column_major_network() {
  using primitives::Var;
  auto g = std::make_shared<graph::Graph>();
  auto input = [&](Shape shape) {
    g->inputs.push_back(graph::make_value(graph::Value::Kind::input, {DType::f32, std::move(shape)}));
    return Var{g.get(), g->inputs.back()};
  };
  const Shape cube = {width, steps, rows};
  Var v = input(cube), w = input({width, width});
  for (int k = 0; k < layers; ++k) {
    v = reshape(dot_general(w, reshape(v, {width, steps * rows}), {1}, {0}, {}, {}), cube);
    v = exp(primitives::record("tanh", {v}));
    v = v / broadcast_in_dim(primitives::reduce_sum(v, {0}), cube, {1, 2});
  }
  g->outputs = {v.value};
  return g;
}

const std::map<std::string, std::function<std::string(int)>>& shapes() {
  static const std::map<std::string, std::function<std::string(int)>> table = {
      {"vector_chain", vector_chain}, {"scalar_chain", scalar_chain}, {"matrix_with_sums", matrix_with_sums},
      {"small_dots", small_dots},     {"scalar_loop", scalar_loop},   {"wide_vectors", wide_vectors},
      {"wide_scalars", wide_scalars}, {"reshapes", reshapes},         {"row_major_network", row_major_network}};
  return table;
}

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
    graph::set_element(t, k,
                       is_float(type.dtype) ? Scalar(0.01 * static_cast<double>(k % 97)) : Scalar(int64_t(k % 2)));
  return t;
}

struct Options {
  bool passes = false, mirror = true, run = true, gradient = false;
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
  if (options.run) runtime::run(code, buffers.data(), {});
  double first = clock.lap(), best = first;
  for (int k = 0; options.run && k < 20 && best * k < 1000; ++k) {
    clock.lap();
    runtime::run(code, buffers.data(), {});
    best = std::min(best, clock.lap());
  }
  std::printf(
      "%-24s %6zu calls  read %7.1f  optimize %6.1f  passes %7.1f  code %8.1f  run %8.3f  total %8.1f ms  arena %8.1f "
      "KB  moves %3d, %9.1f KB\n",
      name.c_str(), g->calls.size(), read, optimize, compile, generate, best,
      read + optimize + compile + generate + first, static_cast<double>(p.arena_bytes) / 1024, moves.count,
      moves.bytes / 1024);
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
