#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Hops of fabric-sim --set=trace against the tables that its packets follow.

check-trace.py DUMP LFTS REPORT: an ibnetdiscover dump, tables as OpenSM dumps them, the report as
JSON. Each packet starts on the cable of its source, follows the entry of its target's LID switch by
switch without a gap; those that have not come to their target are counted. Exits with 1 when a hop
differs. Knows nothing of the program."""
import json
import re
import sys

dump, lfts, report = sys.argv[1:4]
name, lid, table, at = {}, {}, {}, None
for line in open(dump):
    node = re.match(r'(Switch|Ca)\s+\d+ "([^"]+)"\s+# "([^"]+)"', line)
    port = re.match(r'\[(\d+)\]\((\w+)\).*# lid (\d+)', line)
    if node:
        at = node[3]
    elif port and at:
        lid[at] = int(port[3])
for line in open(lfts):
    switch = re.match(r"Unicast lids .*\('(.*)'\):", line)
    entry = re.match(r"0x([0-9a-f]+) (\d+)", line)
    if switch:
        at = switch[1]
    elif entry:
        table[at, int(entry[1], 16)] = int(entry[2])
packets = {}
for step in json.load(open(report))["trace"]:
    packets.setdefault(step["packet"], []).append(step)
wrong = under_way = 0
for number, steps in packets.items():
    ends, here, left = {(s["source"], s["target"], s["birth_ns"]) for s in steps}, None, 0
    for hop, s in enumerate(steps):
        a, b = s["cable"].split(" -> ")
        sender, out = a.rsplit(":", 1)
        ok = s["hop"] == hop and len(ends) == 1 and s["left_ns"] >= s["arrived_ns"] >= left
        if hop:
            ok = ok and sender == here and int(out) == table[here, lid[s["target"]]]
        else:
            ok = ok and sender == s["source"]
        here, left = b.rsplit(":", 1)[0], s["left_ns"]
        wrong += not ok
    under_way += here != steps[0]["target"]
print(f"{len(packets)} packets, {sum(map(len, packets.values()))} hops, {wrong} wrong;",
      f"{under_way} packets under way")
sys.exit(wrong > 0)
