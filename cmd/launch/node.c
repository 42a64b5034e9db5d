/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Verbs without fences: size (contribution of a node), store (Gets from a node's shared
 * memory by lock), faults (detection of failed daemons).
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/human.h"
#include "launch.h"
#include "launch/detector.h"
#include "launch/locks.h"

/* size. */

enum { MAX_ENCODED = 1 << 28 }; /* most bytes that --verify writes */

struct opt_row {
	const char *opt;
	uint64_t without, with, without_last, with_last;
	double factor, factor_last;
};

struct size_outcome {
	struct launch_size_row *rows;		  /* [layouts] */
	struct opt_row opts[FAB_SIZE_N_OPTS + 1]; /* the last one: all */
};

/* "procid, leb128". */
static const char *opts_text(struct fab_arena *memory, unsigned opts)
{
	char *text = NULL;

	for (size_t i = 0; i < FAB_SIZE_N_OPTS; i++)
		if (opts & 1u << i)
			fab_append(&text, ", ", "%s", fab_size_opts.at(i).form);
	fab_arena_own(memory, free, text);
	return text ? text : "none";
}

static uint64_t bytes_of(const struct launch_params *p, unsigned opts)
{
	struct fab_size_layout layout = {opts, p->namespace_chars};

	return fab_size_node(&p->keys, &layout, 0, p->ppn);
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
		uint64_t values = fab_puts_bytes(&p->keys) * p->ppn;
		uint64_t bytes = bytes_of(p, layout.opts);
		size_t n_encoded;

		o->rows[i] = (struct launch_size_row){
			.layout = fab_size_layouts.at(row).form,
			.opt = opts_text(w->arena, layout.opts),
			.ppn = p->ppn,
			.keys = (uint32_t)fab_puts_keys(&p->keys),
			.value_bytes = values,
			.bytes = bytes,
			.job_bytes = p->nodes.of.n ? (double)fab_size_job(
							     &p->keys, &layout,
							     p->nodes.of.v[0], p->ppn)
						   : (double)NAN,
			.overhead = values ? (double)bytes / (double)values : (double)NAN,
			.factor = (double)none / (double)bytes,
			.table = fab_size_has_table(&p->keys, &layout, p->ppn),
			.verified = FAB_UNKNOWN,
		};
		if (!p->run.verify)
			continue;
		if (bytes > MAX_ENCODED)
			return fab_fail(
				err, EINVAL,
				"--verify: %llu bytes are too many to write, up to %d",
				(unsigned long long)bytes, MAX_ENCODED);
		free(fab_size_encode(&p->keys, &layout, 0, p->ppn, &n_encoded));
		if (n_encoded != bytes)
			return fab_fail(
				err, EPROTO,
				"--verify: %zu bytes were written where %llu were counted",
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
					.without_last = bytes_of(p, FAB_SIZE_ALL & ~opt),
					.with_last = all};
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

	fab_draft_table(d, launch_size_columns, launch_size_n_columns);
	fab_draft_asked(d, "verb", fab_strdup("size"));
	fab_draft_asked(d, "keys", fab_strdup(p->keys_text));
	for (size_t i = 0; i < p->layouts.of.n; i++)
		fab_draft_result(d, o->rows[i].layout, launch_size_columns,
				 launch_size_n_columns, &o->rows[i]);
}

const struct fab_task launch_size = {
	.primary = "results",
	.columns = launch_size_columns,
	.n_columns = &launch_size_n_columns,
	.outcome_bytes = sizeof(struct size_outcome),
	.solve = solve_size,
	.report = report_size,
	.store = store_size,
};

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
	static const enum fab_launch_constant constants[] = {
		FAB_CONST_lock_ns, FAB_CONST_line_ns, FAB_CONST_read_ns,
		FAB_CONST_shift_us, FAB_N_LAUNCH_CONSTANTS};
	struct launch_params *p = w->params;
	struct store_outcome *o = w->outcome;
	double read_s = 0;
	int rc = launch_read_constants(p, constants, err);

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
		{"wait_s", FAB_REAL, "mean wait of the writer, s", FAB_COL_SECONDS,
		 AT(wait_s)},
	};
#undef AT
	const struct launch_params *p = w->params;
	const struct store_outcome *o = w->outcome;
	struct fab_lock_cost rw = fab_lock_model(FAB_LOCK_RWLOCK, o->ppn, &p->constants);
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
		"2N locks and a thread shift after the read are two changes: together a factor of %.0f by the model (the locks alone %.3g, the shift alone %.3g); published is up to 66 at 168.",
		(rw.read_ns + shift_ns) / two.read_ns,
		(rw.read_ns + shift_ns) / (two.read_ns + shift_ns),
		(rw.read_ns + shift_ns) / rw.read_ns);
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

	fab_draft_table(d, launch_store_columns, launch_store_n_columns);
	fab_draft_asked(d, "verb", fab_strdup("store"));
	for (size_t i = 0; i < o->rows.n; i++)
		fab_draft_result(d,
				 fab_arena_format(w->arena, "%s/%u", o->rows.v[i].lock,
						  o->rows.v[i].ppn),
				 launch_store_columns, launch_store_n_columns,
				 &o->rows.v[i]);
}

