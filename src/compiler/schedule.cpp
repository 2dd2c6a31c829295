// Which loop is a vector, and how many of its steps are in flight:
//
//   for i in 0..4096 {                     for i in 0..4096 vector 16 x 4 {
//     out1[i] = x1[i] + 1                    out1[i] = x1[i] + 1
//   }                                      }
//
// Each nest gets the vector loop of least cost: the loop whose steps are neighbours in
// memory, be it an outer one (sums of the rows of a column-major matrix) or the sum itself.
//
// For products: register_blocks.cpp. For short loops: short_loops.cpp. For nests that read across memory: across.cpp.
// For stencils: shared_loads.cpp. For sums of short rows: rows_at_once.cpp. For running sums: running_sums.cpp. For
// recurrences: running_columns.cpp.
#include "compiler/schedule.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/interrupt.h"
#include "compiler/passes.h"

namespace anvil::compiler {
namespace {

using loops::For;

class Scheduler {
 public:
  Scheduler(Program& p, const Target& target) : program_(p), target_(target) {}

  void run() {
    block(program_.body);
    write_out_short_loops(program_);
    mark(program_.body);
    number_variables(program_.body);
  }

 private:
  void block(Block& b) {
    for (Stmt& s : b) {
      poll();
      if (auto f = std::get_if<For>(&s.is)) {
        choose_vectors(*f);
        lift_vector_sums(*f);
        choose_copies(*f);
      } else {
        each_block(s, [this](Block& inner) { block(inner); });
      }
    }
  }

  // ---- which loop is a vector ----
  int width(const For& f, const LoopFacts& facts) const {
    if (facts.widest == 0) return 1;
    int w = std::max(1, target_.vector_bytes / facts.widest);
    while (w > extent(f)) w /= 2;
    while (w > 2 && ceil_div(extent(f), w / 2) == ceil_div(extent(f), w)) w /= 2;
    return w;
  }
  static void make_serial(Block& b) {
    for (Stmt& s : b)
      if (auto f = std::get_if<For>(&s.is)) {
        f->kind = For::Kind::serial;
        f->width = f->copies = 1;
        make_serial(f->body);
      } else if (auto u = std::get_if<loops::Update>(&s.is)) {
        u->running = false;
      }
  }
  // Chooses and gives the cost of one run of the loop.
  double choose_vectors(For& f) {
    double inside = 0;
    for (Stmt& s : f.body) {
      auto inner = std::get_if<For>(&s.is);
      if (inner)
        inside += choose_vectors(*inner);
      else
        each_block(s, [this](Block& b) { block(b); });
    }
    inside += plain_cost(f.body);
    double serial = static_cast<double>(extent(f)) * (0.5 + inside);
    LoopFacts facts = loop_facts(f);
    int w = width(f, facts);
    bool tiny = w < 4 && w < extent(f);
    if (!facts.simple || facts.one_by_one || w < 2 || tiny) return serial;
    const bool apart = independent(program_, f);
    const auto running = apart ? std::vector<loops::Update*>{} : running_sums(program_, f);
    if (!apart && running.empty()) return serial;
    const double fold = static_cast<double>(facts.updated.size()) * (4 + 2 * std::log2(w)),
                 scans = static_cast<double>(running.size()) * 2 * std::log2(w);
    double vector = ceil_div(extent(f), w) * (0.5 + block_cost(program_, f.body, f.variable, w) + scans) + fold;
    if (vector >= serial) return serial;
    make_serial(f.body);
    for (loops::Update* u : running) run_along(program_, *u);
    f.kind = For::Kind::vector;
    f.width = w;
    return vector;
  }
  double plain_cost(const Block& b) const {
    double sum = 0;
    for (const Stmt& s : b) {
      if (std::holds_alternative<For>(s.is)) continue;
      Block one{s};
      sum += block_cost(program_, one, -1, 1);
    }
    return sum;
  }

  // ---- how many steps are in flight ----
  void choose_copies(For& f) {
    if (run_columns(program_, f)) return;
    if (f.kind == For::Kind::vector) return choose_copies_of_vector(f);
    if (auto loops = around_vector(f); loops.size() > 1 && walk_along_lines(program_, loops)) return;
    bring_sharing_inside(f);
    if (For* only = only_loop(f);
        only && only->kind == For::Kind::vector && block_registers(program_, target_, f, *only))
      return;
    for (Stmt& s : f.body)
      if (auto inner = std::get_if<For>(&s.is)) choose_copies(*inner);
    share_further(program_, target_, f);
    share_loads(program_, f);
    take_rows_at_once(program_, f);
  }

