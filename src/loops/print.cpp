// The printed form of a loop program, for people and for tests. An expression that is used
// several times in one statement gets a line of its own, so that the text grows with the
// number of nodes.
#include <functional>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "loops/origins.h"

namespace anvil::loops {
namespace {

std::string type_text(DType t, const Shape& shape) { return std::string(name(t)) + "[" + join(shape, ", ") + "]"; }

class Printer {
 public:
  explicit Printer(const Program& p, Comment comment = nullptr) : program_(p), comment_(std::move(comment)) {}

  std::string run() {
    text_ = "program(";
    list(Buffer::Kind::input, "");
    list(Buffer::Kind::constant, "constant ");
    text_ += ") -> (";
    first_ = true;
    list(Buffer::Kind::output, "");
    text_ += ")\n";
    indent_ = 1;
    for (size_t i = 0; i < program_.buffers.size(); ++i) {
      const Buffer& b = program_.buffers[i];
      if (b.alias >= 0)
        line(b.name + ": " + type_text(b.dtype, b.shape) + " = " + program_.buffers[static_cast<size_t>(b.alias)].name);
      else if (b.kind == Buffer::Kind::temporary && used(static_cast<BufferId>(i)))
        line(b.name + ": " + type_text(b.dtype, b.shape) + " temporary" +
             (b.offset >= 0 ? " at " + std::to_string(b.offset) : ""));
    }
    block(program_.body);
    return text_;
  }

  std::string expression(Expr e) {
    std::string rest = prepared(e);
    return text_ + rest;
  }

 private:
  void list(Buffer::Kind kind, const char* prefix) {
    for (const Buffer& b : program_.buffers)
      if (b.kind == kind && b.alias < 0) {
        text_ += (first_ ? "" : ", ") + (prefix + b.name) + ": " + type_text(b.dtype, b.shape);
        first_ = false;
      }
  }
  // Temporaries that passes have removed are not worth a line.
  bool used(BufferId id) {
    if (used_.empty()) {
      used_.resize(program_.buffers.size() + 1);
      ExprSet seen;
      mark(program_.body, seen);
    }
    return used_[static_cast<size_t>(id)];
  }
  void mark(BufferId id) {
    for (; id >= 0; id = program_.buffers[static_cast<size_t>(id)].alias) used_[static_cast<size_t>(id)] = true;
  }
  void mark(Expr e, ExprSet& seen) {
    if (e == nullptr || !seen.insert(e)) return;
    if (e->op == Op::load) mark(e->buffer);
    for (Expr a : e->args) mark(a, seen);
  }
  void mark(const Block& b, ExprSet& seen) {
    for (const Stmt& s : b) {
      if (auto f = std::get_if<For>(&s.is))
        mark(f->body, seen);
      else if (auto st = std::get_if<Store>(&s.is))
        mark(st->buffer), mark(st->value, seen);
      else if (auto l = std::get_if<Let>(&s.is))
        mark(l->value, seen);
      else if (auto d = std::get_if<Declare>(&s.is))
        mark(d->value, seen);
      else if (auto u = std::get_if<Update>(&s.is))
        mark(u->value, seen);
      else if (auto bind = std::get_if<Bind>(&s.is))
        mark(bind->value, seen);
      else if (auto i = std::get_if<If>(&s.is))
        mark(i->condition, seen), mark(i->yes, seen), mark(i->no, seen);
      else if (auto w = std::get_if<While>(&s.is))
        mark(w->before, seen), mark(w->condition, seen), mark(w->body, seen);
      else if (auto c = std::get_if<Call>(&s.is)) {
        for (BufferId id : c->buffers) mark(id);
        for (Expr e : c->numbers) mark(e, seen);
      } else if (auto swap = std::get_if<Swap>(&s.is))
        mark(swap->first), mark(swap->second);
      else if (auto fetch = std::get_if<Prefetch>(&s.is))
        mark(fetch->buffer);
      else if (auto k = std::get_if<Contraction>(&s.is))
        mark(k->buffer), mark(k->product, seen);
    }
  }

  void line(const std::string& s) { text_ += std::string(static_cast<size_t>(2 * indent_), ' ') + s + "\n"; }

  // The name of a variable, made unique among the loops around it.
  std::string variable_text(Variable v) {
    const VariableInfo& info = program_.variables[static_cast<size_t>(v)];
    if (info.parameter) return "$" + info.name;
    auto it = names_.find(v);
    return it == names_.end() ? info.name : it->second;
  }
  void name_variable(Variable v) {
    const std::string& base = program_.variables[static_cast<size_t>(v)].name;
    std::string s = base;
    for (int n = 2;; ++n) {
      bool taken = false;
      for (Variable o : open_) taken = taken || (o != v && names_[o] == s);
      if (!taken) break;
      s = base + std::to_string(n);
    }
    names_[v] = s;
  }

