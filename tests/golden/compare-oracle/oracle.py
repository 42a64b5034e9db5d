# SPDX-License-Identifier: BSD-2-Clause
"""Random databases: what fabric-compare reports must be what fabric-compare(1) defines.

usage: oracle.py TEMPLATE.db DRAWS    the runs of the template are replaced
"""
import json, math, os, random, shutil, sqlite3, subprocess, sys

template, draws = sys.argv[1], int(sys.argv[2])
COMMAND = 'fabric-faults'
NAMES = ['a', 'b', 'c', 'd']
rules = {n: dict(better=b, is_time=t) for n, b, t in sqlite3.connect(template).execute(
    'SELECT name, better, is_time FROM metric_kind WHERE command = ? ORDER BY position', [COMMAND])}


def some(rng, base):
    """A value near the base, far from it, equal, 0, or missing."""
    return rng.choice([base, base, 0, base * 1.05, base * 0.95, base * 1.1, base + 1, base * 3, None])


def draw(rng, path):
    """Fill the database; return the runs as {id: [(algorithm, metrics, parts)]}."""
    shutil.copy(template, path)
    db = sqlite3.connect(path)
    row = db.execute('SELECT * FROM run').fetchone()
    for table in ['run', 'result', 'metric', 'detail', 'fact', 'asked', 'histogram']:
        db.execute('DELETE FROM ' + table)
    runs, result = {}, 0
    base = {name: rng.choice([0, 1, 7, 20, 1000]) for name in rules}
    calm = rng.random() < 0.3  # the same metrics everywhere: parts alone decide
    for run in range(1, rng.randint(2, 3) + 1):
        db.execute('INSERT INTO run VALUES (%s)' % ','.join('?' * len(row)), (run,) + row[1:])
        runs[run] = []
        for position, name in enumerate(NAMES[:2] if calm else rng.choices(NAMES, k=rng.randint(1, 4))):
            result += 1
            db.execute('INSERT INTO result VALUES (?, ?, ?, ?)', (result, run, position, name))
            metrics = {n: b if calm else some(rng, b) for n, b in base.items() if calm or rng.random() < 0.6}
            metrics = {n: v for n, v in metrics.items() if v is not None}
            db.executemany('INSERT INTO metric VALUES (?, ?, ?)', [(result, n, v) for n, v in metrics.items()])
            parts = []
            for place in range(2 if calm else rng.choice([0, 0, 1, 3])):
                part = 'x' if calm else rng.choice(['x', 'y', 'z'])
                measured = ['max_hops', 'unreachable', 'pairs', 'seconds.total']
                for metric in sorted(measured if calm else rng.sample(measured, 2)):
                    parts.append((part, metric, rng.choice([0, 4, 5])))
                    db.execute('INSERT INTO detail VALUES (?, ?, ?, ?, ?)', (result, place, part) + parts[-1][1:])
            runs[run].append((name, metrics, parts))
    db.commit()
    db.close()
    return runs


def numbered(parts):
    """{(part, metric, occurrence): value}"""
    out, seen = {}, {}
    for part, metric, value in parts:
        n = seen.get((part, metric), 0)
        seen[part, metric] = n + 1
        out[part, metric, n] = value
    return out


def verdict(metric, old, new, tolerance):
    better = rules[metric]['better'] if metric in rules else None
    if not better or old is None or new is None:
        return None
    if abs(new - old) <= tolerance * abs(old):
        return 'same'
    return 'better' if (new < old) == (better == 'less') else 'worse'


def first_of_each(results):
    out = {}
    for r in results:
        out.setdefault(r[0], r)
    return out


def pairs_of(base_results, is_named, results):
    base, other = first_of_each(base_results), first_of_each(results)
    if is_named or (not base.keys() & other.keys() and 1 in (len(base_results), len(results))):
        return [(b, r) for r in results for b in base_results]
    return [(base.get(n), r) for n, r in other.items()] + [(b, None) for n, b in base.items() if n not in other]


