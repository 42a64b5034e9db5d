#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# usage: opensm-plugin.sh   the example on its smallest fabric (environment: BUILD, as it takes it), whose numbers
# the README has; with the plug-in the fullest cable has as many trees as the lower bound, or up to four more (14
# to 17 in 94 runs), as members happen to join
set -u
source=$(cd "$(dirname "$0")/../.." && pwd)
output=$("$source/examples/opensm-plugin.sh" quick) || exit
printf '%s\n' "$output"
read -r _ _ off on bound < <(tail -n 1 <<<"$output")
claim="200 groups on 128 hosts, $off trees on the fullest cable before, $bound to $((bound + 4)) after"
if [ "$on" -lt "$bound" ] || [ "$on" -gt $((bound + 4)) ] || ! grep -qF "$claim" "$source/README.md"; then
  echo "FAILED: the README does not say: $claim, or $on is far from the bound $bound"
  exit 1
fi
