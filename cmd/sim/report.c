/* SPDX-License-Identifier: BSD-2-Clause */
/* The tables of fabric-sim. */
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "fabric/label.h"
#include "fabric_sim.h"

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
	{"birth_ns", FAB_REAL, "when the packet was created, ns (flit times by flit)",
	 FAB_COL_EXACT},
	{"source", FAB_TEXT, "host adapter that sends it", 0},
	{"target", FAB_TEXT, "host adapter or group that it is for", 0},
	{"hop", FAB_UINT, "0: the cable of the source", 0},
	{"cable", FAB_TEXT, "the direction, FROM:PORT -> TO:PORT", 0},
	{"vl", FAB_UINT, "lane", 0},
	{"arrived_ns", FAB_REAL, "its head came to that port", FAB_COL_EXACT},
	{"left_ns", FAB_REAL, "its head left by that port", FAB_COL_EXACT},
};

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

/* A printed time. */
static union fab_cell time_cell(const struct sim_outcome *o, double ticks)
{
	return (union fab_cell){.real = ticks / o->p->unit};
}

static const char *end_name(const struct sim_outcome *o, uint32_t end)
{
	return fab_node_name(o->f, o->f->port_node[o->ends.port[end]]);
}

/* The fullest cable of each rate. */
static void print_cables(struct fab_report *r, const struct sim_outcome *o)
{
	fab_report_table_begin(r, "fullest", "Fullest cables", cable_columns,
			       FAB_COUNT(cable_columns));
	for (const struct sim_row *x = o->rows; x < o->rows + o->n_rows; x++)
		if (x->fullest)
			fab_report_row(
				r, (const union fab_cell[]){{.text = x->algorithm},
							    {.real = x->sum.rate},
							    {.text = x->fullest},
							    {.real = x->max_utilisation},
							    {.real = x->cause.mean_queue},
							    {.real = x->no_credit},
							    {.text = x->cause_name}});
	fab_report_table_end(r);
}

