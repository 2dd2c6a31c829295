// Large results go to memory around the caches. Stored as usual, what stands in their memory is fetched first, to be
// overwritten, and drives out what is still needed; and R gives memory back at its collections only, so that results
// come to lie where no cache knows any more.
//
//   for i in 0..1000000 vector 8 x 4 {        for i in 0..1000000 vector 8 x 4 {
//     out1[i] = x1[i] + x2[i]                   out1[i] = x1[i] + x2[i] around caches
//   }                                         }
//
// Where a program's results are together more than caches hold. Each element must be written once and not be read, by
// vectors that follow each other and fill whole cache lines.
#include <cmath>
#include <unordered_map>
#include <unordered_set>

#include "compiler/passes.h"
#include "compiler/schedule.h"

namespace anvil::compiler {
namespace {

using loops::Buffer;
using loops::For;
using loops::Store;

class AroundCaches {
 public:
  AroundCaches(Program& p, const Target& target) : program_(p), cache_(target.cache) {}

  void run() {
    look(program_.body, 1);
    find(program_.body);
    double bytes = 0;
    for (const Store* s : found_) bytes += bytes_of(s->buffer);
    if (bytes < caches * cache_) return;
    for (Store* s : found_) s->around_caches = true;
  }

 private:
  static constexpr double caches = 12;        // of a core: several megabytes
  static constexpr double least_part = 0.25;  // of a cache: what a result must take
  static constexpr int64_t least_run = 256;   // bytes that follow each other
  static constexpr int64_t least_vector = 16;

  const Buffer& buffer(BufferId b) const { return program_.buffers[static_cast<size_t>(b)]; }
  int64_t size_of_element(BufferId b) const { return static_cast<int64_t>(size_of(buffer(b).dtype)); }
  double bytes_of(BufferId b) const { return static_cast<double>(elements(buffer(b).shape) * size_of_element(b)); }

  // What is stored, how many elements of it, and what is accessed otherwise.
  void look(const Block& b, double times) {
    for (const Stmt& s : b) {
      auto store = std::get_if<Store>(&s.is);
      if (store) stored_[root(program_, store->buffer)] += times;
      each_access(s, [&](BufferId id, const Index*, AccessKind kind) {
        if (!store || kind == AccessKind::read) used_.insert(root(program_, id));
      });
      auto f = std::get_if<For>(&s.is);
      each_block(s, [&](const Block& inner) { look(inner, f ? times * static_cast<double>(extent(*f)) : INFINITY); });
    }
  }

  void find(Block& b) {
    for (Stmt& s : b) {
      poll();
      if (auto store = std::get_if<Store>(&s.is)) {
        if (may_go_around(*store)) found_.push_back(store);
      } else if (auto f = std::get_if<For>(&s.is)) {
        around_.push_back(f);
        find(f->body);
        around_.pop_back();
      }  // what a condition or a `while` holds may be stored in part, or several times
    }
  }

  bool may_go_around(const Store& s) const {
    const BufferId to = root(program_, s.buffer);
    if (buffer(to).kind != Buffer::Kind::output || around_.empty()) return false;
    if (used_.count(to) > 0 || stored_.at(to) > static_cast<double>(elements(buffer(to).shape))) return false;
    if (bytes_of(to) < least_part * cache_) return false;
    const Affine at = linear(program_, s.buffer, s.place);
    const For& along = *around_.back();
    const int64_t size = size_of_element(s.buffer);
    if (along.kind != For::Kind::vector || along.width * size < least_vector || factor(at, along.variable) != 1)
      return false;
    if (extent(along) % along.width != 0 || extent(along) * size < least_run) return false;
    // each step of the loops around writes other lines
    const auto in_lines = [&](int64_t offset) { return offset * size % loops::cache_line == 0; };
    if (!in_lines(at.constant + along.begin)) return false;
    for (const For* f : around_)
      if (f != &along && (factor(at, f->variable) == 0 || !in_lines(factor(at, f->variable)))) return false;
    return at.terms.size() == around_.size();
  }

  Program& program_;
  const double cache_;
  std::unordered_map<BufferId, double> stored_;  // elements, by root
  std::unordered_set<BufferId> used_;            // otherwise
  std::vector<For*> around_;
  std::vector<Store*> found_;
};

}  // namespace

void store_around_caches(Program& p, const Target& target) { AroundCaches(p, target).run(); }

}  // namespace anvil::compiler
