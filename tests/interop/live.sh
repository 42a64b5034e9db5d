#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# usage: live.sh FABRIC_TOPO FABRIC_MCROUTE
# The commands on two live fabrics, simulated by ibsim side by side, say what they say of
# the dumps of the same fabrics; the second is the first with a cable pulled, an adapter
# moved to another port and a switch renamed, which --diff finds whichever of the two is live.
# Exit status 77 (skipped) without ibsim.
set -u
# shellcheck source=tests/interop/patience.bash
. "$(dirname "$(readlink -f "$0")")/patience.bash"
topo=$1 mcroute=$2
PATH=$PATH:/usr/sbin
for so in /usr/lib/*/umad2sim/libumad2sim.so /usr/lib{,64}/umad2sim/libumad2sim.so; do
  [ -f "$so" ] && break
done
command -v ibsim >/dev/null || { echo "no ibsim"; exit 77; }
[ -f "$so" ] || { echo "no libumad2sim.so"; exit 77; }

dir=$(mktemp -d) || exit 1
cd "$dir" || exit 1
pids=
finish() {
  for pid in $pids; do
    kill "$pid" 2>/dev/null && wait "$pid" 2>/dev/null
  done
  cd /
  rm -rf "$dir"
}
trap finish EXIT
fail() {
  echo "FAILED: $*" >&2
  tail -n 5 ./*.log >&2
  exit 1
}

start() { # NAME: simulate the net file NAME
  IBSIM_SOCKNAME=fabkit-live-$$-$1 ibsim -s -n -N 400 -S 200 -P 4000 "$1" >"$1.log" 2>&1 </dev/null &
  pids="$pids $!"
  await $! ibsim 30 grep -q 'simulator ready' "$1.log" || fail "ibsim does not load $1"
}
# live NAME COMMAND...: run where the fabric NAME is ib:, without what umad2sim itself says
live() {
  local name=$1 rc
  shift
  SIM_HOST=$(sed -n 's/^Ca[^"]*"\([^"]*\)".*/\1/p' "$name" | head -n 1) \
    IBSIM_SOCKNAME=fabkit-live-$$-$name within 60 env LD_PRELOAD=$so "$@" 2>err.log
  rc=$?
  grep -v '^ibwarn:.*attached as client' err.log >&2
  return $rc
}

"$topo" gen:fattree:radix=8,levels=3 --to ibnetdiscover >one || fail "no dump"
# the cable of the first switch of level 2 to leaf-2 is pulled, h1 and h4 change places
awk -F '"' '
  /^Switch/ || /^Ca/ { at = $2; name = /^Ca/ ? $4 : "" }
  at == "S-02fab00000000003" && /^\[5\]/ || at == "S-02fab00000000021" && /^\[3\]/ { n++; next }
  /^\[/ && name == "h1 HCA-1" { $0 = "[1](2fab10000000021) \"S-02fab00000000002\"[1] # lid 82 lmc 0 \"leaf-1\" lid 2 4xEDR" }
  /^\[/ && name == "h4 HCA-1" { $0 = "[1](2fab10000000051) \"S-02fab00000000001\"[2] # lid 85 lmc 0 \"leaf-0\" lid 1 4xEDR" }
  /^\[2\]/ && at == "S-02fab00000000001" { $0 = "[2] \"H-02fab10000000050\"[1](2fab10000000051) # \"h4 HCA-1\" lid 85 4xEDR" }
  /^\[1\]/ && at == "S-02fab00000000002" { $0 = "[1] \"H-02fab10000000020\"[1](2fab10000000021) # \"h1 HCA-1\" lid 82 4xEDR" }
  { sub(/"l2-1"/, "\"second\""); print }
  END { exit n != 2 }' one >two || fail "the second fabric"
start one
start two

# Nothing but the name of the source and its form tells live from a dump.
for name in one two; do
  live $name "$topo" ib: --format=csv >live.$name || fail "ib: on $name"
  "$topo" $name --format=csv >dump.$name || fail "$name"
  sed "s/^ib:,\(0x[^,]*\),live,/$name,\1,ibnetdiscover,/" live.$name | cmp - dump.$name ||
    fail "ib: on $name differs from its dump"
  live $name "$topo" ib: --diff=$name >differences || fail "ib: differs from the dump of $name: $(cat differences)"
  live $name "$topo" $name --diff=ib: >differences || fail "the dump of $name differs from ib:: $(cat differences)"
done

# What differs between the two, from either side; in the order in which nodes are found.
differences() { # NAME-OR-EMPTY OLD NEW: those from OLD to NEW, on the live fabric NAME
  ${1:+live $1} "$topo" --diff "$2" "$3" --format=csv >lines
  [ $? -eq 1 ] || fail "no differences between $2 and $3"
  LC_ALL=C sort lines
}
differences '' one two >want
differences one ib: two >got
cmp want got || fail "the differences of ib: on one and two"
differences two one ib: >got
cmp want got || fail "the differences of one and ib: on two"

# Trees do not depend on the order in which switches are found.
"$mcroute" one --pattern=random:groups=40,size=2-20,order=name --algorithm=opensm --trees-out=trees \
  --format=csv >want || fail "groups"
sed 's/.*"group":"\([^"]*\)".*"hosts":\[\(.*\)\]}$/\1:\2/; s/\["[^"]*",[0-9]*,"\([^"]*\)"\],*/ \1/g' trees >groups
for name in one two; do
  live $name "$mcroute" ib: --groups=groups --algorithm=opensm --trees-out=trees.live >report ||
    fail "fabric-mcroute ib: on $name"
  "$mcroute" $name --groups=groups --algorithm=opensm --trees-out=trees.dump >report ||
    fail "fabric-mcroute $name"
  for kind in live dump; do
    awk '{
      rest = substr($0, index($0, "\"links\":"))
      while (match(rest, /"0x[0-9a-f]*",[0-9]+/)) {
        print NR, substr(rest, RSTART, RLENGTH)
        rest = substr(rest, RSTART + RLENGTH)
      }
    }' trees.$kind | LC_ALL=C sort >ports.$kind.$name
  done
  cmp ports.live.$name ports.dump.$name || fail "trees of ib: on $name"
done
cmp -s ports.dump.one ports.dump.two && fail "the same trees on both fabrics"
echo "two live fabrics are as their dumps; $(wc -l <got) lines of differences"
