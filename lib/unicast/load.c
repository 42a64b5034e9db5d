/* SPDX-License-Identifier: BSD-2-Clause */
#include "unicast/load.h"

#include "base/map.h"
#include "base/num.h"
#include "unicast/service_levels.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_MAX = 120 };

void fab_flow_ends_init(struct fab_flow_ends *ends, const struct fab_fabric *f,
			const struct fab_faults *faults)
{
	ends->n = 0;
	ends->port = FAB_NEW(f->n_ports + 1, uint32_t);
	ends->sw = FAB_NEW(f->n_ports + 1, uint32_t);
	for (uint32_t p = f->node_first_port[f->n_switches]; p < f->n_ports; p++) {
		uint32_t sw = fab_port_switch(f, p);

		if (f->node_kind[f->port_node[p]] != FAB_ADAPTER || sw == FAB_NONE ||
		    (faults && (faults->switch_is_dead[sw] ||
				faults->cable_is_dead[f->port_cable[p]])))
			continue;
		ends->port[ends->n] = p;
		ends->sw[ends->n++] = sw;
	}
}

void fab_flow_ends_fini(struct fab_flow_ends *ends)
{
	free(ends->port);
	free(ends->sw);
}

static bool parse_shift(const char *spec, uint64_t *by)
{
	return !strncmp(spec, "shift:", 6) &&
	       fab_parse_u64(spec + 6, strlen(spec + 6), 0, UINT32_MAX, by);
}

bool fab_permutation_is_known(const char *spec)
{
	uint64_t by;

	return parse_shift(spec, &by) || !strcmp(spec, "reverse") ||
	       !strcmp(spec, "random") || !strcmp(spec, "transpose") ||
	       (!strncmp(spec, "file:", 5) && spec[5]);
}

static void shuffle(uint32_t *to, uint32_t n, uint64_t seed)
{
	struct fab_rng rng;

	fab_rng_init(&rng, seed);
	for (uint32_t i = 0; i < n; i++)
		to[i] = i;
	for (uint32_t i = n; i > 1; i--) {
		uint32_t j = (uint32_t)fab_rng_below(&rng, i), swap = to[i - 1];

		to[i - 1] = to[j];
		to[j] = swap;
	}
}

/* The host of leaf y.x that stands where this one stands among those of x.y. */
static int transpose(const struct fab_kfat *k, const struct fab_flow_ends *ends,
		     uint32_t *to, struct fab_err *err)
{
	struct fab_map64 *at;
	uint32_t rank = 0;

	if (!k || k->n_dims != 2 || k->dims[0] != k->dims[1])
		return fab_fail(err, EINVAL,
				"permutation transpose needs a kfat of two equal "
				"dimensions");
	at = fab_map64_new(ends->n);
	for (int pass = 0; pass < 2; pass++)
		for (uint32_t i = 0; i < ends->n; i++) {
			uint32_t leaf = k->leaf_of[ends->sw[i]];
			uint64_t x, y, key;

			rank = i && ends->sw[i] == ends->sw[i - 1] ? rank + 1 : 0;
			if (leaf == FAB_NONE)
				continue;
			x = k->coord[(size_t)leaf * 2 + (pass == 1)];
			y = k->coord[(size_t)leaf * 2 + (pass == 0)];
			key = (x * k->dims[0] + y) << 16 | (rank & 0xffff);
			if (pass)
				to[i] = fab_map64_get(at, key);
			else
				fab_map64_put(at, key, i);
		}
	fab_map64_free(at);
	return 0;
}

/* A word of a line as an end: by the adapter's name or a GUID. */
static uint32_t find_end(const struct fab_strmap *names, const struct fab_map64 *guids,
			 const char *word, size_t len)
{
	uint32_t i = fab_strmap_get(names, word, len);
	uint64_t guid;

	if (i == FAB_NONE && fab_parse_guid(word, len, &guid))
		i = fab_map64_get(guids, guid);
	return i;
}

static int read_line(char *line, const struct fab_strmap *names,
		     const struct fab_map64 *guids, uint32_t *to, struct fab_err *err)
{
	char *from = line + strspn(line, " \t"), *target, *rest;
	uint32_t i, j;
	size_t len = strcspn(from, " \t\r\n"), target_len;

	if (!len || *from == '#')
		return 0;
	target = from + len + strspn(from + len, " \t");
	target_len = strcspn(target, " \t\r\n");
	rest = target + target_len + strspn(target + target_len, " \t\r\n");
	if (!target_len || *rest)
		return fab_fail(err, EINVAL, "expected SOURCE TARGET");
	i = find_end(names, guids, from, len);
	j = find_end(names, guids, target, target_len);
	if (i == FAB_NONE || j == FAB_NONE)
		return fab_fail(err, ENOENT, "no live host adapter is '%.*s'", TEXT_MAX,
				i == FAB_NONE ? from : target);
	if (to[i] != FAB_NONE)
		return fab_fail(err, EINVAL, "'%.*s' sends twice", TEXT_MAX, from);
	to[i] = j;
	return 0;
}

