# SPDX-License-Identifier: BSD-2-Clause
# To be sourced by tests of the plug-in, which set $commands, $plugin and $mcjoin. In the
# current folder: net (the fabric), groups (port GUIDs, a line each), after join() mlids,
# and gone (port GUIDs that are off the fabric).
# shellcheck disable=SC2154
# shellcheck source=tests/interop/simulated.bash
. "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/simulated.bash"

# draw_groups FABRIC PATTERN: the fabric as net, the members of its groups, a line each, as groups
draw_groups() {
  "$commands/fabric-topo" "$1" --to ibnetdiscover >net || fail "no dump of $1"
  "$commands/fabric-mcroute" -q net --pattern="$2" --algorithm=opensm --trees-out=trees >/dev/null ||
    fail "fabric-mcroute"
  members_of trees 1 | cut -f 2 >groups
}

# start ENGINE NAME [LINE...]: OpenSM with these lines in opensm.conf, files in NAME
start() {
  local engine=$1
  logs=$work/$2
  shift 2
  rm -rf "$logs"
  mkdir -p "$logs"
  printf '%s\n' "$@" >"$logs/opensm.conf"
  LD_LIBRARY_PATH=$plugin "${begin:-manage}" net "$engine" -F "$logs/opensm.conf"
}

# take_over ENGINE LOGS CONF...: start, where another OpenSM gives the subnet away. The new one
# sends a trap, its priority, when it polls the master before that has noticed it; no trap is
# answered under ibsim, so that it would wait in its first sweep as a master for ever. Now and
# then another reply is lost, with the plug-in or without: a new one is started
take_over() {
  local limit
  limit=$(patience 4)
  for _ in 1 2 3; do
    begin=launch FAB_PRELOAD=$(dirname "$mcjoin")/answered.so start "$@"
    for _ in $(seq $((limit * 10))); do
      is_up 1 && return
      kill -0 "$sm" 2>/dev/null || fail "opensm ended"
      sleep 0.1
    done
    kill -9 "$sm"
    wait "$sm" 2>/dev/null
  done
  give_up "the change of subnet managers, three times," "$limit"
}

finish() {
  kill "$sm"
  wait "$sm" 2>/dev/null
  sm=
}

sweep() {
  local up
  up=$(grep -c 'SUBNET UP' "$logs/opensm.log")
  kill -HUP "$sm"
  until_up $((up + 1))
}

join() { # [OPTION...]
  SIM_HOST=$(host net 2) within 300 env LD_PRELOAD=$so "$mcjoin" "$@" groups >mlids \
    2>"$logs/mcjoin.log" || fail "not all members could join"
}

in_log() { # TEXT
  grep -q "$1" "$logs/opensm.log"
}

# settled: what the worker found has been written
settled() {
  local found
  found=$(grep -c 'fabkit: balanced .* [1-9][0-9]* trees to move' "$logs/opensm.log")
  [ "$(grep -c 'fabkit: [0-9]* trees moved' "$logs/opensm.log")" -ge "$found" ]
}

# OpenSM writes its dump anew whenever trees change
is_quiet() {
  settled || return 1
  cp "$logs/opensm.mcfdbs" before
  sleep 0.5
  settled && [ -s before ] && cmp -s before "$logs/opensm.mcfdbs"
}
quiet() {
  await "$sm" balancing 60 is_quiet || fail "trees are found but not written"
}

# GUID MLID PORT of all entries, of OpenSM's dump and of the switches
dumped() {
  awk '
    function hex(text,   n, i) {
      for (i = 3; i <= length(text); i++) n = 16 * n + index("0123456789abcdef", substr(text, i, 1)) - 1
      return n
    }
    /^Switch/ { s = $2 }
    /^0x/ { for (i = 3; i <= NF; i++) print s, tolower($1), hex(tolower($i)) }' "$logs/opensm.mcfdbs" | sort -u
}
programmed() {
  SIM_HOST=$(host net 2) within 300 env LD_PRELOAD=$so dump_fts -M 2>/dev/null | awk '
    /^Multicast/ { for (i = 1; i < NF; i++) if ($i == "guid") s = $(i + 1) }
    /Ports:/ { zero = index($0, ":") + 2 }
    /^0x/ { for (i = zero; i <= length($0); i += 2) if (substr($0, i, 1) == "x") print s, $1, (i - zero) / 2 }' |
    sort -u
}

# need_tables GUID: at rest the switches, but that one, have the tables of OpenSM's dump. While
# trees are moved in steps, a dump can be older than what is read from the switches.
need_tables() {
  for _ in 1 2 3 4 5 6 7 8 9 10; do
    quiet
    dumped >a
    programmed | grep -v "$1" >b
    [ -s a ] || fail "the dump has no entries"
    cmp -s a b && return
    sleep 1
  done
  diff a b | head -n 5
  fail "the switches (without $1) have other tables than OpenSM"
}

# max_efi of the trees in OpenSM's dump, all verified, with all members of each group
check() {
  touch gone
  paste -d ' ' mlids groups | awk '
    FILENAME == "gone" { is_gone[$1]; next }
    $1 == "0x0000" { next }
    { m = $1; $1 = ""; for (i = 2; i <= NF; i++) if (!($i in is_gone)) at[m] = at[m] " " $i }
    END { for (m in at) print m ":" at[m] }' gone - | sort >by-mlid
  "$commands/fabric-mcroute" -q "$logs/opensm-subnet.lst" --groups=by-mlid \
    --mcfdbs="$logs/opensm.mcfdbs" --algorithm=opensm --verify --format=csv \
    --columns=algorithm,max_efi,verified 2>"$logs/check.log" | tr -d '\r' | sed -n 's/^loaded,//p'
}

need_trees() { # LIMIT
  local got
  quiet
  got=$(check)
  [ "${got#*,}" = true ] || { cat "$logs/check.log"; fail "not all trees hold: $got"; }
  [ "${got%,*}" -le "$1" ] || fail "a cable has ${got%,*} trees, OpenSM's own at most $1"
  echo "  fullest cable ${got%,*}, OpenSM's own $1"
}
