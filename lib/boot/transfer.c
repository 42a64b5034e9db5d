/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Transfers through time: nodes ask their server, wait for a connection, receive at the
 * rates of boot/fair.h, are done or give up.
 */
#include "boot/transfer.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/order.h"
#include "base/queues.h"
#include "boot/fair.h"
#include "event/schedule.h"
#include "event/stats.h"

/* Events in the order in which they happen at one time. The item is the node. */
enum { EXPIRY, ARRIVAL, ARRIVAL_AGAIN };

struct simulation {
	const struct fab_machine *m;
	const struct fab_batch *batch;
	const uint32_t *interface_of;
	const struct fab_transfer_options *o;
	struct fab_fair *rates;
	double now;
	uint32_t *connections;	      /* [n_servers] */
	struct fab_queues queues;     /* nodes that wait for each server */
	FAB_VEC(uint32_t) freed;      /* servers that may have connections left */
	uint32_t arrived;	      /* nodes that have asked a first time */
	double *deadline;	      /* [batch->n] when it gives up; INFINITY: never */
	uint32_t *attempts;	      /* [batch->n] that were given up */
	struct fab_schedule schedule; /* times: fab_time_of_seconds() */
};

static uint32_t server_of(const struct simulation *s, uint32_t at)
{
	return s->m->interface_server[s->interface_of[s->batch->node[at]]];
}

static void start_node(struct simulation *s, uint32_t at)
{
	s->connections[server_of(s, at)]++;
	fab_fair_start(s->rates, at);
}

/* The first node of a class leaves; returns it. */
static uint32_t end_node(struct simulation *s, uint32_t class)
{
	uint32_t at = fab_fair_first(s->rates, class), server = server_of(s, at);

	fab_fair_end(s->rates, class);
	s->connections[server]--;
	if (s->m->limits.connections)
		FAB_PUSH(&s->freed, server);
	return at;
}

static void add_due(struct simulation *s, double time, uint8_t kind, uint32_t at)
{
	fab_schedule_add(&s->schedule, fab_time_of_seconds(time), kind, at);
}

/* Take the next event of these kinds that is due now; false: there is none. */
static bool take_due(struct simulation *s, uint8_t first, uint8_t last,
		     struct fab_due *due)
{
	const struct fab_due *next = fab_schedule_peek(&s->schedule);

	return next && fab_seconds_of_time(next->time) <= s->now &&
	       fab_due_kind(next) >= first && fab_due_kind(next) <= last &&
	       fab_schedule_take(&s->schedule, due);
}

static double requests_of(const struct fab_transfer_options *o)
{
	return o->n_files * o->request_seconds;
}

/* The next node that asks for the first time. */
static void expect_arrival(struct simulation *s)
{
	if (s->arrived < s->batch->n)
		add_due(s, requests_of(s->o) + s->arrived * s->o->stagger_seconds,
			ARRIVAL, s->arrived);
}

/* Nodes ask their server: they start, or wait for a connection. */
static void arrive(struct simulation *s)
{
	struct fab_due due;

	while (take_due(s, ARRIVAL, ARRIVAL_AGAIN, &due)) {
		uint32_t at = (uint32_t)due.item, most = s->m->limits.connections;
		uint32_t server = server_of(s, at);

		if (s->o->timeout_seconds > 0) {
			s->deadline[at] = s->now + s->o->timeout_seconds;
			add_due(s, s->deadline[at], EXPIRY, at);
		}
		if (!most || s->connections[server] < most)
			start_node(s, at);
		else
			fab_queues_append(&s->queues, server, at);
		if (fab_due_kind(&due) == ARRIVAL) {
			s->arrived++;
			expect_arrival(s);
		}
	}
}

static void give_up(struct simulation *s, uint32_t at, struct fab_transfer *out)
{
	s->deadline[at] = INFINITY;
	if (s->attempts[at]++ < s->o->retries) {
		add_due(s, s->now + requests_of(s->o), ARRIVAL_AGAIN, at);
		out->n_retries++;
	} else {
		out->finish_s[at] = INFINITY;
		out->n_failed++;
	}
}

/* Nodes of a class, and of a server's queue, give up in the order in which they asked. */
static void expire(struct simulation *s, struct fab_transfer *out)
{
	FAB_VEC(uint32_t) classes = {0}, servers = {0};
	struct fab_due due;

	while (take_due(s, EXPIRY, EXPIRY, &due)) {
		FAB_PUSH(&classes, fab_fair_class(s->rates, (uint32_t)due.item));
		FAB_PUSH(&servers, server_of(s, (uint32_t)due.item));
	}
	if (!classes.n)
		return;
	qsort(classes.v, classes.n, sizeof(*classes.v), fab_cmp_u32);
	qsort(servers.v, servers.n, sizeof(*servers.v), fab_cmp_u32);
	for (size_t i = 0; i < classes.n; i++) {
		uint32_t class = classes.v[i], at = fab_fair_first(s->rates, class);

		for (; at != FAB_NONE && s->deadline[at] <= s->now;
		     at = fab_fair_first(s->rates, class))
			give_up(s, end_node(s, class), out);
	}
	for (size_t i = 0; i < servers.n; i++) {
		uint32_t v = servers.v[i];

		while (s->queues.head[v] != FAB_NONE &&
		       s->deadline[s->queues.head[v]] <= s->now)
			give_up(s, fab_queues_pop(&s->queues, v), out);
	}
	free(classes.v);
	free(servers.v);
}

