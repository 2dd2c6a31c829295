// Unions of sorted lists of locations, and walks that gather and spread them.
#include "loops/origins.h"

#include <algorithm>

namespace anvil::loops {
namespace {

bool computes(const Stmt& s) { return !std::holds_alternative<For>(s.is); }

void gather(const Stmt& s, Origins& found) {
  unite(found, s.origins);
  each_block(s, [&](const Block& b) {
    for (const Stmt& inner : b) gather(inner, found);
  });
}

}  // namespace

void unite(Origins& to, const Origins& more) {
  if (std::includes(to.begin(), to.end(), more.begin(), more.end())) return;
  const auto middle = static_cast<std::ptrdiff_t>(to.size());
  to.insert(to.end(), more.begin(), more.end());
  std::inplace_merge(to.begin(), to.begin() + middle, to.end());
  to.erase(std::unique(to.begin(), to.end()), to.end());
}

Origins origins(const Stmt& s) {
  Origins found;
  gather(s, found);
  return found;
}

void add_origins(Stmt& s, const Origins& more) {
  if (computes(s)) unite(s.origins, more);
  each_block(s, [&](Block& b) {
    for (Stmt& inner : b) add_origins(inner, more);
  });
}

void set_origin(Stmt& s, int location) {
  if (location < 0) return;
  if (computes(s) && s.origins.empty()) s.origins = {location};
  each_block(s, [&](Block& b) {
    for (Stmt& inner : b) set_origin(inner, location);
  });
}

}  // namespace anvil::loops
