#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# usage: make-fabrics.sh [FOLDER]
# Make the example fabrics again (default: fabrics/ beside this script): what
# ibnetdiscover finds on ibsim, a simulator of InfiniBand fabrics, and the tables that OpenSM makes
# of one. Needs the Debian packages ibsim-utils, libumad2sim0, infiniband-diags and opensm, and
# fabric-topo (environment: FABRIC_TOPO, default: the one in build/ of this source tree).
# Except for the date in the second line every run gives the same files.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
folder=${1:-$here/fabrics}
topo=${FABRIC_TOPO:-$here/../build/cmd/fabric-topo}
umad2sim=${UMAD2SIM:-$(dpkg -L libumad2sim0 2>/dev/null | grep -m1 'libumad2sim\.so$' || true)}

fail() {
  echo "make-fabrics.sh: $*" >&2
  exit 3
}
PATH=$PATH:/usr/sbin
[ -x "$topo" ] || fail "no $topo: build first, or set FABRIC_TOPO"
[ -e "$umad2sim" ] || fail "no libumad2sim.so: install libumad2sim0, or set UMAD2SIM"
command -v ibsim >/dev/null || fail "no ibsim: install ibsim-utils"
command -v ibnetdiscover >/dev/null || fail "no ibnetdiscover: install infiniband-diags"
command -v opensm >/dev/null || fail "no opensm: install opensm"
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
topo=$(cd "$(dirname "$topo")" && pwd)/$(basename "$topo")

work=$(mktemp -d)
sim='' sm=''
stop() {
  for pid in $sm $sim; do
    kill "$pid" 2>/dev/null || true
    wait "$pid" 2>/dev/null || true
  done
  sim='' sm=''
}
trap 'stop; rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
cd "$work" # the simulated devices appear in the current folder
export IBSIM_SOCKNAME="make-fabrics-$$"

# await PROGRAM PID TEXT TRIES: until its log has the text, at most that many tenths of a second
await() {
  tries=$4
  until grep -q "$3" "$1.log"; do
    tries=$((tries - 1))
    if [ $tries -eq 0 ] || ! kill -0 "$2" 2>/dev/null; then
      fail "$1: $(tail -n1 "$1.log")"
    fi
    sleep 0.1
  done
}

# route NAME: the tables that OpenSM makes for what is simulated, asked for ftree as the site does
route() {
  : >opensm.log
  SIM_HOST="$host" OSM_CACHE_DIR=$work OSM_TMP_DIR=$work LD_PRELOAD="$umad2sim" \
    opensm -D 0x43 -f "$work/opensm.log" -R ftree,minhop -s 0 -n 1 -d 2 >opensm.out 2>&1 </dev/null &
  sm=$!
  await opensm "$sm" 'SUBNET UP' 600
  gzip -9n <opensm-lfts.dump >"$folder/$1"
  echo "$1: $(grep -o '[a-z]* tables configured' opensm.log | tail -n1)"
}

# discover NAME [TABLES]: what ibnetdiscover sees of the net file $work/net, and OpenSM's tables
discover() {
  # the first adapter of the file: its id is the first quoted text of its record
  host=$(grep -m1 -E '^(Ca|Hca)' net | cut -d'"' -f2)
  : >ibsim.log
  ibsim -s -n -N 1000 -S 500 -P 20000 net >ibsim.log 2>&1 </dev/null &
  sim=$!
  await ibsim "$sim" 'simulator ready' 50
  [ $# -lt 2 ] || route "$2"
  # one request at a time, so that the order of the nodes is always the same
  SIM_HOST="$host" LD_PRELOAD="$umad2sim" timeout 60 \
    ibnetdiscover --outstanding_smps 1 >found || fail "$1: ibnetdiscover failed"
  stop
  mv found "$folder/$1"
  echo "$1: $(grep -c '^Switch' "$folder/$1") switches, $(grep -c '^Ca' "$folder/$1") adapters"
}

# generate NAME SPEC
generate() {
  "$topo" "gen:$2" --to ibnetdiscover >net
  discover "$1"
}

# Two rails: node I has adapter mlx5_0 on the first leaf switch of its pod and mlx5_1 on
# the second. Two pods of four nodes; two cables from every leaf to both spines.
two_rail() {
  for leaf in 0 1 2 3; do
    printf 'Switch 36 "leaf%d-rail%d"\n' $((leaf / 2 + 1)) $((leaf % 2))
    for i in 1 2 3 4; do
      node=$((i + (leaf >= 2 ? 4 : 0)))
      printf '[%d] "node%d mlx5_%d"[1]\n' "$i" $node $((leaf % 2))
    done
    for i in 0 1 2 3; do
      printf '[%d] "spine%d"[%d]\n' $((33 + i)) $((i / 2 + 1)) $((leaf * 2 + i % 2 + 1))
    done
    echo
  done
  for spine in 1 2; do
    printf 'Switch 36 "spine%d"\n' "$spine"
    for i in 0 1 2 3 4 5 6 7; do
      printf '[%d] "leaf%d-rail%d"[%d]\n' $((i + 1)) $((i / 4 + 1)) $((i / 2 % 2)) \
        $((33 + (spine - 1) * 2 + i % 2))
    done
    echo
  done
  for node in 1 2 3 4 5 6 7 8; do
    for rail in 0 1; do
      printf 'Hca 1 "node%d mlx5_%d"\n[1] "leaf%d-rail%d"[%d]\n\n' "$node" "$rail" \
        $(((node - 1) / 4 + 1)) "$rail" $(((node - 1) % 4 + 1))
    done
  done
}

# A site: three pods of four leaf switches, 144 hosts, 40-port switches, three times more down to
# hosts than up. What happened to it: an additional cable between two leaf switches, a cable that
# was taken out, and one that came up slower.
site() {
  "$topo" gen:pgft:m=12/4/3,w=1/4/2,p=1/1/2,speed=HDR --to ibnetdiscover | awk '
    function name(was, is, width) {
      while (match($0, "\"" was "[0-9]+[ \"]"))
        $0 = substr($0, 1, RSTART) sprintf(is "%0" width "d", \
          substr($0, RSTART + 1 + length(was), RLENGTH - length(was) - 2) + 1) substr($0, RSTART + RLENGTH - 1)
    }
    { name("leaf-", "leaf", 2); name("l2-", "spine", 2); name("l3-", "core", 1); name("h", "node", 3) }
    /^Switch/ { sub(/\t[0-9]+ /, "\t40 ") }
    { print }' >plan
  "$topo" plan --edit='add leaf08:37 leaf09:38; remove spine02:6; speed leaf03:15 4xEDR' --to ibnetdiscover
}

generate fattree.txt fattree:radix=8,levels=3
generate tapered.txt pgft:m=12/4,w=1/2,p=1/3,speed=HDR,name-prefix=t-
generate torus.txt torus:dims=4x4x4
generate dragonfly.txt dragonfly:a=4,p=2,h=2,speed=NDR
generate kfat.txt kfat:dims=4x4,hosts=4
two_rail >net
discover two-rail.txt
site >net
discover site.txt site-lfts.dump.gz
