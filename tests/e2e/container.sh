#!/usr/bin/env bash
# Builds the image, runs it as its own user, and compares its artifacts with
# those of a build on this machine.
#
# Usage: tests/e2e/container.sh --bin DIR [--keep]
#   --bin   the folder with foldc and foldctl of this machine's build
#   --keep  leave the images and the base in build/container
# Needs root, and what deploy/install-deps.sh --containers installs. The base
# image is made with debootstrap, so no image registry is asked.
set -uo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
cd "$root" || exit 1
place=$root/build/container
store=$place/store
run=$place/run
image=localhost/foldd
base=localhost/debian:bookworm-slim
model=tests/models/sample/sample.onnx
bin=
keep=no
passed=0
failed=0
name=foldd-test-$$

while [ $# -gt 0 ]; do
  case "$1" in
    --bin) bin=$2 && shift ;;
    --keep) keep=yes ;;
    *) echo "container.sh: unknown argument $1" >&2 && exit 2 ;;
  esac
  shift
done
[ -n "$bin" ] || { echo "container.sh: --bin is missing" >&2 && exit 2; }

check() { # check NAME COMMAND…
  local what=$1
  shift
  if "$@"; then
    passed=$((passed + 1))
    echo "ok   $what"
  else
    failed=$((failed + 1))
    echo "FAIL $what"
  fi
}

podman_() {
  podman --runtime runc --root "$store" --runroot "$run" "$@"
}

# A container with the limits that an operator would set.
start() { # start NAME ARGUMENTS…
  podman_ run --rm --name "$1" --ulimit nofile=4096:4096 \
    --ulimit nproc=4096:4096 --network=host --cap-drop=all \
    --security-opt=no-new-privileges "$image" "${@:2}"
}

make_base() {
  if podman_ image exists "$base"; then
    return 0
  fi
  local tree=$place/tree
  rm -rf "$tree"
  debootstrap --variant=minbase --include=ca-certificates bookworm "$tree" \
    >"$place/debootstrap.log" || return 1
  # A proxy's certificates, where this machine has some of its own.
  if compgen -G '/usr/local/share/ca-certificates/*.crt' >/dev/null; then
    cp /usr/local/share/ca-certificates/*.crt \
      "$tree/usr/local/share/ca-certificates/"
    # With nothing of this shell's environment: its TMPDIR is not in there.
    env -i PATH="$PATH" chroot "$tree" update-ca-certificates \
      >"$place/certificates.log" 2>&1 || return 1
  fi
  rm -rf "$tree"/var/cache/apt/archives/*.deb "$tree"/var/lib/apt/lists/* \
    "$tree"/usr/share/{doc,man,locale}/*
  tar -C "$tree" -c . | podman_ import - "$base" >/dev/null || return 1
  rm -rf "$tree"
}

build_image() {
  # The pinned onnx is handed in through the context if it is here already.
  buildah --root "$store" --runroot "$run" bud --isolation chroot \
    --pull-never --network host --target run -t "$image" . \
    >"$place/build.log" 2>&1 || { tail -n 30 "$place/build.log" && return 1; }
}

free_port() {
  python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

wait_healthy() {
  local _
  for _ in $(seq 100); do
    "$bin/foldctl" health --server "$address" >/dev/null 2>&1 && return 0
    sleep 0.2
  done
  return 1
}

compile() { # compile OUT ARGUMENTS…: the sample, by the container's server
  "$bin/foldctl" compile "$model" --server "$address" \
    --shape image=3,1,12,12 --target x86-64 -o "$@"
}

not_root() {
  [ "$(podman_ exec "$name" id -u)" -ne 0 ]
}

# All walls but those of newer kernels, without a privilege of the container.
sandboxed() {
  local ready
  ready=$(python3 -c 'import sys, urllib.request
print(urllib.request.urlopen(sys.argv[1], timeout=5).read().decode())' \
    "http://$http/readyz")
  echo "     $ready" | tail -n 1
  grep -qE '^sandbox: (seccomp|full):' <<<"$ready"
}

small() {
  local bytes
  bytes=$(podman_ image inspect --format '{{.Size}}' "$image")
  echo "     the image has $((bytes / 1000000)) MB"
  [ "$bytes" -lt 300000000 ]
}

clean_up() {
  podman_ rm --all --force >/dev/null 2>&1
  if [ "$keep" = no ]; then
    podman_ rmi --all --force >/dev/null 2>&1
  fi
  umount "$store/overlay" 2>/dev/null
}
trap clean_up EXIT

mkdir -p "$place"
check "base image" make_base
check "image builds" build_image
check "image is small" small
address=127.0.0.1:$(free_port)
http=127.0.0.1:$(free_port)
start "$name" --listen "$address" --http "$http" --data /var/lib/foldd \
  >"$place/foldd.log" 2>&1 &
runner=$!
check "container is healthy" wait_healthy
check "its own health check" podman_ exec "$name" foldctl health \
  --server "$address"
check "does not run as root" not_root
check "its sandbox stands" sandboxed
check "compiles" compile "$place/container.fold" --report "$place/c.json"
check "host compiles" "$bin/foldc" "$model" --shape image=3,1,12,12 \
  --target x86-64 -o "$place/host.fold"
check "the same bytes as the host's build" cmp "$place/container.fold" \
  "$place/host.fold"
podman_ stop --time 30 "$name" >/dev/null 2>&1
wait "$runner"
check "drains on SIGTERM" test $? -eq 0
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
