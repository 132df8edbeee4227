#!/usr/bin/env bash
# Checks that every C and C++ source is as clang-format 22 writes it; --fix writes it so.
set -euo pipefail
cd "$(dirname "$0")/.."
mode="--dry-run --Werror"
if [ "${1:-}" = --fix ]; then mode="-i"; fi
find src include cli python tests bench examples -name '*.h' -o -name '*.cpp' -o -name '*.c' |
  LC_ALL=C sort | xargs --no-run-if-empty clang-format-22 $mode --style=file
