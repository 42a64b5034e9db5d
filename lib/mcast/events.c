/* SPDX-License-Identifier: BSD-2-Clause */
/* Traces of requests: from lines of a file, and from a pattern with times of its own. */
#include "mcast/events.h"

#include "base/map.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/order.h"
#include "base/rng.h"
#include "base/units.h"
#include "fabric/resolver.h"
#include "mcast/groups/collect.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Times that a request is made at most. */
enum { MAX_TRIES = 8 };

void fab_events_free(struct fab_events *e)
{
	if (!e)
		return;
	fab_groups_free(e->groups);
	FAB_FREE_ALL(e->is_initial, e->v, e);
}

/* A request of a file; seats are known when all lines are read. */
struct request {
	struct fab_event event;
	uint32_t port;
	uint64_t line;
};

struct name {
	const char *text; /* borrowed */
	size_t len;
};

struct reading {
	const struct fab_fabric *f;
	const struct fab_resolver *resolver;
	struct fab_line_place place;
	struct fab_strmap *group_of; /* name to number */
	FAB_VEC(struct name) groups;
	FAB_VEC(struct request) requests;
	size_t n_initial; /* of them: no lines, members at the start */
};

static bool is_word(const struct fab_token *t, const char *word)
{
	return !t->is_quoted && t->len == strlen(word) && !memcmp(t->text, word, t->len);
}

static bool is_end(const struct fab_token *t)
{
	return !t->len && !t->is_quoted;
}

static int expected(const struct reading *r, const char *what, const struct fab_token *t)
{
	FAB_AUTOFREE char *found =
		is_end(t) ? fab_strdup("the end of the line")
			  : fab_format("\"%.*s\"", fab_token_shown(t), t->text);

	return fab_line_fail(&r->place, "expected %s, found %s", what, found);
}

static int read_time(const struct reading *r, const struct fab_token *t,
		     struct fab_event *e)
{
	const struct request *last =
		r->requests.n ? &r->requests.v[r->requests.n - 1] : NULL;

	if (t->is_quoted ||
	    fab_parse_time_ns(t->text, t->len, FAB_MAX_EVENT_NS, &e->time_ns, NULL))
		return expected(r, "a time with its unit, such as 1.5ms", t);
	if (!last || e->time_ns >= last->event.time_ns)
		return 0;
	return fab_line_fail(
		&r->place,
		"time %.*s is before that of line %llu, expected ascending times",
		fab_token_shown(t), t->text, (unsigned long long)last->line);
}

static int read_member(const struct reading *r, const struct fab_token *t, uint32_t *port)
{
	const struct fab_item name = {
		.text = t->text, .len = t->len, .is_quoted = t->is_quoted};
	char prefix[256];

	if (is_end(t))
		return expected(r, "a member", t);
	if (!fab_resolve(r->resolver, FAB_WANT_ENDPOINT, &name, port, r->place.err))
		return 0;
	snprintf(prefix, sizeof(prefix), "%.200s:%llu: member", r->place.file,
		 (unsigned long long)r->place.line);
	fab_err_prefix(r->place.err, prefix);
	return -EINVAL;
}

/* TIME join GROUP MEMBER COUNT [lost], or TIME leave GROUP MEMBER [lost]. */
static int read_line(void *context, const char *at, const char *end)
{
	struct reading *r = context;
	enum { TIME, VERB, GROUP, MEMBER, MOST = 7 };
	struct fab_token t[MOST + 1] = {0};
	struct request q = {.line = r->place.line};
	struct fab_event *e = &q.event;
	const struct fab_token *rest = &t[MEMBER + 1];
	uint32_t next = (uint32_t)r->groups.n;
	uint64_t count;

	/* a token behind a bad one may lack its quote: in the order of the line */
	for (int i = 0; i <= MOST; i++) {
		int rc = fab_token_next(&r->place, &at, end, false, &t[i]);

		if (!rc && i == TIME && is_end(t))
			return 0;
		if (!rc && i == TIME)
			rc = read_time(r, t, e);
		if (!rc && i == VERB) {
			e->is_leave = is_word(&t[i], "leave");
			if (!e->is_leave && !is_word(&t[i], "join"))
				rc = expected(r, "join or leave", &t[i]);
		}
		if (!rc && i == GROUP && !t[i].len)
			rc = expected(r, "the name of a group", &t[i]);
		if (!rc && i == MEMBER)
			rc = read_member(r, &t[i], &q.port);
		if (rc)
			return rc;
		if (is_end(&t[i]))
			break;
	}
	if (!e->is_leave) {
		if (rest->is_quoted ||
		    !fab_parse_u64(rest->text, rest->len, 1, UINT32_MAX, &count))
			return expected(r, "the number of members of the group", rest);
		e->count = (uint32_t)count;
		rest++;
	}
	e->is_lost = is_word(rest, "lost");
	rest += e->is_lost;
	if (!is_end(rest))
		return expected(r,
				e->is_lost ? "the end of the line"
					   : "lost or the end of the line",
				rest);
	e->group = fab_strmap_put(r->group_of, t[GROUP].text, t[GROUP].len, next);
	if (e->group == next)
		FAB_PUSH(&r->groups, ((struct name){t[GROUP].text, t[GROUP].len}));
	FAB_PUSH(&r->requests, q);
	return 0;
}

