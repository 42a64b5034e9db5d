/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The mapping that gives the slowest node of a batch the most under equal shares.
 *
 * At a bandwidth b a segment of capacity c takes floor(c / b) nodes in each direction.
 * Serving nodes by servers of the same subtree first is never wrong: of a node served
 * from outside and an outside node served from inside the two servers can be swapped, and
 * both paths only get shorter. So one pass from the leaves to the root decides whether b
 * is possible. Disks and connections are a number of nodes of each server; a server with
 * several interfaces divides it among them, evenly if that is possible, else by a maximum
 * flow. The largest b is a capacity divided by a whole number: bisection goes on until
 * only one of these is left.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/mem.h"
#include "base/order.h"
#include "base/queues.h"
#include "boot/impl.h"
#include "boot/machine.h"
#include "boot/share.h"

/* Relative difference of bandwidths that are equal but for rounding. */
#define SAME 1e-12

struct balance {
	const struct fab_machine *m;
	const struct fab_batch *batch;
	uint64_t *demand; /* [n_vertices] nodes that need a server above */
	uint64_t *supply; /* [n_vertices] nodes above that could be served from here */
	uint64_t *served; /* [n_vertices] nodes served across this vertex */
	/* nodes below each vertex, counted once */
	uint32_t *inner; /* vertices above servers or nodes of the batch, ascending */
	uint32_t n_inner;
	uint64_t *below; /* [n_vertices] nodes of the batch right below */
	/* [n_vertices] nodes that keep their server: on the segment above, in each
	 * direction, and served from below */
	uint64_t *fixed_down, *fixed_up, *fixed_served;
	uint64_t *fixed_server; /* [n_servers] nodes that keep it; none: 0 */
	uint64_t n_fixed;
	uint64_t *offer;	/* [n_interfaces] nodes that it may serve */
	uint32_t *place;	/* [n_interfaces] among those of its server */
	uint32_t *n_interfaces; /* [n_servers] */
	bool has_joint;		/* limits that several interfaces have in common */
	double node_mbps; /* least capacity of a node of the batch, or of a transfer */
	double transfer_mbps; /* most that a transfer gets */
	double *capacity;     /* [n_capacities] of the machine, each once */
	size_t n_capacities;
};

/* Does every node find a server when the interfaces serve no more than they offer?
 * O(vertices). */
static bool is_enough(struct balance *b, double bandwidth)
{
	const struct fab_machine *m = b->m;

	for (uint32_t i = 0; i < b->n_inner; i++) {
		b->demand[b->inner[i]] = b->below[b->inner[i]];
		b->supply[b->inner[i]] = 0;
	}
	for (uint32_t i = 0; i < m->n_interfaces; i++)
		b->supply[m->interface_vertex[i]] = b->offer[i];
	for (uint32_t i = b->n_inner; i-- > 1;) {
		uint32_t v = b->inner[i], p = m->parent[v];
		uint64_t q = fab_limits_quota(m->capacity_mbps[v], bandwidth), up = q,
			 down = q;
		uint64_t d = b->demand[v], s = b->supply[v];

		up -= b->fixed_up[v];
		down -= b->fixed_down[v];
		b->served[v] = d < s ? d : s;
		d -= b->served[v];
		s -= b->served[v];
		if (d > down)
			return false;
		b->demand[v] = d;
		b->supply[v] = s < up ? s : up;
		b->demand[p] += b->demand[v];
		b->supply[p] += b->supply[v];
	}
	b->served[0] = b->demand[0];
	return b->demand[0] <= b->supply[0];
}

/* ---- maximum flows ---- */

/*
 * Nodes of each interface where servers have several and limits in common, by a maximum
 * flow: nodes up and down the tree to interfaces, from these to their servers.
 */
/* One direction of an edge; that of the other has its lowest bit flipped. */
struct arc {
	uint32_t to, next;
	uint64_t room;
};

struct network {
	uint32_t n, source, sink;
	uint32_t *first; /* [n] of the arcs of a vertex; FAB_NONE */
	FAB_VEC(struct arc) arc;
	uint32_t *level, *at, *list; /* [n] */
	FAB_VEC(uint32_t) path;	     /* arcs */
};

