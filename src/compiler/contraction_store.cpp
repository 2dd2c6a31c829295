// A contraction whose result is only copied, in whatever order of dimensions, writes where the copy would:
//
//   contract j, i, p: t1[i, j] = sum of ...       contract j, i, p: t2[j, i] = sum of ...
//   for j, for i: t2[j, i] = t1[i, j]
//
// Unless elements that follow each other in t1 come apart in t2, as where results interleave: a copy takes less than
// single elements in the kernel.
#include <algorithm>

#include "compiler/passes.h"
#include "compiler/traverse.h"
#include "loops/dependence.h"
#include "loops/origins.h"

namespace anvil::compiler {
namespace {

using loops::Contraction;
using loops::For;

constexpr int64_t least_run = 16;  // elements, as many as the lanes of a vector may be

class CopyRemover {
 public:
  explicit CopyRemover(Program& p) : program_(p), accesses_(count_accesses(p)) {}
  void block(Block& b) {
    for (size_t k = 0; k < b.size(); ++k) {
      each_block(b[k], [this](Block& inner) { block(inner); });
      if (std::holds_alternative<Contraction>(b[k].is)) store_for_copy(b, k);
    }
  }

 private:
  // A store of one element of the buffer, and nothing else, for all of its elements.
  const loops::Store* copy_of(const Stmt& s, BufferId b) const {
    const Stmt* inner = &s;
    std::vector<const For*> loops;
    while (auto f = std::get_if<For>(&inner->is)) {
      if (f->body.size() != 1 || f->begin != 0) return nullptr;
      loops.push_back(f);
      inner = &f->body[0];
    }
    const auto store = std::get_if<loops::Store>(&inner->is);
    if (!store || store->value->op != Op::load || store->value->buffer != b) return nullptr;
    const Shape& shape = program_.buffers[static_cast<size_t>(b)].shape;
    size_t moving = 0;
    for (size_t d = 0; d < shape.size(); ++d) {
      const Affine& a = store->value->place[d];
      if (shape[d] == 1) continue;
      ++moving;
      if (a.constant != 0 || a.terms.size() != 1 || a.terms[0].factor != 1) return nullptr;
      const auto around = [&](const For* f) { return f->variable == a.terms[0].variable && f->end == shape[d]; };
      if (std::count_if(loops.begin(), loops.end(), around) != 1) return nullptr;
    }
    return moving == loops.size() ? store : nullptr;
  }

  void store_for_copy(Block& b, size_t k) {
    auto& c = std::get<Contraction>(b[k].is);
    const loops::Buffer& result = program_.buffers[static_cast<size_t>(c.buffer)];
    if (result.kind != loops::Buffer::Kind::temporary || result.alias >= 0 ||
        accesses_[static_cast<size_t>(c.buffer)] != 2)
      return;
    for (size_t n = k + 1; n < b.size(); ++n) {
      bool used = false;
      each_access_inside(b[n], [&](BufferId x, const Index*, AccessKind) { used = used || x == c.buffer; });
      if (!used) continue;
      const loops::Store* copy = copy_of(b[n], c.buffer);
      if (!copy || minds(b, k, n, c.buffer)) return;
      VariableMap places;  // of the copy's loops, in the contraction
      for (size_t d = 0; d < result.shape.size(); ++d)
        if (result.shape[d] != 1) places[copy->value->place[d].terms[0].variable] = c.place[d];
      const Index place = substitute(places, copy->place);
      if (run(c, copy->buffer, place) < std::min(least_run, run(c, c.buffer, c.place))) return;
      c.place = place;
      c.buffer = copy->buffer;
      loops::add_origins(b[k], loops::origins(b[n]));
      b.erase(b.begin() + static_cast<ptrdiff_t>(n));
      return;
    }
  }
  // How many elements of the result follow each other in memory.
  int64_t run(const Contraction& c, BufferId b, const Index& place) const {
    std::vector<std::pair<int64_t, int64_t>> steps;
    for (const auto& [v, extent] : c.axes)
      if (const int64_t by = loops::step(program_, b, place, v); by != 0 && extent > 1) steps.push_back({by, extent});
    std::sort(steps.begin(), steps.end());
    int64_t together = 1;
    for (const auto& [by, extent] : steps)
      if (by == together) together *= extent;
    return together;
  }
  // Whether anything from the contraction up to the copy of its result minds where the copy stands: it touches the
  // memory that the copy writes to, or gives a parameter of its place a value.
  bool minds(const Block& b, size_t from, size_t to, BufferId result) const {
    loops::Footprint copy(program_, b[to]);
    copy.forget(root(program_, result));
    return std::any_of(b.begin() + static_cast<ptrdiff_t>(from), b.begin() + static_cast<ptrdiff_t>(to),
                       [&](const Stmt& s) { return conflict(copy, loops::Footprint(program_, s)); });
  }

  Program& program_;
  std::vector<int> accesses_;
};

}  // namespace

void store_contractions(Program& p) { CopyRemover(p).block(p.body); }

}  // namespace anvil::compiler
