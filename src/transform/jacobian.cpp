// Jacobians column by column (forward mode) or row by row (reverse mode). What a derivative reads that does
// not depend on its direction is computed once, what does for a batch of directions at a time:
//
//   y = sin(x)            %y = sin(%x), %c = cos(%x)
//   dy = cos(x) dx        %J = while (0, zeros): %J[, %k to %k + 63] = %c * (iota() == %k + iota())
#include "transform/jacobian.h"

#include <algorithm>
#include <numeric>

#include "primitives/families/control.h"
#include "primitives/vocabulary/var.h"
#include "transform/activity.h"
#include "transform/batch.h"
#include "transform/forward.h"
#include "transform/needed.h"
#include "transform/reverse.h"

namespace anvil::transform {

using graph::TensorType;
using primitives::Var;
using primitives::Vars;

namespace {

const TensorType place{DType::i64, {}, false};

int64_t size_of_all(const ValueList& values) {
  return std::accumulate(values.begin(), values.end(), int64_t(0),
                         [](int64_t n, const ValuePtr& v) { return n + elements(v->type.shape); });
}
ValueList values_from(const ValueList& list, size_t first) {
  return {list.begin() + static_cast<std::ptrdiff_t>(first), list.end()};
}

// A graph that is linear in `directions`, which gives `results`.
struct Linear {
  Graph before, part;  // what does not depend on the directions; the inputs of the other are the directions
};

// Who reads a tape has to stand beside who records it.
Linear split(const Graph& g, const ValueList& directions, const ValueList& results) {
  Values moving = addresses(directions);
  const auto moves = [&moving](const Call& c) {
    return std::any_of(c.outputs.begin(), c.outputs.end(),
                       [&](const ValuePtr& v) { return moving.count(v.get()) != 0; });
  };
  for (size_t before = 0; moving.size() != before;) {
    before = moving.size();
    for (const Call& c : g.calls) {
      if (!moves(c)) continue;
      for (const ValuePtr& v : c.inputs)
        if (v->type.tape) moving.insert(v.get());
      for (const ValuePtr& v : c.outputs) moving.insert(v.get());
    }
    add_dependent(g.calls, moving);
  }
  Linear l;
  for (const Call& c : g.calls) (moves(c) ? l.part : l.before).calls.push_back(c);
  l.part.inputs = directions;
  l.part.outputs = results;
  return l;
}

// How many directions go at a time: as many as keep the largest value of theirs, and the sum of a few of
// them, in the caches and not in everybody's way.
int64_t directions_at_once(const Graph& part, int64_t count) {
  constexpr int64_t most = 64, most_bytes = int64_t(1) << 25;
  int64_t largest = 1;
  for (const Call& c : part.calls)
    for (const ValuePtr& v : c.outputs) largest = std::max(largest, size_in_bytes(v));
  const int64_t fitting = std::clamp<int64_t>(most_bytes / largest, 1, std::min(most, count));
  const int64_t chunks = (count + fitting - 1) / fitting;
  return (count + chunks - 1) / chunks;
}

// The unit vectors `first` to `first` + `width` - 1 of all directions together, side by side along a last
// dimension, cut into the directions; beyond the last one they are zero.
ValueList unit_vectors(Graph& g, const ValueList& directions, const Var& first, int64_t width) {
  ValueList parts;
  int64_t before = 0;
  for (const ValuePtr& v : directions) {
    const int64_t n = elements(v->type.shape);
    const Shape matrix = {n, width};
    const Var number = primitives::iota(g, 0, DType::i64, matrix, before),
              column = primitives::iota(g, 1, DType::i64, matrix) + broadcast_in_dim(first, matrix, {});
    Shape shape = v->type.shape;
    shape.push_back(width);
    parts.push_back(reshape(convert(number == column, v->type.dtype), shape).value);
    before += n;
  }
  return parts;
}

// For each result a matrix; its columns are what comes of the unit vectors of all directions together, a
// few of them at a time.
ValueList columns(const Linear& linear, Graph& to) {
  const ValueList& directions = linear.part.inputs;
  const int64_t count = size_of_all(directions);
  const auto matrix = [&linear](size_t r, int64_t n) {
    const TensorType& type = linear.part.outputs[r]->type;
    return TensorType{type.dtype, {elements(type.shape), n}};
  };
  const size_t results = linear.part.outputs.size();
  const auto zeros = [&](int64_t n) {
    Vars list;
    for (size_t r = 0; r < results; ++r) list.push_back(primitives::literal(to, 0, matrix(r, n)));
    return list;
  };
  if (count == 0) return values(zeros(0));
  const int64_t width = directions_at_once(linear.part, count), chunks = (count + width - 1) / width;
  const GraphPtr batched = batch(linear.part, std::vector<bool>(directions.size(), true), width);
  const auto columns_from = [&](Graph& g, const Var& first) {
    Vars made;
    for (const ValuePtr& v : inline_calls(*batched, unit_vectors(g, directions, first, width), g))
      made.push_back(reshape(Var{&g, v}, matrix(made.size(), width).shape));
    return made;
  };
  const Var start = primitives::literal(to, 0, place), end = primitives::literal(to, count, place);
  if (chunks == 1) return values(columns_from(to, start));
  const auto next_columns = [&](Graph& g, const Var& first, Vars all) {
    const Vars some = columns_from(g, first);
    for (size_t r = 0; r < results; ++r) all[r] = dynamic_update_slice(all[r], some[r], {{&g, start.value}, first});
    return all;
  };
  Vars made = primitives::counting_loop(to, end, zeros(chunks * width), next_columns, width);
  for (size_t r = 0; r < results; ++r) made[r] = slice(made[r], {0, 0}, matrix(r, count).shape, {1, 1});
  return values(made);
}

void check_floats(const Graph& g) {
  for (const ValuePtr& v : g.outputs)
    if (!is_float(v->type.dtype))
      throw Error("gradient", "The function to differentiate must return floats.",
                  {"x Got dtype " + std::string(name(v->type.dtype)) + "."});
}

// In forward mode if `by_columns`, else in reverse mode; in the other one where a primitive has no derivative in that.
GraphPtr in_a_mode(bool& by_columns, const Graph& graph, const std::vector<bool>& wrt) {
  const auto derivative = [&] { return by_columns ? jvp(graph, wrt) : vjp(graph, wrt); };
  try {
    return derivative();
  } catch (const NotLinear&) {
    by_columns = !by_columns;
  }
  return derivative();
}

}  // namespace

GraphPtr jacobian(const Graph& graph, const std::vector<bool>& wrt) {
  const ValueList inputs = marked_inputs(graph, wrt);
  check_floats(graph);
  bool by_columns = size_of_all(inputs) <= size_of_all(graph.outputs);
  const GraphPtr g = in_a_mode(by_columns, graph, wrt);
  const ValueList directions = values_from(g->inputs, graph.inputs.size());
  const Linear linear = split(*g, directions, values_from(g->outputs, graph.outputs.size()));
  auto to = std::make_shared<Graph>(linear.before);
  to->inputs = graph.inputs;
  to->constants = g->constants;
  const ValueList matrices = columns(linear, *to);
  const auto block = [&](size_t output, size_t input, int64_t first) {
    Shape shape = graph.outputs[output]->type.shape;
    const Shape& by = inputs[input]->type.shape;
    shape.insert(shape.end(), by.begin(), by.end());
    const Var matrix{to.get(), matrices[by_columns ? output : input]};
    const int64_t n = elements(by_columns ? by : graph.outputs[output]->type.shape);
    const Var part = slice(matrix, {0, first}, {matrix.shape()[0], first + n}, {1, 1});
    const Var derivatives = reshape(by_columns ? part : transpose(part, {1, 0}), shape);
    return convert(derivatives, inputs[input]->type.dtype).value;  // as a gradient, in both modes
  };
  int64_t row = 0;
  for (size_t k = 0; k < graph.outputs.size(); ++k) {
    int64_t column = 0;
    for (size_t i = 0; i < inputs.size(); ++i) {
      to->outputs.push_back(block(k, i, by_columns ? column : row));
      column += elements(inputs[i]->type.shape);
    }
    row += elements(graph.outputs[k]->type.shape);
  }
  return to;
}

}  // namespace anvil::transform
