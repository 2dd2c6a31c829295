// The cases of a folder with an index: run/, reject/, accept/, unsupported/ and selftest/.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <memory>

#include "backend/stablehlo/stablehlo.h"
#include "backend/stablehlo/syntax.h"
#include "base/error.h"
#include "checks.h"
#include "conformance.h"
#include "csv.h"
#include "run_graph.h"

namespace anvil::conformance {

using graph::Tensor;

// The limits that the index records for a case, and where it has none, those of the check.
static Tolerance tolerance(const Row& row, const Check& check) {
  if (check.exact) return {};
  if (row.at("kind") != "run" || row.at("rec_ulp").empty()) return check.tolerance;
  auto number = [&](const char* column) { return std::strtod(row.at(column).c_str(), nullptr); };
  return {number("rec_atol"), number("rec_rtol"), std::strtoull(row.at("rec_ulp").c_str(), nullptr, 10), 0};
}

static Failure run_function(const Row& row, const std::string& text, const CheckedFunction& f,
                            const std::string& mode) {
  graph::GraphPtr g = stablehlo::read_program(text, f.name).graph;
  std::vector<Tensor> values = run_graph(mode, *g, {});
  if (values.size() != 2 * f.checks.size()) return "wrong number of values";
  for (size_t k = 0; k < f.checks.size(); ++k)
    if (Failure why = difference(values[2 * k], values[2 * k + 1], tolerance(row, f.checks[k])))
      return "check " + std::to_string(k + 1) + " of @" + f.name + ": " + *why;
  return std::nullopt;
}

static Failure run_case(const Row& row, const std::string& text, const std::string& mode) {
  CheckedProgram program = return_checked(text);
  for (const CheckedFunction& f : program.functions)
    if (Failure why = run_function(row, program.text, f, mode)) return why;
  if (program.functions.empty()) return "there is nothing to check";
  return std::nullopt;
}

// Every function of a text that has no @main and several others, the one to run otherwise.
static std::vector<graph::GraphPtr> read_all(const std::string& text) {
  std::vector<std::string> names;
  for (const stablehlo::Function& f : stablehlo::parse(text).functions) names.push_back(f.name);
  bool one = names.size() < 2 || std::find(names.begin(), names.end(), "main") != names.end();
  if (one) names = {""};
  std::vector<graph::GraphPtr> graphs;
  for (const std::string& name : names) graphs.push_back(stablehlo::read_program(text, name).graph);
  return graphs;
}

// An error that a user can act on: classed, and with the place in the text. `judge` says what is wrong with it.
static Failure refused(const std::string& text, const std::function<Failure(const stablehlo::Refusal&)>& judge) {
  try {
    read_all(text);
  } catch (const stablehlo::Refusal& r) {
    return judge(r);
  } catch (const Error& e) {
    return std::string("refused without a place: ") + e.what();
  }
  return "is imported";
}

// What each wrong program is refused for: columns file, line, column, message.
using Rejections = std::map<std::string, Row>;
static std::shared_ptr<const Rejections> rejections(const std::string& path) {
  auto table = std::make_shared<Rejections>();
  if (!path.empty())
    for (const Row& row : parse_csv(read_file(path))) (*table)[row.at("file")] = row;
  return table;
}

static Failure reject_case(const std::string& file, const std::string& text, const Rejections& table) {
  return refused(text, [&](const stablehlo::Refusal& r) -> Failure {
    if (table.empty()) return std::nullopt;
    std::string line = std::to_string(r.at.line), column = std::to_string(r.at.column), message = r.what();
    message = message.substr(message.find(": ") + 2);
    auto row = table.find(file);
    bool same = row != table.end() && row->second.at("line") == line && row->second.at("column") == column &&
                row->second.at("message") == message;
    if (same) return std::nullopt;
    return "the row of the table should be " + csv_field(file) + "," + line + "," + column + "," + csv_field(message);
  });
}

static Failure unsupported_case(const Row& row, const std::string& text, const std::string& mode) {
  CheckedProgram program = return_checked(text);
  Failure f = refused(program.text, [](const stablehlo::Refusal& r) -> Failure {
    bool says = std::string_view(r.what()).find("not supported") != std::string_view::npos;
    return says ? std::nullopt : Failure(std::string("refused, but does not say \"not supported\": ") + r.what());
  });
  if (f != "is imported") return f;
  return program.functions.empty() ? std::nullopt : run_case(row, text, mode);
}

static Failure selftest(const Row& row, const std::string& text, const std::string& mode) {
  Failure f = run_case(row, text, mode);
  if (row.at("family") == "must_pass") return f;
  if (!f) return "passes, and must not";
  return f->rfind("check ", 0) == 0 ? std::nullopt : f;
}

// Small numbers, all different in floats; indices that are mostly in range.
static Tensor some_values(const graph::TensorType& type, size_t seed) {
  Tensor t = graph::allocate(type);
  for (int64_t i = 0; i < elements(type.shape); ++i) {
    double x = (static_cast<double>(i) + 7 * static_cast<double>(seed) + 1) * 0.6180339887498949;
    x -= std::floor(x);
    graph::set_element(t, i, is_float(type.dtype) ? Scalar(4 * x - 2) : Scalar(static_cast<int64_t>(3 * x)));
  }
  return t;
}

// Rounding of sums is relative to what is summed, which the largest result stands for.
static Tolerance rounding(const Tensor& expected) {
  const DType t = expected.type.dtype;
  double limit = t == DType::f64 ? 1e-12
                 : is_small(t)   ? std::ldexp(4, -descriptor(t).mantissa_bits)
                                 : 1e-5,
         largest = 1;
  for (int64_t i = 0; i < elements(expected.type.shape); ++i) {
    double x = std::fabs(graph::element(expected, i).as<double>());
    if (std::isfinite(x)) largest = std::max(largest, x);
  }
  return {limit * largest, limit, 4, 0};
}

// A valid program without expected results: the evaluator, the compiler and the text written
// of it must agree.
static Failure accepted(const std::string& text, const std::string& mode) {
  for (const graph::GraphPtr& g : read_all(text)) {
    if (mode == "import") continue;
    std::vector<Tensor> inputs;
    for (const auto& v : g->inputs) inputs.push_back(some_values(v->type, inputs.size()));
    std::vector<Tensor> expected = run_graph("eigen", *g, inputs), actual = run_graph(mode, *g, inputs);
    for (size_t k = 0; k < expected.size(); ++k)
      if (Failure f = difference(actual[k], expected[k], rounding(expected[k])))
        return "output " + std::to_string(k) + ": " + *f;
  }
  return std::nullopt;
}

static Failure test_case(const Row& row, const std::string& path, const std::string& mode, const Rejections& rejected) {
  std::string text = read_file(path);
  const std::string& kind = row.at("kind");
  if (kind == "run") return run_case(row, text, mode);
  if (kind == "selftest") return selftest(row, text, mode);
  if (kind == "unsupported") return unsupported_case(row, text, mode);
  return kind == "reject" ? reject_case(row.at("file"), text, rejected) : accepted(text, mode);
}

std::vector<Case> stablehlo_cases(const std::string& folder, const Options& options) {
  std::vector<Case> cases;
  auto rejected = rejections(options.rejections);
  for (const Row& row : parse_csv(read_file(folder + "/index.csv"))) {
    const std::string &file = row.at("file"), &kind = row.at("kind");
    if (!options.wants(file)) continue;
    std::vector<std::string> modes = options.modes;
    if (kind == "reject") modes = {"import"};
    if (kind == "accept") std::replace(modes.begin(), modes.end(), std::string("eigen"), std::string("import"));
    for (const std::string& mode : modes)
      cases.push_back({{file, kind, row.at("tier"), words(row.at("ops")), mode, {}},
                       [=] { return test_case(row, folder + "/" + file, mode, *rejected); }});
  }
  return cases;
}

}  // namespace anvil::conformance
