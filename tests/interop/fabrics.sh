#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# usage: fabrics.sh FABRIC_TOPO   (environment: FAB_SOURCE_DIR)
# examples/make-fabrics.sh makes the files of examples/fabrics again, but for the date.
# Exit status 77 (skipped) without ibsim or OpenSM.
set -eu
export FABRIC_TOPO="$1"
PATH=$PATH:/usr/sbin
examples=$FAB_SOURCE_DIR/examples
for program in ibsim ibnetdiscover opensm; do
  command -v $program >/dev/null || { echo "no $program"; exit 77; }
done
for so in /usr/lib/*/umad2sim/libumad2sim.so /usr/lib64/umad2sim/libumad2sim.so; do
  [ -f "$so" ] && break
done
[ -f "$so" ] || { echo "no libumad2sim.so"; exit 77; }
export UMAD2SIM="$so"

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
"$examples/make-fabrics.sh" "$dir/made"
status=0
for file in "$examples"/fabrics/*.txt "$dir"/made/*.txt; do
  name=$(basename "$file")
  for place in "$examples/fabrics" "$dir/made"; do
    [ -f "$place/$name" ] || { echo "no $place/$name"; status=1; continue 2; }
  done
  sed 2d "$examples/fabrics/$name" >"$dir/kept"
  sed 2d "$dir/made/$name" >"$dir/new"
  diff "$dir/kept" "$dir/new" >"$dir/diff" || {
    echo "$name differs:"
    head -n 20 "$dir/diff"
    status=1
  }
done
# tables by what they hold: they are compressed, and not by the same library everywhere
zcat "$examples/fabrics/site-lfts.dump.gz" >"$dir/kept"
zcat "$dir/made/site-lfts.dump.gz" | cmp - "$dir/kept" || status=1
exit $status
