/* SPDX-License-Identifier: BSD-2-Clause */
/* Which nodes boot together. */
#pragma once

#include "boot/machine.h"

struct fab_batch {
	uint32_t n;
	uint32_t *node;		    /* [n] ascending, each once */
	char *text;		    /* for people: "first:20:board" */
	bool is_borrowed;	    /* node belongs to another batch of its series */
	struct fab_matches matches; /* what host lists and patterns stood for */
};

/* Loop over the nodes of a batch: FAB_EACH_NODE(batch, node) n += is_late[node]; */
#define FAB_EACH_NODE(batch, node_)                                                      \
	for (uint32_t node_##_at = 0, node_;                                             \
	     node_##_at < (batch)->n && ((node_) = (batch)->node[node_##_at], true);     \
	     node_##_at++)

/*
 * `all`; `first:N` nodes; `first:N:UNIT`, N whole units of a level; `unit:LIST`,
 * everything below these vertices; anything else is a list of nodes: names, host lists
 * and patterns (boot/machine.h), separated by commas. EINVAL, ENOENT: no such unit
 * or node, more than there are, a pattern that nothing matches. O(nodes).
 */
int fab_batch_parse(const struct fab_machine *m, const char *spec, struct fab_batch *out,
		    struct fab_err *err) FAB_MUST_CHECK;
/* Such a list a line, # comments. EINVAL, ENOENT with file and line. O(text + patterns *
 * nodes). */
int fab_batch_read(const struct fab_machine *m, const char *file, const char *text,
		   size_t len, struct fab_batch *out, struct fab_err *err) FAB_MUST_CHECK;
/* A batch of given nodes (copied, sorted, once each). fab_batch_of: O(n log n),
 * fab_batch_fini: O(1). */
void fab_batch_of(const uint32_t *nodes, uint32_t n, const char *text,
		  struct fab_batch *out);
/* All nodes of the machine; fab_batch_fini(). O(nodes). */
struct fab_batch fab_batch_all(const struct fab_machine *m);
void fab_batch_fini(struct fab_batch *batch);

/*
 * A series of batches; sizes never fall:
 *   NULL          prefixes of 1, 2, 5, 10, 20, 50 .. units up to all, of each level from
 *                 the nodes outwards
 *   UNIT          of this level only
 *   every:UNIT    every prefix of whole units
 *   each:UNIT     every unit by itself
 *   random:N      N random subsets, small and large ones: any number of bits that the
 *                 size can have is equally likely
 * The array is on the heap, each batch is released by fab_batch_fini(). EINVAL: no such
 * unit, nothing to boot, random subsets of more than 2^28 nodes together. O(nodes of all
 * batches); prefixes share theirs.
 */
int fab_batch_sweep(const struct fab_machine *m, const char *spec, uint64_t seed,
		    struct fab_batch **out, uint32_t *n,
		    struct fab_err *err) FAB_MUST_CHECK;
