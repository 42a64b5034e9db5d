/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which results are compared with each other, and how their numbers compare: metrics of
 * a pair of results, then numbers of their parts, each with its verdict.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "compare.h"

bool compare_has(const struct compare_item *item, const char *algorithm)
{
	return !item->algorithm || !strcmp(item->algorithm, algorithm);
}

static size_t count_of(const struct compare_item *item)
{
	size_t n = 0;

	for (size_t i = 0; i < item->run->n_results; i++)
		n += compare_has(item, item->run->results[i].algorithm);
	return n;
}

/* The first result of this name, or NULL. */
static const struct fab_store_result *find(const struct compare_item *item,
					   const char *algorithm)
{
	for (size_t i = 0; i < item->run->n_results; i++)
		if (compare_has(item, algorithm) &&
		    !strcmp(item->run->results[i].algorithm, algorithm))
			return &item->run->results[i];
	return NULL;
}

/* A number of a part of a result: of a set of faults, a batch, a segment of one. */
struct value {
	const char *part, *metric;
	double value;
	char *key; /* part, metric and which of that name */
};

struct values {
	struct fab_arena *arena;
	FAB_VEC(struct value) of;
	struct fab_strmap *index, *count;
};

/* Values of one name, as those of a set that is drawn twice, are numbered. */
static void add_value(struct values *v, const char *part, const char *metric,
		      double value)
{
	/* 1 is in no name that is ours */
	char *key = fab_arena_format(v->arena, "%s\1%s", part, metric);
	size_t len = strlen(key);
	uint32_t n = fab_strmap_get(v->count, key, len);

	if (isnan(value))
		return;
	n = n == FAB_NONE ? 0 : n;
	fab_strmap_set(v->count, key, len, n + 1);
	key = fab_arena_format(v->arena, "%s\1%u", key, n);
	fab_strmap_put(v->index, key, strlen(key), (uint32_t)v->of.n);
	FAB_PUSH(&v->of, ((struct value){part, metric, value, key}));
}

static double or_nan(double value)
{
	return isfinite(value) ? value : (double)NAN;
}

/* Parts of result r of the run; r NULL: none. */
static void values_init(struct values *v, struct fab_arena *arena,
			const struct fab_store_run *run, const struct fab_store_result *r)
{
	*v = (struct values){
		.arena = arena, .index = fab_strmap_new(0), .count = fab_strmap_new(0)};
	for (size_t i = 0; r && i < r->n_details; i++)
		add_value(v, r->details[i].part, r->details[i].name,
			  or_nan(r->details[i].value));
	for (size_t i = 0; r && i < run->n_batches; i++)
		if (!strcmp(run->batches[i].algorithm, r->algorithm)) {
			const struct fab_store_batch *b = &run->batches[i];

			add_value(v, b->name, "nodes", (double)b->nodes);
			add_value(v, b->name, "servers", (double)b->servers);
			add_value(v, b->name, "bandwidth_mbps",
				  or_nan(b->bandwidth_mbps));
			/* without one some nodes never boot: worse than any time */
			add_value(v, b->name, "boot_seconds",
				  isfinite(b->boot_seconds) ? b->boot_seconds
							    : (double)INFINITY);
			for (size_t k = 0; k < b->n_segments; k++) {
				const struct fab_store_segment *s = &b->segments[k];
				char *part = fab_arena_format(v->arena, "%s: %s", b->name,
							      s->name);

				add_value(v, part, "capacity_mbps",
					  or_nan(s->capacity_mbps));
				add_value(v, part, "max_sharers", (double)s->max_sharers);
				add_value(v, part, "share_mbps", or_nan(s->share_mbps));
			}
		}
}

static void values_fini(struct values *v)
{
	free(v->of.v);
	fab_strmap_free(v->index);
	fab_strmap_free(v->count);
}

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

