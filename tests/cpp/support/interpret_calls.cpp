// Functions of the runtime in interpreted programs: they run, and each element of a result is a
// term of all elements of all operands. Tapes keep the terms of what was written to them.
#include <string_view>

#include "runtime/functions.h"
#include "support/interpret_loops.h"

namespace anvil::test {
namespace {

// How many of the buffers of a call are results; those come first. -1: unknown.
int results_of(const std::string& function, const std::vector<int64_t>& numbers) {
  static const std::unordered_map<std::string, int> table = {{"cholesky_f32", 1},
                                                             {"cholesky_f64", 1},
                                                             {"cholesky_reverse_f32", 1},
                                                             {"cholesky_reverse_f64", 1},
                                                             {"sort", -2},
                                                             {"top_k", 2},
                                                             {"triangular_solve_f32", 1},
                                                             {"triangular_solve_f64", 1},
                                                             {"lu_f32", 3},
                                                             {"lu_f64", 3},
                                                             {"geqrf_f32", 2},
                                                             {"geqrf_f64", 2},
                                                             {"householder_product_f32", 1},
                                                             {"householder_product_f64", 1},
                                                             {"qr_f32", 2},
                                                             {"qr_f64", 2},
                                                             {"eigh_f32", 2},
                                                             {"eigh_f64", 2},
                                                             {"svd_f32", 3},
                                                             {"svd_f64", 3},
                                                             {"eigh_values_f32", 1},
                                                             {"eigh_values_f64", 1},
                                                             {"svd_values_f32", 1},
                                                             {"svd_values_f64", 1},
                                                             {"tape_new", 1},
                                                             {"tape_push", 0},
                                                             {"tape_read", -3},
                                                             {"tape_length", 1},
                                                             {"tape_free", 0}};
  auto it = table.find(function);
  if (it == table.end()) return -1;
  return it->second == -2   ? static_cast<int>(numbers.at(0))
         : it->second == -3 ? static_cast<int>(numbers.at(1))
                            : it->second;
}

}  // namespace

void LoopInterpreter::statement(const loops::Call& s) {
  require_one_step("a call");
  std::vector<void*> buffers;
  std::vector<int64_t> numbers;
  std::vector<Term> operands;
  for (Expr e : s.numbers) {
    const Traced x = evaluate(e, 0);
    numbers.push_back(x.number.as<int64_t>());
    operands.push_back(make_.constant(Scalar(numbers.back()), DType::i64));
  }
  const int results = results_of(s.function, numbers);
  if (results < 0) fail("what " + s.function + " reads and writes is not known: see interpret_calls.cpp");
  for (size_t b = 0; b < s.buffers.size(); ++b) {
    const Place p = place(s.buffers[b]);
    buffers.push_back(p.memory->address(p.offset));
    if (static_cast<int>(b) < results) continue;
    const std::vector<Term> terms = whole(s.buffers[b]);
    operands.push_back(make_.list(terms));
  }
  bool found = false;
  for (const runtime::NamedFunction& f : runtime::functions()) {
    if (std::string_view(f.name) != s.function) continue;
    found = true;
    if (f.function(run_, buffers.data(), numbers.data()) != 0) fail(s.function + " failed");
  }
  if (!found) fail("the runtime has no " + s.function);
  if (tape(s, numbers)) return;
  const Term all = make_.list(operands);
  for (int r = 0; r < results; ++r) {
    const loops::BufferId b = s.buffers[static_cast<size_t>(r)];
    const Place p = place(b);
    const DType t = program_.buffers[static_cast<size_t>(b)].dtype;
    for (int64_t k = 0, n = elements(program_.buffers[static_cast<size_t>(b)].shape); k < n; ++k)
      p.memory->set_term(p.offset + k * static_cast<int64_t>(size_of(t)), t, make_.call(s.function, r, k, all));
  }
}

// The terms of a call of a tape's function, after it has run.
bool LoopInterpreter::tape(const loops::Call& s, const std::vector<int64_t>& numbers) {
  const auto handle = [&](size_t b) { return element(s.buffers[b], 0).number.as<int64_t>(); };
  const auto set = [&](loops::BufferId b, const std::vector<Term>& terms) {
    const Place p = place(b);
    const DType t = program_.buffers[static_cast<size_t>(b)].dtype;
    for (size_t k = 0; k < terms.size(); ++k)
      p.memory->set_term(p.offset + static_cast<int64_t>(k * size_of(t)), t, terms[k]);
  };
  if (s.function == "tape_new") {
    const Term number = make_.constant(Scalar(static_cast<int64_t>(tapes_.size()) + 1), DType::ui64);
    set(s.buffers[0], {number});
    tapes_[handle(0)];
  } else if (s.function == "tape_push") {
    std::vector<Term> record;
    for (size_t b = 1; b < s.buffers.size(); ++b)
      for (const Term& t : whole(s.buffers[b])) record.push_back(t);
    tapes_.at(handle(0)).push_back(std::move(record));
  } else if (s.function == "tape_read") {
    const std::vector<Term>& record = tapes_.at(handle(s.buffers.size() - 1)).at(static_cast<size_t>(numbers[0]));
    size_t next = 0;
    for (size_t b = 0; b + 1 < s.buffers.size(); ++b) {
      const auto n = static_cast<size_t>(elements(program_.buffers[static_cast<size_t>(s.buffers[b])].shape));
      set(s.buffers[b],
          {record.begin() + static_cast<std::ptrdiff_t>(next), record.begin() + static_cast<std::ptrdiff_t>(next + n)});
      next += n;
    }
  } else if (s.function == "tape_length") {
    set(s.buffers[0], {make_.constant(Scalar(static_cast<int64_t>(tapes_.at(handle(1)).size())), DType::i64)});
  } else if (s.function == "tape_free") {
    tapes_.erase(handle(0));
  } else {
    return false;
  }
  return true;
}

}  // namespace anvil::test
