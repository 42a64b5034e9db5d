/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Group patterns. A kind has a table of parameters and makes groups of process numbers;
 * process i is on endpoint i / ppn in the order of the pattern (struct seating).
 */
#include "traffic/pattern.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/num.h"
#include "base/order.h"
#include "base/rng.h"
#include "base/text.h"
#include "fabric/resolver.h"

enum { MAX_PPN = 4096, MAX_GROUPS = 100000000 };

/* Endpoints in the order of the pattern. */
struct seating {
	const struct fab_pattern_sink *sink;
	uint32_t *port; /* [n_processes / ppn] */
	uint64_t ppn, n_processes;
};

/* A parameter KEY=N, or KEY=N-M, which sets two numbers. */
struct key {
	const char *name;
	uint64_t min, max;
	size_t at; /* member of struct fab_pattern */
	bool is_range;
};

struct fab_pattern_kind {
	const char *form; /* "random:groups=N,size=K" */
	const char *summary;
	const char *manual;  /* see struct fab_choice */
	const char *takes;   /* for messages: "random takes groups, size, seed, ..." */
	struct key keys[2];  /* all are needed */
	const char *missing; /* for messages: a key is not given */
	bool is_grid;	     /* the first parameter is AxB */
	/* Number of processes that it needs. */
	uint64_t (*needs)(const struct fab_pattern *p);
	void (*make)(const struct fab_pattern *p, const struct seating *seating);
};

/* Begin the group "WORD-A-B". */
static void begin(const struct seating *s, const char *word, uint64_t a, uint64_t b)
{
	char name[64];
	int len = snprintf(name, sizeof(name), "%s-%llu-%llu", word,
			   (unsigned long long)a, (unsigned long long)b);

	s->sink->begin(s->sink->context, name, (size_t)len);
}

static void add(const struct seating *s, uint64_t process)
{
	s->sink->add(s->sink->context, s->port[process / s->ppn]);
}

static uint64_t size_of_grid(const struct fab_pattern *p)
{
	uint64_t total = 1;

	for (unsigned k = 0; k < p->n_numbers; k++)
		total *= p->number[k];
	return total;
}

/* Lines along axis k: `stride` apart, `size` long, one for each start. */
static void make_grid(const struct fab_pattern *p, const struct seating *s)
{
	uint64_t total = size_of_grid(p), stride = total;

	for (unsigned k = 0; k < p->n_numbers; k++) {
		uint64_t size = p->number[k];

		stride /= size;
		if (size < 2)
			continue;
		for (uint64_t line = 0; line < total / size; line++) {
			uint64_t start = line / stride * stride * size + line % stride;

			begin(s, "axis", k, line);
			for (uint64_t i = 0; i < size; i++)
				add(s, start + i * stride);
		}
	}
}

enum { GROUPS, LEAST, MOST }; /* numbers of a random pattern */

static uint64_t largest_group(const struct fab_pattern *p)
{
	return p->number[MOST];
}

/* K different processes for each group, by the first K steps of a shuffle that goes on.
 */
static void make_random(const struct fab_pattern *p, const struct seating *s)
{
	uint64_t n = s->n_processes, more = p->number[MOST] - p->number[LEAST];
	FAB_AUTOFREE uint32_t *shuffled = FAB_NEW(n, uint32_t);
	struct fab_rng rng;

	fab_rng_init(&rng, p->seed);
	for (uint64_t i = 0; i < n; i++)
		shuffled[i] = (uint32_t)i;
	for (uint64_t g = 0; g < p->number[GROUPS]; g++) {
		uint64_t size = p->number[LEAST] + fab_rng_below(&rng, more + 1);

		begin(s, "random", p->seed, g);
		for (uint64_t i = 0; i < size; i++) {
			uint64_t j = i + fab_rng_below(&rng, n - i);
			uint32_t swap = shuffled[i];

			shuffled[i] = shuffled[j];
			shuffled[j] = swap;
			add(s, shuffled[i]);
		}
	}
}

