#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# usage: plugin-losses.sh COMMANDS PLUGIN MCJOIN RESTARTS PERCENT [MODE [KIND]]
# The real OpenSM with the plug-in in the folder PLUGIN, on ibsim, where PERCENT of the
# messages that set multicast tables are lost, with KIND all those of another kind at each switch
# (what they are, ports, keys, lanes, unicast and multicast tables), and OpenSM does not repeat
# them: it is restarted again and again while members join and leave. At rest the switches hold the tree of each group, as OpenSM knows its members then,
# nothing else for it, and OpenSM's own dump says the same. With MODE (off: the plug-in does
# nothing) wrong tables are only counted. Exit status 77 (skipped) without OpenSM or ibsim.
set -u
commands=$(readlink -f "$1") plugin=$(readlink -f "$2") mcjoin=$(readlink -f "$3")
restarts=$4 percent=$5 mode=${6:-on} kind=${7:-tables}
here=$(dirname "$(readlink -f "$0")")
# shellcheck source=tests/interop/plugin.bash
. "$here/plugin.bash"
need ibsim opensm dump_fts saquery

draw_groups gen:fattree:radix=4,levels=3 random:groups=60,size=3-8
simulate net

lose() { # PERCENT of the messages, in restart $i: to set multicast tables (attribute 27) or others
  local kinds=27 n=$i own attributes
  [ "$kind" = all ] && kinds='27 25 21 18 22 23 17'
  # not at OpenSM's own switch: without it, it has no subnet, and looks no more
  own=$(awk -F '"' '/^Ca/ { n++ } n == 1 && /^\[/ { print $2 }' net)
  read -ra attributes <<<"$kinds"
  sed -n 's/^Switch[^"]*"\([^"]*\)".*/\1/p' net | while read -r id; do
    n=$((n + 1))
    [ "$kind" = all ] && [ "$id" = "$own" ] ||
      echo "Error \"$id\" $1 ${attributes[n % ${#attributes[@]}]}" >&7
  done
  sleep 0.2
}

# OpenSM's groups and their members now, and their MLIDs
known() {
  SIM_HOST=$(host net 2) within 300 env LD_PRELOAD="$so" saquery -m --smkey 1 >known.txt 2>/dev/null
  sed -n 's/.*Mlid\.*//p' known.txt | tr 'A-F' 'a-f' | sort -u >known.mlids
}

# at rest: nothing is written, and what failed has been done again
is_at_rest() {
  cp "$logs/opensm.log" log-before
  sleep 1.5
  cmp -s log-before "$logs/opensm.log"
}

wrong=0 asked=0
for i in $(seq "$restarts"); do
  lose 0
  start minhop "run$i" "event_plugin_name fabkit-opensm" \
    "event_plugin_options mode=$mode,rebalance_changes=20,rebalance_seconds=1,min_interval=1" \
    "transaction_retries 0" "max_smps_timeout 100000" "transaction_timeout 100"
  lose "$percent"
  join -t 500 -w 30 -c 60
  await "$sm" rest 120 is_at_rest || fail "OpenSM does not come to rest"
  lose 0
  # a first sweep with errors leaves switches out of opensm-subnet.lst until the next
  grep -E 'SUBNET UP|ERRORS DURING' "$logs/opensm.log" | tail -n 1 | grep -q ERRORS && sweep
  for _ in $(seq 20); do # a step may come after a rest, while the tables are read
    await "$sm" rest 120 is_at_rest || fail "OpenSM does not come to rest"
    known
    dumped >a
    programmed >b
    cmp -s log-before "$logs/opensm.log" && break
  done
  cmp -s log-before "$logs/opensm.log" || fail "OpenSM does not stay at rest"
  [ -s known.mlids ] || fail "OpenSM knows no groups"
  [ -s a ] || fail "the dump has no entries"
  is_wrong=
  # of the groups that there are: OpenSM clears no table of a group that was before it began
  awk 'FNR == NR { is_ours[$1]; next } $2 in is_ours' known.mlids a >a.ours
  awk 'FNR == NR { is_ours[$1]; next } $2 in is_ours' known.mlids b >b.ours
  cmp -s a.ours b.ours || is_wrong=1
  got=$("$commands/fabric-mcroute" -q "$logs/opensm-subnet.lst" --groups=known.txt \
    --mcfdbs="$logs/opensm.mcfdbs" --algorithm=opensm --verify --format=csv \
    --columns=algorithm,max_efi,verified 2>"$logs/check.log" | tr -d '\r' | sed -n 's/^loaded,//p')
  [ "${got#*,}" = true ] || is_wrong=1
  n=$(grep -c 'asked it for another' "$logs/opensm.log")
  asked=$((asked + n))
  [ -z "$is_wrong" ] || {
    wrong=$((wrong + 1))
    [ "$mode" = off ] || {
      diff a.ours b.ours | head -n 5
      cat "$logs/check.log"
      fail "restart $i: wrong tables at rest"
    }
  }
  finish
done
echo "$restarts restarts, $percent % lost: $wrong with wrong tables at rest; asked $asked times"
[ "$mode" = off ] || [ "$asked" -gt 0 ] || fail "nothing was lost, or nobody noticed"
