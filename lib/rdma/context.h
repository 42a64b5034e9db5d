/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Contexts of a transfer: the receiver's window of RSW, lists of arrivals for it, and the
 * bits of the context of every scheme.
 */
#pragma once

#include <stdbool.h>

#include "base/err.h"
#include "base/mem.h"

/*
 * The receiver's window of RSW: the packets of a transfer that have arrived, in any
 * order. WBASE is the lowest number that has not arrived; bit i of WVEC, 1 .. W, says
 * that WBASE + i has. W is any width; a slide costs what it slides.
 *
 * Source: Wang et al., "A fast RDMA offload method for unreliable interconnection
 * networks", J. Hunan Univ. (Nat. Sci.) 42(8), 2015, with the slide rule corrected: the
 * printed one, WBASE += LOC(WVEC), is off by one against its own definition of WVEC.
 */
enum { FAB_RDMA_WINDOW_MAX = 4096 };

struct fab_rdma_window {
	uint32_t base;	/* WBASE */
	uint32_t width; /* W, 1 .. FAB_RDMA_WINDOW_MAX */
	uint32_t mask;	/* of positions in the ring */
	uint64_t *ring; /* number n is at n & mask; those of WBASE .. WBASE + W only */
};

/* Outcome of an arrival. */
enum fab_rdma_arrival {
	FAB_RDMA_PLACED,    /* new, within WBASE .. WBASE + W: its data go to memory */
	FAB_RDMA_DUPLICATE, /* below WBASE, or its bit is set: nothing to do */
	FAB_RDMA_BEYOND,    /* above WBASE + W: dropped, to be asked for again */
};

/* Words of the ring of a window of this width. O(1). */
size_t fab_rdma_window_words(uint32_t width);
/* Empty at WBASE 0; `ring` has that size and is the caller's. O(words). */
void fab_rdma_window_init(struct fab_rdma_window *w, uint32_t width, uint64_t *ring);
/* Packet `number` arrives. O(1 + what it slides / 64). */
enum fab_rdma_arrival fab_rdma_window_take(struct fab_rdma_window *w, uint32_t number);
/* By the printed rule, to show where it goes wrong: it slides by LOC only, so
 * that WBASE may be a number that has arrived. O(1 + slide). */
enum fab_rdma_arrival fab_rdma_window_take_as_printed(struct fab_rdma_window *w,
						      uint32_t number);
/* Bit i of WVEC, 1 .. W. O(1). */
static inline bool fab_rdma_window_bit(const struct fab_rdma_window *w, uint32_t i)
{
	uint32_t at = (w->base + i) & w->mask;

	return w->ring[at / 64] >> at % 64 & 1;
}
/* Has `number` arrived, as far as the window knows? O(1). */
static inline bool fab_rdma_window_has(const struct fab_rdma_window *w, uint32_t number)
{
	return number < w->base || (number - w->base <= w->width && number != w->base &&
				    fab_rdma_window_bit(w, number - w->base));
}

enum { FAB_RDMA_ARRIVALS_MAX = 1000000 };

struct fab_rdma_arrivals {
	FAB_VEC(uint32_t) number;
};

/*
 * Parse "2,1,0,4,3": numbers from 0 to 2^32-2 and ranges ("8-11") between commas. EINVAL:
 * text that is no number, or more than FAB_RDMA_ARRIVALS_MAX. The caller frees
 * out->number.v, also after an error. O(numbers).
 */
int fab_rdma_arrivals_parse(const char *text, struct fab_rdma_arrivals *out,
			    struct fab_err *err) FAB_MUST_CHECK;

/* Widths of the fields in bits, and sizes of the buffer of ssw. */
struct fab_rdma_widths {
	uint32_t node, context, msgid, number, timer, epoch, address;
	uint32_t mtu;	 /* bytes of a packet in a retransmission buffer */
	uint32_t buffer; /* packets of SSW's retransmission buffer, for a destination */
};
/* 64 Ki nodes, 4 Ki contexts, MSGID of 20 bit, 4 Ki packets, timer of 16 bit, an index of
 * retransmissions of 8, addresses of 64; 64 packets of 2 KiB. */
extern const struct fab_rdma_widths fab_rdma_widths;

/* A field of a context. */
struct fab_rdma_field {
	const char *name; /* "wbase" */
	const char *what; /* what it holds */
	const char *side; /* "sender" or "receiver" */
	const char *why;  /* sentence that requires it */
	uint64_t bits;
	bool is_listed; /* in the paper's own list of the context */
};

enum { FAB_RDMA_FIELDS_MAX = 24 };
/* The context of a scheme. */
struct fab_rdma_context {
	const char *scheme;
	uint32_t window; /* 0: it has none */
	size_t n;
	struct fab_rdma_field field[FAB_RDMA_FIELDS_MAX];
	uint64_t bits; /* both sides */
	uint64_t receiver_bits;
	uint64_t listed_bits; /* those that the paper lists; 0: not of the paper */
};

/* Schemes whose context is known, in the order in which they are printed. */
extern const size_t fab_rdma_n_costs;
/* Scheme i of those. O(1). */
const char *fab_rdma_cost_name(size_t i);
/* Does its context depend on the width of a window? Not that of ssw, which is its
 * buffer. O(schemes). */
bool fab_rdma_cost_has_window(const char *scheme);
/* False: no such scheme, or it keeps nothing that could be built (the oracle). O(1). */
bool fab_rdma_cost(const char *scheme, uint32_t window,
		   const struct fab_rdma_widths *widths, struct fab_rdma_context *out);
/* How many contexts fit into a memory; of 0 bits UINT64_MAX. O(1). */
uint64_t fab_rdma_contexts_in(uint64_t memory_bytes, uint64_t bits);
/* Parts of a context that are compared. */
enum fab_rdma_part {
	FAB_RDMA_LISTED,   /* fields that the paper lists */
	FAB_RDMA_RECEIVER, /* of the receiver, with the identity of the transfer */
	FAB_RDMA_BOTH,
};
/*
 * The width from which on the window of `scheme` takes at least as many bits as the
 * context of `other`: below it, and only there, it is smaller. 0: at no width;
 * FAB_RDMA_WINDOW_MAX + 1: at all. O(W).
 */
uint32_t fab_rdma_cost_crossing(const char *scheme, const char *other,
				enum fab_rdma_part part,
				const struct fab_rdma_widths *widths);

/* A field of a packet in addition to the headers of the network; the paper's tables 2 and
 * 3, rebuilt from its text because they are lost. */
struct fab_rdma_packet_field {
	const char *packet, *field, *what;
	uint32_t bits;
};
extern const size_t fab_rdma_n_packet_fields;
/* Field i of those. O(1). */
struct fab_rdma_packet_field fab_rdma_packet_field(size_t i, uint32_t window,
						   const struct fab_rdma_widths *widths);
