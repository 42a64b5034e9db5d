#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""usage: coverage.py BUILD [PATTERN...]
Lines of each module that the tests in a build with -Db_coverage=true have reached; of the files whose path contains a
PATTERN the numbers of the lines that they have not. A line counts once, in however many objects it is. Exit status 1
when a module has less than 90 % of its lines reached."""
import collections
import concurrent.futures
import gzip
import json
import os
import subprocess
import sys

LEAST = 90  # per cent


def notes(build):
    """Compiled files: of the modules and commands, and of what the tests compile of them."""
    for at, _, names in os.walk(build):
        yield from (os.path.join(at, name) for name in names if name.endswith('.gcno'))


def read(note):
    """Reached or not, by file and line."""
    run = subprocess.run(['gcov', '--json-format', '--stdout', note], check=True, capture_output=True)
    data = gzip.decompress(run.stdout) if run.stdout[:2] == b'\x1f\x8b' else run.stdout
    return [(entry['file'], line['line_number'], line['count'] > 0)
            for document in data.splitlines() for entry in json.loads(document)['files'] for line in entry['lines']]


def reached(build):
    lines = collections.defaultdict(dict)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for found in pool.map(read, notes(build)):
            for name, number, is_reached in found:
                name = os.path.relpath(os.path.join(build, name))
                if name.startswith(('lib/', 'cmd/')):
                    lines[name][number] = lines[name].get(number, False) or is_reached
    return lines


def main(build, *patterns):
    modules = collections.defaultdict(lambda: [0, 0])
    lines = reached(os.path.abspath(build))
    for name, of in lines.items():
        count = modules['/'.join(name.split('/')[:2])]
        count[0] += sum(of.values())
        count[1] += len(of)
        if any(pattern in name for pattern in patterns):
            missed = sorted(number for number, is_reached in of.items() if not is_reached)
            print(f'{name}: {len(missed)} of {len(of)}: {" ".join(map(str, missed))}')
    print(f'{"module":16} {"lines":>6} {"reached":>8}')
    for module, (hit, n) in sorted(modules.items(), key=lambda item: item[1][0] / item[1][1]):
        print(f'{module:16} {n:6} {100 * hit / n:6.1f} %')
    hit, n = (sum(count[i] for count in modules.values()) for i in range(2))
    print(f'{"all":16} {n:6} {100 * hit / n:6.1f} %')
    return any(100 * hit < LEAST * n for hit, n in modules.values())


if __name__ == '__main__':
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
