/* SPDX-License-Identifier: BSD-2-Clause */
/* Series of batches: prefixes that grow, single units, subsets by chance. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/num.h"
#include "boot/batch.h"
#include "event/stream.h"

enum { MAX_RANDOM = 1000000 };
#define MAX_NODES ((uint64_t)1 << 28) /* of all batches together */

struct sweep {
	const struct fab_machine *m;
	FAB_VEC(struct fab_batch) list;
};

static void add(struct sweep *s, uint32_t from, uint32_t to, char *text)
{
	struct fab_batch b = {
		.n = to - from,
		.node = FAB_NEW((size_t)(to - from) + 1, uint32_t),
		.text = text,
	};

	for (uint32_t i = from; i < to; i++)
		b.node[i - from] = i;
	FAB_PUSH(&s->list, b);
}

/* Prefixes have their nodes in common: the last, largest one owns them. */
static void add_prefix(struct sweep *s, uint32_t end, uint64_t units, uint32_t level)
{
	FAB_PUSH(&s->list,
		 ((struct fab_batch){.n = end,
				     .text = fab_format("first:%llu:%.40s",
							(unsigned long long)units,
							s->m->level[level].unit),
				     .is_borrowed = true}));
}

static void share_nodes(struct sweep *s)
{
	struct fab_batch *last;
	uint32_t *node;

	if (!s->list.n)
		return;
	last = &s->list.v[s->list.n - 1];
	node = FAB_NEW((size_t)last->n + 1, uint32_t);
	for (uint32_t i = 0; i < last->n; i++)
		node[i] = i;
	for (size_t b = 0; b < s->list.n; b++)
		s->list.v[b].node = node;
	last->is_borrowed = false;
}

/* The next of 1, 2, 5, 10, 20 .. */
static uint64_t next_step(uint64_t n)
{
	uint64_t unit = 1;

	while (unit * 10 <= n)
		unit *= 10;
	return n < 2 * unit ? 2 * unit : n < 5 * unit ? 5 * unit : 10 * unit;
}

/* Prefixes of whole units of a level; every one, or 1, 2, 5, 10 .. and all. */
static void add_prefixes(struct sweep *s, uint32_t level, bool every)
{
	const struct fab_machine *m = s->m;
	uint64_t units = 0, want = 1;
	uint32_t end = 0;

	for (uint32_t v = 0; v < m->n_vertices; v++) {
		uint32_t last = s->list.n ? s->list.v[s->list.n - 1].n : 0;

		if (m->level_of[v] != level || m->end_node[v] == m->first_node[v])
			continue;
		units++;
		end = m->end_node[v];
		if (units < want)
			continue;
		want = every ? want + 1 : next_step(want);
		if (end > last)
			add_prefix(s, end, units, level);
	}
	if (units && end > (s->list.n ? s->list.v[s->list.n - 1].n : 0))
		add_prefix(s, end, units, level);
}

static void add_units(struct sweep *s, uint32_t level)
{
	const struct fab_machine *m = s->m;
	char name[256];

	for (uint32_t v = 0; v < m->n_vertices; v++)
		if (m->level_of[v] == level && m->end_node[v] > m->first_node[v])
			add(s, m->first_node[v], m->end_node[v],
			    fab_format("unit:%s", fab_machine_vertex_name(m, v, name,
									  sizeof(name))));
}

/* Subset `number`, which follows from the seed and the number alone; its size is as
 * likely to have 3 bits as 10. `shuffled` is 0 .. n_nodes-1 before and after. */
static void add_subset(struct sweep *s, uint32_t number, uint64_t seed,
		       uint32_t *shuffled, uint32_t *with)
{
	uint32_t n_nodes = s->m->n_nodes, size, n_bits = 1;
	struct fab_stream stream = fab_stream_of(seed, number);
	char *text = fab_format("random:%u", number + 1);
	struct fab_batch b;
	uint64_t half;

	while (n_nodes >> n_bits)
		n_bits++;
	half = (uint64_t)1 << fab_stream_below(&stream, n_bits);
	size = (uint32_t)(half + fab_stream_below(&stream, half));
	size = size > n_nodes ? n_nodes : size;
	for (uint32_t i = 0; i < size; i++) {
		uint32_t node = shuffled[i];

		with[i] = i + (uint32_t)fab_stream_below(&stream, n_nodes - i);
		shuffled[i] = shuffled[with[i]];
		shuffled[with[i]] = node;
	}
	fab_batch_of(shuffled, size, text, &b);
	FAB_PUSH(&s->list, b);
	for (uint32_t i = size; i-- > 0;) {
		uint32_t node = shuffled[i];

		shuffled[i] = shuffled[with[i]];
		shuffled[with[i]] = node;
	}
	free(text);
}

