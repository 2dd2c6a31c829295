// What the R bindings share: how arguments are read, how R objects are told apart, and how
// tensors are viewed without copying. Only r_*.cpp include it.
#pragma once
#include <algorithm>
#include <span>
#include <string_view>
#include <vector>

#include "anvil.h"
#include "graph/labels.h"
#include "r_gate.h"
#include "runtime/custom.h"

namespace anvil::r {

using graph::Graph;
using graph::GraphPtr;
using graph::Params;
using graph::Tensor;
using graph::TensorType;
using graph::Value;
using graph::ValuePtr;
using primitives::ParamSpec;
using primitives::Primitive;

// --- R objects --------------------------------------------------------------------

enum class Class : uint8_t { other, tensor, buffer, graph_box, debug_box, abstract };
Class class_of(SEXP);  // what the object says; whoever reads it checks the parts

struct Names {       // objects that live as long as the package
  SEXP environment;  // its namespace
  SEXP masks;        // the environment of its functions that stand before R's
  SEXP tensor, buffer, graph_box, debug_box, graph, descriptor, graph_value, graph_literal, primitive_call, cache,
      executable;
  SEXP a_graph, a_descriptor, a_box, a_node, a_cache, a_call, an_executable;  // kinds of external pointers
  SEXP data, type, handle;                                                    // attributes of tensors
  SEXP pattern;                                                               // and of sparse ones
  SEXP debug, alone;                                                          // of the pointers of tensors
  SEXP default_dtypes, check_nan, check_index, unrolled_calls, observe, generic, operand, function, function_keyword,
      reference;
  SEXP place, file;             // attributes of calls in R code
  SEXP parent_frame, sys_call;  // calls of these functions
};
extern Names names;
SEXP class_named(SEXP name);  // the class vector of tensors or of raw buffers; name: "AnvilTensor" or "AnvilBuffer"

SEXP settled(SEXP vector);  // itself; its elements can be read without a jump
// Arguments of the .Call entries; Error("argument") names one that is of the wrong type.
std::string text_of(SEXP, const char* argument);  // a string
std::vector<std::string> texts_of(SEXP, const char* argument);
bool flag_of(SEXP, const char* argument);
double number_of(SEXP, const char* argument);
std::vector<int64_t> integers_of(SEXP, const char* argument);  // NULL: none
int64_t integer_of(SEXP, const char* argument);
DType dtype_of_code(SEXP);
SEXP list_of(SEXP, const char* argument);  // itself
Error wrong_argument(const std::string& argument, const char* what, SEXP got);
// The arguments of an .External2 call: what follows the routine's name.
struct External {
  SEXP rest;
  SEXP next() {
    rest = CDR(rest);  // NULL behind the last one
    return CAR(rest);
  }
};
std::string describe(SEXP);                       // "<numeric> of length 3"
SEXP element_named(SEXP list, const char* name);  // R_NilValue when there is none

// The other way; all of these may jump.
SEXP string(std::string_view);
SEXP strings(const std::vector<std::string>&);
SEXP number(int64_t);  // an integer if it fits, else a double
SEXP integers(const std::vector<int64_t>&, int64_t add = 0);

// --- tensors (r_tensor.cpp, r_data.cpp, r_memory.cpp) -----------------------------------

TensorType type_of(SEXP tag);                                         // Error("argument") when it is none
SEXP tag_of(const TensorType&);                                       // may jump
SEXP wrap_tensor(SEXP data, SEXP tag, SEXP cls, bool debug = false);  // may jump
SEXP allocate_data(const TensorType&);  // an R vector for its elements; in a guarded body; may throw
// The same for several, in a list with room for `more`; spares first, where there are some.
SEXP allocate_list_of_data(const std::vector<TensorType>&, std::vector<Kept>& spares, size_t more);
// Makes such a vector, that nobody needs any more, the spare of a type that has none.
void set_aside(SEXP data, const TensorType&, const std::vector<TensorType>&, std::vector<Kept>& spares);
bool is_large(R_xlen_t elements);  // whether the data of so many numbers are an R array
bool has_dim(SEXP data, const Shape&);
void set_dim(SEXP data, const Shape&);  // may jump
void* writable(SEXP data);              // the elements of such a vector
SEXP tensor_tag(SEXP tensor);           // of a tensor or debug box; Error("argument") when it is not valid
SEXP tensor_data(SEXP tensor);          // checked against its type; Error("donated") when the data are gone
void* elements_of(SEXP data);           // to be read
void* data_of(SEXP tensor);
bool is_alone(SEXP tensor);  // whether nobody else refers to its data, as nobody does to those of a new result
void set_alone(SEXP tensor, bool);
Tensor borrow(SEXP tensor);                           // valid while the R object lives
Tensor hold(SEXP tensor);                             // keeps it alive
SEXP tensor_from(const Tensor&, bool debug = false);  // the held object, or a copy of the data
SEXP made_in_debug(SEXP tensor);                      // itself, or one of the same data that prints so
bool is_donated(SEXP tensor);
void invalidate(SEXP tensor);  // lets go of its data
// R data as a tensor; `dtype` nullptr: the default of the R type. Converts while it copies.
SEXP make_tensor(SEXP data, const DType* dtype, const Shape& shape, bool ambiguous, bool check);
DType default_dtype(SEXP data);  // Error("dtype") when there is none
DType default_float();
int64_t defaults_chosen();       // by the option anvil.default_dtypes, as a number; 0: none
DType array_dtype(SEXP data);    // of data that enter by conversion: doubles stay f64 unless a default was set
Shape shape_of_data(SEXP data);  // its dim, or its length
bool is_data(SEXP);              // logical, integer, double or integer64, no other class
Scalar scalar_of(SEXP data);     // the first element

// What programs print while they run (r_print.cpp).
void print_in_r(std::string_view format, std::span<const DenseTensor>);

// Calls f(attribute) for each attribute of x.
template <class F>
void each_attribute(SEXP x, F&& f) {
#if R_VERSION >= R_Version(4, 5, 0)
  if (!ANY_ATTRIB(x)) return;
  Shield<SEXP> all(call_r("attributes", {x}));
  for (R_xlen_t i = 0; i < XLENGTH(all); ++i) f(VECTOR_ELT(all, i));
#else
  for (SEXP rest = ATTRIB(x); rest != R_NilValue; rest = CDR(rest)) f(CAR(rest));
#endif
}

// Calls f(begin, end) for pieces of 0..n; the user may stop between them.
template <class F>
void in_pieces(int64_t n, F&& f) {
  constexpr int64_t piece = int64_t(1) << 20;
  for (int64_t begin = 0; begin < n; begin += piece) {
    f(begin, std::min(n, begin + piece));
    poll();
  }
}

// Vectors that show the elements of others (r_view.cpp).
SEXP view_of(SEXP);  // of doubles or integers, without attributes; may jump
bool is_view(SEXP);
SEXP copy_of(SEXP);  // a vector of the same elements alone; may jump
void register_views(DllInfo*);

// --- boxes and the trace (r_trace.cpp, r_record.cpp) ---------------------------------------

struct Locations {  // who made the calls of a trace
  std::vector<Kept> list;
  std::unordered_map<size_t, int64_t> recorded;  // how many calls each line has made
  double most = 0;                               // that one line may make without a warning; 0: not looked up yet
  SEXP at(int location) const {
    return location >= 0 && static_cast<size_t>(location) < list.size() ? list[static_cast<size_t>(location)].get()
                                                                        : R_NilValue;
  }
};
struct Program {  // what the values of a graph and of all graphs in it are called, and which are ranges of numbers
  graph::Labels labels;
  std::unordered_map<const Value*, int64_t> numbers;  // from 1 on, of what is no constant of the program
  std::unordered_map<const Value*, Params> ranges;
};
struct GraphHolder {
  GraphPtr graph;
  std::shared_ptr<Locations> locations;
  mutable std::shared_ptr<const Program> program = nullptr;  // that it is a part of, once somebody asks
};
const Program& program_of(const GraphHolder&);
int location_of_call(Locations&, SEXP frame);   // adds the user's call that led to this frame, -1: none
void count_recorded(Locations&, int location);  // and warns of a line that has made very many
// An R error, if the user's call is known that this error is about.
void raise_at(const Locations*, const Error&);
template <class F>
auto naming_calls(const Locations* locations, F&& f) {
  try {
    return f();
  } catch (const Error& e) {
    raise_at(locations, e);
    throw;
  }
}
SEXP calls_at(const Locations*, const loops::Origins&);  // a list of the R calls, NULL where one is not known
const GraphHolder& graph_of(SEXP);                       // Error("argument") when it is none
// saved: what restored_graph() makes the graph of again; by default its code, which is written when it is saved
SEXP wrap_graph(GraphPtr, std::shared_ptr<Locations>, SEXP fields, std::shared_ptr<const Program> = nullptr,
                SEXP saved = R_NilValue);
SEXP fields_of(SEXP graph);  // list(in_tree, out_tree, is_static, ...)
void register_saved(DllInfo*);
SEXP nodes(const std::vector<ValuePtr>&, SEXP graph);  // as R objects that keep the graph
bool tracing();
SEXP enclosing(SEXP environment);
SEXP variable_of(SEXP frame, SEXP name);  // of this frame itself
SEXP abstract_of(const ValuePtr&);        // R's AbstractTensor, ConcreteTensor or LiteralTensor
SEXP debug_result(const ValuePtr&, const Tensor*);

// What the common dtype of operands is at least: bools among themselves count as i32, or with integers become floats
// of the default dtype.
enum class Least : uint8_t { any, number, floating };

// The operands of one call: boxed into the current descriptor, or, outside of a trace,
// inputs of a graph that is evaluated at once and thrown away.
class Recording {
 public:
  explicit Recording(SEXP frame = nullptr);  // of the R function that records, to find the user's call
  ~Recording();
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;
  Graph& graph();
  ValuePtr operand(SEXP, const std::string& name);
  std::vector<ValuePtr> operands(SEXP list, const char* argument, const std::vector<std::string>& labels = {});
  std::vector<ValuePtr> promoted(SEXP operands, const std::vector<std::string>& labels, bool broadcast,
                                 Least least = Least::any);
  SEXP finish(const std::vector<ValuePtr>& results);  // a box, or a list of boxes when there is not one

