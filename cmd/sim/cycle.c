/* SPDX-License-Identifier: BSD-2-Clause */
/* A stall by name: its cycle, and which one of the tables it is. */
#include <stdlib.h>

#include "base/mem.h"
#include "fabric/label.h"
#include "fabric_sim.h"

static const struct fab_column cycle_columns[] = {
	{"algorithm", FAB_TEXT, "algorithm of tables or trees", 0},
	{"offered", FAB_REAL, "rate that was asked for; null: none", 0},
	{"step", FAB_UINT, "position in the cycle, from 1", 0},
	{"switch", FAB_TEXT, "node that sends into the buffer", 0},
	{"port", FAB_UINT, "port it sends by", 0},
	{"peer", FAB_TEXT, "switch with the buffer", 0},
	{"vl", FAB_UINT, "virtual lane", 0},
	{"packets", FAB_UINT, "packets that it holds", 0},
	{"source", FAB_TEXT, "host adapter that sent the first of them", 0},
	{"target", FAB_TEXT, "host adapter or group that it is for", 0},
};

/* Channel `k` of the tables' cycle, as the simulation has it? */
static bool is_same(const struct fab_fabric *f, const struct fab_channel *of_tables,
		    const struct fab_sim_channel *seen)
{
	uint32_t arc = f->arc_first[of_tables->sw] + of_tables->arc;
	uint32_t cable = f->arc_cable[arc];

	return f->port_cable[seen->port] == cable &&
	       f->port_node[seen->port] == of_tables->sw && seen->vl == of_tables->vl;
}

/* Are all channels of the cycle seen in that of the tables? */
static bool is_shortest(const struct fab_fabric *f, const struct fab_analysis *j,
			const struct fab_sim_result *seen)
{
	if (j->cycle.n != seen->cycle.n)
		return false;
	for (size_t i = 0; i < seen->cycle.n; i++) {
		bool is_there = false;

		for (size_t k = 0; k < j->cycle.n && !is_there; k++)
			is_there = is_same(f, &j->cycle.v[k], &seen->cycle.v[i]);
		if (!is_there)
			return false;
	}
	return true;
}

enum sim_cycle_origin sim_cycle_origin(const struct sim_outcome *o,
				       const struct sim_point *point,
				       uint64_t *cycle_channels)
{
	const struct fab_analysis_options options = {.ends = FAB_ENDS_HOSTS,
						     .n_threads = o->p->run.threads};
	enum sim_cycle_origin origin = SIM_CYCLE_OTHER;
	struct fab_analysis j;
	struct fab_err err;

	*cycle_channels = 0;
	if (!point->net->routes || fab_analyse(point->net->routes, &options, &j, &err))
		return SIM_CYCLE_UNKNOWN;
	*cycle_channels = j.cycle_channels;
	if (is_shortest(o->f, &j, &point->first))
		origin = SIM_CYCLE_SHORTEST;
	else if (j.cycle_channels >= point->first.cycle.n)
		origin = SIM_CYCLE_OF_TABLES;
	fab_analysis_fini(&j);
	return origin;
}

static char *target_text(const struct sim_outcome *o, const struct fab_sim_channel *c)
{
	if (c->to_group)
		return fab_strdup(fab_group_name(o->groups, c->target));
	return fab_node_text(o->f, o->f->port_node[o->ends.port[c->target]]);
}

/* A row of the table: step `k` of the cycle of a point. */
static void print_step(struct fab_report *r, const struct sim_outcome *o,
		       const struct sim_point *x, size_t k)
{
	const struct fab_fabric *f = o->f;
	const struct fab_sim_channel *c = &x->first.cycle.v[k];
	char *sender = fab_node_text(f, f->port_node[c->port]);
	char *peer = fab_node_text(f, f->port_node[fab_port_peer(f, c->port)]);
	char *source = fab_node_text(f, f->port_node[o->ends.port[c->source]]);
	char *target = target_text(o, c);

	fab_report_row(r, (const union fab_cell[]){{.text = x->net->algorithm},
						   {.real = x->rate},
						   {.u = k + 1},
						   {.text = sender},
						   {.u = f->port_num[c->port]},
						   {.text = peer},
						   {.u = c->vl},
						   {.u = c->packets},
						   {.text = source},
						   {.text = target}});
	free(sender);
	free(peer);
	free(source);
	free(target);
}

bool sim_has_cycle(const struct sim_outcome *o)
{
	for (size_t i = 0; i < o->points.n; i++)
		if (o->points.v[i].first.cycle.n)
			return true;
	return false;
}

void sim_print_cycle(struct fab_report *r, const struct sim_outcome *o)
{
	fab_report_table_begin(r, "cycle", "Deadlock: each waits for the next",
			       cycle_columns, FAB_COUNT(cycle_columns));
	for (size_t i = 0; i < o->points.n; i++)
		for (size_t k = 0; k < o->points.v[i].first.cycle.n; k++)
			print_step(r, o, &o->points.v[i], k);
	fab_report_table_end(r);
}
