// Writes a loop program as LLVM functions. A blocked loop runs its copies (and lanes) side
// by side: every expression is written once for each coordinate, that is, for each choice
// of copies of the blocked loops it depends on:
//   for i vector 8 x 2 { y[i] = x[i] * c }
//   ->  s = splat(c)          in front of the loop: it depends on no loop
//       i: y[i..i+7] = x[i..i+7] * s; y[i+8..i+15] = x[i+8..i+15] * s
// Each value is placed in the outermost scope where its operands do not change any more,
// and remembered there until something it read is changed.
#pragma once
#include <array>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

#include "backend/llvm/analysis.h"
#include "backend/llvm/machine.h"
#include "backend/llvm/operations.h"

namespace anvil::llvm_backend {

constexpr int64_t work_between_polls = 4'000'000;  // vector operations: a millisecond, or 256 MB of fresh pages

class Emitter {
 public:
  // Where nests begin, for people: the origins of each, by a block or by a call.
  using Comments = std::unordered_map<const llvm::Value*, loops::Origins>;

  Emitter(const Program&, const Machine&, llvm::Module&, Comments* = nullptr);
  void run(const char* entry);

 private:
  using Value = llvm::Value*;
  using Coordinate = std::array<int, most_axes>;  // the copy, for each active axis
  using AxisMask = uint32_t;

  struct Axis {  // an active blocked loop
    int width = 1;
    int radix = 1;      // copies as planned
    int copies = 1;     // of them in flight: fewer in a tail
    int done = 0;       // lanes of the first copy that an earlier step has handled
    bool keep = false;  // and whose memory must not be touched again
  };
  struct Info {     // where an expression varies
    int level = 0;  // the innermost scope it depends on
    AxisMask axes = 0;
    bool lanes = false;    // it is a vector
    bool pairs = false;    // whose lanes 2j and 2j + 1 are equal
    uint64_t changed = 0;  // when something it reads changed last
  };
  struct VariableState : Info {
    Value start = nullptr;  // loop: of copy 0, lane 0
    int64_t low = 0, high = 0;
    int axis = -1;
    bool even = false;                   // a loop whose steps all start at even numbers
    llvm::SmallVector<Value, 1> values;  // parameter, by coordinate
  };
  struct LocalState : Info {
    bool constant = true;  // Let: values; otherwise memory slots, by coordinate
    bool partial = false;  // of a reduction: a register for each copy and lane of its loops
    bool folded = false;   // among them a vector loop: lanes that are done must not count again
    llvm::SmallVector<Value, 1> values;
  };
  struct Entry {
    Value value;
    uint64_t time;
  };
  struct Recent {  // a load of a long block
    Value value = nullptr;
    llvm::BasicBlock* block = nullptr;
    uint64_t time = 0, made = 0;
  };
  struct Scope {
    llvm::Instruction* door = nullptr;  // ends the code in front of it; null when there is no branch
    int outer_barrier = 0;              // the barrier_ around it
    const void* statement = nullptr;    // whose facts say what changes inside
    llvm::DenseMap<std::pair<const void*, int>, Entry> values;
    std::map<std::vector<int64_t>, Entry> pointers;
  };
  struct Reduction {  // a local that a loop accumulates into, in registers of its own
    LocalId local;
    loops::Op op;
    LocalState outside;
    llvm::SmallVector<Value, 1> totals;  // sums of blocks, where sums are blocked
    int copies = 1;                      // registers for each of outside
    llvm::Type* type = nullptr;
  };
  struct Running {  // a local that runs along a vector loop
    const loops::Update* update;
    llvm::Type* type;
    LocalState outside;
    llvm::SmallVector<Value, 1> so_far;  // slots for each of outside: its value before a step, in all lanes
  };
  struct Level {  // a loop split into pieces: what happens after each
    int64_t steps;
    std::vector<Reduction*> flush;
    bool poll = false;
  };
  struct At;  // moves the builder for a while

