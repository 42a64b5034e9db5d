/* SPDX-License-Identifier: BSD-2-Clause */
/* fabric-launch mechanisms: those of the survey side by side. */
#include <math.h>
#include <string.h>

#include "base/units.h"
#include "launch.h"
#include "launch/mechanisms.h"

struct outcome {
	struct launch_timing t;
	struct fab_mechanisms m;
};

static int solve(struct fab_work *w, struct fab_err *err)
{
	struct launch_params *p = w->params;
	const struct fab_launch_params *c = &p->constants;
	struct outcome *o = w->outcome;
	struct fab_launch_start s;
	struct fab_detector d;
	int rc = launch_read_constants(p, err);

	if (!rc)
		rc = launch_timing_init(w, &o->t, err);
	if (rc)
		return rc;
	s = launch_start(p, &o->t);
	s.fence = (struct fab_fence_chosen){FAB_FENCE_SLURM_AUTO, 0};
	d = (struct fab_detector){.n = s.n_nodes > 1 ? s.n_nodes : 2,
				  .period_us = FAB_PARAM(c, heartbeat_s) * 1e6,
				  .timeout_us = FAB_PARAM(c, timeout_s) * 1e6,
				  .message_us = FAB_PARAM(c, news_us)};
	rc = fab_detector_check(&d, err);
	return rc ? rc : fab_launch_mechanisms(w->arena, &s, &d, &o->m, err);
}

/* The starts of a topic that take least and most, as a sentence. */
static void answer(struct fab_report *r, const struct fab_work *w, const char *topic,
		   const char *name)
{
	const struct outcome *o = w->outcome;
	const struct fab_mechanism *least = NULL, *most = NULL;
	char a[FAB_HUMAN_BYTES], b[FAB_HUMAN_BYTES];

	for (size_t i = 0; i < o->m.rows.n; i++) {
		const struct fab_mechanism *x = &o->m.rows.v[i];

		if (strcmp(x->topic, topic) != 0 || isnan(x->saved_s))
			continue;
		least = !least || x->saved_s > least->saved_s ? x : least;
		most = !most || x->saved_s < most->saved_s ? x : most;
	}
	if (!least || !(least->saved_s > most->saved_s))
		return;
	fab_report_answer(r, FAB_TONE_PLAIN,
			  "Of %s, %s starts fastest (%s), %s slowest (%s later).", name,
			  least->name, fab_human_seconds(least->seconds, a), most->name,
			  fab_human_seconds(least->saved_s - most->saved_s, b));
}

static void report(struct fab_report *r, const struct fab_work *w)
{
	const struct launch_params *p = w->params;
	const struct outcome *o = w->outcome;

	answer(r, w, "exchange", "the ways of exchange");
	answer(r, w, "manager", "the managers");
	fab_report_text(r, "keys", p->keys_text);
	fab_report_uint(r, "nodes", o->t.clock.n_nodes);
	fab_report_uint(r, "ppn", p->ppn);
	fab_report_table(r, "results", "Mechanisms", launch_mechanisms_columns,
			 launch_mechanisms_n_columns, o->m.rows.v, sizeof(*o->m.rows.v),
			 o->m.rows.n);
	launch_report_constants(r, p);
}

static void store(struct fab_draft *d, const struct fab_work *w)
{
	const struct launch_params *p = w->params;
	const struct outcome *o = w->outcome;

	launch_store_begin(d, w, "keys", p->keys_text);
	for (size_t i = 0; i < o->m.rows.n; i++)
		fab_draft_result(d,
				 fab_arena_format(w->arena, "%s/%s", o->m.rows.v[i].topic,
						  o->m.rows.v[i].name),
				 launch_mechanisms_columns, launch_mechanisms_n_columns,
				 &o->m.rows.v[i]);
}

LAUNCH_TASK(mechanisms, struct outcome, .solve = solve, .report = report, .store = store);
