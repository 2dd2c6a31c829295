# ./run test: the core with every LLVM, under sanitizers, under the fuzzers, then R CMD check.
# Sourced by ./run.

passed=0
failed=0
problem() {
  failed=$((failed + 1))
  note "FAILED: $*"
}

test_core() {
  local version configs=""
  for version in 14 19; do
    if command -v "llvm-config-$version" >/dev/null &&
      [ -f "$("llvm-config-$version" --includedir)/llvm/ExecutionEngine/Orc/LLJIT.h" ]; then
      configs="$configs;llvm-config-$version"
    else
      note "LLVM $version is not installed: not tested with it"
    fi
  done
  configs=${configs#;}
  local build=$out/cmake generator=""
  if command -v ninja >/dev/null; then generator="-G Ninja"; fi
  say "Core: configuring with CMake for ${configs:-the newest LLVM}"
  quietly cmake-configure cmake $generator -S "$root" -B "$build" -DANVIL_LLVM_CONFIGS="$configs" -DANVIL_UNITY=ON ||
    { problem "CMake does not configure the core"; return 0; }
  say "Core: compiling library, code generators and tests"
  quietly cmake-build cmake --build "$build" -j "$(jobs)" ||
    { problem "the core does not compile"; return 0; }
  say "Core: its tests through ctest"
  run_ctest ctest "$build" ctest
}

# The same tests under the sanitizers, then half a minute for each fuzzer.
test_sanitized() {
  local seconds=30
  say "Sanitizers: compiling the core and its tests with clang"
  quietly sanitize-configure cmake --preset sanitize -S "$root" ||
    { problem "CMake does not configure the build with sanitizers"; return 0; }
  quietly sanitize-build cmake --build "$sanitize_build" -j "$(jobs)" --target anvil_fuzz_read_stablehlo \
    $(target_names "$sanitize_build" 'anvil_test_[a-z_0-9]*') ||
    { problem "the core does not compile with sanitizers"; return 0; }
  say "Sanitizers: the tests of the core"
  run_ctest sanitize-ctest "$sanitize_build" sanitized_tests -E "$not_sanitized"
  quietly races races || problem "the team of threads under the thread sanitizer"
  say "Fuzzing the reader of StableHLO, then compiled programs, for $seconds s each"
  quietly fuzz-text fuzz_text "$seconds" || problem "the reader of StableHLO under the fuzzer"
  quietly fuzz-programs sanitized fuzz_programs "$sanitize_build" "$seconds" || problem "random programs"
}

# run_ctest LOG BUILD COMMAND...: ctest, or something that calls it, on that build.
run_ctest() {
  local log=$1 build=$2 ok=yes last
  shift 2
  last=$build/Testing/Temporary/LastTest.log
  rm -f "$last"
  quietly "$log" "$@" --test-dir "$build" -j "$(jobs)" --output-on-failure --no-tests=error || ok=no
  if [ $ok = no ]; then
    note "what failed:"
    grep -hE '^\[  FAILED  \] [^0-9].* \([0-9]+ ms\)$|^  FAILED  |\*\*\*' "$logs/$log.log" | sed -n '1,40s/^/   | /p' || true
  fi
  count_ctest "$last" $ok
  times_of_ctest "$last" "${log%ctest}"
}

# Adds up what each test program reported: GoogleTest's lines, or `N passed, M failed`. One that
# died before it could counts as one failure.
count_ctest() {
  local counts good bad
  counts=$(awk '
    /^[0-9]+\/[0-9]+ Testing: / { reported = 0 }
    /^\[  PASSED  \] [0-9]+ test/ { good += $4 }
    /^\[  FAILED  \] [0-9]+ test.*listed below/ { bad += $4; reported = 1 }
    /^[0-9]+ passed, ([0-9]+ [a-z ]+, )?[0-9]+ failed$/ { good += $1; bad += $(NF - 1); if ($(NF - 1)) reported = 1 }
    /^Test (Failed|time out|Timeout)|^Test Exception/ { if (!reported) bad += 1 }
    END { print good + 0, bad + 0 }' "$1" 2>/dev/null || echo "0 0")
  read -r good bad <<<"$counts"
  [ "$2" = yes ] || [ "$bad" -gt 0 ] || bad=1
  [ "$2" = no ] || [ "$good" -gt 0 ] || bad=1
  passed=$((passed + good))
  failed=$((failed + bad))
  note "$good tests passed, $bad failed"
}

# Seconds and names, for the table at the end: GoogleTest's tests, or the whole of another program.
times_of_ctest() {
  awk -v prefix="$2" '
    /^[0-9]+\/[0-9]+ Testing: / { name = prefix $3; single = 0 }
    /^\[       OK \] .* \([0-9]+ ms\)$/ { single = 1; printf "%.1f\t%s %s\n", substr($(NF - 1), 2) / 1000, name, $4 }
    /^Test time = / { if (!single) printf "%.1f\t%s\n", $4, name }' "$1" >>"$logs/times" 2>/dev/null || true
}

slowest() {
  say "The slowest tests, in seconds"
  sort -rn "$logs/times" | awk -F '\t' 'NR <= 12 { printf "   %8.1f  %s\n", $1, $2 }'
}

test_package() {
  say "Package: R CMD build, with the vignettes"
  stage
  rm -rf "$out/check"
  mkdir -p "$out/check"
  cd "$out/check"
  quietly r-build R CMD build "$out/stage/anvil" ||
    { problem "R CMD build (code or vignettes)"; return 0; }
  say "Package: R CMD check --as-cran"
  local tarball
  tarball=$(ls anvil_*.tar.gz)
  # Without a network: no clock server, no CRAN to ask. Nor a JavaScript engine to
  # render formulas with. NOT_CRAN: all tests, also the snapshots and the long ones. R notes packages of more
  # than 5 MB; kernels for three instruction sets take more, and 6.75 is what we allow ourselves, and 0.15 for a table of symbols
  # that the check installs with the package, which users do not get.
  local ok=yes
  quietly r-check env _R_CHECK_SYSTEM_CLOCK_=0 _R_CHECK_CRAN_INCOMING_=false _R_CHECK_CRAN_INCOMING_REMOTE_=false \
    _R_CHECK_RD_MATH_RENDERING_=false _R_CHECK_FORCE_SUGGESTS_=true _R_CHECK_PKG_SIZES_THRESHOLD_=6.9 \
    NOT_CRAN=true ANVIL_SOURCE_DIR="$root" ANVIL_TEST_TIMES="$logs/times" \
    R CMD check --as-cran --no-manual "$tarball" || ok=no
  count_check "$ok"
  count_warnings anvil.Rcheck/00install.out
  count_testthat
}

# What compilers warn of, of which R's check knows only a few.
count_warnings() {
  local warnings
  warnings=$(grep -c 'warning: ' "$1" || true)
  if [ "$warnings" = 0 ]; then return; fi
  grep 'warning: ' "$1" | cut -c1-200 | sed 's/^/   | /' || true
  problem "compilers: $warnings warnings"
}

count_check() {
  local log=anvil.Rcheck/00check.log status
  status=$(sed -n 's/^Status: //p' "$log" 2>/dev/null || true)
  note "status: ${status:-the check did not end}"
  if [ "$status" = OK ] && [ "$1" = yes ]; then return; fi
  grep -E -A 12 '\.\.\. *(\[[^]]*\] *)?(ERROR|WARNING|NOTE)|^ *(ERROR|WARNING|NOTE)$' "$log" 2>/dev/null | sed 's/^/   | /' || true
  problem "R CMD check: ${status:-did not end}"
}

# testthat's last line: [ FAIL 0 | WARN 0 | SKIP 1 | PASS 5000 ]
count_testthat() {
  local output line good bad
  output=$(ls anvil.Rcheck/tests/testthat.Rout anvil.Rcheck/tests/testthat.Rout.fail 2>/dev/null | head -n 1 || true)
  if [ -n "$output" ]; then line=$(grep -E '^\[ FAIL [0-9]+ \| WARN' "$output" | tail -n 1 || true); fi
  if [ -z "${line:-}" ]; then
    problem "testthat reported nothing"
    return
  fi
  good=$(sed -n 's/.*PASS \([0-9]*\).*/\1/p' <<<"$line")
  bad=$(sed -n 's/.*FAIL \([0-9]*\).*/\1/p' <<<"$line")
  note "testthat: $line"
  passed=$((passed + good))
  failed=$((failed + bad))
}

# The closing line comes whatever happens; what did not end has failed.
ended=no
close() {
  local status=$?
  [ "$ended" = yes ] || [ "$failed" -gt 0 ] || failed=1
  echo "$passed passed, $failed failed"
  [ "$failed" = 0 ] || [ "$status" -ne 0 ] || status=1
  exit "$status"
}

# A mutant that no longer applies tests nothing.
test_mutants_apply() {
  local patch
  command -v patch >/dev/null || { note "patch is not installed: whether the mutants apply is not tested"; return 0; }
  say "Mutants: whether they still apply"
  for patch in "$root"/tests/mutants/*.patch; do
    if patch -d "$root" -p1 --dry-run --force --fuzz=0 --silent <"$patch" >/dev/null 2>&1; then
      passed=$((passed + 1))
    else
      problem "$(basename "$patch") does not apply"
    fi
  done
}

run_tests() {
  trap close EXIT
  trap 'exit 143' TERM
  trap 'exit 130' INT
  need "$test_packages" "$optional_test_packages" "cmake ninja clang++ pandoc checkbashisms python3"
  prepare_r
  prepare_build
  : >"$logs/times"
  local start=$SECONDS
  test_mutants_apply
  test_core
  test_sanitized
  test_package
  note "all in $((SECONDS - start)) s; the logs are in ${logs#"$root"/}"
  slowest
  ended=yes
}
