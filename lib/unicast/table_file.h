/* SPDX-License-Identifier: BSD-2-Clause */
/* Files of tables, service levels and lanes, line by line: what their readers share. */
#pragma once

#include <stdbool.h>

#include "base/err.h"
#include "base/map.h"
#include "source/scan.h"
#include "unicast/routes.h"

enum { FAB_LAST_LID = 0xbfff };

struct fab_table_file {
	const char *name;
	struct fab_lines lines;
	struct fab_span line;
	struct fab_map64 *nodes; /* by node GUID, FAB_SHARED */
	struct fab_err *err;
};

/* Everything is borrowed. O(nodes). */
void fab_table_file_init(struct fab_table_file *file, const struct fab_fabric *f,
			 const char *name, const char *text, size_t len,
			 struct fab_err *err);
void fab_table_file_fini(struct fab_table_file *file);

/* Hand each line that is not empty and no comment to `read` in file->line, until it does
 * not return 0, which is returned; -EINVAL: the input ends within a line. O(bytes). */
int fab_table_file_read(struct fab_table_file *file, int (*read)(void *context),
			void *context) FAB_MUST_CHECK;
/* -EINVAL and "file:line: <text>". */
int fab_table_file_fail(const struct fab_table_file *file, const char *format, ...)
	FAB_PRINTF(2, 3);
/* -EINVAL and "file:line: expected <what>, found <the line>". */
int fab_table_file_expected(const struct fab_table_file *file, const char *expected);
/* The node that has the GUID, FAB_NONE: none. -EINVAL: two have it. O(1). */
int fab_table_file_node(const struct fab_table_file *file, uint64_t guid, uint32_t *node);

/* "0x" and digits, or a decimal number, blanks in front skipped; each ends with the line
 * or before a blank. */
bool fab_table_take_hex(struct fab_span *s, uint64_t *out);
bool fab_table_take_dec(struct fab_span *s, uint32_t *out);

/* Does the node have a port of this number? O(log ports). */
bool fab_table_has_port(const struct fab_fabric *f, uint32_t node, uint32_t num);
/* [n_ports] arc of a switch's port counted from arc_first, FAB_ARC_NONE: its cable leads
 * to no other switch. The caller frees. O(ports). */
uint16_t *fab_table_arcs(const struct fab_fabric *f);
