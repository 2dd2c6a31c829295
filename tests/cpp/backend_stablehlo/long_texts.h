// Long texts in few words.
#pragma once
#include <string>

namespace anvil::stablehlo {

inline std::string repeated(const std::string& s, size_t n) {
  std::string out;
  out.reserve(s.size() * n);
  for (size_t i = 0; i < n; ++i) out += s;
  return out;
}
// A function of %a and %p whose body is `body`, from line 2 on.
inline std::string in_function(const std::string& body) {
  return "func.func @main(%a: tensor<f32>, %p: tensor<i1>) {\n" + body + "\nreturn\n}\n";
}
// "... %7 ..." for each number, where `#` is the number and `~` the one before it.
inline std::string numbered(const std::string& line, size_t n) {
  std::string out;
  for (size_t i = 1; i <= n; ++i)
    for (char c : line) out += c == '#' ? std::to_string(i) : c == '~' ? std::to_string(i - 1) : std::string(1, c);
  return out;
}

}  // namespace anvil::stablehlo
