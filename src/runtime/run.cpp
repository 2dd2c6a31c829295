// Runs executables.
#include "runtime/run.h"

#include "base/error.h"
#include "base/interrupt.h"
#include "runtime/executable.h"

namespace anvil::runtime {

int32_t poll(Run* run) { return guarded(run, anvil::poll); }

void run(const Executable& executable, void* const* buffers, Profile* profile) {
  constexpr int64_t on_stack = 8192;
  alignas(64) char small[on_stack];
  Block large;
  if (executable.arena_bytes > on_stack) large = Block(static_cast<size_t>(executable.arena_bytes));
  Run state;
  state.profile = profile;
  const int32_t status = executable.entry(buffers, large.data() ? large.data() : small, &state);
  if (status == done) return;
  if (state.failure) std::rethrow_exception(state.failure);
  throw InternalError("generated code returned status " + std::to_string(status));
}

}  // namespace anvil::runtime
