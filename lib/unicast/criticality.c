/* SPDX-License-Identifier: BSD-2-Clause */
#include "unicast/criticality.h"

#include "base/arena.h"
#include "base/order.h"
#include "base/threads.h"
#include "fabric/planes.h"
#include "fabric/ranks.h"
#include "unicast/faults.h"
#include "unicast/path.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NO_PATH = 0xffff, TRIED_AT_LEAST = 16 };

/* In the amount that one host sends; 0 without senders. */
static double load_of(uint64_t max_load, uint64_t pairs, uint64_t ends)
{
	return pairs ? fab_load_per_host(max_load, pairs, ends) : 0;
}

/*
 * Single losses under shortest paths: only destinations that used the lost part are
 * repaired, and of these only the switches whose entry is no longer a shortest one.
 */

/* State before the loss; read only. */
struct loss_base {
	struct fab_arena arena;
	const struct fab_routes *r;
	uint32_t n_switches, n_rows;
	bool *is_leaf;		  /* [n_switches] */
	uint32_t *hosts;	  /* [n_switches] live ports of host adapters */
	uint64_t n_hosts, n_lids; /* of hosts */
	struct fab_planes *planes;
	uint64_t *plane_hosts, *plane_lids; /* [planes->n_planes] */
	/* switches that are destinations: leaves, and others with hosts */
	uint32_t n_targets, *target;
	uint16_t *dist;	   /* [n_targets * n_switches] 0xffff: no path */
	uint16_t *parents; /* [n_targets * n_switches] live ports of fewest hops */
	/* trees: rows of the tables by the destination that they lead to */
	uint32_t *row_first; /* [n_targets + 1] into row */
	uint32_t *row;	     /* [n_rows] */
	uint32_t *row_lids;  /* [n_rows] LIDs of hosts that use a row */
	/* By switch, then by row in the order of `row`, n_trees of them: one switch is
	 * asked about many rows. What it does with its packets, and the hosts whose path
	 * passes it. */
	uint32_t n_trees;
	uint16_t *port;
	uint32_t *flow;
	uint64_t *load;	 /* [arcs] pairs of hosts */
	uint32_t *count; /* [arcs] LIDs of hosts */
};

/* Switch of a live port of a host adapter, FAB_NONE: another port. */
static uint32_t host_switch(const struct loss_base *b, uint32_t port)
{
	const struct fab_fabric *f = b->r->f;

	return f->node_kind[f->port_node[port]] != FAB_ADAPTER
		       ? FAB_NONE
		       : fab_faults_port_switch(f, b->r->faults, port);
}

/* Hops to each target and how many ports have the fewest. */
static void measure_targets(struct loss_base *b)
{
	const struct fab_fabric *f = b->r->f;
	uint32_t n = b->n_switches;
	FAB_AUTOFREE uint32_t *dist = FAB_NEW((size_t)n + 1, uint32_t);
	FAB_AUTOFREE uint32_t *order = FAB_NEW((size_t)n + 1, uint32_t);

	b->dist = FAB_ARENA_NEW(&b->arena, (size_t)b->n_targets * n + 1, uint16_t);
	b->parents = FAB_ARENA_NEW0(&b->arena, (size_t)b->n_targets * n + 1, uint16_t);
	for (uint32_t t = 0; t < b->n_targets; t++) {
		uint16_t *hops = b->dist + (size_t)t * n;
		uint16_t *parents = b->parents + (size_t)t * n;

		fab_faults_search(f, b->r->faults, b->target[t], dist, order);
		for (uint32_t s = 0; s < n; s++)
			hops[s] = dist[s] < NO_PATH ? (uint16_t)dist[s] : NO_PATH;
		for (uint32_t s = 0; s < n; s++)
			FAB_EACH_ARC(f, s, a)
				parents[s] += fab_arc_is_live(b->r->faults, a) &&
					      hops[s] != NO_PATH &&
					      hops[f->arc_peer[a]] + 1 == hops[s];
	}
}

/* LIDs of hosts by row; those of a switch's column are shared by all behind it. */
static void count_lids(struct loss_base *b, uint32_t *root)
{
	const struct fab_routes *r = b->r;
	const struct fab_fabric *f = r->f;
	FAB_AUTOFREE uint32_t *n = FAB_NEW0((size_t)r->n_columns + 1, uint32_t);
	FAB_AUTO(fab_columns_fini) struct fab_columns columns = {0};

	fab_columns_init(&columns, r);
	for (uint32_t p = 0; !r->column_port && p < f->n_ports; p++)
		for (uint32_t i = 0; i < fab_port_n_lids(f, p); i++) {
			uint32_t sw = host_switch(b, p);

			if (sw != FAB_NONE && columns.first[sw] != FAB_NONE)
				n[fab_columns_of(&columns, p, i)]++;
		}
	b->row_lids = FAB_ARENA_NEW0(&b->arena, (size_t)b->n_rows + 1, uint32_t);
	memset(root, 0xff, ((size_t)b->n_rows + 1) * sizeof(*root));
	for (uint32_t c = 0; c < r->n_columns; c++) {
		uint32_t row = r->column_row ? r->column_row[c] : c;

		if (r->column_port)
			n[c] = f->node_kind[f->port_node[r->column_port[c]]] ==
			       FAB_ADAPTER;
		root[row] = r->column_switch[c];
		b->row_lids[row] += n[c];
		b->n_lids += n[c];
	}
}

