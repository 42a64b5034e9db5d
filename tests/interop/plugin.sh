#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# usage: plugin.sh COMMANDS PLUGIN MCJOIN FABRIC PATTERN ENGINE...
# The real OpenSM with the plug-in in the folder PLUGIN, on ibsim, with each routing ENGINE:
# members join, leave and join again by the hundred, a cable, then whole switches die and
# come back. In the end
# the tables in the switches are those of OpenSM's dump, they are trees of all groups, no
# cable has more of them than in OpenSM's own, and unicast is what it is without the plug-in.
# What is left to OpenSM when in doubt is what OpenSM makes, bit for bit; modes change while
# it runs. Exit status 77 (skipped) without OpenSM, ibsim or, for a real dump, the test data.
set -u
# shellcheck source=tests/interop/alone.bash
. "$(dirname "$(readlink -f "$0")")/alone.bash"
commands=$(readlink -f "$1") plugin=$(readlink -f "$2") mcjoin=$(readlink -f "$3") fabric=$4 pattern=$5
shift 5
find_dump
here=$(dirname "$(readlink -f "$0")")
# shellcheck source=tests/interop/plugin.bash
. "$here/plugin.bash"
need ibsim opensm dump_fts

draw_groups "$fabric" "$pattern" # some groups have a single member
[ -s groups ] || fail "no groups in $pattern"