  // nests.cpp: equal nests
  struct SharedNest {
    const loops::For* model;        // of which the function is made
    std::vector<BufferId> buffers;  // this nest's, as the function takes them
    std::vector<LocalId> locals;
  };
  void plan_nests();
  void find_nests(const loops::Block&, std::vector<const loops::For*>&);
  void write_nests();
  void take_locals(const loops::For&, const std::vector<LocalId>&);
  void call_nest(const loops::For&, const SharedNest&);
  double written_size(const loops::Stmt&) const;  // with calls of shared nests
  double written_size(const loops::Block&) const;

  // tasks.cpp: parallel loops
  using Ranges = std::map<Variable, std::pair<int64_t, int64_t>>;
  struct TaskInput {  // what a task uses of the function around it
    std::vector<BufferId> pointers;
    std::vector<LocalId> locals;
    std::vector<std::pair<Variable, std::pair<int64_t, int64_t>>> variables;  // and their ranges
    const loops::For* model = nullptr;  // of equal tasks, the one whose function they share
    llvm::Function* function = nullptr;
    size_t values() const { return 2 + pointers.size() + locals.size() + variables.size(); }
  };
  void plan_tasks();
  void find_tasks(const loops::Block&, Ranges& around);
  TaskInput task_input(const loops::For&, const Ranges& around) const;
  void write_tasks();
  void call_tasks(const loops::For&);

  // program.cpp: functions, buffers, frames
  struct Section {  // a run of statements in a function of its own
    const loops::Block* block;
    size_t first, last;
    llvm::Function* function;
  };
  void plan_functions();
  void plan_registers(const std::vector<std::pair<const loops::Stmt*, int>>& statements);
  double cut(const loops::Block&);
  double cut(const loops::Stmt&);
  void call_sections(const std::vector<size_t>&);
  void begin_function(const std::string& name, const std::vector<std::string>& arguments, bool external = false);
  void end_function();
  Value initial(BufferId);                              // its memory as the program starts
  Value frame_slot(const std::map<int, int>&, int id);  // null where it has none
  LocalState& local_state(LocalId);
  Value local_value(LocalId);  // of a number
  VariableState& variable_state(Variable);
  Value slot(llvm::Type*, const llvm::Twine& name);  // memory that becomes a register

  // statements.cpp
  void block(const loops::Block&);
  void emit(const loops::Stmt&);
  void commented(const loops::Stmt&);
  void emit(const loops::Store&);
  void emit(const loops::Let&);
  void emit(const loops::Declare&);
  void emit(const loops::Update&);
  void emit(const loops::Bind&);
  void emit(const loops::If&);
  void emit(const loops::While&);
  void emit(const loops::Call&);
  void emit(const loops::Swap&);
  void emit(const loops::Prefetch&);
  void emit(const loops::Contraction&);
  int done_lanes(const Coordinate&) const;
  Value not_done(int lanes);  // a mask
  void push_scope(const void* statement, llvm::Instruction* door, bool may_not_run);
  void pop_scope();
  void touch(BufferId);  // its content changes now

  // loops.cpp
  void emit(const loops::For&);
  void steps(const loops::For&, Axis, int64_t first, int64_t last);
  void pieces(const loops::For&, VariableState, Value from, Value to, int64_t last, llvm::ArrayRef<Level>);
  std::vector<Level> levels(const loops::For&, int64_t count) const;
  std::vector<const loops::For*> blocked_loops(const UpdatePath&) const;
  std::vector<Reduction> begin_reductions(const loops::For&);
  Reduction begin_reduction(LocalId, loops::Op, const std::vector<const loops::For*>& axes, bool long_sum);
  void plan_flush(const UpdatePath&, int64_t in_step, Reduction*);
  void flush(Reduction&);
  void end_reduction(Reduction&);

  // running.cpp
  std::vector<Running> begin_running(const loops::For&);
  void run_along(const Running&);
  void end_running(const Running&);

  // below: f(coordinate) for each choice of copies of some loops; the last loop's copies in the order of its steps.
  template <class F>
  void each_coordinate(AxisMask, F&& f);
  // One value for each, where project() looks for it.
  template <class F>
  llvm::SmallVector<Value, 1> per_coordinate(AxisMask, F&&);