static void fini_store(void *outcome)
{
	free(((struct store_outcome *)outcome)->rows.v);
}

const struct fab_task launch_store = {
	.primary = "results",
	.columns = launch_store_columns,
	.n_columns = &launch_store_n_columns,
	.outcome_bytes = sizeof(struct store_outcome),
	.solve = solve_store,
	.report = report_store,
	.store = store_store,
	.fini = fini_store,
};

/* faults. */

struct faults_outcome {
	struct fab_detector d;
	struct fab_failure_row *rows;
	size_t n;
};

/* The survey does not say how they would join again. */
static const char not_modelled[] = "nodes that come back";

static int solve_faults(struct fab_work *w, struct fab_err *err)
{
	static const enum fab_launch_constant constants[] = {
		FAB_CONST_heartbeat_s, FAB_CONST_timeout_s, FAB_CONST_news_us,
		FAB_N_LAUNCH_CONSTANTS};
	struct launch_params *p = w->params;
	const struct fab_launch_params *c = &p->constants;
	struct faults_outcome *o = w->outcome;
	struct fab_launch_nodes nodes = {0};
	struct launch_job job;
	size_t n_each = p->exhaustive ? 3 : 2;
	uint32_t n = launch_n_nodes(p);
	int rc = launch_read_constants(p, constants, err);

	if (!rc && w->f) { /* the job's nodes among the fabric's hosts; 0: all */
		rc = launch_job_hosts(p, w->f, &job, err);
		if (!rc)
			rc = launch_job_nodes(p, &job, n, "fabric", w->arena, &nodes,
					      err);
		launch_job_fini(&job);
		n = nodes.n;
	}
	o->d = (struct fab_detector){.n = n,
				     .period_us = FAB_PARAM(c, heartbeat_s) * 1e6,
				     .timeout_us = FAB_PARAM(c, timeout_s) * 1e6,
				     .message_us = FAB_PARAM(c, news_us)};
	if (!rc)
		rc = fab_detector_check(&o->d, err);
	o->rows = FAB_ARENA_NEW(w->arena, n_each * p->failures.of.n,
				struct fab_failure_row);
	for (size_t i = 0; i < p->failures.of.n && !rc; i++) {
		uint32_t f = p->failures.of.v[i];

		if (f >= n && !p->has_failures && n > 1)
			continue; /* of the default */
		if (f >= n)
			return fab_fail(err, EINVAL,
					"--failures=%u: of %u nodes none would be left",
					f, n);
		rc = fab_detector_table(w->arena, &o->d, f, p->exhaustive, &o->rows[o->n],
					err);
		o->n += n_each;
	}
	return rc;
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
	if (split)
		fab_report_answer(r, FAB_TONE_WARN,
				  "MPD's ring falls into %" PRIu64 " parts with %" PRIu64
				  " failures (%s).",
				  split->mpd_parts, split->failures, split->placement);
}

static void report_faults(struct fab_report *r, const struct fab_work *w)
{
	static const struct fab_column rate = {"heartbeats_a_second", FAB_REAL, "", 0};
	const struct faults_outcome *o = w->outcome;

	answer_faults(r, w);
	fab_report_uint(r, "nodes", o->d.n);
	fab_report_field(r, &rate, (union fab_cell){.real = 1e6 / o->d.period_us});
	fab_report_uint(r, "news_degree", fab_detector_degree(o->d.n));
	fab_report_text(r, "not_modelled", not_modelled);
	fab_report_table(r, "results", "Failures", launch_faults_columns,
			 launch_faults_n_columns, o->rows, sizeof(*o->rows), o->n);
	launch_report_constants(r, w->params);
}

static void store_faults(struct fab_draft *d, const struct fab_work *w)
{
	const struct faults_outcome *o = w->outcome;

	fab_draft_table(d, launch_faults_columns, launch_faults_n_columns);
	fab_draft_asked(d, "verb", fab_strdup("faults"));
	for (size_t i = 0; i < o->n; i++)
		fab_draft_result(
			d,
			fab_arena_format(w->arena, "%s/%" PRIu64, o->rows[i].placement,
					 o->rows[i].failures),
			launch_faults_columns, launch_faults_n_columns, &o->rows[i]);
}

const struct fab_task launch_faults = {
	.primary = "results",
	.columns = launch_faults_columns,
	.n_columns = &launch_faults_n_columns,
	.outcome_bytes = sizeof(struct faults_outcome),
	.solve = solve_faults,
	.report = report_faults,
	.store = store_faults,
};
