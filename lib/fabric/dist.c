/* SPDX-License-Identifier: BSD-2-Clause */
#include "fabric/dist.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/macros.h"
#include "base/progress.h"
#include "base/threads.h"
#include "base/units.h"
#include "fabric/fabric.h"
#include "fabric/graph.h"
#include "fabric/shape.h"

enum {
	WORDS = 8, /* of 64 sources each, searched at once: one cache line a switch */
	BATCH = WORDS * 64,
	PLANES = 8, /* bits of a level */
	FARTHEST = FAB_HOPS_UNREACHABLE - 1,
};

/* A set of the sources of a batch. */
typedef uint64_t set __attribute__((vector_size(WORDS * sizeof(uint64_t))));

/* Bytes up to which all rows are made at once. */
static const size_t AT_ONCE_BYTES = (size_t)256 << 20;

/* Locks of rows that are made: batch b has lock b % LOCKS. */
enum { LOCKS = 64 };

/* Add the hops from coordinate `own` to each at[n]: at most `most`, and around the other
 * way where that is less, which are `size` together. */
FAB_WIDE static void add_hops(uint8_t *restrict hops, const uint16_t *restrict at,
			      size_t n, uint16_t own, uint16_t size, uint16_t most)
{
	for (size_t i = 0; i < n; i++) {
		uint16_t apart = at[i] > own ? at[i] - own : own - at[i];
		uint16_t around = (uint16_t)(size - apart);

		apart = apart < around ? apart : around;
		hops[i] = (uint8_t)(hops[i] + (apart < most ? apart : most));
	}
}

struct fab_dist {
	const struct fab_fabric *f;
	uint32_t n;
	size_t stride;
	uint8_t *hops; /* [n * stride]; NULL: rows on demand, in what follows */
	struct fab_arena arena;
	struct fab_shape *shape; /* of a grid: rows come from coordinates, else NULL */
	uint16_t *at;		 /* [dimensions * n] coordinates */
	uint32_t n_batches, per_batch; /* rows made together; 1 from coordinates */
	uint8_t **rows;		       /* [n_batches] NULL: not asked for yet */
	pthread_mutex_t lock[LOCKS];
	uint64_t bytes; /* of all rows */
};

/* Hops from a switch to the n switches from `first` on, by coordinates. */
static void rows_by_grid(const struct fab_dist *dist, uint32_t sw, uint32_t first,
			 size_t n, uint8_t *hops)
{
	const struct fab_shape *s = dist->shape;

	memset(hops, 0, n);
	for (uint32_t d = 0; d < s->n_dims; d++) {
		const uint16_t *at = dist->at + (size_t)d * s->n_switches;
		/* a mesh has no path around */
		uint32_t size = s->kind == FAB_SHAPE_MESH ? 2 * s->dims[d] : s->dims[d];

		add_hops(hops, at + first, n, at[sw], (uint16_t)size,
			 s->kind == FAB_SHAPE_HYPERX ? 1 : UINT16_MAX);
	}
}

/*
 * Buffers of one thread. A switch's planes stand together: bit k of the distance of
 * source i is bit i of planes[sw * PLANES + k].
 */
struct search {
	set *seen, *frontier, *next; /* [n] */
	set *planes;		     /* [n * PLANES], NULL when levels are not kept */
	void *arena;
};

/*
 * One arena for all sets, each a few cache lines off the next multiple of a page, so that
 * the sets of one switch fight over the same places in the cache.
 */
static void search_init(struct search *s, uint32_t n, bool keeps_levels)
{
	const size_t page = 4096 / sizeof(set), off = 320 / sizeof(set);
	size_t pitch = (n + page - 1) / page * page + off;
	size_t planes = keeps_levels ? (size_t)n * PLANES : 0;

	s->arena = fab_alloc_huge((3 * pitch + planes) * sizeof(set));
	s->seen = s->arena;
	s->frontier = s->seen + pitch;
	s->next = s->frontier + pitch;
	s->planes = keeps_levels ? s->next + pitch : NULL;
}

/* Sets go by address: how vectors are passed depends on the processor. */
static inline bool is_empty(const set *x)
{
	uint64_t any = 0;

	for (int w = 0; w < WORDS; w++)
		any |= (*x)[w];
	return !any;
}

/* Note `level` for the sources of a switch in the planes of the level's bits. */
static inline void note_level(set *planes, const set *sources, uint32_t level)
{
	for (; level; level &= level - 1)
		planes[__builtin_ctz(level)] |= *sources;
}

