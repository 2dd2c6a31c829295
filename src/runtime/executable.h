// Native code of one program and how to run it. Generated code has the C signature below;
// everything it calls (elementary functions, products, tapes, polling) belongs to the runtime.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace anvil::runtime {

struct Run;  // state of one run: tapes, what went wrong (runtime/run.h)
struct Profile;

// buffers: inputs, then constants, then outputs, in order of position; arena: temporaries, 64-byte aligned.
// 0 = done, 1 = failed or interrupted (Run holds the exception).
using Entry = int32_t (*)(void* const* buffers, char* arena, Run* run);

struct Executable {
  Entry entry = nullptr;
  int64_t arena_bytes = 0, code_bytes = 0;
  // Buffers that must lie on cache lines, and their bytes: run() has others written elsewhere first.
  struct Aligned {
    size_t buffer, bytes;
  };
  std::vector<Aligned> aligned = {};
  size_t buffers = 0;          // how many there are
  std::shared_ptr<void> code;  // keeps the machine code alive
};

// Runs it: takes an arena from the pool, calls the entry; throws Interrupted or the failure.
void run(const Executable&, void* const* buffers, Profile* = nullptr);

}  // namespace anvil::runtime
