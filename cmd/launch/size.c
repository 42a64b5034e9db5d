/* SPDX-License-Identifier: BSD-2-Clause */
/* fabric-launch size: what a node contributes to a fence, byte by byte. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/human.h"
#include "launch.h"

/* Most bytes that --verify writes. */
static const uint64_t MAX_ENCODED = 1 << 28;

struct opt_row {
	const char *opt;
	uint64_t without, with, without_last, with_last;
	double factor, factor_last;
};

#define AT(member) FAB_AT(struct opt_row, member)
static const struct fab_column opt_columns[] = {
	{"opt", FAB_TEXT, "optimisation", 0, AT(opt)},
	{"bytes_without", FAB_UINT, "a node with none of them, B", 0, AT(without)},
	{"bytes_with", FAB_UINT, "with this one alone, B", 0, AT(with)},
	{"factor_alone", FAB_REAL, "the first by the second", 0, AT(factor)},
	{"bytes_without_last", FAB_UINT, "with all but this one, B", FAB_COL_EXTRA,
	 AT(without_last)},
	{"factor_last", FAB_REAL, "that by all of them", 0, AT(factor_last)},
};
#undef AT

struct outcome {
	FAB_VEC(struct launch_size_row) rows;
	struct opt_row opts[FAB_SIZE_N_OPTS + 1];
};

/* "procid, leb128"; on the heap. */
static char *opts_text(unsigned opts)
{
	char *text = NULL;

	for (size_t i = 0; i < FAB_SIZE_N_OPTS; i++)
		if (opts & 1u << i)
			fab_append(&text, ", ", "%s", fab_size_opts.at(i).form);
	return text ? text : fab_strdup("none");
}

static uint64_t bytes_of(const struct launch_params *p, unsigned opts)
{
	struct fab_size_layout layout = {opts, p->namespace_chars};

	return fab_size_node(&p->keys, &layout, 0, p->ppn);
}

static unsigned opts_of(const struct launch_params *p, uint32_t layout)
{
	unsigned opts = 0;

	if (!p->has_opt)
		return fab_size_version_opts(layout);
	for (size_t i = 0; i < p->opts.of.n; i++)
		opts |= 1u << p->opts.of.v[i].row;
	return opts;
}

/* Write the bytes and count them. */
static int verify(const struct launch_params *p, const struct fab_size_layout *layout,
		  struct launch_size_row *row, struct fab_err *err)
{
	unsigned char *encoded;
	size_t n;

	if (row->bytes > MAX_ENCODED)
		return fab_fail(err, EINVAL,
				"--verify: %llu bytes are too many to write, up to %llu",
				(unsigned long long)row->bytes,
				(unsigned long long)MAX_ENCODED);
	encoded = fab_size_encode(&p->keys, layout, 0, p->ppn, &n);
	free(encoded);
	row->verified = n == row->bytes;
	return row->verified
		       ? 0
		       : fab_fail(err, EPROTO,
				  "--verify: %zu bytes were written where %llu were "
				  "counted",
				  n, (unsigned long long)row->bytes);
}

static int add_row(const struct launch_params *p, uint32_t number, struct outcome *o,
		   struct fab_err *err)
{
	struct fab_size_layout layout = {opts_of(p, number), p->namespace_chars};
	struct launch_size_row row = {
		.layout = fab_size_layouts.at(number).form,
		.ppn = p->ppn,
		.keys = (uint32_t)fab_puts_keys(&p->keys),
		.value_bytes = fab_puts_bytes(&p->keys) * p->ppn,
		.bytes = bytes_of(p, layout.opts),
		.job_bytes = p->nodes.of.n
				     ? (double)fab_size_job(&p->keys, &layout,
							    p->nodes.of.v[0], p->ppn)
				     : (double)NAN,
		.table = fab_size_has_table(&p->keys, &layout, p->ppn),
		.verified = FAB_UNKNOWN,
	};
	int rc = p->run.verify ? verify(p, &layout, &row, err) : 0;

	if (rc)
		return rc;
	row.opt = opts_text(layout.opts);
	row.overhead = row.value_bytes ? (double)row.bytes / (double)row.value_bytes
				       : (double)NAN;
	row.factor = (double)bytes_of(p, 0) / (double)row.bytes;
	FAB_PUSH(&o->rows, row);
	return 0;
}

