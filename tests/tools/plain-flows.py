#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Mean completion of messages that all begin at once, by a plain simulation of switches with a queue
of any length for each output.

plain-flows.py DUMP LFTS FLOWS fifo|turns target|sender: an ibnetdiscover dump, tables as OpenSM dumps
them, lines "0 SOURCE TARGET BYTES". An output serves packets as they come (fifo), or its inputs take
turns. A message is complete when its last byte is at the target, or when the sender has the notice of
that. Packets of 4096 bytes with 26 of headers, 100 Gb/s, 100 ns a switch, 10 ns a cable. Prints the
mean in us. Knows nothing of the programs."""
import collections
import heapq
import re
import sys

dump, lfts, flows, service, complete = sys.argv[1:6]
PAYLOAD, HEADER, PS_PER_BYTE, CABLE, SWITCH, NOTICE = 4096, 26, 80, 10_000, 100_000, 4
node, peer, lid, table = {}, {}, {}, {}
text = open(dump).read().splitlines()
for line in text:
    if m := re.match(r'(?:Switch|Ca)\s+\d+ "([^"]+)"\s+# "([^"]+)"', line):
        node[m[1]] = m[2]
at = None
for line in text:
    if m := re.match(r'(?:Switch|Ca)\s+\d+ "([^"]+)"', line):
        at = node[m[1]]
    elif (m := re.match(r'\[(\d+)\](?:\(\w+\))?\s+"([^"]+)"\[(\d+)\]', line)) and at:
        peer[at, int(m[1])] = node[m[2]], int(m[3])
        if own := re.search(r"# lid (\d+)", line):
            lid[at] = int(own[1])
for line in open(lfts):
    if m := re.match(r"Unicast lids .*\('(.*)'\):", line):
        at = m[1]
    elif m := re.match(r"0x([0-9a-f]+) (\d+)", line):
        table[at, int(m[1], 16)] = int(m[2])
host = {name.split()[0]: name for name in lid}
messages = [(host[a], host[b], int(n)) for _, a, b, n in map(str.split, open(flows))]

events, number = [], 0
to_send, notices = collections.defaultdict(collections.deque), collections.defaultdict(collections.deque)
queues, last, busy = collections.defaultdict(dict), {}, collections.Counter()
left, done = {}, {}


def at_time(time, *what):
    global number
    number += 1
    heapq.heappush(events, (time, number, *what))


def take(output):
    """The packet that an output sends next."""
    if output[0] in lid:
        queue = notices[output[0]] or to_send[output[0]]
        return queue.popleft() if queue else None
    waiting = sorted(i for i, queue in queues[output].items() if queue)
    if not waiting:
        return None
    behind = [i for i in waiting if i > last.get(output, -1)] or waiting
    last[output] = behind[0]
    return queues[output][behind[0]].popleft()


def serve(output, now):
    if busy[output] > now or not (packet := take(output)):
        return
    wire = (packet[2] + HEADER) * PS_PER_BYTE
    busy[output] = now + wire
    at_time(now + wire, "free", output, None)
    if peer[output][0] in lid:
        at_time(now + wire + CABLE, "arrived", output, packet)
    else:
        at_time(now + CABLE + SWITCH, "head", peer[output], packet)


def arrived(packet, now):
    message = packet[0]
    if message < 0:
        done[-message - 1] = now
        return
    left[message] -= 1
    if left[message]:
        return
    source, target, _ = messages[message]
    if complete == "target":
        done[message] = now
    else:
        notices[target].append((-message - 1, source, NOTICE))
        serve((target, 1), now)


for i, (source, target, size) in enumerate(messages):
    left[i] = -(-size // PAYLOAD)
    for k in range(left[i]):
        to_send[source].append((i, target, min(PAYLOAD, size - PAYLOAD * k)))
for source in list(to_send):
    at_time(0, "free", (source, 1), None)
while events:
    now, _, kind, place, packet = heapq.heappop(events)
    if kind == "arrived":
        arrived(packet, now)
    elif kind == "free":
        serve(place, now)
    else:
        switch, port = place
        output = switch, table[switch, lid[packet[1]]]
        queue = port if service == "turns" else 0
        queues[output].setdefault(queue, collections.deque()).append(packet)
        at_time(now, "free", output, None)
print(sum(done.values()) / len(messages) / 1e6)
