/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Permutations. A row of the table is a formula on the number of a host, a number of
 * steps in each dimension of a grid, or a function that makes all targets.
 */
#include "traffic/traffic.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/lookup.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/rng.h"
#include "fabric/shape.h"
#include "source/unpack.h"

enum { TEXT_MAX = 120, MAX_RANK = 1 << 16 };

enum argument { NOTHING, NUMBER, PATH };

struct permutation {
	const char *form; /* "shift:K": name, and argument if it takes one */
	const char *summary;
	const char *manual; /* see struct fab_choice */
	enum argument takes;
	bool is_of_bits; /* the number of hosts must be a power of two */
	/* Target of host i of n. */
	uint32_t (*target)(uint32_t i, uint32_t n, uint64_t by);
	bool is_of_grid;
	/* Steps in a dimension, or ring, of `size`; NULL: dimensions are exchanged. */
	uint32_t (*steps)(uint32_t size);
	/* Fill to[ends->n], initially FAB_NONE. EINVAL or ENOENT with a sentence. */
	int (*make)(const struct fab_permutation_problem *p, const char *argument,
		    uint32_t *to, struct fab_err *err);
};

static uint32_t shift(uint32_t i, uint32_t n, uint64_t by)
{
	return (uint32_t)((i + by) % n);
}

static uint32_t reverse(uint32_t i, uint32_t n, uint64_t by)
{
	(void)by;
	return n - 1 - i;
}

static uint32_t complement(uint32_t i, uint32_t n, uint64_t by)
{
	(void)by;
	return ~i & (n - 1);
}

static uint32_t reverse_bits(uint32_t i, uint32_t n, uint64_t by)
{
	uint32_t to = 0;

	(void)by;
	for (; n > 1; n >>= 1, i >>= 1)
		to = to << 1 | (i & 1);
	return to;
}

static uint32_t nearly_half(uint32_t size)
{
	return size ? (size + 1) / 2 - 1 : 0;
}

static uint32_t one(uint32_t size)
{
	return size > 1;
}

static bool is_identity(const uint32_t *to, uint32_t n)
{
	uint32_t i = 0;

	while (i < n && to[i] == i)
		i++;
	return i == n;
}

/* Each permutation with the same probability (Fisher, Yates; Durstenfeld 1964), except
 * the identity, in which no host sends. */
static int shuffle(const struct fab_permutation_problem *p, const char *argument,
		   uint32_t *to, struct fab_err *err)
{
	struct fab_rng rng;

	(void)argument;
	(void)err;
	fab_rng_init(&rng, p->seed);
	for (uint32_t i = 0; i < p->ends->n; i++)
		to[i] = i;
	do {
		for (uint32_t i = p->ends->n; i > 1; i--) {
			uint32_t j = (uint32_t)fab_rng_below(&rng, i), swap = to[i - 1];

			to[i - 1] = to[j];
			to[j] = swap;
		}
	} while (p->ends->n > 1 && is_identity(to, p->ends->n));
	return 0;
}

/* Number of each end among those of its switch, which follow each other. */
static uint32_t *rank_ends(const struct fab_flow_ends *ends)
{
	uint32_t *rank = FAB_NEW((size_t)ends->n + 1, uint32_t);

	for (uint32_t i = 0; i < ends->n; i++)
		rank[i] = i && ends->sw[i] == ends->sw[i - 1] ? rank[i - 1] + 1 : 0;
	return rank;
}

/* Place of end `rank` of the switch by[d] further on in each dimension d, or with the
 * two dimensions exchanged, as one number; false: the switch has no place, or too many
 * ends. */
static bool place_of(const struct fab_shape *s, uint32_t sw, uint32_t rank,
		     const uint32_t *by, bool is_exchanged, uint64_t *place)
{
	const uint32_t *at = s->coords + (size_t)sw * s->n_dims;

	*place = 0;
	for (uint32_t d = 0; d < s->n_dims; d++) {
		if (at[d] == FAB_NONE)
			return false;
		*place = *place * s->dims[d] +
			 ((uint64_t)at[is_exchanged ? 1 - d : d] + by[d]) % s->dims[d];
	}
	*place = *place * MAX_RANK + rank;
	return rank < MAX_RANK;
}

