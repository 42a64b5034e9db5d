#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# usage: embed-text.sh HEADER NAME FILE   FILE as a C array NAME that ends in a zero byte
set -eu
{
  echo '/* made by data/embed-text.sh */'
  echo '#pragma once'
  echo "static const char $2[] = {"
  od -An -v -tx1 "$3" | sed 's/ *\([0-9a-f][0-9a-f]\)/0x\1,/g'
  echo '0x00};'
} >"$1"
