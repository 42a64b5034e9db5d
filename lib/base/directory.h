/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names to ids: several names an id, several ids a name. Blanks at the ends of a name do
 * not count; letter case (ASCII) counts only where names differ in nothing else.
 */
#pragma once

#include <stdbool.h>

#include "base/mem.h"

struct fab_directory;

/* Empty; `expected` entries fit without growing. The caller frees. O(expected). */
struct fab_directory *fab_directory_new(size_t expected);
/* NULL is allowed. O(size). */
void fab_directory_free(struct fab_directory *d);
/* Another name of an id; all names of one id follow each other. The name is copied.
 * O(len). */
void fab_directory_add(struct fab_directory *d, const char *name, size_t len,
		       uint32_t id);

/* Ids of a name. */
struct fab_hits {
	uint32_t n;    /* different ids; 0: name unknown */
	uint32_t next; /* for fab_directory_hit() */
	bool by_case;
};
/* Exact, or case ignored. O(len). */
struct fab_hits fab_directory_find(const struct fab_directory *d, const char *name,
				   size_t len, bool by_case);
/* The next of the ids that hits->n counts; call it at most that often. O(1). */
uint32_t fab_directory_hit(const struct fab_directory *d, struct fab_hits *hits);

struct fab_ids {
	FAB_VEC(uint32_t) of;
};
/* The ids that have a name which matches the glob, once each, in the order in which they
 * were added. O(names). */
void fab_directory_match(const struct fab_directory *d, const char *pattern,
			 struct fab_ids *out);

/* Nearest name by edit distance. */
struct fab_near {
	const char *name; /* borrowed; NULL: none is near */
	unsigned distance;
};
/*
 * Replace *best by a nearer name, if any: at most a third of the characters differ,
 * and not more than three. Bounded: gives up after some 10^8 steps. O(entries * len).
 */
void fab_directory_nearest(const struct fab_directory *d, const char *name, size_t len,
			   struct fab_near *best);
