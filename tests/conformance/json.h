// JSON as far as the inputs and outputs of exported programs need it, numbers kept as
// written, so that 64-bit integers stay exact; and its tensors.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "graph/tensor.h"

namespace anvil::conformance {

struct Json {
  enum class Kind { null, boolean, number, string, array, object };
  Kind kind = Kind::null;
  std::string text;               // boolean and number as written, the characters of a string
  std::vector<Json> items;        // of an array or object
  std::vector<std::string> keys;  // of an object
  const Json* find(std::string_view key) const;
  const Json& at(std::string_view key) const;  // throws std::runtime_error
};
Json parse_json(std::string_view text);

// {"dtype": "f32", "shape": [2, 3], "data": [row-major]}
graph::Tensor tensor_of(const Json&);

}  // namespace anvil::conformance
