// Types of StableHLO text. Tensors of numbers with known sizes are read; every other type is
// refused by name where an operation or an argument has it, and passed over elsewhere.
#pragma once
#include "backend/stablehlo/text_reader.h"

namespace anvil::stablehlo {

class TypeParser : protected TextReader {
 protected:
  using TextReader::TextReader;

  graph::TensorType type();
  std::vector<graph::TensorType> types();                 // T, T
  std::vector<graph::TensorType> types_in_parentheses();  // (T, T), with attributes and locations
  std::vector<graph::TensorType> result_types();          // T or (T, T)
  // Any type, supported or not; gives its text.
  std::string_view skip_type();
  // The type at this place as a tensor, if that is what it is; else the place stays. Of an
  // attribute: elements of the type `index` count as i64.
  std::optional<graph::TensorType> try_tensor();
  void type_alias();  // !name = T

 private:
  struct Fault {
    size_t place;
    std::string message;
    std::vector<std::string> details = {};
  };
  struct Alias {
    size_t place = 0;                            // where the type is written
    std::optional<graph::TensorType> type = {};  // once it has been read
  };
  std::optional<Fault> tensor(graph::TensorType& t);
  std::optional<Fault> sizes(Shape& shape, size_t start);
  std::optional<Fault> element(graph::TensorType& t, size_t start);
  std::string whole(size_t start);
  [[noreturn]] void refuse_type();
  graph::TensorType aliased(Alias& alias);

  bool index_as_i64_ = false;
  std::map<std::string, Alias, std::less<>> type_aliases_;
  size_t expanded_ = 0;  // dimensions that aliases have brought
};

}  // namespace anvil::stablehlo
