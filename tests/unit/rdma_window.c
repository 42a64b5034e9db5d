/* SPDX-License-Identifier: BSD-2-Clause */
/* The window of RSW against a plain set, and what contexts cost. The example of the
 * paper, and what its printed rule does, is in the golden case rdma-trace. */
#include "event/stream.h"
#include "rdma/context.h"
#include "support/test.h"

/* What a window does, told with a plain set of what has arrived. */
static enum fab_rdma_arrival take_plainly(bool *set, uint32_t n, uint32_t *base,
					  uint32_t width, uint32_t number)
{
	if (number < *base)
		return FAB_RDMA_DUPLICATE;
	if (number > *base + width)
		return FAB_RDMA_BEYOND;
	if (set[number])
		return FAB_RDMA_DUPLICATE;
	set[number] = true;
	while (*base < n && set[*base])
		++*base;
	return FAB_RDMA_PLACED;
}

/* What comes next: mostly near the base, some duplicates, some far beyond. */
static uint32_t draw(uint64_t seed, uint64_t i, uint32_t base, uint32_t width, uint32_t n)
{
	uint64_t x = fab_stream_at(seed, i, 0);
	uint32_t far = (uint32_t)(x >> 8);

	switch (x % 8) {
	case 0:
		return base < n ? base : far % n;
	case 1:
		return far % n;
	case 2:
		return base + width + far % 3;
	case 3:
		return UINT32_MAX - far % 5;
	default:
		return (base ? base - 1 : 0) + far % (width + 2);
	}
}

/* Any width, or one about a word or the widest; positions of the ring wrap. */
static uint64_t check_transfer(uint64_t seed)
{
	static const uint32_t widths[] = {1, 63, 64, 65, 127, 128, FAB_RDMA_WINDOW_MAX};
	uint32_t any = 1 + (uint32_t)(fab_stream_at(seed, 0, 1) % 300);
	uint32_t width = seed % 3 ? any : widths[any % FAB_COUNT(widths)];
	uint32_t n = 1 + (uint32_t)(fab_stream_at(seed, 0, 2) % (4096 + 3 * width));
	FAB_AUTOFREE bool *set = FAB_NEW0(n + 1, bool);
	FAB_AUTOFREE uint64_t *ring = FAB_NEW(fab_rdma_window_words(width), uint64_t);
	uint32_t base = 0;
	struct fab_rdma_window w;
	uint64_t i = 0;

	fab_rdma_window_init(&w, width, ring);
	for (; base < n && i < 40000; i++) {
		uint32_t number = draw(seed, i, base, width, n);

		/* the engine asks for the number of packets before */
		if (number >= n && number <= base + width)
			continue;
		cr_assert_eq(fab_rdma_window_take(&w, number),
			     take_plainly(set, n, &base, width, number),
			     "seed %lu, arrival %lu", seed, i);
		cr_assert_eq(w.base, base);
		cr_assert_eq(fab_rdma_window_has(&w, number), number < n && set[number]);
		for (uint32_t k = 1; k <= width; k += i % 64 ? width : 1)
			cr_assert_eq(fab_rdma_window_bit(&w, k),
				     base + k < n && set[base + k]);
	}
	return i;
}

/* 10^6 arrivals and more. */
Test(rdma_window, against_a_plain_set)
{
	uint64_t n = 0;

	for (uint64_t seed = 1; n < 1000000; seed++)
		n += check_transfer(seed);
}

/* Fields are the whole of a context, those of rsw by hand; no memory overflows. What fits
 * into 256 KiB and which windows cost less than rc is in the golden case rdma-cost. */
Test(rdma_window, costs)
{
	struct fab_rdma_context c;

	for (size_t i = 0; i < fab_rdma_n_costs; i++) {
		uint64_t bits = 0;

		cr_assert(
			fab_rdma_cost(fab_rdma_cost_name(i), 100, &fab_rdma_widths, &c));
		for (size_t k = 0; k < c.n; k++)
			bits += c.field[k].bits;
		cr_expect_eq(bits, c.bits);
	}
	for (uint32_t w = 1; w <= 300; w++) {
		cr_assert(fab_rdma_cost("rsw", w, &fab_rdma_widths, &c));
		cr_expect(c.listed_bits == 29 + w && c.receiver_bits == 89 + w + 64);
		cr_expect_eq(c.bits, c.receiver_bits + 136 + 12 + w);
	}
	cr_assert(!fab_rdma_cost("oracle", 0, &fab_rdma_widths, &c));
	cr_expect_eq(fab_rdma_contexts_in(UINT64_MAX, 8), UINT64_MAX);
	cr_expect(fab_rdma_contexts_in(3, 5) == 4 && fab_rdma_contexts_in(0, 5) == 0);
}
