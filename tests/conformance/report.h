// What came of the cases: tables by operator and tier, those that do not pass with their
// reasons, and whether that is what the list of accepted failures says.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "isolate.h"

namespace anvil::conformance {

struct Result {
  std::string file, kind, tier;
  std::vector<std::string> operators;
  std::string mode;  // "eigen", "compiled", "import", "gradient"
  Failure failure;
};

class Report {
 public:
  void add(Result r) { results_.push_back(std::move(r)); }
  // Tables, failures, failures grouped by message when asked for. True when the failures are
  // exactly the accepted ones (among the cases that ran).
  bool print(const std::string& known_failures, bool grouped) const;

 private:
  void table(const std::string& title, bool operators) const;
  void groups() const;
  std::vector<Result> results_;
};

std::vector<std::string> words(const std::string& text);  // split at blanks

}  // namespace anvil::conformance
