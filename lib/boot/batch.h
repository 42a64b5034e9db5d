/* SPDX-License-Identifier: BSD-2-Clause */
/* Which nodes boot together. */
#pragma once

#include "boot/machine.h"

struct fab_batch {
	uint32_t n;
	uint32_t *node; /* [n] ascending, each once */
	char *text;	/* for people: "first:20:board" */
};

/*
 * `all`; `first:N` nodes; `first:N:UNIT`, N whole units of a level; `unit:NAME`,
 * everything below one vertex; anything else is a pattern for node names. EINVAL: no such
 * unit, more than there are, a pattern that nothing matches. O(nodes).
 */
int fab_batch_parse(const struct fab_machine *m, const char *spec, struct fab_batch *out,
		    struct fab_err *err) FAB_MUST_CHECK;
/* A name or pattern a line, # comments. EINVAL with file and line. O(lines * log nodes +
 * patterns * nodes). */
int fab_batch_read(const struct fab_machine *m, const char *file, const char *text,
		   size_t len, struct fab_batch *out, struct fab_err *err) FAB_MUST_CHECK;
/* A batch of given nodes (copied, sorted, once each). */
void fab_batch_of(const uint32_t *nodes, uint32_t n, const char *text,
		  struct fab_batch *out);
void fab_batch_fini(struct fab_batch *batch);

/*
 * Prefixes that grow: of each level from the nodes outwards (as `unit` says, or all
 * levels when NULL) 1, 2, 5, 10, 20, 50 ... units up to all. Returns the number of
 * batches, array on the heap; each ended by fab_batch_fini(). Sizes rise strictly.
 */
uint32_t fab_batch_sweep(const struct fab_machine *m, const char *unit,
			 struct fab_batch **out);
