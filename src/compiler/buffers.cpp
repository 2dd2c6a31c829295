// Places of the temporaries in the arena: two temporaries may share memory when no moment
// needs both. A temporary lives from its first access to its last, in the innermost loop
// that contains all of them; where an access sits in a deeper loop, that loop counts as a
// whole, as does a loop whose steps are tasks, which run at once. What each task of a
// parallel loop has for itself lies in the task's own memory.
//
//   t1[i] = ...        t1 at 0
//   t2[i] = t1[i]      t2 at 4096
//   t3[i] = t2[i]      t3 at 0
#include <algorithm>
#include <numeric>
#include <queue>
#include <set>

#include "compiler/passes.h"
#include "compiler/traverse.h"

namespace anvil::compiler {
namespace {

constexpr int64_t alignment = 64;

class Planner {
 public:
  explicit Planner(Program& p)
      : program_(p), home_(p.buffers.size(), -1), interval_(p.buffers.size()), group_(p.buffers.size()) {
    std::iota(group_.begin(), group_.end(), 0);
    nodes_.push_back({-1, 0, 0, 0});
  }

  void run() {
    walk(program_.body, 0, [this](BufferId b, int stmt) {
      int& home = home_[static_cast<size_t>(b)];
      int block = nodes_[static_cast<size_t>(stmt)].parent;
      home = home < 0 ? block : common(home, block);
    });
    for (const auto& [a, b] : swapped_) {  // memory that changes owners lives as long as both
      group_[static_cast<size_t>(find(a))] = find(b);
    }
    for (size_t b = 0; b < home_.size(); ++b) {
      if (home_[b] < 0) continue;
      int& home = home_[static_cast<size_t>(find(static_cast<int>(b)))];
      home = home < 0 ? home_[b] : common(home, home_[b]);
    }
    for (int& home : home_)
      if (home >= 0) home = outside_tasks(home);
    for (const auto& [b, stmt] : accesses_) {
      int group = find(b), home = home_[static_cast<size_t>(group)], n = stmt;
      while (nodes_[static_cast<size_t>(n)].parent != home) n = nodes_[static_cast<size_t>(n)].parent;
      Interval& i = interval_[static_cast<size_t>(group)];
      i.begin = std::min(i.begin, nodes_[static_cast<size_t>(n)].enter);
      i.end = std::max(i.end, nodes_[static_cast<size_t>(n)].leave);
    }
    place();
  }

 private:
  struct Node {
    int parent, depth, enter, leave;
    bool parallel = false;
  };
  struct Interval {
    int begin = INT32_MAX, end = -1;
  };

  int find(int b) const {
    while (group_[static_cast<size_t>(b)] != b) b = group_[static_cast<size_t>(b)];
    return b;
  }
  int common(int a, int b) const {
    while (a != b) {
      int& deeper = nodes_[static_cast<size_t>(a)].depth >= nodes_[static_cast<size_t>(b)].depth ? a : b;
      deeper = nodes_[static_cast<size_t>(deeper)].parent;
    }
    return a;
  }

  // Tasks run at once, so that what one has left another may still need.
  int outside_tasks(int home) const {
    for (int n = home; n >= 0; n = nodes_[static_cast<size_t>(n)].parent)
      if (nodes_[static_cast<size_t>(n)].parallel) home = nodes_[static_cast<size_t>(n)].parent;
    return home;
  }

  template <class F>
  void walk(const Block& block, int parent, F&& f) {
    for (const Stmt& s : block) {
      int id = static_cast<int>(nodes_.size());
      nodes_.push_back({parent, nodes_[static_cast<size_t>(parent)].depth + 1, clock_++, 0});
      each_access(s, [&](BufferId b, const Index*, AccessKind) {
        b = root(program_, b);
        const loops::Buffer& buffer = program_.buffers[static_cast<size_t>(b)];
        if (buffer.kind != loops::Buffer::Kind::temporary || buffer.own) return;
        accesses_.push_back({b, id});
        f(b, id);
      });
      if (auto loop = std::get_if<loops::For>(&s.is)) {
        place_own(loop->own);
        nodes_[static_cast<size_t>(id)].parallel = loop->kind == loops::For::Kind::parallel;
      }
      if (auto swap = std::get_if<loops::Swap>(&s.is)) swapped_.push_back({swap->first, swap->second});
      each_block(s, [&](const Block& inner) { walk(inner, id, f); });
      nodes_[static_cast<size_t>(id)].leave = clock_++;
    }
  }

  void place_own(const std::vector<BufferId>& own) {
    int64_t end = 0;
    for (BufferId b : own) {
      program_.buffers[static_cast<size_t>(b)].offset = end;
      end += room(program_.buffers[static_cast<size_t>(b)]);
    }
  }
  static int64_t room(const loops::Buffer& b) {
    const int64_t size = elements(b.shape) * static_cast<int64_t>(size_of(b.dtype));
    return std::max(alignment, (size + alignment - 1) / alignment * alignment);
  }

  // Best fit among the gaps between the buffers that are alive.
  void place() {
    std::vector<BufferId> order;
    for (size_t b = 0; b < home_.size(); ++b)
      if (home_[b] >= 0) order.push_back(static_cast<BufferId>(b));
    auto interval = [&](BufferId b) -> const Interval& { return interval_[static_cast<size_t>(find(b))]; };
    std::stable_sort(order.begin(), order.end(),
                     [&](BufferId a, BufferId b) { return interval(a).begin < interval(b).begin; });
    struct Placed {
      int64_t offset, size;
      bool operator<(const Placed& o) const { return offset < o.offset; }
    };
    std::set<Placed> alive;
    using End = std::pair<int, Placed>;
    auto later = [](const End& a, const End& b) { return a.first > b.first; };
    std::priority_queue<End, std::vector<End>, decltype(later)> ends(later);
    for (BufferId b : order) {
      loops::Buffer& buffer = program_.buffers[static_cast<size_t>(b)];
      const int64_t size = room(buffer);
      for (; !ends.empty() && ends.top().first < interval(b).begin; ends.pop()) alive.erase(ends.top().second);
      int64_t end = 0, best = -1, best_gap = INT64_MAX;
      for (const Placed& p : alive) {
        int64_t gap = p.offset - end;
        if (gap >= size && gap < best_gap) best = end, best_gap = gap;
        end = p.offset + p.size;
      }
      buffer.offset = best >= 0 ? best : end;
      program_.arena_bytes = std::max(program_.arena_bytes, buffer.offset + size);
      Placed placed{buffer.offset, size};
      alive.insert(placed);
      ends.push({interval(b).end, placed});
    }
  }

  Program& program_;
  std::vector<Node> nodes_;
  std::vector<int> home_;  // the innermost statement around all accesses, 0 for the program
  std::vector<Interval> interval_;
  std::vector<int> group_;
  std::vector<std::pair<BufferId, int>> accesses_;
  std::vector<std::pair<BufferId, BufferId>> swapped_;
  int clock_ = 0;
};

}  // namespace

void plan_buffers(Program& p) {
  p.arena_bytes = 0;
  Planner(p).run();
}

}  // namespace anvil::compiler
