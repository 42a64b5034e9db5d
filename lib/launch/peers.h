/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Whom each process of a job talks to, and whose data it therefore needs: a graph of
 * processes. Process r sits on node r / ppn.
 */
#pragma once

#include <stdbool.h>

#include "base/choice.h"
#include "base/mem.h"

enum {
	FAB_PEERS_PROCESSES_MAX = 1 << 27,
	FAB_PEERS_MAX = 1 << 27, /* of all processes together */
	FAB_PEERS_DIMS_MAX = 8,
};

enum fab_peers_kind {
	FAB_PEERS_RING,
	FAB_PEERS_STENCIL,
	FAB_PEERS_RANDOM,
	FAB_PEERS_ALL,
	FAB_PEERS_FILE,
};

struct fab_peers {
	enum fab_peers_kind kind;
	uint32_t n_nodes, ppn, n; /* processes n = n_nodes * ppn */
	/* peer[first[r] .. first[r + 1] - 1]: of process r, none twice, not itself, in
	 * the order in which it asks for them. Both NULL: all others, from the next one
	 * around. */
	uint64_t *first;
	uint32_t *peer;
};

/* ring, stencil:D, random:K, all, file:PATH. */
extern const struct fab_choices fab_peers_choices;
/* Is it one of these with its argument? Without looking at files or sizes. EINVAL.
 * O(text). */
int fab_peers_check(const char *spec, struct fab_err *err) FAB_MUST_CHECK;

/*
 * Make a graph:
 *   ring       the process before and the one behind
 *   stencil:D  neighbours in a grid of D dimensions, 1 .. 8, with sizes as equal as
 *              can be, that closes around
 *   random:K   K others by chance
 *   all        all others
 *   file:PATH  see fab_peers_parse()
 * The caller ends it. EINVAL: no such spec, K of more than there are others, 0 nodes or
 * processes; ERANGE: more processes or peers than fit; errors of files. O(peers).
 */
int fab_peers_make(const char *spec, uint32_t n_nodes, uint32_t ppn, uint64_t seed,
		   struct fab_peers *out, struct fab_err *err) FAB_MUST_CHECK;
void fab_peers_fini(struct fab_peers *peers);

/*
 * The same from a text: a line a process, its rank, then the ranks that it talks to,
 * apart by blanks or commas; A-B is all from A to B. # begins a comment. A process
 * without a line has no peers; one with several has those of all. A rank twice on a line
 * counts once, a process's own does not count. EINVAL with FILE:LINE: a rank that the job
 * does not have, a range backwards, no number. O(len + peers).
 */
int fab_peers_parse(const char *file, const char *text, size_t len, uint32_t n_nodes,
		    uint32_t ppn, struct fab_peers *out,
		    struct fab_err *err) FAB_MUST_CHECK;

/* Peers of a process. O(1). */
uint32_t fab_peers_degree(const struct fab_peers *peers, uint32_t process);
/* Number i of them. O(1). */
uint32_t fab_peers_at(const struct fab_peers *peers, uint32_t process, uint32_t i);
/* Mean of all processes. O(1). */
double fab_peers_mean_degree(const struct fab_peers *peers);
