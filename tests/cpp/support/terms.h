// Where a number comes from, as an expression over input elements and constants. Two numbers have
// equal terms where the same operations made them of the same elements, so that a pass of the
// compiler is right when it changes no term of an output: "the same number" would let pass what is
// equal by chance.
//
// A term is a fingerprint of 64 bits: comparing and making one takes no memory. What compilers may
// do is left out of it, and nothing else is:
// - a reduction is the multiset of what was accumulated, in any order and grouping, without what changes nothing;
// - an accumulated fma(a, b, sum) is a product that is added;
// - a b is b a;
// - what depends on constants and loop indices alone is the constant that it gives.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "loops/expression.h"

namespace anvil::test {

struct Term {
  enum class Kind : uint8_t { plain, constant, sum };  // sum: `code` adds up those of its parts
  uint64_t code = 0;
  Kind kind = Kind::plain;
  loops::Op op = loops::Op::constant;  // of a sum
  bool operator==(const Term&) const = default;
};

// What terms were made of, for the message that says where two differ.
class TermLog {
 public:
  struct Made {
    std::string label;
    std::vector<Term> of;  // of a sum: what it was before, and the part that was added
  };
  void add(const Term& made, std::string label, std::span<const Term> of);
  std::string text(const Term&, int depth = 5) const;
  // The innermost pair of subterms in which the two differ.
  std::string difference(Term before, Term after) const;

 private:
  std::vector<Term> parts(const Term& sum) const;
  std::unordered_map<uint64_t, Made> made_;
};

// Makes terms; with a log, remembers how.
class Terms {
 public:
  explicit Terms(TermLog* log = nullptr) : log_(log) {}
  Term input(const std::string& buffer, int kind, int position, int64_t element);
  Term constant(Scalar, DType);
  // An operation of an expression; `result` is its value, for operands that are all constants.
  Term apply(const loops::Node&, std::span<const Term> operands, Scalar result);
  static Term nothing(loops::Op op) { return {0, Term::Kind::sum, op}; }  // an accumulator before its first part
  Term accumulate(loops::Op, const Term& sum, const Term& part);
  Term join(loops::Op, const Term& sum, const Term& other);  // all parts of two accumulators
  // Element `element` of result `result` of a runtime function.
  Term call(const std::string& function, int result, int64_t element, const Term& operands);
  Term list(std::span<const Term>);  // the operands of a call

 private:
  Term made(uint64_t code, const std::string& label, std::span<const Term> of);
  TermLog* log_;
};

}  // namespace anvil::test
