#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""usage: blocks.py FILE.md   run the commands of a document in the current folder.
A block is indented by four blanks. A line `$ COMMAND` (with the lines that a \\ at the end continues) is
followed by its standard output; a line `...` there matches any lines. In a block without `$` every line is a
command that must have output and end with status 0 or 1, but for those of NOT_RUN. Of commands whose output is not
compared some have smaller sizes here (SMALLER). Exit status 1 on differences."""
import re
import subprocess
import sys

# other tests run these, or make what they make
NOT_RUN = re.compile(r'ibnetdiscover |gzip <|\./examples/quickstart\.sh|\./tests/run\.sh|meson |ninja ')

SMALLER = {'--runs=100': '--runs=2', '--loss=1e-3': '--loss=1e-3 --runs=4', '--loss=1e-4': '--loss=1e-4 --runs=4',
           'dims=6x6x6': 'dims=4x4x4'}


def run(command):
    done = subprocess.run(['sh', '-c', command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    return done.returncode, [line.rstrip() for line in done.stdout.splitlines()], done.stderr


def matches(want, got):
    """Do the lines match, where `...` stands for any number of them?"""
    if not want:
        return not got
    if want[0] == '...':
        return any(matches(want[1:], got[i:]) for i in range(len(got) + 1))
    return bool(got) and want[0] == got[0] and matches(want[1:], got[1:])


def smaller(command):
    for text, less in SMALLER.items():
        command = command.replace(text, less)
    return command


def blocks(lines):
    """Indented blocks; blank lines inside belong to them."""
    block = []
    for line in [*lines, 'end']:
        if line.startswith('    ') or (block and not line):
            block.append(line[4:])
        elif block:
            while not block[-1]:
                block.pop()
            yield block
            block = []


def shown(block):
    """Pairs of a command and its output; None where a block shows no output."""
    if not block[0].startswith('$ '):
        for line in block:
            yield smaller(re.sub(r'  +#.*', '', line)), None
        return
    command = output = None
    for line in block:
        if command is not None and output is None:
            command += '\n' + line
        elif line.startswith('$ '):
            if command is not None:
                yield command, output
            command, output = line[2:], None
        else:
            output.append(line)
        if output is None and not command.endswith('\\'):
            output = []
    yield command, output


def main():
    with open(sys.argv[1], encoding='utf-8') as file:
        lines = file.read().split('\n')
    n_run = n_wrong = 0
    for block in blocks(lines):
        for command, want in shown(block):
            if want is None and NOT_RUN.match(command):
                continue
            n_run += 1
            status, got, errors = run(smaller(command) if want == ['...'] else command)
            while got and not got[-1]:
                got.pop()
            if status in (0, 1) and (matches(want, got) if want else got or '>' in command or '-o' in command):
                continue
            n_wrong += 1
            print(f'$ {command}', f'status {status}', *got[:40], errors, sep='\n')
    print(n_run, 'commands,', n_wrong, 'wrong')
    return n_wrong > 0


sys.exit(main())
