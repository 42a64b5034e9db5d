#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# usage: check-hardened.sh PROGRAM   the ELF file has what makes a bug hard to use:
# position-independent code, relocations that are read-only before main() (full RELRO),
# no stack or segment that is both written and executed, guarded stacks, checked copies
# (_FORTIFY_SOURCE). Exit status 77 (skipped) without readelf.
# usage: check-hardened.sh --objects NOTE FOLDER...   all object files below have the note that indirect jumps end
# at marked places and returns are checked: "IBT, SHSTK" of -fcf-protection, "BTI, PAC" of -mbranch-protection.
# (Programs have it only where the C library's start files do.)
set -u
failed=0
command -v readelf >/dev/null || { echo "no readelf (package binutils)"; exit 77; }
if [ "$1" = --objects ]; then
  note=$2
  shift 2
  find "$@" -name '*.o' -exec readelf -W -n {} + | awk -v note="$note" '
    /^File: / { if (file && !has) bad[++n] = file; file = $2; has = 0; all++ }
    index($0, note) { has = 1 }
    END {
      if (file && !has) bad[++n] = file
      for (i = 1; i <= n; i++) print bad[i] ": no note " note
      print all + 0 " objects, " n + 0 " without it"
      exit n > 0 || all < 100
    }'
  exit
fi
program=$1
has() { # WHAT PATTERN READELF-OPTION...
  what=$1 pattern=$2
  shift 2
  readelf -W "$@" "$program" | grep -qE "$pattern" && return
  echo "$program: no $what"
  failed=1
}
has 'position-independent executable' 'Type: +DYN' -h
has 'PIE flag' 'FLAGS_1.*PIE' -d
has 'RELRO segment' 'GNU_RELRO' -l
has 'immediate binding' 'FLAGS_1.*NOW|BIND_NOW' -d
has 'stack that is not executed' 'GNU_STACK.* RW +0x' -l
has 'stack protector' '__stack_chk_fail' --dyn-syms
has 'checked string functions (_FORTIFY_SOURCE)' '__(v?snprintf|memcpy|strcpy|read|v?fprintf)_chk' --dyn-syms
readelf -W -l "$program" | grep -E '^ *LOAD.* RWE ' && { echo "$program: a segment that is written and executed"; failed=1; }
exit $failed
