// Threads beside those that were there before, to which they leave all signals.
#pragma once
#include <functional>

namespace anvil::runtime {

// Runs f(), which throws nothing, on a new thread that nobody waits for; false where the system has no more threads.
bool start_thread(std::function<void()> f);

// call() on a thread of its own, while the caller asks whether the user wants to stop: for libraries that ask nobody.
// A call that has been given up runs to its end all the same, so it owns all that it reads and writes. Throws what
// call() throws, and Interrupted.
void call_on_own_thread(std::function<void()> call);

}  // namespace anvil::runtime
