#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# usage: check-scripts.sh SOURCE [sourced]   every shell script parses in the shell that it names, without
# a warning of shellcheck where that is installed
cd "$1" || exit 1
failed=0 checked=0
for script in $(find .ci examples tests -type f \( -name '*.sh' -o -path './.ci/*' -o -path '.ci/run' \)) \
  $(find tests/golden -name cmd -o -name cmd-full -o -name need); do
  shell='sh'
  case $(head -n 1 "$script") in
  *bash*) shell='bash' ;;
  esac
  command -v $shell >/dev/null || continue
  checked=$((checked + 1))
  "$shell" -n "$script" || { echo "$script: bad syntax"; failed=1; }
  case $script in
  *.sh | *.ci/*)
    [ -x "$script" ] || [ "${script##*/}" = packages.sh ] || { echo "$script: not executable"; failed=1; }
    ;;
  esac
done
# What a script sources is read again for each that does so, half of the time: only with `sourced` (soak.sh). Without it
# nothing is said of variables that one file sets and the other reads (SC2034, SC2154); most scripts have set -u.
if command -v shellcheck >/dev/null; then
  scripts=$(find .ci completions examples tests -type f \( -name '*.sh' -o -name '*.bash' -o -path .ci/run \))
  if [ "${2:-}" = sourced ]; then
    # shellcheck disable=SC2086 # names without blanks
    shellcheck -S warning $scripts || failed=1
  else
    # shellcheck disable=SC2046,SC2086
    shellcheck -S warning $(grep -LE '^ *(\.|source) ' $scripts) || failed=1
    # shellcheck disable=SC2046,SC2086
    shellcheck --norc -e SC2034,SC2154 -S warning $(grep -lE '^ *(\.|source) ' $scripts) || failed=1
  fi
fi
echo "$checked checked"
[ $checked -gt 0 ] || exit 1
exit $failed
