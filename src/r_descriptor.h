// The stack of descriptors, each with the graph under construction, and the boxes that
// stand for its values in R. A box is an external pointer to a value that its descriptor
// keeps, so boxes need no finalizer. An inner graph refers to values of outer graphs
// directly; they are listed among its constants. Captured tensors are known by identity
// in the outermost descriptor.
#pragma once
#include <deque>
#include <unordered_map>
#include <unordered_set>

#include "r_common.h"

namespace anvil::r {

struct Descriptor {
  GraphPtr graph = std::make_shared<Graph>();
  Descriptor* parent = nullptr;
  SEXP handle = R_NilValue;
  bool live = true;
  bool types_only = false;  // outermost: nothing of it will be run
  std::shared_ptr<Locations> locations;
  std::deque<ValuePtr> boxes;                  // addresses stay
  std::unordered_set<const Value*> listed;     // among the graph's constants
  std::unordered_map<SEXP, ValuePtr> tensors;  // outermost: captured tensors
  std::vector<Kept> kept;
};

extern std::vector<Descriptor*> stack;

Descriptor& current();                       // Error("trace") when there is none
SEXP new_box(Descriptor&, const ValuePtr&);  // may jump
void capture(const ValuePtr& constant);      // lists it in every graph from here to the outermost one
ValuePtr captured_tensor(SEXP tensor);
ValuePtr unknown_value(SEXP debug_box);  // a debug box without data, where only types matter
const ValuePtr& value_of(SEXP box);
ValuePtr unboxed(SEXP box);  // for use in the current graph; Error("trace") when its trace has ended

bool is_literal(SEXP);  // a single number or flag
bool is_array(SEXP);    // R data with dimensions
[[noreturn]] void not_a_tensor(SEXP, const std::string& name);

}  // namespace anvil::r
