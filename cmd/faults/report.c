/* SPDX-License-Identifier: BSD-2-Clause */
/* The report of fabric-faults: its tables and the meaning of their columns. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "fabric/fabric.h"
#include "fabric/shape.h"
#include "faults.h"

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
	FAB_COLUMN(pairs, UINT, "pairs with this number"),
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
	{"permutation", FAB_TEXT, "the permutation: senders and receivers", 0,
	 AT(permutation)},
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
	{"pairs", FAB_UINT, "pairs of hosts whose path uses it now", 0, AT(l.pairs)},
	{"host_ports", FAB_UINT, "ports of its own hosts, which its loss cuts off", 0,
	 AT(host_ports)},
	{"interrupted", FAB_UINT, "pairs of other hosts interrupted until rerouted", 0,
	 AT(l.interrupted)},
	{"unreachable", FAB_UINT,
	 "pairs of sound leaves lost when it dies, after rerouting; with --lfts alone: pairs, until rerouted",
	 0, AT(l.unreachable)},
	{"unreachable_rerouted", FAB_UINT,
	 "pairs of other hosts without a path after rerouting", 0,
	 AT(l.unreachable_rerouted)},
	{"longer", FAB_UINT, "additional hops of all pairs after rerouting", 0,
	 AT(l.longer)},
	{"load", FAB_REAL, "fullest direction of a cable then, in what one host sends", 0,
	 AT(l.load)},
};
#undef AT

#define AT(member) FAB_AT(struct faults_local_reroutes, member)
static const struct fab_column local_reroute_columns[] = {
	{"method", FAB_TEXT, "lists: those of VTFTR; search: an extension", 0,
	 AT(method)},
	{"known_faults", FAB_UINT, "faults that the tables know", 0, AT(known)},
	{"unknown_faults", FAB_UINT, "leaves that die at once, unknown to the tables", 0,
	 AT(unknown)},
	{"cases", FAB_UINT, "pairs and sets of such leaves that meet", 0, AT(sum.cases)},
	{"hops_more", FAB_UINT, "hops that the new paths add, all cases together", 0,
	 AT(hops_more)},
	{"stuck", FAB_UINT, "cases that cannot be rerouted locally", FAB_COL_BAD_IF_ANY,
	 AT(sum.stuck)},
};
#undef AT

struct faults_row faults_row_of(const struct fab_work *w,
				const struct fab_faults_result *a)
{
	const struct faults_params *p = w->params;
	const struct faults_outcome *o = w->outcome;
	struct faults_row row = {
		.a = *a,
		.hops = {a->sum.hops, FAB_COUNT(a->sum.hops)},
		.deadlock_free = a->sum.is_unknown ? FAB_UNKNOWN : a->sum.deadlock_free,
		.verified = a->was_verified ? a->is_sound : FAB_UNKNOWN,
		.total_seconds = a->route_seconds + a->analysis_seconds,
		.assumed = faults_assumed(a),
		.shard = o->sweep.is_one_set ? NULL : fab_cli_shard_text(&p->shard),
		.why_unknown = fab_analysis_why_unknown(&a->sum),
	};

	fab_arena_own(w->arena, free, row.why_unknown);
	/* of tables that were read; of those that are made nothing is missing */
	for (size_t kind = 0; kind < FAB_GAP_KINDS; kind++)
		row.gaps[kind] = a->engine ? (double)NAN : (double)a->sum.gaps.n[kind];
	return row;
}

static void print_cycles(struct fab_report *r, const struct faults_outcome *o)
{
	const struct fab_fabric *f = o->f;
	FAB_VEC(struct record) rows = {0};

	for (size_t i = 0; i < o->n; i++) {
		const struct fab_analysis *j = &o->results[i].sum;

		for (size_t k = 0; k < j->cycle.n; k++) {
			const struct fab_channel *c = &j->cycle.v[k];
			uint32_t arc = f->arc_first[c->sw] + c->arc;
			const struct record row = {
				.algorithm = o->results[i].algorithm,
				.step = k + 1,
				.sw = fab_node_name(f, c->sw),
				.port = f->port_num[fab_arc_port(f, c->sw, arc)],
				.peer = fab_node_name(f, f->arc_peer[arc]),
				.vl = c->vl,
			};

			FAB_PUSH(&rows, row);
		}
	}
	if (rows.n)
		fab_report_table(r, "cycle",
				 o->results[0].sum.is_unknown
					 ? "A shortest cycle of channels by assumed lanes"
					 : "A shortest cycle of channels",
				 cycle_columns, FAB_COUNT(cycle_columns), rows.v,
				 sizeof(*rows.v), rows.n);
	free(rows.v);
}

