/* SPDX-License-Identifier: BSD-2-Clause */
/* The requests of a parallel program that makes its groups and lets go of them. */
#include "mcast/events.h"

#include "base/mem.h"
#include "base/num.h"
#include "base/rng.h"
#include "base/units.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_TRIES = 8 };

struct pattern {
	const char *spec;
	char *groups; /* the spec without what is ours */
	uint64_t gap_ns, skew_ns, hold_ns, retry_ns, seed;
	double loss;
	bool has_hold, has_retry;
};

static bool is_key(const char *text, const char *key)
{
	return !strncmp(text, key, strlen(key)) && text[strlen(key)] == '=';
}

static int parse_time(const struct pattern *p, const char *text, size_t len, size_t key,
		      uint64_t *out, struct fab_err *err)
{
	int rc = fab_parse_time_ns(text + key + 1, len - key - 1, FAB_MAX_SPAN_NS, out,
				   err);

	if (rc) {
		fab_err_prefix(err, p->spec);
		fab_err_prefix(err, "--events-pattern");
	}
	return rc;
}

/* A parameter of ours; 1 when it is none. */
static int parse_parameter(struct pattern *p, const char *text, size_t len,
			   struct fab_err *err)
{
	const struct {
		const char *key;
		uint64_t *to;
		bool *has;
	} times[] = {
		{"gap", &p->gap_ns, NULL},
		{"skew", &p->skew_ns, NULL},
		{"hold", &p->hold_ns, &p->has_hold},
		{"retry", &p->retry_ns, &p->has_retry},
	};

	for (size_t i = 0; i < FAB_COUNT(times); i++)
		if (is_key(text, times[i].key)) {
			if (times[i].has)
				*times[i].has = true;
			return parse_time(p, text, len, strlen(times[i].key), times[i].to,
					  err);
		}
	if (is_key(text, "loss")) {
		if (fab_parse_real(text + 5, len - 5, 0, 1, &p->loss))
			return 0;
		return fab_fail(err, EINVAL,
				"--events-pattern %s: '%.*s' is no probability from 0 "
				"to 1",
				p->spec, (int)len, text);
	}
	/* the group pattern wants it too, and complains */
	if (is_key(text, "seed") &&
	    !fab_parse_u64(text + 5, len - 5, 0, UINT64_MAX, &p->seed))
		return 1;
	return 1;
}

/* Divide the spec into what is ours and the group pattern, which is checked too. */
static int parse(struct pattern *p, struct fab_err *err)
{
	size_t n = 0;
	int rc;

	p->groups = fab_zalloc(strlen(p->spec) + 1, 1);
	for (const char *at = p->spec;; at++) {
		size_t len = strcspn(at, ",");

		rc = parse_parameter(p, at, len, err);
		if (rc < 0)
			break;
		if (rc) {
			if (n)
				p->groups[n++] = ',';
			memcpy(p->groups + n, at, len);
			n += len;
		}
		at += len;
		if (!*at) {
			rc = fab_groups_check_pattern(p->groups, err);
			if (rc)
				fab_err_prefix(err, "--events-pattern");
			break;
		}
	}
	if (rc)
		free(p->groups);
	return rc;
}

static int make_groups(const struct fab_fabric *f, const struct pattern *p,
		       struct fab_groups **out, struct fab_err *err)
{
	struct fab_groups_builder *b = fab_groups_builder_new(f);
	int rc = fab_groups_add_pattern(b, p->groups, p->seed, err);

	if (rc)
		fab_groups_builder_free(b);
	else
		rc = fab_groups_builder_finish(b, false, out, err);
	if (rc)
		fab_err_prefix(err, "--events-pattern");
	return rc;
}

struct making {
	const struct pattern *p;
	struct fab_rng rng;
	FAB_VEC(struct fab_event) v;
};

/* 53 random bits as a number from 0 to below 1. */
static bool happens(struct making *m, double probability)
{
	return fab_unit(fab_rng_next(&m->rng)) < probability;
}

/* A request some time from `from_ns` on, and again while it gets lost. */
static void request(struct making *m, struct fab_event e, uint64_t from_ns)
{
	const struct pattern *p = m->p;
	int tries = p->has_retry ? MAX_TRIES : 1;

	e.time_ns = from_ns + fab_rng_below(&m->rng, p->skew_ns + 1);
	do {
		e.is_lost = happens(m, p->loss);
		FAB_PUSH(&m->v, e);
		e.time_ns += p->retry_ns;
	} while (e.is_lost && --tries);
}

static void add_group(struct making *m, const struct fab_groups *g, uint32_t group)
{
	uint64_t start = group * m->p->gap_ns;

	for (uint64_t s = g->first[group]; s < g->first[group + 1]; s++)
		request(m,
			(struct fab_event){.group = group,
					   .seat = (uint32_t)s,
					   .count = fab_group_size(g, group)},
			start);
	if (!m->p->has_hold)
		return;
	for (uint64_t s = g->first[group]; s < g->first[group + 1]; s++)
		request(m,
			(struct fab_event){
				.group = group, .seat = (uint32_t)s, .is_leave = true},
			start + m->p->skew_ns + m->p->hold_ns);
}

static int by_time(const void *x, const void *y)
{
	const struct fab_event *a = x, *b = y;

	if (a->time_ns != b->time_ns)
		return a->time_ns < b->time_ns ? -1 : 1;
	if (a->seat != b->seat)
		return a->seat < b->seat ? -1 : 1;
	if (a->is_leave != b->is_leave)
		return a->is_leave ? 1 : -1;
	return (b->is_lost > a->is_lost) - (b->is_lost < a->is_lost);
}

/* The last request is at most a few spans after the beginning of the last group. */
static int check_times(const struct pattern *p, uint32_t n_groups, struct fab_err *err)
{
	uint64_t last, spans = 2 * p->skew_ns + p->hold_ns + MAX_TRIES * p->retry_ns;

	if (!__builtin_mul_overflow(p->gap_ns, (uint64_t)n_groups, &last) &&
	    !__builtin_add_overflow(last, spans, &last) && last <= FAB_MAX_EVENT_NS)
		return 0;
	return fab_fail(err, EINVAL,
			"--events-pattern %s: %u groups last longer than 4000000000 s",
			p->spec, n_groups);
}

int fab_events_generate(const struct fab_fabric *f, const char *spec, uint64_t seed,
			struct fab_events **out, struct fab_err *err)
{
	struct pattern p = {.spec = spec, .skew_ns = 1000000, .seed = seed};
	struct making m = {.p = &p};
	struct fab_groups *g = NULL;
	int rc = parse(&p, err);

	if (rc)
		return rc;
	rc = make_groups(f, &p, &g, err);
	if (!rc)
		rc = check_times(&p, g->n, err);
	free(p.groups);
	if (rc) {
		fab_groups_free(g);
		return rc;
	}
	fab_rng_init(&m.rng, p.seed);
	for (uint32_t i = 0; i < g->n; i++)
		add_group(&m, g, i);
	qsort(m.v.v, m.v.n, sizeof(*m.v.v), by_time);
	*out = FAB_NEW(1, struct fab_events);
	**out = (struct fab_events){.groups = g, .v = m.v.v, .n = m.v.n};
	return 0;
}

int fab_events_check_pattern(const char *spec, struct fab_err *err)
{
	struct pattern p = {.spec = spec};
	int rc = parse(&p, err);

	if (!rc)
		free(p.groups);
	return rc;
}
