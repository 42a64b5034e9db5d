#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# usage: check-headers.sh LIB COMPILER...
# Every header compiles alone and twice included, with the first compiler that is there.
lib=$1
shift
failed=0 checked=0
for compiler in "$@"; do
  command -v "${compiler%% *}" >/dev/null || continue
  for header in $(cd "$lib" && find . -name '*.h' | sed 's|^\./||' | sort); do
    # those of the plug-in need OpenSM's
    if grep -q 'opensm/osm' "$lib/$header" && ! [ -f /usr/include/infiniband/opensm/osm_opensm.h ]; then
      continue
    fi
    checked=$((checked + 1))
    # not a system header for the compiler: its warnings count
    printf '#include "%s"\n#include "%s"\nextern int fab_not_empty;\n' "$header" "$header" |
      $compiler -std=gnu17 -D_GNU_SOURCE -Wall -Wextra -Wpedantic -Werror \
        -fsyntax-only -I"$lib" \
        -isystem /usr/include/infiniband -x c - || { echo "$compiler: $header"; failed=1; }
  done
  break
done
echo "$checked checked"
[ $checked -gt 0 ] || exit 1
exit $failed