static void add_edge(struct network *g, uint32_t a, uint32_t b, uint64_t there,
		     uint64_t back)
{
	FAB_PUSH(&g->arc, ((struct arc){b, g->first[a], there}));
	g->first[a] = (uint32_t)g->arc.n - 1;
	FAB_PUSH(&g->arc, ((struct arc){a, g->first[b], back}));
	g->first[b] = (uint32_t)g->arc.n - 1;
}

/* Distances from the source over arcs with room; does one lead to the sink? */
static bool find_levels(struct network *g)
{
	uint32_t n = 0;

	memset(g->level, 0xff, g->n * sizeof(*g->level));
	g->level[g->source] = 0;
	g->list[n++] = g->source;
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t a = g->first[g->list[i]]; a != FAB_NONE;
		     a = g->arc.v[a].next) {
			uint32_t to = g->arc.v[a].to;

			if (!g->arc.v[a].room || g->level[to] != FAB_NONE)
				continue;
			g->level[to] = g->level[g->list[i]] + 1;
			g->list[n++] = to;
		}
	return g->level[g->sink] != FAB_NONE;
}

/* Send the most along the path; returns it, and takes the path back to its first full
 * arc. */
static uint64_t send(struct network *g, uint32_t *v)
{
	uint64_t most = UINT64_MAX;
	size_t full = 0;

	for (size_t i = g->path.n; i-- > 0;)
		if (g->arc.v[g->path.v[i]].room <= most) {
			most = g->arc.v[g->path.v[i]].room;
			full = i;
		}
	for (size_t i = 0; i < g->path.n; i++) {
		g->arc.v[g->path.v[i]].room -= most;
		g->arc.v[g->path.v[i] ^ 1].room += most;
	}
	*v = g->arc.v[g->path.v[full] ^ 1].to;
	g->path.n = full;
	return most;
}

/* A flow that leaves no shortest path with room. */
static uint64_t block(struct network *g)
{
	uint32_t v = g->source;
	uint64_t sum = 0;

	memcpy(g->at, g->first, g->n * sizeof(*g->at));
	g->path.n = 0;
	for (;;) {
		uint32_t a = g->at[v];

		if (v == g->sink) {
			sum += send(g, &v);
		} else if (a == FAB_NONE) {
			if (!g->path.n)
				return sum;
			v = g->arc.v[g->path.v[--g->path.n] ^ 1].to;
			g->at[v] = g->arc.v[g->at[v]].next;
		} else if (g->arc.v[a].room &&
			   g->level[g->arc.v[a].to] == g->level[v] + 1) {
			FAB_PUSH(&g->path, a);
			v = g->arc.v[a].to;
		} else {
			g->at[v] = g->arc.v[a].next;
		}
	}
}

/*
 * Do all nodes that keep no server find one, with room[n_servers] nodes for a server?
 * Then offer[n_interfaces] are the nodes of each. Vertices of the tree have their number,
 * servers stand behind them; the arcs of interfaces to their servers come first. The tree
 * has room for the fixed nodes: is_enough() was asked. Dinic 1970: O(levels of the graph
 * * arcs) a phase, a few phases on trees.
 */
static bool find_flow(struct balance *b, double bandwidth, const uint64_t *room)
{
	const struct fab_machine *m = b->m;
	uint32_t n = m->n_vertices + m->n_servers + 2;
	uint64_t n_nodes = b->batch->n - b->n_fixed, sum = 0;
	struct network g = {.n = n,
			    .source = n - 2,
			    .sink = n - 1,
			    .first = fab_none_new(n),
			    .level = FAB_NEW(n, uint32_t),
			    .at = FAB_NEW(n, uint32_t),
			    .list = FAB_NEW(n, uint32_t)};

	for (uint32_t i = 0; i < m->n_interfaces; i++)
		add_edge(&g, m->interface_vertex[i],
			 m->n_vertices + m->interface_server[i], n_nodes, 0);
	for (uint32_t s = 0; s < m->n_servers; s++)
		add_edge(&g, m->n_vertices + s, g.sink, room[s], 0);
	for (uint32_t i = 0; i < b->n_inner; i++) {
		uint32_t v = b->inner[i];
		uint64_t q = fab_limits_quota(m->capacity_mbps[v], bandwidth);

		if (v)
			add_edge(&g, v, m->parent[v], q - b->fixed_down[v],
				 q - b->fixed_up[v]);
		if (b->below[v])
			add_edge(&g, g.source, v, b->below[v], 0);
	}
	while (sum < n_nodes && find_levels(&g))
		sum += block(&g);
	for (uint32_t i = 0; i < m->n_interfaces; i++)
		b->offer[i] = g.arc.v[2 * (size_t)i + 1].room;
	FAB_FREE_ALL(g.first, g.level, g.at, g.list, g.arc.v, g.path.v);
	return sum >= n_nodes;
}

