// The passes of the compiler, in the order in which they run. Each takes and leaves a
// valid loop program with the same results; each file begins with an example.
#pragma once
#include <vector>

#include "compiler/compiler.h"

namespace anvil::compiler {

loops::Program lower(const graph::Graph&);               // graph to loops, one nest for each value
void unroll_small(loops::Program&);                      // tiny tensors in loops become scalars
bool unroll_inside(loops::Program&);                     // part of shrinking: what is tiny in loops, too
void inline_producers(loops::Program&);                  // elementwise producers move into their consumers
void find_contractions(loops::Program&, const Target&);  // large sums of products run over packed blocks
void store_contractions(loops::Program&);                // part of it: they write where copies would bring results
void lay_out_contractions(loops::Program&);              // part of it: their results lie as they are read
void move_batches(loops::Program&);                      // part of it: products of a batch lie one after the other
void weigh_contractions(loops::Program&);                // part of it: operands times weights are not stored
void lay_out_records(loops::Program&);                   // part of the next one: what loops record lies step by step
void cut_at_pieces(loops::Program&, const Target&);      // what is made in pieces moves into its readers
void choose_layouts(loops::Program&);                    // temporaries lie in memory as they are read
void sum_along_memory(loops::Program&, const Target&);   // sums across it, where others read the same
void merge_nests(loops::Program&);                       // nests with equal loops become one
void step_contractions(loops::Program&, const Target&);  // what passes between them and nests stays in the cache
void shrink_buffers(loops::Program&);                 // temporaries lose the dimensions of shared loops, down to locals
void update_states_in_place(loops::Program&);         // those of loops that are made element by element
void place_results(loops::Program&);                  // temporaries lie where a result will be
void update_by_rows(loops::Program&);                 // rows of tables are changed several columns at once
void leave_out_triangles(loops::Program&);            // products under a mask are made where it leaves them
void collapse_loops(loops::Program&, const Target&);  // adjacent loops over contiguous memory become one
void schedule(loops::Program&, const Target&);        // which loop is a vector, how many steps are in flight
void block_for_caches(loops::Program&, const Target&);     // what is read again stays in a cache
void stream_sums(loops::Program&, const Target&);          // sums across memory go along it
void cut_into_tasks(loops::Program&, const Target&);       // large nests become tasks that threads share
void share_overlap(loops::Program&, const Target&);        // steps of sums whose windows overlap read them once
void prefetch_rows(loops::Program&, const Target&);        // rows of large tables are asked for some steps ahead
void multiply_beside_each_other(loops::Program&);          // products of one operand with several others are one
void store_around_caches(loops::Program&, const Target&);  // large results go to memory at once
void plan_buffers(loops::Program&);                        // places of the temporaries in the arena

// All that follow lower(), in order.
struct Pass {
  const char* name;
  void (*run)(loops::Program&, const Target&);
};
const std::vector<Pass>& passes();

}  // namespace anvil::compiler
