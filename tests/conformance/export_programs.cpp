// Writes programs of the package as StableHLO text, with inputs and the Eigen evaluator's
// results, for readers that know nothing of it (check_text.py, ../xla/compare.py); where other
// numbers come out when denormal ones are taken for zero, these as well:
//   anvil_export_programs FOLDER COUNT [SEED [xla]]
// First every elementwise primitive in every dtype, then COUNT programs around one gather or
// scatter, and as many random ones. Every fourth of these is smooth and written as its gradient;
// with the word `xla` the others are followed by what is made of them: by turns their gradient, their
// tangents, a batch of them, a batch of their gradients, the gradient of a batch; and the derivatives of
// loops, whose records are tensors. Then no slice is partly outside of what it is taken from, which XLA
// treats in its own way.
#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <numeric>

#ifdef __SSE2__
#include <xmmintrin.h>
#endif

#include "backend/eigen/evaluate.h"
#include "backend/stablehlo/layout.h"
#include "backend/stablehlo/stablehlo.h"
#include "primitives/vocabulary/composite.h"
#include "support/batches.h"
#include "support/gradient_check.h"
#include "support/random_loops.h"
#include "support/random_program.h"
#include "transform/forward.h"
#include "transform/reverse.h"
#include "transform/simplify.h"

namespace {

using namespace anvil;
using graph::Tensor;

std::string number(const Tensor& t, int64_t i) {
  Scalar x = graph::element(t, i);
  if (is_bool(t.type.dtype)) return x.as<bool>() ? "true" : "false";
  if (t.type.dtype == DType::ui64) return "\"" + std::to_string(x.as<uint64_t>()) + "\"";
  if (t.type.dtype == DType::i64) return "\"" + std::to_string(x.as<int64_t>()) + "\"";
  if (!is_float(t.type.dtype)) return std::to_string(x.as<int64_t>());
  double value = x.as<double>();
  if (value != value) return "\"NaN\"";
  if (std::isinf(value)) return value < 0 ? "\"-Infinity\"" : "\"Infinity\"";
  if (value == 0 && std::signbit(value)) return "-0.0";  // which -0 is not, where numbers are integers or floats
  char text[40];
  std::snprintf(text, sizeof text, "%.17g", value);
  return text;
}
std::string json(const std::vector<Tensor>& tensors) {
  std::string s = "[";
  for (size_t k = 0; k < tensors.size(); ++k) {
    const Tensor& t = tensors[k];
    std::string dtype(is_bool(t.type.dtype) ? "i1" : name(t.type.dtype));
    s += std::string(k ? ", " : "") + "{\"dtype\": \"" + dtype + "\", \"shape\": [" + join(t.type.shape, ", ") +
         "], \"data\": [";
    stablehlo::RowMajorWalk walk(t.type.shape);
    for (int64_t i = 0; i < elements(t.type.shape); ++i, walk.next()) s += (i ? ", " : "") + number(t, walk.position());
    s += "]}";
  }
  return s + "]";
}

// The results where denormal numbers are taken for zero, as some code generators' programs do.
std::vector<Tensor> without_denormals(const graph::Graph& g, const std::vector<Tensor>& inputs) {
#ifdef __SSE2__
  constexpr unsigned flush = 0x8040;  // FTZ and DAZ
  const unsigned before = _mm_getcsr();
  _mm_setcsr(before | flush);
  std::vector<Tensor> results = eigen::evaluate(g, inputs);
  _mm_setcsr(before);
  return results;
#else
  return eigen::evaluate(g, inputs);
#endif
}

class Exporter {
 public:
  explicit Exporter(std::filesystem::path folder) : folder_(std::move(folder)) {
    std::filesystem::create_directories(folder_);
  }
  void write(const std::string& name, const graph::Graph& g, const std::vector<Tensor>& inputs) {
    auto written = stablehlo::write(g, false);
    std::ofstream(folder_ / (name + ".mlir")) << written.text;
    std::string outputs = json(eigen::evaluate(g, inputs)), flushed = json(without_denormals(g, inputs));
    std::ofstream(folder_ / (name + ".json")) << "{\"inputs\": " << json(inputs) << ",\n\"outputs\": " << outputs
                                              << (flushed == outputs ? "" : ",\n\"flushed\": " + flushed) << "}\n";
    ++count;
  }
  int count = 0;

