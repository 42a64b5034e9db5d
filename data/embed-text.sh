#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# usage: embed-text.sh HEADER [NAME FILE]...   each FILE as a C array NAME that ends in a zero byte
set -eu
header=$1
shift
{
  echo '/* made by data/embed-text.sh */'
  echo '#pragma once'
  while [ $# -gt 1 ]; do
    echo "static const char $1[] = {"
    od -An -v -tx1 "$2" | sed 's/ *\([0-9a-f][0-9a-f]\)/0x\1,/g'
    echo '0x00};'
    shift 2
  done
} >"$header"
