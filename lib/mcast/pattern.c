/* SPDX-License-Identifier: BSD-2-Clause */
/* Groups that a parallel program would make. */
#include "mcast/groups.h"

#include "base/mem.h"
#include "base/num.h"
#include "base/rng.h"
#include "base/text.h"
#include "fabric/resolver.h"
#include "mcast/groups_impl.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_AXES = 8, MAX_PPN = 4096 };
enum kind { GRID, RANDOM, TREE };
enum order { BY_FABRIC, BY_NAME, BY_LID, BY_CHANCE };

struct pattern {
	const char *spec;
	enum kind kind;
	uint64_t axis[MAX_AXES];
	unsigned n_axes;
	uint64_t n_groups, size_min, size_max, fanout, ppn, seed;
	bool per_host;
	enum order order;
};

/* An endpoint under sort keys. */
struct seat {
	uint32_t port, sw, port_num;
	uint64_t key;
	const char *name;
};

static int bad(const struct pattern *p, struct fab_err *err, const char *what, size_t len,
	       const char *rule)
{
	return fab_fail(err, EINVAL, "--pattern %s: '%.*s' %s", p->spec, (int)len, what,
			rule);
}

static bool is_word(const char *text, size_t len, const char *word)
{
	return strlen(word) == len && !memcmp(text, word, len);
}

/* AxBxC */
static int parse_axes(struct pattern *p, const char *text, size_t len,
		      struct fab_err *err)
{
	const char *end = text + len, *at = text;
	uint64_t product = 1;

	for (p->n_axes = 0; at <= end; p->n_axes++) {
		const char *x = memchr(at, 'x', (size_t)(end - at));
		size_t n = (size_t)((x ? x : end) - at);

		if (p->n_axes == MAX_AXES ||
		    !fab_parse_u64(at, n, 1, UINT32_MAX, &p->axis[p->n_axes]) ||
		    __builtin_mul_overflow(product, p->axis[p->n_axes], &product) ||
		    product > UINT32_MAX)
			return bad(p, err, text, len,
				   "is no grid: expected sizes such as 160x100 or 8x8x8");
		at += n + 1;
	}
	return 0;
}

/* K or K-L */
static int parse_size(struct pattern *p, const char *text, size_t len,
		      struct fab_err *err)
{
	const char *dash = memchr(text, '-', len);
	size_t n = dash ? (size_t)(dash - text) : len;
	bool ok = fab_parse_u64(text, n, 1, UINT32_MAX, &p->size_min);

	p->size_max = p->size_min;
	if (ok && dash)
		ok = fab_parse_u64(dash + 1, len - n - 1, p->size_min, UINT32_MAX,
				   &p->size_max);
	return ok ? 0 : bad(p, err, text, len, "is no size: expected K or K-L");
}

/* A number parameter of the pattern's kind; 1 when `key` is none of these. */
static int parse_number(struct pattern *p, const char *key, size_t key_len,
			const char *value, size_t len, struct fab_err *err)
{
	const struct {
		const char *key;
		bool fits;
		uint64_t min, max, *to;
	} numbers[] = {
		{"groups", p->kind == RANDOM, 1, 100000000, &p->n_groups},
		{"seed", true, 0, UINT64_MAX, &p->seed},
		{"fanout", p->kind == TREE, 2, UINT32_MAX, &p->fanout},
		{"ppn", true, 1, MAX_PPN, &p->ppn},
	};

	for (size_t i = 0; i < FAB_COUNT(numbers); i++)
		if (numbers[i].fits && is_word(key, key_len, numbers[i].key)) {
			if (fab_parse_u64(value, len, numbers[i].min, numbers[i].max,
					  numbers[i].to))
				return 0;
			return fab_fail(
				err, EINVAL,
				"--pattern %s: '%s=%.*s' is not a number from %llu to "
				"%llu",
				p->spec, numbers[i].key, (int)len, value,
				(unsigned long long)numbers[i].min,
				(unsigned long long)numbers[i].max);
		}
	return 1;
}

static int parse_order(struct pattern *p, const char *value, size_t len,
		       struct fab_err *err)
{
	static const char *const orders[] = {"fabric", "name", "lid", "random"};

	for (size_t i = 0; i < FAB_COUNT(orders); i++)
		if (is_word(value, len, orders[i])) {
			p->order = (enum order)i;
			return 0;
		}
	return bad(p, err, value, len,
		   "is no order: expected fabric, name, lid or random");
}

static int parse_parameter(struct pattern *p, const char *text, size_t len,
			   struct fab_err *err)
{
	const char *equals = memchr(text, '=', len), *value;
	size_t key_len, value_len;
	int rc;