/* ---- the largest bandwidth ---- */

/* Does every node of the batch find a server at this bandwidth? O(vertices), beyond that
 * a maximum flow where servers have several interfaces and limits. */
static bool is_possible(struct balance *b, double bandwidth)
{
	const struct fab_machine *m = b->m;
	uint64_t most = fab_limits_server_quota(m, b->transfer_mbps, bandwidth);
	FAB_AUTOFREE uint64_t *room = FAB_NEW0((size_t)m->n_servers + 1, uint64_t);
	bool is_found = bandwidth <= b->node_mbps * (1 + SAME);

	for (uint32_t i = 1; i < b->n_inner && b->n_fixed; i++) {
		uint32_t v = b->inner[i];
		uint64_t q = fab_limits_quota(m->capacity_mbps[v], bandwidth);

		is_found = is_found && b->fixed_up[v] <= q && b->fixed_down[v] <= q;
	}
	for (uint32_t s = 0; s < m->n_servers; s++) {
		is_found = is_found && b->fixed_server[s] <= most;
		if (!m->server_is_down[s] && is_found)
			room[s] = most - b->fixed_server[s] < b->batch->n
					  ? most - b->fixed_server[s]
					  : b->batch->n;
	}
	for (uint32_t i = 0; i < m->n_interfaces; i++) {
		uint32_t s = m->interface_server[i], n = b->n_interfaces[s];

		b->offer[i] = b->has_joint ? room[s] / n + (b->place[i] < room[s] % n)
					   : room[s];
	}
	if (is_found && !is_enough(b, bandwidth))
		is_found = b->has_joint && find_flow(b, bandwidth, room) &&
			   is_enough(b, bandwidth);
	return is_found;
}

static void init(struct balance *b, struct fab_arena *a, const struct fab_machine *m,
		 const struct fab_batch *batch)
{
	uint32_t nv = m->n_vertices;
	double flow = m->limits.flow_mbps > 0 ? m->limits.flow_mbps : (double)INFINITY;
	bool *is_inner;
	size_t n = 0;

	*b = (struct balance){
		.m = m,
		.batch = batch,
		.demand = FAB_ARENA_NEW0(a, nv, uint64_t),
		.supply = FAB_ARENA_NEW0(a, nv, uint64_t),
		.served = FAB_ARENA_NEW0(a, nv, uint64_t),
		.below = FAB_ARENA_NEW0(a, nv, uint64_t),
		.fixed_down = FAB_ARENA_NEW0(a, nv, uint64_t),
		.fixed_up = FAB_ARENA_NEW0(a, nv, uint64_t),
		.fixed_served = FAB_ARENA_NEW0(a, nv, uint64_t),
		.fixed_server = FAB_ARENA_NEW0(a, (size_t)m->n_servers + 1, uint64_t),
		.offer = FAB_ARENA_NEW(a, (size_t)m->n_interfaces + 1, uint64_t),
		.place = FAB_ARENA_NEW(a, (size_t)m->n_interfaces + 1, uint32_t),
		.n_interfaces = FAB_ARENA_NEW0(a, (size_t)m->n_servers + 1, uint32_t),
		.inner = FAB_ARENA_NEW(a, (size_t)nv + 1, uint32_t),
		.node_mbps = flow,
		.transfer_mbps = fab_limits_transfer_mbps(m, batch)};
	is_inner = FAB_ARENA_NEW0(a, nv, bool);
	FAB_EACH_NODE(batch, node) {
		uint32_t v = m->node_vertex[node];

		b->below[m->parent[v]]++;
		b->node_mbps = fmin(b->node_mbps, m->capacity_mbps[v]);
		for (v = m->parent[v]; v != FAB_NONE && !is_inner[v]; v = m->parent[v])
			is_inner[v] = true;
	}
	for (uint32_t i = 0; i < m->n_interfaces; i++) {
		b->place[i] = b->n_interfaces[m->interface_server[i]]++;
		b->has_joint |= b->place[i] > 0;
		for (uint32_t v = m->interface_vertex[i]; v != FAB_NONE && !is_inner[v];
		     v = m->parent[v])
			is_inner[v] = true;
	}
	b->has_joint &= m->limits.disk_mbps > 0 || m->limits.connections;
	for (uint32_t v = 0; v < nv; v++)
		if (is_inner[v])
			b->inner[b->n_inner++] = v;
	b->capacity = FAB_ARENA_NEW(a, (size_t)b->n_inner + 4, double);
	if (isfinite(b->node_mbps))
		b->capacity[n++] = b->node_mbps;
	if (b->m->limits.disk_mbps > 0)
		b->capacity[n++] = b->m->limits.disk_mbps;
	if (b->m->limits.connections && isfinite(b->transfer_mbps))
		b->capacity[n++] = b->transfer_mbps;
	for (uint32_t i = 0; i < b->n_inner; i++)
		if (isfinite(m->capacity_mbps[b->inner[i]]))
			b->capacity[n++] = m->capacity_mbps[b->inner[i]];
	qsort(b->capacity, n, sizeof(*b->capacity), fab_cmp_double);
	for (size_t i = 0; i < n; i++)
		if (!i || b->capacity[i] > b->capacity[i - 1])
			b->capacity[b->n_capacities++] = b->capacity[i];
}