 private:
  std::filesystem::path folder_;
};

void export_elementwise(Exporter& out) {
  for (const primitives::Primitive* p : primitives::registry().all()) {
    if (!p->elementwise || !p->parameters.empty() || p->operands.size() > 2) continue;
    if (p->hlo.op.starts_with("custom_call @anvil.")) continue;  // no other reader knows it
    for (int d = 0; d <= static_cast<int>(DType::f64); ++d) {
      auto dtype = static_cast<DType>(d);
      if (!contains(p->group, dtype)) continue;
      graph::Graph g;
      std::vector<Tensor> inputs;
      std::vector<graph::ValuePtr> values;
      for (size_t k = 0; k < p->operands.size(); ++k) {
        graph::TensorType type{dtype, {12}, false};
        values.push_back(graph::make_value(graph::Value::Kind::input, type));
        Tensor t = graph::allocate(type);
        primitives::Domain range = p->domain.at(std::min(k, p->domain.size() - 1));
        double low = std::max(range.low, -6.0), high = std::min(range.high, 6.0);
        for (int64_t i = 0; i < 12; ++i) {
          double x = low + (high - low) * (0.5 + static_cast<double>((i * 7 + static_cast<int64_t>(k) * 5) % 12)) / 12;
          if (p->name == "polygamma" && k == 0) x = static_cast<double>(i % 3);
          graph::set_element(t, i,
                             is_float(dtype)              ? Scalar(x)
                             : is_bool(dtype)             ? Scalar((i + static_cast<int64_t>(k) * 2) % 3 == 0)
                             : is_unsigned_integer(dtype) ? Scalar(i % 5 + static_cast<int64_t>(k))
                                                          : Scalar(i % 9 - 4 - static_cast<int64_t>(k)));
        }
        inputs.push_back(t);
      }
      g.inputs = values;
      g.outputs = primitives::record(g, *p, values);
      out.write("elementwise_" + p->name + "_" + std::string(name(dtype)), g, inputs);
    }
  }
}

// A program that is transformed, with what it runs on.
struct Program {
  graph::GraphPtr graph;
  std::vector<Tensor> at;
};

test::Flags floats_of(const graph::Graph& g) {
  test::Flags flags;
  for (const auto& v : g.inputs) flags.push_back(is_float(v->type.dtype));
  return flags;
}

// The value and the gradients of the sum of a program's first float result, by its float inputs.
void take_gradient(Program& p) {
  const test::Flags wrt = floats_of(*p.graph);
  auto is_float_value = [](const graph::ValuePtr& v) { return is_float(v->type.dtype); };
  auto& outputs = p.graph->outputs;
  auto found = std::find_if(outputs.begin(), outputs.end(), is_float_value);
  if (found == outputs.end() || std::find(wrt.begin(), wrt.end(), true) == wrt.end())
    throw Error("gradient", "there are no floats");
  const auto sum = std::make_shared<graph::Graph>(*p.graph);
  test::Var y{sum.get(), *found};
  std::vector<int64_t> all(y.shape().size());
  std::iota(all.begin(), all.end(), 0);
  sum->outputs = {all.empty() ? y.value : primitives::reduce_sum(y, all).value};
  p.graph = transform::gradient(*primitives::expand(*sum, primitives::Reader::reverse), wrt, true);
}
void take_tangents(Program& p) {
  const test::Flags wrt = floats_of(*p.graph);
  if (std::find(wrt.begin(), wrt.end(), true) == wrt.end()) throw Error("gradient", "there are no floats");
  p.graph = transform::jvp(*p.graph, wrt);
  for (size_t k = p.at.size(); k < p.graph->inputs.size(); ++k)
    p.at.push_back(test::direction(p.graph->inputs[k]->type, k));
}
void take_batch(Program& p, uint64_t seed) {
  constexpr int64_t size = 3;
  const test::Flags flags = test::any_flags(p.at.size(), seed);
  p.graph = transform::batch(*p.graph, flags, size);
  p.at = test::examples_like(p.at, flags, size, seed);
}

// What becomes of a program by turns.
enum class Made : uint8_t { gradient, jvp, batch, gradient_batch, batch_gradient };
constexpr const char* made_names[] = {"gradient_", "jvp_", "batch_", "gradient_of_batch_", "batch_of_gradient_"};
void make(Program& p, Made made, uint64_t seed) {
  switch (made) {
    case Made::gradient: return take_gradient(p);
    case Made::jvp: return take_tangents(p);
    case Made::batch: return take_batch(p, seed);
    case Made::gradient_batch: return take_batch(p, seed), take_gradient(p);
    case Made::batch_gradient: return take_gradient(p), take_batch(p, seed);
  }
}
// Writes it, unless a primitive has no derivative.
void write_made(Exporter& out, Program p, Made made, const std::string& name, uint64_t seed) {
  try {
    make(p, made, seed);
  } catch (const Error& e) {
    if (e.kind != "gradient") throw;
    return;
  }
  transform::remove_dead_calls(*p.graph);
  out.write(made_names[static_cast<size_t>(made)] + name, *p.graph, p.at);
}

void export_loops(Exporter& out, int seed, Made made) {
  const auto s = static_cast<uint64_t>(seed);
  test::RandomLoops loops(s, seed % 2 == 0);
  const Shape arrays = {loops.length};
  const std::vector<Tensor> at = {test::spread_values(DType::f64, {}, -0.8, 0.8, seed % 100),
                                  test::spread_values(DType::f64, arrays, -1, 1, seed % 100 + 1),
                                  test::spread_values(DType::f64, arrays, -1, 1, seed % 100 + 2)};
  const auto g = std::make_shared<graph::Graph>(
      test::build([&loops](graph::Graph& to, const std::vector<test::Var>& x) { return loops(to, x); }, at));
  write_made(out, {g, at}, made, "loops_" + std::to_string(seed), s);
}

void export_random(Exporter& out, int seed, bool for_xla) {
  const bool smooth = seed % 4 == 0;
  const auto s = static_cast<uint64_t>(seed);
  test::RandomProgram p(s, {.float_only = smooth, .exportable = true, .calls = smooth ? 5 : 10});
  const Program program{std::make_shared<graph::Graph>(p.graph), p.inputs};
  const auto made = static_cast<Made>(for_xla ? seed / 4 % 5 : 0);
  if (!smooth) out.write("random_" + std::to_string(seed), p.graph, p.inputs);
  if (for_xla && seed % 4 == 3)
    export_loops(out, seed, made);
  else if (smooth || for_xla)
    write_made(out, program, made, std::to_string(seed), s);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::cerr << "usage: anvil_export_programs FOLDER COUNT [SEED [xla]]\n";
    return 2;
  }
  Exporter out(argv[1]);
  int count = std::atoi(argv[2]), first = argc > 3 ? std::atoi(argv[3]) : 1;
  export_elementwise(out);
  for (int seed = first; seed < first + count; ++seed) {
    test::RandomIndexed indexed(static_cast<unsigned>(seed), argc > 4);
    out.write("indexed_" + std::to_string(seed), indexed.graph, indexed.inputs);
  }
  for (int seed = first; seed < first + count; ++seed) export_random(out, seed, argc > 4);
  std::cout << out.count << " programs written\n";
}
