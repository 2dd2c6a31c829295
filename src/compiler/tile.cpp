// Large products of matrices, so that they run from the caches (Goto, van de Geijn,
// "Anatomy of high-performance matrix multiplication", 2008):
//
//   for j in 0..n                          for k in 0..K/256                     (k)
//     for i in 0..m                          a[r, p, q] = A[32 q + r, 256 k + p]  panels of rows
//       a1 = 0                               for c in 0..n/256                   columns in the second cache
//       for p in 0..K                          for q in 0..m/32                  a panel in the first cache
//         a1 += A[i, p] * B[p, j]                for j in 0..256
//       C[i, j] = a1                               for r in 0..32
//                                                    a1 = C[32 q + r, 256 c + j]
//                                                    for p in 0..256
//                                                      a1 += a[r, p, q] * B[256 k + p, 256 c + j]
//                                                    C[...] = a1
// Blocks of the depth and of the columns are equal where the sizes allow it; what is left
// of them, or of the rows, has a nest of its own.
#include <algorithm>

#include "compiler/passes.h"
#include "compiler/traverse.h"

namespace anvil::compiler {
namespace {

using loops::For;

constexpr int64_t block_depth = 256, block_columns = 256;
constexpr int64_t least_bytes = 192 << 10;  // of the left operand: below, it stays in the caches by itself

struct Range {
  int64_t begin, size, count;  // count blocks of this size
};
// Equal blocks of at most `most`, or full ones and a rest.
std::vector<Range> blocks(int64_t n, int64_t most) {
  int64_t count = (n + most - 1) / most;
  if (n % count == 0) return {{0, n / count, count}};
  return {{0, most, n / most}, {n / most * most, n % most, 1}};
}

class Tiler {
 public:
  Tiler(Program& p, const Target& target) : program_(p), target_(target) {}

  void block(Block& b) {
    Block result;
    for (Stmt& s : b) {
      if (!std::holds_alternative<For>(s.is)) each_block(s, [this](Block& inner) { block(inner); });
      Product m;
      if (match(s, m))
        tile(m, result);
      else
        result.push_back(std::move(s));
    }
    b = std::move(result);
  }

 private:
  struct Product {
    const For *rows, *columns, *depth;
    const loops::Declare* declare;
    const loops::Store* store;
    Expr left, right;  // loads: [rows, depth] and [depth, columns]
  };

  bool depends(Expr load, const For* f) const { return step(load, f) != 0; }
  int64_t step(Expr load, const For* f) const {
    return loops::factor(linear(program_, load->buffer, load->place), f->variable);
  }

  bool match(const Stmt& s, Product& m) const {
    m.columns = std::get_if<For>(&s.is);
    if (!m.columns || m.columns->body.size() != 1) return false;
    m.rows = std::get_if<For>(&m.columns->body[0].is);
    if (!m.rows || m.rows->body.size() != 3) return false;
    m.declare = std::get_if<loops::Declare>(&m.rows->body[0].is);
    m.depth = std::get_if<For>(&m.rows->body[1].is);
    m.store = std::get_if<loops::Store>(&m.rows->body[2].is);
    if (!m.declare || !m.depth || !m.store || m.depth->body.size() != 1 || m.store->value->op != Op::local)
      return false;
    auto update = std::get_if<loops::Update>(&m.depth->body[0].is);
    if (!update || update->op != Op::add || update->value->op != Op::mul || !is_float(update->value->dtype))
      return false;
    m.left = update->value->args[0], m.right = update->value->args[1];
    if (m.left->op != Op::load || m.right->op != Op::load) return false;
    for (Expr operand : {m.left, m.right})  // is read again after a part of the result is stored
      if (root(program_, operand->buffer) == root(program_, m.store->buffer)) return false;
    if (depends(m.left, m.columns)) std::swap(m.left, m.right);
    if (depends(m.left, m.columns) || depends(m.right, m.rows) || !depends(m.left, m.depth) ||
        !depends(m.right, m.depth))
      return false;
    for (const For* f : {m.rows, m.columns, m.depth})
      if (f->begin != 0) return false;
    auto size = static_cast<int64_t>(size_of(m.left->dtype));
    return m.rows->end >= 2 * panel(m) && m.columns->end >= 16 && m.depth->end >= 64 &&
           m.rows->end * m.depth->end * size > least_bytes;
  }
  int64_t panel(const Product& m) const {
    return 2 * target_.vector_bytes / static_cast<int64_t>(size_of(m.left->dtype));
  }

  // ---- making statements ----
  Variable variable(const char* id) {
    program_.variables.push_back({id, false, 0, 0});
    return static_cast<Variable>(program_.variables.size()) - 1;
  }
  static Block loop(Variable v, int64_t end, Block body) {
    if (end == 1) {
      return body;  // the variable is 0 and was left out by `at`
    }
    For f;
    f.variable = v;
    f.end = end;
    f.body = std::move(body);
    Block b;
    b.push_back({std::move(f)});
    return b;
  }
  static Affine at(Variable v, int64_t end) { return end == 1 ? Affine{} : loops::variable(v); }
  Expr moved(Expr load, const VariableMap& map) {
    return program_.exprs.load(load->buffer, load->dtype, substitute(map, load->place));
  }
  BufferId temporary(DType t, Shape shape, BufferId of) {
    loops::Buffer b;
    b.dtype = t;
    b.shape = std::move(shape);
    b.name = program_.buffers[static_cast<size_t>(of)].name + "p" + std::to_string(program_.buffers.size());
    program_.buffers.push_back(std::move(b));
    return static_cast<BufferId>(program_.buffers.size()) - 1;
  }

