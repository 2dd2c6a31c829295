// The gates between C++ exceptions and R conditions, and what keeps R objects alive.
#include "r_gate.h"

#include <csetjmp>
#include <exception>
#include <new>

#include "base/memory.h"
#include "r_common.h"

namespace anvil::r {

namespace {
SEXP new_token() {
  SEXP token = R_MakeUnwindCont();
  R_PreserveObject(token);
  return token;
}

// Whether R jumped out of body(data): the jump then waits in the token.
bool jumped(SEXP (*body)(void*), void* data, SEXP token) {
  std::jmp_buf here;
  if (setjmp(here)) return true;
  R_UnwindProtect(
      body, data,
      [](void* to, Rboolean jumping) {
        if (jumping) std::longjmp(*static_cast<std::jmp_buf*>(to), 1);
      },
      &here, token);
  return false;
}

// R's own jump, of a user who wants to stop or a limit that is reached, waits until the C++ frames have ended; R is asked
// nothing meanwhile.
bool stopping = false;

SEXP stop() {
  static SEXP token = new_token();
  return token;
}
}  // namespace

SEXP continuation() {
  static SEXP token = new_token();
  return token;
}

SEXP guarded(FunctionRef<SEXP()> body) {
  struct State {
    FunctionRef<SEXP()> body;
    SEXP result;
    std::exception_ptr thrown;
  } state{body, R_NilValue, nullptr};
  const auto run = [](void* s) -> SEXP {
    if (allocation_fails()) Rf_error("cannot allocate memory (made to fail by a test)");
    State& inner = *static_cast<State*>(s);
    try {
      inner.result = inner.body();
    } catch (...) {
      inner.thrown = std::current_exception();
    }
    return inner.result;
  };
  if (jumped(run, &state, continuation())) throw Unwind{};
  if (state.thrown) std::rethrow_exception(state.thrown);
  return state.result;
}

bool jump_waits() { return stopping; }
void jump() {
  stopping = false;
  R_ContinueUnwind(stop());
}

bool wants_to_stop() {
  if (stopping) return false;
  const auto check = [](void*) -> SEXP {
    R_CheckUserInterrupt();
    return R_NilValue;
  };
  return stopping = jumped(check, nullptr, stop());
}

namespace {
// What was thrown waits here while the C++ frames end; static, so that nothing is left on
// the stack when R jumps.
struct Pending {
  enum { jump, no_memory, condition } what = condition;
  std::string kind, message;
  std::vector<std::string> details;
} pending;

void remember_condition(const char* kind, const char* message, const std::vector<std::string>& details) {
  pending.kind = kind;
  pending.message = message;
  pending.details = details;
  pending.what = Pending::condition;
}
}  // namespace

void remember() noexcept {
  try {
    try {
      throw;
    } catch (const Unwind&) {
      pending.what = Pending::jump;
    } catch (const Error& e) {
      remember_condition(e.kind.c_str(), e.what(), e.details);
    } catch (const std::bad_alloc&) {
      pending.what = Pending::no_memory;
    } catch (const std::exception& e) {
      remember_condition("internal", e.what(), {});
    }
  } catch (...) {  // there is no memory for the text either
    pending.what = Pending::no_memory;
  }
}

void raise() {
  if (jump_waits()) jump();
  if (pending.what == Pending::jump) R_ContinueUnwind(continuation());
  if (pending.what == Pending::no_memory) {
    pending.details.clear();
    pending.kind = "memory";  // short strings need no memory of their own
    pending.message.clear();
  }
  SEXP kind = PROTECT(string(pending.kind));
  SEXP message = PROTECT(pending.what == Pending::no_memory ? string("There is not enough memory for this.")
                                                            : string(pending.message));
  SEXP details = PROTECT(strings(pending.details));
  SEXP call = PROTECT(Rf_lang4(Rf_install("raise_condition"), kind, message, details));
  Rf_eval(call, names.environment);
  Rf_error("anvil could not signal an error");
}

SEXP evaluate(SEXP call, SEXP environment) {
  return guarded([&] { return Rf_eval(call, environment); });
}

SEXP call_r(const char* function, std::initializer_list<SEXP> arguments) {
  return guarded([&] {
    SEXP list = R_NilValue;
    for (size_t i = arguments.size(); i-- > 0;) {
      SEXP quoted = PROTECT(Rf_lang2(R_QuoteSymbol, *(arguments.begin() + i)));
      list = PROTECT(Rf_cons(quoted, list));
    }
    SEXP call = PROTECT(Rf_lcons(Rf_install(function), list));
    SEXP result = Rf_eval(call, names.environment);
    UNPROTECT(2 * static_cast<int>(arguments.size()) + 1);
    return result;
  });
}

Kept::Kept(SEXP x) {
  auto handle = std::make_shared<Handle>();
  handle->token = guarded([&] { return Rcpp::Rcpp_PreciousPreserve(x); });
  handle->object = x;
  handle_ = std::move(handle);
}
Kept::Handle::~Handle() {
  if (token != R_NilValue) Rcpp::Rcpp_PreciousRelease(token);
}

}  // namespace anvil::r
