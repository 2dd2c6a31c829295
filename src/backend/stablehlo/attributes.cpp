#include "backend/stablehlo/attributes.h"

#include <algorithm>

#include "backend/stablehlo/layout.h"

namespace anvil::stablehlo {

using graph::TensorType;

namespace {

constexpr int64_t longest_list = 1 << 20;

using List = std::vector<Attribute>;

[[noreturn]] void refuse_attribute(const Operation& op, const Attribute& a, const char* what) {
  refuse(a.at, std::string("an attribute of `") + op.name + "` should be " + what);
}

// Appends the numbers of a list, of the lists in it, or of a dense literal.
void append(const Operation& op, const Attribute& a, Ints& to) {
  if (auto items = std::get_if<List>(&a.value)) {
    for (const Attribute& item : *items) append(op, item, to);
  } else if (auto d = std::get_if<Dense>(&a.value)) {
    if (is_float(d->type.dtype)) refuse_attribute(op, a, "a list of integers");
    if (elements(d->type.shape) > longest_list) refuse(a.at, "a list of so many integers is not supported");
    graph::Tensor t = dense_tensor(*d, a.at);
    RowMajorWalk walk(t.type.shape);
    for (int64_t i = 0; i < elements(t.type.shape); ++i, walk.next())
      to.push_back(graph::element(t, walk.position()).as<int64_t>());
  } else {
    to.push_back(integer(op, a));
  }
}

}  // namespace

const Attribute* find(const Operation& op, const char* name) {
  auto it = op.attributes.find(name);
  return it == op.attributes.end() ? nullptr : &it->second;
}
const Attribute& need(const Operation& op, const char* name) {
  const Attribute* a = find(op, name);
  if (!a) refuse(op.at, "`" + op.name + "` needs the attribute `" + name + "`");
  return *a;
}

// ---- numbers ------------------------------------------------------------------------------

int64_t integer(const Operation& op, const Attribute& a) {
  if (auto x = std::get_if<int64_t>(&a.value)) return *x;
  if (auto x = std::get_if<bool>(&a.value)) return *x;
  // old text has scalars as literals, too: dense<0> : tensor<i64>
  if (auto d = std::get_if<Dense>(&a.value); d && !is_float(d->type.dtype) && elements(d->type.shape) == 1)
    return graph::element(dense_tensor(*d, a.at), 0).as<int64_t>();
  refuse_attribute(op, a, "an integer");
}
int64_t integer_or(const Operation& op, const char* name, int64_t otherwise) {
  const Attribute* a = find(op, name);
  return a ? integer(op, *a) : otherwise;
}
double real(const Operation& op, const Attribute& a) {
  if (auto x = std::get_if<double>(&a.value)) return *x;
  if (auto x = std::get_if<int64_t>(&a.value)) return static_cast<double>(*x);
  refuse_attribute(op, a, "a number");
}
double real_or(const Operation& op, const char* name, double otherwise) {
  const Attribute* a = find(op, name);
  return a ? real(op, *a) : otherwise;
}
bool flag(const Operation& op, const char* name, bool otherwise) { return integer_or(op, name, otherwise) != 0; }

// ---- lists --------------------------------------------------------------------------------

Ints ints(const Operation& op, const Attribute& a) {
  if (!std::holds_alternative<List>(a.value) && !std::holds_alternative<Dense>(a.value))
    refuse_attribute(op, a, "a list of integers");
  Ints v;
  append(op, a, v);
  return v;
}
Ints ints_or(const Operation& op, const char* name, Ints otherwise) {
  const Attribute* a = find(op, name);
  return a ? ints(op, *a) : otherwise;
}
std::vector<Ints> lists(const Operation& op, const Attribute& a) {
  std::vector<Ints> found;
  if (auto items = std::get_if<List>(&a.value)) {
    for (const Attribute& item : *items) found.push_back(ints(op, item));
    return found;
  }
  auto d = std::get_if<Dense>(&a.value);
  if (!d || d->type.shape.size() != 2) refuse_attribute(op, a, "a list of lists of integers");
  Ints flat = ints(op, a);
  int64_t rows = d->type.shape[0], columns = d->type.shape[1];
  if (rows > longest_list) refuse(a.at, "so many lists of integers are not supported");
  for (auto row = flat.begin(); static_cast<int64_t>(found.size()) < rows; row += columns)
    found.emplace_back(row, row + columns);
  return found;
}
Pairs pairs_or(const Operation& op, const char* name, Pairs otherwise) {
  const Attribute* a = find(op, name);
  if (!a) return otherwise;
  auto d = std::get_if<Dense>(&a->value);
  bool empty = d && elements(d->type.shape) == 0;
  Pairs pairs;
  for (const Ints& pair : empty ? std::vector<Ints>{} : lists(op, *a)) {
    if (pair.size() != 2) refuse_attribute(op, *a, "a list of pairs of integers");
    pairs.emplace_back(pair[0], pair[1]);
  }
  return pairs;
}

// ---- words and structures -----------------------------------------------------------------

namespace {
const std::string* text(const Attribute& a) {
  if (auto w = std::get_if<Word>(&a.value)) return &w->text;
  return std::get_if<std::string>(&a.value);
}
}  // namespace

std::string word(const Operation& op, const char* name) {
  const Attribute* a = find(op, name);
  const std::string* s = a ? text(*a) : nullptr;
  return s ? *s : "";
}
std::vector<std::string> words(const Operation& op, const char* name) {
  std::vector<std::string> found;
  const Attribute* a = find(op, name);
  if (!a) return found;
  auto items = std::get_if<List>(&a->value);
  if (!items) refuse_attribute(op, *a, "a list of words");
  for (const Attribute& item : *items) {
    const std::string* s = text(item);
    if (!s) refuse_attribute(op, item, "a word");
    found.push_back(*s);
  }
  return found;
}
const Dictionary& fields(const Operation& op, const Attribute& a) {
  auto d = std::get_if<std::shared_ptr<Dictionary>>(&a.value);
  if (!d) refuse_attribute(op, a, "a structure of named fields");
  return **d;
}
Ints field(const Operation& op, const Dictionary& d, const char* name) {
  auto it = d.find(name);
  return it == d.end() ? Ints{} : ints(op, it->second);
}
int64_t integer_field(const Operation& op, const Dictionary& d, const char* name) {
  auto it = d.find(name);
  return it == d.end() ? 0 : integer(op, it->second);
}

namespace {

// Sorts the entries of one of the three lists: two words and the numbers of the spatial dimensions.
void read_conv_part(const Operation& op, const Attribute& a, const char* first, const char* second, int64_t& at_first,
                    int64_t& at_second, Ints& spatial) {
  auto items = std::get_if<List>(&a.value);
  if (!items || items->size() < 2) refuse_attribute(op, a, "a list of dimensions");
  auto rank = static_cast<int64_t>(items->size());
  spatial.assign(items->size() - 2, -1);
  for (int64_t k = 0; k < rank; ++k) {
    const Attribute& item = (*items)[static_cast<size_t>(k)];
    if (const std::string* s = text(item)) {
      int64_t& to = *s == first ? at_first : at_second;
      if ((*s != first && *s != second) || to >= 0)
        refuse(item.at, "a dimension of a convolution should be `" + std::string(first) + "`, `" + second +
                            "` or the number of a spatial dimension, each once");
      to = k;
    } else {
      int64_t n = integer(op, item);
      if (n < 0 || n >= rank - 2 || spatial[static_cast<size_t>(n)] >= 0)
        refuse(item.at, "the spatial dimensions of a convolution should be numbered from 0, each once");
      spatial[static_cast<size_t>(n)] = k;
    }
  }
  if (at_first < 0 || at_second < 0) refuse_attribute(op, a, "a list with both of its named dimensions");
}

}  // namespace

ConvDimensions conv_dimensions(const Operation& op) {
  const Attribute& a = need(op, "dimension_numbers");
  ConvDimensions c;
  if (auto parts = std::get_if<List>(&a.value); parts && parts->size() == 3) {
    read_conv_part(op, (*parts)[0], "b", "f", c.input_batch, c.input_feature, c.input_spatial);
    read_conv_part(op, (*parts)[1], "i", "o", c.kernel_input_feature, c.kernel_output_feature, c.kernel_spatial);
    read_conv_part(op, (*parts)[2], "b", "f", c.output_batch, c.output_feature, c.output_spatial);
    return c;
  }
  const Dictionary& d = fields(op, a);
  c.input_batch = integer_field(op, d, "input_batch_dimension");
  c.input_feature = integer_field(op, d, "input_feature_dimension");
  c.input_spatial = field(op, d, "input_spatial_dimensions");
  c.kernel_input_feature = integer_field(op, d, "kernel_input_feature_dimension");
  c.kernel_output_feature = integer_field(op, d, "kernel_output_feature_dimension");
  c.kernel_spatial = field(op, d, "kernel_spatial_dimensions");
  c.output_batch = integer_field(op, d, "output_batch_dimension");
  c.output_feature = integer_field(op, d, "output_feature_dimension");
  c.output_spatial = field(op, d, "output_spatial_dimensions");
  return c;
}

// ---- operands, results, regions -----------------------------------------------------------

void need_operands(const Operation& op, size_t n) {
  if (op.operands.size() != n)
    refuse(op.at, "`" + op.name + "` takes " + std::to_string(n) + (n == 1 ? " operand" : " operands") + ", not " +
                      std::to_string(op.operands.size()));
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
