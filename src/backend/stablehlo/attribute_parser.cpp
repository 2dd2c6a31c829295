#include "backend/stablehlo/attribute_parser.h"

#include <cctype>
#include <charconv>
#include <cstdlib>

#include "base/error.h"

namespace anvil::stablehlo {

using graph::TensorType;

TensorType AttributeParser::type() {
  Deeper deeper(*this);
  Position where = here();
  size_t start = place_;
  if (!accept_word("tensor")) {
    if (peek() == '!') {
      ++place_;
    }
    std::string word = identifier();
    refuse(where, "the type `" + word + "` is not supported", {"i Only tensors are."});
  }
  expect("<");
  TensorType t;
  while (std::isdigit(static_cast<unsigned char>(peek()))) {
    int64_t size = integer_of_dimension();
    t.shape.push_back(size);
    expect("x");
  }
  std::string element;
  while (place_ < text_.size() && std::isalnum(static_cast<unsigned char>(text_[place_]))) element += text_[place_++];
  auto unsupported = [&] {
    place_ = start + 6;
    std::string body(balanced());
    refuse(where, "the type `tensor<" + body + ">` is not supported",
           {"i Element types are i1, i8 to i64, ui8 to ui64, f32 and f64; sizes are numbers."});
  };
  std::optional<DType> dtype = parse_dtype(element);
  if (!dtype && element.size() > 2 && element.substr(0, 2) == "si") dtype = parse_dtype(element.substr(1));
  if (!dtype || element == "bool" || element == "pred" || !accept(">")) unsupported();
  t.dtype = *dtype;
  elements(t.shape);
  return t;
}

int64_t AttributeParser::integer_of_dimension() {
  uint64_t value = 0;
  auto r = std::from_chars(text_.data() + place_, text_.data() + text_.size(), value);
  if (r.ec != std::errc() || value > (uint64_t(1) << 62)) fail("this size is too large");
  place_ = static_cast<size_t>(r.ptr - text_.data());
  return static_cast<int64_t>(value);
}

std::vector<TensorType> AttributeParser::types_in_parentheses() {
  std::vector<TensorType> list;
  expect("(");
  if (accept(")")) return list;
  do {
    list.push_back(type());
    if (peek() == '{') balanced();
    skip_location();
  } while (accept(","));
  expect(")");
  return list;
}

std::vector<TensorType> AttributeParser::result_types() {
  return peek() == '(' ? types_in_parentheses() : std::vector<TensorType>{type()};
}

Attribute AttributeParser::attribute() {
  Deeper deeper(*this);
  Attribute a;
  a.at = here();
  char c = peek();
  if (c == '"')
    a.value = quoted();
  else if (c == '@') {
    a.value = Word{symbol()};
    while (accept("::")) symbol();
  } else if (c == '[')
    a.value = list();
  else if (c == '{')
    a.value = std::make_shared<Dictionary>(dictionary());
  else if (c == '#')
    a = hash();
  else if (c == '<') {
    a.value = Word{std::string(balanced())};
  } else if (std::isdigit(static_cast<unsigned char>(c)) || c == '-')
    number(a);
  else if (accept_word("true"))
    a.value = true;
  else if (accept_word("false"))
    a.value = false;
  else if (accept_word("dense"))
    a.value = dense();
  else if (accept_word("array"))
    a.value = array();
  else if (at_word("loc"))
    skip_location();
  else if (at_word("tensor"))
    a.value = type();
  else if (c == '(' || c == '!') {
    skip_other_type();
  } else {
    std::string word = identifier();
    if (peek() == '<' && text_[place_] == '<') balanced();
    a.value = Word{word};
  }
  return a;
}

void AttributeParser::skip_other_type() {
  if (accept("!")) identifier();
  if (peek() == '(' || peek() == '<') balanced();
  if (accept("->")) {
    if (peek() == '(')
      balanced();
    else
      attribute();
  }
}

void AttributeParser::number(Attribute& a) {
  size_t start = place_;
  accept("-");
  bool hex = text_.substr(place_, 2) == "0x";
  while (place_ < text_.size() &&
         (std::isalnum(static_cast<unsigned char>(text_[place_])) || text_[place_] == '.' ||
          ((text_[place_] == '-' || text_[place_] == '+') && !hex && std::tolower(text_[place_ - 1]) == 'e')))
    ++place_;
  std::string digits(text_.substr(start, place_ - start));
  if (!hex && digits.find_first_of(".eE") != std::string::npos)
    a.value = std::strtod(digits.c_str(), nullptr);
  else {
    place_ = start;
    a.value = integer();
  }
  if (peek() == ':' && text_.substr(place_, 2) != "::") {
    size_t colon = place_;
    ++place_;
    skip_space();
    // a range 0:4 of a slice is no typed number
    if (std::isdigit(static_cast<unsigned char>(peek())) || peek() == '-')
      place_ = colon;
    else if (at_word("tensor"))
      type();
    else
      identifier();
  }
}

std::vector<Attribute> AttributeParser::list() {
  std::vector<Attribute> items;
  expect("[");
  if (accept("]")) return items;
  do {
    Attribute item = attribute();
    if (at(":")) {  // 0:4:2, a range of a slice
      std::vector<Attribute> range = {item};
      while (accept(":")) range.push_back(attribute());
      item.value = std::move(range);
    }
    items.push_back(std::move(item));
  } while (accept(","));
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

Attribute AttributeParser::hash() {
  Attribute a;
  a.at = here();
  expect("#");
  std::string name = identifier();
  if (place_ < text_.size() && text_[place_] == '<') {
    // #stablehlo<transpose NO_TRANSPOSE> is a word, #stablehlo.dot<...> a dictionary of fields
    size_t dot = name.find('.');
    if (dot == std::string::npos) {
      std::string body(balanced());
      size_t space = body.find_last_of(' ');
      a.value = Word{space == std::string::npos ? body : body.substr(space + 1)};
    } else if (name == "stablehlo.conv") {
      a.value = Word{std::string(balanced())};
    } else {
      expect("<");
      auto d = std::make_shared<Dictionary>();
      while (!accept(">")) {
        std::string key = identifier();
        Attribute value;
        value.value = true;
        if (accept("=")) value = attribute();
        (*d)[key] = value;
        accept(",");
      }
      a.value = d;
    }
    return a;
  }
  auto it = aliases_.find(name);
  if (it != aliases_.end()) return it->second;
  a.value = Word{name};
  return a;
}

Dense AttributeParser::dense() {
  Dense d;
  d.body = balanced();
  expect(":");
  d.type = type();
  return d;
}

Dictionary AttributeParser::dictionary() {
  Dictionary d;
  expect("{");
  if (accept("}")) return d;
  do {
    std::string key = peek() == '"' ? quoted() : identifier();
    Attribute a;
    a.value = true;
    if (accept("=")) a = attribute();
    d[key] = a;
  } while (accept(","));
  expect("}");
  return d;
}

void AttributeParser::merge(Operation& op, Dictionary d) {
  for (auto& [k, v] : d) op.attributes[k] = std::move(v);
}

void AttributeParser::alias() {
  bool attribute_alias = accept("#");
  if (!attribute_alias) expect("!");
  std::string name = identifier();
  expect("=");
  if (at_word("loc"))
    skip_location();
  else if (attribute_alias)
    aliases_[name] = attribute();
  else
    skip_other_type();
}

void AttributeParser::skip_resources() {
  size_t end = text_.find("#-}", place_);
  if (end == std::string_view::npos) fail("the resource section is not closed");
  place_ = end + 3;
}

}  // namespace anvil::stablehlo
