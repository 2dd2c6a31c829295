// StableHLO modules of any number of operations in several shapes, and one network as other
// tools write it (row-major reshapes) and as one writes it where memory is column-major.
#pragma once
#include <functional>
#include <map>
#include <string>

#include "anvil.h"

namespace anvil::bench {

// Writes one function; values are named by number.
class Text {
 public:
  std::string add(const std::string& line) {
    body_ += "    %" + std::to_string(count_) + " = " + line + "\n";
    return "%" + std::to_string(count_++);
  }
  std::string elementwise(const std::string& op, const std::string& operands, const std::string& type) {
    return add("stablehlo." + op + " " + operands + " : " + type);
  }
  std::string constant(const std::string& value, const std::string& type) {
    return add("stablehlo.constant dense<" + value + "> : " + type);
  }
  std::string module(const std::string& arguments, const std::string& result, const std::string& type) const {
    return "module @large {\n  func.func public @main(" + arguments + ") -> (" + type + ") {\n" + body_ +
           "    return " + result + " : " + type + "\n  }\n}\n";
  }
  std::string body_;
  int count_ = 0;
};

// One of a few operations that keep numbers between -1 and 1 or so.
inline std::string step(Text& t, int k, const std::string& x, const std::string& y, const std::string& type) {
  switch (k % 6) {
    case 0: return t.elementwise("add", x + ", " + y, type);
    case 1: return t.elementwise("multiply", x + ", " + y, type);
    case 2: return t.elementwise("tanh", x, type);
    case 3: return t.elementwise("subtract", x + ", " + y, type);
    case 4: return t.elementwise("maximum", x + ", " + y, type);
    default: return t.elementwise("sine", x, type);
  }
}

inline std::string chain(int ops, const std::string& type) {
  Text t;
  std::string v = "%x";
  for (int k = 0; k < ops; ++k) v = step(t, k, v, "%y", type);
  return t.module("%x: " + type + ", %y: " + type, v, type);
}
inline std::string vector_chain(int ops) { return chain(ops, "tensor<1000xf32>"); }
inline std::string scalar_chain(int ops) { return chain(ops, "tensor<f32>"); }

inline std::string matrix_with_sums(int ops) {
  Text t;
  const std::string type = "tensor<50x40xf32>", row = "tensor<40xf32>";
  std::string v = "%x";
  const std::string zero = t.constant("0.0", "tensor<f32>");
  for (int k = 0; t.count_ < ops; ++k) {
    v = step(t, k, v, "%y", type);
    if (k % 10 != 9) continue;
    std::string sum = t.add("stablehlo.reduce(" + v + " init: " + zero +
                            ") applies stablehlo.add across dimensions = [0] : (" + type + ", tensor<f32>) -> " + row);
    sum = t.elementwise("tanh", sum, row);
    v = t.elementwise(
        "add", v + ", " + t.add("stablehlo.broadcast_in_dim " + sum + ", dims = [1] : (" + row + ") -> " + type), type);
  }
  return t.module("%x: " + type + ", %y: " + type, v, type);
}

inline std::string small_dots(int ops) {
  Text t;
  const std::string type = "tensor<16x16xf32>";
  std::string v = "%x";
  while (t.count_ < ops) {
    v = t.add("stablehlo.dot_general " + v + ", %y, contracting_dims = [1] x [0] : (" + type + ", " + type + ") -> " +
              type);
    v = t.elementwise("tanh", v, type);
  }
  return t.module("%x: " + type + ", %y: " + type, v, type);
}

inline std::string scalar_loop(int ops) {
  Text t;
  t.body_ =
      "    %n = stablehlo.constant dense<100> : tensor<i32>\n"
      "    %one = stablehlo.constant dense<1> : tensor<i32>\n"
      "    %i0 = stablehlo.constant dense<0> : tensor<i32>\n"
      "    %w:2 = stablehlo.while(%i = %i0, %s = %x) : tensor<i32>, tensor<f32>\n"
      "     cond {\n"
      "      %less = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
      "      stablehlo.return %less : tensor<i1>\n"
      "    } do {\n";
  std::string v = "%s";
  for (int k = 0; k < ops; ++k) v = step(t, k, v, "%y", "tensor<f32>");
  t.body_ += "      %next = stablehlo.add %i, %one : tensor<i32>\n      stablehlo.return %next, " + v +
             " : tensor<i32>, tensor<f32>\n    }\n";
  return t.module("%x: tensor<f32>, %y: tensor<f32>", "%w#1", "tensor<f32>");
}

// Every value is read long after it was made.
inline std::string wide(int ops, const std::string& type) {
  Text t;
  std::vector<std::string> live = {"%x", "%y"};
  const size_t width = 500;
  for (int k = 0; t.count_ + static_cast<int>(width) < ops; ++k) {
    size_t n = live.size(), far = n > width ? n - width : 0;
    std::string v = step(t, k, live[far], live[n - 1 - static_cast<size_t>(k) % std::min<size_t>(n, 7)], type);
    live.push_back(k % 6 == 2 || k % 6 == 5 ? t.elementwise("add", v + ", " + live.back(), type) : v);
  }
  std::string sum = live.back();
  for (size_t k = 2; k <= width && k < live.size(); ++k)
    sum = t.elementwise("add", sum + ", " + live[live.size() - k], type);
  return t.module("%x: " + type + ", %y: " + type, sum, type);
}
inline std::string wide_vectors(int ops) { return wide(ops, "tensor<1000xf32>"); }
inline std::string wide_scalars(int ops) { return wide(ops, "tensor<f32>"); }

// Row-major reshapes, transposes, softmax: a transformer's building blocks.
inline std::string reshapes(int ops) {
  Text t;
  const std::string cube = "tensor<4x6x8xf32>", matrix = "tensor<24x8xf32>", square = "tensor<8x8xf32>";
  std::string v = "%x";
  while (t.count_ < ops) {
    std::string m = t.add("stablehlo.reshape " + v + " : (" + cube + ") -> " + matrix);
    m = t.add("stablehlo.dot_general " + m + ", %w, contracting_dims = [1] x [0] : (" + matrix + ", " + square +
              ") -> " + matrix);
    m = t.elementwise("tanh", m, matrix);
    v = t.add("stablehlo.reshape " + m + " : (" + matrix + ") -> " + cube);
    v = t.elementwise("add", v + ", %x", cube);
  }
  return t.module("%x: " + cube + ", %w: " + square, v, cube);
}

// Layers of reshape, product, reshape, softmax on larger tensors, as other tools write them.
constexpr int rows = 32, steps = 64, width = 64, layers = 6;
inline std::string row_major_network(int) {
  Text t;
  auto tensor = [](std::initializer_list<int> sizes) {
    std::string s = "tensor<";
    for (int n : sizes) s += std::to_string(n) + "x";
    return s + "f32>";
  };
  const std::string cube = tensor({rows, steps, width}), matrix = tensor({rows * steps, width}),
                    square = tensor({width, width}), sums = tensor({rows, steps});
  const std::string zero = t.constant("0.0", "tensor<f32>");
  std::string v = "%x";
  for (int k = 0; k < layers; ++k) {
    std::string m = t.add("stablehlo.reshape " + v + " : (" + cube + ") -> " + matrix);
    m = t.add("stablehlo.dot_general " + m + ", %w, contracting_dims = [1] x [0] : (" + matrix + ", " + square +
              ") -> " + matrix);
    v = t.add("stablehlo.reshape " + m + " : (" + matrix + ") -> " + cube);
    v = t.elementwise("exponential", t.elementwise("tanh", v, cube), cube);
    std::string sum = t.add("stablehlo.reduce(" + v + " init: " + zero +
                            ") applies stablehlo.add across dimensions = [2] : (" + cube + ", tensor<f32>) -> " + sums);
    v = t.elementwise(
        "divide", v + ", " + t.add("stablehlo.broadcast_in_dim " + sum + ", dims = [0, 1] : (" + sums + ") -> " + cube),
        cube);
  }
  return t.module("%x: " + cube + ", %w: " + square, v, cube);
}
// The same network as one writes it where memory is column-major.
inline graph::GraphPtr column_major_network() {
  using primitives::Var;
  auto g = std::make_shared<graph::Graph>();
  auto input = [&](Shape shape) {
    g->inputs.push_back(graph::make_value(graph::Value::Kind::input, {DType::f32, std::move(shape)}));
    return Var{g.get(), g->inputs.back()};
  };
  const Shape cube = {width, steps, rows};
  Var v = input(cube), w = input({width, width});
  for (int k = 0; k < layers; ++k) {
    v = reshape(dot_general(w, reshape(v, {width, steps * rows}), {1}, {0}, {}, {}), cube);
    v = exp(primitives::record("tanh", {v}));
    v = v / broadcast_in_dim(primitives::reduce_sum(v, {0}), cube, {1, 2});
  }
  g->outputs = {v.value};
  return g;
}

inline const std::map<std::string, std::function<std::string(int)>>& shapes() {
  static const std::map<std::string, std::function<std::string(int)>> table = {
      {"vector_chain", vector_chain}, {"scalar_chain", scalar_chain}, {"matrix_with_sums", matrix_with_sums},
      {"small_dots", small_dots},     {"scalar_loop", scalar_loop},   {"wide_vectors", wide_vectors},
      {"wide_scalars", wide_scalars}, {"reshapes", reshapes},         {"row_major_network", row_major_network}};
  return table;
}

}  // namespace anvil::bench
