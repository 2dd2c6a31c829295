// What the schedule is chosen by: the cost of a loop's body when one loop is a vector, and
// which loops may be one.
#pragma once
#include "compiler/compiler.h"
#include "compiler/traverse.h"

namespace anvil::compiler {

constexpr int64_t first_cache = 16384;  // bytes of a buffer that stays in the processor's first cache

inline int64_t extent(const loops::For& f) { return f.end - f.begin; }
inline double ceil_div(int64_t n, int64_t d) { return static_cast<double>((n + d - 1) / d); }
inline int64_t steps_at_once(const loops::For& f) { return int64_t(f.width) * f.copies; }

// A loop with all that is inside.
struct LoopFacts {
  bool simple = true;            // nothing but loops, stores, locals, contractions, and branches of these
  bool one_by_one = false;       // with branches or contractions: no vector, but a task
  int widest = 0;                // bytes of the widest number that more than a few operations compute with
  bool function = false;         // calls an elementary function
  double ops = 0;                // nodes and stores of the body, each counted once
  double weight = 0, chain = 0;  // of all operations, and of the longest chain of them: a function is many
  double of_pairs = 0;           // of the weight: what two neighbours have in common, such as blocks of random bits
  double of_integers = 0;        // of the weight: what computes integers
  int usual = 0;                 // bytes of the numbers that most operations compute with
  std::vector<LocalId> updated;  // locals from outside that it updates
};
LoopFacts loop_facts(const loops::For&);

void narrow(loops::For&);  // a loop of few steps is no vector of many

// Whether iterations do not depend on each other, but for updates of outer locals whose
// order is free. Of some buffers each iteration has its own.
bool independent(const Program&, const loops::For&, const std::vector<BufferId>& own = {});

// The same of memory alone.
bool steps_do_not_meet(const Program&, const loops::For&, const std::vector<BufferId>& own = {});

// The cost of one run of a scheduled loop, in operations.
double nest_cost(const Program&, const loops::For&);

// What loops read, each of which is all that the one before it holds, but for what a cache holds until it is read again.
// Of the last but one so many steps run at a time.
double bytes_from_memory(const Program&, const std::vector<const loops::For*>&, int copies, double cache);

// Of loops each of which is all that the one before it holds, loop k changes places with all behind it, up to loop `to`.
void move_loop(const std::vector<loops::For*>&, size_t k, size_t to);
// Schedules such loops, the last of them a vector loop, where that reads across memory: across.cpp.
bool walk_along_lines(Program&, const std::vector<loops::For*>&);
void write_out_short_loops(Program&);  // short_loops.cpp
// The sums of which each step of a loop is read, if nothing else keeps its steps from being lanes; or none:
// running_sums.cpp.
std::vector<loops::Update*> running_sums(Program&, loops::For&);
void run_along(Program&, loops::Update&);
// Makes several steps of a loop over recurrences at once, each along memory; false where it is no such:
// running_columns.cpp.
bool run_columns(const Program&, loops::For&);

void share_loads(const Program&, loops::For&);        // shared_loads.cpp
void take_rows_at_once(const Program&, loops::For&);  // rows_at_once.cpp

// The largest number of copies up to `most` that hardly makes more steps than needed.
int fitting_copies(int64_t n, int width, int most);

// The loop among the statements of another one, null where there are several or none.
loops::For* only_loop(loops::For&);

// Of a vector loop v with sums and the loop u around it, the steps that are in flight at once: register_blocks.cpp.
struct RegisterBlock {
  int m = 0, n = 0;  // of v, in vectors, and of u; 0: there is none
  double cost = 0;   // of all steps of both loops
};
RegisterBlock register_block(const Program&, const Target&, const loops::For& u, const loops::For& v);
bool block_registers(const Program&, const Target&, loops::For& u, loops::For& v);  // whether there is one
// Steps of the loop w around u as well, if these share operands and there is room.
void share_further(const Program&, const Target&, loops::For& w);

constexpr double function_weight = 14;  // of an elementary function, in additions

// The cost of one run of a block. In a vector loop over `lane` with `width` lanes, what
// depends on the lane is counted once for all lanes where memory is contiguous.
double block_cost(const Program&, const Block&, Variable lane, int width);
// What of it is due to vectors that do not lie side by side in memory: lanes are accessed one by one.
double accesses_apart(const Program&, const Block&, Variable lane, int width);

}  // namespace anvil::compiler
