# What must be installed: on Debian and Ubuntu root gets it with apt, others are told its names.
# Sourced by ./run.

build_packages="r-base-core r-base-dev r-cran-rcpp r-cran-cli r-cran-rlang g++ make pkg-config ccache
  libeigen3-dev llvm-dev libblas-dev liblapack-dev"
demo_packages="$build_packages r-cran-mass"
test_packages="$build_packages r-cran-mass r-cran-testthat r-cran-knitr r-cran-rmarkdown r-cran-withr
  r-cran-bit64 r-cran-matrix r-cran-survival r-cran-lme4 r-cran-posterior r-cran-purrr r-cran-repr pandoc cmake ninja-build clang libgtest-dev devscripts tidy qpdf python3 python3-numpy python3-scipy"
optional_test_packages="llvm-14-dev llvm-19-dev libclang-rt-dev"

installed() { [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]; }

# True if apt knows a version of the package.
available() { LC_ALL=C apt-cache policy "$1" 2>/dev/null | grep 'Candidate: [^(]' >/dev/null; }

not_installed() {
  local package
  for package in "$@"; do installed "$package" || printf '%s ' "$package"; done
}

apt_get() {
  DEBIAN_FRONTEND=noninteractive apt-get -y -q -o Dpkg::Use-Pty=0 -o Acquire::Retries=3 -o DPkg::Lock::Timeout=300 "$@"
}

# need "PACKAGES" "OPTIONAL PACKAGES" "TOOLS": after it they are there, or the script has
# ended. On other systems than Debian, it is the tools that must be there.
need() {
  mkdir -p "$logs"
  local missing optional package wanted=""
  if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    say "Not a Debian system: taking what is installed"
    local tool
    for tool in R g++ make pkg-config $3; do
      command -v "$tool" >/dev/null || wanted="$wanted $tool"
    done
    [ -z "$wanted" ] || die "please install:$wanted"
    return 0
  fi
  missing=$(not_installed $1)
  optional=$(not_installed $2)
  if [ -z "$missing$optional" ]; then
    say "Debian packages: all there"
    return 0
  fi
  if [ "$(id -u)" != 0 ]; then
    if [ -z "$missing" ]; then
      note "not installed, goes on without: $optional"
      return 0
    fi
    echo "run: these Debian packages are missing; as root:" >&2
    echo "  apt-get install --no-install-recommends $missing$optional" >&2
    exit 1
  fi
  say "Debian packages: reading the list of what there is"
  quietly apt-update apt_get update || note "goes on with the list there is"
  for package in $optional; do
    if available "$package"; then
      missing="$missing$package "
    else
      note "$package: not in this distribution, goes on without"
    fi
  done
  [ -n "$missing" ] || return 0
  say "Debian packages: installing $missing"
  quietly apt-install apt_get install --no-install-recommends $missing ||
    die "apt-get could not install what is missing (is the network there?)"
}
