/* SPDX-License-Identifier: BSD-2-Clause */
/* What fabric-faults keeps with --store. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "faults.h"
#include "store/store.h"

/* Of a result, and of one of its sets of faults. */
static const struct fab_column set_columns[] = {
	{"pairs", FAB_UINT, "", 0, FAB_AT(struct faults_set, pairs), FAB_METRIC_PLAIN},
	{"unreachable", FAB_UINT, "", 0, FAB_AT(struct faults_set, unreachable),
	 FAB_METRIC_LESS},
	{"max_hops", FAB_UINT, "", 0, FAB_AT(struct faults_set, max_hops),
	 FAB_METRIC_LESS},
	{"cycle_channels", FAB_UINT, "", 0, FAB_AT(struct faults_set, cycle_channels),
	 FAB_METRIC_LESS},
};

/* Of a part whose loss was tried. */
#define AT(member) FAB_AT(struct faults_critical, member)
static const struct fab_column part_columns[] = {
	{"pairs", FAB_UINT, "", 0, AT(pairs), FAB_METRIC_PLAIN},
	{"interrupted", FAB_UINT,
	 "pairs of other hosts that the loss of a part interrupts until rerouted", 0,
	 AT(interrupted), FAB_METRIC_LESS},
	{"unreachable", FAB_UINT, "", 0, AT(unreachable), FAB_METRIC_LESS},
	{"unreachable_rerouted", FAB_UINT,
	 "pairs of other hosts without a path after rerouting around a lost part", 0,
	 AT(rerouted), FAB_METRIC_LESS},
	{"longer", FAB_UINT, "hops more of all pairs together around a lost part", 0,
	 AT(longer), FAB_METRIC_LESS},
	{"load", FAB_REAL, "", 0, AT(load), FAB_METRIC_LESS},
};
#undef AT

/* Sets of faults that are drawn or gone through; NULL: none. On the heap. */
static char *sets_asked(const struct faults_params *p)
{
	const struct faults_wish *w = &p->wish;
	const char *kind = fab_fault_kind_choices.names[w->dead.of];

	if (w->dead.random)
		return fab_format("%" PRIu64 " times %u of %s, seed %" PRIu64, w->count,
				  w->dead.random, kind, p->run.seed);
	return w->exhaustive ? fab_format("all %u of %s", w->exhaustive, kind) : NULL;
}

int faults_store(const struct faults_params *p, const struct faults_outcome *o,
		 struct fab_err *err)
{
	struct fab_draft d = {0};
	int rc;

	fab_draft_fact(&d, "faults", (double)o->faults->named.n);
	fab_draft_fact(&d, "sets", (double)o->n_sets);
	if (o->faults->named.n)
		fab_draft_asked(&d, "failed", fab_faults_text(o->faults, ","));
	fab_draft_asked(&d, "sets_of_faults", sets_asked(p));
	if (p->files.in.lfts)
		fab_draft_asked(&d, "tables", fab_strdup(p->files.in.lfts));
	if (p->has_ends)
		fab_draft_asked(&d, "endpoints",
				fab_strdup(fab_ends_choices.names[p->ends]));
	for (size_t i = 0; i < o->n; i++) {
		const struct faults_result *r = &o->results[i];
		struct faults_row row;

		faults_row_init(&row, r);
		fab_draft_result(&d, row.a.algorithm, faults_columns, faults_n_columns,
				 &row);
		faults_row_fini(&row);
		for (size_t k = 0; k < r->each.n; k++)
			fab_draft_part(&d, r->each.v[k].number, r->each.v[k].dead,
				       set_columns, FAB_COUNT(set_columns),
				       &r->each.v[k]);
		for (size_t k = 0; r == o->ranked && k < o->critical.n; k++)
			/* 0 is the set of faults itself */
			fab_draft_part(&d, o->critical.v[k].number + 1,
				       o->critical.v[k].name, part_columns,
				       FAB_COUNT(part_columns), &o->critical.v[k]);
	}
	rc = fab_cli_add_run(&p->store, &p->run, o->f, fab_draft_run(&d), err);
	fab_draft_fini(&d);
	return rc;
}

/* All rows of the algorithm of row `first`: the numbers of the last one, and each a part.
 */
static void add_algorithm(struct fab_draft *d, const struct faults_outcome *o,
			  size_t first)
{
	const struct faults_reliability_row *rows = o->reliability.v;
	size_t last = o->reliability.n - 1;

	while (strcmp(rows[last].algorithm, rows[first].algorithm) != 0)
		last--;
	fab_draft_result(d, rows[first].algorithm, faults_reliability_columns,
			 faults_reliability_n_columns, &rows[last]);
	for (size_t i = first; i <= last; i++) {
		char *part = fab_format("faults=%u", rows[i].faults);

		if (!strcmp(rows[i].algorithm, rows[first].algorithm))
			fab_draft_part(d, i, part, faults_reliability_columns,
				       faults_reliability_n_columns, &rows[i]);
		free(part);
	}
}

int faults_store_reliability(const struct faults_params *p,
			     const struct faults_outcome *o, struct fab_err *err)
{
	const struct faults_reliability_row *rows = o->reliability.v;
	struct fab_draft d = {0};
	int rc;

	fab_draft_asked(&d, "trials",
			fab_format("%" PRIu64 ", seed %" PRIu64, p->questions.trials,
				   p->run.seed));
	/* what the mean time follows from */
	fab_draft_fact(&d, "leaves", o->kfat->n_leaves);
	if (p->questions.mtbf_seconds > 0)
		fab_draft_fact(&d, "mtbf_seconds", p->questions.mtbf_seconds);
	for (size_t i = 0; i < o->reliability.n; i++) {
		bool is_first = true;

		for (size_t k = 0; k < i && is_first; k++)
			is_first = strcmp(rows[k].algorithm, rows[i].algorithm) != 0;
		if (is_first)
			add_algorithm(&d, o, i);
	}
	rc = fab_cli_add_run(&p->store, &p->run, o->f, fab_draft_run(&d), err);
	fab_draft_fini(&d);
	return rc;
}
