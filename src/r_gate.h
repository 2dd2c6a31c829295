// The two gates between R and C++. An R error jumps over C frames, a C++ exception must not
// cross R's. So every .Call enters through `entry`, which turns exceptions into R conditions
// once all C++ objects are gone, and every R function that may jump while such objects live
// is called inside `guarded`. What a guarded body makes itself (no std::string, no
// std::vector) is skipped by a jump; what it throws arrives behind the gate.
#pragma once
#include <Rcpp/Lightest>

#include <initializer_list>
#include <memory>
#include <string>

#include "base/function_ref.h"

namespace anvil::r {

using Rcpp::Shield;

struct Unwind {};  // an R jump on its way through C++ frames

SEXP continuation();
void remember() noexcept;   // the exception that is being handled
[[noreturn]] void raise();  // what was remembered, as an R condition or as R's own jump
SEXP guarded(FunctionRef<SEXP()> body);
bool wants_to_stop();  // the user, or R because a limit is reached: an InterruptCheck
bool jump_waits();     // R's own, since wants_to_stop() said so
[[noreturn]] void jump();

template <class F>
SEXP entry(F&& body) {
  SEXP result = nullptr;
  try {
    result = body();
    SETCAR(continuation(), R_NilValue);  // where R keeps what was made last
  } catch (...) {
    remember();
  }
  if (result == nullptr) raise();
  if (jump_waits()) jump();
  return result;
}

// Evaluates an R call; an R error passes through the C++ frames as Unwind.
SEXP evaluate(SEXP call, SEXP environment);
SEXP call_r(const char* function, std::initializer_list<SEXP> arguments);  // a function of the package

// Keeps an R object from the garbage collector as long as copies of it live.
class Kept {
 public:
  Kept() = default;
  explicit Kept(SEXP);
  SEXP get() const { return handle_ ? handle_->object : R_NilValue; }
  explicit operator bool() const { return handle_ != nullptr; }

 private:
  struct Handle {
    SEXP object = R_NilValue, token = R_NilValue;
    ~Handle();
  };
  std::shared_ptr<Handle> handle_;
};

// An external pointer of class `cls` that owns a C++ object. `kind` is a symbol: it, not the
// class, which anybody can change, is the proof that the address is that of a T.
// Such a pointer gets its object; `own` makes a new one.
template <class T>
void adopt(SEXP x, std::unique_ptr<T> object) {
  guarded([&] {
    R_RegisterCFinalizerEx(
        x,
        [](SEXP p) {
          delete static_cast<T*>(R_ExternalPtrAddr(p));
          R_ClearExternalPtr(p);
        },
        FALSE);
    return R_NilValue;
  });
  R_SetExternalPtrAddr(x, object.release());
}
template <class T>
SEXP own(std::unique_ptr<T> object, SEXP kind, SEXP cls, SEXP kept = R_NilValue) {
  Shield<SEXP> x(guarded([&] {
    SEXP p = PROTECT(R_MakeExternalPtr(nullptr, kind, kept));
    Rf_setAttrib(p, R_ClassSymbol, cls);
    UNPROTECT(1);
    return p;
  }));
  adopt(x, std::move(object));
  return x;
}

// The address in an external pointer of this kind; null for anything else, and for one that
// comes from another session.
inline bool is_kind(SEXP x, SEXP kind) { return TYPEOF(x) == EXTPTRSXP && R_ExternalPtrTag(x) == kind; }
template <class T>
T* owned(SEXP x, SEXP kind) {
  return is_kind(x, kind) ? static_cast<T*>(R_ExternalPtrAddr(x)) : nullptr;
}

}  // namespace anvil::r
