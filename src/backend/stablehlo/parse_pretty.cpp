// Pretty forms. Nearly all are operands, words, `key = value` and dictionaries up to a colon,
// then a signature; constants, loops, reductions and scans have forms of their own.
#include <unordered_map>

#include "backend/stablehlo/operation_parser.h"

namespace anvil::stablehlo {

using graph::TensorType;

void OperationParser::pretty(Operation& op) {
  using Form = void (OperationParser::*)(Operation&);
  using P = OperationParser;
  static const std::unordered_map<std::string_view, Form> forms = {
      {"func.return", &P::terminator},
      {"stablehlo.return", &P::terminator},
      {"stablehlo.constant", &P::constant},
      {"chlo.constant", &P::constant},
      {"arith.constant", &P::constant},
      {"stablehlo.while", &P::while_loop},
      {"stablehlo.reduce", &P::reduce},
      {"chlo.scan", &P::scan},
      {"check.expect_eq_const", &P::check_constant},
      {"check.expect_almost_eq_const", &P::check_constant}};
  if (!at_identifier()) fail("expected an operation");
  op.name = identifier();
  if (op.name == "return" || op.name == "call") op.name = "func." + op.name;
  if (op.name == "constant") op.name = "stablehlo.constant";
  if (auto form = forms.find(op.name); form != forms.end()) return (this->*form->second)(op);
  if (items(op)) signature(op);
  rename_pretty(op);
}

// ---- the common form ----------------------------------------------------------------------

// Everything up to the colon; false when there is none. Commas stand between operands, words and
// entries, and nowhere else.
bool OperationParser::items(Operation& op) {
  bool listed = false;  // the last item may be followed by a comma
  while (peek() != ':') {
    bool comma = listed && accept(",");
    bool is_next = peek() == '%' || (at_identifier() && !at_word("attributes"));
    if (comma && !is_next) fail("expected an operand or an attribute after `,`");
    if (!comma && listed && is_next) fail("expected `,`");
    if (!item(op)) return false;
    listed = is_next;
  }
  return true;
}

bool OperationParser::item(Operation& op) {
  char c = peek();
  Position where = here();
  if (c == '%')
    value(op);
  else if (c == '(')
    return parentheses(op);
  else if (c == '{')
    braces(op);
  else if (at("<{"))
    properties(op);
  else if (c == '<')
    balanced();  // the sharding of sdy.sharding_constraint
  else if (c == '@')
    op.attributes[op.name == "stablehlo.custom_call" ? "call_target_name" : "callee"] = attribute();
  else if (c == '[')
    op.words.push_back({ranges(), where});
  else if (c == '"')
    op.attributes["name"] = {quoted(), where};
  else if (at_identifier())
    word_or_entry(op);
  else
    fail("expected `:` and the types of `" + op.name + "`");
  return true;
}

void OperationParser::word_or_entry(Operation& op) {
  Position where = here();
  std::string name = identifier();
  if (accept("="))
    op.attributes.insert_or_assign(std::move(name), entry_value(name));
  else if (name != "attributes" || peek() != '{')
    op.words.push_back({Word{std::move(name)}, where});
}

// Operands and entries in parentheses; false when they are empty and nothing follows.
bool OperationParser::parentheses(Operation& op) {
  expect("(");
  if (accept(")")) return peek() == ':' || peek() == '{';
  do {
    if (peek() == '%') {
      value(op);
    } else {
      std::string name = identifier();
      expect("=");
      op.attributes.insert_or_assign(std::move(name), attribute());
    }
  } while (accept(","));
  expect(")");
  return true;
}

void OperationParser::braces(Operation& op) {
  size_t start = place_;
  expect("{");
  bool has_block = peek() == '^';
  place_ = start;
  if (has_block)
    op.regions.push_back(region());
  else
    dictionary(op.attributes);
}

Attribute OperationParser::entry_value(const std::string& name) {
  Attribute a;
  a.at = here();
  if (name == "dim_numbers" || name == "dimension_numbers") {
    if (peek() != '[') return attribute();
    a.value = conv_dimensions();
    return a;
  }
  a = attribute();
  if (!accept_word("x")) return a;
  Attribute pair;  // contracting_dims = [1] x [0]
  pair.at = a.at;
  Attribute second = attribute();
  pair.value = std::vector<Attribute>{std::move(a), std::move(second)};
  return pair;
}

// [0:4, 1:9:2] as lists of numbers; anything else in brackets as it is.
std::vector<Attribute> OperationParser::ranges() {
  std::vector<Attribute> items;
  expect("[");
  if (accept("]")) return items;
  do {
    Attribute item;
    item.at = here();
    if (!is_digit(peek()) && peek() != '-') {
      item = attribute();
    } else {
      std::vector<Attribute> numbers;
      do {
        Position where = here();
        numbers.push_back({integer(), where});
      } while (accept(":"));
      item.value = std::move(numbers);
    }
    items.push_back(std::move(item));
  } while (accept(","));
  expect("]");
  return items;
}

// A function type says everything; otherwise the types stand for operands and results as
// each operation has it.
void OperationParser::signature(Operation& op) {
  expect(":");
  if (peek() == '{') dictionary(op.attributes);
  if (peek() == '(') {
    op.operand_types = types_in_parentheses();
    expect("->");
    op.result_types = result_types();
    return;
  }
  std::vector<TensorType> list = types();
  size_t n = op.operands.size();
  constexpr size_t most_alike = 8;  // operands that one type may stand for
  if (accept("->")) {
    op.operand_types = std::move(list);
    op.result_types = result_types();
  } else if (op.name.compare(0, 6, "check.") == 0) {
    if (list.size() == 1 && n <= most_alike) list.resize(n, list[0]);
    op.operand_types = std::move(list);
  } else if (op.name == "stablehlo.select" && list.size() == 2 && n == 3) {
    op.operand_types = {list[0], list[1], list[1]};
    op.result_types = {list[1]};
  } else if (list.size() == 1 && n <= most_alike) {
    op.operand_types.assign(n, list[0]);
    op.result_types = std::move(list);
  } else {
    op.operand_types = list;
    op.result_types = std::move(list);
  }
}

// ---- forms of their own -------------------------------------------------------------------

void OperationParser::terminator(Operation& op) {
  if (peek() == '%') values(op);
  if (peek() == '{') dictionary(op.attributes);
  if (accept(":")) op.operand_types = types();
}

// stablehlo.constant {..} dense<..> : T, or stablehlo.constant() <{value = ..}> : () -> T
void OperationParser::constant(Operation& op) {
  if (peek() == '{') dictionary(op.attributes);
  if (accept("(")) {
    expect(")");
    if (peek() == '<') properties(op);
    if (peek() == '{') dictionary(op.attributes);
    return signature(op);
  }
  Attribute a = literal(op.name);
  op.result_types = {std::get<Dense>(a.value).type};
  op.attributes.insert_or_assign("value", std::move(a));
}

// %x, dense<..> : T, tolerance = 0.1
void OperationParser::check_constant(Operation& op) {
  value(op);
  expect(",");
  Attribute a = literal(op.name);
  op.operand_types = {std::get<Dense>(a.value).type};
  op.attributes.insert_or_assign("value", std::move(a));
  while (accept(",")) {
    std::string name = identifier();
    expect("=");
    op.attributes.insert_or_assign(std::move(name), attribute());
  }
  if (peek() == '{') dictionary(op.attributes);
}

void OperationParser::while_loop(Operation& op) {
  std::vector<std::string> names;
  expect("(");
  if (!accept(")")) {
    do {
      names.push_back(value_name());
      expect("=");
      value(op);
    } while (accept(","));
    expect(")");
  }
  if (!names.empty()) {
    expect(":");
    op.operand_types = types();
  }
  op.result_types = op.operand_types;
  skip_location();
  if (accept_word("attributes")) dictionary(op.attributes);
  if (op.operand_types.size() != names.size()) fail("`stablehlo.while` needs a type for each of its values");
  for (const char* part : {"cond", "do"}) {
    if (!accept_word(part)) fail(std::string("expected `") + part + "`");
    Region r = region();
    if (!r.arguments.empty()) refuse(op.at, "the regions of this form of `stablehlo.while` have no arguments");
    for (size_t i = 0; i < names.size(); ++i) r.arguments.push_back({names[i], op.operand_types[i]});
    op.regions.push_back(std::move(r));
  }
}

namespace {

// The region of `applies stablehlo.add`.
Region applied(const std::string& operation, DType dtype, Position at) {
  TensorType scalar{dtype, {}, false};
  Region body;
  body.arguments = {{"%lhs", scalar}, {"%rhs", scalar}};
  Operation apply, give;
  apply.name = operation;
  apply.results = {"%out"};
  apply.operands = {"%lhs", "%rhs"};
  apply.operand_types = {scalar, scalar};
  apply.result_types = {scalar};
  give.name = "stablehlo.return";
  give.operands = apply.results;
  give.operand_types = {scalar};
  apply.at = give.at = at;
  body.operations.push_back(std::move(apply));
  body.operations.push_back(std::move(give));
  return body;
}

}  // namespace

void OperationParser::reduce(Operation& op) {
  std::vector<std::string> initial;
  do {
    expect("(");
    value(op);
    if (!accept_word("init")) fail("expected `init`");
    expect(":");
    initial.push_back(value_name());
    expect(")");
  } while (accept(","));
  size_t n = initial.size();
  for (std::string& name : initial) op.operands.push_back(std::move(name));
  std::string operation;
  if (accept_word("applies")) operation = identifier();
  if (!accept_word("across")) fail("expected `across`");
  if (!accept_word("dimensions")) fail("expected `dimensions`");
  expect("=");
  op.attributes.insert_or_assign("dimensions", attribute());
  if (peek() == '{') dictionary(op.attributes);
  expect(":");
  op.operand_types = types_in_parentheses();
  expect("->");
  op.result_types = result_types();
  skip_location();
  if (!operation.empty()) {
    if (n != 1 || op.operand_types.empty()) refuse(op.at, "`applies` needs one operand and its initial value");
    op.regions.push_back(applied(operation, op.operand_types[0].dtype, op.at));
    return;
  }
  if (!accept_word("reducer")) fail("expected `reducer`");
  std::vector<Argument> left, right;
  while (peek() == '(') {
    std::vector<Argument> pair = arguments();
    if (pair.size() != 2) fail("a reducer takes pairs of arguments");
    left.push_back(std::move(pair[0]));
    right.push_back(std::move(pair[1]));
  }
  Region body = region();
  if (!body.arguments.empty()) refuse(op.at, "the region of this form of `stablehlo.reduce` has no arguments");
  for (std::vector<Argument>* side : {&left, &right})
    for (Argument& a : *side) body.arguments.push_back(std::move(a));
  op.regions.push_back(std::move(body));
}

// chlo.scan(%x) inits(%y) dimension = 0 { ^bb0(..): .. } : (..) -> (..)
void OperationParser::scan(Operation& op) {
  parentheses(op);
  size_t n = op.operands.size();
  if (!accept_word("inits")) fail("expected `inits`");
  parentheses(op);
  std::vector<Attribute> sizes(2);
  sizes[0].value = static_cast<int64_t>(n);
  sizes[1].value = static_cast<int64_t>(op.operands.size() - n);
  op.attributes["operandSegmentSizes"] = {std::move(sizes), op.at};
  if (items(op)) signature(op);
}

}  // namespace anvil::stablehlo
