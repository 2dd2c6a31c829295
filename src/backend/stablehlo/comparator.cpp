// Keys are found in the graph of a comparator, not in its text: `left` and `right` must be
// the same calls on the left and on the right inputs.
#include "backend/stablehlo/comparator.h"

#include <map>
#include <set>

namespace anvil::stablehlo {
namespace {

using graph::Call;
using graph::Value;

bool same_params(const graph::Params& a, const graph::Params& b) {
  return std::equal(
      a.items.begin(), a.items.end(), b.items.begin(), b.items.end(),
      [](const graph::Param& x, const graph::Param& y) { return x.name == y.name && x.value == y.value; });
}
bool same_literal(const ValuePtr& a, const ValuePtr& b) {
  return a->kind == Value::Kind::literal && b->kind == Value::Kind::literal && same_type(a->type, b->type) &&
         a->literal.rounded_to(a->type.dtype) == b->literal.rounded_to(b->type.dtype);
}

class Comparator {
 public:
  explicit Comparator(const Graph& g) {
    for (const Call& c : g.calls)
      for (const ValuePtr& v : c.outputs) made_[v.get()] = &c;
    for (size_t i = 0; i < g.inputs.size(); ++i) inputs_[g.inputs[i].get()] = i;
  }

  // The keys of a strict order: a comparison, or `first or (equal and rest)` in its spellings.
  std::vector<SortKey> keys(const ValuePtr& v) {
    const Call* c = made(v);
    if (!c) return {};
    const std::string& name = c->primitive->name;
    if (name == "or") {
      for (size_t first : {0, 1})
        if (auto found = lexicographic(c->inputs[first], c->inputs[1 - first]); !found.empty()) return found;
    } else if (name == "select") {
      if (auto found = joined(c->inputs[2], c->inputs[0], c->inputs[1], "equal"); !found.empty()) return found;
      return joined(c->inputs[1], c->inputs[0], c->inputs[2], "not_equal");
    } else if (auto key = comparison(*c)) {
      return {*key};
    }
    return {};
  }

 private:
  const Call* made(const ValuePtr& v) const {
    auto it = made_.find(v.get());
    return it == made_.end() ? nullptr : it->second;
  }
  const Call* made(const ValuePtr& v, std::string_view primitive) const {
    const Call* c = made(v);
    return c && c->primitive->name == primitive ? c : nullptr;
  }

  // Which inputs a value is made of: 1 left ones, 2 right ones, 3 both or what has inner graphs.
  int sides(const ValuePtr& v) {
    if (auto it = inputs_.find(v.get()); it != inputs_.end()) return it->second % 2 == 0 ? 1 : 2;
    const Call* c = made(v);
    if (!c) return 0;
    auto [known, fresh] = sides_.emplace(c, 3);
    if (!fresh) return known->second;
    int all = subgraphs(*c).empty() ? 0 : 3;
    for (const ValuePtr& x : c->inputs) all |= sides(x);
    return sides_[c] = all;
  }

  // Whether `right` is to the right inputs what `left` is to the left ones.
  bool mirrored(const ValuePtr& left, const ValuePtr& right) {
    auto l = inputs_.find(left.get()), r = inputs_.find(right.get());
    if (l != inputs_.end() || r != inputs_.end())
      return l != inputs_.end() && r != inputs_.end() && l->second % 2 == 0 && r->second == l->second + 1;
    if (left == right || same_literal(left, right)) return sides(left) == 0;
    const Call *a = made(left), *b = made(right);
    if (!a || !b || a->primitive != b->primitive || !same_params(a->params, b->params) ||
        a->inputs.size() != b->inputs.size() || !subgraphs(*a).empty())
      return false;
    if (std::find(a->outputs.begin(), a->outputs.end(), left) - a->outputs.begin() !=
        std::find(b->outputs.begin(), b->outputs.end(), right) - b->outputs.begin())
      return false;
    if (!mirrored_.emplace(a, b).second) return true;  // seen, and the walk has not failed
    for (size_t i = 0; i < a->inputs.size(); ++i)
      if (!mirrored(a->inputs[i], b->inputs[i])) {
        mirrored_.erase({a, b});
        return false;
      }
    return true;
  }