  // values.cpp
  Info info(Expr);
  void depends(Info&, const Affine&);
  Value value(Expr, const Coordinate&);              // a vector where info says so
  Value spread(Expr, const Coordinate&, int lanes);  // a vector where asked
  Value half(Expr, const Coordinate&, const Info&);  // of a vector of pairs, one of each
  bool pairwise(Expr);
  bool alternates(const Affine&);  // even and odd in turn, lane by lane
  bool half_of_even_index(Expr);
  bool reloads(Expr) const;
  Value reloaded(Expr, int key, const Coordinate&, const Info&, int splat);
  Value make(Expr, const Coordinate&, const Info&, int level, int lanes);
  Value first_index(const Affine&, const Coordinate&);
  llvm::Constant* ramp(DType, int lanes, int64_t step, int64_t first = 0);
  Value index_value(const Affine&, DType, const Coordinate&, const Info&);
  std::pair<int64_t, int64_t> range(const Affine&);
  Value remembered(const void* key, int coordinate, const Info&) const;
  Value remember(const void* key, int coordinate, int level, Value);
  int home(int level) const { return std::max(level, barrier_); }
  int project(AxisMask, const Coordinate&) const;
  int lanes() const { return vector_axis_ < 0 ? 1 : axes_[size_t(vector_axis_)].width; }
  int lanes(const Info& in) const { return in.lanes ? lanes() : 1; }
  const Facts& facts(const Scope& s) const { return analysis_.facts(s.statement); }

  // memory.cpp
  Value place(BufferId);
  Value base(BufferId, int* level);
  Value advance(Value pointer, Value bytes, const llvm::Twine& name = "");
  Value pointer(BufferId, const Affine&, const Coordinate&, int64_t displacement);
  Value lane_pointer(BufferId, const Affine&, const Coordinate&, int lane);
  std::optional<int64_t> lane_stride(const Affine&);  // nothing: parameters differ by lane
  Value load(BufferId, DType, const loops::Index&, const Coordinate&, const Info&);
  void store(BufferId, DType, const loops::Index&, const Coordinate&, Value, int done, bool around_caches);
  void go_around_caches(llvm::StoreInst&, int64_t bytes);

  // strided.cpp
  Value load_near(BufferId, DType, const Affine& offset, const Coordinate&, int64_t stride);
  bool stores_near(std::optional<int64_t> stride, DType) const;
  void store_near(BufferId, DType, const Affine& offset, const Coordinate&, int64_t stride, Value, int done);

  // transposed.cpp
  int contiguous_axis(const Affine& offset);
  bool load_together(Expr, const Coordinate&, const Info&, int level);

  // calls.cpp
  Value function(const std::string& name, DType, llvm::ArrayRef<Value>);
  Value power(DType, Value, Value);
  Value join(llvm::SmallVector<Value, 16>);
  void call_runtime(const std::string& function, const std::vector<BufferId>&, llvm::ArrayRef<Value> numbers);
  Value call_numbers(llvm::ArrayRef<Value>);
  llvm::FunctionCallee callee(const std::string& name, llvm::Type* result, llvm::ArrayRef<llvm::Type*>, bool pure);
  void poll();
  void count_down(double work);
  void stop_unless_zero(Value status);

  Value i64(int64_t x) { return b_.getInt64(uint64_t(x)); }

  const Program& program_;
  const Machine& machine_;
  Comments* comments_;  // null inside of a nest
  llvm::Module& module_;
  llvm::LLVMContext& context_;
  Analysis analysis_;
  llvm::IRBuilder<> b_;
  Operations ops_;
  llvm::PointerType* ptr_;