/* To the end of the same rank on another switch of a grid: some steps further on in each
 * dimension, or (`steps` NULL) of exchanged dimensions. Hosts of a fabric without a grid
 * are one ring. */
static int move(const struct fab_permutation_problem *p, uint32_t (*steps)(uint32_t size),
		uint32_t *to, struct fab_err *err)
{
	static const uint32_t nowhere[FAB_SHAPE_DIMS_MAX];
	FAB_AUTO(fab_shape_free_at) struct fab_shape *s = fab_shape_recognize(p->f);
	const struct fab_flow_ends *ends = p->ends;
	bool is_kfat = s->kind == FAB_SHAPE_KFAT;
	uint32_t by[FAB_SHAPE_DIMS_MAX] = {0};
	FAB_AUTOFREE uint32_t *rank = NULL;
	FAB_AUTO(fab_map64_free_at) struct fab_map64 *end_at = NULL;
	uint64_t place;

	if (!steps &&
	    !(p->kfat && is_kfat && s->n_dims == 2 && s->dims[0] == s->dims[1])) {
		return fab_fail(
			err, EINVAL,
			"permutation transpose needs a kfat of two equal dimensions");
	}
	if (s->kind != FAB_SHAPE_TORUS && s->kind != FAB_SHAPE_MESH &&
	    s->kind != FAB_SHAPE_HYPERX && !is_kfat) {
		for (uint32_t i = 0; i < ends->n; i++)
			to[i] = shift(i, ends->n, steps(ends->n));
		return 0;
	}
	end_at = fab_map64_new(ends->n);
	rank = rank_ends(ends);
	for (uint32_t d = 0; d < s->n_dims && steps; d++)
		by[d] = steps(s->dims[d]);
	for (uint32_t i = 0; i < ends->n; i++)
		if (place_of(s, ends->sw[i], rank[i], nowhere, false, &place))
			fab_map64_put(end_at, place, i);
	for (uint32_t i = 0; i < ends->n; i++)
		if (place_of(s, ends->sw[i], rank[i], by, !steps, &place))
			to[i] = fab_map64_get(end_at, place);
	return 0;
}

struct flow_reader {
	struct fab_end_names names;
	uint32_t *to;
	bool has_flows;
};

