#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# usage: plugin-limits.sh COMMANDS PLUGIN MCJOIN SCARCE
# The real OpenSM with the plug-in in the folder PLUGIN, on ibsim, where something runs out:
# multicast LIDs (groups are refused, and come when others have gone), and memory of the
# plug-in (preloaded SCARCE): from then on the trees are OpenSM's own, and it goes on. Exit
# status 77 (skipped) without OpenSM or ibsim.
set -u
commands=$(readlink -f "$1") plugin=$(readlink -f "$2") mcjoin=$(readlink -f "$3") scarce=$(readlink -f "$4")
here=$(dirname "$(readlink -f "$0")")
# shellcheck source=tests/interop/plugin.bash
. "$here/plugin.bash"
need ibsim opensm dump_fts

draw_groups gen:fattree:radix=4,levels=3 random:groups=60,size=3-8

# switches hold 32 multicast LIDs, and the plug-in must not make more of them
simulate net -M 32
on="event_plugin_name fabkit-opensm
event_plugin_options mode=on,rebalance_changes=20,rebalance_seconds=1,min_interval=1"
echo "multicast LIDs run out:"
start minhop few "$on"
join -r 0
refused=$(grep -c 0x0000 mlids)
[ "$refused" -gt 20 ] || fail "only $refused of 60 groups were refused"
sweep
need_trees 100000
join -r 15 # 15 go, 15 of those refused come
now=$(grep -c 0x0000 mlids)
[ "$now" -ge "$refused" ] || fail "$now groups without an MLID, $refused before"
[ "$(sed -n '1,15p' mlids | sort -u)" = 0x0000 ] || fail "those that left have MLIDs"
sed 1,15d mlids | grep -c 0x0000 | grep -qx "$((refused - 15))" || fail "those refused did not come"
sweep
need_trees 100000
dumped >a
programmed >b
cmp a b || { diff a b | head -n 5; fail "the switches have other tables than OpenSM"; }
in_log 'fabkit: .*ERR' && fail "errors in the log"
finish

head -n 20 groups >fewer && mv fewer groups
echo "memory runs out:"
start minhop base
join
sweep
finish
export FAB_SCARCE=$work/scarce
# when all trees are looked at, and when the tree of one group is asked for
for point in sweep join; do
  FAB_PRELOAD=$scarce start minhop "$point" "$on"
  join
  sweep
  need_trees 100000
  printf x >"$FAB_SCARCE"
  [ $point = sweep ] || join -c 7
  sweep
  sweep
  [ ! -e "$FAB_SCARCE" ] || fail "the plug-in asked for no memory"
  in_log 'fabkit: out of memory' || fail "nothing about it in the log"
  kill -0 "$sm" || fail "OpenSM has ended"
  cmp "$work/base/opensm.mcfdbs" "$logs/opensm.mcfdbs" || fail "the trees are not OpenSM's own"
  echo "  at a $point: OpenSM goes on with its own trees"
  finish
done

# for good: groups are left without trees, but OpenSM lives, and finds them afterwards
FAB_PRELOAD=$scarce start minhop none "event_plugin_name fabkit-opensm" "event_plugin_options mode=own"
join
sweep
printf none >"$FAB_SCARCE"
sweep
sweep
kill -0 "$sm" || fail "OpenSM has ended"
in_log 'fabkit: .*no memory for its tree' || fail "nothing about trees in the log"
rm "$FAB_SCARCE"
sweep
sweep
cmp "$work/base/opensm.mcfdbs" "$logs/opensm.mcfdbs" || fail "the trees are not OpenSM's own"
echo "  for some time: OpenSM goes on"
finish

unset FAB_SCARCE
echo "built for another OpenSM:"
mkdir "$work/alien"
LC_ALL=C sed 's/OpenSM 3\./OpenSM 9./g' "$plugin/libfabkit-opensm.so" >"$work/alien/libfabkit-opensm.so"
cmp -s "$plugin/libfabkit-opensm.so" "$work/alien/libfabkit-opensm.so" && fail "no version in the plug-in"
plugin=$work/alien
start minhop version "$on"
join
sweep
in_log 'version mismatch' || fail "nothing about it in the log"
in_log 'fabkit: ' && fail "it was loaded all the same"
cmp "$work/base/opensm.mcfdbs" "$logs/opensm.mcfdbs" || fail "the trees are not OpenSM's own"
echo "  refused, and OpenSM goes on"
finish
