#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# usage: rdma-dumps.sh DUMP [OPTION...]
# Which reliability scheme of RDMA to take on a fabric, in words: an incast of 64, a permutation by chance and an
# all to all of 4 KiB messages (each host to 8 others, a sample, 8 at a time), with 1e-4 of the packets lost;
# or between which schemes it is undecided.
# OPTION is for fabric-rdma: --lfts=FILE for the tables that the fabric has, else some are made; --loss=SHARE,
# --delay=SHARE:U:TIME, --seed=N, --threads=N. A few hundred hosts take seconds, thousands minutes.
# Finds fabric-rdma in PATH or in build/cmd.
set -eu
here=$(dirname "$0")
PATH=$PATH:$(cd "$here/.." && pwd)/build/cmd
[ $# -gt 0 ] || { sed -n '3,9s/^# //p' "$0" >&2; exit 2; }
dump=$1
shift

# answer WHAT OPTION...: the first lines of the report, and the table
answer() {
  echo "$1:"
  shift
  fabric-rdma run "$dump" --loss=1e-4 --quiet "$@" | sed '/^$/,/^Schemes/d; s/^/  /'
}

answer 'Incast of 64, 256 KiB each' --pattern=incast:64 "$@"
answer 'A permutation by chance, 256 KiB each' --pattern=permutation "$@"
answer 'All to all, 4 KiB each' --pattern=alltoall:8 --set=concurrency=8 --size=4KiB "$@"
