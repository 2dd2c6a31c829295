// The order of the passes.
#include "compiler/compiler.h"

#include "base/interrupt.h"
#include "compiler/passes.h"

namespace anvil::compiler {

const std::vector<Pass>& passes() {
  static const std::vector<Pass> list = {
      {"unroll", [](loops::Program& p, const Target&) { unroll_small(p); }},
      {"inline", [](loops::Program& p, const Target&) { inline_producers(p); }},
      {"contraction", [](loops::Program& p, const Target& target) { find_contractions(p, target); }},
      {"pieces", [](loops::Program& p, const Target& target) { cut_at_pieces(p, target); }},
      {"layout", [](loops::Program& p, const Target&) { choose_layouts(p); }},
      {"sums", [](loops::Program& p, const Target& target) { sum_along_memory(p, target); }},
      {"merge", [](loops::Program& p, const Target&) { merge_nests(p); }},
      {"steps", [](loops::Program& p, const Target& target) { step_contractions(p, target); }},
      {"shrink", [](loops::Program& p, const Target&) { shrink_buffers(p); }},
      {"states", [](loops::Program& p, const Target&) { update_states_in_place(p); }},
      {"results", [](loops::Program& p, const Target&) { place_results(p); }},
      {"rows", [](loops::Program& p, const Target&) { update_by_rows(p); }},
      {"triangles", [](loops::Program& p, const Target&) { leave_out_triangles(p); }},
      {"collapse", [](loops::Program& p, const Target& target) { collapse_loops(p, target); }},
      {"schedule", [](loops::Program& p, const Target& target) { schedule(p, target); }},
      {"blocks", [](loops::Program& p, const Target& target) { block_for_caches(p, target); }},
      {"streams", [](loops::Program& p, const Target& target) { stream_sums(p, target); }},
      {"parallel", [](loops::Program& p, const Target& target) { cut_into_tasks(p, target); }},
      {"overlap", [](loops::Program& p, const Target& target) { share_overlap(p, target); }},
      {"prefetch", [](loops::Program& p, const Target& target) { prefetch_rows(p, target); }},
      {"around", [](loops::Program& p, const Target& target) { store_around_caches(p, target); }},
      {"beside", [](loops::Program& p, const Target&) { multiply_beside_each_other(p); }},
      {"buffers", [](loops::Program& p, const Target&) { plan_buffers(p); }},
  };
  return list;
}

loops::Program compile(const graph::Graph& g, const Target& target, Timings* timings) {
  Stopwatch watch;
  loops::Program p = lower(g);
  if (timings) watch.lap(*timings, "lower");
  for (const Pass& pass : passes()) {
    poll();
    pass.run(p, target);
    if (timings) watch.lap(*timings, pass.name);
  }
  return p;
}

std::vector<Stage> stages(const graph::Graph& g, const Target& target) {
  loops::Program p = lower(g);
  std::vector<Stage> list = {{"lower", print(p)}};
  for (const Pass& pass : passes()) {
    pass.run(p, target);
    list.push_back({pass.name, print(p)});
  }
  return list;
}

}  // namespace anvil::compiler