static int read_file(const char *path, const struct fab_fabric *f,
		     const struct fab_flow_ends *ends, uint32_t *to, struct fab_err *err)
{
	FILE *file = fopen(path, "re");
	struct fab_strmap *names;
	struct fab_map64 *guids;
	char *line = NULL, prefix[TEXT_MAX + 40];
	size_t cap = 0;
	int rc = 0;

	if (!file)
		return fab_fail(err, errno, "%s: cannot open: %s", path, strerror(errno));
	names = fab_strmap_new(ends->n);
	guids = fab_map64_new(ends->n);
	for (uint32_t i = 0; i < ends->n; i++) {
		uint32_t node = f->port_node[ends->port[i]];
		const char *name = fab_node_name(f, node);

		fab_strmap_put(names, name, strlen(name), i);
		fab_map64_put(guids, f->node_guid[node], i);
		fab_map64_put(guids, f->port_guid[ends->port[i]], i);
	}
	for (uint64_t number = 1; !rc && getline(&line, &cap, file) >= 0; number++) {
		rc = read_line(line, names, guids, to, err);
		if (!rc)
			continue;
		snprintf(prefix, sizeof(prefix), "%.*s:%" PRIu64, TEXT_MAX, path, number);
		fab_err_prefix(err, prefix);
	}
	if (!rc && ferror(file))
		rc = fab_fail(err, EIO, "%s: cannot read", path);
	fab_strmap_free(names);
	fab_map64_free(guids);
	free(line);
	fclose(file);
	return rc;
}

int fab_permutation(const char *spec, const struct fab_kfat *kfat,
		    const struct fab_fabric *f, const struct fab_flow_ends *ends,
		    uint64_t seed, uint32_t **out, struct fab_err *err)
{
	uint32_t *to = FAB_NEW(ends->n + 1, uint32_t);
	uint64_t by;
	int rc = 0;

	memset(to, 0xff, ends->n * sizeof(*to));
	if (parse_shift(spec, &by))
		for (uint32_t i = 0; i < ends->n; i++)
			to[i] = (uint32_t)((i + by) % ends->n);
	else if (!strcmp(spec, "reverse"))
		for (uint32_t i = 0; i < ends->n; i++)
			to[i] = ends->n - 1 - i;
	else if (!strcmp(spec, "random"))
		shuffle(to, ends->n, seed);
	else if (!strcmp(spec, "transpose"))
		rc = transpose(kfat, ends, to, err);
	else if (!strncmp(spec, "file:", 5))
		rc = read_file(spec + 5, f, ends, to, err);
	else
		rc = fab_fail(
			err, EINVAL,
			"'%s' is no permutation: expected shift:K, reverse, random, "
			"transpose or file:PATH",
			spec);
	if (rc)
		free(to);
	else
		*out = to;
	return rc;
}

/* The column that leads to an end. */
static uint32_t *columns_of(const struct fab_routes *r, const struct fab_flow_ends *ends)
{
	uint32_t n = r->column_port ? r->f->n_ports : r->f->n_switches;
	uint32_t *by = FAB_NEW(n + 1, uint32_t);
	uint32_t *column = FAB_NEW(ends->n + 1, uint32_t);

	memset(by, 0xff, n * sizeof(*by));
	for (uint32_t i = r->n_columns; i-- > 0;)
		by[r->column_port ? r->column_port[i] : r->column_switch[i]] = i;
	for (uint32_t i = 0; i < ends->n; i++)
		column[i] = by[r->column_port ? ends->port[i] : ends->sw[i]];
	free(by);
	return column;
}

/* Add one flow; false when it does not arrive. */
static bool add_flow(const struct fab_routes *r, uint32_t sw, uint32_t column,
		     uint64_t *load)
{
	const struct fab_fabric *f = r->f;
	const uint16_t *next = fab_routes_next(r, column);
	uint32_t from = sw, hops = 0;

	for (; next[sw] < FAB_ARC_BROKEN && hops <= f->n_switches; hops++)
		sw = f->arc_peer[f->arc_first[sw] + next[sw]];
	if (next[sw] != FAB_ARC_HERE)
		return false;
	for (sw = from; next[sw] < FAB_ARC_BROKEN;) {
		uint32_t arc = f->arc_first[sw] + next[sw];

		load[arc]++;
		sw = f->arc_peer[arc];
	}
	return true;
}

static void sum_up(const struct fab_routes *r, const uint64_t *load,
		   struct fab_flow_load *out)
{
	const struct fab_fabric *f = r->f;
	uint64_t n = 0, sum = 0;

	for (uint32_t a = 0; a < f->arc_first[f->n_switches]; a++) {
		if (r->faults && r->faults->cable_is_dead[f->arc_cable[a]])
			continue;
		n++;
		sum += load[a];
		if (load[a] > out->max)
			out->max = load[a];
	}
	out->mean = n ? (double)sum / (double)n : 0;
}

/* Does the pair have a service level at all? */
static bool has_level(const struct fab_routes *r, const uint32_t *row, uint32_t sw,
		      uint32_t column)
{
	return !r->sl || row[sw] == FAB_NONE ||
	       r->sl[(size_t)row[sw] * r->n_columns + column] != FAB_SL_NONE;
}

void fab_permutation_load(const struct fab_routes *r, const struct fab_flow_ends *ends,
			  const uint32_t *to, struct fab_flow_load *out)
{
	const struct fab_fabric *f = r->f;
	uint64_t *load = FAB_NEW0(f->arc_first[f->n_switches] + 1, uint64_t);
	uint32_t *column = columns_of(r, ends);
	uint32_t *row = FAB_NEW(f->n_nodes + 1, uint32_t);

	*out = (struct fab_flow_load){0};
	memset(row, 0xff, f->n_nodes * sizeof(*row));
	for (uint32_t i = 0; r->sl && i < r->n_sl_sources; i++)
		row[r->sl_source[i]] = i;
	for (uint32_t i = 0; i < ends->n; i++) {
		if (to[i] == FAB_NONE || to[i] == i)
			continue;
		out->flows++;
		if (column[to[i]] == FAB_NONE ||
		    !has_level(r, row, ends->sw[i], column[to[i]]) ||
		    !add_flow(r, ends->sw[i], column[to[i]], load))
			out->lost++;
	}
	sum_up(r, load, out);
	free(load);
	free(column);
	free(row);
}
