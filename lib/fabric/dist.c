/* SPDX-License-Identifier: BSD-2-Clause */
#include "fabric/dist.h"

#include "base/mem.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#ifdef _OPENMP
#include <omp.h>
#endif

enum {
	WORDS = 8, /* of 64 sources each: one cache line a switch and set */
	BATCH = WORDS * 64,
	PLANES = 8,
	FARTHEST = FAB_HOPS_UNREACHABLE - 1,
};

/* A set of the sources of a batch. */
struct set {
	uint64_t w[WORDS];
};

struct fab_dist {
	uint32_t n;
	size_t stride;
	uint8_t *hops; /* [n * stride] */
};

/* Buffers of one thread, all [n]. plane[k][v]: sources whose distance has bit k set. */
struct search {
	struct set *seen, *frontier, *next;
	struct set *plane[PLANES];
};

static void search_init(struct search *s, uint32_t n, bool keeps_levels)
{
	s->seen = fab_alloc_huge(n * sizeof(struct set));
	s->frontier = fab_alloc_huge(n * sizeof(struct set));
	s->next = fab_alloc_huge(n * sizeof(struct set));
	for (int k = 0; k < PLANES; k++)
		s->plane[k] =
			keeps_levels ? fab_alloc_huge(n * sizeof(struct set)) : NULL;
}

static void search_fini(struct search *s)
{
	free(s->seen);
	free(s->frontier);
	free(s->next);
	for (int k = 0; k < PLANES; k++)
		free(s->plane[k]);
}

/*
 * One level: next = the sources that reach a switch now for the first time. Returns
 * whether there are any.
 */
FAB_WIDE static bool step(const struct fab_fabric *f, struct search *s,
			  const struct set *restrict all)
{
	const struct set *restrict frontier = s->frontier;
	struct set *restrict seen = s->seen, *restrict next = s->next;
	uint64_t any = 0;

	for (uint32_t v = 0; v < f->n_switches; v++) {
		struct set reach = {{0}};
		uint64_t missing = 0;

		for (int w = 0; w < WORDS; w++)
			missing |= all->w[w] & ~seen[v].w[w];
		if (missing)
			for (uint32_t a = f->peer_first[v]; a < f->peer_first[v + 1]; a++)
				for (int w = 0; w < WORDS; w++)
					reach.w[w] |= frontier[f->peer[a]].w[w];
		for (int w = 0; w < WORDS; w++) {
			reach.w[w] &= ~seen[v].w[w];
			seen[v].w[w] |= reach.w[w];
			next[v].w[w] = reach.w[w];
			any |= reach.w[w];
		}
	}
	return any;
}

/* Note `level` for the sources in `set`, in the planes of its bits. */
FAB_WIDE static void note_level(struct search *s, uint32_t n, uint32_t level)
{
	for (int k = 0; k < PLANES; k++) {
		struct set *restrict plane = s->plane[k];
		const struct set *restrict next = s->next;

		if (!(level >> k & 1))
			continue;
		for (uint32_t v = 0; v < n; v++)
			for (int w = 0; w < WORDS; w++)
				plane[v].w[w] |= next[v].w[w];
	}
}

/*
 * Search from the switches first .. first+BATCH-1 at once. Returns the largest level that
 * reached anything; with planes it stops beyond FARTHEST.
 */
static uint32_t search_batch(const struct fab_fabric *f, struct search *s, uint32_t first)
{
	uint32_t n = f->n_switches, count = n - first < BATCH ? n - first : BATCH;
	struct set all = {{0}};
	uint32_t level = 0;

	memset(s->seen, 0, n * sizeof(struct set));
	memset(s->frontier, 0, n * sizeof(struct set));
	for (int k = 0; k < PLANES; k++)
		if (s->plane[k])
			memset(s->plane[k], 0, n * sizeof(struct set));
	for (uint32_t i = 0; i < count; i++) {
		uint64_t bit = (uint64_t)1 << (i % 64);

		s->seen[first + i].w[i / 64] |= bit;
		s->frontier[first + i].w[i / 64] |= bit;
		all.w[i / 64] |= bit;
	}
	while (step(f, s, &all)) {
		struct set *swap = s->frontier;

		level++;
		if (s->plane[0]) {
			if (level > FARTHEST)
				break;
			note_level(s, n, level);
		}
		s->frontier = s->next;
		s->next = swap;
	}
	return level;
}

/* Eight bits to the lowest bits of eight bytes. */
static uint64_t spread(uint8_t bits)
{
	uint64_t x = bits * 0x0101010101010101u & 0x8040201008040201u;

	return (x + 0x7f7f7f7f7f7f7f7fu) >> 7 & 0x0101010101010101u;
}

