// Which values of a graph are kept mirrored: with their dimensions in reverse order, so that
// column-major memory holds them as row-major memory would. See mirror.cpp for what it is for.
//
// Every use of a value wants it as it is or mirrored, depending on how another value is kept:
// an elementwise call wants its operands as its result, a transpose that reverses all
// dimensions is nothing when exactly one of its two values is mirrored, inputs, results and
// reshapes have values as they are, and a batch of products has its result mirrored where each
// of them is large: the batch comes last in memory then, and each product lies together. Each
// wish has a price, the bytes that are moved when it is not met. The wishes are granted one
// after the other, the dearest first, unless those granted before say the opposite: Kruskal's
// algorithm, on classes that remember for each member whether it is kept as the class's root is.
#pragma once
#include <optional>
#include <unordered_map>

#include "primitives/vocabulary/properties.h"

namespace anvil::transform {

using Ints = std::vector<int64_t>;

// How a call may be made on mirrored values: `kept`, all values of two dimensions and more at once,
// parameters by dimension mirrored; `reduced`, the result comes as the operand is kept; `spread`,
// operand and result each as one likes; `paired`, operands as one likes, the result may be mirrored;
// `permuted`, any of both is another transpose; `other`, not at all.
primitives::Axes mirroring(const graph::Call&);

class Orders {
 public:
  explicit Orders(const graph::Graph&);
  bool mirrored(const graph::ValuePtr& v) const;  // values of less than two dimensions never are
  bool any() const { return any_; }

 private:
  struct Wish {
    size_t a, b;
    bool opposite;
    double price;
  };
  struct Member {
    size_t parent;
    bool opposite;  // to the parent
  };

  void visit(const graph::Graph&, double visits);
  void visit(const graph::Call&, double visits);
  void lookup(const graph::Call&, double visits);
  std::optional<size_t> id(const graph::ValuePtr&);
  void wish(const graph::ValuePtr& a, const graph::ValuePtr& b, bool opposite, double price);
  void plain(const graph::ValuePtr&, double price);
  void turned(const graph::ValuePtr&, double price);
  Member root(size_t);
  bool turning_seen_ = false, any_ = false;
  std::unordered_map<const graph::Value*, size_t> ids_;
  std::vector<Member> members_;  // member 0 is what is not mirrored
  std::vector<Wish> wishes_;
};

}  // namespace anvil::transform
