// Compiled functions of somebody else's: nv_custom_call() on the C interface of inst/include.
#include "../inst/include/anvil/custom_call.h"

#include "primitives/families/custom_call.h"
#include "r_common.h"
#include "r_routines.h"

namespace anvil::r {

static_assert(size_t(ANVIL_DTYPE_COUNT) == descriptors.size());  // tests/testthat/test-custom-call.R compares the names
namespace {

SEXP kind_of_custom() { return Rf_install("anvil_custom_call"); }

// The address of a function that an external pointer holds; R's "registered native symbol" holds that of a record of
// its own.
anvil_custom_call function_in(SEXP pointer, const std::string& name) {
  const char* wrong = "`pointer` must be an external pointer to a compiled function.";
  const bool other = Rf_isObject(pointer) && !Rf_inherits(pointer, "NativeSymbol") &&
                     !Rf_inherits(pointer, "RegisteredNativeSymbol");  // an object of a package, as tensors are
  if (TYPEOF(pointer) != EXTPTRSXP || other)
    throw Error("argument", wrong, {"x Got " + describe(pointer) + ".", "i `getNativeSymbolInfo()$address` is one."});
  if (R_ExternalPtrTag(pointer) == Rf_install("registered native symbol"))
    throw Error("argument", wrong,
                {"x The routine is registered with R, and known by its registration only.",
                 "i Make a pointer to the function itself in C, by `R_MakeExternalPtrFn()`."});
  DL_FUNC f = R_ExternalPtrAddrFn(pointer);
  if (f == nullptr)
    throw Error("argument", "The pointer to the function of the custom call `" + name + "` is not valid.",
                {"x It is empty, or was saved in another session."});
  return reinterpret_cast<anvil_custom_call>(reinterpret_cast<void (*)()>(f));
}

struct Buffers {
  std::vector<anvil_buffer> list;
  explicit Buffers(std::span<const DenseTensor> buffers) {
    for (const DenseTensor& b : buffers)
      list.push_back({b.data, b.shape.data(), static_cast<int32_t>(b.shape.size()), static_cast<int32_t>(b.dtype)});
  }
  int size() const { return static_cast<int>(list.size()); }
};

// An R error that the function raises jumps no further than here.
void run_function(anvil_custom_call f, const std::string& name, const Buffers& inputs, const Buffers& outputs) {
  char message[1024] = "";
  int status = 0;
  guarded([&] {
    status = f(inputs.list.data(), inputs.size(), outputs.list.data(), outputs.size(), message, sizeof message);
    return R_NilValue;
  });
  if (status == 0) return;
  message[sizeof message - 1] = 0;
  const std::string why = message[0] ? message : "It returned " + std::to_string(status) + ".";
  throw Error("call", "The custom call `" + name + "` failed.", {"x " + why});
}

}  // namespace

SEXP custom_handle(runtime::CustomFunction function, bool effect) {
  auto call = std::make_unique<primitives::CustomCall>(primitives::make_custom_call(std::move(function), effect));
  return own(std::move(call), kind_of_custom(), R_NilValue);
}

// The handle of a function under a name: what calls of it own.
SEXP anvil_custom(SEXP name, SEXP pointer, SEXP effect) {
  return entry([&] {
    const std::string text = text_of(name, "name");
    const anvil_custom_call f = function_in(pointer, text);
    runtime::CustomFunction function{text, [f, text, kept = Kept(pointer)](auto inputs, auto outputs) {
                                       try {
                                         run_function(f, text, Buffers(inputs), Buffers(outputs));
                                       } catch (const Error&) {
                                         throw;
                                       } catch (const Unwind&) {
                                         throw;
                                       } catch (const std::exception& e) {
                                         throw Error("call", "The custom call `" + text + "` failed.",
                                                     {std::string("x It threw an exception: ") + e.what()});
                                       } catch (...) {
                                         throw Error("call", "The custom call `" + text + "` failed.",
                                                     {"x It threw an exception."});
                                       }
                                     }};
    return custom_handle(std::move(function), flag_of(effect, "effect"));
  });
}

// A call: the handle, operands, and the types of the results as tags.
SEXP anvil_record_custom(SEXP, SEXP, SEXP args, SEXP frame) {
  return entry([&] {
    External arguments{args};
    auto* call = owned<primitives::CustomCall>(arguments.next(), kind_of_custom());
    if (call == nullptr) throw Error("argument", "This custom call was made in another session.");
    SEXP operands = arguments.next(), types = arguments.next();
    std::vector<TensorType> results;
    for (R_xlen_t i = 0; i < XLENGTH(list_of(types, "types")); ++i) results.push_back(type_of(VECTOR_ELT(types, i)));
    Recording recording(frame);
    std::vector<ValuePtr> values = recording.operands(operands, "operands");
    return recording.finish(primitives::record(recording.graph(), *call, std::move(values), results));
  });
}

}  // namespace anvil::r
