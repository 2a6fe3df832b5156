#!/usr/bin/env bash
# Sets everything up, builds, and runs the tests.
#
# Usage: tests/run.sh [--full] [--preset NAME] [--only REGEX] [--list]
#   --full         also ASan, TSan and fuzzing of everything, and the container
#   --preset NAME  the CMake preset to build and test (default release)
#   --only REGEX   only the stages whose names match; set-up is always done
#   --list         print the stages' names and stop
#
# Each stage's output is in build/logs/<stage>.log. A failed stage does not
# stop the others. The last line is `N passed, N failed`; exits 1 if any check
# failed or none ran.
set -uo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root" || exit 1
# What one clone has compiled serves another.
export CCACHE_BASEDIR=$root CCACHE_NOHASHDIR=true
export FOLD_VENV=${FOLD_VENV:-$root/build/venv}
python=$FOLD_VENV/bin/python
shared=${FOLD_SHARED:-$root/../shared}
logs=$root/build/logs
preset=release
full=no
only=.
list=no
passed=0
failed=0

while [ $# -gt 0 ]; do
  case "$1" in
    --full) full=yes ;;
    --preset) preset=$2 && shift ;;
    --only) only=$2 && shift ;;
    --list) list=yes ;;
    -h | --help)
      sed -n '2,/^set /{/^#/s/^# \{0,1\}//p}' "${BASH_SOURCE[0]}"
      exit 0
      ;;
    *)
      echo "run.sh: unknown argument $1" >&2
      exit 2
      ;;
  esac
  shift
done
build=$root/build/$preset
bin=$build/bin
mkdir -p "$logs"
# All that the tests leave lying about, gone at the end.
TMPDIR=$(mktemp -d -t fold_run_XXXXXX) || exit 1
chmod 755 "$TMPDIR"
export TMPDIR TEST_TMPDIR=$TMPDIR
trap '(rm -rf "$TMPDIR" </dev/null >/dev/null 2>&1 &)' EXIT

# stage NAME KIND COMMAND…: runs COMMAND and counts what it says. KIND:
#   setup  counts only when it fails
#   exit   one check, by the exit code
#   count  the last `N passed, N failed` that COMMAND prints
#   ctest  ctest's closing line
stage() {
  local name=$1 kind=$2 log=$logs/$1.log start=$SECONDS code good=0 bad=0
  shift 2
  if [ "$kind" != setup ] && ! [[ $name =~ $only ]]; then
    return
  fi
  if [ "$list" = yes ]; then
    echo "$name"
    return
  fi
  "$@" >"$log" 2>&1 </dev/null
  code=$?
  case "$kind" in
    setup) [ $code -eq 0 ] || bad=1 ;;
    exit) if [ $code -eq 0 ]; then good=1; else bad=1; fi ;;
    count) read -r good bad < <(count_closing "$log") ;;
    ctest) read -r good bad < <(count_ctest "$log") ;;
  esac
  if [ $code -ne 0 ] && [ "$bad" -eq 0 ]; then bad=1; fi
  passed=$((passed + good))
  failed=$((failed + bad))
  printf '== %-24s %5d s   %d passed, %d failed\n' \
    "$name" $((SECONDS - start)) "$good" "$bad"
  grep -E 'SKIPPED|warning: ' "$log" | head -n 20
  if [ "$bad" -gt 0 ]; then
    show_failure "$log"
  fi
}

# The counts of the last closing line; one failure where there is none.
count_closing() {
  local line
  line=$(grep -E '^[0-9]+ passed, [0-9]+ failed$' "$1" | tail -n 1)
  line=${line:-0 passed, 1 failed}
  echo "${line//[^0-9 ]/}"
}

