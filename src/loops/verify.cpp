// Checks what every pass must keep: definitions before uses, indices inside their loops,
// accesses inside their buffers, dtypes that fit, memory that no two tasks share by accident.
#include <algorithm>
#include <set>
#include <tuple>
#include <unordered_set>

#include "base/error.h"
#include "loops/walk.h"

namespace anvil::loops {

namespace {

bool is_computed(DType t) { return is_float(t) && !is_small(t); }

class Verifier {
 public:
  explicit Verifier(const Program& p)
      : program_(p), ranges_(p.variables.size()), locals_(p.locals.size(), State::unknown) {}

  void run() {
    for (const Buffer& b : program_.buffers) buffer(b);
    block(program_.body);
  }

 private:
  struct Range {
    int64_t low = 0, high = -1;
    bool visible = false;
  };
  enum class State : uint8_t { unknown, constant, variable };

  [[noreturn]] void fail(const std::string& what) const { throw InternalError("loop program: " + what); }
  void require(bool condition, const std::string& what) const {
    if (!condition) fail(what);
  }

  void buffer(const Buffer& b) const {
    for (int64_t size : b.shape) require(size >= 0, "buffer " + b.name + " has a negative size");
    if (b.alias < 0) return;
    require(static_cast<size_t>(b.alias) < program_.buffers.size(), "buffer " + b.name + " is an alias of nothing");
    const Buffer& root = program_.buffers[static_cast<size_t>(b.alias)];
    require(root.alias < 0, "buffer " + b.name + " is an alias of an alias");
    require(root.dtype == b.dtype && elements(root.shape) == elements(b.shape),
            "buffer " + b.name + " does not fit what it is an alias of");
  }
  const Buffer& known(BufferId id) const {
    require(id >= 0 && static_cast<size_t>(id) < program_.buffers.size(), "unknown buffer");
    return program_.buffers[static_cast<size_t>(id)];
  }
  const LocalInfo& known_local(LocalId id) const {
    require(id >= 0 && static_cast<size_t>(id) < program_.locals.size(), "unknown local");
    return program_.locals[static_cast<size_t>(id)];
  }
  Range range(const Affine& a) const {
    Range r{a.constant, a.constant, true};
    Variable last = -1;
    for (const Term& t : a.terms) {
      require(t.variable > last && t.factor != 0 && static_cast<size_t>(t.variable) < ranges_.size(),
              "malformed index");
      last = t.variable;
      const Range& v = ranges_[static_cast<size_t>(t.variable)];
      require(v.visible,
              "variable " + program_.variables[static_cast<size_t>(t.variable)].name + " is used outside its loop");
      r.low += t.factor * (t.factor > 0 ? v.low : v.high);
      r.high += t.factor * (t.factor > 0 ? v.high : v.low);
    }
    return r;
  }
  void access(BufferId id, const Index& place) const {
    const Buffer& b = known(id);
    require(place.size() == b.shape.size(), "an access of " + b.name + " has the wrong number of indices");
    for (size_t d = 0; d < place.size(); ++d) {
      Range r = range(place[d]);
      require(r.low >= 0 && r.high < b.shape[d], "an access of " + b.name + " leaves it: dimension " +
                                                     std::to_string(d) + ", " + std::to_string(r.low) + ".." +
                                                     std::to_string(r.high));
    }
  }

  void expression(Expr e) {
    ExprSet seen;
    expression(e, seen);
  }
  void expression(Expr e, ExprSet& seen) {
    require(e != nullptr, "an expression is missing");
    if (!seen.insert(e)) return;
    int n = e->argument_count();
    for (int i = 0; i < n; ++i) expression(e->args[static_cast<size_t>(i)], seen);
    auto type = [&](int i) { return e->args[static_cast<size_t>(i)]->dtype; };
    auto expect = [&](bool ok) {
      if (!ok) require(false, std::string("operands of ") + name(e->op) + " do not fit in " + print(program_, e));
    };
    switch (e->op) {
      case Op::constant: break;
      case Op::load:
        access(e->buffer, e->place);
        expect(known(e->buffer).dtype == e->dtype);
        break;
      case Op::index:
        expect(e->place.size() == 1 && e->dtype == DType::i64);
        range(e->place[0]);
        break;
      case Op::local:
        expect(known_local(e->local).dtype == e->dtype);
        require(locals_[static_cast<size_t>(e->local)] != State::unknown,
                "local " + known_local(e->local).name + " is read before it is made");
        break;
      case Op::eq:
      case Op::ne:
      case Op::lt:
      case Op::le:
      case Op::gt:
      case Op::ge: expect(n == 2 && type(0) == type(1) && e->dtype == DType::boolean && !is_small(type(0))); break;
      case Op::convert: expect(n == 1); break;
      case Op::bitcast: expect(n == 1 && size_of(type(0)) == size_of(e->dtype)); break;
      case Op::is_finite: expect(n == 1 && e->dtype == DType::boolean && is_computed(type(0))); break;
      case Op::select: expect(n == 3 && type(0) == DType::boolean && type(1) == e->dtype && type(2) == e->dtype); break;
      case Op::fma:
        expect(n == 3 && is_computed(e->dtype) && type(0) == e->dtype && type(1) == e->dtype && type(2) == e->dtype);
        break;
      case Op::function:
        expect(n >= 1 && is_computed(e->dtype));
        for (int i = 0; i < n; ++i) expect(type(i) == e->dtype);
        break;
      default:
        expect(n == (e->op >= Op::negate ? 1 : 2) && !is_small(e->dtype));
        for (int i = 0; i < n; ++i) expect(type(i) == e->dtype);
    }
  }