/*
 * One level: next = the sources that reach a switch now for the first time. Returns
 * whether there are any.
 */
FAB_WIDE static bool step(const struct fab_fabric *f, const struct search *s,
			  const uint64_t *all_words, uint32_t level)
{
	const set *restrict frontier = s->frontier;
	set *restrict seen = s->seen, *restrict next = s->next;
	bool any = false;
	set all;

	memcpy(&all, all_words, sizeof(all));
	for (uint32_t v = 0; v < f->n_switches; v++) {
		set old = seen[v], missing = all & ~old, reach = {0};

		if (is_empty(&missing)) {
			next[v] = reach;
			continue;
		}
		FAB_EACH_PEER(f, v, a)
			reach |= frontier[f->peer[a]];
		reach &= ~old;
		next[v] = reach;
		if (is_empty(&reach))
			continue;
		seen[v] = old | reach;
		any = true;
		if (s->planes)
			note_level(s->planes + (size_t)v * PLANES, &reach, level);
	}
	return any;
}

/*
 * Search from the switches first .. first + BATCH - 1 at once. Returns the largest level
 * that reached anything; with planes it stops beyond FARTHEST.
 */
static uint32_t search_batch(const struct fab_fabric *f, struct search *s, uint32_t first)
{
	uint32_t n = f->n_switches, level = 0;
	uint32_t count = n - first < BATCH ? n - first : BATCH;
	uint64_t all[WORDS] = {0};

	memset(s->seen, 0, n * sizeof(set));
	memset(s->frontier, 0, n * sizeof(set));
	if (s->planes)
		memset(s->planes, 0, n * sizeof(set) * PLANES);
	for (uint32_t i = 0; i < count; i++) {
		uint64_t bit = (uint64_t)1 << (i % 64);

		s->seen[first + i][i / 64] |= bit;
		s->frontier[first + i][i / 64] |= bit;
		all[i / 64] |= bit;
	}
	while (step(f, s, all, level + 1)) {
		set *swap = s->frontier;

		if (++level > FARTHEST && s->planes)
			break;
		s->frontier = s->next;
		s->next = swap;
	}
	return level;
}

/* Distances of the sources of the last search, of the first `used` words, to a switch:
 * from planes to bytes, FAB_HOPS_UNREACHABLE where it was not seen. A word of `hops` are
 * eight sources: first a byte of each plane, which is then transposed as 8 x 8 bits. */
FAB_WIDE static void to_bytes(const set *restrict planes, const set *restrict seen,
			      uint32_t levels, size_t used, uint8_t *restrict out)
{
	_Static_assert(WORDS == 8, "a word for each byte of a plane");
	const set byte = {0, 8, 16, 24, 32, 40, 48, 56};
	const set zero = {0};

	for (size_t w = 0; w < used; w++) {
		set hops = (zero + ~(*seen)[w]) >> byte & 0xff, swap;

		hops |= hops << 8;
		hops |= hops << 16;
		hops |= hops << 32;
		for (unsigned k = 0; levels >> k; k++)
			hops |= ((zero + planes[k][w]) >> byte & 0xff) << 8 * k;
		swap = (hops ^ hops >> 7) & 0x00aa00aa00aa00aau;
		hops ^= swap ^ swap << 7;
		swap = (hops ^ hops >> 14) & 0x0000cccc0000ccccu;
		hops ^= swap ^ swap << 14;
		swap = (hops ^ hops >> 28) & 0x00000000f0f0f0f0u;
		hops ^= swap ^ swap << 28;
		memcpy(out + 64 * w, &hops, sizeof(hops));
	}
}

