/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Engines minhop and updn as OpenSM has them: the ports by which each switch reaches a
 * destination with the fewest (legal) hops, and a choice among these for each LID.
 */
#include "unicast/engine.h"

#include "base/arena.h"
#include "base/progress.h"
#include "base/threads.h"
#include "fabric/graph.h"
#include "fabric/ranks.h"
#include "unicast/faults.h"
#include "unicast/routes.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/*
 * With ranks a path goes up (to a lower rank, or to an equal one of higher GUID; between
 * roots in both directions) and then down, and is found as OpenSM's engine updn finds it.
 */
struct min_hops {
	struct fab_arena arena;
	const struct fab_fabric *f;
	const struct fab_faults *faults;
	const uint32_t *rank; /* [n_switches] 0 the roots; NULL: every path is legal */
	/* of the destination that was searched last */
	uint32_t *hops;	      /* [n_switches] FAB_NONE: no path */
	uint32_t *port_first; /* [n_switches + 1] into port */
	uint16_t *port;	      /* arcs of fewest hops, counted from arc_first, ascending */
	/* scratch */
	uint32_t *queue;    /* [n_switches] */
	uint32_t *arc_hops; /* [arcs] */
	bool *goes_down, *is_queued;
};

static void min_hops_init(struct min_hops *m, const struct fab_fabric *f,
			  const struct fab_faults *faults, const uint32_t *rank)
{
	size_t n = (size_t)f->n_switches + 1, arcs = f->arc_first[f->n_switches] + 1U;

	*m = (struct min_hops){.f = f, .faults = faults, .rank = rank};
	m->queue = FAB_ARENA_NEW(&m->arena, n, uint32_t);
	m->hops = FAB_ARENA_NEW(&m->arena, n, uint32_t);
	m->port_first = FAB_ARENA_NEW(&m->arena, n, uint32_t);
	m->port = FAB_ARENA_NEW(&m->arena, arcs, uint16_t);
	if (!rank)
		return;
	m->arc_hops = FAB_ARENA_NEW(&m->arena, arcs, uint32_t);
	m->goes_down = FAB_ARENA_NEW0(&m->arena, n, bool);
	m->is_queued = FAB_ARENA_NEW0(&m->arena, n, bool);
}

/* Is the step from u to v, away from the destination, one down the ranks? */
static bool is_down(const struct min_hops *m, uint32_t u, uint32_t v)
{
	const uint64_t *guid = m->f->node_guid;

	if (!m->rank[u] && !m->rank[v])
		return false; /* between roots in either direction, as OpenSM has it */
	if (m->rank[u] != m->rank[v])
		return m->rank[u] < m->rank[v];
	return guid[u] <= guid[v];
}

/*
 * Hops with ranks, breadth first over arcs: a switch learns the hops of each of its ports
 * from the neighbour there, if that may go on so. A switch that learns of another port is
 * looked at again, in the sense in which that was found.
 */
static void search_ranked(struct min_hops *m, uint32_t to)
{
	const struct fab_fabric *f = m->f;
	uint32_t n = f->n_switches, head = 0, n_queued = 1;

	memset(m->hops, 0xff, n * sizeof(*m->hops));
	memset(m->arc_hops, 0xff, f->arc_first[n] * sizeof(*m->arc_hops));
	m->hops[to] = 0;
	m->goes_down[to] = false;
	m->queue[0] = to;
	for (; n_queued; n_queued--, head = (head + 1) % n) {
		uint32_t u = m->queue[head];

		m->is_queued[u] = false;
		FAB_EACH_ARC(f, u, a) {
			uint32_t v = f->arc_peer[a], hops = m->hops[u] + 1;
			uint32_t back = fab_arc_back(f, a);
			bool down = is_down(m, u, v);

			if (v == to || !fab_arc_is_live(m->faults, a) ||
			    (m->goes_down[u] && !down) || hops >= m->arc_hops[back])
				continue;
			m->arc_hops[back] = hops;
			if (hops < m->hops[v])
				m->hops[v] = hops;
			if (m->is_queued[v])
				continue;
			m->is_queued[v] = true;
			m->goes_down[v] = down;
			m->queue[(head + n_queued++) % n] = v;
		}
	}
}

