// Runs executables.
#include "runtime/run.h"

#include "base/error.h"
#include "runtime/executable.h"

namespace anvil::runtime {

int32_t poll(Run* run) {
  bool stop = false;
  const int32_t status = guarded(run, [&] { stop = run->interrupted && *run->interrupted && (*run->interrupted)(); });
  return status != done ? status : stop ? Status::interrupted : done;
}

void run(const Executable& executable, void* const* buffers, const std::function<bool()>& interrupted) {
  constexpr int64_t on_stack = 8192;
  alignas(64) char small[on_stack];
  Block large;
  if (executable.arena_bytes > on_stack) large = Block(static_cast<size_t>(executable.arena_bytes));
  Run state;
  state.interrupted = &interrupted;
  const int32_t status = executable.entry(buffers, large.data() ? large.data() : small, &state);
  if (status == done) return;
  if (state.failure) std::rethrow_exception(state.failure);
  if (status == Status::interrupted) throw Error("interrupt", "Interrupted.");
  throw InternalError("generated code returned status " + std::to_string(status));
}

}  // namespace anvil::runtime
