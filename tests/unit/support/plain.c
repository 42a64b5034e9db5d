/* SPDX-License-Identifier: BSD-2-Clause */
#include "support/plain.h"

#include "base/mem.h"
#include "fabric/ranks.h"

#include <stdlib.h>
#include <string.h>

bool plain_arc_is_live(const struct fab_routes *r, uint32_t sw, uint32_t arc)
{
	return !r->faults->cable_is_dead[r->f->arc_cable[arc]] &&
	       !r->faults->switch_is_dead[sw] &&
	       !r->faults->switch_is_dead[r->f->arc_peer[arc]];
}

static void shortest(uint32_t *d, uint32_t n)
{
	for (uint32_t k = 0; k < n; k++)
		for (uint32_t i = 0; i < n; i++)
			for (uint32_t j = 0; d[i * n + k] < PLAIN_FAR && j < n; j++)
				if (d[i * n + k] + d[k * n + j] < d[i * n + j])
					d[i * n + j] = d[i * n + k] + d[k * n + j];
}

static bool is_leaf(const struct fab_routes *r, uint32_t sw)
{
	const struct fab_fabric *f = r->f;

	FAB_EACH_PORT(f, sw, p) {
		uint32_t peer = fab_port_peer(f, p);

		if (peer != FAB_NONE && f->node_kind[f->port_node[peer]] == FAB_ADAPTER &&
		    !r->faults->cable_is_dead[f->port_cable[p]])
			return true;
	}
	return false;
}

/* The switch of an end, FAB_NONE: none. */
static uint32_t end_at(const struct plain *x, uint32_t port)
{
	const struct fab_fabric *f = x->r->f;
	uint32_t node = f->port_node[port], kind = f->node_kind[node], sw;

	if (kind == FAB_SWITCH)
		return !f->port_num[port] && !x->r->faults->switch_is_dead[node] &&
				       (x->ends == FAB_ENDS_ALL ||
					(x->ends == FAB_ENDS_LEAVES &&
					 is_leaf(x->r, node)))
			       ? node
			       : FAB_NONE;
	if (x->ends == FAB_ENDS_LEAVES || f->port_cable[port] == FAB_NONE ||
	    (kind == FAB_AGGREGATION && x->ends == FAB_ENDS_HOSTS))
		return FAB_NONE;
	sw = f->port_node[fab_port_peer(f, port)];
	return x->r->faults->switch_is_dead[sw] ||
			       x->r->faults->cable_is_dead[f->port_cable[port]]
		       ? FAB_NONE
		       : sw;
}

static unsigned sl_of(const struct fab_routes *r, uint32_t node, uint32_t sw,
		      uint32_t column)
{
	unsigned sl = r->sl ? r->sl_default : 0;

	for (int own = 0; r->sl && own < 2; own++)
		for (uint32_t i = 0; i < r->n_sl_sources; i++)
			if (r->sl_source[i] == (own ? node : sw))
				sl = r->sl[(size_t)i * r->n_columns + column];
	return sl;
}

/* The channel of a hop, FAB_NONE: its lane is unknown. */
static uint32_t channel_of(const struct fab_routes *r, uint32_t sw, uint32_t in,
			   uint32_t out, unsigned sl)
{
	unsigned vl = FAB_VL_UNKNOWN;

	if (sl != FAB_SL_UNKNOWN || r->lanes == FAB_LANES_ONE)
		vl = fab_routes_vl(r, sw, in, out, sl);
	return vl == FAB_VL_UNKNOWN ? FAB_NONE
				    : (r->f->arc_first[sw] + out) * PLAIN_LANES + vl;
}

struct plain_path plain_walk(const struct plain *x, uint32_t from, uint32_t column,
			     unsigned sl)
{
	const struct fab_fabric *f = x->r->f;
	struct plain_path p = {.at = {from}};
	uint32_t at = from, in = fab_degree(f, at);

	while (p.n < PLAIN_MAX_PATH) {
		unsigned next = fab_routes_next(x->r, column)[at];
		uint32_t arc = f->arc_first[at] + next;

		p.arrives = next == FAB_ARC_HERE && at == x->r->column_switch[column];
		if (next == FAB_ARC_HERE || arc >= f->arc_first[at + 1] ||
		    !plain_arc_is_live(x->r, at, arc))
			break;
		p.arc[p.n] = arc;
		p.channel[p.n++] = channel_of(x->r, at, in, next, sl);
		p.at[p.n] = at = f->arc_peer[arc];
		in = f->arc_reverse[arc];
	}
	return p;
}