/* The tables by switch, a block at a time: both sides stay near. */
static void turn_tables(struct loss_base *b)
{
	enum { BLOCK = 64 };
	uint32_t n = b->n_switches;

	b->n_trees = b->row_first[b->n_targets];
	b->port = FAB_ARENA_NEW(&b->arena, (size_t)n * b->n_trees + 1, uint16_t);
	for (uint32_t first = 0; first < n; first += BLOCK)
		for (uint32_t i = 0; i < b->n_trees; i++) {
			const uint16_t *next = b->r->next + (size_t)b->row[i] * n;

			for (uint32_t s = first; s < n && s < first + BLOCK; s++)
				b->port[(size_t)s * b->n_trees + i] = next[s];
		}
}

static void add_flows(struct loss_base *b, const uint32_t *root)
{
	const struct fab_fabric *f = b->r->f;
	uint32_t n = b->n_switches;
	FAB_AUTOFREE uint32_t *flow = FAB_NEW((size_t)n + 1, uint32_t);
	FAB_AUTO(fab_walk_fini) struct fab_walk walk;

	fab_walk_init(&walk, f, b->r->faults);
	b->flow = FAB_ARENA_NEW(&b->arena, (size_t)b->n_trees * n + 1, uint32_t);
	b->load = FAB_ARENA_NEW0(&b->arena, f->arc_first[n] + 1U, uint64_t);
	b->count = FAB_ARENA_NEW0(&b->arena, f->arc_first[n] + 1U, uint32_t);
	for (uint32_t i = 0; i < b->n_trees; i++) {
		uint32_t row = b->row[i];
		const uint16_t *next = b->r->next + (size_t)row * n;

		fab_walk_all(&walk, next, root[row]);
		/* Hosts that pass each switch on their path along a row: from far to
		 * near. Those that do not arrive do not count. */
		memset(flow, 0, b->n_switches * sizeof(*flow));
		for (uint32_t k = 0; k < walk.n_order; k++)
			flow[walk.order[k]] = b->hosts[walk.order[k]];
		for (uint32_t k = walk.n_order; k > 1; k--) {
			uint32_t s = walk.order[k - 1];

			flow[f->arc_peer[f->arc_first[s] + walk.next[s]]] += flow[s];
		}
		for (uint32_t s = 0; s < n; s++) {
			b->flow[(size_t)s * b->n_trees + i] = flow[s];
			if (next[s] >= FAB_ARC_BROKEN)
				continue;
			b->load[f->arc_first[s] + next[s]] +=
				(uint64_t)flow[s] * b->row_lids[row];
			b->count[f->arc_first[s] + next[s]] += b->row_lids[row];
		}
	}
}

/* State of tables, which are borrowed. O(targets * arcs + rows * switches). */
static void loss_base_init(struct loss_base *b, const struct fab_routes *r)
{
	const struct fab_fabric *f = r->f;
	FAB_AUTOFREE uint32_t *root = FAB_NEW((size_t)r->n_rows + 1, uint32_t);
	FAB_AUTOFREE uint32_t *number = FAB_NEW((size_t)f->n_switches + 1, uint32_t);
	FAB_AUTOFREE uint32_t *column = NULL;
	uint32_t n;

	*b = (struct loss_base){.r = r, .n_switches = f->n_switches, .n_rows = r->n_rows};
	b->hosts = FAB_ARENA_NEW0(&b->arena, (size_t)b->n_switches + 1, uint32_t);
	for (uint32_t p = 0; p < f->n_ports; p++) {
		uint32_t sw = host_switch(b, p);

		if (sw == FAB_NONE)
			continue;
		b->hosts[sw]++;
		b->n_hosts++;
	}
	n = fab_routes_leaf_columns(r, &column);
	b->is_leaf = FAB_ARENA_NEW0(&b->arena, (size_t)b->n_switches + 1, bool);
	for (uint32_t i = 0; i < n; i++)
		b->is_leaf[r->column_switch[column[i]]] = true;
	for (uint32_t s = 0; !n && s < b->n_switches; s++)
		b->is_leaf[s] = b->hosts[s] > 0;
	b->target = FAB_ARENA_NEW(&b->arena, (size_t)b->n_switches + 1, uint32_t);
	for (uint32_t s = 0; s < b->n_switches; s++)
		if (fab_switch_is_live(r->faults, s) && (b->is_leaf[s] || b->hosts[s]))
			b->target[b->n_targets++] = s;
	measure_targets(b);
	count_lids(b, root);
	/* Rows by the target that they lead to; those of no host are left out. */
	b->row_first = FAB_ARENA_NEW0(&b->arena, (size_t)b->n_targets + 2, uint32_t);
	b->row = FAB_ARENA_NEW(&b->arena, (size_t)b->n_rows + 1, uint32_t);
	for (uint32_t t = 0; t < b->n_targets; t++)
		number[b->target[t]] = t;
	for (uint32_t row = 0; row < b->n_rows; row++)
		if (b->row_lids[row])
			b->row_first[number[root[row]] + 2]++;
	for (uint32_t t = 2; t < b->n_targets + 1; t++)
		b->row_first[t] += b->row_first[t - 1];
	for (uint32_t row = 0; row < b->n_rows; row++)
		if (b->row_lids[row])
			b->row[b->row_first[number[root[row]] + 1]++] = row;
	/* Hosts and their LIDs by plane. */
	b->planes = fab_planes_new(f);
	b->plane_hosts = FAB_ARENA_NEW0(&b->arena, b->planes->n_planes, uint64_t);
	b->plane_lids = FAB_ARENA_NEW0(&b->arena, b->planes->n_planes, uint64_t);
	for (uint32_t s = 0; s < b->n_switches; s++)
		if (b->planes->of_switch[s] < b->planes->n_planes)
			b->plane_hosts[b->planes->of_switch[s]] += b->hosts[s];
	for (uint32_t t = 0; t < b->n_targets; t++) {
		uint32_t part = b->planes->of_switch[b->target[t]];

		for (uint32_t i = b->row_first[t]; i < b->row_first[t + 1]; i++)
			if (part < b->planes->n_planes)
				b->plane_lids[part] += b->row_lids[b->row[i]];
	}
	turn_tables(b);
	add_flows(b, root);
}

