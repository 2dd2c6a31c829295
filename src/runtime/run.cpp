// Runs executables, and the tasks of their parallel loops.
#include "runtime/run.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "base/error.h"
#include "base/interrupt.h"
#include "runtime/executable.h"
#include "runtime/threads.h"

namespace anvil::runtime {
namespace {

// Memory that is uninitialised and may be small.
class Workspace {
 public:
  explicit Workspace(int64_t bytes) {
    if (bytes > on_stack) large_ = Block(static_cast<size_t>(bytes));
  }
  char* data() { return large_.data() ? large_.data() : small_; }

 private:
  static constexpr int64_t on_stack = 8192;
  alignas(64) char small_[on_stack];
  Block large_;
};

void expect_done(int32_t status, const Run& run) {
  if (status == done) return;
  if (run.failure) std::rethrow_exception(run.failure);
  throw InternalError("generated code returned status " + std::to_string(status));
}

}  // namespace

int32_t poll(Run* run) { return guarded(run, anvil::poll); }

int32_t parallel(Run* run, Task task, void* const* context, int64_t tasks, int64_t own_bytes, int64_t nanoseconds) {
  return guarded(run, [&] {
    share(tasks, static_cast<double>(nanoseconds), [&](Tasks& all, int part) {
      Run state;
      Workspace own(own_bytes);
      for (int64_t k; (k = all.take(part)) >= 0; anvil::poll())
        expect_done(task(context, &state, k, own.data()), state);
    });
  });
}

void run(const Executable& executable, void* const* buffers, Profile* profile) {
  Workspace arena(executable.arena_bytes);
  Run state;
  state.profile = profile;
  const auto lies_well = [&](const Executable::Aligned& x) {
    return reinterpret_cast<uintptr_t>(buffers[x.buffer]) % 64 == 0;
  };
  if (std::all_of(executable.aligned.begin(), executable.aligned.end(), lies_well))
    return expect_done(executable.entry(buffers, arena.data(), &state), state);
  std::vector<void*> places(buffers, buffers + executable.buffers);
  std::vector<Block> elsewhere;
  for (const Executable::Aligned& x : executable.aligned)
    if (!lies_well(x)) places[x.buffer] = elsewhere.emplace_back(x.bytes).data();
  expect_done(executable.entry(places.data(), arena.data(), &state), state);
  for (const Executable::Aligned& x : executable.aligned)
    if (!lies_well(x)) std::memcpy(buffers[x.buffer], places[x.buffer], x.bytes);
}

}  // namespace anvil::runtime
