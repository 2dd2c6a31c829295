// What any text at all must satisfy: reading it gives a graph or a refusal that names its
// line, and nothing else. A small graph that is accepted is whole, and what is written of it
// reads back to a whole graph of the same types, whose text stays as it is. For libFuzzer, and for the test that runs the
// kept corpus.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "backend/stablehlo/stablehlo.h"
#include "base/error.h"
#include "primitives/build.h"

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
  demand(stablehlo::write(*again(second), false).text == second, "the text changes with each reading", second);
  return 0;
}
