#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# usage: coverage.sh BUILD   what tests/run.sh --coverage does: build for coverage, run all tests in it (an hour on two
# processors), and print the share of lines that they have reached of each module. Exit status 1 when one is too small.
set -u -o pipefail
build=$1
cd "$(dirname "$0")/../.." || exit 1

mkdir -p "$build" || exit 1
"${CC:-cc}" -O1 -fPIC -c tests/tools/coverage-exit.c -o "$build/exit.o" || exit 1
[ -f "$build/build.ninja" ] || meson setup "$build" -Dtests=enabled -Dbuildtype=debug -Doptimization=1 \
  -Db_coverage=true -Dc_args=-fprofile-update=atomic \
  "-Dc_link_args=-Wl,--wrap=_exit $(realpath "$build")/exit.o" >/dev/null || exit 1
ninja -C "$build" || exit 1
find "$build" -name '*.gcda' -delete
export GCOV_PREFIX_STRIP=0 # says to tests that times are not those of a release
meson test -C "$build" --no-rebuild --no-suite once --timeout-multiplier 6 --num-processes $((2 * $(nproc)))
# allocations only, as a write that fails could be one of the counts; those of the counting fail, too: no verdict
PATH=$(realpath "$build")/cmd:$PATH tests/tools/fail-once.py "$build/tests/tools/fail-alloc.so" examples/fabrics \
  tests/tools/fail-once.list 6 alloc >/dev/null
tests/tools/coverage.py "$build"
