# tiles_in_registers.sh SOURCES COMPILER: the kernels of products keep their tiles of C in registers. A compiler that keeps
# one in memory, since its address leaves a function that was not inlined, gives a kernel of a third of the speed and
# right numbers: what tells is the size of the frame, which has room for the tile then.
cd "$1" || exit 1
passed=0 failed=0
check() { # check FILE BYTES: no frame is larger; a tile has 24 registers (of AVX-512: 1536 bytes) or 12
  if "$compiler" -std=gnu++20 -O2 -ffp-contract=off -fno-math-errno -fno-trapping-math -fpic -I. \
    -Werror "-Wframe-larger-than=$2" -c "runtime/product/$1.cpp" -o /dev/null; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
  fi
}
compiler=$2
check avx512 1500
check avx2 380
check baseline 160
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
