#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# usage: check-options.sh PROGRAM PAGE
# The options in --help=all and the names in --list-settings are those of the manual page and of
# what completions offer; --help shows everyday options in at most 40 lines; --help,
# --version, an unknown option and no argument behave as they should.
set -u
program=$1 page=$2
name=$(basename "$program")
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failed=0
unset ARGP_HELP_FMT
export LC_ALL=C COLUMNS=80

fail() {
  echo "$name: $*"
  failed=1
}

# run EXPECTED ARGUMENT...: output into out and err, and the status must be right
run() {
  expected=$1
  shift
  "$program" "$@" >"$work/out" 2>"$work/err" </dev/null
  status=$?
  [ $status -eq "$expected" ] || fail "$*: exit status $status instead of $expected"
}

words() {
  sed 's/\t.*//' | grep -oE -- '--[a-z][a-z0-9-]*' | sort -u
}

check_same() { # FILE WHERE
  if ! diff "$work/help" "$1" >"$work/diff"; then
    fail "options of --help (<) and of $2 (>) differ:"
    cat "$work/diff"
  fi
}

run 0 --help
[ -s "$work/err" ] && fail '--help writes to standard error'
cp "$work/out" "$work/everyday"
run 0 --help=all
! cmp -s "$work/out" "$work/everyday" && [ "$(wc -l <"$work/everyday")" -gt 40 ] &&
  fail '--help has more than 40 lines'
# "  -o, --output=FILE   text": the part before two blanks
sed -nE 's/^ {2,6}(-.*)$/\1/p' "$work/out" | sed -E 's/  .*//' | words >"$work/help"
[ -s "$work/help" ] || fail '--help names no options'

run 0 --version
[ "$(cat "$work/out")" ] && [ ! -s "$work/err" ] || fail '--version belongs on standard output'

run 2 --no-such-option
[ -s "$work/out" ] && fail 'an unknown option writes to standard output'
# the hint is wrapped behind a long name
[ "$(sed '/^Try /,$d' "$work/err" | wc -l)" -eq 1 ] && grep -q '^Try ' "$work/err" ||
  fail 'an unknown option needs one line and a hint on standard error'

run 2
[ -s "$work/out" ] && fail 'no argument: writes to standard output'
[ -s "$work/err" ] || fail 'no argument: says nothing'

# names in front of the items of lists, and what the page leaves to the page that commands share
tags() {
  awk '/^\.HP/ { tag = 1; next } tag { print; tag = 0 }' |
    sed -e 's/\\fR\\ .*//' -e 's/\\f[A-Z]//g' -e 's/\\-/-/g'
}
tags <"${page%/*}/fabric-options.7" | grep '^-' | words >"$work/shared"
{
  tags <"$page" | grep '^-' | words
  grep -e 'explains what all commands have' -e '^Also there:' -e 'is there, too' "$page" | sed 's/\\-/-/g' | words |
    grep -xFf "$work/shared"
} | sort -u >"$work/page"
check_same "$work/page" "$page"

: >"$work/settings"
if grep -q -e --list-settings "$work/help"; then
  run 0 --list-settings --format=csv --no-header
  sed 's/,.*//' "$work/out" | sort >"$work/settings"
  [ -s "$work/settings" ] || fail '--list-settings lists nothing'
  # in lists, and constants of models with a text behind a colon
  sed -n '/^\.SS Settings/,/^\.SH/p' "$page" >"$work/section"
  {
    tags <"$work/section" | sed 's/=.*//; s/, /\n/g' | grep -v '^[A-Z]'
    sed -n '/^\.SS Constants/,/^\.SH/p' "$page" | grep -oE 'fB[A-Za-z0-9\\_-]+\\fR: ' |
      sed 's/\\-/-/g; s/^fB//; s/\\fR: //'
  } | sort >"$work/page"
  diff "$work/settings" "$work/page" || fail "settings of --list-settings (<) and of $page (>) differ"
fi

# what completions offer
run 0 --complete -
words <"$work/out" >"$work/offered"
check_same "$work/offered" --complete
for word in - -- -o =; do
  run 0 --complete "$word" ''
done
run 0 --complete --set=
sed -n 's/^--set=\([^=\t]*\).*/\1/p' "$work/out" | sort | diff "$work/settings" - ||
  fail 'settings of --list-settings (<) and of --complete (>) differ'
exit $failed
