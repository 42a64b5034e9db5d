#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# usage: check-modules.sh LIB   a module of the library includes only itself and modules below it, and files that
# comments name are there
cd "$1" || exit 1
below='' failed=0
for module in base fabric source event traffic boot unicast mcast opensm sim rdma launch present store export peer cli; do
  below="$below $module"
  [ -d "$module" ] || continue
  # shellcheck disable=SC2046 # names without blanks
  for used in $(sed -nE 's/^#include "([a-z]+)\/.*/\1/p' $(find "$module" -name '*.[ch]') | sort -u); do
    case " $below " in
    *" $used "*) ;;
    *)
      echo "$module includes $used, which is not below it:"
      grep -rn "#include \"$used/" "$module"
      failed=1
      ;;
    esac
  done
  # shellcheck disable=SC2013 # names without blanks
  for named in $(grep -rhoE --include='*.[ch]' --include='*.md' "\b$module/[a-z_/]+\.[ch]\b" . ../cmd ../CONTRIBUTING.md |
    grep -v '^opensm/osm_' | sort -u); do
    [ -e "$named" ] || [ -e "../cmd/$named" ] || { grep -rnF "$named" . ../cmd ../CONTRIBUTING.md; failed=1; }
  done
done
exit $failed
