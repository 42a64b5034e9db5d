#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# usage: tour.sh
# The eight commands in half a minute, on examples/fabrics/site.txt: what is shown, a command, and its output, in
# Markdown as README.md has it; tour.md is the result. Finds the commands in PATH or in build/cmd.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
PATH=$PATH:$here/../build/cmd
export COLUMNS=100
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp "$here/fabrics/site.txt" "$here/fabrics/site-lfts.dump.gz" "$work"
cd "$work"

# say SENTENCE: a paragraph
say() {
  printf '%s\n\n' "$*"
}

# show COMMAND [LINES]: the command and what it prints, of that the lines of one range of sed; `...` is the rest
show() {
  printf '    $ %s\n' "$1"
  sh -c "$1" >out 2>err || [ $? -eq 1 ] || { cat err >&2; exit 3; }
  sed -e :a -e '/^\n*$/{$d;N;ba' -e '}' out >kept
  [ $# -eq 1 ] || sed -n "$2{/^\$/q; p}" out >kept
  cmp -s kept out || [ "$(head -n 1 kept)" = "$(head -n 1 out)" ] || echo '    ...'
  sed 's/^/    /; s/[ \r]*$//' kept
  [ "$(tail -n 1 kept)" = "$(sed '/./h; $!d; g' out)" ] || echo '    ...'
  echo
}

say '# A tour of fabkit'
say '`examples/tour.sh` printed this, in `examples/fabrics`.'

say '## fabric-topo: what is this fabric?'
show 'fabric-topo site.txt' 1,2
say 'No shape, though it was bought as a fat tree. What is wrong? The worst comes first:'
show 'fabric-topo --check --lfts=site-lfts.dump.gz site.txt'
say 'Where is a thing, and which way do packets go by the tables of OpenSM?'
show 'fabric-topo --who=leaf08:37 site.txt'
show 'fabric-topo --trace=node001,node140 --lfts=site-lfts.dump.gz site.txt' '/^hop/,/^$/'
say 'Hosts for a job of 24 nodes, near to each other, and a file for Slurm:'
show 'fabric-topo --quiet --choose=24 site.txt'
show 'fabric-topo --to=slurm site.txt' 4,8

say '## fabric-faults: is the routing safe, and what do faults do to it?'
show 'fabric-faults site.txt --algorithm=minhop --cure'
say 'The fabric without that cable, before it is pulled:'
show 'fabric-faults site.txt --algorithm=minhop --edit="remove leaf08:37"' '/^what/,/^$/'
say 'Which loss would cost most?'
show 'fabric-faults site.txt --algorithm=updn --criticality' 1

say '## fabric-mcroute: which trees for many multicast groups?'
show 'fabric-mcroute site.txt --pattern=grid:12x12 --algorithm=opensm,sssp-new,balanced --verify --columns=algorithm,max_efi,lower_bound,max_height,verified' '/^algorithm/,/^$/'

say '## fabric-sim: what do packets do?'
show 'fabric-sim site.txt --lfts=site-lfts.dump.gz --traffic=uniform --rate=1' 1
say 'Without the cable:'
show 'fabric-sim site.txt --edit="remove leaf08:37" --algorithm=minhop --sweep=0.1:0.4:0.1 --columns=algorithm,offered,accepted_per_live_host,saturated,deadlock' '/^algorithm/,/^$/'

say '## fabric-rdma: which reliability scheme?'
show 'fabric-rdma run site.txt --edit="remove leaf08:37" --pattern=incast:16 --loss=1e-3 --scheme=gbn,irn,rsw+ --runs=20 --columns=scheme,completion_us.mean,ratio_to_oracle' '/^scheme/,/^$/'

say '## fabric-launch: where do the seconds of a job start go?'
show 'fabric-launch advise site.txt --ppn=64' 1,2
show 'fabric-launch fence site.txt --nodes=144 --bytes=1KB --fence=all --columns=algorithm,steps,model_us,simulated_us' '/^algorithm/,/^$/'

say '## fabric-bootplan: which server boots which node?'
show 'fabric-bootplan site.txt --servers=node001,node002 --image-size=8GB --target=15s' 1,2
show 'fabric-bootplan site.txt --servers=node001,node002 --algorithm=balanced --to=csv --to-out=plan.csv -o report'
show 'cat plan.csv' 1,4

say '## fabric-compare: what became better?'
show 'fabric-faults site.txt --algorithm=minhop --store=runs.db -o report'
show 'fabric-faults site.txt --algorithm=updn --store=runs.db -o report'
show 'fabric-compare runs.db 1:minhop 2:updn --metric=minimal,deadlock_free,pairs_on_cycles' '/^metric/,/^$/'

say '## All of them: a page with a picture'
show 'fabric-faults site.txt --algorithm=minhop --report=page.html' 1,2
