// StableHLO text as a tree: functions, operations, attributes. The parser knows MLIR's
// generic form and the pretty forms by their common shape (operands, `key = value`, enum
// words, a signature after the colon); what an operation means is the importer's business.
#pragma once
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "graph/tensor.h"

namespace anvil::stablehlo {

struct Position {
  int line = 1, column = 1;
};
[[noreturn]] void refuse(Position, const std::string& message, std::vector<std::string> details = {});

struct Attribute;
using AttributePtr = std::shared_ptr<Attribute>;
using Dictionary = std::map<std::string, Attribute, std::less<>>;
struct Word {
  std::string text;
};  // LT, #stablehlo<comparison_direction LT>, @symbol without the sign
struct Dense {
  std::string_view body;
  graph::TensorType type;
};
struct Attribute {
  std::variant<std::monostate, bool, int64_t, double, std::string, Word, Dense, graph::TensorType,
               std::vector<Attribute>, std::shared_ptr<Dictionary>>
      value;
  Position at;
};

struct Operation;
struct Argument {
  std::string name;
  graph::TensorType type;
};
struct Region {
  std::vector<Argument> arguments;
  std::vector<Operation> operations;
};
struct Operation {
  std::string name;                  // "stablehlo.add"
  std::vector<std::string> results;  // "%0", or "%0#0", "%0#1" of a group
  std::vector<std::string> operands;
  Dictionary attributes;
  std::vector<Attribute> words;  // bare words, ranges and lists of a pretty form, in order
  std::vector<Region> regions;
  std::vector<graph::TensorType> operand_types, result_types;
  Position at;
};
struct Function {
  std::string name;
  bool is_public = true;
  Region body;
  std::vector<graph::TensorType> results;
  Position at;
};
struct Module {
  std::vector<Function> functions;
};

Module parse(std::string_view text);

// The numbers of a dense literal; Error("stablehlo") when they do not fit its type.
graph::Tensor dense_tensor(const Dense&, Position);

}  // namespace anvil::stablehlo
