#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# usage: compare-opensm.sh [quick]
# The multicast trees that the subnet manager OpenSM makes (engines minhop and sssp, run for
# real on fabrics simulated by ibsim) beside those of fabric-mcroute for the same groups:
# largest and mean number of trees on a cable between switches, and the CPU time to compute
# all trees. Needs opensm, ibsim and a build with tests (environment: BUILD, default build/
# of this source tree). "quick": the smallest fabric only.
set -u
here=$(cd "$(dirname "$0")/.." && pwd)
build=$(cd "${BUILD:-$here/build}" && pwd) || exit 3
quick=${1:-}
topo=$build/cmd/fabric-topo mcroute=$build/cmd/fabric-mcroute
mcjoin=$build/tests/interop/mcjoin
export FAB_PRELOAD=$build/tests/interop/libroute_time.so
export SWEEPS=5
[ -x "$mcjoin" ] && [ -f "$FAB_PRELOAD" ] || {
  echo "compare-opensm.sh: no $mcjoin: build first, with tests" >&2
  exit 3
}
dir=$(mktemp -d) || exit 3
trap 'rm -rf "$dir"' EXIT
status=0

row() { printf '%-20s %-18s %-15s %8s %8s %10s\n' "$@"; }

# compare NAME FABRIC PATTERN
compare() {
  local name=$1 fabric=$2 pattern=$3 algorithm max mean ms
  "$topo" "$fabric" --to ibnetdiscover >"$dir/net" || exit 3
  "$mcroute" "$dir/net" --pattern="$pattern" --algorithm=opensm --trees-out="$dir/trees" \
    --output="$dir/report" || exit 3
  for engine in minhop sssp; do
    "$here/tests/interop/opensm-trees.sh" "$mcjoin" "$dir/net" "$dir/trees" $engine "$dir/$engine" \
      >"$dir/log" 2>&1 || {
      rc=$?
      cat "$dir/log" >&2
      exit $rc
    }
    "$mcroute" "$dir/net" --mcfdbs="$dir/$engine/opensm.mcfdbs" --check --fullest=0 --no-header \
      --format=csv --columns=max_efi,mean_efi >"$dir/loaded" || {
      echo "$name: OpenSM $engine makes broken trees" >&2
      status=1
    }
    IFS=, read -r max mean < <(tr -d '\r' <"$dir/loaded")
    mean=$(printf '%.3f' "$mean")
    # the last whole sweeps, which come after all joins
    ms=$(awk '/^mcast_cpu_us/ && last == "ucast" { print $2 } { last = $1 }' "$dir/$engine/opensm.out" |
      tail -n $SWEEPS | sort -g | awk 'NR == 1 { printf "%.3f", $1 / 1000 }')
    [ -n "$ms" ] || {
      echo "$name: OpenSM $engine was not timed" >&2
      status=1
    }
    row "$name" "${pattern%%,*}" "OpenSM $engine" "$max" "$mean" "$ms"
    [ $engine = minhop ] && opensm="$max $mean"
  done
  for _ in 1 2 3 4 5; do
    "$mcroute" "$dir/net" --pattern="$pattern" --algorithm=opensm,all --threads=1 --fullest=0 --no-header \
      --format=csv --columns=algorithm,max_efi,mean_efi,seconds.roots,seconds.trees,lower_bound
  done | tr -d '\r' | awk -F , '
    { ms = ($4 + $5) * 1000 }
    !($1 in best) { order[++n] = $1; best[$1] = ms }
    { if (ms < best[$1]) best[$1] = ms; max[$1] = $2; mean[$1] = $3; bound = $6 }
    END {
      for (i = 1; i <= n; i++)
        printf "%s %s %.3f %.3f\n", order[i], max[order[i]], mean[order[i]], best[order[i]]
      printf "bound %s - -\n", bound
    }' >"$dir/ours"
  while read -r algorithm max mean ms; do
    row '' '' "$algorithm" "$max" "$mean" "$ms"
  done <"$dir/ours"
  [ "$opensm" = "$(awk '$1 == "opensm" { print $2, $3 }' "$dir/ours")" ] || {
    echo "$name: OpenSM's trees are not those of --algorithm=opensm" >&2
    status=1
  }
}

cat <<'END'
Milliseconds to choose the roots and make all trees by one thread, the least of five runs:
for OpenSM CPU time within a sweep of the whole subnet, before the tables are sent. The
distances between switches are known by then, in OpenSM as here. bound: no trees have less.

END
row fabric groups algorithm max_efi mean ms
compare 'fat tree, radix 8' gen:fattree:radix=8,levels=3 grid:8x4x4
if [ -z "$quick" ]; then
  compare 'fat tree, radix 16' gen:fattree:radix=16,levels=3 grid:16x8x8
  compare 'fat tree, radix 16' gen:fattree:radix=16,levels=3 random:groups=300,size=16
  compare 'torus 8x8x8' gen:torus:dims=8x8x8,hosts=2 grid:32x32
  compare 'torus 8x8x8' gen:torus:dims=8x8x8,hosts=2 grid:16x8x8
  compare 'dragonfly 8, 4, 4' gen:dragonfly:a=8,p=4,h=4 grid:33x32
  compare 'dragonfly 8, 4, 4' gen:dragonfly:a=8,p=4,h=4 grid:33x8x4
fi
exit $status
