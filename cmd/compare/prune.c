/* SPDX-License-Identifier: BSD-2-Clause */
/* --prune: which runs go, saying so, and removing them. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/units.h"
#include "compare.h"

static bool is_day(const char *arg)
{
	static const char form[] = "dddd-dd-dd";
	size_t i;

	for (i = 0; form[i] && arg[i]; i++)
		if (form[i] == 'd' ? arg[i] < '0' || arg[i] > '9' : arg[i] != form[i])
			return false;
	return !form[i] && !arg[i];
}

int compare_take_age(void *params, const char *arg, struct fab_err *err)
{
	struct compare_prune *p = &((struct compare_params *)params)->prune;
	struct tm utc;
	uint64_t age_ns;
	time_t then;

	if (is_day(arg)) {
		snprintf(p->before, sizeof(p->before), "%sT00:00:00Z", arg);
		return 0;
	}
	if (fab_parse_time_ns(arg, strlen(arg), UINT64_MAX, &age_ns, NULL))
		return fab_fail(err, EINVAL,
				"'%s' is no age as 12h, 30d, 8w or 1y, and no day as "
				"2026-01-31",
				arg);
	then = time(NULL) - (time_t)(age_ns / UINT64_C(1000000000));
	strftime(p->before, sizeof(p->before), "%Y-%m-%dT%H:%M:%SZ",
		 gmtime_r(&then, &utc));
	return 0;
}

static int remove_runs(const char *path, const struct fab_store_runs *runs,
		       struct fab_err *err)
{
	uint64_t *ids = FAB_NEW(runs->n + 1, uint64_t);
	struct fab_store *store = NULL;
	int rc = fab_store_open(path, FAB_STORE_WRITE, &store, err);

	for (size_t i = 0; i < runs->n; i++)
		ids[i] = runs->v[i].id;
	if (!rc)
		rc = fab_store_remove(store, ids, runs->n, err);
	fab_store_close(store);
	free(ids);
	return rc;
}

static void answer(struct fab_report *r, const struct fab_store_runs *runs, bool is_done)
{
	const char *s = runs->n == 1 ? "" : "s";

	if (!runs->n)
		fab_report_answer(r, FAB_TONE_PLAIN, "No run is to go.");
	else if (is_done)
		fab_report_answer(r, FAB_TONE_PLAIN,
				  "%zu run%s removed, from %" PRIu64 " of %s to %" PRIu64
				  " of %s.",
				  runs->n, s, runs->v[0].id, runs->v[0].time,
				  runs->v[runs->n - 1].id, runs->v[runs->n - 1].time);
	else
		fab_report_answer(r, FAB_TONE_WARN,
				  "%zu run%s would go, from %" PRIu64 " of %s to %" PRIu64
				  " of %s. Nothing was removed: add --yes.",
				  runs->n, s, runs->v[0].id, runs->v[0].time,
				  runs->v[runs->n - 1].id, runs->v[runs->n - 1].time);
}

static int solve(struct fab_work *w, struct fab_err *err)
{
	return compare_find(w, true, err);
}

static int apply(struct fab_work *w, struct fab_err *err)
{
	const struct compare_params *p = w->params;
	struct compare_outcome *o = w->outcome;

	o->is_removed = p->prune.yes && o->runs.n;
	return o->is_removed ? remove_runs(p->path, &o->runs, err) : 0;
}

static void report(struct fab_report *r, const struct fab_work *w)
{
	const struct compare_outcome *o = w->outcome;

	answer(r, &o->runs, o->is_removed);
	fab_report_field(r,
			 &(struct fab_column){"removed", FAB_BOOL, NULL, FAB_COL_EXTRA},
			 (union fab_cell){.u = o->is_removed});
	compare_print_runs(r, &o->runs);
}

const struct fab_task compare_prune = {
	.primary = "runs",
	.columns = compare_run_columns,
	.n_columns = &compare_n_run_columns,
	.outcome_bytes = sizeof(struct compare_outcome),
	.solve = solve,
	.apply = apply,
	.report = report,
	.fini = compare_fini,
};
