// What any text at all must satisfy: reading it gives a graph or a refusal that names its
// line, and nothing else, and the same when it is read again. A small graph that is accepted is
// whole; what is written of it reads back to a whole graph of the same types, which is written in
// the same words; and both give the same numbers. For libFuzzer, and for the test that runs the
// kept corpus.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "backend/eigen/evaluate.h"
#include "backend/stablehlo/stablehlo.h"
#include "base/error.h"
#include "primitives/vocabulary/var.h"

namespace {

using namespace anvil;

void demand(bool holds, const char* what, const std::string& text) {
  if (holds) return;
  std::fprintf(stderr, "%s\n%s\n", what, text.c_str());
  std::abort();
}

// Programs whose literals and calls can be walked in a moment.
bool is_small(const graph::Graph& g) {
  constexpr int64_t most = 4096;
  if (g.calls.size() > 200) return false;
  for (const auto& v : g.constants)
    if (elements(v->type.shape) > most) return false;
  return true;
}

// Programs that are evaluated in a moment: no loops, no large tensors.
bool is_quick(const graph::Graph& g) {
  constexpr int64_t most = 256;
  auto small = [](const graph::ValuePtr& v) { return elements(v->type.shape) <= most; };
  if (!std::all_of(g.inputs.begin(), g.inputs.end(), small)) return false;
  for (const graph::Call& c : g.calls) {
    if (c.primitive->name == "while" || c.primitive->name == "select_and_scatter") return false;
    if (c.primitive->name.ends_with("window") || c.primitive->name == "convolution") return false;
    if (!std::all_of(c.inputs.begin(), c.inputs.end(), small) ||
        !std::all_of(c.outputs.begin(), c.outputs.end(), small))
      return false;
    for (const auto& inner : subgraphs(c))
      if (!is_quick(*inner)) return false;
  }
  return std::all_of(g.outputs.begin(), g.outputs.end(), small);
}

// Small numbers of both signs; 0 among them.
std::vector<graph::Tensor> some_inputs(const graph::Graph& g) {
  std::vector<graph::Tensor> list;
  for (const auto& v : g.inputs) {
    list.push_back(graph::allocate(v->type));
    for (int64_t i = 0; i < elements(v->type.shape); ++i)
      graph::set_element(list.back(), i,
                         Scalar(static_cast<double>((i * 7 + static_cast<int64_t>(list.size())) % 9 - 3) / 2));
  }
  return list;
}

bool same_numbers(const graph::Tensor& a, const graph::Tensor& b) {
  for (int64_t i = 0; i < elements(a.type.shape); ++i) {
    Scalar x = graph::element(a, i), y = graph::element(b, i);
    bool both_nan = x.is_real() && std::isnan(x.as<double>()) && std::isnan(y.as<double>());
    if (!(x == y) && !both_nan) return false;
  }
  return true;
}

void compare_numbers(const graph::Graph& g, const graph::Graph& again, const std::string& text) {
  std::vector<graph::Tensor> inputs = some_inputs(g), expected;
  try {
    expected = eigen::evaluate(g, inputs);
  } catch (const Error&) {
    return;
  }
  std::vector<graph::Tensor> got = eigen::evaluate(again, inputs);
  for (size_t k = 0; k < expected.size(); ++k)
    demand(same_numbers(expected[k], got[k]), "the numbers change when the text is written and read again", text);
}

std::string types(const std::vector<graph::ValuePtr>& values) {
  std::string text;
  for (const auto& v : values) text += graph::hlo_text(v->type) + " ";
  return text;
}

// Text that the package writes itself must be read, whatever it came from.
graph::GraphPtr again(const std::string& text) {
  try {
    return stablehlo::read(text);
  } catch (const Error& e) {
    demand(false, e.what(), text);
  }
  return nullptr;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view text(reinterpret_cast<const char*>(data), size);
  graph::GraphPtr g;
  try {
    g = stablehlo::read(text);
  } catch (const Error& e) {
    demand(e.kind == "stablehlo" && std::string_view(e.what()).substr(0, 5) == "Line ", "a refusal without a line",
           e.what());
    return 0;
  }
  if (!is_small(*g)) return 0;
  primitives::verify(*g);
  demand(graph::print(*stablehlo::read(text)) == graph::print(*g), "the same text gives two graphs", std::string(text));
  std::string written;
  try {
    written = stablehlo::write(*g, false).text;
  } catch (const Error&) {
    return 0;
  }
  graph::GraphPtr read = again(written);
  primitives::verify(*read);
  demand(types(read->inputs) == types(g->inputs) && types(read->outputs) == types(g->outputs),
         "the types change when the text is written and read again", written);
  std::string second = stablehlo::write(*read, false).text;
  demand(second == written, "the text changes when it is read and written", written + "\n" + second);
  if (is_quick(*g)) compare_numbers(*g, *read, written);
  return 0;
}
