/* SPDX-License-Identifier: BSD-2-Clause */
/* What the readers of all formats have in common. */
#pragma once

#include "fabric/builder.h"
#include "source/scan.h"

/*
 * Read all of an input into a builder. `name` stands in front of messages. What can be
 * lived with is a warning of the builder; -EINVAL and a sentence for the rest, and then
 * the builder is good only to be freed.
 */
typedef int (*fab_read_fn)(struct fab_builder *b, const char *name, const char *text,
			   size_t n, struct fab_err *err);

enum {
	FAB_MAX_NAME = 255,   /* longer names are cut */
	FAB_MAX_SHOWN = 60,   /* of a line in a message */
	FAB_MAX_PORT = 65534, /* largest port number */
};

static inline size_t fab_name_cut(size_t len)
{
	return len < FAB_MAX_NAME ? len : FAB_MAX_NAME;
}

/* How much of a line a message shows: for "%.*s". */
static inline int fab_shown(const struct fab_span *s)
{
	return fab_span_len(s) < FAB_MAX_SHOWN ? (int)fab_span_len(s) : FAB_MAX_SHOWN;
}

/* Lines that are no part of what is read: counted, and told once (foreign-line). */
struct fab_foreign {
	uint64_t n, first;
};

void fab_foreign_add(struct fab_foreign *foreign, uint64_t line);
void fab_foreign_warn(const struct fab_foreign *foreign, struct fab_builder *b);

/* EINVAL: the input ends within the line. */
int fab_cut_off(const char *name, const struct fab_lines *lines,
		const struct fab_span *line, struct fab_err *err);

/*
 * Nodes of formats that name both ends in full on every line: by GUID, added when first
 * seen.
 */
struct fab_node_table {
	struct fab_builder *b;
	struct fab_map64 *node_of;
};

/*
 * The node of spec->guid, added if it is new. False with *node untouched when that GUID
 * is known as a node of another kind.
 */
bool fab_node_table_get(struct fab_node_table *table, const struct fab_node_spec *spec,
			uint32_t *node);