bool plain_has_valley(const struct plain *x, const struct plain_path *p)
{
	bool down = false;

	for (uint32_t i = 0; i < p->n; i++) {
		if (down && x->rank[p->at[i + 1]] > x->rank[p->at[i]])
			return true;
		down |= x->rank[p->at[i + 1]] < x->rank[p->at[i]];
	}
	return false;
}

uint32_t plain_arc_of(const struct fab_fabric *f, uint32_t sw, uint32_t port)
{
	uint32_t cable = f->port_cable[port];

	FAB_EACH_ARC(f, sw, a)
		if (cable != FAB_NONE && f->arc_cable[a] == cable)
			return a - f->arc_first[sw];
	return fab_degree(f, sw);
}

/* Port of a switch by which packets come that are i hops on their way from an end. */
static uint32_t in_port(const struct fab_fabric *f, const struct plain_path *p,
			uint32_t i, uint32_t end)
{
	if (i)
		return fab_cable_port(f, f->arc_cable[p->arc[i - 1]], p->at[i]);
	return f->port_node[end] == p->at[0] ? end : fab_port_peer(f, end);
}

/* A hop whose lane a file must contain. */
static void miss(struct plain *x, const struct plain_path *p, uint32_t i, uint32_t end,
		 unsigned sl)
{
	const struct fab_routes *r = x->r;
	uint32_t sw = p->at[i], port = in_port(r->f, p, i, end);
	uint64_t at = fab_lane_at(r, sw, port, p->arc[i] - r->f->arc_first[sw]);
	bool is_given =
		r->f->port_num[port] ? r->files->has_lane[at] : p->channel[i] != FAB_NONE;

	x->got.gaps.n[FAB_GAP_LANE] += !is_given && !x->is_missed[at * 16 + sl];
	x->is_missed[at * 16 + sl] |= !is_given;
}

/* One pair; column FAB_NONE: none leads there. */
static void pair(struct plain *x, uint32_t port, uint32_t from, uint32_t column,
		 uint32_t to, bool with_cycles)
{
	uint32_t d = x->dist[from * x->n + to], n = x->n_channels;
	struct plain_path p = {.arrives = false};
	unsigned sl = 0;
	bool on_cycle = false;

	if (column != FAB_NONE) {
		sl = sl_of(x->r, port == FAB_NONE ? FAB_NONE : x->r->f->port_node[port],
			   from, column);
		p = plain_walk(x, from, column, sl == FAB_SL_NONE ? 0 : sl);
		p.arrives = p.arrives && (sl != FAB_SL_NONE || from == to);
	}
	for (uint32_t i = 0; p.arrives && i + 1 < p.n; i++) {
		size_t a = p.channel[i], b = p.channel[i + 1];

		if (a == FAB_NONE || b == FAB_NONE)
			continue;
		if (!with_cycles)
			x->reach[a * n + b] = 1;
		on_cycle |= x->reach[b * n + a] < PLAIN_FAR;
	}
	if (with_cycles) {
		x->got.pairs_on_cycles += on_cycle;
		return;
	}
	x->got.pairs++;
	x->got.connected_in_graph += d < PLAIN_FAR;
	if (!p.arrives)
		return;
	x->got.connected++;
	x->got.hops[p.n]++;
	if (p.n > x->got.max_hops)
		x->got.max_hops = p.n;
	x->got.minimal += p.n == d;
	x->sls |= sl >= FAB_SL_UNKNOWN ? 0 : 1u << sl;
	x->got.gaps.n[FAB_GAP_SL] += sl == FAB_SL_UNKNOWN;
	x->got.valley_pairs += plain_has_valley(x, &p);
	for (uint32_t i = 0; i < p.n; i++) {
		if (p.channel[i] != FAB_NONE)
			x->vls |= 1u << p.channel[i] % PLAIN_LANES;
		if (x->is_missed && sl != FAB_SL_UNKNOWN)
			miss(x, &p, i, port, sl);
		x->load[p.arc[i]]++;
	}
}

