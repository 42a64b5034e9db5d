/* SPDX-License-Identifier: BSD-2-Clause */
/* The numbers of two results beside each other: ratios, and what got better or worse. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"

static enum compare_verdict verdict_of(const struct fab_store_kind *kind, double base,
				       double value, double tolerance)
{
	if (!kind || !kind->better || isnan(value) || isnan(base))
		return COMPARE_NONE;
	if (!(value < base) && !(value > base))
		return COMPARE_SAME;
	/* not finite: a time of what never ends */
	if (isfinite(base) && fabs(value - base) <= tolerance * fabs(base))
		return COMPARE_SAME;
	return (value < base) == (kind->better < 0) ? COMPARE_BETTER : COMPARE_WORSE;
}

static void add(struct compare_rows *rows, const struct compare_pair *pair,
		const struct fab_store_kind *kind, const char *part, const char *metric,
		double base, double value)
{
	const struct compare_row row = {
		.pair = pair,
		.kind = kind,
		.part = part,
		.metric = metric,
		.base = base,
		.value = value,
		.verdict = verdict_of(kind, base, value, rows->tolerance),
		.has_vanished = kind && kind->better && !kind->is_time && !isnan(base) &&
				isnan(value),
	};

	if (!isnan(base) || !isnan(value))
		FAB_PUSH(&rows->of, row);
}

static double metric_of(const struct fab_store_result *r, const char *name)
{
	double value =
		r ? fab_store_number_get(r->metrics, r->n_metrics, name) : (double)NAN;

	/* where nodes gave up the last one never boots */
	if (r && isnan(value) && !strcmp(name, "boot_seconds") &&
	    fab_store_number_get(r->metrics, r->n_metrics, "failed_nodes") > 0)
		return INFINITY;
	return value;
}

static const char *command_of(const struct compare_pair *pair)
{
	return pair->base ? pair->base_item->run->command : pair->item->run->command;
}

static void add_metrics(struct compare_rows *rows, const struct fab_store_runs *runs,
			const struct compare_pair *pair)
{
	for (size_t k = 0; k < runs->n_kinds; k++) {
		const struct fab_store_kind *kind = &runs->kinds[k];

		if (!strcmp(kind->command, command_of(pair)))
			add(rows, pair, kind, NULL, kind->name,
			    metric_of(pair->base, kind->name),
			    metric_of(pair->other, kind->name));
	}
}

/* All parts of the base, then those that only the other has. */
static void add_parts(struct compare_rows *rows, const struct fab_store_runs *runs,
		      const struct compare_pair *pair, bool is_chosen)
{
	struct compare_values *base = FAB_NEW(1, struct compare_values);
	struct compare_values *other = FAB_NEW(1, struct compare_values);

	compare_values_init(base, pair->base_item->run, pair->base);
	compare_values_init(other, pair->item->run, pair->other);
	for (size_t side = 0; side < 2; side++) {
		const struct compare_values *v = side ? other : base;

		for (size_t i = 0; i < v->of.n; i++) {
			const struct compare_value *x = &v->of.v[i];
			const struct fab_store_kind *kind =
				fab_store_kind_get(runs, command_of(pair), x->metric);
			double there = compare_values_get(side ? base : other, x);

			/* with --metric the others are not among the kinds */
			if ((is_chosen && !kind) || (side && !isnan(there)))
				continue;
			add(rows, pair, kind, x->part, x->metric, side ? there : x->value,
			    side ? x->value : there);
		}
	}
	FAB_PUSH(&rows->kept, base);
	FAB_PUSH(&rows->kept, other);
}

static void count(struct compare_rows *rows)
{
	bool has_common_part = false;

	for (size_t i = 0; i < rows->of.n; i++) {
		const struct compare_row *row = &rows->of.v[i];
		struct compare_counts *c = row->part ? &rows->parts : &rows->counts;

		if (row->part && !isnan(row->base) && !isnan(row->value))
			has_common_part = true;
		if (row->kind && row->kind->is_time)
			continue;
		c->better += row->verdict == COMPARE_BETTER;
		c->worse += row->verdict == COMPARE_WORSE;
		c->same += row->verdict == COMPARE_SAME;
		c->vanished += row->has_vanished;
	}
	/* other faults or batches altogether: none of them has gone */
	if (!has_common_part)
		rows->parts.vanished = 0;
}

void compare_rows_init(struct compare_rows *rows, const struct fab_store_runs *runs,
		       const struct compare_pairs *pairs, double tolerance,
		       bool is_chosen)
{
	*rows = (struct compare_rows){.tolerance = tolerance};
	rows->first = FAB_NEW(pairs->n + 1, size_t);
	for (size_t i = 0; i < pairs->n; i++) {
		rows->first[i] = rows->of.n;
		add_metrics(rows, runs, &pairs->v[i]);
		add_parts(rows, runs, &pairs->v[i], is_chosen);
	}
	rows->first[pairs->n] = rows->of.n;
	count(rows);
}

void compare_rows_fini(struct compare_rows *rows)
{
	for (size_t i = 0; i < rows->kept.n; i++) {
		compare_values_fini(rows->kept.v[i]);
		free(rows->kept.v[i]);
	}
	free(rows->kept.v);
	free(rows->of.v);
	free(rows->first);
}
