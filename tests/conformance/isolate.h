// Runs tests in another process, so that a crash or a hang is a failure like others.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace anvil::conformance {

using Failure = std::optional<std::string>;  // why, or nothing
using Test = std::function<Failure()>;

// What each test says or throws, in order. One that ends the process ("crashed: ...") or takes
// longer than `seconds` is followed by a new process for those after it.
std::vector<Failure> isolated(const std::vector<Test>& tests, int seconds);
// The same without a process, for a debugger.
Failure direct(const Test&);

}  // namespace anvil::conformance
