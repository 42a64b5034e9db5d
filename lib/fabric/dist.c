/* SPDX-License-Identifier: BSD-2-Clause */
#include "fabric/dist.h"

#include "base/human.h"
#include "base/macros.h"
#include "base/mem.h"
#include "base/progress.h"
#include "base/threads.h"
#include "fabric/bitplanes.h"
#include "fabric/fabric.h"
#include "fabric/shape.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct fab_dist_grid;

struct fab_dist_grid {
	struct fab_shape *shape;
	uint16_t *at; /* [dimensions * switches] coordinates */
};

static struct fab_dist_grid *dist_grid_new(const struct fab_fabric *f)
{
	struct fab_shape *shape = fab_shape_recognize(f);
	struct fab_dist_grid *grid;

	if (shape->kind != FAB_SHAPE_TORUS && shape->kind != FAB_SHAPE_MESH &&
	    shape->kind != FAB_SHAPE_HYPERX) {
		fab_shape_free(shape);
		return NULL;
	}
	grid = FAB_NEW(1, struct fab_dist_grid);
	grid->shape = shape;
	grid->at = FAB_NEW((size_t)shape->n_dims * shape->n_switches, uint16_t);
	for (uint32_t d = 0; d < shape->n_dims; d++)
		for (uint32_t v = 0; v < shape->n_switches; v++)
			grid->at[(size_t)d * shape->n_switches + v] =
				(uint16_t)shape->coords[(size_t)v * shape->n_dims + d];
	return grid;
}

/* Hops between two places of a ring, path or complete graph of `size`. */
static uint32_t hops_between(enum fab_shape_kind kind, uint32_t size, uint32_t a,
			     uint32_t b)
{
	uint32_t apart = a < b ? b - a : a - b;

	if (kind == FAB_SHAPE_HYPERX)
		return apart != 0;
	return kind == FAB_SHAPE_TORUS && size - apart < apart ? size - apart : apart;
}

static uint32_t dist_grid_diameter(const struct fab_dist_grid *grid)
{
	const struct fab_shape *s = grid->shape;
	uint32_t sum = 0;

	for (uint32_t d = 0; d < s->n_dims; d++)
		sum += hops_between(s->kind, s->dims[d], 0,
				    s->kind == FAB_SHAPE_TORUS ? s->dims[d] / 2
							       : s->dims[d] - 1);
	return sum;
}

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

static void dist_grid_part(const struct fab_dist_grid *grid, uint32_t sw, uint32_t first,
			   size_t n, uint8_t *hops)
{
	const struct fab_shape *s = grid->shape;

	memset(hops, 0, n);
	for (uint32_t d = 0; d < s->n_dims; d++) {
		const uint16_t *at = grid->at + (size_t)d * s->n_switches;
		/* a mesh has no path around */
		uint32_t size = s->kind == FAB_SHAPE_MESH ? 2 * s->dims[d] : s->dims[d];

		add_hops(hops, at + first, n, at[sw], (uint16_t)size,
			 s->kind == FAB_SHAPE_HYPERX ? 1 : UINT16_MAX);
	}
}

enum {
	WORDS = 8, /* of 64 sources each, searched at once: one cache line a switch */
	BATCH = WORDS * 64,
	FARTHEST = FAB_HOPS_UNREACHABLE - 1,
};

/* A set of the sources of a batch. */
typedef uint64_t set __attribute__((vector_size(WORDS * sizeof(uint64_t))));

/* Bytes up to which all rows are made at once. */
static const size_t AT_ONCE_BYTES = (size_t)256 << 20;

/* Locks of rows that are made: batch b has lock b % LOCKS. */
enum { LOCKS = 64 };

/* Rows that were asked for. */
struct made {
	uint32_t per_batch; /* rows that are made together: one from coordinates */
	uint8_t **rows;	    /* [batches] NULL: not asked for yet */
	pthread_mutex_t lock[LOCKS];
	uint64_t bytes; /* of all */
};

struct fab_dist {
	const struct fab_fabric *f;
	uint32_t n;
	size_t stride;
	uint8_t *hops; /* [n * stride]; NULL: on demand */
	struct made *made;
	struct fab_dist_grid *grid; /* on demand, from coordinates; NULL: by searches */
};

/*
 * Buffers of one thread. A switch's planes stand together: bit k of the distance of
 * source i is bit i of planes[sw * FAB_BITPLANES + k].
 */
struct search {
	set *seen, *frontier, *next; /* [n] */
	set *planes; /* [n * FAB_BITPLANES], NULL when levels are not kept */
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
	size_t planes = keeps_levels ? (size_t)n * FAB_BITPLANES : 0;

	s->arena = fab_alloc_huge((3 * pitch + planes) * sizeof(set));
	s->seen = s->arena;
	s->frontier = s->seen + pitch;
	s->next = s->frontier + pitch;
	s->planes = keeps_levels ? s->next + pitch : NULL;
}

