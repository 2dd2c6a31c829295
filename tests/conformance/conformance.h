// The parts of the conformance program: one function for each kind of material gives its cases.
#pragma once
#include <string>
#include <vector>

#include "isolate.h"
#include "report.h"

namespace anvil::conformance {

struct Case {
  Result result;  // without its outcome
  Test test;
};
struct Options {
  std::vector<std::string> modes = {"eigen", "compiled", "written"};  // see run_graph.h
  std::string filter;                                                 // part of the names of the cases to run
  std::string rejections;                                             // a table of what wrong programs are refused for
  bool wants(const std::string& name) const { return name.find(filter) != std::string::npos; }
};

std::vector<Case> stablehlo_cases(const std::string& folder, const Options&);
std::vector<Case> jax_programs(const std::string& folder, const Options&);
// The gradients of a table (see jax_gradients.csv) against JAX's derivatives.
std::vector<Case> jax_gradients(const std::string& folder, const std::string& table, const Options&);
// Forward and reverse mode of the programs of a folder against each other.
std::vector<Case> jax_modes(const std::string& folder, const Options&);
// Forward mode of the programs of a folder against JAX's own, which stands in another: jax_tangents.cpp.
std::vector<Case> jax_tangents(const std::string& programs, const std::string& folder, const Options&);
// Our transformations of exported functions against JAX's own: transformed.cpp.
std::vector<Case> jax_transformed(const std::string& folder, const Options&);

}  // namespace anvil::conformance
