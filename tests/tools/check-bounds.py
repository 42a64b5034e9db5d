#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Recompute every lower bound of a file of fabric-mcroute --bound-out from what the file says.

Prints a line for each bound; exits with 1 when one does not hold. Knows nothing of the program."""
import json
import sys
from array import array
from functools import lru_cache


class Checker:
    def __init__(self, lines):
        fabric, *rest = map(json.loads, lines)
        self.groups = [list(dict.fromkeys(x["switches"])) for x in rest if "group" in x]
        self.bounds = [x for x in rest if "bound" in x]
        self.cables, self.n = fabric["cables"], len(fabric["switches"])
        # cable i is arc 2i from its first switch to its second, and arc 2i + 1 back
        self.tail = [s for cable in self.cables for s in cable]
        self.into = [[] for _ in range(self.n)]
        for arc in range(len(self.tail)):
            self.into[self.tail[arc ^ 1]].append(arc)
        self.hops = lru_cache(maxsize=20000)(self.search)

    def search(self, *starts):
        """Hops from the nearest of some switches to every other."""
        hops, level, k = [self.n] * self.n, set(starts), 0
        while level:
            for s in level:
                hops[s] = k
            k += 1
            level = {self.tail[a] for s in level for a in self.into[s] if hops[self.tail[a]] > k}
        return array("I", hops)

    def least_height(self, group):
        """Of its trees, and how far every switch is from a root of one."""
        far = [max(hops) for hops in zip(*map(self.hops, group))]
        least = min(far)
        return least, self.search(*(s for s in range(self.n) if far[s] == least))

    def prove_parts(self, b):
        part = b["parts"]
        joins = [len({part[s] for s in g} - {None}) - 1 for g in self.groups]
        return sum(max(k, 0) for k in joins), sum(part[x] != part[y] for x, y in self.cables)

    def prove_cut(self, b):
        inside = set(b["inside"])
        return self.prove_parts({"parts": [s in inside for s in range(self.n)]})

    def prove_hops(self, b):
        total = 0
        for first, *others in self.groups:
            left, tree, k = {s: self.hops(first)[s] for s in others}, 0, len(others)
            while left:  # Prim
                nearest = min(left, key=left.get)
                tree += left.pop(nearest)
                left = {s: min(left[s], self.hops(nearest)[s]) for s in left}
            total += max(k, -(-tree * (k + 1) // (2 * k)) if k else 0)
        return total, len(self.cables)

    def prove_dual(self, b):
        trees = zip(self.groups, b["turns"])
        return sum(self.least_edges(g, turns) for g, turns in trees), len(self.cables)

    def least_edges(self, group, turns):
        """Of a tree of the group: no arc is used by two turns."""
        used = set()
        for t in turns:
            inside, cut = {t}, self.into[t]  # all that reaches it, arcs to that
            while full := [a for a in cut if a in used]:
                new = {self.tail[a] for a in full}
                inside |= new
                cut = [a for a in cut + [a for s in new for a in self.into[s]] if self.tail[a] not in inside]
            assert t in group and group[0] not in inside and cut, "a turn that no tree needs"
            used.update(cut)
        return len(turns)

    def prove_forced(self, b):
        weights = b["weights"]
        assert all(type(w) is int and w >= 0 for w in weights) and len(weights) == len(self.cables)
        total = 0
        for g in self.groups:
            height, root = self.least_height(g)
            total += min(self.forced_weight(g, r, height, weights) for r in range(self.n) if not root[r])
        return total, sum(weights)

    def forced_weight(self, group, root, height, weights):
        """Of cables that every tree of this height from this root uses."""
        hops, forced = self.hops(root), set()
        for at in group:
            came, left = None, height
            while at != root:
                ways = [a for a in self.into[at] if self.tail[a] != came and self.leads(hops, at, self.tail[a], left)]
                if len(ways) > 1:
                    break
                forced.add(ways[0] // 2)
                came, at, left = at, self.tail[ways[0]], left - 1
        return sum(weights[c] for c in forced)

    def leads(self, hops, at, by, left):
        """Can a path of that many hops to the root begin with this neighbour?"""
        return hops[by] < left and (
            hops[by] == 0 or any(self.tail[a] != at and hops[self.tail[a]] + 2 <= left for a in self.into[by])
        )

    def prove_matching(self, b):
        sw, cables = b["switch"], set(b["cables"])
        peers = {a // 2: self.tail[a] for a in self.into[sw]}  # by cable
        assert len(b["groups"]) == len(set(b["groups"]))
        for i in b["groups"]:
            assert i >= 0 and sw in self.groups[i] and len(self.groups[i]) > 1
            height, root = self.least_height(self.groups[i])
            # it may leave by no other cable
            assert cables >= {c for c in peers if root[sw] == 0 or root[peers[c]] < height}
        return len(b["groups"]), len(cables)

    def value(self, b):
        """What the certificate proves; 0: nothing."""
        try:
            needed, capacity = getattr(self, "prove_" + b["bound"])(b)
        except (AssertionError, LookupError, TypeError, ValueError):
            return 0
        return -(-needed // max(capacity, 1))

    def holds(self, b):
        whose = "minimal height" if b["bound"] in ("forced", "matching") else "any trees"
        return b["value"] == self.value(b) and b["holds_for"] == whose


if __name__ == "__main__":
    with open(sys.argv[1]) as file:
        checker = Checker(file)
    for b in checker.bounds:
        b["said"] = "holds" if checker.holds(b) else "WRONG"
        print(*(b[key] for key in ("bound", "value", "holds_for", "said")), flush=True)
    sys.exit(any(b["said"] == "WRONG" for b in checker.bounds))