static void loss_base_fini(struct loss_base *b)
{
	fab_planes_free(b->planes);
	fab_arena_free(&b->arena);
}

/* Hops that a switch could have. */
struct settling {
	uint16_t hops;
	uint32_t sw;
};

/* Working memory of a thread. */
struct loss_work {
	struct fab_arena arena;
	const struct loss_base *b;
	struct fab_fault part;
	bool rerouted;
	uint64_t *load;
	uint32_t *count;
	/* per target: switches whose hops grow, and their hops then */
	uint32_t n_far, *far;
	uint16_t *hops; /* [n_switches] where is_far */
	bool *is_far;
	uint32_t *n_cut; /* [n_switches] shortest ports that are gone; 0 at rest */
	FAB_VEC(uint32_t) cut;
	/* per target: switches that may need another port, far ones first */
	FAB_VEC(uint32_t) suspects;
	bool *is_suspect;
	/* per row: those that must, what is left of the flow of a switch, and its port */
	uint32_t n_changed, *changed;
	int64_t *less; /* [n_switches] flow taken away; 0 at rest */
	FAB_VEC(uint32_t) lessened;
	uint16_t *port; /* [n_switches] where is_changed */
	bool *is_changed;
	uint32_t *left; /* [n_changed] flow to move */
	FAB_VEC(struct settling) border, inner;
};

static struct loss_work *loss_work_new(const struct loss_base *b)
{
	size_t n = (size_t)b->n_switches + 1;
	struct loss_work *w = FAB_NEW0(1, struct loss_work);
	uint32_t arcs = b->r->f->arc_first[b->n_switches];

	w->b = b;
	w->load = FAB_ARENA_NEW(&w->arena, (size_t)arcs + 1, uint64_t);
	w->count = FAB_ARENA_NEW(&w->arena, (size_t)arcs + 1, uint32_t);
	w->far = FAB_ARENA_NEW(&w->arena, n, uint32_t);
	w->hops = FAB_ARENA_NEW(&w->arena, n, uint16_t);
	w->is_far = FAB_ARENA_NEW0(&w->arena, n, bool);
	w->n_cut = FAB_ARENA_NEW0(&w->arena, n, uint32_t);
	w->is_suspect = FAB_ARENA_NEW0(&w->arena, n, bool);
	w->changed = FAB_ARENA_NEW(&w->arena, n, uint32_t);
	w->less = FAB_ARENA_NEW0(&w->arena, n, int64_t);
	w->port = FAB_ARENA_NEW(&w->arena, n, uint16_t);
	w->is_changed = FAB_ARENA_NEW0(&w->arena, n, bool);
	w->left = FAB_ARENA_NEW(&w->arena, n, uint32_t);
	return w;
}

static void loss_work_free(struct loss_work *w)
{
	if (!w)
		return;
	FAB_FREE_ALL(w->cut.v, w->suspects.v, w->lessened.v, w->border.v, w->inner.v);
	fab_arena_free(&w->arena);
	free(w);
}

/* Does an arc of a switch lead nowhere now? */
static bool is_gone(const struct loss_work *w, uint32_t sw, uint32_t arc)
{
	const struct fab_fabric *f = w->b->r->f;

	if (!fab_arc_is_live(w->b->r->faults, arc))
		return true;
	if (w->part.is_cable)
		return f->arc_cable[arc] == w->part.id;
	return f->arc_peer[arc] == w->part.id || sw == w->part.id;
}

static uint16_t hops_of(const struct loss_work *w, const uint16_t *dist, uint32_t sw)
{
	return w->is_far[sw] ? w->hops[sw] : dist[sw];
}

