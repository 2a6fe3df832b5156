#!/usr/bin/env bash
# Installs what foldd needs on a bare Debian 12: packages by apt, and a Python
# environment with pinned packages for the tests. Idempotent: with everything
# in place it takes a second and touches neither apt nor the network.
#
# Usage: deploy/install-deps.sh [--no-python] [--containers]
#   --no-python    only the apt packages
#   --containers   also what tests/e2e/container.sh needs (buildah, podman …)
# Environment:
#   FOLD_VENV      where the Python environment goes (default build/venv)
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
venv=${FOLD_VENV:-$root/build/venv}
python=yes
packages=(
  # toolchain
  cmake ninja-build g++ ccache pkg-config git ca-certificates
  # server: gRPC, protobuf, HTTP, metrics, logs, TLS
  libgrpc++-dev libgrpc-dev protobuf-compiler protobuf-compiler-grpc
  libprotobuf-dev libabsl-dev prometheus-cpp-dev libcpp-httplib-dev
  libspdlog-dev libssl-dev libsqlite3-dev libcurl4-openssl-dev
  # compiler and runtime: exact arithmetic, artifact format, .npz files
  libgmp-dev libmpfr-dev libflatbuffers-dev flatbuffers-compiler
  libzip-dev zlib1g-dev nlohmann-json3-dev
  # jobs: the allow-list of system calls, reproducer bundles
  libseccomp-dev libarchive-dev
  # tests and lints
  libgtest-dev libgmock-dev libbenchmark-dev
  clang clang-format clang-tidy libclang-rt-14-dev llvm openssl
  python3 python3-pip python3-venv shellcheck
)
containers=(buildah podman runc debootstrap)

for argument in "$@"; do
  case "$argument" in
    --no-python) python=no ;;
    --containers) packages+=("${containers[@]}") ;;
    -h | --help)
      sed -n '2,/^set /{/^#/s/^# \{0,1\}//p}' "${BASH_SOURCE[0]}"
      exit 0
      ;;
    *)
      echo "install-deps.sh: unknown argument $argument" >&2
      exit 2
      ;;
  esac
done

missing_packages() {
  local package
  for package in "${packages[@]}"; do
    if ! dpkg-query -W -f '${Status}' "$package" 2>/dev/null |
      grep -q 'ok installed'; then
      echo "$package"
    fi
  done
}

as_root() {
  if [ "$(id -u)" -eq 0 ]; then
    "$@"
  elif command -v sudo >/dev/null; then
    sudo "$@"
  else
    echo "install-deps.sh: needs root (or sudo) to run: $*" >&2
    exit 1
  fi
}

install_packages() {
  local missing
  mapfile -t missing < <(missing_packages)
  [ "${#missing[@]}" -gt 0 ] || return 0
  echo "install-deps: apt installs ${missing[*]}"
  as_root apt-get -o Acquire::Retries=3 -qq update
  as_root env DEBIAN_FRONTEND=noninteractive apt-get -o Acquire::Retries=3 \
    -o Dpkg::Use-Pty=0 -qq -y install --no-install-recommends "${missing[@]}"
}

# The stamp holds the requirements that the environment was made from.
install_python() {
  local wanted=$root/tests/requirements.txt
  if cmp -s "$wanted" "$venv/requirements.txt" &&
    "$venv/bin/python" -c 'import onnx, numpy, lizard' 2>/dev/null; then
    return 0
  fi
  echo "install-deps: Python environment in $venv"
  python3 -m venv --clear "$venv"
  "$venv/bin/python" -m pip install --quiet --disable-pip-version-check \
    --retries 5 -r "$wanted"
  cp "$wanted" "$venv/requirements.txt"
}

install_packages
if [ "$python" = yes ]; then
  install_python
fi
