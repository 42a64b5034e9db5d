#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# usage: faults-cure.sh FAULTS FABRIC [EDIT]
# ibdmchk finds a credit loop in the tables of minhop for FABRIC with EDIT, and none after the
# first edit that fabric-faults --cure prints; every pair of adapters has a path both times.
# FAULTS is fabric-faults. Exit status 77 (skipped) without ibdmchk or the dump.
set -u
# shellcheck source=tests/interop/alone.bash
. "$(dirname "$(readlink -f "$0")")/alone.bash"
faults=$(readlink -f "$1") fabric=$2
edits=()
[ $# -gt 2 ] && edits=(--edit="$3")
needs ibdmchk
find_dump
enter

# Tables of minhop, and what ibdmchk says; it crashes when all is said: the text counts.
check() { # OPTION...
  "$faults" "$fabric" --algorithm=minhop -q --subnet-out=subnet.lst --fdbs-out=fdbs \
    -o /dev/null "$@" || fail "no tables: $*"
  : >mcfdbs
  (within 600 ibdmchk -s subnet.lst -m mcfdbs -f fdbs; true) >report 2>&1
  grep '^-E-.*\(path\|route\)' report && fail "paths are missing: $*"
  grep -q '^-I- Scanned:' report || fail "paths were not scanned: $*"
}

check "${edits[@]}"
grep -q 'credit loop on' report || fail "no loop is found before"
"$faults" "$fabric" --algorithm=minhop "${edits[@]}" --cure -q --format=csv --no-header \
  --columns=apply >cures || fail "no cure"
cure=$(sed -n "s/.*--edit='\(.*\)'.*/\1/p" cures | head -n 1)
[ -n "$cure" ] || fail "no cable is named: $(cat cures)"
check "${edits[@]}" --edit="$cure"
grep -q '^-I- no credit loops found' report || fail "a loop after $cure"
echo "$fabric: a loop before, none after $cure"
