/* SPDX-License-Identifier: BSD-2-Clause */
/* The report of fabric-sim: its tables and what their columns mean. */
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "fabric/label.h"
#include "fabric_sim.h"

const struct fab_column sim_pair_columns[] = {
	{"algorithm", FAB_TEXT, "routing algorithm", 0,
	 FAB_AT(struct sim_pair, algorithm)},
	{"hops", FAB_UINT, "switch-to-switch hops", 0, FAB_AT(struct sim_pair, hops)},
	{"latency_ns", FAB_REAL,
	 "from birth to the target's memory, ns (flit times by flit); null: no path",
	 FAB_COL_EXACT, FAB_AT(struct sim_pair, latency)},
	{"no_path", FAB_TEXT, "why there is none", FAB_COL_EXTRA,
	 FAB_AT(struct sim_pair, why)},
};

const size_t sim_n_pair_columns = FAB_COUNT(sim_pair_columns);

static const struct fab_column group_columns[] = {
	{"algorithm", FAB_TEXT, "algorithm of the trees", 0},
	{"offered", FAB_REAL, "rate that was asked for; null: closed loop", 0},
	{"group", FAB_TEXT, "name of the group", 0},
	{"messages", FAB_UINT, "messages that all members got", 0},
	{"latency_ns_mean", FAB_REAL,
	 "until the last member had them, ns (flit times by flit)", FAB_COL_EXACT},
	{"latency_ns_max", FAB_REAL, "the longest", FAB_COL_EXACT},
};

static const struct fab_column cable_columns[] = {
	{"algorithm", FAB_TEXT, "algorithm of tables or trees", 0},
	{"offered", FAB_REAL, "rate that was asked for; null: none", 0},
	{"cable", FAB_TEXT, "the direction, FROM:PORT -> TO:PORT", 0},
	{"utilisation", FAB_REAL, "share of the time that it was busy", 0},
	{"mean_queue", FAB_REAL, "packets that waited for it, all lanes", 0},
	{"no_credit", FAB_REAL, "share of the time that packets waited there for credit",
	 0},
	{"cause", FAB_TEXT, "contention, credits or load", 0},
};

static const struct fab_column trace_columns[] = {
	{"algorithm", FAB_TEXT, "algorithm of tables or trees", 0},
	{"packet", FAB_UINT, "number of the packet, by creation", 0},
	{"birth_ns", FAB_REAL, "when the packet was born, ns (flit times by flit)",
	 FAB_COL_EXACT},
	{"source", FAB_TEXT, "host adapter that sends it", 0},
	{"target", FAB_TEXT, "host adapter or group that it is for", 0},
	{"hop", FAB_UINT, "0: the cable of the source", 0},
	{"cable", FAB_TEXT, "the direction, FROM:PORT -> TO:PORT", 0},
	{"vl", FAB_UINT, "lane", 0},
	{"arrived_ns", FAB_REAL, "its head came to that port", FAB_COL_EXACT},
	{"left_ns", FAB_REAL, "its head left by that port", FAB_COL_EXACT},
};

static void print_results(struct fab_report *r, const struct sim_outcome *o)
{
	size_t n = o->dead->named.n;
	const char **names = FAB_NEW(n + 1, const char *);

	for (size_t i = 0; i < n; i++)
		names[i] = fab_fault_text(o->dead->f, o->dead->named.v[i]);
	fab_report_table_begin(r, "results", "Rates", sim_columns, sim_n_columns);
	for (size_t i = 0; i < o->points.n; i++) {
		struct sim_row row;

		sim_row_init(&row, o, &o->points.v[i]);
		row.failed = (struct fab_names){names, n};
		fab_report_record(r, &row);
		sim_row_fini(&row);
	}
	fab_report_table_end(r);
	for (size_t i = 0; i < n; i++)
		free((char *)(uintptr_t)names[i]);
	free(names);
}

/* The fullest cable of each rate. */
static void print_cables(struct fab_report *r, const struct sim_outcome *o)
{
	fab_report_table_begin(r, "fullest", "Fullest cables", cable_columns,
			       FAB_COUNT(cable_columns));
	for (size_t i = 0; i < o->points.n; i++) {
		const struct sim_point *x = &o->points.v[i];
		struct fab_sim_cause cause = fab_sim_cause(&x->first);
		char *cable;

		if (cause.cable == FAB_NONE)
			continue;
		cable = fab_cable_text(o->f, x->first.cable[cause.cable].port);
		fab_report_row(r,
			       (const union fab_cell[]){
				       {.text = x->net->algorithm},
				       {.real = x->rate},
				       {.text = cable},
				       {.real = x->first.cable[cause.cable].utilisation},
				       {.real = cause.mean_queue},
				       {.real = cause.no_credit},
				       {.text = fab_sim_cause_names[cause.kind]}});
		free(cable);
	}
	fab_report_table_end(r);
}

static void print_groups(struct fab_report *r, const struct sim_outcome *o)
{
	fab_report_table_begin(r, "groups", "Groups", group_columns,
			       FAB_COUNT(group_columns));
	for (size_t i = 0; i < o->points.n; i++) {
		const struct sim_point *x = &o->points.v[i];

		for (uint32_t g = 0; g < x->first.n_groups; g++) {
			const struct fab_sim_group *group = &x->first.group[g];
			bool has_latency = group->messages && !x->first.is_saturated;

			fab_report_row(
				r,
				(const union fab_cell[]){
					{.text = x->net->algorithm},
					{.real = x->rate},
					{.text = fab_group_name(o->groups, g)},
					{.u = group->messages},
					{.real = has_latency
							 ? sim_time(o->p,
								    group->latency_mean)
							 : (double)NAN},
					{.real = has_latency
							 ? sim_time(o->p,
								    (double)group
									    ->latency_max)
							 : (double)NAN}});
		}
	}
	fab_report_table_end(r);
}

