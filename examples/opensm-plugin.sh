#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# usage: opensm-plugin.sh [quick]
# The fullest cable between switches under the multicast trees of the real OpenSM (minhop, on
# fabrics simulated by ibsim), without and with the plug-in (fabkit-opensm(8)), read from the
# tables that OpenSM wrote, beside the lower bound. Needs opensm, ibsim, libopensm-dev and a
# build with tests (environment: BUILD, default build/ of this source tree). "quick": the
# smallest fabric only.
set -u
here=$(cd "$(dirname "$0")/.." && pwd)
build=$(cd "${BUILD:-$here/build}" && pwd) || exit 3
quick=${1:-}
mcjoin=$build/tests/interop/mcjoin plugin=$build/lib/opensm
[ -x "$mcjoin" ] && [ -f "$plugin/libfabkit-opensm.so" ] || {
  echo "opensm-plugin.sh: no $mcjoin or no plug-in in $plugin: build first, with tests" >&2
  exit 77
}
dir=$(mktemp -d) || exit 3
trap 'rm -rf "$dir"' EXIT
printf '%s\n' 'event_plugin_name fabkit-opensm' 'event_plugin_options mode=on' >"$dir/on.conf"
printf '\n' >"$dir/off.conf"

# fullest CONF: OpenSM routes all groups; max_efi and bound of its tables
fullest() {
  OSM_CONF=$dir/$1.conf LD_LIBRARY_PATH=$plugin "$here/tests/interop/opensm-trees.sh" "$mcjoin" \
    "$dir/net" "$dir/trees" minhop "$dir/$1" >"$dir/log" 2>&1 || {
    rc=$?
    cat "$dir/log" >&2
    exit $rc
  }
  "$build/cmd/fabric-mcroute" -q "$dir/net" --mcfdbs="$dir/$1/opensm.mcfdbs" --check --fullest=0 \
    --no-header --format=csv --columns=max_efi 2>"$dir/log" | tr -d '\r' || {
    echo "the trees are broken: $(cat "$dir/log")" >&2
    exit 1
  }
}

printf '%-34s %-32s %8s %8s %6s\n' fabric groups OpenSM plug-in bound
compare() { # FABRIC PATTERN
  local off on bound
  "$build/cmd/fabric-topo" -q "$1" --to=ibnetdiscover >"$dir/net" || exit 3
  bound=$("$build/cmd/fabric-mcroute" -q "$dir/net" --pattern="$2" --algorithm=opensm --no-header \
    --trees-out="$dir/trees" --format=csv --columns=lower_bound,height_bound | tr -d '\r' |
    awk -F , '{ print ($2 > $1 ? $2 : $1) }') || exit 3
  off=$(fullest off) || exit $?
  on=$(fullest on) || exit $?
  printf '%-34s %-32s %8s %8s %6s\n' "${1##*/}" "$2" "$off" "$on" "$bound"
}
compare gen:fattree:radix=8,levels=3 random:groups=200,size=8
[ "$quick" = quick ] && exit 0
compare gen:torus:dims=6x6,hosts=4 grid:12x12
compare gen:dragonfly:a=4,p=2,h=2 random:groups=200,size=6
compare gen:kfat:dims=6x6,hosts=4 grid:12x12
dump=$here/../shared/topologies/ibnetdiscover/stage-qdr.txt
[ -f "$dump" ] && compare "$dump" random:groups=300,size=8
exit 0
