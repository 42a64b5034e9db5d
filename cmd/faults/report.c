/* SPDX-License-Identifier: BSD-2-Clause */
/* The report of fabric-faults: its tables and what their columns mean. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "fabric/fabric.h"
#include "faults.h"
#include "unicast/analysis.h"

/* Pairs of an algorithm, and ports that are lost, that a table shows. */
enum { SHOWN = 10, LOST_SHOWN = 20 };

/* A row of a table. */
struct record {
	const char *algorithm, *sw, *peer, *from, *to, *at;
	uint64_t hops, pairs, step, port, vl;
};

#define AT(member) FAB_AT(struct record, member)
static const struct fab_column hops_columns[] = {
	FAB_COLUMN(algorithm, TEXT, "routing algorithm"),
	FAB_COLUMN(hops, UINT, "switch-to-switch hops"),
	FAB_COLUMN(pairs, UINT, "pairs with so many"),
};

static const struct fab_column cycle_columns[] = {
	FAB_COLUMN(algorithm, TEXT, "routing algorithm"),
	FAB_COLUMN(step, UINT, "position in the cycle, from 1"),
	{"switch", FAB_TEXT, "switch that sends", 0, AT(sw)},
	FAB_COLUMN(port, UINT, "port it sends by"),
	FAB_COLUMN(peer, TEXT, "switch that receives"),
	FAB_COLUMN(vl, UINT, "virtual lane"),
};

static const struct fab_column valley_columns[] = {
	FAB_COLUMN(algorithm, TEXT, "routing algorithm"),
	FAB_COLUMN(from, TEXT, "source switch"),
	FAB_COLUMN(to, TEXT, "target switch"),
	FAB_COLUMN(pairs, UINT, "pairs between them whose path turns from down to up"),
	FAB_COLUMN(at, TEXT, "switch where the first of them turns"),
};

static const struct fab_column unreached_columns[] = {
	FAB_COLUMN(algorithm, TEXT, "routing algorithm"),
	FAB_COLUMN(from, TEXT, "source switch"),
	FAB_COLUMN(to, TEXT, "target switch"),
	FAB_COLUMN(pairs, UINT, "pairs between them without a path"),
	FAB_COLUMN(at, TEXT,
		   "switch where the first of them ends; none: the tables lack its LID"),
};
#undef AT

#define AT(member) FAB_AT(struct faults_flow, member)
static const struct fab_column flow_columns[] = {
	{"permutation", FAB_TEXT, "who sends to whom", 0, AT(permutation)},
	{"algorithm", FAB_TEXT, "routing algorithm", 0, AT(algorithm)},
	{"flows", FAB_UINT, "hosts that send", 0, AT(after.flows)},
	{"lost", FAB_UINT, "flows without a path", FAB_COL_BAD_IF_ANY, AT(after.lost)},
	{"max_load", FAB_UINT, "flows on the fullest direction of a cable", 0,
	 AT(after.max)},
	{"mean_load", FAB_REAL, "mean over the directions of live cables", 0,
	 AT(after.mean)},
	{"max_load_before", FAB_UINT, "the fullest without faults", 0, AT(before.max)},
	{"mean_load_before", FAB_REAL, "the mean without faults", FAB_COL_EXTRA,
	 AT(before.mean)},
};
#undef AT

#define AT(member) FAB_AT(struct faults_critical, member)
static const struct fab_column critical_columns[] = {
	{"part", FAB_TEXT, "switch, or link as NAME:PORT", 0, AT(name)},
	{"kind", FAB_TEXT, "leaf, root or link", 0, AT(kind)},
	{"pairs", FAB_UINT, "pairs of hosts whose path uses it now", 0, AT(pairs)},
	{"host_ports", FAB_UINT, "ports of its own hosts, which its loss cuts off", 0,
	 AT(host_ports)},
	{"interrupted", FAB_UINT, "pairs of other hosts interrupted until rerouted", 0,
	 AT(interrupted)},
	{"unreachable", FAB_UINT,
	 "pairs of sound leaves lost when it dies, routed anew; with --lfts "
	 "alone: "
	 "pairs, "
	 "until rerouted",
	 0, AT(unreachable)},
	{"unreachable_rerouted", FAB_UINT,
	 "pairs of other hosts without a path after rerouting", 0, AT(rerouted)},
	{"longer", FAB_UINT, "hops more of all pairs together, routed anew", 0,
	 AT(longer)},
	{"load", FAB_REAL, "fullest direction of a cable then, in what one host sends", 0,
	 AT(load)},
};
#undef AT

