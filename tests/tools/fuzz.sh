#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# usage: fuzz.sh SECONDS [TARGET...]   run each fuzz target (all) for so long, from its corpus
# Findings go to tests/fuzz/corpus/TARGET, where every later test run tries them.
# Exit status 1 when there are any.
set -u
seconds=${1:?usage: fuzz.sh SECONDS [TARGET...]}
shift
cd "$(dirname "$0")/../.." || exit 1
build='build-fuzz'
if [ ! -f $build/build.ninja ]; then
  CC=clang meson setup $build -Dfuzz=true -Dtests=disabled -Dbuildtype=release \
    -Db_lundef=false >/dev/null || exit 1
fi
ninja -C $build >/dev/null || { ninja -C $build; exit 1; }
if [ $# -eq 0 ]; then
  for program in "$build"/tests/fuzz/fuzz-*; do
    [ -f "$program" ] && set -- "$@" "${program##*/fuzz-}"
  done
fi

found=0
for target; do
  corpus=tests/fuzz/corpus/$target
  grown=$build/corpus/$target
  before=$(find "$corpus" -type f | wc -l)
  mkdir -p "$grown"
  # the first folder is where new inputs go; findings carry their kind in their name
  if ! timeout $((seconds + 180)) $build/tests/fuzz/fuzz-"$target" -max_total_time="$seconds" \
    -timeout=120 -rss_limit_mb=3000 -print_final_stats=1 -artifact_prefix="$corpus/found-" \
    "$grown" "$corpus" >"$build/$target.log" 2>&1; then
    found=1
    tail -n 40 "$build/$target.log"
  fi
  echo "$target: $(sed -n 's/^stat::number_of_executed_units: *//p' "$build/$target.log") runs," \
    "$(($(find "$corpus" -type f | wc -l) - before)) findings"
done
exit $found
