// Sums of squares around a mean, which is a sum of the same numbers, read all of these twice:
//
//   %1 = reduce_sum [dims = 1] (%x)             Variance of more than a cache holds is one pass over memory where
//   %m = divide(%1, n)                          blocks, which a cache does hold, have means of their own, a, to be
//   %d = sub(%x, %m)                            centred around. For any numbers a and b
//   %q = mul(%d, %d)
//   %v = reduce_sum [dims = 1] (%q)               sum (x - m) (y - n) = sum over blocks of
//                                                   sum (x - a) (y - b) + (a - m) sum (y - b) + (b - n) sum (x - a)
//                                                   + size (a - m) (b - n)
//
// so that it does not matter how a block's mean is rounded. Covariances, with two means, are sums of this kind as well.
// (Chan, Golub and LeVeque, Algorithms for computing the sample variance, 1983, merge blocks of exact means.)
#include <algorithm>
#include <map>
#include <numeric>
#include <optional>

#include "base/interrupt.h"
#include "primitives/families/monoid.h"
#include "primitives/vocabulary/infer.h"
#include "primitives/vocabulary/var.h"
#include "transform/rewrite.h"
#include "transform/simplify.h"

namespace anvil::transform {
namespace {

using primitives::Axes;
using primitives::Ints;
using primitives::Var;

constexpr int64_t usual_block = 4096, least_block = 2048;  // elements: the first cache holds two such blocks of f64

bool is_sum(const Call& c) {
  const primitives::Primitive& p = primitives::primitive_of(c);
  const DType dtype = c.inputs.empty() ? DType::boolean : c.inputs[0]->type.dtype;
  return p.axes == Axes::reduced && p.monoid && p.monoid->op == loops::Op::add &&
         (dtype == DType::f32 || dtype == DType::f64);
}
bool is(const Call* c, loops::Op op) { return c && primitives::primitive_of(*c).op == op; }

// The dimensions of a sum, if they are the first ones, so that what is added up lies together; none otherwise.
size_t first_dimensions(const Call& sum) {
  Ints dims = sum.params.ints("dims");
  std::sort(dims.begin(), dims.end());
  for (size_t k = 0; k < dims.size(); ++k)
    if (dims[k] != static_cast<int64_t>(k)) return 0;
  return dims.size();
}

// The elements of a tensor that are added up for each result, in blocks, and in what is left of them.
class Blocks {
 public:
  Blocks(Graph& g, const ValuePtr& x, size_t dims) : graph_(g) {
    const Shape& shape = x->type.shape;
    const auto end = shape.begin() + static_cast<std::ptrdiff_t>(dims);
    rest_.assign(end, shape.end());
    length_ = std::accumulate(shape.begin(), end, int64_t(1), std::multiplies<>());
    for (block_ = usual_block; block_ > least_block && length_ % block_ != 0;) --block_;
    if (length_ % block_ != 0) block_ = usual_block;
    const Var whole = reshape(Var{&graph_, x}, with({length_}));
    const int64_t covered = length_ / block_ * block_;
    parts_ = reshape(part(whole, 0, covered), with({block_, length_ / block_}));
    if (covered < length_) left_ = part(whole, covered, length_);
    sums_ = reduce_sum(parts_, {0});
    means_ = sums_ / static_cast<double>(block_);
    differences_ = parts_ - in_each(means_, parts_);
    remainders_ = reduce_sum(differences_, {0});
  }

  Var sum() const {
    const Var all = reduce_sum(sums_, {0});
    return left_ ? all + reduce_sum(*left_, {0}) : all;
  }
  // What the blocks of both are to be added up of, before their means are known.
  static Var products(const Blocks& x, const Blocks& y) { return reduce_sum(x.differences_ * y.differences_, {0}); }
  static Var sum_around(const Blocks& x, const Var& m, const Blocks& y, const Var& n, const Var& products) {
    const Var a = x.means_ - in_each(m, x.means_), b = y.means_ - in_each(n, y.means_);
    const Var of_blocks = products + a * y.remainders_ + b * x.remainders_ + static_cast<double>(x.block_) * (a * b);
    const Var all = reduce_sum(of_blocks, {0});
    if (!x.left_) return all;
    const Var u = *x.left_ - in_each(m, *x.left_), v = *y.left_ - in_each(n, *y.left_);
    return all + reduce_sum(u * v, {0});
  }
  // Of a tensor of x's shape whose elements are the same along what is added up, one of each.
  Var one_of_each(const ValuePtr& v) const {
    return reshape(part(reshape(Var{&graph_, v}, with({length_})), 0, 1), rest_);
  }

 private:
  Shape with(Shape first) const {
    append(first, rest_);
    return first;
  }
  // Along the first dimension.
  static Var part(const Var& x, int64_t from, int64_t to) {
    if (from == 0 && to == x.shape()[0]) return x;
    Ints starts(x.shape().size(), 0), strides(x.shape().size(), 1);
    Shape limits = x.shape();
    starts[0] = from;
    limits[0] = to;
    return slice(x, starts, limits, strides);
  }
  // x at all places of the dimension that `like` has ahead of its own.
  static Var in_each(const Var& x, const Var& like) {
    return broadcast_in_dim(x, like.shape(), primitives::other_axes(like.shape().size(), {0}));
  }

  Graph& graph_;
  Shape rest_;
  int64_t length_, block_;
  Var parts_, sums_, means_, differences_, remainders_;
  std::optional<Var> left_;
};

class CentredSums {
 public:
  explicit CentredSums(int64_t least_bytes) : least_bytes_(least_bytes) {}

