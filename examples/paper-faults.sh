#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# usage: paper-faults.sh [--commands|quick]
# Sets what Liu B., Hu S., Shi D., Lu H., "VTFTR: deadlock-free fault-tolerant routing algorithm in
# high-dimension fat tree", claim beside what fabric-faults finds, and what a construction for
# InfiniBand makes of it: a row for each claim, with the verdict that follows from the figures, and
# with --commands the command. With `quick` all sets of dead leaves are tried on 4 x 3 in place of 4 x 4, 20 sets
# are drawn where there are 100, and of 72 x 72 in 24 planes there are 24 x 24 in 2. Finds fabric-faults in PATH or in
# build/cmd. Exits with 1 when a figure differs from what is expected.
set -eu
commands=${1-}
few=4x4 most_known=6 most_dead=14 n_sets=65518 n_drawn=100 minimal=5130200 some_stuck=6 planes=24 wide=72x72 paper_hosts=124416
if [ "$commands" = quick ]; then
  commands=''
  few=4x3 most_known=4 most_dead=10 n_sets=4082 n_drawn=20 minimal=1026040 some_stuck=1 planes=2 wide=24x24 paper_hosts=-
fi
few_text="${few%x*} x ${few#*x}"
cd "$(dirname "$0")/.."
PATH=$PATH:$PWD/build/cmd
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# column NAME OPTION...: that column of the only row
column() {
  name=$1
  shift
  echo "fabric-faults $*" >"$work/command"
  fabric-faults --quiet --format=csv --no-header --columns="$name" "$@" | tr -d '\r'
}

# field N: of the row of several columns
field() { echo "$row" | cut -d , -f "$1"; }

# figure WHAT PAPER EXPECTED OURS: ours must be as expected, to the digits given
figure() {
  awk -v what="$1" -v paper="$2" -v want="$3" -v ours="$4" 'BEGIN {
    digits = want; sub(/[eE].*/, "", digits); gsub(/[^0-9]/, "", digits); sub(/^0*/, "", digits)
    same = want == ours || (want + 0 != 0 && \
      sprintf("%.*e", length(digits) - 1, ours) == sprintf("%.*e", length(digits) - 1, want))
    printf "%-62s %11s %12s  %s\n", what, paper, ours, \
      !same ? "DIFFERS" : paper == "-" ? "" : paper == want ? "reproduced" : paper ~ /^>/ ? "assumed" : "refuted"
  }' | tee -a "$work/rows"
  [ -z "$commands" ] || [ ! -f "$work/command" ] || sed 's/^/    /' "$work/command"
  rm -f "$work/command"
}

grid=gen:kfat:dims=16x16,hosts=1
small=gen:kfat:dims=8x8,hosts=1
printf '%-62s %11s %12s\n' figure paper ours

# latency: 35 ns a hop and 27 ns; the hosts' own two links are not counted in max_hops
latency() { echo $(($1 * 35 + 2 * 35 + 27)); }
figure 'ns to another row and column, xy' 237 237 "$(latency "$(column max_hops $small --algorithm=xy)")"
figure 'ns by yx around a dead leaf, vtftr' 237 237 \
  "$(latency "$(column max_hops $small --algorithm=vtftr --fail=1.1)")"
figure 'ns when both turns are dead, vtftr' 307 307 \
  "$(latency "$(column max_hops $small --algorithm=vtftr --fail=1.1,2.2)")"
figure 'ns by the detour of algorithm A' 377 377 \
  "$(latency "$(column max_hops $small --algorithm=algorithm-a --fail=1.1)")"

# reachability
figure 'leaf pairs that xy loses by one dead leaf, 16 x 16 (n^2 stated)' 256 225 "$(column unreachable $grid --algorithm=xy --fail=7.7)"
figure 'leaf pairs that algorithm A loses by 15 dead leaves' - 180 \
  "$(column unreachable $grid --algorithm=algorithm-a --random=15)"
row=$(column unreachable,vls,deadlock_free,max_hops $grid --algorithm=vtftr --random=15 --count=$n_drawn)
figure "pairs lost by vtftr, $n_drawn sets of 15 faults" 0 0 "$(field 1)"
figure 'lanes of vtftr, those sets' 2 2 "$(field 2)"
figure 'free of deadlock: vtftr, those sets' true true "$(field 3)"
figure 'most hops of a path of the tables, those sets (3 segments)' 6 6 "$(field 4)"
figure 'free of deadlock: algorithm A, 20 sets of 5 faults' false false \
  "$(column deadlock_free $grid --algorithm=algorithm-a --random=5 --count=20)"
