#include "support/terms.h"

#include <algorithm>
#include <string_view>

namespace anvil::test {
namespace {

using loops::Op;

uint64_t mix(uint64_t a, uint64_t b) {
  __extension__ using Wide = unsigned __int128;
  const Wide product = static_cast<Wide>(a ^ 0xa0761d6478bd642fu) * (b ^ 0xe7037ed1a0b428dbu);
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}
uint64_t mix(uint64_t a, std::string_view text) {
  for (char c : text) a = mix(a, static_cast<uint64_t>(static_cast<unsigned char>(c)) + 1);
  return mix(a, text.size());
}
// Of a term as an operand: a sum is told from the terms whose codes it adds up.
uint64_t key(const Term& t) {
  return t.kind == Term::Kind::sum ? mix(mix(t.code, 77), static_cast<uint64_t>(t.op)) : t.code;
}
uint64_t part(const Term& t, Op op) { return mix(mix(key(t), static_cast<uint64_t>(op) + 1000), 4242); }
// What a sum that starts as t has added up.
uint64_t parts_of(const Term& t, Op op) { return t.kind == Term::Kind::sum && t.op == op ? t.code : part(t, op); }

}  // namespace

Term Terms::made(uint64_t code, const std::string& label, std::span<const Term> of) {
  Term t{code};
  if (log_) log_->add(t, label, of);
  return t;
}
Term Terms::input(const std::string& buffer, int kind, int position, int64_t element) {
  uint64_t code =
      mix(mix(mix(1, static_cast<uint64_t>(kind)), static_cast<uint64_t>(position)), static_cast<uint64_t>(element));
  return made(code, log_ ? buffer + "{" + std::to_string(element) + "}" : "", {});
}
Term Terms::constant(Scalar x, DType t) {
  x = x.rounded_to(t);
  Term c{mix(mix(2, static_cast<uint64_t>(t)), x.hash()), Term::Kind::constant};
  if (log_) log_->add(c, x.text(t), {});
  return c;
}
Term Terms::apply(const loops::Node& e, std::span<const Term> operands, Scalar result) {
  bool known = true;
  uint64_t code = mix(mix(3, static_cast<uint64_t>(e.op)), static_cast<uint64_t>(e.dtype));
  if (e.op == Op::function) code = mix(code, std::string_view(e.name));
  std::vector<uint64_t> keys;
  for (const Term& t : operands) {
    known = known && t.kind == Term::Kind::constant;
    keys.push_back(key(t));
  }
  if (e.op == Op::mul) std::sort(keys.begin(), keys.end());
  for (const uint64_t k : keys) code = mix(code, k);
  if (known) return constant(result, e.dtype);
  std::string label;
  if (log_) {
    label = e.op == Op::function ? e.name : loops::name(e.op);
    if (e.op == Op::convert || e.op == Op::bitcast) label += " to " + std::string(anvil::name(e.dtype));
  }
  return made(code, label, operands);
}
Term Terms::accumulate(Op op, const Term& sum, const Term& x) {
  if (x.kind == Term::Kind::sum && x.op == op) return join(op, sum, x);
  Term t{parts_of(sum, op) + part(x, op), Term::Kind::sum, op};
  Term of[] = {sum, x};
  if (log_) log_->add(t, loops::name(op), of);
  return t;
}
Term Terms::join(Op op, const Term& sum, const Term& other) {
  Term t{parts_of(sum, op) + parts_of(other, op), Term::Kind::sum, op};
  Term of[] = {sum, other};
  if (log_) log_->add(t, loops::name(op), of);
  return t;
}
Term Terms::call(const std::string& function, int result, int64_t element, const Term& operands) {
  uint64_t code =
      mix(mix(mix(mix(5, std::string_view(function)), static_cast<uint64_t>(result)), static_cast<uint64_t>(element)),
          key(operands));
  std::string label = log_ ? function + "." + std::to_string(result) + "{" + std::to_string(element) + "}" : "";
  return made(code, label, {&operands, 1});
}
Term Terms::list(std::span<const Term> operands) {
  uint64_t code = 6;
  for (const Term& t : operands) code = mix(code, key(t));
  return made(code, "list", operands);
}

// ---- messages -----------------------------------------------------------------------------

void TermLog::add(const Term& t, std::string label, std::span<const Term> of) {
  made_.try_emplace(key(t), Made{std::move(label), {of.begin(), of.end()}});
}

std::vector<Term> TermLog::parts(const Term& sum) const {
  std::vector<Term> list, open = {sum};
  while (!open.empty()) {
    Term t = open.back();
    open.pop_back();
    auto it = made_.find(key(t));
    if (t.kind != Term::Kind::sum || t.op != sum.op || it == made_.end() || it->second.of.empty()) {
      if (t.kind != Term::Kind::sum || t.code != 0) list.push_back(t);
      continue;
    }
    const Term &before = it->second.of[0], &added = it->second.of[1];
    open.push_back(before);
    if (t.code == parts_of(before, t.op) + part(added, t.op))
      list.push_back(added);
    else
      open.push_back(added);
  }
  return list;
}

std::string TermLog::text(const Term& t, int depth) const {
  auto it = made_.find(key(t));
  if (t == Term{} || it == made_.end()) return t.kind == Term::Kind::sum && t.code == 0 ? "nothing" : "?";
  const Made& m = it->second;
  std::vector<Term> of = t.kind == Term::Kind::sum ? parts(t) : m.of;
  if (of.empty()) return m.label;
  if (depth == 0) return m.label + "(..)";
  std::string s = (t.kind == Term::Kind::sum ? "all " : "") + m.label + "(";
  for (size_t i = 0; i < of.size() && i < 12; ++i) s += (i ? ", " : "") + text(of[i], depth - 1);
  return s + (of.size() > 12 ? ", .. " + std::to_string(of.size()) + ")" : ")");
}

std::string TermLog::difference(Term before, Term after) const {
  for (;;) {
    auto x = made_.find(key(before)), y = made_.find(key(after));
    if (x == made_.end() || y == made_.end() || before.kind != after.kind || before.op != after.op ||
        x->second.label != y->second.label)
      break;
    bool sum = before.kind == Term::Kind::sum;
    std::vector<Term> a = sum ? parts(before) : x->second.of, b = sum ? parts(after) : y->second.of;
    if (sum) {  // what only one of them has
      auto by_key = [](const Term& s, const Term& t) { return key(s) < key(t); };
      std::sort(a.begin(), a.end(), by_key), std::sort(b.begin(), b.end(), by_key);
      std::vector<Term> only_a, only_b;
      std::set_difference(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(only_a), by_key);
      std::set_difference(b.begin(), b.end(), a.begin(), a.end(), std::back_inserter(only_b), by_key);
      if (only_a.size() != 1 || only_b.size() != 1) {
        std::string s = "a sum of " + std::to_string(a.size()) + " and of " + std::to_string(b.size());
        for (size_t k = 0; k < only_a.size() && k < 4; ++k) s += "\n  only before: " + text(only_a[k]);
        for (size_t k = 0; k < only_b.size() && k < 4; ++k) s += "\n  only after: " + text(only_b[k]);
        return s;
      }
      before = only_a[0], after = only_b[0];
      continue;
    }
    size_t different = 0, last = 0;
    if (a.size() == b.size())
      for (size_t k = 0; k < a.size(); ++k)
        if (!(a[k] == b[k])) ++different, last = k;
    if (different == 0) break;
    before = a[last], after = b[last];
  }
  return "before: " + text(before) + "\n  after: " + text(after);
}

}  // namespace anvil::test
