/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Traces of messages: source, target, size and time. Plain text, a line for each message:
 *
 *   TIME SOURCE TARGET BYTES
 *   0      n1 n7 2048
 *   1.5us  n7 n1 8
 *
 * TIME never runs backwards: a number with its unit, `ps`, `ns`, `us`, `ms` or `s`; in
 * ticks a whole number of them. SOURCE and TARGET are hosts or adapters by any name
 * (fabric/resolver.h), one each. Empty lines and those that begin with # do not count.
 */
#pragma once

#include "base/err.h"
#include "base/mem.h"
#include "traffic/ends.h"

/* Largest size, 1 TiB, and latest time, 281 s or ticks, of a message. */
#define FAB_TRACE_MAX_BYTES ((uint64_t)1 << 40)
#define FAB_TRACE_MAX_TIME (((uint64_t)1 << 48) - 1)

struct fab_traced_message {
	uint64_t time;	   /* picoseconds or ticks */
	uint32_t from, to; /* numbers of ends, never the same */
	uint64_t bytes;
};

struct fab_message_trace {
	FAB_VEC(struct fab_traced_message) of; /* times ascend */
	uint64_t n_to_self;		       /* lines left out: nothing to send */
};

/*
 * Read a trace of a text, whose name for messages is `file`. The caller frees out->of.v.
 * EINVAL, ENOENT: `FILE:LINE: ` and what was expected; also when there is no message.
 * Then there is nothing to free. O(len).
 */
int fab_message_trace_parse(const struct fab_fabric *f, const struct fab_flow_ends *ends,
			    bool in_ticks, const char *file, const char *text, size_t len,
			    struct fab_message_trace *out,
			    struct fab_err *err) FAB_MUST_CHECK;
/* Read a file, `-` is standard input; compressed ones are unpacked. O(bytes). */
int fab_message_trace_read(const struct fab_fabric *f, const struct fab_flow_ends *ends,
			   bool in_ticks, const char *path, struct fab_message_trace *out,
			   struct fab_err *err) FAB_MUST_CHECK;
