/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A fabric in a few numbers: all of a summary but the shape and the planes is in one
 * arena.
 */
#include "fabric/summary.h"

#include "base/map.h"
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
	struct fab_graph g;
	uint32_t *queue, *dist; /* of the last search */
	uint32_t *low, *high;	/* of each switch's eccentricity */
	struct fab_diameter of_all;
};

/* Search from a switch and take what follows for all others. Returns the farthest one. */
static uint32_t look_from(struct bounds *b, uint32_t from)
{
	uint32_t n, far, most = 0;

	b->queue[0] = from;
	n = fab_graph_search(&b->g, NULL, 1, b->dist, b->queue, NULL);
	far = b->dist[b->queue[n - 1]];
	if (far > b->of_all.hops)
		b->of_all.hops = far;
	for (uint32_t v = 0; v < b->g.n; v++) {
		uint32_t d = b->dist[v], low = d > far - d ? d : far - d;

		if (low > b->low[v])
			b->low[v] = low;
		if (far + d < b->high[v])
			b->high[v] = far + d;
		if (b->high[v] > most)
			most = b->high[v];
	}
	b->of_all.at_most = most > b->of_all.hops ? most : b->of_all.hops;
	return b->queue[b->g.n - 1];
}

static bool is_exact(const struct bounds *b)
{
	return b->of_all.hops == b->of_all.at_most;
}

struct fab_diameter fab_fabric_diameter_bounds(const struct fab_fabric *f,
					       const struct fab_shape *shape,
					       int n_threads)
{
	uint64_t n = f->n_switches, arcs = f->peer_first[n], batches, steps = n + arcs;
	uint32_t hops = shape ? fab_shape_diameter(shape) : FAB_NONE;
	FAB_AUTO(fab_arena_free) struct fab_arena arena = FAB_ARENA_INIT;
	struct bounds b = {.g = fab_graph_of_peers(f)};

	if (hops != FAB_NONE)
		return (struct fab_diameter){hops, hops};
	b.queue = FAB_ARENA_NEW(&arena, n, uint32_t);
	b.dist = FAB_ARENA_NEW(&arena, n, uint32_t);
	b.low = FAB_ARENA_NEW0(&arena, n, uint32_t);
	b.high = fab_arena_none(&arena, n);
	look_from(&b, look_from(&b, look_from(&b, 0)));
	if (arcs == 2 * (n - 1))
		b.of_all.at_most = b.of_all.hops; /* a tree: from an end of its longest */
	batches = (n + AT_ONCE - 1) / AT_ONCE;
	if (!is_exact(&b) && b.of_all.hops <= FEW_HOPS &&
	    batches * steps <= ((uint64_t)1 << AT_ONCE_LOG) / (b.of_all.hops + 1)) {
		b.of_all.hops = fab_fabric_diameter(f, n_threads);
		b.of_all.at_most = b.of_all.hops;
	}
	/* In turn from the switch that could be farthest from another, and among those
	 * that still matter from the one nearest to the middle. */
	for (uint64_t left = ((uint64_t)1 << SINGLE_LOG) / steps, i = 0;
	     i < left && !is_exact(&b); i++) {
		uint32_t best = FAB_NONE;

		for (uint32_t v = 0; v < n; v++)
			if (b.high[v] > b.of_all.hops &&
			    (best == FAB_NONE || (i % 2 == 0 ? b.high[v] > b.high[best]
							     : b.low[v] < b.low[best])))
				best = v;
		look_from(&b, best);
	}
	return b.of_all;
}

/* A part of the graph of switches as a fabric: the switches sw[n] and, with an adapter of
 * its own for each cable, what is cabled to them. NULL without a cable. */
static struct fab_fabric *excerpt(const struct fab_fabric *f, const uint32_t *sw,
				  uint32_t n, uint32_t *id)
{
	struct fab_builder *b = fab_builder_new();
	struct fab_fabric *out = NULL;

	for (uint32_t i = 0; i < n; i++)
		id[sw[i]] = fab_builder_copy_node(b, f, sw[i]);
	for (uint32_t i = 0; i < n; i++)
		FAB_EACH_PORT(f, sw[i], p) {
			uint32_t peer = fab_port_peer(f, p), node, num;

			if (peer == FAB_NONE || peer < p)
				continue;
			node = f->port_node[peer];
			num = fab_node_is_switch(f, node) ? f->port_num[peer] : 1;
			node = fab_node_is_switch(f, node)
				       ? id[node]
				       : fab_builder_add_node(
						 b, &(struct fab_node_spec){
							    .kind = f->node_kind[node],
							    .n_ports = 1,
							    .name = ""});
			fab_builder_add_cable(b, id[sw[i]], f->port_num[p], node,
					      (uint16_t)num, 0, 0);
		}
	if (fab_builder_finish(b, f->source, f->format, NULL, &out, NULL))
		return NULL;
	return out;
}

