// What the R bindings share: the two gates between R and C++, how R objects are told
// apart, and how tensors are viewed without copying. Only r_*.cpp include it.
//
// An R error jumps over C frames, a C++ exception must not cross R's. So every .Call enters
// through `entry`, which turns exceptions into R conditions once all C++ objects are gone,
// and every R API call that may jump while such objects live runs inside `guarded`.
#pragma once
#include <Rcpp/Lightest>

#include <csetjmp>
#include <string>
#include <vector>

#include "anvil.h"

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
using Rcpp::Shield;

// --- gates ----------------------------------------------------------------------

struct Unwind {};  // an R jump on its way through C++ frames

SEXP continuation();
[[noreturn]] void raise();  // the remembered error, as an R condition
void remember(const std::string& kind, const std::string& message, const std::vector<std::string>& details) noexcept;

// The body calls R and throws nothing; a jump out of it arrives as Unwind.
template <class F>
SEXP guarded(F&& body) {
  std::jmp_buf jump;
  if (setjmp(jump)) throw Unwind{};
  return R_UnwindProtect([](void* f) -> SEXP { return (*static_cast<std::remove_reference_t<F>*>(f))(); }, &body,
                         [](void* j, Rboolean jumping) {
                           if (jumping) std::longjmp(*static_cast<std::jmp_buf*>(j), 1);
                         },
                         &jump, continuation());
}

template <class F>
SEXP entry(F&& body) {
  bool unwinding = false;
  try {
    return body();
  } catch (const Unwind&) {
    unwinding = true;
  } catch (const Error& e) {
    remember(e.kind, e.what(), e.details);
  } catch (const std::bad_alloc&) {
    remember("memory", "Not enough memory for this computation.", {});
  } catch (const std::exception& e) {
    remember("internal", e.what(), {});
  }
  if (unwinding) R_ContinueUnwind(continuation());
  raise();
}

// Evaluates an R call; an R error passes through the C++ frames as Unwind.
SEXP evaluate(SEXP call, SEXP environment);
SEXP call_r(const char* function, std::initializer_list<SEXP> arguments);  // a function of the package

// --- R objects --------------------------------------------------------------------

enum class Class : uint8_t { other, tensor, buffer, graph_box, debug_box, abstract };
Class class_of(SEXP);

struct Names {       // objects that live as long as the package
  SEXP environment;  // its namespace
  SEXP tensor, buffer, graph_box, debug_box, graph, descriptor, graph_value, graph_literal, cache, executable;
  SEXP box_symbol, default_dtypes, check_nan, generic;
  SEXP parent_frame, sys_call;  // calls of these functions
};
extern Names names;

// Keeps an R object from the garbage collector as long as copies of it live.
class Kept {
 public:
  Kept() = default;
  explicit Kept(SEXP);
  SEXP get() const { return handle_ ? handle_->object : R_NilValue; }
  explicit operator bool() const { return handle_ != nullptr; }

 private:
  struct Handle {
    SEXP object, token;
    ~Handle();
  };
  std::shared_ptr<const Handle> handle_;
};

std::string text_of(SEXP string);  // of a character vector of length 1
std::vector<int64_t> integers_of(SEXP, const char* argument);
SEXP string(const std::string&);                              // may jump
SEXP strings(const std::vector<std::string>&);                // may jump
SEXP integers(const std::vector<int64_t>&, int64_t add = 0);  // may jump
std::string describe(SEXP);                                   // "<numeric> of length 3"

// An external pointer that owns a C++ object.
template <class T>
SEXP own(T* object, SEXP cls, SEXP kept = R_NilValue) {
  SEXP x = PROTECT(R_MakeExternalPtr(object, R_NilValue, kept));
  R_RegisterCFinalizerEx(
      x,
      [](SEXP p) {
        delete static_cast<T*>(R_ExternalPtrAddr(p));
        R_ClearExternalPtr(p);
      },
      FALSE);
  Rf_setAttrib(x, R_ClassSymbol, cls);
  UNPROTECT(1);
  return x;
}

// --- tensors (r_tensor.cpp) ---------------------------------------------------------

TensorType type_of(SEXP tag);
SEXP tag_of(const TensorType&);                   // may jump
SEXP wrap_tensor(SEXP data, SEXP tag, SEXP cls);  // may jump
SEXP allocate_data(const TensorType&);            // an R vector for its elements; may jump
void* data_of(SEXP tensor);                       // Error("donated") when the data are gone
Tensor borrow(SEXP tensor);                       // valid while the R object lives
Tensor hold(SEXP tensor);                         // keeps it alive
SEXP holder_of(const Tensor&);                    // the AnvilTensor behind `hold`, or R_NilValue
SEXP tensor_from(const Tensor&);                  // the held object, or a copy of the data
// R data as a tensor; `dtype` nullptr: the default of the R type. Converts while it copies.
SEXP make_tensor(SEXP data, const DType* dtype, const Shape& shape, bool ambiguous, bool check);
DType default_dtype(SEXP data);  // Error("dtype") when there is none
Shape shape_of_data(SEXP data);  // its dim, or its length
bool is_data(SEXP);              // logical, integer, double or integer64, no other class
Scalar scalar_of(SEXP data);     // the first element

// --- boxes and the trace (r_trace.cpp, r_record.cpp) ---------------------------------------

struct Locations {  // who made the calls of a trace
  std::vector<Kept> list;
};
struct GraphHolder {
  GraphPtr graph;
  std::shared_ptr<Locations> locations;
};
const GraphHolder& graph_of(SEXP);  // Error("argument") when it is none
SEXP wrap_graph(GraphPtr, std::shared_ptr<Locations>, SEXP fields);
bool tracing();
SEXP abstract_of(const ValuePtr&);  // R's AbstractTensor, ConcreteTensor or LiteralTensor
SEXP debug_result(const ValuePtr&, const Tensor*);
SEXP concrete_of(SEXP debug_box);  // its AnvilTensor, or R_NilValue
SEXP abstract_tag_of(SEXP debug_box);

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
  std::vector<ValuePtr> promoted(SEXP operands, const std::vector<std::string>& names, bool broadcast);
  SEXP finish(const std::vector<ValuePtr>& results);  // a list of boxes

 private:
  struct Debug;
  void locate();
  std::unique_ptr<Debug> debug_;
  SEXP frame_;
  size_t first_ = 0;  // call of the graph that this recording may make
};

// Evaluates a graph on R tensors with Eigen; composites are expanded first.
std::vector<Tensor> evaluate_graph(const Graph&, const std::vector<Tensor>& inputs);
bool interrupted();

// --- parameters and primitives (r_primitive.cpp) ------------------------------------------

const Primitive& primitive_named(SEXP name);
Params params_from(const Primitive&, SEXP list);
SEXP params_to(const graph::Call&, const std::shared_ptr<Locations>&);  // may jump
// An R rule (inputs, outputs, grads, params, required) run on boxes of the step's values;
// its calls are recorded in the step's graph.
std::vector<ValuePtr> run_rule_in_trace(SEXP rule, primitives::ReverseStep&, const std::shared_ptr<Locations>&);

}  // namespace anvil::r
