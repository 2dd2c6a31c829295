// What a finished loop program does, nest by nest, for people: what it computes and how, the calls that it comes
// from, and estimates of its work from the program alone. The numbers are those of one run of the nest, so that
// one in the body of a `while` counts for each step.
//
//   for j in 0..64 unroll 6 {              loop 64 x 64 x 64, unroll 6, vector 16 x 4
//     for i in 0..64 vector 16 x 4 {       2 * 64 * 64 * 64 flops; 3 * 4 * 64 * 64 bytes
//       ...
#pragma once
#include <string>
#include <vector>

#include "loops/program.h"

namespace anvil::compiler {

struct NestSummary {
  enum class Kind : uint8_t { loop, call, contraction, numbers };  // numbers: a while without loops or calls
  Kind kind = Kind::loop;
  std::string name;      // of a call: the function
  std::string steps;     // of the loops of a perfect nest, outermost first: "64 x 1000"
  std::string schedule;  // of all its loops, outermost first: "unroll 6, vector 16 x 4"
  loops::Origins origins;
  // Floating-point operations, of f64 and of all smaller ones: an elementary function counts for
  // function_weight, a fused multiplication for two; -1 where that cannot be known, for calls.
  double wide_flops = 0, flops = 0;
  double bytes = 0;  // of elements that are read or written, each once; -1 where unknown
};
std::vector<NestSummary> summarise(const loops::Program&);  // in the order of loops::each_nest

}  // namespace anvil::compiler
