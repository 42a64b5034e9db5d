#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# usage: ibdmchk.sh COMMANDS TABLES FABRIC PATTERN
# ibdmchk reads the fabric, made-up unicast tables and the trees of every algorithm that we
# write: it must find all groups sound, and find a loop and a cut that are planted.
# COMMANDS is the folder of the commands, TABLES the helper that makes tables.
# Exit status 77 (skipped) without ibdmchk.
set -u
# shellcheck source=tests/interop/alone.bash
. "$(dirname "$(readlink -f "$0")")/alone.bash"
PATH=$1:$PATH tables=$(readlink -f "$2") fabric=$3 pattern=$4
needs ibdmchk
find_dump
enter

# Its multicast section into `report`. It crashes when all is said: the text counts.
check() { # MCFDBS
  (within 200 ibdmchk -s subnet.lst -f fdbs -m "$1"; true) >all 2>&1
  sed -n '/Scanning all multicast groups/,/^---/p' all >report
  tail -n 1 report | grep -q '^---' || fail "no multicast section for $1: $(tail -n 3 all)"
}

fabric-topo --to=subnet-lst -o subnet.lst "$fabric" || fail "no subnet.lst"
"$tables" fdbs "$fabric" >fdbs || fail "no unicast tables"
for algorithm in $("$FAB_FILL" names MULTICAST); do
  fabric-mcroute -q "$fabric" --pattern="$pattern" --algorithm=$algorithm --mcfdbs-out=mcfdbs \
    --trees-out=trees --columns=max_efi,max_efi_all,tree_links,max_height --format=csv -o want ||
    fail "$algorithm: no tables"
  check mcfdbs
  grep -E '^-[EW]-' report && fail "$algorithm: trees refused"
  groups=$(grep -c '"hosts":\[\[[^]]*\],' trees)
  [ "$(grep -c 'Multicast Group:0x' report)" -eq "$groups" ] || fail "$algorithm: not $groups groups"
  # the same when read back, by ourselves
  for from in "$fabric" subnet.lst; do
    fabric-mcroute -q "$from" --mcfdbs=mcfdbs --check --format=csv -o got \
      --columns=max_efi,max_efi_all,tree_links,max_height || fail "$algorithm: broken trees"
    cmp want got || fail "$algorithm: read back otherwise"
  done
  echo "$algorithm: $groups trees sound, max_efi,max_efi_all,tree_links,max_height $(tail -n 1 want)"
done

for fault in loop cut; do
  "$tables" $fault "$fabric" mcfdbs >$fault || fail "no place for a $fault"
  check $fault
  case $fault in
  loop) grep -qE '^-E-.*loop' report || fail "ibdmchk finds no loop" ;;
  cut) grep -q '^-E- Disconnected switch' report || fail "ibdmchk finds no cut" ;;
  esac
  grep '^-E-' report | head -n 2
  fabric-mcroute -q "$fabric" --mcfdbs=$fault --check --format=json -o got
  [ $? -eq 1 ] || fail "we find no $fault"
  grep -q '"mlid": "0xc000", "problem": "'$fault got || fail "we find something else than a $fault"
  [ "$(grep -c '"problem"' got)" -eq 1 ] || fail "we find more than a $fault"
done