def expect(runs, algorithm, tolerance, chosen):
    rows, parts = [], []
    wanted = {run: [r for r in results if algorithm[run] in (None, r[0])] for run, results in runs.items()}
    for run in sorted(runs)[1:]:
        for old, new in pairs_of(wanted[1], algorithm[1], wanted[run]):
            ends = (old and old[0], run, new and new[0])
            for name in chosen or rules:
                a, b = (r[1].get(name) if r else None for r in (old, new))
                if a is not None or b is not None:
                    rows.append(ends + (name, a, b, verdict(name, a, b, tolerance)))
            a, b = (numbered(r[2]) if r else {} for r in (old, new))
            for key in list(a) + [k for k in b if k not in a]:
                if not chosen or key[1] in chosen:
                    parts.append(ends + (key[0], key[1], a.get(key), b.get(key),
                                         verdict(key[1], a.get(key), b.get(key), tolerance)))
    return rows, parts


def counts(rows, metric_at):
    total = dict(better=0, worse=0, same=0, vanished=0)
    for row in rows:
        rule = rules[row[metric_at]]
        if rule['is_time']:
            continue
        if row[-1]:
            total[row[-1]] += 1
        elif rule['better'] and row[-3] is not None and row[-2] is None:
            total['vanished'] += 1
    return total


def most(rows, which):
    """The largest change of a verdict, relative to the larger value."""
    best = None
    for row in rows:
        if row[-1] == which and not rules[row[3]]['is_time']:
            larger = max(abs(row[4]), abs(row[5]))
            change = abs(row[5] - row[4]) / larger if larger else 0
            if best is None or change > best[0]:
                best = (change, row)
    return best and best[1]


def near(a, b):
    return a == b or (a is not None and b is not None and math.isclose(a, b, rel_tol=1e-5))


def check(seed):
    rng = random.Random(seed)
    runs = draw(rng, 'draw.db')
    algorithm = {run: rng.choice([None, None, rng.choice(results)[0]]) for run, results in runs.items()}
    tolerance = rng.choice([0, 0, 5, 10])
    chosen = rng.choice([None, None, ['max_hops'], ['unreachable', 'connected', 'seconds.total']])
    args = ['%d%s' % (run, ':' + name if name else '') for run, name in sorted(algorithm.items())]
    args += ['--check', '--format=json', '--quiet', '--tolerance=%d' % tolerance]
    if chosen:
        args.append('--metric=' + ','.join(chosen))
    done = subprocess.run(['fabric-compare', 'draw.db'] + args, stdout=subprocess.PIPE)
    report = json.loads(done.stdout)
    rows, parts = expect(runs, algorithm, tolerance / 100, chosen)
    got = [(r['base_algorithm'], r['run'], r['algorithm'], r['metric'], r['base_value'], r['value'], r['verdict'])
           for r in report['comparison']]
    got_parts = [(r['base_algorithm'], r['run'], r['algorithm'], r['part'], r['metric'], r['base_value'], r['value'],
                  r['verdict']) for r in report['parts']]
    total, of_parts = counts(rows, 3), counts(parts, 4)
    if not any(r[-3] is not None and r[-2] is not None for r in parts):
        of_parts['vanished'] = 0
    wrong = []
    for what, a, b in ('rows', got, rows), ('parts', got_parts, parts):
        same = len(a) == len(b) and all(
            x[:-3] == y[:-3] and near(x[-3], y[-3]) and near(x[-2], y[-2]) and x[-1] == y[-1] for x, y in zip(a, b))
        if not same:
            wrong.append((what, [z for z in zip(a, b) if z[0] != z[1]][:3] or (len(a), len(b))))
    for name, value in list(total.items()) + [('parts_' + k, v) for k, v in of_parts.items()]:
        if report[name] != value:
            wrong.append((name, report[name], value))
    compared = sum(total[k] for k in ('better', 'worse', 'same'))
    fails = total['worse'] + of_parts['worse'] + total['vanished'] + of_parts['vanished'] > 0 or compared == 0
    if done.returncode != fails:
        wrong.append(('status', done.returncode, fails))
    for which in 'worse', 'better':
        row = most(rows, which)
        says = 'Most %s: %s of %s, from ' % (which, row[3], row[2]) if row else 'Most %s:' % which
        if (says in report['summary']) != bool(row):
            wrong.append((says, report['summary']))
    for item in wrong:
        print('seed', seed, args, *item)
    return bool(wrong)


bad = sum(check(seed) for seed in range(draws))
print('%d databases, %d wrong' % (draws, bad))