/* Search towards a live switch. O(arcs); with ranks a switch may be looked at again. */
static void min_hops_to(struct min_hops *m, uint32_t to)
{
	const struct fab_fabric *f = m->f;
	uint32_t i = 0;

	if (m->rank)
		search_ranked(m, to);
	else
		fab_faults_search(f, m->faults, to, m->hops, m->queue);
	for (uint32_t s = 0; s < f->n_switches; s++) {
		m->port_first[s] = i;
		if (m->hops[s] == FAB_NONE || !m->hops[s])
			continue;
		FAB_EACH_ARC(f, s, a)
			if (m->rank ? m->arc_hops[a] == m->hops[s]
				    : fab_arc_is_live(m->faults, a) &&
					      m->hops[f->arc_peer[a]] + 1 == m->hops[s])
				m->port[i++] = (uint16_t)(a - f->arc_first[s]);
	}
	m->port_first[f->n_switches] = i;
}

struct balance {
	struct fab_routes *r;
	struct min_hops paths;
	uint32_t *load; /* [arcs] LIDs of adapters that go by it */
	/* rows by the switch that they lead to */
	uint32_t *last_row;	  /* [n_switches] FAB_NONE */
	FAB_VEC(uint32_t) before; /* [rows] another row to the same switch, FAB_NONE */
};

static uint64_t system_of(const struct fab_fabric *f, uint32_t sw)
{
	return f->node_sys_guid[sw] ? f->node_sys_guid[sw] : f->node_guid[sw];
}

/* Earlier LIDs of a port at a switch: how many went to one neighbour, and whether one
 * went to its system. */
struct earlier {
	uint32_t n;
	bool is_same_system;
};

static struct earlier look_back(const struct balance *b, const struct fab_destination *d,
				uint32_t sw, uint32_t peer)
{
	const struct fab_fabric *f = b->r->f;
	bool counts = !fab_node_is_switch(f, f->port_node[d->port]);
	struct earlier e = {0};

	for (uint32_t k = 1; counts && k <= d->offset; k++) {
		uint16_t arc = fab_routes_next(b->r, d->column - k)[sw];
		uint32_t to;

		if (arc >= FAB_ARC_BROKEN)
			continue;
		to = f->arc_peer[f->arc_first[sw] + arc];
		e.n += to == peer;
		e.is_same_system |= system_of(f, to) == system_of(f, peer);
	}
	return e;
}

/* The best port so far, by LIDs on it. */
struct best {
	uint32_t load;
	uint16_t arc;
};

static bool improve(struct best *best, uint16_t arc, uint32_t load)
{
	if (load >= best->load)
		return false;
	*best = (struct best){load, arc};
	return true;
}

/* The port of a further LID of the same end port. */
static uint16_t choose_further(const struct balance *b, const struct fab_destination *d,
			       uint32_t sw, const uint16_t *ports, uint32_t n)
{
	const struct fab_fabric *f = b->r->f;
	uint16_t last = fab_routes_next(b->r, d->column - 1)[sw];
	struct best any = {UINT32_MAX, FAB_ARC_NONE}, node = any, system = any;
	uint32_t least_sent = UINT32_MAX, first = 0;

	while (first < n && last < FAB_ARC_BROKEN && ports[first] <= last)
		first++;
	for (uint32_t i = 0; i < n; i++) {
		uint16_t port = ports[(first + i) % n];
		uint32_t arc = f->arc_first[sw] + port, load = b->load[arc];
		struct earlier e = look_back(b, d, sw, f->arc_peer[arc]);

		if (!e.is_same_system)
			improve(&system, port, load);
		else if (!e.n)
			improve(&node, port, load);
		if (improve(&any, port, load)) {
			if (e.n && e.n < least_sent)
				least_sent = e.n;
		} else if (e.n && load == any.load && e.n < least_sent) {
			least_sent = e.n;
			any.arc = port;
		}
	}
	if (system.arc != FAB_ARC_NONE)
		return system.arc;
	return node.arc != FAB_ARC_NONE ? node.arc : any.arc;
}