/* Bit planes of one word of sources to 64 bytes. */
static void planes_to_bytes(const uint64_t spread_of[256], const uint64_t *plane,
			    int n_planes, uint64_t unseen, uint8_t *out)
{
	for (int byte = 0; byte < 8; byte++) {
		uint64_t hops = spread_of[unseen >> 8 * byte & 0xff] * 0xff;

		for (int k = 0; k < n_planes; k++)
			hops |= spread_of[plane[k] >> 8 * byte & 0xff] << k;
		memcpy(out + 8 * byte, &hops, 8);
	}
}

/* The columns of a batch, from planes to bytes in every row. */
static void store_batch(struct fab_dist *d, const struct search *s,
			const uint64_t spread_of[256], uint32_t first, uint32_t levels)
{
	size_t words = (d->stride - first) / 64;
	int n_planes = 0;

	if (words > WORDS)
		words = WORDS;
	while (levels >> n_planes)
		n_planes++;
	for (uint32_t v = 0; v < d->n; v++)
		for (size_t w = 0; w < words; w++) {
			uint64_t plane[PLANES];

			for (int k = 0; k < n_planes; k++)
				plane[k] = s->plane[k][v].w[w];
			planes_to_bytes(spread_of, plane, n_planes, ~s->seen[v].w[w],
					d->hops + v * d->stride + first + 64 * w);
		}
}

static int threads_of(int n_threads)
{
#ifdef _OPENMP
	return n_threads > 0 ? n_threads : omp_get_max_threads();
#else
	(void)n_threads;
	return 1;
#endif
}

/* All batches, in parallel; the largest level of any. `d` NULL: only that. */
static uint32_t search_all(const struct fab_fabric *f, struct fab_dist *d, int n_threads)
{
	uint32_t n = f->n_switches, farthest = 0;
	int64_t n_batches = ((int64_t)n + BATCH - 1) / BATCH;
	uint64_t spread_of[256];
	int n_workers = threads_of(n_threads);

	for (int i = 0; i < 256; i++)
		spread_of[i] = spread((uint8_t)i);
	if (n_workers > n_batches)
		n_workers = (int)n_batches;
#pragma omp parallel num_threads(n_workers) reduction(max : farthest)
	{
		struct search s;

		search_init(&s, n, d != NULL);
#pragma omp for schedule(dynamic, 1)
		for (int64_t b = 0; b < n_batches; b++) {
			uint32_t first = (uint32_t)b * BATCH;
			uint32_t levels = search_batch(f, &s, first);

			if (levels > farthest)
				farthest = levels;
			if (d && levels <= FARTHEST)
				store_batch(d, &s, spread_of, first, levels);
		}
		search_fini(&s);
	}
	return farthest;
}

int fab_dist_new(const struct fab_fabric *f, int n_threads, struct fab_dist **out,
		 struct fab_err *err)
{
	struct fab_dist *d = FAB_NEW0(1, struct fab_dist);

	d->n = f->n_switches;
	d->stride = ((size_t)d->n + 63) / 64 * 64;
	d->hops = fab_alloc_huge(d->n * d->stride);
	if (search_all(f, d, n_threads) > FARTHEST) {
		fab_dist_free(d);
		return fab_fail(err, ERANGE,
				"%s: two switches are more than %d hops apart, more than "
				"any routing here is made for",
				f->source, FARTHEST);
	}
	*out = d;
	return 0;
}

void fab_dist_free(struct fab_dist *dist)
{
	if (!dist)
		return;
	free(dist->hops);
	free(dist);
}

const uint8_t *fab_dist_row(const struct fab_dist *dist, uint32_t sw)
{
	return dist->hops + sw * dist->stride;
}

size_t fab_dist_stride(const struct fab_dist *dist)
{
	return dist->stride;
}

size_t fab_dist_bytes(const struct fab_dist *dist)
{
	return dist->n * dist->stride;
}

FAB_WIDE static unsigned row_max(const uint8_t *row, size_t n)
{
	uint8_t max = 0;

	for (size_t i = 0; i < n; i++) {
		uint8_t hops = row[i] == FAB_HOPS_UNREACHABLE ? 0 : row[i];

		max = hops > max ? hops : max;
	}
	return max;
}

unsigned fab_dist_diameter(const struct fab_dist *dist)
{
	unsigned max = 0;

	for (uint32_t s = 0; s < dist->n; s++) {
		unsigned of_row = row_max(fab_dist_row(dist, s), dist->stride);

		max = of_row > max ? of_row : max;
	}
	return max;
}

uint32_t fab_fabric_diameter(const struct fab_fabric *f, int n_threads)
{
	return search_all(f, NULL, n_threads);
}