/* A switch loses one of its shortest ports; with the last one its hops grow. */
static void cut(struct loss_work *w, const uint16_t *parents, uint32_t sw)
{
	if (!w->n_cut[sw]++)
		FAB_PUSH(&w->cut, sw);
	if (w->n_cut[sw] < parents[sw])
		return;
	w->is_far[sw] = true;
	w->hops[sw] = NO_PATH;
	w->far[w->n_far++] = sw;
}

/* The ends of the part at which shortest ports are gone, each port once. */
static void cut_part(struct loss_work *w, const uint16_t *dist, const uint16_t *parents)
{
	const struct fab_fabric *f = w->b->r->f;
	uint32_t x = w->part.id;

	if (w->part.is_cable) {
		uint32_t a = f->port_node[f->cable_a[x]], b = f->port_node[f->cable_b[x]];

		if (dist[a] != NO_PATH && dist[a] == dist[b] + 1)
			cut(w, parents, a);
		else if (dist[b] != NO_PATH && dist[b] == dist[a] + 1)
			cut(w, parents, b);
		return;
	}
	FAB_EACH_ARC(f, x, a)
		if (fab_arc_is_live(w->b->r->faults, a) && dist[x] != NO_PATH &&
		    dist[f->arc_peer[a]] == dist[x] + 1)
			cut(w, parents, f->arc_peer[a]);
}

FAB_ORDER(by_hops, struct settling, hops, sw)

/* New hops, nearest first: from what borders on the rest inwards. */
static void settle_far(struct loss_work *w, const uint16_t *dist)
{
	const struct fab_fabric *f = w->b->r->f;
	size_t i = 0, head = 0;

	w->border.n = w->inner.n = 0;
	for (uint32_t k = 0; k < w->n_far; k++) {
		uint32_t u = w->far[k];
		uint16_t best = NO_PATH;

		FAB_EACH_ARC(f, u, a) {
			uint16_t h = hops_of(w, dist, f->arc_peer[a]);

			if (!is_gone(w, u, a) && h != NO_PATH && h + 1 < best)
				best = (uint16_t)(h + 1);
		}
		if (best != NO_PATH)
			FAB_PUSH(&w->border, ((struct settling){best, u}));
	}
	FAB_SORT(&w->border, by_hops);
	while (i < w->border.n || head < w->inner.n) {
		bool is_inner =
			i == w->border.n || (head < w->inner.n &&
					     w->inner.v[head].hops < w->border.v[i].hops);
		struct settling s = is_inner ? w->inner.v[head++] : w->border.v[i++];

		if (w->hops[s.sw] != NO_PATH)
			continue;
		w->hops[s.sw] = s.hops;
		FAB_EACH_ARC(f, s.sw, a) {
			uint32_t v = f->arc_peer[a];

			if (!is_gone(w, s.sw, a) && w->is_far[v] && w->hops[v] == NO_PATH)
				FAB_PUSH(&w->inner,
					 ((struct settling){(uint16_t)(s.hops + 1), v}));
		}
	}
}

static void suspect(struct loss_work *w, uint32_t sw)
{
	if (w->is_suspect[sw])
		return;
	w->is_suspect[sw] = true;
	FAB_PUSH(&w->suspects, sw);
}

/* Port of a switch in the i-th tree. */
static uint16_t port_of(const struct loss_base *b, uint32_t sw, uint32_t i)
{
	return b->port[(size_t)sw * b->n_trees + i];
}

/* Take the flow of a switch off its path to the target. Returns how much that is. */
static uint32_t detach(struct loss_work *w, uint32_t i, uint32_t sw)
{
	const struct loss_base *b = w->b;
	const struct fab_fabric *f = b->r->f;
	uint32_t lids = b->row_lids[b->row[i]], at = sw;
	uint32_t flow = (uint32_t)(b->flow[(size_t)sw * b->n_trees + i] - w->less[sw]);
	uint16_t port = port_of(b, sw, i);

	if (port >= FAB_ARC_BROKEN)
		return 0;
	w->count[f->arc_first[sw] + port] -= lids;
	for (; flow && port < FAB_ARC_BROKEN; port = port_of(b, at, i)) {
		uint32_t arc = f->arc_first[at] + port;

		w->load[arc] -= (uint64_t)flow * lids;
		at = f->arc_peer[arc];
		if (!w->less[at])
			FAB_PUSH(&w->lessened, at);
		w->less[at] += flow;
	}
	return flow;
}

static void attach(struct loss_work *w, uint32_t i, uint32_t sw, uint32_t flow)
{
	const struct loss_base *b = w->b;
	const struct fab_fabric *f = b->r->f;
	uint32_t lids = b->row_lids[b->row[i]];

	for (uint32_t at = sw; flow;) {
		uint16_t port = w->is_changed[at] ? w->port[at] : port_of(b, at, i);
		uint32_t arc = f->arc_first[at] + port;

		if (port >= FAB_ARC_BROKEN)
			return;
		w->load[arc] += (uint64_t)flow * lids;
		at = f->arc_peer[arc];
	}
}

