// Small products of the steps of a loop become one product, of what a loop reads step by step and of what it adds up:
//
//   while                                        %qs = dot_general (%xs, %w)
//     %x = %xs[%i]                               while
//     %q = dot_general (%x, %w)                    %q = %qs[%i]
//
//   while                                        while
//     %q = dot_general (%a, %b)                    %as = %as with %a at %i, %bs = %bs with %b at %i
//     %s = %s + %q                               %s = %s0 + dot_general (%as, %bs)
//
// A product of few rows reads all of %w for them, a sum of few products reads and writes all of %s: they wait for
// memory where one product of all steps computes. What the steps read of a tensor anyway is not kept once more.
#include <algorithm>

#include "base/interrupt.h"
#include "primitives/families/control.h"
#include "primitives/vocabulary/infer.h"
#include "primitives/vocabulary/var.h"
#include "transform/rewrite.h"
#include "transform/step_loop.h"

namespace anvil::transform {
namespace {

using primitives::Acts;
using primitives::Axes;
using primitives::Ints;
using primitives::Var;
using Pairs = graph::IntegerLists;

constexpr int64_t least_steps = 4;
constexpr int64_t few_rows = 128;            // of a step
constexpr int64_t least_products = 1 << 12;  // of a step: less is no work for the kernel of products

bool is_product(const Call& c) {
  const primitives::Primitive& p = primitives::primitive_of(c);
  return p.acts == Acts::contracts && p.axes == Axes::paired;
}
int64_t sum_of_products(const Call& c) { return primitives::primitive_of(c).products(c); }
int64_t size(const ValuePtr& v) { return elements(v->type.shape); }

// Where the operands of a product have what.
struct Sides {
  Pairs contracting, batching;
  explicit Sides(const Call& c)
      : contracting(c.params.get<Pairs>("contracting_dims")), batching(c.params.get<Pairs>("batching_dims")) {}
  // With a further dimension `at` of an operand.
  void make_room(size_t side, int64_t at) {
    for (Pairs* pairs : {&contracting, &batching})
      for (int64_t& d : pairs->at(side))
        if (d >= at) ++d;
  }
  Ints free(size_t side, const ValuePtr& operand) const {
    return primitives::other_axes(operand->type.shape.size(), contracting[side], batching[side]);
  }
  Var product(const Var& lhs, const Var& rhs) const {
    return primitives::dot_general(lhs, rhs, contracting[0], contracting[1], batching[0], batching[1]);
  }
};

class LoopOfProducts : StepLoop {
 public:
  using StepLoop::StepLoop;

  // Ahead of the loop.
  bool read_early() {
    bool any = false;
    body_.calls.clear();
    for (const Call& c : calls_) {
      const bool early = is_product(c) && (is_read_early(c, 0) || is_read_early(c, 1));
      if (!early) body_.calls.push_back(c);
      any = any || early;
    }
    return any;
  }
  // Behind it: `add_up` goes with a loop that is in its place.
  bool find_sums() {
    for (size_t i = 0; i < seen_.carried; ++i) find_sum(i);
    return !sums_.empty();
  }
  void add_up() {
    for (Sum& s : sums_)
      for (size_t side = 0; side < 2; ++side) {
        if (s.reads[side]) continue;
        s.records[side] = record(s.product->inputs[side], s.place ? s.place : number_of_step());
      }
    std::vector<ValuePtr> initial, results;
    std::vector<size_t> places;
    for (const Sum& s : sums_) {
      initial.push_back(seen_.initial(s.carried));
      results.push_back(loop_.outputs[s.carried]);
      places.push_back(s.carried);
    }
    drop_carried(places);
    around_.calls.push_back(loop_);
    for (size_t k = 0; k < sums_.size(); ++k) add_up(sums_[k], initial[k], results[k]);
  }

 private:
  struct Sum {
    size_t carried;
    const Call* product;
    std::vector<const Call*> turns;  // of it, the last one first
    ValuePtr place;
    std::optional<StepRead> reads[2];
    ValuePtr records[2] = {};
  };

