#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Weighted loads from the trees that fabric-mcroute --trees-out wrote.

check-loads.py TREES DEMANDS|- PORTS|- REPORT: demands as in --weight (-: 1 each), ports as
fabric-topo --ports --format=json has them (-: every capacity is 1), the report as JSON. Prints a
line for each algorithm; exits with 1 when the report says something else, or less than its bound.
Knows nothing of the program."""
import json
import re
import sys

LANE = {"SDR": 2, "DDR": 4, "QDR": 8, "FDR": 14.0625 * 64 / 66, "EDR": 25, "HDR": 50, "NDR": 100}


def read_demands(path):
    demands = {}
    for line in open(path):
        words = re.match(r'\s*"?([^"#]*?)"?\s*:\s*(\S+)', line)
        if words:
            demands[words[1]] = float(words[2])
    return demands


def read_rates(path):
    return {(p["guid"], p["port"]): (p["width"] or 0) * LANE.get(p["speed"], 0)
            for p in json.load(open(path))["ports"]}


trees, demands, ports, report = sys.argv[1:5]
demand = None if demands == "-" else read_demands(demands)
rate = None if ports == "-" else read_rates(ports)
loads = {}
for line in open(trees):
    tree = json.loads(line)
    of = loads.setdefault(tree["algorithm"], {})
    for a, a_port, b, b_port in tree["links"]:
        capacity = min(rate[a, a_port], rate[b, b_port]) if rate else 1
        cable = tuple(sorted([(a, a_port), (b, b_port)]))
        of[cable] = of.get(cable, 0) + (demand[tree["group"]] if demand else 1) / capacity
report = json.load(open(report))
is_wrong = False
for row in report["results"]:
    of = loads[row["algorithm"]]
    most, mean = max(of.values()), sum(of.values()) / report["fabric"]["switch_links"]
    fine = abs(row["max_load"] - most) <= 1e-4 * most and abs(row["mean_load"] - mean) <= 1e-4 * mean
    fine = fine and row["load_bound"] <= most * (1 + 1e-4)
    is_wrong |= not fine
    print(f"{row['algorithm']} {most:.4g} {mean:.4g}{'' if fine else ' WRONG'}")
sys.exit(is_wrong)
