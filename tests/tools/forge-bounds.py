#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Forge the certificates of a file of fabric-mcroute --bound-out, and show check-bounds.py each.

forge-bounds.py BOUNDS MAX_EFI: there are trees with this MAX_EFI, so that what proves more is a
forgery that was not noticed. Prints a line for each bound; exits with 1 when there was one."""
import importlib
import sys
from itertools import chain, combinations

check_bounds = importlib.import_module("check-bounds")


def is_taken(prove, *args):
    try:
        prove(*args)
    except (AssertionError, LookupError, TypeError, ValueError):
        return False
    return True


def other_lists(numbers, n):
    """In the place of one of numbers below n: all of them forged, then one."""
    of = [x for x in numbers if x is not None]
    yield from (numbers * 2, numbers + [x - n for x in of], [], list(range(n)), [None] * n)
    yield from ([-x for x in of], [x / 2 for x in of], [0] * len(of), [x * 2 for x in of])
    for i, x in enumerate(numbers):
        for part in [], [x, x], [0], [n], [None], *([[x + 1], [x - n]] if x is not None else []):
            yield numbers[:i] + part + numbers[i + 1 :]


def forged_numbers(b, checker):
    for key, x in b.items():
        if key == "turns":
            for forge in (lambda t: t * 2), (lambda t: t + t[-1:]), (lambda t: t[:1] + t):
                yield {**b, key: [forge(turns) for turns in x]}
        elif isinstance(x, list):
            for other in other_lists(x, len(checker.groups) if key == "groups" else checker.n):
                yield {**b, key: other}


def all_turns(b, checker):
    """As many turns as are taken."""
    if "turns" not in b:
        return
    forged = []
    for group in checker.groups:
        turns, more = [], list(range(checker.n))
        while more:
            more = [t for t in more if is_taken(checker.least_edges, group, turns + [t])]
            turns += more[:1]
        forged.append(turns)
    yield {**b, "turns": forged}


def all_matchings(b, checker):
    """At every switch and for any of its cables all groups that are taken."""
    if "switch" not in b:
        return
    for sw in range(checker.n):
        exits = [i for i, cable in enumerate(checker.cables) if sw in cable]
        for cables in chain.from_iterable(combinations(exits, k) for k in range(len(exits) + 1)):
            ours = {**b, "switch": sw, "cables": list(cables)}
            groups = [
                i
                for i in range(len(checker.groups))
                if is_taken(checker.prove_matching, {**ours, "groups": [i]})
            ]
            yield {**ours, "groups": groups}


def claims(b):
    """What the certificate does not prove."""
    for value in b["value"] - 1, b["value"] + 1, b["value"] + 0.5:
        yield {**b, "value": value}
    for whose in {"any trees", "minimal height"} - {b["holds_for"]}:
        yield {**b, "holds_for": whose}


with open(sys.argv[1]) as file:
    checker = check_bounds.Checker(file)
most, n_unseen = int(sys.argv[2]), 0
for b in checker.bounds:
    forged = chain(*(f(b, checker) for f in (forged_numbers, all_turns, all_matchings)))
    unseen = [f for f in forged if checker.value(f) > most]
    unseen += [f for f in claims(b) if checker.holds(f)]
    n_unseen += len(unseen)
    print(b["bound"], "NOT NOTICED" if unseen else "forged in vain")
sys.exit(n_unseen > 0)
