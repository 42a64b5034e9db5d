#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# usage: check-pages.sh PAGE...   every manual page is clean under mandoc's lint
if ! command -v mandoc >/dev/null; then
  echo 'mandoc is not installed'
  exit 77
fi
[ $# -gt 0 ] || { echo 'no page to check'; exit 77; }
status=0
for page in "$@"; do
  mandoc -Tlint -W warning "$page" || status=1
  # a fragment that was not filled in
  if grep -n '@[A-Z_]*@' "$page"; then
    status=1
  fi
  # a list as several arguments of a macro that changes fonts, which loses its blanks
  if grep -nE '^\.(BI|BR|IB|IR|RB|RI) [^"]*[a-z0-9],  *[^ "]' "$page"; then
    echo 'put the list in quotes'
    status=1
  fi
done
exit $status
