// Runs a loop program as generated code would, one number at a time, and keeps beside every number
// the term that says where it comes from (terms.h): the meaning of loop programs that the passes of
// the compiler are tested against.
//
// Scheduled loops are cut as the code generator cuts them (loop_plans.h): a blocked loop makes
// width * copies steps side by side, each statement for all of them before the next one, all its
// loads before its stores; where the steps do not divide the range, the last ones are done twice,
// or left out where memory changes in place or a local accumulates. Every one of these steps that
// accumulates has a sum of its own, which joins the others when the loop ends; those of a running sum
// go one after the other.
//
// The tasks of a parallel loop come from the last to the first, each with memory of its own.
//
// An access outside of a buffer, a read of an element or a local that nothing has stored to, and
// an output that is not complete throw.
#pragma once
#include "graph/tensor.h"
#include "loops/program.h"
#include "runtime/run.h"
#include "support/loop_memory.h"
#include "support/loop_plans.h"

namespace anvil::test {

class LoopInterpreter {
 public:
  // With `arena`, temporaries lie where the program says, so that overlaps show.
  LoopInterpreter(const loops::Program&, std::vector<graph::Tensor> inputs, std::vector<graph::Tensor> constants = {},
                  runtime::Run* run = nullptr, bool arena = false, TermLog* log = nullptr);
  // Runs a loop in this way, right or wrong.
  void force(const loops::For& f, const LoopPlan& plan) { plans_[&f] = plan; }
  std::vector<graph::Tensor> run();
  std::vector<std::vector<Term>> terms() const;  // of the elements of each output, after run()
  int64_t steps = 0;                             // stores and updates done
  int64_t loads = 0;

 private:
  using Expr = loops::Expr;
  using Op = loops::Op;

  struct Place {  // of a buffer
    LoopMemory* memory = nullptr;
    int64_t offset = 0;  // bytes
  };
  struct Axis {          // a blocked loop that is running
    int64_t points = 1;  // steps side by side
    int64_t done = 0;    // of them, the first ones that were done before
    bool keep = false;   // and whose memory must not be touched again
  };
  // What differs by step of the blocked loops around has a value for each point: for each choice of
  // steps of the first `size` axes, the innermost fastest. values[0] alone: it does not differ.
  struct VariableState {
    bool visible = false;
    std::vector<int64_t> values;
  };
  struct Sums {  // one for each point
    std::vector<Traced> values;
    std::vector<bool> begun;  // which of them have a number
  };
  struct Local {
    bool made = false;
    size_t depth = 0;  // number of axes where it was made
    std::vector<Traced> values;
    Op op = Op::constant;        // of the sums in flight
    std::vector<Sums> sums;      // in flight: of the steps of the first, second, ... axis inside its own
    std::vector<Traced> so_far;  // after all steps side by side, whose own values it has meanwhile
  };
  struct Instruction {  // of an expression, operands first
    Expr node;
    std::array<int, 3> operands;
  };
  using Code = std::vector<Instruction>;

  [[noreturn]] void fail(const std::string& what) const;
  std::string name(loops::BufferId b) const { return program_.buffers[static_cast<size_t>(b)].name; }

  // ---- memory ----
  void place_buffers(const std::vector<graph::Tensor>& inputs, const std::vector<graph::Tensor>& constants, bool arena);
  void place_own(const std::vector<loops::BufferId>&);
  LoopMemory& add_memory(std::shared_ptr<void> data, int64_t bytes, int64_t unit);
  Place place(loops::BufferId) const;
  int64_t position(loops::BufferId, const loops::Index&, size_t point) const;  // in elements
  std::vector<Term> whole(loops::BufferId) const;                              // terms of all elements
  Traced element(loops::BufferId, int64_t position) const;

  // ---- expressions ----
  size_t points() const { return counts_.back(); }
  template <class T>
  const T& at(const std::vector<T>& values, size_t point) const {
    if (values.size() > points()) fail("a value of one step of a loop is used outside of it");
    return values[values.size() == 1 ? 0 : point / (points() / values.size())];
  }
  int64_t value(const loops::Affine&, size_t point) const;
  const Code& code(Expr);
  Traced evaluate(Expr, size_t point);
  Traced local(loops::LocalId, size_t point) const;

  // ---- statements ----
  void block(const loops::Block&);
  void statement(const loops::For&);
  void tasks(const loops::For&);
  void blocked(const loops::For&, const LoopPlan&);
  void side_by_side(const loops::For&, int64_t start, Axis);
  bool done(size_t point, size_t from) const;
  bool keeps(size_t point) const;
  void define(loops::LocalId, Expr);
  void statement(const loops::Store&);
  void statement(const loops::Let& s) { define(s.local, s.value); }
  void statement(const loops::Declare& s) { define(s.local, s.value); }
  void statement(const loops::Update&);
  void assign(const loops::Update&);
  void leave_out_identity(Traced& sum, Op, DType);
  void accumulate(const loops::Update&, Op);
  void run_along(const loops::Update&);
  Traced operand(const loops::Update&, size_t point);  // what it adds
  Sums& sums_of(loops::LocalId, Op);
  void join_sums();
  void statement(const loops::Bind&);
  void statement(const loops::If&);
  void statement(const loops::While&);
  void statement(const loops::Swap&);
  void statement(const loops::Prefetch&) {}
  void statement(const loops::Call&);
  void statement(const loops::Contraction&);
  void multiply(const loops::Contraction&, const std::vector<loops::Contraction::Axis>&, loops::BufferId,
                const loops::Index&, Expr product);
  bool tape(const loops::Call&, const std::vector<int64_t>& numbers);
  void require_one_step(const char* what) const;

  const loops::Program& program_;
  runtime::Run* run_;
  Terms make_;
  LoopPlans plans_;
  std::vector<std::unique_ptr<LoopMemory>> memories_;
  std::vector<Place> places_;  // by root buffer
  std::vector<graph::Tensor> outputs_;
  std::vector<VariableState> variables_;
  std::vector<Local> locals_;
  std::vector<loops::LocalId> made_, summing_;  // locals of the blocks around; those with sums in flight
  std::vector<loops::LocalId> running_;         // those that run along the innermost axis
  std::vector<Axis> axes_;
  std::vector<size_t> counts_ = {1};  // points of the first axes
  loops::ExprPool products_;          // those beside contractions
  std::unordered_map<Expr, Code> codes_;
  std::vector<Traced> scratch_;
  std::unordered_map<int64_t, std::vector<std::vector<Term>>> tapes_;  // by handle: terms of each record
};

inline std::vector<graph::Tensor> interpret(const loops::Program& p, const std::vector<graph::Tensor>& inputs,
                                            const std::vector<graph::Tensor>& constants = {},
                                            runtime::Run* run = nullptr, bool arena = false) {
  return LoopInterpreter(p, inputs, constants, run, arena).run();
}

}  // namespace anvil::test
