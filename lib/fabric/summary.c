/* SPDX-License-Identifier: BSD-2-Clause */
#include "fabric/summary.h"

#include "base/map.h"
#include "base/mem.h"
#include "base/order.h"
#include "fabric/builder.h"
#include "fabric/dist.h"
#include "fabric/graph.h"
#include "fabric/label.h"
#include "fabric/ranks.h"

#include <stdlib.h>
#include <string.h>

enum {
	AT_ONCE = 512,	  /* sources that the search of many takes together */
	FEW_HOPS = 64,	  /* farther apart, single searches are cheaper */
	AT_ONCE_LOG = 32, /* steps that are affordable, as powers of 2 */
	SINGLE_LOG = 28,
};

/* Single searches: bounds of every switch's largest distance. */
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

struct fab_excerpts {
	const struct fab_fabric *f;
	const struct fab_planes *planes;
	uint32_t *first, *sw; /* switches of each part, ascending */
	uint32_t *id;	      /* [n_nodes] in the excerpt at hand, else FAB_NONE */
	FAB_VEC(uint32_t) nodes;
};

struct fab_excerpts *fab_excerpts_new(const struct fab_fabric *f,
				      const struct fab_planes *planes)
{
	struct fab_excerpts *e = FAB_NEW0(1, struct fab_excerpts);
	uint32_t *at = FAB_NEW(planes->n, uint32_t), n = 0;

	e->f = f;
	e->planes = planes;
	e->first = FAB_NEW((size_t)planes->n + 1, uint32_t);
	e->sw = FAB_NEW(f->n_switches, uint32_t);
	e->id = FAB_NEW(f->n_nodes, uint32_t);
	memset(e->id, 0xff, f->n_nodes * sizeof(*e->id));
	for (uint32_t i = 0; i < planes->n; i++) {
		e->first[i] = at[i] = n;
		n += planes->v[i].n_switches;
	}
	e->first[planes->n] = n;
	for (uint32_t s = 0; s < f->n_switches; s++)
		e->sw[at[planes->of_switch[s]]++] = s;
	free(at);
	return e;
}

void fab_excerpts_free(struct fab_excerpts *e)
{
	if (!e)
		return;
	free(e->first);
	free(e->sw);
	free(e->id);
	free(e->nodes.v);
	free(e);
}

struct fab_fabric *fab_excerpt(struct fab_excerpts *e, uint32_t part)
{
	const struct fab_plane *v = &e->planes->v[part];
	struct fab_builder *b;
	struct fab_fabric *out = NULL;
	const struct fab_fabric *f = e->f;
	uint32_t n_switches;

	if (!v->n_switch_links && !v->n_host_links)
		return NULL;
	b = fab_builder_new();
	/* The switches of a part, then their adapters, each ascending. */
	n_switches = e->first[part + 1] - e->first[part];
	e->nodes.n = 0;
	for (uint32_t j = e->first[part]; j < e->first[part + 1]; j++)
		FAB_PUSH(&e->nodes, e->sw[j]);
	for (uint32_t j = 0; j < n_switches; j++) {
		uint32_t sw = e->nodes.v[j];

		for (uint32_t m = f->node_first_port[sw]; m < f->node_first_port[sw + 1];
		     m++) {
			uint32_t peer = fab_port_peer(f, m), node;

			if (peer == FAB_NONE)
				continue;
			node = f->port_node[peer];
			if (fab_node_is_switch(f, node) || e->id[node] != FAB_NONE)
				continue;
			e->id[node] = 0; /* listed */
			FAB_PUSH(&e->nodes, node);
		}
	}
	if (e->nodes.n > n_switches)
		qsort(e->nodes.v + n_switches, e->nodes.n - n_switches,
		      sizeof(*e->nodes.v), fab_cmp_u32);
	for (size_t i = 0; i < e->nodes.n; i++)
		e->id[e->nodes.v[i]] = fab_builder_copy_node(b, e->f, e->nodes.v[i]);
	/* All cables of the part are at its switches. */
	for (uint32_t k = e->first[part]; k < e->first[part + 1]; k++) {
		uint32_t s = e->sw[k];

		for (uint32_t p = f->node_first_port[s]; p < f->node_first_port[s + 1];
		     p++)
			if (f->port_cable[p] != FAB_NONE &&
			    f->cable_a[f->port_cable[p]] == p)
				fab_builder_copy_cable(b, f, f->port_cable[p], e->id);
	}
	for (size_t i = 0; i < e->nodes.n; i++)
		e->id[e->nodes.v[i]] = FAB_NONE;
	if (fab_builder_finish(b, e->f->source, e->f->format, NULL, &out, NULL))
		return NULL;
	return out;
}

