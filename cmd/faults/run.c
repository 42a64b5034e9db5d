/* SPDX-License-Identifier: BSD-2-Clause */
/* The tasks of fabric-faults: sets of faults by several algorithms, and --reliability. */
#include <inttypes.h>
#include <string.h>

#include "export/fabrics.h"
#include "export/tables.h"
#include "faults.h"
#include "store/store.h"

static int solve_results(struct fab_work *w, struct fab_err *err)
{
	struct faults_params *p = w->params;
	struct faults_outcome *o = w->outcome;
	int rc = faults_set_up(p, w->f, o, err);

	if (!rc && p->questions.explain)
		rc = faults_find_pair(p, o, err);
	if (!rc)
		rc = faults_sweep(p, o, err);
	if (!rc && o->sweep.is_one_set)
		fab_lost_ports(o->faults, &o->lost);
	if (!rc)
		rc = faults_flow(p, o, err);
	if (!rc && p->questions.has_criticality && o->n)
		rc = faults_rank_parts(p, o, err);
	if (!rc && (p->questions.reroute || p->questions.reroute_lists))
		rc = faults_local_reroute(p, o, err);
	for (size_t i = 0; i < o->n && !rc; i++) {
		const struct fab_faults_result *r = &o->results[i];
		FAB_AUTOFREE char *why =
			p->check ? fab_analysis_why_unknown(&r->sum) : NULL;

		if (why)
			fab_cli_warn(&p->run, "%s: freedom of deadlock is not known: %s",
				     r->algorithm, why);
		if (!r->is_sound ||
		    (p->check && (r->sum.unreachable || !r->sum.deadlock_free)))
			return FAB_EXIT_FOUND;
	}
	return rc;
}

static int solve_reliability(struct fab_work *w, struct fab_err *err)
{
	int rc = faults_set_up(w->params, w->f, w->outcome, err);

	return rc ? rc : faults_try_reliability(w->params, w->outcome, err);
}

/* Tables of the last result, and what is left of the fabric. */
static int write_files(struct fab_cli_results *results, const struct fab_work *w,
		       struct fab_err *err)
{
	const struct faults_params *p = w->params;
	const struct faults_outcome *o = w->outcome;
	const struct fab_routes *routes = o->n ? o->results[o->n - 1].routes : NULL;
	const struct {
		const char *path;
		int (*write)(FILE *, const struct fab_routes *, struct fab_err *);
	} files[] = {{p->files.lfts_out, fab_export_lfts},
		     {p->files.fdbs_out, fab_export_fdbs},
		     {p->files.path_sl_out, fab_export_path_sl},
		     {p->files.sl2vl_out, fab_export_sl2vl}};
	FAB_AUTO(fab_fabric_free_at) struct fab_fabric *left = NULL;
	int rc = 0;

	for (size_t i = 0; i < FAB_COUNT(files) && !rc; i++)
		if (files[i].path)
			rc = files[i].write(fab_cli_open_result(results, files[i].path),
					    routes, err);
	if (rc || !p->files.subnet_out)
		return rc;
	rc = fab_fabric_without(o->f, o->faults, &left, err);
	return rc ? rc
		  : fab_export_subnet_lst(
			    fab_cli_open_result(results, p->files.subnet_out), left, err);
}

/* Of a result, and of one of its sets of faults. */
#define AT(member) FAB_AT(struct fab_faults_set, member)
static const struct fab_column set_columns[] = {
	{"pairs", FAB_UINT, "", 0, AT(pairs), FAB_METRIC_PLAIN},
	{"unreachable", FAB_UINT, "", 0, AT(unreachable), FAB_METRIC_LESS},
	{"max_hops", FAB_UINT, "", 0, AT(max_hops), FAB_METRIC_LESS},
	{"cycle_channels", FAB_UINT, "", 0, AT(cycle_channels), FAB_METRIC_LESS},
};
#undef AT

/* Of a part whose loss was tried. */
#define AT(member) FAB_AT(struct faults_critical, l.member)
static const struct fab_column part_columns[] = {
	{"pairs", FAB_UINT, "", 0, AT(pairs), FAB_METRIC_PLAIN},
	{"interrupted", FAB_UINT,
	 "pairs of other hosts that the loss of a part interrupts until rerouted", 0,
	 AT(interrupted), FAB_METRIC_LESS},
	{"unreachable", FAB_UINT, "", 0, AT(unreachable), FAB_METRIC_LESS},
	{"unreachable_rerouted", FAB_UINT,
	 "pairs of other hosts without a path after rerouting around a lost part", 0,
	 AT(unreachable_rerouted), FAB_METRIC_LESS},
	{"longer", FAB_UINT, "hops more of all pairs together around a lost part", 0,
	 AT(longer), FAB_METRIC_LESS},
	{"load", FAB_REAL, "", 0, AT(load), FAB_METRIC_LESS},
};
#undef AT