/* Switches that need another port in the i-th tree. Returns how many. */
static uint32_t find_changed(struct loss_work *w, uint32_t i)
{
	const struct fab_fabric *f = w->b->r->f;

	w->n_changed = 0;
	for (size_t k = 0; k < w->suspects.n; k++) {
		uint32_t sw = w->suspects.v[k];
		uint16_t port = port_of(w->b, sw, i);
		uint32_t arc = f->arc_first[sw] + port;

		if ((!w->part.is_cable && sw == w->part.id) ||
		    (port < FAB_ARC_BROKEN &&
		     (sw == w->part.id || w->is_far[sw] || is_gone(w, sw, arc) ||
		      w->is_far[f->arc_peer[arc]])))
			w->changed[w->n_changed++] = sw;
	}
	return w->n_changed;
}

/* The i-th tree: detach all that must change, let each take the port of fewest hops with
 * the fewest LIDs, attach them again. */
static void reroute_tree(struct loss_work *w, uint32_t i, const uint16_t *dist)
{
	const struct fab_fabric *f = w->b->r->f;
	uint32_t dead = w->part.is_cable ? FAB_NONE : w->part.id;

	for (uint32_t k = 0; k < w->n_changed; k++)
		w->left[k] = detach(w, i, w->changed[k]);
	for (uint32_t k = 0; k < w->n_changed; k++) {
		uint32_t sw = w->changed[k], best = FAB_NONE;
		uint16_t hops = hops_of(w, dist, sw);

		for (uint32_t a = f->arc_first[sw];
		     sw != dead && hops != NO_PATH && a < f->arc_first[sw + 1]; a++)
			if (!is_gone(w, sw, a) &&
			    hops_of(w, dist, f->arc_peer[a]) + 1 == hops &&
			    (best == FAB_NONE || w->count[a] < w->count[best]))
				best = a;
		w->port[sw] = best == FAB_NONE ? FAB_ARC_NONE
					       : (uint16_t)(best - f->arc_first[sw]);
		w->is_changed[sw] = true;
		if (best != FAB_NONE)
			w->count[best] += w->b->row_lids[w->b->row[i]];
	}
	for (uint32_t k = 0; k < w->n_changed; k++)
		if (w->changed[k] != dead)
			attach(w, i, w->changed[k], w->left[k]);
	for (uint32_t k = 0; k < w->n_changed; k++)
		w->is_changed[w->changed[k]] = false;
	for (size_t k = 0; k < w->lessened.n; k++)
		w->less[w->lessened.v[k]] = 0;
	w->lessened.n = 0;
}

static void try_target(struct loss_work *w, uint32_t t, struct fab_loss *out)
{
	const struct loss_base *b = w->b;
	const uint16_t *dist = b->dist + (size_t)t * b->n_switches;
	const uint16_t *parents = b->parents + (size_t)t * b->n_switches;
	const struct fab_fabric *f = w->b->r->f;

	/* All whose hops grow, near ones first. */
	cut_part(w, dist, parents);
	for (uint32_t i = 0; i < w->n_far; i++) {
		uint32_t u = w->far[i];

		FAB_EACH_ARC(f, u, a) {
			uint32_t v = f->arc_peer[a];

			if (!is_gone(w, u, a) && dist[v] == dist[u] + 1)
				cut(w, parents, v);
		}
	}
	settle_far(w, dist);
	for (uint32_t i = 0; i < w->n_far; i++) {
		uint32_t u = w->far[i], to = b->target[t];
		bool counts = b->is_leaf[u] && b->is_leaf[to];

		if (w->hops[u] != NO_PATH) {
			out->longer += counts ? (uint64_t)w->hops[u] - dist[u] : 0;
			continue;
		}
		out->unreachable += counts;
		out->unreachable_rerouted += (uint64_t)b->hosts[u] * b->hosts[to];
	}
	if (w->rerouted) {
		/* Suspects: switches that lost a shortest port. Far ones first. */
		for (size_t i = 0; i < w->cut.n; i++)
			suspect(w, w->cut.v[i]);
		/* what its own hosts sent; what passed it is taken off where it comes
		 * from */
		if (!w->part.is_cable && dist[w->part.id] != NO_PATH &&
		    w->b->hosts[w->part.id])
			suspect(w, w->part.id);
		/* few: by insertion */
		for (size_t i = 1; i < w->suspects.n; i++) {
			uint32_t sw = w->suspects.v[i];
			size_t k = i;

			for (; k && dist[w->suspects.v[k - 1]] < dist[sw]; k--)
				w->suspects.v[k] = w->suspects.v[k - 1];
			w->suspects.v[k] = sw;
		}
		for (uint32_t i = b->row_first[t];
		     w->suspects.n && i < b->row_first[t + 1]; i++)
			if (find_changed(w, i))
				reroute_tree(w, i, dist);
	}
	for (size_t i = 0; i < w->cut.n; i++)
		w->n_cut[w->cut.v[i]] = 0;
	for (uint32_t i = 0; i < w->n_far; i++)
		w->is_far[w->far[i]] = false;
	for (size_t i = 0; i < w->suspects.n; i++)
		w->is_suspect[w->suspects.v[i]] = false;
	w->cut.n = w->suspects.n = 0;
	w->n_far = 0;
}

