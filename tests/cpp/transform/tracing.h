// Small graphs written as C++ functions, and gradients checked against finite differences.
#pragma once
#include <functional>

#include "backend/eigen/evaluate.h"
#include "primitives/vocabulary/var.h"
#include "transform/reverse.h"

namespace anvil::testing {

using graph::Graph;
using graph::GraphPtr;
using graph::Tensor;
using graph::TensorType;
using graph::ValuePtr;
using primitives::Var;
using Vars = std::vector<Var>;

inline const TensorType f64_scalar{DType::f64, {}};
inline TensorType f64(Shape shape) { return {DType::f64, std::move(shape)}; }

// A graph of `body`, which is called with one Var per input.
GraphPtr trace(const std::vector<TensorType>& inputs, const std::function<Vars(Graph&, const Vars&)>& body);
// The same value, to be used in an inner graph.
inline Var in(Graph& g, Var v) { return {&g, v.value}; }

Vars if_else(Graph& g, Var condition, const std::function<Vars(Graph&)>& yes, const std::function<Vars(Graph&)>& no);
using Step = std::function<Vars(Graph&, const Vars& state)>;
Vars while_loop(Graph& g, const Vars& initial, const std::function<Var(Graph&, const Vars& state)>& condition,
                const Step& body);
// A loop over k = first, first + 1, ..., whose other values begin as `initial` makes them of the inputs. `body` gets the
// number of the step, from 0 on, these values and the inputs. Gives what they are in the end.
using Body = std::function<Vars(Graph&, const Var& step, const Vars& state, const Vars& inputs)>;
GraphPtr counting_loop(const std::vector<TensorType>& inputs, int64_t steps,
                       const std::function<Vars(Graph&, const Vars& inputs)>& initial, const Body&, int64_t first = 0);
Var number(Graph& g, double x);    // a literal f64 scalar
Var integer(Graph& g, int64_t x);  // a literal i32 scalar

Tensor tensor(const Shape&, const std::vector<double>&, DType = DType::f64);
std::vector<double> numbers(const Tensor&);

// Inputs of a graph, of numbers that differ by up to 1 from some value.
std::vector<Tensor> inputs_around(double value, const Graph&);
// Both graphs give the same values, but for so much of what they are and 1.
void expect_same(const Graph& expected, const Graph& got, const std::vector<Tensor>& inputs, double tolerance);

// The gradients of a scalar function of f64 inputs agree with central differences, then
// those of a weighted sum of the gradients, and so on; so does forward mode.
void expect_gradient(const GraphPtr&, const std::vector<Tensor>& inputs, int orders = 2, double tolerance = 1e-6);

}  // namespace anvil::testing
