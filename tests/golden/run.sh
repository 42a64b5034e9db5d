#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# usage: run.sh [--full] CASE   run one golden case, a folder with
#   cmd   shell commands; they run in an empty folder, with the commands of the build first
#         in PATH, $CASE the folder of the case, $SOURCE that of the project, $DATA real dumps
#   out   standard output expected; absent: it must be empty
#   err   standard error expected; absent: it must be empty
#   rc    exit status expected; absent: 0
#   need  a shell condition; when it fails the case is skipped (exit 77)
# With --full: cmd-full and out-full in place of cmd and out, the same in the sizes of a paper (soak.sh).
# In out and err a line that is only `...` stands for any number of lines.
# FAB_UPDATE_GOLDEN=1 writes out, err and rc anew: review the difference before you commit.
# In an expected file that has `...` lines nothing is rewritten.
set -u
full=''
[ "$1" != --full ] || { full=-full && shift; }
case_dir=$(cd "$1" && pwd) || exit 1
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
mkdir "$work/in"

export CASE="$case_dir" SOURCE="${FAB_SOURCE_DIR:-$here/../..}"
export DATA="${FAB_TEST_DATA:-}"
[ -n "$DATA" ] || DATA="$SOURCE/../shared/topologies"
export TERM=dumb COLUMNS=100 LC_ALL=C.UTF-8
unset ARGP_HELP_FMT NO_COLOR CLICOLOR_FORCE OMP_NUM_THREADS

cd "$work/in" || exit 1
if [ -f "$case_dir/need" ] && ! sh "$case_dir/need"; then
  echo "skipped: needs $(cat "$case_dir/need")"
  exit 77
fi
sh "$case_dir/cmd$full" >"$work/out$full" 2>"$work/err" </dev/null
echo $? >"$work/rc"

has_gaps() {
  [ -f "$1" ] && grep -qx '\.\.\.' "$1"
}

update() { # NAME DEFAULT
  has_gaps "$case_dir/$1" && return
  if [ "$(cat "$work/$1")" = "$2" ]; then
    rm -f "$case_dir/$1"
  else
    cp "$work/$1" "$case_dir/$1"
  fi
}

# Does the text $2 match $1, in which a line `...` stands for any lines?
matches_gaps() {
  awk -v expected="$1" '
    BEGIN { while ((getline line < expected) > 0) want[++n] = line }
    { got[++m] = $0 }
    END {
      # greedy match with one step back, as for * in a shell pattern
      i = j = 1; star = 0
      while (j <= m) {
        if (i <= n && want[i] == "...") { star = i++; again = j }
        else if (i <= n && want[i] == got[j]) { i++; j++ }
        else if (star) { i = star + 1; j = ++again }
        else exit 1
      }
      while (i <= n && want[i] == "...") i++
      exit i <= n
    }' "$2"
}

check() { # NAME DEFAULT
  if [ -f "$case_dir/$1" ]; then
    expected=$case_dir/$1
  else
    expected=$work/default
    printf '%s' "$2" >"$expected"
  fi
  if has_gaps "$expected"; then
    matches_gaps "$expected" "$work/$1" && return 0
  else
    cmp -s "$expected" "$work/$1" && return 0
  fi
  echo "$1 differs from what is expected:"
  diff -u "$expected" "$work/$1"
  return 1
}

if [ "${FAB_UPDATE_GOLDEN:-}" = 1 ]; then
  update "out$full" ''
  update err ''
  update rc 0
  echo "rewritten: $case_dir"
  exit 0
fi
status=0
check rc "0
" || status=1
check "out$full" '' || status=1
check err '' || status=1
exit $status
