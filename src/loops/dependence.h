// What statements touch, and which steps of loops may meet in memory: the one analysis that
// every pass and the code generator ask before statements change places.
//
//   for i in 0..9 { t[i] = x[i] }      a step of the first and a step of the second loop meet
//   for k in 0..9 { y[k] = t[k] }      in t only where i = k: Meeting::same_step
//
// What is proven, from the index maps alone: accesses of one memory in one shape are compared
// dimension by dimension, those in different shapes by their offset in elements. The difference
// of two indices is a sum over the variables that may differ between the two (the steps compared,
// loops inside of them, parameters bound inside of them), each with its range; variables of the
// loops around both have one value. It proves
//   never      no values of the variables make the indices equal (ranges, greatest common divisor,
//              a constant distance that is no multiple of the stride or beyond the loop);
//   same_step  they are only equal where both loops are at the same step: the stride of the step
//              is larger than all that smaller strides add up to, and larger strides are larger
//              still (i + 8 j + 64 k).
// Anything else is `unknown`. Nothing is assumed of values in memory, of conditions, or of what a
// runtime function does with the buffers that it is given.
#pragma once
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "loops/walk.h"

namespace anvil::loops {

struct Range {
  Variable variable;
  int64_t low, high;  // inclusive
  bool operator==(const Range&) const = default;
};

// One access as seen from outside of some loops.
struct Access {
  BufferId view;
  Index place;
  bool write;
  std::vector<Range> inside;  // the loops between, innermost first
  bool operator==(const Access&) const = default;
};

// What a statement touches with all that is inside of it.
class Footprint {
 public:
  struct Memory {  // by the root of its buffers
    bool read = false, written = false;
    bool whole = false;            // by a call or a swap, or in more ways than are kept
    std::vector<Access> accesses;  // each once
  };
  struct Scalar {  // a local or a parameter
    bool read = false, written = false;
  };

  Footprint() = default;
  Footprint(const Program&, const Stmt&);
  Footprint(const Program&, const Block&);
  void add(const Footprint&);
  void enclose(const For&);  // as seen from outside of this loop
  void forget(BufferId b) { memory_.erase(b); }

  const std::unordered_map<BufferId, Memory>& memory() const { return memory_; }
  const std::unordered_map<LocalId, Scalar>& locals() const { return locals_; }
  const std::unordered_map<Variable, Scalar>& parameters() const { return parameters_; }
  bool binds(Variable) const;  // gives a parameter its value

 private:
  void add_own(const Program&, const Stmt&);
  void add_access(const Program&, BufferId, const Index*, AccessKind);
  void add_access(Memory&, const Access&);
  void read_parameters(const Program&, const Affine&);

  std::unordered_map<BufferId, Memory> memory_;
  std::unordered_map<LocalId, Scalar> locals_;
  std::unordered_map<Variable, Scalar> parameters_;
};

// Whether one touches what the other changes: such statements keep their order.
bool conflict(const Footprint&, const Footprint&);

// The steps of a loop: its variable, and what one step touches.
struct Steps {
  Variable variable;
  int64_t begin, end;
  const Footprint& body;
};
inline Steps steps(const For& f, const Footprint& body) { return {f.variable, f.begin, f.end, body}; }

enum class Meeting : uint8_t { never, same_step, unknown };
// Where an access in a step of one loop and an access in a step of another (or of the same) loop
// touch the same element.
Meeting meeting(const Program&, const Access&, const Steps&, const Access&, const Steps&);

// Two loops with the same steps, one after the other: whether step k of the second may run right
// after step k of the first. It may when nothing but memory is passed on, and steps that meet there
// are the same.
bool may_fuse(const Program&, const Steps& first, const Steps& second);
// Whether the steps of a loop may run in any order or at once, as far as memory is concerned: what
// one step changes no other touches. Locals are the caller's: sums are not memory.
bool steps_apart(const Program&, const Steps&);

}  // namespace anvil::loops
