/* SPDX-License-Identifier: BSD-2-Clause */
/* fabric-faults: what tables that were read do not say. */
#include <math.h>
#include <stdlib.h>

#include "faults.h"
#include "unicast/analysis.h"

/* A row of a table. */
struct record {
	const char *missing, *node, *to;
	uint64_t port, out, lid, guid;
	double sl;
};

static const struct fab_column columns[] = {
	FAB_COLUMN(missing, TEXT,
		   "lid, table, service-level, lane; strange-lid, strange-switch: in the "
		   "tables "
		   "only"),
	FAB_COLUMN(node, TEXT, "what lacks it, or where a pair begins"),
	FAB_COLUMN_AS(port, UINT, "its port; of a lane, the port packets come by",
		      FAB_COL_NULL_ZERO),
	FAB_COLUMN(to, TEXT, "where a pair ends"),
	FAB_COLUMN_AS(out, UINT, "port that packets leave by", FAB_COL_NULL_ZERO),
	FAB_COLUMN_AS(lid, UINT, "LID; none: the port has none", FAB_COL_NULL_ZERO),
	FAB_COLUMN(sl, NUMBER, "service level"),
	FAB_COLUMN_AS(guid, GUID, "of a switch that the fabric lacks", FAB_COL_NULL_ZERO),
};

const char *faults_assumed(const struct faults_result *r)
{
	const struct fab_told *told = r->routes ? r->routes->told : NULL;

	if (!told || (told->has_sls && told->has_lanes))
		return NULL;
	if (!told->has_sls && !told->has_lanes)
		return "one lane assumed: give --path-sl and --sl2vl if the engine uses "
		       "lanes";
	return told->has_sls ? "lanes assumed to be the service levels: give --sl2vl"
			     : "service level 0 assumed for all pairs: give --path-sl";
}

void faults_print_gap_texts(struct fab_report *r, const struct faults_outcome *o)
{
	const struct faults_result *a = &o->results[0];
	const char *assumed = o->n ? faults_assumed(a) : NULL;
	char *why = o->n ? fab_analysis_why_unknown(&a->sum) : NULL;

	if (assumed)
		fab_report_text(r, "lanes", assumed);
	if (why)
		fab_report_text(r, "deadlock unknown", why);
	for (int kind = 0; o->n && kind < FAB_GAP_KINDS; kind++) {
		char *text = fab_gaps_text(o->f, &a->sum.gaps, (enum fab_gap_kind)kind);

		if (text)
			fab_report_text(
				r, kind < FAB_GAP_STRANGE_LID ? "missing" : "strange",
				text);
		free(text);
	}
	free(why);
}

void faults_print_gaps(struct fab_report *r, const struct faults_outcome *o)
{
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

void faults_warn_unknown(const struct faults_params *p, const struct faults_result *r)
{
	char *why = fab_analysis_why_unknown(&r->sum);

	if (why)
		fab_cli_warn(&p->run, "%s: freedom of deadlock is not known: %s",
			     r->algorithm, why);
	free(why);
}