  // of the program
  std::vector<Section> sections_;
  std::unordered_map<const loops::Block*, std::vector<size_t>> cuts_;  // sections_ of blocks that are cut
  std::map<int, int> frame_locals_, frame_parameters_;                 // seen by several functions: place in the frame
  std::map<int, int> frame_pointers_;
  std::set<LocalId> frame_constants_;  // of the locals: made by Let
  std::set<BufferId> registers_;       // numbers that need no memory
  int frame_size_ = 0;
  std::unordered_map<const loops::For*, SharedNest> nests_;
  size_t most_nest_locals_ = 0;
  std::unordered_map<const loops::For*, llvm::Function*> nest_functions_;  // by model
  std::unordered_map<const loops::For*, TaskInput> tasks_;
  std::vector<const loops::For*> parallel_;  // the keys of tasks_, in the order of the program

  // of the function being written
  llvm::Function* function_ = nullptr;
  struct {
    Value buffers, arena, run, frame, own, locals;  // null where the function has none
  } here_ = {};
  bool in_nest_ = false;  // buffers are where the arguments say
  llvm::Instruction* entry_end_ = nullptr;
  llvm::BasicBlock* stop_ = nullptr;  // returns status_
  Value status_ = nullptr, budget_ = nullptr, call_buffers_ = nullptr, call_numbers_ = nullptr;
  Value nest_locals_ = nullptr;       // through which those of nests go
  llvm::DenseMap<int, Value> bases_;  // of a swapped buffer: where its pointer is
  llvm::DenseMap<int, VariableState> variables_;
  llvm::DenseMap<int, LocalState> locals_;
  llvm::DenseMap<int, uint64_t> buffer_changed_;
  std::vector<Scope> scopes_;
  std::vector<Axis> axes_;
  int vector_axis_ = -1;
  int barrier_ = 0;  // the innermost scope that may not run: nothing is moved out of it
  uint64_t time_ = 1;
  int expanded_ = 0;          // instructions of elementary functions
  double runs_ = 1;           // of what is being written
  bool goes_around_ = false;  // something that this function stores goes around the caches
  bool long_block_ = false;
  int consumer_ = -1;  // the scope that what is asked for shall be placed in, -1: the innermost
  uint64_t made_ = 0;  // loads of long blocks asked for
  llvm::DenseMap<std::pair<const void*, int>, Recent> recent_;
  llvm::DenseMap<Expr, Info> infos_;  // of the statement being written
  std::map<const loops::For*, std::pair<int64_t, std::vector<Reduction*>>> flushes_;
  llvm::ArrayRef<Running> running_;  // of the vector loop being written
};

template <class F>
void Emitter::each_coordinate(AxisMask axes, F&& f) {
  Coordinate c{};
  while (true) {
    f(static_cast<const Coordinate&>(c));
    size_t i = axes_.size();
    while (i-- > 0) {
      if (!(axes >> i & 1)) continue;
      if (++c[i] < axes_[i].copies) break;
      c[i] = 0;
    }
    if (i == size_t(-1)) return;
  }
}

// A tail has fewer copies than its loop was planned with, and leaves places empty.
template <class F>
llvm::SmallVector<Emitter::Value, 1> Emitter::per_coordinate(AxisMask axes, F&& f) {
  size_t places = 1;
  for (size_t i = 0; i < axes_.size(); ++i)
    if (axes >> i & 1) places *= size_t(axes_[i].radix);
  llvm::SmallVector<Value, 1> values(places, nullptr);
  each_coordinate(axes, [&](const Coordinate& c) { values[size_t(project(axes, c))] = f(c); });
  return values;
}

// Moves the builder to where code of a scope goes: its end, or in front of the first branch below it.
struct Emitter::At {
  At(Emitter& e, int level) : builder(e.b_), saved(e.b_.saveIP()) {
    for (size_t i = size_t(level) + 1; i < e.scopes_.size(); ++i)
      if (e.scopes_[i].door) {
        builder.SetInsertPoint(e.scopes_[i].door);
        break;
      }
  }
  ~At() { builder.restoreIP(saved); }
  At(const At&) = delete;
  llvm::IRBuilder<>& builder;
  llvm::IRBuilder<>::InsertPoint saved;
};

}  // namespace anvil::llvm_backend
