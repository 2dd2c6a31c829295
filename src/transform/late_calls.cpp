// Calls of the steps of a loop on what it leaves behind only, records and sums, made behind it: step_calls.cpp.
#include <algorithm>

#include "primitives/families/control.h"
#include "transform/all_steps.h"
#include "transform/step_loop.h"

namespace anvil::transform {
namespace {

using namespace step_costs;
using primitives::Var;

using Ints = std::vector<int64_t>;

constexpr int least_saved = 8;   // by what moves
constexpr int least_by_one = 3;  // by each value that is left behind

// A call that gives its operand in another shape.
bool says_again(const Call& c) {
  return (has_axes(c, primitives::Axes::regrouped) || has_axes(c, primitives::Axes::spread)) && !c.inputs.empty() &&
         elements(c.inputs[0]->type.shape) == elements(c.outputs[0]->type.shape);
}

class LateCalls : StepLoop {
 public:
  using StepLoop::StepLoop;

  bool find() {
    for (size_t i = 0; i < seen_.carried; ++i)
      if (!is_tested(i) && reads(seen_.carry(i)) == 1) find(i);
    if (left_.size() > most_left) left_.clear();
    all_ = left_;
    std::erase_if(left_, [&](const Left& x) { return saved_by({x}) < least_by_one; });
    if (left_.empty() || saved_by(left_) < least_saved || plan_.late.size() > most_moved) return false;
    int64_t bytes = 0;
    for (const ValuePtr& v : plan_.kept) bytes += steps_ * size_in_bytes(v);
    return bytes <= most_kept;
  }

  void move() {
    AllSteps all(around_, steps_);
    std::vector<std::pair<ValuePtr, ValuePtr>> records;
    for (const ValuePtr& v : plan_.kept)
      if (!recorded(v)) records.push_back({v, StepLoop::record(v, number_of_step())});
    std::vector<size_t> places;
    std::vector<ValuePtr> initial;
    for (const Left& x : left_) {
      places.push_back(x.carried);
      initial.push_back(seen_.initial(x.carried));
    }
    for (const ValuePtr& v : plan_.known) {
      if (const ValuePtr outside = invariant(v)) {
        all.same(v, outside);
      } else {
        const auto read = read_of_step(v);
        all.set(v, all.turned(read->whole, read->dim, direction(read->place) < 0));
      }
    }
    drop_carried(places);
    around_.calls.push_back(loop_);
    for (const auto& [v, record] : records) all.set(v, {&around_, record});
    for (const ValuePtr& v : plan_.kept) {
      const Left* there = recorded(v);
      if (!there) continue;
      const Var whole = all.turned(there->result, there->dim, there->backwards);
      all.set(v, primitives::reshape(whole, all.shape(v->type.shape)));
    }
    for (const Call* c : plan_.late) all.add(*c);
    for (size_t k = 0; k < left_.size(); ++k) {
      const size_t before = around_.calls.size();
      add_result(left_[k], initial[k], all);
      graph::locate(around_.calls, before, left_[k].call->location, left_[k].call->derivative);
    }
  }

 private:
  static constexpr size_t most_left = 64;

  // A carried value that is a record of all steps, or a sum over them.
  struct Left {
    size_t carried;
    ValuePtr result;
    const Call* call;
    std::vector<std::pair<double, ValuePtr>> terms;
    int64_t dim = -1;  // of the steps, in a record
    bool backwards = false;
    bool is_record() const { return dim >= 0; }
  };
  struct Plan {
    std::vector<const Call*> late;
    std::vector<ValuePtr> kept, known;  // that these read
    std::vector<bool> leaves;           // which carried values
  };

  void find(size_t i) {
    const ValuePtr& next = body_.outputs[i];
    const Call* c = maker_of(next);
    if (!c || reads(next) != 1) return;
    const bool records = primitives::primitive_of(*c).updates;
    if (!is_few(records ? c->inputs[1] : next)) return;
    if (records)
      find_record(i, *c);
    else if (Left sum{i, loop_.outputs[i], c, {}}; add_terms(next, seen_.carry(i), 1, sum.terms))
      left_.push_back(std::move(sum));
  }
  void find_record(size_t i, const Call& c) {
    if (c.inputs[0] != seen_.carry(i)) return;
    const Shape& whole = c.inputs[0]->type.shape;
    const auto d = sliced_dimension(whole, c.inputs[1]->type.shape);
    if (!d || whole[*d] != steps_ || direction(c.inputs[2 + *d]) == 0) return;
    left_.push_back(
        {i, loop_.outputs[i], &c, {{1, c.inputs[1]}}, static_cast<int64_t>(*d), direction(c.inputs[2 + *d]) < 0});
  }
  // Whether v is `sum` and terms besides, none of which anybody else reads.
  bool add_terms(const ValuePtr& v, const ValuePtr& sum, double sign, std::vector<std::pair<double, ValuePtr>>& terms) {
    if (v == sum) return sign > 0;
    const Call* c = maker_of(v);
    if (!c || reads(v) != 1 || v->type.shape != sum->type.shape) return false;
    const DType dtype = v->type.dtype;
    if (dtype != DType::f32 && dtype != DType::f64 && !is_integer(dtype)) return false;  // what is rounded each time is
    const auto op = primitives::primitive_of(*c).op;
    if (op != loops::Op::add && op != loops::Op::sub) return false;
    for (size_t side = 0; side < 2; ++side) {
      if (side == 1 && op == loops::Op::sub) break;
      if (!add_terms(c->inputs[side], sum, sign, terms)) continue;
      terms.push_back({op == loops::Op::sub ? -sign : sign, c->inputs[1 - side]});
      return true;
    }
    return false;
  }