/* The rows of a batch; the caller has its lock. */
static uint8_t *make_rows(struct fab_dist *d, uint32_t batch)
{
	enum { TILE = 64 };
	uint32_t per_batch = d->per_batch, first = batch * per_batch, levels;
	uint32_t n_rows = d->n - first < per_batch ? d->n - first : per_batch;
	size_t bytes = n_rows * d->stride;
	uint8_t(*tile)[BATCH], *rows;
	struct search s;

	if (__atomic_add_fetch(&d->bytes, bytes, __ATOMIC_RELAXED) > fab_memory_bytes())
		fab_oom(d->bytes);
	if (d->shape) {
		rows = aligned_alloc(64, d->stride);
		if (!rows)
			fab_oom(d->stride);
		rows_by_grid(d, first, 0, d->n, rows);
		memset(rows + d->n, FAB_HOPS_UNREACHABLE, d->stride - d->n);
		return rows;
	}
	rows = fab_alloc_huge(bytes);
	tile = fab_alloc(TILE, BATCH);
	search_init(&s, d->n, true);
	levels = search_batch(d->f, &s, first);
	for (size_t v = 0; v < d->stride; v += TILE) {
		memset(tile, FAB_HOPS_UNREACHABLE, TILE * sizeof(*tile));
		for (size_t k = 0; k < TILE && v + k < d->n; k++)
			to_bytes(s.planes + (v + k) * PLANES, s.seen + v + k, levels,
				 WORDS, tile[k]);
		for (uint32_t i = 0; i < n_rows; i++)
			for (size_t k = 0; k < TILE; k++)
				rows[i * d->stride + v + k] = tile[k][i];
	}
	free(tile);
	free(s.arena);
	return rows;
}

/* May two connected switches be more than FARTHEST hops apart? Not where one switch of
 * their part has all others within half of it. */
static bool may_be_far(const struct fab_fabric *f)
{
	const struct fab_graph g = fab_graph_of_peers(f);
	FAB_AUTO(fab_arena_free) struct fab_arena arena = FAB_ARENA_INIT;
	uint32_t *part = FAB_ARENA_NEW(&arena, f->n_switches, uint32_t);
	uint32_t *order = FAB_ARENA_NEW(&arena, f->n_switches, uint32_t), n = 0;
	uint32_t *hops = FAB_ARENA_NEW(&arena, f->n_switches, uint32_t);

	fab_graph_parts(&g, NULL, part); /* in the order of their first switches */
	for (uint32_t s = 0; s < f->n_switches; s++)
		if (part[s] == n)
			order[n++] = s;
	n = fab_graph_search(&g, NULL, n, hops, order, NULL);
	return hops[order[n - 1]] > FARTHEST / 2;
}

/* All batches, in parallel; the largest level of any. `d` NULL: only that. */
static uint32_t search_all(const struct fab_fabric *f, struct fab_dist *d, int n_threads)
{
	uint32_t n = f->n_switches, farthest = 0;
	int64_t n_all = ((int64_t)n + BATCH - 1) / BATCH;
	int n_workers = fab_threads_for(n_threads, (uint64_t)n_all * f->peer_first[n]);

	if (n_workers > n_all)
		n_workers = (int)n_all;
#pragma omp parallel num_threads(n_workers) reduction(max : farthest)
	{
		struct search s;

		search_init(&s, n, d != NULL);
#pragma omp for schedule(dynamic, 1)
		for (int64_t b = 0; b < n_all; b++) {
			uint32_t first = (uint32_t)b * BATCH;
			uint32_t levels = search_batch(f, &s, first);
			size_t used = d ? (d->stride - first) / 64 : 0;

			fab_progress_report("distances", "switches", first, n);
			if (levels > farthest)
				farthest = levels;
			for (size_t v = 0; v < n && d && levels <= FARTHEST; v++)
				to_bytes(s.planes + v * PLANES, s.seen + v, levels,
					 used < WORDS ? used : WORDS,
					 d->hops + v * d->stride + first);
		}
		free(s.arena);
	}
	return farthest;
}

static struct fab_dist *new_dist(const struct fab_fabric *f)
{
	struct fab_dist *d = FAB_NEW0(1, struct fab_dist);

	d->f = f;
	d->n = f->n_switches;
	d->stride = ((size_t)d->n + 63) / 64 * 64;
	return d;
}

static int fail_far(struct fab_dist *d, struct fab_err *err)
{
	int rc = fab_fail(
		err, ERANGE,
		"%s: two switches are more than %d hops apart, more than any routing here is made for",
		d->f->source, FARTHEST);

	fab_dist_free(d);
	return rc;
}

int fab_dist_new_on_demand(const struct fab_fabric *f, int n_threads,
			   struct fab_dist **out, struct fab_err *err)
{
	struct fab_dist *d = new_dist(f);
	struct fab_shape *shape = fab_shape_recognize(f);
	uint32_t farthest = fab_shape_diameter(shape);

