/* SPDX-License-Identifier: BSD-2-Clause */
/* Text from a fabric is hostile: any host chooses its own description. */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "base/macros.h"

/*
 * Copy `text` for showing on a terminal: bytes below 0x20 and 0x7f become \xNN, and so
 * does everything that is not well-formed UTF-8, and the C1 control characters. At most
 * `size` bytes with the closing NUL. Returns `out`. O(len).
 */
char *fab_text_safe(const char *text, char *out, size_t size);

/* Does fab_text_safe() leave the text unchanged? O(len). */
bool fab_text_is_safe(const char *text);

/*
 * A name as tables of other programs have it, in place: every byte of a character that
 * fab_text_safe() escapes becomes a blank, but for bytes from 0xa0 that are not UTF-8
 * (names in Latin-1 stay as the dump has them). O(len).
 */
void fab_text_blank(char *text);
/* Write the text as fab_text_blank() changes it. O(len). */
void fab_text_put_blanked(FILE *out, const char *text);

/* Every byte above 0x7f becomes \xNN. Takes `text` (on the heap), returns it or its
 * replacement. O(len). */
char *fab_text_ascii(char *text);

/*
 * Text for people in the locale of the process (LC_CTYPE): unchanged where that is UTF-8,
 * else as fab_text_ascii(), because C library functions refuse or misread such bytes.
 */
char *fab_text_local(char *text);

/* Write a field of comma-separated values (RFC 4180): quoted where it must be, or always.
 * O(len).
 */
void fab_text_put_csv(FILE *out, const char *text, bool is_quoted);

/*
 * Compare like a person: runs of digits by value ("n2" < "n10"), else bytes. A total
 * order: 0 only for equal strings. O(len).
 */
int fab_text_natural_cmp(const char *a, const char *b);

/* Shell-like match with * ? and [..] ; case ignored. O(pattern * text). */
bool fab_text_glob(const char *pattern, const char *text);
