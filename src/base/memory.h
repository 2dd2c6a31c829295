// How much memory this process may use, and the one place where the tests make an allocation
// fail. Systems promise more memory than they have and end the process that uses it, so
// large allocations ask here first.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/dtype.h"
#include "base/shape.h"

namespace anvil {

// The machine's memory and swap, or less where a control group (a container, a batch job)
// allows less.
size_t memory_limit();
size_t memory_available();  // what of it is free, or can be freed by the system

// Of the data of a tensor; Error("memory") when no machine has so many.
size_t bytes_of(DType, const Shape&);
// Whether so many bytes can be had; small requests are not looked at.
bool memory_for(size_t bytes);
void expect_memory(size_t bytes);               // Error("memory") when not
[[noreturn]] void out_of_memory(size_t bytes);  // Error("memory")
std::string text_of_bytes(double bytes);        // "1.5 GB"

// For the data of a tensor, on a line of the cache; free() gives them back. Where there is too little,
// what may be given up is given up first: the function that this thread has set for that.
void* allocate_data(size_t bytes);
using Reclaim = void (*)();
void set_reclaim(Reclaim);

// The n-th next allocation that asks fails, and no other; 0: none. For tests: whoever
// allocates for a tensor, or lets R allocate, asks.
void fail_allocation(int64_t n);
bool allocation_fails();

// The same, from the files of a system whose /proc and /sys are in `root`; for tests.
struct MemoryState {
  size_t limit, available;
};
MemoryState memory_state(const std::string& root);

}  // namespace anvil
