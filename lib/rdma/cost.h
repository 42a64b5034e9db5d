/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a transfer costs in state: the bits of a context field by field for every scheme,
 * and how many contexts fit into a memory.
 */
#pragma once

#include <stdbool.h>

#include "base/macros.h"

/* Widths of the fields, bits, and what is not a field's. */
struct fab_rdma_widths {
	uint32_t node, context, msgid, number, timer, epoch;
	uint32_t mtu;	 /* bytes of a packet in a retransmission buffer */
	uint32_t buffer; /* packets of SSW's retransmission buffer, for a destination */
};
/* 64 Ki nodes, 4 Ki contexts, MSGID of 20 bit, 4 Ki packets, timer of 16 bit, an index of
 * retransmissions of 8; 64 packets of 2 KiB. */
extern const struct fab_rdma_widths fab_rdma_widths;

/* What one field of a context is. */
struct fab_rdma_field {
	const char *name; /* "wbase" */
	const char *what; /* what it holds */
	const char *side; /* who keeps it: "sender" or "receiver" */
	uint64_t bits;
	bool is_listed; /* in the paper's own list of the context */
};

enum { FAB_RDMA_FIELDS_MAX = 16 };
/* The context of a scheme. */
struct fab_rdma_context {
	const char *scheme;
	uint32_t window; /* 0: it has none */
	size_t n;
	struct fab_rdma_field field[FAB_RDMA_FIELDS_MAX];
	uint64_t bits;	      /* all of them */
	uint64_t listed_bits; /* those that the paper lists; 0: not of the paper */
};

/* Schemes whose context is known, in the order in which they are printed. */
extern const size_t fab_rdma_n_costs;
/* Scheme i of those. O(1). */
const char *fab_rdma_cost_name(size_t i);
/* Does its context hang on the width of a window? Not that of ssw, which is its
 * buffer. O(schemes). */
bool fab_rdma_cost_has_window(const char *scheme);
/* False: no such scheme, or it keeps nothing that could be built (the oracle). O(1). */
bool fab_rdma_cost(const char *scheme, uint32_t window,
		   const struct fab_rdma_widths *widths, struct fab_rdma_context *out);
/* How many fit into so many bytes; 0 bits: as many as one likes, UINT64_MAX. O(1). */
uint64_t fab_rdma_contexts_in(uint64_t memory_bytes, uint64_t bits);
/*
 * The width from which on the window of `scheme` takes at least as many bits as the
 * context of `other`: below it, and only there, it is smaller. `listed`: by the fields
 * that the paper lists. 0: at no width; FAB_RDMA_WINDOW_MAX + 1: at all. O(W).
 */
uint32_t fab_rdma_cost_crossing(const char *scheme, const char *other, bool listed,
				const struct fab_rdma_widths *widths);
