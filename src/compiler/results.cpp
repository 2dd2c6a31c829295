// A temporary whose last reader writes a result in its place is that result from the start: less memory is touched, and
// that of results is new in every run.
//
//   t1[i] = exp(x1[i])                     out1[i] = exp(x1[i])
//   a1 += t1[i]                            a1 += out1[i]
//   out1[i] = t1[i] / a1                   out1[i] = out1[i] / a1
//
// Where that is all that its last reader did, there is nothing left to do.
#include <set>

#include "compiler/passes.h"
#include "compiler/traverse.h"

namespace anvil::compiler {
namespace {

class ResultPlaces {
 public:
  explicit ResultPlaces(Program& p) : program_(p), uses_(p.buffers.size()) {
    for (const loops::Buffer& b : p.buffers)
      if (b.alias >= 0) use(b.alias).fixed = uses_[static_cast<size_t>(&b - p.buffers.data())].fixed = true;
  }

  void run() {
    for (size_t k = 0; k < program_.body.size(); ++k) collect(program_.body[k], static_cast<int>(k));
    for (size_t k = 0; k < program_.body.size(); ++k)
      if (auto f = std::get_if<loops::For>(&program_.body[k].is)) nest(*f, static_cast<int>(k), {});
    if (moved_) remove_copies(program_.body);
  }

 private:
  struct Use {
    bool fixed = false;
    int all = 0;                 // accesses
    int last = -1, in_last = 0;  // the last statement of the program that accesses it, and how often
  };

  Use& use(BufferId b) { return uses_[static_cast<size_t>(b)]; }
  loops::Buffer& buffer(BufferId b) { return program_.buffers[static_cast<size_t>(b)]; }

  void collect(const Stmt& s, int k) {
    if (auto swap = std::get_if<loops::Swap>(&s.is)) use(swap->first).fixed = use(swap->second).fixed = true;
    each_access(s, [&](BufferId b, const Index*, AccessKind) {
      Use& u = use(b);
      u.in_last = u.last == k ? u.in_last + 1 : 1;
      u.last = k;
      ++u.all;
    });
    each_block(s, [&](const Block& inner) {
      for (const Stmt& each : inner) collect(each, k);
    });
  }

  void nest(loops::For& f, int k, std::set<Variable> around) {
    around.insert(f.variable);
    for (size_t i = 0; i < f.body.size(); ++i)
      if (auto inner = std::get_if<loops::For>(&f.body[i].is))
        nest(*inner, k, around);
      else if (auto store = std::get_if<loops::Store>(&f.body[i].is);
               store && buffer(store->buffer).kind == loops::Buffer::Kind::output && use(store->buffer).all == 1 &&
               !use(store->buffer).fixed && visits_once(store->place, around))
        if (const BufferId t = read_there(f.body, i, store->place, k); t >= 0) become(t, *store);
  }
  // A temporary like the result of statement i which the program reads for the last time there or just before, at the
  // result's place; -1: there is none.
  BufferId read_there(const Block& block, size_t i, const Index& place, int k) {
    constexpr int64_t worthwhile = 65536;  // bytes: smaller ones stay in the cache, or in registers
    std::unordered_map<BufferId, int> reads;
    for (size_t j = 0; j <= i; ++j)
      each_access(block[j], [&](BufferId b, const Index* at, AccessKind kind) {
        if (kind == AccessKind::read && *at == place) ++reads[b];
      });
    const loops::Buffer& result = buffer(std::get<loops::Store>(block[i].is).buffer);
    BufferId found = -1;
    for (const auto& [b, count] : reads) {
      const loops::Buffer& t = buffer(b);
      if (t.kind == loops::Buffer::Kind::temporary && t.dtype == result.dtype && t.shape == result.shape &&
          !use(b).fixed && use(b).last == k && use(b).in_last == count &&
          elements(t.shape) * static_cast<int64_t>(size_of(t.dtype)) >= worthwhile)
        found = std::max(found, b);
    }
    return found;
  }
  void become(BufferId t, loops::Store& store) {
    std::swap(buffer(t), buffer(store.buffer));
    store.buffer = t;
    moved_ = true;
  }
  // Of elements to where they are.
  static void remove_copies(Block& block) {
    for (Stmt& s : block)
      if (auto f = std::get_if<loops::For>(&s.is)) remove_copies(f->body);
    std::erase_if(block, [](const Stmt& s) {
      if (auto f = std::get_if<loops::For>(&s.is)) return f->body.empty();
      auto store = std::get_if<loops::Store>(&s.is);
      return store && store->value->op == Op::load && store->value->buffer == store->buffer &&
             store->value->place == store->place;
    });
  }

  Program& program_;
  std::vector<Use> uses_;
  bool moved_ = false;
};

}  // namespace

void place_results(Program& p) { ResultPlaces(p).run(); }

}  // namespace anvil::compiler
