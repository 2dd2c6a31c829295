// Batch normalisation, by its formulas: for each feature with mean m and variance v of its
// elements, y = scale (x - m) / sqrt(v + epsilon) + offset.
#include "backend/stablehlo/import.h"
#include "primitives/vocabulary/infer.h"

namespace anvil::stablehlo {
namespace {

using Values = std::vector<ValuePtr>;
using namespace primitives;

class BatchNorm {
 public:
  // `names` are those of the operands after x; one of them may have the type of x.
  BatchNorm(const Operation& op, const Vars& x, std::initializer_list<const char*> names, const char* like_x = "")
      : x_(x.empty() ? Var{} : x[0]) {
    need_operands(op, names.size() + 1);
    if (!is_float(x_.dtype())) refuse(op.at, "`" + op.name + "` takes floats");
    auto rank = static_cast<int64_t>(x_.shape().size());
    feature_ = integer(op, need(op, "feature_index"));
    if (feature_ < 0 || feature_ >= rank)
      refuse(op.at, "`feature_index` is " + std::to_string(feature_) + ", but should be from 0 to " +
                        std::to_string(rank - 1));
    epsilon_ = real(op, need(op, "epsilon"));
    for (auto name = names.begin(); name != names.end(); ++name) {
      TensorType feature{x_.dtype(), {x_.shape()[static_cast<size_t>(feature_)]}};
      check_type(op.at, std::string("operand `") + *name + "`", x[static_cast<size_t>(name - names.begin()) + 1].type(),
                 *name == std::string_view(like_x) ? x_.type() : feature);
    }
  }
  Var spread(const Var& per_feature) const { return broadcast_in_dim(per_feature, x_.shape(), {feature_}); }
  Var sum(const Var& x) const { return reduce_sum(x, other_axes(x_.shape().size(), {feature_})); }
  double count() const {
    return static_cast<double>(elements(x_.shape())) / static_cast<double>(x_.shape()[static_cast<size_t>(feature_)]);
  }
  Var deviation(const Var& variance) const { return sqrt(variance + epsilon_); }
  Var normalized(const Var& mean, const Var& variance) const {
    return (x_ - spread(mean)) / spread(deviation(variance));
  }
  double epsilon() const { return epsilon_; }

 private:
  Var x_;
  int64_t feature_;
  double epsilon_;
};

Values inference(Importer&, const Operation& op, const Vars& x) {
  BatchNorm b(op, x, {"scale", "offset", "mean", "variance"});
  return {(b.normalized(x[3], x[4]) * b.spread(x[1]) + b.spread(x[2])).value};
}

Values training(Importer&, const Operation& op, const Vars& x) {
  BatchNorm b(op, x, {"scale", "offset"});
  Var mean = b.sum(x[0]) / b.count(), centered = x[0] - b.spread(mean),
      variance = b.sum(centered * centered) / b.count();
  return values({b.normalized(mean, variance) * b.spread(x[1]) + b.spread(x[2]), mean, variance});
}

// With n elements for each feature and g the cotangent of y:
// dx = scale / sqrt(v + epsilon) (g - sum(g) / n - (x - m) sum(g (x - m)) / (n (v + epsilon))).
Values gradient(Importer&, const Operation& op, const Vars& x) {
  BatchNorm b(op, x, {"scale", "mean", "variance", "grad_output"}, "grad_output");
  Var scale = x[1], mean = x[2], variance = x[3], g = x[4], centered = x[0] - b.spread(mean);
  Var along = b.sum(g * centered) / (variance + b.epsilon());
  Var direction = g - b.spread(b.sum(g) / b.count()) - centered * b.spread(along / b.count());
  return values(
      {b.spread(scale / b.deviation(variance)) * direction, b.sum(g * b.normalized(mean, variance)), b.sum(g)});
}

}  // namespace

void add_batch_norm_rules(Rules& rules) {
  add(rules, "stablehlo.batch_norm_inference", inference);
  add(rules, "stablehlo.batch_norm_training", training);
  add(rules, "stablehlo.batch_norm_grad", gradient);
}

}  // namespace anvil::stablehlo
