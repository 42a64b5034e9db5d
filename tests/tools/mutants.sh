#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# usage: mutants.sh [-v] [PATTERN...]   break the code on purpose: the tests must notice
#        mutants.sh --check             only whether the list fits the sources
#
# Each line of mutants.list is one mutation. All mutations are compiled into one build; the
# environment variable MUTANT=N enables the mutation of line N. The tests that the line names
# are run for each mutation; those that pass all of them survive. PATTERN selects
# lines by a part of their text. Exit status 1 when a mutation survives, 2 when the list does
# not fit the sources. -v prints the first test that fails of each detected mutation.
set -u
verbose=
[ "${1:-}" = -v ] && { verbose=yes; shift; }
cd "$(dirname "$0")/../.." || exit 2
list=$PWD/tests/tools/mutants.list
build=$PWD/build-mutants
data=${FAB_TEST_DATA:-$PWD/../shared/topologies}
target=$build/source
if [ "${1:-}" = --check ]; then target=; else mkdir -p "$build" || exit 2; fi

# a copy of the sources, in which every mutation is a choice by fab_mutant()
python3 - "$list" "$target" <<'PYTHON' || exit 2
import os, re, subprocess, sys
listing, target = sys.argv[1:]
edits, bad = {}, 0
for number, row in enumerate(open(listing), 1):
    row = row.rstrip('\n')
    if not row or row.startswith('#'):
        continue
    try:
        place, old, new, tests = row.split('\t')
        path, line = place.rsplit(':', 1)
        line = int(line)
    except ValueError:
        sys.exit(f'{listing}:{number}: expected FILE:LINE, text, replacement and tests, between tabs')
    try:
        text = open(path).read()
    except OSError as error:
        print(f'{listing}:{number}: {path}: {error.strerror}')
        bad = 1
        continue
    # whole names only
    pattern = re.sub(r'^(?=\w)', r'\\b', re.escape(old)) + (r'\b' if re.search(r'\w$', old) else '')
    if ';' in new or (old.endswith(';') and new != '-'):
        print(f'{listing}:{number}: expected expressions, or a statement and -')
        bad = 1
        continue
    starts = [m.start() for m in re.finditer(pattern, text)]
    if not starts:
        print(f'{listing}:{number}: {path} has no "{old}"')
        bad = 1
        continue
    at = min(starts, key=lambda s: abs(text.count('\n', 0, s) + 1 - line))
    edits.setdefault(path, []).append((at, at + len(old), new, number))


def render(text, start, end, changes):
    """The range of the text with its changes, of which some may be within others."""
    out, at = '', start
    while changes:
        first, last, new, number = changes[0]
        inner = [c for c in changes[1:] if c[0] < last]
        if any(c[1] > last for c in inner):
            sys.exit(f'{listing}:{number}: overlaps another line in part')
        old = render(text, first, last, inner)
        out += text[at:first]
        out += f'if (!fab_mutant({number})) {old}' if new == '-' else f'(fab_mutant({number}) ? ({new}) : ({old}))'
        at, changes = last, changes[1 + len(inner):]
    return out + text[at:end]


if bad or not target:
    sys.exit(bad)
files = subprocess.run(['git', 'ls-files', '-z', '-co', '--exclude-standard'],
                       stdout=subprocess.PIPE, check=True).stdout
files = {path for path in files.decode().split('\0') if os.path.isfile(path)}
for folder, _, names in os.walk(target):
    for name in names:
        if os.path.relpath(os.path.join(folder, name), target) not in files:
            os.remove(os.path.join(folder, name))
for path in files:
    content = open(path, 'rb').read()
    if path in edits:
        text = content.decode()
        changes = sorted(edits[path], key=lambda c: (c[0], -c[1]))
        content = render(text, 0, len(text), changes).encode()
    copy = os.path.join(target, path)
    if os.path.exists(copy) and open(copy, 'rb').read() == content:
        continue
    os.makedirs(os.path.dirname(copy), exist_ok=True)
    with open(copy, 'wb') as out:
        out.write(content)
    os.chmod(copy, os.stat(path).st_mode & 0o777)
PYTHON
[ -n "$target" ] || exit 0

cat >"$build/mutant.h" <<'C'
#ifndef FAB_MUTANT_H
#define FAB_MUTANT_H
#include <stdlib.h>
static inline __attribute__((unused)) int fab_mutant(int number)
{
	static int active = -1;
	if (active < 0) {
		const char *text = getenv("MUTANT");
		active = text ? atoi(text) : 0;
	}
	return active == number;
}
#endif
C
if [ ! -f "$build/build/build.ninja" ]; then
  meson setup "$build/build" "$build/source" -Dtests=enabled -Doptimization=1 \
    -Dtest_data="$data" -Dc_args="-include $build/mutant.h -w" >"$build/log" 2>&1 ||
    { tail -n 20 "$build/log"; exit 2; }
fi
ninja -k 0 -C "$build/build" >"$build/log" 2>&1 ||
  { grep -E -A5 'error|FAILED' "$build/log" | head -n 40; exit 2; }

run_tests() { # MUTANT TESTS
  # shellcheck disable=SC2086
  MUTANT=$1 CRITERION_FAIL_FAST=1 timeout 900 meson test -C "$build/build" --no-rebuild \
    --timeout-multiplier 0.2 --maxfail 1 $2 >"$build/log" 2>&1
}

selected() { # ROW
  [ ${#patterns[@]} -eq 0 ] && return 0
  local pattern
  for pattern in "${patterns[@]}"; do
    case $1 in *"$pattern"*) return 0 ;; esac
  done
  return 1
}
patterns=("$@")

number=0 detected=0 survived=0 unknown=0
declare -A sound
while IFS= read -r row; do
  number=$((number + 1))
  case $row in '' | '#'*) continue ;; esac
  selected "$row" || continue
  IFS=$'\t' read -r place old new tests <<<"$row"
  if [ -z "${sound[$tests]:-}" ]; then
    sound[$tests]=yes
    run_tests 0 "$tests" || sound[$tests]=no
  fi
  if [ "${sound[$tests]}" = no ]; then
    unknown=$((unknown + 1))
    echo "unknown: line $number, '$tests' fails without a mutation"
    continue
  fi
  if run_tests "$number" "$tests"; then
    survived=$((survived + 1))
    echo "survived: line $number, $place: $old  ->  $new  ($tests)"
  else
    detected=$((detected + 1))
    [ -z "$verbose" ] || echo "detected: line $number, $place: $(grep -m 1 -E ' (FAIL|TIMEOUT|ERROR) ' "$build/log")"
  fi
done <"$list"
echo "$detected mutations detected, $survived survived, $unknown unknown"
[ $survived -eq 0 ] && [ $unknown -eq 0 ]
