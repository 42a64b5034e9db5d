/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Connection matrices of htsim (csg-htsim, datacenter/connection_matrix): sources,
 * targets, sizes and times of messages. Plain text:
 *
 *   Nodes 16
 *   Connections 2
 *   0->13 id 1 start 0 size 2000000
 *   13->0 id 2 start 1500000 size 2000000
 *
 * Nodes are numbers from 0: endpoints in the order of the fabric. `start` is in
 * picoseconds, `size` in bytes; `id`, `prio` and the triggers that a connection sets off
 * are read and left out. Empty lines and those that begin with # do not count. What
 * starts by a trigger, and failures, are refused: they are not simulated.
 */
#pragma once

#include "base/err.h"
#include "base/mem.h"

/* Largest size, 1 TiB, and latest time, 281 s, of a connection. */
#define FAB_CONNECTION_MAX_BYTES ((uint64_t)1 << 40)
#define FAB_CONNECTION_MAX_PS (((uint64_t)1 << 48) - 1)
enum { FAB_CONNECTIONS_MAX = 1 << 24 };

struct fab_connection {
	uint64_t start_ps, bytes;
	uint32_t from, to; /* endpoints, never the same */
};

struct fab_connection_matrix {
	uint32_t n_nodes; /* as the file says */
	FAB_VEC(struct fab_connection) of;
	uint64_t n_priorities; /* connections with a `prio`, which counts for nothing */
};

/*
 * Read a text, whose name for messages is `file`, for a fabric of n_ends endpoints. The
 * caller frees out->of.v. EINVAL: `FILE:LINE: ` and what was expected; also when the
 * number of connections is not that of the heading, or none. Then there is nothing to
 * free. O(len).
 */
int fab_connection_matrix_parse(uint32_t n_ends, const char *file, const char *text,
				size_t len, struct fab_connection_matrix *out,
				struct fab_err *err) FAB_MUST_CHECK;
/* Read a file, `-` is standard input; compressed ones are unpacked. O(bytes). */
int fab_connection_matrix_read(uint32_t n_ends, const char *path,
			       struct fab_connection_matrix *out,
			       struct fab_err *err) FAB_MUST_CHECK;
