// Products of tensors.
#include <algorithm>

#include "backend/stablehlo/decompositions/product.h"

namespace anvil::stablehlo {

using Values = std::vector<ValuePtr>;

// ---- what the rules share ---------------------------------------------------------------------

void check_precision(const Operation& op) {
  const Attribute* a = find(op, "precision_config");
  if (!a) return;
  std::vector<std::string> list = words(op, "precision_config");
  if (list.size() > 2) refuse(a->at, "`precision_config` has " + std::to_string(list.size()) + " entries, not 2");
  for (const std::string& word : list)
    if (word != "DEFAULT" && word != "HIGH" && word != "HIGHEST")
      refuse(a->at, "`" + word + "` is no precision; there are DEFAULT, HIGH and HIGHEST");
}

Dimensions dimensions(const Operation& op, const Dictionary& d) {
  return {field(op, d, "lhs_contracting_dimensions"), field(op, d, "rhs_contracting_dimensions"),
          field(op, d, "lhs_batching_dimensions"), field(op, d, "rhs_batching_dimensions")};
}

void need_one_dtype(const Operation& op, const Var& a, const Var& b) {
  if (a.dtype() != b.dtype())
    refuse(op.at,
           "the operands have the dtypes " + std::string(name(a.dtype())) + " and " + std::string(name(b.dtype())));
}

// A product whose elements have another dtype than the operands is computed in the wider one.
Var product(const Operation& op, Var a, Var b, const Dimensions& d) {
  need_one_dtype(op, a, b);
  DType t = result_type(op).dtype;
  bool widened = t != a.dtype() && (is_float(t) || !is_float(a.dtype())) && size_of(t) >= size_of(a.dtype());
  if (widened) a = primitives::convert(a, t), b = primitives::convert(b, t);
  Var y = primitives::dot_general(a, b, d.lhs_contracting, d.rhs_contracting, d.lhs_batch, d.rhs_batch);
  return y.dtype() == t ? y : primitives::convert(y, t);
}

namespace {

// ---- precision ------------------------------------------------------------------------------
// Products are always computed in the dtype of the result, which is the highest precision that
// any of these asks for; a request must only make sense.

struct Algorithm {
  std::string_view lhs, rhs, sum;
  int64_t components, operations;
};
constexpr Algorithm algorithms[] = {{"bf16", "bf16", "f32", 1, 3},
                                    {"bf16", "bf16", "f32", 1, 6},
                                    {"bf16", "bf16", "f32", 1, 9},
                                    {"tf32", "tf32", "f32", 1, 1},
                                    {"tf32", "tf32", "f32", 1, 3}};

// One operation on numbers of one float type, summed in it or in what it is computed with.
bool is_plain(std::string_view lhs, std::string_view rhs, std::string_view sum) {
  const std::optional<DType> t = parse_dtype(lhs);
  return t && is_float(*t) && rhs == lhs && (sum == lhs || sum == name(compute_type(*t)));
}

std::string type_word(const Operation& op, const Dictionary& d, const char* which) {
  auto it = d.find(which);
  if (it == d.end()) refuse(op.at, std::string("the algorithm has no `") + which + "`");
  if (auto w = std::get_if<Word>(&it->second.value)) return w->text;
  if (auto t = std::get_if<TensorType>(&it->second.value)) return std::string(name(t->dtype));
  refuse(it->second.at, std::string("`") + which + "` should be a type");
}

void check_algorithm(const Operation& op) {
  const Attribute* a = find(op, "algorithm");
  if (!a) return;
  for (const std::string& word : words(op, "precision_config"))
    if (word != "DEFAULT") refuse(a->at, "with an algorithm the precision must be DEFAULT, not " + word);
  const Dictionary& d = fields(op, *a);
  for (const char* count : {"lhs_component_count", "rhs_component_count", "num_primitive_operations"})
    if (integer_field(op, d, count) < 1)
      refuse(a->at, std::string("`") + count + "` of the algorithm must be positive");
  std::string lhs = type_word(op, d, "lhs_precision_type"), rhs = type_word(op, d, "rhs_precision_type"),
              sum = type_word(op, d, "accumulation_type");
  bool imprecise = integer_field(op, d, "allow_imprecise_accumulation") != 0;
  const int64_t of_lhs = integer_field(op, d, "lhs_component_count"),
                of_rhs = integer_field(op, d, "rhs_component_count"),
                operations = integer_field(op, d, "num_primitive_operations");
  const bool plain = is_plain(lhs, rhs, sum) && of_lhs == 1 && of_rhs == 1 && operations == 1;
  const bool known = plain || std::any_of(std::begin(algorithms), std::end(algorithms), [&](const Algorithm& one) {
                       return one.lhs == lhs && one.rhs == rhs && one.sum == sum && one.components == of_lhs &&
                              one.components == of_rhs && one.operations == operations;
                     });
  if (!known || imprecise) refuse(a->at, "there is no such algorithm: " + lhs + " times " + rhs + " summed in " + sum);
}

// ---- products of two --------------------------------------------------------------------------

Values dot_general(Importer&, const Operation& op, const Vars& x) {
  need_operands(op, 2);
  check_precision(op);
  check_algorithm(op);
  const Attribute* a = find(op, "dot_dimension_numbers");
  return {product(op, x[0], x[1], a ? dimensions(op, fields(op, *a)) : Dimensions{}).value};
}

// Of vectors and matrices: the last dimension with the first one.
Values dot(Importer&, const Operation& op, const Vars& x) {
  need_operands(op, 2);
  check_precision(op);
  for (const Var& v : x)
    if (v.shape().empty() || v.shape().size() > 2) refuse(op.at, "`stablehlo.dot` takes vectors and matrices");
  return {product(op, x[0], x[1], {{static_cast<int64_t>(x[0].shape().size()) - 1}, {0}, {}, {}}).value};
}

// ---- einsum ---------------------------------------------------------------------------------

// One operand's letters, each a dimension; those that nobody else has are summed.
struct Labelled {
  Var x;
  std::string letters;
  void check(const Operation& op) const {
    std::string sorted = letters;
    std::sort(sorted.begin(), sorted.end());
    bool good =
        std::all_of(sorted.begin(), sorted.end(), [](char c) { return std::isalpha(static_cast<unsigned char>(c)); });
    if (!good || std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end() || letters.size() != x.shape().size())
      refuse(op.at,
             "of `einsum_config` only one letter for each dimension, each once, is supported; got `" + letters + "`");
  }
  int64_t at(char c) const { return static_cast<int64_t>(letters.find(c)); }
  bool has(char c) const { return letters.find(c) != std::string::npos; }
  void sum_all_but(const std::string& kept) {
    Ints dims;
    std::string rest;
    for (size_t d = 0; d < letters.size(); ++d)
      if (kept.find(letters[d]) == std::string::npos)
        dims.push_back(static_cast<int64_t>(d));
      else
        rest += letters[d];
    if (!dims.empty()) x = primitives::reduce_sum(x, dims);
    letters = rest;
  }
};

// "ab,bc->ac"
Values einsum(Importer&, const Operation& op, const Vars& x) {
  need_operands(op, 2);
  check_precision(op);
  std::string config = word(op, "einsum_config");
  size_t comma = config.find(','), arrow = config.find("->");
  if (comma == std::string::npos || arrow == std::string::npos || comma > arrow)
    refuse(op.at, "`einsum_config` should be like \"ab,bc->ac\"");
  Labelled a{x[0], config.substr(0, comma)}, b{x[1], config.substr(comma + 1, arrow - comma - 1)};
  std::string result = config.substr(arrow + 2);
  a.check(op);
  b.check(op);
  Labelled{{nullptr, graph::make_value(graph::Value::Kind::result, result_type(op))}, result}.check(op);
  for (char c : result)
    if (!a.has(c) && !b.has(c)) refuse(op.at, std::string("no operand of the einsum has a dimension `") + c + "`");
  a.sum_all_but(b.letters + result);
  b.sum_all_but(a.letters + result);
  Dimensions d;
  std::string order, free;
  for (char c : a.letters) {
    if (!b.has(c)) {
      free += c;
      continue;
    }
    bool batch = result.find(c) != std::string::npos;
    (batch ? d.lhs_batch : d.lhs_contracting).push_back(a.at(c));
    (batch ? d.rhs_batch : d.rhs_contracting).push_back(b.at(c));
    if (batch) order += c;
  }
  order += free;
  for (char c : b.letters)
    if (!a.has(c)) order += c;
  Ints permutation;
  for (char c : result) permutation.push_back(static_cast<int64_t>(order.find(c)));
  return {primitives::transpose(product(op, a.x, b.x, d), permutation).value};
}

}  // namespace

void add_contract_rules(Rules& rules) {
  add(rules, "stablehlo.dot_general", dot_general);
  add(rules, "stablehlo.dot", dot);
  add(rules, "stablehlo.einsum", einsum);
  add_ragged_rules(rules);
}

}  // namespace anvil::stablehlo
