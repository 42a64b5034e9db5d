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

/* One end of a cable as a line tells it that names both ends in full. */
struct fab_told_end {
	enum fab_node_kind kind;
	uint16_t n_ports, port, lid; /* 0: not told */
	uint32_t vendor, device;
	uint64_t guid, sys_guid, port_guid;
	const char *name; /* name_len bytes of the line */
	size_t name_len;
};

struct fab_told_cable {
	struct fab_told_end own, peer;
	bool has_peer;
	uint8_t width, speed;
};

typedef enum fab_line_result (*fab_cable_line_fn)(struct fab_span line,
						  struct fab_told_cable *out);

/*
 * Read a format whose lines each tell both ends of a cable: nodes are added when first
 * named. `what` is told to be missing in lines that `parse` cannot read ("no cable").
 */
int fab_cable_lines_read(struct fab_builder *b, const char *name, const char *text,
			 size_t n, fab_cable_line_fn parse, const char *what,
			 struct fab_err *err) FAB_MUST_CHECK;