/* Give a column the row `next`, which others may have already. */
static void keep(struct balance *b, const struct fab_destination *d, const uint16_t *next)
{
	struct fab_routes *r = b->r;
	uint32_t n = r->f->n_switches, row = b->last_row[d->sw];

	while (row != FAB_NONE &&
	       memcmp(r->next + (size_t)row * n, next, n * sizeof(*next)) != 0)
		row = b->before.v[row];
	if (row == FAB_NONE) {
		row = fab_routes_add_row(r);
		memcpy(r->next + (size_t)row * n, next, n * sizeof(*next));
		FAB_PUSH(&b->before, b->last_row[d->sw]);
		b->last_row[d->sw] = row;
	}
	r->column_row[d->column] = row;
}

static void route_all(struct balance *b, const struct fab_destination *d, uint32_t n)
{
	const struct fab_fabric *f = b->r->f;
	FAB_AUTOFREE uint16_t *next = FAB_NEW((size_t)f->n_switches + 1, uint16_t);

	for (uint32_t i = 0; i < n; i++) {
		uint32_t c = d[i].column, lid = f->port_lid[d[i].port];
		const struct min_hops *m = &b->paths;
		bool counts;

		fab_progress_report("routing", "destinations", i, n);
		if (!i || d[i].sw != d[i - 1].sw)
			min_hops_to(&b->paths, d[i].sw);
		b->r->column_port[c] = d[i].port;
		b->r->column_switch[c] = d[i].sw;
		b->r->column_lid[c] = (uint16_t)(lid ? lid + d[i].offset : 0);
		/* The row of a destination; the paths to its switch are known. */
		counts = !fab_node_is_switch(f, f->port_node[d[i].port]);
		memset(next, 0xff, f->n_switches * sizeof(*next));
		next[d[i].sw] = FAB_ARC_HERE;
		for (uint32_t sw = 0; sw < f->n_switches; sw++) {
			const uint16_t *ports = m->port + m->port_first[sw];
			uint32_t n_ports = m->port_first[sw + 1] - m->port_first[sw];
			struct best best = {UINT32_MAX, FAB_ARC_NONE};

			if (!n_ports) /* no path, or the destination */
				continue;
			for (uint32_t p = 0; !d[i].offset && p < n_ports; p++)
				improve(&best, ports[p],
					b->load[f->arc_first[sw] + ports[p]]);
			next[sw] = d[i].offset
					   ? choose_further(b, &d[i], sw, ports, n_ports)
					   : best.arc;
			if (counts)
				b->load[f->arc_first[sw] + next[sw]]++;
		}
		keep(b, &d[i], next);
	}
}

/*
 * Tables by LID for everything alive that has one or will get one: switches, adapters of
 * hosts, aggregation nodes, routers. `rank` NULL: any path is legal. Each switch sends a
 * LID by the port of fewest hops that serves the fewest LIDs of adapters so far, the
 * lowest of equal ones, in the order of fab_destinations(). Further LIDs of a port (LMC)
 * begin after the port of the one before and prefer neighbours of other systems, then
 * other neighbours. O(switches * arcs + LIDs * shortest ports); columns that are alike
 * share a row. Source: OpenSM 3.3, its unicast manager.
 */
static struct fab_routes *balance_route(const struct fab_unicast_problem *problem,
					const uint32_t *rank)
{
	const struct fab_fabric *f = problem->f;
	size_t n_switches = (size_t)f->n_switches + 1;
	struct balance b = {0};
	FAB_AUTOFREE struct fab_destination *all = NULL;
	uint32_t n;

	n = fab_destinations(f, problem->faults, &all);
	b.r = fab_routes_new_by_lid(f, problem->faults, n);
	min_hops_init(&b.paths, f, problem->faults, rank);
	b.load = FAB_NEW0(f->arc_first[f->n_switches] + 1U, uint32_t);
	b.last_row = fab_none_new(n_switches);
	route_all(&b, all, n);
	b.r->leaf = FAB_NEW(n_switches, uint32_t);
	b.r->n_leaves =
		fab_destination_switches(f, problem->faults, problem->kfat, b.r->leaf);
	FAB_FREE_ALL(b.load, b.last_row, b.before.v);
	fab_arena_free(&b.paths.arena);
	return b.r;
}