  void choose_copies_of_vector(For& f) {
    int most = most_copies_of_sums(f);
    if (most <= 2) {
      const LoopFacts facts = loop_facts(f);
      if (widen(f, facts)) return;
      const double ops = facts.ops + accesses_apart(program_, f.body, f.variable, f.width);
      if (most == 0) most = facts.function ? 1 : ops <= 6 ? 4 : ops <= 16 ? 2 : 1;
    }
    f.copies = fitting_copies(extent(f), f.width, most);
  }
  // Where the operations of a step wait for each other longer than the processor looks ahead, its vectors get the
  // width of two registers: the two halves of every operation come one after the other. Twice the width where most
  // operations are on what neighbours have in common, which is computed once, with half as many lanes. And twice the
  // width where most are on integers, as random bits are made: hardly any two of these can run at a time, and few of
  // their results are still needed. Not where elements are gathered, which takes an access for each lane.
  bool widen(For& f, const LoopFacts& facts) const {
    const auto binds = [](const Stmt& s) { return std::holds_alternative<loops::Bind>(s.is); };
    if (std::any_of(f.body.begin(), f.body.end(), binds)) return false;
    constexpr double looks_ahead = 40, side_by_side = 3;  // operations; that run at a time without this
    constexpr int most_registers = 4;                     // of one value, of integers twice as many
    if (facts.weight < looks_ahead || facts.usual == 0) return false;
    const int of_integers = 2 * facts.of_integers > facts.weight ? 2 : 1;
    const int registers = (facts.weight <= side_by_side * facts.chain ? 2 : 1) *
                          (2 * facts.of_pairs > facts.weight ? 2 : 1) * of_integers;
    const int wide = registers * target_.vector_bytes / facts.usual;
    if (wide <= f.width || extent(f) < 4 * wide ||
        wide * facts.widest > of_integers * most_registers * target_.vector_bytes)
      return false;
    f.width = wide;
    return true;
  }
  // As many as leave room in registers for what each loop inside sums at once; 0 where none sums. A call in such a
  // loop spills the sums: two chains hide the way through memory.
  int most_copies_of_sums(const For& f) const {
    int least = 0;
    const LoopFacts facts = loop_facts(f);
    if (!facts.updated.empty()) {
      const int room = target_.registers / 4 / static_cast<int>(facts.updated.size());
      least = facts.function ? 2 : std::clamp(facts.ops > 24 ? std::min(room, 2) : room, 1, 8);
    }
    for (const Stmt& s : f.body)
      if (auto inner = std::get_if<For>(&s.is))
        if (const int n = most_copies_of_sums(*inner); n > 0) least = least == 0 ? n : std::min(least, n);
    return least;
  }

  // ---- the loops around a vector loop ----
  // Loops from f inwards as long as there is nothing else in them, down to a vector loop, beside which statements may
  // stand, as a sum and what becomes of it; empty when there is none.
  static std::vector<For*> around_sums(For& f) {
    std::vector<For*> loops = {&f};
    while (true) {
      For* inner = only_loop(*loops.back());
      if (!inner || (inner->kind != For::Kind::vector && loops.back()->body.size() != 1)) return {};
      loops.push_back(inner);
      if (inner->kind == For::Kind::vector) return loops;
    }
  }
  // The same where there is nothing beside the vector loop either.
  static std::vector<For*> around_vector(For& f) {
    auto loops = around_sums(f);
    return !loops.empty() && loops[loops.size() - 2]->body.size() == 1 ? loops : std::vector<For*>{};
  }
  // A vector loop that is the innermost of a sum's loops becomes the outermost: its lanes are
  // added up once.
  void lift_vector_sums(For& f) {
    auto loops = around_vector(f);
    bool sums = loops.size() > 1;
    for (const For* l : loops) sums = sums && !loop_facts(*l).updated.empty() && independent(program_, *l);
    if (sums) return move_loop(loops, loops.size() - 1, 0);
    for (Stmt& s : f.body)
      if (auto inner = std::get_if<For>(&s.is)) lift_vector_sums(*inner);
  }
  // Of several loops around a vector loop, and nothing between them, the one whose steps share
  // most loads comes next to it: the output features of a convolution, not its positions; and of a matrix times a few
  // columns the columns, so that the matrix is read once.
  void bring_sharing_inside(For& f) {
    std::vector<For*> loops = around_sums(f);
    if (loops.size() < 3) return;
    constexpr double worthwhile = 0.8, bytes_of_operation = 4;
    const size_t inside = loops.size() - 2;
    const auto cost = [&](size_t k) {
      const RegisterBlock block = register_block(program_, target_, *loops[k], *loops.back());
      if (block.m == 0) return std::numeric_limits<double>::infinity();
      std::vector<const For*> order(loops.begin(), loops.end());
      std::rotate(order.begin() + static_cast<ptrdiff_t>(k), order.begin() + static_cast<ptrdiff_t>(k) + 1,
                  order.begin() + static_cast<ptrdiff_t>(inside) + 1);
      double others = 1;
      for (size_t l = 0; l < inside; ++l) others *= static_cast<double>(extent(*order[l]));
      return block.cost * others + bytes_from_memory(program_, order, block.n, target_.cache) / bytes_of_operation;
    };
    size_t best = inside;
    double least = worthwhile * cost(inside);
    for (size_t k = 0; k < inside; ++k)
      if (const double c = cost(k); c < least) best = k, least = c;
    move_loop(loops, best, inside);
  }

