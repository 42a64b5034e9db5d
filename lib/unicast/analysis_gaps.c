/* SPDX-License-Identifier: BSD-2-Clause */
/* What tables that were read do not say. */
#include "unicast/analysis_impl.h"

#include <stdlib.h>

/* Count one of a kind, the first by name. */
static void add(struct fab_gaps *gaps, struct fab_gap gap)
{
	if (gaps->n[gap.kind]++ < FAB_GAPS_NAMED)
		FAB_PUSH(&gaps->first, gap);
}

static bool has_column(const struct fab_routes *r, uint32_t port, uint32_t lid)
{
	for (uint32_t c = 0; c < r->n_columns; c++)
		if (r->column_port[c] == port && r->column_lid[c] == lid)
			return true;
	return false;
}

/* LIDs of a port that is an end, of which `n` are missing. Where the port has other LIDs
 * in the tables than in the fabric, none is its own that is missing. */
static void add_lids(const struct fab_analyser *j, uint32_t port, uint32_t n,
		     struct fab_gaps *gaps)
{
	const struct fab_fabric *f = j->r->f;
	struct fab_gap gap = {
		FAB_GAP_LID, f->port_node[port], f->port_num[port], FAB_NONE, 0, 0, 0, 0};
	uint32_t n_lids = fab_port_n_lids(f, port);
	uint32_t lid = f->port_lid[port], end = lid + n_lids;
	bool is_none = n == n_lids;

	for (; n && lid && lid < end; lid++)
		if (is_none || !has_column(j->r, port, lid)) {
			gap.lid = (uint16_t)lid;
			add(gaps, gap);
			n--;
		}
	gap.lid = 0;
	while (n--)
		add(gaps, gap);
}

static void find_lids(const struct fab_analyser *j, struct fab_gaps *gaps)
{
	const struct fab_routes *r = j->r;
	uint32_t *n_columns = FAB_NEW0((size_t)r->f->n_ports + 1, uint32_t);

	for (uint32_t c = 0; c < r->n_columns; c++)
		n_columns[r->column_port[c]]++;
	for (uint32_t p = 0; p < r->f->n_ports; p++) {
		uint32_t n = fab_port_n_lids(r->f, p);

		if (j->end[p] != FAB_NONE && n_columns[p] < n)
			add_lids(j, p, n - n_columns[p], gaps);
	}
	free(n_columns);
}

static void find_tables(const struct fab_analyser *j, struct fab_gaps *gaps)
{
	for (uint32_t s = 0; s < j->n_switches; s++)
		if (!j->r->told->has_table[s] && fab_switch_is_live(j->r->faults, s) &&
		    (j->weight[s] || j->live_first[s] < j->live_first[s + 1]))
			add(gaps, (struct fab_gap){.kind = FAB_GAP_TABLE,
						   .from = s,
						   .to = FAB_NONE});
}

static void find_strange(const struct fab_told *told, struct fab_gaps *gaps)
{
	for (size_t i = 0; i < told->strange_lids.n; i++)
		add(gaps, (struct fab_gap){.kind = FAB_GAP_STRANGE_LID,
					   .from = FAB_NONE,
					   .to = FAB_NONE,
					   .lid = told->strange_lids.v[i]});
	for (size_t i = 0; i < told->strange_switches.n; i++)
		add(gaps, (struct fab_gap){.kind = FAB_GAP_STRANGE_SWITCH,
					   .from = FAB_NONE,
					   .to = FAB_NONE,
					   .guid = told->strange_switches.v[i]});
}

/* Service level by which a port sends to a column. */
static uint8_t level_of(const struct fab_routes *r, const uint32_t *rows, uint32_t port,
			uint32_t sw, uint32_t column)
{
	uint32_t row = rows[r->f->port_node[port]];

	if (row == FAB_NONE)
		row = rows[sw];
	if (!r->sl)
		return 0;
	return row == FAB_NONE ? r->sl_default
			       : r->sl[(size_t)row * r->n_columns + column];
}

/* Name the sources of a target whose service level is not known. False: enough. */
static bool name_sources(const struct fab_analyser *j, const struct fab_target *target,
			 const uint32_t *rows, const uint16_t *hops,
			 struct fab_gaps *gaps, size_t *n)
{
	const struct fab_routes *r = j->r;
	uint32_t to = r->column_port[target->column];

	for (uint32_t p = 0; p < r->f->n_ports && *n < FAB_GAPS_NAMED; p++) {
		uint32_t sw = j->end[p];
		struct fab_gap gap = {.kind = FAB_GAP_SL,
				      .from = r->f->port_node[p],
				      .port = r->f->port_num[p],
				      .to = r->f->port_node[to],
				      .lid = r->column_lid[target->column]};

		if (sw == FAB_NONE || p == to || hops[sw] >= FAB_HOPS_NEVER ||
		    level_of(r, rows, p, sw, target->column) != FAB_SL_UNKNOWN)
			continue;
		FAB_PUSH(&gaps->first, gap);
		++*n;
	}
	return *n < FAB_GAPS_NAMED;
}