/*
 * As OpenSM's engine minhop: the fewest hops, and among the ports that have them the one
 * that serves the fewest LIDs so far. Equal to the choice of OpenSM 3.3 with default
 * options after a start; while it runs it keeps its ports while they are shortest.
 */

static int route_minhop(const struct fab_unicast_engine *self,
			const struct fab_unicast_problem *problem,
			struct fab_routes **out, struct fab_err *err)
{
	(void)self;
	(void)err;
	*out = balance_route(problem, NULL);
	return 0;
}

const struct fab_unicast_engine fab_unicast_minhop = {
	.name = "minhop",
	.summary = "fewest hops, ports balanced, as OpenSM does",
	.manual =
		"Fewest hops as OpenSM's minhop: each LID by the port of fewest hops that serves the fewest LIDs so far, those of switches not counted.",
	.imitates_opensm = true,
	.caveat = FAB_CAVEAT_OPENSM,
	.route = route_minhop,
};

/* Hops of all switches to the nearest of roots[n], each once, over what is alive. */
static void hops_from(const struct fab_fabric *f, const struct fab_faults *faults,
		      const uint32_t *roots, uint32_t n, uint32_t *hops)
{
	const struct fab_graph g = fab_graph_of_arcs(f);
	FAB_AUTOFREE uint32_t *queue = FAB_NEW((size_t)f->n_switches + 1, uint32_t);

	memcpy(queue, roots, n * sizeof(*roots));
	fab_graph_search(&g, faults ? faults->arc_is_dead : NULL, n, hops, queue, NULL);
}

/*
 * Ranks of all switches: hops from the nearest root. In a part of the fabric without a
 * root every path is legal (rank 0: between roots), as OpenSM falls back to the fewest
 * hops. Returns how many parts of several switches these are. O(cables).
 */
static uint32_t updn_rank(const struct fab_fabric *f, const struct fab_faults *faults,
			  const uint32_t *roots, uint32_t n_roots, uint32_t *rank)
{
	FAB_AUTO(fab_arena_free) struct fab_arena arena = FAB_ARENA_INIT;
	uint32_t *part = FAB_ARENA_NEW(&arena, f->n_switches + 1, uint32_t), n_free = 0;
	size_t n = (size_t)fab_fabric_components(f, part) + 1;
	bool *has_root = FAB_ARENA_NEW0(&arena, n, bool);
	bool *is_counted = FAB_ARENA_NEW0(&arena, n, bool);

	hops_from(f, faults, roots, n_roots, rank);
	for (uint32_t s = 0; s < f->n_switches; s++)
		has_root[part[s]] |= !rank[s];
	for (uint32_t s = 0; s < f->n_switches; s++) {
		bool has_peer = f->peer_first[s + 1] > f->peer_first[s];

		if (has_root[part[s]])
			continue;
		rank[s] = 0;
		n_free += has_peer && !is_counted[part[s]];
		is_counted[part[s]] |= has_peer;
	}
	return n_free;
}