/* One of the two lists of pairs: of each algorithm; in a table for people without
 * --verbose the first of those that are made here. */
static void print_list(struct fab_report *r, const struct fab_work *w, bool is_short,
		       bool of_valleys)
{
	static const struct {
		const char *name, *title, *first;
		const struct fab_column *columns;
		size_t n;
	} tables[] = {
		{"unreached", "Pairs without a path",
		 "Pairs without a path, the first of each algorithm", unreached_columns,
		 FAB_COUNT(unreached_columns)},
		{"valleys", "Paths that turn from down to up",
		 "Paths that turn from down to up, the first of each algorithm",
		 valley_columns, FAB_COUNT(valley_columns)},
	};
	const struct faults_outcome *o = w->outcome;
	FAB_VEC(struct record) rows = {0};
	size_t most;

	for (size_t i = 0; i < o->n; i++) {
		const struct fab_analysis *j = &o->results[i].sum;
		const struct fab_pair_list *pairs =
			of_valleys ? &j->valleys : &j->unreached;

		most = is_short && o->results[i].engine ? SHOWN : FAB_PAIRS_MAX;
		for (size_t k = 0; k < pairs->n && k < most; k++) {
			uint32_t at = pairs->v[k].at;
			const struct record row = {
				.algorithm = o->results[i].algorithm,
				.from = fab_node_name(o->f, pairs->v[k].from),
				.to = fab_node_name(o->f, pairs->v[k].to),
				.pairs = pairs->v[k].pairs,
				.at = at == FAB_NONE ? NULL : fab_node_name(o->f, at),
			};

			FAB_PUSH(&rows, row);
		}
	}
	if (rows.n)
		fab_report_table(r, tables[of_valleys].name,
				 is_short ? tables[of_valleys].first
					  : tables[of_valleys].title,
				 tables[of_valleys].columns, tables[of_valleys].n, rows.v,
				 sizeof(*rows.v), rows.n);
	free(rows.v);
}

static void print_gaps(struct fab_report *r, const struct faults_outcome *o)
{
	struct record {
		const char *missing, *node, *to;
		uint64_t port, out, lid, guid;
		double sl;
	};

	static const struct fab_column columns[] = {
		FAB_COLUMN(
			missing, TEXT,
			"lid, table, service-level, lane; strange-lid, strange-switch: in the tables only"),
		FAB_COLUMN(node, TEXT, "what lacks it, or where a pair begins"),
		FAB_COLUMN_AS(port, UINT, "its port; of a lane, the port packets come by",
			      FAB_COL_NULL_ZERO),
		FAB_COLUMN(to, TEXT, "where a pair ends"),
		FAB_COLUMN_AS(out, UINT, "port that packets leave by", FAB_COL_NULL_ZERO),
		FAB_COLUMN_AS(lid, UINT, "LID; none: the port has none",
			      FAB_COL_NULL_ZERO),
		FAB_COLUMN(sl, NUMBER, "service level"),
		FAB_COLUMN_AS(guid, GUID, "of a switch that the fabric lacks",
			      FAB_COL_NULL_ZERO),
	};
	const struct fab_gaps *gaps = &o->results[0].sum.gaps;
	const struct fab_fabric *f = o->f;

	if (!o->n || !gaps->first.n)
		return;
	fab_report_table_begin(r, "gaps", "What the tables do not say, the first of each",
			       columns, FAB_COUNT(columns));
	for (size_t i = 0; i < gaps->first.n; i++) {
		const struct fab_gap *g = &gaps->first.v[i];
		const struct record row = {
			.missing = fab_gap_kind_name(g->kind),
			.node = g->from == FAB_NONE ? NULL : fab_node_name(f, g->from),
			.port = g->port,
			.to = g->to == FAB_NONE ? NULL : fab_node_name(f, g->to),
			.out = g->out,
			.lid = g->lid,
			.sl = g->kind == FAB_GAP_LANE ? g->sl : NAN,
			.guid = g->guid,
		};

		fab_report_record(r, &row);
	}
	fab_report_table_end(r);
}

/* A port that is cut off. */
struct lost_row {
	const char *host, *adapter, *sw, *lost;
	uint64_t port;
};

