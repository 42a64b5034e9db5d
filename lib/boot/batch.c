/* SPDX-License-Identifier: BSD-2-Clause */
/* Batches: nodes that boot together, and series of them. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/num.h"
#include "base/order.h"
#include "boot/batch.h"
#include "boot/machine.h"
#include "event/stream.h"

void fab_batch_fini(struct fab_batch *batch)
{
	if (!batch->is_borrowed)
		free(batch->node);
	free(batch->text);
	fab_matches_fini(&batch->matches);
	*batch = (struct fab_batch){0};
}

void fab_batch_of(const uint32_t *nodes, uint32_t n, const char *text,
		  struct fab_batch *out)
{
	*out = (struct fab_batch){.node = FAB_NEW((size_t)n + 1, uint32_t),
				  .text = fab_strdup(text)};
	if (n)
		memcpy(out->node, nodes, n * sizeof(*nodes));
	qsort(out->node, n, sizeof(*nodes), fab_cmp_u32);
	for (uint32_t i = 0; i < n; i++)
		if (!out->n || out->node[out->n - 1] != out->node[i])
			out->node[out->n++] = out->node[i];
}

/* Consecutive nodes; takes the text over. */
static struct fab_batch range(uint32_t from, uint32_t to, char *text)
{
	struct fab_batch b = {.n = to - from,
			      .node = FAB_NEW((size_t)(to - from) + 1, uint32_t),
			      .text = text};

	for (uint32_t i = from; i < to; i++)
		b.node[i - from] = i;
	return b;
}

struct fab_batch fab_batch_all(const struct fab_machine *m)
{
	return range(0, m->n_nodes, fab_strdup("all"));
}

/* Is the vertex a unit of the level, with nodes? */
static bool is_unit(const struct fab_machine *m, uint32_t v, uint32_t level)
{
	return m->level_of[v] == level && m->end_node[v] > m->first_node[v];
}

/* The nodes of a list, which may be below units, or of the lines of a file (or NULL). */
static int parse_names(const struct fab_machine *m, const char *text, size_t len,
		       const char *file, bool of_units, struct fab_batch *out,
		       struct fab_err *err)
{
	FAB_AUTO(fab_machine_names_free_at)
	struct fab_machine_names *names = fab_machine_names_new(m);
	const struct fab_lookup lookup = fab_machine_lookup(
		names, of_units ? FAB_MACHINE_UNITS : FAB_MACHINE_NODES);
	struct fab_matches matches = {.with_names = true};
	struct fab_ids ids = {0};
	int rc = file ? fab_lookup_lines(&lookup, file, text, len, &ids, &matches, err)
		      : fab_lookup_list(&lookup, text, len, &ids, &matches, err);

	if (!rc && of_units) { /* vertices become the nodes below them */
		struct fab_ids nodes = {0};

		for (size_t i = 0; i < ids.of.n; i++)
			for (uint32_t node = m->first_node[ids.of.v[i]];
			     node < m->end_node[ids.of.v[i]]; node++)
				FAB_PUSH(&nodes.of, node);
		free(ids.of.v);
		ids = nodes;
	}
	if (!rc) {
		fab_batch_of(ids.of.v, (uint32_t)ids.of.n, file ? file : text, out);
		out->matches = matches;
	} else {
		fab_matches_fini(&matches);
	}
	free(ids.of.v);
	return rc;
}

int fab_batch_parse(const struct fab_machine *m, const char *spec, struct fab_batch *out,
		    struct fab_err *err)
{
	if (!strcmp(spec, "all")) {
		*out = fab_batch_all(m);
		return 0;
	}
	if (!strncmp(spec, "first:", 6)) {
		const char *number = spec + strlen("first:"),
			   *colon = strchr(number, ':');
		size_t len = colon ? (size_t)(colon - number) : strlen(number);
		uint64_t n, there = m->n_nodes;
		uint32_t end, level;

		if (!fab_parse_u64(number, len, 1, UINT32_MAX, &n))
			return fab_fail(
				err, EINVAL,
				"'%.80s': expected first:N or first:N:UNIT, N from 1 on",
				spec);
		end = (uint32_t)n;
		if (colon) {
			level = fab_machine_find_level(m, colon + 1, strlen(colon + 1));
			if (level == FAB_NONE || m->level[level].is_server)
				return fab_fail(
					err, EINVAL,
					"'%.80s': the machine has no unit '%.40s'", spec,
					colon + 1);
			there = 0;
			for (uint32_t v = 0; v < m->n_vertices; v++)
				if (is_unit(m, v, level) && there++ < n)
					end = m->end_node[v];
		}
		if (n > there)
			return fab_fail(err, EINVAL, "'%.80s': there are only %llu", spec,
					(unsigned long long)there);
		*out = range(0, end, fab_strdup(spec));
		return 0;
	}
	if (!strncmp(spec, "unit:", 5))
		return parse_names(m, spec + 5, strlen(spec) - 5, NULL, true, out, err);
	return parse_names(m, spec, strlen(spec), NULL, false, out, err);
}

int fab_batch_read(const struct fab_machine *m, const char *file, const char *text,
		   size_t len, struct fab_batch *out, struct fab_err *err)
{
	return parse_names(m, text, len, file, false, out, err);
}

/* ---- series ---- */

enum { MAX_RANDOM = 1000000 };
#define MAX_NODES ((uint64_t)1 << 28) /* of all batches together */

struct sweep {
	const struct fab_machine *m;
	FAB_VEC(struct fab_batch) list;
};

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

