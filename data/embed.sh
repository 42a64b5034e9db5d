#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# usage: embed.sh HEADER SCHEMA [MIGRATION...]
# The schema and its migrations, oldest first, as C arrays that end in a zero byte.
set -eu
header=$1 schema=$2
shift 2

bytes() { # NAME FILE
  echo "static const char $1[] = {"
  od -An -v -tx1 "$2" | sed 's/ *\([0-9a-f][0-9a-f]\)/0x\1,/g'
  echo '0x00};'
}

{
  echo '/* made by data/embed.sh */'
  echo '#pragma once'
  bytes schema_sql "$schema"
  n=0
  for migration in "$@"; do
    n=$((n + 1))
    bytes "migration_${n}_sql" "$migration"
  done
  echo 'static const char *const migrations_sql[] = {'
  for i in $(seq 1 $n); do
    echo "migration_${i}_sql,"
  done
  echo '0};'
} >"$header"
