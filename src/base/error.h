// A user's mistake, as an exception. `kind` becomes the class of the R condition
// (anvil_error_<kind>), `message` its first line, `details` its bullets. Indices in
// messages are 1-based. Anything else that is thrown is an internal error.
#pragma once
#include <stdexcept>
#include <string>
#include <vector>

namespace anvil {

struct Error : std::runtime_error {
  Error(std::string kind_, const std::string& message, std::vector<std::string> details_ = {})
      : std::runtime_error(message), kind(std::move(kind_)), details(std::move(details_)) {}
  std::string kind;                  // "shape", "dtype", "argument", "gradient", "stablehlo", "memory", ...
  std::vector<std::string> details;  // "x Got f32[2]." / "i Use ..." : first character is cli's bullet
  int location = -1;                 // graph::Call::location of the call that it is about, -1 unknown
};

// A broken promise inside the core: reported as an internal error.
struct InternalError : std::logic_error {
  using std::logic_error::logic_error;
};

}  // namespace anvil