static void store_results(struct fab_draft *d, const struct fab_work *w)
{
	const struct faults_params *p = w->params;
	const struct faults_outcome *o = w->outcome;
	const char *kind = fab_fault_kind_choices.names[p->wish.dead.of];
	char *sets = NULL;

	fab_draft_fact(d, "faults", (double)o->faults->named.n);
	fab_draft_fact(d, "sets", (double)o->sweep.n_sets);
	if (o->faults->named.n)
		fab_draft_asked(d, "failed", fab_faults_text(o->faults, ","));
	if (p->wish.dead.random)
		sets = fab_format("%" PRIu64 " times %u of %s, seed %" PRIu64,
				  p->wish.count, p->wish.dead.random, kind, p->run.seed);
	else if (p->wish.exhaustive)
		sets = fab_format("all %u of %s", p->wish.exhaustive, kind);
	fab_draft_asked(d, "sets_of_faults", sets);
	if (p->files.in.lfts)
		fab_draft_asked(d, "tables", fab_strdup(p->files.in.lfts));
	if (p->has_ends)
		fab_draft_asked(d, "endpoints",
				fab_strdup(fab_ends_choices.names[p->ends]));
	for (size_t i = 0; i < o->n; i++) {
		const struct fab_faults_result *r = &o->results[i];
		const struct faults_row row = faults_row_of(w, r);

		fab_draft_result(d, r->algorithm, faults_columns, faults_n_columns, &row);
		for (size_t k = 0; k < r->each.n; k++)
			fab_draft_part(d, r->each.v[k].number, r->each.v[k].dead,
				       set_columns, FAB_COUNT(set_columns),
				       &r->each.v[k]);
		for (size_t k = 0; r == o->ranked && k < o->losses.of.n; k++) {
			const struct faults_critical c =
				faults_critical_of(w, &o->losses.of.v[k]);

			/* 0 is the set of faults itself */
			if (c.l.is_tried && (c.l.number < FAULTS_PARTS_STORED ||
					     k < p->questions.criticality))
				fab_draft_part(d, c.l.number + 1, c.name, part_columns,
					       FAB_COUNT(part_columns), &c);
		}
	}
}

/* Of each algorithm the row of most faults, and each row as a part. */
static void store_reliability(struct fab_draft *d, const struct fab_work *w)
{
	const struct faults_params *p = w->params;
	const struct faults_outcome *o = w->outcome;
	const struct faults_reliability_row *rows = o->reliability.v;

	fab_draft_asked(d, "trials",
			fab_format("%" PRIu64 ", seed %" PRIu64, p->questions.trials,
				   p->run.seed));
	/* the mean time follows from these */
	fab_draft_fact(d, "leaves", o->kfat->n_leaves);
	if (p->questions.mtbf_seconds > 0)
		fab_draft_fact(d, "mtbf_seconds", p->questions.mtbf_seconds);
	for (size_t i = 0, last; i < o->reliability.n; i = last + 1) {
		for (last = i; last + 1 < o->reliability.n &&
			       !strcmp(rows[last + 1].algorithm, rows[i].algorithm);)
			last++;
		fab_draft_result(d, rows[i].algorithm, faults_reliability_columns,
				 faults_reliability_n_columns, &rows[last]);
		for (size_t k = i; k <= last; k++)
			fab_draft_part(d, k,
				       fab_arena_format(w->arena, "faults=%u",
							rows[k].r.n_faults),
				       faults_reliability_columns,
				       faults_reliability_n_columns, &rows[k]);
	}
}

static const struct fab_task_file files[] = {{.write_all = write_files}, {0}};

const struct fab_task faults_results_task = {
	.primary = "results",
	.columns = faults_columns,
	.n_columns = &faults_n_columns,
	.outcome_bytes = sizeof(struct faults_outcome),
	.solve = solve_results,
	.files = files,
	.report = faults_report,
	.draw = faults_draw,
	.store = store_results,
	.fini = faults_fini,
};

const struct fab_task faults_reliability_task = {
	.primary = "reliability",
	.columns = faults_reliability_columns,
	.n_columns = &faults_reliability_n_columns,
	.outcome_bytes = sizeof(struct faults_outcome),
	.solve = solve_reliability,
	.files = files,
	.report = faults_report,
	.draw = faults_draw,
	.store = store_reliability,
	.fini = faults_fini,
};