count_ctest() {
  local line total bad
  line=$(grep -E '[0-9]+ tests failed out of [0-9]+' "$1" | tail -n 1)
  if [ -z "$line" ]; then
    if grep -q '^No tests were found' "$1"; then echo 0 0; else echo 0 1; fi
    return
  fi
  total=${line##* }
  bad=$(sed -E 's/.* ([0-9]+) tests failed.*/\1/' <<<"$line")
  echo $((total - bad)) "$bad"
}

show_failure() {
  if grep -qE '^FAIL|\*\*\*Failed|\*\*\*Timeout' "$1"; then
    grep -E '^FAIL|\*\*\*|\[  FAILED  \]|Failure$|error:' "$1" | head -n 60
  else
    tail -n 40 "$1"
  fi
  echo "   (all of it: ${1#"$root"/})"
}

skip() {
  if [ "$list" = no ] && [[ $1 =~ $only ]]; then
    echo "== $1: SKIPPED, $2"
  fi
}

# configure PRESET [TARGET…]: builds everything, or these targets.
configure() {
  local preset=$1
  shift
  cmake --preset "$preset" &&
    cmake --build "build/$preset" -j "$(nproc)" --target "${@:-all}" -- -k 0
}

run_ctest() {
  ctest --test-dir "build/$1" -j "$(nproc)" --output-on-failure --timeout 300 \
    "${@:2}"
}

lints() {
  stage lint_selftest count "$python" tests/lint/lint_test.py
  local name
  for name in layers sizes format duplicates text; do
    stage "lint_$name" exit "$python" "tests/lint/check_$name.py"
  done
  stage lint_shell exit shellcheck tests/run.sh deploy/*.sh tests/e2e/*.sh \
    .ci/run
  stage lint_tidy exit "$python" tests/lint/check_tidy.py --build "$build"
}

# Models that the repository makes itself, against its own exact reference.
own_models() {
  local models=$build/models
  stage models_sample count "$python" tests/models/models_test.py
  stage models_make setup "$python" tests/models/make_models.py "$models"
  stage conformance count "$python" tests/conformance/run.py \
    "$models/ops.tsv" --bin "$bin" --taps
}

acceptance() {
  local checker=$shared/acceptance/check_models.py
  local models=$shared/models/accept_first.tsv
  if [ ! -f "$checker" ] || [ ! -f "$models" ]; then
    skip acceptance "no ${shared#"$root"/} beside this clone"
    return
  fi
  local foldd=("$python" tests/e2e/foldd_process.py --bin "$bin" --)
  local check=("$python" "$checker" "$models" --bin "$bin")
  stage acceptance_foldc_taps count "${check[@]}" --taps
  stage acceptance_foldc count "${check[@]}"
  stage acceptance_foldd_taps count \
    "${foldd[@]}" "${check[@]}" --server @SERVER@ --taps
  stage acceptance_foldd count "${foldd[@]}" "${check[@]}" --server @SERVER@
  # Other dialects, with one operator as ONNX documents it (the script says
  # why).
  local dialects=("$python" tests/acceptance/check_models.py "$checker"
    "$shared/models/accept_dialects.tsv" --bin "$bin")
  stage dialects_foldc count "${dialects[@]}"
  stage dialects_foldd count "${foldd[@]}" "${dialects[@]}" --server @SERVER@
}

end_to_end() {
  local script
  for script in tests/e2e/*_test.py; do
    stage "e2e_$(basename "$script" _test.py)" count \
      "$python" "$script" --bin "$bin"
  done
}

# sanitized PRESET [ROOM]: the unit tests, of one room, under a sanitizer.
sanitized() {
  local name=$1${2:+_$2}
  [[ ${name}_ctest =~ $only ]] || return 0
  stage "${name}_build" setup configure "$1" "${2:+$2/}all"
  stage "${name}_ctest" ctest run_ctest "$1${2:+/$2}" -LE full \
    --no-tests=error
}

fuzzed() {
  [[ fuzz =~ $only ]] || return 0
  stage fuzz_build setup configure fuzz fuzzers
  stage fuzz count "$python" tests/fuzz/run.py --folder build/fuzz/fuzz \
    --seconds 60
}

stage setup_deps setup deploy/install-deps.sh
stage setup_build setup configure "$preset"
lints
stage properties_selftest count "$python" tests/properties/check_test.py
stage properties count "$python" tests/properties/check.py
stage ctest ctest run_ctest "$preset" -LE full --no-tests=error
own_models
end_to_end
acceptance
if [ "$full" = yes ]; then
  stage ctest_full ctest run_ctest "$preset" -L full
  stage lint_tidy_all exit "$python" tests/lint/check_tidy.py \
    --build "$build" --all --limit-seconds 3600
  sanitized asan
  # All that has threads.
  sanitized tsan server
  sanitized tsan client
  fuzzed
  if [[ container =~ $only ]]; then
    stage container_deps setup deploy/install-deps.sh --containers
    stage container count tests/e2e/container.sh --bin "$bin"
  fi
fi

if [ "$list" = yes ]; then
  exit 0
fi
echo "all stages: $SECONDS s"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
