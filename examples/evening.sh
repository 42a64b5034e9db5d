#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# usage: evening.sh DUMP [OLD]
# A night on a fabric: something is slow or broken, and at two o'clock there is time to look. From a dump of
# ibnetdiscover: the verdict, where the worst thing is, what is new since the dump OLD, the effect of taking
# that switch out of service (changed.txt: the dump afterwards), cures of a credit loop, hosts for a job
# meanwhile, and a picture (evening.dot). Takes seconds.
# Finds the commands in PATH or in build/cmd.
set -eu
here=$(dirname "$0")
PATH=$PATH:$(cd "$here/.." && pwd)/build/cmd
[ $# -gt 0 ] || { sed -n '3,8s/^# //p' "$0" >&2; exit 2; }
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

if [ "$suspect" ]; then
  case $(fabric-topo -q --who="$suspect" "$dump") in
    *switch*)
      title the change: that switch out of service
      fabric-topo -q --edit="drain $suspect" --to=ibnetdiscover -o changed.txt "$dump"
      fabric-faults -q "$dump" --algorithm=updn --edit="drain $suspect" | sed -n '1,/^$/p'
      title check: the fabric as it will be
      fabric-topo -q --check changed.txt | sed -n '/^severity/,$p'
      ;;
  esac
fi

title cure of a credit loop under minhop
fabric-faults -q "$dump" --algorithm=minhop --cure | sed -n '1,/^$/p' || true

title a job meanwhile: hosts near to each other
n=$(fabric-topo -q --format=json "$dump" | jq '[.fabric.hosts / 4 | ceil, 64] | min')
fabric-topo --choose="$n" "$dump" | sed -n '1,/^$/p'

title picture
fabric-topo -q --to=dot --set=fold -o evening.dot "$dump"
echo 'evening.dot: dot -Tsvg evening.dot >evening.svg'