enum { FANOUT }; /* number of a tree */

static uint64_t one_process(const struct fab_pattern *p)
{
	(void)p;
	return 1;
}

/* Neighbours by fanout; the first of each group join the next level. */
static void make_tree(const struct fab_pattern *p, const struct seating *s)
{
	uint64_t stride = 1, level = 0, count = s->n_processes;
	uint64_t fanout = p->number[FANOUT];

	for (; count > 1;
	     count = (count + fanout - 1) / fanout, stride *= fanout, level++)
		for (uint64_t g = 0; g * fanout < count; g++) {
			uint64_t left = count - g * fanout;
			uint64_t size = left < fanout ? left : fanout;

			if (size < 2)
				continue;
			begin(s, "level", level, g);
			for (uint64_t i = 0; i < size; i++)
				add(s, (g * fanout + i) * stride);
		}
}

#define AT(member) offsetof(struct fab_pattern, member)
static const struct fab_pattern_kind kinds[] = {
	{.form = "grid:AxB",
	 .summary = "every line of the grid along every axis, last axis fastest",
	 .manual =
		 "The processes form a grid AxB or AxBxC..., of up to 8 axes, the last one varying fastest. Every line of the grid along every axis is a group: a process is in one for each axis longer than 1.",
	 .takes = "a grid takes per, ppn, order, seed",
	 .is_grid = true,
	 .needs = size_of_grid,
	 .make = make_grid},
	{.form = "random:groups=N,size=K",
	 .summary = "random processes; size=K-L: of random size",
	 .manual =
		 "N groups of K different processes, with `size=`K-L of K to L of them. Without `seed=` by `--seed`.",
	 .takes = "random takes groups, size, seed, per, ppn, order",
	 .keys = {{"groups", 1, MAX_GROUPS, AT(number[GROUPS]), false},
		  {"size", 1, UINT32_MAX, AT(number[LEAST]), true}},
	 .missing = "random needs groups=N and size=K",
	 .needs = largest_group,
	 .make = make_random},
	{.form = "tree:fanout=K",
	 .summary = "K neighbours a group, their first ones again K a group, ...",
	 .manual =
		 "K processes that follow each other are a group; the first of each are those of the next level, and so on to one group.",
	 .takes = "a tree takes fanout, per, ppn, order, seed",
	 .keys = {{"fanout", 2, UINT32_MAX, AT(number[FANOUT]), false}},
	 .missing = "tree needs fanout=K",
	 .needs = one_process,
	 .make = make_tree},
};

static const struct key common_keys[] = {
	{"seed", 0, UINT64_MAX, AT(seed), false},
	{"ppn", 1, MAX_PPN, AT(ppn), false},
};

FAB_CHOICES_OF(fab_pattern_choices, "pattern", FAB_COUNT(kinds), kinds[i], form);

/* EINVAL and "--pattern SPEC: 'WHAT' RULE". */
static int refuse(const struct fab_pattern *p, const char *what, size_t len,
		  const char *rule, struct fab_err *err)
{
	return fab_fail(err, EINVAL, "--pattern %s: '%.*s' %s", p->spec, (int)len, what,
			rule);
}

/* AxBxC */
static int parse_grid(struct fab_pattern *p, const char *text, size_t len,
		      struct fab_err *err)
{
	const char *end = text + len, *at = text;
	uint64_t product = 1;

	for (; at <= end; p->n_numbers++) {
		const char *x = memchr(at, 'x', (size_t)(end - at));
		size_t n = (size_t)((x ? x : end) - at);

		if (p->n_numbers == FAB_PATTERN_NUMBERS ||
		    !fab_parse_u64(at, n, 1, UINT32_MAX, &p->number[p->n_numbers]) ||
		    __builtin_mul_overflow(product, p->number[p->n_numbers], &product) ||
		    product > UINT32_MAX)
			return refuse(
				p, text, len,
				"is no grid: expected sizes such as 160x100 or 8x8x8",
				err);
		at += n + 1;
	}
	return 0;
}

