#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Recompute every lower bound of a file of fabric-mcroute --bound-out from what the file says.

Prints a line for each bound; exits with 1 when one does not hold. Knows nothing of the program."""
import json
import sys
from collections import deque


def ceil_div(a, b):
    return -(-a // b)


def hops_from(start, peers):
    hops = {start: 0}
    queue = deque([start])
    while queue:
        s = queue.popleft()
        for t in peers[s]:
            if t not in hops:
                hops[t] = hops[s] + 1
                queue.append(t)
    return hops


class Checker:
    def __init__(self, lines):
        fabric = json.loads(lines[0])
        rest = [json.loads(line) for line in lines[1:]]
        self.cables = fabric["cables"]
        self.groups = [set(x["switches"]) for x in rest if "group" in x]
        self.first = [x["switches"][0] for x in rest if "group" in x]
        self.bounds = [x for x in rest if "bound" in x]
        self.n = len(fabric["switches"])
        self.peers = [set() for _ in range(self.n)]
        for a, b in self.cables:
            assert a != b
            self.peers[a].add(b)
            self.peers[b].add(a)
        self.rows = {}

    def hops(self, s):
        if s not in self.rows:
            self.rows[s] = hops_from(s, self.peers)
        return self.rows[s]

    def cut(self, b):
        inside = set(b["inside"])
        split = sum(1 for g in self.groups if g & inside and g - inside)
        across = sum(1 for x, y in self.cables if (x in inside) != (y in inside))
        return ceil_div(split, across)

    def parts(self, b):
        part = b["parts"]
        between = sum(1 for x, y in self.cables if part[x] != part[y])
        joins = 0
        for g in self.groups:
            joins += max(len({part[s] for s in g} - {None}) - 1, 0)
        return ceil_div(joins, between)

    def hops_bound(self, b):
        total = 0
        for g in self.groups:
            members, k, tree = sorted(g), len(g), 0
            left = {s: self.hops(members[0])[s] for s in members[1:]}
            while left:  # Prim
                s = min(left, key=left.get)
                tree += left.pop(s)
                left = {t: min(d, self.hops(s)[t]) for t, d in left.items()}
            total += max(k - 1, ceil_div(tree * k, 2 * (k - 1)) if k > 1 else 0)
        return ceil_div(total, len(self.cables))

    def dual(self, b):
        weights = b.get("weights") or [1] * len(self.cables)
        assert len(weights) == len(self.cables) and all(w >= 0 and w == int(w) for w in weights)
        arcs_into = [[] for _ in range(self.n)]  # (tail, number of the arc)
        for i, (x, y) in enumerate(self.cables):
            arcs_into[y].append((x, 2 * i))
            arcs_into[x].append((y, 2 * i + 1))
        total = 0
        for g, root, turns in zip(self.groups, self.first, b["turns"]):
            used = {}
            for t in turns:
                assert t in g and t != root
                inside, stack = {t}, [t]
                while stack:
                    for tail, arc in arcs_into[stack.pop()]:
                        if used.get(arc, 0) == weights[arc // 2] and tail not in inside:
                            inside.add(tail)
                            stack.append(tail)
                assert root not in inside, "a turn around the root"
                cut = [arc for s in inside for tail, arc in arcs_into[s] if tail not in inside]
                much = min(weights[arc // 2] - used.get(arc, 0) for arc in cut)
                for arc in cut:
                    used[arc] = used.get(arc, 0) + much
                total += much
        return ceil_div(total, sum(weights))

    def matching(self, b):
        sw, cables = b["switch"], set(b["cables"])
        exits = [(i, y if x == sw else x) for i, (x, y) in enumerate(self.cables) if sw in (x, y)]
        assert cables <= {i for i, _ in exits}
        for i in b["groups"]:
            g = self.groups[i]
            assert sw in g and len(g) > 1
            far = [max(self.hops(s).get(m, self.n) for m in g) for s in range(self.n)]
            radius = min(far)
            roots = [s for s in range(self.n) if far[s] == radius]
            if sw in roots:
                assert all(i in cables for i, _ in exits)
            for i, peer in exits:
                if any(self.hops(r).get(peer, self.n) <= radius - 1 for r in roots):
                    assert i in cables, "a group that may leave by another cable"
        assert len(b["groups"]) == len(set(b["groups"]))
        return ceil_div(len(b["groups"]), len(cables))

    def run(self):
        how = {"cut": self.cut, "parts": self.parts, "hops": self.hops_bound, "dual": self.dual, "weighted": self.dual, "matching": self.matching}
        wrong = 0
        for b in self.bounds:
            value = how[b["bound"]](b)
            holds = value >= b["value"]
            wrong += not holds
            print(b["bound"], b["value"], b["holds_for"], "holds" if holds else "WRONG: %d" % value)
        return 1 if wrong else 0


if __name__ == "__main__":
    with open(sys.argv[1]) as file:
        sys.exit(Checker(file.read().splitlines()).run())
