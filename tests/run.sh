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

work=$(mktemp -d) || exit 1
trap 'kill "${others:-}" "${release:-}" 2>/dev/null; rm -rf "$work" "${memory:-}"' EXIT
# files of tests are in memory where that has room for them and programs may run from it
if [ -z "${TMPDIR:-}" ] && memory=$(mktemp -d /dev/shm/fabkit-XXXXXX 2>/dev/null); then
  chmod 1777 "$memory" # as /tmp: tests become other users
  printf '#!/bin/sh\n' >"$memory/run" && chmod +x "$memory/run"
  [ "$(df --output=avail -k "$memory" | tail -n 1)" -gt 4000000 ] && "$memory/run" && export TMPDIR=$memory
fi

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

build() { # FOLDER MESON-OPTION...
  if [ -f "$1/build.ninja" ]; then
    meson setup --reconfigure "$@" >/dev/null
  else
    meson setup "$@" >/dev/null
  fi && ninja -C "$1"
}

run_tests() { # TITLE FOLDER STATUS-OF-BUILD OPTION...
  local title=$1 dir=$2 status=$3 p=0 f=0 s=0 log=${1//[^a-z]/-}
  shift 3
  if [ "$status" -eq 0 ]; then
    rm -f "$dir/meson-logs/$log.junit.xml"
    # twice the processors: many tests wait for other programs
    meson test -C "$dir" --no-rebuild --print-errorlogs --logbase "$log" --num-processes $((2 * $(nproc))) "$@"
    status=$?
    [ -f "$dir/meson-logs/$log.junit.xml" ] &&
      read -r p f s < <(count "$dir/meson-logs/$log.junit.xml")
  fi
  # a build that failed, or a test program that passed its tests and failed at its exit
  [ $status -ne 0 ] && [ "$f" -eq 0 ] && f=1
  echo "$title: $p passed, $f failed, $s skipped"
  passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
}

# Print what a part that ran in the background wrote to FILE, and add its numbers `PASSED FAILED SKIPPED` in FILE.counts.
add() { # FILE
  local p=0 f=1 s=0
  cat "$1"
  read -r p f s <"$1.counts"
  passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
}

echo '== release build'
# with the library, installed by a test into an empty root
build build-tests -Dtests=enabled -Dpmix=auto -Dinstall_library=true --prefix=/usr --libdir=lib
status=$?
# Where tests of the release build wait, the processors make the other two builds, and run what needs no time but
# theirs.
(
  renice -n 19 $BASHPID >/dev/null
  # Of all that debuggers ask for, reports need the lines only; -O1 takes half the time of -O2 to compile. What the
  # three checks find nearly always crashes or is found by AddressSanitizer; they take a third of the time to compile.
  # Code with sanitizers makes gcc warn of variables that are set.
  build build-sanitizers -Dtests=enabled --native-file tests/tools/dev.ini -Ddebug=false -Db_pie=false -Doptimization=1 \
    -Dc_args='-g1 -fno-sanitize=null,object-size,pointer-overflow -Wno-maybe-uninitialized' >"$work/build" 2>&1
  status=$?
  [ $status -eq 0 ] || cat "$work/build"
  run_tests 'sanitizer build, unit and fuzz' build-sanitizers $status --suite unit --suite fuzz
  echo '== races between threads'
  tests/tools/races.sh build-races >"$work/races" 2>&1
  cat "$work/races"
  read -r p f s < <(tail -n 1 "$work/races" | tr -dc '0-9 ')
  echo $status >"$work/status"
  echo $((passed + p)) $((failed + f)) $((skipped + s)) >"$work/others.counts"
) >"$work/others" 2>&1 &
others=$!
# Tests with programs of others wait most of their time, and depend on prompt answers: the others run beside them and
# give way.
(
  renice -n 5 $BASHPID >/dev/null
  run_tests 'release build' build-tests $status --no-suite interop
  echo $passed $failed $skipped >"$work/release.counts"
) >"$work/release" 2>&1 &
release=$!
run_tests 'release build, with other programs' build-tests $status --suite interop
wait $release
add "$work/release"

wait $others
echo '== sanitizer build'
add "$work/others"
read -r status <"$work/status" || status=1
run_tests 'sanitizer build, all others' build-sanitizers "$status" --no-suite unit --no-suite fuzz

echo "$passed passed, $failed failed, $skipped skipped"
[ $failed -eq 0 ]
