#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""usage: check-choices.py FABRIC-RDMA [CASES [SEED [RUNS]]]

Draw CASES (100) sets of options of fabric-rdma run, and check each "Take X here" with other seeds: X is
off when over RUNS runs (default: four times those of the choice, 2000 at least) its mean completion time
is more than 2 % above the least of all schemes. Prints a line for each wrong choice and the counts; exits
with 1 when more than 2 % of the cases are off."""
import json
import random
import subprocess
import sys

FABRICS = ["gen:torus:dims=4x4,hosts=1", "gen:torus:dims=4x4x4,hosts=1", "gen:mesh:dims=5,hosts=2",
           "gen:fattree:radix=8,levels=2", "gen:hyperx:dims=3x3,hosts=2"]
PATTERNS = ["pair", "pair", "pair", "incast:4", "permutation", "alltoall:2"]
TOLERANCE, MOST_EVENTS = 1.02, 4e8


def draw(rng):
    options = [rng.choice(FABRICS), "--pattern=" + rng.choice(PATTERNS)]
    options.append("--size=" + rng.choice(["4KiB", "16KiB", "64KiB", "256KiB", "1MiB"]))
    options.append("--mtu=" + rng.choice(["512", "1024", "2048", "4096"]))
    if rng.random() < 0.85:
        options.append("--loss=%.3g" % 10 ** rng.uniform(-5, -1.7))
        if rng.random() < 0.2:
            options.append("--burst=%d" % rng.randint(2, 6))
        if rng.random() < 0.15:
            options.append("--per-hop")
    if rng.random() < 0.35:
        options.append("--delay=%.3g:%s:%dns" % (10 ** rng.uniform(-3, 0), rng.choice("UEF"),
                                                 10 ** rng.uniform(2, 4.7)))
    if rng.random() < 0.15:
        options.append("--drop-control=%.3g" % 10 ** rng.uniform(-4, -2))
    if rng.random() < 0.3:
        options.append("--route=" + rng.choice(["adaptive", "spray"]))
    if rng.random() < 0.3:
        options.append("--rto=%dus" % 10 ** rng.uniform(0.7, 2.5))
    if rng.random() < 0.2:
        options.append("--set=contexts=%d" % rng.randint(1, 3))
        options.append("--set=retry=" + rng.choice(["delay", "backoff", "queue"]))
    return options


def simulate(program, options, *more):
    command = [program, "run", *options, *more, "--quiet", "--format=json"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit("%s: status %d: %s" % (" ".join(command), done.returncode, done.stderr))
    return json.loads(done.stdout)


def mean(row):
    return row["completion_us"]["mean"]


def check(program, options, seed, least_runs):
    """The verdict, and how far the scheme taken is above the best under another seed."""
    chosen = simulate(program, options, "--seed=%d" % seed)
    if chosen["verdict"] != "take":
        return chosen["verdict"], None, None
    runs = max(row["runs"] for row in chosen["results"])
    rivals = [row for row in chosen["results"] if row["standing"] in ("fast", "open") and not row["hung"]]
    events = sum(row["events"] / row["runs"] for row in rivals)
    runs = int(min(100000, max(4 * runs, least_runs), max(2 * runs, MOST_EVENTS / events)))
    names = ",".join(row["scheme"] for row in rivals)
    other = simulate(program, options, "--seed=%d" % (seed + 1000003), "--runs=%d" % runs, "--scheme=" + names)
    means = {row["scheme"]: mean(row) for row in other["results"] if not row["hung"]}
    return "take", chosen["take"], means.get(chosen["take"], float("inf")) / min(means.values())


def main():
    program, cases, seed, runs = sys.argv[1], *map(int, (sys.argv[2:] + ["100", "1", "2000"][len(sys.argv) - 2:]))
    rng, counts, off, most = random.Random(seed), {}, 0, 1
    for i in range(cases):
        options = draw(rng)
        verdict, scheme, ratio = check(program, options, seed + i, runs)
        counts[verdict] = counts.get(verdict, 0) + 1
        if ratio is not None:
            most = max(most, ratio)
        if ratio is not None and ratio > TOLERANCE:
            off += 1
            print("off: %s takes %.3f times as long as the best: fabric-rdma run %s --seed=%d" %
                  (scheme, ratio, " ".join(options), seed + i), flush=True)
    print("%d cases: %s; %d off by more than 2 %%, at most %.1f %%" %
          (cases, ", ".join("%d %s" % (counts[k], k) for k in sorted(counts)), off, 100 * (most - 1)))
    sys.exit(off > 0.02 * cases)


main()