struct fab_updn_loss fab_updn_try_roots(const struct fab_fabric *f,
					const struct fab_faults *faults,
					const uint32_t *roots, uint32_t n_roots,
					int n_threads)
{
	FAB_AUTO(fab_arena_free) struct fab_arena arena = FAB_ARENA_INIT;
	size_t n = (size_t)f->n_switches + 1;
	uint32_t *rank = FAB_ARENA_NEW(&arena, n, uint32_t);
	/* live host ports of each switch, those that --hca left out, too, and the first
	 * of their adapters, or the switch itself; parts of what is alive */
	uint32_t *n_ends = FAB_ARENA_NEW0(&arena, n, uint32_t);
	uint32_t *first = FAB_ARENA_NEW(&arena, n, uint32_t);
	uint32_t *part = FAB_ARENA_NEW(&arena, n, uint32_t);
	struct fab_updn_loss *of = FAB_ARENA_NEW0(&arena, n, struct fab_updn_loss);
	struct fab_updn_loss sum = {.from = FAB_NONE, .to = FAB_NONE};
	const struct fab_graph g = fab_graph_of_arcs(f);

	n_threads = fab_threads_for(n_threads, (uint64_t)f->n_switches *
						       f->arc_first[f->n_switches]);
	updn_rank(f, faults, roots, n_roots, rank);
	fab_graph_parts(&g, faults ? faults->arc_is_dead : NULL, part);
	for (uint32_t s = 0; s < f->n_switches; s++) {
		n_ends[s] = fab_switch_is_live(faults, s) ? f->switch_n_left_out[s] : 0;
		first[s] = s;
	}
	for (uint32_t c = f->n_switch_links; c < f->n_switch_links + f->n_host_links;
	     c++) {
		uint32_t sw = f->port_node[f->cable_a[c]];
		uint32_t node = f->port_node[f->cable_b[c]];

		if (f->node_kind[node] != FAB_ADAPTER || !fab_cable_is_live(faults, c))
			continue;
		if (first[sw] == sw)
			first[sw] = node;
		n_ends[sw]++;
	}
#pragma omp parallel num_threads(n_threads)
	{
		struct min_hops m;

		min_hops_init(&m, f, faults, rank);
#pragma omp for schedule(dynamic)
		for (uint32_t s = 0; s < f->n_switches; s++) {
			struct fab_updn_loss loss = {.from = FAB_NONE, .to = FAB_NONE};

			if (!n_ends[s])
				continue;
			/* Pairs towards one switch. */
			min_hops_to(&m, s);
			for (uint32_t k = 0; k < f->n_switches; k++) {
				uint64_t pairs =
					(uint64_t)n_ends[s] * (n_ends[k] - (k == s));

				if (!n_ends[k] || part[k] != part[s])
					continue;
				loss.all += pairs;
				if (m.hops[k] != FAB_NONE)
					continue;
				loss.pairs += pairs;
				if (loss.from == FAB_NONE) {
					loss.from = first[k];
					loss.to = first[s];
				}
			}
			of[s] = loss;
		}
		fab_arena_free(&m.arena);
	}
	for (uint32_t s = 0; s < f->n_switches; s++) {
		if (sum.from == FAB_NONE && of[s].pairs) {
			sum.from = of[s].from;
			sum.to = of[s].to;
		}
		sum.all += of[s].all;
		sum.pairs += of[s].pairs;
	}
	return sum;
}

/*
 * As OpenSM's engine updn, by a list of roots or without: then a switch is a root when
 * the ports of channel adapters, SHARP nodes included, stand at one distance from it,
 * more than 90 % of them, and no other distance has more than 5 %. Ranks are distances
 * from the roots; paths go up, then down. Without roots OpenSM falls back to the fewest
 * hops and says so in its log only. Where it is asked for, roots are the switches of the
 * top rank (fabric/ranks.h) if every pair of hosts has a path then, and where nothing is
 * found the switch nearest to all hosts.
 */

/* hosts at each distance of a switch: one bar over 90 %, and the same one alone over 5 %
 */
static bool is_root(const struct fab_fabric *f, const uint32_t *hosts, uint64_t all,
		    const uint32_t *dist, uint64_t *bars)
{
	unsigned n_high = 0, n_low = 0;

	memset(bars, 0, (f->n_switches + 1) * sizeof(*bars));
	for (uint32_t sw = 0; sw < f->n_switches; sw++)
		if (dist[sw] != FAB_NONE)
			bars[dist[sw]] += hosts[sw];
	for (uint32_t i = 0; i < f->n_switches; i++) {
		n_high += bars[i] * 10 > all * 9;
		n_low += bars[i] * 20 > all;
	}
	return n_high == 1 && n_low == 1;
}

/* Data of the search for roots. */
struct look {
	struct fab_arena arena;
	uint32_t *part;
	uint32_t *hosts; /* live ports of channel adapters on it */
	uint32_t *dist;	 /* of the last search */
	uint32_t *order;
};

