// Readings of the clock around each nest of a finished program, by functions of the runtime that know nests by
// their number in loops::each_nest. The last pass, of programs that are profiled and no others:
//
//   for i in 0..8 { t1[i] = ... }          call profile_begin(; 0)
//   while ... {                            for i in 0..8 { t1[i] = ... }
//     for i in 0..8 { t2[i] = ... }        call profile_end(; 0)
//   }                                      while ... {
//                                            call profile_begin(; 1)
//                                            ...
#include "compiler/compiler.h"
#include "loops/walk.h"

namespace anvil::compiler {
namespace {

class Clocks {
 public:
  explicit Clocks(loops::Program& p) : program_(p) {}
  int run() {
    block(program_.body);
    return nests_;
  }

 private:
  loops::Stmt reading(const char* function) const {
    return {loops::Call{function, {}, {program_.exprs.constant(nests_, DType::i64)}}};
  }
  void block(loops::Block& b) {
    loops::Block timed;
    for (loops::Stmt& s : b) {
      const bool nest = loops::is_nest(s);
      if (nest)
        timed.push_back(reading("profile_begin"));
      else
        loops::each_block(s, [this](loops::Block& inner) { block(inner); });
      timed.push_back(std::move(s));
      if (nest) timed.push_back(reading("profile_end")), ++nests_;
    }
    b = std::move(timed);
  }

  loops::Program& program_;
  int nests_ = 0;
};

}  // namespace

int time_nests(loops::Program& p) { return Clocks(p).run(); }

}  // namespace anvil::compiler
