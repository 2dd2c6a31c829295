# The package as users get it: compiled by R CMD INSTALL from a copy of the sources, and the
# demo that runs on it. Sourced by ./run.

# As many compilers as cores, each given 1.5 GB of memory.
jobs() {
  local cores kilobytes
  cores=$(nproc 2>/dev/null || echo 2)
  kilobytes=$(sed -n 's/^MemAvailable: *\([0-9]*\).*/\1/p' /proc/meminfo 2>/dev/null || true)
  if [ -n "$kilobytes" ] && [ $((kilobytes / 1500000)) -lt "$cores" ]; then cores=$((kilobytes / 1500000)); fi
  [ "$cores" -ge 1 ] || cores=1
  echo "${JOBS:-$cores}"
}

# How R compiles here: through ccache, so that the check does not compile a second
# time what the build has compiled, and with no flags but -O2, as CRAN does.
prepare_r() {
  mkdir -p "$logs" "$library" "$out/ccache"
  local name
  : >"$out/Makevars"
  for name in CC CXX CXX20; do
    printf '%s = ccache %s\n' "$name" "$(R CMD config "$name")" >>"$out/Makevars"
  done
  for name in CFLAGS CXXFLAGS CXX20FLAGS; do printf '%s = -O2\n' "$name" >>"$out/Makevars"; done
  if ! command -v ccache >/dev/null; then sed -i.bak 's/= ccache /= /' "$out/Makevars"; fi
  export R_MAKEVARS_USER=$out/Makevars CCACHE_DIR=${CCACHE_DIR:-$out/ccache} CCACHE_NOHASHDIR=1
  MAKEFLAGS=-j$(jobs)
  export MAKEFLAGS R_PROFILE_USER=/dev/null R_ENVIRON_USER=/dev/null
}

# A copy of the package's sources, so that the working tree stays as it is.
stage() {
  rm -rf "$out/stage"
  mkdir -p "$out/stage/anvil"
  tar -cf - --exclude=./build --exclude=./.git --exclude='*.o' --exclude='*.so' --exclude='*.d' \
    --exclude=./src/Makevars --exclude='*.Rcheck' --exclude='*.tar.gz' . | tar -xf - -C "$out/stage/anvil"
}

# --- ./run demo -------------------------------------------------------------------

demo() {
  need "$demo_packages" "" ""
  prepare_r
  say "Installing anvil into build/library (the first time compiles for some minutes)"
  stage
  quietly install R CMD INSTALL --no-test-load --library="$library" "$out/stage/anvil" || exit 1
  say "Running inst/examples/demo.R"
  cd "$out"
  R_LIBS=$library ANVIL_DEMO_OUTPUT=$out/demo Rscript --vanilla "$root/inst/examples/demo.R" </dev/null
}
