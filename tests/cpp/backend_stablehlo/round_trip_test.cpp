// Random programs as text and back: the same program, printed and written.
#include <gtest/gtest.h>

#include "backend/stablehlo/stablehlo.h"
#include "primitives/vocabulary/composite.h"
#include "support/random_program.h"
#include "transform/simplify.h"

namespace anvil::test {
namespace {

// What has two names here but one in StableHLO, so that the other is read back: a filled
// tensor is a literal, a choice by number is one by conditions, a sum of bools is `reduce_any`, a shift of bools a
// combination of others, a running sum of one element is no sum, a window over all of a
// dimension may be a running reduction.
bool has_another_name(const graph::Call& c) {
  const std::string& name = c.primitive->name;
  if (name == "fill" || name == "case") return true;
  if (name == "reduce_sum" || name == "reduce_prod" || name.substr(0, 5) == "shift")
    return is_bool(c.inputs[0]->type.dtype);
  const Shape shape = c.inputs.empty() ? Shape{} : c.inputs[0]->type.shape;
  if (name == "cumsum" || name == "cumulative") return shape.at(static_cast<size_t>(c.params.integer("dim"))) <= 1;
  if (name == "reduce_window") {
    const Ints& window = c.params.ints("window_dimensions");
    for (size_t d = 0; d < shape.size(); ++d)
      if (window[d] != 1 && window[d] != shape[d]) return false;
    return true;
  }
  for (const GraphPtr& inner : subgraphs(c))
    if (std::any_of(inner->calls.begin(), inner->calls.end(), has_another_name)) return true;
  return false;
}

// Text says one number for all elements of a captured tensor, if they are equal, which is read as a literal.
bool is_read_as_literal(const graph::ValuePtr& captured) {
  const Tensor& t = captured->constant;
  const int64_t count = elements(t.type.shape);
  for (int64_t i = 1; i < count; ++i)
    if (!(graph::element(t, i) == graph::element(t, 0))) return false;
  return count > 1;
}

void compare(uint64_t seed, int calls, std::map<std::string, int>& seen) {
  RandomProgram::Options options;
  options.calls = calls;
  RandomProgram p(seed, options);
  transform::remove_dead_calls(p.graph);
  transform::remove_unused_constants(p.graph);
  if (std::any_of(p.graph.calls.begin(), p.graph.calls.end(), has_another_name)) return;
  if (std::any_of(p.graph.constants.begin(), p.graph.constants.end(), is_read_as_literal)) return;
  for (const graph::Call& c : p.graph.calls) ++seen[c.primitive->name];
  GraphPtr back = stablehlo::read(stablehlo::write(p.graph, false).text);
  GraphPtr written = primitives::expand(p.graph, primitives::Reader::text);
  transform::absorb_readers(*written);     // two calls that are written like one
  transform::remove_dead_calls(*written);  // of expansions whose results nobody reads, such as places of extremes
  ASSERT_EQ(graph::print(*back), graph::print(*written)) << "seed " << seed;
  ASSERT_EQ(stablehlo::write(*back, false).text, stablehlo::write(*written, false).text) << "seed " << seed;
}

TEST(RoundTrip, RandomProgramsPrintTheSame) {
  std::map<std::string, int> seen;
  for (uint64_t seed = 0; seed < 30000 && !HasFatalFailure(); ++seed) compare(seed, 1, seen);
  for (uint64_t seed = 0; seed < 300 && !HasFatalFailure(); ++seed) compare(seed, 12, seen);
  for (const std::string& name : RandomProgram::structured())
    if (name != "fill" && name != "case" && !name.starts_with("while_") && name != "tape_scan") {
      EXPECT_GT(seen[name], 0) << name;
    }
}

}  // namespace
}  // namespace anvil::test