/* Pairs of other hosts whose path uses a live part. O(rows), of a cable O(ports). */
static uint64_t interrupted_by(const struct loss_base *b, struct fab_fault part)
{
	const struct fab_fabric *f = b->r->f;
	uint64_t n = 0;

	if (part.is_cable) {
		uint32_t sw = f->port_node[f->cable_a[part.id]];

		FAB_EACH_ARC(f, sw, a)
			if (f->arc_cable[a] == part.id)
				n += b->load[a] + b->load[fab_arc_back(f, a)];
		return n;
	}
	for (uint32_t t = 0; t < b->n_targets; t++)
		for (uint32_t i = b->row_first[t];
		     b->target[t] != part.id && i < b->row_first[t + 1]; i++) {
			uint32_t flow = b->flow[(size_t)part.id * b->n_trees + i];

			if (flow)
				n += (uint64_t)(flow - b->hosts[part.id]) *
				     b->row_lids[b->row[i]];
		}
	return n;
}

/* Of these hosts and LIDs, pairs on two planes. */
static uint64_t pairs_across(const struct loss_base *b, struct fab_fault part,
			     uint64_t hosts, uint64_t lids)
{
	uint32_t n = b->planes->n_planes;
	uint32_t lost = part.is_cable ? FAB_NONE : b->planes->of_switch[part.id];
	uint64_t on_planes = 0, across = 0;

	for (uint32_t i = 0; i < n; i++)
		on_planes += b->plane_hosts[i];
	if (lost < n)
		on_planes -= b->n_hosts - hosts;
	for (uint32_t i = 0; i < n; i++) {
		bool is_less = i == lost;
		uint64_t own = b->plane_hosts[i] - (is_less ? b->n_hosts - hosts : 0);

		across += (b->plane_lids[i] - (is_less ? b->n_lids - lids : 0)) *
			  (on_planes - own);
	}
	return across;
}

/*
 * The part of `loss` dies. With `rerouted` the tables are those of shortest paths, and
 * load is set: a switch that needs another port takes the one of fewest hops with the
 * fewest LIDs. O(targets + LIDs that used it * (its neighbours + hops) + what is cut
 * off).
 */
static void try_loss(const struct loss_base *b, struct loss_work *w, bool rerouted,
		     struct fab_loss *loss)
{
	const struct fab_fabric *f = b->r->f;
	struct fab_fault part = loss->part;
	uint32_t arcs = f->arc_first[b->n_switches];
	uint64_t hosts = b->n_hosts, lids = b->n_lids, most = 0;

	w->part = part;
	w->rerouted = rerouted;
	if (rerouted) {
		memcpy(w->load, b->load, arcs * sizeof(*w->load));
		memcpy(w->count, b->count, arcs * sizeof(*w->count));
	}
	for (uint32_t t = 0; t < b->n_targets; t++) {
		if (part.is_cable || b->target[t] != part.id) {
			try_target(w, t, loss);
			continue;
		}
		hosts -= b->hosts[part.id];
		/* The trees of the switch that dies. */
		for (uint32_t i = b->row_first[t]; i < b->row_first[t + 1]; i++) {
			uint32_t n = b->row_lids[b->row[i]];

			lids -= n;
			for (uint32_t s = 0; rerouted && s < b->n_switches; s++) {
				uint16_t port = port_of(b, s, i);
				uint32_t arc = f->arc_first[s] + port;

				if (port >= FAB_ARC_BROKEN)
					continue;
				w->load[arc] -=
					(uint64_t)b->flow[(size_t)s * b->n_trees + i] * n;
				w->count[arc] -= n;
			}
		}
	}
	for (uint32_t a = 0; rerouted && a < arcs; a++)
		most = w->load[a] > most ? w->load[a] : most;
	loss->is_tried = true;
	loss->interrupted = interrupted_by(b, part);
	if (rerouted)
		loss->load = load_of(most,
				     hosts ? lids * (hosts - 1) -
						     pairs_across(b, part, hosts, lids)
					   : 0,
				     hosts);
	else
		loss->unreachable = loss->pairs;
}

/* Losses by any engine. */

/* Hops of every pair of columns' switches, by switch numbers of a list. */
struct table {
	uint32_t n;
	uint32_t *leaf; /* [n] switches, ascending */
	uint16_t *hops; /* [n * n] */
};

static struct table measure(const struct fab_routes *r)
{
	FAB_AUTOFREE uint32_t *column = NULL;
	uint32_t n = fab_routes_leaf_columns(r, &column);
	struct table t = {.n = n};
	FAB_AUTOFREE uint32_t *row = fab_routes_sl_rows(r);
	FAB_AUTO(fab_walk_fini) struct fab_walk walk;

	t.hops = FAB_NEW((size_t)n * n + 1, uint16_t);
	t.leaf = FAB_NEW((size_t)n + 1, uint32_t);
	fab_walk_init(&walk, r->f, r->faults);
	for (uint32_t i = 0; i < n; i++)
		t.leaf[i] = r->column_switch[column[i]];
	for (uint32_t i = 0; i < n; i++) {
		fab_walk_all(&walk, fab_routes_next(r, column[i]), t.leaf[i]);
		for (uint32_t s = 0; s < n; s++) {
			uint16_t hops = walk.hops[t.leaf[s]];
			bool has_path = hops < FAB_HOPS_NEVER &&
					fab_routes_level(r, row[t.leaf[s]], column[i]) !=
						FAB_SL_NONE;

			t.hops[(size_t)i * n + s] = has_path ? hops : NO_PATH;
		}
	}
	return t;
}

