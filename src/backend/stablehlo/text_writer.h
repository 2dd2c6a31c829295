// Lines of StableHLO text in the generic form: names for values, operations with attributes
// and regions, constants. What is written is the writer's business.
#pragma once
#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "backend/stablehlo/layout.h"
#include "graph/graph.h"

namespace anvil::stablehlo {

using Ints = std::vector<int64_t>;
using graph::TensorType;
using graph::ValuePtr;

inline std::string array(const Ints& v) { return v.empty() ? "array<i64>" : "array<i64: " + join(v, ", ") + ">"; }
inline std::string brackets(const Ints& v) { return "[" + join(v, ", ") + "]"; }
inline std::string boolean(bool x) { return x ? "true" : "false"; }
inline TensorType typed(DType dtype, Shape shape = {}) { return {dtype, std::move(shape), false}; }
std::string types(const std::vector<TensorType>&);  // (tensor<f32>, tensor<2xf32>)

// A value in the text: its name and type.
struct Item {
  std::string name;
  TensorType type;
};

class TextWriter {
 public:
  std::string text;

  std::string fresh() { return "%" + std::to_string(next_++); }
  void define(const ValuePtr& v, std::string id) { scopes_.back()[v.get()] = std::move(id); }

  // One line of the generic form; multi-line when there are attributes.
  Item op(const std::string& name, const std::vector<Item>& operands, const TensorType& type,
          const std::vector<std::string>& attributes = {});
  std::vector<Item> op(const std::string& name, const std::vector<Item>& operands,
                       const std::vector<TensorType>& results, const std::vector<std::string>& attributes);
  // The same with regions, each written by a function.
  std::vector<Item> op_with_regions(const std::string& name, const std::vector<Item>& operands,
                                    const std::vector<TensorType>& results,
                                    const std::vector<std::function<void()>>& regions,
                                    const std::vector<std::string>& attributes);
  // One line of a pretty form: `%3 = stablehlo.compare LT, %a, %b, FLOAT : ...`
  Item pretty(const std::string& body, const std::vector<Item>& operands, const TensorType& type, const char* colon);
  void block_arguments(const std::vector<Item>& arguments);
  void yield(const char* name, const std::vector<Item>& items);

  Item constant(const std::string& dense, const TensorType& type);
  Item number(Scalar x, DType t, const Shape& shape = {}) {
    return constant("dense<" + dense_number(x, t) + ">", typed(t, shape));
  }

 protected:
  int next_ = 0;
  std::string indent_;
  std::vector<std::unordered_map<const graph::Value*, std::string>> scopes_ = {{}};

 private:
  std::vector<Item> begin_results(const std::vector<TensorType>& results);
  static std::string operand_names(const std::vector<Item>& items);
  static std::string joined(const std::vector<std::string>& lines);
  static std::string signature(const std::vector<Item>& operands, const std::vector<TensorType>& results);
};

}  // namespace anvil::stablehlo
