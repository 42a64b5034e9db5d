/* SPDX-License-Identifier: BSD-2-Clause */
#include "fabric/diameter.h"

#include "base/mem.h"
#include "fabric/dist.h"
#include "fabric/graph.h"

#include <stdlib.h>
#include <string.h>

enum {
	AT_ONCE = 512,	  /* sources that the search of many takes together */
	FEW_HOPS = 64,	  /* farther apart, single searches are cheaper */
	AT_ONCE_LOG = 32, /* steps that are affordable, as powers of 2 */
	SINGLE_LOG = 28,
};

/* Single searches: what they tell of every switch's largest distance. */
struct bounds {
	const struct fab_fabric *f;
	uint32_t n;
	uint32_t *queue, *dist; /* of the last search */
	uint32_t *low, *high;	/* of each switch's eccentricity */
	struct fab_diameter of_all;
};

/* The sizes say it. */
static bool by_shape(const struct fab_shape *shape, struct fab_diameter *out)
{
	uint32_t hops = 0;

	if (!shape)
		return false;
	for (uint32_t d = 0; d < shape->n_dims; d++)
		switch (shape->kind) {
		case FAB_SHAPE_TORUS:
			hops += shape->dims[d] / 2;
			break;
		case FAB_SHAPE_MESH:
			hops += shape->dims[d] - 1;
			break;
		case FAB_SHAPE_HYPERX:
			hops++;
			break;
		default:
			return false;
		}
	*out = (struct fab_diameter){hops, hops};
	return shape->n_dims > 0;
}

/* Search from a switch and take what follows for all others. Returns the farthest one. */
static uint32_t look_from(struct bounds *b, uint32_t from)
{
	uint32_t far, most = 0;
	const struct fab_graph g = fab_graph_of_peers(b->f);
	uint32_t n;

	/* Distances from a switch; the farthest one, of which queue's last entry is one.
	 */
	b->queue[0] = from;
	n = fab_graph_search(&g, NULL, 1, b->dist, b->queue, NULL);
	far = b->dist[b->queue[n - 1]];
	if (far > b->of_all.hops)
		b->of_all.hops = far;
	for (uint32_t v = 0; v < b->n; v++) {
		uint32_t d = b->dist[v], low = d > far - d ? d : far - d;

		if (low > b->low[v])
			b->low[v] = low;
		if (far + d < b->high[v])
			b->high[v] = far + d;
		if (b->high[v] > most)
			most = b->high[v];
	}
	b->of_all.at_most = most > b->of_all.hops ? most : b->of_all.hops;
	return b->queue[b->n - 1];
}

static bool is_exact(const struct bounds *b)
{
	return b->of_all.hops == b->of_all.at_most;
}

/*
 * The next to search from: in turn the switch that could be farthest from another, and
 * among those that still matter the one nearest to the middle.
 */
static uint32_t choose(const struct bounds *b, bool from_rim)
{
	uint32_t best = FAB_NONE;

	for (uint32_t v = 0; v < b->n; v++) {
		if (b->high[v] <= b->of_all.hops)
			continue;
		if (best == FAB_NONE ||
		    (from_rim ? b->high[v] > b->high[best] : b->low[v] < b->low[best]))
			best = v;
	}
	return best;
}

static void init(struct bounds *b, const struct fab_fabric *f)
{
	*b = (struct bounds){.f = f, .n = f->n_switches};
	b->queue = FAB_NEW(b->n, uint32_t);
	b->dist = FAB_NEW(b->n, uint32_t);
	b->low = FAB_NEW0(b->n, uint32_t);
	b->high = FAB_NEW(b->n, uint32_t);
	memset(b->high, 0xff, b->n * sizeof(*b->high));
}

struct fab_diameter fab_fabric_diameter_bounds(const struct fab_fabric *f,
					       const struct fab_shape *shape,
					       int n_threads)
{
	uint64_t n = f->n_switches, arcs = f->peer_first[n], batches, steps = n + arcs;
	struct fab_diameter out;
	struct bounds b;

	if (by_shape(shape, &out))
		return out;
	init(&b, f);
	look_from(&b, look_from(&b, look_from(&b, 0)));
	if (arcs == 2 * (n - 1))
		b.of_all.at_most = b.of_all.hops; /* a tree: from an end of its longest */
	batches = (n + AT_ONCE - 1) / AT_ONCE;
	if (!is_exact(&b) && b.of_all.hops <= FEW_HOPS &&
	    batches * steps <= ((uint64_t)1 << AT_ONCE_LOG) / (b.of_all.hops + 1)) {
		b.of_all.hops = fab_fabric_diameter(f, n_threads);
		b.of_all.at_most = b.of_all.hops;
	}
	for (uint64_t left = ((uint64_t)1 << SINGLE_LOG) / steps, i = 0;
	     i < left && !is_exact(&b); i++)
		look_from(&b, choose(&b, i % 2 == 0));
	out = b.of_all;
	free(b.queue);
	free(b.dist);
	free(b.low);
	free(b.high);
	return out;
}