static void look_init(struct look *l, const struct fab_fabric *f,
		      const struct fab_faults *faults)
{
	size_t n = (size_t)f->n_switches + 1;

	*l = (struct look){.part = NULL};
	l->part = FAB_ARENA_NEW(&l->arena, n, uint32_t);
	l->hosts = FAB_ARENA_NEW0(&l->arena, n, uint32_t);
	l->dist = FAB_ARENA_NEW(&l->arena, n, uint32_t);
	l->order = FAB_ARENA_NEW(&l->arena, n, uint32_t);
	fab_fabric_components(f, l->part);
	for (uint32_t c = f->n_switch_links; c < f->n_switch_links + f->n_host_links;
	     c++) {
		uint32_t kind = f->node_kind[f->port_node[f->cable_b[c]]];

		if (kind != FAB_ROUTER && fab_cable_is_live(faults, c))
			l->hosts[f->port_node[f->cable_a[c]]]++;
	}
}

static uint32_t find_roots(const struct fab_fabric *f, const struct fab_faults *faults,
			   uint32_t *roots)
{
	uint64_t *bars;
	uint64_t *all; /* hosts of each part */
	uint32_t n_roots = 0;
	struct look l;

	look_init(&l, f, faults);
	bars = FAB_ARENA_NEW(&l.arena, f->n_switches + 1U, uint64_t);
	all = FAB_ARENA_NEW0(&l.arena, f->n_switches + 1U, uint64_t);
	for (uint32_t sw = 0; sw < f->n_switches; sw++)
		all[l.part[sw]] += l.hosts[sw];
	for (uint32_t sw = 0; sw < f->n_switches; sw++)
		if (fab_faults_search(f, faults, sw, l.dist, l.order) &&
		    is_root(f, l.hosts, all[l.part[sw]], l.dist, bars))
			roots[n_roots++] = sw;
	fab_arena_free(&l.arena);
	return n_roots;
}

uint32_t fab_updn_fill_roots(const struct fab_fabric *f, const struct fab_faults *faults,
			     const uint32_t *rank, uint32_t *roots, uint32_t n)
{
	/* of the part alive, by its first switch */
	uint32_t *best;
	uint64_t *least;
	struct look l;

	look_init(&l, f, faults);
	best = fab_arena_none(&l.arena, f->n_switches + 1U);
	least = FAB_ARENA_NEW(&l.arena, f->n_switches + 1U, uint64_t);
	for (uint32_t sw = 0; sw < f->n_switches; sw++) {
		uint32_t n_near =
			rank[sw] == FAB_NONE
				? fab_faults_search(f, faults, sw, l.dist, l.order)
				: 0;
		uint32_t first = sw;
		uint64_t hops = 0;

		for (uint32_t i = 0; i < n_near; i++) {
			uint32_t to = l.order[i];

			first = to < first ? to : first;
			hops += (uint64_t)l.hosts[to] * l.dist[to];
		}
		if (n_near && (best[first] == FAB_NONE || hops < least[first])) {
			best[first] = sw;
			least[first] = hops;
		}
	}
	for (uint32_t sw = 0; sw < f->n_switches; sw++)
		if (best[sw] != FAB_NONE)
			roots[n++] = best[sw];
	fab_arena_free(&l.arena);
	return n;
}

/* "root-x.0 (0x...)", some of them; on the heap. */
static char *names_of(const struct fab_fabric *f, const uint32_t *roots, uint32_t n)
{
	const uint32_t most = 8;
	char *text = NULL;

	for (uint32_t i = 0; i < n && i < most; i++)
		fab_append(&text, ", ", "%s (0x%016" PRIx64 ")",
			   fab_node_name(f, roots[i]), f->node_guid[roots[i]]);
	fab_append_rest(&text, n, most);
	return text;
}

