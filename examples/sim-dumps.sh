#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# usage: sim-dumps.sh DUMP [OPTION...]
# A fabric under full load, in words: uniform traffic, the permutation to the next host, 100 permutations by
# chance; what arrives, the fullest cable and why. OPTION is for fabric-sim: --lfts=FILE for the tables
# that it has, else those of minhop are made; --seed=N, --threads=N. A few hundred hosts take seconds, thousands
# minutes.
# Finds fabric-sim in PATH or in build/cmd.
set -eu
here=$(dirname "$0")
PATH=$PATH:$(cd "$here/.." && pwd)/build/cmd
[ $# -gt 0 ] || { sed -n '3,7s/^# //p' "$0" >&2; exit 2; }
dump=$1
shift

# answer WHAT OPTION...: the first lines of the report
answer() {
  echo "$1:"
  shift
  fabric-sim "$dump" --rate=1 --quiet "$@" | sed '/^$/,$d; s/^/  /'
}

answer 'All to all, by chance' "$@"
answer 'To the next host' --traffic=permutation:shift:1 "$@"
answer '100 permutations by chance' --traffic=permutation:random --runs=100 --time=50us --warmup=50us "$@"
