#!/bin/sh
# Installs the Debian packages that Lathe needs and that are missing; does nothing where none is.
#   install_packages.sh            what building, testing and the demo need
#   install_packages.sh --ci       and what .ci/run needs besides: clang 22 and its fuzzer, clang-format, clang-tidy, and
#                                  for the tests on 64-bit Arm processors a cross compiler and an emulator
#   install_packages.sh --fuzz     and what `make fuzz` needs besides: clang 22 and its fuzzer
#   install_packages.sh --peers    and what -DLATHE_BUILD_PEERS=ON needs besides: oneDNN and OpenBLAS
#   install_packages.sh --check    installs nothing: names what is missing, exit status 1 if anything is
# Needs root or sudo only if something is missing. Elsewhere than on Debian it only says so.
set -eu

build_packages="cmake g++ ninja-build make git ca-certificates
  llvm-22-dev libxgboost-dev libonnx-dev libprotobuf-dev protobuf-compiler libsqlite3-dev libfmt-dev libcli11-dev
  nlohmann-json3-dev libjemalloc-dev libzstd-dev"
test_packages="libgtest-dev libgmock-dev libbenchmark-dev python3 python3-numpy"
demo_packages="python3-venv python3-dev util-linux"
fuzz_packages="clang-22 libclang-rt-22-dev"
cross_packages="g++-aarch64-linux-gnu qemu-user"
ci_packages="$fuzz_packages clang-format-22 clang-tidy-22 $cross_packages"
peer_packages="libdnnl-dev libopenblas-dev"

mode=${1:-}
wanted="$build_packages $test_packages $demo_packages"
case $mode in
  "" | --check) ;;
  --ci) wanted="$wanted $ci_packages" ;;
  --fuzz) wanted="$wanted $fuzz_packages" ;;
  --peers) wanted="$wanted $peer_packages" ;;
  *) echo "install_packages.sh: unknown option '$mode'; there are --ci, --fuzz, --peers and --check" >&2; exit 1 ;;
esac

if ! command -v dpkg-query > /dev/null; then
  echo "install_packages.sh: not Debian; Lathe needs what these packages hold:" $wanted >&2
  exit 0
fi

missing=""
for package in $wanted; do
  state=$(dpkg-query -W -f='${db:Status-Status}' "$package" 2> /dev/null) || state=none
  [ "$state" = installed ] || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

if [ "$mode" = --check ]; then
  echo "missing packages:$missing; 'make packages' installs them" >&2
  exit 1
fi

as_root=""
if [ "$(id -u)" != 0 ]; then
  command -v sudo > /dev/null || { echo "missing packages:$missing; install them as root" >&2; exit 1; }
  as_root="sudo"
fi

log=$(mktemp)
trap 'rm -f "$log"' EXIT
quietly() { # quietly COMMAND ...: its output only if it fails
  $as_root env DEBIAN_FRONTEND=noninteractive "$@" > "$log" 2>&1 || { cat "$log" >&2; exit 1; }
}

# LLVM 22 is in bookworm's security archive. A bare root may list the main archive only: add the security
# archive of the same mirror then.
add_security_archive() {
  main=$(apt-get indextargets --format '$(REPO_URI) $(RELEASE)' 'Created-By: Packages' |
    sed -n 's|^\(.*/debian/\{0,1\}\) bookworm$|\1|p' | head -n 1)
  [ -n "$main" ] || return 0
  security="$(echo "$main" | sed 's|/debian/\{0,1\}$|/debian-security|')"
  echo "deb $security bookworm-security main" |
    $as_root tee /etc/apt/sources.list.d/lathe-security.list > /dev/null
  quietly apt-get update -qq
}

echo "installing packages:$missing"
quietly apt-get update -qq
apt-cache show llvm-22-dev > /dev/null 2>&1 || add_security_archive
quietly apt-get install -qq -y --no-install-recommends -o DPkg::Lock::Timeout=300 $missing