/* Ranks of all that is alive, from the roots that are there and those that are added. */
static char *rank_all(const struct fab_unicast_problem *problem, uint32_t *roots,
		      uint32_t n_roots, bool is_top, uint32_t *rank)
{
	uint32_t n;
	char *note = NULL;

	hops_from(problem->f, problem->faults, roots, n_roots, rank);
	n = fab_updn_fill_roots(problem->f, problem->faults, rank, roots, n_roots);
	hops_from(problem->f, problem->faults, roots, n, rank);
	if (is_top)
		fab_append(&note, "; ", "roots: the %u switch%s of the top rank", n_roots,
			   n_roots == 1 ? "" : "es");
	if (n > n_roots) {
		FAB_AUTOFREE char *names =
			names_of(problem->f, roots + n_roots, n - n_roots);

		fab_append(&note, "; ", "root%s taken where OpenSM finds none: %s",
			   n - n_roots == 1 ? "" : "s", names);
	}
	return note;
}

/* The live roots of the rank finder, if every pair of hosts has a path from them. */
static uint32_t take_top(const struct fab_unicast_problem *problem, uint32_t *roots)
{
	const struct fab_fabric *f = problem->f;
	FAB_AUTO(fab_shape_free_at) struct fab_shape *shape = fab_shape_recognize(f);
	FAB_AUTO(fab_ranks_fini) struct fab_ranks ranks;
	uint32_t n = 0;

	fab_ranks_init(&ranks, f, shape);
	for (uint32_t s = 0; s < f->n_switches; s++)
		if (ranks.is_root[s] && fab_switch_is_live(problem->faults, s))
			roots[n++] = s;
	if (n &&
	    fab_updn_try_roots(f, problem->faults, roots, n, problem->n_threads).pairs)
		n = 0;
	return n;
}

static int route_updn(const struct fab_unicast_engine *self,
		      const struct fab_unicast_problem *problem, struct fab_routes **out,
		      struct fab_err *err)
{
	FAB_AUTO(fab_arena_free) struct fab_arena arena = FAB_ARENA_INIT;
	const struct fab_fabric *f = problem->f;
	uint32_t *rank = FAB_ARENA_NEW(&arena, f->n_switches + 1, uint32_t);
	uint32_t *roots = FAB_ARENA_NEW(&arena, f->n_switches + 1, uint32_t);
	uint32_t n_roots = 0, n_free = 0;
	bool fills = problem->fills_roots, is_top = false;
	char *note = NULL;

	(void)self;
	(void)err;
	if (problem->n_roots) {
		bool *is_root = FAB_ARENA_NEW0(&arena, f->n_switches + 1, bool);

		/* Those of the list that are alive. */
		for (uint32_t i = 0; i < problem->n_roots; i++) {
			uint32_t sw = problem->roots[i];

			if (!is_root[sw] && fab_switch_is_live(problem->faults, sw))
				roots[n_roots++] = sw;
			is_root[sw] = true;
		}
	} else if (fills)
		is_top = (n_roots = take_top(problem, roots)) > 0;
	if (!problem->n_roots && !n_roots)
		n_roots = find_roots(f, problem->faults, roots);
	if (!fills && n_roots)
		n_free = updn_rank(f, problem->faults, roots, n_roots, rank);
	if (fills)
		note = rank_all(problem, roots, n_roots, is_top, rank);
	else if (!n_roots)
		note = fab_format("no %s: falls back to the fewest hops, as OpenSM does",
				  problem->n_roots ? "root of the list is alive"
						   : "roots found");
	else if (n_free)
		note = fab_format(
			"no roots %s on %u of the planes: these fall back to the fewest hops, as OpenSM does",
			problem->n_roots ? "of the list" : "found", n_free);
	*out = balance_route(problem, n_roots || fills ? rank : NULL);
	(*out)->note = note;
	return 0;
}

const struct fab_unicast_engine fab_unicast_updn = {
	.name = "updn",
	.summary = "up, then down, from the roots that OpenSM would find",
	.manual =
		"Up, then down, from the roots of `--root-guids`, else from those that OpenSM finds without a list; without roots the fewest hops, as OpenSM. From one root all pairs have paths, without a credit loop.",
	.imitates_opensm = true,
	.caveat = FAB_CAVEAT_OPENSM,
	.route = route_updn,
};
