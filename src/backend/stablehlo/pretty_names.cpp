// The attributes of pretty forms under the names that they have in the generic form.
#include <charconv>
#include <unordered_map>

#include "backend/stablehlo/operation_parser.h"
#include "primitives/vocabulary/primitive.h"

namespace anvil::stablehlo {
namespace {

using List = std::vector<Attribute>;

void rename(Dictionary& d, std::string_view from, std::string_view to) {
  auto node = d.extract(std::string(from));
  if (node.empty()) return;
  node.key() = to;
  d.erase(node.key());
  d.insert(std::move(node));
}

struct Names {
  std::string_view pretty, generic;
};
using NameTable = std::unordered_multimap<std::string_view, Names>;
const NameTable& names() {
  static const NameTable table = [] {
    NameTable all = {{"stablehlo.dynamic_iota", {"dim", "iota_dimension"}},
                     {"stablehlo.dynamic_broadcast_in_dim", {"dims", "broadcast_dimensions"}},
                     {"stablehlo.broadcast", {"sizes", "broadcast_sizes"}},
                     {"stablehlo.get_dimension_size", {"dim", "dimension"}},
                     {"stablehlo.set_dimension_size", {"dim", "dimension"}},
                     {"stablehlo.fft", {"type", "fft_type"}},
                     {"stablehlo.fft", {"length", "fft_length"}},
                     {"stablehlo.rng_bit_generator", {"algorithm", "rng_algorithm"}},
                     {"stablehlo.rng", {"distribution", "rng_distribution"}},
                     {"stablehlo.dot", {"precision", "precision_config"}},
                     {"stablehlo.dot_general", {"precision", "precision_config"}},
                     {"stablehlo.convolution", {"dim_numbers", "dimension_numbers"}}};
    for (const primitives::Primitive* p : primitives::registry().all())
      for (const primitives::HloAttribute& a : p->hlo.attributes)
        if (!a.pretty.empty()) all.emplace(p->hlo.op, Names{a.pretty, a.name});
    return all;
  }();
  return table;
}

// LT, %a, %b, FLOAT
void compare(Operation& op) {
  const char* keys[] = {"comparison_direction", "compare_type"};
  if (op.words.size() > 2) refuse(op.at, "`stablehlo.compare` has a direction and a type, nothing more");
  for (size_t k = 0; k < op.words.size(); ++k) op.attributes.insert_or_assign(keys[k], std::move(op.words[k]));
  op.words.clear();
}

// [0:4, 1:9:2]
void slice(Operation& op) {
  if (op.words.empty()) return;
  List parts[3];
  auto dimensions = std::get_if<List>(&op.words[0].value);
  if (op.words.size() != 1 || !dimensions) refuse(op.words[0].at, "expected ranges such as `[0:4, 1:9:2]`");
  for (const Attribute& dimension : *dimensions) {
    auto range = std::get_if<List>(&dimension.value);
    if (!range || range->size() < 2 || range->size() > 3)
      refuse(dimension.at, "expected a range such as `0:4` or `1:9:2`");
    for (size_t k = 0; k < 3; ++k)
      parts[k].push_back(k < range->size() ? (*range)[k] : Attribute{int64_t(1), dimension.at});
  }
  const char* keys[] = {"start_indices", "limit_indices", "strides"};
  for (size_t k = 0; k < 3; ++k)
    op.attributes.insert_or_assign(keys[k], Attribute{std::move(parts[k]), op.words[0].at});
  op.words.clear();
}

// %t[0]
void tuple_element(Operation& op) {
  auto items = op.words.empty() ? nullptr : std::get_if<List>(&op.words[0].value);
  auto numbers = items && items->size() == 1 ? std::get_if<List>(&(*items)[0].value) : nullptr;
  if (numbers && numbers->size() == 1) op.attributes.insert_or_assign("index", Attribute((*numbers)[0]));
}

// batching_dims = [0] x [0], contracting_dims = [1] x [0]
void dot_general(Operation& op) {
  auto d = std::make_shared<Dictionary>();
  Position at = op.at;
  for (const char* kind : {"batching", "contracting"}) {
    auto node = op.attributes.extract(std::string(kind) + "_dims");
    if (node.empty()) continue;
    at = node.mapped().at;
    auto pair = std::get_if<List>(&node.mapped().value);
    if (!pair || pair->size() != 2) refuse(at, "expected two lists such as `[1] x [0]`");
    (*d)[std::string("lhs_") + kind + "_dimensions"] = std::move((*pair)[0]);
    (*d)[std::string("rhs_") + kind + "_dimensions"] = std::move((*pair)[1]);
  }
  if (!d->empty()) op.attributes.insert_or_assign("dot_dimension_numbers", Attribute{std::move(d), at});
}

// window = {stride = [..], pad = [[0, 1], ..], lhs_dilate = [..], rhs_dilate = [..], reverse = [..]}
void convolution(Operation& op) {
  auto node = op.attributes.extract("window");
  if (node.empty()) return;
  auto window = std::get_if<std::shared_ptr<Dictionary>>(&node.mapped().value);
  if (!window) refuse(node.mapped().at, "expected `window = {...}`");
  static const std::unordered_map<std::string_view, const char*> keys = {{"stride", "window_strides"},
                                                                         {"pad", "padding"},
                                                                         {"lhs_dilate", "lhs_dilation"},
                                                                         {"rhs_dilate", "rhs_dilation"},
                                                                         {"reverse", "window_reversal"}};
  for (const auto& [name, value] : **window) {
    auto key = keys.find(name);
    if (key == keys.end())
      refuse(value.at, "a window has no `" + name + "`", {"i It has stride, pad, lhs_dilate, rhs_dilate and reverse."});
    op.attributes.insert_or_assign(key->second, value);
  }
}

// format = e8m10
void reduce_precision(Operation& op) {
  auto node = op.attributes.extract("format");
  if (node.empty()) return;
  const Attribute& a = node.mapped();
  auto word = std::get_if<Word>(&a.value);
  std::string_view s = word ? std::string_view(word->text) : std::string_view();
  int64_t bits[2] = {0, 0};
  const char *p = s.data(), *end = p + s.size();
  bool good = !s.empty();
  for (int k = 0; good && k < 2; ++k) {
    good = p < end && *p == "em"[k];
    if (!good) break;
    auto r = std::from_chars(p + 1, end, bits[k]);
    good = r.ec == std::errc() && r.ptr != p + 1;
    p = r.ptr;
  }
  if (!good || p != end) refuse(a.at, "expected a format such as `e8m10`");
  op.attributes.insert_or_assign("exponent_bits", Attribute{bits[0], a.at});
  op.attributes.insert_or_assign("mantissa_bits", Attribute{bits[1], a.at});
}

}  // namespace

void rename_pretty(Operation& op) {
  static const std::unordered_map<std::string_view, void (*)(Operation&)> forms = {
      {"stablehlo.compare", compare},
      {"stablehlo.slice", slice},
      {"stablehlo.get_tuple_element", tuple_element},
      {"stablehlo.dot_general", dot_general},
      {"stablehlo.convolution", convolution},
      {"stablehlo.reduce_precision", reduce_precision}};
  if (op.attributes.empty() && op.words.empty()) return;
  auto [first, last] = names().equal_range(op.name);
  for (auto it = first; it != last; ++it) rename(op.attributes, it->second.pretty, it->second.generic);
  if (auto form = forms.find(op.name); form != forms.end()) form->second(op);
}

}  // namespace anvil::stablehlo