/* Prefixes of whole units of a level; every one, or 1, 2, 5, 10, 20 .. and all. */
static void add_prefixes(struct sweep *s, uint32_t level, bool every)
{
	const struct fab_machine *m = s->m;
	uint64_t units = 0, want = 1, ten = 1;
	uint32_t end = 0;

	for (uint32_t v = 0; v < m->n_vertices; v++) {
		uint32_t last = s->list.n ? s->list.v[s->list.n - 1].n : 0;

		if (!is_unit(m, v, level))
			continue;
		units++;
		end = m->end_node[v];
		if (units < want)
			continue;
		if (every)
			want++;
		else
			want = want < 2 * ten	? 2 * ten
			       : want < 5 * ten ? 5 * ten
						: (ten *= 10);
		if (end > last)
			add_prefix(s, end, units, level);
	}
	if (units && end > (s->list.n ? s->list.v[s->list.n - 1].n : 0))
		add_prefix(s, end, units, level);
}

/* Subset `number`, which follows from the seed and the number alone; its size is as
 * likely to have 3 bits as 10. `shuffled` is 0 .. n_nodes-1 before and after. */
static void add_subset(struct sweep *s, uint32_t number, uint64_t seed,
		       uint32_t *shuffled, uint32_t *with)
{
	uint32_t n_nodes = s->m->n_nodes, size, n_bits = 1;
	struct fab_stream stream = fab_stream_of(seed, number);
	FAB_AUTOFREE char *text = fab_format("random:%u", number + 1);
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
}

static int cmp_size(const void *a, const void *b)
{
	const struct fab_batch *x = a, *y = b;

	FAB_ORDER_BY(x, y, n);
	/* in the order of their making: shorter numbers first */
	if (strlen(x->text) != strlen(y->text))
		return strlen(x->text) < strlen(y->text) ? -1 : 1;
	return strcmp(x->text, y->text);
}

/* The level of UNIT in a spec. */
static int find_level(const struct fab_machine *m, const char *unit, uint32_t *level,
		      struct fab_err *err)
{
	char units[512] = "";
	size_t at = 0;

	*level = fab_machine_find_level(m, unit, strlen(unit));
	if (*level != FAB_NONE && !m->level[*level].is_server)
		return 0;
	for (uint32_t i = 1; i < m->n_levels && at < sizeof(units); i++)
		if (!m->level[i].is_server)
			at += (size_t)snprintf(units + at, sizeof(units) - at, "%s%s",
					       at ? ", " : "", m->level[i].unit);
	return fab_fail(err, EINVAL, "'%.80s' is no unit of the machine: it has %s", unit,
			units);
}

int fab_batch_sweep(const struct fab_machine *m, const char *spec, uint64_t seed,
		    struct fab_batch **out, uint32_t *n, struct fab_err *err)
{
	bool every = spec && !strncmp(spec, "every:", 6);
	bool each = spec && !strncmp(spec, "each:", 5);
	uint64_t n_random, total = 0;
	struct sweep s = {.m = m};
	char name[FAB_MACHINE_NAME_BYTES];
	uint32_t level;
	int rc = 0;

	if (!spec) {
		for (uint32_t l = m->n_levels; l-- > 1;)
			if (!m->level[l].is_server)
				add_prefixes(&s, l, false);
	} else if (!strncmp(spec, "random:", 7)) {
		FAB_AUTOFREE uint32_t *shuffled =
			FAB_NEW((size_t)m->n_nodes + 1, uint32_t);
		FAB_AUTOFREE uint32_t *with = FAB_NEW((size_t)m->n_nodes + 1, uint32_t);

		for (uint32_t i = 0; i < m->n_nodes; i++)
			shuffled[i] = i;
		if (!fab_parse_u64(spec + 7, strlen(spec + 7), 1, MAX_RANDOM, &n_random))
			rc = fab_fail(err, EINVAL,
				      "'%.80s': expected random:N, N from 1 to %d", spec,
				      MAX_RANDOM);
		for (uint32_t k = 0; !rc && k < n_random; k++) {
			add_subset(&s, k, seed, shuffled, with);
			total += s.list.v[s.list.n - 1].n;
			if (total > MAX_NODES)
				rc = fab_fail(
					err, EINVAL,
					"'random:%u' is more than 2^28 nodes together",
					(uint32_t)n_random);
		}
	} else {
		rc = find_level(m, spec + (every ? 6 : each ? 5 : 0), &level, err);
		if (!rc && !each)
			add_prefixes(&s, level, every);
		for (uint32_t v = 0; v < m->n_vertices && each && !rc; v++)
			if (is_unit(m, v, level))
				FAB_PUSH(&s.list,
					 range(m->first_node[v], m->end_node[v],
					       fab_format("unit:%s",
							  fab_machine_vertex_name(
								  m, v, name))));
	}
	if (!rc && !s.list.n)
		rc = fab_fail(err, EINVAL, "'%.80s': nothing to boot", spec ? spec : "");
	if (s.list.n && s.list.v[0].is_borrowed) {
		struct fab_batch *last = &s.list.v[s.list.n - 1];
		struct fab_batch nodes = range(0, last->n, NULL);

		for (size_t b = 0; b < s.list.n; b++)
			s.list.v[b].node = nodes.node;
		last->is_borrowed = false;
	} else if (s.list.n) {
		qsort(s.list.v, s.list.n, sizeof(*s.list.v), cmp_size);
	}
	*out = s.list.v;
	*n = (uint32_t)s.list.n;
	if (!rc)
		return 0;
	for (uint32_t i = 0; i < *n; i++)
		fab_batch_fini(&s.list.v[i]);
	free(s.list.v);
	return rc;
}
