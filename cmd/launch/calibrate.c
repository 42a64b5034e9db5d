/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fabric-launch calibrate: constants of this site, measured with the files of a program
 * and fitted to observed starts.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/threads.h"
#include "base/units.h"
#include "launch.h"
#include "launch/fit.h"
#include "peer/child.h"

struct constant_fit {
	const char *constant, *unit, *origin, *source;
	double was, value, low, high;
};
struct outcome {
	struct fab_site site;
	bool has_site;
	size_t n_all_files; /* of the program, also elsewhere */
	struct fab_fit fit;
	struct fab_launch_params was;
	struct constant_fit rows[FAB_N_LAUNCH_CONSTANTS];
	size_t n_rows;
	struct utsname name; /* of this node */
};

/* Paths below the folder `dir`, which ends without a slash. */
static size_t below(const char *const *all, size_t n, const char *dir, const char **out)
{
	size_t len = strlen(dir), n_out = 0;

	for (size_t i = 0; i < n; i++)
		if (!strncmp(all[i], dir, len) && (all[i][len] == '/' || len == 1))
			out[n_out++] = all[i];
	return n_out;
}

static int measure(struct fab_work *w, struct fab_err *err)
{
	struct launch_params *p = w->params;
	struct outcome *o = w->outcome;
	struct fab_loader_files files;
	const char **found, **missing;
	FAB_AUTOFREE char *dir = realpath(p->fs, NULL);
	size_t n_found, n_missing;
	int rc;

	if (!dir)
		return fab_fail(err, errno, "--fs: %s: %s", p->fs, strerror(errno));
	rc = fab_loader_files(w->arena, p->program, &files, err);
	if (rc) {
		fab_err_prefix(err, "--program");
		return rc;
	}
	found = FAB_ARENA_NEW(w->arena, files.found.n + 1, const char *);
	missing = FAB_ARENA_NEW(w->arena, files.missing.n + 1, const char *);
	n_found = below(files.found.v, files.found.n, dir, found);
	n_missing = below(files.missing.v, files.missing.n, dir, missing);
	o->n_all_files = files.found.n;
	if (!n_found)
		return fab_fail(
			err, EINVAL,
			"--fs: none of the %zu files of '%s' is below '%s': expected the folder that the nodes share",
			files.found.n, p->program, p->fs);
	rc = fab_site_measure(found, n_found, missing, n_missing,
			      fab_threads(p->run.threads), &o->site, err);
	if (rc)
		return rc;
	o->has_site = true;
	fab_site_apply(&o->site, o->name.nodename, &p->constants);
	return 0;
}

static int solve(struct fab_work *w, struct fab_err *err)
{
	struct launch_params *p = w->params;
	struct outcome *o = w->outcome;
	struct launch_timing t = {.clock = {.params = &p->constants, .n_nodes = 1}};
	struct fab_launch_start base;
	int rc = launch_read_constants(p, err);

	if (uname(&o->name))
		snprintf(o->name.nodename, sizeof(o->name.nodename), "this node");
	o->was = p->constants;
	if (!rc && p->fs)
		rc = measure(w, err);
	for (size_t i = 0; i < p->measured.n && !rc; i++) {
		if (i == FAB_FIT_STARTS_MAX)
			return fab_fail(err, EINVAL, "--measured: more than %d starts",
					FAB_FIT_STARTS_MAX);
		rc = fab_fit_parse(p->measured.v[i], p->stage_in, &o->fit.starts[i], err);
		if (rc)
			fab_err_prefix(err, "--measured");
		o->fit.n_starts = i + 1;
	}
	base = launch_start(p, &t);
	base.interface = p->ifaces.of.v[0].row;
	if (p->ifaces.of.n > 1) /* of all */
		base.interface = FAB_PMIX;
	base.fence = (struct fab_fence_chosen){FAB_FENCE_SLURM_AUTO, 0};
	if (!rc && o->fit.n_starts)
		rc = fab_fit_run(&o->fit, &base, &p->constants, p->uses, err);
	for (size_t i = 0; i < FAB_N_LAUNCH_CONSTANTS && !rc; i++) {
		const struct fab_launch_value *v = &p->constants.of[i];
		const struct fab_launch_value *was = &o->was.of[i];
		bool has_limits = v->low < v->high;

		if (v->is_default && v->low == was->low)
			continue;
		o->rows[o->n_rows++] =
			(struct constant_fit){.constant = fab_launch_constants.at(i).form,
					      .unit = fab_launch_constant_unit(i),
					      .origin = fab_origin_name(v->origin),
					      .source = v->source,
					      .was = was->value,
					      .value = v->value,
					      .low = has_limits ? v->low : (double)NAN,
					      .high = has_limits ? v->high : (double)NAN};
	}
	return rc;
}

static void answer_site(struct fab_report *r, const struct fab_work *w)
{
	const struct launch_params *p = w->params;
	const struct outcome *o = w->outcome;
	const struct fab_site *x = &o->site;
	char opens[FAB_HUMAN_BYTES], reads[FAB_HUMAN_BYTES], size[FAB_HUMAN_BYTES];
	char all_opens[FAB_HUMAN_BYTES], all_reads[FAB_HUMAN_BYTES];

	fab_report_answer(
		r, FAB_TONE_PLAIN,
		"%s opens %zu of its %zu files below %s, %s, and looks there %zu times in vain.",
		p->program, x->n_files, o->n_all_files, p->fs,
		fab_human_bytes(x->bytes, size), x->n_missing);
	fab_report_answer(
		r, FAB_TONE_PLAIN,
		"One core opens %s a second and reads %s/s, %u cores %s and %s/s: the least that the file system serves, as one node cannot use it alone.",
		fab_human_count((uint64_t)x->one.opens_per_s, opens),
		fab_human_bytes((uint64_t)(x->one.read_MBps * 1e6), reads),
		x->all.n_threads,
		fab_human_count((uint64_t)x->all.opens_per_s, all_opens),
		fab_human_bytes((uint64_t)(x->all.read_MBps * 1e6), all_reads));
}

