#include "compiler/traverse.h"

namespace anvil::compiler {

Affine substitute(const VariableMap& map, const Affine& a) {
  bool found = false;
  for (const loops::Term& t : a.terms) found = found || map.count(t.variable);
  if (!found) return a;
  Affine sum{a.constant, {}};
  for (const loops::Term& t : a.terms) {
    auto it = map.find(t.variable);
    sum = sum + (it == map.end() ? Affine{0, {t}} : it->second * t.factor);
  }
  return sum;
}

Index substitute(const VariableMap& map, const Index& index) {
  Index result;
  result.reserve(index.size());
  for (const Affine& a : index) result.push_back(substitute(map, a));
  return result;
}

}  // namespace anvil::compiler
