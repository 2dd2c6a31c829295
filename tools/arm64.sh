#!/usr/bin/env bash
# The core for arm64, compiled and tested on an x86-64 Debian: tools/arm64.sh [LAYER ...]. Needs
# g++-aarch64-linux-gnu, qemu-user-static, cmake, ninja and the headers of Eigen; the libraries for arm64 (LLVM,
# LAPACK, GoogleTest and what they need) are unpacked into build/arm64/sysroot by apt-get download and dpkg -x: nothing is
# installed. Without a LAYER: base runtime loops graph compiler backend_llvm. LLVM=19 is the version to take.
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD
build=$root/build/arm64
sysroot=$build/sysroot
libraries=$sysroot/usr/lib/aarch64-linux-gnu
llvm=${LLVM:-19}

# apt with lists, a state and an architecture of its own.
unpack_libraries() {
  local apt=$build/apt
  mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial" "$apt/packages" "$sysroot"
  touch "$apt/status"
  cat >"$apt/apt.conf" <<END
APT::Architecture "arm64";
APT::Architectures { "arm64"; };
APT::Sandbox::User "$(id -un)";
Dir::State::Lists "$apt/lists";
Dir::State::status "$apt/status";
Dir::Cache "$apt/cache";
END
  (
    export APT_CONFIG=$apt/apt.conf
    cd "$apt/packages"
    apt-get -qq update
    apt-get -qq download libgtest-dev libgmock-dev googletest zlib1g libzstd1 libxml2 libffi8 libtinfo6 libbsd0 libmd0 \
      libedit2 libicu72 liblzma5 libz3-4 libblas3 liblapack3 libgfortran5 "libllvm$llvm" "llvm-$llvm-dev"
  )
  for package in "$apt"/packages/*.deb; do dpkg -x "$package" "$sysroot"; done
}

# What CMake asks llvm-config, answered for the sysroot.
write_llvm_config() {
  local library
  library=$(basename "$(ls "$libraries"/libLLVM*.so* | head -n 1)")
  cat >"$build/llvm-config" <<END
#!/bin/sh
case "\$1" in
  --version) echo $llvm.0.0 ;;
  --includedir) echo $sysroot/usr/lib/llvm-$llvm/include ;;
  --libdir) echo $libraries ;;
  --has-rtti) echo YES ;;
  --shared-mode) echo shared ;;
  *) echo -L$libraries -l:$library -Wl,-rpath-link,$libraries:$sysroot/lib/aarch64-linux-gnu ;;
esac
END
  chmod +x "$build/llvm-config"
}

mkdir -p "$build"
[ -d "$libraries" ] || unpack_libraries
write_llvm_config
emulator="qemu-aarch64-static -L /usr/aarch64-linux-gnu -E LD_LIBRARY_PATH=$libraries:$libraries/blas:$libraries/lapack:$sysroot/lib/aarch64-linux-gnu"
[ -f "$build/build.ninja" ] || cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release \
  -DCMAKE_CXX_FLAGS_RELEASE=-O1 -DANVIL_WERROR=ON -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR=aarch64 \
  -DCMAKE_CXX_COMPILER=aarch64-linux-gnu-g++ -DBLAS_LIBRARIES="$libraries/blas/libblas.so.3" \
  -DLAPACK_LIBRARIES="$libraries/lapack/liblapack.so.3;-Wl,-rpath-link,$libraries" \
  -DGTest_DIR="$libraries/cmake/GTest" -DANVIL_EIGEN_DIR=/usr/include/eigen3 -DANVIL_LLVM_CONFIGS="$build/llvm-config" \
  -DCMAKE_CROSSCOMPILING_EMULATOR="${emulator// /;}"

layers=("$@")
[ $# -gt 0 ] || layers=(base runtime loops graph compiler backend_llvm)
cmake --build "$build" -j "${JOBS:-2}" --target "${layers[@]/#/anvil_test_}" "anvil_llvm_$llvm"
# Tests of what ends the process start the program again, which is not in this machine's language.
status=0
for layer in "${layers[@]}"; do
  echo "== $layer"
  ANVIL_LLVM_LIBRARY=$build/lib/$llvm/anvil_llvm.so $emulator "$build/tests/cpp/anvil_test_$layer" --gtest_brief=1 \
    --gtest_filter=-*DeathTest* || status=1
done
exit $status
