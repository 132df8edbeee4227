#!/usr/bin/env bash
# `make demo`: builds Lathe, tunes a network and prints a table: untuned, tuned, ONNX Runtime, speed-ups.
# From the environment, each with a default: MODEL (an ONNX file), TIME (seconds of tuning), CORES,
# INPUT ("NAME=1,3,224,224", for a free input dimension; several are separated by blanks).
# Leaves everything under .demo/ and .venv/. The records of an earlier demo of that model are started anew.
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD
cores=${CORES:-1}
seconds=${TIME:-240}
inputs=()
for input in ${INPUT:-}; do inputs+=(--input "$input"); done
mkdir -p .demo

say() { printf '\n== %s\n' "$*"; }

build() {
  env -u MAKEFLAGS make --no-print-directory > .demo/build.log 2>&1 ||
    { tail -n 40 .demo/build.log >&2; return 1; }
}

say "building Lathe (log: .demo/build.log), meanwhile fetching ONNX Runtime"
build &
build_job=$!
trap 'kill "$build_job" 2> /dev/null || true' EXIT
sh tools/make_environment.sh
if [ -n "${MODEL:-}" ]; then
  model=$(realpath -- "$MODEL")
else
  model=$root/.demo/resnet18.onnx
  [ -e "$model" ] || .venv/bin/python models/materialize.py .demo resnet18 > /dev/null
fi
wait "$build_job"

name=$(basename "$model" .onnx)
out=$root/.demo/$name
lathe=$root/build/release/bin/lathe
rm -rf "$out"
mkdir -p "$out"
cd "$out" # ./lathe.db, should a command want its default, is this run's own

# All cores that the figures will be taken on; a core that is not used for them builds candidates.
cpus=$(taskset -cp $$ | sed 's/.*: //' | tr ',' '\n' |
  while IFS=- read -r first last; do seq "$first" "${last:-$first}"; done | sed -n "1,${cores}p" | paste -sd,)

say "compiling $name untuned (trial 0)"
taskset -c "$cpus" "$lathe" compile "$model" "${inputs[@]}" --out "$out/untuned"
say "tuning $name for $seconds s, for $cores core(s)"
"$lathe" tune "$model" "${inputs[@]}" --cores "$cores" --time "$seconds" --records "$out/lathe.db" \
  --json "$out/tuned.json" --out "$out/tuned"
say "timing, interleaved on core(s) $cpus"
"$root/.venv/bin/python" "$root/tools/compare_network.py" "$model" "${inputs[@]}" --lathe "$lathe" --cpus "$cpus" \
  --artifact "Lathe, untuned=$out/untuned" --artifact "Lathe, tuned $seconds s=$out/tuned"
