// What the importer asks of an operation: its attributes as integers, lists, flags and
// words, whichever of their spellings the text has. What is missing or malformed is refused.
//
// Attributes have the names of the generic form whatever form the text has: the parser gives
// `dims = [0]` of a pretty broadcast_in_dim as `broadcast_dimensions`, the ranges of a slice as
// `start_indices`, `limit_indices` and `strides`, `@target` of a custom call as
// `call_target_name`, a dot_general's dimensions as `dot_dimension_numbers`, and so on
// (pretty_names.cpp has the table). Old lists (`dense<[1, 2]> : tensor<2xi64>`) read like new ones.
//
//   find, need             the attribute of a name: or nothing, or refused
//   integer, real          one number;  integer_or, real_or: with a default
//   ints, ints_or, field   a list of integers; nested lists and dense<[[..]]> in row-major order, flat
//   lists                  a list of lists: replica_groups, output_tuple_indices
//   pairs_or               [[low, high], ...] or dense<..> : tensor<Nx2xi64>: padding
//   flag                   a boolean, with a default
//   word, words            an enum's word, a symbol or a string ("" when absent); a list of them: precision_config
//   fields                 a structure: #stablehlo.gather<...>, dot_algorithm, dictionaries
//   field                  a list in it ([] when absent);  integer_field: a number in it (0 when absent)
//   conv_dimensions        #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>, also raw and pretty
#pragma once
#include <utility>

#include "backend/stablehlo/syntax.h"

namespace anvil::stablehlo {

using Ints = std::vector<int64_t>;
using Pairs = std::vector<std::pair<int64_t, int64_t>>;

const Attribute* find(const Operation& op, const char* name);
const Attribute& need(const Operation& op, const char* name);
int64_t integer(const Operation& op, const Attribute& a);
int64_t integer_or(const Operation& op, const char* name, int64_t otherwise);
double real(const Operation& op, const Attribute& a);
double real_or(const Operation& op, const char* name, double otherwise);
// A list of integers: [..], array<i64: ..> or dense<..>.
Ints ints(const Operation& op, const Attribute& a);
Ints ints_or(const Operation& op, const char* name, Ints otherwise);
std::vector<Ints> lists(const Operation& op, const Attribute& a);
Pairs pairs_or(const Operation& op, const char* name, Pairs otherwise);
bool flag(const Operation& op, const char* name, bool otherwise);
std::string word(const Operation& op, const char* name);
std::vector<std::string> words(const Operation& op, const char* name);
const Dictionary& fields(const Operation& op, const Attribute& a);
Ints field(const Operation& op, const Dictionary& d, const char* name);
int64_t integer_field(const Operation& op, const Dictionary& d, const char* name);

// Which dimension of each tensor of a convolution is what.
struct ConvDimensions {
  int64_t input_batch = -1, input_feature = -1;
  Ints input_spatial;
  int64_t kernel_input_feature = -1, kernel_output_feature = -1;
  Ints kernel_spatial;
  int64_t output_batch = -1, output_feature = -1;
  Ints output_spatial;
};
ConvDimensions conv_dimensions(const Operation& op);

void need_operands(const Operation& op, size_t n);
const graph::TensorType& result_type(const Operation& op);
const Region& need_region(const Operation& op, size_t k);
// The one operator that a reducer applies to its two arguments.
std::string reducer(const Operation& op);

}  // namespace anvil::stablehlo
