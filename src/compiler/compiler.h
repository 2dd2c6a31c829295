// Graph to loop program: the primitives' loop rules, then passes from loops to loops, each
// in its own file with an example in its header.
#pragma once
#include <memory>
#include <string>

#include "base/timing.h"
#include "graph/graph.h"
#include "loops/program.h"

namespace anvil::compiler {

struct Target {
  int vector_bytes = 32;      // bytes of a vector register that generated code should use
  int registers = 16;         // of that size
  bool any_size = false;      // what pays for large programs is done for small ones as well: for tests
  double task = 25'000;       // operations of a task that threads share
  double cache = 1 << 19;     // bytes that a core has near
};
loops::Program compile(const graph::Graph&, const Target&, Timings* = nullptr);  // of lowering and each pass
int time_nests(loops::Program&);  // readings of the clock around each nest; gives how many there are: profile.cpp

// The program after each pass, for nv_inspect() and tests: "lower", "inline", "merge", ...
struct Stage {
  std::string name, text;
};
std::vector<Stage> stages(const graph::Graph&, const Target&);

}  // namespace anvil::compiler
