// A registry of primitives, and names of the dtype groups that they are defined on.
#include <algorithm>

#include "primitives/vocabulary/primitive.h"

namespace anvil::primitives {

// "f16, f32 or f64", the smallest first.
static std::string floats() {
  std::vector<Descriptor> list;
  for (const Descriptor& d : descriptors)
    if (d.kind == Descriptor::Kind::floating) list.push_back(d);
  std::stable_sort(list.begin(), list.end(), [](const auto& a, const auto& b) { return a.bytes < b.bytes; });
  std::string text;
  for (size_t i = 0; i < list.size(); ++i)
    text += std::string(i == 0 ? "" : i + 1 < list.size() ? ", " : " or ") + std::string(list[i].name);
  return text;
}

std::string name(Group group) {
  switch (group) {
    case Group::any: return "any type";
    case Group::numeric: return "i8 to i64, ui8 to ui64, " + floats();
    case Group::floating: return floats();
    case Group::integer: return "i8 to i64 or ui8 to ui64";
    case Group::signed_or_float: return "i8 to i64, " + floats();
    case Group::integer_or_bool: return "bool, i8 to i64 or ui8 to ui64";
    case Group::boolean: return "bool";
  }
  return "";
}

const Primitive* Registry::find(std::string_view name) const {
  auto it = names_.find(name);
  return it == names_.end() ? nullptr : it->second;
}

const Primitive& Registry::at(std::string_view name) const {
  const Primitive* p = find(name);
  if (p == nullptr) throw InternalError("there is no primitive " + std::string(name));
  return *p;
}

std::vector<const Primitive*> Registry::all() const {
  std::vector<const Primitive*> list;
  for (const auto& p : list_) list.push_back(p.get());
  return list;
}

void Registry::add(Primitive p) {
  if (p.key.empty()) p.key = p.name;
  for (const std::string& taken : {p.name, p.key})
    if (find(taken) != nullptr) throw Error("argument", "There is already a primitive named `" + taken + "`.");
  Primitive* kept = list_.emplace_back(std::make_unique<Primitive>(std::move(p))).get();
  names_.emplace(kept->name, kept);
  names_.emplace(kept->key, kept);
}

void Registry::replace(Primitive p) {
  if (p.key.empty()) p.key = p.name;
  auto it = names_.find(p.name);
  if (it == names_.end()) return add(std::move(p));
  Primitive* kept = it->second;
  if (auto other = names_.find(p.key); other != names_.end() && other->second != kept)
    throw Error("argument", "There is already a primitive named `" + p.key + "`.");
  names_.erase(kept->name);
  names_.erase(kept->key);
  *kept = std::move(p);
  names_.emplace(kept->name, kept);
  names_.emplace(kept->key, kept);
}

}  // namespace anvil::primitives
