/* SPDX-License-Identifier: BSD-2-Clause */
/* fabric-launch faults: how soon all know which daemons have failed. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/human.h"
#include "launch.h"
#include "launch/detector.h"

static const enum fab_launch_constant constants[] = {
	FAB_CONST_heartbeat_s, FAB_CONST_timeout_s, FAB_CONST_news_us};

struct outcome {
	bool has_fabric;
	struct fab_detector d;
	FAB_VEC(struct launch_faults_row) rows;
};

static struct fab_detector detector_of(const struct launch_params *p, uint32_t n)
{
	const struct fab_launch_params *c = &p->constants;

	return (struct fab_detector){.n = n,
				     .period_us = FAB_PARAM(c, heartbeat_s) * 1e6,
				     .timeout_us = FAB_PARAM(c, timeout_s) * 1e6,
				     .message_us = FAB_PARAM(c, news_us)};
}

/* What is left of MPD's ring, and the largest part of it. */
static int part_ring(const struct fab_detector *d, const struct fab_failure *failures,
		     uint32_t f, struct launch_faults_row *row, struct fab_err *err)
{
	struct fab_ring_parts parts = {0};
	uint32_t *failed = FAB_NEW(f + 1, uint32_t);
	int rc;

	for (uint32_t i = 0; i < f; i++)
		failed[i] = failures[i].node;
	rc = fab_mpd_parts(d->n, failed, f, &parts, err);
	row->mpd_parts = parts.of.n;
	for (size_t i = 0; i < parts.of.n; i++)
		if (parts.of.v[i].n > row->mpd_largest)
			row->mpd_largest = parts.of.v[i].n;
	free(parts.of.v);
	free(failed);
	return rc;
}

static void take(const struct fab_detector *d, const struct fab_detection *x, uint32_t f,
		 const char *placement, struct launch_faults_row *row)
{
	*row = (struct launch_faults_row){
		.placement = placement,
		.nodes = d->n,
		.failures = f,
		.first_s = x->first_us / 1e6,
		.stable_s = isfinite(x->stable_us) ? x->stable_us / 1e6 : (double)NAN,
		.repaired_s = x->repaired_us / 1e6,
		.bound_s = x->bound_us / 1e6,
		.within = x->is_within,
		.news = x->news,
		.most_news = x->most_news,
		.placements = 1};
	fab_detector_bound_us(d, f, &row->proven);
}

static int add_placed(struct outcome *o, uint32_t f, bool is_near, struct fab_err *err)
{
	struct fab_failure *failures = FAB_NEW0(f + 1, struct fab_failure);
	struct launch_faults_row row;
	struct fab_detection x;
	int rc;

	fab_detector_place(o->d.n, f, is_near, failures);
	rc = fab_detector_run(&o->d, failures, f, &x, err);
	if (!rc) {
		take(&o->d, &x, f, is_near ? "near" : "far", &row);
		rc = part_ring(&o->d, failures, f, &row, err);
		FAB_PUSH(&o->rows, row);
	}
	free(failures);
	return rc;
}

static int add_worst(struct outcome *o, uint32_t f, struct fab_err *err)
{
	struct fab_detector_worst worst;
	struct launch_faults_row row;
	int rc = fab_detector_worst(&o->d, f, &worst, err);

	if (rc)
		return rc;
	take(&o->d, &worst.worst, f, "worst", &row);
	row.within = !worst.n_beyond;
	row.placements = worst.n_placements;
	rc = part_ring(&o->d, worst.failures, f, &row, err);
	free(worst.failures);
	FAB_PUSH(&o->rows, row);
	return rc;
}

/* The survey does not say how they would join again. */
static const char not_modelled[] = "nodes that come back";

/* Is a row worse than another: beyond its bound, then later? */
static bool is_worse(const struct launch_faults_row *a, const struct launch_faults_row *b)
{
	if (a->within != b->within)
		return b->within;
	return isnan(a->stable_s) ? !isnan(b->stable_s) : a->stable_s > b->stable_s;
}

static void answer_worst(struct fab_report *r, const struct outcome *o)
{
	const struct launch_faults_row *worst = &o->rows.v[0];
	char stable[FAB_HUMAN_BYTES], bound[FAB_HUMAN_BYTES], *known;

	for (size_t i = 1; i < o->rows.n; i++)
		if (is_worse(&o->rows.v[i], worst))
			worst = &o->rows.v[i];
	fab_human_seconds(worst->stable_s, stable);
	fab_human_seconds(worst->bound_s, bound);
	known = isnan(worst->stable_s)
			? fab_strdup(
				  "some others never know, as all that would tell them "
				  "have failed")
			: fab_format("all others know after %s", stable);
	fab_report_answer(r, worst->within ? FAB_TONE_PLAIN : FAB_TONE_BAD,
			  "Of %u nodes, %" PRIu64
			  " failed (%s): %s; the bound is %s%s%s.",
			  o->d.n, worst->failures, worst->placement, known, bound,
			  worst->proven ? "" : ", which is not proven for so many",
			  worst->within ? "" : "; it is not kept");
	free(known);
}