/* Classes in order, of each the highest rate first. */
FAB_ORDER_MIXED(by_class, struct fab_link_count,
		FAB_UP(class) FAB_DOWN(speed) FAB_DOWN(width))

static void count_links(struct fab_summary *s, const struct fab_fabric *f)
{
	FAB_AUTO(fab_map64_free_at) struct fab_map64 *index = fab_map64_new(16);
	FAB_VEC(struct fab_link_count) links = {0};

	for (uint32_t c = 0; c < f->n_cables; c++) {
		struct fab_link_count one = {.class = fab_cable_class(f, c),
					     .width = fab_cable_width(f, c),
					     .speed = fab_cable_speed(f, c)};
		uint64_t key =
			(uint64_t)one.class << 16 | (uint64_t)one.width << 8 | one.speed;
		uint32_t at = fab_map64_put(index, key, (uint32_t)links.n);

		if (at == links.n)
			FAB_PUSH(&links, one);
		links.v[at].n++;
	}
	FAB_SORT(&links, by_class);
	fab_arena_own(&s->arena, free, links.v);
	s->links = links.v;
	s->n_links = (uint32_t)links.n;
}

/* Hosts by how many of their adapters have a cable. */
static void count_rails(struct fab_summary *s, const struct fab_fabric *f)
{
	uint32_t most = 0, *n_with;

	for (uint32_t h = 0; h < f->n_hosts; h++)
		if (f->host_first_adapter[h + 1] - f->host_first_adapter[h] > most)
			most = f->host_first_adapter[h + 1] - f->host_first_adapter[h];
	n_with = FAB_ARENA_NEW0(&s->arena, (size_t)most + 1, uint32_t);
	for (uint32_t h = 0; h < f->n_hosts; h++) {
		uint32_t n = 0;

		FAB_EACH_ADAPTER(f, h, i)
			n += fab_node_first_connected_port(f, f->host_adapter[i]) !=
			     FAB_NONE;
		n_with[n]++;
		s->n_unnamed_adapters += fab_host_is_unnamed(f, h);
	}
	s->rails = FAB_ARENA_NEW(&s->arena, (size_t)most + 1, struct fab_rail_count);
	for (uint32_t n = 0; n <= most; n++)
		if (n_with[n])
			s->rails[s->n_rails++] = (struct fab_rail_count){n, n_with[n]};
}

/* Cables of each level of switches, self-loops left out, and their rates. */
static void count_levels(struct fab_summary *s, const struct fab_fabric *f)
{
	struct fab_ranks ranks;

	fab_ranks_init(&ranks, f, s->shape);
	s->n_levels = ranks.n_ranks;
	s->level_of = ranks.rank;
	ranks.rank = NULL;
	fab_ranks_fini(&ranks);
	fab_arena_own(&s->arena, free, s->level_of);
	s->levels = FAB_ARENA_NEW0(&s->arena, s->n_levels, struct fab_level);
	for (uint32_t sw = 0; sw < f->n_switches; sw++) {
		uint32_t own = s->level_of[sw];
		struct fab_level *level = &s->levels[own];
		double down = 0, up = 0; /* Gbit/s */

		if (own == FAB_NONE)
			continue;
		level->n_switches++;
		FAB_EACH_PORT(f, sw, p) {
			uint32_t peer = fab_port_peer(f, p);
			uint32_t node = peer == FAB_NONE ? sw : f->port_node[peer];
			bool is_host = f->node_kind[node] == FAB_ADAPTER;
			double rate;

			if (node == sw)
				continue;
			rate = fab_cable_gbps(f, f->port_cable[p]);
			if (!fab_node_is_switch(f, node)) {
				level->n_adapters += is_host;
				down += is_host ? rate : 0;
			} else if (s->level_of[node] < own) {
				level->n_down++;
				down += rate;
			} else if (s->level_of[node] > own) {
				level->n_up++;
				up += rate;
			} else {
				level->n_side++;
			}
		}
		/* A switch at the top has no factor and does not count. */
		if (!(down > 0 && up > 0))
			continue;
		level->rate_down += down;
		level->rate_up += up;
		if (!level->n_blocking || down / up < level->least_blocking)
			level->least_blocking = down / up;
		if (!level->n_blocking || down / up > level->most_blocking)
			level->most_blocking = down / up;
		level->n_blocking++;
	}
	for (uint32_t i = 0; i < s->n_levels; i++)
		s->levels[i].n_side /= 2; /* seen from both ends */
}