/* Hosts that are cut off, and those that lose a rail. */
static void print_lost_ports(struct fab_report *r, const struct faults_outcome *o,
			     bool is_short)
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
	const struct fab_fabric *f = o->f;
	size_t n = o->lost.of.n;

	if (!n)
		return;
	is_short = is_short && n > LOST_SHOWN;
	fab_report_table_begin(
		r, "cut_off",
		is_short
			? "Ports of hosts that are cut off, the first (all with --verbose)"
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

/* The worst losses, of each kind; in CSV and JSON also together. */
static void print_critical(struct fab_report *r, const struct fab_work *w,
			   bool for_people)
{
	static const struct {
		const char *name, *title;
	} tables[] = {
		[FAULTS_LEAF] = {"criticality_leaves",
				 "Loss of a leaf switch, worst first"},
		[FAULTS_ROOT] = {"criticality_roots",
				 "Loss of a spine switch, worst first"},
		[FAULTS_LINK] = {"criticality_links",
				 "Loss of a cable between switches, worst first"},
		[FAULTS_N_KINDS] = {"criticality", "Loss of a part"},
	};
	const struct faults_params *p = w->params;
	const struct faults_outcome *o = w->outcome;
	size_t most = p->questions.criticality;
	const size_t order[] = {FAULTS_N_KINDS, FAULTS_LEAF, FAULTS_ROOT, FAULTS_LINK};
	struct faults_critical *rows =
		FAB_ARENA_NEW(w->arena, most + 1, struct faults_critical);

	for (size_t k = for_people; k < FAB_COUNT(order); k++) {
		size_t n = 0, kind = order[k];

		for (size_t i = 0; i < o->losses.of.n && n < most; i++) {
			const struct fab_loss *l = &o->losses.of.v[i];

			if (l->is_tried &&
			    (kind == FAULTS_N_KINDS
				     ? i < most || (p->store.path &&
						    l->number < FAULTS_PARTS_STORED)
				     : faults_kind_of(l) == kind))
				rows[n++] = faults_critical_of(w, l);
		}
		if (n)
			fab_report_table(r, tables[kind].name, tables[kind].title,
					 critical_columns, FAB_COUNT(critical_columns),
					 rows, sizeof(*rows), n);
	}
}

/*
 * The shape (a kfat may lack parts; other shapes are those of a whole fabric), and the
 * rates of cables: loads count packets, whatever the rate.
 */
static void print_fabric(struct fab_report *r, const struct fab_work *w, bool for_people)
{
	static const struct fab_column fields[] = {
		{.name = "rates.least_gbps", .type = FAB_NUMBER},
		{.name = "rates.most_gbps", .type = FAB_NUMBER},
		{.name = "rates.unknown_links", .type = FAB_UINT},
	};
	const struct faults_params *p = w->params;
	const struct faults_outcome *o = w->outcome;
	const struct fab_rates rates = fab_rates_of(o->f, 0, o->f->n_switch_links);
	bool is_known = rates.least_gbps > 0;
	FAB_AUTO(fab_shape_free_at)
	struct fab_shape *whole = o->kfat ? NULL : fab_shape_recognize(o->f);
	struct fab_shape shape = whole ? *whole : fab_shape_of_kfat(o->kfat);
	const char *name = fab_shape_name(shape.kind);
	char text[256],
		*detail = name ? fab_shape_text(&shape, text, sizeof(text)) : NULL;
	FAB_AUTOFREE char *load = faults_rates_text(o);

	fab_report_text(r, "shape", for_people ? detail : name);
	if (!for_people)
		fab_report_text(r, "shape_detail", detail);
	fab_cli_report_shard(r, &p->shard);
	if (for_people && load)
		fab_report_text(r, "load", load);
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

/* Lines before the tables: faults, hosts that are cut off, notes, and what tables that
 * were read do not contain. */
static void print_lines(struct fab_report *r, const struct fab_work *w)
{
	const struct faults_outcome *o = w->outcome;
	const struct fab_faults_result *a = &o->results[0];
	const struct fab_lost *lost = &a->lost;
	const char *assumed = o->n ? faults_assumed(a) : NULL;
	FAB_AUTOFREE char *why = o->n ? fab_analysis_why_unknown(&a->sum) : NULL;
	FAB_AUTOFREE char *failed = fab_faults_text(o->faults, ", ");

	fab_report_text(r, "failed", *failed ? failed : "none");
	if (o->n && lost->pairs)
		fab_report_text(
			r, "lost",
			fab_arena_format(
				w->arena,
				"%" PRIu64 " host%s, %" PRIu64
				" adapter%s of hosts, %" PRIu64 " pairs%s",
				lost->hosts, lost->hosts == 1 ? "" : "s", lost->adapters,
				lost->adapters == 1 ? "" : "s", lost->pairs,
				o->sweep.is_one_set ? "" : ", all sets together"));
	if (!o->sweep.is_one_set)
		fab_report_uint(r, "sets", o->sweep.n_sets);
	for (size_t i = 0; i < o->n; i++, a++) {
		if (a->note)
			fab_report_text(r, a->algorithm, a->note);
		if (a->worst && !o->sweep.is_one_set)
			fab_report_text(
				r, fab_arena_format(w->arena, "%s.worst", a->algorithm),
				a->worst);
	}
	if (assumed)
		fab_report_text(r, "lanes", assumed);
	if (why)
		fab_report_text(r, "deadlock unknown", why);
	for (int kind = 0; o->n && kind < FAB_GAP_KINDS; kind++) {
		FAB_AUTOFREE char *text = fab_gaps_text(o->f, &o->results[0].sum.gaps,
							(enum fab_gap_kind)kind);

		if (text)
			fab_report_text(
				r, kind < FAB_GAP_STRANGE_LID ? "missing" : "strange",
				text);
	}
}

void faults_draw(struct fab_drawing *d, const struct fab_work *w)
{
	/* the outcome of every task begins with it */
	const struct faults_outcome *o = w->outcome;
	bool has_load = false;

	if (o->faults)
		fab_cli_mark_faults(d, w->f, o->faults);
	for (size_t i = 0; i < o->n; i++) {
		const struct fab_faults_result *result = &o->results[i];
		struct fab_analysis j = result->sum;
		const struct fab_analysis_options options = {.only_load = true,
							     .ends = j.between};
		FAB_AUTO(fab_analysis_fini) struct fab_analysis loads = {.load = NULL};
		struct fab_err err;

		j.load = NULL;
		/* what cannot be analysed again has no colours */
		if (result->routes && !has_load &&
		    !fab_analyse(result->routes, &options, &loads, &err))
			j.load = loads.load;
		has_load |= j.load != NULL;
		fab_cli_draw_analysis(d, w->f, &j, result->algorithm);
	}
}

void faults_report(struct fab_report *r, const struct fab_work *w)
{
	const struct faults_params *p = w->params;
	const struct faults_outcome *o = w->outcome;
	bool for_people = fab_report_how(r)->format == FAB_FORMAT_TABLE;
	bool is_short = for_people && !p->run.verbose;
	size_t n;
	const char **names;

	faults_answer(r, w);
	print_fabric(r, w, for_people);
	if (p->questions.reliability) {
		fab_report_table(r, "reliability", "Reliability",
				 faults_reliability_columns, faults_reliability_n_columns,
				 o->reliability.v, sizeof(*o->reliability.v),
				 o->reliability.n);
		if (o->reliability_text)
			fab_report_text(r, "reliability_note", o->reliability_text);
		return;
	}
	if (for_people)
		print_lines(r, w);
	else if (!o->sweep.is_one_set)
		fab_report_uint(r, "sets", o->sweep.n_sets);
	n = o->faults->named.n;
	names = FAB_ARENA_NEW(w->arena, n + 1, const char *);
	for (size_t i = 0; i < n; i++) {
		char *name = fab_fault_text(o->f, o->faults->named.v[i]);

		fab_arena_own(w->arena, free, name);
		names[i] = name;
	}
	fab_report_table_begin(r, "results", "Algorithms", faults_columns,
			       faults_n_columns);
	for (size_t i = 0; i < o->n; i++) {
		struct faults_row row = faults_row_of(w, &o->results[i]);

		row.failed = (struct fab_names){names, n};
		fab_report_record(r, &row);
	}
	fab_report_table_end(r);
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
	print_cycles(r, o);
	print_gaps(r, o);
	print_lost_ports(r, o, is_short);
	if (o->sweep.is_one_set)
		print_list(r, w, is_short, false);
	if (o->sweep.is_one_set && !o->kfat) /* on a kfat every second path turns so */
		print_list(r, w, is_short, true);
	if (o->flows.n)
		fab_report_table(r, "permutations", "Permutations", flow_columns,
				 FAB_COUNT(flow_columns), o->flows.v, sizeof(*o->flows.v),
				 o->flows.n);
	if (o->ranked)
		print_critical(r, w, for_people);
	if (o->rerouted.n)
		fab_report_table(r, "dodge", "A fault that the tables do not know",
				 local_reroute_columns, FAB_COUNT(local_reroute_columns),
				 o->rerouted.v, sizeof(*o->rerouted.v), o->rerouted.n);
	if (p->questions.reroute_lists)
		faults_report_lists(r, w);
	if (p->questions.explain)
		faults_explain(r, w);
}
