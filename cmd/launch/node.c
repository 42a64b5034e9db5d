/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Verbs without fences: size (contribution of a node), store (Gets from a node's shared
 * memory by lock), faults (detection of failed daemons).
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "launch.h"
#include "launch/detector.h"
#include "launch/locks.h"

/* size. */

enum { MAX_ENCODED = 1 << 24 }; /* most bytes that are written and counted */

struct opt_row {
	const char *opt;
	uint64_t without, with, without_last;
	double factor, factor_last;
};

struct size_outcome {
	struct launch_size_row *rows;		  /* [layouts] */
	struct opt_row opts[FAB_SIZE_N_OPTS + 1]; /* the last one: all */
};

static uint64_t bytes_of(const struct launch_params *p, unsigned opts)
{
	struct fab_size_layout layout = {opts, p->namespace_chars};

	return fab_size_node(&p->exchanged, &layout, 0, p->ppn);
}

static int solve_size(struct fab_work *w, struct fab_err *err)
{
	const struct launch_params *p = w->params;
	struct size_outcome *o = w->outcome;
	size_t n = p->layouts.of.n;
	uint64_t none = bytes_of(p, 0), all = bytes_of(p, FAB_SIZE_ALL);
	unsigned given = 0;

	for (size_t i = 0; i < p->opts.of.n; i++)
		given |= 1u << p->opts.of.v[i].row;
	o->rows = FAB_ARENA_NEW(w->arena, n, struct launch_size_row);
	for (size_t i = 0; i < n; i++) {
		uint32_t row = p->layouts.of.v[i].row;
		struct fab_size_layout layout = {p->has_opt ? given
							    : fab_size_version_opts(row),
						 p->namespace_chars};
		uint64_t values = fab_puts_bytes(&p->exchanged) * p->ppn;
		uint64_t bytes = bytes_of(p, layout.opts);
		char *opt = NULL; /* "procid, leb128" */
		size_t n_encoded;

		for (size_t k = 0; k < FAB_SIZE_N_OPTS; k++)
			if (layout.opts & 1u << k)
				fab_append(&opt, ", ", "%s", fab_size_opts.at(k).form);
		fab_arena_own(w->arena, free, opt);
		o->rows[i] = (struct launch_size_row){
			.layout = fab_size_layouts.at(row).form,
			.opt = opt ? opt : "none",
			.ppn = p->ppn,
			.keys = (uint32_t)fab_puts_keys(&p->exchanged),
			.value_bytes = values,
			.bytes = bytes,
			.job_bytes = p->nodes.of.n ? (double)fab_size_job(
							     &p->exchanged, &layout,
							     p->nodes.of.v[0], p->ppn)
						   : (double)NAN,
			.overhead = values ? (double)bytes / (double)values : (double)NAN,
			.factor = (double)none / (double)bytes,
			.table = fab_size_has_table(&p->exchanged, &layout, p->ppn),
			.verified = FAB_UNKNOWN,
		};
		if (bytes > MAX_ENCODED)
			continue;
		free(fab_size_encode(&p->exchanged, &layout, 0, p->ppn, &n_encoded));
		if (n_encoded != bytes)
			return fab_fail(err, EPROTO,
					"%zu bytes were written where %llu were counted",
					n_encoded, (unsigned long long)bytes);
		o->rows[i].verified = true;
	}
	for (size_t i = 0; i <= FAB_SIZE_N_OPTS; i++) {
		bool is_all = i == FAB_SIZE_N_OPTS;
		unsigned opt = is_all ? FAB_SIZE_ALL : 1u << i;
		struct opt_row *row = &o->opts[i];

		*row = (struct opt_row){.opt = is_all ? "all" : fab_size_opts.at(i).form,
					.without = none,
					.with = bytes_of(p, opt),
					.without_last = bytes_of(p, FAB_SIZE_ALL & ~opt)};
		row->factor = (double)none / (double)row->with;
		row->factor_last = (double)row->without_last / (double)all;
	}
	return 0;
}

