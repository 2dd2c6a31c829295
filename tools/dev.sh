# The development build: build/dev, with CMake's preset of that name, and the package in
# build/library, whose shared objects are links into build/dev. Sourced by ./run.

dev_build=$out/dev

# What every build here needs. A compiler cache of one's own stays.
prepare_build() {
  mkdir -p "$logs" "$library"
  export CCACHE_DIR=${CCACHE_DIR:-$out/ccache} CCACHE_BASEDIR=${CCACHE_BASEDIR:-$root} CCACHE_NOHASHDIR=1
}

prepare_dev() {
  prepare_build
  [ -f "$dev_build/build.ninja" ] || quietly dev-configure cmake --preset dev -S "$root" ||
    die "CMake does not configure; ./run test installs what is missing"
}

# build_targets BUILD TARGET...: compiles them, or ends the script with status 3, having shown why.
build_targets() {
  local build=$1
  shift
  quietly "$(basename "$build")-build" cmake --build "$build" -j "$(jobs)" --target "$@" || exit 3
}

# target_names BUILD PATTERN: the targets that match.
target_names() { ninja -C "$1" -t targets all | sed -n "s/^\($2\): phony\$/\1/p"; }

# The R code again, if it has changed since it was installed; the shared objects by links.
dev_package() {
  local installed=$library/anvil
  if [ ! -f "$installed/DESCRIPTION" ] || [ ! -L "$installed/libs/anvil.so" ] ||
    [ -n "$(find "$root/R" "$root/inst" "$root/DESCRIPTION" "$root/NAMESPACE" -newer "$installed/DESCRIPTION" -print -quit)" ]; then
    quietly dev-install R CMD INSTALL --no-libs --no-configure --no-docs --no-test-load --no-byte-compile --library="$library" "$root" ||
      return 1
    touch "$installed/DESCRIPTION"
  fi
  mkdir -p "$installed/libs" "$installed/jit"
  ln -sf "$dev_build/lib/anvil.so" "$installed/libs/anvil.so"
  ln -sf "$(ls -t "$dev_build"/lib/*/anvil_llvm.so | head -n 1)" "$installed/jit/anvil_llvm.so"
}

dev() {
  prepare_dev
  local bindings
  bindings=$(target_names "$dev_build" anvil_r)
  say "Compiling into build/dev: the core, the code generator${bindings:+, the R bindings}"
  build_targets "$dev_build" anvil_core $(target_names "$dev_build" 'anvil_llvm_[0-9]*') $bindings
  if [ -z "$bindings" ]; then
    note "no R with Rcpp: the core alone"
    return
  fi
  say "Installing into build/library"
  dev_package || exit 1
  note "R_LIBS=${library#"$PWD"/} R"
}

# --- what is generated --------------------------------------------------------------

# ./run document: R/nvl-generated.R from the registry, NAMESPACE and man/ by roxygen2.
document() {
  dev
  say "Generating the strict functions and the help pages"
  quietly document env R_LIBS="$library" Rscript tools/strict_functions.R || exit 1
  dev_package || exit 1
  quietly document env R_LIBS="$library" Rscript -e 'roxygen2::roxygenise(".", roclets = c("namespace", "rd"), load_code = "installed")' ||
    exit 1
}

# --- one test ---------------------------------------------------------------------

# The tests of one source, one Suite.Name a line, as GoogleTest's filter names them.
tests_in() {
  sed -nE -e 's/^ *TEST(_F)?\( *(\w+), *(\w+) *\).*/\2.\3/p' -e 's/^ *TEST_P\( *(\w+), *(\w+) *\).*/*\1.\2*/p' \
    -e 's/^ *TYPED_TEST\( *(\w+), *(\w+) *\).*/\1*.\2/p' "$1"
}

# Which layers and tests a name means, one "layer filter" a line: LAYER, LAYER:FILTER, the name
# of a test source, or a part of the names of tests.
cpp_tests() {
  local name=$1 folder=$root/tests/cpp layer file filter
  layer=${name%%:*}
  if [ -d "$folder/$layer" ]; then
    case $name in *:*) filter=${name#*:} ;; *) filter='*' ;; esac
    case $filter in *[.*?]*) ;; *) filter="*$filter*" ;; esac
    echo "$layer $filter"
    return
  fi
  for file in $(find "$folder" -name '*_test.cpp' | sort); do
    layer=${file#"$folder"/}
    layer=${layer%%/*}
    filter=$(tests_in "$file")
    [ "$(basename "$file")" = "${name}_test.cpp" ] || filter=$(grep -iF -- "$name" <<<"$filter" || true)
    [ -z "$filter" ] || echo "$layer $(paste -sd : <<<"$filter")"
  done | awk '{ if ($1 in f) f[$1] = f[$1] ":" $2; else { f[$1] = $2; order[++n] = $1 } } END { for (i = 1; i <= n; ++i) print order[i], f[order[i]] }'
}

# run_cpp_tests BUILD "LAYER FILTER lines"
run_cpp_tests() {
  local build=$1 layer filter program layers="" status=0
  while read -r layer filter; do layers="$layers $layer"; done <<<"$2"
  say "Compiling the tests of$layers"
  # shellcheck disable=SC2046
  build_targets "$build" $(printf 'anvil_test_%s ' $layers)
  while read -r layer filter; do
    say "$layer: $(cut -c1-80 <<<"$filter")"
    program=$build/tests/cpp/anvil_test_$layer
    [ -n "$("$program" --gtest_filter="$filter" --gtest_list_tests)" ] || die "no test of $layer matches '$filter'"
    "$program" --gtest_filter="$filter" --gtest_brief=1 </dev/null || status=1
  done <<<"$2"
  return $status
}

# The files of tests/testthat that match a pattern, against the development install.
run_r_tests() {
  [ -n "$(ls "$root"/tests/testthat/test-$1.R 2>/dev/null)" ] || die "there is no tests/testthat/test-$1.R"
  dev
  say "testthat: $1"
  R_LIBS=$library NOT_CRAN=true ANVIL_SOURCE_DIR=$root Rscript --vanilla -e '
    files <- Sys.glob(file.path("tests/testthat", paste0("test-", commandArgs(TRUE), ".R")))
    failed <- 0
    for (file in files) {
      results <- as.data.frame(testthat::test_file(file, package = "anvil", load_package = "installed", stop_on_failure = FALSE))
      failed <- failed + sum(results$failed) + sum(results$error)
    }
    quit(status = min(failed, 1))' "$1"
}

# Programs that others wrote: conformance, conformance/jax.
run_conformance() {
  say "Compiling the conformance tests"
  build_targets "$dev_build" anvil_conformance anvil_export_programs
  say "$1"
  quietly dev-conformance ctest --test-dir "$dev_build" -R "$1" -V --no-tests=error || return 1
  grep -E 'passed.* failed$' "$logs/dev-conformance.log"
}

# ./run test NAME...
test_named() {
  prepare_dev
  local name found status=0
  for name in "$@"; do
    case $name in
      R | R:*)
        name=${name#R}
        name=${name#:}
        run_r_tests "${name:-*}" || status=1
        continue
        ;;
      conformance*)
        run_conformance "$name" || status=1
        continue
        ;;
    esac
    found=$(cpp_tests "$name")
    if [ -n "$found" ]; then
      run_cpp_tests "$dev_build" "$found" || status=1
    elif [ -f "$root/tests/testthat/test-$name.R" ]; then
      run_r_tests "$name" || status=1
    else
      die "no test is called '$name': the layers are$(cd "$root/tests/cpp" && printf ' %s' */ | tr -d /), R files are R:NAME"
    fi
  done
  return $status
}