static void add(struct compare_outcome *o, const struct compare_params *p,
		const struct compare_pair *pair, const struct fab_store_kind *kind,
		const char *part, const char *metric, double base, double value)
{
	const struct compare_row row = {
		.pair = pair,
		.kind = kind,
		.part = part,
		.metric = metric,
		.base = base,
		.value = value,
		.verdict = verdict_of(kind, base, value, p->tolerance_percent / 100),
		.has_vanished = kind && kind->better && !kind->is_time && !isnan(base) &&
				isnan(value),
	};

	if (!isnan(base) || !isnan(value))
		FAB_PUSH(&o->rows, row);
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

/* Metrics, then all parts of the base, then those that only the other has. */
static void add_rows(struct compare_outcome *o, const struct compare_params *p,
		     const struct compare_pair *pair, struct fab_arena *arena)
{
	const char *command = (pair->base ? pair->base_item : pair->item)->run->command;
	struct values sides[2];

	for (size_t k = 0; k < o->runs.n_kinds; k++) {
		const struct fab_store_kind *kind = &o->runs.kinds[k];

		if (!strcmp(kind->command, command))
			add(o, p, pair, kind, NULL, kind->name,
			    metric_of(pair->base, kind->name),
			    metric_of(pair->other, kind->name));
	}
	values_init(&sides[0], arena, pair->base_item->run, pair->base);
	values_init(&sides[1], arena, pair->item->run, pair->other);
	for (size_t side = 0; side < 2; side++)
		for (size_t i = 0; i < sides[side].of.n; i++) {
			const struct value *x = &sides[side].of.v[i];
			const struct fab_store_kind *kind =
				fab_store_kind_get(&o->runs, command, x->metric);
			double there;
			uint32_t at = fab_strmap_get(sides[!side].index, x->key,
						     strlen(x->key));

			/* The value of this part, metric and occurrence; NaN: none. */
			there = at == FAB_NONE ? (double)NAN
					       : sides[!side].of.v[at].value;
			/* with --metric the others are not among the kinds */
			if ((p->metrics && !kind) || (side && !isnan(there)))
				continue;
			add(o, p, pair, kind, x->part, x->metric, side ? there : x->value,
			    side ? x->value : there);
		}
	values_fini(&sides[0]);
	values_fini(&sides[1]);
}

static void count(struct compare_outcome *o)
{
	bool has_common_part = false;

	for (size_t i = 0; i < o->rows.n; i++) {
		const struct compare_row *row = &o->rows.v[i];
		struct compare_counts *c = row->part ? &o->parts : &o->counts;

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
		o->parts.vanished = 0;
}

static void add_pair(struct compare_outcome *o, const struct compare_item *item,
		     const struct fab_store_result *base,
		     const struct fab_store_result *other)
{
	FAB_PUSH(&o->pairs, ((struct compare_pair){&o->items[0], item, base, other}));
}

/* Pairs of one name, of which the first counts when it comes twice; what only one of the
 * two items has stands alone. */
static void pair_names(struct compare_outcome *o, const struct compare_item *item)
{
	const struct compare_item *base = &o->items[0];
	const struct fab_store_result *r = item->run->results, *b = base->run->results;

	for (size_t i = 0; i < item->run->n_results; i++)
		if (find(item, r[i].algorithm) == &r[i])
			add_pair(o, item, find(base, r[i].algorithm), &r[i]);
	for (size_t i = 0; i < base->run->n_results; i++)
		if (find(base, b[i].algorithm) == &b[i] && !find(item, b[i].algorithm))
			add_pair(o, item, &b[i], NULL);
}

/* Every result of one with every result of the other. */
static void pair_all(struct compare_outcome *o, const struct compare_item *item)
{
	const struct compare_item *base = &o->items[0];
	const struct fab_store_result *r = item->run->results, *b = base->run->results;

	for (size_t i = 0; i < item->run->n_results; i++)
		for (size_t k = 0; k < base->run->n_results; k++)
			if (compare_has(item, r[i].algorithm) &&
			    compare_has(base, b[k].algorithm))
				add_pair(o, item, &b[k], &r[i]);
}

void compare_pair_up(const struct compare_params *p, struct compare_outcome *o,
		     struct fab_arena *arena)
{
	const struct compare_item *base = &o->items[0];

	for (size_t i = 1; i < o->n_items; i++) {
		const struct compare_item *item = &o->items[i];
		bool is_single = count_of(base) == 1 || count_of(item) == 1;
		bool has_name = false; /* in common */

		for (size_t k = 0; k < base->run->n_results; k++)
			has_name |= find(item, base->run->results[k].algorithm) != NULL;
		if (!base->algorithm && (!is_single || has_name))
			pair_names(o, item);
		else
			pair_all(o, item);
	}
	o->first = FAB_ARENA_NEW(arena, o->pairs.n + 1, size_t);
	for (size_t i = 0; i < o->pairs.n; i++) {
		o->first[i] = o->rows.n;
		add_rows(o, p, &o->pairs.v[i], arena);
	}
	o->first[o->pairs.n] = o->rows.n;
	count(o);
}