static void report_size(struct fab_report *r, const struct fab_work *w)
{
#define AT(member) FAB_AT(struct opt_row, member)
	static const struct fab_column columns[] = {
		{"opt", FAB_TEXT, "optimisation", 0, AT(opt)},
		{"bytes_without", FAB_UINT, "a node with none of them, B", 0,
		 AT(without)},
		{"bytes_with", FAB_UINT, "a node with this one alone, B", 0, AT(with)},
		{"factor_alone", FAB_REAL, "bytes_without / bytes_with", 0, AT(factor)},
		{"bytes_without_last", FAB_UINT, "a node with all but this one, B",
		 FAB_COL_EXTRA, AT(without_last)},
		{"factor_last", FAB_REAL, "bytes_without_last / bytes with all of them",
		 0, AT(factor_last)},
	};
#undef AT
	const struct launch_params *p = w->params;
	const struct size_outcome *o = w->outcome;
	const struct launch_size_row *row = &o->rows[0];
	const struct opt_row *best = &o->opts[0], *all = &o->opts[FAB_SIZE_N_OPTS];
	char bytes[FAB_HUMAN_BYTES], old[FAB_HUMAN_BYTES];

	fab_report_answer(
		r, FAB_TONE_PLAIN,
		"A node of %u process%s contributes %s B to a fence that collects data (layout %s, %s).",
		p->ppn, p->ppn == 1 ? "" : "es", fab_human_count(row->bytes, bytes),
		row->layout, row->opt);
	for (size_t i = 1; i < FAB_SIZE_N_OPTS; i++)
		if (o->opts[i].factor > best->factor)
			best = &o->opts[i];
	fab_report_answer(
		r, FAB_TONE_PLAIN,
		"Without any optimisation it is %s B, with all of them %s B: a factor of %.2f for these keys; %s is worth most (alone %.2f).",
		fab_human_count(all->without, old), fab_human_count(all->with, bytes),
		all->factor, best->opt, best->factor);
	fab_report_text(r, "keys", p->keys_text);
	fab_report_uint(r, "ppn", p->ppn);
	fab_report_uint(r, "namespace_chars", p->namespace_chars);
	fab_report_table(r, "results", "What a node contributes", launch_size_columns,
			 launch_size_n_columns, o->rows, sizeof(*o->rows),
			 p->layouts.of.n);
	fab_report_table(r, "optimisations", "What each optimisation is worth", columns,
			 FAB_COUNT(columns), o->opts, sizeof(*o->opts),
			 FAB_COUNT(o->opts));
}

static void store_size(struct fab_draft *d, const struct fab_work *w)
{
	const struct launch_params *p = w->params;
	const struct size_outcome *o = w->outcome;

	launch_store_begin(d, w, "keys", p->keys_text);
	for (size_t i = 0; i < p->layouts.of.n; i++)
		fab_draft_result(d, o->rows[i].layout, launch_size_columns,
				 launch_size_n_columns, &o->rows[i]);
}

LAUNCH_TASK(size, struct size_outcome, .solve = solve_size, .report = report_size,
	    .store = store_size);

/* store. */

enum { STORE_PPN = 168 }; /* default of --ppn: that of the published figure */

struct store_outcome {
	struct fab_launch_range read; /* seconds of a read under a reader-writer lock */
	uint32_t ppn;
	FAB_VEC(struct fab_lock_cost) rows;
};

static int read_of(void *context, const struct fab_launch_params *params, double *out,
		   struct fab_err *err)
{
	const struct store_outcome *o = context;

	(void)err;
	*out = fab_lock_model(FAB_LOCK_RWLOCK, o->ppn, params).read_ns / 1e9;
	return 0;
}

static int solve_store(struct fab_work *w, struct fab_err *err)
{
	struct launch_params *p = w->params;
	struct store_outcome *o = w->outcome;
	double read_s = 0;
	int rc = launch_read_constants(p, err);

	if (rc)
		return rc;
	o->ppn = p->has_ppn ? p->ppn : STORE_PPN;
	/* all powers of two below ppn, and that */
	for (enum fab_lock lock = 0; lock < FAB_N_LOCKS; lock++)
		for (uint32_t n = 1, last = 0; !last; n *= 2) {
			last = n >= o->ppn;
			FAB_PUSH(&o->rows,
				 fab_lock_model(lock, last ? o->ppn : n, &p->constants));
		}
	fab_arena_own(w->arena, free, o->rows.v);
	rc = read_of(o, &p->constants, &read_s, err);
	return rc ? rc
		  : fab_launch_range_find(&p->constants, p->uses, read_s, read_of, o,
					  &o->read, err);
}