static void fill_opts(const struct launch_params *p, struct outcome *o)
{
	uint64_t none = bytes_of(p, 0), all = bytes_of(p, FAB_SIZE_ALL);

	for (size_t i = 0; i <= FAB_SIZE_N_OPTS; i++) {
		bool is_all = i == FAB_SIZE_N_OPTS;
		unsigned opt = is_all ? FAB_SIZE_ALL : 1u << i;
		struct opt_row *row = &o->opts[i];

		row->opt = is_all ? "all" : fab_size_opts.at(i).form;
		row->without = none;
		row->with = bytes_of(p, opt);
		row->without_last = bytes_of(p, FAB_SIZE_ALL & ~opt);
		row->with_last = all;
		row->factor = (double)none / (double)row->with;
		row->factor_last = (double)row->without_last / (double)all;
	}
}

static void answer(struct fab_report *r, const struct launch_params *p,
		   const struct outcome *o)
{
	const struct launch_size_row *row = &o->rows.v[0];
	const struct opt_row *best = &o->opts[0];
	char bytes[FAB_HUMAN_BYTES], old[FAB_HUMAN_BYTES];

	fab_human_count(row->bytes, bytes);
	fab_human_count(o->opts[0].without, old);
	fab_report_answer(r, FAB_TONE_PLAIN,
			  "A node of %u process%s contributes %s B to a fence that "
			  "collects data (layout %s, %s).",
			  p->ppn, p->ppn == 1 ? "" : "es", bytes, row->layout, row->opt);
	for (size_t i = 1; i < FAB_SIZE_N_OPTS; i++)
		if (o->opts[i].factor > best->factor)
			best = &o->opts[i];
	fab_report_answer(r, FAB_TONE_PLAIN,
			  "Without any optimisation it is %s B, with all of them %s B: a "
			  "factor of %.2f for these keys; %s is worth most (alone %.2f).",
			  old, fab_human_count(o->opts[FAB_SIZE_N_OPTS].with, bytes),
			  o->opts[FAB_SIZE_N_OPTS].factor, best->opt, best->factor);
}

static void print(struct fab_report *r, const struct launch_params *p, const void *of,
		  enum fab_format format)
{
	const struct outcome *o = of;

	(void)format;
	answer(r, p, o);
	fab_report_text(r, "keys", p->keys_text);
	fab_report_uint(r, "ppn", p->ppn);
	fab_report_uint(r, "namespace_chars", p->namespace_chars);
	fab_report_table(r, "results", "What a node contributes", launch_size_columns,
			 launch_size_n_columns, o->rows.v, sizeof(*o->rows.v), o->rows.n);
	fab_report_table(r, "optimisations", "What each optimisation is worth",
			 opt_columns, FAB_COUNT(opt_columns), o->opts, sizeof(*o->opts),
			 FAB_COUNT(o->opts));
}

static void keep(struct fab_draft *d, const struct launch_params *p, const void *of)
{
	const struct outcome *o = of;

	fab_draft_table(d, launch_size_columns, launch_size_n_columns);
	fab_draft_asked(d, "verb", fab_strdup("size"));
	fab_draft_asked(d, "keys", fab_strdup(p->keys_text));
	d->run.fabric.source = "none";
	for (size_t i = 0; i < o->rows.n; i++)
		fab_draft_result(d, o->rows.v[i].layout, launch_size_columns,
				 launch_size_n_columns, &o->rows.v[i]);
}

static int run(struct launch_params *p, const struct fab_fabric *f, struct fab_err *err)
{
	struct outcome o = {0};
	struct launch_result result = {"results", print, keep, &o};
	int rc = 0;

	for (size_t i = 0; !rc && i < p->layouts.of.n; i++)
		rc = add_row(p, p->layouts.of.v[i].row, &o, err);
	fill_opts(p, &o);
	if (!rc)
		rc = launch_finish(p, f, &result, NULL, err);
	for (size_t i = 0; i < o.rows.n; i++)
		free(o.rows.v[i].opt);
	free(o.rows.v);
	return rc;
}

const struct launch_work launch_size = {launch_size_columns, &launch_size_n_columns, run};
