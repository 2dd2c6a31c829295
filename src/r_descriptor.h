// The stack of descriptors, each with the graph under construction, and the boxes that
// stand for its values in R. A box is an external pointer to a value that its descriptor
// keeps, so boxes need no finalizer; a descriptor that has ended keeps no R object, since
// those may refer to its boxes. An inner graph refers to values of outer graphs
// directly; they are listed among its constants. Captured tensors are known by identity
// in the outermost descriptor.
#pragma once
#include <deque>
#include <unordered_map>
#include <unordered_set>

#include "r_common.h"

namespace anvil::r {

// What an outermost trace is for: to be compiled or kept; to be evaluated at once, on data that are there; to be looked
// at as it was made; or only for the types of its results.
enum class Purpose : uint8_t { program, debug, record, types };

struct Descriptor {
  GraphPtr graph = std::make_shared<Graph>();
  Descriptor* parent = nullptr;
  SEXP handle = R_NilValue;  // the R object that owns this
  Kept own_handle;           // while it is live
  bool live = true;
  Purpose purpose = Purpose::program;
  std::shared_ptr<Locations> locations;
  std::deque<ValuePtr> boxes;                  // addresses stay
  std::unordered_set<const Value*> listed;     // among the graph's constants
  std::unordered_map<SEXP, ValuePtr> tensors;  // outermost: captured tensors
  std::vector<Kept> kept;
};

extern std::vector<Descriptor*> stack;
// A descriptor for a scope; it and what an error left behind inside of it end with the scope.
class Scope {
 public:
  explicit Scope(Purpose);
  ~Scope();
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;
  Descriptor& descriptor() { return *descriptor_; }

 private:
  Descriptor* descriptor_;
  Kept handle_;
};

Descriptor& current();                     // Error("trace") when there is none
Descriptor& descriptor_from(SEXP handle);  // Error("argument") when it is none, Error("trace") when it has ended
Descriptor& descriptor_of(SEXP box);
void pop(Descriptor*);                 // ends it and those inside of it
bool is_being_built(const ValuePtr&);  // whether a box of a live descriptor stands for it
void list_constant(Descriptor&, const ValuePtr&);
SEXP new_box(Descriptor&, const ValuePtr&);  // may jump
SEXP new_boxes(Descriptor&, const std::vector<ValuePtr>&);
void capture(const ValuePtr& constant);  // lists it in every graph from here to the outermost one
ValuePtr captured_tensor(SEXP tensor);
// Calls from `first` on, copied from a graph of another trace, know their R calls by its numbers: they get those of
// the current trace.
void adopt_locations(Graph&, size_t first, const Locations* from);
ValuePtr unknown_value(SEXP debug_box);  // a debug box without data, where only types matter
const ValuePtr& value_of(SEXP box);
ValuePtr unboxed(SEXP box);  // for use in the current graph; Error("trace") when its trace has ended

// A value of a graph that an R object stands for, and the graph.
struct Node {
  const GraphHolder& holder;
  ValuePtr value;
};
Node node_of(SEXP);
ValuePtr literal_of_type(SEXP data, const TensorType&);

bool is_literal(SEXP);          // a single number or flag
bool is_array(SEXP);            // R data with dimensions
TensorType type_of_data(SEXP);  // of either, as an operand
[[noreturn]] void not_a_tensor(SEXP, const std::string& name);

}  // namespace anvil::r
