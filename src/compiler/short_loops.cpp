// Short serial loops are written out, and of those whose steps branch (scatters) eight steps at a time, so that a step
// takes what its branch does and no jumps between:
//
//   for i in 0..2 { out1[i] = x1[i] }      out1[0] = x1[0]
//                                          out1[1] = x1[1]
//
// Of short vector loops that change memory in place the rest is made of shorter vectors. A whole vector would reach back
// over what was just stored in another one, for which a processor waits until it is in the cache:
//
//   for i in 0..11 vector 8 {              for i in 0..8 vector 8 { t1[i] = exp(t1[i]) }
//     t1[i] = exp(t1[i])                   for i in 8..10 vector 2 { t1[i] = exp(t1[i]) }
//                                          for i in 10..11 { t1[i] = exp(t1[i]) }
#include <algorithm>
#include <unordered_set>

#include "compiler/copy.h"
#include "compiler/schedule.h"

namespace anvil::compiler {
namespace {

using loops::For;

constexpr int most_steps_in_a_vector = 8, most_ops_in_a_vector = 24;  // steps, and operations of each
constexpr int tiny_steps = 4, tiny_ops = 24;                          // anywhere: steps, and operations of all
constexpr int most_vectors_in_place = 128;
constexpr int branching_steps = 8, branching_ops = 24;  // with branches: steps, and operations of each

bool moves_numbers(const Block& b) {
  return std::all_of(b.begin(), b.end(), [&](const Stmt& s) {
    return std::holds_alternative<loops::Store>(s.is) || std::holds_alternative<loops::Let>(s.is) ||
           std::holds_alternative<loops::Bind>(s.is);
  });
}
// Nothing but stores and updates, also in branches.
bool is_straight(const Block& b, bool& branches) {
  return std::all_of(b.begin(), b.end(), [&](const Stmt& s) {
    if (auto branch = std::get_if<loops::If>(&s.is)) {
      branches = true;
      return moves_numbers(branch->yes) && moves_numbers(branch->no);
    }
    return std::holds_alternative<loops::Store>(s.is) || std::holds_alternative<loops::Update>(s.is);
  });
}
bool is_short(const For& f, bool in_vector) {
  if (f.kind != For::Kind::serial) return false;
  bool branches = false;
  if (!is_straight(f.body, branches)) return false;
  const double ops = loop_facts(f).ops;
  if (branches) return ops <= branching_ops;
  const int64_t steps = extent(f);
  if (steps > most_steps_in_a_vector) return false;
  return (in_vector && ops <= most_ops_in_a_vector) ||
         (steps <= tiny_steps && ops * static_cast<double>(steps) <= tiny_ops);
}

void write_out(Program& p, const For& loop, Block& out) {
  const int64_t rounds = extent(loop) / branching_steps, whole = rounds > 1 ? rounds * branching_steps : 0;
  const auto step = [&](const Affine& at, Block& to) {
    for (Stmt& s : LoopCopy(p)(loop, at)) to.push_back(std::move(s));
  };
  if (whole > 0) {
    For round = loop;
    round.begin = 0, round.end = rounds;
    round.body.clear();
    for (int64_t k = 0; k < branching_steps; ++k)
      step(Affine{loop.begin + k, {{round.variable, branching_steps}}}, round.body);
    out.push_back({std::move(round)});
  }
  for (int64_t i = loop.begin + whole; i < loop.end; ++i) step(Affine{i, {}}, out);
}

bool leaves_rest_in_place(const Program& p, const For& f) {
  if (f.kind != For::Kind::vector || extent(f) % f.width == 0 || extent(f) >= most_vectors_in_place * f.width ||
      !loop_facts(f).updated.empty())
    return false;
  std::unordered_set<BufferId> read;
  bool in_place = false;
  for (const Stmt& s : f.body) {
    if (!std::holds_alternative<loops::Store>(s.is) && !std::holds_alternative<loops::Let>(s.is)) return false;
    each_access(s, [&](BufferId b, const Index*, AccessKind kind) {
      if (kind == AccessKind::read)
        read.insert(root(p, b));
      else
        in_place = in_place || read.count(root(p, b)) > 0;
    });
  }
  return in_place;
}
void write_out_rest(Program& p, const For& loop, Block& out) {
  int64_t begin = loop.begin;
  for (int width = loop.width; begin < loop.end; width /= 2) {
    For part = LoopCopy(p)(loop);
    part.begin = begin;
    part.end = begin += (loop.end - begin) / width * width;
    if (part.begin == part.end) continue;
    part.width = width;
    if (width < loop.width) part.copies = 1;
    if (width == 1) part.kind = For::Kind::serial;
    out.push_back({std::move(part)});
  }
}

void write_out(Program& p, Block& b, bool in_vector) {
  Block result;
  for (Stmt& s : b) {
    auto f = std::get_if<For>(&s.is);
    each_block(s, [&](Block& inner) { write_out(p, inner, in_vector || (f && f->kind == For::Kind::vector)); });
    if (f && is_short(*f, in_vector))
      write_out(p, *f, result);
    else if (f && leaves_rest_in_place(p, *f))
      write_out_rest(p, *f, result);
    else
      result.push_back(std::move(s));
  }
  b = std::move(result);
}

}  // namespace

void write_out_short_loops(Program& p) { write_out(p, p.body, false); }

}  // namespace anvil::compiler
