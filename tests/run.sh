#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Install what is missing, build twice (as released, and with sanitizers), run all tests in
# both builds, look for races between threads in a third one, and end with `N passed, N failed, N skipped`. Exit status 1 when any failed.
# --coverage instead: build for that, run all tests, and print the share of lines reached of each module.
set -u -o pipefail
cd "$(dirname "$0")/.." || exit 1
. tests/tools/packages.sh
# shellcheck disable=SC2086
install_packages $packages_build $packages_test || exit 1

[ "${1:-}" != --coverage ] || exec tests/tools/coverage.sh build-coverage

passed=0 failed=0 skipped=0

# Results of `meson test` out of its JUnit file, as "passed failed skipped". Every unit test
# counts, and every other test as one. Those that a suite's filter left out do not count.
count() { # FILE
  awk '
    BEGIN { RS = "<testcase " }
    NR > 1 {
      name = $0; sub(/^name="/, "", name); sub(/".*/, "", name)
      class = $0; sub(/.*classname="/, "", class); sub(/".*/, "", class)
      if (name ~ /^[0-9]+ - [a-z0-9_]+::/) {
        sub(/^[0-9]+ - /, "", name); sub(/::.*/, "", name)
        sub(/.* \/ /, "", class)
        if (name != class) next
      }
      if (/<(failure|error)[ >]/) failed++
      else if (/<skipped[ >]/) skipped++
      else passed++
    }
    END { print passed + 0, failed + 0, skipped + 0 }' "$1"
}

build_and_test() { # TITLE FOLDER MESON-OPTION...
  local title=$1 dir=$2 status p=0 f=0 s=0
  shift 2
  echo "== $title"
  if [ -f "$dir/build.ninja" ]; then
    meson setup --reconfigure "$dir" "$@" >/dev/null
  else
    meson setup "$dir" "$@" >/dev/null
  fi && ninja -C "$dir"
  status=$?
  if [ $status -eq 0 ]; then
    rm -f "$dir/meson-logs/testlog.junit.xml"
    # twice the processors: many tests wait for other programs
    meson test -C "$dir" --no-rebuild --print-errorlogs --num-processes $((2 * $(nproc)))
    status=$?
    [ -f "$dir/meson-logs/testlog.junit.xml" ] &&
      read -r p f s < <(count "$dir/meson-logs/testlog.junit.xml")
  fi
  # a build that failed, or a test program that passed its tests and failed at its exit
  [ $status -ne 0 ] && [ "$f" -eq 0 ] && f=1
  echo "$title: $p passed, $f failed, $s skipped"
  passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
}

# with the library, installed by a test into an empty root
build_and_test 'release build' build-tests -Dtests=enabled -Dpmix=auto -Dinstall_library=true \
  --prefix=/usr --libdir=lib
# of all that debuggers ask for, reports need the lines only
build_and_test 'sanitizer build' build-sanitizers -Dtests=enabled \
  --native-file tests/tools/dev.ini -Ddebug=false -Dc_args=-g1

echo '== races between threads'
output=$(tests/tools/races.sh build-races)
printf '%s\n' "$output"
read -r p f s < <(tail -n 1 <<<"$output" | tr -dc '0-9 ')
passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))

echo "$passed passed, $failed failed, $skipped skipped"
[ $failed -eq 0 ]
