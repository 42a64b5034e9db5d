#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# usage: embed-page.sh HEADER CSS JS   the two files as embed-text.sh writes them, and the sources of a
# content policy that lets them, and nothing else, run: SHA-256 in base64
set -eu
source=$(dirname "$0")
"$source/embed-text.sh" "$1" report_css "$2" report_js "$3"
for name in css js; do
  file=$2
  [ $name = css ] || file=$3
  octal=$(sha256sum <"$file" | awk '{
    for (i = 1; i <= 64; i += 2)
      printf "\\%03o", 16 * index("123456789abcdef", substr($1, i, 1)) + index("123456789abcdef", substr($1, i + 1, 1))
  }')
  # shellcheck disable=SC2059 # the digest is the format
  echo "#define REPORT_$(echo $name | tr a-z A-Z)_HASH \"sha256-$(printf "$octal" | base64)\""
done >>"$1"