/* The value of a number, or of a range K or K-L. */
static int parse_key(struct fab_pattern *p, const struct key *key, const char *value,
		     size_t len, struct fab_err *err)
{
	uint64_t *to = (uint64_t *)((char *)p + key->at);
	const char *dash = key->is_range ? memchr(value, '-', len) : NULL;
	size_t n = dash ? (size_t)(dash - value) : len;
	bool ok = fab_parse_u64(value, n, key->min, key->max, to);

	if (key->is_range)
		to[1] = to[0];
	if (ok && dash)
		ok = fab_parse_u64(dash + 1, len - n - 1, to[0], key->max, &to[1]);
	if (ok)
		return 0;
	if (key->is_range)
		return refuse(p, value, len, "is no size: expected K or K-L", err);
	return fab_fail(err, EINVAL,
			"--pattern %s: '%s=%.*s' is not a number from %llu to %llu",
			p->spec, key->name, (int)len, value, (unsigned long long)key->min,
			(unsigned long long)key->max);
}

static int parse_parameter(struct fab_pattern *p, const char *text, size_t len,
			   struct fab_err *err)
{
	const struct key *const tables[] = {common_keys, p->kind->keys};
	const char *equals = memchr(text, '=', len), *value;
	uint32_t word, choice;
	size_t key_len, n;
	char rule[200];

	if (!equals)
		return refuse(p, text, len, "is no parameter: expected KEY=VALUE", err);
	key_len = (size_t)(equals - text);
	value = equals + 1;
	n = len - key_len - 1;
	word = fab_choices_find(FAB_NAME_LIST("order", "per"), text, key_len);
	if (word == 0) {
		choice = fab_choices_find(
			FAB_NAME_LIST("fabric", "name", "lid", "random"), value, n);
		if (choice == FAB_NONE)
			return refuse(p, value, n,
				      "is no order: expected fabric, name, lid or random",
				      err);
		p->order = (enum fab_pattern_order)choice;
		return 0;
	}
	if (word == 1) {
		choice = fab_choices_find(FAB_NAME_LIST("adapter", "host"), value, n);
		p->per_host = choice == 1;
		return choice != FAB_NONE
			       ? 0
			       : refuse(p, value, n,
					"is no endpoint: expected adapter or host", err);
	}
	for (size_t t = 0; t < 2; t++)
		for (size_t i = 0; i < 2 && tables[t][i].name; i++)
			if (strlen(tables[t][i].name) == key_len &&
			    !memcmp(text, tables[t][i].name, key_len))
				return parse_key(p, &tables[t][i], value, n, err);
	snprintf(rule, sizeof(rule), "is unknown: %s", p->kind->takes);
	return refuse(p, text, key_len, rule, err);
}

int fab_pattern_parse(const char *spec, uint64_t seed, struct fab_pattern *out,
		      struct fab_err *err)
{
	size_t len = fab_choice_name_len(spec);
	uint32_t i =
		spec[len] ? fab_choices_find(&fab_pattern_choices, spec, len) : FAB_NONE;
	const char *first = spec + len + 1;
	int rc;

	if (i == FAB_NONE) {
		FAB_AUTOFREE char *forms = fab_choices_text(&fab_pattern_choices, "or");

		return fab_fail(err, EINVAL, "--pattern '%s' is unknown: expected %s",
				spec, forms);
	}
	*out = (struct fab_pattern){
		.spec = spec, .kind = &kinds[i], .ppn = 1, .seed = seed};
	for (const char *at = first; *at || at == first;) {
		size_t n = strcspn(at, ",");

		rc = at == first && out->kind->is_grid ? parse_grid(out, at, n, err)
						       : parse_parameter(out, at, n, err);
		if (rc)
			return rc;
		at += n + (at[n] != '\0');
	}
	for (size_t k = 0; k < 2 && out->kind->keys[k].name; k++)
		if (!*(const uint64_t *)((const char *)out + out->kind->keys[k].at))
			return fab_fail(err, EINVAL, "--pattern %s: %s", spec,
					out->kind->missing);
	return 0;
}