static void report_store(struct fab_report *r, const struct fab_work *w)
{
#define AT(member) FAB_AT(struct fab_lock_wait, member)
	static const struct fab_column columns[] = {
		{"lock", FAB_TEXT, "lock", 0, AT(lock)},
		{"readers", FAB_UINT, "threads that read", 0, AT(readers)},
		{"wait_s", FAB_REAL,
		 "mean wait of the writer, s; null: it never finished", FAB_COL_SECONDS,
		 AT(wait_s)},
	};
#undef AT
	const struct launch_params *p = w->params;
	const struct store_outcome *o = w->outcome;
	struct fab_lock_cost rw = fab_lock_model(FAB_LOCK_RWLOCK, o->ppn, &p->constants);
	struct fab_lock_cost each = fab_lock_model(FAB_LOCK_N, o->ppn, &p->constants);
	struct fab_lock_cost two = fab_lock_model(FAB_LOCK_2N, o->ppn, &p->constants);
	double shift_ns = FAB_PARAM(&p->constants, shift_us) * 1e3;
	char a[FAB_HUMAN_BYTES], b[FAB_HUMAN_BYTES];

	fab_report_answer(
		r, FAB_TONE_PLAIN,
		"By the model, which is no measurement, a read among %u processes takes %s under a reader-writer lock and %s with 2N locks.",
		o->ppn, fab_human_seconds(rw.read_ns / 1e9, a),
		fab_human_seconds(two.read_ns / 1e9, b));
	launch_answer_range(r, p, "The first", &o->read);
	fab_report_answer(
		r, FAB_TONE_PLAIN,
		"2N locks and a thread shift after the read are two changes: together a factor of %.0f against the reader-writer lock by the model (the locks alone %.3g, the shift alone %.3g), of %.0f against N locks; published is up to 66 at 168.",
		(rw.read_ns + shift_ns) / two.read_ns,
		(rw.read_ns + shift_ns) / (two.read_ns + shift_ns),
		(rw.read_ns + shift_ns) / rw.read_ns,
		(each.read_ns + shift_ns) / two.read_ns);
	fab_human_seconds(two.wait_us / 1e6, a);
	fab_human_seconds(each.wait_us / 1e6, b);
	fab_report_answer(
		r, FAB_TONE_PLAIN,
		"A writer waits %s for 2N locks and %s for N locks; under a reader-writer lock %s.",
		a, b,
		isnan(rw.wait_us) ? "it starves"
				  : fab_arena_format(w->arena, "%.4g us", rw.wait_us));
	fab_report_real(r, "factor_rwlock", 0, (rw.read_ns + shift_ns) / two.read_ns);
	fab_report_real(r, "factor_n", 0, (each.read_ns + shift_ns) / two.read_ns);
	launch_report_range(r, &o->read);
	fab_report_table(r, "results", "Locks", launch_store_columns,
			 launch_store_n_columns, o->rows.v, sizeof(*o->rows.v),
			 o->rows.n);
	fab_report_table(
		r, "writers",
		"Recorded waits of a writer, on 2 cores, a write each millisecond",
		columns, FAB_COUNT(columns), fab_lock_waits, sizeof(*fab_lock_waits),
		FAB_N_LOCK_WAITS);
	launch_report_constants(r, p);
}

static void store_store(struct fab_draft *d, const struct fab_work *w)
{
	const struct store_outcome *o = w->outcome;

	launch_store_begin(d, w, NULL, NULL);
	for (size_t i = 0; i < o->rows.n; i++)
		fab_draft_result(d,
				 fab_arena_format(w->arena, "%s/%u", o->rows.v[i].lock,
						  o->rows.v[i].ppn),
				 launch_store_columns, launch_store_n_columns,
				 &o->rows.v[i]);
}

