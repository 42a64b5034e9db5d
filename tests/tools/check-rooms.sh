#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# usage: check-rooms.sh LIB   a room of the library includes only itself and rooms below it
cd "$1" || exit 1
below='' failed=0
for room in base fabric source event traffic boot unicast mcast opensm sim rdma launch present store export cli; do
  below="$below $room"
  [ -d "$room" ] || continue
  # shellcheck disable=SC2046 # names without blanks
  for used in $(sed -nE 's/^#include "([a-z]+)\/.*/\1/p' $(find "$room" -name '*.[ch]') | sort -u); do
    case " $below " in
    *" $used "*) ;;
    *)
      echo "$room includes $used, which is not below it:"
      grep -rn "#include \"$used/" "$room"
      failed=1
      ;;
    esac
  done
done
exit $failed
