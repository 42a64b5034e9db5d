#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# usage: evening.sh DUMP [OLD]
# A night on a fabric: something is slow or broken, and at two o'clock there is time to look. From a dump of
# ibnetdiscover: the verdict, where the worst thing is, what is new since the dump OLD, what the failure of the
# switch would do to the routing, where a job can go meanwhile, and a picture. Takes seconds.
# Finds the commands in PATH or in build/cmd.
set -eu
here=$(dirname "$0")
PATH=$PATH:$(cd "$here/.." && pwd)/build/cmd
[ $# -gt 0 ] || { sed -n '3,7s/^# //p' "$0" >&2; exit 2; }
dump=$1
old=${2:-}

title() {
  printf '\n== %s\n' "$*"
}

title verdict: the causes, worst first
fabric-topo -q --check "$dump" || true

# the first switch or adapter that a problem names
suspect=$(fabric-topo -q --check --format=json "$dump" |
  jq -r 'first(.findings[] | select(.severity == "problem" and .node != null) | .guid) // empty') || true
if [ "$suspect" ]; then
  title cause: what it is about
  fabric-topo -q --who="$suspect" "$dump"
fi

if [ "$old" ]; then
  title what is new since "$old"
  fabric-topo -q --check --diff="$old" "$dump" | sed -n '/^severity/p; /^new/p'
fi

switch=$(fabric-topo -q --check --format=json "$dump" | jq -r --arg guid "$suspect" '
  first(.findings[] | select(.guid == $guid and (.peer_guid != null or .code == "few-uplinks")) | .guid) // empty')
if [ "$switch" ]; then
  title check: the fabric without that switch
  fabric-faults -q "$dump" --algorithm=updn --fail="$switch" | sed -n '1,/^$/p'
fi

title a job meanwhile: hosts near to each other
n=$(fabric-topo -q --format=json "$dump" | jq '[.fabric.hosts / 4 | ceil, 64] | min')
fabric-topo --choose="$n" "$dump" | sed -n '1,/^$/p'

title picture
fabric-topo -q --to=dot --fold -o evening.dot "$dump"
echo 'evening.dot: dot -Tsvg evening.dot >evening.svg'
