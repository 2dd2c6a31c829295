#include "transform/cut.h"

#include <algorithm>

#include "base/error.h"
#include "base/interrupt.h"

namespace anvil::transform {

size_t Network::node(int64_t cost) {
  const size_t n = (leaving_.size() - 2) / 2;
  leaving_.resize(leaving_.size() + 2);
  connect(entry(n), exit(n), cost);
  return n;
}

void Network::edge(size_t from, size_t to) { connect(exit(from), entry(to), unlimited); }

void Network::connect(size_t from, size_t to, int64_t room) {
  leaving_[from].push_back(arcs_.size());
  arcs_.push_back({to, room});
  leaving_[to].push_back(arcs_.size());
  arcs_.push_back({from, 0});
}

// Distances from the sources over arcs that have room.
bool Network::find_levels() {
  constexpr size_t unreached = SIZE_MAX;
  level_.assign(leaving_.size(), unreached);
  std::vector<size_t> reached = {0};
  level_[0] = 0;
  for (size_t i = 0; i < reached.size(); ++i)
    for (size_t a : leaving_[reached[i]])
      if (arcs_[a].room > 0 && level_[arcs_[a].to] == unreached) {
        level_[arcs_[a].to] = level_[reached[i]] + 1;
        reached.push_back(arcs_[a].to);
      }
  return level_[1] != unreached;
}

// One path along the levels, filled; 0 when there is none left.
int64_t Network::push_along_levels() {
  std::vector<size_t> path;
  for (size_t at = 0; at != 1;) {
    if (next_[at] < leaving_[at].size()) {
      const size_t a = leaving_[at][next_[at]];
      if (arcs_[a].room > 0 && level_[arcs_[a].to] == level_[at] + 1) {
        path.push_back(a);
        at = arcs_[a].to;
      } else {
        ++next_[at];
      }
    } else {  // a dead end
      if (path.empty()) return 0;
      at = arcs_[path.back() ^ 1].to;
      path.pop_back();
      ++next_[at];
    }
  }
  int64_t flow = unlimited;
  for (size_t a : path) flow = std::min(flow, arcs_[a].room);
  for (size_t a : path) {
    arcs_[a].room -= flow;
    arcs_[a ^ 1].room += flow;
  }
  return flow;
}

// What is reached from one end over arcs that have room.
std::vector<bool> Network::joined(size_t end, bool forwards) const {
  std::vector<bool> found(leaving_.size(), false);
  std::vector<size_t> reached = {end};
  found[end] = true;
  for (size_t i = 0; i < reached.size(); ++i)
    for (size_t a : leaving_[reached[i]]) {
      const size_t other = arcs_[a].to;
      if (arcs_[forwards ? a : a ^ 1].room == 0 || found[other]) continue;
      found[other] = true;
      reached.push_back(other);
    }
  return found;
}

std::vector<size_t> Network::minimum_cut(bool next_to_sinks) {
  while (find_levels()) {
    next_.assign(leaving_.size(), 0);
    for (int64_t flow = 1; flow > 0;) {
      poll();
      flow = push_along_levels();
      if (flow >= unlimited) throw InternalError("a path of a network cannot be cut");
    }
  }
  const std::vector<bool> side = joined(next_to_sinks ? 1 : 0, !next_to_sinks);
  std::vector<size_t> cut;
  for (size_t n = 0; exit(n) < leaving_.size(); ++n)
    if (side[entry(n)] != side[exit(n)] && side[next_to_sinks ? exit(n) : entry(n)]) cut.push_back(n);
  return cut;
}

}  // namespace anvil::transform
