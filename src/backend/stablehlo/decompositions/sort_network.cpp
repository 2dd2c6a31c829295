// A bitonic sorting network: whole tensors are compared with themselves, shifted by powers of
// two, and each element takes the smaller or the larger of the two. What is sorted is the
// position, carried along, which also settles ties; the operands then follow by sorts of ours,
// so that derivatives do not go through the network.
#include "backend/stablehlo/decompositions/comparator.h"
#include "primitives/families/control.h"
#include "primitives/vocabulary/region.h"

namespace anvil::stablehlo {
namespace {

using namespace primitives;

// The state of the loop: the size of the blocks that are being sorted, the distance of the
// elements that are compared, positions, elements. Positions from n on are padding, behind all.
class Network {
 public:
  Network(Importer& in, const Graph& comparator, const Vars& operands, int64_t dim)
      : in_(in), comparator_(comparator), dim_(dim), n_(operands[0].shape()[static_cast<size_t>(dim)]) {
    shape_ = operands[0].shape();
    while (size_ < n_) size_ *= 2;
    shape_[static_cast<size_t>(dim)] = size_;
    Var two = literal(in.graph(), 2, scalar), one = literal(in.graph(), 1, scalar);
    state_ = {two, one, iota(in.graph(), dim, DType::i64, shape_)};
    Ints none(shape_.size(), 0), behind = none;
    behind[static_cast<size_t>(dim)] = size_ - n_;
    for (const Var& x : operands) state_.push_back(pad(x, literal(in.graph(), 0, {x.dtype(), {}}), none, behind, none));
  }

  // The position in the operands of each element of the sorted ones.
  Var order() {
    const auto go_on = [this](Graph&, const Vars& now) { return now[0] <= static_cast<double>(size_); };
    Var positions = loop(in_.graph(), state_, go_on, [this](Graph& g, const Vars& own) { return step(g, own); })[2];
    Ints starts(shape_.size(), 0), limits = shape_;
    limits[static_cast<size_t>(dim_)] = n_;
    return slice(positions, starts, limits, Ints(shape_.size(), 1));
  }

 private:
  inline static const TensorType scalar{DType::i64, {}};

  // x[(i + distance) mod size], and x[(i - distance) mod size] where `back` is.
  Var partner(const Var& x, const Var& distance, const Var& back) const {
    auto shifted = [&](const Var& by) {
      Vars starts(shape_.size(), literal(*x.graph, 0, scalar));
      starts[static_cast<size_t>(dim_)] = by;
      return dynamic_slice(concatenate({x, x}, dim_), starts, shape_);
    };
    Var ahead = shifted(distance), behind = shifted(double(size_) - distance);
    return select(back, behind, ahead);
  }
  Var holds(Graph& g, const Vars& left, const Vars& right) const {
    Vars arguments;
    for (size_t k = 3; k < left.size(); ++k) arguments.insert(arguments.end(), {left[k], right[k]});
    return lift(g, comparator_, arguments, shape_)[0];
  }
  Vars step(Graph& g, const Vars& own) const {
    Var block = own[0], distance = own[1], index = iota(g, dim_, DType::i64, shape_);
    auto bit = [&](const Var& of) { return (index & broadcast_to_like(of, index)) != 0.0; };
    Var back = bit(distance);
    Vars other = own;
    for (size_t k = 2; k < own.size(); ++k) other[k] = partner(own[k], distance, back);
    Var first = own[2] < other[2], padding = maximum(own[2], other[2]) >= double(n_);
    Var before = select(padding, first, holds(g, own, other) | ((!holds(g, other, own)) & first));
    Var keep = before == (back == bit(block));
    Var half = record("shift_right_logical", {distance, literal(distance, 1)});
    Var last = half == 0.0;
    Vars next = {select(last, block + block, block), select(last, block, half)};
    for (size_t k = 2; k < own.size(); ++k) next.push_back(select(keep, own[k], other[k]));
    return next;
  }

  Importer& in_;
  const Graph& comparator_;
  int64_t dim_, n_, size_ = 1;
  Shape shape_;
  Vars state_;
};

}  // namespace

Vars sort_by_network(Importer& in, const Graph& comparator, const Vars& operands, int64_t dim) {
  if (operands[0].shape()[static_cast<size_t>(dim)] <= 1 || elements(operands[0].shape()) == 0) return operands;
  Var order = Network(in, comparator, operands, dim).order();
  Var rank = primitives::sort({order, iota(in.graph(), dim, DType::i64, order.shape())}, dim)[1];
  Vars columns = {rank};
  columns.insert(columns.end(), operands.begin(), operands.end());
  Vars sorted = sort(columns, dim);
  sorted.erase(sorted.begin());
  return sorted;
}

}  // namespace anvil::stablehlo
