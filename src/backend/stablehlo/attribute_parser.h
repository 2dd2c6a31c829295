// Attributes of StableHLO text: numbers, strings, [1, 2], dense<...>, #stablehlo<...>,
// dictionaries, and the aliases that stand for them.
#pragma once
#include "backend/stablehlo/type_parser.h"

namespace anvil::stablehlo {

class AttributeParser : protected TypeParser {
 protected:
  using TypeParser::TypeParser;

  Attribute attribute();
  // dense<...> : T of a constant, whose type must be supported.
  Attribute literal(const std::string& operation);
  Dictionary dictionary();
  // A dictionary whose entries replace those of `into`.
  void dictionary(Dictionary& into);
  std::string key();
  // [b, 0, f]x[0, i, o]->[b, 0, f] as three lists.
  std::vector<Attribute> conv_dimensions();
  std::vector<Attribute> list();
  void attribute_alias();  // #name = ...
  void skip_resources();

 private:
  Attribute word();
  Dense dense_body();
  void number(Attribute& a);
  std::string_view type_of_number();
  std::vector<Attribute> array();
  Attribute hash();
  // <key = value, ...> of #stablehlo.dot<...> as a dictionary; any other text between brackets as a word.
  Attribute structure();

  struct Alias {
    Attribute attribute;
    size_t count;  // of the attributes that it holds
    int depth;     // of lists in lists
  };
  std::map<std::string, Alias, std::less<>> aliases_;
  size_t expanded_attributes_ = 0;  // by aliases
};

}  // namespace anvil::stablehlo
