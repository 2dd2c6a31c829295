// How results of contractions lie in memory: a batch comes last, so that each product lies together, and the
// other dimensions as what they are read together with. Where it does already, dimensions of one operand
// change places with each other only, and not for sums that can run side by side. Those of windows stay as they are:
// to copy windows in another order takes as long as many products with them.
//
//   contract b, j, i, p: t1[b, i, j] = sum of ...     contract b, j, i, p: t1[i, j, b] = sum of ...
//   for b, for j, for i: ... t1[b, i, j]              for b, for j, for i: ... t1[i, j, b]
#include <algorithm>
#include <numeric>

#include "compiler/passes.h"
#include "compiler/traverse.h"

namespace anvil::compiler {
namespace {

using loops::Contraction;
using loops::For;

constexpr int64_t enough_lanes = 8;  // for sums that run side by side

class ResultLayouts {
 public:
  explicit ResultLayouts(Program& p) : program_(p), results_(p.buffers.size()) {
    for (const loops::Buffer& b : p.buffers)
      if (b.alias >= 0) result(b.alias).fixed = true;
    for (size_t b = 0; b < p.buffers.size(); ++b)
      if (p.buffers[b].kind != loops::Buffer::Kind::temporary || p.buffers[b].alias >= 0) results_[b].fixed = true;
  }

  void run() {
    collect(program_.body);
    std::vector<Order> orders;
    for (size_t b = 0; b < results_.size(); ++b) orders.push_back(order(static_cast<BufferId>(b)));
    reorder_dimensions(program_, orders);
  }

 private:
  struct Result {
    bool fixed = false;
    const Contraction* made = nullptr;
    Order read;           // as what its readers access besides lies, or as their loops run, innermost first
    double visits = 0;    // of those
    bool summed = false;  // along the first one, and nothing else is read
  };
  Result& result(BufferId b) { return results_[static_cast<size_t>(b)]; }

  void collect(const Block& block) {
    for (const Stmt& s : block) {
      if (auto c = std::get_if<Contraction>(&s.is)) {
        Result& r = result(c->buffer);
        r.fixed = r.fixed || r.made != nullptr;
        r.made = c;
        continue;
      }
      each_access(s, [&](BufferId b, const Index* place, AccessKind kind) {
        if (kind == AccessKind::read)
          read(b, *place, s);
        else
          result(b).fixed = true;
      });
      auto loop = std::get_if<For>(&s.is);
      if (loop) loops_.push_back(loop);
      each_block(s, [this](const Block& b) { collect(b); });
      if (loop) loops_.pop_back();
    }
  }
  void read(BufferId b, const Index& place, const Stmt& s) {
    Result& r = result(b);
    double visits = 1;
    for (const For* f : loops_) visits *= static_cast<double>(f->end - f->begin);
    if (visits <= r.visits) return;
    r.visits = visits;
    const Affine beside = largest_beside(b, s);
    r.summed = std::holds_alternative<loops::Update>(s.is) && beside.terms.empty();
    const auto distance = [&](size_t d) {  // in what is accessed besides
      int64_t least = INT64_MAX;
      for (const loops::Term& t : place[d].terms)
        if (const int64_t by = std::abs(loops::factor(beside, t.variable)); by != 0) least = std::min(least, by);
      return least;
    };
    r.read.resize(place.size());
    std::iota(r.read.begin(), r.read.end(), size_t(0));
    std::stable_sort(r.read.begin(), r.read.end(), [&](size_t x, size_t y) {
      const int64_t a = distance(x), c = distance(y);
      return a != c ? a < c : depth(place[x]) > depth(place[y]);
    });
  }
  // The offset of another access of a statement that is no result of a contraction: of the one that moves with
  // most of the loops around.
  Affine largest_beside(BufferId b, const Stmt& s) {
    Affine best;
    int most = 0;
    each_access(s, [&](BufferId other, const Index* place, AccessKind) {
      if (place == nullptr || other == b || result(other).made) return;
      const Affine offset = loops::linear(program_, other, *place);
      int moves = 0;
      for (const For* f : loops_) moves += loops::factor(offset, f->variable) != 0;
      if (moves > most) most = moves, best = offset;
    });
    return best;
  }
  // Of the innermost loop that moves an index, -1 where none does.
  int depth(const Affine& a) const {
    for (size_t k = loops_.size(); k-- > 0;)
      if (loops::factor(a, loops_[k]->variable) != 0) return static_cast<int>(k);
    return -1;
  }