  std::string affine(const Affine& a) {
    std::string s;
    for (const Term& t : a.terms) {
      int64_t f = t.factor;
      s += s.empty() ? (f < 0 ? "-" : "") : (f < 0 ? " - " : " + ");
      f = f < 0 ? -f : f;
      s += (f == 1 ? "" : std::to_string(f) + "*") + variable_text(t.variable);
    }
    if (s.empty()) return std::to_string(a.constant);
    if (a.constant > 0) s += " + " + std::to_string(a.constant);
    if (a.constant < 0) s += " - " + std::to_string(-a.constant);
    return s;
  }
  // " where i <= j + 1": it is not negative
  std::string where(const Affine& a) {
    Affine low, high;
    for (const Term& t : a.terms) (t.factor < 0 ? low : high).terms.push_back({t.variable, std::abs(t.factor)});
    (a.constant < 0 ? low : high).constant = std::abs(a.constant);
    return " where " + affine(low) + " <= " + affine(high);
  }
  std::string place(BufferId b, const Index& index) {
    std::string s = program_.buffers[static_cast<size_t>(b)].name + "[";
    for (size_t d = 0; d < index.size(); ++d) s += (d ? ", " : "") + affine(index[d]);
    return s + "]";
  }
  std::string local_name(LocalId id) { return program_.locals[static_cast<size_t>(id)].name; }

  std::string arguments(Expr e) {
    std::string s = "(";
    for (int i = 0; i < e->argument_count(); ++i) s += (i ? ", " : "") + operand(e->args[static_cast<size_t>(i)], true);
    return s + ")";
  }
  std::string operand(Expr e, bool top) {
    auto shared = shared_.find(e);
    return shared != shared_.end() ? shared->second : whole(e, top);
  }
  std::string whole(Expr e, bool top) {
    switch (e->op) {
      case Op::constant: return e->constant.text(e->dtype);
      case Op::load: return place(e->buffer, e->place);
      case Op::index:
        return top || (e->place[0].terms.size() == 1 && e->place[0].constant == 0) ? affine(e->place[0])
                                                                                   : "(" + affine(e->place[0]) + ")";
      case Op::local: return local_name(e->local);
      case Op::add:
      case Op::sub:
      case Op::mul:
      case Op::divide:
      case Op::remainder:
      case Op::bit_and:
      case Op::bit_or:
      case Op::bit_xor:
      case Op::shift_left:
      case Op::shift_right_logical:
      case Op::shift_right_arithmetic:
      case Op::eq:
      case Op::ne:
      case Op::lt:
      case Op::le:
      case Op::gt:
      case Op::ge: {
        std::string s = operand(e->args[0], false) + " " + name(e->op) + " " + operand(e->args[1], false);
        return top ? s : "(" + s + ")";
      }
      case Op::negate:
      case Op::bit_not: return name(e->op) + operand(e->args[0], false);
      case Op::convert: return std::string(anvil::name(e->dtype)) + arguments(e);
      case Op::bitcast: return "bitcast_" + std::string(anvil::name(e->dtype)) + arguments(e);
      case Op::function: return e->name + arguments(e);
      default: return name(e->op) + arguments(e);
    }
  }

  // Writes a line for every shared part of an expression, then gives the rest.
  std::string prepared(Expr e, bool top = true) {
    std::unordered_map<Expr, int> uses;
    std::vector<Expr> order;
    count(e, uses, order);
    for (Expr x : order)
      if (uses[x] > 1 && x->argument_count() > 0 && !shared_.count(x)) {
        std::string s = whole(x, true);
        std::string id = "%" + std::to_string(++next_shared_);
        line(id + " = " + s);
        shared_[x] = id;
      }
    return operand(e, top);
  }
  static void count(Expr e, std::unordered_map<Expr, int>& uses, std::vector<Expr>& order) {
    if (uses[e]++ > 0) return;
    for (int i = 0; i < e->argument_count(); ++i) count(e->args[static_cast<size_t>(i)], uses, order);
    order.push_back(e);
  }