/* Outline of the shape and diameter of a part, which `f` is. */
static void measure(struct fab_summary *s, uint32_t part, const struct fab_fabric *f,
		    const struct fab_shape *shape, int n_threads)
{
	struct fab_diameter d = fab_fabric_diameter_bounds(f, shape, n_threads);
	struct fab_shape *outline = FAB_ARENA_NEW(&s->arena, 1, struct fab_shape);

	*outline = *shape;
	outline->level = NULL;
	outline->is_root = NULL;
	outline->coords = outline->group = NULL;
	s->parts[part] = (struct fab_part_summary){outline, d.hops, d.at_most};
	if (d.hops > s->diameter)
		s->diameter = d.hops;
	if (d.at_most > s->diameter_at_most)
		s->diameter_at_most = d.at_most;
}

static void measure_parts(struct fab_summary *s, const struct fab_fabric *f,
			  int n_threads)
{
	const struct fab_planes *planes = s->planes;
	uint32_t *at = FAB_ARENA_NEW(&s->arena, planes->n, uint32_t), n = 0;
	uint32_t *sw = FAB_ARENA_NEW(&s->arena, f->n_switches, uint32_t);
	uint32_t *id = FAB_ARENA_NEW(&s->arena, f->n_switches, uint32_t);
	char first[128] = "", other[128];
	bool are_alike = planes->n_planes > 1;

	for (uint32_t i = 0; i < planes->n; i++) {
		at[i] = n;
		n += planes->v[i].n_switches;
	}
	for (uint32_t i = 0; i < f->n_switches; i++)
		sw[at[planes->of_switch[i]]++] = i;
	for (uint32_t i = 0; i < planes->n; i++) {
		const struct fab_plane *v = &planes->v[i];
		FAB_AUTO(fab_fabric_free_at)
		struct fab_fabric *part = v->n_switch_links || v->n_host_links
						  ? excerpt(f, sw + at[i] - v->n_switches,
							    v->n_switches, id)
						  : NULL;

		struct fab_shape *shape = part ? fab_shape_recognize(part) : NULL;

		if (part)
			measure(s, i, part, shape, n_threads);
		fab_shape_free(shape);
		if (i < planes->n_planes && s->parts[i].shape)
			fab_shape_text(s->parts[i].shape, i ? other : first,
				       sizeof(first));
		are_alike &= i >= planes->n_planes ||
			     (s->parts[i].shape && (!i || !strcmp(first, other)));
	}
	if (s->shape->kind == FAB_SHAPE_NONE && are_alike)
		*s->shape = *s->parts[0].shape; /* neither has arrays */
}

struct fab_summary *fab_summary_new(const struct fab_fabric *f, int n_threads)
{
	struct fab_summary *s = FAB_NEW0(1, struct fab_summary);

	s->planes = fab_planes_new(f);
	s->n_components = s->planes->n;
	for (uint32_t i = f->n_switches; i < f->n_nodes; i++) {
		uint32_t p = f->node_first_port[i];

		while (p < f->node_first_port[i + 1] && fab_port_switch(f, p) == FAB_NONE)
			p++;
		s->n_unattached +=
			p == f->node_first_port[i + 1] && f->node_kind[i] != FAB_ROUTER;
	}
	s->parts = FAB_ARENA_NEW0(&s->arena, s->n_components, struct fab_part_summary);
	s->shape = fab_shape_recognize(f);
	if (s->n_components == 1)
		measure(s, 0, f, s->shape, n_threads);
	else
		measure_parts(s, f, n_threads);
	count_links(s, f);
	count_rails(s, f);
	count_levels(s, f);
	return s;
}

void fab_summary_free(struct fab_summary *summary)
{
	if (!summary)
		return;
	fab_planes_free(summary->planes);
	fab_shape_free(summary->shape);
	fab_arena_free(&summary->arena);
	free(summary);
}
