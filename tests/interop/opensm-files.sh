#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# usage: opensm-files.sh TOPO FAULTS FABRIC ENGINE...
# OpenSM's own files, unmodified: opensm-lfts.dump, opensm-sl2vl.dump and the records of saquery
# for all pairs of adapters give the verdicts that files converted by this script give; and so does
# --algorithm=opensm:ENGINE, which asks the engine itself. An engine that cannot is minhop in all
# three. TOPO is fabric-topo, FAULTS fabric-faults. Exit status 77 (skipped) when a program is
# missing.
set -u
# shellcheck source=tests/interop/tables.bash
. "$(dirname "$(readlink -f "$0")")/tables.bash"
topo=$(readlink -f "$1") faults=$(readlink -f "$2") fabric=$3
shift 3
engines=("$@")
# shellcheck source=tests/interop/simulated.bash
. "$(dirname "$(readlink -f "$0")")/simulated.bash"
need ibsim opensm saquery jq
"$topo" -q --to=ibnetdiscover -o net "$fabric" || fail "no net file"
mkdir sm
logs=$work/sm

hex='function hex(text, value, i) {
  for (i = 1; i <= length(text); i++)
    value = value * 16 + index("123456789abcdef", tolower(substr(text, i, 1)))
  return value
}'
# "node LID SL" out of records, by the node of each LID
convert_levels() {
  awk "$hex"'FNR == NR { for (i = 1; i <= NF; i++) {
         if ($i ~ /^NodeGUID:/) node = substr($i, 10)
         if ($i ~ /^LID:/) of[hex(substr($i, 5))] = node } next }
    /PathRecord dump/ { next }
    { split($1, field, /\.+/) }
    field[1] == "slid" { slid = field[2] }
    field[1] == "dlid" { dlid = field[2] }
    field[1] == "sl" { print "0x" of[slid], dlid, hex(substr(field[2], 3)) }' sm/opensm-subnet.lst records
}
convert_lanes() {
  awk '/^Switch/ { node = substr($2, 1, 18) }
    /^Channel|^Router/ { node = "" }
    node != "" && /^[0-9]/ { printf "%s %d %d", node, $1, $2
      for (i = 4; i < 20; i += 2) printf " 0x%x%x", $i, $(i + 1)
      print "" }' sm/opensm-sl2vl.dump
}
columns=algorithm,pairs,unreachable,max_hops,minimal,vls,sls,deadlock_free,cycle_channels,pairs_on_cycles,load
verdict() { # OPTION...
  "$faults" left -q --endpoints=hosts --format=csv --no-header --columns=$columns "$@" >row || fail "not analysed: $*"
  tr -d '\r' <row | cut -d , -f 2-
}
without_levels() { # VERDICT
  echo "$1" | cut -d , -f 1-4,7-
}
compare() { # ENGINE
  local lids src dst own converted run
  rm -f sm/*
  manage net "$1" -Q
  kill -0 "$sm" || fail "opensm ended"
  lids=$(awk "$hex"'/ CA(-SM)? / { for (i = 1; i <= NF; i++) {
    if ($i ~ /^CA/) ca = 1
    if ($i ~ /^SW/) ca = 0
    if (ca && $i ~ /^LID:/) print hex(substr($i, 5)) } }' sm/opensm-subnet.lst | sort -nu)
  : >records
  for src in $lids; do
    for dst in $lids; do
      [ "$src" = "$dst" ] && continue
      SIM_HOST=$(host net 1) LD_PRELOAD=$so within 60 saquery --src-to-dst "$src:$dst" >>records 2>sa.log ||
        fail "no record: $(cat sa.log)"
    done
  done
  kill "$sm"
  wait "$sm" 2>/dev/null
  sm=
  "$topo" -q --to=ibnetdiscover sm/opensm-subnet.lst >left || fail "its links are not read"
  convert_levels >levels
  convert_lanes >lanes
  [ "$(wc -l <levels)" -eq "$(grep -c 'PathRecord dump' records)" ] && [ -s lanes ] || fail "not converted"
  own=$(verdict --lfts=sm/opensm-lfts.dump --path-sl=records --sl2vl=sm/opensm-sl2vl.dump) || exit 1
  converted=$(verdict --lfts=sm/opensm-lfts.dump --path-sl=levels --sl2vl=lanes) || exit 1
  [ "$own" = "$converted" ] || fail "$1: own files $own, converted $converted"
  run=$(verdict --algorithm=opensm:"$1" --lfts-out=mine --set=time-limit=1h) || exit 1
  # dfsssp spreads levels by chance, by the second of its start
  [ "$(without_levels "$own")" = "$(without_levels "$run")" ] ||
    fail "$1: own files $own, run $run"
  entries sm/opensm-lfts.dump >want
  entries mine | cmp - want || fail "$1: other tables"
  echo "$fabric, $1: $(wc -l <levels) levels, $(wc -l <lanes) lanes: $own"
}
simulate net
for engine in "${engines[@]}"; do
  compare "$engine"
done
# the end of an answer that the simulator cuts off is seen
sed -n '1,/sl\.\./p' records >short
printf 'PathRecord dump:\n\t\tdlid....................0\n\t\tslid....................0\n\t\tsl......................0x0\n' >>short
"$faults" left --lfts=sm/opensm-lfts.dump --path-sl=short 2>err
[ $? -eq 3 ] && grep -q 'has LID 0: the answer to saquery was cut off' err || fail "not refused: $(cat err)"
exit 0
