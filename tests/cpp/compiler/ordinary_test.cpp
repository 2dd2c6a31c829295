// Random programs as people write them: every pass keeps what their results are made of, on every
// target, and with each of the passes left out.
#include "compiler/graphs.h"
#include "support/campaign.h"
#include "support/ordinary_program.h"
#include "transform/simplify.h"

namespace anvil::test {
namespace {

// One in two with all passes, the others without one of them.
TEST(OrdinaryPrograms, PassesKeepWhatResultsAreMadeOf) {
  const Campaign campaign(600);
  for (unsigned seed = campaign.first; seed < campaign.first + campaign.count && !HasFailure(); ++seed) {
    OrdinaryProgram program(seed);
    if (seed % 3 != 0) transform::optimize(*program.graph);
    // one in four: for blocks of registers as small as they get
    const compiler::Target target = seed % 4 == 0 ? compiler::Target{16, 8} : targets[seed / 4 % std::size(targets)];
    Validation how{program.dtype == DType::f32 ? 1e-2 : 1e-6, target, {}};
    if (campaign.without)
      how.without = {*campaign.without};
    else if (seed % 2)
      how.without = {compiler::passes()[seed / 2 % compiler::passes().size()].name};
    const std::string wrong = validate_passes(*program.graph, program.inputs, how);
    if (!wrong.empty())
      ADD_FAILURE() << "ANVIL_SEED=" << seed << (how.without.empty() ? "" : " without " + *how.without.begin()) << "\n"
                    << wrong << "\n"
                    << graph::print(*program.graph);
  }
}

}  // namespace
}  // namespace anvil::test