/* What an end sends to a target: is the lane told by which it leaves its switch? */
static void look_at_departure(const struct fab_analyser *j,
			      const struct fab_target *target, const uint32_t *rows,
			      uint32_t end_port)
{
	const struct fab_routes *r = j->r;
	const struct fab_fabric *f = r->f;
	uint32_t sw = j->end[end_port], out = fab_analysis_next(j, target)[sw];
	uint32_t d = fab_degree(f, sw);
	uint8_t sl = level_of(r, rows, end_port, sw, target->column);
	bool is_own = f->port_node[end_port] == sw;
	uint32_t port = is_own ? end_port : fab_port_peer(f, end_port);
	uint64_t at;

	if (!fab_analysis_is_level(sl))
		return;
	at = fab_told_at(r, sw, port, out);
	/* port 0 takes the lanes of adapters where it has none of its own */
	if (is_own ? fab_analysis_vl(j, sw, d, out, sl) == FAB_VL_UNKNOWN
		   : !r->told->is_lane_told[at])
		j->is_missed[at * j->n_sls + sl] = 1;
}

static void find_departures(const struct fab_analyser *j, const uint32_t *rows,
			    struct fab_analysis_work *w)
{
	for (size_t i = 0; i < j->targets.n; i++) {
		const struct fab_target *target = &j->targets.v[i];

		if (!fab_analysis_follow(j, target, w->hops, w))
			continue;
		for (uint32_t p = 0; p < j->r->f->n_ports; p++) {
			uint32_t sw = j->end[p];

			if (sw != FAB_NONE && sw != target->root &&
			    w->hops[sw] < FAB_HOPS_NEVER)
				look_at_departure(j, target, rows, p);
		}
	}
}

/* The paths through a switch by which packets go and for which no lane is told. */
static void add_lanes(const struct fab_analyser *j, uint32_t sw, struct fab_gaps *gaps)
{
	const struct fab_fabric *f = j->r->f;

	for (uint32_t p = f->node_first_port[sw]; p < f->node_first_port[sw + 1]; p++)
		for (uint32_t out = 0; out < fab_degree(f, sw); out++) {
			uint64_t at = fab_told_at(j->r, sw, p, out) * j->n_sls;

			for (uint32_t sl = 0; sl < j->n_sls; sl++) {
				struct fab_gap gap = {.kind = FAB_GAP_LANE,
						      .from = sw,
						      .port = f->port_num[p],
						      .to = FAB_NONE,
						      .sl = (uint8_t)sl};

				if (!j->is_missed[at + sl])
					continue;
				gap.out = f->port_num[fab_arc_port(
					f, sw, f->arc_first[sw] + out)];
				add(gaps, gap);
			}
		}
}

static void name_pairs(const struct fab_analyser *j, const uint32_t *rows,
		       struct fab_analysis_work *w, struct fab_gaps *gaps)
{
	size_t n = 0;

	for (size_t i = 0; i < j->targets.n; i++)
		if (fab_analysis_follow(j, &j->targets.v[i], w->hops, w) &&
		    !name_sources(j, &j->targets.v[i], rows, w->hops, gaps, &n))
			break;
}

static uint32_t *rows_of_nodes(const struct fab_routes *r)
{
	uint32_t *rows = FAB_NEW((size_t)r->f->n_nodes + 1, uint32_t);

	for (uint32_t i = 0; i < r->f->n_nodes; i++)
		rows[i] = FAB_NONE;
	for (uint32_t i = 0; i < r->n_sl_sources; i++)
		rows[r->sl_source[i]] = i;
	return rows;
}

void fab_analysis_find_gaps(const struct fab_analyser *j, struct fab_analysis_work *w,
			    struct fab_analysis *out)
{
	struct fab_gaps *gaps = &out->gaps;
	uint32_t *rows;

	if (!j->r->told)
		return;
	rows = rows_of_nodes(j->r);
	find_lids(j, gaps);
	find_tables(j, gaps);
	gaps->n[FAB_GAP_SL] = w->without_sl;
	if (w->without_sl)
		name_pairs(j, rows, w, gaps);
	if (j->is_missed) {
		find_departures(j, rows, w);
		for (uint32_t s = 0; s < j->n_switches; s++)
			add_lanes(j, s, gaps);
	}
	find_strange(j->r->told, gaps);
	free(rows);
}
