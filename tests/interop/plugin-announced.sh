#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# usage: plugin-announced.sh COMMANDS PLUGIN MCJOIN FABRIC GROUPS SIZE
# The real OpenSM with the plug-in in the folder PLUGIN, on ibsim: GROUPS random groups of SIZE
# members each are announced before they are joined. The tree of each is computed once, when
# its last member has joined, and the states go from one to the next as the protocol says;
# trees stay as they are when members leave, and go with the last one; who does not come is
# waited for until the time-out; a file that is wrong, or that others may write, changes
# nothing. Printed are the times until all members can know that their group is ready, also of
# OpenSM alone. Exit status 77 (skipped) without OpenSM or ibsim.
set -u
commands=$(readlink -f "$1") plugin=$(readlink -f "$2") mcjoin=$(readlink -f "$3")
fabric=$4 n_groups=$5 size=$6
here=$(dirname "$(readlink -f "$0")")
# shellcheck source=tests/interop/plugin.bash
. "$here/plugin.bash"
need ibsim opensm dump_fts

draw_groups "$fabric" "random:groups=$n_groups,size=$size"
simulate net

announce() { # [SECONDS]
  awk -v seconds="${1:-}" '{ printf "ff12:4d54::%x %d %s\n", NR - 1, NF, seconds }' groups >announced.new
  mv announced.new announced
}
conf() { # ALGORITHM
  printf '%s\n' "event_plugin_name fabkit-opensm" \
    "event_plugin_options mode=on,algorithm=$1,rebalance_changes=0,rebalance_seconds=0,max_moved=0,groups=$work/announced,states=$work/states"
}
is_known() {
  [ "$(grep -c ' absent ' states 2>/dev/null)" = "$n_groups" ]
}
# are all in the state?
all() { # STATE
  [ "$(grep -c -E "^[^#][^ ]* [^ ]* [^ ]* $1 " states)" = "$n_groups" ]
}
# seconds from the first join to the answer to the last one, to the end of the last pass, and to
# the last time of a state
times() { # STATE
  awk -v state="$1" -v first="$(sed -n 's/^first //p' "$logs/mcjoin.log")" \
    -v joined="$(sed -n 's/^last //p' "$logs/mcjoin.log")" \
    -v written="$(stat -c %.6Y "$logs/opensm.mcfdbs")" '
    { for (i = 1; i <= NF; i++) if (split($i, part, "=") == 2 && part[1] == state && part[2] > last) last = part[2] }
    END { printf "all joined after %.3f s, tables written after %.3f s", joined - first, written - first
      if (last) printf ", all groups %s after %.3f s", state, last - first
      print "" }' states
}

rm -f states
: >states
echo "OpenSM alone, $n_groups groups of $size:"
start minhop base "event_plugin_name fabkit-opensm" "event_plugin_options mode=own"
join
quiet
echo "  $(times none)"
finish
echo "  trees computed: $(sed -n 's/.*asked for a tree \([0-9]*\) times.*/\1/p' "$logs/opensm.log")"

for algorithm in fulb balanced; do
  echo "$algorithm, announced:"
  rm -f states announced
  announce 3600
  # shellcheck disable=SC2046
  start minhop "$algorithm" "$(conf $algorithm)"
  await "$sm" announcements 30 is_known || fail "the announcement is not read"
  join
  await "$sm" ready 60 all ready || fail "not all groups become ready"
  echo "  $(times ready)"
  computed=$(awk '!/^#/ { n += $5 } END { print n }' states)
  echo "  trees computed: $computed"
  [ "$computed" = "$n_groups" ] || fail "$computed computations for $n_groups groups"
  grep -v '^#' states | grep -v -E ' ready 1 receiving-join=[0-9.]* computing=[0-9.]* ready=[0-9.]*$' &&
    fail "other states"
  quiet
  need_trees 100000
  need_tables none
  cp a ready.tables

  echo "  a member of each leaves, then all:"
  SIM_HOST=$(host net 2) within 300 env LD_PRELOAD="$so" "$mcjoin" -d 1 groups >/dev/null 2>&1
  await "$sm" leave 60 all receiving-leave || fail "the leave is not seen"
  quiet
  dumped >now.tables
  cmp ready.tables now.tables || fail "trees have changed"
  sweep
  quiet
  dumped >now.tables
  cmp ready.tables now.tables || fail "trees have changed in a sweep"
  SIM_HOST=$(host net 2) within 300 env LD_PRELOAD="$so" "$mcjoin" -d 1000 groups >/dev/null 2>&1
  await "$sm" end 60 all absent || fail "not all groups end"
  grep -v '^#' states | grep -v -E ' receiving-leave=[0-9.]* destroying=[0-9.]* absent=[0-9.]*$' && fail "other states"
  in_log 'fabkit: .*ERR' && fail "errors in the log"
  finish
done

echo "a member of each does not come:"
announce 2
start minhop late "$(conf balanced)"
await "$sm" announcements 30 is_known || fail "the announcement is not read"
join -n $((size - 1))
await "$sm" time-out 60 all destroying || fail "no time-out"
sleep 1
programmed >b
awk 'FNR == NR { is_ours[$1]; next } $2 in is_ours { print; n++ } END { exit n > 0 }' mlids b ||
  fail "trees of groups that are not complete"
in_log 'announced groups are out of time' || fail "the time-out is not in the log"
# what is wrong, and what others may write, changes nothing
echo 'ff12:4d54::1 x' >announced
await "$sm" message 30 in_log 'announced:1: expected the number of members' || fail "a bad line is not in the log"
announce 5
chmod o+w announced
await "$sm" message 30 in_log 'announced: others may write it' || fail "a file of others is not in the log"
all destroying || fail "the states have changed"
finish