  // Above a nest, unless the statement before came from the same calls.
  void comment(const Stmt& s, std::string& last) {
    const bool whole = is_nest(s) || !(std::holds_alternative<While>(s.is) || std::holds_alternative<If>(s.is));
    const std::string text = comment_(whole ? origins(s) : s.origins);
    if (std::exchange(last, text) == text) return;
    for (size_t begin = 0; begin < text.size();) {
      const size_t end = std::min(text.find('\n', begin), text.size());
      line("# " + text.substr(begin, end - begin));
      begin = end + 1;
    }
  }
  void block(const Block& b) {
    std::string last;
    for (const Stmt& s : b) {
      if (comment_ && open_.empty()) comment(s, last);
      shared_.clear();
      next_shared_ = 0;
      std::visit([this](const auto& x) { statement(x); }, s.is);
    }
  }
  void nested(const Block& b) {
    ++indent_;
    block(b);
    --indent_;
  }
  void statement(const For& f) {
    name_variable(f.variable);
    open_.push_back(f.variable);
    std::string s =
        "for " + variable_text(f.variable) + " in " + std::to_string(f.begin) + ".." + std::to_string(f.end);
    const std::string schedule = schedule_text(f);
    if (!schedule.empty()) s += " " + schedule;
    for (size_t i = 0; i < f.own.size(); ++i)
      s += (i ? ", " : " own ") + program_.buffers[static_cast<size_t>(f.own[i])].name;
    line(s + (f.reduction ? " reduction {" : " {"));
    nested(f.body);
    line("}");
    open_.pop_back();
  }
  void statement(const Store& s) {
    std::string value = prepared(s.value);
    line(place(s.buffer, s.place) + " = " + value + (s.around_caches ? " around caches" : ""));
  }
  void statement(const Let& s) {
    std::string value = prepared(s.value);
    line("let " + local_name(s.local) + " = " + value);
  }
  void statement(const Declare& s) {
    std::string value = prepared(s.value);
    line(local_name(s.local) + " = " + value);
  }
  void statement(const Update& s) {
    std::string value = prepared(s.value);
    std::string sign = s.op == Op::local ? "" : s.op == Op::fma ? "+" : name(s.op);
    bool word = s.op == Op::minimum || s.op == Op::maximum;
    line(local_name(s.local) + " " + (s.op == Op::local ? ":" : sign + (word ? " " : "")) + "= " + value +
         (s.running ? " running" : ""));
  }
  void statement(const Bind& s) {
    std::string value = prepared(s.value);
    line(variable_text(s.parameter) + " = " + value);
  }
  void statement(const If& s) {
    std::string condition = prepared(s.condition);
    line("if " + condition + " {");
    nested(s.yes);
    if (!s.no.empty()) {
      line("} else {");
      nested(s.no);
    }
    line("}");
  }
  void statement(const While& s) {
    line("loop {");
    nested(s.before);
    shared_.clear();
    ++indent_;
    std::string condition = prepared(s.condition, false);
    line("while " + condition);
    --indent_;
    nested(s.body);
    line("}");
  }
  void statement(const Call& s) {
    std::vector<std::string> numbers;
    for (Expr e : s.numbers) numbers.push_back(prepared(e));
    std::string text = "call " + s.function + "(";
    for (size_t i = 0; i < s.buffers.size(); ++i)
      text += (i ? ", " : "") + program_.buffers[static_cast<size_t>(s.buffers[i])].name;
    for (size_t i = 0; i < numbers.size(); ++i) text += (i ? ", " : "; ") + numbers[i];
    line(text + ")");
  }
  // "contract i in 0..8, j in 0..9, p in 0..7: t1[i, j] = sum of x1[i, p] * x2[p, j]"
  // "    beside k in 0..5: t2[i, k] = sum of x1[i, p] * x3[p, k]"
  // "contract i in 0..8, j in 0..8, p in 0..7: t1[i, j] = sum of x1[i, p] * x2[p, j] where i <= j"
  void statement(const Contraction& s) {
    const std::string start = "contract ", is = s.adds ? " += sum of " : " = sum of ";
    std::string text = start;
    const auto axis = [&](const Contraction::Axis& x) {
      name_variable(x.variable);
      open_.push_back(x.variable);
      text +=
          (text.size() > start.size() ? ", " : "") + variable_text(x.variable) + " in 0.." + std::to_string(x.extent);
    };
    const size_t around = open_.size();
    for (const Contraction::Axis& x : s.axes) axis(x);
    line(text + ": " + place(s.buffer, s.place) + is + whole(s.product, true) + (s.wanted ? where(*s.wanted) : ""));
    for (const Contraction::Beside& b : s.beside) {
      text = start;
      for (const Contraction::Axis& x : b.columns) axis(x);
      text.replace(0, start.size(), b.columns.empty() ? "    beside" : "    beside ");
      line(text + ": " + place(b.buffer, b.place) + is + whole(s.product->args[0], true) + " * " +
           whole(b.operand, true));
    }
    open_.resize(around);
  }
  void statement(const Swap& s) {
    line("swap " + program_.buffers[static_cast<size_t>(s.first)].name + ", " +
         program_.buffers[static_cast<size_t>(s.second)].name);
  }
  void statement(const Prefetch& s) {
    line("prefetch " + place(s.buffer, s.place) + ", " + std::to_string(s.bytes) + " bytes");
  }

  const Program& program_;
  const Comment comment_;
  std::string text_;
  int indent_ = 0;
  bool first_ = true;
  std::vector<bool> used_;
  std::vector<Variable> open_;
  std::unordered_map<Variable, std::string> names_;
  std::unordered_map<Expr, std::string> shared_;
  int next_shared_ = 0;
};

}  // namespace

std::string schedule_text(const For& f) {
  if (f.kind == For::Kind::vector)
    return "vector " + std::to_string(f.width) + (f.copies > 1 ? " x " + std::to_string(f.copies) : "");
  if (f.kind == For::Kind::parallel) return "parallel";
  return f.kind == For::Kind::unroll ? "unroll " + std::to_string(f.copies) : "";
}

std::string print(const Program& p) { return Printer(p).run(); }
std::string print(const Program& p, const Comment& comment) { return Printer(p, comment).run(); }
std::string print(const Program& p, Expr e) { return Printer(p).expression(e); }

}  // namespace anvil::loops
