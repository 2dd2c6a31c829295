// Temporaries that a loop of unknown length works on slice by slice, such as the records of its steps, have the
// dimension of the steps last, so that a slice lies together:
//
//   loop {                                        loop {
//     $p = ...                                      $p = ...
//     for j, for i: t1[$p, i, j] = ...              for j, for i: t1[i, j, $p] = ...
//
// Fills of such a temporary walk through it in the new order.
#include <algorithm>
#include <numeric>

#include "compiler/passes.h"
#include "compiler/traverse.h"

namespace anvil::compiler {
namespace {

using loops::Contraction;
using loops::For;

class RecordLayouts {
 public:
  explicit RecordLayouts(Program& p) : program_(p), records_(p.buffers.size()) {
    for (size_t b = 0; b < p.buffers.size(); ++b) {
      const loops::Buffer& buffer = p.buffers[b];
      if (buffer.kind != loops::Buffer::Kind::temporary) records_[b].fixed = true;
      if (buffer.alias >= 0) records_[b].fixed = record(buffer.alias).fixed = true;
    }
  }

  void run() {
    collect(program_.body, false);
    std::vector<Order> orders;
    for (const Record& r : records_) orders.push_back(order(r));
    reorder_dimensions(program_, orders);
    for (Stmt& s : program_.body) turn_fill(s, orders);
  }

 private:
  struct Record {
    bool fixed = false;
    std::vector<bool> sliced;  // by dimension: a parameter chooses one step of it, and loops run over others
  };
  Record& record(BufferId b) { return records_[static_cast<size_t>(b)]; }

  void collect(const Block& block, bool in_while) {
    for (const Stmt& s : block) {
      const size_t before = moving_.size();
      if (auto c = std::get_if<Contraction>(&s.is))
        for (const auto& axis : c->axes) moving_.push_back(axis.variable);
      each_access(s, [&](BufferId b, const Index* place, AccessKind kind) {
        if (kind == AccessKind::whole)
          record(b).fixed = true;
        else
          access(b, *place, in_while);
      });
      moving_.resize(before);
      auto loop = std::get_if<For>(&s.is);
      if (loop) moving_.push_back(loop->variable);
      each_block(s, [&](const Block& b) { collect(b, in_while || std::holds_alternative<loops::While>(s.is)); });
      if (loop) moving_.pop_back();
    }
  }
  void access(BufferId b, const Index& place, bool in_while) {
    Record& r = record(b);
    if (r.fixed || !in_while) return;
    const Shape& shape = program_.buffers[static_cast<size_t>(b)].shape;
    const auto moves = [this](const Affine& a) {
      return std::any_of(moving_.begin(), moving_.end(), [&](Variable v) { return loops::factor(a, v) != 0; });
    };
    if (std::none_of(place.begin(), place.end(), moves)) return;
    r.sliced.resize(shape.size());
    for (size_t d = 0; d < shape.size(); ++d)  // an edge at a known place is no step
      if (shape[d] > 1 && !place[d].terms.empty() && !moves(place[d])) r.sliced[d] = true;
  }

  static Order order(const Record& r) {
    if (r.fixed || std::find(r.sliced.begin(), r.sliced.end(), true) == r.sliced.end()) return {};
    Order order(r.sliced.size());
    std::iota(order.begin(), order.end(), size_t(0));
    std::stable_partition(order.begin(), order.end(), [&](size_t d) { return !r.sliced[d]; });
    return std::is_sorted(order.begin(), order.end()) ? Order{} : order;
  }

  // The loops around one store of what depends on no memory, so that the innermost one moves least.
  void turn_fill(Stmt& s, const std::vector<Order>& orders) {
    const std::vector<For*> loops = outer_loops(std::get_if<For>(&s.is));
    if (loops.empty() || loops.back()->body.size() != 1) return;
    const Stmt* inner = &loops.back()->body[0];
    const auto store = std::get_if<loops::Store>(&inner->is);
    if (!store || orders[static_cast<size_t>(store->buffer)].empty()) return;
    bool loads = false;
    each_access(*inner, [&](BufferId, const Index*, AccessKind kind) { loads = loads || kind == AccessKind::read; });
    if (loads) return;
    struct Steps {
      Variable variable;
      int64_t begin, end, by;
    };
    std::vector<Steps> steps;
    for (const For* f : loops)
      steps.push_back(
          {f->variable, f->begin, f->end, std::abs(loops::step(program_, store->buffer, store->place, f->variable))});
    std::stable_sort(steps.begin(), steps.end(), [](const Steps& a, const Steps& b) { return a.by > b.by; });
    for (size_t k = 0; k < loops.size(); ++k)
      loops[k]->variable = steps[k].variable, loops[k]->begin = steps[k].begin, loops[k]->end = steps[k].end;
  }

  Program& program_;
  std::vector<Record> records_;
  std::vector<Variable> moving_;  // of the loops around
};

}  // namespace

void lay_out_records(Program& p) { RecordLayouts(p).run(); }

}  // namespace anvil::compiler
