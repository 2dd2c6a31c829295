// Common subexpressions: a table of the calls seen so far, keyed by primitive, operands and
// parameters. Calls of outer graphs are seen inside, those of an inner graph only there.
// Constants of equal content are one, so that calls on them are equal as well.
#include <algorithm>
#include <cstring>

#include "base/interrupt.h"
#include "base/memory.h"
#include "primitives/vocabulary/primitive.h"
#include "transform/rewrite.h"
#include "transform/simplify.h"

namespace anvil::transform {
namespace {

size_t mix(size_t seed, size_t x) { return (seed ^ x) * 0x9e3779b97f4a7c15u + (seed >> 29); }

size_t hash(const graph::TensorType& t) {
  size_t h = mix(static_cast<size_t>(t.dtype), t.ambiguous);
  for (int64_t size : t.shape) h = mix(h, static_cast<size_t>(size));
  return h;
}
// Literals are equal by content, all other values by identity.
bool is_literal(const ValuePtr& v) { return v->kind == Value::Kind::literal; }
size_t hash(const ValuePtr& v) {
  return is_literal(v) ? mix(hash(v->type), v->literal.hash()) : std::hash<const Value*>()(v.get());
}
bool equal(const ValuePtr& a, const ValuePtr& b) {
  return a == b || (is_literal(a) && is_literal(b) && a->type == b->type && a->literal == b->literal);
}

size_t hash(const graph::Param& p) {
  auto list = [](const std::vector<int64_t>& x) {
    size_t h = x.size();
    for (int64_t i : x) h = mix(h, static_cast<size_t>(i));
    return h;
  };
  return std::visit(
      [&]<class T>(const T& x) -> size_t {
        if constexpr (std::is_same_v<T, Scalar>)
          return x.hash();
        else if constexpr (std::is_same_v<T, std::vector<int64_t>>)
          return list(x);
        else if constexpr (std::is_same_v<T, graph::IntegerLists>) {
          size_t h = 0;
          for (const auto& part : x) h = mix(h, list(part));
          return h;
        } else
          return std::hash<T>()(x);
      },
      p.value);
}

struct Key {
  const Call* call;
  size_t hash;
};
struct KeyHash {
  size_t operator()(const Key& k) const { return k.hash; }
};
struct KeyEqual {
  bool operator()(const Key& a, const Key& b) const {
    const Call &x = *a.call, &y = *b.call;
    auto same_param = [](const graph::Param& p, const graph::Param& q) {
      return p.name == q.name && p.value == q.value;
    };
    return a.hash == b.hash && x.primitive == y.primitive &&
           std::equal(x.inputs.begin(), x.inputs.end(), y.inputs.begin(), y.inputs.end(), equal) &&
           std::equal(x.params.items.begin(), x.params.items.end(), y.params.items.begin(), y.params.items.end(),
                      same_param);
  }
};
Key key_of(const Call& call) {
  size_t h = std::hash<const void*>()(call.primitive);
  for (const ValuePtr& v : call.inputs) h = mix(h, hash(v));
  for (const graph::Param& p : call.params.items) h = mix(h, hash(p));
  return {&call, h};
}

// By the type and some of the bytes: large data is read in full only where another constant may be equal.
size_t hash_of_content(const Value& v) {
  size_t h = hash(v.type);
  const size_t size = bytes_of(v.type.dtype, v.type.shape), stride = size / 64 + 1;
  for (size_t i = 0; i < size; i += stride) h = mix(h, static_cast<size_t>(v.constant.as<unsigned char>()[i]));
  return h;
}
bool same_content(const Value& a, const Value& b) {
  if (!(a.type == b.type)) return false;
  const size_t size = bytes_of(a.type.dtype, a.type.shape);
  return size == 0 || std::memcmp(a.constant.as<char>(), b.constant.as<char>(), size) == 0;
}

class EqualCalls {
 public:
  void merge_constants(const Graph& g) {
    std::unordered_multimap<size_t, ValuePtr> seen;
    for (const ValuePtr& v : g.constants) {
      if (v->kind != Value::Kind::constant) continue;
      const size_t h = hash_of_content(*v);
      const auto [first, last] = seen.equal_range(h);
      const auto same = std::find_if(first, last, [&](const auto& other) { return same_content(*other.second, *v); });
      if (same == last)
        seen.emplace(h, v);
      else
        map_[v.get()] = same->second;
    }
  }
  void visit(Graph& g) {
    ++depth_;
    std::vector<Key> added;
    std::vector<Call> kept;
    kept.reserve(g.calls.size());  // keys point into it
    for (Call& call : g.calls) {
      poll();
      substitute_all(map_, call.inputs);
      rewrite_subgraphs(call, [this](Graph& inner) { visit(inner); });
      if (!has_effect(call) && subgraphs(call).empty()) {
        auto seen = table_.find(key_of(call));
        if (seen != table_.end() && (seen->second == depth_ || !primitives::primitive_of(call).view)) {
          for (size_t i = 0; i < call.outputs.size(); ++i) map_[call.outputs[i].get()] = seen->first.call->outputs[i];
          continue;
        }
        kept.push_back(std::move(call));
        if (seen == table_.end()) {
          added.push_back(key_of(kept.back()));
          table_.emplace(added.back(), depth_);
        }
        continue;
      }
      kept.push_back(std::move(call));
    }
    substitute_all(map_, g.outputs);
    for (const Key& key : added) table_.erase(key);
    g.calls = std::move(kept);
    substitute_all(map_, g.constants);  // an inner graph lists what it takes from outside
    Values listed;
    std::erase_if(g.constants, [&](const ValuePtr& v) { return !listed.insert(v.get()).second; });
    --depth_;
  }

 private:
  graph::Substitution map_;
  std::unordered_map<Key, int, KeyHash, KeyEqual> table_;  // and the depth of the graph that makes it
  int depth_ = 0;
};

}  // namespace

void merge_equal_calls(Graph& g) {
  EqualCalls calls;
  calls.merge_constants(g);
  calls.visit(g);
}

}  // namespace anvil::transform