  // ---- the finished form ----
  // Marks the loops that update outer locals, and makes sums of products fused.
  void mark(Block& b) {
    for (Stmt& s : b) {
      each_block(s, [this](Block& inner) { mark(inner); });
      if (auto f = std::get_if<For>(&s.is)) f->reduction = !loop_facts(*f).updated.empty();
      auto u = std::get_if<loops::Update>(&s.is);
      if (u && !u->running && u->op == Op::add && u->value->op == Op::mul && is_float(u->value->dtype))
        *u = {
            u->local, Op::local,
            program_.exprs.fma(u->value->args[0], u->value->args[1], program_.exprs.local(u->local, u->value->dtype))};
    }
  }
  // Every loop gets a variable of its own.
  void number_variables(Block& b) {
    std::unordered_set<Variable> used;
    VariableMap map;
    number_variables(b, used, map);
  }
  void number_variables(Block& b, std::unordered_set<Variable>& used, VariableMap& map) {
    for (Stmt& s : b) {
      auto f = std::get_if<For>(&s.is);
      if (f == nullptr) {
        if (!map.empty()) {
          auto rewriter = variable_rewriter(program_.exprs, map);
          each_expression(s, [&](Expr& e) { e = rewriter(e); });
          if (auto store = std::get_if<loops::Store>(&s.is)) store->place = substitute(map, store->place);
          if (auto c = std::get_if<loops::Contraction>(&s.is)) {
            c->place = substitute(map, c->place);
            substitute_in_wanted(map, s);
          }
        }
        each_block(s, [&](Block& inner) { number_variables(inner, used, map); });
        continue;
      }
      Variable old = f->variable;
      bool fresh = used.insert(old).second;
      if (!fresh) {
        loops::VariableInfo info = program_.variables[static_cast<size_t>(old)];
        program_.variables.push_back(std::move(info));
        f->variable = static_cast<Variable>(program_.variables.size()) - 1;
        map[old] = loops::variable(f->variable);
      }
      number_variables(f->body, used, map);
      if (!fresh) map.erase(old);
    }
  }

  Program& program_;
  const Target& target_;
};

}  // namespace

loops::For* only_loop(loops::For& f) {
  loops::For* only = nullptr;
  for (Stmt& s : f.body)
    if (auto inner = std::get_if<loops::For>(&s.is)) {
      if (only) return nullptr;
      only = inner;
    }
  return only;
}

static void exchange_loops(For& a, For& b) {  // all but the bodies
  std::swap(a.variable, b.variable);
  std::swap(a.begin, b.begin);
  std::swap(a.end, b.end);
  std::swap(a.kind, b.kind);
  std::swap(a.width, b.width);
  std::swap(a.copies, b.copies);
}
void move_loop(const std::vector<For*>& loops, size_t k, size_t to) {
  for (; k < to; ++k) exchange_loops(*loops[k], *loops[k + 1]);
  for (; k > to; --k) exchange_loops(*loops[k], *loops[k - 1]);
}

void narrow(For& f) {
  while (f.copies > 1 && steps_at_once(f) > extent(f)) --f.copies;
  while (f.width > 1 && f.width > extent(f)) f.width /= 2;
  if (steps_at_once(f) == 1) f.kind = For::Kind::serial;
}

int fitting_copies(int64_t n, int width, int most) {
  const double needed = ceil_div(n, width);
  for (int c = most; c > 1; --c)
    if (int64_t(width) * c <= n && ceil_div(n, int64_t(width) * c) * c <= 1.15 * needed) return c;
  return 1;
}

void schedule(Program& p, const Target& target) { Scheduler(p, target).run(); }

}  // namespace anvil::compiler
