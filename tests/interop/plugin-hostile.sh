#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# usage: plugin-hostile.sh COMMANDS PLUGIN MCJOIN CHANGES
# The real OpenSM with the plug-in in the folder PLUGIN, on ibsim: one host joins and leaves 30
# of 120 groups, as fast as it can, CHANGES times. Meanwhile the cables of all trees stay, but
# for at most 5 % of the groups, which a step may move; no core is kept busy (the time of the
# processor varies by a factor of two between equal runs); in the end the trees are those of
# before. Exit status 77 (skipped) without OpenSM or ibsim.
set -u
commands=$(readlink -f "$1") plugin=$(readlink -f "$2") mcjoin=$(readlink -f "$3") changes=$4
here=$(dirname "$(readlink -f "$0")")
# shellcheck source=tests/interop/plugin.bash
. "$here/plugin.bash"
need ibsim opensm dump_fts

draw_groups gen:fattree:radix=8,levels=3 random:groups=120,size=5-9
# a port that is in none of the first groups
sed -n 's/^\[1\](\([0-9a-f]*\)).*/\1/p' net | while read -r guid; do
  printf '0x%16s\n' "$guid" | tr ' ' 0
done >ports
hostile=$(head -n 30 groups | tr ' ' '\n' | sort -u | grep -vxFf - ports | tail -n 1)
[ -n "$hostile" ] || fail "every port is in a group"
for _ in $(seq 30); do echo "$hostile"; done >hostile
simulate net

ticks() {
  local line
  line=$(cat "/proc/$sm/stat")
  # shellcheck disable=SC2086
  set -- ${line##*) }
  echo $((${12} + ${13}))
}
# churn OPTION...: what the hostile host does, all of it answered
churn() {
  SIM_HOST=$(host net 2) within 300 env LD_PRELOAD="$so" "$mcjoin" "$@" hostile >/dev/null 2>"$logs/hostile.log" ||
    fail "the hostile host is refused"
}
# different FILE FILE: groups whose entries in the first are not all in the second
different() {
  sort "$1" >one && sort "$2" | comm -23 one - | awk '{ print $2 }' | sort -u
}

for mode in own on; do
  start minhop $mode "event_plugin_name fabkit-opensm" "event_plugin_options mode=$mode"
  # shellcheck disable=SC2119
  join
  sweep
  [ $mode = own ] && sleep 1
  [ $mode = on ] && need_tables none
  dumped >before.tables
  began=$(ticks)
  churn -c "$changes"
  used=$(($(ticks) - began))
  echo "  mode=$mode: $changes changes take $used hundredths of a second of a processor"
  [ $mode = own ] && { own=$used; finish; }
done
quiet
dumped >now.tables
moved=$(different before.tables now.tables | wc -l)
echo "  $moved of 120 groups have lost a cable, $(grep -c 'trees moved' "$logs/opensm.log") steps"
[ "$moved" -le 6 ] || fail "$moved of 120 groups have other trees"
[ "$used" -le $((3 * own + 100)) ] || fail "$used of a processor, $own with OpenSM's trees"
in_log 'joined and left more than' || fail "the host is not named"
SIM_HOST=$(host net 2) within 300 env LD_PRELOAD="$so" "$mcjoin" -d 1 hostile >/dev/null 2>&1
quiet
dumped >now.tables
[ "$(different now.tables before.tables | wc -l)" -le 6 ] || fail "something is left of the host"
need_trees 100000
finish
