// The parser of syntax.h: recursive descent over characters, because `<`, `>`, `x` and `-`
// mean different things inside types. Nesting is bounded, so that no text exhausts the stack.
#include <cctype>
#include <charconv>
#include <cstring>

#include "base/error.h"
#include "backend/stablehlo/syntax.h"

namespace anvil::stablehlo {

void refuse(Position at, const std::string& message, std::vector<std::string> details) {
  throw Error("stablehlo", "Line " + std::to_string(at.line) + ", column " + std::to_string(at.column) + ": " + message, std::move(details));
}

namespace {

using graph::TensorType;
constexpr int deepest_nesting = 200;

bool word_character(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '$' || c == '.' || c == '-'; }
bool identifier_character(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '$' || c == '.'; }

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {
    if (text_.substr(0, 3) == "\xEF\xBB\xBF") place_ = 3;
  }

  Module module() {
    Module m;
    while (!at_end()) {
      if (peek() == '#' || peek() == '!') alias();
      else if (text_.substr(place_, 3) == "{-#") skip_resources();
      else item(m);
    }
    return m;
  }

 private:
  // ---- characters ---------------------------------------------------------------
  Position position(size_t place) const {
    Position p;
    for (size_t i = 0; i < place && i < text_.size(); ++i) {
      if (text_[i] == '\n') { ++p.line; p.column = 1; }
      else ++p.column;
    }
    return p;
  }
  // Positions of operations are asked for in order: count lines from the last one.
  Position here() {
    skip_space();
    if (place_ < counted_) { counted_ = 0; counted_position_ = {}; }
    for (; counted_ < place_; ++counted_) {
      if (text_[counted_] == '\n') { ++counted_position_.line; counted_position_.column = 1; }
      else ++counted_position_.column;
    }
    return counted_position_;
  }
  [[noreturn]] void fail(const std::string& message) {
    skip_space();
    std::string near(text_.substr(place_, 40));
    if (size_t end = near.find_first_of("\r\n"); end != std::string::npos) near.resize(end);
    refuse(position(place_), message, {near.empty() ? "x The text ends here." : "x Got `" + near + "`."});
  }
  void skip_space() {
    while (place_ < text_.size()) {
      char c = text_[place_];
      if (c == ' ' || c == '\n' || c == '\t' || c == '\r') ++place_;
      else if (c == '/' && text_.substr(place_, 2) == "//") {
        while (place_ < text_.size() && text_[place_] != '\n') ++place_;
      } else break;
    }
  }
  bool at_end() { skip_space(); return place_ >= text_.size(); }
  char peek() { skip_space(); return place_ < text_.size() ? text_[place_] : '\0'; }
  bool at(std::string_view s) { skip_space(); return text_.substr(place_, s.size()) == s; }
  bool accept(std::string_view s) {
    if (!at(s)) return false;
    place_ += s.size();
    return true;
  }
  void expect(std::string_view s) {
    if (!accept(s)) fail("expected `" + std::string(s) + "`");
  }
  bool at_word(std::string_view word) {
    return at(word) && (place_ + word.size() >= text_.size() || !identifier_character(text_[place_ + word.size()]));
  }
  bool accept_word(std::string_view word) {
    if (!at_word(word)) return false;
    place_ += word.size();
    return true;
  }
  std::string identifier() {
    skip_space();
    size_t start = place_;
    while (place_ < text_.size() && identifier_character(text_[place_])) ++place_;
    if (start == place_) fail("expected a name");
    return std::string(text_.substr(start, place_ - start));
  }
  std::string quoted() {
    expect("\"");
    std::string s;
    while (place_ < text_.size() && text_[place_] != '"') {
      char c = text_[place_++];
      if (c != '\\') { s += c; continue; }
      if (place_ >= text_.size()) break;
      char e = text_[place_++];
      auto hex = [](char h) { return std::isdigit(static_cast<unsigned char>(h)) ? h - '0' : std::toupper(h) - 'A' + 10; };
      if (e == 'n') s += '\n';
      else if (e == 't') s += '\t';
      else if (std::isxdigit(static_cast<unsigned char>(e)) && place_ < text_.size() && std::isxdigit(static_cast<unsigned char>(text_[place_])))
        s += static_cast<char>(hex(e) * 16 + hex(text_[place_++]));
      else s += e;
    }
    expect("\"");
    return s;
  }
  int64_t integer() {
    skip_space();
    size_t start = place_;
    bool negative = accept("-");
    uint64_t value = 0;
    std::from_chars_result r{};
    if (text_.substr(place_, 2) == "0x") r = std::from_chars(text_.data() + place_ + 2, text_.data() + text_.size(), value, 16);
    else r = std::from_chars(text_.data() + place_, text_.data() + text_.size(), value);
    if (r.ec != std::errc()) { place_ = start; fail("expected an integer"); }
    place_ = static_cast<size_t>(r.ptr - text_.data());
    return negative ? -static_cast<int64_t>(value) : static_cast<int64_t>(value);
  }
  // The text between brackets, strings respected; the place moves behind it.
  std::string_view balanced() {
    skip_space();
    size_t start = place_ + 1;
    std::string stack;
    while (place_ < text_.size()) {
      char c = text_[place_];
      if (c == '"') { quoted(); continue; }
      if (c == '-' && text_.substr(place_, 2) == "->") { place_ += 2; continue; }
      ++place_;
      if (c == '(') stack += ')';
      else if (c == '[') stack += ']';
      else if (c == '{') stack += '}';
      else if (c == '<') stack += '>';
      else if (!stack.empty() && c == stack.back()) {
        stack.pop_back();
        if (stack.empty()) return text_.substr(start, place_ - 1 - start);
      }
    }
    fail("a bracket is not closed");
  }
  struct Deeper {
    explicit Deeper(Parser& p) : parser(p) {
      if (++parser.depth_ > deepest_nesting) parser.fail("nested too deeply");
    }
    ~Deeper() { --parser.depth_; }
    Parser& parser;
  };