  void define(LocalId id, State state, Expr value) {
    expression(value);
    const LocalInfo& l = known_local(id);
    require(l.dtype == value->dtype, "local " + l.name + " and its value differ in dtype");
    require(locals_[static_cast<size_t>(id)] == State::unknown, "local " + l.name + " is made twice");
    locals_[static_cast<size_t>(id)] = state;
    made_.push_back(id);
  }
  // Locals made in a block are gone after it.
  void block(const Block& b) {
    size_t before = made_.size();
    for (const Stmt& s : b) std::visit([this](const auto& x) { statement(x); }, s.is);
    forget(before);
  }
  void forget(size_t before) {
    for (; made_.size() > before; made_.pop_back()) locals_[static_cast<size_t>(made_.back())] = State::unknown;
  }

  void statement(const For& f) {
    require(f.variable >= 0 && static_cast<size_t>(f.variable) < ranges_.size(), "unknown variable");
    Range& r = ranges_[static_cast<size_t>(f.variable)];
    const std::string& id = program_.variables[static_cast<size_t>(f.variable)].name;
    require(!program_.variables[static_cast<size_t>(f.variable)].parameter, "loop over a parameter");
    require(!r.visible, "two nested loops over " + id);
    require(f.begin < f.end, "empty loop over " + id);
    if (f.kind == For::Kind::parallel) parallel(f);
    if (f.kind != For::Kind::serial)
      require(f.width >= 1 && f.copies >= 1 && f.end - f.begin >= int64_t(f.width) * f.copies,
              "too few steps in the loop over " + id);
    r = {f.begin, f.end - 1, true};
    running(f);
    block(f.body);
    ranges_[static_cast<size_t>(f.variable)].visible = false;
  }
  // Every local that a loop updates step by step is updated once, by a vector loop in its own body, and not seen before.
  void running(const For& f) {
    std::unordered_set<LocalId> seen;
    bool nested = false;
    for (const Stmt& s : f.body) {
      each_block(s, [&](const Block&) { nested = true; });
      each_expression(s, [&](Expr e) {
        each_node(e, [&](Expr x) {
          if (x->op == Op::local) seen.insert(x->local);
        });
      });
      auto u = std::get_if<Update>(&s.is);
      if (u == nullptr || !u->running) continue;
      const std::string& id = known_local(u->local).name;
      require(f.kind == For::Kind::vector && u->op != Op::local && !nested, id + " cannot run along a vector");
      require(locals_[static_cast<size_t>(u->local)] == State::variable, id + " runs in its own loop");
      require(seen.insert(u->local).second, id + " is seen before it runs on");
      running_.insert(u);
    }
  }
  // Tasks change nothing but memory, and hold no other tasks, no loops of unknown length and no calls.
  void parallel(const For& f) const {
    const std::string& id = program_.variables[static_cast<size_t>(f.variable)].name;
    for (BufferId b : f.own)
      require(known(b).own && known(b).kind == Buffer::Kind::temporary, "a task of " + id + " owns " + known(b).name);
    std::unordered_set<LocalId> made;
    const auto walk = [&](const auto& self, const Block& block) -> void {
      for (const Stmt& s : block) {
        if (auto l = std::get_if<Let>(&s.is)) made.insert(l->local);
        if (auto d = std::get_if<Declare>(&s.is)) made.insert(d->local);
        auto inner = std::get_if<For>(&s.is);
        auto update = std::get_if<Update>(&s.is);
        require(!(inner && inner->kind == For::Kind::parallel), "tasks in a task of " + id);
        require(!update || made.count(update->local), "a task of " + id + " changes a local from outside");
        require(inner || update || std::holds_alternative<Store>(s.is) || std::holds_alternative<Let>(s.is) ||
                    std::holds_alternative<Declare>(s.is) || std::holds_alternative<Bind>(s.is) ||
                    std::holds_alternative<If>(s.is) || std::holds_alternative<Prefetch>(s.is) ||
                    std::holds_alternative<Contraction>(s.is),
                "a while or a call in a task of " + id);
        each_block(s, [&](const Block& b) { self(self, b); });
      }
    };
    walk(walk, f.body);
    memory_of_tasks(f);
  }
  // Tasks run at once, so that a place in memory belongs to one temporary for all of them.
  void memory_of_tasks(const For& f) const {
    std::set<BufferId> used;
    for (const Stmt& s : f.body)
      each_access_inside(s, [&](BufferId b, const Index*, AccessKind) {
        known(b);
        used.insert(root(program_, b));
      });
    struct Place {
      bool own;
      int64_t offset, end;
      BufferId buffer;
    };
    std::vector<Place> places;
    for (BufferId id : used) {
      const Buffer& b = known(id);
      if (b.kind != Buffer::Kind::temporary || b.offset < 0) continue;
      const int64_t bytes = elements(b.shape) * static_cast<int64_t>(size_of(b.dtype));
      places.push_back({b.own, b.offset, b.offset + bytes, id});
    }
    std::sort(places.begin(), places.end(),
              [](const Place& a, const Place& b) { return std::tie(a.own, a.offset) < std::tie(b.own, b.offset); });
    for (size_t i = 1; i < places.size(); ++i) {
      const Place &before = places[i - 1], &after = places[i];
      require(before.own != after.own || before.end <= after.offset,
              "tasks share the memory of " + known(before.buffer).name + " and " + known(after.buffer).name);
    }
  }
  void statement(const Store& s) {
    expression(s.value);
    access(s.buffer, s.place);
    const Buffer& b = known(s.buffer);
    const Buffer& root = b.alias >= 0 ? program_.buffers[static_cast<size_t>(b.alias)] : b;
    require(root.kind == Buffer::Kind::output || root.kind == Buffer::Kind::temporary, "store to " + b.name);
    require(b.dtype == s.value->dtype, "store of the wrong dtype to " + b.name);
  }
  void statement(const Let& s) { define(s.local, State::constant, s.value); }
  void statement(const Declare& s) { define(s.local, State::variable, s.value); }
  void statement(const Update& s) {
    expression(s.value);
    require(!s.running || running_.count(&s) > 0, "a local runs along no loop");
    const LocalInfo& l = known_local(s.local);
    require(locals_[static_cast<size_t>(s.local)] == State::variable,
            "update of " + l.name + ", which is not declared");
    require(l.dtype == s.value->dtype, "update of " + l.name + " with another dtype");
    if (s.op != Op::local && !accumulates(s.op)) fail(std::string("update with ") + name(s.op));
  }
  void statement(const Bind& s) {
    expression(s.value);
    require(s.value->dtype == DType::i64, "a parameter is not an i64");
    require(s.parameter >= 0 && static_cast<size_t>(s.parameter) < ranges_.size(), "unknown parameter");
    const VariableInfo& v = program_.variables[static_cast<size_t>(s.parameter)];
    require(v.parameter, "binding of a loop index");
    ranges_[static_cast<size_t>(s.parameter)] = {v.low, v.high, true};
  }
  void statement(const If& s) {
    expression(s.condition);
    require(s.condition->dtype == DType::boolean, "a condition is not a bool");
    block(s.yes);
    block(s.no);
  }
  // Locals of `before` are visible in the condition and in the body.
  void statement(const While& s) {
    size_t before = made_.size();
    for (const Stmt& inner : s.before) std::visit([this](const auto& x) { statement(x); }, inner.is);
    expression(s.condition);
    require(s.condition->dtype == DType::boolean, "a condition is not a bool");
    block(s.body);
    forget(before);
  }
  void statement(const Call& s) {
    for (BufferId b : s.buffers) known(b);
    for (Expr e : s.numbers) {
      expression(e);
      require(e->dtype == DType::i64, "a number of a call is not an i64");
    }
  }
  void statement(const Contraction& s) {
    s.each_axis([&](const Contraction::Axis& x) {
      Range& r = ranges_[static_cast<size_t>(x.variable)];
      require(!r.visible && !program_.variables[static_cast<size_t>(x.variable)].parameter,
              "an axis has a loop around it");
      require(x.extent > 0, "empty axis of a contraction");
      r = {0, x.extent - 1, true};
    });
    expression(s.product);
    const DType stored = known(s.buffer).dtype;
    require(s.product->op == Op::mul && is_computed(s.product->dtype) && s.product->dtype == compute_type(stored),
            "a contraction of no product");
    require(!s.adds || s.product->dtype == stored, "a contraction adds to what is rounded");
    for (Expr e : {s.left(), s.right()})
      require(e->op == Op::load && e->dtype == stored && root(program_, e->buffer) != root(program_, s.buffer),
              "a contraction of no loads, of other dtypes, or of its own result");
    access(s.buffer, s.place);
    if (const Expr w = s.weight()) {
      require(w->op == Op::load && w->dtype == stored && s.left()->dtype == s.product->dtype &&
                  root(program_, w->buffer) != root(program_, s.buffer),
              "a weight of a contraction is no load, of another dtype, or of its own result");
      require(std::any_of(s.axes.begin(), s.axes.end(),
                          [&](const Contraction::Axis& x) { return step(program_, w, x.variable) != 0; }),
              "a weight of a contraction is the same for all of it");
    }
    for (const auto& [v, _] : s.axes) {
      require(!s.weight() || step(program_, s.weight(), v) == 0 ||
                  (step(program_, s.left(), v) != 0 && step(program_, s.right(), v) != 0),
              "a weight of a contraction moves with one operand only");
      require(step(program_, s.buffer, s.place, v) != 0 ||
                  (step(program_, s.left(), v) != 0 && step(program_, s.right(), v) != 0),
              "an axis of a contraction moves one operand only");
    }
    for (const Contraction::Beside& b : s.beside) beside(s, b);
    if (s.wanted) part(s);
    s.each_axis([&](const Contraction::Axis& x) { ranges_[static_cast<size_t>(x.variable)].visible = false; });
  }
  // One axis of rows and one of columns with their steps' difference.
  void part(const Contraction& s) {
    range(*s.wanted);
    require(s.beside.empty() && !s.adds && s.product->dtype == known(s.buffer).dtype,
            "part of a contraction that adds, of small floats, or with others beside it");
    int64_t of_rows = 0, of_columns = 0;
    for (const auto& [v, extent] : s.axes) {
      if (extent == 1) continue;
      const bool row = s.is_row(v), column = s.is_column(v);
      const int64_t by = factor(*s.wanted, v);
      require(row || column ? std::abs(by) == 1 : by == 0, "part of a contraction by other axes than rows and columns");
      if (!row && !column) continue;
      int64_t& of = row ? of_rows : of_columns;
      require(of == 0, "part of a contraction of several rows or columns");
      of = by;
    }
    require(of_rows == -of_columns && of_rows != 0, "part of a contraction by no difference");
  }
  void beside(const Contraction& s, const Contraction::Beside& b) {
    expression(b.operand);
    access(b.buffer, b.place);
    const Expr right = b.right();
    const DType stored = s.left()->dtype;
    require(known(b.buffer).dtype == stored && b.operand->dtype == s.product->dtype && right->op == Op::load &&
                right->dtype == stored,
            "a product beside a contraction is of no load, or of another dtype");
    const auto is_result = [&](BufferId x) {
      return root(program_, x) == root(program_, s.buffer) ||
             std::any_of(s.beside.begin(), s.beside.end(), [&](const Contraction::Beside& other) {
               return root(program_, other.buffer) == root(program_, x);
             });
    };
    require(
        !is_result(right->buffer) && !is_result(s.left()->buffer) && (!s.weight() || !is_result(s.weight()->buffer)),
        "a product beside a contraction is of a result");
    for (const auto& [v, _] : b.columns)
      require(step(program_, s.left(), v) == 0 && (!s.weight() || step(program_, s.weight(), v) == 0) &&
                  step(program_, b.buffer, b.place, v) != 0 && step(program_, right, v) != 0,
              "a column beside a contraction moves what is no column");
    for (const auto& [v, extent] : s.axes) {
      const bool column = s.is_column(v);
      require(
          extent == 1 || (step(program_, b.buffer, b.place, v) == (column ? 0 : step(program_, s.buffer, s.place, v)) &&
                          step(program_, right, v) == (column ? 0 : step(program_, s.right(), v))),
          "a product beside a contraction takes other steps");
    }
  }
  void statement(const Swap& s) {
    const Buffer &a = known(s.first), &b = known(s.second);
    require(a.kind == Buffer::Kind::temporary && b.kind == Buffer::Kind::temporary && a.alias < 0 && b.alias < 0,
            "swap of buffers with a fixed place");
    require(a.dtype == b.dtype && a.shape == b.shape && s.first != s.second, "swap of different buffers");
  }

  void statement(const Prefetch& s) {
    access(s.buffer, s.place);
    require(s.bytes > 0, "a prefetch of nothing");
  }

  const Program& program_;
  std::vector<Range> ranges_;
  std::vector<State> locals_;
  std::unordered_set<const Update*> running_;  // that stand where they may
  std::vector<LocalId> made_;
};

}  // namespace

void verify(const Program& p) { Verifier(p).run(); }

}  // namespace anvil::loops