	if (!equals)
		return bad(p, err, text, len, "is no parameter: expected KEY=VALUE");
	key_len = (size_t)(equals - text);
	value = equals + 1;
	value_len = len - key_len - 1;
	if (p->kind == RANDOM && is_word(text, key_len, "size"))
		return parse_size(p, value, value_len, err);
	if (is_word(text, key_len, "order"))
		return parse_order(p, value, value_len, err);
	if (is_word(text, key_len, "per")) {
		p->per_host = is_word(value, value_len, "host");
		if (p->per_host || is_word(value, value_len, "adapter"))
			return 0;
		return bad(p, err, value, value_len,
			   "is no endpoint: expected adapter or host");
	}
	rc = parse_number(p, text, key_len, value, value_len, err);
	if (rc <= 0)
		return rc;
	return bad(p, err, text, key_len,
		   p->kind == GRID ? "is unknown: a grid takes per, ppn, order, seed"
		   : p->kind == RANDOM
			   ? "is unknown: random takes groups, size, seed, per, "
			     "ppn, order"
			   : "is unknown: a tree takes fanout, per, ppn, order, "
			     "seed");
}

static int check_complete(const struct pattern *p, struct fab_err *err)
{
	if (p->kind == GRID && !p->n_axes)
		return fab_fail(err, EINVAL,
				"--pattern %s: expected a grid such as grid:160x100",
				p->spec);
	if (p->kind == RANDOM && (!p->n_groups || !p->size_min))
		return fab_fail(err, EINVAL,
				"--pattern %s: random needs groups=N and size=K",
				p->spec);
	if (p->kind == TREE && !p->fanout)
		return fab_fail(err, EINVAL, "--pattern %s: tree needs fanout=K",
				p->spec);
	return 0;
}

static int parse(struct pattern *p, struct fab_err *err)
{
	static const char *const kinds[] = {"grid", "random", "tree"};
	const char *colon = strchr(p->spec, ':'), *at;
	size_t kind_len = colon ? (size_t)(colon - p->spec) : 0, k = 0;

	while (k < FAB_COUNT(kinds) && !is_word(p->spec, kind_len, kinds[k]))
		k++;
	if (k == FAB_COUNT(kinds))
		return fab_fail(err, EINVAL,
				"--pattern '%s' is unknown: expected grid:AxB, "
				"random:groups=N,size=K or tree:fanout=K",
				p->spec);
	p->kind = (enum kind)k;
	for (at = colon + 1; *at || at == colon + 1;) {
		size_t len = strcspn(at, ",");
		bool is_grid = p->kind == GRID && !p->n_axes;
		int rc = is_grid ? parse_axes(p, at, len, err)
				 : parse_parameter(p, at, len, err);

		if (rc)
			return rc;
		at += len;
		if (!*at)
			break;
		at++;
	}
	return check_complete(p, err);
}

static int by_fabric(const void *x, const void *y)
{
	const struct seat *a = x, *b = y;

	if (a->sw != b->sw)
		return a->sw < b->sw ? -1 : 1;
	if (a->port_num != b->port_num)
		return a->port_num < b->port_num ? -1 : 1;
	return (a->port > b->port) - (a->port < b->port);
}

static int by_key(const void *x, const void *y)
{
	const struct seat *a = x, *b = y;

	if (a->key != b->key)
		return a->key < b->key ? -1 : 1;
	return by_fabric(x, y);
}

static int by_name(const void *x, const void *y)
{
	const struct seat *a = x, *b = y;
	int order = fab_text_natural_cmp(a->name, b->name);

	return order ? order : by_fabric(x, y);
}

/* A seat at a port (FAB_NONE: no port), unless that is on no switch. */
static bool take_seat(const struct fab_fabric *f, uint32_t port, const char *name,
		      struct seat *seat)
{
	uint32_t peer;
	uint32_t sw = port == FAB_NONE ? FAB_NONE : fab_port_switch(f, port);

	if (sw == FAB_NONE)
		return false;
	peer = fab_port_peer(f, port);
	*seat = (struct seat){
		.port = port, .sw = sw, .port_num = f->port_num[peer], .name = name};
	return true;
}

static size_t collect_seats(const struct fab_fabric *f, bool per_host, struct seat *seats)
{
	size_t n = 0;

	if (!per_host) {
		for (uint32_t i = f->n_switches; i < f->n_nodes; i++)
			if (f->node_kind[i] == FAB_ADAPTER)
				n += take_seat(f, fab_node_first_connected_port(f, i),
					       fab_node_name(f, i), &seats[n]);
		return n;
	}
	for (uint32_t h = 0; h < f->n_hosts; h++)
		n += take_seat(f, fab_host_endpoint(f, h), fab_host_name(f, h),
			       &seats[n]);
	return n;
}

/* Endpoints in the order of the pattern: process i sits on seat i / ppn. */
static struct seat *make_seats(const struct fab_fabric *f, const struct pattern *p,
			       size_t *n)
{
	struct seat *seats = FAB_NEW(f->n_nodes, struct seat);
	struct fab_rng rng;

	*n = collect_seats(f, p->per_host, seats);
	qsort(seats, *n, sizeof(*seats), by_fabric);
	if (p->order == BY_NAME)
		qsort(seats, *n, sizeof(*seats), by_name);
	fab_rng_init(&rng, p->seed);
	for (size_t i = 0; i < *n; i++)
		seats[i].key = p->order == BY_CHANCE ? fab_rng_next(&rng)
						     : f->port_lid[seats[i].port];
	if (p->order == BY_LID || p->order == BY_CHANCE)
		qsort(seats, *n, sizeof(*seats), by_key);
	return seats;
}