  bool visit(Graph& g) {
    bool any = false;
    std::vector<Call> calls = std::move(g.calls);
    g.calls.clear();
    for (Call& c : calls) rewrite_subgraphs(c, [&](Graph& inner) { any = visit(inner) || any; });
    makers_.clear(), sums_.clear(), found_.clear();
    for (size_t k = 0; k < calls.size(); ++k) {
      poll();
      for (const ValuePtr& v : calls[k].outputs) makers_[v.get()] = &calls[k];
      if (is_sum(calls[k])) find(calls, k);
    }
    if (found_.empty()) {
      g.calls = std::move(calls);
      return any;
    }
    replace(g, calls);
    return true;
  }

 private:
  using Terms = std::pair<ValuePtr, size_t>;  // a tensor, and how many of its dimensions are added up
  static Terms terms_of(const Call& sum) { return {sum.inputs[0], first_dimensions(sum)}; }
  struct Side {
    Terms terms;
    ValuePtr spread_mean;
  };
  struct Centred {
    Side x, y;
    size_t known;  // the call behind which the sums of both are there
  };

  const Call* maker(const ValuePtr& v) const {
    const auto found = makers_.find(v.get());
    return found == makers_.end() ? nullptr : found->second;
  }

  void find(const std::vector<Call>& calls, size_t k) {
    const Call& sum = calls[k];
    const Terms terms = terms_of(sum);
    const auto& [squares, dims] = terms;
    if (dims == 0 || !is_long(sum)) return;
    sums_.try_emplace(terms, k);
    const Call* product = maker(squares);
    if (!is(product, loops::Op::mul)) return;
    const auto x = side(product->inputs[0], dims), y = side(product->inputs[1], dims);
    if (x && y) found_[k] = {*x, *y, std::max(sums_.at(x->terms), sums_.at(y->terms))};
  }
  bool is_long(const Call& sum) const {
    const ValuePtr& x = sum.inputs[0];
    const int64_t results = elements(sum.outputs[0]->type.shape);
    return results > 0 && elements(x->type.shape) / results >= 2 * usual_block &&
           size_in_bytes(x) / results >= least_bytes_;
  }
  // x - m where m is made of a sum of x and the same for all that are added up.
  std::optional<Side> side(const ValuePtr& difference, size_t dims) const {
    const Call* c = maker(difference);
    if (!is(c, loops::Op::sub)) return std::nullopt;
    const Side s{{c->inputs[0], dims}, c->inputs[1]};
    const auto sum = sums_.find(s.terms);
    const Call* spread = maker(s.spread_mean);
    if (sum == sums_.end() || !spread || !has_axes(*spread, Axes::spread)) return std::nullopt;
    const Ints places = spread->params.ints("broadcast_dimensions");
    for (size_t d = 0; d < places.size(); ++d)
      if (places[d] < static_cast<int64_t>(dims) && spread->inputs[0]->type.shape[d] != 1) return std::nullopt;
    return is_made_of(spread->inputs[0], s.terms, few_calls) ? std::optional(s) : std::nullopt;
  }
  bool is_made_of(const ValuePtr& v, const Terms& terms, int depth) const {
    const Call* c = maker(v);
    if (!c || depth == 0) return false;
    if (is_sum(*c) && terms_of(*c) == terms) return true;
    return std::any_of(c->inputs.begin(), c->inputs.end(),
                       [&](const ValuePtr& x) { return is_made_of(x, terms, depth - 1); });
  }

  void replace(Graph& g, const std::vector<Call>& calls) {
    std::map<Terms, std::optional<Blocks>> blocks;
    std::map<size_t, Var> products;  // by the sum that they are for
    for (const auto& [k, centred] : found_)
      for (const Side* s : {&centred.x, &centred.y}) blocks[s->terms];
    for (size_t k = 0; k < calls.size(); ++k) {
      const Call& c = calls[k];
      const size_t before = g.calls.size();
      const auto of = is_sum(c) ? blocks.find(terms_of(c)) : blocks.end();
      if (of != blocks.end()) {
        auto& [terms, made] = *of;
        if (!made) made.emplace(g, terms.first, terms.second);
        give(g, c, made->sum());
      } else if (const auto found = found_.find(k); found != found_.end()) {
        const Centred& s = found->second;
        const Blocks &x = *blocks.at(s.x.terms), &y = *blocks.at(s.y.terms);
        give(g, c,
             Blocks::sum_around(x, x.one_of_each(s.x.spread_mean), y, y.one_of_each(s.y.spread_mean), products.at(k)));
      } else {
        g.calls.push_back(c);
        continue;
      }
      for (const auto& [at, s] : found_)
        if (s.known == k) products[at] = Blocks::products(*blocks.at(s.x.terms), *blocks.at(s.y.terms));
      graph::locate(g.calls, before, c.location, c.derivative);
    }
  }
  // The result of a call is what was made in its place.
  static void give(Graph& g, const Call& c, const Var& x) {
    reshape(x, c.outputs[0]->type.shape);
    g.calls.back().outputs[0] = c.outputs[0];
  }

  static constexpr int few_calls = 8;  // from a sum to the mean that is made of it
  int64_t least_bytes_;
  std::unordered_map<const Value*, const Call*> makers_;
  std::map<Terms, size_t> sums_;     // the first call that makes it
  std::map<size_t, Centred> found_;  // by the call
};

}  // namespace

bool block_centred_sums(Graph& g, int64_t least_bytes) {
  const KeptValues kept(g);
  return CentredSums(least_bytes).visit(g);
}

}  // namespace anvil::transform
