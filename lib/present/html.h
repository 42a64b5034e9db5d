/* SPDX-License-Identifier: BSD-2-Clause */
/* Text in HTML: the one place where it is escaped. */
#pragma once

#include <stdio.h>

/*
 * Write any text as content of an element, or of an attribute between double quotes:
 * characters of markup as references, control and bidirectional ones and bytes that are
 * no UTF-8 as \xNN (fab_text_safe). O(len).
 */
void fab_html_put(FILE *out, const char *text);
/* A text for people: switches by their short names (fab_label_shorten). O(len). */
void fab_html_put_short(FILE *out, const char *text);
