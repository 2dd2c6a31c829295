#include "backend/stablehlo/type_parser.h"

#include <algorithm>
#include <charconv>

#include "primitives/vocabulary/properties.h"

namespace anvil::stablehlo {

using graph::TensorType;

namespace {
// The bytes of a tensor, had every empty dimension size 1, so that no product of sizes overflows.
constexpr uint64_t most_bytes = uint64_t(1) << 62;
}  // namespace

TensorType TypeParser::type() {
  Deeper deeper(*this);
  if (at_word("tensor")) {
    TensorType t;
    size_t start = place_;
    if (std::optional<Fault> fault = tensor(t)) {
      place_ = start;
      fail_at(fault->place, fault->message, fault->details);
    }
    return t;
  }
  if (peek() == '!') {
    size_t start = place_++;
    std::string name = at_identifier() || is_digit(peek()) ? identifier() : "";
    auto alias = type_aliases_.find(name);
    if (alias != type_aliases_.end() && text_.compare(place_, 1, "<") != 0) return aliased(alias->second);
    place_ = start;
  }
  refuse_type();
}

TensorType TypeParser::aliased(Alias& alias) {
  constexpr size_t most_expanded = 1 << 22;
  if (!alias.type) {
    size_t after = place_;
    place_ = alias.place;
    alias.type = type();
    place_ = after;
  }
  expanded_ += alias.type->shape.size() + 1;
  if (expanded_ > most_expanded) fail("the aliases of types stand for too many dimensions");
  return *alias.type;
}

void TypeParser::refuse_type() {
  if (!at_identifier() && peek() != '!' && peek() != '(') fail("expected a type");
  size_t start = place_;
  std::string name(skip_type());
  if (name.size() > 80) name = name.substr(0, 77) + "...";
  fail_at(start, "the type `" + name + "` is not supported", {"i Only tensors are."});
}

std::optional<TensorType> TypeParser::try_tensor() {
  size_t start = place_;
  TensorType t;
  index_as_i64_ = true;
  bool good = at_word("tensor") && !tensor(t);
  index_as_i64_ = false;
  if (good) return t;
  place_ = start;
  return std::nullopt;
}

std::string TypeParser::whole(size_t start) {
  place_ = start;
  accept_word("tensor");
  return "`tensor<" + std::string(balanced()) + ">`";
}

std::optional<TypeParser::Fault> TypeParser::tensor(TensorType& t) {
  skip_space();
  size_t start = place_;
  if (!accept_word("tensor")) return Fault{place_, "expected a tensor type"};
  expect("<");
  if (std::optional<Fault> fault = sizes(t.shape, start)) return fault;
  if (std::optional<Fault> fault = element(t, start)) return fault;
  uint64_t bytes = size_of(t.dtype);
  for (int64_t size : t.shape) {
    if (static_cast<uint64_t>(size) > most_bytes / bytes)
      return Fault{start, "the tensor of type " + whole(start) + " is too large"};
    bytes *= static_cast<uint64_t>(std::max<int64_t>(size, 1));
  }
  return std::nullopt;
}

std::optional<TypeParser::Fault> TypeParser::sizes(Shape& shape, size_t start) {
  while (true) {
    char c = peek();
    size_t place = place_;
    if (c == '?') return Fault{place, "the size `?` of " + whole(start) + " is not supported; sizes must be numbers"};
    if (c == '*') return Fault{place, "tensors without a rank are not supported: " + whole(start)};
    if (!is_digit(c)) return std::nullopt;
    int64_t size = 0;
    auto r = std::from_chars(text_.data() + place_, text_.data() + text_.size(), size);
    if (r.ec != std::errc()) return Fault{place, "this size is too large"};
    if (shape.size() == most_dimensions)
      return Fault{place, "tensors of more than " + std::to_string(most_dimensions) + " dimensions are not supported"};
    place_ = static_cast<size_t>(r.ptr - text_.data());
    shape.push_back(size);
    if (!accept("x")) return Fault{place_, "expected `x` after a size"};
  }
}

std::optional<TypeParser::Fault> TypeParser::element(TensorType& t, size_t start) {
  skip_space();
  size_t place = place_;
  if (peek() != '!' && !at_identifier()) return Fault{place_, "expected the type of the tensor's elements"};
  std::string name(skip_type());
  bool is_signed = name.size() > 2 && name.compare(0, 2, "si") == 0;
  std::optional<DType> dtype = parse_dtype(is_signed ? name.substr(1) : name);
  if (index_as_i64_ && name == "index") dtype = DType::i64;
  if (!dtype || name == "bool" || name == "pred") {
    std::string type = whole(start);
    return Fault{place,
                 "the element type `" + name + "` of " + type + " is not supported",
                 {"i Elements are i1, " + primitives::name(primitives::Group::numeric) + "."}};
  }
  t.dtype = *dtype;
  if (peek() == ',') return Fault{place_, "the encoding of " + whole(start) + " is not supported"};
  if (!accept(">")) return Fault{place_, "expected `>`"};
  return std::nullopt;
}

std::string_view TypeParser::skip_type() {
  Deeper deeper(*this);
  skip_space();
  size_t start = place_;
  auto text = [&] { return text_.substr(start, place_ - start); };
  if (peek() == '(') {
    balanced();
    expect("->");
    if (peek() == '(')
      balanced();
    else
      skip_type();
    return text();
  }
  if (accept("!") && is_digit(peek())) {  // an alias may be a number
    identifier();
    return text();
  }
  if (!at_identifier()) fail("expected a type");
  identifier();
  if (text_.compare(place_, 1, "<") == 0) balanced();
  return text();
}

std::vector<TensorType> TypeParser::types() {
  std::vector<TensorType> list;
  do {
    if (list.size() == most_values) fail("more than " + std::to_string(most_values) + " types are not supported");
    list.push_back(type());
  } while (accept(","));
  return list;
}

std::vector<TensorType> TypeParser::types_in_parentheses() {
  std::vector<TensorType> list;
  expect("(");
  if (accept(")")) return list;
  do {
    if (list.size() == most_values) fail("more than " + std::to_string(most_values) + " types are not supported");
    list.push_back(type());
    if (peek() == '{') balanced();
    skip_location();
  } while (accept(","));
  expect(")");
  return list;
}

std::vector<TensorType> TypeParser::result_types() {
  return peek() == '(' ? types_in_parentheses() : std::vector<TensorType>{type()};
}

void TypeParser::type_alias() {
  expect("!");
  std::string name = identifier();
  expect("=");
  skip_space();
  size_t start = place_;
  skip_type();
  type_aliases_[name] = {start};
}

}  // namespace anvil::stablehlo
