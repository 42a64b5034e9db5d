#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""usage: fail-once.py PRELOAD EXAMPLES LIST [MOST [alloc]]
Every allocation, write, fsync, rename and start of a thread of the commands of LIST fails once in turn, or MOST of
each kind, evenly spread. PRELOAD is fail-alloc.so; system calls fail by strace, which is left out where there is
none, or with `alloc`. Permitted is status 3 with a message and no file, no new run in a database, nothing left over; or that all is
as without the failure (a thread less, a directory that is not synchronised). Exit status 1 when anything else
happens. The commands must be in PATH."""
import concurrent.futures
import os
import re
import shlex
import shutil
import sqlite3
import subprocess
import sys
import tempfile

# system calls, and what they fail with; strace counts each by itself
CALLS = {'write': 'ENOSPC', 'pwrite64': 'ENOSPC', 'fsync': 'EIO', 'fdatasync': 'EIO', 'rename': 'EACCES',
         'renameat2': 'EACCES', 'clone': 'EAGAIN', 'clone3': 'EAGAIN'}
COPIES = ('site.txt.gz', 'groups', 'kept.db', 'old', 'older')


def names(folder):
    """Files of a folder, in folders too, but for the journal of a database, which SQLite removes later."""
    return sorted(os.path.join(at, f)[len(folder) + 1:] for at, _, files in os.walk(folder) for f in files
                  if not f.endswith('-journal'))


def contents(folder):
    """What the files hold; of a database the number of its runs: bytes and times differ by nature."""
    held = {}
    for name in names(folder):
        path = os.path.join(folder, name)
        if name.endswith('.db'):
            base = sqlite3.connect(path)
            assert base.execute('PRAGMA integrity_check').fetchone()[0] == 'ok', name
            tables = base.execute("SELECT count(*) FROM sqlite_master WHERE name = 'run'").fetchone()[0]
            held[name] = base.execute('SELECT count(*) FROM run').fetchone()[0] if tables else 0
            base.close()
        else:
            with open(path, 'rb') as file:
                held[name] = plain(file.read())
    return held


def plain(data):
    """Without seconds and the width of their column, which differ."""
    return re.sub(rb'[0-9.]+(e-?\d+)?( ?[num]*s\b)?| +', b'#', data)


class Run:
    """A command, run once in a folder of its own."""

    def __init__(self, command, prepared, before=(), extra=None):
        with tempfile.TemporaryDirectory() as folder:
            for name in COPIES:
                if name in command:
                    shutil.copy(os.path.join(prepared, name), folder)
            first = contents(folder)
            done = subprocess.run([*before, *shlex.split(os.path.expandvars(command))], cwd=folder, check=False,
                                  env={**os.environ, **(extra or {})}, stdin=subprocess.DEVNULL, timeout=120,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            self.status, self.out, self.err = done.returncode, done.stdout, done.stderr.decode(errors='replace')
            self.files = contents(folder)
            # an empty database may stay: it has no run
            self.left = {k: v for k, v in self.files.items() if first.get(k, 0) != v}

    def is_as(self, other):
        return (self.status, plain(self.out), self.files) == (other.status, plain(other.out), other.files)

    def verdict(self, call, reference):
        if self.status == 3:
            if not re.search(r'^(fabric-\w+|fabkit): \S', self.err, re.M):
                return 'status 3 without a message'
            # SQLite ends a transaction by removing its journal, and may fail to sync that
            left = [name for name in self.left if call != 'fdatasync' or not name.endswith('.db')]
            return f'files are left: {left}' if left else ''
        if self.is_as(reference):
            return 'harmless'
        if self.status != reference.status:
            return f'status {self.status}'
        parts = [name for name, mine, theirs in (('output', plain(self.out), plain(reference.out)),
                                                 *((k, v, reference.files.get(k)) for k, v in self.files.items()))
                 if mine != theirs]
        return f'status {self.status}, another result: {parts}'


def spread(n, most):
    """Numbers from 1 to n, at most so many, evenly, the first and the last among them."""
    if n <= most:
        return list(range(1, n + 1))
    return sorted({1 + round(i * (n - 1) / (most - 1)) for i in range(most)})


def trials(command, prepared, preload, most, strace):
    """What is to fail: (kind, number, words before the command, environment), and the run in which nothing does."""
    with tempfile.TemporaryDirectory() as folder:
        counted = os.path.join(folder, 'n')
        preloading = {'LD_PRELOAD': preload, 'FAB_ALLOCS': counted}
        reference = Run(command, prepared, (), preloading)
        if reference.status not in (0, 1):
            return [], reference
        with open(counted, encoding='ascii') as file:
            n = int(file.read())
        todo = [('alloc', i, (), {'LD_PRELOAD': preload, 'FAB_FAIL_ALLOC': str(i)}) for i in spread(n, most)]
        if strace:
            log = os.path.join(folder, 'log')
            Run(command, prepared, (*strace, '-o', log, '-e', 'trace=' + ','.join(CALLS)))
            with open(log, encoding='utf-8', errors='replace') as file:
                made = [m.group(1) for m in (re.match(r'\d+ +(\w+)\(', line) for line in file) if m]
            for call, error in CALLS.items():
                todo += [(call, i, (*strace, '-o', '/dev/null', '-e', f'trace={call}', '-e',
                                    f'inject={call}:error={error}:when={i}'), {})
                         for i in spread(made.count(call), most)]
    return todo, reference


def tracer():
    """strace with its options, nothing where it is missing or may not trace. By a filter in the kernel, where it can
    have one, it stops at the calls of interest only."""
    for words in ('strace', '-f', '--seccomp-bpf', '-qq'), ('strace', '-f', '-qq'):
        if shutil.which('strace') and not subprocess.run(
                [*words, '-o', '/dev/null', '-e', 'trace=fsync', '-e', 'inject=fsync:error=EIO', 'true'],
                stderr=subprocess.DEVNULL, check=False).returncode:
            return words
    return ()


def main():
    preload, examples, path = map(os.path.abspath, sys.argv[1:4])
    most = int(sys.argv[4]) if len(sys.argv) > 4 else 1 << 30
    os.environ['EXAMPLES'] = examples
    os.environ['COLUMNS'] = '100'
    with open(path, encoding='utf-8') as file:
        commands = [line.strip() for line in file if line.strip() and not line.startswith('#')]
    strace = tracer() if len(sys.argv) < 6 else ()
    counts, wrong = {}, 0
    with tempfile.TemporaryDirectory() as prepared, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        subprocess.run(f'gzip -9nc {examples}/two-rail.txt >site.txt.gz; echo "a: h0 h1 h5" >groups;'
                       'fabric-mcroute gen:fattree:radix=4,levels=2 --pattern=grid:4x2 --algorithm=minihop,fulb '
                       '--store=kept.db -q -o old; cp old older', shell=True, cwd=prepared, check=True)
        for command in commands:
            todo, reference = trials(command, prepared, preload, most, strace)
            if reference.status not in (0, 1):
                print(f'$ {command}\nstatus {reference.status} without a failure: {reference.err}')
                wrong += 1
                continue
            runs = pool.map(lambda x: Run(command, prepared, x[2], x[3]), todo)
            for (kind, i, _, _), run in zip(todo, runs):
                verdict = run.verdict(kind, reference)
                n = counts.setdefault(kind, [0, 0])
                n[0] += 1
                n[1] += verdict == 'harmless'
                if verdict not in ('', 'harmless'):
                    wrong += 1
                    print(f'$ {command}\n{kind} {i} of it fails: {verdict}\n{run.err}')
            sys.stdout.flush()
    for kind, (n, harmless) in counts.items():
        print(f'{kind}: {n} failures, {n - harmless} with status 3, {harmless} without effect')
    print(f'{len(commands)} commands, {wrong} wrong results')
    return 77 if not strace and not wrong else wrong > 0


sys.exit(main())