  // What records a value already, and stays.
  const Left* recorded(const ValuePtr& v) const {
    for (const Left& x : all_) {
      if (!x.is_record() || plan_.leaves[x.carried]) continue;
      ValuePtr source = x.terms[0].second;
      for (const Call* c = maker_of(source); source != v && c && says_again(*c); c = maker_of(source))
        source = c->inputs[0];
      if (source == v) return &x;
    }
    return nullptr;
  }

  // What moves when these do: calls that nobody else needs.
  Plan plan(const std::vector<Left>& left) {
    Plan p;
    Values needed, wanted;
    std::vector<bool>& leaves = p.leaves;
    leaves.resize(body_.outputs.size());
    for (const Left& x : left) {
      leaves[x.carried] = true;
      for (const auto& [sign, v] : x.terms) wanted.insert(v.get());
    }
    for (size_t i = 0; i < body_.outputs.size(); ++i)
      if (!leaves[i]) needed.insert(body_.outputs[i].get());
    for (size_t k = calls_.size(); k-- > 0;) {
      const Call& c = calls_[k];
      const bool is_wanted = makes_any_of(c, wanted);
      if (!makes_any_of(c, needed) && !primitives::primitive_of(c).effect && !(is_wanted && !moves(c))) {
        if (!is_wanted) continue;
        p.late.push_back(&c);
        for (const ValuePtr& v : c.inputs) wanted.insert(v.get());
        continue;
      }
      for (const ValuePtr& v : c.inputs) needed.insert(v.get());
      for (const GraphPtr& inner : subgraphs(c))
        for (const ValuePtr& v : captures(*inner)) needed.insert(v.get());
    }
    std::reverse(p.late.begin(), p.late.end());
    Values made;
    const auto read = [&](const ValuePtr& v) {
      if (!made.insert(v.get()).second) return;
      (invariant(v) || is_known(v) ? p.known : p.kept).push_back(v);
    };
    for (const Call* c : p.late) made.insert(c->outputs[0].get());
    for (const Call* c : p.late)
      for (const ValuePtr& v : c->inputs) read(v);
    for (const Left& x : left)
      for (const auto& [sign, v] : x.terms) read(v);
    return p;
  }
  // The read of a step is a call that could move, and one that nothing gains by.
  bool moves(const Call& c) const { return can_move(c) && !read_of_step(c.outputs[0]); }
  bool is_known(const ValuePtr& v) {
    const auto read = read_of_step(v);
    return read && read->steps() == steps_ && direction(read->place) != 0;
  }
  int saved_by(const std::vector<Left>& left) {
    plan_ = plan(left);
    int saved = 0;
    for (const ValuePtr& v : plan_.kept)
      if (!recorded(v)) saved -= of_record;
    for (const Call* c : plan_.late) saved += cost_of_moved(*c);
    for (const Left& x : left) saved += x.is_record() ? of_record : of_waiting;
    return saved;
  }

  // By calls, of which the last one gives the result.
  void add_result(const Left& x, const ValuePtr& initial, const AllSteps& all) {
    const graph::TensorType& type = x.result->type;
    const Shape step = x.is_record() ? x.call->inputs[1]->type.shape : type.shape;
    const auto rank = static_cast<int64_t>(step.size());
    std::optional<Var> total;
    for (const auto& [sign, v] : x.terms) {
      const Var term = all.of(v, step);
      total = sign > 0 ? (total ? *total + term : term) : (total ? *total : literal(term, 0)) - term;
    }
    if (x.is_record()) {
      // its dimension of one step, and the steps at the end, change places
      Ints order;
      for (int64_t d = 0; d < rank; ++d) order.push_back(d == x.dim ? rank : d);
      order.push_back(x.dim);
      const Var whole = primitives::reshape(primitives::transpose(*total, order), type.shape);
      if (x.backwards) primitives::reverse(whole, {x.dim});
    } else {
      Var{&around_, initial} + primitives::reduce_sum(*total, {rank});
    }
    around_.calls.back().outputs[0] = x.result;
  }

  std::vector<Left> all_, left_;  // that could move, and that do
  Plan plan_;
};

}  // namespace

bool move_late(Graph& around, Call& loop, int64_t steps) {
  LateCalls late(around, loop, steps);
  if (!late.find()) return false;
  late.move();
  return true;
}

}  // namespace anvil::transform