/* Nodes that wait take the connections that became free. */
static void admit(struct simulation *s)
{
	if (s->freed.n)
		qsort(s->freed.v, s->freed.n, sizeof(*s->freed.v), fab_cmp_u32);
	for (size_t i = 0; i < s->freed.n; i++) {
		uint32_t v = s->freed.v[i];

		while (s->queues.head[v] != FAB_NONE &&
		       s->connections[v] < s->m->limits.connections)
			start_node(s, fab_queues_pop(&s->queues, v));
	}
	s->freed.n = 0;
}

/* Time of the next event; drops expiries of nodes that are done, or have asked again. */
static double next_time(struct simulation *s)
{
	double finish = fab_fair_next(s->rates);
	const struct fab_due *due;
	struct fab_due stale;

	while ((due = fab_schedule_peek(&s->schedule)) && fab_due_kind(due) == EXPIRY &&
	       fab_seconds_of_time(due->time) < s->deadline[due->item])
		(void)fab_schedule_take(&s->schedule, &stale);
	return due ? fmin(fab_seconds_of_time(due->time), finish) : finish;
}

static int simulate(struct simulation *s, struct fab_transfer *out, struct fab_err *err)
{
	bool was_full = false;
	uint32_t class;

	expect_arrival(s);
	for (double to = next_time(s); isfinite(to); to = next_time(s)) {
		bool has_done = fab_fair_next(s->rates) <= to * (1 + 1e-12);

		s->now = to;
		fab_fair_advance(s->rates, to);
		while (has_done && (class = fab_fair_done(s->rates)) != FAB_NONE) {
			uint32_t at = end_node(s, class);

			out->finish_s[at] = to;
			s->deadline[at] = INFINITY;
		}
		expire(s, out);
		admit(s);
		arrive(s);
		if (!fab_fair_settle(s->rates))
			return fab_fail(err, ELOOP,
					"the rates of transfers do not settle");
		out->n_events++;
		if (s->arrived == s->batch->n && !was_full)
			out->first_rate_mbps = fab_fair_least(s->rates);
		was_full = s->arrived == s->batch->n;
	}
	return 0;
}

static void sum_up(const struct fab_batch *batch, struct fab_transfer *out)
{
	double *sorted = FAB_NEW((size_t)batch->n + 1, double);

	for (uint32_t i = 0; i < batch->n; i++) {
		sorted[i] = out->finish_s[i];
		if (!i || out->finish_s[i] > out->last_s) {
			out->last_s = out->finish_s[i];
			out->slowest_node = batch->node[i];
		}
	}
	qsort(sorted, batch->n, sizeof(*sorted), fab_cmp_double);
	if (batch->n) {
		out->first_s = sorted[0];
		out->median_s = fab_quantile(sorted, batch->n, 0.5);
	}
	free(sorted);
}

int fab_transfer_run(const struct fab_machine *m, const struct fab_batch *batch,
		     const uint32_t *interface_of,
		     const struct fab_transfer_options *options, struct fab_transfer *out,
		     struct fab_err *err)
{
	struct simulation s = {
		.m = m, .batch = batch, .interface_of = interface_of, .o = options};
	int rc;

	for (uint32_t i = 0; i < batch->n; i++)
		if (interface_of[batch->node[i]] >= m->n_interfaces)
			return fab_fail(err, EINVAL, "a node of the batch has no server");
	*out = (struct fab_transfer){.finish_s = FAB_NEW0((size_t)batch->n + 1, double),
				     .slowest_node = FAB_NONE,
				     .first_rate_mbps = INFINITY};
	s.rates = fab_fair_new(m, batch, interface_of, fab_transfer_image_mbit(options));
	s.connections = FAB_NEW0(m->n_servers, uint32_t);
	s.queues = fab_queues_new(m->n_servers, batch->n);
	s.deadline = FAB_NEW((size_t)batch->n + 1, double);
	s.attempts = FAB_NEW0((size_t)batch->n + 1, uint32_t);
	rc = simulate(&s, out, err);
	sum_up(batch, out);
	fab_fair_free(s.rates);
	free(s.connections);
	fab_queues_fini(&s.queues);
	fab_schedule_fini(&s.schedule);
	free(s.freed.v);
	free(s.deadline);
	free(s.attempts);
	if (rc)
		fab_transfer_fini(out);
	return rc;
}

void fab_transfer_fini(struct fab_transfer *t)
{
	free(t->finish_s);
	*t = (struct fab_transfer){0};
}

double fab_transfer_tftp_mbps(uint32_t block_bytes, uint32_t window_blocks,
			      double rtt_seconds)
{
	return 8e-6 * block_bytes * window_blocks / rtt_seconds;
}

double fab_transfer_image_mbit(const struct fab_transfer_options *options)
{
	return (double)options->image_bytes * 8e-6;
}

double fab_transfer_equal_share_seconds(const struct fab_share *share,
					const struct fab_transfer_options *options)
{
	return requests_of(options) +
	       fab_transfer_image_mbit(options) / share->bandwidth_mbps;
}

bool fab_transfer_is_timed(const struct fab_machine *m,
			   const struct fab_transfer_options *options)
{
	return m->limits.connections || options->stagger_seconds > 0 ||
	       options->timeout_seconds > 0;
}
