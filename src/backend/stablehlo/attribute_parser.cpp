#include "backend/stablehlo/attribute_parser.h"

#include <algorithm>
#include <bit>

#include "backend/stablehlo/numbers.h"

namespace anvil::stablehlo {

Attribute AttributeParser::attribute() {
  count_step();
  Deeper deeper(*this);
  Attribute a;
  a.at = here();
  char c = peek();
  if (c == '"') {
    a.value = quoted();
    type_of_number();
  } else if (c == '@') {
    a.value = Word{symbol()};
    while (accept("::")) symbol();
  } else if (c == '[') {
    a.value = list();
  } else if (c == '{') {
    a.value = std::make_shared<Dictionary>(dictionary());
  } else if (c == '#') {
    return hash();
  } else if (c == '<') {
    return structure();
  } else if (is_digit(c) || c == '-') {
    number(a);
  } else if (c == '(' || c == '!') {
    a.value = Word{std::string(skip_type())};
  } else {
    return word();
  }
  return a;
}

Attribute AttributeParser::word() {
  Attribute a;
  a.at = here();
  size_t start = place_;
  if (std::optional<graph::TensorType> t = try_tensor()) {
    a.value = *t;
    return a;
  }
  if (!at_identifier()) fail("expected an attribute");
  if (at_word("loc")) {
    skip_location();
    return a;
  }
  std::string name = identifier();
  bool body = text_.compare(place_, 1, "<") == 0;
  if (name == "true" || name == "false") {
    a.value = name == "true";
  } else if (name == "unit") {
    a.value = true;
  } else if (name == "dense" && body) {
    Dense d = dense_body();
    if (std::optional<graph::TensorType> t = try_tensor()) {
      d.type = std::move(*t);
      a.value = std::move(d);
    } else {
      a.value = Word{"dense<...> : " + std::string(skip_type())};
    }
  } else if (name == "array" && body) {
    a.value = array();
  } else if ((name == "dense_resource" || name == "sparse") && body) {
    fail_at(start, "`" + name + "<...>` is not supported", {"i Only `dense<...>` literals are."});
  } else {
    if (body) balanced();  // a type, a map
    a.value = Word{body ? std::string(text_.substr(start, place_ - start)) : name};
  }
  return a;
}

void AttributeParser::number(Attribute& a) {
  size_t start = place_;
  size_t end = number_end(text_, start);
  std::string_view digits = text_.substr(start, end - start);
  bool real = digits.find('.') != std::string_view::npos;
  double x = 0;
  if (real) {
    if (end - start > longest_word || !parse_real(digits, x)) fail_at(start, "expected a number");
    a.value = x;
    place_ = end;
  } else {
    a.value = integer();
  }
  std::string_view type = type_of_number();
  // hexadecimal digits of a float are its bits
  if (!real && (type == "f64" || type == "f32") && digits.substr(0, 2) == "0x") {
    auto bits = static_cast<uint64_t>(std::get<int64_t>(a.value));
    a.value = type == "f64" ? std::bit_cast<double>(bits) : std::bit_cast<float>(static_cast<uint32_t>(bits));
  }
}

// `: i64` behind a number; a tensor there is the signature of a pretty form.
std::string_view AttributeParser::type_of_number() {
  size_t start = place_;
  if (accept(":") && at_identifier() && !at_word("tensor")) return skip_type();
  place_ = start;
  return {};
}

std::vector<Attribute> AttributeParser::list() {
  std::vector<Attribute> items;
  expect("[");
  if (accept("]")) return items;
  do items.push_back(attribute());
  while (accept(","));
  expect("]");
  return items;
}

std::vector<Attribute> AttributeParser::array() {
  std::vector<Attribute> items;
  expect("<");
  identifier();
  if (accept(":")) {
    do items.push_back(attribute());
    while (accept(","));
  }
  expect(">");
  return items;
}

// #stablehlo<transpose NO_TRANSPOSE> is a word, #stablehlo.dot<...> a dictionary of fields,
// #name an alias, anything else a word without meaning.
Attribute AttributeParser::hash() {
  Attribute a;
  a.at = here();
  expect("#");
  std::string name = identifier();
  bool ours = name.compare(0, 9, "stablehlo") == 0 || name.compare(0, 4, "chlo") == 0;
  if (text_.compare(place_, 1, "<") == 0) {
    if (ours && name.find('.') != std::string::npos) return structure();
    std::string body(balanced());
    size_t end = body.find_last_not_of(" \t\r\n");
    size_t space = body.find_last_of(" \t\r\n", end);
    size_t start = space == std::string::npos ? 0 : space + 1;
    a.value = Word{ours && end != std::string::npos ? body.substr(start, end - start + 1) : body};
    return a;
  }
  auto it = aliases_.find(name);
  if (it == aliases_.end()) {
    a.value = Word{"#" + name};
    return a;
  }
  constexpr size_t most_expanded = 1 << 18;
  const Alias& alias = it->second;
  Deeper deeper(*this, alias.depth);
  expanded_attributes_ += alias.count;
  if (expanded_attributes_ > most_expanded) refuse(a.at, "the aliases of attributes stand for too many attributes");
  a.value = alias.attribute.value;
  return a;
}

Attribute AttributeParser::structure() {
  Attribute a;
  a.at = here();
  size_t start = place_;
  expect("<");
  if (peek() == '[') {
    a.value = conv_dimensions();
    expect(">");
    return a;
  }
  bool raw = accept_word("raw"), fields = raw || accept(">");
  if (!fields && at_identifier()) {
    identifier();
    fields = peek() == '=';
  }
  place_ = start;
  if (!fields) {
    a.value = Word{std::string(balanced())};
    return a;
  }
  auto d = std::make_shared<Dictionary>();
  expect("<");
  if (raw) accept_word("raw");
  if (!accept(">")) {
    do {
      std::string name = key();
      Attribute value;
      value.value = true;
      if (accept("=")) value = attribute();
      (*d)[name] = std::move(value);
    } while (accept(",") && peek() != '>');
    expect(">");
  }
  a.value = std::move(d);
  return a;
}

std::vector<Attribute> AttributeParser::conv_dimensions() {
  std::vector<Attribute> parts(3);
  for (size_t k = 0; k < 3; ++k) {
    if (k) expect(k == 1 ? "x" : "->");
    parts[k].at = here();
    parts[k].value = list();
  }
  return parts;
}

// The numbers are not looked at: the end of a body is found by its first `>` outside of strings.
Dense AttributeParser::dense_body() {
  Dense d;
  size_t start = place_;
  expect("<");
  d.at = here();
  size_t first = place_;
  size_t plain = text_.find('>', place_);  // mostly nothing but numbers stands before it
  if (plain != std::string_view::npos && text_.substr(first, plain - first).find('/') == std::string_view::npos &&
      text_.substr(first, plain - first).find('"') == std::string_view::npos &&
      text_.substr(first, plain - first).find('<') == std::string_view::npos)
    place_ = plain;
  while (true) {
    place_ = text_.find_first_of("\">/<", place_);
    if (place_ == std::string_view::npos) fail_at(start, "this bracket is not closed");
    char c = text_[place_];
    if (c == '>') break;
    if (c == '<') fail("expected a literal of numbers");
    if (c == '"') {
      place_ = text_.find('"', place_ + 1);
      if (place_ == std::string_view::npos) fail_at(start, "this literal is not closed");
      ++place_;
    } else {
      if (text_.compare(place_, 2, "//") != 0) fail("expected a number");
      skip_space();
    }
  }
  d.body = text_.substr(first, place_ - first);
  expect(">");
  expect(":");
  return d;
}

Attribute AttributeParser::literal(const std::string& operation) {
  Attribute a;
  a.at = here();
  if (!at_word("dense")) {  // an alias, or what has a reason of its own to be refused
    a = attribute();
    if (!std::holds_alternative<Dense>(a.value))
      refuse(a.at, "`" + operation + "` needs a literal `dense<...> : tensor<...>`");
    return a;
  }
  expect("dense");
  Dense d = dense_body();
  d.type = type();
  a.value = std::move(d);
  return a;
}

std::string AttributeParser::key() { return peek() == '"' ? quoted() : identifier(); }

Dictionary AttributeParser::dictionary() {
  Dictionary d;
  dictionary(d);
  return d;
}

void AttributeParser::dictionary(Dictionary& into) {
  expect("{");
  if (accept("}")) return;
  do {
    std::string name = key();
    Attribute a;
    a.value = true;
    if (accept("="))
      a = attribute();
    else
      a.at = here();
    into.insert_or_assign(std::move(name), std::move(a));
  } while (accept(","));
  expect("}");
}

namespace {
// What copies of an attribute take, in attributes.
size_t count(const Attribute& a) {
  size_t n = 1;
  if (auto s = std::get_if<std::string>(&a.value)) n += s->size() / sizeof(Attribute);
  if (auto w = std::get_if<Word>(&a.value)) n += w->text.size() / sizeof(Attribute);
  if (auto items = std::get_if<std::vector<Attribute>>(&a.value))
    for (const Attribute& item : *items) n += count(item);
  return n;
}
int depth(const Attribute& a) {
  int deepest = 0;
  if (auto items = std::get_if<std::vector<Attribute>>(&a.value))
    for (const Attribute& item : *items) deepest = std::max(deepest, depth(item));
  if (auto entries = std::get_if<std::shared_ptr<Dictionary>>(&a.value))
    for (const auto& [name, entry] : **entries) deepest = std::max(deepest, depth(entry));
  return deepest + 1;
}
}  // namespace

void AttributeParser::attribute_alias() {
  expect("#");
  std::string name = identifier();
  expect("=");
  if (at_word("loc")) {
    skip_location();
    return;
  }
  Attribute a = attribute();
  size_t n = count(a);
  int levels = depth(a);
  aliases_[name] = {std::move(a), n, levels};
}

void AttributeParser::skip_resources() {
  size_t end = text_.find("#-}", place_);
  if (end == std::string_view::npos) fail("the resource section is not closed");
  place_ = end + 3;
}

}  // namespace anvil::stablehlo