#define AT(member) FAB_AT(struct faults_local_reroutes, member)
static const struct fab_column local_reroute_columns[] = {
	{"known_faults", FAB_UINT, "faults that the tables know", 0, AT(known)},
	{"unknown_faults", FAB_UINT, "leaves that die at once, unknown to the tables", 0,
	 AT(unknown)},
	{"cases", FAB_UINT, "pairs and sets of such leaves that meet", 0, AT(cases)},
	{"hops_more", FAB_UINT, "hops that the new paths add, all cases together", 0,
	 AT(hops_more)},
	{"stuck", FAB_UINT, "cases that cannot be rerouted locally", FAB_COL_BAD_IF_ANY,
	 AT(stuck)},
};
#undef AT

void faults_row_init(struct faults_row *row, const struct faults_result *a)
{
	*row = (struct faults_row){
		.a = *a,
		.deadlock_free = a->sum.is_unknown ? FAB_UNKNOWN : a->sum.deadlock_free,
		.verified = a->was_verified ? a->is_sound : FAB_UNKNOWN,
		.total_seconds = a->route_seconds + a->analysis_seconds,
		.assumed = faults_assumed(a),
		.why_unknown = fab_analysis_why_unknown(&a->sum),
	};
	row->hops = (struct fab_counts){a->sum.hops, FAB_COUNT(a->sum.hops)};
	/* of tables that were read; of those that are made nothing is missing */
	for (size_t kind = 0; kind < FAB_GAP_KINDS; kind++)
		row->gaps[kind] = a->engine ? (double)NAN : (double)a->sum.gaps.n[kind];
}

void faults_row_fini(struct faults_row *row)
{
	free(row->why_unknown);
}

static void print_results(struct fab_report *r, const struct faults_outcome *o)
{
	size_t n = o->faults->named.n;
	const char **names = FAB_NEW(n + 1, const char *);
	const struct fab_names failed = {names, n};

	for (size_t i = 0; i < n; i++)
		names[i] = fab_fault_text(o->f, o->faults->named.v[i]);
	fab_report_table_begin(r, "results", "Algorithms", faults_columns,
			       faults_n_columns);
	for (size_t i = 0; i < o->n; i++) {
		struct faults_row row;

		faults_row_init(&row, &o->results[i]);
		row.failed = failed;
		fab_report_record(r, &row);
		faults_row_fini(&row);
	}
	fab_report_table_end(r);
	for (size_t i = 0; i < n; i++)
		free((char *)(uintptr_t)names[i]);
	free(names);
}

static void print_hops(struct fab_report *r, const struct faults_outcome *o)
{
	fab_report_table_begin(r, "hops", "Pairs by hops", hops_columns,
			       FAB_COUNT(hops_columns));
	for (size_t i = 0; i < o->n; i++)
		for (size_t h = 0; h < FAB_COUNT(o->results[i].sum.hops); h++) {
			const struct record row = {
				.algorithm = o->results[i].algorithm,
				.hops = h,
				.pairs = o->results[i].sum.hops[h],
			};

			if (o->results[i].sum.hops[h])
				fab_report_record(r, &row);
		}
	fab_report_table_end(r);
}

static bool any_cycle(const struct faults_outcome *o)
{
	for (size_t i = 0; i < o->n; i++)
		if (o->results[i].sum.cycle.n)
			return true;
	return false;
}

