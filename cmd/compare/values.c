/* SPDX-License-Identifier: BSD-2-Clause */
/* The numbers of a result: its metrics, and those of its parts. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "compare.h"

static void add_value(struct compare_values *v, const char *part, const char *metric,
		      double value)
{
	if (isfinite(value))
		FAB_PUSH(&v->of, ((struct compare_value){part, metric, value, 0}));
}

static void add_batch(struct compare_values *v, const struct fab_store_batch *b)
{
	add_value(v, b->name, "nodes", (double)b->nodes);
	add_value(v, b->name, "servers", (double)b->servers);
	add_value(v, b->name, "bandwidth_mbps", b->bandwidth_mbps);
	/* without one some nodes never boot: worse than any time */
	FAB_PUSH(&v->of,
		 ((struct compare_value){b->name, "boot_seconds",
					 isfinite(b->boot_seconds) ? b->boot_seconds
								   : (double)INFINITY,
					 0}));
	for (size_t i = 0; i < b->n_segments; i++) {
		const struct fab_store_segment *s = &b->segments[i];
		char *part = fab_format("%s: %s", b->name, s->name);

		FAB_PUSH(&v->names, part);
		add_value(v, part, "capacity_mbps", s->capacity_mbps);
		add_value(v, part, "max_sharers", (double)s->max_sharers);
		add_value(v, part, "share_mbps", s->share_mbps);
	}
}

/* Part, metric and which of that name; on the heap. */
static char *key_of(const struct compare_value *x, uint32_t occurrence, size_t *len)
{
	/* 1 is in no name that is ours */
	char *key = fab_format("%s\1%s\1%u", x->part, x->metric, occurrence);

	*len = strlen(key);
	return key;
}

/* Values of one name, as those of a set that is drawn twice, are told apart by order. */
static void number_values(struct compare_values *v)
{
	struct fab_strmap *count = fab_strmap_new(v->of.n);

	v->index = fab_strmap_new(v->of.n);
	for (size_t i = 0; i < v->of.n; i++) {
		struct compare_value *x = &v->of.v[i];
		uint32_t n;
		size_t len;
		char *key = key_of(x, 0, &len);

		n = fab_strmap_get(count, key, len);
		x->occurrence = n == FAB_NONE ? 0 : n;
		fab_strmap_set(count, key, len, x->occurrence + 1);
		free(key);
		key = key_of(x, x->occurrence, &len);
		fab_strmap_put(v->index, key, len, (uint32_t)i);
		free(key);
	}
	fab_strmap_free(count);
}

void compare_values_init(struct compare_values *v, const struct fab_store_run *run,
			 const struct fab_store_result *r)
{
	*v = (struct compare_values){0};
	if (!r)
		return;
	for (size_t i = 0; i < r->n_details; i++)
		add_value(v, r->details[i].part, r->details[i].name, r->details[i].value);
	for (size_t i = 0; i < run->n_batches; i++)
		if (!strcmp(run->batches[i].algorithm, r->algorithm))
			add_batch(v, &run->batches[i]);
	number_values(v);
}

double compare_values_get(const struct compare_values *v, const struct compare_value *x)
{
	uint32_t at;
	size_t len;
	char *key;

	if (!v->index)
		return NAN;
	key = key_of(x, x->occurrence, &len);
	at = fab_strmap_get(v->index, key, len);
	free(key);
	return at == FAB_NONE ? (double)NAN : v->of.v[at].value;
}

void compare_values_fini(struct compare_values *v)
{
	for (size_t i = 0; i < v->names.n; i++)
		free(v->names.v[i]);
	free(v->names.v);
	free(v->of.v);
	fab_strmap_free(v->index);
}