LAUNCH_TASK(store, struct store_outcome, .solve = solve_store, .report = report_store,
	    .store = store_store);

/* faults. */

struct faults_outcome {
	struct launch_job job;
	struct fab_detector d;
	struct fab_failure_row *rows;
	size_t n;
	struct fab_risk_row risks[FAB_N_RISKS]; /* the present one first */
	struct fab_hang hangs[2];		/* Slurm's fences */
	struct fab_hang_setting settings[FAB_N_HANG_SETTINGS];
	double ends_least_s, ends_most_s;
};

/* False suspicions that come more often than this are a warning. */
static const double SECONDS_A_DAY = 86400;

/* The survey does not say how they would join again. */
static const char not_modelled[] = "nodes that come back";

/* Slurm's fences without one of n nodes. */
static int solve_hangs(struct fab_work *w, uint32_t n, struct fab_err *err)
{
	const struct launch_params *p = w->params;
	struct faults_outcome *o = w->outcome;
	uint32_t width = (uint32_t)FAB_PARAM(&p->constants, tree_width);
	const struct fab_fence_chosen fences[] = {{FAB_FENCE_RING, 0},
						  {FAB_FENCE_TREE, width}};
	struct fab_fence_job job = fab_fence_job_of(&p->constants, n, NULL, 1);
	int rc = 0;

	fab_hang_settings(&p->constants, o->settings, &o->ends_least_s, &o->ends_most_s);
	for (size_t i = 0; i < FAB_COUNT(fences) && !rc; i++)
		rc = fab_hang_find(w->arena, fences[i], &job, &o->hangs[i], err);
	return rc;
}

static int solve_faults(struct fab_work *w, struct fab_err *err)
{
	struct launch_params *p = w->params;
	const struct fab_launch_params *c = &p->constants;
	struct faults_outcome *o = w->outcome;
	struct fab_launch_nodes nodes = {0};
	size_t n_each = p->exhaustive ? 3 : 2;
	uint32_t n = launch_n_nodes(p);
	int rc = launch_read_constants(p, err);

	if (!rc && w->f) { /* the job's nodes among the fabric's hosts; 0: all */
		rc = launch_job_hosts(w, &o->job, err);
		if (!rc)
			rc = launch_job_nodes(p, &o->job, n, "fabric", w->arena, &nodes,
					      err);
		n = nodes.n;
	}
	o->d = (struct fab_detector){.n = n,
				     .period_us = FAB_PARAM(c, heartbeat_s) * 1e6,
				     .timeout_us = FAB_PARAM(c, timeout_s) * 1e6,
				     .message_us = FAB_PARAM(c, news_us)};
	if (!rc)
		rc = fab_detector_check(&o->d, err);
	if (!rc)
		rc = fab_detector_risks(&o->d, FAB_PARAM(c, beat_delay_ms) * 1e3,
					FAB_PARAM(c, beat_loss), o->risks, err);
	o->rows = FAB_ARENA_NEW(w->arena, n_each * p->failures.of.n,
				struct fab_failure_row);
	for (size_t i = 0; i < p->failures.of.n && !rc; i++) {
		uint32_t f = p->failures.of.v[i];

		if (f >= n && !p->has_failures && n > 1)
			continue; /* of the default */
		if (f >= n)
			return fab_fail(
				err, EINVAL,
				"--set failures=%u: of %u nodes none would be left", f,
				n);
		rc = fab_detector_table(w->arena, &o->d, f, p->exhaustive, &o->rows[o->n],
					err);
		o->n += n_each;
	}
	return rc ? rc : solve_hangs(w, n, err);
}

/* Effect of a lost node on a fence of Slurm, and its duration. */
static void answer_hangs(struct fab_report *r, const struct fab_work *w)
{
	const struct faults_outcome *o = w->outcome;
	char least[FAB_HUMAN_BYTES], most[FAB_HUMAN_BYTES];
	bool ends = isfinite(o->ends_most_s);

	fab_human_seconds(o->ends_least_s, least);
	fab_human_seconds(o->ends_most_s, most);
	fab_report_answer(
		r, ends ? FAB_TONE_PLAIN : FAB_TONE_BAD,
		"A node that is lost before a fence of Slurm keeps all %u others waiting in it%s%s%s%s%s.",
		o->hangs[0].waiting_most,
		ends ? ", until " : " for ever: PMIxTimeout and SlurmdTimeout are 0",
		ends ? least : "", ends && strcmp(least, most) != 0 ? " to " : "",
		ends && strcmp(least, most) != 0 ? most : "",
		ends ? " later PMIxTimeout or SlurmdTimeout end it" : "");
}

