// Random graphs over the registry, with inputs to run them on. Everything follows from a
// seed. Elementwise primitives come from the registry itself; each structured one has a
// drawing rule in random_elements.cpp, random_factorisations.cpp, random_structured.cpp or
// random_windows.cpp, and a test fails when one is missing.
#pragma once
#include <functional>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>

#include "primitives/vocabulary/primitive.h"
#include "primitives/vocabulary/var.h"
#include "support/random_index.h"

namespace anvil::test {

using graph::Graph;
using graph::GraphPtr;
using graph::Params;
using graph::Tensor;
using graph::TensorType;
using graph::Value;
using primitives::Var;
using Ints = std::vector<int64_t>;

class RandomProgram {
 public:
  struct Options {
    bool float_only = false;  // f64 and smooth primitives: for gradients
    bool exportable = false;  // what StableHLO text and its readers agree on
    int calls = 12;
    std::optional<DType> floats = std::nullopt;  // the only dtype of floats
  };
  Graph graph;
  std::vector<Tensor> inputs;

  RandomProgram(uint64_t seed, Options options);
  // The structured primitives that have a rule.
  static std::set<std::string> structured();
  int below(int n) { return static_cast<int>(random_() % static_cast<uint64_t>(n)); }

 private:
  using Rule = std::function<bool(RandomProgram&)>;
  using Rules = std::map<std::string, Rule>;
  static const Rules& rules();
  static void add_elements(Rules&);
  static void add_factorisations(Rules&);
  static void add_structured(Rules&);
  static void add_windows(Rules&);

  bool chance(int percent) { return below(100) < percent; }
  DType any_dtype();
  DType drawn_dtype();
  Shape any_shape();
  Tensor any_tensor(const TensorType&);
  Var any();
  Var like(Var);  // another value of this type: from the pool, or a literal
  void keep(Var);

  int step(int depth);
  bool elementwise();
  Var into_domain(Var, primitives::Domain);

  std::vector<int64_t> some_dims(size_t rank);
  std::vector<int64_t> permutation(size_t rank);
  Var start(Var, int64_t size);

  // Slices of a value at random places, which lie in a constant; with a combiner, changes of them.
  struct Indexed {
    RandomIndex index;
    Var places;
  };
  std::optional<Indexed> indexed(Var, bool whole = false);
  const char* any_combiner(DType);

  // Floats whose order is the same for all who compute them: with one NaN, and far apart, or
  // for gradients without ties.
  Var order_key(Var);
  // A matrix, or a stack of them, whose square part has 2, 3, 4, ... on its diagonal and small numbers
  // beside it: singular values, eigenvalues and pivots are far from each other and from 0.
  std::optional<Var> separated(bool square);
  Params any_window(const Shape&, bool dilated);  // that has a chance to fit
  bool reduction(const char* name);
  // A reduction of x by a function that has no reduction of its own, or of x and where its
  // elements are.
  void fold(const char* primitive, Var x, Params);
  Var spread_scalar(Var);  // a number made of all of it

  std::mt19937_64 random_;
  Options options_;
  std::vector<Var> pool_;
};

}  // namespace anvil::test
