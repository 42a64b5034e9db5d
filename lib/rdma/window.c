/* SPDX-License-Identifier: BSD-2-Clause */
#include "rdma/window.h"

#include <string.h>

enum { WORD = 64 };

/* Positions of the ring: a power of two that holds WBASE .. WBASE + W, whole words. */
static uint32_t ring_size(uint32_t width)
{
	uint32_t size = WORD;

	while (size < width + 1)
		size *= 2;
	return size;
}

size_t fab_rdma_window_words(uint32_t width)
{
	return ring_size(width) / WORD;
}

void fab_rdma_window_init(struct fab_rdma_window *w, uint32_t width, uint64_t *ring)
{
	*w = (struct fab_rdma_window){
		.width = width, .mask = ring_size(width) - 1, .ring = ring};
	memset(ring, 0, fab_rdma_window_words(width) * sizeof(*ring));
}

static void set(struct fab_rdma_window *w, uint32_t number)
{
	w->ring[(number & w->mask) / WORD] |= UINT64_C(1) << number % WORD;
}

/* Over all ones from WBASE on; their places are free then. */
static void slide(struct fab_rdma_window *w)
{
	for (;;) {
		uint64_t *word = &w->ring[(w->base & w->mask) / WORD];
		unsigned at = w->base % WORD, rest = WORD - at;
		uint64_t zeros = ~(*word >> at);
		unsigned ones = zeros ? (unsigned)__builtin_ctzll(zeros) : WORD;

		if (ones > rest)
			ones = rest;
		if (!ones)
			return;
		*word &= ~((ones == WORD ? ~UINT64_C(0) : (UINT64_C(1) << ones) - 1)
			   << at);
		w->base += ones;
		if (ones < rest)
			return;
	}
}

/* All that does not slide; WBASE itself is new. */
static enum fab_rdma_arrival classify(struct fab_rdma_window *w, uint32_t number)
{
	if (number < w->base)
		return FAB_RDMA_DUPLICATE;
	if (number - w->base > w->width)
		return FAB_RDMA_BEYOND;
	if (number != w->base && fab_rdma_window_bit(w, number - w->base))
		return FAB_RDMA_DUPLICATE;
	return FAB_RDMA_PLACED;
}

enum fab_rdma_arrival fab_rdma_window_take(struct fab_rdma_window *w, uint32_t number)
{
	enum fab_rdma_arrival what = classify(w, number);

	if (what != FAB_RDMA_PLACED)
		return what;
	set(w, number);
	if (number == w->base)
		slide(w);
	return what;
}

enum fab_rdma_arrival fab_rdma_window_take_as_printed(struct fab_rdma_window *w,
						      uint32_t number)
{
	enum fab_rdma_arrival what = classify(w, number);
	uint32_t loc = 0;

	if (what != FAB_RDMA_PLACED)
		return what;
	if (number != w->base) {
		set(w, number);
		return what;
	}
	while (loc < w->width && fab_rdma_window_bit(w, loc + 1))
		loc++;
	/* the new WBASE's bit falls out of WVEC, though the number has arrived */
	for (uint32_t i = 1; i <= loc; i++) {
		uint32_t at = (w->base + i) & w->mask;

		w->ring[at / WORD] &= ~(UINT64_C(1) << at % WORD);
	}
	w->base += loc;
	return what;
}
