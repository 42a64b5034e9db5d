/* SPDX-License-Identifier: BSD-2-Clause */
/* The window of RSW against a plain set, and what contexts cost. */
#include "event/stream.h"
#include "rdma/context.h"
#include "support/test.h"

static void open_window(struct fab_rdma_window *w, uint32_t width)
{
	fab_rdma_window_init(w, width, FAB_NEW(fab_rdma_window_words(width), uint64_t));
}

/* "{3;1,2}" */
static void state_text(const struct fab_rdma_window *w, char *out, size_t size)
{
	size_t at = (size_t)snprintf(out, size, "{%u;", w->base);
	bool is_first = true;

	for (uint32_t i = 1; i <= w->width; i++)
		if (fab_rdma_window_bit(w, i)) {
			at += (size_t)snprintf(out + at, size - at, "%s%u",
					       is_first ? "" : ",", i);
			is_first = false;
		}
	snprintf(out + at, size - at, "}");
}

typedef enum fab_rdma_arrival take_fn(struct fab_rdma_window *w, uint32_t number);

static void check_trace(take_fn *take, const char *const *expected)
{
	static const uint32_t arrivals[] = {2, 1, 0, 4, 3};
	struct fab_rdma_window w;
	char text[64];

	open_window(&w, 128);
	for (size_t i = 0; i < FAB_COUNT(arrivals); i++) {
		cr_expect_eq(take(&w, arrivals[i]), FAB_RDMA_PLACED);
		state_text(&w, text, sizeof(text));
		cr_expect_str_eq(text, expected[i], "%s, not %s", text, expected[i]);
	}
	free(w.ring);
}

Test(rdma_window, trace)
{
	check_trace(fab_rdma_window_take,
		    (const char *const[]){"{0;2}", "{0;1,2}", "{3;}", "{3;1}", "{5;}"});
}

/* The rule as it is printed stops at 2, which has arrived, and never ends. */
Test(rdma_window, trace_as_printed)
{
	check_trace(
		fab_rdma_window_take_as_printed,
		(const char *const[]){"{0;2}", "{0;1,2}", "{2;}", "{2;2}", "{2;1,2}"});
}

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

static uint64_t check_transfer(uint64_t seed)
{
	uint32_t width = 1 + (uint32_t)(fab_stream_at(seed, 0, 1) % 300);
	uint32_t n = 1 + (uint32_t)(fab_stream_at(seed, 0, 2) % 4096), base = 0;
	FAB_AUTOFREE bool *set = FAB_NEW0(n + 1, bool);
	struct fab_rdma_window w;
	uint64_t i = 0;

	open_window(&w, width);
	for (; base < n && i < 40000; i++) {
		uint32_t number = draw(seed, i, base, width, n);
		bool is_stranger = number >= n && number <= base + width;

		if (is_stranger) /* the engine asks for the number of packets before */
			continue;
		cr_assert_eq(fab_rdma_window_take(&w, number),
			     take_plainly(set, n, &base, width, number),
			     "seed %lu, W %u, N %u, arrival %lu of number %u", seed,
			     width, n, i, number);
		cr_assert_eq(w.base, base);
		for (uint32_t k = 1; k <= width; k += i % 64 ? width : 1)
			cr_assert_eq(fab_rdma_window_bit(&w, k),
				     base + k < n && set[base + k]);
	}
	free(w.ring);
	return i;
}

/* 10^6 arrivals and more. */
Test(rdma_window, against_a_plain_set)
{
	uint64_t n = 0;

	for (uint64_t seed = 1; n < 1000000; seed++)
		n += check_transfer(seed);
}