static int add_random(struct sweep *s, uint32_t n, uint64_t seed, struct fab_err *err)
{
	uint32_t n_nodes = s->m->n_nodes;
	uint32_t *shuffled = FAB_NEW((size_t)n_nodes + 1, uint32_t);
	uint32_t *with = FAB_NEW((size_t)n_nodes + 1, uint32_t);
	uint64_t total = 0;

	for (uint32_t i = 0; i < n_nodes; i++)
		shuffled[i] = i;
	for (uint32_t k = 0; k < n && total <= MAX_NODES; k++) {
		add_subset(s, k, seed, shuffled, with);
		total += s->list.v[s->list.n - 1].n;
	}
	free(shuffled);
	free(with);
	return total <= MAX_NODES
		       ? 0
		       : fab_fail(err, EINVAL,
				  "'random:%u' is more than 2^28 nodes together", n);
}

static uint32_t find_level(const struct fab_machine *m, const char *unit,
			   struct fab_err *err)
{
	uint32_t level = fab_machine_find_level(m, unit, strlen(unit));
	char units[512] = "";
	size_t at = 0;

	if (level != FAB_NONE && !m->level[level].is_server)
		return level;
	for (uint32_t i = 1; i < m->n_levels && at < sizeof(units); i++)
		if (!m->level[i].is_server)
			at += (size_t)snprintf(units + at, sizeof(units) - at, "%s%s",
					       at ? ", " : "", m->level[i].unit);
	fab_fail(err, EINVAL, "'%.80s' is no unit of the machine: it has %s", unit,
		 units);
	return FAB_NONE;
}

static int cmp_size(const void *a, const void *b)
{
	const struct fab_batch *x = a, *y = b;

	if (x->n != y->n)
		return x->n < y->n ? -1 : 1;
	/* as they were made: shorter numbers first */
	if (strlen(x->text) != strlen(y->text))
		return strlen(x->text) < strlen(y->text) ? -1 : 1;
	return strcmp(x->text, y->text);
}

static int add_by_spec(struct sweep *s, const char *spec, uint64_t seed,
		       struct fab_err *err)
{
	bool every = !strncmp(spec, "every:", 6), each = !strncmp(spec, "each:", 5);
	uint32_t level;
	uint64_t n;

	if (!strncmp(spec, "random:", 7)) {
		if (!fab_parse_u64(spec + 7, strlen(spec + 7), 1, MAX_RANDOM, &n))
			return fab_fail(err, EINVAL,
					"'%.80s': expected random:N, N from 1 to %d",
					spec, MAX_RANDOM);
		return add_random(s, (uint32_t)n, seed, err);
	}
	level = find_level(s->m, spec + (every ? 6 : each ? 5 : 0), err);
	if (level == FAB_NONE)
		return -EINVAL;
	if (each)
		add_units(s, level);
	else
		add_prefixes(s, level, every);
	return 0;
}

int fab_batch_sweep(const struct fab_machine *m, const char *spec, uint64_t seed,
		    struct fab_batch **out, uint32_t *n, struct fab_err *err)
{
	struct sweep s = {.m = m};
	int rc = 0;

	if (spec)
		rc = add_by_spec(&s, spec, seed, err);
	else
		for (uint32_t l = m->n_levels; l-- > 1;)
			if (!m->level[l].is_server)
				add_prefixes(&s, l, false);
	if (!rc && !s.list.n)
		rc = fab_fail(err, EINVAL, "'%.80s': nothing to boot", spec ? spec : "");
	if (s.list.n && s.list.v[0].is_borrowed)
		share_nodes(&s);
	else if (s.list.n)
		qsort(s.list.v, s.list.n, sizeof(*s.list.v), cmp_size);
	*out = s.list.v;
	*n = (uint32_t)s.list.n;
	if (!rc)
		return 0;
	for (uint32_t i = 0; i < *n; i++)
		fab_batch_fini(&s.list.v[i]);
	free(s.list.v);
	return rc;
}
