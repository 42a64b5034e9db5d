#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# usage: check-scripts.sh SOURCE   every shell script parses in the shell that it names, without
# a warning of shellcheck where that is installed
cd "$1" || exit 1
failed=0 checked=0
for script in $(find .ci examples tests -type f \( -name '*.sh' -o -path './.ci/*' -o -path '.ci/run' \)) \
  $(find tests/golden -name cmd -o -name need); do
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
# shellcheck disable=SC2046 # names without blanks
if command -v shellcheck >/dev/null; then
  shellcheck -S warning $(find .ci examples tests -type f \( -name '*.sh' ! -name packages.sh -o -path .ci/run \)) ||
    failed=1
fi
echo "$checked checked"
[ $checked -gt 0 ] || exit 1
exit $failed
