// Every statement knows the calls of the graph that it computes, after each pass: of random programs whose
// calls all have a location, no statement is without one, none is invented, and none is lost on the way.
#include <set>

#include "compiler/graphs.h"
#include "compiler/traverse.h"
#include "loops/origins.h"
#include "primitives/vocabulary/composite.h"
#include "support/campaign.h"
#include "support/ordinary_program.h"
#include "support/random_program.h"
#include "support/run_compiled.h"
#include "transform/batch.h"
#include "transform/forward.h"
#include "transform/reverse.h"

namespace anvil::test {
namespace {

// Numbers all calls, those of inner graphs too; gives how many there are.
int number_calls(graph::Graph& g, int next = 0) {
  for (graph::Call& c : g.calls) {
    c.location = next++;
    for (const GraphPtr& inner : subgraphs(c)) next = number_calls(*inner, next);
  }
  return next;
}
// The calls whose location is none of these, but for the zeros that nothing comes back to.
std::string without_location(const graph::Graph& g, int count) {
  std::string names;
  for (const graph::Call& c : g.calls)
    if (!c.inputs.empty() && (c.location < 0 || c.location >= count)) names += c.primitive->name + " ";
  return names;
}
// What is computed is looked at, not what is handed on.
void keep_computed(graph::Graph& g) {
  std::erase_if(g.outputs, [](const graph::ValuePtr& v) { return v->kind != Value::Kind::result; });
  transform::remove_dead_calls(g);
}

void find_without(const loops::Program& p, const loops::Block& b, int& statements) {
  for (const loops::Stmt& s : b) {
    if (!std::holds_alternative<loops::For>(s.is)) statements += s.origins.empty() ? 1 : 0;
    loops::each_block(s, [&](const loops::Block& inner) { find_without(p, inner, statements); });
  }
}
std::set<int> all_origins(const loops::Program& p) {
  std::set<int> found;
  for (const loops::Stmt& s : p.body)
    for (int o : loops::origins(s)) found.insert(o);
  return found;
}
// Some statement that stores to this output.
bool stored_by(const loops::Block& b, const loops::Program& p, int output, int location) {
  return std::any_of(b.begin(), b.end(), [&](const loops::Stmt& s) {
    bool found = false;
    loops::each_access(s, [&](loops::BufferId id, const loops::Index*, loops::AccessKind kind) {
      const loops::Buffer& buffer = p.buffers[static_cast<size_t>(id)];
      found = found || (kind != loops::AccessKind::read && buffer.kind == loops::Buffer::Kind::output &&
                        buffer.position == output && std::count(s.origins.begin(), s.origins.end(), location) > 0);
    });
    loops::each_block(s, [&](const loops::Block& inner) { found = found || stored_by(inner, p, output, location); });
    return found;
  });
}

void expect_origins(const graph::Graph& g, int count, const compiler::Target& target) {
  loops::Program p = compiler::lower(g);
  compiler::remove_dead_stores(p);
  std::set<int> known = all_origins(p);
  const auto check = [&](const std::string& stage) {
    int without = 0;
    find_without(p, p.body, without);
    EXPECT_EQ(without, 0) << stage << "\n" << loops::print(p);
    const std::set<int> now = all_origins(p);
    EXPECT_EQ(now, known) << stage << "\n" << loops::print(p);
    known = now;
    EXPECT_TRUE(now.empty() || (*now.begin() >= 0 && *now.rbegin() < count)) << stage;
    for (size_t k = 0; k < g.outputs.size(); ++k) {
      const auto makes = [&](const graph::Call& c) {
        return std::count(c.outputs.begin(), c.outputs.end(), g.outputs[k]) > 0;
      };
      const auto maker = std::find_if(g.calls.begin(), g.calls.end(), makes);
      if (maker == g.calls.end() || !subgraphs(*maker).empty() || elements(g.outputs[k]->type.shape) == 0) continue;
      EXPECT_TRUE(stored_by(p.body, p, static_cast<int>(k), maker->location))
          << stage << ": output " << k + 1 << " of " << maker->primitive->name << ", call " << maker->location << "\n"
          << loops::print(p);
    }
  };
  check("lower");
  for (const compiler::Pass& pass : compiler::passes()) {
    pass.run(p, target);
    check(pass.name);
    if (testing::Test::HasFailure()) return;
  }
}

void expect_every_statement_has_one(graph::Graph& g, int count, const compiler::Target& target) {
  transform::optimize(g);
  keep_computed(g);
  EXPECT_EQ(without_location(g, count), "") << graph::print(g);
  int without = 0;
  const loops::Program p = compiler::compile(g, target);
  find_without(p, p.body, without);
  EXPECT_EQ(without, 0) << loops::print(p);
}

void expect_origins_of(const graph::Graph& from, const compiler::Target& target = {64, 32}) {
  const GraphPtr g = optimized(from);
  keep_computed(*g);
  expect_origins(*g, number_calls(*g), target);
}

template <class F>
void each_seed(unsigned usual, F&& f) {
  const Campaign campaign(usual);
  for (unsigned seed = campaign.first; seed < campaign.first + campaign.count && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE("ANVIL_SEED=" + std::to_string(seed));
    f(seed);
  }
}

TEST(Origins, OfRandomProgramsStayThroughAllPasses) {
  each_seed(300, [](unsigned seed) { expect_origins_of(RandomProgram(seed, {}).graph); });
}

TEST(Origins, OfOrdinaryProgramsStayThroughAllPasses) {
  each_seed(120, [](unsigned seed) {
    compiler::Target target{64, 32};
    target.any_size = seed % 2 == 0;
    expect_origins_of(*OrdinaryProgram(seed).graph, target);
  });
}

// The calls of a derivative belong to those that they differentiate.
TEST(Origins, OfTransformedGraphs) {
  each_seed(150, [](unsigned seed) {
    Graph g = RandomProgram(seed, {.float_only = true, .calls = 8}).graph;
    keep_computed(g);
    std::erase_if(g.outputs, [](const graph::ValuePtr& v) { return !is_float(v->type.dtype); });
    if (g.outputs.empty()) return;
    const int count = number_calls(g);
    const std::vector<bool> all(g.inputs.size(), true);
    for (const GraphPtr& t : {transform::vjp(g, all, std::vector<bool>(g.outputs.size(), true)), transform::jvp(g, all),
                              transform::batch(g, all, 3)}) {
      EXPECT_EQ(without_location(*t, count), "") << graph::print(*t);
      graph::Substitution map;
      const GraphPtr copy = graph::clone(*primitives::expand(*t, primitives::Reader::backend), map);
      expect_every_statement_has_one(*copy, count, {64, 32});
    }
  });
}

}  // namespace
}  // namespace anvil::test
