#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# usage: check-golden.sh RUN.SH   the runner of golden cases passes and fails when it should
set -u
run=$1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failed=0
unset FAB_UPDATE_GOLDEN

new_case() { # NAME COMMAND
  mkdir "$work/$1"
  printf '%s\n' "$2" >"$work/$1/cmd"
}

expect() { # STATUS NAME [--full]
  # shellcheck disable=SC2086
  "$run" ${3-} "$work/$2" >"$work/log" 2>&1
  status=$?
  [ $status -eq "$1" ] && return
  echo "$2${3+ $3}: exit status $status instead of $1"
  cat "$work/log"
  failed=1
}

new_case silent true
expect 0 silent
new_case status 'exit 3'
expect 1 status
echo 3 >"$work/status/rc"
expect 0 status
new_case output 'echo a; echo b'
expect 1 output
printf 'a\nb\n' >"$work/output/out"
expect 0 output
printf 'a\nb' >"$work/output/out"
expect 1 output
new_case error 'echo e >&2'
expect 1 error
echo e >"$work/error/err"
expect 0 error
new_case skipped 'exit 1'
echo false >"$work/skipped/need"
expect 77 skipped
new_case gaps 'seq 9'
printf '1\n...\n4\n...\n9\n' >"$work/gaps/out"
expect 0 gaps
printf '1\n...\n4\n...\n8\n' >"$work/gaps/out"
expect 1 gaps
printf '...\n9\n...\n' >"$work/gaps/out"
expect 0 gaps
printf '...\n9\n8\n' >"$work/gaps/out"
expect 1 gaps
echo 'echo c' >"$work/output/cmd-full"
printf 'a\nb\n' >"$work/output/out"
echo c >"$work/output/out-full"
expect 0 output
expect 0 output --full
echo b >"$work/output/out-full"
expect 1 output --full
new_case updated 'echo x; echo y >&2; exit 4'
export FAB_UPDATE_GOLDEN=1
expect 0 updated
unset FAB_UPDATE_GOLDEN
expect 0 updated
[ "$(cat "$work/updated/rc")" = 4 ] || { echo 'rc was not rewritten'; failed=1; }
exit $failed
