# ./run mutate: small bugs, sown on purpose, must turn a test red. Each is a patch in tests/mutants/
# whose first line names the test that catches it, as ./run test knows it:
#   # caught by: compiler:Merge*; what the bug is
# All of them stay in a copy of the tree, build/mutate. Sourced by ./run.

mutant_copy=$out/mutate

# The working tree as it is, without what is ignored; what was compiled there stays.
refresh_copy() {
  mkdir -p "$mutant_copy/build"
  find "$mutant_copy" -mindepth 1 -maxdepth 1 ! -name build -exec rm -rf {} +
  git -C "$root" ls-files -z --cached --others --exclude-standard |
    while IFS= read -r -d '' file; do if [ -e "$root/$file" ]; then printf '%s\0' "$file"; fi; done |
    tar -C "$root" --null -T - -cf - | tar -C "$mutant_copy" -xmf - # newer than what a mutant left
}

# Its tests, one a line: "transform, R:jit; why" names two. A prefix llvm14/ is no part of a name.
tests_of() { sed -n '1{s/^# caught by: *//;s/;.*//;p}' "$1" | tr ',' '\n' | sed -E 's/^ +| +$//g;s|^llvm[0-9]+/||' | grep .; }

# in_copy LOG COMMAND...: there, until the first failure or for ten minutes, with a log of its own.
in_copy() {
  local log=$logs/mutate-$1.log
  shift
  (cd "$mutant_copy" && GTEST_FAIL_FAST=1 GIT_CEILING_DIRECTORIES=$out timeout 600 "$@") >"$log" 2>&1 </dev/null
}

# What becomes of one mutant: sets $verdict.
judge() {
  local patch=$1 name test status
  name=$(basename "$patch" .patch)
  verdict="DOES NOT APPLY"
  in_copy "$name" git apply "$patch" || return 0
  verdict=SURVIVED
  for test in $(tests_of "$patch"); do
    status=0
    in_copy "$name" ./run test "$test" || status=$?
    case $status in
      0) continue ;;
      3) verdict="DOES NOT COMPILE" ;;
      *) verdict=caught ;;
    esac
    break
  done
  in_copy "$name-undo" git apply -R "$patch" || die "$name cannot be taken back"
}

mutate() {
  local patches=() name patch test start verdict red=0
  mkdir -p "$logs"
  if [ $# = 0 ]; then set -- "$root"/tests/mutants/*.patch; fi
  for name in "$@"; do
    patch=$root/tests/mutants/$(basename "$name" .patch).patch
    [ -f "$patch" ] || die "there is no mutant '$name' in tests/mutants"
    [ -n "$(tests_of "$patch")" ] || die "$name: the first line names no test"
    patches+=("$patch")
  done
  export CCACHE_DIR=${CCACHE_DIR:-$out/ccache} CCACHE_BASEDIR=${CCACHE_BASEDIR:-$root}
  refresh_copy
  say "Without a mutant, what is named must be green"
  for test in $(for patch in "${patches[@]}"; do tests_of "$patch"; done | sort -u); do
    start=$SECONDS
    in_copy green ./run test "$test" || die "$test fails without a mutant; see ${logs#"$root"/}/mutate-green.log"
    printf '   %-44s %5d s\n' "$test" $((SECONDS - start))
  done
  say "${#patches[@]} mutants"
  for patch in "${patches[@]}"; do
    start=$SECONDS
    judge "$patch"
    [ "$verdict" = caught ] || red=$((red + 1))
    printf '   %-16s %-32s %-28s %5d s\n' "$verdict" "$(basename "$patch" .patch)" "$(tests_of "$patch" | paste -sd ' ')" \
      $((SECONDS - start))
  done
  echo "$((${#patches[@]} - red)) caught, $red not caught"
  [ $red = 0 ]
}
