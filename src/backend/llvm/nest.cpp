#include "backend/llvm/nest.h"

#include <bit>
#include <map>
#include <unordered_map>

namespace anvil::llvm_backend {
namespace {

// Writes a nest as numbers; whatever has a name gets a number when it is first met.
class Description {
 public:
  Description(const Program& p, const Analysis& a) : program_(p), analysis_(a) {}

  std::optional<Nest> run(const loops::For& f) {
    write(f);
    for (size_t x = 0; x < nest_.buffers.size(); ++x)
      for (size_t y = 0; y < x; ++y)
        if (analysis_.overlap(nest_.buffers[x], nest_.buffers[y])) put({int64_t(x), int64_t(y)});
    if (!complete_) return std::nullopt;
    return std::move(nest_);
  }

 private:
  using Numbers = std::unordered_map<int, int64_t>;

  void put(std::initializer_list<int64_t> numbers) {
    nest_.signature.insert(nest_.signature.end(), numbers.begin(), numbers.end());
  }
  int64_t made(Numbers& known, int id) { return known.try_emplace(id, int64_t(known.size())).first->second; }
  int64_t used(Variable v) {
    const auto found = variables_.find(v);
    if (found == variables_.end()) complete_ = false;
    return found == variables_.end() ? -1 : found->second;
  }
  void write_used(LocalId l) {
    const auto [it, outside] = locals_.try_emplace(l, int64_t(locals_.size()));
    put({it->second});
    if (!outside) return;
    put({int64_t(program_.locals[size_t(l)].dtype)});
    nest_.locals.push_back(l);
  }
  int64_t buffer(BufferId b) {
    const auto known = buffers_.find(b);
    if (known != buffers_.end()) return known->second;
    const BufferId r = analysis_.root(b);
    const loops::Buffer &x = program_.buffers[size_t(b)], &memory = program_.buffers[size_t(r)];
    if (buffers_.try_emplace(r, int64_t(buffers_.size())).second && !memory.own) nest_.buffers.push_back(r);
    const int64_t number = buffers_.try_emplace(b, int64_t(buffers_.size())).first->second;
    put({buffers_[r], memory.own ? memory.offset : -1, int64_t(x.dtype), int64_t(x.shape.size())});
    nest_.signature.insert(nest_.signature.end(), x.shape.begin(), x.shape.end());
    return number;
  }

  void write(const Affine& a) {
    put({a.constant, int64_t(a.terms.size())});
    for (const loops::Term& t : a.terms) put({used(t.variable), t.factor});
  }
  void write(BufferId b, const loops::Index& place) {
    put({buffer(b)});
    for (const Affine& a : place) write(a);
  }
  // An expression that was written before is its number.
  void write(Expr e) {
    const auto [it, fresh] = nodes_.try_emplace(e, int64_t(nodes_.size()));
    put({it->second});
    if (!fresh) return;
    put({int64_t(e->op), int64_t(e->dtype), e->argument_count()});
    switch (e->op) {
      case loops::Op::constant: put({std::bit_cast<int64_t>(e)}); break;  // one node each
      case loops::Op::load: write(e->buffer, e->place); break;
      case loops::Op::index: write(e->place[0]); break;
      case loops::Op::local: write_used(e->local); break;
      case loops::Op::function: put({std::bit_cast<int64_t>(e->name)}); break;
      default: break;
    }
    for (int i = 0; i < e->argument_count(); ++i) write(e->args[size_t(i)]);
  }

  void write(const loops::Block& block) {
    put({int64_t(block.size())});
    for (const loops::Stmt& s : block) {
      put({int64_t(s.is.index())});
      std::visit([this](const auto& x) { write(x); }, s.is);
    }
  }
  void write(const loops::For& f) {
    const Plan& plan = analysis_.plan(&f);
    put({made(variables_, f.variable), f.begin, f.end, int64_t(f.kind), f.reduction});
    put({plan.width, plan.copies, plan.blocked, plan.in_place});
    write(f.body);
  }
  void write(const loops::Store& s) { put({s.around_caches}), write(s.value), write(s.buffer, s.place); }
  void write(const loops::Let& s) { write(s.value), put({made(locals_, s.local)}); }
  void write(const loops::Declare& s) { write(s.value), put({made(locals_, s.local)}); }
  void write(const loops::Update& s) { write(s.value), write_used(s.local), put({int64_t(s.op), s.running}); }
  void write(const loops::Bind& s) {
    const loops::VariableInfo& v = program_.variables[size_t(s.parameter)];
    write(s.value);
    put({made(variables_, s.parameter), v.low, v.high});
  }
  void write(const loops::If& s) { write(s.condition), write(s.yes), write(s.no); }
  void write(const loops::While&) { complete_ = false; }
  void write(const loops::Call&) { complete_ = false; }
  void write(const loops::Swap&) { complete_ = false; }
  void write(const loops::Prefetch& s) { write(s.buffer, s.place), put({s.bytes}); }
  void write(const loops::Contraction&) { complete_ = false; }

  const Program& program_;
  const Analysis& analysis_;
  Nest nest_;
  Numbers variables_, locals_, buffers_;
  std::unordered_map<Expr, int64_t> nodes_;
  bool complete_ = true;
};

}  // namespace

std::optional<Nest> describe(const Program& p, const Analysis& a, const loops::For& f) {
  return Description(p, a).run(f);
}

std::vector<std::vector<NestOf>> equal_nests(const Program& p, const Analysis& a,
                                             const std::vector<const loops::For*>& nests) {
  std::vector<std::vector<NestOf>> lists;
  std::map<std::vector<int64_t>, size_t> list_of;
  for (const loops::For* f : nests)
    if (auto nest = describe(p, a, *f)) {
      const size_t k = list_of.try_emplace(std::move(nest->signature), lists.size()).first->second;
      if (k == lists.size()) lists.emplace_back();
      lists[k].push_back({f, std::move(nest->buffers), std::move(nest->locals)});
    }
  return lists;
}

}  // namespace anvil::llvm_backend