/* A line SOURCE TARGET of a file: two lists of the same length. */
static int read_line(void *context, struct fab_item line, struct fab_err *err)
{
	struct flow_reader *r = context;
	struct fab_ids ends[2] = {{{0}}, {{0}}};
	struct fab_item pair[2];
	int rc = fab_list_pair(line.text, line.len, " \t", pair, err);

	r->has_flows = true;
	for (size_t k = 0; k < 2 && !rc; k++)
		rc = fab_end_names_find(&r->names, &pair[k], &ends[k], err);
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

static int read_file(const struct fab_permutation_problem *p, const char *path,
		     uint32_t *to, struct fab_err *err)
{
	struct flow_reader r = {.to = to};
	FAB_AUTO(fab_input_fini) struct fab_input in = {0};
	int rc = fab_input_read(path, &in, err);

	if (rc)
		return rc;
	fab_end_names_init(&r.names, p->f, p->ends);
	rc = fab_list_lines(path, in.bytes, in.n, read_line, &r, err);
	/* an empty permutation is more likely a mistake */
	if (!rc && !r.has_flows)
		rc = fab_fail(
			err, EINVAL,
			"%s: no flow in it: expected lines SOURCE TARGET (of a pipe nothing is left when it was read before)",
			path);
	fab_end_names_fini(&r.names);
	return rc;
}

static const struct permutation rows[] = {
	{.form = "shift:K",
	 .summary = "to the host K further on, around",
	 .manual = "Each host sends to the one K further on, around.",
	 .takes = NUMBER,
	 .target = shift},
	{.form = "reverse",
	 .summary = "first to last",
	 .manual = "The first sends to the last, the second to the last but one.",
	 .target = reverse},
	{.form = "random",
	 .summary = "random",
	 .manual =
		 "Each permutation with the same probability, except that in which no host sends, by `--seed`.",
	 .make = shuffle},
	{.form = "transpose",
	 .summary = "kfat of two equal dimensions: leaf x.y to leaf y.x",
	 .manual = "Hosts of leaf x.y of a square kfat send to those of y.x.",
	 .is_of_grid = true},
	{.form = "tornado",
	 .summary = "nearly half around in every dimension",
	 .manual =
		 "On a torus, mesh, hyperx or kfat to the host of the same number on the switch ceil(k/2) - 1 further on, around, in every dimension of size k (elsewhere all hosts are one ring). Without such a host nothing is sent.",
	 .is_of_grid = true,
	 .steps = nearly_half},
	{.form = "neighbour",
	 .summary = "one further on in every dimension",
	 .manual = "The same, one further on in every dimension.",
	 .is_of_grid = true,
	 .steps = one},
	{.form = "bitcomp",
	 .summary = "all bits of the number turned over",
	 .manual =
		 "To the host whose number has every bit the other way; needs a power of two of hosts, as `bitrev` does.",
	 .is_of_bits = true,
	 .target = complement},
	{.form = "bitrev",
	 .summary = "the bits of the number in reverse order",
	 .manual = "To the host whose number has the bits in reverse order.",
	 .is_of_bits = true,
	 .target = reverse_bits},
	{.form = "file:PATH",
	 .summary = "lines SOURCE TARGET of a file",
	 .manual = "Lines `SOURCE TARGET` of a file, see `fabric-formats`(5).",
	 .takes = PATH,
	 .make = read_file},
};

FAB_CHOICES_OF(fab_permutation_choices, "permutation", FAB_COUNT(rows), rows[i], form);

/* The row of a spec, its argument ("" without one) and the number that this is. */
static int find(const char *spec, const struct permutation **row, const char **argument,
		uint64_t *number, struct fab_err *err)
{
	size_t len = fab_choice_name_len(spec);
	uint32_t i = fab_choices_find(&fab_permutation_choices, spec, len);
	FAB_AUTOFREE char *forms = NULL;

	*argument = spec[len] ? spec + len + 1 : "";
	*row = i == FAB_NONE ? NULL : &rows[i];
	*number = 0;
	if (*row && ((*row)->takes == NOTHING ? !spec[len]
		     : (*row)->takes == PATH  ? **argument != '\0'
					     : fab_parse_u64(*argument, strlen(*argument),
							     0, UINT32_MAX, number)))
		return 0;
	forms = fab_choices_text(&fab_permutation_choices, "or");
	return fab_fail(err, EINVAL, "'%s' is unknown: expected %s", spec, forms);
}

int fab_permutation_check(const char *spec, struct fab_err *err)
{
	const struct permutation *row;
	const char *argument;
	uint64_t number;

	return find(spec, &row, &argument, &number, err);
}

int fab_permutation_make(const char *spec, const struct fab_permutation_problem *problem,
			 uint32_t **out, struct fab_err *err)
{
	uint32_t n = problem->ends->n, *to;
	const struct permutation *row;
	const char *argument;
	uint64_t number;
	int rc = find(spec, &row, &argument, &number, err);

	if (rc)
		return rc;
	if (row->is_of_bits && (!n || n & (n - 1)))
		return fab_fail(
			err, EINVAL,
			"permutation %s needs a power of two of live hosts, there are %u",
			row->form, n);
	to = fab_none_new((size_t)n + 1);
	for (uint32_t i = 0; i < n && row->target; i++)
		to[i] = row->target(i, n, number);
	if (row->is_of_grid)
		rc = move(problem, row->steps, to, err);
	if (row->make)
		rc = row->make(problem, argument, to, err);
	if (rc)
		free(to);
	else
		*out = to;
	return rc;
}
