#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# usage: opensm-trees.sh MCJOIN NET TREES ENGINE FOLDER
# What the real OpenSM does with a fabric and groups: ibsim loads the net file NET, OpenSM
# with routing engine ENGINE manages it, the members of the groups in TREES (written by
# fabric-mcroute --trees-out; only groups of two or more ports count) join, and OpenSM
# computes everything once more. Left in FOLDER: opensm.mcfdbs, opensm-subnet.lst,
# opensm.log, and "mlids", a line a group that has one: its line in TREES, its MLID.
# Exit status 77 when a program is missing.
#
# A group more than 1000 is refused: ibsim forgets MLIDs past the first 1023.
# Environment: FAB_PRELOAD, a library that OpenSM is to load; SWEEPS, how many times more
# all is computed (1); OSM_CONF, its opensm.conf, with LD_LIBRARY_PATH for a plug-in.
set -u
[ $# -eq 5 ] || { sed -n '3,8s/^# //p' "$0" >&2; exit 2; }
mcjoin=$(readlink -f "$1") net=$(readlink -f "$2") trees=$(readlink -f "$3") engine=$4
mkdir -p "$5" && out=$(cd "$5" && pwd) || exit 3
# shellcheck source=tests/interop/simulated.bash
. "$(dirname "$(readlink -f "$0")")/simulated.bash"
need ibsim opensm
logs=$out
rm -f "$out"/opensm* "$out"/ibsim.log "$out"/mlids # OpenSM would keep old LIDs

members_of "$trees" 2 >groups # OpenSM makes trees for these
[ -s groups ] || fail "no groups of two members in $trees"
[ "$(wc -l <groups)" -le 1000 ] || fail "$(wc -l <groups) groups; ibsim keeps 1023"

simulate "$net"
conf=${OSM_CONF:+$(readlink -f "$OSM_CONF")}
manage "$net" "$engine" ${conf:+-F "$conf"}
SIM_HOST=$(host "$net" 2) within 300 env LD_PRELOAD=$so "$mcjoin" <(cut -f 2 groups) >joined 2>"$out/mcjoin.log" ||
  fail "not all members could join"
paste <(cut -f 1 groups) joined >"$out/mlids"
for _ in $(seq "${SWEEPS:-1}"); do # SIGHUP: a heavy sweep
  up=$(grep -c 'SUBNET UP' "$out/opensm.log")
  kill -HUP $sm
  until_up $((up + 1))
done
managed_by "$engine"
# the plug-in balances beside OpenSM, and has what it found written
settled() {
  local found moved
  found=$(grep -c 'fabkit: balanced .* [1-9][0-9]* trees to move' "$out/opensm.log")
  moved=$(grep -c 'fabkit: [0-9]* trees moved' "$out/opensm.log")
  grep -q 'fabkit: balanced' "$out/opensm.log" && [ "$moved" -ge "$found" ]
}
if grep -q 'fabkit: loaded: mode=on' "$out/opensm.log"; then
  sleep 1
  await "$sm" balancing 60 settled || fail "trees are found but not written"
  sleep 0.5
fi
exit 0
