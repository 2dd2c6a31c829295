// Rewriting of check calls into results; see checks.h. Three forms are known:
//   stablehlo.custom_call @check.expect_close(%a, %b) {has_side_effect = true} : (T, T) -> ()
//   check.expect_close %a, %b, max_ulp_difference = 3 : T, T
//   check.expect_almost_eq_const %a, dense<...> : T {tolerance = 0.1 : f64}
#include "checks.h"

#include <cctype>
#include <cstdlib>
#include <stdexcept>

namespace anvil::conformance {
namespace {

class Rewriter {
 public:
  explicit Rewriter(const std::string& text) : text_(text) {}

  CheckedProgram run() {
    static const std::string call = "stablehlo.custom_call @", check = "check.expect_", function = "func.func ";
    while (place_ < text_.size()) {
      bool called = at(call + check);
      if (at(function)) {
        finish();
        function_ = out_.size();
        copy(function.size());
      } else if (called || at(check)) {
        if (called) place_ += call.size();
        rewrite(called);
      } else {
        copy(1 + skip_length());
      }
    }
    finish();
    program_.text = out_;
    return program_;
  }

 private:
  bool at(const std::string& word) const { return text_.compare(place_, word.size(), word) == 0; }
  void copy(size_t n) {
    out_ += text_.substr(place_, n);
    place_ += n;
  }
  // What goes beyond the next character: the rest of a comment or a string.
  size_t skip_length() const {
    size_t end = place_ + 1;
    if (at("//")) end = std::min(text_.find('\n', place_), text_.size());
    if (at("\"")) end = std::min(text_.find('"', place_ + 1), text_.size() - 1) + 1;
    return end - place_ - 1;
  }
  void blanks() {
    while (place_ < text_.size() && (std::isspace(static_cast<unsigned char>(text_[place_])) || at("//")))
      place_ = at("//") ? std::min(text_.find('\n', place_), text_.size()) : place_ + 1;
  }
  std::string word(const char* more) {
    size_t start = place_;
    while (place_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[place_])) ||
                                     std::string(more).find(text_[place_]) != std::string::npos))
      ++place_;
    return text_.substr(start, place_ - start);
  }
  // From an opening bracket to its closing one; `->` closes nothing.
  static size_t balanced_end(const std::string& text, size_t from) {
    int depth = 0;
    for (size_t i = from; i < text.size(); ++i) {
      if (text[i] == '"') i = text.find('"', i + 1);
      if (i == std::string::npos) break;
      if (std::string("<([{").find(text[i]) != std::string::npos) ++depth;
      if (std::string(">)]}").find(text[i]) != std::string::npos && !(text[i] == '>' && text[i - 1] == '-')) --depth;
      if (depth == 0) return i + 1;
    }
    throw std::runtime_error("check: unbalanced brackets");
  }
  std::string balanced() {
    size_t start = place_;
    place_ = balanced_end(text_, place_);
    return text_.substr(start, place_ - start);
  }

  void setting(Check& c, const std::string& key) {
    blanks();
    ++place_;  // =
    blanks();
    std::string value = word(".-+");
    if (key == "max_ulp_difference") c.tolerance.ulps = std::strtoull(value.c_str(), nullptr, 10);
    if (key == "min_ulp_difference") c.tolerance.at_least_ulps = std::strtoull(value.c_str(), nullptr, 10);
    // both sides are decimal numbers rounded to binary
    if (key == "tolerance") c.tolerance.absolute = std::strtod(value.c_str(), nullptr) * (1 + 1e-6);
  }
  void dictionary(Check& c) {
    size_t end = balanced_end(text_, place_);
    while (++place_ < end) {
      blanks();
      std::string key = word("_.");
      blanks();
      if (!key.empty() && at("=")) setting(c, key);
    }
    place_ = end;
  }

  void rewrite(bool called) {
    place_ += std::string("check.").size();
    std::string name = word("_"), literal;
    Check c;
    c.exact = name.rfind("expect_eq", 0) == 0;
    if (name.rfind("expect_close", 0) == 0) c.tolerance.ulps = 3;
    if (name.rfind("expect_almost_eq", 0) == 0) c.tolerance.absolute = (called ? 1e-3 : 1e-4) * (1 + 1e-6);
    std::vector<std::string> operands;
    for (blanks(); !at(":"); blanks()) {
      if (at("%")) {
        ++place_;
        operands.push_back("%" + word("_$.-#"));
      } else if (at("{")) {
        dictionary(c);
      } else if (std::isalpha(static_cast<unsigned char>(text_[place_]))) {
        std::string key = word("_");
        blanks();
        if (key == "dense")
          literal = balanced();
        else
          setting(c, key);
      } else if (place_++ >= text_.size()) {
        throw std::runtime_error("check: the types are missing");
      }
    }
    ++place_;
    blanks();
    std::vector<std::string> types = operand_types();
    if (!literal.empty()) {
      operands.push_back("%expected." + std::to_string(checks_.size()));
      out_ += operands.back() + " = stablehlo.constant dense" + literal + " : " + types.front();
    }
    size_t after = place_;
    blanks();
    if (at("{"))
      dictionary(c);
    else
      place_ = after;
    if (operands.size() != 2) throw std::runtime_error("check: two values are compared");
    for (size_t i = 0; i < 2; ++i) {
      values_ += (values_.empty() ? "" : ", ") + operands[i];
      types_ += (types_.empty() ? "" : ", ") + (i ? types.back() : types.front());
    }
    checks_.push_back(c);
    last_ = out_.size();
  }
  std::vector<std::string> operand_types() {
    std::vector<std::string> types;
    bool function = at("(");
    if (function) ++place_;
    do {
      while (at(",")) ++place_;
      blanks();
      std::string name = word("_");
      types.push_back(name + balanced());
      if (function) blanks();
    } while (at(","));
    if (function) place_ = text_.find("()", place_) + 2;  // ) -> ()
    return types;
  }

  // The function that ends here: its name, and if it checks, other results.
  void finish() {
    if (checks_.empty()) return;
    size_t at_sign = out_.find('@', function_), open = out_.find('(', at_sign);
    if (open == std::string::npos) throw std::runtime_error("check: outside a function");
    program_.functions.push_back({out_.substr(at_sign + 1, open - at_sign - 1), checks_});
    result_types(balanced_end(out_, open));
    returned();
    checks_.clear();
    values_ = types_ = "";
  }
  void result_types(size_t start) {  // after the arguments
    size_t end = start, arrow = out_.find_first_not_of(" \t\r\n", start);
    if (out_.compare(arrow, 2, "->") == 0) {
      end = out_.find_first_not_of(" \t\r\n", arrow + 2);
      if (out_[end] == 't') end = out_.find('<', end);
      end = balanced_end(out_, end);
    }
    std::string results = " -> (" + types_ + ")";
    out_.replace(start, end - start, results);
    last_ += results.size() - (end - start);
  }
  void returned() {
    size_t from = last_;
    do from = out_.find("return", from + 1);
    while (from != std::string::npos && out_[from - 1] == '.' && out_.compare(from - 5, 5, "func.") != 0);
    if (from == std::string::npos) throw std::runtime_error("check: the function does not return");
    size_t end = std::min(out_.find_first_of("\n}", from), out_.size());
    out_.replace(from, end - from, "return " + values_ + " : " + types_);
  }

  const std::string& text_;
  size_t place_ = 0, function_ = 0, last_ = 0;  // in text_; in out_: of the function, after its last check
  std::string out_, values_, types_;
  std::vector<Check> checks_;
  CheckedProgram program_;
};

}  // namespace

CheckedProgram return_checked(const std::string& text) { return Rewriter(text).run(); }

}  // namespace anvil::conformance
