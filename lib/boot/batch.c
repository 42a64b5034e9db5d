/* SPDX-License-Identifier: BSD-2-Clause */
#include "boot/batch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/num.h"
#include "boot/machine_names.h"

void fab_batch_fini(struct fab_batch *batch)
{
	if (!batch->is_borrowed)
		free(batch->node);
	free(batch->text);
	fab_matches_fini(&batch->matches);
	*batch = (struct fab_batch){0};
}

static int cmp_u32(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

void fab_batch_of(const uint32_t *nodes, uint32_t n, const char *text,
		  struct fab_batch *out)
{
	*out = (struct fab_batch){.node = FAB_NEW((size_t)n + 1, uint32_t),
				  .text = fab_strdup(text)};
	if (n)
		memcpy(out->node, nodes, n * sizeof(*nodes));
	qsort(out->node, n, sizeof(*nodes), cmp_u32);
	for (uint32_t i = 0; i < n; i++)
		if (!out->n || out->node[out->n - 1] != out->node[i])
			out->node[out->n++] = out->node[i];
}

static void range(uint32_t from, uint32_t to, const char *text, struct fab_batch *out)
{
	*out = (struct fab_batch){.n = to - from,
				  .node = FAB_NEW((size_t)(to - from) + 1, uint32_t),
				  .text = fab_strdup(text)};
	for (uint32_t i = from; i < to; i++)
		out->node[i - from] = i;
}

struct fab_batch fab_batch_all(const struct fab_machine *m)
{
	struct fab_batch all;

	range(0, m->n_nodes, "all", &all);
	return all;
}

/* End of the nodes of the first n vertices of a level that have nodes; how many there
 * are. */
static uint32_t end_of_units(const struct fab_machine *m, uint32_t level, uint64_t n,
			     uint64_t *n_units)
{
	uint32_t end = 0;

	*n_units = 0;
	for (uint32_t v = 0; v < m->n_vertices; v++)
		if (m->level_of[v] == level && m->end_node[v] > m->first_node[v] &&
		    (*n_units)++ < n)
			end = m->end_node[v];
	return end;
}

static int parse_first(const struct fab_machine *m, const char *spec,
		       struct fab_batch *out, struct fab_err *err)
{
	const char *number = spec + strlen("first:"), *colon = strchr(number, ':');
	size_t len = colon ? (size_t)(colon - number) : strlen(number);
	uint64_t n, there = m->n_nodes;
	uint32_t end, level;

	if (!fab_parse_u64(number, len, 1, UINT32_MAX, &n))
		return fab_fail(err, EINVAL,
				"'%.80s': expected first:N or first:N:UNIT, N from 1 on",
				spec);
	end = (uint32_t)n;
	if (colon) {
		level = fab_machine_find_level(m, colon + 1, strlen(colon + 1));
		if (level == FAB_NONE || m->level[level].is_server)
			return fab_fail(err, EINVAL,
					"'%.80s': the machine has no unit '%.40s'", spec,
					colon + 1);
		end = end_of_units(m, level, n, &there);
	}
	if (n > there)
		return fab_fail(err, EINVAL, "'%.80s': there are only %llu", spec,
				(unsigned long long)there);
	range(0, end, spec, out);
	return 0;
}

/* Vertices become the nodes below them. */
static void below(const struct fab_machine *m, struct fab_ids *ids)
{
	struct fab_ids nodes = {0};
	uint32_t *until = FAB_NEW0((size_t)m->n_nodes + 1, uint32_t);

	for (size_t i = 0; i < ids->of.n; i++) {
		uint32_t first = m->first_node[ids->of.v[i]];
		uint32_t end = m->end_node[ids->of.v[i]];

		if (until[first] < end)
			until[first] = end;
	}
	for (uint32_t at = 0, end = 0; at < m->n_nodes; at++) {
		end = until[at] > end ? until[at] : end;
		if (at < end)
			FAB_PUSH(&nodes.of, at);
	}
	free(until);
	free(ids->of.v);
	*ids = nodes;
}

/* The nodes of a list, which may be below units, or of the lines of a file (or NULL). */
static int parse_names(const struct fab_machine *m, const char *text, size_t len,
		       const char *file, bool of_units, struct fab_batch *out,
		       struct fab_err *err)
{
	struct fab_machine_names *names = fab_machine_names_new(m);
	const struct fab_lookup lookup = of_units ? fab_machine_unit_lookup(names)
						  : fab_machine_node_lookup(names);
	struct fab_matches matches = {.with_names = true};
	struct fab_ids ids = {0};
	int rc = file ? fab_lookup_lines(&lookup, file, text, len, &ids, &matches, err)
		      : fab_lookup_list(&lookup, text, len, &ids, &matches, err);

	if (!rc && of_units)
		below(m, &ids);
	if (!rc) {
		fab_batch_of(ids.of.v, (uint32_t)ids.of.n, file ? file : text, out);
		out->matches = matches;
	} else {
		fab_matches_fini(&matches);
	}
	free(ids.of.v);
	fab_machine_names_free(names);
	return rc;
}

int fab_batch_parse(const struct fab_machine *m, const char *spec, struct fab_batch *out,
		    struct fab_err *err)
{
	if (!strcmp(spec, "all")) {
		*out = fab_batch_all(m);
		return 0;
	}
	if (!strncmp(spec, "first:", 6))
		return parse_first(m, spec, out, err);
	if (!strncmp(spec, "unit:", 5))
		return parse_names(m, spec + 5, strlen(spec) - 5, NULL, true, out, err);
	return parse_names(m, spec, strlen(spec), NULL, false, out, err);
}

int fab_batch_read(const struct fab_machine *m, const char *file, const char *text,
		   size_t len, struct fab_batch *out, struct fab_err *err)
{
	return parse_names(m, text, len, file, false, out, err);
}