  bool is_read_early(const Call& c, size_t side) {
    const auto read = read_of_step(c.inputs[side]);
    const ValuePtr other = invariant(c.inputs[1 - side]);
    if (!read || !other) return false;
    const int64_t steps = read->steps();
    const ValuePtr& result = c.outputs[0];
    if (steps < least_steps || 2 * steps_ < steps || size(result) * sum_of_products(c) < least_products ||
        steps * size_in_bytes(result) > most_kept)
      return false;
    Sides sides(c);
    const ValuePtr& part = c.inputs[side];
    const int64_t rows = elements(primitives::take(part->type.shape, sides.free(side, part)));
    if (rows > few_rows) return false;
    sides.make_room(side, read->dim);
    const Var xs{&around_, read->whole}, w{&around_, other};
    const size_t before = around_.calls.size(), before_in_step = body_.calls.size();
    const Var qs = side == 0 ? sides.product(xs, w) : sides.product(w, xs);
    graph::locate(around_.calls, before, c.location, c.derivative);
    primitives::element({&body_, qs.value}, place_of(c, side, *read, sides), {&body_, read->place});
    graph::locate(body_.calls, before_in_step, c.location, c.derivative);
    body_.calls.back().outputs[0] = result;
    return true;
  }
  // Of the steps in the product: behind the batch, among the free dimensions of their operand.
  static int64_t place_of(const Call& c, size_t side, const StepRead& read, const Sides& sides) {
    const Ints own = sides.free(side, read.whole);
    const auto ahead = static_cast<int64_t>(std::find(own.begin(), own.end(), read.dim) - own.begin());
    const auto batched = static_cast<int64_t>(sides.batching[0].size());
    return batched + ahead + (side == 0 ? 0 : static_cast<int64_t>(sides.free(0, c.inputs[0]).size()));
  }

  void find_sum(size_t i) {
    const ValuePtr &sum = seen_.carry(i), &next = body_.outputs[i];
    const Call* add = maker_of(next);
    if (!add || primitives::primitive_of(*add).op != loops::Op::add || reads(sum) != 1 || reads(next) != 1 ||
        is_tested(i))
      return;
    if (add->inputs[0] != sum && add->inputs[1] != sum) return;
    const DType dtype = sum->type.dtype;
    if (dtype != DType::f32 && dtype != DType::f64) return;  // what is rounded at each step is
    Sum s{i, nullptr, {}, nullptr, {}, {}};
    const Call* term = maker_of(add->inputs[add->inputs[0] == sum ? 1 : 0]);
    while (term && has_axes(*term, Axes::permuted) && reads(term->outputs[0]) == 1) {
      s.turns.push_back(term);
      term = maker_of(term->inputs[0]);
    }
    if (!term || !is_product(*term) || reads(term->outputs[0]) != 1) return;
    s.product = term;
    int64_t kept = 0;
    for (size_t side = 0; side < 2; ++side) {
      if (invariant(term->inputs[side])) return;
      const auto read = read_of_step(term->inputs[side]);
      const bool pairs =
          read && read->steps() == steps_ && (s.place ? read->place == s.place : direction(read->place) != 0);
      if (pairs) {
        s.reads[side] = read;
        s.place = read->place;
      } else {
        kept += size(term->inputs[side]);
      }
    }
    const int64_t products = sum_of_products(*term);
    if (steps_ < least_steps || products > few_rows || products * size(term->outputs[0]) < least_products ||
        kept > size(term->outputs[0]) || kept * steps_ * static_cast<int64_t>(size_of(dtype)) > most_kept)
      return;
    sums_.push_back(s);
  }
  void add_up(const Sum& s, const ValuePtr& initial, const ValuePtr& result) {
    const size_t before = around_.calls.size();
    Sides sides(*s.product);
    Var operands[2];
    for (size_t side = 0; side < 2; ++side) {
      const ValuePtr whole = s.reads[side] ? s.reads[side]->whole : s.records[side];
      const int64_t dim = s.reads[side] ? s.reads[side]->dim : static_cast<int64_t>(whole->type.shape.size()) - 1;
      sides.make_room(side, dim);
      sides.contracting[side].push_back(dim);
      operands[side] = {&around_, whole};
    }
    Var sum = sides.product(operands[0], operands[1]);
    for (auto turn = s.turns.rbegin(); turn != s.turns.rend(); ++turn)
      sum = primitives::transpose(sum, (*turn)->params.ints("permutation"));
    Var{&around_, initial} + sum;
    graph::locate(around_.calls, before, s.product->location, s.product->derivative);
    around_.calls.back().outputs[0] = result;
  }

  std::vector<Sum> sums_;
};

bool makes_products(const Call& loop) {
  const std::vector<Call>& calls = loop.params.graph("body_graph")->calls;
  return std::any_of(calls.begin(), calls.end(), is_product);
}

bool join(Graph& g, bool sums) {
  return rewrite_loops(g, [sums](Graph& around, Call& call, int64_t steps) {
    if (!makes_products(call)) return Rewritten::no;
    LoopOfProducts loop(around, call, steps);
    const bool early = loop.read_early();
    if (!sums || !loop.find_sums()) return early ? Rewritten::in_place : Rewritten::no;
    loop.add_up();
    return Rewritten::with_what_follows;
  });
}

}  // namespace

void join_step_products(Graph& g) { join(g, true); }
bool read_products_early(Graph& g) { return join(g, false); }

}  // namespace anvil::transform