static void search_fini(struct search *s)
{
	free(s->arena);
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
		for (uint32_t a = f->peer_first[v]; a < f->peer_first[v + 1]; a++)
			reach |= frontier[f->peer[a]];
		reach &= ~old;
		next[v] = reach;
		if (is_empty(&reach))
			continue;
		seen[v] = old | reach;
		any = true;
		if (s->planes)
			note_level(s->planes + (size_t)v * FAB_BITPLANES, &reach, level);
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
		memset(s->planes, 0, n * sizeof(set) * FAB_BITPLANES);
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

/* The rows of a batch; the caller has its lock. */
static uint8_t *make_rows(const struct fab_dist *d, uint32_t batch)
{
	uint32_t per_batch = d->made->per_batch, first = batch * per_batch;
	uint32_t n_rows = d->n - first < per_batch ? d->n - first : per_batch;
	size_t bytes = n_rows * d->stride;
	struct search s;
	uint8_t *rows;
	uint32_t levels;

	if (__atomic_add_fetch(&d->made->bytes, bytes, __ATOMIC_RELAXED) >
	    fab_memory_bytes())
		fab_oom(d->made->bytes);
	if (d->grid) {
		uint8_t *row = aligned_alloc(64, d->stride);

		if (!row)
			fab_oom(d->stride);
		dist_grid_part(d->grid, first, 0, d->n, row);
		memset(row + d->n, FAB_HOPS_UNREACHABLE, d->stride - d->n);
		return row;
	}
	rows = fab_alloc_huge(bytes);
	search_init(&s, d->n, true);
	/* Distances of the search of a batch, from planes to bytes, as rows of its
	 * sources.
	 */
	levels = search_batch(d->f, &s, first);
	enum { TILE = 64 };
	uint8_t(*tile)[BATCH] = fab_alloc(TILE, BATCH);
	struct fab_bitplanes_variant variants[FAB_BITPLANES_VARIANTS];
	int n_planes = 0;
	while (levels >> n_planes)
		n_planes++;
	fab_bitplanes_variants(variants);
	for (size_t v = 0; v < d->stride; v += TILE) {
		memset(tile, FAB_HOPS_UNREACHABLE, TILE * sizeof(*tile));
		for (size_t k = 0; k < TILE && v + k < d->n; k++)
			variants[0].to_bytes(
				(const uint64_t *)(s.planes + (v + k) * FAB_BITPLANES),
				(const uint64_t *)&s.seen[v + k], WORDS, n_planes, WORDS,
				tile[k]);
		for (uint32_t i = 0; i < n_rows; i++)
			for (size_t k = 0; k < TILE; k++)
				rows[i * d->stride + v + k] = tile[k][i];
	}
	free(tile);
	search_fini(&s);
	return rows;
}

static const uint8_t *rows_of(const struct fab_dist *d, uint32_t batch)
{
	struct made *made = d->made;
	uint8_t *rows = __atomic_load_n(&made->rows[batch], __ATOMIC_ACQUIRE);

	if (rows)
		return rows;
	pthread_mutex_lock(&made->lock[batch % LOCKS]);
	rows = made->rows[batch];
	if (!rows) {
		rows = make_rows(d, batch);
		__atomic_store_n(&made->rows[batch], rows, __ATOMIC_RELEASE);
	}
	pthread_mutex_unlock(&made->lock[batch % LOCKS]);
	return rows;
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

			fab_progress_report("distances", "switches", first, n);

			if (levels > farthest)
				farthest = levels;
			if (d && levels <= FARTHEST) {
				struct fab_bitplanes_variant
					variants[FAB_BITPLANES_VARIANTS];
				size_t used = (d->stride - first) / 64;
				int n_planes = 0;

				/* The columns of a batch, from planes to bytes in every
				 * row. */
				if (used > WORDS)
					used = WORDS;
				while (levels >> n_planes)
					n_planes++;
				fab_bitplanes_variants(variants);
				for (uint32_t v = 0; v < d->n; v++)
					variants[0].to_bytes(
						(const uint64_t *)(s.planes +
								   (size_t)v *
									   FAB_BITPLANES),
						(const uint64_t *)&s.seen[v], WORDS,
						n_planes, used,
						d->hops + (size_t)v * d->stride + first);
			}
		}
		search_fini(&s);
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

static uint32_t n_batches(const struct fab_dist *d)
{
	return (d->n + d->made->per_batch - 1) / d->made->per_batch;
}

int fab_dist_new_on_demand(const struct fab_fabric *f, int n_threads,
			   struct fab_dist **out, struct fab_err *err)
{
	struct fab_dist *d = new_dist(f);
	uint32_t farthest;

	d->made = FAB_NEW0(1, struct made);
	d->grid = dist_grid_new(f);
	d->made->per_batch = d->grid ? 1 : BATCH;
	d->made->rows = FAB_NEW0(n_batches(d) + 1, uint8_t *);
	for (uint32_t i = 0; i < LOCKS; i++)
		pthread_mutex_init(&d->made->lock[i], NULL);
	farthest = d->grid ? dist_grid_diameter(d->grid) : search_all(f, NULL, n_threads);
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
	if (dist->made) {
		for (uint32_t i = 0; i < n_batches(dist); i++)
			free(dist->made->rows[i]);
		for (uint32_t i = 0; i < LOCKS; i++)
			pthread_mutex_destroy(&dist->made->lock[i]);
		free(dist->made->rows);
		free(dist->made);
	}
	if (dist->grid) {
		fab_shape_free(dist->grid->shape);
		free(dist->grid->at);
	}
	free(dist->grid);
	free(dist->hops);
	free(dist);
}

const uint8_t *fab_dist_row(const struct fab_dist *dist, uint32_t sw)
{
	if (dist->hops)
		return dist->hops + sw * dist->stride;
	return rows_of(dist, sw / dist->made->per_batch) +
	       sw % dist->made->per_batch * dist->stride;
}

const uint8_t *fab_dist_part(const struct fab_dist *dist, uint32_t sw, size_t from,
			     size_t n, uint8_t *room)
{
	size_t n_real = from < dist->n ? dist->n - from : 0;

	if (!dist->made || !dist->grid || dist->made->rows[sw])
		return fab_dist_row(dist, sw) + from;
	n_real = n < n_real ? n : n_real;
	dist_grid_part(dist->grid, sw, (uint32_t)from, n_real, room);
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
	return dist->made ? dist->made->bytes : dist->n * dist->stride;
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
	uint32_t hops = search_all(f, NULL, n_threads);

	fab_threads_rest(fab_threads(n_threads));
	return hops;
}
