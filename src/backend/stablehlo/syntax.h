// StableHLO text as a tree: functions, operations, attributes. The parser knows MLIR's
// generic form and the pretty forms, and gives one tree for both: attributes have the names
// of the generic form. What an operation means is the importer's business.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/error.h"
#include "graph/tensor.h"

namespace anvil::stablehlo {

struct Position {
  int line = 1, column = 1;
};
// What every refusal throws: an Error of the kind "stablehlo" that knows its place.
struct Refusal : Error {
  Refusal(Position, const std::string& message, std::vector<std::string> details);
  Position at;
};
[[noreturn]] void refuse(Position, const std::string& message, std::vector<std::string> details = {});
// Runs f; a refusal that does not cite the text yet gets the text at its place.
void citing(std::string_view text, const std::function<void()>& f);

struct Attribute;
using AttributePtr = std::shared_ptr<Attribute>;
using Dictionary = std::map<std::string, Attribute, std::less<>>;
struct Word {
  std::string text;
};  // LT, #stablehlo<comparison_direction LT>, @symbol without the sign, what is not understood
// dense<body> : type, not yet read as numbers. The body is a part of the text.
struct Dense {
  std::string_view body;
  graph::TensorType type;
  Position at = {};  // of the body
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
  std::string location = {};  // the name in loc("name"), if it has one
};
struct Region {
  std::vector<Argument> arguments;
  std::vector<Operation> operations;
  Position at = {};
};
struct Operation {
  std::string name;                  // "stablehlo.add"
  std::vector<std::string> results;  // "%0", or "%0#0", "%0#1" of a group
  std::vector<std::string> operands;
  Dictionary attributes;
  std::vector<Attribute> words;  // what a pretty form has beyond operands and named attributes
  std::vector<Region> regions;
  std::vector<graph::TensorType> operand_types, result_types;
  Position at;
};
struct Function {
  std::string name;
  bool is_public = true;
  bool is_declaration = false;  // it has no body
  Region body;
  std::vector<graph::TensorType> results;
  std::vector<std::string> result_info;  // jax.result_info of each result, or nothing
  Position at;
};
struct Module {
  std::vector<Function> functions;
};

// The text must outlive the tree: literals are parts of it.
Module parse(std::string_view text);

// The numbers of a dense literal; Error("stablehlo") when they do not fit its type.
graph::Tensor dense_tensor(const Dense&, Position);
// The number that all elements share when the literal is written as one number, or as the
// bytes of one; nothing for lists. Takes no memory however large the type is.
std::optional<Scalar> dense_splat(const Dense&, Position);

}  // namespace anvil::stablehlo
