#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# usage: ftree-guids.sh TOPO FABRIC USED
# The real OpenSM under ibsim takes the files that fabric-topo writes by --to=root-guids
# and --to=cn-guids of FABRIC, a generator spec or a path below FAB_TEST_DATA. USED is the
# engine that comes out: ftree, or minhop, to which OpenSM falls back with an error in its
# log. TOPO is fabric-topo. Exit status 77 (skipped) when a program or the dump is missing.
set -u
# shellcheck source=tests/interop/alone.bash
. "$(dirname "$(readlink -f "$0")")/alone.bash"
[ $# -eq 3 ] || { sed -n '3,7s/^# //p' "$0" >&2; exit 2; }
topo=$(readlink -f "$1") fabric=$2 used=$3
find_dump
# shellcheck source=tests/interop/simulated.bash
. "$(dirname "$(readlink -f "$0")")/simulated.bash"
need ibsim opensm
for kind in root-guids cn-guids ibnetdiscover; do
  "$topo" -q --to=$kind -o $kind "$fabric" || fail "no $kind"
done
# ibsim gives port n of an adapter its node GUID plus n, whatever the dump says
node=
while read -r word rest; do
  case $word in
  Ca) node=${rest#*'"H-'} node=${node%%'"'*} ;;
  Switch) node= ;;
  '['*'('*) # [1](guid)
    port=${word#'['} guid=${word#*'('}
    [ -n "$node" ] && printf '0x%016x 0x%016x\n' $((0x${guid%')'*})) $((0x$node + ${port%%']'*}))
    ;;
  esac
done <ibnetdiscover >ports
awk 'NR == FNR { of[$1] = $2; next } $1 in of { print of[$1] }' ports cn-guids >compute
[ "$(wc -l <compute)" -eq "$(grep -c ^0x cn-guids)" ] || fail "not all ports of cn-guids are in the net file"
simulate "$PWD/ibnetdiscover"
manage "$PWD/ibnetdiscover" ftree -a "$PWD/root-guids" -u "$PWD/compute"
managed_by "$used"
if [ "$used" = ftree ]; then
  grep -E 'ERR AB[0-9A-F]+' "$logs/opensm.log" && fail "ftree complains"
else
  grep -E 'ERR AB[0-9A-F]+|cannot build lid matrices' "$logs/opensm.log" || fail "no reason in the log"
fi
exit 0