static void print_cycles(struct fab_report *r, const struct faults_outcome *o)
{
	const struct fab_fabric *f = o->f;

	if (!any_cycle(o))
		return;
	fab_report_table_begin(r, "cycle",
			       o->results[0].sum.is_unknown
				       ? "A shortest cycle of channels by assumed lanes"
				       : "A shortest cycle of channels",
			       cycle_columns, FAB_COUNT(cycle_columns));
	for (size_t i = 0; i < o->n; i++) {
		const struct fab_analysis *j = &o->results[i].sum;

		for (size_t k = 0; k < j->cycle.n; k++) {
			const struct fab_channel *c = &j->cycle.v[k];
			uint32_t arc = f->arc_first[c->sw] + c->arc;
			uint32_t cable = f->arc_cable[arc];
			uint32_t port = f->port_node[f->cable_a[cable]] == c->sw
						? f->cable_a[cable]
						: f->cable_b[cable];
			const struct record row = {
				.algorithm = o->results[i].algorithm,
				.step = k + 1,
				.sw = fab_node_name(f, c->sw),
				.port = f->port_num[port],
				.peer = fab_node_name(f, f->arc_peer[arc]),
				.vl = c->vl,
			};

			fab_report_record(r, &row);
		}
	}
	fab_report_table_end(r);
}

static void print_pairs(struct fab_report *r, const struct faults_result *a,
			const struct fab_fabric *f, const struct fab_pair_list *pairs,
			size_t most)
{
	for (size_t k = 0; k < pairs->n && k < most; k++) {
		uint32_t at = pairs->v[k].at;
		const struct record row = {
			.algorithm = a->algorithm,
			.from = fab_node_name(f, pairs->v[k].from),
			.to = fab_node_name(f, pairs->v[k].to),
			.pairs = pairs->v[k].pairs,
			.at = at == FAB_NONE ? NULL : fab_node_name(f, at),
		};

		fab_report_record(r, &row);
	}
}

/* Pairs without a path, and paths that turn from down to up: of each algorithm; of those
 * that are made here a few, unless all are asked for. */
static void print_troubles(struct fab_report *r, const struct faults_params *p,
			   const struct faults_outcome *o)
{
	bool is_short = p->output.format == FAB_FORMAT_TABLE && !p->run.verbose;
	bool has_unreached = false, has_valleys = false;

	for (size_t i = 0; i < o->n && o->is_one_set; i++) {
		has_unreached |= o->results[i].sum.unreached.n > 0;
		/* on a kfat every second path turns so */
		has_valleys |= o->results[i].sum.valleys.n > 0 && !o->kfat;
	}
	if (has_unreached)
		fab_report_table_begin(r, "unreached",
				       is_short ? "Pairs without a path, the first of "
						  "each algorithm"
						: "Pairs without a path",
				       unreached_columns, FAB_COUNT(unreached_columns));
	for (size_t i = 0; i < o->n && has_unreached; i++)
		print_pairs(r, &o->results[i], o->f, &o->results[i].sum.unreached,
			    is_short && o->results[i].engine ? SHOWN : FAB_PAIRS_MAX);
	if (has_unreached)
		fab_report_table_end(r);
	if (has_valleys)
		fab_report_table_begin(r, "valleys",
				       is_short ? "Paths that turn from down to up, the "
						  "first of each algorithm"
						: "Paths that turn from down to up",
				       valley_columns, FAB_COUNT(valley_columns));
	for (size_t i = 0; i < o->n && has_valleys; i++)
		print_pairs(r, &o->results[i], o->f, &o->results[i].sum.valleys,
			    is_short && o->results[i].engine ? SHOWN : FAB_PAIRS_MAX);
	if (has_valleys)
		fab_report_table_end(r);
}

/* A port that is cut off. */
struct lost_row {
	const char *host, *adapter, *sw, *lost;
	uint64_t port;
};