/* The requests as events of groups with all members that are ever named: sorted by group
 * for these, each group where it is named first. */
static int finish(const struct reading *r, struct fab_events **out)
{
	struct fab_groups_builder *b = fab_groups_builder_new(r->f);
	size_t n = r->requests.n, at = 0;
	FAB_AUTOFREE uint64_t *order = FAB_NEW(n, uint64_t);
	struct fab_groups *g;
	FAB_AUTO(fab_map64_free_at) struct fab_map64 *seat_of = NULL;
	int rc;

	for (size_t i = 0; i < n; i++)
		order[i] = (uint64_t)r->requests.v[i].event.group << 32 | i;
	qsort(order, n, sizeof(*order), fab_cmp_u64);
	fab_groups_builder_enter(b, r->place.file);
	for (size_t i = 0; i < r->groups.n; i++) {
		b->here.line = r->requests.v[(uint32_t)order[at]].line;
		fab_groups_builder_begin(b, r->groups.v[i].text, r->groups.v[i].len);
		for (; at < n && order[at] >> 32 == i; at++)
			fab_groups_builder_add(b,
					       r->requests.v[(uint32_t)order[at]].port);
	}
	fab_groups_builder_leave(b);
	rc = fab_groups_builder_finish(b, false, &g, r->place.err);
	if (rc)
		return rc;
	seat_of = fab_map64_new(g->first[g->n]);
	for (uint32_t i = 0; i < g->n; i++)
		for (uint64_t s = g->first[i]; s < g->first[i + 1]; s++)
			fab_map64_put(seat_of, (uint64_t)i << 32 | g->member[s],
				      (uint32_t)s);
	*out = FAB_NEW(1, struct fab_events);
	**out = (struct fab_events){g, FAB_NEW(n, struct fab_event), n - r->n_initial};
	if (r->n_initial)
		(*out)->is_initial = FAB_NEW0(g->first[g->n], bool);
	for (size_t i = 0; i < n; i++) {
		const struct request *q = &r->requests.v[i];
		uint32_t seat =
			fab_map64_get(seat_of, (uint64_t)q->event.group << 32 | q->port);

		if (i < r->n_initial) {
			(*out)->is_initial[seat] = true;
			continue;
		}
		(*out)->v[i - r->n_initial] = q->event;
		(*out)->v[i - r->n_initial].seat = seat;
	}
	return 0;
}

/* Groups that are there before the first line. */
static void take_initial(struct reading *r, const struct fab_groups *initial)
{
	for (uint32_t i = 0; initial && i < initial->n; i++) {
		const char *name = fab_group_name(initial, i);

		fab_strmap_put(r->group_of, name, strlen(name), i);
		FAB_PUSH(&r->groups, ((struct name){name, strlen(name)}));
		for (uint64_t m = initial->first[i]; m < initial->first[i + 1]; m++)
			FAB_PUSH(&r->requests,
				 ((struct request){.event = {.group = i},
						   .port = initial->member[m]}));
	}
	r->n_initial = r->requests.n;
}

int fab_events_read(const struct fab_fabric *f, const struct fab_groups *initial,
		    const char *file, const char *text, size_t len,
		    struct fab_events **out, struct fab_err *err)
{
	struct reading r = {.f = f, .place = {file, 0, err}};
	FAB_AUTO(fab_resolver_free_at) struct fab_resolver *resolver = NULL;
	int rc;

	r.resolver = resolver = fab_resolver_new(f);
	r.group_of = fab_strmap_new(64);
	take_initial(&r, initial);
	rc = fab_lines_each(&r.place, "lines of requests", text, len, read_line, &r);
	if (!rc && r.requests.n == r.n_initial)
		rc = fab_fail(
			err, EINVAL,
			"%s: no request, expected lines TIME join|leave GROUP MEMBER ...",
			file);
	if (!rc)
		rc = finish(&r, out);
	fab_strmap_free(r.group_of);
	free(r.groups.v);
	free(r.requests.v);
	return rc;
}

enum { GAP, SKEW, HOLD, RETRY, N_TIMES };

/* The requests of a parallel program that makes its groups and gives them up. */
struct pattern {
	const char *spec;
	char *groups; /* the parameters of the group pattern; to be freed */
	uint64_t ns[N_TIMES], seed;
	bool has[N_TIMES];
	double loss;
	struct fab_rng rng;
	FAB_VEC(struct fab_event) v;
};

/* A parameter of the events; returns 1 for other parameters. */
static int parse_parameter(struct pattern *p, const char *text, size_t len,
			   struct fab_err *err)
{
	static const char *const times[N_TIMES] = {"gap=", "skew=", "hold=", "retry="};

