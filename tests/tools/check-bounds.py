#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Recompute every lower bound of a file of fabric-mcroute --bound-out from what the file says.

Prints a line for each bound; exits with 1 when one does not hold. Knows nothing of the program."""
import json
import sys
from multiprocessing import Pool


TOO_MUCH = 1 << 60  # what a cable that cannot be used costs


def ceil_div(a, b):
    return -(-a // b)


def share(checker):
    """In a process of its own: what it takes its groups from."""
    global shared
    shared = checker


def dual_of(what):
    return shared.dual_of(*what)


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

    def row(self, start):
        """Hops from a switch to every other."""
        if start not in self.rows:
            row, level = [self.n] * self.n, [start]
            row[start] = hops = 0
            while level:
                hops += 1
                level = {t for s in level for t in self.peers[s] if row[t] == self.n}
                for t in level:
                    row[t] = hops
            self.rows[start] = row
        return self.rows[start]

    def near(self, wanted):
        """Hops from each switch to those wanted of it, a set of bits; all searches at once."""
        hops, k = [{} for _ in range(self.n)], 0
        seen = [1 << s for s in range(self.n)]
        while any(wanted):
            k += 1
            last = seen
            seen = last[:]
            for s in range(self.n):
                for t in self.peers[s]:
                    seen[s] |= last[t]
                new = seen[s] & wanted[s]
                wanted[s] ^= new
                while new:
                    t = new.bit_length() - 1
                    new ^= 1 << t
                    hops[s][t] = k
        return hops

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
        wanted = [0] * self.n
        for g in self.groups:
            bits = sum(1 << s for s in g)
            for s in g:
                wanted[s] |= bits ^ 1 << s
        near, total = self.near(wanted), 0
        for g in self.groups:
            members, k, tree = sorted(g), len(g), 0
            left = {s: near[members[0]][s] for s in members[1:]}
            while left:  # Prim
                s = min(left, key=left.get)
                tree += left.pop(s)
                hops = near[s]
                left = {t: min(d, hops[t]) for t, d in left.items()}
            total += max(k - 1, ceil_div(tree * k, 2 * (k - 1)) if k > 1 else 0)
        return ceil_div(total, len(self.cables))

    def from_any(self, starts):
        """Hops to the nearest of some switches."""
        return [min(hops) for hops in zip(*map(self.row, starts))]

    def in_reach(self, group):
        """The arcs that a tree of minimal height can use."""
        far = [max(hops) for hops in zip(*map(self.row, group))]
        height = min(far)
        root = self.from_any(s for s in range(self.n) if far[s] == height)
        member = self.from_any(group)
        arcs = set()
        for arc, s in enumerate(self.tail):
            if root[s] + 1 + member[self.tail[arc ^ 1]] <= height:
                arcs |= {arc, arc ^ 1}
        return arcs

    def dual(self, b):
        self.is_low = b["bound"] == "reach"
        self.weights = b.get("weights") or [1] * len(self.cables)
        assert len(self.weights) == len(self.cables)
        assert all(w >= 0 and w == int(w) for w in self.weights)
        self.tail = [s for cable in self.cables for s in cable]  # arc 2i from a to b, 2i + 1 back
        self.into = [[] for _ in range(self.n)]
        for arc in range(len(self.tail)):
            self.into[self.tail[arc ^ 1]].append(arc)
        self.start = [w for w in self.weights for _ in "ab"]
        if len(self.groups) < 1000:
            much = map(self.dual_of, self.groups, self.first, b["turns"])
            return ceil_div(sum(much), sum(self.weights))
        with Pool(initializer=share, initargs=(self,)) as pool:
            much = pool.imap(dual_of, zip(self.groups, self.first, b["turns"]), 50)
            return ceil_div(sum(much), sum(self.weights))

    def dual_of(self, group, root, turns):
        tail, into, total = self.tail, self.into, 0
        left = self.start[:]  # what an arc may still take
        if self.is_low:
            reach = self.in_reach(group)
            left = [much if arc in reach else TOO_MUCH for arc, much in enumerate(left)]
        known = {t: ({t}, into[t]) for t in group}  # what is behind it, arcs to that
        for t in turns:
            assert t != root
            inside, cut = known[t]
            rest = [arc for arc in cut if left[arc]]
            if len(rest) < len(cut):  # taken up by others, or by itself at its last turn
                new = {tail[arc] for arc in cut if not left[arc]}
                while new:
                    inside |= new
                    rest += [arc for s in new for arc in into[s] if tail[arc] not in inside]
                    new = {tail[arc] for arc in rest if not left[arc]} - inside
                cut = [arc for arc in rest if tail[arc] not in inside]
                known[t] = inside, cut
            assert root not in inside, "a turn around the root"
            much = min([left[arc] for arc in cut])
            assert much < TOO_MUCH / 2, "a turn that no tree needs"
            for arc in cut:
                left[arc] -= much
            total += much
        return total

    def matching(self, b):
        sw, cables = b["switch"], set(b["cables"])
        exits = [(i, y if x == sw else x) for i, (x, y) in enumerate(self.cables) if sw in (x, y)]
        assert cables <= {i for i, _ in exits}
        for i in b["groups"]:
            g = self.groups[i]
            assert sw in g and len(g) > 1
            far = [max(hops) for hops in zip(*(self.row(m) for m in g))]
            radius = min(far)
            roots = [s for s in range(self.n) if far[s] == radius]
            if sw in roots:
                assert all(i in cables for i, _ in exits)
            for i, peer in exits:
                if any(self.row(peer)[r] <= radius - 1 for r in roots):
                    assert i in cables, "a group that may leave by another cable"
        assert len(b["groups"]) == len(set(b["groups"]))
        return ceil_div(len(b["groups"]), len(cables))

    def run(self):
        how = {"cut": self.cut, "parts": self.parts, "hops": self.hops_bound, "dual": self.dual, "weighted": self.dual, "reach": self.dual, "matching": self.matching}
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
