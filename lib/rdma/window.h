/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The receiver's window of RSW: what of a transfer has arrived, when packets come in any
 * order. WBASE is the lowest number that has not arrived; bit i of WVEC, 1 .. W, says
 * that WBASE + i has. W is any width; a slide costs what it slides.
 *
 * Source: Wang et al., "A fast RDMA offload method for unreliable interconnection
 * networks", J. Hunan Univ. (Nat. Sci.) 42(8), 2015, with the slide rule corrected: the
 * printed one, WBASE += LOC(WVEC), is off by one against its own definition of WVEC.
 */
#pragma once

#include <stdbool.h>

#include "base/macros.h"

enum { FAB_RDMA_WINDOW_MAX = 4096 };

struct fab_rdma_window {
	uint32_t base;	/* WBASE */
	uint32_t width; /* W, 1 .. FAB_RDMA_WINDOW_MAX */
	uint32_t mask;	/* of positions in the ring */
	uint64_t *ring; /* number n is at n & mask; those of WBASE .. WBASE + W only */
};

/* What an arrival comes to. */
enum fab_rdma_arrival {
	FAB_RDMA_PLACED,    /* new, within WBASE .. WBASE + W: its data go to memory */
	FAB_RDMA_DUPLICATE, /* below WBASE, or its bit is set: nothing to do */
	FAB_RDMA_BEYOND,    /* above WBASE + W: dropped, to be asked for again */
};

/* Words of the ring of a window of this width. O(1). */
size_t fab_rdma_window_words(uint32_t width);
/* Empty at WBASE 0; `ring` has so many words and is the caller's. O(words). */
void fab_rdma_window_init(struct fab_rdma_window *w, uint32_t width, uint64_t *ring);
/* Packet `number` arrives. O(1 + what it slides / 64). */
enum fab_rdma_arrival fab_rdma_window_take(struct fab_rdma_window *w, uint32_t number);
/* The same by the rule as it is printed: for showing where that goes wrong. It slides by
 * LOC only, so that WBASE may stand at a number that has arrived. As long. */
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
