/* SPDX-License-Identifier: BSD-2-Clause */
/* The constants of the models: where they come from, and how they are printed. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/human.h"
#include "launch.h"
#include "launch/range.h"
#include "source/unpack.h"

int launch_read_constants(struct launch_params *p, struct fab_err *err)
{
	struct fab_input in;
	int rc = 0;

	fab_launch_params_init(&p->constants);
	if (p->params_path) {
		rc = fab_input_read(p->params_path, &in, err);
		if (rc)
			return rc;
		rc = fab_launch_params_read(&p->constants,
					    launch_input_name(p->params_path), in.bytes,
					    in.n, err);
		fab_input_fini(&in);
	}
	for (size_t i = 0; i < p->set.n && !rc; i++) {
		rc = fab_launch_params_set(&p->constants, p->set.v[i], err);
		if (rc)
			fab_err_prefix(err, "--set");
	}
	return rc;
}

struct fab_fence_job launch_fence_job(const struct fab_launch_params *c, uint32_t n_nodes,
				      const uint32_t *leaf, uint64_t bytes)
{
	return (struct fab_fence_job){.n_nodes = n_nodes,
				      .bytes = bytes,
				      .leaf = leaf,
				      .is_collecting = true,
				      .tree_width = (uint32_t)FAB_PARAM(c, tree_width),
				      .costs = {.o_us = FAB_PARAM(c, o_us),
						.L_us = FAB_PARAM(c, latency_us),
						.G_ns = FAB_PARAM(c, gap_ns_per_B),
						.C_ns = FAB_PARAM(c, copy_ns_per_B)}};
}

void launch_answer_range(struct fab_report *r, const struct launch_params *p,
			 const char *subject, const struct fab_launch_range *range)
{
	char low[FAB_HUMAN_BYTES], high[FAB_HUMAN_BYTES];
	const struct fab_launch_value *v;
	double limits[2];
	const char *unit;
	bool has_unit;

	if (range->by == FAB_N_LAUNCH_CONSTANTS)
		return;
	v = &p->constants.of[range->by];
	(void)fab_launch_limits(v, limits);
	unit = fab_launch_constant_unit(range->by);
	has_unit = strcmp(unit, "1") != 0 && strcmp(unit, "1/s") != 0;
	fab_report_answer(r, FAB_TONE_PLAIN,
			  "%s is %s to %s by %s (%s, %.7g to %.7g%s%s; assumed %.7g).",
			  subject, fab_human_seconds(range->low, low),
			  fab_human_seconds(range->high, high),
			  fab_launch_constants.at(range->by).form, v->source, limits[0],
			  limits[1], has_unit ? " " : "", has_unit ? unit : "", v->value);
}

void launch_print_range(struct fab_report *r, const struct fab_launch_range *range)
{
	static const struct fab_column fields[] = {
		{"total_low_s", FAB_REAL, "", FAB_COL_SECONDS},
		{"total_high_s", FAB_REAL, "", FAB_COL_SECONDS},
	};
	bool has_range = range->by != FAB_N_LAUNCH_CONSTANTS;

	fab_report_field(r, &fields[0], (union fab_cell){.real = range->low});
	fab_report_field(r, &fields[1], (union fab_cell){.real = range->high});
	fab_report_text(r, "range_by",
			has_range ? fab_launch_constants.at(range->by).form : NULL);
}

struct constant_row {
	const char *constant, *unit, *origin, *of, *source;
	double value, spread, low, high;
};

/* Defaults were not measured here. */
static const char *whose(const struct fab_launch_params *p,
			 const struct fab_launch_value *v)
{
	if (v->is_default)
		return "default";
	if (v->origin == FAB_GIVEN)
		return "command line";
	return *p->host ? p->host : "--params";
}

void launch_print_constants(struct fab_report *r, const struct launch_params *p)
{
#define AT(member) FAB_AT(struct constant_row, member)
	static const struct fab_column columns[] = {
		{"constant", FAB_TEXT, "its name", 0, AT(constant)},
		{"value", FAB_REAL, "its value", 0, AT(value)},
		{"unit", FAB_TEXT, "its unit, 1: a number", 0, AT(unit)},
		{"spread", FAB_REAL, "half the range that was seen; null: not known", 0,
		 AT(spread)},
		{"low", FAB_REAL, "least value that is possible; null: not known",
		 FAB_COL_EXTRA, AT(low)},
		{"high", FAB_REAL, "greatest value that is possible", FAB_COL_EXTRA,
		 AT(high)},
		{"origin", FAB_TEXT, "measured, survey, assumed or given", 0, AT(origin)},
		{"of", FAB_TEXT,
		 "whose value: default, the host of --params, command line", 0, AT(of)},
		{"source", FAB_TEXT, "where it is from", 0, AT(source)},
	};
#undef AT
	const struct fab_launch_params *c = &p->constants;

	fab_report_table_begin(r, "constants", "Constants", columns, FAB_COUNT(columns));
	for (size_t i = 0; i < FAB_N_LAUNCH_CONSTANTS; i++) {
		const struct fab_launch_value *v = &c->of[i];
		bool has_limits = v->low < v->high;
		struct constant_row row = {.constant = fab_launch_constants.at(i).form,
					   .unit = fab_launch_constant_unit(i),
					   .origin = fab_origin_name(v->origin),
					   .of = whose(c, v),
					   .source = v->source,
					   .value = v->value,
					   .spread = v->spread,
					   .low = has_limits ? v->low : (double)NAN,
					   .high = has_limits ? v->high : (double)NAN};

		if (p->uses[i])
			fab_report_record(r, &row);
	}
	fab_report_table_end(r);
}

unsigned launch_count_assumed(const struct launch_params *p)
{
	unsigned n = 0;

	for (size_t i = 0; i < FAB_N_LAUNCH_CONSTANTS; i++)
		n += p->uses[i] && p->constants.of[i].origin == FAB_ASSUMED;
	return n;
}

void launch_use_constants(struct launch_params *p, const enum fab_launch_constant *of,
			  size_t n)
{
	for (size_t i = 0; i < n; i++)
		p->uses[of[i]] = true;
}
