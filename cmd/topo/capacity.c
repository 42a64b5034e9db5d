/* SPDX-License-Identifier: BSD-2-Clause */
/* fabric-topo --capacity: how far hosts are apart, which leaves are oversubscribed, what
 * halves the fabric, and the worst permutation. */
#include <math.h>
#include <stdlib.h>

#include "base/order.h"
#include "base/units.h"
#include "fabric/dist.h"
#include "fabric/label.h"
#include "fabric/ranks.h"
#include "fabric/resolver.h"
#include "fabric/shape.h"
#include "topo.h"
#include "unicast/bisection.h"

enum { SHOWN = 10 }; /* leaves, unless --verbose */

struct record {
	const char *leaf;
	uint64_t guid, hosts, uplinks;
	double down_gbps, up_gbps, oversubscription;
};

static const struct fab_column columns[] = {
	FAB_COLUMN(leaf, TEXT, "switch with hosts"),
	FAB_COLUMN_AS(guid, GUID, "its node GUID", FAB_COL_EXTRA),
	FAB_COLUMN(hosts, UINT, "cables to adapters of hosts"),
	FAB_COLUMN(uplinks, UINT, "cables to switches above it; without ranks: to any"),
	FAB_COLUMN(down_gbps, NUMBER, "rate of the former, Gbit/s"),
	FAB_COLUMN(up_gbps, NUMBER, "rate of the latter, Gbit/s"),
	FAB_COLUMN(oversubscription, REAL, "rate down / rate up"),
};

struct capacity {
	FAB_VEC(struct record) leaves; /* the most oversubscribed first */
	uint32_t host[2], hops;	       /* two hosts farthest apart */
	struct fab_routes *routes;
	struct fab_bisection bisection;
};

static int by_ratio(const void *x, const void *y)
{
	const struct record *a = x, *b = y;

	if (isnan(a->oversubscription) != isnan(b->oversubscription))
		return isnan(a->oversubscription) ? -1 : 1;
	if (a->oversubscription != b->oversubscription && !isnan(a->oversubscription))
		return a->oversubscription > b->oversubscription ? -1 : 1;
	return (a->guid > b->guid) - (a->guid < b->guid);
}

static void find_leaves(const struct fab_fabric *f, struct capacity *o)
{
	FAB_AUTO(fab_shape_free_at) struct fab_shape *shape = fab_shape_recognize(f);
	FAB_AUTO(fab_ranks_fini) struct fab_ranks ranks;

	fab_ranks_init(&ranks, f, shape);
	for (uint32_t s = 0; s < f->n_switches; s++) {
		struct record row = {.leaf = fab_node_name(f, s),
				     .guid = f->node_guid[s]};

		FAB_EACH_PORT(f, s, p) {
			uint32_t cable = f->port_cable[p], to;

			if (cable == FAB_NONE)
				continue;
			to = f->port_node[fab_port_peer(f, p)];
			if (!fab_node_is_switch(f, to) && f->node_host[to] != FAB_NONE) {
				row.hosts++;
				row.down_gbps += fab_cable_gbps(f, cable);
			} else if (fab_node_is_switch(f, to) && to != s &&
				   (!ranks.n_roots || ranks.rank[to] > ranks.rank[s])) {
				row.uplinks++;
				row.up_gbps += fab_cable_gbps(f, cable);
			}
		}
		row.oversubscription =
			row.up_gbps > 0 ? row.down_gbps / row.up_gbps : NAN;
		if (row.hosts)
			FAB_PUSH(&o->leaves, row);
	}
	FAB_SORT(&o->leaves, by_ratio);
}

/* Two hosts between which the most switch hops are, by their first rails. */
static int find_farthest(const struct fab_work *w, struct capacity *o,
			 struct fab_err *err)
{
	const struct topo_params *p = w->params;
	const struct fab_fabric *f = w->f;
	uint32_t *host_of = fab_arena_none(w->arena, f->n_switches);
	FAB_AUTO(fab_dist_free_at) struct fab_dist *dist = NULL;
	int rc = fab_dist_new(f, p->run.threads, &dist, err);

	if (rc)
		return rc;
	o->host[0] = o->host[1] = FAB_NONE;
	for (uint32_t h = f->n_hosts; h--;) {
		uint32_t port = fab_host_endpoint(f, h);
		uint32_t sw = port == FAB_NONE ? FAB_NONE : fab_port_switch(f, port);

		if (sw != FAB_NONE)
			host_of[sw] = h;
	}
	for (uint32_t s = 0; s < f->n_switches; s++)
		for (uint32_t t = s + 1; t < f->n_switches && host_of[s] != FAB_NONE;
		     t++) {
			uint32_t hops = fab_dist_row(dist, s)[t];

			if (host_of[t] == FAB_NONE || hops == FAB_HOPS_UNREACHABLE ||
			    hops <= o->hops)
				continue;
			o->hops = hops;
			o->host[0] = host_of[s];
			o->host[1] = host_of[t];
		}
	return 0;
}

