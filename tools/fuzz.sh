#!/usr/bin/env bash
# Runs every fuzzer of fuzz/ for so many seconds, as many side by side as there are cores, and prints how many
# inputs each has tried. What it learns stays in build/asan/fuzz/corpus; an input that ends a fuzzer badly
# lies in build/asan/fuzz/findings, and the exit status is 1.
#   tools/fuzz.sh [SECONDS [SEED]]     (default: 600 seconds, another seed each time)
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${1:-600}
seed=${2:-0}
[ -e build/asan/build.ninja ] || cmake --preset asan -G Ninja --log-level=WARNING
fuzzers=$(for source in fuzz/*.cpp; do basename "$source" .cpp; done)
cmake --build build/asan -j "$(nproc)" --target $(printf 'fuzz_%s ' $fuzzers)
mkdir -p build/asan/fuzz/findings

finding() { # finding NAME: what was wrong and where (the stack's inner frames), and the input
  grep -v -E '^(#|INFO|Loaded|Warning: )|^==[0-9]+== WARNING' "build/asan/fuzz/$1.log" | head -n 24
  grep -a -E '^(SUMMARY|Base64)' "build/asan/fuzz/$1.log" || true
}

run() { # run NAME SECONDS SEED
  mkdir -p "build/asan/fuzz/corpus/$1"
  build/asan/bin/"fuzz_$1" -max_total_time="$2" -seed="$3" -timeout=60 -rss_limit_mb=6000 -dict=fuzz/words.dict \
    -artifact_prefix="build/asan/fuzz/findings/$1-" -print_final_stats=1 \
    "build/asan/fuzz/corpus/$1" "fuzz/corpus/$1" > "build/asan/fuzz/$1.log" 2>&1 || { finding "$1"; return 1; }
  echo "$1: $(sed -n 's/stat::number_of_executed_units: *//p' "build/asan/fuzz/$1.log") inputs, no finding"
}
export -f finding run
printf '%s\n' $fuzzers |
  xargs -P "$(nproc)" -I NAME bash -c "run NAME $seconds $seed"