simulate net
# a switch without adapters, and one with; not that of the subnet manager
spine=$(awk -F '"' '/^Switch/ { id = $2; is_leaf[id] = 0 } /^Ca/ { id = "" }
  id != "" && /^\[/ && $2 ~ /^H-/ { is_leaf[id] = 1 }
  END { for (s in is_leaf) if (!is_leaf[s]) print s }' net | sort | head -n 1)
leaf=$(awk -F '"' '/^Ca/ { is_ca = 1 } is_ca && /^\[/ { s = $2 } END { print s }' net)
link=$(sed -n '/^Switch/{s/[^"]*"\([^"]*\)".*/\1/;h}; /^\[[0-9]*\][^"]*"S-/{s/^\[\([0-9]*\)\].*/\1/;H;x;s/\(.*\)\n\(.*\)/"\1"[\2]/p;q}' net)
for engine in "$@"; do
  echo "$engine:"
  start "$engine" base
  join
  sweep
  managed_by "$engine"
  own=$(check)
  finish

  start "$engine" own "event_plugin_name fabkit-opensm" "event_plugin_options mode=own"
  join
  sweep
  cmp "$work/base/opensm.mcfdbs" "$logs/opensm.mcfdbs" || fail "OpenSM's own trees are others"
  finish

  echo "mode=on,rebalance_changes=50,rebalance_seconds=1,min_interval=1,max_moved=20%" >mode
  start "$engine" on "event_plugin_name fabkit-opensm" "event_plugin_options file=$work/mode"
  join -c 300
  sweep
  managed_by "$engine"
  need_trees "${own%,*}"
  cmp "$work/base/opensm.fdbs" "$logs/opensm.fdbs" || fail "unicast changed"
  console "Unlink $link"
  sweep
  sweep
  need_trees 100000
  console "Relink $link"
  sweep
  sweep
  need_trees "${own%,*}"
  # whole switches
  if [ -n "$spine" ]; then
    console "Unlink \"$spine\""
    sweep
    sweep
    need_trees 100000
    console "Relink \"$spine\""
    sweep
    sweep
    need_trees "${own%,*}"
  fi
  awk -F '"' -v leaf="$leaf" '/^Ca/ { is_ca = 1 } is_ca && /^\[/ && $2 == leaf {
    match($0, /\([0-9a-f]*\)/); guid = substr($0, RSTART + 1, RLENGTH - 2)
    while (length(guid) < 16) guid = "0" guid
    print "0x" guid }' net >gone
  [ -s gone ] || fail "no adapters on $leaf"
  console "Unlink \"$leaf\""
  sweep
  sweep
  need_trees 100000
  need_tables "0x${leaf#S-}"
  console "Relink \"$leaf\""
  sweep
  : >gone
  join
  sweep
  need_trees "${own%,*}"
  need_tables none
  # off while it runs, and on again
  echo mode=off >mode
  sweep
  in_log 'fabkit: mode=off, was on' || fail "the change of mode is not in the log"
  [ "$(check)" = "$own" ] || fail "off, and not OpenSM's trees: $(check), $own"
  echo mode=of >mode
  sweep
  in_log 'mode:1: mode=of: expected off' || fail "a bad mode is not in the log"
  echo mode=on >mode
  sweep
  need_trees "${own%,*}"
  in_log 'fabkit: .*ERR' && fail "errors in the log"
  finish
done

# All trees are balanced at a sweep; between two of them again after so many changes, after
# some time, or never, as the options say; what is written is trees at any time.
n_balanced() {
  grep -c 'fabkit: balanced ' "$logs/opensm.log"
}
is_balanced_again() {
  [ "$(n_balanced)" -gt "$had" ]
}
rebalance() { # OPTIONS, from the next sweep on
  echo "mode=on,min_interval=0,$1" >mode
  had=$(n_balanced)
  sweep
  await "$sm" balanced 60 is_balanced_again || fail "a sweep balances nothing"
  quiet
  had=$(n_balanced)
  ups=$(grep -c 'SUBNET UP' "$logs/opensm.log")
}
# Members that have left and are back before OpenSM looks are no change of their group: the
# changes are made again until trees are balanced.
changes_balance() { # N
  is_balanced_again || { join -c "$1" && sleep 2 && is_balanced_again; }
}
echo "between sweeps:"
echo mode=on >mode
start "$1" between "event_plugin_name fabkit-opensm" "event_plugin_options file=$work/mode"
join
rebalance rebalance_changes=0,rebalance_seconds=0
join -c 40
quiet
is_balanced_again && [ "$ups" = "$(grep -c 'SUBNET UP' "$logs/opensm.log")" ] &&
  fail "balanced, which no option asks for"
need_trees 100000
rebalance rebalance_changes=3,rebalance_seconds=0
await "$sm" balanced 60 changes_balance 200 || fail "not balanced after 200 changes"
need_trees 100000
rebalance rebalance_changes=0,rebalance_seconds=1
await "$sm" balanced 60 changes_balance 100 || fail "not balanced after some time"
need_trees 100000
finish

# Groups of IPv6 solicited nodes that share MLIDs; another subnet manager takes over, without
# the plug-in, and gives the subnet back.
echo "one MLID for several groups:"
shared="event_plugin_name fabkit-opensm
event_plugin_options mode=on,rebalance_seconds=1,min_interval=1
consolidate_ipv6_snm_req TRUE
sminfo_polling_timeout 500
polling_retry_number 2"
start "$1" shared "$shared" "sm_priority 10"
join -6
[ "$(sort -u mlids | wc -l)" -lt "$(wc -l <mlids)" ] || fail "no MLID is shared"
sweep
need_trees 100000
other=$work/other
mkdir "$other"
echo "$shared" | sed 's/^event_plugin_name.*/sm_priority 1/; /^event_plugin/d' >"$other/opensm.conf"
SIM_HOST=$(host net 3) OSM_CACHE_DIR=$other OSM_TMP_DIR=$other LD_PRELOAD=$so opensm -D 0x43 \
  -f "$other/opensm.log" -R "$1" -s 0 -n 64 -d 2 -F "$other/opensm.conf" >"$other/out" 2>&1 </dev/null &
second=$!
is_standby() {
  grep -qs 'Entering STANDBY' "$other/opensm.log"
}
await "$second" standby 60 is_standby || fail "no second subnet manager"
finish
is_master() {
  grep -q 'SUBNET UP' "$other/opensm.log"
}
# it does so 2 s after the other has stopped; while other tests run, sometimes never
await "$second" master 15 is_master ||
  fail "the second subnet manager does not take over"
take_over "$1" again "$shared" "sm_priority 10"
join -6
sweep
need_trees 100000
kill "$second"
wait "$second" 2>/dev/null
second=
