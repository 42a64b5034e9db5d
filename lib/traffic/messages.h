/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A source of messages, from which a simulator pulls.
 *
 * Endpoints are numbered as in struct fab_flow_ends. Times are ticks of the simulator
 * (picoseconds, or flit times), sizes are payload: bytes, or flits where a tick is a flit
 * time. An endpoint sends its messages in the order in which next()
 * gives them; a message that is created while another one is being sent, or has no
 * credit, waits. No queue is kept: the next message is asked for when the one before has
 * left the endpoint, and its time may then have passed.
 *
 * Open loop: next() gives the births whatever happens. Closed loop, collectives: next()
 * gives nothing until received() or completed() has informed the endpoint of what it
 * waits for; the simulator asks again after each of them.
 *
 * All calls for one endpoint come from one thread at a time, and for different endpoints
 * from several: what a call changes is the state of that endpoint and nothing else.
 * Random numbers are drawn by counter (event/stream.h: item = endpoint, draw = number of
 * the message), independent of the order of endpoints. Times of creation must not depend
 * on the order of received() and completed() of one time.
 */
#pragma once

#include "base/err.h"
#include "base/macros.h"
#include "base/mem.h"
#include "traffic/ends.h"

#include <stdbool.h>

enum {
	FAB_MESSAGE_BYTES_MAX = 1 << 30, /* of payload */
	FAB_MESSAGE_TIME_BITS = 48,	 /* times are below 2^48 ticks */
};

struct fab_message {
	uint64_t time; /* of creation; not before that of the endpoint's message before */
	uint32_t target; /* endpoint, or with to_group the group's number */
	uint32_t bytes;	 /* of payload, 1 .. FAB_MESSAGE_BYTES_MAX */
	uint16_t tag;	 /* whatever the source likes: comes back with the delivery */
	bool to_group;
};

/* Payload of the last packet of a message that is cut at the MTU. O(1). */
static inline uint32_t fab_last_payload(uint32_t bytes, uint32_t mtu)
{
	return bytes ? (bytes - 1) % mtu + 1 : 0;
}

/* A message that has arrived as a whole. */
struct fab_delivery {
	uint64_t time;
	uint64_t birth;
	uint32_t source; /* endpoint */
	uint32_t target; /* endpoint, or with to_group the group's number */
	uint16_t tag;
	bool to_group;
	/* completed() only: some of it was dropped, or was never sent, because there is
	 * no path; closed loops go on. Then `time` is when the sender gave it up. */
	bool is_lost;
};

struct fab_messages {
	void *context; /* of all calls */
	/* No packet of them has less payload, cut at the MTU that the source knows of; 0:
	 * unknown. The more, the longer threads of a simulator work apart. */
	uint32_t least_payload;
	/*
	 * The next message of an endpoint. `now` is the time that the simulator has come
	 * to (0 at the beginning): open loops need not look at it. False: it has none,
	 * until a received() or completed() for this endpoint changes that, or for good.
	 */
	bool (*next)(void *context, uint32_t endpoint, uint64_t now,
		     struct fab_message *out);
	/* All of a message (of a group: the copy for this member) is at `endpoint`. NULL:
	 * not needed, which is faster. */
	void (*received)(void *context, uint32_t endpoint,
			 const struct fab_delivery *delivery);
	/* A message that `endpoint` sent is at its target, of a group at all members.
	 * NULL: not needed, which is faster. */
	void (*completed)(void *context, uint32_t endpoint,
			  const struct fab_delivery *delivery);
};

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