/* An endpoint and its sort keys. */
struct seat {
	uint32_t port, sw, port_num;
	uint64_t key;
	const char *name;
};

FAB_ORDER(by_fabric, struct seat, sw, port_num, port)

FAB_ORDER_MIXED(by_key, struct seat, FAB_UP(key) FAB_UP(sw) FAB_UP(port_num) FAB_UP(port))

static int by_name(const void *x, const void *y)
{
	const struct seat *a = x, *b = y;
	int order = fab_text_natural_cmp(a->name, b->name);

	return order ? order : by_fabric(x, y);
}

/* The seat of a port (FAB_NONE: no port). Returns 0 if it is connected to no switch. */
static size_t take_seat(const struct fab_fabric *f, uint32_t port, const char *name,
			struct seat *seat)
{
	uint32_t sw = port == FAB_NONE ? FAB_NONE : fab_port_switch(f, port);

	if (sw == FAB_NONE)
		return 0;
	*seat = (struct seat){.port = port,
			      .sw = sw,
			      .port_num = f->port_num[fab_port_peer(f, port)],
			      .name = name};
	return 1;
}

/* Endpoints in the order of the pattern: their ports, on the heap. */
static uint32_t *make_seats(const struct fab_fabric *f, const struct fab_pattern *p,
			    size_t *n_seats)
{
	FAB_AUTOFREE struct seat *seats = FAB_NEW(f->n_nodes, struct seat);
	uint32_t *port = FAB_NEW(f->n_nodes, uint32_t);
	struct fab_rng rng;
	size_t n = 0;

	for (uint32_t i = f->n_switches; i < f->n_nodes && !p->per_host; i++)
		if (f->node_kind[i] == FAB_ADAPTER)
			n += take_seat(f, fab_node_first_connected_port(f, i),
				       fab_node_name(f, i), &seats[n]);
	for (uint32_t h = 0; h < f->n_hosts && p->per_host; h++)
		n += take_seat(f, fab_host_endpoint(f, h), fab_host_name(f, h),
			       &seats[n]);
	qsort(seats, n, sizeof(*seats), by_fabric);
	if (p->order == FAB_ORDER_NAME)
		qsort(seats, n, sizeof(*seats), by_name);
	fab_rng_init(&rng, p->seed);
	for (size_t i = 0; i < n; i++)
		seats[i].key = p->order == FAB_ORDER_RANDOM ? fab_rng_next(&rng)
							    : f->port_lid[seats[i].port];
	if (p->order == FAB_ORDER_LID || p->order == FAB_ORDER_RANDOM)
		qsort(seats, n, sizeof(*seats), by_key);
	for (size_t i = 0; i < n; i++)
		port[i] = seats[i].port;
	*n_seats = n;
	return port;
}

int fab_pattern_make(const struct fab_pattern *p, const struct fab_fabric *f,
		     const struct fab_pattern_sink *sink, struct fab_err *err)
{
	size_t n;
	FAB_AUTOFREE uint32_t *port = make_seats(f, p, &n);
	const struct seating seating = {sink, port, p->ppn, n * p->ppn};
	uint64_t want = p->kind->needs(p);
	int rc = 0;

	if (want > seating.n_processes)
		rc = fab_fail(
			err, EINVAL,
			"--pattern %s needs %llu processes, the fabric has %llu (%llu %s, ppn=%llu)",
			p->spec, (unsigned long long)want,
			(unsigned long long)seating.n_processes, (unsigned long long)n,
			p->per_host ? "hosts" : "adapters", (unsigned long long)p->ppn);
	else
		p->kind->make(p, &seating);
	return rc;
}