/* Classes in order, of each the highest rate first. */
static int by_class(const void *x, const void *y)
{
	const struct fab_link_count *a = x, *b = y;

	FAB_ORDER_BY(a, b, class);
	if (a->speed != b->speed)
		return a->speed > b->speed ? -1 : 1;
	return (a->width < b->width) - (a->width > b->width);
}

static void count_links(struct fab_summary *s, const struct fab_fabric *f)
{
	struct fab_map64 *index = fab_map64_new(16);
	FAB_VEC(struct fab_link_count) links = {0};

	for (uint32_t c = 0; c < f->n_cables; c++) {
		struct fab_link_count one = {.class = fab_cable_class(f, c),
					     .width = fab_cable_width(f, c),
					     .speed = fab_cable_speed(f, c)};
		uint64_t key =
			(uint64_t)one.class << 16 | (uint64_t)one.width << 8 | one.speed;
		uint32_t at = fab_map64_put(index, key, (uint32_t)links.n);

		if (at < links.n) {
			links.v[at].n++;
		} else {
			one.n = 1;
			FAB_PUSH(&links, one);
		}
	}
	fab_map64_free(index);
	if (links.n)
		qsort(links.v, links.n, sizeof(*links.v), by_class);
	s->links = links.v;
	s->n_links = (uint32_t)links.n;
}

static void count_rails(struct fab_summary *s, const struct fab_fabric *f)
{
	uint32_t most = 0, *n_with;

	for (uint32_t h = 0; h < f->n_hosts; h++)
		if (f->host_first_adapter[h + 1] - f->host_first_adapter[h] > most)
			most = f->host_first_adapter[h + 1] - f->host_first_adapter[h];
	n_with = FAB_NEW0((size_t)most + 1, uint32_t);
	for (uint32_t h = 0; h < f->n_hosts; h++) {
		uint32_t n = 0;

		for (uint32_t i = f->host_first_adapter[h];
		     i < f->host_first_adapter[h + 1]; i++)
			n += fab_node_first_connected_port(f, f->host_adapter[i]) !=
			     FAB_NONE;
		n_with[n]++;
		s->n_unnamed_adapters += fab_host_is_unnamed(f, h);
	}
	s->rails = FAB_NEW((size_t)most + 1, struct fab_rail_count);
	for (uint32_t n = 0; n <= most; n++)
		if (n_with[n])
			s->rails[s->n_rails++] = (struct fab_rail_count){n, n_with[n]};
	free(n_with);
}

/* Rates of a switch down and up, in Gbit/s. */
struct rates {
	double down, up;
};

/* Count the cables of a switch at its level; self-loops are left out. */
static struct rates count_cables(struct fab_summary *s, const struct fab_fabric *f,
				 uint32_t sw)
{
	struct fab_level *level = &s->levels[s->level_of[sw]];
	struct rates rates = {0};

	for (uint32_t p = f->node_first_port[sw]; p < f->node_first_port[sw + 1]; p++) {
		uint32_t peer = fab_port_peer(f, p);
		uint32_t node = peer == FAB_NONE ? sw : f->port_node[peer];
		double rate;

		if (node == sw)
			continue;
		rate = fab_cable_gbps(f, f->port_cable[p]);
		if (!fab_node_is_switch(f, node)) {
			bool is_host = f->node_kind[node] == FAB_ADAPTER;

			level->n_adapters += is_host;
			rates.down += is_host ? rate : 0;
		} else if (s->level_of[node] < s->level_of[sw]) {
			level->n_down++;
			rates.down += rate;
		} else if (s->level_of[node] > s->level_of[sw]) {
			level->n_up++;
			rates.up += rate;
		} else {
			level->n_side++;
		}
	}
	return rates;
}