static void answer_faults(struct fab_report *r, const struct fab_work *w)
{
	const struct faults_outcome *o = w->outcome;
	const struct fab_failure_row *worst = &o->rows[0], *split = NULL;
	uint32_t degree = fab_detector_degree(o->d.n);
	char text[FAB_HUMAN_BYTES];
	const char *known =
		"some others never know, as all nodes that would inform them have failed";

	/* beyond its bound, then later */
	for (size_t i = 1; i < o->n; i++) {
		const struct fab_failure_row *row = &o->rows[i];
		bool is_later = isnan(row->stable_s) ? !isnan(worst->stable_s)
						     : row->stable_s > worst->stable_s;

		if (row->within != worst->within ? worst->within : is_later)
			worst = row;
	}
	for (size_t i = o->n; i-- > 0;)
		if (o->rows[i].mpd_parts > 1)
			split = &o->rows[i];
	if (!isnan(worst->stable_s))
		known = fab_arena_format(w->arena, "all others know after %s",
					 fab_human_seconds(worst->stable_s, text));
	fab_report_answer(r, worst->within ? FAB_TONE_PLAIN : FAB_TONE_BAD,
			  "Of %u nodes, %" PRIu64
			  " failed (%s): %s; the bound is %s%s%s.",
			  o->d.n, worst->failures, worst->placement, known,
			  fab_human_seconds(worst->bound_s, text),
			  worst->proven ? "" : ", which is not proven for this number",
			  worst->within ? "" : "; it is not kept");
	fab_report_answer(
		r, FAB_TONE_PLAIN,
		"Each node sends a heartbeat each %s and passes news on to %u node%s.",
		fab_human_seconds(o->d.period_us / 1e6, text), degree,
		degree == 1 ? "" : "s");
	if (o->risks[0].false_every_s < 1e9)
		fab_report_answer(
			r,
			o->risks[0].false_every_s < SECONDS_A_DAY ? FAB_TONE_WARN
								  : FAB_TONE_PLAIN,
			"A live node is considered dead once in %s on average: the timeout is %.3g times the period, and heartbeats are late or lost.",
			fab_human_seconds(o->risks[0].false_every_s, text),
			o->d.timeout_us / o->d.period_us);
	if (split)
		fab_report_answer(r, FAB_TONE_WARN,
				  "MPD's ring falls into %" PRIu64 " parts with %" PRIu64
				  " failures (%s).",
				  split->mpd_parts, split->failures, split->placement);
}

static void report_hangs(struct fab_report *r, const struct faults_outcome *o)
{
#define AT(member) FAB_AT(struct fab_hang, member)
	static const struct fab_column hangs[] = {
		{"fence", FAB_TEXT, "fence of Slurm", 0, AT(fence)},
		{"waiting_least", FAB_UINT,
		 "nodes that never end, least of any lost node", 0, AT(waiting_least)},
		{"waiting_most", FAB_UINT, "most of any", 0, AT(waiting_most)},
		{"direct_least", FAB_UINT, "nodes that wait for the lost one itself", 0,
		 AT(direct_least)},
		{"direct_most", FAB_UINT, "most of any", 0, AT(direct_most)},
		{"sent_least", FAB_REAL, "share of the messages that are still sent", 0,
		 AT(sent_least)},
		{"sent_most", FAB_REAL, "most of any", 0, AT(sent_most)},
	};
#undef AT
#define AT(member) FAB_AT(struct fab_hang_setting, member)
	static const struct fab_column settings[] = {
		{"setting", FAB_TEXT, "setting of Slurm", 0, AT(setting)},
		{"file", FAB_TEXT, "file that it is in", 0, AT(file)},
		{"seconds", FAB_REAL, "by the constants, s; null: no time",
		 FAB_COL_SECONDS, AT(seconds)},
		{"ends", FAB_BOOL, "it ends a fence that waits for a lost node", 0,
		 AT(ends)},
		{"effect", FAB_TEXT, "what it does", 0, AT(effect)},
	};
#undef AT

	fab_report_table(r, "hangs", "A fence without one node", hangs, FAB_COUNT(hangs),
			 o->hangs, sizeof(*o->hangs), FAB_COUNT(o->hangs));
	fab_report_table(r, "settings", "Settings for a lost node", settings,
			 FAB_COUNT(settings), o->settings, sizeof(*o->settings),
			 FAB_COUNT(o->settings));
}

