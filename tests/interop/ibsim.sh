#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# usage: ibsim.sh READ LIVE FABRIC
# ibsim loads the dump that we write of FABRIC; then ibnetdiscover, its cache file and our
# own discovery all find the same fabric in it, rates and LIDs included.
# Exit status 77 (skipped) without ibsim.
set -u
# shellcheck source=tests/interop/alone.bash
. "$(dirname "$(readlink -f "$0")")/alone.bash"
read=$1 live=$2 fabric=$3

for so in /usr/lib/*/umad2sim/libumad2sim.so /usr/lib{,64}/umad2sim/libumad2sim.so; do
  [ -f "$so" ] && break
done
for program in ibsim ibnetdiscover; do
  command -v $program >/dev/null || { echo "no $program"; exit 77; }
done
[ -f "$so" ] || { echo "no libumad2sim.so"; exit 77; }

# real dumps are given by their place below the folder of test data
find_dump

dir=$(mktemp -d) || exit 1
pid=
finish() {
  [ -n "$pid" ] && kill "$pid" 2>/dev/null && wait "$pid" 2>/dev/null
  rm -rf "$dir"
}
trap finish EXIT
fail() {
  echo "FAILED: $*"
  tail -n 5 "$dir"/*.log
  exit 1
}

"$read" dump "$fabric" >"$dir/net" || fail "no dump of $fabric"
want=$("$read" fingerprint "$fabric")
[ "$("$read" fingerprint "$dir/net")" = "$want" ] || fail "our own dump reads otherwise"

export IBSIM_SOCKNAME=fabkit-$$
nodes=$(grep -c -E '^(Switch|Ca|Rt)' "$dir/net")
switches=$(grep -c '^Switch' "$dir/net")
ports=$(awk '/^(Switch|Ca|Rt)/ { n += $2 + 1 } END { print n }' "$dir/net")
ibsim -s -n -N $((nodes + 1)) -S $((switches + 1)) -P $((ports + 1)) -L 49152 \
  "$dir/net" >"$dir/ibsim.log" 2>&1 </dev/null &
pid=$!
is_loaded() {
  grep -q 'MaxMcastCap' "$dir/ibsim.log"
}
has_sockets() {
  grep -q "@$IBSIM_SOCKNAME:ctl" /proc/net/unix
}
# its sockets come a moment after its tables
await $pid ibsim 30 is_loaded && await $pid ibsim 30 has_sockets ||
  fail "ibsim does not load what we write"

SIM_HOST=$(sed -n 's/^Ca[^"]*"\([^"]*\)".*/\1/p' "$dir/net" | head -n 1)
export SIM_HOST
within 120 env LD_PRELOAD=$so ibnetdiscover --cache "$dir/cache" >"$dir/dump" 2>"$dir/diags.log" ||
  fail "ibnetdiscover"
for source in dump cache; do
  [ "$("$read" fingerprint "$dir/$source")" = "$want" ] ||
    fail "$source of ibnetdiscover: $("$read" fingerprint "$dir/$source"), not $want"
done

# the other forms of its output; the list of ports names adapters by their ports
for option in -g -f; do
  within 120 env LD_PRELOAD=$so ibnetdiscover $option >"$dir/other" 2>>"$dir/diags.log"
  [ "$("$read" fingerprint "$dir/other")" = "$want" ] || fail "ibnetdiscover $option"
done
within 120 env LD_PRELOAD=$so ibnetdiscover -p >"$dir/ports" 2>>"$dir/diags.log"
[ "$("$read" fingerprint "$dir/ports" | cut -d ' ' -f 2,4)" = "$(echo "$want" | cut -d ' ' -f 2,4)" ] ||
  fail "ibnetdiscover -p: $("$read" fingerprint "$dir/ports"), not $want"

# What is written of each source, whatever its order.
lines() { # FABRIC
  "$read" dump "$1" | grep -v '^#' | LC_ALL=C sort
}
lines "$dir/dump" >"$dir/dump.lines"
lines "$dir/cache" >"$dir/cache.lines"
# a cache does not keep the attribute that tells FDR10 from QDR
sed 's/FDR10$/QDR/' "$dir/dump.lines" | cmp - "$dir/cache.lines" ||
  fail "dump and cache of ibnetdiscover differ"

# libumad2sim must come before the runtime of the sanitizers, which refuse that
if [ "$live" = yes ]; then
  for where in ib: ib:ibsim0 ib:ibsim0/1; do
    within 120 env LD_PRELOAD=$so "$read" dump $where 2>"$dir/live.log" >"$dir/live" ||
      fail "$where"
    [ -s "$dir/live.log" ] && grep -v '^ibwarn:.*attached as client' "$dir/live.log" &&
      fail "$where says something on standard error"
    [ "$("$read" fingerprint "$dir/live")" = "$want" ] || fail "$where: another fabric"
    lines "$dir/live" | cmp - "$dir/dump.lines" || fail "$where differs from the dump"
  done
  LD_PRELOAD=$so "$read" dump ib:ibsim0/9 2>&1 |
    grep -qx 'ib:ibsim0/9: adapter ibsim0 has no port 9' || fail "ib:ibsim0/9"
fi
echo "$want"
