// Affine indices and the pool of expressions. The pool folds only what changes no bit of
// any result: conversions of a type to itself and back, conversions of constants, x * 1, x - 0.
#include "loops/expression.h"

#include <algorithm>
#include <cstring>
#include <deque>
#include <string_view>
#include <unordered_set>

#include "base/error.h"

namespace anvil::loops {

Affine variable(Variable v) { return {0, {{v, 1}}}; }

Affine operator+(const Affine& a, const Affine& b) {
  Affine sum{a.constant + b.constant, {}};
  auto x = a.terms.begin(), y = b.terms.begin();
  while (x != a.terms.end() || y != b.terms.end()) {
    if (y == b.terms.end() || (x != a.terms.end() && x->variable < y->variable))
      sum.terms.push_back(*x++);
    else if (x == a.terms.end() || y->variable < x->variable)
      sum.terms.push_back(*y++);
    else {
      if (int64_t f = x->factor + y->factor) sum.terms.push_back({x->variable, f});
      ++x, ++y;
    }
  }
  return sum;
}

Affine operator*(const Affine& a, int64_t c) {
  if (c == 0) return {};
  Affine product = a;
  product.constant *= c;
  for (Term& t : product.terms) t.factor *= c;
  return product;
}

int64_t factor(const Affine& a, Variable v) {
  for (const Term& t : a.terms)
    if (t.variable == v) return t.factor;
  return 0;
}

const char* name(Op op) {
  constexpr const char* names[] = {"constant",  "load",    "index",   "local",  "+",     "-",          "*",
                                   "/",         "%",       "power",   "min",    "max",   "&",          "|",
                                   "^",         "<<",      ">>>",     ">>",     "==",    "!=",         "<",
                                   "<=",        ">",       ">=",      "-",      "~",     "abs",        "sign",
                                   "popcnt",    "sqrt",    "floor",   "ceil",   "trunc", "round_even", "round_away",
                                   "is_finite", "convert", "bitcast", "select", "fma",   "function"};
  static_assert(std::size(names) == static_cast<size_t>(Op::function) + 1);
  return names[static_cast<size_t>(op)];
}

Effort effort(Op op) {
  switch (op) {
    case Op::function:
    case Op::power: return Effort::call;
    case Op::divide:
    case Op::remainder:
    case Op::sqrt: return Effort::several;
    default: return Effort::little;
  }
}

namespace {

bool is_comparison(Op op) { return op >= Op::eq && op <= Op::ge; }
bool is_constant(Expr e, double x) { return e->op == Op::constant && e->constant == Scalar(x).rounded_to(e->dtype); }

void mix(size_t& h, size_t x) { h = (h ^ x) * 0x9e3779b97f4a7c15u + (h >> 29); }

}  // namespace

struct ExprPool::Storage {
  struct Hash {
    size_t operator()(Expr e) const {
      size_t h = static_cast<size_t>(e->op) * 31 + static_cast<size_t>(e->dtype);
      for (Expr a : e->args) mix(h, reinterpret_cast<size_t>(a) >> 4);
      mix(h, static_cast<size_t>(e->buffer));
      mix(h, static_cast<size_t>(e->local));
      if (e->op == Op::constant) mix(h, e->constant.hash());
      for (const Affine& a : e->place) {
        mix(h, static_cast<size_t>(a.constant));
        for (const Term& t : a.terms) mix(h, static_cast<size_t>(t.variable) * 8191 + static_cast<size_t>(t.factor));
      }
      if (e->op == Op::function) mix(h, std::hash<std::string_view>()(e->name));
      return h;
    }
  };
  struct Equal {
    bool operator()(Expr a, Expr b) const {
      return a->op == b->op && a->dtype == b->dtype && a->args == b->args && a->buffer == b->buffer &&
             a->local == b->local && a->place == b->place && a->constant == b->constant &&
             std::strcmp(a->name, b->name) == 0;
    }
  };
  std::deque<Node> nodes;
  std::unordered_set<Expr, Hash, Equal> known;
};
ExprPool::ExprPool() : storage_(std::make_unique<Storage>()) {}
ExprPool::~ExprPool() = default;
ExprPool::ExprPool(ExprPool&&) noexcept = default;
ExprPool& ExprPool::operator=(ExprPool&&) noexcept = default;
size_t ExprPool::size() const { return storage_->nodes.size(); }

Expr ExprPool::node(Node n) {
  auto found = storage_->known.find(&n);
  if (found != storage_->known.end()) return *found;
  storage_->nodes.push_back(std::move(n));
  Expr e = &storage_->nodes.back();
  storage_->known.insert(e);
  return e;
}

static Node make(Op op, DType dtype, Expr a = nullptr, Expr b = nullptr, Expr c = nullptr) {
  Node n;
  n.op = op;
  n.dtype = dtype;
  n.args = {a, b, c};
  return n;
}

Expr ExprPool::constant(Scalar x, DType dtype) {
  Node n = make(Op::constant, dtype);
  n.constant = x.rounded_to(dtype);
  return node(std::move(n));
}
Expr ExprPool::load(BufferId buffer, DType dtype, Index place) {
  Node n = make(Op::load, dtype);
  n.buffer = buffer;
  n.place = std::move(place);
  return node(std::move(n));
}
Expr ExprPool::index(Affine a) {
  if (a.terms.empty()) return constant(Scalar(a.constant), DType::i64);
  Node n = make(Op::index, DType::i64);
  n.place.push_back(std::move(a));
  return node(std::move(n));
}
Expr ExprPool::local(LocalId id, DType dtype) {
  Node n = make(Op::local, dtype);
  n.local = id;
  return node(std::move(n));
}
Expr ExprPool::unary(Op op, Expr a) { return node(make(op, op == Op::is_finite ? DType::boolean : a->dtype, a)); }
Expr ExprPool::binary(Op op, Expr a, Expr b) {
  if ((op == Op::mul || op == Op::divide) && is_numeric(a->dtype) && is_constant(b, 1)) return a;
  if (op == Op::mul && is_numeric(a->dtype) && is_constant(a, 1)) return b;
  if (op == Op::sub && is_constant(b, 0)) return a;  // also for -0 - 0
  if (op == Op::add && is_integer(a->dtype) && is_constant(b, 0)) return a;
  if (op == Op::add && is_integer(a->dtype) && is_constant(a, 0)) return b;
  return node(make(op, is_comparison(op) ? DType::boolean : a->dtype, a, b));
}
Expr ExprPool::convert(Expr a, DType dtype) {
  if (a->dtype == dtype) return a;
  if (a->op == Op::constant) return constant(a->constant, dtype);
  const Expr stored = a->op == Op::convert ? a->args[0] : nullptr;  // a small float, widened and rounded again
  if (stored && stored->dtype == dtype && is_small(dtype) && a->dtype == compute_type(dtype)) return stored;
  return node(make(Op::convert, dtype, a));
}
Expr ExprPool::bitcast(Expr a, DType dtype) { return a->dtype == dtype ? a : node(make(Op::bitcast, dtype, a)); }
Expr ExprPool::select(Expr condition, Expr yes, Expr no) {
  if (yes == no) return yes;
  if (condition->op == Op::constant) return condition->constant.as<bool>() ? yes : no;
  if (is_bool(yes->dtype) && is_constant(yes, 1) && is_constant(no, 0)) return condition;
  return node(make(Op::select, yes->dtype, condition, yes, no));
}
Expr ExprPool::fma(Expr a, Expr b, Expr c) { return node(make(Op::fma, a->dtype, a, b, c)); }
Expr ExprPool::function(const char* function_name, Expr a, Expr b, Expr c) {
  Node n = make(Op::function, a->dtype, a, b, c);
  n.name = function_name;
  return node(std::move(n));
}

Scalar identity(Op op, DType t) {
  switch (op) {
    case Op::add: return is_float(t) ? Scalar(-0.0) : Scalar(0);
    case Op::mul: return Scalar(1);
    case Op::minimum: return highest(t);
    case Op::maximum: return lowest(t);
    case Op::bit_and: return is_bool(t) ? Scalar(true) : is_unsigned_integer(t) ? highest(t) : Scalar(-1);
    case Op::bit_or:
    case Op::bit_xor: return Scalar(0);
    default: throw InternalError(std::string("no identity of ") + name(op));
  }
}

}  // namespace anvil::loops