  // One block of the sums: rows and columns as loops give them, over `depth` steps.
  Block kernel(const Product& m, const VariableMap& map, Variable rows, int64_t row_count, Variable columns,
               int64_t column_count, Variable depth, int64_t depth_count, Expr left, Expr right, bool first) {
    DType t = m.left->dtype;
    auto sum = static_cast<LocalId>(program_.locals.size());
    program_.locals.push_back({"a" + std::to_string(sum + 1), t});
    Index place = substitute(map, m.store->place);
    Block body;
    body.push_back({loops::Declare{sum, first ? m.declare->value : program_.exprs.load(m.store->buffer, t, place)}});
    Block step = {{loops::Update{sum, Op::add, program_.exprs.binary(Op::mul, left, right)}}};
    for (Stmt& s : loop(depth, depth_count, std::move(step))) body.push_back(std::move(s));
    body.push_back({loops::Store{m.store->buffer, place, program_.exprs.local(sum, t)}});
    return loop(columns, column_count, loop(rows, row_count, std::move(body)));
  }

  void tile(const Product& m, Block& out) {
    int64_t rows = m.rows->end, height = panel(m), panels = rows / height;
    std::vector<Range> depths = blocks(m.depth->end, block_depth);
    bool once = depths.size() == 1 && depths[0].count == 1;
    if (!once) {
      Block zero = {{loops::Store{m.store->buffer, m.store->place, m.declare->value}}};
      for (Stmt& s : loop(m.columns->variable, m.columns->end, loop(m.rows->variable, rows, std::move(zero))))
        out.push_back(std::move(s));
    }
    for (const Range& depth : depths) {
      Variable k = variable("k");
      Affine deep = loops::variable(m.depth->variable) + at(k, depth.count) * depth.size + depth.begin;
      VariableMap map = {{m.depth->variable, deep}};
      Block body;
      // panels of the left operand
      Variable q = variable("q"), r = variable("r");
      BufferId a = temporary(m.left->dtype, {height, depth.size, panels}, m.left->buffer);
      Index packed = {loops::variable(r), loops::variable(m.depth->variable), at(q, panels)};
      map[m.rows->variable] = loops::variable(r) + at(q, panels) * height;
      Block store = {{loops::Store{a, packed, moved(m.left, map)}}};
      for (Stmt& s : loop(q, panels, loop(m.depth->variable, depth.size, loop(r, height, std::move(store)))))
        body.push_back(std::move(s));
      // the right operand, where the depth is not what lies together
      BufferId b = -1;
      if (step(m.right, m.depth) != 1) {
        b = temporary(m.right->dtype, {depth.size, m.columns->end}, m.right->buffer);
        Index place = {loops::variable(m.depth->variable), loops::variable(m.columns->variable)};
        Block copy = {{loops::Store{b, place, moved(m.right, map)}}};
        for (Stmt& s : loop(m.depth->variable, depth.size, loop(m.columns->variable, m.columns->end, std::move(copy))))
          body.push_back(std::move(s));
      }
      for (const Range& columns : blocks(m.columns->end, block_columns)) {
        Variable c = variable("c");
        Affine column = loops::variable(m.columns->variable) + at(c, columns.count) * columns.size + columns.begin;
        map[m.columns->variable] = column;
        map[m.rows->variable] = loops::variable(r) + at(q, panels) * height;
        Expr right = b < 0 ? moved(m.right, map)
                           : program_.exprs.load(b, m.right->dtype, {loops::variable(m.depth->variable), column});
        Expr left = program_.exprs.load(a, m.left->dtype, packed);
        Block inner = loop(q, panels,
                           kernel(m, map, r, height, m.columns->variable, columns.size, m.depth->variable, depth.size,
                                  left, right, once));
        if (int64_t rest = rows - panels * height; rest > 0) {
          map[m.rows->variable] = at(r, rest) + panels * height;
          Block last = kernel(m, map, r, rest, m.columns->variable, columns.size, m.depth->variable, depth.size,
                              moved(m.left, map), right, once);
          for (Stmt& s : last) inner.push_back(std::move(s));
        }
        for (Stmt& s : loop(c, columns.count, std::move(inner))) body.push_back(std::move(s));
      }
      for (Stmt& s : loop(k, depth.count, std::move(body))) out.push_back(std::move(s));
    }
  }

  Program& program_;
  const Target& target_;
};

}  // namespace

void tile_products(Program& p, const Target& target) { Tiler(p, target).block(p.body); }

}  // namespace anvil::compiler
