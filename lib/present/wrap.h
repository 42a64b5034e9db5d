/* SPDX-License-Identifier: BSD-2-Clause */
/* Text in columns of a terminal. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Columns that a safe text takes: East Asian characters take two, combining ones none. */
size_t fab_display_width(const char *text);
/* The same for its longest word, words ending at blanks. */
size_t fab_longest_word(const char *text);
/*
 * Step over one line of *text: bytes of it that fit into `width` columns (at least one
 * character), broken at a blank where there is one, else behind one of / _ . , ; : where
 * there is one; the blanks of the break are skipped.
 * Returns the number of bytes of the line. At the end *text points to the NUL.
 */
size_t fab_wrap_line(const char **text, size_t width);
