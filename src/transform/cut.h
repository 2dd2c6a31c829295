// Minimum cuts: which nodes of a network to take so that no path leads from its sources to its
// sinks around them, at the least sum of their costs (Ford and Fulkerson; Dinic's algorithm).
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace anvil::transform {

class Network {
 public:
  static constexpr int64_t unlimited = INT64_MAX / 4;  // nodes of this cost are never taken

  size_t node(int64_t cost);
  void edge(size_t from, size_t to);
  // What is to be paid where the node comes after the cut.
  void behind(size_t n, int64_t cost) { connect(0, entry(n), cost); }
  void source(size_t n) { connect(0, entry(n), unlimited); }
  void sink(size_t n) { connect(exit(n), 1, unlimited); }
  // Of all cuts of least cost the one next to the sinks or to the sources. Every path has to have a node
  // that may be taken.
  std::vector<size_t> minimum_cut(bool next_to_sinks);

 private:
  // A node is an arc from its entry to its exit; 0 and 1 are what all sources and sinks are joined to.
  struct Arc {
    size_t to;
    int64_t room;
  };
  static size_t entry(size_t n) { return 2 + 2 * n; }
  static size_t exit(size_t n) { return 3 + 2 * n; }
  void connect(size_t from, size_t to, int64_t room);
  bool find_levels();
  int64_t push_along_levels();
  std::vector<bool> joined(size_t end, bool forwards) const;

  std::vector<Arc> arcs_;  // arc k ^ 1 is arc k backwards
  std::vector<std::vector<size_t>> leaving_ = std::vector<std::vector<size_t>>(2);
  std::vector<size_t> level_, next_;
};

}  // namespace anvil::transform
