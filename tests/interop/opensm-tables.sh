#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# usage: opensm-tables.sh NET ENGINE FOLDER [OPENSM-OPTION...]
# What the real OpenSM programs: ibsim loads the net file NET, OpenSM with routing engine
# ENGINE manages it. Left in FOLDER: opensm-lfts.dump, opensm-subnet.lst, opensm.log, ...
# Exit status 77 when a program is missing.
set -u
[ $# -ge 3 ] || { sed -n '3,6s/^# //p' "$0" >&2; exit 2; }
net=$(readlink -f "$1") engine=$2
mkdir -p "$3" && out=$(cd "$3" && pwd) || exit 3
shift 3
# shellcheck source=tests/interop/simulated.bash
. "$(dirname "$(readlink -f "$0")")/simulated.bash"
need ibsim opensm
logs=$out
rm -f "$out"/opensm* "$out"/ibsim.log # OpenSM would keep old LIDs
simulate "$net"
manage "$net" "$engine" "$@"
managed_by "$engine"
exit 0
