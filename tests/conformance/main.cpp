// Runs conformance material through the importer, the Eigen evaluator and the compiler:
//   anvil_conformance stablehlo FOLDER | jax FOLDER | modes FOLDER | transformed FOLDER | gradients FOLDER TABLE
//     | tangents PROGRAMS FOLDER
//     [--known CSV] [--rejections CSV] [--filter TEXT] [--mode eigen|compiled|written] [--groups] [--direct]
//     [--seconds N]
// Ends with 0 when what fails is exactly what the list of known failures names. The last line: N passed, M failed.
#include <cstdio>
#include <cstdlib>

#include "conformance.h"
#include "support/run_compiled.h"

using namespace anvil;

static int run(int argc, char** argv) {
  std::vector<std::string> arguments(argv + 1, argv + argc), plain;
  conformance::Options options;
  std::string known;
  bool grouped = false, process = true;
  int seconds = 60;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string& a = arguments[i];
    auto next = [&] { return ++i < arguments.size() ? arguments[i] : std::string(); };
    if (a == "--known")
      known = next();
    else if (a == "--rejections")
      options.rejections = next();
    else if (a == "--filter")
      options.filter = next();
    else if (a == "--mode")
      options.modes = {next()};
    else if (a == "--seconds")
      seconds = std::atoi(next().c_str());
    else if (a == "--groups")
      grouped = true;
    else if (a == "--direct")
      process = false;
    else
      plain.push_back(a);
  }
  const bool two = !plain.empty() && (plain[0] == "gradients" || plain[0] == "tangents");
  if (plain.size() < 2 || two != (plain.size() == 3)) {
    std::fprintf(stderr,
                 "usage: anvil_conformance stablehlo FOLDER | jax FOLDER | modes FOLDER | transformed FOLDER | "
                 "gradients FOLDER TABLE | tangents PROGRAMS FOLDER [options]\n");
    return 2;
  }
  test::load_llvm();
  llvm_backend::available();  // loaded once, ahead of the processes
  std::vector<conformance::Case> cases;
  if (plain[0] == "stablehlo") cases = conformance::stablehlo_cases(plain[1], options);
  if (plain[0] == "jax") cases = conformance::jax_programs(plain[1], options);
  if (plain[0] == "modes") cases = conformance::jax_modes(plain[1], options);
  if (plain[0] == "transformed") cases = conformance::jax_transformed(plain[1], options);
  if (plain[0] == "gradients") cases = conformance::jax_gradients(plain[1], plain[2], options);
  if (plain[0] == "tangents") cases = conformance::jax_tangents(plain[1], plain[2], options);
  std::vector<conformance::Test> tests;
  for (const auto& c : cases) tests.push_back(c.test);
  std::vector<conformance::Failure> outcomes;
  if (process) outcomes = conformance::isolated(tests, seconds);
  conformance::Report report;
  for (size_t i = 0; i < cases.size(); ++i) {
    cases[i].result.failure = process ? outcomes[i] : conformance::direct(tests[i]);
    report.add(cases[i].result);
  }
  return report.print(known, grouped) ? 0 : 1;
}

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& e) {  // a corpus that is not there, for example
    std::printf("%s\n0 passed, 1 failed\n", e.what());
    return 1;
  }
}
