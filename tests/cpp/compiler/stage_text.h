// The printed form of a program after one pass.
#pragma once
#include <string>

#include "compiler/graphs.h"

namespace anvil::test {

// The program after the named pass, without its first line.
inline std::string after(const graph::Graph& g, const std::string& pass, const compiler::Target& target = {64, 32}) {
  for (const compiler::Stage& s : compiler::stages(g, target))
    if (s.name == pass) return s.text.substr(s.text.find('\n') + 1);
  return "no such pass";
}

}  // namespace anvil::test
