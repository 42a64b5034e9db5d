#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# usage: opensm.sh FABRIC_TOPO FABRIC_MCROUTE MCJOIN ENGINES FABRIC PATTERN...
# The trees of --algorithm=opensm are those that the real OpenSM puts into the switches'
# multicast tables, port for port, with each of its routing ENGINES (separated by commas), on
# FABRIC for the groups of all patterns, and for some groups that switches are members of.
# Exit status 77 (skipped) without OpenSM, ibsim or, for a real dump, the test data.
set -u
# shellcheck source=tests/interop/alone.bash
. "$(dirname "$(readlink -f "$0")")/alone.bash"
topo=$1 mcroute=$2 mcjoin=$3 engines=$4 fabric=$5
shift 5
here=$(dirname "$(readlink -f "$0")")
find_dump
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
fail() {
  echo "FAILED: $*"
  exit 1
}

"$topo" "$fabric" --to ibnetdiscover >"$dir/net" || fail "no dump of $fabric"
patterns=()
for pattern in "$@"; do
  patterns+=("--pattern=$pattern")
done
# a switch and an adapter, two switches, and all of the first switches and adapters
awk -F '"' '
  /^Switch/ { s[++n] = substr($2, 3) }
  /^Ca/ { getline; split($0, p, /[()]/); a[++m] = p[2] }
  END {
    for (i = 1; i <= 6 && i <= n / 2 && i <= m / 2; i++) {
      printf "mixed-%d: 0x%s 0x%s\n", i, s[int(n * i / 7) + 1], a[int(m * (7 - i) / 7) + 1]
      printf "switches-%d: 0x%s 0x%s\n", i, s[i], s[n + 1 - i]
    }
    printf "many:"
    for (i = 1; i <= 8 && i <= n && i <= m; i++) printf " 0x%s 0x%s", s[i], a[m + 1 - i]
    print ""
  }' "$dir/net" >"$dir/groups"
"$mcroute" -q "$dir/net" "${patterns[@]}" --groups="$dir/groups" --algorithm=opensm --verify \
  --trees-out="$dir/trees" >"$dir/report" || fail "fabric-mcroute"
compare() { # ENGINE
  "$here/opensm-trees.sh" "$mcjoin" "$dir/net" "$dir/trees" "$1" "$dir/opensm" >"$dir/log" 2>&1
  rc=$?
  [ $rc -eq 0 ] || { cat "$dir/log"; exit $rc; }

  # "MLID switch port" of our trees, and of OpenSM's tables
  awk -F '\t' '
    FNR == NR { mlid[$1] = toupper(substr($2, 3)); next }
    FNR in mlid {
      rest = substr($0, index($0, "\"links\":"))
      while (match(rest, /"0x[0-9a-f]*",[0-9]+/)) {
        split(substr(rest, RSTART + 1, RLENGTH - 1), end, "\",")
        print mlid[FNR], end[1], end[2] + 0
        rest = substr(rest, RSTART + RLENGTH)
      }
    }' "$dir/opensm/mlids" "$dir/trees" | LC_ALL=C sort -u >"$dir/ours"
  awk '
    function hex(text, value, i) {
      for (i = 3; i <= length(text); i++)
        value = value * 16 + index("123456789abcdef", tolower(substr(text, i, 1)))
      return value
    }
    FNR == NR { is_ours[toupper(substr($NF, 3))]; next }
    $1 == "Switch" { sw = $2 }
    /^0x/ && substr($1, 3) in is_ours {
      for (i = 3; i <= NF; i++) print substr($1, 3), sw, hex($i)
    }' "$dir/opensm/mlids" "$dir/opensm/opensm.mcfdbs" | LC_ALL=C sort -u >"$dir/theirs"
  groups=$(wc -l <"$dir/opensm/mlids")
  [ "$(cut -d ' ' -f 1 "$dir/theirs" | sort -u | wc -l)" -eq "$groups" ] || fail "trees are missing"
  diff "$dir/ours" "$dir/theirs" >"$dir/diff" || {
    head -n 20 "$dir/diff"
    fail "$(sed -n 's/^[<>] \([^ ]*\) .*/\1/p' "$dir/diff" | sort -u | wc -l) of $groups trees differ"
  }
  # its own dump, read as tables
  "$mcroute" -q "$dir/opensm/opensm-subnet.lst" --mcfdbs="$dir/opensm/opensm.mcfdbs" --check \
    --algorithm=opensm --format=csv --no-header --columns=max_efi,max_efi_all,tree_links \
    >"$dir/loaded" || { cat "$dir/loaded"; fail "its tables are called broken"; }
  [ "$(uniq "$dir/loaded" | wc -l)" -eq 1 ] || { cat "$dir/loaded"; fail "its tables are read otherwise"; }
  echo "$1: $groups trees, $(wc -l <"$dir/ours") table entries: all equal"
}
for engine in ${engines//,/ }; do
  compare "$engine"
done
