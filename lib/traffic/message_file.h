/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Files of messages: source, target, size and time, a line for each. Empty lines and
 * those that begin with # do not count.
 *
 * A trace has lines TIME SOURCE TARGET BYTES:
 *
 *   0      n1 n7 2048
 *   1.5us  n7 n1 8
 *
 * Times never run backwards: numbers with a unit (`ps` to `s`), or whole ticks. SOURCE
 * and TARGET are hosts or adapters by any name (fabric/resolver.h), one each.
 *
 * A connection matrix of htsim (csg-htsim, datacenter/connection_matrix):
 *
 *   Nodes 16
 *   Connections 2
 *   0->13 id 1 start 0 size 2000000
 *   13->0 id 2 start 1500000 size 2000000
 *
 * Nodes are numbers from 0: endpoints in the order of the fabric. `start` is in
 * picoseconds, `size` in bytes; `id`, `prio` and the triggers that a connection sets off
 * are read and left out. Connections that start by a trigger, and failures, are refused.
 */
#pragma once

#include "base/err.h"
#include "base/mem.h"
#include "traffic/ends.h"

enum fab_message_form {
	FAB_MESSAGES_TRACE, /* times with units, in picoseconds */
	FAB_MESSAGES_TICKS, /* a trace whose times are ticks */
	FAB_MESSAGES_HTSIM,
};

/* Largest size, 1 TiB, latest time, 281 s or ticks, and most connections of htsim. */
#define FAB_TIMED_BYTES_MAX ((uint64_t)1 << 40)
#define FAB_TIMED_TIME_MAX (((uint64_t)1 << 48) - 1)
enum { FAB_CONNECTIONS_MAX = 1 << 24 };

struct fab_timed_message {
	uint64_t time, bytes;
	uint32_t from, to; /* numbers of ends, never the same */
};

struct fab_message_file {
	FAB_VEC(struct fab_timed_message) of; /* of traces, times ascend */
	uint64_t n_to_self;		      /* lines of a trace left out */
	uint32_t n_nodes;		      /* as a matrix says */
	uint64_t n_priorities; /* connections with a `prio`, which counts for nothing */
};

/*
 * Read a text, whose name for messages is `file`. The caller frees out->of.v. EINVAL,
 * ENOENT: `FILE:LINE: ` and what was expected; also when there is no message, or not the
 * number of connections that a matrix says. Then there is nothing to free. O(len).
 */
int fab_message_file_parse(const struct fab_fabric *f, const struct fab_flow_ends *ends,
			   enum fab_message_form form, const char *file, const char *text,
			   size_t len, struct fab_message_file *out,
			   struct fab_err *err) FAB_MUST_CHECK;
/* Read a file, `-` is standard input; compressed ones are unpacked. O(bytes). */
int fab_message_file_read(const struct fab_fabric *f, const struct fab_flow_ends *ends,
			  enum fab_message_form form, const char *path,
			  struct fab_message_file *out,
			  struct fab_err *err) FAB_MUST_CHECK;