/* An observed start: what was predicted, and what the fitted constants leave. */
static void answer_start(struct fab_report *r, const struct fab_fit_start *x)
{
	bool is_close = x->misfit <= LAUNCH_FIT_FACTOR;
	char measured[FAB_HUMAN_BYTES], before[FAB_HUMAN_BYTES], low[FAB_HUMAN_BYTES];
	char high[FAB_HUMAN_BYTES], after[FAB_HUMAN_BYTES], rest[FAB_HUMAN_BYTES];

	fab_report_answer(
		r, is_close ? FAB_TONE_GOOD : FAB_TONE_WARN,
		"%u process%s on %u node%s took %s; predicted were %s (%s to %s), with fitted constants %s: %s%s is unexplained%s.",
		x->ranks, x->ranks == 1 ? "" : "es", x->nodes, x->nodes == 1 ? "" : "s",
		fab_human_seconds(x->measured_s, measured),
		fab_human_seconds(x->before_s, before), fab_human_seconds(x->low_s, low),
		fab_human_seconds(x->high_s, high), fab_human_seconds(x->after_s, after),
		x->unexplained_s < 0 ? "-" : "",
		fab_human_seconds(fabs(x->unexplained_s), rest),
		is_close ? "" : ", more than constants within their limits explain");
}

static void report(struct fab_report *r, const struct fab_work *w)
{
#define AT(member) FAB_AT(struct fab_site_rates, member)
	static const struct fab_column rates[] = {
		{"cores", FAB_UINT, "cores that open and read at the same time", 0,
		 AT(n_threads)},
		{"opens_per_s", FAB_REAL, "opens a second, those in vain included", 0,
		 AT(opens_per_s)},
		{"open_us", FAB_REAL, "mean time of an open, us", 0, AT(open_us)},
		{"read_MBps", FAB_REAL, "rate of reads, MB/s", 0, AT(read_MBps)},
	};
#undef AT
#define AT(member) FAB_AT(struct constant_fit, member)
	static const struct fab_column constants[] = {
		{"constant", FAB_TEXT, "name", 0, AT(constant)},
		{"was", FAB_REAL, "value before", 0, AT(was)},
		{"value", FAB_REAL, "value of this site", 0, AT(value)},
		{"low", FAB_REAL, "least possible value; null: not known", 0, AT(low)},
		{"high", FAB_REAL, "greatest possible value", 0, AT(high)},
		{"unit", FAB_TEXT, "unit, 1: a number", 0, AT(unit)},
		{"origin", FAB_TEXT, "measured or assumed", 0, AT(origin)},
		{"source", FAB_TEXT, "source", FAB_COL_EXTRA, AT(source)},
	};
#undef AT
	const struct outcome *o = w->outcome;

	if (o->has_site)
		answer_site(r, w);
	for (size_t i = 0; i < o->fit.n_starts; i++)
		answer_start(r, &o->fit.starts[i]);
	fab_report_text(r, "host", o->name.nodename);
	fab_report_table(r, "results", "Observed starts", launch_calibrate_columns,
			 launch_calibrate_n_columns, o->fit.starts,
			 sizeof(*o->fit.starts), o->fit.n_starts);
	fab_report_table(r, "fitted", "Constants of this site", constants,
			 FAB_COUNT(constants), o->rows, sizeof(*o->rows), o->n_rows);
	fab_report_table(r, "rates", "The file system from this node", rates,
			 FAB_COUNT(rates), &o->site.one, sizeof(o->site.one),
			 o->has_site ? 2 : 0);
}

/* A parameter file: launch/params.h. */
static int write_params(FILE *out, const struct fab_work *w, struct fab_err *err)
{
	const struct outcome *o = w->outcome;

	(void)err;
	fprintf(out, "fabric-launch-params %d\nhost %s\ncores %d\n",
		FAB_LAUNCH_PARAMS_VERSION, o->name.nodename, fab_threads(0));
	for (size_t i = 0; i < o->n_rows; i++) {
		const struct constant_fit *x = &o->rows[i];

		fprintf(out, "%s %.9g %s ", x->constant, x->value, x->unit);
		if (isnan(x->low))
			fprintf(out, "-");
		else
			fprintf(out, "%.9g..%.9g", x->low, x->high);
		fprintf(out, " %s %s\n", x->origin, x->source);
	}
	return 0;
}

static void store(struct fab_draft *d, const struct fab_work *w)
{
	const struct outcome *o = w->outcome;

	launch_store_begin(d, w, NULL, NULL);
	for (size_t i = 0; i < o->fit.n_starts; i++)
		fab_draft_result(d, o->fit.starts[i].text, launch_calibrate_columns,
				 launch_calibrate_n_columns, &o->fit.starts[i]);
}

static const struct fab_task_file files[] = {{"params-out", write_params}, {0}};

LAUNCH_TASK(calibrate, struct outcome, .solve = solve, .files = files, .report = report,
	    .store = store);