static void answer(struct fab_report *r, const struct outcome *o)
{
	uint32_t degree = fab_detector_degree(o->d.n);
	char period[FAB_HUMAN_BYTES];

	answer_worst(r, o);
	fab_human_seconds(1 / fab_detector_heartbeats(&o->d), period);
	fab_report_answer(r, FAB_TONE_PLAIN,
			  "Each node sends a heartbeat each %s and passes news on to "
			  "%u node%s.",
			  period, degree, degree == 1 ? "" : "s");
	for (size_t i = 0; i < o->rows.n; i++)
		if (o->rows.v[i].mpd_parts > 1) {
			fab_report_answer(r, FAB_TONE_WARN,
					  "MPD's ring falls into %" PRIu64
					  " parts with %" PRIu64 " failures (%s).",
					  o->rows.v[i].mpd_parts, o->rows.v[i].failures,
					  o->rows.v[i].placement);
			break;
		}
	fab_report_answer(r, FAB_TONE_PLAIN,
			  "Who has failed stays away: %s are not modelled.",
			  not_modelled);
}

static void print(struct fab_report *r, const struct launch_params *p, const void *of,
		  enum fab_format format)
{
	static const struct fab_column rate = {"heartbeats_a_second", FAB_REAL, "", 0};
	const struct outcome *o = of;

	(void)format;
	answer(r, o);
	fab_report_uint(r, "nodes", o->d.n);
	fab_report_field(r, &rate,
			 (union fab_cell){.real = fab_detector_heartbeats(&o->d)});
	fab_report_uint(r, "news_degree", fab_detector_degree(o->d.n));
	fab_report_text(r, "not_modelled", not_modelled);
	fab_report_table(r, "results", "Failures", launch_faults_columns,
			 launch_faults_n_columns, o->rows.v, sizeof(*o->rows.v),
			 o->rows.n);
	launch_print_constants(r, p);
}

static void keep(struct fab_draft *d, const struct launch_params *p, const void *of)
{
	const struct outcome *o = of;

	(void)p;
	fab_draft_table(d, launch_faults_columns, launch_faults_n_columns);
	fab_draft_asked(d, "verb", fab_strdup("faults"));
	if (!o->has_fabric)
		d->run.fabric.source = "none";
	for (size_t i = 0; i < o->rows.n; i++) {
		char *name = fab_format("%s/%" PRIu64, o->rows.v[i].placement,
					o->rows.v[i].failures);

		fab_draft_result(d, name, launch_faults_columns, launch_faults_n_columns,
				 &o->rows.v[i]);
		free(name);
	}
}

static int compute(const struct launch_params *p, struct outcome *o, struct fab_err *err)
{
	int rc = fab_detector_check(&o->d, err);

	for (size_t i = 0; i < p->failures.of.n && !rc; i++) {
		uint32_t f = p->failures.of.v[i];

		if (f >= o->d.n && !p->has_failures && o->d.n > 1)
			continue; /* of the default */
		if (f >= o->d.n)
			return fab_fail(err, EINVAL,
					"--failures=%u: of %u nodes nobody would be left",
					f, o->d.n);
		rc = add_placed(o, f, true, err);
		if (!rc)
			rc = add_placed(o, f, false, err);
		if (!rc && p->exhaustive)
			rc = add_worst(o, f, err);
	}
	return rc;
}

/* The job's nodes among the fabric's hosts; *n: so many, 0: all. */
static int count_nodes(const struct launch_params *p, const struct fab_fabric *f,
		       uint32_t *n, struct fab_err *err)
{
	struct fab_launch_nodes nodes = {0};
	struct launch_job job;
	int rc = launch_job_hosts(p, f, &job, err);

	if (!rc)
		rc = launch_job_nodes(&job, *n, "fabric", &nodes, err);
	*n = nodes.n;
	fab_launch_nodes_fini(&nodes);
	launch_job_fini(&job);
	return rc;
}

static int run(struct launch_params *p, const struct fab_fabric *f, struct fab_err *err)
{
	struct outcome o = {.has_fabric = f != NULL};
	struct launch_result result = {"results", print, keep, &o};
	uint32_t n = launch_n_nodes(p);
	int rc = f ? count_nodes(p, f, &n, err) : 0;

	if (rc)
		return rc;
	launch_use_constants(p, constants, FAB_COUNT(constants));
	o.d = detector_of(p, n);
	rc = compute(p, &o, err);
	if (!rc)
		rc = launch_finish(p, f, &result, NULL, err);
	free(o.rows.v);
	return rc;
}

const struct launch_work launch_faults = {launch_faults_columns, &launch_faults_n_columns,
					  run};
