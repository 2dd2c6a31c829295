// Keys are found in the graph of a comparator, not in its text: `left` and `right` must be
// the same calls on the left and on the right inputs. Values are looked at in the order of
// their calls and nothing is followed twice: text may nest as it likes.
#include "backend/stablehlo/decompositions/comparator.h"

#include <algorithm>
#include <deque>
#include <set>

#include "backend/stablehlo/decompositions/numbering.h"

namespace anvil::stablehlo {
namespace {

using graph::Call;
using graph::Value;

// What combining orders may cost: a comparator beyond that has no keys, which costs time only.
constexpr size_t most_steps = 1 << 22;

class Comparator {
 public:
  explicit Comparator(const Graph& g) : output_(g.outputs[0]), numbers_(g) {
    for (size_t i = 0; i < g.inputs.size(); ++i) plain_[g.inputs[i]] = {static_cast<int64_t>(i / 2), false, false};
    for (const Call& c : g.calls) {
      for (const ValuePtr& v : c.outputs) made_[v] = &c;
      if (c.outputs.size() != 1) continue;
      if (auto p = plain(c)) plain_[c.outputs[0]] = *p;
      if (auto o = order(c)) {
        order_[c.outputs[0]] = static_cast<int>(orders_.size());
        orders_.push_back(std::move(*o));
      }
    }
  }

  std::vector<SortKey> keys() {
    auto it = order_.find(output_);
    return it == order_.end() ? std::vector<SortKey>{} : keys(it->second);
  }

 private:
  // A strict order: by one key, or `first`, and among equals `rest`: numbers in orders_.
  struct Order {
    std::optional<SortKey> key;
    int first = -1, rest = -1;
  };

  const Call* made(const ValuePtr& v) const {
    auto it = made_.find(v);
    return it == made_.end() ? nullptr : it->second;
  }
  const Call* made(const ValuePtr& v, std::string_view primitive) const {
    const Call* c = made(v);
    return c && c->primitive->name == primitive ? c : nullptr;
  }
  int number(const ValuePtr& v) { return numbers_.of(v).number; }

  // ---- orders ------------------------------------------------------------------------------

  // A comparison, or `first or (equal and rest)` in its spellings.
  std::optional<Order> order(const Call& c) {
    const std::string& name = c.primitive->name;
    const std::vector<ValuePtr>& x = c.inputs;
    if (name == "or") {
      for (size_t first : {0, 1})
        if (auto found = lexicographic(x[first], x[1 - first])) return found;
    } else if (name == "select") {
      if (auto found = joined(x[2], x[0], x[1], "equal")) return found;
      return joined(x[1], x[0], x[2], "not_equal");
    } else if (auto key = comparison(c)) {
      return Order{key};
    }
    return {};
  }
  std::optional<Order> lexicographic(const ValuePtr& first, const ValuePtr& rest) {
    const Call* both = made(rest, "and");
    if (!both) return {};
    for (size_t k : {0, 1})
      if (auto found = joined(first, both->inputs[k], both->inputs[1 - k], "equal")) return found;
    return {};
  }
  std::optional<Order> joined(const ValuePtr& first, const ValuePtr& relation, const ValuePtr& rest,
                              std::string_view kind) {
    auto a = order_.find(first), b = order_.find(rest);
    if (a == order_.end() || b == order_.end()) return {};
    std::set<int> keys;
    for (const SortKey& key : this->keys(a->second)) keys.insert(number(key.left));
    if (keys.empty() || (kind == "not_equal" && keys.size() != 1) || related(relation, kind) != keys) return {};
    return Order{{}, a->second, b->second};
  }

  // The keys of an order, each once: where it is equal, it decides nothing later on.
  std::vector<SortKey> keys(int order) {
    std::vector<SortKey> found;
    std::vector<int> next = {order};
    std::set<int> seen, numbers;
    while (!next.empty() && ++steps_ <= most_steps) {
      int k = next.back();
      next.pop_back();
      if (!seen.insert(k).second) continue;
      const Order& o = orders_[static_cast<size_t>(k)];
      if (!o.key)
        next.insert(next.end(), {o.rest, o.first});
      else if (numbers.insert(number(o.key->left)).second)
        found.push_back(*o.key);
    }
    return steps_ <= most_steps ? found : std::vector<SortKey>{};
  }

