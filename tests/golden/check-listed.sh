#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# usage: check-listed.sh CASE...   every case here is registered in meson.build
cd "$(dirname "$0")" || exit 1
status=0
for cmd in */cmd; do
  case " $* " in
  *" ${cmd%/cmd} "*) ;;
  *)
    [ -f "$cmd" ] || continue
    echo "${cmd%/cmd} is not listed in tests/golden/meson.build"
    status=1
    ;;
  esac
done
exit $status
