/* SPDX-License-Identifier: BSD-2-Clause */
#include "unicast/load.h"

#include "base/map.h"
#include "base/num.h"
#include "fabric/resolver.h"
#include "source/scan.h"
#include "source/unpack.h"
#include "unicast/path.h"

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

/* Who sends to whom, by a file. */
struct flow_reader {
	const struct fab_fabric *f;
	struct fab_lookup lookup;
	struct fab_map64 *end_of; /* port to end */
	uint32_t *to;
};

/* The ends that an item of a line names; `ends` is the caller's to free. */
static int find_ends(const struct flow_reader *r, const struct fab_item *item,
		     struct fab_ids *ends, struct fab_err *err)
{
	int rc = fab_lookup_item(&r->lookup, item, ends, NULL, err);

	for (size_t i = 0; i < ends->of.n && !rc; i++) {
		uint32_t port = ends->of.v[i];

		ends->of.v[i] = fab_map64_get(r->end_of, port);
		if (ends->of.v[i] == FAB_NONE)
			rc = fab_fail(err, ENOENT,
				      "'%.*s' is no live host adapter: it, its switch or "
				      "its cable is dead, or it is no host's",
				      TEXT_MAX,
				      fab_node_name(r->f, r->f->port_node[port]));
	}
	return rc;
}

static int add_flows(const struct flow_reader *r, const struct fab_item pair[2],
		     struct fab_err *err)
{
	struct fab_ids ends[2] = {{{0}}, {{0}}};
	int rc = find_ends(r, &pair[0], &ends[0], err);

	if (!rc)
		rc = find_ends(r, &pair[1], &ends[1], err);
	if (!rc && ends[0].of.n != ends[1].of.n)
		rc = fab_fail(err, EINVAL,
			      "%zu sources and %zu targets: expected as many of both",
			      ends[0].of.n, ends[1].of.n);
	for (size_t i = 0; i < ends[0].of.n && !rc; i++) {
		uint32_t *to = &r->to[ends[0].of.v[i]];

		if (*to != FAB_NONE)
			rc = fab_fail(err, EINVAL, "'%.*s' sends twice",
				      pair[0].len > TEXT_MAX ? TEXT_MAX
							     : (int)pair[0].len,
				      pair[0].text);
		*to = ends[1].of.v[i];
	}
	free(ends[0].of.v);
	free(ends[1].of.v);
	return rc;
}

static int read_line(const struct flow_reader *r, const char *line, size_t len,
		     struct fab_err *err)
{
	struct fab_item pair[2];
	int rc;

	while (len && strchr(" \t\r\n", line[len - 1]))
		len--;
	while (len && strchr(" \t", *line)) {
		line++;
		len--;
	}
	if (!len || *line == '#')
		return 0;
	if (memchr(line, '\0', len))
		return fab_fail(err, EINVAL, "expected text, found a zero byte");
	rc = fab_lookup_pair(&r->lookup, &r->lookup, line, len, " \t", pair, err);
	return rc ? rc : add_flows(r, pair, err);
}

static int read_lines(const struct flow_reader *r, const struct fab_input *in,
		      const char *path, struct fab_err *err)
{
	struct fab_lines lines = {.at = in->bytes, .end = in->bytes + in->n};
	char prefix[TEXT_MAX + 40];
	struct fab_span line;

	while (fab_lines_next(&lines, &line)) {
		int rc = read_line(r, line.p, fab_span_len(&line), err);

		if (!rc)
			continue;
		snprintf(prefix, sizeof(prefix), "%.*s:%" PRIu64, TEXT_MAX, path,
			 (uint64_t)lines.line);
		fab_err_prefix(err, prefix);
		return rc;
	}
	return 0;
}

static int read_file(const char *path, const struct fab_fabric *f,
		     const struct fab_flow_ends *ends, uint32_t *to, struct fab_err *err)
{
	struct flow_reader r = {.f = f, .to = to};
	struct fab_resolver *resolver;
	struct fab_input in;
	int rc = fab_input_read(path, &in, err);

	if (rc)
		return rc;
	resolver = fab_resolver_new(f);
	r.lookup = fab_resolver_lookup(resolver, FAB_WANT_ADAPTER);
	r.lookup.match = NULL;
	r.end_of = fab_map64_new(ends->n);
	for (uint32_t i = 0; i < ends->n; i++)
		fab_map64_put(r.end_of, ends->port[i], i);
	rc = read_lines(&r, &in, path, err);
	fab_map64_free(r.end_of);
	fab_resolver_free(resolver);
	fab_input_fini(&in);
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

/* Add one flow; false when it does not arrive. */
static bool add_flow(const struct fab_routes *r, uint32_t sw, uint32_t column,
		     uint64_t *load)
{
	struct fab_path path = fab_path_from(r, sw, column);

	if (fab_path_length(r, sw, column) == FAB_NONE)
		return false;
	while (fab_path_step(&path))
		load[path.arc]++;
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
	uint32_t *column = fab_path_columns(r, ends->n, ends->sw, ends->port);
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
