// What the importer asks of an operation: its attributes as integers, lists, flags and
// words, whichever of their spellings the text has. What is missing or malformed is refused.
#pragma once
#include <initializer_list>

#include "backend/stablehlo/syntax.h"

namespace anvil::stablehlo {

using Ints = std::vector<int64_t>;

const Attribute* find(const Operation& op, std::initializer_list<const char*> names);
const Attribute& need(const Operation& op, std::initializer_list<const char*> names);
int64_t integer(const Operation& op, const Attribute& a);
// A list of integers: [..], array<i64: ..> or dense<..>.
Ints ints(const Operation& op, const Attribute& a);
Ints ints_or(const Operation& op, std::initializer_list<const char*> names, Ints otherwise);
bool flag(const Operation& op, const char* name, bool otherwise);
std::string word(const Operation& op, const char* name);
Ints field(const Operation& op, const Dictionary& d, const char* name);
void need_operands(const Operation& op, size_t n);
const graph::TensorType& result_type(const Operation& op);
const Region& need_region(const Operation& op, size_t k);
// The one operator that a reducer applies to its two arguments.
std::string reducer(const Operation& op);

}  // namespace anvil::stablehlo
