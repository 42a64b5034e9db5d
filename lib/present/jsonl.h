/* SPDX-License-Identifier: BSD-2-Clause */
/* JSON lines for bulk output: one object a line, and values that are always valid. */
#pragma once

#include <jansson.h>
#include <stdio.h>

#include "base/err.h"
#include "present/report.h"

/*
 * Text from a fabric as a JSON string. jansson refuses bytes that are not UTF-8: such a
 * text is escaped as fab_text_safe() does. NULL gives null. The caller owns the result.
 */
json_t *fab_json_text(const char *text);
/* A number; above 2^53, which other readers of JSON would round, a string of digits. */
json_t *fab_json_uint(uint64_t value);
/* "0x%016x". */
json_t *fab_json_guid(uint64_t guid);
/* A cell of a report. O(size). */
json_t *fab_json_cell(const struct fab_column *column, union fab_cell cell);

/*
 * Flags under which all our JSON is written: printable ASCII only (with fab_json_dump),
 * so that no name can steer a terminal, and reals with 15 significant digits: picoseconds
 * below 2^48 in any unit, and 0.1 is printed as 0.1.
 */
#define FAB_JSON_FLAGS (JSON_ENSURE_ASCII | JSON_REAL_PRECISION(15))

/* A real with 6 significant digits; `is_exact`: with all. Not null. O(1). */
json_t *fab_json_real(double value, bool is_exact);

/*
 * Write the value with these flags of jansson; DEL, which jansson does not escape, as
 * \u007f. -1 and errno when a write fails. fab_json_put() the same for JSON as text.
 * O(size).
 */
int fab_json_dump(const json_t *value, FILE *out, size_t flags);
int fab_json_put(const char *text, size_t n, FILE *out);

/*
 * Write `object` and a line end to `out`, and drop the reference to it. Fails with the
 * errno of the write. Writes are buffered: a full disk may show only when the file is
 * flushed.
 */
int fab_jsonl_write(FILE *out, json_t *object, struct fab_err *err) FAB_MUST_CHECK;