struct seating {
	struct fab_groups_builder *b;
	const struct seat *seats;
	enum fab_scope scope;
	uint64_t ppn, n_processes;
};

static void begin(const struct seating *s, const char *format, unsigned long long a,
		  unsigned long long b)
{
	char name[64];
	int len = snprintf(name, sizeof(name), "%s-%llu-%llu", format, a, b);

	fab_groups_builder_begin(s->b, name, (size_t)len);
}

static void add(const struct seating *s, uint64_t process)
{
	fab_groups_builder_add_scope(s->b, s->seats[process / s->ppn].port, s->scope);
}

/* Lines along axis k: `stride` apart, `size` long, one for each start. */
static void add_grid(const struct seating *s, const struct pattern *p)
{
	uint64_t total = 1;

	for (unsigned k = 0; k < p->n_axes; k++)
		total *= p->axis[k];
	for (unsigned k = 0; k < p->n_axes; k++) {
		uint64_t size = p->axis[k], stride = 1;

		for (unsigned j = k + 1; j < p->n_axes; j++)
			stride *= p->axis[j];
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

/* K different processes a group, by the first K steps of a shuffle that goes on. */
static void add_random(const struct seating *s, const struct pattern *p)
{
	uint64_t n = s->n_processes;
	uint32_t *shuffled = FAB_NEW(n, uint32_t);
	struct fab_rng rng;

	fab_rng_init(&rng, p->seed);
	for (uint64_t i = 0; i < n; i++)
		shuffled[i] = (uint32_t)i;
	for (uint64_t g = 0; g < p->n_groups; g++) {
		uint64_t size =
			p->size_min + fab_rng_below(&rng, p->size_max - p->size_min + 1);

		begin(s, "random", p->seed, g);
		for (uint64_t i = 0; i < size; i++) {
			uint64_t j = i + fab_rng_below(&rng, n - i);
			uint32_t swap = shuffled[i];

			shuffled[i] = shuffled[j];
			shuffled[j] = swap;
			add(s, shuffled[i]);
		}
	}
	free(shuffled);
}

/* Neighbours by fanout; the first of each join the next level. */
static void add_tree(const struct seating *s, const struct pattern *p)
{
	uint64_t stride = 1, level = 0, count = s->n_processes;

	while (count > 1) {
		for (uint64_t g = 0; g * p->fanout < count; g++) {
			uint64_t left = count - g * p->fanout;
			uint64_t size = left < p->fanout ? left : p->fanout;

			if (size < 2)
				continue;
			begin(s, "level", level, g);
			for (uint64_t i = 0; i < size; i++)
				add(s, (g * p->fanout + i) * stride);
		}
		count = (count + p->fanout - 1) / p->fanout;
		stride *= p->fanout;
		level++;
	}
}

static int check_fits(const struct pattern *p, uint64_t n_endpoints, struct fab_err *err)
{
	uint64_t want = p->kind == RANDOM ? p->size_max : 1;

	for (unsigned k = 0; k < p->n_axes; k++)
		want *= p->axis[k];
	if (want <= n_endpoints * p->ppn)
		return 0;
	return fab_fail(
		err, EINVAL,
		"--pattern %s needs %llu processes, the fabric has %llu (%llu %s, "
		"ppn=%llu)",
		p->spec, (unsigned long long)want,
		(unsigned long long)(n_endpoints * p->ppn),
		(unsigned long long)n_endpoints, p->per_host ? "hosts" : "adapters",
		(unsigned long long)p->ppn);
}

int fab_groups_add_pattern(struct fab_groups_builder *b, const char *spec, uint64_t seed,
			   struct fab_err *err)
{
	struct pattern p = {.spec = spec, .ppn = 1, .seed = seed};
	struct seating s = {.b = b};
	struct seat *seats;
	size_t n, n_before = b->first.n;
	int rc = parse(&p, err);

	if (rc)
		return rc;
	seats = make_seats(b->f, &p, &n);
	s.seats = seats;
	s.ppn = p.ppn;
	s.scope = p.per_host ? FAB_SCOPE_HOST : FAB_SCOPE_ADAPTER;
	s.n_processes = n * p.ppn;
	rc = check_fits(&p, n, err);
	if (!rc) {
		char *source = fab_format("--pattern %s", spec);

		fab_groups_builder_enter(b, source);
		free(source);
		if (p.kind == GRID)
			add_grid(&s, &p);
		else if (p.kind == RANDOM)
			add_random(&s, &p);
		else
			add_tree(&s, &p);
		fab_groups_builder_leave(b);
		if (b->first.n == n_before)
			rc = fab_fail(err, EINVAL,
				      "--pattern %s makes no group of two processes or "
				      "more",
				      spec);
	}
	free(seats);
	return rc;
}

int fab_groups_check_pattern(const char *spec, struct fab_err *err)
{
	struct pattern p = {.spec = spec, .ppn = 1};

	return parse(&p, err);
}
