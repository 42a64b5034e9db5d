/* SPDX-License-Identifier: BSD-2-Clause */
#include "unicast/balance.h"

#include "base/progress.h"
#include "unicast/destinations.h"
#include "unicast/min_hops.h"

#include <stdlib.h>
#include <string.h>

struct balance {
	struct fab_routes *r;
	struct fab_min_hops paths;
	uint32_t *load; /* [arcs] LIDs of adapters that go by it */
	/* rows by the switch that they lead to */
	uint32_t *last_row; /* [n_switches] FAB_NONE */
	FAB_VEC(struct row) rows;
};

struct row {
	uint64_t digest;
	uint32_t before; /* another row to the same switch, FAB_NONE */
};

static uint64_t system_of(const struct fab_fabric *f, uint32_t sw)
{
	return f->node_sys_guid[sw] ? f->node_sys_guid[sw] : f->node_guid[sw];
}

/* What earlier LIDs of a port did at a switch, for one neighbour: how many went there,
 * and did one go to its system? */
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

static uint16_t choose(const struct balance *b, uint32_t sw, const uint16_t *ports,
		       uint32_t n)
{
	const uint32_t *load = b->load + b->r->f->arc_first[sw];
	struct best best = {UINT32_MAX, FAB_ARC_NONE};

	for (uint32_t i = 0; i < n; i++)
		improve(&best, ports[i], load[ports[i]]);
	return best.arc;
}

/* The row of a destination; the paths to its switch are known. */
static void fill(struct balance *b, const struct fab_destination *d, uint16_t *next)
{
	const struct fab_fabric *f = b->r->f;
	const struct fab_min_hops *m = &b->paths;
	bool counts = !fab_node_is_switch(f, f->port_node[d->port]);

	memset(next, 0xff, f->n_switches * sizeof(*next));
	next[d->sw] = FAB_ARC_HERE;
	for (uint32_t i = 1; i < m->n_order; i++) {
		uint32_t sw = m->order[i], first = m->port_first[sw];
		uint32_t n = m->port_first[sw + 1] - first;

		next[sw] = d->offset ? choose_further(b, d, sw, m->port + first, n)
				     : choose(b, sw, m->port + first, n);
		if (counts && next[sw] != FAB_ARC_NONE)
			b->load[f->arc_first[sw] + next[sw]]++;
	}
}

static uint64_t digest_of(const uint16_t *next, uint32_t n)
{
	uint64_t h = n;

	for (uint32_t i = 0; i < n; i++)
		h = (h ^ next[i]) * UINT64_C(0x9e3779b97f4a7c15);
	return h ^ h >> 32;
}

/* Give a column the row `next`, which others may have already. */
static void keep(struct balance *b, const struct fab_destination *d, const uint16_t *next)
{
	struct fab_routes *r = b->r;
	uint32_t n = r->f->n_switches, row = b->last_row[d->sw];
	uint64_t digest = digest_of(next, n);

	while (row != FAB_NONE &&
	       (b->rows.v[row].digest != digest ||
		memcmp(r->next + (size_t)row * n, next, n * sizeof(*next)) != 0))
		row = b->rows.v[row].before;
	if (row == FAB_NONE) {
		row = fab_routes_add_row(r);
		memcpy(r->next + (size_t)row * n, next, n * sizeof(*next));
		FAB_PUSH(&b->rows, ((struct row){digest, b->last_row[d->sw]}));
		b->last_row[d->sw] = row;
	}
	r->column_row[d->column] = row;
}

static void route_all(struct balance *b, const struct fab_destination *d, uint32_t n)
{
	const struct fab_fabric *f = b->r->f;
	uint16_t *next = FAB_NEW((size_t)f->n_switches + 1, uint16_t);

	for (uint32_t i = 0; i < n; i++) {
		uint32_t c = d[i].column, lid = f->port_lid[d[i].port];

		fab_progress_report("routing", "destinations", i, n);
		if (!i || d[i].sw != d[i - 1].sw)
			fab_min_hops_to(&b->paths, d[i].sw);
		b->r->column_port[c] = d[i].port;
		b->r->column_switch[c] = d[i].sw;
		b->r->column_lid[c] = (uint16_t)(lid ? lid + d[i].offset : 0);
		fill(b, &d[i], next);
		keep(b, &d[i], next);
	}
	free(next);
}

struct fab_routes *fab_balance_route(const struct fab_unicast_problem *problem,
				     const uint32_t *rank)
{
	const struct fab_fabric *f = problem->f;
	size_t n_switches = (size_t)f->n_switches + 1;
	struct balance b = {0};
	struct fab_destination *all;
	uint32_t n;

	n = fab_destinations(f, problem->faults, &all);
	b.r = fab_routes_new_by_lid(f, problem->faults, n);
	fab_min_hops_init(&b.paths, f, problem->faults, rank);
	b.load = FAB_NEW0(f->arc_first[f->n_switches] + 1U, uint32_t);
	b.last_row = FAB_NEW(n_switches, uint32_t);
	memset(b.last_row, 0xff, n_switches * sizeof(*b.last_row));
	route_all(&b, all, n);
	b.r->leaf = FAB_NEW(n_switches, uint32_t);
	b.r->n_leaves =
		fab_destination_switches(f, problem->faults, problem->kfat, b.r->leaf);
	free(b.load);
	free(b.last_row);
	free(b.rows.v);
	free(all);
	fab_min_hops_fini(&b.paths);
	return b.r;
}
