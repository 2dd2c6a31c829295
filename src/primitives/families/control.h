// Control flow, and the two primitives that reverse mode needs for loops of unknown length.
//
// `if` [true_graph, false_graph] (pred): runs one of two graphs without inputs. `while`
// [cond_graph, body_graph] (state...): the graphs' inputs are the state; body_graph gives
// the next one, all of it computed before any of it is replaced. All of these graphs may
// read values of the graphs around them. `while` may have a parameter `segment` for reverse mode:
// the length of the segments of which only the first state is recorded, 0 for none; without it
// there are some where the records would take too much memory.
//
// A tape is a list of records that grows while a loop runs; its handle, a scalar
// value, stands for it. A record has a fixed layout, a list of tensor types: its bytes
// are the dense bytes of its fields, one after the other. A record may have no fields. A field may
// be a tape that the same step has recorded, alone or in a branch whose other side gives a
// literal for it; it ends with the tape that holds it (transform/nested_tapes.h).
//
// `while_record` [cond_graph, body_graph, new_field_counts] (state...) -> (state..., tapes...):
// `while` whose body gives, after the next state, the fields of one record for each tape,
// `new_field_counts` of them. A loop of N iterations makes N records.
//
// `tape_scan` [body_graph, field_counts, last_first, new_field_counts] (tapes..., carry...)
// -> (carry..., tapes...): one step per record of the operand tapes, which are all equally
// long; there is at least one. `field_counts` and `last_first` have one number per operand
// tape: how many fields its records have, and whether it is read from its end (1) or from
// its start (0): with N records, step t = 0, ..., N - 1 reads record N - 1 - t or record t.
// body_graph's inputs are the fields of these records, tape after tape, then the carry; its
// outputs are the next carry, then the fields of one record for each new tape,
// `new_field_counts` of them. The new tapes get these records in the order of the steps.
#pragma once
#include "primitives/vocabulary/inner_graph.h"

namespace anvil::primitives {

inline Control control_of(const graph::Call& c) { return primitive_of(c).control; }
// Whether inner graphs run any number of times.
inline bool repeats(const graph::Call& c) { return control_of(c) == Control::loop || control_of(c) == Control::scan; }
// The numbers of fields of the tapes that a loop records, its last results.
std::vector<int64_t> new_field_counts(const graph::Call&);
inline bool records(const graph::Call& c) { return repeats(c) && !new_field_counts(c).empty(); }
// Makes a loop record one more tape, whose fields are the last outputs of its new body; gives the tape.
ValuePtr add_tape(graph::Call&, graph::GraphPtr body, size_t fields);
// Makes a loop record those of its tapes only that `keep` says.
void keep_tapes(graph::Call&, const std::vector<bool>& keep);
// What a loop carries from one step to the next.
inline size_t carried(const graph::Call& c) { return c.outputs.size() - new_field_counts(c).size(); }

// `checkpoint` [body_graph] () runs its graph, which reads the values around it, once.
// Calls of these primitives, recorded into `to`.
std::vector<ValuePtr> checkpoint(graph::Graph& to, graph::GraphPtr body);
std::vector<ValuePtr> branch(graph::Graph& to, const ValuePtr& condition, graph::GraphPtr yes, graph::GraphPtr no);
// By `if`s: the branch of this number, an i32 scalar from 0 on, of at least two; of no other number, the last one.
std::vector<ValuePtr> choose(graph::Graph& to, const ValuePtr& index, const std::vector<graph::GraphPtr>& branches);
// while (go_on(state)) state = step(state)
using Test = std::function<Var(graph::Graph&, const Vars& state)>;
Vars loop(graph::Graph& to, const Vars& state, const Test& go_on, const Writer& step);
// for (k = 0; k < end; k += by) state = step(k, state), of an i64 k
using CountedStep = std::function<Vars(graph::Graph&, const Var& k, const Vars& state)>;
Vars counting_loop(graph::Graph& to, const Var& end, const Vars& state, const CountedStep& step, int64_t by = 1);
struct Scan {
  graph::GraphPtr body;
  std::vector<int64_t> field_counts, last_first, new_field_counts;
};
std::vector<ValuePtr> scan_tapes(graph::Graph& to, std::vector<ValuePtr> operands, Scan);

// The types of the fields of the tape that is result `output` of a loop.
std::vector<TensorType> record_layout(const graph::Call&, size_t output);

}  // namespace anvil::primitives