static int solve(struct fab_work *w, struct fab_err *err)
{
	const struct topo_params *p = w->params;
	struct capacity *o = w->outcome;
	int rc = find_farthest(w, o, err);

	find_leaves(w->f, o);
	if (!rc)
		rc = topo_open_routes(p, w->f, &o->routes, err);
	if (!rc)
		rc = fab_bisection_find(o->routes, p->run.threads, &o->bisection, err);
	return rc;
}

static void answer_bisection(struct fab_report *r, const struct fab_work *w)
{
	const struct capacity *o = w->outcome;
	const struct fab_bisection *b = &o->bisection;
	const struct fab_fabric *f = w->f;
	const char *tables = topo_table_name(w->params), *most;
	uint32_t sw = 0;
	char *cable;

	if (!b->n_half) {
		fab_report_answer(r, FAB_TONE_PLAIN,
				  "No cut to look for: %u switch%s with hosts.",
				  (unsigned)o->leaves.n, o->leaves.n == 1 ? "" : "es");
		return;
	}
	if (!b->most_flows) {
		most = fab_arena_format(w->arena, "how many by %s is not known", tables);
	} else {
		while (f->arc_first[sw + 1] <= b->arc)
			sw++;
		cable = fab_cable_text(f, fab_arc_port(f, sw, b->arc));
		most = fab_arena_format(
			w->arena, "the worst permutation%s by %s has %u, on %s",
			b->is_exact ? "" : " found", tables, b->most_flows, cable);
		free(cable);
	}
	fab_report_answer(
		r, FAB_TONE_PLAIN,
		"Bisection: %s between halves of %u and %u host ports, those of \"%s\" and \"%s\", the worst of the cuts tried; when the former all send across, some cable has %u flow%s or more by any routing; %s%s.",
		fab_human_counted(w->arena, b->n_cut, "cable", NULL), b->n_half,
		b->n_ends - b->n_half, fab_node_name(f, b->first_leaf[0]),
		fab_node_name(f, b->first_leaf[1]), b->least_flows,
		b->least_flows == 1 ? "" : "s", most,
		!b->most_flows
			? ""
			: fab_arena_format(w->arena, " (gap: factor %.2g)",
					   (double)b->most_flows / b->least_flows));
}

static void report(struct fab_report *r, const struct fab_work *w)
{
	const struct topo_params *p = w->params;
	const struct capacity *o = w->outcome;
	const struct fab_bisection *b = &o->bisection;
	bool for_people = fab_report_how(r)->format == FAB_FORMAT_TABLE;
	bool is_short = for_people && !p->run.verbose && !topo_is_table_only(r);
	size_t n_over = 0, n = o->leaves.n;
	bool is_apart = o->host[0] != FAB_NONE;
	const char *a = is_apart ? fab_host_name(w->f, o->host[0]) : NULL;
	const char *other = is_apart ? fab_host_name(w->f, o->host[1]) : NULL;

	for (size_t i = 0; i < n; i++)
		n_over += o->leaves.v[i].oversubscription > 1;
	if (for_people)
		fab_report_without_fabric(r);
	if (is_apart)
		fab_report_answer(
			r, FAB_TONE_PLAIN,
			"Farthest apart: \"%s\" and \"%s\", %s between switches.", a,
			other, fab_human_counted(w->arena, o->hops, "hop", NULL));
	else
		fab_report_answer(
			r, FAB_TONE_PLAIN,
			"No two hosts are on different switches that cables join.");
	fab_report_answer(r, FAB_TONE_PLAIN,
			  "%zu of %s with hosts can send less up than their hosts send.",
			  n_over, fab_human_counted(w->arena, n, "switch", "switches"));
	answer_bisection(r, w);
	fab_report_text(r, "tables", topo_table_name(p));
	fab_report_text(r, "farthest_a", a);
	fab_report_text(r, "farthest_b", other);
	fab_report_uint(r, "hops", o->hops);
	fab_report_uint(r, "host_ports", b->n_ends);
	fab_report_uint(r, "half", b->n_half);
	fab_report_uint(r, "cut_cables", b->n_cut);
	fab_report_uint(r, "least_flows", b->least_flows);
	fab_report_uint(r, "most_flows", b->most_flows);
	fab_report_field(r, &(struct fab_column){.name = "is_exact", .type = FAB_BOOL},
			 (union fab_cell){.u = b->is_exact});
	FAB_TABLE_BEGIN(r, "leaves",
			is_short && n > SHOWN
				? "The most oversubscribed switches (--verbose: all)"
				: "Switches with hosts, the most oversubscribed first",
			columns);
	for (size_t i = 0; i < n && (!is_short || i < SHOWN); i++)
		fab_report_record(r, &o->leaves.v[i]);
	fab_report_table_end(r);
}

static void fini(void *outcome)
{
	struct capacity *o = outcome;

	free(o->leaves.v);
	fab_routes_free(o->routes);
}

const struct fab_task topo_capacity = {
	.primary = "leaves",
	FAB_TASK_COLUMNS(columns),
	.outcome_bytes = sizeof(struct capacity),
	.solve = solve,
	.report = report,
	.fini = fini,
};
