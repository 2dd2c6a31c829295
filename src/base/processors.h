// How many processors this process may use at once.
#pragma once
#include <string>

namespace anvil {

// At least 1: those that the system lets it run on, or less where a control group (a container, a batch
// job) has a quota of their time, where OMP_NUM_THREADS or OMP_THREAD_LIMIT say less, and 2 where R's
// checks ask for few (_R_CHECK_LIMIT_CORES_).
int processors();

// The same, from the files of a system whose /proc and /sys are in `root`, and from environment variables
// that `variable(name)` gives (null: not set); for tests.
int processors(int allowed, const std::string& root, const char* (*variable)(const char* name));

}  // namespace anvil