static int uniform(const struct fab_routes *r, struct fab_analysis *j,
		   struct fab_err *err)
{
	const struct fab_analysis_options options = {
		.ends = FAB_ENDS_HOSTS, .only_load = true, .n_threads = 1};

	return fab_analyse(r, &options, j, err);
}

/* All live parts and the pairs on them. */
static int list_parts(const struct fab_routes *r, struct fab_losses *out,
		      struct fab_err *err)
{
	const struct fab_fabric *f = r->f;
	FAB_AUTOFREE uint32_t *hosts = FAB_NEW(f->n_switches + 1, uint32_t);
	FAB_AUTOFREE uint32_t *part = FAB_NEW(f->n_switches + 1, uint32_t);
	FAB_AUTOFREE uint64_t *all =
		FAB_NEW0(fab_fabric_components(f, part) + 1, uint64_t);
	FAB_AUTOFREE uint64_t *cable = FAB_NEW0(f->n_cables + 1, uint64_t);
	FAB_AUTOFREE uint64_t *into = FAB_NEW0(f->n_switches + 1, uint64_t);
	struct fab_analysis j;
	int rc = uniform(r, &j, err);

	fab_ranks_count_hosts(f, hosts);
	for (uint32_t sw = 0; sw < f->n_switches; sw++) {
		if (!fab_switch_is_live(r->faults, sw))
			hosts[sw] = 0;
		all[part[sw]] += hosts[sw];
		for (uint32_t a = f->arc_first[sw]; !rc && a < f->arc_first[sw + 1];
		     a++) {
			cable[f->arc_cable[a]] += j.load[a];
			into[f->arc_peer[a]] += j.load[a];
		}
	}
	for (uint32_t sw = 0; !rc && sw < f->n_switches; sw++)
		if (fab_switch_is_live(r->faults, sw))
			FAB_PUSH(&out->of,
				 ((struct fab_loss){
					 .part = {.id = sw},
					 .number = sw,
					 .is_leaf = hosts[sw] > 0,
					 .pairs = into[sw] +
						  hosts[sw] * (all[part[sw]] - hosts[sw]),
					 .load = NAN}));
	for (uint32_t c = 0; !rc && c < f->n_switch_links; c++)
		if (fab_cable_is_live(r->faults, c))
			FAB_PUSH(&out->of,
				 ((struct fab_loss){.part = {.is_cable = true, .id = c},
						    .number = (uint64_t)f->n_switches + c,
						    .pairs = cable[c],
						    .load = NAN}));
	if (!rc)
		fab_analysis_fini(&j);
	return rc;
}

static int kind_of(const struct fab_loss *l)
{
	return l->part.is_cable ? 2 : !l->is_leaf;
}

static int by_pairs(const void *a, const void *b)
{
	const struct fab_loss *x = a, *y = b;

	if (kind_of(x) != kind_of(y))
		return kind_of(x) - kind_of(y);
	FAB_ORDER_BY(y, x, pairs);
	return x->part.id < y->part.id ? -1 : x->part.id > y->part.id;
}

static int by_cost(const void *a, const void *b)
{
	const struct fab_loss *x = a, *y = b;

	FAB_ORDER_BY(y, x, unreachable);
	FAB_ORDER_BY(y, x, longer);
	FAB_ORDER_BY(y, x, pairs);
	return by_pairs(a, b);
}

struct trial {
	const struct fab_unicast_problem *problem;
	const struct fab_unicast_engine *engine;
	const struct table *was;
	const struct loss_base *base;
	const struct fab_losses_options *options;
	struct fab_losses *losses;
};

static int lose(const struct trial *t, struct fab_faults *faults, struct fab_loss *loss,
		struct fab_err *err)
{
	struct fab_unicast_problem problem = *t->problem;
	FAB_AUTO(fab_routes_free_at) struct fab_routes *after = NULL;
	struct fab_analysis j;
	struct table is;
	int rc;
	FAB_AUTOFREE uint32_t *at = NULL;

	fab_faults_clear(faults);
	for (size_t i = 0; t->problem->faults && i < t->problem->faults->named.n; i++)
		fab_faults_kill(faults, t->problem->faults->named.v[i]);
	fab_faults_kill(faults, loss->part);
	problem.faults = faults;
	problem.n_threads = 1;
	rc = fab_unicast_route(t->engine, &problem, &after, err);
	if (rc)
		return rc;
	is = measure(after);
	/* Both lists of leaves ascend; those of `is` are among those of `was`. */
	at = FAB_NEW(is.n + 1, uint32_t);
	for (uint32_t i = 0, k = 0; i < is.n; i++, k++) {
		while (t->was->leaf[k] != is.leaf[i])
			k++;
		at[i] = k;
	}
	for (uint32_t i = 0; i < is.n; i++)
		for (uint32_t s = 0; s < is.n; s++) {
			uint16_t now = is.hops[(size_t)i * is.n + s];
			uint16_t then = t->was->hops[(size_t)at[i] * t->was->n + at[s]];

			if (then == NO_PATH)
				continue;
			if (now == NO_PATH) {
				loss->unreachable++;
				loss->unreachable_rerouted +=
					(uint64_t)t->base->hosts[is.leaf[i]] *
					t->base->hosts[is.leaf[s]];
			} else if (now > then) {
				loss->longer += now - then;
			}
		}
	free(is.hops);
	free(is.leaf);
	rc = uniform(after, &j, err);
	if (!rc) {
		loss->load = load_of(j.max_load, j.pairs, j.ends);
		fab_analysis_fini(&j);
	}
	return rc;
}

