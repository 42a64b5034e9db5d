#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# usage: exports.sh SOVERSION HEADER...   print the version script of the shared library: it shows
# the functions that the installed headers name, and nothing else
set -eu
version=$1
shift
functions=$(grep -ohE '\bfab_[a-z0-9_]+\(' "$@" | tr -d '(' | LC_ALL=C sort -u | sed 's/$/;/; s/^/  /')
printf 'FABKIT_%s {\nglobal:\n%s\nlocal:\n  *;\n};\n' "$version" "$functions"