 private:
  struct Debug;
  void locate();
  SEXP observed(SEXP result) const;
  std::unique_ptr<Debug> debug_;
  SEXP frame_;
  size_t first_ = 0;  // call of the graph that this recording may make
};

// Evaluates a graph on R tensors with Eigen; composites are expanded first. With checks, if the options say so.
std::vector<Tensor> evaluate_graph(const Graph&, const std::vector<Tensor>& inputs);
int64_t checks_wanted();  // what these options say, 0: nothing
void add_checks(Graph&);  // of values, to a graph without composites

// --- parameters and primitives (r_primitive.cpp) ------------------------------------------

const Primitive& primitive_named(SEXP name);
Params params_from(const Primitive&, SEXP list);
bool has_any_parameters(const Primitive&);  // under any names
SEXP params_to(const graph::Call&, const std::shared_ptr<Locations>&, const std::shared_ptr<const Program>& = nullptr);
const Primitive& core_primitive(const Primitive&);  // with the rules of the core, whatever stands in their place
const std::vector<int64_t>& local_rules();          // numbers of the rules that stand in the place of the core's own
// A primitive of one call, with R functions as rules, and list(name, rules) of it again; NULL for what else a call owns.
std::shared_ptr<const Primitive> primitive_of_rules(SEXP name, SEXP rules);
SEXP rules_behind(const graph::Owned&);
// R rules run on boxes: of a step's values, recording into its graph; and of a call's inputs, giving its
// results and residuals.
std::vector<ValuePtr> run_backward_rule(SEXP rule, primitives::ReverseStep&);
std::vector<ValuePtr> run_jvp_rule(SEXP rule, primitives::ForwardStep&);
std::vector<ValuePtr> run_augment_rule(SEXP rule, graph::Graph& to, const graph::Call&);
std::vector<ValuePtr> run_text_rule(SEXP rule, graph::Graph& to, const graph::Call&);  // its results alone
std::vector<ValuePtr> run_batch_rule(SEXP rule, primitives::BatchStep&);
SEXP custom_handle(runtime::CustomFunction, bool effect);  // what R records calls of it by

}  // namespace anvil::r
