// Operations and regions of StableHLO text, in the generic and in the pretty form.
#pragma once
#include "backend/stablehlo/attribute_parser.h"

namespace anvil::stablehlo {

class OperationParser : protected AttributeParser {
 protected:
  using AttributeParser::AttributeParser;

  Region region();
  Operation operation();
  // (%a: T loc(..), %b: T {..})
  std::vector<Argument> arguments();
  std::vector<Argument> block_header();

 private:
  void generic(Operation& op);
  void properties(Operation& op);  // <{...}>
  void values(Operation& op);
  void value(Operation& op);
  void check_counts(const Operation& op, size_t results);

  // ---- pretty forms, in parse_pretty.cpp ----
  void pretty(Operation& op);
  bool items(Operation& op);
  bool item(Operation& op);
  void word_or_entry(Operation& op);
  bool parentheses(Operation& op);
  void braces(Operation& op);
  Attribute entry_value(const std::string& key);
  std::vector<Attribute> ranges();
  void signature(Operation& op);
  void constant(Operation& op);
  void check_constant(Operation& op);
  void terminator(Operation& op);
  void while_loop(Operation& op);
  void reduce(Operation& op);
  void scan(Operation& op);
};

// Gives the attributes of a pretty form the names of the generic form.
void rename_pretty(Operation& op);

}  // namespace anvil::stablehlo