static const char *end_name(const struct sim_outcome *o, uint32_t end)
{
	return fab_node_name(o->f, o->f->port_node[o->ends.port[end]]);
}

static void print_trace(struct fab_report *r, const struct sim_outcome *o)
{
	fab_report_table_begin(r, "trace", "Packets hop by hop", trace_columns,
			       FAB_COUNT(trace_columns));
	for (size_t i = 0; i < o->points.n; i++) {
		const struct sim_point *x = &o->points.v[i];

		for (size_t k = 0; k < x->first.trace.n; k++) {
			const struct fab_sim_step *s = &x->first.trace.v[k];
			char *cable = fab_cable_text(o->f, s->port);

			fab_report_row(
				r,
				(const union fab_cell[]){
					{.text = x->net->algorithm},
					{.u = s->packet},
					{.real = sim_time(o->p, (double)s->birth)},
					{.text = end_name(o, s->source)},
					{.text = s->to_group ? fab_group_name(o->groups,
									      s->target)
							     : end_name(o, s->target)},
					{.u = s->hop},
					{.text = cable},
					{.u = s->vl},
					{.real = sim_time(o->p, (double)s->arrived)},
					{.real = sim_time(o->p, (double)s->left)}});
			free(cable);
		}
	}
	fab_report_table_end(r);
}

static void print_pairs(struct fab_report *r, const struct sim_outcome *o)
{
	static const struct fab_column fields[] = {
		{"pair.source", FAB_TEXT, "host adapter that sends", 0},
		{"pair.target", FAB_TEXT, "host adapter that receives", 0},
		{"pair.hops", FAB_UINT, "switch-to-switch hops by the first algorithm",
		 0},
		{"pair.latency_ns", FAB_REAL, "its latency, ns (flit times by flit)",
		 FAB_COL_EXACT},
	};
	const struct sim_pair *first = &o->pairs.v[0];

	fab_report_field(r, &fields[0],
			 (union fab_cell){.text = fab_node_name(o->f, o->from.node)});
	fab_report_field(r, &fields[1],
			 (union fab_cell){.text = fab_node_name(o->f, o->to.node)});
	fab_report_field(r, &fields[2], (union fab_cell){.u = first->hops});
	fab_report_field(r, &fields[3],
			 (union fab_cell){.real = sim_time(o->p, first->latency)});
	fab_report_table_begin(r, "pairs", "One packet in an idle network",
			       sim_pair_columns, sim_n_pair_columns);
	for (size_t i = 0; i < o->pairs.n; i++) {
		struct sim_pair pair = o->pairs.v[i];

		pair.latency = sim_time(o->p, pair.latency);
		fab_report_record(r, &pair);
	}
	fab_report_table_end(r);
}

/* What the figures rest on. */
static void print_parameters(struct fab_report *r, const struct sim_outcome *o)
{
	static const struct fab_column real = {"", FAB_REAL, "",
					       FAB_COL_EXTRA | FAB_COL_EXACT};
	const struct fab_sim_params *s = &o->p->sim;
	const struct {
		const char *name;
		double value;
	} all[] = {
		{"parameters.buffer", s->buffer},
		{"parameters.packet", s->mtu},
		{"parameters.header", s->header},
		{"parameters.multicast_header", s->group_header},
		{"parameters.rate_gbps",
		 o->p->tick == SIM_TICK_FLIT ? (double)NAN : s->rate_gbps},
		{"parameters.switch_delay_ns", sim_time(o->p, (double)s->switch_delay)},
		{"parameters.cable_delay_ns", sim_time(o->p, (double)s->cable_delay)},
		{"parameters.host_delay_ns", sim_time(o->p, (double)s->host_delay)},
		{"parameters.speedup", s->speedup},
		{"parameters.unknown_rates", o->n_unknown_rates},
		{"parameters.seed", (double)o->p->run.seed},
	};

	if (!o->p->pair)
		fab_report_text(r, "traffic", o->p->traffic);
	fab_report_text(r, "switch", s->kind->name);
	fab_report_text(r, "tick", o->p->tick == SIM_TICK_FLIT ? "flit" : "ps");
	for (size_t i = 0; i < FAB_COUNT(all); i++) {
		struct fab_column column = real;

		column.name = all[i].name;
		fab_report_field(r, &column, (union fab_cell){.real = all[i].value});
	}
}

static void print_interrupt(struct fab_report *r, const struct sim_outcome *o)
{
	static const struct fab_column field = {"interrupted", FAB_BOOL, "",
						FAB_COL_EXTRA};

	fab_report_field(r, &field, (union fab_cell){.u = o->was_interrupted});
	if (!o->was_interrupted)
		return;
	fab_report_uint(r, "simulations", o->n_done);
	fab_report_uint(r, "all_simulations", o->n_items);
}

void sim_report(struct fab_report *r, const struct fab_work *w)
{
	const struct sim_outcome *o = w->outcome;

	sim_answer(r, o);
	fab_cli_report_shard(r, &o->p->shard);
	print_parameters(r, o);
	if (o->p->pair) {
		print_pairs(r, o);
		return;
	}
	fab_report_uint(r, "hosts_live", o->ends.n);
	print_interrupt(r, o);
	print_results(r, o);
	print_cables(r, o);
	if (fab_report_how(r)->format != FAB_FORMAT_TABLE || sim_has_cycle(o))
		sim_print_cycle(r, o);
	if (o->groups)
		print_groups(r, o);
	if (o->p->n_traced)
		print_trace(r, o);
}
