// Writes programs of the package as StableHLO text, with inputs and the Eigen evaluator's
// results, for readers that know nothing of it (check_text.py, ../xla/compare.py); where other
// numbers come out when denormal ones are taken for zero, these as well:
//   anvil_export_programs FOLDER COUNT [SEED [xla]]
// First every elementwise primitive in every dtype, then COUNT programs around one gather or
// scatter, and as many random ones. Every fourth of these is smooth and written as its gradient;
// with the word `xla` the others' follow them, too, and no slice is partly outside of what it is
// taken from, which XLA treats in its own way.
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
#include "support/random_program.h"
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

// The value and the gradients of the sum of a program's first float result, by its float inputs;
// nothing where there is none, or where a primitive has no derivative.
graph::GraphPtr gradient_of(test::RandomProgram& p) {
  std::vector<bool> wrt;
  for (const auto& v : p.graph.inputs) wrt.push_back(is_float(v->type.dtype));
  auto is_float_value = [](const graph::ValuePtr& v) { return is_float(v->type.dtype); };
  auto found = std::find_if(p.graph.outputs.begin(), p.graph.outputs.end(), is_float_value);
  if (found == p.graph.outputs.end() || std::find(wrt.begin(), wrt.end(), true) == wrt.end()) return nullptr;
  test::Var y{&p.graph, *found};
  std::vector<int64_t> all(y.shape().size());
  std::iota(all.begin(), all.end(), 0);
  p.graph.outputs = {all.empty() ? y.value : primitives::reduce_sum(y, all).value};
  try {
    graph::GraphPtr g = transform::gradient(*primitives::expand(p.graph, primitives::Reader::reverse), wrt, true);
    transform::remove_dead_calls(*g);
    return g;
  } catch (const Error& e) {
    if (e.kind != "gradient") throw;
    return nullptr;
  }
}

void export_random(Exporter& out, int seed, bool for_xla) {
  bool smooth = seed % 4 == 0;
  test::RandomProgram p(static_cast<uint64_t>(seed),
                        {.float_only = smooth, .exportable = true, .calls = smooth ? 5 : 10});
  auto write = [&](const char* kind, const graph::Graph& g) { out.write(kind + std::to_string(seed), g, p.inputs); };
  if (!smooth) write("random_", p.graph);
  if (smooth || for_xla)
    if (graph::GraphPtr g = gradient_of(p)) write("gradient_", *g);
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
