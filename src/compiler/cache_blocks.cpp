// Nests that read the same memory again in each step of an outer loop, more than a cache holds, go block by block:
// steps of the vector loops that the cache holds become the outermost loop.
//
//   for k in 0..6 {                                  for b in 0..62 {
//     for j in 0..6 unroll 6 {                         for k in 0..6 {
//       for i in 0..992 vector 8 x 2 {                   for j in 0..6 unroll 6 {
//         a1 = 0                                           for i in 0..16 vector 8 x 2 {
//         for p in 0..200 { a1 += x1[i, p, j] * ... }        a1 = 0
//                                                            for p in 0..200 { a1 += x1[i + 16*b, p, j] * ... }
//
// What is left of the vector loops follows as a nest of its own.
#include <algorithm>
#include <optional>

#include "compiler/copy.h"
#include "compiler/passes.h"
#include "compiler/schedule.h"

namespace anvil::compiler {
namespace {

using loops::For;

constexpr double block_of_cache = 0.5;  // that a step of a block touches
constexpr double read_again = 0.5;      // of what a step touches, at least

class CacheBlocks {
 public:
  CacheBlocks(Program& p, const Target& target) : program_(p), cache_(target.cache) {}
  void run() {
    replace_loops(program_.body, [this](Stmt& s, For& f, Block& result) {
      std::optional<Blocked> blocked = f.kind != For::Kind::vector ? blocks_of(f) : std::nullopt;
      if (!blocked) return false;
      result.push_back({std::move(blocked->whole), s.origins});
      if (blocked->rest) result.push_back({std::move(*blocked->rest), s.origins});
      return true;
    });
  }

 private:
  // ---- what a step touches ----
  // The vector loops inside of f, if there is nothing beside them and all have the same steps.
  static std::vector<For*> vector_loops(For& f) {
    std::vector<For*> list;
    return find_vector_loops(f.body, list) ? list : std::vector<For*>{};
  }
  static bool find_vector_loops(Block& b, std::vector<For*>& list) {
    return std::all_of(b.begin(), b.end(), [&](Stmt& s) {
      auto f = std::get_if<For>(&s.is);
      if (f == nullptr) return false;
      if (f->kind != For::Kind::vector) return find_vector_loops(f->body, list);
      list.push_back(f);
      return f->begin == list[0]->begin && f->end == list[0]->end;
    });
  }
  struct Bytes {
    double all = 0, of_lane = 0, again = 0;  // of a step; of these by each step of the vector loops; read in each step
  };
  void add_bytes(const Block& b, const For& f, std::unordered_map<Variable, double>& inside, Variable lane,
                 Bytes& sum) const {
    for (const Stmt& s : b) {
      each_access(s, [&](BufferId id, const Index* place, AccessKind kind) {
        const loops::Buffer& buffer = program_.buffers[static_cast<size_t>(id)];
        const double size = static_cast<double>(size_of(buffer.dtype));
        double bytes = size;
        bool known = place != nullptr;
        const Affine at = place ? loops::linear(program_, id, *place) : Affine{};
        for (const loops::Term& t : at.terms) {
          if (auto steps = inside.find(t.variable); steps != inside.end()) bytes *= steps->second;
          known = known && !program_.variables[static_cast<size_t>(t.variable)].parameter;
        }
        if (!known) bytes = size * static_cast<double>(elements(buffer.shape));
        sum.all += bytes;
        if (known && loops::factor(at, lane) != 0) {
          sum.of_lane += bytes / inside.at(lane);
          if (kind == AccessKind::read && loops::factor(at, f.variable) == 0) sum.again += bytes;
        }
      });
      if (auto loop = std::get_if<For>(&s.is)) {
        inside[loop->variable] = static_cast<double>(extent(*loop));
        add_bytes(loop->body, f, inside, loop->kind == For::Kind::vector ? loop->variable : lane, sum);
      } else {
        each_block(s, [&](const Block& inner) { add_bytes(inner, f, inside, lane, sum); });
      }
    }
  }

  // ---- blocks ----
  struct Blocked {
    For whole;
    std::optional<For> rest;
  };
  std::optional<Blocked> blocks_of(For& f) {
    const std::vector<For*> loops = vector_loops(f);
    if (loops.empty()) return std::nullopt;
    Bytes bytes;
    std::unordered_map<Variable, double> inside;
    const For* outer = &f;  // of the loops all of whose steps are not in flight at once
    while (extent(*outer) < 2 * steps_at_once(*outer)) {
      inside[outer->variable] = static_cast<double>(extent(*outer));
      outer = outer->body.size() == 1 ? std::get_if<For>(&outer->body[0].is) : nullptr;
      if (outer == nullptr || outer->kind == For::Kind::vector) return std::nullopt;
    }
    add_bytes(outer->body, *outer, inside, -1, bytes);
    if (bytes.all < cache_ || bytes.again < read_again * bytes.all) return std::nullopt;
    int64_t lanes = 1, at_once = 1;
    for (const For* v : loops)
      lanes = std::max<int64_t>(lanes, v->width), at_once = std::max(at_once, steps_at_once(*v));
    const int64_t n = extent(*loops[0]);
    const double constant = bytes.all - bytes.of_lane * static_cast<double>(n);
    const auto room = static_cast<int64_t>((block_of_cache * cache_ - constant) / bytes.of_lane);
    const int64_t size = room < at_once ? room / lanes * lanes : room / at_once * at_once;
    if (size <= 0 || n < 2 * size ||
        std::any_of(loops.begin(), loops.end(), [&](For* v) { return size % v->width != 0; }))
      return std::nullopt;
    Blocked result;
    const int64_t count = n / size, rest = n - count * size;
    if (rest > 0) {
      result.rest = LoopCopy(program_)(f);
      for (For* v : vector_loops(*result.rest)) {
        v->begin = v->end - rest;
        narrow(*v);
      }
    }
    result.whole = make_loop(program_, loops[0]->variable, count);
    result.whole.reduction = f.reduction;
    For inner = f;
    for (For* v : vector_loops(inner)) {
      take_block(program_, *v, loops::variable(result.whole.variable), size);
      while (size % steps_at_once(*v) != 0) --v->copies;
    }
    result.whole.body.push_back({std::move(inner)});
    if (!independent(program_, result.whole)) return std::nullopt;
    return result;
  }

  Program& program_;
  const double cache_;
};

}  // namespace

void block_for_caches(Program& p, const Target& target) { CacheBlocks(p, target).run(); }

}  // namespace anvil::compiler