	d->per_batch = BATCH;
	if (farthest != FAB_NONE) {
		d->shape = shape;
		d->per_batch = 1;
		d->at = FAB_ARENA_NEW(&d->arena, (size_t)shape->n_dims * d->n, uint16_t);
		for (uint32_t k = 0; k < shape->n_dims; k++)
			for (uint32_t v = 0; v < d->n; v++)
				d->at[(size_t)k * d->n + v] =
					(uint16_t)shape
						->coords[(size_t)v * shape->n_dims + k];
	} else {
		fab_shape_free(shape);
		farthest = may_be_far(f) ? search_all(f, NULL, n_threads) : 0;
	}
	d->n_batches = (d->n + d->per_batch - 1) / d->per_batch;
	d->rows = FAB_ARENA_NEW0(&d->arena, d->n_batches + 1, uint8_t *);
	for (uint32_t i = 0; i < LOCKS; i++)
		pthread_mutex_init(&d->lock[i], NULL);
	if (farthest > FARTHEST)
		return fail_far(d, err);
	*out = d;
	return 0;
}

int fab_dist_new(const struct fab_fabric *f, int n_threads, struct fab_dist **out,
		 struct fab_err *err)
{
	struct fab_dist *d = new_dist(f);
	size_t bytes = d->n * d->stride;
	int rc;

	if (bytes > AT_ONCE_BYTES) {
		free(d);
		return fab_dist_new_on_demand(f, n_threads, out, err);
	}
	if (bytes > fab_memory_bytes()) {
		char takes[FAB_HUMAN_BYTES], has[FAB_HUMAN_BYTES];

		rc = fab_fail(
			err, ENOMEM,
			"%s: the distances between %u switches take %s of memory, there are %s",
			f->source, f->n_switches, fab_human_bytes(bytes, takes),
			fab_human_bytes(fab_memory_bytes(), has));
		free(d);
		return rc;
	}
	d->bytes = bytes;
	d->hops = fab_alloc_huge(bytes);
	if (search_all(f, d, n_threads) > FARTHEST)
		return fail_far(d, err);
	*out = d;
	return 0;
}

void fab_dist_free(struct fab_dist *dist)
{
	if (!dist)
		return;
	for (uint32_t i = 0; i < dist->n_batches; i++)
		free(dist->rows[i]);
	for (uint32_t i = 0; i < LOCKS && dist->rows; i++)
		pthread_mutex_destroy(&dist->lock[i]);
	fab_shape_free(dist->shape);
	fab_arena_free(&dist->arena);
	free(dist->hops);
	free(dist);
}

const uint8_t *fab_dist_row(const struct fab_dist *dist, uint32_t sw)
{
	struct fab_dist *d = (struct fab_dist *)(uintptr_t)dist; /* rows are made */
	uint32_t batch;
	uint8_t *rows;

	if (d->hops)
		return d->hops + sw * d->stride;
	batch = sw / d->per_batch;
	rows = __atomic_load_n(&d->rows[batch], __ATOMIC_ACQUIRE);
	if (!rows) {
		pthread_mutex_lock(&d->lock[batch % LOCKS]);
		if (!d->rows[batch])
			__atomic_store_n(&d->rows[batch], make_rows(d, batch),
					 __ATOMIC_RELEASE);
		rows = d->rows[batch];
		pthread_mutex_unlock(&d->lock[batch % LOCKS]);
	}
	return rows + sw % d->per_batch * d->stride;
}

const uint8_t *fab_dist_part(const struct fab_dist *dist, uint32_t sw, size_t from,
			     size_t n, uint8_t *room)
{
	size_t n_real = from < dist->n ? dist->n - from : 0;

	if (!dist->shape || dist->rows[sw])
		return fab_dist_row(dist, sw) + from;
	n_real = n < n_real ? n : n_real;
	rows_by_grid(dist, sw, (uint32_t)from, n_real, room);
	memset(room + n_real, FAB_HOPS_UNREACHABLE, n - n_real);
	return room;
}

bool fab_dist_is_whole(const struct fab_dist *dist)
{
	return dist->hops != NULL;
}

uint32_t fab_dist_n(const struct fab_dist *dist)
{
	return dist->n;
}

size_t fab_dist_stride(const struct fab_dist *dist)
{
	return dist->stride;
}

size_t fab_dist_bytes(const struct fab_dist *dist)
{
	return dist->bytes;
}

uint32_t fab_fabric_diameter(const struct fab_fabric *f, int n_threads)
{
	uint32_t hops = search_all(f, NULL, n_threads);

	fab_threads_rest(fab_threads(n_threads));
	return hops;
}
