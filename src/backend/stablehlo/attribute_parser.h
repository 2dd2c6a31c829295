// Types and attributes of StableHLO text: tensor<2x3xf32>, [1, 2], dense<...>, #stablehlo<...>,
// dictionaries, and the aliases that stand for them.
#pragma once
#include "backend/stablehlo/text_reader.h"

namespace anvil::stablehlo {

class AttributeParser : protected TextReader {
 protected:
  using TextReader::TextReader;

  graph::TensorType type();
  int64_t integer_of_dimension();
  std::vector<graph::TensorType> types_in_parentheses();
  std::vector<graph::TensorType> result_types();

  Attribute attribute();
  void skip_other_type();
  void number(Attribute& a);
  std::vector<Attribute> list();
  std::vector<Attribute> array();
  Attribute hash();
  Dense dense();
  Dictionary dictionary();
  static void merge(Operation& op, Dictionary d);
  void alias();
  void skip_resources();

 private:
  std::map<std::string, Attribute, std::less<>> aliases_;
};

}  // namespace anvil::stablehlo
