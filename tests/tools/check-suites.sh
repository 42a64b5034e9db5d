#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# usage: check-suites.sh FAB-TESTS SUITE...
# The suites registered are those that the program has: a filter that matches nothing
# would pass.
program=$1
shift
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
"$program" --list | sed -nE 's/^([A-Za-z0-9_]+): [0-9]+ tests?$/\1/p' | sort >"$work/there"
printf '%s\n' "$@" | sort >"$work/registered"
[ -s "$work/there" ] || { echo 'no suites'; exit 1; }
echo 'suites registered (<), suites there (>):'
diff "$work/registered" "$work/there"
