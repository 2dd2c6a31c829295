// Value numbering (Alpern, Wegman and Zadeck, Detecting equality of variables in programs,
// 1988) of straight-line code: calls are looked up by their primitive, parameters and the
// numbers of their operands.
#include "backend/stablehlo/decompositions/numbering.h"

#include <algorithm>
#include <bit>

namespace anvil::stablehlo {
namespace {

// A call whose parameters have no text that says all about them is equal to no other.
bool is_comparable(const graph::Call& c) {
  return std::none_of(c.params.items.begin(), c.params.items.end(), [](const graph::Param& p) {
    return std::holds_alternative<GraphPtr>(p.value) || std::holds_alternative<Scalar>(p.value);
  });
}

std::string key_of(const graph::Call& c) {
  std::string key = c.primitive->name;
  for (const graph::Param& p : c.params.items) key += ' ' + p.name + '=' + graph::text(p.value, false);
  return key;
}
std::string key_of(const graph::Value& literal) {
  DType t = literal.type.dtype;
  Scalar x = literal.literal.rounded_to(t);
  uint64_t bits = is_float(t) ? std::bit_cast<uint64_t>(x.as<double>()) : x.as<uint64_t>();
  return "literal " + hlo_text(literal.type) + ' ' + std::to_string(bits);
}

}  // namespace

Numbering::Numbering(const Graph& comparator) {
  for (size_t i = 0; i < comparator.inputs.size(); ++i) {
    bool is_left = i % 2 == 0;
    int number = fresh(), partner = is_left ? number + 1 : number - 1;
    entries_[comparator.inputs[i]] = {number, partner, is_left ? left : right};
  }
  add(comparator);
}

void Numbering::add(const Graph& g) {
  for (const graph::Call& c : g.calls) add(c);
}

int Numbering::number_of(const std::string& key) {
  auto [it, is_new] = numbers_.try_emplace(key, next_);
  if (is_new) ++next_;
  return it->second;
}

const Numbering::Entry& Numbering::of(const ValuePtr& v) {
  auto [it, is_new] = entries_.try_emplace(v);
  if (is_new) {
    int number = v->kind == graph::Value::Kind::literal ? number_of(key_of(*v)) : fresh();
    it->second = {number, number, neither};
  }
  return it->second;
}

void Numbering::add(const graph::Call& c) {
  if (!is_comparable(c)) {
    for (const ValuePtr& v : c.outputs) entries_[v] = {fresh(), fresh(), both};
    return;
  }
  std::string key = key_of(c), mirrored = key;
  uint8_t sides = neither;
  for (const ValuePtr& v : c.inputs) {
    const Entry& e = of(v);
    key += ' ' + std::to_string(e.number);
    mirrored += ' ' + std::to_string(e.mirrored);
    sides |= e.sides;
  }
  for (size_t k = 0; k < c.outputs.size(); ++k) {
    std::string result = " -> " + std::to_string(k);
    entries_[c.outputs[k]] = {number_of(key + result), number_of(mirrored + result), sides};
  }
}

}  // namespace anvil::stablehlo
