// The way back of a loop. It is a tape_scan from the last record to the first, whose
// body computes one step again, from what was recorded of it, and pulls its cotangents back.
#pragma once
#include "transform/loop.h"
#include "transform/pullback.h"
#include "transform/rewrite.h"

namespace anvil::transform {

struct Pullback::Backward {
  // What goes from step to step on the way back: an input and an output of the body.
  struct Carried {
    size_t place;      // of what the loop carries
    ValuePtr in, out;  // after the step, before it
  };
  struct Captured {
    ValuePtr value;    // of an outer graph
    ValuePtr in, out;  // the sum of its cotangents
  };

  GraphPtr body = std::make_shared<Graph>();
  ValueList fields, states;             // records of the operand tapes, what is carried, at the start of the step
  ValueList outputs;                    // of the step: what is carried on, then the fields of new records
  std::vector<Carried> counters;        // integers that go back as they came, so that nobody records them
  std::vector<Carried> carries;         // cotangents
  std::vector<Captured> captures;       // cotangents
  std::vector<ValueList> new_fields;    // inputs: for each new tape the cotangents of its record, none: zero
  std::vector<ValueList> field_slopes;  // outputs: for each operand tape the same
  std::vector<bool> reached;            // for each carried value, whether there is a cotangent of it
  Values remade;                        // all that the step makes, which the body makes again

  // The inputs that are no values of the step: counters after it and cotangents.
  ValueList from_behind() const;
};

// A step forwards, with all that the body of the way back makes of it without what comes from behind.
struct Pullback::Step {
  Graph graph;       // inputs and outputs as the loop's body has them
  ValueList needed;  // values of it from which the way back can be computed, of least size
  int64_t bytes;     // of these, but for what is recorded already
};

}  // namespace anvil::transform
