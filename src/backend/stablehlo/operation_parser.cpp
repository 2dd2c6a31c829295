#include "backend/stablehlo/operation_parser.h"

#include <algorithm>

namespace anvil::stablehlo {

std::vector<Argument> OperationParser::arguments() {
  std::vector<Argument> list;
  expect("(");
  if (accept(")")) return list;
  do {
    if (list.size() == most_values) fail("more than " + std::to_string(most_values) + " arguments are not supported");
    Argument a;
    a.name = value_name();
    expect(":");
    a.type = type();
    if (peek() == '{') balanced();
    a.location = skip_location();
    list.push_back(std::move(a));
  } while (accept(","));
  expect(")");
  return list;
}

std::vector<Argument> OperationParser::block_header() {
  expect("^");
  identifier();
  std::vector<Argument> list;
  if (peek() == '(') list = arguments();
  expect(":");
  return list;
}

Region OperationParser::region() {
  Deeper deeper(*this);
  Region r;
  r.at = here();
  expect("{");
  if (peek() == '^') r.arguments = block_header();
  while (!accept("}")) {
    if (peek() == '^') fail("regions of several blocks are not supported");
    r.operations.push_back(operation());
  }
  return r;
}

Operation OperationParser::operation() {
  poll();
  Operation op;
  op.at = here();
  std::vector<std::pair<std::string, size_t>> groups;
  size_t results = 0;
  if (peek() == '%') {
    do {
      std::string name = value_name();
      if (name.find('#') != std::string::npos) fail("a result has no number in its definition");
      int64_t count = 1;
      if (accept(":")) count = integer();
      if (count < 1 || count > static_cast<int64_t>(most_values) || results + static_cast<size_t>(count) > most_values)
        fail("this number of results is not supported");
      results += static_cast<size_t>(count);
      groups.emplace_back(std::move(name), static_cast<size_t>(count));
    } while (accept(","));
    expect("=");
  }
  if (peek() == '"')
    generic(op);
  else
    pretty(op);
  skip_location();
  check_counts(op, results);
  op.results.reserve(results);
  for (auto& [name, count] : groups) {
    for (size_t k = 0; count > 1 && k < count; ++k) op.results.push_back(name + "#" + std::to_string(k));
    if (count == 1) op.results.push_back(std::move(name));
  }
  return op;
}

void OperationParser::check_counts(const Operation& op, size_t results) {
  auto mismatch = [&](const char* what, size_t has, size_t types) {
    refuse(op.at, "`" + op.name + "` has " + std::to_string(has) + " " + what + (has == 1 ? "" : "s") + " but " +
                      std::to_string(types) + " " + what + " type" + (types == 1 ? "" : "s"));
  };
  if (op.operand_types.size() != op.operands.size()) mismatch("operand", op.operands.size(), op.operand_types.size());
  if (results && op.result_types.size() != results) mismatch("result", results, op.result_types.size());
}

void OperationParser::value(Operation& op) {
  count_step();
  if (op.operands.size() == most_values)
    fail("more than " + std::to_string(most_values) + " operands are not supported");
  op.operands.push_back(value_name());
}
void OperationParser::values(Operation& op) {
  do value(op);
  while (accept(","));
}

void OperationParser::properties(Operation& op) {
  expect("<");
  dictionary(op.attributes);
  expect(">");
}

void OperationParser::generic(Operation& op) {
  op.name = quoted();
  expect("(");
  if (!accept(")")) {
    values(op);
    expect(")");
  }
  if (peek() == '[') fail("operations with successors are not supported");
  if (peek() == '<') properties(op);
  if (accept("(")) {
    do op.regions.push_back(region());
    while (accept(","));
    expect(")");
  }
  if (peek() == '{') dictionary(op.attributes);
  expect(":");
  op.operand_types = types_in_parentheses();
  expect("->");
  op.result_types = result_types();
}

}  // namespace anvil::stablehlo