/* The least bandwidth at which a segment is full (a capacity divided by a whole number)
 * that is not below x; above it when is_above. INFINITY: no segment. */
static double next_full(const struct balance *b, double x, bool is_above)
{
	double least = INFINITY;

	for (size_t i = 0; i < b->n_capacities; i++) {
		double c = b->capacity[i];
		double n = is_above ? ceil(c / x * (1 - SAME)) - 1
				    : floor(c / x * (1 + SAME));

		if (n >= 1)
			least = fmin(least, c / n);
	}
	return least;
}

/* The largest possible bandwidth; INFINITY when nothing is limited. */
static double best(struct balance *b)
{
	double low, high;

	high = b->n_capacities ? 2 * b->capacity[b->n_capacities - 1] : 1;
	if (!b->n_capacities || is_possible(b, high)) {
		is_possible(b, 1e-9);
		return INFINITY;
	}
	/* all nodes on the narrowest segment */
	low = b->capacity[0] / (double)b->batch->n;
	for (;;) {
		double middle = sqrt(low * high), at = next_full(b, middle, false);

		if (next_full(b, low, true) >= high * (1 - SAME))
			break;
		if (at >= high * (1 - SAME))
			high = middle; /* no segment is full between the two */
		else if (is_possible(b, at))
			low = at;
		else
			high = at;
	}
	is_possible(b, low);
	return low;
}

static double best_of(const struct fab_machine *m, const struct fab_batch *batch)
{
	FAB_AUTO(fab_arena_free) struct fab_arena a = FAB_ARENA_INIT;
	struct balance b;

	init(&b, &a, m, batch);
	return best(&b);
}

/* Can the servers send all images, divided at will, when the largest one is to come at a
 * pace? As is_enough(), without whole numbers and limits of transfers. */
static bool has_room(const struct fab_machine *m, const struct fab_batch *batch,
		     double pace, double *demand, double *supply)
{
	memset(demand, 0, m->n_vertices * sizeof(*demand));
	memset(supply, 0, m->n_vertices * sizeof(*supply));
	FAB_EACH_NODE(batch, node)
		demand[m->node_vertex[node]] += pace * fab_machine_part(m, node);
	for (uint32_t i = 0; i < m->n_interfaces; i++)
		if (fab_interface_is_up(m, i))
			supply[m->interface_vertex[i]] = INFINITY;
	for (uint32_t v = m->n_vertices; v-- > 0;) {
		double d = demand[v], s = supply[v];
		double served = d < s ? d : s, most = v ? m->capacity_mbps[v] : 0;

		if (d - served > most)
			return false;
		if (!v)
			break;
		demand[m->parent[v]] += d - served;
		supply[m->parent[v]] += fmin(isinf(s) ? s : s - served, most);
	}
	return true;
}

/*
 * Where images differ, a bound. Nodes with an image of some size or a larger one are as
 * late as that size makes them alone, and with all of their images the segments are full
 * at least as long as these take; both hold by equal shares and by max-min.
 */
