/* SPDX-License-Identifier: BSD-2-Clause */
#include "boot/batch.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/text.h"

struct node_list {
	uint32_t *v;
	size_t n, cap;
};

void fab_batch_fini(struct fab_batch *batch)
{
	if (!batch->is_borrowed)
		free(batch->node);
	free(batch->text);
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

static void add_matching(const struct fab_machine *m, const char *pattern, uint32_t *node,
			 uint32_t *n)
{
	char name[256];

	for (uint32_t i = 0; i < m->n_nodes; i++)
		if (fab_text_glob(pattern,
				  fab_machine_node_name(m, i, name, sizeof(name))))
			node[(*n)++] = i;
}

static int parse_unit(const struct fab_machine *m, const char *name,
		      struct fab_batch *out, struct fab_err *err)
{
	uint32_t count[FAB_MACHINE_LEVELS_MAX] = {0};
	char text[256];

	for (uint32_t v = 0; v < m->n_vertices; v++) {
		const char *own = m->name[v] == FAB_NONE ? text : m->names + m->name[v];
		uint8_t l = m->level_of[v];

		if (m->name[v] == FAB_NONE)
			snprintf(text, sizeof(text), "%s%u", m->level[l].unit, count[l]);
		count[l]++;
		if (!strcmp(own, name) && m->end_node[v] > m->first_node[v]) {
			range(m->first_node[v], m->end_node[v], name, out);
			return 0;
		}
	}
	return fab_fail(err, EINVAL, "the machine has no unit '%.80s' with nodes", name);
}

int fab_batch_parse(const struct fab_machine *m, const char *spec, struct fab_batch *out,
		    struct fab_err *err)
{
	uint32_t *node, n = 0;

	if (!strcmp(spec, "all")) {
		range(0, m->n_nodes, spec, out);
		return 0;
	}
	if (!strncmp(spec, "first:", 6))
		return parse_first(m, spec, out, err);
	if (!strncmp(spec, "unit:", 5))
		return parse_unit(m, spec + 5, out, err);
	node = FAB_NEW((size_t)m->n_nodes + 1, uint32_t);
	add_matching(m, spec, node, &n);
	if (n)
		fab_batch_of(node, n, spec, out);
	free(node);
	return n ? 0 : fab_fail(err, EINVAL, "no node is called '%.100s'", spec);
}

/* A line without comment and blanks at its ends; false: too long, or has a NUL byte. */
static bool take_line(const char *line, size_t len, char word[256])
{
	const char *hash = memchr(line, '#', len);
	size_t n = hash ? (size_t)(hash - line) : len;

	while (n && strchr(" \t\r", line[n - 1]))
		n--;
	while (n && strchr(" \t\r", *line)) {
		line++;
		n--;
	}
	if (n > 255 || memchr(line, 0, n))
		return false;
	memcpy(word, line, n);
	word[n] = 0;
	return true;
}

/* Nodes of one line to the end of *all. */
static int read_word(const struct fab_machine *m, const struct fab_strmap *names,
		     const char *word, uint32_t *scratch, struct node_list *all,
		     struct fab_err *err)
{
	uint32_t found = 0, one = fab_strmap_get(names, word, strlen(word));

	if (one != FAB_NONE)
		scratch[found++] = one;
	else
		add_matching(m, word, scratch, &found);
	if (!found)
		return fab_fail(err, EINVAL, "no node is called '%.80s'", word);
	/* many patterns may match the same: the sum is bounded */
	if (all->n + found > ((size_t)1 << 28))
		return fab_fail(err, EINVAL, "too many patterns");
	for (uint32_t i = 0; i < found; i++)
		FAB_PUSH(all, scratch[i]);
	return 0;
}

int fab_batch_read(const struct fab_machine *m, const char *file, const char *text,
		   size_t len, struct fab_batch *out, struct fab_err *err)
{
	struct fab_strmap *names = fab_strmap_new(m->n_nodes);
	uint32_t *scratch = FAB_NEW((size_t)m->n_nodes + 1, uint32_t);
	struct node_list all = {0};
	char word[256];
	uint64_t line = 0;
	int rc = 0;

	for (uint32_t i = 0; i < m->n_nodes; i++) {
		fab_machine_node_name(m, i, word, sizeof(word));
		fab_strmap_put(names, word, strlen(word), i);
	}
	for (const char *at = text, *end = text + len; at < end && !rc;) {
		const char *stop = memchr(at, '\n', (size_t)(end - at));
		size_t n = (size_t)((stop ? stop : end) - at);
		char where[300];

		line++;
		snprintf(where, sizeof(where), "%.250s:%llu", file,
			 (unsigned long long)line);
		if (!take_line(at, n, word))
			rc = fab_fail(err, EINVAL,
				      "%s: expected a name or a pattern of up to 255 "
				      "characters",
				      where);
		else if (*word) {
			rc = read_word(m, names, word, scratch, &all, err);
			if (rc)
				fab_err_prefix(err, where);
		}
		at += n + 1;
	}
	if (!rc && !all.n)
		rc = fab_fail(err, EINVAL, "%s: no node is named in it", file);
	if (!rc)
		fab_batch_of(all.v, (uint32_t)all.n, file, out);
	free(all.v);
	free(scratch);
	fab_strmap_free(names);
	return rc;
}
