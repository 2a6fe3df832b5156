#!/usr/bin/env bash
# From a fresh Debian 12 to a compiled and running network, in one command.
#
# Usage: deploy/quickstart.sh
# Installs what is missing, builds foldd and its tools, starts foldd on
# loopback, compiles the sample network through it for x86-64, runs it on
# pictures that training never saw, and stops foldd again. The artifact and
# the report stay in build/quickstart.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
bin=build/release/bin
out=build/quickstart
sample=tests/models/sample
python=${FOLD_VENV:-$root/build/venv}/bin/python

step() { printf '\n== %s\n' "$*"; }

step "installing what is missing (apt, a Python environment)"
deploy/install-deps.sh

step "building (ten minutes on two cores the first time)"
cmake --preset release >build/configure.log ||
  { tail -n 40 build/configure.log && exit 1; }
cmake --build build/release -j "$(nproc)" --target foldd foldctl foldc foldrun

mkdir -p "$out"
free_port() {
  "$python" -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}
address=127.0.0.1:$(free_port)
http=127.0.0.1:$(free_port)

step "starting foldd on $address, http://$http/metrics"
"$bin/foldd" --listen "$address" --http "$http" --data "$out/data" \
  >"$out/foldd.log" 2>&1 &
server=$!
stop() {
  if kill -TERM "$server" 2>/dev/null; then
    wait "$server" || true
  fi
}
trap stop EXIT
for _ in $(seq 100); do
  "$bin/foldctl" health --server "$address" >/dev/null 2>&1 && break
  kill -0 "$server" 2>/dev/null || { cat "$out/foldd.log" && exit 1; }
  sleep 0.1
done
"$bin/foldctl" health --server "$address"

step "compiling $sample/sample.onnx for x86-64"
"$bin/foldctl" compile "$sample/sample.onnx" --server "$address" \
  --target x86-64 --shape image=100,1,12,12 --require integer-only \
  -o "$out/sample.fold" --report "$out/report.json"
"$python" deploy/show_report.py "$out/report.json"

step "running it on 100 pictures of digits"
"$bin/foldrun" "$out/sample.fold" --inputs "$sample/validation_images.npz" \
  --outputs "$out/logits.npz"
"$python" deploy/show_digits.py "$sample/validation_images.npz" \
  "$sample/validation_labels.npz" "$out/logits.npz"

step "stopping foldd"
stop
trap - EXIT
cat <<EOF

Next:
  $bin/foldc MODEL.onnx --target x86-64 -o MODEL.fold --report MODEL.json
      compile your own quantized ONNX model without a server
  $bin/foldd --listen 127.0.0.1:50051 --http 127.0.0.1:8080 --data DIR
      keep a server running; deploy/foldd.service is a systemd unit
  $bin/foldctl targets --server 127.0.0.1:50051
      what it can compile for
  tests/run.sh
      run the tests
EOF
