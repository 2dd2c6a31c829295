// Drawing rules of random_program.h: indexing, products, sorting, linear algebra, random bits and
// control flow.
#include "support/random_program.h"

namespace anvil::test {

void RandomProgram::add_structured(Rules& t) {
  using P = RandomProgram;
  t["dynamic_slice"] = [](P& p) {
    Var x = p.any();
    std::vector<Var> starts;
    Shape sizes;
    for (int64_t n : x.shape()) {
      if (n == 0) return false;
      sizes.push_back(1 + p.below(static_cast<int>(n)));
      starts.push_back(p.start(x, n));
    }
    p.keep(primitives::dynamic_slice(x, starts, sizes));
    return true;
  };
  t["dynamic_update_slice"] = [](P& p) {
    Var x = p.any();
    if (p.options_.exportable && x.shape().empty()) return false;  // the independent evaluator has no case for it
    std::vector<Var> starts;
    Ints zero, limits, ones;
    for (int64_t n : x.shape()) {
      if (n == 0) return false;
      zero.push_back(0);
      limits.push_back(1 + p.below(static_cast<int>(n)));
      ones.push_back(1);
      starts.push_back(p.start(x, n));
    }
    p.keep(primitives::dynamic_update_slice(x, primitives::slice(p.like(x), zero, limits, ones), starts));
    return true;
  };
  t["gather"] = [](P& p) {
    Var x = p.any();
    auto drawn = p.indexed(x);
    if (!drawn) return false;
    p.keep(primitives::gather(x, drawn->places, drawn->index.slice_sizes, drawn->index.dims));
    return true;
  };
  t["scatter"] = [](P& p) {
    Var x = p.any();
    auto drawn = p.indexed(x, p.options_.exportable);
    if (!drawn) return false;
    // an update has the type of the slices of such a tensor at other places
    auto from = p.chance(50) ? drawn->places : primitives::literal(drawn->places, Scalar(int64_t{1}));
    Var update = primitives::gather(p.like(x), from, drawn->index.slice_sizes, drawn->index.dims);
    p.keep(primitives::scatter(x, drawn->places, update, drawn->index.dims, p.any_combiner(x.dtype())));
    return true;
  };
  t["dot_general"] = [](P& p) {
    Var x = p.any();
    size_t rank = x.shape().size();
    if (rank == 0 || rank > 3) return false;
    Var y = primitives::transpose(p.like(x), p.permutation(rank));
    // pair dimensions of equal size: contracted, batched or free
    std::vector<int64_t> cl, cr, bl, br;
    std::set<int64_t> used;
    for (size_t d = 0; d < rank; ++d)
      for (size_t e = 0; e < rank; ++e) {
        if (used.count(static_cast<int64_t>(e)) || y.shape()[e] != x.shape()[d]) continue;
        int what = p.below(4);
        if (what == 3 && !(cl.empty() && d + 1 == rank)) break;
        used.insert(static_cast<int64_t>(e));
        (what == 0 ? bl : cl).push_back(static_cast<int64_t>(d));
        (what == 0 ? br : cr).push_back(static_cast<int64_t>(e));
        break;
      }
    p.keep(primitives::dot_general(x, y, cl, cr, bl, br));
    return true;
  };
  t["sort"] = [](P& p) {
    Var x = p.any();
    if (x.shape().empty()) return false;
    std::vector<Var> operands = {p.order_key(x)};
    while (p.chance(50) && operands.size() < 3) operands.push_back(p.order_key(p.like(x)));
    int64_t dim = p.below(static_cast<int>(x.shape().size())), keys = 1 + p.below(static_cast<int>(operands.size()));
    operands.push_back(x);
    for (Var v : primitives::sort(operands, dim, p.chance(30), keys)) p.keep(v);
    return true;
  };
  t["top_k"] = [](P& p) {
    Var x = p.any();
    if (x.shape().empty()) return false;
    auto r = primitives::record(p.graph, primitives::registry().at("top_k"), {p.order_key(x).value},
                                {{"k", int64_t(p.below(static_cast<int>(x.shape().back()) + 1))}});
    for (auto& v : r) p.keep({&p.graph, v});
    return true;
  };
  t["stop_gradient"] = [](P& p) { return p.keep(primitives::record("stop_gradient", {p.any()})), true; };
  for (const char* running : {"cumprod", "cumlogsumexp", "cummax", "cummin"})
    t[running] = [running](P& p) {
      Var x = p.any();
      if (x.shape().empty() || !is_numeric(x.dtype())) return false;
      const std::string_view name = running;
      const int64_t dim = p.below(static_cast<int>(x.shape().size()));
      if (x.shape()[static_cast<size_t>(dim)] < 2) return false;  // in text like no running at all
      if (name == "cumlogsumexp" && !is_float(x.dtype())) return false;
      x = name == "cumprod" && is_float(x.dtype()) ? primitives::record("tanh", {x}) : p.order_key(x);
      for (auto& v : primitives::record(p.graph, primitives::registry().at(name), {x.value}, {{"dim", dim, true}}))
        p.keep({&p.graph, v});
      return true;
    };
  for (const char* extreme : {"argmax", "argmin"})
    t[extreme] = [extreme](P& p) {
      Var x = p.any();
      if (x.shape().empty() || !is_numeric(x.dtype())) return false;
      const int64_t dim = p.below(static_cast<int>(x.shape().size()));
      if (x.shape()[static_cast<size_t>(dim)] == 0) return false;
      p.keep(primitives::record(extreme, {p.order_key(x)}, {{"dim", dim, true}, {"drop", p.chance(50)}}));
      return true;
    };
  t["cholesky"] = [](P& p) {
    Var x = p.any();
    if (!is_float(x.dtype()) || x.shape().size() != 2 || x.shape()[0] == 0 || x.shape()[0] > 8) return false;
    Var bounded = primitives::record("tanh", {x});
    Var a = primitives::dot_general(bounded, bounded, {1}, {1}, {}, {});
    Var row = primitives::iota(*x.graph, 0, DType::i32, a.shape()),
        column = primitives::iota(*x.graph, 1, DType::i32, a.shape());
    a = a + primitives::select(row == column, primitives::literal(a, Scalar(2.0)), primitives::literal(a, Scalar(0.0)));
    p.keep(primitives::record("cholesky", {a}, {{"lower", p.chance(50)}}));
    return true;
  };
  t["cholesky_reverse"] = [](P& p) {
    Var x = p.any();
    if (!is_float(x.dtype()) || x.shape().size() != 2 || x.shape()[0] != x.shape()[1] || x.shape()[0] > 8) return false;
    const bool lower = p.chance(50);
    Var row = primitives::iota(*x.graph, 0, DType::i32, x.shape()),
        column = primitives::iota(*x.graph, 1, DType::i32, x.shape()),
        other = primitives::record("tanh", {p.like(x)}) * 0.2;
    Var read = lower ? row > column : row < column;
    Var factor = primitives::select(row == column, primitives::literal(x, Scalar(1.5)),
                                    primitives::select(read, other, primitives::literal(x, Scalar(0.0))));
    p.keep(primitives::record("cholesky_reverse", {factor, x}, {{"lower", lower}}));
    return true;
  };
  t["triangular_solve"] = [](P& p) {
    Var x = p.any();
    if (!is_float(x.dtype()) || x.shape().size() != 2 || x.shape()[0] == 0 || x.shape()[0] > 8 || x.shape()[1] == 0)
      return false;
    Var a = primitives::dot_general(primitives::record("tanh", {x}), primitives::record("tanh", {p.like(x)}), {1}, {1},
                                    {}, {}) *
            0.1;
    Var row = primitives::iota(*x.graph, 0, DType::i32, a.shape()),
        column = primitives::iota(*x.graph, 1, DType::i32, a.shape());
    a = primitives::select(row == column, primitives::literal(a, Scalar(1.5)), a);
    bool left = p.chance(50);
    Var b = left ? x : primitives::transpose(x, {1, 0});
    p.keep(primitives::triangular_solve(a, b, left, p.chance(50), p.chance(30), p.chance(50)));
    return true;
  };
  t["rng_bit_generator"] = [](P& p) {
    if (p.options_.float_only) return false;
    static const DType kinds[] = {DType::ui32, DType::ui64, DType::i32, DType::i64};
    // the independent evaluator draws 64-bit numbers only
    DType d = kinds[p.options_.exportable ? 1 + 2 * p.below(2) : p.below(4)];
    Var state = primitives::literal(p.graph, Scalar(uint64_t(p.below(1000))), {DType::ui64, {2}, false});
    auto r = primitives::record(p.graph, primitives::registry().at("rng_bit_generator"), {state.value},
                                {{"rng_algorithm", std::string("THREE_FRY")}, {"dtype", d}, {"shape", p.any_shape()}});
    for (auto& v : r) p.keep({&p.graph, v});
    return true;
  };
  t["if"] = [](P& p) {
    Var x = p.any(), y = p.like(x), n = p.any();
    if (is_bool(n.dtype()) || !n.shape().empty())
      n = primitives::literal(p.graph, Scalar(p.below(3)), {DType::i32, {}, false});
    Var predicate = n < primitives::literal(n, Scalar(1));
    auto yes = std::make_shared<Graph>(), no = std::make_shared<Graph>();
    Var a{yes.get(), x.value}, b{no.get(), y.value};
    yes->outputs = {is_float(a.dtype()) ? (a * 0.5 + Var{yes.get(), y.value}).value
                                        : primitives::record("maximum", {a, Var{yes.get(), y.value}}).value};
    no->outputs = {b.value};
    auto r = primitives::record(p.graph, primitives::registry().at("if"), {predicate.value},
                                {{"true_graph", yes}, {"false_graph", no}});
    p.keep({&p.graph, r[0]});
    return true;
  };
  t["case"] = [](P& p) {
    Var x = p.any(), y = p.like(x);
    Var index = primitives::literal(p.graph, Scalar(p.below(5) - 1), {DType::i32, {}, false});
    primitives::Params branches;
    for (const Var& v : {x, y, x}) {
      auto g = std::make_shared<Graph>();
      const Var inner{g.get(), v.value};
      const bool scaled = is_float(inner.dtype()) && !branches.items.empty();
      g->outputs = {(scaled ? inner * 0.5 : primitives::record("maximum", {inner, inner})).value};
      branches.items.push_back({"branch" + std::to_string(branches.items.size() + 1) + "_graph", g});
    }
    p.keep({&p.graph, primitives::record(p.graph, primitives::registry().at("case"), {index.value}, branches)[0]});
    return true;
  };
  t["while"] = [](P& p) {
    Var x = p.any(), captured = p.like(x);
    auto condition = std::make_shared<Graph>(), body = std::make_shared<Graph>();
    TensorType counter{DType::i32, {}, false};
    for (auto& g : {condition, body})
      g->inputs = {graph::make_value(Value::Kind::input, x.type()), graph::make_value(Value::Kind::input, x.type()),
                   graph::make_value(Value::Kind::input, counter)};
    condition->outputs = {(Var{condition.get(), condition->inputs[2]} < double(p.below(4))).value};
    Var a{body.get(), body->inputs[0]}, b{body.get(), body->inputs[1]}, i{body.get(), body->inputs[2]},
        c{body.get(), captured.value};
    Var next = is_float(a.dtype()) ? primitives::record("tanh", {a * 0.5 + c})
                                   : primitives::record("maximum", {primitives::record("minimum", {a, c}), b});
    bool swap = p.chance(50);  // the state's elements change places
    body->outputs = {swap ? b.value : next.value, swap ? next.value : a.value, (i + 1.0).value};
    Var zero = primitives::literal(p.graph, Scalar(0), counter);
    auto r = primitives::record(p.graph, primitives::registry().at("while"), {x.value, captured.value, zero.value},
                                {{"cond_graph", condition}, {"body_graph", body}});
    p.keep({&p.graph, r[0]});
    p.keep({&p.graph, r[1]});
    return true;
  };
}

}  // namespace anvil::test