  // The keys that a value says are equal (or not), by their numbers; none when it says anything else.
  std::set<int> related(const ValuePtr& v, std::string_view kind) {
    std::set<int> found;
    std::vector<ValuePtr> next = {v};
    std::set<const Call*> seen;
    while (!next.empty() && ++steps_ <= most_steps) {
      const Call* c = made(next.back());
      next.pop_back();
      if (!c) return {};
      if (!seen.insert(c).second) continue;
      if (c->primitive->name == "and" && kind == "equal") {
        next.insert(next.end(), c->inputs.begin(), c->inputs.end());
      } else {
        auto key = c->primitive->name == kind ? compared(*c) : std::nullopt;
        if (!key) return {};
        found.insert(number(key->first));
      }
    }
    return steps_ <= most_steps ? found : std::set<int>{};
  }

  // ---- comparisons -------------------------------------------------------------------------

  // The left side of a comparison of a key with itself, and whether its sides change places.
  std::optional<std::pair<ValuePtr, bool>> compared(const Call& c) {
    if (c.inputs.size() != 2) return {};
    for (size_t k : {0, 1}) {
      Numbering::Entry l = numbers_.of(c.inputs[k]), r = numbers_.of(c.inputs[1 - k]);
      if (l.sides == Numbering::left && r.sides == Numbering::right && l.mirrored == r.number)
        return {{c.inputs[k], k == 1}};
    }
    return {};
  }

  // That it may be true of equal elements says nothing: only strict orders have a meaning.
  std::optional<SortKey> comparison(const Call& c) {
    const std::string& name = c.primitive->name;
    bool less = name == "less" || name == "less_equal", greater = name == "greater" || name == "greater_equal";
    if (!less && !greater) return {};
    auto key = compared(c);
    if (!key) return {};
    return {{key->first, greater != key->second, ordering_operand(key->first)}};
  }

  // ---- keys that are an operand ------------------------------------------------------------

  // An operand's elements, perhaps with all zeros or all NaNs made one.
  struct Plain {
    int64_t operand;
    bool one_zero, one_nan;
  };
  std::optional<Plain> plain(const ValuePtr& v) const {
    auto it = plain_.find(v);
    return it == plain_.end() ? std::nullopt : std::optional(it->second);
  }
  std::optional<Plain> plain(const Call& c) {
    if (c.primitive->name != "select") return {};
    auto rest = plain(c.inputs[2]);
    const ValuePtr& value = c.inputs[1];
    const Call* test = made(c.inputs[0]);
    if (!rest || !test || value->kind != Value::Kind::literal || test->inputs.size() != 2) return {};
    auto about = [&](const ValuePtr& x) {
      auto found = plain(x);
      return found && found->operand == rest->operand;
    };
    auto zero = [](const ValuePtr& x) { return x->kind == Value::Kind::literal && x->literal.as<double>() == 0; };
    const ValuePtr &a = test->inputs[0], &b = test->inputs[1];
    bool nan = std::isnan(value->literal.as<double>());
    if (test->primitive->name == "equal" && zero(value) && ((about(a) && zero(b)) || (zero(a) && about(b))))
      rest->one_zero = true;
    else if (test->primitive->name == "not_equal" && nan && about(a) && number(a) == number(b))
      rest->one_nan = true;
    else
      return {};
    return rest;
  }

  // x, where v is total_order_key(x).
  ValuePtr of_total_order(const ValuePtr& v) {
    const Call *c = made(v, "xor"), *bits = c ? made(c->inputs[0], "bitcast_convert") : nullptr;
    if (!bits || !is_float(bits->inputs[0]->type.dtype)) return nullptr;
    Graph pattern;
    Var key = primitives::total_order_key({&pattern, bits->inputs[0]});
    numbers_.add(pattern);
    return number(v) == number(key.value) ? bits->inputs[0] : nullptr;
  }

  int64_t ordering_operand(const ValuePtr& key) {
    if (auto found = plain(key)) return found->operand;
    ValuePtr x = of_total_order(key);
    auto found = x ? plain(x) : std::nullopt;
    return found && found->one_zero && found->one_nan ? found->operand : -1;
  }

  ValuePtr output_;
  Numbering numbers_;
  std::unordered_map<ValuePtr, const Call*> made_;
  std::unordered_map<ValuePtr, Plain> plain_;
  std::unordered_map<ValuePtr, int> order_;  // in orders_
  std::vector<Order> orders_;
  size_t steps_ = 0;
};

}  // namespace

std::vector<SortKey> sort_keys(const Graph& comparator) { return Comparator(comparator).keys(); }

}  // namespace anvil::stablehlo
