#include "compiler/validate_passes.h"

#include <cmath>
#include <cstdlib>
#include <iostream>
#include <utility>

#include "backend/eigen/evaluate.h"
#include "support/interpret_loops.h"

namespace anvil::test {
namespace {

using graph::Tensor;
using loops::Program;

struct Stage {
  std::string name;
  bool placed;  // temporaries have their places in the arena
  std::vector<Tensor> outputs = {};
  std::vector<std::vector<Term>> terms = {};
};

class Validator {
 public:
  Validator(const graph::Graph& g, const std::vector<Tensor>& inputs, const Validation& how)
      : graph_(g), inputs_(inputs), how_(how) {
    for (const auto& c : g.constants) constants_.push_back(c->constant);
    for (const compiler::Pass& pass : compiler::passes())
      if (!how.without.count(pass.name)) passes_.push_back(&pass);
  }

  std::string run(Program& p) {
    expected_ = eigen::evaluate(graph_, inputs_);
    p = compiler::lower(graph_);
    Stage before = {"lower", false};
    if (std::string wrong = run_stage(p, before); !wrong.empty()) return wrong;
    if (std::string wrong = numbers(before); !wrong.empty()) return wrong;
    std::string text = print(p);
    for (size_t k = 0; k < passes_.size(); ++k) {
      passes_[k]->run(p, how_.target);
      const std::string last = std::exchange(text, print(p));
      if (text == last && k + 1 < passes_.size()) {
        verify(p);
        continue;  // what has not changed has run; what the text does not show runs at the end
      }
      Stage after = {passes_[k]->name, before.placed || std::string(passes_[k]->name) == "buffers"};
      if (std::string wrong = run_stage(p, after); !wrong.empty()) return wrong;
      if (after.terms != before.terms) return after.name + ": " + difference(before, after, k) + "\n" + print(p);
      if (std::string wrong = numbers(after); !wrong.empty()) return wrong + "\n" + print(p);
      before = std::move(after);
    }
    return "";
  }

 private:
  std::string run_stage(const Program& p, Stage& s, TermLog* log = nullptr) const {
    if (!log && std::getenv("ANVIL_SHOW")) std::cout << "---- " << s.name << "\n" << print(p) << std::flush;
    try {
      verify(p);
      runtime::Run run;
      LoopInterpreter interpreter(p, inputs_, constants_, &run, s.placed, log);
      s.outputs = interpreter.run();
      s.terms = interpreter.terms();
    } catch (const std::exception& e) {
      return s.name + ": " + e.what() + "\n" + print(p);
    }
    return "";
  }

  std::string numbers(const Stage& s) const {
    for (size_t o = 0; o < expected_.size(); ++o) {
      if (!graph::same_type(s.outputs[o].type, expected_[o].type)) return s.name + ": another type";
      for (int64_t k = 0; k < elements(expected_[o].type.shape); ++k) {
        double a = element(s.outputs[o], k).as<double>(), b = element(expected_[o], k).as<double>();
        bool same = a == b || (a != a && b != b) ||
                    std::fabs(a - b) <= how_.tolerance * std::max({1.0, std::fabs(a), std::fabs(b)});
        if (!same)
          return s.name + ": output " + std::to_string(o + 1) + "[" + std::to_string(k) + "] is " + std::to_string(a) +
                 ", expected " + std::to_string(b);
      }
    }
    return "";
  }

  // Both stages once more, remembering what their terms are made of.
  std::string difference(Stage before, Stage after, size_t pass) const {
    TermLog log;
    Program p = compiler::lower(graph_);
    for (size_t k = 0; k < pass; ++k) passes_[k]->run(p, how_.target);
    run_stage(p, before, &log);
    passes_[pass]->run(p, how_.target);
    run_stage(p, after, &log);
    size_t count = 0;
    std::string first;
    for (size_t o = 0; o < before.terms.size(); ++o)
      for (size_t k = 0; k < before.terms[o].size(); ++k) {
        const Term &a = before.terms[o][k], &b = after.terms[o][k];
        if (a == b || ++count > 1) continue;
        first = "output " + std::to_string(o + 1) + "[" + std::to_string(k) + "] comes from something else\n  " +
                log.difference(a, b);
      }
    return first + "\n  and " + std::to_string(count - 1) + " more elements";
  }

  const graph::Graph& graph_;
  const std::vector<Tensor>& inputs_;
  const Validation& how_;
  std::vector<Tensor> constants_, expected_;
  std::vector<const compiler::Pass*> passes_;
};

}  // namespace

std::string validate_passes(const graph::Graph& g, const std::vector<Tensor>& inputs, const Validation& how,
                            Program* program) {
  Program own;
  try {
    return Validator(g, inputs, how).run(program ? *program : own);
  } catch (const std::exception& e) {
    return std::string("threw: ") + e.what();
  }
}

}  // namespace anvil::test
