// The calls by which a conformance program tests itself, `check.expect_eq` and its kin.
// They are no part of the language: the text is changed so that a function that makes
// them returns what it would have compared, one pair of tensors a check.
#pragma once
#include <string>
#include <vector>

#include "compare.h"

namespace anvil::conformance {

struct Check {
  bool exact = true;    // expect_eq, expect_eq_const
  Tolerance tolerance;  // the check's own
};
struct CheckedFunction {  // returns actual, expected, actual, expected, ...
  std::string name;
  std::vector<Check> checks;
};
struct CheckedProgram {
  std::string text;
  std::vector<CheckedFunction> functions;  // those with checks; none: the text is as it was
};
CheckedProgram return_checked(const std::string& text);

}  // namespace anvil::conformance
