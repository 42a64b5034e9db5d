#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# usage: check-exits.sh TOP   commands end in one place, lib/cli/command.c, and options are
# refused in one place, lib/cli/options.c
cd "$1" || exit 1
failed=0
none() {
  what=$1
  shift
  if grep -nE "$what" "$@"; then
    echo "$what: return an error (struct fab_err) instead, fab_cli_main() says it and ends"
    failed=1
  fi
}
once() { # WHAT FILE
  n=$(grep -cE "$1" "$2")
  [ "$n" = 1 ] || {
    echo "$2: $n lines with $1, expected one"
    failed=1
  }
}
ends='(^|[^a-z_])(_?exit|abort|quick_exit|argp_error|argp_failure|fab_cli_die|fab_cli_exit) ?\('
# shellcheck disable=SC2046 # names without blanks
none "$ends" $(find cmd -name '*.[ch]')
# shellcheck disable=SC2046
none "$ends" $(find lib/cli -name '*.c' ! -name process.c ! -name command.c ! -name options.c)
once '[^a-z_]exit\(' lib/cli/command.c
once 'argp_error\(' lib/cli/options.c
# and each command begins there
for main in cmd/*/main.c; do
  once 'fab_cli_main\(&command' "$main"
done
exit $failed