  // The left side of a comparison of a key with itself, and whether its sides change places.
  std::optional<std::pair<ValuePtr, bool>> compared(const Call& c) {
    if (c.inputs.size() != 2) return {};
    for (size_t k : {0, 1}) {
      const ValuePtr &left = c.inputs[k], &right = c.inputs[1 - k];
      if (sides(left) == 1 && sides(right) == 2 && mirrored(left, right)) return {{left, k == 1}};
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

  std::vector<SortKey> lexicographic(const ValuePtr& first, const ValuePtr& rest) {
    const Call* both = made(rest, "and");
    if (!both) return {};
    for (size_t k : {0, 1})
      if (auto found = joined(first, both->inputs[k], both->inputs[1 - k], "equal"); !found.empty()) return found;
    return {};
  }
  // `equality` says that the keys of `first` are equal (or not), all of them.
  std::vector<SortKey> joined(const ValuePtr& first, const ValuePtr& equality, const ValuePtr& rest,
                              const char* relation) {
    std::vector<SortKey> all = keys(first);
    if (all.empty() ||
        !(relation == std::string_view("equal") ? says_equal(equality, all)
                                                : all.size() == 1 && relates(equality, all[0], relation)))
      return {};
    std::vector<SortKey> others = keys(rest);
    if (others.empty()) return {};
    all.insert(all.end(), others.begin(), others.end());
    return all;
  }
  bool relates(const ValuePtr& v, const SortKey& key, std::string_view relation) {
    const Call* c = made(v, relation);
    if (!c) return false;
    auto found = compared(*c);
    return found && same_value(found->first, key.left);
  }
  bool says_equal(const ValuePtr& v, const std::vector<SortKey>& keys) {
    std::vector<ValuePtr> parts = {v};
    for (size_t i = 0; i < parts.size(); ++i)
      if (const Call* c = made(parts[i], "and")) {
        parts.insert(parts.end(), c->inputs.begin(), c->inputs.end());
        parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(i--));
      }
    auto about = [&](const SortKey& key) {
      return std::any_of(parts.begin(), parts.end(), [&](const ValuePtr& p) { return relates(p, key, "equal"); });
    };
    return parts.size() == keys.size() && std::all_of(keys.begin(), keys.end(), about);
  }

  // The same value, perhaps computed twice.
  bool same_value(const ValuePtr& a, const ValuePtr& b) {
    if (a == b || same_literal(a, b)) return true;
    const Call *x = made(a), *y = made(b);
    if (!x || !y || x->primitive != y->primitive || !same_params(x->params, y->params) || !subgraphs(*x).empty() ||
        x->outputs.size() != 1 || x->inputs.size() != y->inputs.size())
      return false;
    if (x == y || !same_.emplace(x, y).second) return true;
    for (size_t i = 0; i < x->inputs.size(); ++i)
      if (!same_value(x->inputs[i], y->inputs[i])) {
        same_.erase({x, y});
        return false;
      }
    return true;
  }

  // ---- keys that are an operand ------------------------------------------------------------

  // An operand's elements, perhaps with all zeros or all NaNs made one.
  struct Plain {
    int64_t operand;
    bool one_zero, one_nan;
  };
  std::optional<Plain> plain(const ValuePtr& v) {
    if (auto it = inputs_.find(v.get()); it != inputs_.end())
      return {{static_cast<int64_t>(it->second / 2), false, false}};
    const Call* c = made(v, "select");
    if (!c) return {};
    auto rest = plain(c->inputs[2]);
    const ValuePtr& value = c->inputs[1];
    const Call* test = made(c->inputs[0]);
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
    else if (test->primitive->name == "not_equal" && nan && about(a) && same_value(a, b))
      rest->one_nan = true;
    else
      return {};
    return rest;
  }

  // x, where v is total_order_key(x).
  ValuePtr of_total_order(const ValuePtr& v) {
    Graph pattern;
    const Call *c = made(v, "xor"), *bits = c ? made(c->inputs[0], "bitcast_convert") : nullptr;
    if (!bits || !is_float(bits->inputs[0]->type.dtype)) return nullptr;
    Var key = primitives::total_order_key({&pattern, bits->inputs[0]});
    for (const Call& p : pattern.calls)
      for (const ValuePtr& made_here : p.outputs) made_[made_here.get()] = &p;
    bool equal = same_value(v, key.value);
    for (const Call& p : pattern.calls) {
      for (const ValuePtr& made_here : p.outputs) made_.erase(made_here.get());
      std::erase_if(same_, [&](const auto& pair) { return pair.second == &p; });
    }
    return equal ? bits->inputs[0] : nullptr;
  }

  int64_t ordering_operand(const ValuePtr& key) {
    if (auto found = plain(key)) return found->operand;
    ValuePtr x = of_total_order(key);
    auto found = x ? plain(x) : std::nullopt;
    return found && found->one_zero && found->one_nan ? found->operand : -1;
  }

  std::unordered_map<const Value*, const Call*> made_;
  std::unordered_map<const Value*, size_t> inputs_;
  std::map<const Call*, int> sides_;
  std::set<std::pair<const Call*, const Call*>> mirrored_, same_;
};

}  // namespace

std::vector<SortKey> sort_keys(const Graph& comparator) { return Comparator(comparator).keys(comparator.outputs[0]); }

}  // namespace anvil::stablehlo