/* From all other ends to one. */
static void pairs_to(struct plain *x, uint32_t to, uint32_t column, bool with_cycles)
{
	for (uint32_t from = 0; from < x->r->f->n_ports; from++)
		if (from != to && end_at(x, from) != FAB_NONE)
			pair(x, from, end_at(x, from), column, end_at(x, to),
			     with_cycles);
}

/* A column leads to a LID of a port, or to a switch and all ends at it. */
static void all_pairs(struct plain *x, bool with_cycles)
{
	const struct fab_routes *r = x->r;
	uint32_t n = r->n_columns;

	if (x->ends == FAB_ENDS_LEAVES && !r->column_lid) {
		for (uint32_t i = 0; i < n * n; i++) {
			uint32_t from = r->column_switch[i % n];
			uint32_t to = r->column_switch[i / n];

			if (from != to && !r->faults->switch_is_dead[from] &&
			    !r->faults->switch_is_dead[to])
				pair(x, FAB_NONE, from, i / n, to, with_cycles);
		}
		return;
	}
	for (uint32_t to = 0; to < r->f->n_ports; to++) {
		bool is_led = false;

		if (end_at(x, to) == FAB_NONE)
			continue;
		for (uint32_t c = 0; c < n; c++) {
			if (r->column_lid ? r->column_port[c] != to
					  : r->column_switch[c] != end_at(x, to))
				continue;
			pairs_to(x, to, c, with_cycles);
			is_led = true;
			if (!r->column_lid)
				break;
		}
		if (!is_led)
			pairs_to(x, to, FAB_NONE, with_cycles);
	}
}

void plain_init(struct plain *x, const struct fab_routes *r, enum fab_ends ends)
{
	const struct fab_fabric *f = r->f;
	FAB_AUTO(fab_shape_free_at) struct fab_shape *shape = NULL;
	FAB_AUTO(fab_ranks_fini) struct fab_ranks ranks;
	size_t n_reach;

	*x = (struct plain){.r = r, .ends = ends, .n = f->n_switches};
	x->n_arcs = f->arc_first[x->n];
	x->n_channels = x->n_arcs * PLAIN_LANES;
	n_reach = (size_t)x->n_channels * x->n_channels;
	x->dist = FAB_NEW((size_t)x->n * x->n, uint32_t);
	x->reach = FAB_NEW(n_reach + 1, uint32_t);
	x->rank = FAB_NEW(x->n, uint32_t);
	x->load = FAB_NEW0(x->n_arcs + 1, uint64_t);
	if (r->files && r->files->has_lanes && r->sl2vl)
		x->is_missed =
			FAB_NEW0(r->files->lane_first[f->n_switches] * 16, uint8_t);
	shape = fab_shape_recognize(f);
	fab_ranks_init(&ranks, f, shape);
	memcpy(x->rank, ranks.rank, x->n * sizeof(*x->rank));
	for (size_t i = 0; i < n_reach; i++)
		x->reach[i] = PLAIN_FAR;
	for (uint32_t i = 0; i < x->n * x->n; i++)
		x->dist[i] = i / x->n == i % x->n ? 0 : PLAIN_FAR;
	for (uint32_t s = 0; s < x->n; s++)
		FAB_EACH_ARC(f, s, a)
			if (plain_arc_is_live(r, s, a))
				x->dist[s * x->n + f->arc_peer[a]] = 1;
	shortest(x->dist, x->n);
}

void plain_analysis(struct plain *x)
{
	uint32_t n = x->n_channels, shortest_cycle = PLAIN_FAR;

	all_pairs(x, false);
	shortest(x->reach, n);
	all_pairs(x, true);
	for (uint32_t c = 0; c < n; c++) {
		if (x->reach[(size_t)c * n + c] >= PLAIN_FAR)
			continue;
		x->got.cycle_channels++;
		if (x->reach[(size_t)c * n + c] < shortest_cycle)
			shortest_cycle = x->reach[(size_t)c * n + c];
	}
	x->got.cycle.n = shortest_cycle < PLAIN_FAR ? shortest_cycle : 0;
}

void plain_fini(struct plain *x)
{
	FAB_FREE_ALL(x->dist, x->reach, x->rank, x->load, x->is_missed);
}
