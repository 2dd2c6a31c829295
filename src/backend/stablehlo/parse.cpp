// The parser of syntax.h: recursive descent over characters, because `<`, `>`, `x` and `-`
// mean different things inside types. Nesting is bounded, so that no text exhausts the stack.
#include <cctype>

#include "backend/stablehlo/attribute_parser.h"

namespace anvil::stablehlo {
namespace {

using graph::TensorType;

class Parser : AttributeParser {
 public:
  explicit Parser(std::string_view text) : AttributeParser(text) {}

  Module module() {
    Module m;
    while (!at_end()) {
      if (peek() == '#' || peek() == '!')
        alias();
      else if (text_.substr(place_, 3) == "{-#")
        skip_resources();
      else
        item(m);
    }
    return m;
  }

 private:
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
      identifier();
      symbol();
      expect("=");
      balanced();
      skip_location();
    } else {
      fail("expected a module or a function");
    }
  }
  void generic_module(Module& m) {
    quoted();
    expect("(");
    expect(")");
    if (at("<{")) balanced();
    expect("(");
    expect("{");
    if (peek() == '^') {
      block_header();
    }
    while (!accept("}")) item(m);
    expect(")");
    if (peek() == '{') balanced();
    expect(":");
    balanced();
    expect("->");
    balanced();
    skip_location();
  }
  void function(Module& m) {
    Function f;
    f.at = here();
    if (accept_word("private") || accept_word("nested"))
      f.is_public = false;
    else
      accept_word("public");
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
    expect("(");
    expect(")");
    Dictionary d;
    if (accept("<")) {
      function_properties(f, d);
      expect(">");
    }
    expect("(");
    f.body = region();
    expect(")");
    if (peek() == '{') {
      Dictionary more;
      function_properties(f, more);
      d.insert(more.begin(), more.end());
    }
    expect(":");
    balanced();
    expect("->");
    balanced();
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
      if (key == "function_type") {
        types_in_parentheses();
        expect("->");
        f.results = result_types();
      } else
        d[key] = attribute();
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
    if (peek() == '"')
      generic(op);
    else
      pretty(op);
    skip_location();
    for (auto& [name, count] : groups) {
      if (count == 1)
        op.results.push_back(name);
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
    if (!accept(")")) {
      values(op);
      expect(")");
    }
    if (peek() == '[') fail("successors are not supported");
    if (accept("<")) {
      merge(op, dictionary());
      expect(">");
    }
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
      if (accept("(")) {
        expect(")");
        expect("<");
        merge(op, dictionary());
        expect(">");
        return;
      }
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
      if (c == '%')
        op.operands.push_back(value_name());
      else if (c == '(') {
        ++place_;
        if (!accept(")")) {
          items_in_parentheses(op);
        }
      } else if (c == '{')
        merge(op, dictionary());
      else if (c == '<') {
        expect("<");
        merge(op, dictionary());
        expect(">");
      } else if (c == '@')
        op.attributes["callee"] = attribute();
      else if (c == ',')
        ++place_;
      else if (c == '[' || c == '"')
        op.words.push_back(attribute());
      else if (std::isalpha(static_cast<unsigned char>(c))) {
        Position where = here();
        std::string word = identifier();
        if (accept("=")) {
          Attribute a = attribute();
          if (accept_word("x")) {  // contracting_dims = [1] x [0]
            Attribute pair;
            pair.at = where;
            pair.value = std::vector<Attribute>{a, attribute()};
            a = pair;
          } else if (at("x[")) {  // dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f]
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
      } else
        fail("this form of `" + op.name + "` is not supported");
    }
  }
  void items_in_parentheses(Operation& op) {
    while (!accept(")")) {
      if (peek() == '%')
        op.operands.push_back(value_name());
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
      if (accept("->")) {
        op.operand_types = in;
        op.result_types = result_types();
        return;
      }
      place_ = start;
    }
    std::vector<TensorType> list = {type()};
    while (accept(",")) list.push_back(type());
    if (accept("->")) {
      op.operand_types = list;
      op.result_types = result_types();
      return;
    }
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
};

}  // namespace

Module parse(std::string_view text) { return Parser(text).module(); }

}  // namespace anvil::stablehlo