	for (size_t i = 0; i < N_TIMES; i++) {
		size_t key = strlen(times[i]);

		if (strncmp(text, times[i], key) != 0)
			continue;
		p->has[i] = true;
		if (!fab_parse_time_ns(text + key, len - key, FAB_MAX_SPAN_NS, &p->ns[i],
				       err))
			return 0;
		fab_err_prefix(err, p->spec);
		fab_err_prefix(err, "--events-pattern");
		return -EINVAL;
	}
	if (!strncmp(text, "loss=", 5)) {
		if (fab_parse_real(text + 5, len - 5, 0, 1, &p->loss))
			return 0;
		return fab_fail(
			err, EINVAL,
			"--events-pattern %s: '%.*s' is no probability from 0 to 1",
			p->spec, (int)len, text);
	}
	if (!strncmp(text, "seed=", 5)) /* the group pattern uses and checks it, too */
		(void)fab_parse_u64(text + 5, len - 5, 0, UINT64_MAX, &p->seed);
	return 1;
}

/* Divide the spec into parameters of the events and the group pattern, which is checked.
 * The caller frees p->groups. */
static int parse(struct pattern *p, struct fab_err *err)
{
	size_t n = 0, len;
	int rc = 0;

	p->groups = fab_zalloc(strlen(p->spec) + 1, 1);
	for (const char *at = p->spec; rc >= 0; at += len + 1) {
		len = strcspn(at, ",");
		rc = parse_parameter(p, at, len, err);
		if (rc == 1) {
			if (n)
				p->groups[n++] = ',';
			memcpy(p->groups + n, at, len);
			n += len;
		}
		if (!at[len])
			break;
	}
	if (rc < 0)
		return rc;
	rc = fab_groups_check_pattern(p->groups, err);
	if (rc)
		fab_err_prefix(err, "--events-pattern");
	return rc;
}

int fab_events_check_pattern(const char *spec, struct fab_err *err)
{
	struct pattern p = {.spec = spec};
	int rc = parse(&p, err);

	free(p.groups);
	return rc;
}

/* A request at a random time from `from_ns` on, and again while it is lost. */
static void request(struct pattern *p, struct fab_event e, uint64_t from_ns)
{
	int tries = p->has[RETRY] ? MAX_TRIES : 1;

	e.time_ns = from_ns + fab_rng_below(&p->rng, p->ns[SKEW] + 1);
	do {
		e.is_lost = fab_unit(fab_rng_next(&p->rng)) < p->loss;
		FAB_PUSH(&p->v, e);
		e.time_ns += p->ns[RETRY];
	} while (e.is_lost && --tries);
}

FAB_ORDER_MIXED(by_time, struct fab_event,
		FAB_UP(time_ns) FAB_UP(seat) FAB_UP(is_leave) FAB_DOWN(is_lost))

int fab_events_generate(const struct fab_fabric *f, const char *spec, uint64_t seed,
			struct fab_events **out, struct fab_err *err)
{
	struct pattern p = {.spec = spec, .ns[SKEW] = 1000000, .seed = seed};
	struct fab_groups_builder *b;
	struct fab_groups *g = NULL;
	uint64_t last;
	int rc = parse(&p, err);

	if (!rc) {
		b = fab_groups_builder_new(f);
		rc = fab_groups_add_pattern(b, p.groups, p.seed, err);
		if (rc)
			fab_groups_builder_free(b);
		else
			rc = fab_groups_builder_finish(b, false, &g, err);
		if (rc)
			fab_err_prefix(err, "--events-pattern");
	}
	free(p.groups);
	if (rc)
		return rc;
	/* the last request is at most a few spans after the beginning of the last group
	 */
	if (__builtin_mul_overflow(p.ns[GAP], (uint64_t)g->n, &last) ||
	    __builtin_add_overflow(
		    last, 2 * p.ns[SKEW] + p.ns[HOLD] + MAX_TRIES * p.ns[RETRY], &last) ||
	    last > FAB_MAX_EVENT_NS) {
		rc = fab_fail(
			err, EINVAL,
			"--events-pattern %s: %u groups last longer than 4000000000 s",
			spec, g->n);
		fab_groups_free(g);
		return rc;
	}
	fab_rng_init(&p.rng, p.seed);
	for (uint32_t i = 0; i < g->n; i++)
		for (int is_leave = 0; is_leave <= p.has[HOLD]; is_leave++)
			for (uint64_t s = g->first[i]; s < g->first[i + 1]; s++)
				request(&p,
					(struct fab_event){
						.group = i,
						.seat = (uint32_t)s,
						.count = is_leave ? 0
								  : fab_group_size(g, i),
						.is_leave = is_leave},
					i * p.ns[GAP] +
						(is_leave ? p.ns[SKEW] + p.ns[HOLD] : 0));
	FAB_SORT(&p.v, by_time);
	*out = FAB_NEW(1, struct fab_events);
	**out = (struct fab_events){g, p.v.v, p.v.n};
	return 0;
}
