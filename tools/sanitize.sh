# The core under clang's address and undefined-behaviour sanitizers, and the two fuzzers: texts
# for the StableHLO reader (libFuzzer) and random programs. Sourced by ./run.

sanitize_build=$out/sanitize
not_sanitized='conformance|small_functions|expanded|baseline|avx2' # what is generated has no checks: once is enough

prepare_sanitize() {
  prepare_build
  command -v clang++ >/dev/null || die "the sanitizers need clang: apt-get install clang libclang-rt-dev"
  [ -f "$sanitize_build/build.ninja" ] || quietly sanitize-configure cmake --preset sanitize -S "$root" ||
    die "CMake does not configure the build with sanitizers"
}

# Fewer random programs than in the optimised build; a report ends the program with its stack. Where libraries are loaded while
# a program runs, the leak checker takes wrong addresses for their thread-local memory, and dies of them: it does not look there.
sanitized() {
  ANVIL_FUZZ_COUNT=${ANVIL_FUZZ_COUNT:-150} ANVIL_SEEDS=${ANVIL_SEEDS:-20} \
    ASAN_OPTIONS="allocator_may_return_null=1:detect_stack_use_after_return=0:intercept_tls_get_addr=0:${ASAN_OPTIONS:-}" \
    UBSAN_OPTIONS="print_stacktrace=1:${UBSAN_OPTIONS:-}" "$@"
}

# ctest of what is sanitized. Clang's leak checker, which looks when a process ends, now and then fails itself, and says so: where
# that is all that failed, those tests run once more.
sanitized_tests() {
  local results=$sanitize_build/Testing/Temporary
  sanitized ctest "$@" && return
  [ "$(grep -c 'LeakSanitizer has encountered a fatal error' "$results/LastTest.log")" = "$(wc -l <"$results/LastTestsFailed.log")" ] ||
    return 1
  cp "$results/LastTest.log" "$results/first.log"
  sanitized ctest --rerun-failed "$@" || return 1
  sed 's/^Test Failed\./Test Passed./' "$results/first.log" >"$results/LastTest.log"
}

# The team of threads under the thread sanitizer, which goes with no other one and does not follow fork().
races() {
  local program=$sanitize_build/threads_races
  quietly races-compile "${CXX:-g++}" -std=c++20 -g -O1 -fsanitize=thread -I"$root/src" "$root/tests/cpp/runtime/threads_test.cpp" \
    "$root"/src/runtime/{threads,own_thread}.cpp "$root"/src/base/{processors,control_groups,interrupt}.cpp -o "$program" \
    -lgtest -lgtest_main -pthread || return 1
  "$program" --gtest_filter='-*Fork*'
}

# ./run sanitize [NAME...]: all C++ tests, or those of the names that ./run test knows.
sanitize() {
  prepare_sanitize
  local name found status=0
  if [ $# = 0 ]; then
    say "Compiling into build/sanitize"
    build_targets "$sanitize_build" $(target_names "$sanitize_build" 'anvil_test_[a-z_0-9]*')
    say "The tests of the core"
    sanitized_tests --test-dir "$sanitize_build" -j "$(jobs)" -E "$not_sanitized" --output-on-failure --no-tests=error || status=1
    say "Threads"
    races || status=1
    return $status
  fi
  for name in "$@"; do
    found=$(cpp_tests "$name")
    [ -n "$found" ] || die "no C++ test is called '$name'"
    sanitized run_cpp_tests "$sanitize_build" "$found" || status=1
  done
  return $status
}

# fuzz_text SECONDS: new inputs stay in build/fuzz, what fails as well.
fuzz_text() {
  build_targets "$sanitize_build" anvil_fuzz_read_stablehlo
  JOBS=$(jobs) sanitized "$root/tests/cpp/fuzz/run" "$1"
}

# fuzz_programs BUILD SECONDS: random programs from a seed that the clock and the kernel choose,
# which is printed; the same seed gives the same programs. Where the leak checker fails itself, they run once more.
fuzz_programs() {
  local program=$1/tests/cpp/anvil_test_api seconds=$2 start=$SECONDS seed count=25 programs=0 # few at once: see the clock
  local output checker_failed=no
  output=$(mktemp)
  seed=$(od -An -N4 -tu4 /dev/urandom | tr -d ' ')
  while [ $checker_failed = yes ] || [ $((SECONDS - start)) -lt "$seconds" ]; do
    if ANVIL_FUZZ_SEED=$seed ANVIL_FUZZ_COUNT=$count "$program" --gtest_filter='Random*' --gtest_brief=1 </dev/null >"$output" 2>&1; then
      seed=$((seed + count)) programs=$((programs + count)) checker_failed=no
      continue
    fi
    cat "$output"
    if [ $checker_failed = yes ] || ! grep -q 'LeakSanitizer has encountered a fatal error' "$output"; then
      echo "again: ANVIL_FUZZ_SEED=$seed ANVIL_FUZZ_COUNT=$count $program --gtest_filter='Random*'"
      rm "$output"
      return 1
    fi
    checker_failed=yes
  done
  rm "$output"
  echo "$programs random programs and as many others, the last seed $((seed - 1)): no difference"
}

# ./run fuzz SECONDS
fuzz() {
  local seconds=${1:-60} status=0
  prepare_sanitize
  prepare_dev
  say "Fuzzing the reader of StableHLO for $seconds s"
  fuzz_text "$seconds" || status=1
  say "Random programs for $seconds s"
  build_targets "$dev_build" anvil_test_api
  fuzz_programs "$dev_build" "$seconds" || status=1
  return $status
}
