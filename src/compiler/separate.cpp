#include "compiler/separate.h"

#include <utility>

#include "compiler/copy.h"
#include "loops/dependence.h"

namespace anvil::compiler {

using loops::For;

const For* last_loop(const Stmt& nest) {
  const auto f = std::get_if<For>(&nest.is);
  return f && f->body.size() > 1 ? std::get_if<For>(&f->body.back().is) : nullptr;
}

std::optional<Separated> separate(Program& p, const Stmt& nest) {
  if (last_loop(nest) == nullptr) return std::nullopt;
  For before = std::get<For>(nest.is), last = before;
  before.body.pop_back();
  last.body.erase(last.body.begin(), last.body.end() - 1);
  // what may become one may as well be two
  if (const loops::Footprint x(p, before.body), y(p, last.body);
      !may_fuse(p, loops::steps(before, x), loops::steps(last, y)))
    return std::nullopt;
  return Separated{{std::move(before)}, LoopCopy(p)(Stmt{std::move(last)})};
}

}  // namespace anvil::compiler