/* The widest window, far on: positions of the ring wrap with the numbers. */
Test(rdma_window, wraps)
{
	static const uint32_t widths[] = {1, 63, 64, 65, 127, 128, FAB_RDMA_WINDOW_MAX};

	for (size_t k = 0; k < FAB_COUNT(widths); k++) {
		uint32_t width = widths[k];
		struct fab_rdma_window w;

		open_window(&w, width);
		for (uint32_t round = 0; round < 40; round++) {
			uint32_t base = w.base;

			for (uint32_t i = width; i; i--)
				cr_assert_eq(fab_rdma_window_take(&w, base + i),
					     FAB_RDMA_PLACED);
			cr_assert_eq(fab_rdma_window_take(&w, base + width + 1),
				     FAB_RDMA_BEYOND);
			cr_assert(fab_rdma_window_has(&w, base + width));
			cr_assert(!fab_rdma_window_has(&w, base));
			cr_assert_eq(fab_rdma_window_take(&w, base), FAB_RDMA_PLACED);
			cr_assert_eq(w.base, base + width + 1);
		}
		free(w.ring);
	}
}

/* Contexts of receivers, and of both sides, in 256 KiB. */
Test(rdma_window, contexts_in_256_kib)
{
	static const struct {
		const char *scheme;
		uint32_t window;
		uint64_t receivers, both;
	} of[] = {{"rc", 0, 13107, 6898},   {"rsw", 32, 11335, 5745},
		  {"rsw", 128, 7463, 3765}, {"rsw-vec", 128, 7463, 3765},
		  {"irn", 128, 8322, 3855}, {"ssw", 0, 18724, 1}};

	for (size_t i = 0; i < FAB_COUNT(of); i++) {
		struct fab_rdma_context c;

		cr_assert(
			fab_rdma_cost(of[i].scheme, of[i].window, &fab_rdma_widths, &c));
		cr_expect_eq(fab_rdma_contexts_in(256 << 10, c.receiver_bits),
			     of[i].receivers, "%s: %lu bits", of[i].scheme,
			     (unsigned long)c.receiver_bits);
		cr_expect_eq(fab_rdma_contexts_in(256 << 10, c.bits), of[i].both,
			     "%s: %lu bits", of[i].scheme, (unsigned long)c.bits);
	}
}

Test(rdma_window, bits_of_contexts)
{
	struct fab_rdma_context c;

	for (uint32_t w = 1; w <= 300; w++) {
		cr_assert(fab_rdma_cost("rsw", w, &fab_rdma_widths, &c));
		cr_expect_eq(c.listed_bits, 29 + w);
		cr_expect_eq(c.receiver_bits, 89 + w + 64);
		cr_expect_eq(c.bits, c.receiver_bits + 136 + 12 + w);
	}
	cr_assert(fab_rdma_cost("rc", 0, &fab_rdma_widths, &c));
	cr_expect_eq(c.listed_bits, 60);
	cr_expect_eq(c.receiver_bits, 96 + 64);
	cr_assert(!fab_rdma_cost("oracle", 0, &fab_rdma_widths, &c));
	cr_expect_eq(
		fab_rdma_cost_crossing("rsw", "rc", FAB_RDMA_LISTED, &fab_rdma_widths),
		31);
	cr_expect_eq(
		fab_rdma_cost_crossing("rsw", "rc", FAB_RDMA_RECEIVER, &fab_rdma_widths),
		7);
	cr_expect_eq(fab_rdma_cost_crossing("rsw", "rc", FAB_RDMA_BOTH, &fab_rdma_widths),
		     2);
}

/* Fields are the whole of a context, and no memory overflows. */
Test(rdma_window, fields_add_up)
{
	for (size_t i = 0; i < fab_rdma_n_costs; i++) {
		struct fab_rdma_context c;
		uint64_t bits = 0;

		cr_assert(
			fab_rdma_cost(fab_rdma_cost_name(i), 100, &fab_rdma_widths, &c));
		for (size_t k = 0; k < c.n; k++)
			bits += c.field[k].bits;
		cr_expect_eq(bits, c.bits);
	}
	cr_expect_eq(fab_rdma_contexts_in(UINT64_MAX, 8), UINT64_MAX);
	cr_expect_eq(fab_rdma_contexts_in(3, 5), 4);
	cr_expect_eq(fab_rdma_contexts_in(0, 5), 0);
}