  // ---- names ----------------------------------------------------------------------
  std::string value_name() {
    skip_space();
    size_t start = place_;
    if (peek() != '%') fail("expected a value such as `%0`");
    ++place_;
    while (place_ < text_.size() && word_character(text_[place_])) ++place_;
    if (place_ < text_.size() && text_[place_] == '#') {
      ++place_;
      while (place_ < text_.size() && std::isdigit(static_cast<unsigned char>(text_[place_]))) ++place_;
    }
    return std::string(text_.substr(start, place_ - start));
  }
  std::string symbol() {
    expect("@");
    if (peek() == '"') return quoted();
    size_t start = place_;
    while (place_ < text_.size() && word_character(text_[place_])) ++place_;
    return std::string(text_.substr(start, place_ - start));
  }
  void skip_location() {
    while (at_word("loc")) {
      place_ += 3;
      balanced();
    }
  }

  // ---- types -----------------------------------------------------------------------
  TensorType type() {
    Deeper deeper(*this);
    Position where = here();
    size_t start = place_;
    if (!accept_word("tensor")) {
      if (peek() == '!') { ++place_; }
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
  int64_t integer_of_dimension() {
    uint64_t value = 0;
    auto r = std::from_chars(text_.data() + place_, text_.data() + text_.size(), value);
    if (r.ec != std::errc() || value > (uint64_t(1) << 62)) fail("this size is too large");
    place_ = static_cast<size_t>(r.ptr - text_.data());
    return static_cast<int64_t>(value);
  }
  std::vector<TensorType> types_in_parentheses() {
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
  std::vector<TensorType> result_types() {
    return peek() == '(' ? types_in_parentheses() : std::vector<TensorType>{type()};
  }

  // ---- attributes --------------------------------------------------------------------
  static bool starts_type(std::string_view word) { return word == "tensor"; }
  Attribute attribute() {
    Deeper deeper(*this);
    Attribute a;
    a.at = here();
    char c = peek();
    if (c == '"') a.value = quoted();
    else if (c == '@') { a.value = Word{symbol()}; while (accept("::")) symbol(); }
    else if (c == '[') a.value = list();
    else if (c == '{') a.value = std::make_shared<Dictionary>(dictionary());
    else if (c == '#') a = hash();
    else if (c == '<') { a.value = Word{std::string(balanced())}; }
    else if (std::isdigit(static_cast<unsigned char>(c)) || c == '-') number(a);
    else if (accept_word("true")) a.value = true;
    else if (accept_word("false")) a.value = false;
    else if (accept_word("dense")) a.value = dense();
    else if (accept_word("array")) a.value = array();
    else if (at_word("loc")) skip_location();
    else if (at_word("tensor")) a.value = type();
    else if (c == '(' || c == '!') { skip_other_type(); }
    else {
      std::string word = identifier();
      if (peek() == '<' && text_[place_] == '<') balanced();
      a.value = Word{word};
    }
    return a;
  }
  void skip_other_type() {
    if (accept("!")) identifier();
    if (peek() == '(' || peek() == '<') balanced();
    if (accept("->")) { if (peek() == '(') balanced(); else attribute(); }
  }
  void number(Attribute& a) {
    size_t start = place_;
    accept("-");
    bool hex = text_.substr(place_, 2) == "0x";
    while (place_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[place_])) || text_[place_] == '.' ||
                                     ((text_[place_] == '-' || text_[place_] == '+') && !hex && std::tolower(text_[place_ - 1]) == 'e')))
      ++place_;
    std::string digits(text_.substr(start, place_ - start));
    if (!hex && digits.find_first_of(".eE") != std::string::npos) a.value = std::strtod(digits.c_str(), nullptr);
    else { place_ = start; a.value = integer(); }
    if (peek() == ':' && text_.substr(place_, 2) != "::") {
      size_t colon = place_;
      ++place_;
      skip_space();
      // a range 0:4 of a slice is no typed number
      if (std::isdigit(static_cast<unsigned char>(peek())) || peek() == '-') place_ = colon;
      else if (at_word("tensor")) type();
      else identifier();
    }
  }
  std::vector<Attribute> list() {
    std::vector<Attribute> items;
    expect("[");
    if (accept("]")) return items;
    do {
      Attribute item = attribute();
      if (at(":")) {                                     // 0:4:2, a range of a slice
        std::vector<Attribute> range = {item};
        while (accept(":")) range.push_back(attribute());
        item.value = std::move(range);
      }
      items.push_back(std::move(item));
    } while (accept(","));
    expect("]");
    return items;
  }
  std::vector<Attribute> array() {
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
  Attribute hash() {
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
  Dense dense() {
    Dense d;
    d.body = balanced();
    expect(":");
    d.type = type();
    return d;
  }
  Dictionary dictionary() {
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
  static void merge(Operation& op, Dictionary d) {
    for (auto& [k, v] : d) op.attributes[k] = std::move(v);
  }
  void alias() {
    bool attribute_alias = accept("#");
    if (!attribute_alias) expect("!");
    std::string name = identifier();
    expect("=");
    if (at_word("loc")) skip_location();
    else if (attribute_alias) aliases_[name] = attribute();
    else skip_other_type();
  }
  void skip_resources() {
    size_t end = text_.find("#-}", place_);
    if (end == std::string_view::npos) fail("the resource section is not closed");
    place_ = end + 3;
  }

  // ---- modules and functions ------------------------------------------------------------
  void item(Module& m) {
    Deeper deeper(*this);
    if (accept_word("module")) {
      if (peek() == '@') symbol();
      if (accept_word("attributes")) dictionary();
      expect("{");
      while (!accept("}")) item(m);
      skip_location();
    } else if (at("\"builtin.module\"")) {
      generic_module(m);
    } else if (accept_word("func.func")) {
      function(m);
    } else if (at("\"func.func\"")) {
      generic_function(m);
    } else if (at_word("sdy.mesh")) {
      identifier(); symbol(); expect("="); balanced();
      skip_location();
    } else {
      fail("expected a module or a function");
    }
  }
  void generic_module(Module& m) {
    quoted();
    expect("("); expect(")");
    if (at("<{")) balanced();
    expect("("); expect("{");
    if (peek() == '^') { block_header(); }
    while (!accept("}")) item(m);
    expect(")");
    if (peek() == '{') balanced();
    expect(":"); balanced(); expect("->"); balanced();
    skip_location();
  }
  void function(Module& m) {
    Function f;
    f.at = here();
    if (accept_word("private") || accept_word("nested")) f.is_public = false;
    else accept_word("public");
    f.name = symbol();
    f.body.arguments = arguments();
    if (accept("->")) f.results = result_types();
    if (accept_word("attributes")) dictionary();
    if (peek() != '{') fail("the function `@" + f.name + "` has no body");
    f.body.operations = region().operations;
    skip_location();
    m.functions.push_back(std::move(f));
  }
  void generic_function(Module& m) {
    Function f;
    f.at = here();
    quoted();
    expect("("); expect(")");
    Dictionary d;
    if (accept("<")) { function_properties(f, d); expect(">"); }
    expect("(");
    f.body = region();
    expect(")");
    if (peek() == '{') { Dictionary more; function_properties(f, more); d.insert(more.begin(), more.end()); }
    expect(":"); balanced(); expect("->"); balanced();
    skip_location();
    if (auto it = d.find("sym_name"); it != d.end())
      if (auto s = std::get_if<std::string>(&it->second.value)) f.name = *s;
    if (auto it = d.find("sym_visibility"); it != d.end()) f.is_public = false;
    m.functions.push_back(std::move(f));
  }
  // A dictionary whose function_type gives the results.
  void function_properties(Function& f, Dictionary& d) {
    expect("{");
    if (accept("}")) return;
    do {
      std::string key = peek() == '"' ? quoted() : identifier();
      if (!accept("=")) continue;
      if (key == "function_type") { types_in_parentheses(); expect("->"); f.results = result_types(); }
      else d[key] = attribute();
    } while (accept(","));
    expect("}");
  }
  std::vector<Argument> arguments() {
    std::vector<Argument> list;
    expect("(");
    if (accept(")")) return list;
    do {
      Argument a;
      a.name = value_name();
      expect(":");
      a.type = type();
      if (peek() == '{') balanced();
      skip_location();
      list.push_back(std::move(a));
    } while (accept(","));
    expect(")");
    return list;
  }
  std::vector<Argument> block_header() {
    expect("^");
    identifier();
    std::vector<Argument> list;
    if (peek() == '(') list = arguments();
    expect(":");
    return list;
  }
  Region region() {
    Deeper deeper(*this);
    Region r;
    expect("{");
    if (peek() == '^') r.arguments = block_header();
    while (!accept("}")) {
      if (peek() == '^') fail("regions of several blocks are not supported");
      r.operations.push_back(operation());
    }
    return r;
  }

  // ---- operations -----------------------------------------------------------------------
  Operation operation() {
    Operation op;
    op.at = here();
    std::vector<std::pair<std::string, int64_t>> groups;
    if (peek() == '%') {
      do {
        std::string name = value_name();
        int64_t count = accept(":") ? integer() : 1;
        if (count < 0 || count > 100000) fail("this number of results is not supported");
        groups.emplace_back(name, count);
      } while (accept(","));
      expect("=");
    }
    if (peek() == '"') generic(op);
    else pretty(op);
    skip_location();
    for (auto& [name, count] : groups) {
      if (count == 1) op.results.push_back(name);
      else
        for (int64_t k = 0; k < count; ++k) op.results.push_back(name + "#" + std::to_string(k));
    }
    if (op.operand_types.size() != op.operands.size())
      refuse(op.at, "`" + op.name + "` has " + std::to_string(op.operands.size()) + " operands but " +
                        std::to_string(op.operand_types.size()) + " operand types");
    if (!op.results.empty() && op.result_types.size() != op.results.size())
      refuse(op.at, "`" + op.name + "` has " + std::to_string(op.results.size()) + " results but " +
                        std::to_string(op.result_types.size()) + " result types");
    return op;
  }
  void values(Operation& op) {
    do op.operands.push_back(value_name());
    while (accept(","));
  }
  void generic(Operation& op) {
    op.name = quoted();
    expect("(");
    if (!accept(")")) { values(op); expect(")"); }
    if (peek() == '[') fail("successors are not supported");
    if (accept("<")) { merge(op, dictionary()); expect(">"); }
    if (accept("(")) {
      do op.regions.push_back(region());
      while (accept(","));
      expect(")");
    }
    if (peek() == '{') merge(op, dictionary());
    expect(":");
    op.operand_types = types_in_parentheses();
    expect("->");
    op.result_types = result_types();
  }
  void pretty(Operation& op) {
    op.name = identifier();
    if (op.name == "return") op.name = "func.return";
    if (op.name == "call") op.name = "func.call";
    if (op.name == "constant") op.name = "stablehlo.constant";
    if (op.name == "stablehlo.while") return pretty_while(op);
    if (op.name == "stablehlo.reduce") return pretty_reduce(op);
    items(op);
    signature(op);
  }
  // Operands, words, `key = value` and dictionaries up to the colon of the signature.
  void items(Operation& op) {
    if (op.name == "stablehlo.constant") {
      if (peek() == '{') merge(op, dictionary());
      if (accept("(")) { expect(")"); expect("<"); merge(op, dictionary()); expect(">"); return; }
      Attribute a;
      a.at = here();
      if (!accept_word("dense")) fail("expected `dense`");
      Dense d;
      d.body = balanced();
      if (!at(":")) fail("expected the type of the constant");
      size_t colon = place_;
      expect(":");
      d.type = type();
      place_ = colon;
      a.value = d;
      op.attributes["value"] = a;
      return;
    }
    while (peek() != ':') {
      char c = peek();
      if (c == '\0') fail("expected `:` and types");
      if (c == '%') op.operands.push_back(value_name());
      else if (c == '(') { ++place_; if (!accept(")")) { items_in_parentheses(op); } }
      else if (c == '{') merge(op, dictionary());
      else if (c == '<') { expect("<"); merge(op, dictionary()); expect(">"); }
      else if (c == '@') op.attributes["callee"] = attribute();
      else if (c == ',') ++place_;
      else if (c == '[' || c == '"') op.words.push_back(attribute());
      else if (std::isalpha(static_cast<unsigned char>(c))) {
        Position where = here();
        std::string word = identifier();
        if (accept("=")) {
          Attribute a = attribute();
          if (accept_word("x")) {                       // contracting_dims = [1] x [0]
            Attribute pair;
            pair.at = where;
            pair.value = std::vector<Attribute>{a, attribute()};
            a = pair;
          } else if (at("x[") ) {                       // dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f]
            std::vector<Attribute> parts = {a};
            expect("x");
            parts.push_back(attribute());
            if (accept("->")) parts.push_back(attribute());
            a.value = parts;
          }
          op.attributes[word] = a;
        } else {
          op.words.push_back({Word{word}, where});
        }
      } else fail("this form of `" + op.name + "` is not supported");
    }
  }
  void items_in_parentheses(Operation& op) {
    while (!accept(")")) {
      if (peek() == '%') op.operands.push_back(value_name());
      else {
        std::string key = identifier();
        expect("=");
        op.attributes[key] = attribute();
      }
      accept(",");
    }
  }
  // After the colon: a function type says everything; otherwise the types stand for operands
  // and result as each operation has it.
  void signature(Operation& op) {
    expect(":");
    size_t n = op.operands.size();
    if (peek() == '(') {
      size_t start = place_;
      std::vector<TensorType> in = types_in_parentheses();
      if (accept("->")) { op.operand_types = in; op.result_types = result_types(); return; }
      place_ = start;
    }
    std::vector<TensorType> list = {type()};
    while (accept(",")) list.push_back(type());
    if (accept("->")) { op.operand_types = list; op.result_types = result_types(); return; }
    if (op.name == "stablehlo.select" && list.size() == 2 && n == 3) {
      op.operand_types = {list[0], list[1], list[1]};
      op.result_types = {list[1]};
    } else if (list.size() == n && n != 1) {
      op.operand_types = list;
      op.result_types = list;
    } else {
      op.operand_types.assign(n, list[0]);
      op.result_types = {list[0]};
    }
  }
  void pretty_while(Operation& op) {
    std::vector<std::string> names;
    expect("(");
    if (!accept(")")) {
      do {
        names.push_back(value_name());
        expect("=");
        op.operands.push_back(value_name());
      } while (accept(","));
      expect(")");
    }
    if (!names.empty()) {
      expect(":");
      do op.operand_types.push_back(type());
      while (accept(","));
    }
    op.result_types = op.operand_types;
    skip_location();
    if (accept_word("attributes")) merge(op, dictionary());
    if (op.operand_types.size() != names.size()) fail("`stablehlo.while` needs a type for each of its values");
    for (const char* part : {"cond", "do"}) {
      if (!accept_word(part)) fail(std::string("expected `") + part + "`");
      Region r = region();
      for (size_t i = 0; i < names.size(); ++i) r.arguments.push_back({names[i], op.operand_types[i]});
      op.regions.push_back(std::move(r));
    }
  }
  void pretty_reduce(Operation& op) {
    std::vector<std::string> initial;
    do {
      expect("(");
      op.operands.push_back(value_name());
      if (!accept_word("init")) fail("expected `init`");
      expect(":");
      initial.push_back(value_name());
      expect(")");
    } while (accept(","));
    op.operands.insert(op.operands.end(), initial.begin(), initial.end());
    std::string applies;
    if (accept_word("applies")) applies = identifier();
    if (!accept_word("across")) fail("expected `across`");
    if (!accept_word("dimensions")) fail("expected `dimensions`");
    expect("=");
    op.attributes["dimensions"] = attribute();
    if (peek() == '{') merge(op, dictionary());
    expect(":");
    op.operand_types = types_in_parentheses();
    expect("->");
    op.result_types = result_types();
    skip_location();
    Region body;
    if (!applies.empty()) {
      TensorType scalar{op.operand_types.at(0).dtype, {}, false};
      body.arguments = {{"%lhs", scalar}, {"%rhs", scalar}};
      Operation apply, give;
      apply.name = applies;
      apply.results = {"%out"};
      apply.operands = {"%lhs", "%rhs"};
      apply.operand_types = {scalar, scalar};
      apply.result_types = {scalar};
      apply.at = op.at;
      give.name = "stablehlo.return";
      give.operands = {"%out"};
      give.operand_types = {scalar};
      give.at = op.at;
      body.operations = {apply, give};
    } else {
      if (!accept_word("reducer")) fail("expected `reducer`");
      std::vector<Argument> left, right;
      while (peek() == '(') {
        std::vector<Argument> pair = arguments();
        if (pair.size() != 2) fail("a reducer takes pairs of arguments");
        left.push_back(pair[0]);
        right.push_back(pair[1]);
      }
      body = region();
      body.arguments = left;
      body.arguments.insert(body.arguments.end(), right.begin(), right.end());
    }
    op.regions.push_back(std::move(body));
  }

  std::string_view text_;
  size_t place_ = 0, counted_ = 0;
  Position counted_position_;
  int depth_ = 0;
  std::map<std::string, Attribute, std::less<>> aliases_;
};

}  // namespace

Module parse(std::string_view text) { return Parser(text).module(); }

}  // namespace anvil::stablehlo