figure 'free of deadlock: the fewest hops, one dead leaf' - false "$(column deadlock_free $grid --algorithm=minhop --fail=7.7)"

# the rival with intermediate nodes, a lane more for each; which nodes it takes is not stated: here as few as there are
most=0
for k in 1 15 29 60; do
  rival=$(column vls $grid --algorithm=intermediate --set=max-vls=8 --random=$k --count=10)
  above=$((rival - $(column vls $grid --algorithm=vtftr --random=$k --count=10)))
  [ $above -le $most ] || most=$above
done
figure 'lanes by intermediate nodes above VTFTR, 1, 15, 29, 60 dead' '>0' 0 $most
figure '  service levels at 29 faults, by intermediate nodes' - 4 \
  "$(column sls $grid --algorithm=intermediate --set=max-vls=8 --random=29 --count=10)"
figure '  and by vtftr-ib' - 2 "$(column sls $grid --algorithm=vtftr-ib --random=29 --count=10)"

# every set of 1 to 6 (or 4) dead leaves of 4 x 4 (or 4 x 3): pairs are lost only where all rows and columns have a fault, and paths are
# shortest; sets that touch all of them by counting
longer=0 lost=0
for k in $(seq $most_known); do
  row=$(column pairs,unreachable,minimal,sets_unreachable,sets gen:kfat:dims=$few,hosts=1 --algorithm=vtftr --exhaustive="$k")
  touched=$(column algorithm,probability gen:kfat:dims=$few,hosts=1 --reliability --random="$k" --set=trials=1 | sed -n 's/^vtftr-rule,//p')
  longer=$((longer + $(echo "$row" | awk -F, '{ print $1 - $2 - $3 }')))
  lost=$((lost + $(echo "$row,$touched" | awk -F, '{ print $4 - int($5 * $6 + 0.5) }')))
done
figure "sets of 1 to $most_known of $few_text that lose a pair, but leave a row or column" 0 0 $lost
figure 'pairs of those sets that vtftr leads by more hops than needed' 0 0 $longer

# how likely faults touch every row and every column
for pair in 16:2.076e-12 20:2.877e-07 24:6.15e-05 30:4.40e-03 40:0.107; do
  k=${pair%%:*}
  paper=-
  [ "$k" = 20 ] && paper=4.807e-22
  figure "every row and column of 16 x 16 has one of $k faults" $paper "${pair#*:}" \
    "$(column algorithm,probability $grid --reliability --random="$k" --set=trials=1 | sed -n 's/^vtftr-rule,//p')"
done
figure '  and C(240,4)/C(256,20), where the figure of the paper is from' 4.807e-22 4.807e-22 \
  "$(column algorithm,as_published $grid --reliability --random=20 --set=trials=1 | sed -n 's/^vtftr-rule,//p')"

# repair before the next fault
repair() { column algorithm,faults,"$1" $grid --reliability --max-faults=20 --set=mtbf=10y --set=mttr=4h --set=trials=1 | sed -n 's/^vtftr-ib,20,//p'; }
figure 'next fault before repair, 256 leaves, mtbf 10 years, mttr 4 h' - 0.0116 "$(repair next_before_repair)"
figure '  seconds a year with a lost pair, at most' - 6.87e-54 "$(repair downtime_seconds)"

# beyond the paper
row=$(column unreachable,vls,sls,minimal $grid --random=29 --count=$n_drawn)
figure "pairs lost by vtftr-ib, $n_drawn sets of 29 faults" - 0 "$(field 1)"
figure '  lanes' - 2 "$(field 2)"
figure '  service levels' - 2 "$(field 3)"
figure '  pairs with a shortest path' - $minimal "$(field 4)"
figure 'some pair of sound leaves is cut off by 40 faults, at most' - 2.7e-18 \
  "$(column algorithm,bound $grid --reliability --random=40 --set=trials=1 | sed -n 's/^vtftr-ib,//p')"
figure '  by 64 faults, at most' - 8.2e-10 \
  "$(column algorithm,bound $grid --reliability --random=64 --set=trials=1 | sed -n 's/^vtftr-ib,//p')"

