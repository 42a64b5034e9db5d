#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# usage: mcroute-trees.sh BIN FABRIC PATTERN   (environment: FAB_SOURCE_DIR, FAB_TEST_DATA)
# Check the trees by jq and awk alone: from the lines of --trees-out, each tree joins the
# switches of its members by cables of the dump, has one link fewer than switches, reaches
# all of them from its root and is as high as stated; the loads of all links, the sum of links and the largest
# height are those of the report, and so is every row of its histogram.
# Exit status 77 (skipped) without jq or the dump.
set -eu
# shellcheck source=tests/interop/alone.bash
. "$(dirname "$(readlink -f "$0")")/alone.bash"
bin=$1 fabric=$2 pattern=$3
needs jq
find_dump
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

"$bin"/fabric-mcroute -q "$fabric" --pattern="$pattern" --algorithm=all --format=json \
  --trees-out="$dir/trees" -o "$dir/report"

"$bin"/fabric-topo -q "$fabric" --to=ibnetdiscover -o "$dir/dump"
# Ends of switches: switch, port, and the switch with its port or the port of the adapter.
awk '
  /^Switch/ { split($0, part, "\""); at = part[2]; sub("S-", "0x", at) }
  /^(Ca|Rt)/ { at = "" }
  /^\[/ && at {
    split($0, part, "\"")
    port = $0; sub(/^\[/, "", port); sub(/\].*/, "", port)
    peer_port = part[3]; sub(/^\[/, "", peer_port); sub(/\].*/, "", peer_port)
    if (sub("S-", "0x", part[2])) { print "cable\t" at " " port "\t" part[2] " " peer_port; next }
    guid = part[3]; sub(/^[^(]*\(/, "", guid); sub(/\).*/, "", guid)
    print "cable\t" at " " port "\t" guid
  }' "$dir/dump" >"$dir/cables"

# What the report says: algorithm, its measures, and cables by load.
jq -r '.groups as $groups | .members as $members | .fabric.switch_links as $links |
  .results[] | ["report", .algorithm, .max_efi, .max_efi_all, .links_at_max, .tree_links,
    .max_height, $groups, $members, $links] | @tsv' "$dir/report" >"$dir/said"
jq -r '.histogram[] | ["cables", .algorithm, .efi, .cables] | @tsv' "$dir/report" >>"$dir/said"
# Trees, a record a line: group and algorithm, links, members, end.
jq -r '(["tree", .algorithm, .group, .root, .height] | @tsv),
  (.links[] | ["link"] + . | @tsv), (.hosts[] | ["host"] + . | @tsv), "end"' \
  "$dir/trees" >"$dir/lines"

awk -F '\t' '
function wrong(what) {
  print "algorithm " algorithm ", group " group ": " what
  failed = 1
}
# one tree: links n_links, ends from[] to[], members at[]
function check(i, k, head, tail, next_switch, highest) {
  # walk from the root, hop by hop
  delete depth
  depth[root] = 0
  queue[1] = root
  tail = 1
  for (head = 1; head <= tail; head++)
    for (i = 1; i <= degree[queue[head]]; i++) {
      next_switch = neighbour[queue[head], i]
      if (next_switch in depth)
        continue
      depth[next_switch] = depth[queue[head]] + 1
      queue[++tail] = next_switch
    }
  # switches of the tree: the root, and ends of links
  n_switches = (root in degree) ? 0 : 1
  for (k in degree) {
    n_switches++
    if (!(k in depth)) wrong("no way from the root to " k)
  }
  if (n_links != n_switches - 1) wrong(n_links " links for " n_switches " switches")
  for (k in at) {
    if (!(k in depth)) wrong("does not reach a member on " k)
    else if (depth[k] > highest) highest = depth[k]
  }
  # nothing hangs in the tree that no member needs
  for (k in degree)
    if (degree[k] == 1 && k != root && !(k in at)) wrong("the leaf " k " has no member")
  if (highest + 0 != height) wrong("is " highest + 0 " high, " height " stated")
  if (highest + 0 > max_height[algorithm] + 0) max_height[algorithm] = highest
  trees[algorithm]++
  tree_links[algorithm] += n_links
}
function load_of(one, other, key) {
  # both directions of a cable are one
  key = one < other ? one SUBSEP other : other SUBSEP one
  if (key in in_tree) wrong("has a cable twice")
  in_tree[key]
  load[algorithm, key]++
  seen[algorithm SUBSEP key] = algorithm
}
$1 == "tree" {
  algorithm = $2; group = $3; root = $4; height = $5; n_links = 0
  delete degree; delete neighbour; delete at; delete in_tree
}
$1 == "cable" { cable[$2] = $3 }
$1 == "link" {
  n_links++
  if (cable[$2 " " $3] != $4 " " $5) wrong("no cable from " $2 ", port " $3)
  neighbour[$2, ++degree[$2]] = $4
  neighbour[$4, ++degree[$4]] = $2
  load_of($2 " " $3, $4 " " $5)
}
$1 == "host" {
  at[$2]
  members[algorithm]++
  guid = $4; sub("^0x0*", "", guid)
  if ($3 + 0 && cable[$2 " " $3] != guid) wrong("no cable to member " $4)
  if ($3 + 0) host_load[algorithm SUBSEP $2 SUBSEP $3]++
}
$1 == "end" { check() }
$1 == "cables" { said[$2, $3] = $4 }
$1 == "report" {
  max[$2] = $3; max_all[$2] = $4; at_max[$2] = $5; said_links[$2] = $6; said_height[$2] = $7
  groups[$2] = $8; said_members[$2] = $9; n_cables[$2] = $10
}
function compare(what, ours, theirs) {
  if (ours + 0 == theirs + 0) return
  print "algorithm " algorithm ": " what " is " ours + 0 ", the report says " theirs
  failed = 1
}
END {
  for (k in seen) {
    algorithm = seen[k]
    used[algorithm]++
    efi = load[k]
    count[algorithm, efi]++
    if (efi > most[algorithm] + 0) most[algorithm] = efi
  }
  for (k in host_load) {
    split(k, part, SUBSEP)
    if (host_load[k] > most_all[part[1]] + 0) most_all[part[1]] = host_load[k]
  }
  for (algorithm in max) {
    n++
    if (most[algorithm] + 0 > most_all[algorithm] + 0) most_all[algorithm] = most[algorithm]
    compare("max_efi", most[algorithm], max[algorithm])
    compare("max_efi_all", most_all[algorithm], max_all[algorithm])
    compare("links_at_max", count[algorithm, most[algorithm]], at_max[algorithm])
    compare("tree_links", tree_links[algorithm], said_links[algorithm])
    compare("max_height", max_height[algorithm], said_height[algorithm])
    compare("groups", trees[algorithm], groups[algorithm])
    compare("members", members[algorithm], said_members[algorithm])
    compare("cables without a tree", n_cables[algorithm] - used[algorithm], said[algorithm, 0])
    for (efi = 1; efi <= most[algorithm]; efi++)
      compare("cables with " efi " trees", count[algorithm, efi], said[algorithm, efi] + 0)
    print algorithm ": " trees[algorithm] " trees, max_efi " most[algorithm] + 0 \
      ", tree_links " tree_links[algorithm] + 0 ", max_height " max_height[algorithm] + 0
  }
  if (n < 6) { print "only " n " algorithms"; failed = 1 }
  exit failed
}' "$dir/cables" "$dir/said" "$dir/lines"