static double bound_of_parts(const struct fab_machine *m, const struct fab_batch *batch)
{
	FAB_AUTOFREE double *sorted = FAB_NEW((size_t)batch->n + 1, double);
	FAB_AUTOFREE double *room = FAB_NEW(2 * (size_t)m->n_vertices, double);
	FAB_AUTOFREE uint32_t *node = FAB_NEW((size_t)batch->n + 1, uint32_t);
	double pace = INFINITY, low = 0;

	for (uint32_t i = 0; i < batch->n; i++)
		sorted[i] = fab_machine_part(m, batch->node[i]);
	qsort(sorted, batch->n, sizeof(*sorted), fab_cmp_double);
	for (uint32_t k = 0; k < batch->n; k++) {
		struct fab_batch larger = {.node = node};

		if (k && sorted[k] <= sorted[k - 1])
			continue;
		for (uint32_t i = 0; i < batch->n; i++)
			if (fab_machine_part(m, batch->node[i]) >= sorted[k])
				node[larger.n++] = batch->node[i];
		pace = fmin(pace, best_of(m, &larger) / sorted[k]);
	}
	if (isinf(pace) || has_room(m, batch, pace, room, room + m->n_vertices))
		return pace;
	while (pace - low > 1e-12 * pace) {
		double middle = low + (pace - low) / 2;

		if (has_room(m, batch, middle, room, room + m->n_vertices))
			low = middle;
		else
			pace = middle;
	}
	return pace;
}

double fab_mapping_upper_bound_mbps(const struct fab_machine *m,
				    const struct fab_batch *batch)
{
	return m->image_part ? bound_of_parts(m, batch) : best_of(m, batch);
}

bool fab_mapping_attains(const struct fab_machine *m, const struct fab_batch *batch,
			 double mbps)
{
	FAB_AUTO(fab_arena_free) struct fab_arena a = FAB_ARENA_INIT;
	struct balance b;

	init(&b, &a, m, batch);
	return is_possible(&b, mbps);
}

struct child {
	uint32_t vertex;
	uint64_t left; /* nodes that it still takes */
	double weight; /* rate of the interfaces below */
	double taken;
};

/* The child that is least loaded for what it can do. */
static bool is_before(const struct child *a, const struct child *b)
{
	double x = (a->taken + 1) / a->weight, y = (b->taken + 1) / b->weight;

	return x < y || (!(y < x) && a->vertex < b->vertex);
}

static void sift(struct child *heap, size_t n, size_t i)
{
	for (;;) {
		size_t k = 2 * i + 1;
		struct child swap;

		if (k >= n)
			return;
		k += k + 1 < n && is_before(&heap[k + 1], &heap[k]);
		if (!is_before(&heap[k], &heap[i]))
			return;
		swap = heap[i];
		heap[i] = heap[k];
		heap[k] = swap;
		i = k;
	}
}

/* Children of a vertex that have servers, and the rate of interfaces below a vertex. */
struct handout {
	uint32_t *first, *next;
	double *weight;
};

/* Nodes of a vertex to its n children in turn, while all are alike and take more: the
 * heap would give the same. Returns the number of children that still take nodes. */
static size_t hand_in_turn(uint32_t v, struct child *child, size_t n,
			   struct fab_queues *kept)
{
	uint64_t rounds = UINT64_MAX;
	size_t n_left = 0;

	for (size_t i = 0; i < n; i++) {
		bool is_alike = !(child[i].weight < child[0].weight) &&
				!(child[i].weight > child[0].weight) &&
				!(child[i].taken < child[0].taken) &&
				!(child[i].taken > child[0].taken);

		rounds = !is_alike ? 0 : child[i].left < rounds ? child[i].left : rounds;
	}
	for (uint64_t k = 0; k < rounds && n && kept->head[v] != FAB_NONE; k++)
		for (size_t i = 0; i < n && kept->head[v] != FAB_NONE; i++)
			fab_queues_append(kept, child[i].vertex, fab_queues_pop(kept, v));
	for (size_t i = 0; i < n; i++) {
		child[i].left -= rounds;
		if (child[i].left)
			child[n_left++] = child[i];
	}
	return n_left;
}

/* Nodes of a vertex to its children, evenly, none more than it can take. */
static void hand_down(const struct balance *b, const struct handout *h, uint32_t v,
		      struct child *heap, struct fab_queues *kept)
{
	size_t n = 0;