/* Hosts that are cut off, and those that lose a rail. */
static void print_lost_ports(struct fab_report *r, const struct faults_params *p,
			     const struct faults_outcome *o)
{
#define AT(member) FAB_AT(struct lost_row, member)
	static const struct fab_column columns[] = {
		{"lost", FAB_TEXT, "host: no port of it is left; rail: another one is", 0,
		 AT(lost)},
		{"host", FAB_TEXT, "the host", 0, AT(host)},
		{"adapter", FAB_TEXT, "its adapter", 0, AT(adapter)},
		{"port", FAB_UINT, "port of the adapter", 0, AT(port)},
		{"switch", FAB_TEXT, "switch that the port is cabled to", 0, AT(sw)},
	};
#undef AT
	bool is_short = p->output.format == FAB_FORMAT_TABLE && !p->run.verbose;
	const struct fab_fabric *f = o->f;
	size_t n = o->lost.of.n;

	if (!n)
		return;
	is_short = is_short && n > LOST_SHOWN;
	fab_report_table_begin(
		r, "cut_off",
		is_short ? "Ports of hosts that are cut off, the first (all "
			   "with --verbose)"
			 : "Ports of hosts that are cut off",
		columns, FAB_COUNT(columns));
	for (size_t i = 0; i < (is_short ? LOST_SHOWN : n); i++) {
		const struct fab_lost_port *lost = &o->lost.of.v[i];
		uint32_t node = f->port_node[lost->port], host = f->node_host[node];
		const struct lost_row row = {
			.lost = lost->is_host ? "host" : "rail",
			.host = host == FAB_NONE ? NULL : fab_host_name(f, host),
			.adapter = fab_node_name(f, node),
			.port = f->port_num[lost->port],
			.sw = fab_node_name(f, fab_port_switch(f, lost->port)),
		};

		fab_report_record(r, &row);
	}
	fab_report_table_end(r);
}

static void print_flows(struct fab_report *r, const struct faults_outcome *o)
{
	if (!o->flows.n)
		return;
	fab_report_table(r, "permutations", "Permutations", flow_columns,
			 FAB_COUNT(flow_columns), o->flows.v, sizeof(*o->flows.v),
			 o->flows.n);
}

static void print_reliability(struct fab_report *r, const struct faults_outcome *o)
{
	fab_report_table(r, "reliability", "Reliability", faults_reliability_columns,
			 faults_reliability_n_columns, o->reliability.v,
			 sizeof(*o->reliability.v), o->reliability.n);
	if (o->reliability_text)
		fab_report_text(r, "reliability_note", o->reliability_text);
}

static void print_critical(struct fab_report *r, const struct faults_params *p,
			   const struct faults_outcome *o)
{
	static const struct {
		const char *name, *title;
	} tables[FAULTS_N_KINDS] = {
		[FAULTS_LEAF] = {"criticality_leaves",
				 "Loss of a leaf switch, worst first"},
		[FAULTS_ROOT] = {"criticality_roots",
				 "Loss of a spine switch, worst first"},
		[FAULTS_LINK] = {"criticality_links",
				 "Loss of a cable between switches, worst first"},
	};
	size_t n = o->critical.n, most = p->questions.criticality;

	if (n && p->output.format != FAB_FORMAT_TABLE)
		fab_report_table(r, "criticality", "Loss of a part", critical_columns,
				 FAB_COUNT(critical_columns), o->critical.v,
				 sizeof(*o->critical.v), n < most ? n : most);
	for (size_t k = 0; n && k < FAULTS_N_KINDS; k++)
		if (o->worst[k].n)
			fab_report_table(r, tables[k].name, tables[k].title,
					 critical_columns, FAB_COUNT(critical_columns),
					 o->worst[k].v, sizeof(*o->worst[k].v),
					 o->worst[k].n);
}

static void print_local_reroutes(struct fab_report *r, const struct faults_outcome *o)
{
	if (!o->rerouted.n)
		return;
	fab_report_table(r, "dodge", "A fault that the tables do not know",
			 local_reroute_columns, FAB_COUNT(local_reroute_columns),
			 o->rerouted.v, sizeof(*o->rerouted.v), o->rerouted.n);
}

/* A kfat may lack parts; other shapes are those of a whole fabric. */
static void print_shape(struct fab_report *r, const struct faults_outcome *o,
			bool for_people)
{
	struct fab_shape *whole = o->kfat ? NULL : fab_shape_recognize(o->f);
	struct fab_shape shape = whole ? *whole : fab_shape_of_kfat(o->kfat);
	const char *name = fab_shape_name(shape.kind);
	char text[256],
		*detail = name ? fab_shape_text(&shape, text, sizeof(text)) : NULL;

	fab_report_text(r, "shape", for_people ? detail : name);
	if (!for_people)
		fab_report_text(r, "shape_detail", detail);
	fab_shape_free(whole);
}