  // Whether an index of an operand moves with a dimension of the result and with one that is summed over.
  static bool slides(const Contraction& c, Expr operand) {
    const auto of_result = [&](const loops::Term& t) {
      return std::any_of(c.place.begin(), c.place.end(),
                         [&](const Affine& a) { return loops::factor(a, t.variable) != 0; });
    };
    return std::any_of(operand->place.begin(), operand->place.end(), [&](const Affine& a) {
      return std::any_of(a.terms.begin(), a.terms.end(), of_result) &&
             !std::all_of(a.terms.begin(), a.terms.end(), of_result);
    });
  }

  // Empty where it stays.
  Order order(BufferId b) {
    const Result& r = result(b);
    if (r.fixed || r.made == nullptr) return {};
    const Contraction& c = *r.made;
    const auto moves = [&](Expr load, size_t d) {
      return std::any_of(c.place[d].terms.begin(), c.place[d].terms.end(),
                         [&](const loops::Term& t) { return loops::step(program_, load, t.variable) != 0; });
    };
    const auto of_batch = [&](size_t d) { return moves(c.left(), d) == moves(c.right(), d); };
    const auto same_side = [&](size_t x, size_t y) {
      return of_batch(x) == of_batch(y) && moves(c.left(), x) == moves(c.left(), y);
    };
    const Shape& shape = program_.buffers[static_cast<size_t>(b)].shape;
    Order order(c.place.size());
    std::iota(order.begin(), order.end(), size_t(0));
    Order wide = order;
    std::erase_if(wide, [&](size_t d) { return shape[d] == 1; });
    if (wide.empty()) return {};
    const size_t first = wide.front();
    const auto free = [&](size_t d) { return !of_batch(d); };
    if (of_batch(first) || !std::is_partitioned(wide.begin(), wide.end(), free)) {
      if (!r.read.empty()) order = r.read;  // else by other contractions only
      std::stable_partition(order.begin(), order.end(), free);
    } else if (!r.summed || shape[first] < enough_lanes) {
      Order left = r.read;
      for (size_t& d : order) {
        if (slides(c, moves(c.left(), d) ? c.left() : c.right())) continue;
        const auto next = std::find_if(left.begin(), left.end(), [&](size_t x) { return same_side(d, x); });
        if (next != left.end()) d = *next, left.erase(next);
      }
    }
    for (const Expr operand : {c.left(), c.right()}) follow(operand, c, shape, order);
    return std::is_sorted(order.begin(), order.end()) ? Order{} : order;
  }

  // Dimensions after the first one that lie behind each other in an operand do so in the result as well: they are
  // one axis then.
  void follow(Expr operand, const Contraction& c, const Shape& shape, Order& order) const {
    const auto step = [&](size_t d) {
      return c.place[d].terms.size() == 1 ? loops::step(program_, operand, c.place[d].terms[0].variable) : 0;
    };
    const Expr other = operand == c.left() ? c.right() : c.left();
    std::vector<size_t> at;
    for (size_t k = 1; k < order.size(); ++k) {
      const size_t d = order[k];
      if (step(d) != 0 && loops::step(program_, other, c.place[d].terms[0].variable) == 0) at.push_back(k);
    }
    Order dims;
    for (const size_t k : at) dims.push_back(order[k]);
    std::sort(dims.begin(), dims.end(), [&](size_t x, size_t y) { return step(x) < step(y); });
    for (size_t k = 1; k < dims.size(); ++k)
      if (step(dims[k]) != step(dims[k - 1]) * shape[dims[k - 1]]) return;
    for (size_t k = 0; k < at.size(); ++k) order[at[k]] = dims[k];
  }

  Program& program_;
  std::vector<Result> results_;
  std::vector<const For*> loops_;  // around
};

}  // namespace

void lay_out_contractions(Program& p) { ResultLayouts(p).run(); }

}  // namespace anvil::compiler
