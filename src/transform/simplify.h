// Graph passes that change no result: inlining of one-element constants, removal of dead
// calls and unused constants, common subexpressions, and algebra that is exact on floats.
// Each takes time linear in the size of the graph. Inner graphs are treated as well and
// replaced by changed copies, values are shared: other graphs that use them stay as they are.
#pragma once
#include <unordered_set>

#include "graph/graph.h"

namespace anvil::transform {

void inline_scalar_constants(graph::Graph&);  // captured tensors with one element become literals
void remove_unused_constants(graph::Graph&);
// And what loops carry for nobody. Calls with an effect stay, but for those that make one of the values in
// `again`, inner calls included: they have happened before, or will.
void remove_dead_calls(graph::Graph&, const std::unordered_set<const graph::Value*>& again = {});
// Constants of the same content become one, and calls of the same primitive on the same operands. An inner graph takes a value
// from around it where that saves arithmetic, not where it only saves moving data.
void merge_equal_calls(graph::Graph&);
// x * 1, x / 1, x - 0, x + -0.0 and x ^ 1 become x, x ^ 2 becomes x * x; elementwise calls on
// tensors whose elements are all equal become literals, a select with a known condition the
// value it selects; double negation, transposition,
// reshaping and broadcasting become none or one. Nothing drops a NaN, Inf or signed zero.
void simplify_algebra(graph::Graph&);
// Keeps values with their dimensions reversed where that makes transposes vanish.
void mirror_values(graph::Graph&);
// What a while loop carries unchanged is read where it comes from instead: reverse mode then
// records it at no iteration.
void capture_invariants(graph::Graph&);
// What the steps of a loop compute from values that no step changes is computed before it. Whether any does.
bool hoist_invariants(graph::Graph&);
// What calls with rules of their own keep for these is made beside them, where it is read.
void split_residuals(graph::Graph&);
// A call and the only reader of its result become one, where the primitive can say both: what text writes
// as a reduction and a reshape is a reduction that keeps its dimensions.
void absorb_readers(graph::Graph&);
// Small products of the steps of a loop become one product before or behind it.
void join_step_products(graph::Graph&);
bool read_products_early(graph::Graph&);  // those before it only; whether there are any
// Calls on the few numbers of a step become calls on those of all steps, ahead of the loop or behind it. Whether any do.
bool join_step_calls(graph::Graph&);
// What loops read of arrays where they have written just before is carried instead. Whether anything is.
bool carry_last_writes(graph::Graph&);
// Inputs that loops read slice by slice are turned ahead of them where the elements of a slice lie apart in memory.
void turn_sliced_inputs(graph::Graph&);
// Sums of squares around a mean go block by block where what is added up for a result takes so many bytes (more than
// a second cache holds), so that it is read once. Whether there are any.
bool block_centred_sums(graph::Graph&, int64_t least_bytes = int64_t(2) << 20);
// Calls happen before reshapes that merge dimensions, where they can. Whether any do.
bool merge_late(graph::Graph&);
// Transposes that row-major reshapes of a text need, and those beside them, become none or one.
void join_turns(graph::Graph&);
bool keeps_row_major(Shape from, Shape to);  // a reshape in R's order: only sizes of 1 come or go
void simplify(graph::Graph&);                // before differentiation: the first five
void optimize(graph::Graph&);                // those that make the calls fewer or cheaper, for the compiler

}  // namespace anvil::transform
