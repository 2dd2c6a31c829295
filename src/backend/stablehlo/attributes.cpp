#include "backend/stablehlo/attributes.h"

#include <algorithm>

#include "backend/stablehlo/layout.h"

namespace anvil::stablehlo {

using graph::TensorType;

const Attribute* find(const Operation& op, std::initializer_list<const char*> names) {
  for (const char* n : names)
    if (auto it = op.attributes.find(n); it != op.attributes.end()) return &it->second;
  return nullptr;
}
const Attribute& need(const Operation& op, std::initializer_list<const char*> names) {
  const Attribute* a = find(op, names);
  if (!a) refuse(op.at, "`" + op.name + "` needs the attribute `" + *names.begin() + "`");
  return *a;
}
int64_t integer(const Operation& op, const Attribute& a) {
  if (auto x = std::get_if<int64_t>(&a.value)) return *x;
  if (auto x = std::get_if<bool>(&a.value)) return *x;
  refuse(op.at, "an attribute of `" + op.name + "` should be an integer");
}
Ints ints(const Operation& op, const Attribute& a) {
  Ints v;
  if (auto items = std::get_if<std::vector<Attribute>>(&a.value)) {
    for (const Attribute& item : *items) v.push_back(integer(op, item));
  } else if (auto d = std::get_if<Dense>(&a.value)) {
    graph::Tensor t = dense_tensor(*d, op.at);
    RowMajorWalk walk(t.type.shape);
    for (int64_t i = 0; i < elements(t.type.shape); ++i, walk.next())
      v.push_back(graph::element(t, walk.position()).as<int64_t>());
  } else {
    refuse(op.at, "an attribute of `" + op.name + "` should be a list of integers");
  }
  return v;
}
Ints ints_or(const Operation& op, std::initializer_list<const char*> names, Ints otherwise) {
  const Attribute* a = find(op, names);
  return a ? ints(op, *a) : otherwise;
}
bool flag(const Operation& op, const char* name, bool otherwise) {
  const Attribute* a = find(op, {name});
  return a ? integer(op, *a) != 0 : otherwise;
}
std::string word(const Operation& op, const char* name) {
  if (const Attribute* a = find(op, {name}))
    if (auto w = std::get_if<Word>(&a->value)) return w->text;
  return "";
}
Ints field(const Operation& op, const Dictionary& d, const char* name) {
  auto it = d.find(name);
  return it == d.end() ? Ints{} : ints(op, it->second);
}
void need_operands(const Operation& op, size_t n) {
  if (op.operands.size() != n) refuse(op.at, "`" + op.name + "` takes " + std::to_string(n) + " operands");
}
const TensorType& result_type(const Operation& op) {
  if (op.result_types.empty()) refuse(op.at, "`" + op.name + "` has no result type");
  return op.result_types[0];
}
const Region& need_region(const Operation& op, size_t k) {
  if (k >= op.regions.size()) refuse(op.at, "`" + op.name + "` has too few regions");
  return op.regions[k];
}

std::string reducer(const Operation& op) {
  const Region& r = need_region(op, 0);
  if (r.arguments.size() == 2 && r.operations.size() == 2 && r.operations[1].operands == r.operations[0].results) {
    const Operation& f = r.operations[0];
    std::vector<std::string> both = {r.arguments[0].name, r.arguments[1].name};
    if (std::is_permutation(f.operands.begin(), f.operands.end(), both.begin(), both.end())) return f.name;
  }
  refuse(op.at, "only reducers of one operator, applied to both arguments, are supported");
}

}  // namespace anvil::stablehlo
