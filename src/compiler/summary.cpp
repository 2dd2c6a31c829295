// Counts of operations and of elements, by walks over nests.
#include "compiler/summary.h"

#include <algorithm>
#include <map>

#include "compiler/schedule.h"
#include "loops/origins.h"

namespace anvil::compiler {
namespace {

using loops::For;

constexpr double unknown = -1;

double operations(Expr e) {
  switch (e->op) {
    case Op::add:
    case Op::sub:
    case Op::mul:
    case Op::divide:
    case Op::remainder:
    case Op::minimum:
    case Op::maximum:
    case Op::sqrt: return 1;
    case Op::fma: return 2;
    case Op::function:
    case Op::power: return function_weight;
    default: return 0;
  }
}

class Summary {
 public:
  explicit Summary(const Program& p) : program_(p) {}

  NestSummary of(const Stmt& s) {
    NestSummary n;
    n.origins = loops::origins(s);
    if (auto c = std::get_if<loops::Call>(&s.is)) {
      n.kind = NestSummary::Kind::call;
      n.name = c->function;
      n.wide_flops = n.flops = unknown;
      for (BufferId b : c->buffers) whole(b);
    } else if (auto k = std::get_if<loops::Contraction>(&s.is)) {
      n.kind = NestSummary::Kind::contraction;
      for (const auto& axis : k->axes) n.steps += (n.steps.empty() ? "" : " x ") + std::to_string(axis.extent);
      if (!k->beside.empty()) n.steps += " and " + std::to_string(k->beside.size()) + " beside it";
      n.schedule = "packed";
      contraction(*k, n);
    } else if (std::holds_alternative<loops::While>(s.is)) {
      n.kind = NestSummary::Kind::numbers;
      n.wide_flops = n.flops = n.bytes = unknown;
      return n;
    } else {
      statement(s, n);
      describe(s, n);
    }
    n.bytes = moved();
    return n;
  }

 private:
  struct Range {
    Variable variable;
    double steps;
  };
  // Accesses that move alike in one buffer: x[i - 1], x[i] and x[i + 1] touch about the same elements.
  using Moves = std::vector<std::pair<Variable, int64_t>>;

  void count(Expr e, double times, NestSummary& n) {
    each_node(e, seen_, [&](Expr x) {
      if (x->op == Op::load) access(x->buffer, x->place, 0);
      if (is_float(x->dtype)) (x->dtype == DType::f64 ? n.wide_flops : n.flops) += times * operations(x);
    });
  }
  void statement(const Stmt& s, NestSummary& n) {
    if (auto c = std::get_if<loops::Contraction>(&s.is)) return contraction(*c, n);
    auto f = std::get_if<For>(&s.is);
    if (f) open_.push_back({f->variable, static_cast<double>(f->end - f->begin)});
    double times = 1;
    for (const Range& r : open_) times *= r.steps;
    loops::each_expression(s, [&](Expr e) { count(e, times, n); });
    if (auto store = std::get_if<loops::Store>(&s.is)) access(store->buffer, store->place, 1);
    if (auto u = std::get_if<loops::Update>(&s.is); u && u->op != Op::local && is_float(u->value->dtype))
      (u->value->dtype == DType::f64 ? n.wide_flops : n.flops) += times;
    loops::each_block(s, [&](const Block& b) {
      for (const Stmt& inner : b) statement(inner, n);
    });
    if (f) open_.pop_back();
  }
  void contraction(const loops::Contraction& c, NestSummary& n) {
    const size_t around = open_.size();
    double times = 2 * multiplications(c);
    for (const Range& r : open_) times *= r.steps;
    (c.product->dtype == DType::f64 ? n.wide_flops : n.flops) += times;
    c.each_axis([&](const auto& axis) { open_.push_back({axis.variable, static_cast<double>(axis.extent)}); });
    for (Expr load : {c.left(), c.right(), c.weight()})
      if (load) access(load->buffer, load->place, 0);
    access(c.buffer, c.place, 1);
    for (const auto& b : c.beside) access(b.right()->buffer, b.right()->place, 0), access(b.buffer, b.place, 1);
    open_.resize(around);
  }

  // ---- bytes ----
  double size(BufferId b) const {
    const loops::Buffer& buffer = program_.buffers[static_cast<size_t>(b)];
    return static_cast<double>(elements(buffer.shape)) * static_cast<double>(size_of(buffer.dtype));
  }
  void whole(BufferId b) { touched_[{root(program_, b), 0}][{}] = size(b); }
  void access(BufferId b, const Index& place, int write) {
    const Affine at = linear(program_, b, place);
    Moves moves;
    double count = 1;
    for (const loops::Term& t : at.terms) {
      const auto loop =
          std::find_if(open_.begin(), open_.end(), [&](const Range& r) { return r.variable == t.variable; });
      // by a number that is known only as the program runs, each step may be elsewhere
      if (loop == open_.end() && !open_.empty() && program_.variables[static_cast<size_t>(t.variable)].parameter)
        for (const Range& r : open_) count *= loops::factor(at, r.variable) == 0 ? r.steps : 1;
      if (loop != open_.end()) count *= loop->steps;
      moves.push_back({t.variable, t.factor});
    }
    const BufferId r = root(program_, b);
    double& bytes = touched_[{r, write}][moves];
    bytes = std::max(
        bytes, std::min(size(r), count * static_cast<double>(size_of(program_.buffers[static_cast<size_t>(r)].dtype))));
  }
  double moved() const {
    double sum = 0;
    for (const auto& [buffer, accesses] : touched_) {
      double own = 0;
      for (const auto& [_, bytes] : accesses) own += bytes;
      sum += std::min(own, size(buffer.first));
    }
    return sum;
  }

  // ---- words ----
  static void describe(const Stmt& s, NestSummary& n) {
    auto f = std::get_if<For>(&s.is);
    if (f == nullptr) return;
    n.steps = std::to_string(f->end - f->begin);
    for (const For* inner = f; inner->body.size() == 1; n.steps += " x " + std::to_string(inner->end - inner->begin)) {
      inner = std::get_if<For>(&inner->body[0].is);
      if (inner == nullptr) break;
    }
    schedules(*f, n);
  }
  // Each way once: a nest may hold many loops.
  static void schedules(const For& f, NestSummary& n) {
    add_schedule(loops::schedule_text(f), n);
    for (const Stmt& s : f.body) {
      if (auto inner = std::get_if<For>(&s.is)) schedules(*inner, n);
      if (std::holds_alternative<loops::Contraction>(s.is)) add_schedule("packed", n);
    }
  }
  static void add_schedule(const std::string& way, NestSummary& n) {
    if (!way.empty() && (", " + n.schedule + ", ").find(", " + way + ", ") == std::string::npos)
      n.schedule += (n.schedule.empty() ? "" : ", ") + way;
  }

  const Program& program_;
  std::vector<Range> open_;  // the loops around
  loops::ExprSet seen_;
  std::map<std::pair<BufferId, int>, std::map<Moves, double>> touched_;  // by memory, read or written
};

}  // namespace

std::vector<NestSummary> summarise(const Program& p) {
  std::vector<NestSummary> list;
  loops::each_nest(p.body, [&](const Stmt& s) { list.push_back(Summary(p).of(s)); });
  return list;
}

}  // namespace anvil::compiler