/* Keep the parts of the shard. */
static void keep_shard(struct fab_losses *losses, const struct fab_shard *shard)
{
	uint64_t n = fab_shard_items(shard, losses->of.n);

	losses->n_parts = losses->of.n;
	for (uint64_t i = 0; i < n; i++)
		losses->of.v[i] = losses->of.v[fab_shard_item(shard, i)];
	losses->of.n = n;
}

static void take_loss(void *context, uint64_t item, void *result)
{
	struct trial *t = context;

	t->losses->of.v[item] = *(struct fab_loss *)result;
}

/* A part a thread; less than a thread is worth is done by one. */
static int try_each(struct trial *t, struct fab_sweep *sweep, struct fab_err *err)
{
	const struct fab_fabric *f = t->problem->f;

	sweep->what = "single loss";
	sweep->n_items = t->losses->of.n;
	sweep->n_threads = fab_threads_for(
		t->problem->n_threads, sweep->n_items * f->n_switches * f->n_switches);
	sweep->result_bytes = sizeof(struct fab_loss);
	sweep->context = t;
	sweep->take = take_loss;
	sweep->progress = t->options->progress;
	sweep->progress_context = t->options->progress_context;
	return fab_sweep_run(sweep, err);
}

static void *open_faults(void *context)
{
	return fab_faults_new(((const struct trial *)context)->problem->f);
}

static void close_faults(void *context, void *faults)
{
	(void)context;
	fab_faults_free(faults);
}

static int work_anew(void *context, void *faults, uint64_t item, void *result,
		     struct fab_err *err)
{
	const struct trial *t = context;
	struct fab_loss *loss = result;

	*loss = t->losses->of.v[item];
	return loss->is_tried ? lose(t, faults, loss, err) : 0;
}

static void *open_work(void *context)
{
	return loss_work_new(((const struct trial *)context)->base);
}

static void close_work(void *context, void *work)
{
	(void)context;
	loss_work_free(work);
}

static int work_shortest(void *context, void *work, uint64_t item, void *result,
			 struct fab_err *err)
{
	const struct trial *t = context;
	struct fab_loss *loss = result;

	(void)err;
	*loss = t->losses->of.v[item];
	try_loss(t->base, work, t->engine != NULL, loss);
	return 0;
}

int fab_losses_rank(const struct fab_unicast_problem *problem,
		    const struct fab_unicast_engine *engine, const struct fab_routes *r,
		    const struct fab_losses_options *options, struct fab_losses *out,
		    struct fab_err *err)
{
	struct loss_base base;
	struct trial t = {.problem = problem,
			  .engine = engine,
			  .base = &base,
			  .options = options,
			  .losses = out};
	int rc;

	*out = (struct fab_losses){0};
	rc = list_parts(r, out, err);
	if (rc)
		return rc;
	loss_base_init(&base, r);
	if (!engine || engine == &fab_unicast_minhop) {
		struct fab_sweep sweep = {.grain = 8,
					  .open = open_work,
					  .close = close_work,
					  .work = work_shortest};

		/* Single losses under shortest paths, repaired only where the part was
		 * used. */
		keep_shard(out, &options->shard);
		rc = try_each(&t, &sweep, err);
	} else {
		struct table was = measure(r);
		struct fab_sweep sweep = {
			.open = open_faults, .close = close_faults, .work = work_anew};
		uint64_t each = (uint64_t)(r->n_columns + 1) * r->f->n_switches * 20;
		uint64_t room = options->steps / each, of_kind[3] = {0};

		/* Engines that must route all destinations again: mark what is tried, all
		 * or the same number of each kind. */
		FAB_SORT(&out->of, by_pairs);
		if (room < 3 * TRIED_AT_LEAST)
			room = 3 * TRIED_AT_LEAST;
		for (size_t i = 0; i < out->of.n; i++)
			out->of.v[i].is_tried =
				out->of.n <= room ||
				of_kind[kind_of(&out->of.v[i])]++ < room / 3;
		keep_shard(out, &options->shard);
		for (size_t i = 0; i < out->of.n; i++)
			out->of.v[i].interrupted =
				interrupted_by(&base, out->of.v[i].part);
		t.was = &was;
		rc = try_each(&t, &sweep, err);
		free(was.hops);
		free(was.leaf);
	}
	loss_base_fini(&base);
	if (rc)
		free(out->of.v);
	else
		FAB_SORT(&out->of, by_cost);
	return rc;
}