/* Loads count what passes, whatever the rate of a cable: say where that misleads. */
static void print_rates(struct fab_report *r, const struct faults_outcome *o,
			bool for_people)
{
	static const struct fab_column fields[] = {
		{.name = "rates.least_gbps", .type = FAB_NUMBER},
		{.name = "rates.most_gbps", .type = FAB_NUMBER},
		{.name = "rates.unknown_links", .type = FAB_UINT},
	};
	const struct fab_rates rates = fab_rates_of(o->f, 0, o->f->n_switch_links);
	bool is_known = rates.least_gbps > 0;
	char *text = faults_rates_text(o);

	if (for_people && text)
		fab_report_text(r, "load", text);
	free(text);
	if (for_people)
		return;
	fab_report_field(
		r, &fields[0],
		(union fab_cell){.real = is_known ? rates.least_gbps : (double)NAN});
	fab_report_field(
		r, &fields[1],
		(union fab_cell){.real = is_known ? rates.most_gbps : (double)NAN});
	fab_report_field(r, &fields[2], (union fab_cell){.u = rates.n_unknown});
}

/* What is gone for good, before what is left. */
static void print_lost(struct fab_report *r, const struct faults_params *p,
		       const struct faults_outcome *o)
{
	const struct fab_lost *lost = o->n ? &o->results[0].lost : NULL;
	char *text;

	if (!lost || !lost->pairs || p->output.format != FAB_FORMAT_TABLE)
		return;
	text = fab_format("%" PRIu64 " host%s, %" PRIu64 " adapter%s of hosts, %" PRIu64
			  " pairs%s",
			  lost->hosts, lost->hosts == 1 ? "" : "s", lost->adapters,
			  lost->adapters == 1 ? "" : "s", lost->pairs,
			  o->is_one_set ? "" : ", all sets together");
	fab_report_text(r, "lost", text);
	free(text);
}

static void print_faults(struct fab_report *r, const struct faults_params *p,
			 const struct faults_outcome *o)
{
	char *text = fab_faults_text(o->faults, ", ");

	if (p->output.format == FAB_FORMAT_TABLE)
		fab_report_text(r, "failed", *text ? text : "none");
	free(text);
	print_lost(r, p, o);
	if (!o->is_one_set)
		fab_report_uint(r, "sets", o->n_sets);
}

static void print_notes(struct fab_report *r, const struct faults_params *p,
			const struct faults_outcome *o)
{
	for (size_t i = 0; i < o->n && p->output.format == FAB_FORMAT_TABLE; i++) {
		const struct faults_result *a = &o->results[i];
		char name[64];

		snprintf(name, sizeof(name), "%s", a->algorithm);
		if (a->note)
			fab_report_text(r, name, a->note);
		snprintf(name, sizeof(name), "%s.worst", a->algorithm);
		if (a->worst && !o->is_one_set)
			fab_report_text(r, name, a->worst);
	}
}

int faults_report(FILE *out, const struct fab_report_options *options,
		  const struct faults_params *p, const struct faults_outcome *o,
		  struct fab_err *err)
{
	bool is_reliability = p->questions.reliability;
	struct fab_report *r =
		fab_cli_begin_report(out, options, "fabric-faults",
				     is_reliability ? "reliability" : "results", o->f);

	faults_answer(r, p, o);
	print_shape(r, o, options->format == FAB_FORMAT_TABLE);
	fab_cli_report_shard(r, &p->shard);
	print_rates(r, o, options->format == FAB_FORMAT_TABLE);
	if (is_reliability) {
		print_reliability(r, o);
		return fab_report_finish(r, err);
	}
	print_faults(r, p, o);
	print_notes(r, p, o);
	if (options->format == FAB_FORMAT_TABLE)
		faults_print_gap_texts(r, o);
	print_results(r, o);
	print_hops(r, o);
	print_cycles(r, o);
	faults_print_gaps(r, o);
	print_lost_ports(r, p, o);
	print_troubles(r, p, o);
	print_flows(r, o);
	print_critical(r, p, o);
	print_local_reroutes(r, o);
	if (p->questions.explain)
		faults_explain(r, o);
	return fab_report_finish(r, err);
}