static void report_faults(struct fab_report *r, const struct fab_work *w)
{
#define AT(member) FAB_AT(struct fab_risk_row, member)
	static const struct fab_column risks[] = {
		{"heartbeat_s", FAB_REAL, "time between two heartbeats, s",
		 FAB_COL_SECONDS, AT(heartbeat_s)},
		{"timeout_s", FAB_REAL, "timeout, s", FAB_COL_SECONDS, AT(timeout_s)},
		{"heartbeats_a_second", FAB_REAL, "heartbeats of all nodes a second", 0,
		 AT(heartbeats_a_second)},
		{"detected_s", FAB_REAL, "until one failure is detected, s",
		 FAB_COL_SECONDS, AT(detected_s)},
		{"false_suspicion", FAB_REAL,
		 "probability that a live node is considered dead, for each heartbeat", 0,
		 AT(false_suspicion)},
		{"false_every_s", FAB_REAL,
		 "mean time between false suspicions in the job, s; null: no false suspicions",
		 FAB_COL_SECONDS, AT(false_every_s)},
		{"present", FAB_BOOL, "the detector of the results", 0, AT(is_present)},
	};
#undef AT
	const struct faults_outcome *o = w->outcome;

	answer_faults(r, w);
	answer_hangs(r, w);
	fab_report_uint(r, "nodes", o->d.n);
	fab_report_real(r, "heartbeats_a_second", 0, 1e6 / o->d.period_us);
	fab_report_uint(r, "news_degree", fab_detector_degree(o->d.n));
	fab_report_real(r, "false_suspicion", 0, o->risks[0].false_suspicion);
	fab_report_real(r, "false_every_s", FAB_COL_SECONDS, o->risks[0].false_every_s);
	fab_report_text(r, "not_modelled", not_modelled);
	fab_report_table(r, "results", "Failures", launch_faults_columns,
			 launch_faults_n_columns, o->rows, sizeof(*o->rows), o->n);
	fab_report_table(r, "risks", "Load, speed and risk by period and timeout", risks,
			 FAB_COUNT(risks), o->risks, sizeof(*o->risks), FAB_N_RISKS);
	fab_report_real(r, "hang_least_s", FAB_COL_SECONDS, o->ends_least_s);
	fab_report_real(r, "hang_most_s", FAB_COL_SECONDS, o->ends_most_s);
	report_hangs(r, o);
	launch_report_constants(r, w->params);
}

static void store_faults(struct fab_draft *d, const struct fab_work *w)
{
	const struct faults_outcome *o = w->outcome;

	launch_store_begin(d, w, NULL, NULL);
	for (size_t i = 0; i < o->n; i++)
		fab_draft_result(
			d,
			fab_arena_format(w->arena, "%s/%" PRIu64, o->rows[i].placement,
					 o->rows[i].failures),
			launch_faults_columns, launch_faults_n_columns, &o->rows[i]);
}

static void draw_faults(struct fab_drawing *d, const struct fab_work *w)
{
	const struct faults_outcome *o = w->outcome;

	fab_cli_mark_faults(d, w->f, o->job.faults);
	fab_drawing_without_load(
		d,
		"Cables have no colours: the answer is about hosts that fail, and heartbeats are too small to load a cable.");
}

LAUNCH_TASK(faults, struct faults_outcome, .solve = solve_faults, .report = report_faults,
	    .draw = draw_faults, .store = store_faults);