	for (uint32_t c = h->first[v]; c != FAB_NONE; c = h->next[c])
		if (b->supply[c])
			heap[n++] = (struct child){c, b->supply[c], h->weight[c],
						   (double)b->fixed_served[c]};
	n = hand_in_turn(v, heap, n, kept);
	for (size_t i = n; i-- > 0;)
		sift(heap, n, i);
	while (kept->head[v] != FAB_NONE && n) {
		fab_queues_append(kept, heap[0].vertex, fab_queues_pop(kept, v));
		heap[0].taken++;
		if (--heap[0].left == 0)
			heap[0] = heap[--n];
		sift(heap, n, 0);
	}
}

/* Interfaces by the bandwidth of best() for the nodes of the batch that have no interface
 * yet: each vertex keeps those that it serves and lifts the rest to its parent, then
 * hands its own down. */
static void give_interfaces(const struct balance *b, uint32_t *interface_of)
{
	const struct fab_machine *m = b->m;
	uint32_t nv = m->n_vertices;
	FAB_AUTO(fab_queues_fini) struct fab_queues wait = fab_queues_new(nv, m->n_nodes);
	FAB_AUTO(fab_queues_fini) struct fab_queues kept = fab_queues_new(nv, m->n_nodes);
	FAB_AUTO(fab_arena_free) struct fab_arena a = FAB_ARENA_INIT;
	struct handout h = {.first = fab_arena_none(&a, nv),
			    .next = FAB_ARENA_NEW(&a, nv, uint32_t),
			    .weight = FAB_ARENA_NEW0(&a, nv, double)};
	struct child *heap = FAB_ARENA_NEW(&a, nv, struct child);
	FAB_AUTOFREE double *rate = fab_limits_interfaces(m);

	FAB_EACH_NODE(b->batch, node) {
		if (interface_of[node] == FAB_NONE)
			fab_queues_append(&wait, m->node_vertex[node], node);
	}
	for (uint32_t i = 0; i < m->n_interfaces; i++)
		h.weight[m->interface_vertex[i]] = isfinite(rate[i]) ? rate[i] : 1;

	for (uint32_t v = nv; v-- > 0;) {
		uint32_t p = m->parent[v];

		if (v && h.weight[v] > 0) {
			h.weight[p] += h.weight[v];
			h.next[v] = h.first[p];
			h.first[p] = v;
		}
		for (uint64_t i = 0; i < b->served[v]; i++)
			fab_queues_append(&kept, v, fab_queues_pop(&wait, v));
		if (wait.head[v] == FAB_NONE)
			continue;
		if (wait.head[p] == FAB_NONE)
			wait.tail[p] = wait.tail[v];
		else
			wait.next[wait.tail[v]] = wait.head[p];
		wait.head[p] = wait.head[v];
	}
	for (uint32_t v = 0; v < nv; v++)
		if (h.first[v] != FAB_NONE && kept.head[v] != FAB_NONE)
			hand_down(b, &h, v, heap, &kept);
		else
			while (kept.head[v] != FAB_NONE)
				interface_of[fab_queues_pop(&kept, v)] =
					m->first_interface[v];
}

void fab_mapping_by_counts(const struct fab_machine *m, const struct fab_batch *batch,
			   uint32_t *interface_of)
{
	FAB_AUTO(fab_arena_free) struct fab_arena arena = FAB_ARENA_INIT;
	struct balance b;

	init(&b, &arena, m, batch);
	FAB_EACH_NODE(batch, node) {
		uint32_t a = m->node_vertex[node], s;

		if (interface_of[node] == FAB_NONE)
			continue;
		b.below[m->parent[a]]--;
		b.n_fixed++;
		b.fixed_server[m->interface_server[interface_of[node]]]++;
		s = m->interface_vertex[interface_of[node]];
		for (uint32_t v = s; v != FAB_NONE; v = m->parent[v])
			b.fixed_served[v]++;
		for (struct fab_climb c = {a, s}; fab_climb_next(&c, m);)
			(c.is_up ? b.fixed_up : b.fixed_down)[c.at]++;
	}
	if (b.n_fixed < batch->n) {
		best(&b);
		give_interfaces(&b, interface_of);
	}
}

void fab_mapping_complete(const struct fab_machine *m, const struct fab_batch *batch,
			  uint32_t *interface_of)
{
	if (m->image_part)
		fab_mapping_fill(m, batch, true, interface_of);
	else
		fab_mapping_by_counts(m, batch, interface_of);
}
