// Copies of loops and of their steps, with variables, locals and some buffers of their own: no two statements of a
// program make the same one.
#pragma once
#include <unordered_map>
#include <utility>
#include <vector>

#include "compiler/traverse.h"

namespace anvil::compiler {

class LoopCopy {
 public:
  explicit LoopCopy(Program& p, const std::vector<BufferId>& own = {}) : program_(p) {
    for (BufferId b : own) buffers_[b] = another(program_.buffers, b);
    for (size_t b = 0, n = program_.buffers.size(); b < n; ++b)
      if (auto it = buffers_.find(program_.buffers[b].alias); it != buffers_.end()) {
        const BufferId view = another(program_.buffers, static_cast<BufferId>(b));
        program_.buffers[static_cast<size_t>(view)].alias = it->second;
        buffers_[static_cast<BufferId>(b)] = view;
      }
  }
  loops::For operator()(loops::For f) {
    renew(f);
    return f;
  }
  Stmt operator()(Stmt s) {
    Block one;
    one.push_back(std::move(s));
    renew(one);
    return std::move(one[0]);
  }
  BufferId of(BufferId b) const { return known(buffers_, b); }
  // One step of a loop.
  Block operator()(const loops::For& f, const Affine& at) {
    variables_[f.variable] = at;
    Block body = f.body;
    renew(body);
    return body;
  }

 private:
  using Ids = std::unordered_map<int, int>;
  template <class List>
  static int another(List& list, int id) {
    auto copy = list[static_cast<size_t>(id)];
    list.push_back(std::move(copy));
    return static_cast<int>(list.size()) - 1;
  }
  static int known(const Ids& ids, int id) {
    auto it = ids.find(id);
    return it == ids.end() ? id : it->second;
  }
  void renew(Variable& v) {
    const Variable old = std::exchange(v, another(program_.variables, v));
    variables_[old] = loops::variable(v);
  }
  void renew(loops::For& f) {
    renew(f.variable);
    renew(f.body);
  }
  // In the order of the program: loops and branches beside each other may have variables and locals in common.
  void renew(Block& block) {
    const auto made = [this](LocalId& l) { l = locals_[l] = another(program_.locals, l); };
    for (Stmt& s : block) {
      if (auto inner = std::get_if<loops::For>(&s.is)) {
        renew(*inner);
        continue;
      }
      auto contraction = std::get_if<loops::Contraction>(&s.is);
      if (contraction)
        for (auto& axis : contraction->axes) renew(axis.variable);
      Rewriter rewriter(program_.exprs, [this](Expr e) { return replaced(e); });
      each_expression(s, [&](Expr& e) { e = rewriter(e); });
      each_block(s, [&](Block& inner) { renew(inner); });
      if (auto bind = std::get_if<loops::Bind>(&s.is)) renew(bind->parameter);
      if (auto let = std::get_if<loops::Let>(&s.is)) made(let->local);
      if (auto declare = std::get_if<loops::Declare>(&s.is)) made(declare->local);
      if (auto update = std::get_if<loops::Update>(&s.is)) update->local = known(locals_, update->local);
      const auto store = [this](auto& to) {
        to.buffer = known(buffers_, to.buffer);
        to.place = substitute(variables_, to.place);
      };
      if (contraction) store(*contraction), substitute_in_wanted(variables_, s);
      if (auto to = std::get_if<loops::Store>(&s.is)) store(*to);
    }
  }
  Expr replaced(Expr e) {
    loops::ExprPool& pool = program_.exprs;
    if (e->op == Op::load) return pool.load(known(buffers_, e->buffer), e->dtype, substitute(variables_, e->place));
    if (e->op == Op::index) return pool.index(substitute(variables_, e->place[0]));
    return pool.local(known(locals_, e->local), e->dtype);
  }

  Program& program_;
  Ids locals_, buffers_;
  VariableMap variables_;
};

}  // namespace anvil::compiler
