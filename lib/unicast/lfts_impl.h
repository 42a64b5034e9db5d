/* SPDX-License-Identifier: BSD-2-Clause */
/* What the readers of unicast tables share. */
#pragma once

#include "source/scan.h"
#include "unicast/lfts.h"

/* A file being read, line by line. */
struct fab_lfts_file {
	const char *name;
	struct fab_lines lines;
	struct fab_span line;
	struct fab_map64 *nodes; /* by node GUID, FAB_SHARED */
	struct fab_err *err;
};

void fab_lfts_file_init(struct fab_lfts_file *file, const struct fab_fabric *f,
			const char *name, const char *text, size_t len,
			struct fab_err *err);
void fab_lfts_file_fini(struct fab_lfts_file *file);

/*
 * The next line that is not empty and no comment: 1. 0: the end. -EINVAL: it ends in the
 * middle of the line.
 */
int fab_lfts_next_line(struct fab_lfts_file *file);
/* -EINVAL and "file:line: expected <what>, found <the line>". */
int fab_lfts_bad_line(const struct fab_lfts_file *file, const char *expected);
/* -EINVAL and "file:line: <text>". */
int fab_lfts_fail(const struct fab_lfts_file *file, const char *format, ...)
	FAB_PRINTF(2, 3);

/* The node that has the GUID, FAB_NONE: none. -EINVAL and a sentence: two have it. */
int fab_lfts_find_node(const struct fab_lfts_file *file, uint64_t guid, uint32_t *node);

/* "0x" and digits; the number ends with the line or before a blank. */
bool fab_lfts_take_hex(struct fab_span *s, uint64_t *out);
/* A decimal number before a blank or the end, blanks in front skipped. */
bool fab_lfts_take_dec(struct fab_span *s, uint32_t *out);

/* Does the switch have a port of this number? */
bool fab_lfts_has_port(const struct fab_fabric *f, uint32_t sw, uint32_t num);
/* [n_ports] arc of a switch's port counted from arc_first, FAB_ARC_NONE: its cable leads
 * to no other switch. The caller frees. O(ports). */
uint16_t *fab_lfts_arcs(const struct fab_fabric *f);
/* Append a sentence to the note. */
void fab_lfts_note(struct fab_routes *r, const char *format, ...) FAB_PRINTF(2, 3);