# every set of dead leaves of 4 x 4 (or 4 x 3) that leaves two
sets=0 lost=0 lanes=0 levels=0 free=true
for k in $(seq $most_dead); do
  row=$(column sets,pairs,unreachable,connected_in_graph,minimal,vls,sls,deadlock_free gen:kfat:dims=$few,hosts=1 --exhaustive="$k")
  old=$IFS
  IFS=,
  # shellcheck disable=SC2086
  set -- $row
  IFS=$old
  sets=$((sets + $1)) lost=$((lost + $4 - $5))
  [ "$6" -gt $lanes ] && lanes=$6
  [ "$7" -gt $levels ] && levels=$7
  [ "$8" = true ] || free=$8
done
figure "sets of 1 to $most_dead dead leaves of $few_text" - $n_sets $sets
figure '  pairs that are connected, but not by a shortest path' - 0 $lost
figure '  lanes' - 2 "$lanes"
figure '  service levels' - 3 "$levels"
figure '  free of deadlock' - true "$free"

# faults that the tables do not know
stuck() {
  echo "fabric-faults --local-reroute=$method $small $*" >"$work/command"
  fabric-faults --quiet --format=json --local-reroute="$method" $small "$@" | tr -d ' \r\n' |
    sed 's/.*"dodge":\[//; s/\].*//; s/},{/}\n{/g' | sed -n 's/.*"stuck":\([0-9]*\).*/\1/p'
}
diagonal=0.0,1.1,2.2,3.3,4.4,5.5,6.6
for method in lists search; do
  [ $method = lists ] && paper=0 || paper=-
  figure "packets stuck at one unknown fault, 8 x 8, by $method" $paper 0 "$(stuck | sed -n 1p)"
  figure '  with one known' $paper 0 "$(stuck --fail=2.3 | sed -n 1p)"
done
method=lists
figure '  by lists, with 7 known on the diagonal, of 2534' 0 434 "$(stuck --fail=$diagonal | sed -n 1p)"
some=0
for seed in $(seq $n_drawn); do
  [ "$(stuck --random=7 --seed="$seed" | sed -n 1p)" = 0 ] || some=$((some + 1))
done
figure "  by lists, of $n_drawn random sets of 7 known, sets with a stuck packet" 0 $some_stuck $some
method=search
figure '  by the search, with 7 known on the diagonal' - 0 "$(stuck --fail=$diagonal | sed -n 1p)"
figure '  by the search, at two unknown at once, with one known' - 49 "$(stuck --fail=2.3 | sed -n 2p)"
# future work of the paper: several rails, and trees in each line that are not full
figure 'hosts lost by a dead leaf of 8 x 8 with 8 hosts each' - 8 "$(column lost_hosts gen:kfat:dims=8x8,hosts=8 --fail=3.4)"
figure '  with two rails' - 0 "$(column lost_hosts gen:kfat:dims=8x8,hosts=8,rails=2 --fail=3.4)"
figure '  that lose a rail' - 16 "$(column lost_rail_hosts gen:kfat:dims=8x8,hosts=8,rails=2 --fail=3.4)"
tapered=gen:kfat:dims=16x16,hosts=1,levels=2,radix=8,up
row=$(column unreachable,vls $tapered=2 --random=15 --count=20)
figure 'pairs lost by vtftr-ib, 20 sets of 15 faults, lines with 2 up of 8' - 0 "$(field 1)"
figure '  lanes' - 2 "$(field 2)"
figure '  load when all send to all, as many up as down' - 3.01 "$(column load $tapered=4)"
figure '  load, 2 up' - 3.76 "$(column load $tapered=2)"

# 100 000 nodes: 24 planes of 72 x 72, a plane each for the hosts of a leaf
figure "hosts of ${wide%x*} x ${wide#*x} with $planes planes (\"more than 100 000\" with 24)" $paper_hosts $((${wide%x*} * ${wide#*x} * planes)) \
  "$(fabric-faults --quiet --format=json gen:kfat:dims=$wide,hosts=$planes,planes=$planes --algorithm=vtftr --fail=3.4 |
    sed -n 's/.*"hosts": \([0-9]*\).*/\1/p' | sed 1q)"

awk '/reproduced$/ { same++ } /refuted$/ { wrong++ } /assumed$/ { open++ } /DIFFERS$/ { differs++ }
  END { printf "%d claims reproduced, %d refuted, %d depend on assumptions; %d rows beyond the paper, %d differ\n",
    same, wrong, open, NR - same - wrong - open - differs, differs; exit differs > 0 }' "$work/rows"
