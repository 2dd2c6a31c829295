// Programs of products that must compile to good code: which of them are contractions, and how what they read and
// make lies in memory.
#include <map>
#include <regex>

#include "compiler/graphs.h"
#include "loops/walk.h"
#include "primitives/vocabulary/composite.h"
#include "support/convolution.h"
#include "transform/reverse.h"
#include "transform/simplify.h"

namespace anvil::test {
namespace {

using namespace primitives;
using loops::For;
using loops::Store;

// Stores that are 2^18 bytes apart would push each other out of the cache.
TEST(ProductWorkloads, OuterProductsAreStoredInTheirOrder) {
  Builder b;
  Var x = b.input(DType::f32, {128, 512}), y = b.input(DType::f32, {128, 512});
  b.output(dot_general(x, y, {}, {}, {1}, {1}));
  loops::Program p = compiler::compile(*b.g, {64, 32});
  const For* loop = &std::get<For>(p.body.back().is);
  while (const auto* inner = std::get_if<For>(&loop->body.back().is)) {
    EXPECT_NE(loop->kind, For::Kind::vector);
    loop = inner;
  }
  EXPECT_EQ(loop->end, 512);
}

// With the examples first, what would be read across memory once for each element of the other operand is
// copied first.
TEST(ProductWorkloads, OperandsOfOuterProductsAreReadAlongMemory) {
  Builder b;
  Var x = b.input(DType::f32, {24, 40}), y = b.input(DType::f32, {32, 40});
  b.output(dot_general(x, y, {}, {}, {1}, {1}) + 1.0);
  loops::Program p = expect_passes_agree(*b.g, numbers_for(*b.g));
  EXPECT_EQ(count<Store>(p.body), 3) << print(p);
  EXPECT_EQ(largest_temporary(p), 24 * 40);
}

// Windows are not copied in the order of who reads their products.
TEST(ProductWorkloads, ResultsOfWindowsLieInTheirOrder) {
  Builder b;
  const Layer l = {16, 8, 12, 8, 3};
  Var x = b.input(DType::f32, l.input()), w = b.input(DType::f32, l.kernel());
  b.output(exp(transpose(convolved(l, x, w), {2, 1, 0, 3})));
  const graph::GraphPtr g = expand(*b.g, Reader::backend);
  const loops::Program p = expect_passes_agree(*g, numbers_for(*g), 1e-5, {64, 32, true});
  for (const loops::Stmt& s : p.body) {
    const auto* c = std::get_if<loops::Contraction>(&s.is);
    if (c == nullptr) continue;
    EXPECT_EQ(p.buffers[static_cast<size_t>(c->buffer)].shape, (Shape{16, 10, 10, 8})) << print(p);
  }
  EXPECT_EQ(count<loops::Contraction>(p.body), 1) << print(p);
}

struct Dot {
  Shape x, y;
  std::vector<int64_t> contracted_x, contracted_y, batch_x, batch_y;
  graph::GraphPtr graph() const {
    Builder b;
    b.output(dot_general(b.input(DType::f32, x), b.input(DType::f32, y), contracted_x, contracted_y, batch_x, batch_y));
    return b.g;
  }
};

TEST(ProductWorkloads, ProductsOfAnyLayoutAreContractions) {
  for (const Dot& d :
       {Dot{{30, 20}, {20, 40}, {1}, {0}, {}, {}}, Dot{{20, 30}, {40, 20}, {0}, {1}, {}, {}},
        Dot{{9, 8, 20}, {20, 30}, {2}, {0}, {}, {}}, Dot{{4, 30, 6, 5}, {30, 20, 6, 4}, {1, 0}, {0, 3}, {2}, {2}},
        Dot{{20, 30, 3, 2}, {25, 30, 3, 2}, {1}, {1}, {2, 3}, {2, 3}}}) {
    const graph::GraphPtr g = d.graph();
    loops::Program p = expect_passes_agree(*g, numbers_for(*g), 1e-5, {64, 32, true});
    EXPECT_EQ(count<loops::Contraction>(p.body), 1) << print(p);
    EXPECT_EQ(count<For>(p.body), d.batch_x.empty() ? 0 : 1) << print(p);  // of a batch to its place
  }
}

// A batch that comes first: operands are copied so that it comes last, and so is the result, to its place.
TEST(ProductWorkloads, BatchesThatAreFirstAreMovedBehind) {
  struct Product {
    Shape x, y;
    std::vector<int64_t> contracted_x, contracted_y, batch;
    int copies;
  };
  for (DType t : {DType::f32, DType::f64, DType::f16})
    for (const Product& d :
         {Product{{12, 6, 7}, {12, 7, 9}, {2}, {1}, {0}, 3}, Product{{13, 7, 6}, {13, 9, 7}, {1}, {2}, {0}, 3},
          Product{{12, 2, 6, 7}, {12, 2, 9, 7}, {3}, {3}, {0, 1}, 3},
          Product{{1, 6, 7}, {1, 7, 9}, {2}, {1}, {0}, 0}}) {
      Builder b;
      b.output(dot_general(b.input(t, d.x), b.input(t, d.y), d.contracted_x, d.contracted_y, d.batch, d.batch));
      const loops::Program p =
          expect_passes_agree(*b.g, numbers_for(*b.g), t == DType::f16 ? 2e-3 : 1e-5, {64, 32, true});
      EXPECT_EQ(count<loops::Contraction>(p.body), 1) << print(p);
      EXPECT_EQ(count<Store>(p.body), d.copies) << print(p);
    }
}

// Several heads with keys in common: heads and places of queries are one axis of the scores as they are of the queries,
// whatever order those who read the scores go in.
TEST(ProductWorkloads, DimensionsOfAnOperandStayOneAxis) {
  const int64_t n = 80;
  Builder b;
  Var q = b.input(DType::f32, {2, 3, 4, 20, 8}), k = b.input(DType::f32, {2, 3, n, 8});
  Var scores = dot_general(q, k, {4}, {3}, {0, 1}, {0, 1});  // by group, head, query and key
  Var e = exp(scores - broadcast_in_dim(reduce_max(scores, {4}), scores.shape(), {0, 1, 2, 3}));
  b.output(e / broadcast_in_dim(reduce_sum(e, {4}), e.shape(), {0, 1, 2, 3}));
  transform::optimize(*b.g);
  const loops::Program p = expect_passes_agree(*b.g, numbers_for(*b.g), 1e-5, {64, 32, true});
  int found = 0;
  const auto look = [&](const auto& self, const loops::Block& block) -> void {
    for (const loops::Stmt& s : block) {
      if (auto c = std::get_if<loops::Contraction>(&s.is)) {
        ++found;
        std::map<int64_t, int64_t> steps;  // in the queries, by those in the scores
        for (const auto& [v, extent] : c->axes)
          for (const loops::Expr x : {c->left(), c->right()})
            if ((extent == 4 || extent == 20) && step(p, x, v) != 0)
              steps[step(p, c->buffer, c->place, v)] = step(p, x, v);
        EXPECT_EQ(steps.size(), 2u);
        EXPECT_LT(steps.begin()->second, steps.rbegin()->second) << print(p);
      }
      loops::each_block(s, [&](const loops::Block& inner) { self(self, inner); });
    }
  };
  look(look, p.body);
  EXPECT_EQ(found, 1);
}

TEST(ProductWorkloads, MovedOperandsAreSharedAsLongAsTheyStay) {
  Builder b;
  const Var x = b.input(DType::f64, {12, 6, 7}), y = b.input(DType::f64, {12, 7, 6}), t = exp(x);
  const Var one = b.scalar(1, DType::i32), part = b.input(DType::f64, {4, 5, 7});
  const auto product = [](Var l, Var r) { return dot_general(l, r, {2}, {1}, {0}, {0}); };
  b.output(product(t, y));
  b.output(product(y, t));
  b.output(product(dynamic_update_slice(t, part, {one, one, one}), y));  // in place
  const loops::Program p = expect_passes_agree(*b.g, numbers_for(*b.g), 1e-12, {64, 32, true});
  EXPECT_EQ(count<loops::Contraction>(p.body), 3) << print(p);
  EXPECT_EQ(count<Store>(p.body), 8) << print(p);  // exp, t, y, part, t again; three results
}

TEST(ProductWorkloads, ContractionsAreForLargeProducts) {
  const auto contractions = [](const Dot& d) {
    return count<loops::Contraction>(compiler::compile(*d.graph(), {64, 32}).body);
  };
  EXPECT_EQ(contractions({{512, 256}, {256, 64}, {1}, {0}, {}, {}}), 1);
  EXPECT_EQ(contractions({{64, 128, 256}, {256, 512}, {2}, {0}, {}, {}}), 1);
  EXPECT_EQ(contractions({{512, 256}, {256, 4}, {1}, {0}, {}, {}}), 0);     // few columns
  EXPECT_EQ(contractions({{1024, 1024}, {1024, 4}, {1}, {0}, {}, {}}), 1);  // the same, of more than a cache holds
  EXPECT_EQ(contractions({{4, 1024}, {1024, 1024}, {1}, {1}, {}, {}}), 1);
  EXPECT_EQ(contractions({{512, 2}, {2, 512}, {1}, {0}, {}, {}}), 0);        // little to sum
  EXPECT_EQ(contractions({{50000, 20}, {50000, 20}, {0}, {0}, {}, {}}), 1);  // lines of a long depth
  EXPECT_EQ(contractions({{100, 500, 6}, {100, 500, 2}, {0, 1}, {0, 1}, {}, {}}), 1);
  EXPECT_EQ(contractions({{50000, 20}, {50000, 1}, {0}, {0}, {}, {}}), 0);  // each is read once
  EXPECT_EQ(contractions({{1000, 8, 8}, {1000, 8, 8}, {2}, {1}, {0}, {0}}), 0);
  EXPECT_EQ(contractions({{64, 32, 32}, {64, 32, 32}, {2}, {1}, {0}, {0}}), 0);  // vectors of the batch
  EXPECT_EQ(contractions({{61, 32, 32}, {61, 32, 32}, {2}, {1}, {0}, {0}}), 1);
  EXPECT_EQ(contractions({{32, 64, 64}, {32, 64, 64}, {2}, {1}, {0}, {0}}), 1);
}

// Loops left out: those that pad and copy.
int contractions(const Layer& l, size_t wrt) {
  Builder b;
  const Var x = b.input(DType::f32, l.input()), w = b.input(DType::f32, l.kernel()), y = test::convolved(l, x, w);
  b.output(reduce_sum(y * b.input(DType::f32, y.shape()), {0, 1, 2, 3}));
  std::vector<bool> required(3, false);
  required[wrt] = true;
  const graph::GraphPtr g = expand(*transform::gradient(*b.g, required, false), Reader::backend);
  transform::optimize(*g);
  return count<loops::Contraction>(compiler::compile(*g, {32, 16}).body);
}

// By the kernel, sums run over the examples and all places: too far for windows to stay in the cache. By the
// input they are short, and windows are best read where they lie, in groups of features as well.
TEST(ProductWorkloads, DerivativesByKernelsAreContractions) {
  EXPECT_EQ(contractions({32, 16, 28, 32, 3}, 1), 1);
  EXPECT_EQ(contractions({32, 16, 28, 8, 3}, 1), 1);
  EXPECT_EQ(contractions({32, 1, 28, 16, 5}, 1), 1);
  EXPECT_EQ(contractions({16, 32, 28, 32, 3, 4}, 1), 1);
  EXPECT_EQ(contractions({16, 32, 28, 32, 3, 32}, 1), 0);  // nothing is used twice
  EXPECT_EQ(contractions({32, 16, 28, 32, 3}, 0), 0);
  EXPECT_EQ(contractions({16, 32, 28, 32, 3, 4}, 0), 0);
}

// Scores of a batch of heads: what the products make lies as softmax reads it, one row after the other.
TEST(ProductWorkloads, AttentionRunsAlongMemory) {
  Builder b;
  Var q = b.input(DType::f32, {2, 3, 48, 40}), k = b.input(DType::f32, {2, 3, 64, 40}),
      v = b.input(DType::f32, {2, 3, 64, 40});
  Var scores = dot_general(q, k, {3}, {3}, {0, 1}, {0, 1});
  const auto along = [&](Var row) { return broadcast_in_dim(row, scores.shape(), {0, 1, 2}); };
  Var e = exp(scores - along(reduce_max(scores, {3})));
  b.output(dot_general(e / along(reduce_sum(e, {3})), v, {3}, {2}, {0, 1}, {0, 1}));
  transform::mirror_values(*b.g);
  loops::Program p = expect_passes_agree(*b.g, numbers_for(*b.g), 1e-5, {64, 32, true});
  EXPECT_EQ(count<loops::Contraction>(p.body), 2) << print(p);
  EXPECT_TRUE(std::regex_search(print(p), std::regex("vector 16[x0-9 ]* reduction"))) << print(p);
}

// The same of grouped queries: a batch stands behind the dimension that the keys are repeated over.
TEST(ProductWorkloads, GroupedQueriesRunAlongMemory) {
  Builder b;
  Var q = b.input(DType::f32, {2, 24, 2, 2, 16}), k = b.input(DType::f32, {16, 2, 32, 2}),
      v = b.input(DType::f32, {16, 2, 32, 2});
  const auto repeated = [](Var x) { return broadcast_in_dim(x, {16, 2, 2, 32, 2}, {0, 2, 3, 4}); };
  Var scores = dot_general(repeated(k), q, {0}, {4}, {1, 2, 4}, {2, 3, 0});
  scores = transpose(scores, {3, 4, 0, 1, 2});
  const auto along = [&](Var row) { return broadcast_in_dim(row, scores.shape(), {1, 2, 3, 4}); };
  Var e = exp(scores - along(reduce_max(scores, {0})));
  b.output(dot_general(e / along(reduce_sum(e, {0})), repeated(v), {0}, {3}, {2, 3, 4}, {1, 2, 4}));
  loops::Program p = expect_passes_agree(*b.g, numbers_for(*b.g), 1e-5, {64, 32, true});
  EXPECT_EQ(count<loops::Contraction>(p.body), 2) << print(p);
  EXPECT_NE(print(p).find("t2: f32[32, 24"), std::string::npos) << "the keys come first\n" << print(p);
}

Var product_of_last(Var l, Var r) { return transpose(dot_general(l, r, {1}, {0}, {2}, {2}), {1, 2, 0}); }

// With the batch last, what lies between two products does as well.
TEST(ProductWorkloads, BatchesThatAreLastStayLast) {
  Builder b;
  Var x = b.input(DType::f32, {32, 3, 2}), y = b.input(DType::f32, {3, 32, 2}), z = b.input(DType::f32, {32, 32, 2});
  b.output(product_of_last(exp(product_of_last(x, y)), z));
  transform::optimize(*b.g);
  loops::Program p = expect_passes_agree(*b.g, numbers_for(*b.g), 1e-4, {64, 32, true});
  EXPECT_EQ(count<loops::Contraction>(p.body), 2) << print(p);
  EXPECT_EQ(count<For>(p.body), 1) << print(p);
  EXPECT_EQ(count<Store>(p.body), 1) << print(p);
}

// So a softmax between the two works on one product of the batch after the other.
TEST(ProductWorkloads, BatchesThatAreLastAreTheOutermostLoop) {
  Builder b;
  Var x = b.input(DType::f32, {32, 3, 2}), y = b.input(DType::f32, {3, 32, 2}), z = b.input(DType::f32, {32, 32, 2});
  const Var e = exp(product_of_last(x, y));
  b.output(product_of_last(e / broadcast_in_dim(reduce_sum(e, {1}), e.shape(), {0, 2}), z));
  transform::optimize(*b.g);
  const std::string text = print(expect_passes_agree(*b.g, numbers_for(*b.g), 1e-4, {64, 32, true}));
  EXPECT_NE(text.find("f32[32, 32] temporary"), std::string::npos) << text;  // of exp
}

// Sums along the second of the dimensions that a dense layer keeps run side by side where there are enough of the first:
// the layer's operand and result lie alike then. Few of them are turned.
TEST(ProductWorkloads, PooledFeaturesStayInTheirOrder) {
  for (int64_t examples : {4, 8}) {
    Builder b;
    Var x = b.input(DType::f32, {examples, 50, 48}), w = b.input(DType::f32, {48, 40});
    b.output(reduce_max(dot_general(x, w, {2}, {0}, {}, {}), {1}));
    const std::string text = print(expect_passes_agree(*b.g, numbers_for(*b.g), 1e-5, {64, 32, true}));
    ASSERT_NE(text.find("contract"), std::string::npos) << text;
    EXPECT_EQ(text.find("f32[8, 50, 40] temporary") != std::string::npos, examples == 8) << text;
    EXPECT_EQ(text.find("f32[50, 4, 40] temporary") != std::string::npos, examples == 4) << text;
  }
}

// Elements of y go to all of the result: what is summed moves x only.
TEST(ProductWorkloads, SumsOverWhatOneOperandHasAreNoContractions) {
  Builder b;
  const Var x = b.input(DType::f32, {30, 20}), y = b.input(DType::f32, {40});
  const Shape all = {30, 40, 20};
  b.output(reduce_sum(broadcast_in_dim(x, all, {0, 2}) * broadcast_in_dim(y, all, {1}), {2}));
  const loops::Program p = expect_passes_agree(*b.g, numbers_for(*b.g), 1e-5, {64, 32, true});
  EXPECT_EQ(count<loops::Contraction>(p.body), 0) << print(p);
}

}  // namespace
}  // namespace anvil::test