/* Deadlocks: the channels of each cycle. */
static void print_cycles(struct fab_report *r, const struct sim_outcome *o)
{
	const struct fab_fabric *f = o->f;
	size_t n = 0;

	for (const struct sim_row *x = o->rows; x < o->rows + o->n_rows; x++)
		n += x->point->first.cycle.n;
	if (!n && fab_report_how(r)->format == FAB_FORMAT_TABLE)
		return;
	fab_report_table_begin(r, "cycle", "Deadlock: each waits for the next",
			       cycle_columns, FAB_COUNT(cycle_columns));
	for (const struct sim_row *x = o->rows; x < o->rows + o->n_rows; x++)
		for (size_t k = 0; k < x->point->first.cycle.n; k++) {
			const struct fab_sim_channel *c = &x->point->first.cycle.v[k];
			char *sender = fab_node_text(f, f->port_node[c->port]);
			char *peer =
				fab_node_text(f, f->port_node[fab_port_peer(f, c->port)]);
			char *source =
				fab_node_text(f, f->port_node[o->ends.port[c->source]]);
			char *target =
				c->to_group
					? fab_strdup(fab_group_name(o->groups, c->target))
					: fab_node_text(
						  f,
						  f->port_node[o->ends.port[c->target]]);

			fab_report_row(
				r, (const union fab_cell[]){{.text = x->algorithm},
							    {.real = x->sum.rate},
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
	fab_report_table_end(r);
}

static void print_groups(struct fab_report *r, const struct sim_outcome *o)
{
	fab_report_table_begin(r, "groups", "Groups", group_columns,
			       FAB_COUNT(group_columns));
	for (const struct sim_row *x = o->rows; x < o->rows + o->n_rows; x++)
		for (uint32_t g = 0; g < x->point->first.n_groups; g++) {
			const struct fab_sim_group *group = &x->point->first.group[g];
			bool has_latency =
				group->messages && !x->point->first.is_saturated;
			double mean = has_latency ? group->latency_mean : (double)NAN;
			double max =
				has_latency ? (double)group->latency_max : (double)NAN;

			fab_report_row(r, (const union fab_cell[]){
						  {.text = x->algorithm},
						  {.real = x->sum.rate},
						  {.text = fab_group_name(o->groups, g)},
						  {.u = group->messages},
						  time_cell(o, mean),
						  time_cell(o, max)});
		}
	fab_report_table_end(r);
}

static void print_trace(struct fab_report *r, const struct sim_outcome *o)
{
	fab_report_table_begin(r, "trace", "Packets hop by hop", trace_columns,
			       FAB_COUNT(trace_columns));
	for (const struct sim_row *x = o->rows; x < o->rows + o->n_rows; x++)
		for (size_t k = 0; k < x->point->first.trace.n; k++) {
			const struct fab_sim_step *s = &x->point->first.trace.v[k];
			char *cable = fab_cable_text(o->f, s->port);
			const char *target =
				s->to_group ? fab_group_name(o->groups, s->target)
					    : end_name(o, s->target);

			fab_report_row(r, (const union fab_cell[]){
						  {.text = x->algorithm},
						  {.u = s->packet},
						  time_cell(o, (double)s->birth),
						  {.text = end_name(o, s->source)},
						  {.text = target},
						  {.u = s->hop},
						  {.text = cable},
						  {.u = s->vl},
						  time_cell(o, (double)s->arrived),
						  time_cell(o, (double)s->left)});
			free(cable);
		}
	fab_report_table_end(r);
}

static void print_pairs(struct fab_report *r, const struct fab_work *w)
{
	static const struct fab_column fields[] = {
		{"pair.source", FAB_TEXT, "host adapter that sends", 0},
		{"pair.target", FAB_TEXT, "host adapter that receives", 0},
		{"pair.hops", FAB_UINT, "switch-to-switch hops by the first algorithm",
		 0},
		{"pair.latency_ns", FAB_REAL, "its latency, ns (flit times by flit)",
		 FAB_COL_EXACT},
	};
	const struct sim_outcome *o = w->outcome;
	const struct sim_pair *first = &o->pairs[0];

	fab_report_field(r, &fields[0],
			 (union fab_cell){.text = fab_node_name(o->f, o->from.node)});
	fab_report_field(r, &fields[1],
			 (union fab_cell){.text = fab_node_name(o->f, o->to.node)});
	fab_report_field(r, &fields[2], (union fab_cell){.u = first->hops});
	fab_report_field(r, &fields[3], (union fab_cell){.real = first->latency});
	fab_report_table(r, "pairs", "One packet in an idle network", w->columns.v,
			 w->columns.n, o->pairs, sizeof(*o->pairs), o->n_nets);
}

/* Parameters of the simulation. */
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
		{"parameters.switch_delay_ns", (double)s->switch_delay / o->p->unit},
		{"parameters.cable_delay_ns", (double)s->cable_delay / o->p->unit},
		{"parameters.host_delay_ns", (double)s->host_delay / o->p->unit},
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
	fab_report_uint(r, "simulations", o->points.n_done);
	fab_report_uint(r, "all_simulations", o->points.n_items);
}

void sim_report(struct fab_report *r, const struct fab_work *w)
{
	const struct sim_outcome *o = w->outcome;

	sim_answer(r, o);
	fab_cli_report_shard(r, &o->p->shard);
	print_parameters(r, o);
	if (o->p->pair) {
		print_pairs(r, w);
		return;
	}
	fab_report_uint(r, "hosts_live", o->ends.n);
	print_interrupt(r, o);
	fab_report_table(r, "results", "Rates", sim_columns, sim_n_columns, o->rows,
			 sizeof(*o->rows), o->n_rows);
	print_cables(r, o);
	print_cycles(r, o);
	if (o->groups)
		print_groups(r, o);
	if (o->p->n_traced)
		print_trace(r, o);
}