static void count_levels(struct fab_summary *s, const struct fab_fabric *f)
{
	struct fab_ranks ranks;

	fab_ranks_init(&ranks, f, s->shape);
	s->n_levels = ranks.n_ranks;
	s->level_of = ranks.rank;
	ranks.rank = NULL;
	fab_ranks_fini(&ranks);
	s->levels = FAB_NEW0(s->n_levels, struct fab_level);
	for (uint32_t i = 0; i < f->n_switches; i++) {
		struct fab_level *level;
		struct rates rates;
		double factor;

		if (s->level_of[i] == FAB_NONE)
			continue;
		s->levels[s->level_of[i]].n_switches++;
		/* A switch at the top has no factor and does not count. */
		level = &s->levels[s->level_of[i]];
		rates = count_cables(s, f, i);
		factor = rates.down / rates.up;
		if (!(rates.down > 0 && rates.up > 0))
			continue;
		level->rate_down += rates.down;
		level->rate_up += rates.up;
		if (!level->n_blocking || factor < level->least_blocking)
			level->least_blocking = factor;
		if (!level->n_blocking || factor > level->most_blocking)
			level->most_blocking = factor;
		level->n_blocking++;
	}
	for (uint32_t i = 0; i < s->n_levels; i++)
		s->levels[i].n_side /= 2; /* seen from both ends */
}

/* A shape without what it says of single switches. */
static struct fab_shape *shape_outline(const struct fab_shape *shape)
{
	struct fab_shape *copy = FAB_NEW(1, struct fab_shape);

	*copy = *shape;
	copy->level = NULL;
	copy->is_root = NULL;
	copy->coords = NULL;
	copy->group = NULL;
	return copy;
}

/* The diameter of a part, which `f` is. */
static void measure(struct fab_summary *s, uint32_t part, const struct fab_fabric *f,
		    const struct fab_shape *shape, int n_threads)
{
	struct fab_diameter d = fab_fabric_diameter_bounds(f, shape, n_threads);

	s->parts[part].diameter = d.hops;
	s->parts[part].diameter_at_most = d.at_most;
	if (d.hops > s->diameter)
		s->diameter = d.hops;
	if (d.at_most > s->diameter_at_most)
		s->diameter_at_most = d.at_most;
}

static bool planes_are_alike(const struct fab_summary *s)
{
	char first[128], other[128];

	for (uint32_t i = 0; i < s->planes->n_planes; i++) {
		if (!s->parts[i].shape)
			return false;
		fab_shape_text(s->parts[i].shape, i ? other : first, sizeof(first));
		if (i && strcmp(first, other) != 0)
			return false;
	}
	return s->planes->n_planes > 1;
}

struct fab_summary *fab_summary_new(const struct fab_fabric *f, int n_threads)
{
	struct fab_summary *s = FAB_NEW0(1, struct fab_summary);
	uint32_t n = 0;

	s->planes = fab_planes_new(f);
	s->n_components = s->planes->n;
	/* Adapters, aggregation nodes too, that are in no part. */
	for (uint32_t i = f->n_switches; i < f->n_nodes; i++) {
		uint32_t p = f->node_first_port[i];

		while (p < f->node_first_port[i + 1] && fab_port_switch(f, p) == FAB_NONE)
			p++;
		n += p == f->node_first_port[i + 1] && f->node_kind[i] != FAB_ROUTER;
	}
	s->n_unattached = n;
	s->parts = FAB_NEW0(s->n_components, struct fab_part_summary);
	s->shape = fab_shape_recognize(f);
	if (s->n_components == 1) {
		measure(s, 0, f, s->shape, n_threads);
		s->parts[0].shape = shape_outline(s->shape);
	} else {
		struct fab_excerpts *excerpts = fab_excerpts_new(f, s->planes);

		for (uint32_t i = 0; i < s->n_components; i++) {
			struct fab_fabric *part = fab_excerpt(excerpts, i);
			struct fab_shape *shape = part ? fab_shape_recognize(part) : NULL;

			if (part) {
				measure(s, i, part, shape, n_threads);
				s->parts[i].shape = shape_outline(shape);
			}
			fab_shape_free(shape);
			fab_fabric_free(part);
		}
		fab_excerpts_free(excerpts);
		if (s->shape->kind == FAB_SHAPE_NONE && planes_are_alike(s)) {
			fab_shape_free(s->shape);
			s->shape = shape_outline(s->parts[0].shape);
		}
	}
	count_links(s, f);
	count_rails(s, f);
	count_levels(s, f);
	return s;
}

void fab_summary_free(struct fab_summary *summary)
{
	if (!summary)
		return;
	for (uint32_t i = 0; i < summary->n_components; i++)
		fab_shape_free(summary->parts[i].shape);
	free(summary->parts);
	fab_planes_free(summary->planes);
	fab_shape_free(summary->shape);
	free(summary->level_of);
	free(summary->levels);
	free(summary->links);
	free(summary->rails);
	free(summary);
}
