/* SPDX-License-Identifier: BSD-2-Clause */
#include "boot/transfer_impl.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/order.h"
#include "event/stats.h"

/* What is due, in the order in which it happens at one time. The item is the node. */
enum { EXPIRY, ARRIVAL, ARRIVAL_AGAIN };

double fab_transfer_tftp_mbps(uint32_t block_bytes, uint32_t window_blocks,
			      double rtt_seconds)
{
	return 8e-6 * block_bytes * window_blocks / rtt_seconds;
}

static void start_node(struct fab_simulation *s, uint32_t at)
{
	struct fab_transfer_class *c = &s->class[s->class_of[at]];
	struct fab_transfer_member *member = fab_transfer_member(s, c, c->next++);

	member->at = at;
	member->target = fab_transfer_received(s, c) + s->image_mbit;
	s->connections[s->m->interface_server[c->interface]]++;
	fab_transfer_change(s, s->class_of[at]);
}

/* The first member of a class leaves; returns which node that is. */
static uint32_t end_node(struct fab_simulation *s, uint32_t class)
{
	struct fab_transfer_class *c = &s->class[class];
	uint32_t at = fab_transfer_member(s, c, c->done++)->at;
	uint32_t server = s->m->interface_server[c->interface];

	s->connections[server]--;
	if (s->m->limits.connections)
		FAB_PUSH(&s->freed, server);
	fab_transfer_change(s, class);
	return at;
}

static void add_due(struct fab_simulation *s, double time, uint8_t kind, uint32_t at)
{
	fab_schedule_add(&s->schedule, fab_time_of_seconds(time), kind, at);
}

/* A node asks its server: it starts, or waits for a connection. */
static void arrive(struct fab_simulation *s, uint32_t at)
{
	uint32_t server = s->m->interface_server[s->class[s->class_of[at]].interface];

	if (s->o->timeout_seconds > 0) {
		s->deadline[at] = s->now + s->o->timeout_seconds;
		add_due(s, s->deadline[at], EXPIRY, at);
	}
	if (!s->m->limits.connections ||
	    s->connections[server] < s->m->limits.connections)
		start_node(s, at);
	else
		fab_queues_append(&s->queues, server, at);
}

static double requests_of(const struct fab_simulation *s)
{
	return s->o->n_files * s->o->request_seconds;
}

/* The next node that asks for the first time. */
static void expect_arrival(struct fab_simulation *s)
{
	if (s->arrived < s->batch->n)
		add_due(s, requests_of(s) + s->arrived * s->o->stagger_seconds, ARRIVAL,
			s->arrived);
}

/* When something is due next; expiries of nodes that are done, or have asked again since,
 * are dropped. */
static double next_due(struct fab_simulation *s)
{
	const struct fab_due *due;
	struct fab_due stale;

	while ((due = fab_schedule_peek(&s->schedule)) && fab_due_kind(due) == EXPIRY &&
	       fab_seconds_of_time(due->time) < s->deadline[due->item])
		(void)fab_schedule_take(&s->schedule, &stale);
	return due ? fab_seconds_of_time(due->time) : (double)INFINITY;
}

/* Take the next event of these kinds that is due now; false: there is none. */
static bool take_due(struct fab_simulation *s, uint8_t first, uint8_t last,
		     struct fab_due *due)
{
	const struct fab_due *next = fab_schedule_peek(&s->schedule);

	return next && fab_seconds_of_time(next->time) <= s->now &&
	       fab_due_kind(next) >= first && fab_due_kind(next) <= last &&
	       fab_schedule_take(&s->schedule, due);
}

static void arrive_all(struct fab_simulation *s)
{
	struct fab_due due;

	while (take_due(s, ARRIVAL, ARRIVAL_AGAIN, &due)) {
		s->arrived += fab_due_kind(&due) == ARRIVAL;
		arrive(s, (uint32_t)due.item);
		if (fab_due_kind(&due) == ARRIVAL)
			expect_arrival(s);
	}
}

static void give_up(struct fab_simulation *s, uint32_t at, struct fab_transfer *out)
{
	s->deadline[at] = INFINITY;
	if (s->attempts[at]++ < s->o->retries) {
		add_due(s, s->now + requests_of(s), ARRIVAL_AGAIN, at);
		out->n_retries++;
	} else {
		out->finish_s[at] = INFINITY;
		out->n_failed++;
	}
}

static int cmp_u32(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

static void sort_list(struct fab_transfer_list *list)
{
	if (list->n > 1)
		qsort(list->v, list->n, sizeof(*list->v), cmp_u32);
}

/* Nodes of a class, and of a server's queue, give up in the order in which they asked. */
static void expire(struct fab_simulation *s, struct fab_transfer *out)
{
	struct fab_transfer_list classes = {0}, servers = {0};
	struct fab_due due;

	while (take_due(s, EXPIRY, EXPIRY, &due)) {
		uint32_t class = s->class_of[due.item];

		FAB_PUSH(&classes, class);
		FAB_PUSH(&servers, s->m->interface_server[s->class[class].interface]);
	}
	sort_list(&classes);
	sort_list(&servers);
	for (size_t i = 0; i < classes.n; i++) {
		const struct fab_transfer_class *c = &s->class[classes.v[i]];

		while (fab_transfer_active(c) &&
		       s->deadline[fab_transfer_member(s, c, c->done)->at] <= s->now)
			give_up(s, end_node(s, classes.v[i]), out);
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

/* Who waits takes the connections that became free. */
static void admit(struct fab_simulation *s)
{
	sort_list(&s->freed);
	for (size_t i = 0; i < s->freed.n; i++) {
		uint32_t v = s->freed.v[i];

		while (s->queues.head[v] != FAB_NONE &&
		       s->connections[v] < s->m->limits.connections)
			start_node(s, fab_queues_pop(&s->queues, v));
	}
	s->freed.n = 0;
}

/* When the next member of any group is done. */
static double next_finish(const struct fab_simulation *s)
{
	return s->due.n ? s->group[s->due.v[0]].finish : (double)INFINITY;
}

static void finish_members(struct fab_simulation *s, struct fab_transfer *out)
{
	double slack = s->image_mbit * FAB_TRANSFER_EPSILON;

	while (s->due.n) {
		const struct fab_transfer_group *g = &s->group[s->due.v[0]];
		const struct fab_transfer_class *c = &s->class[g->classes.v[0]];
		uint32_t at;

		if (isfinite(g->rate) && c->key > fab_transfer_clock(s, g) + slack)
			break;
		at = end_node(s, g->classes.v[0]);
		fab_transfer_place_touched(s);
		out->finish_s[at] = s->now;
		s->deadline[at] = INFINITY;
	}
}

static void sum_up(const struct fab_batch *batch, struct fab_transfer *out)
{
	double *sorted = FAB_NEW((size_t)batch->n + 1, double);

	out->slowest_node = FAB_NONE;
	for (uint32_t i = 0; i < batch->n; i++) {
		sorted[i] = out->finish_s[i];
		if (out->slowest_node == FAB_NONE || out->finish_s[i] > out->last_s) {
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

/* The least rate of any node. */
static double least_rate(const struct fab_simulation *s)
{
	double least = INFINITY;

	for (uint32_t g = 0; g < s->n_groups; g++)
		if (s->group[g].n)
			least = fmin(least, s->group[g].rate);
	return least;
}

static void simulate(struct fab_simulation *s, struct fab_transfer *out)
{
	out->first_rate_mbps = INFINITY;
	expect_arrival(s);
	for (bool was_full = false;;) {
		double finish = next_finish(s), to = fmin(next_due(s), finish);

		if (!isfinite(to))
			break;
		s->now = to;
		if (finish <= s->now * (1 + 1e-12))
			finish_members(s, out);
		expire(s, out);
		admit(s);
		arrive_all(s);
		fab_transfer_settle(s);
		out->n_events++;
		if (s->arrived == s->batch->n && !was_full)
			out->first_rate_mbps = least_rate(s);
		was_full = s->arrived == s->batch->n;
	}
}

int fab_transfer_run(const struct fab_machine *m, const struct fab_batch *batch,
		     const uint32_t *interface_of,
		     const struct fab_transfer_options *options, struct fab_transfer *out,
		     struct fab_err *err)
{
	struct fab_simulation s = {.m = m, .batch = batch, .o = options};

	for (uint32_t i = 0; i < batch->n; i++)
		if (interface_of[batch->node[i]] >= m->n_interfaces)
			return fab_fail(err, EINVAL, "a node of the batch has no server");
	s.image_mbit = fab_transfer_image_mbit(options);
	*out = (struct fab_transfer){.finish_s = FAB_NEW0((size_t)batch->n + 1, double)};
	fab_transfer_prepare(&s, interface_of);
	s.connections = FAB_NEW0(m->n_servers, uint32_t);
	s.queues = fab_queues_new(m->n_servers, batch->n);
	s.deadline = FAB_NEW((size_t)batch->n + 1, double);
	s.attempts = FAB_NEW0((size_t)batch->n + 1, uint32_t);
	simulate(&s, out);
	sum_up(batch, out);
	fab_transfer_unprepare(&s);
	free(s.connections);
	fab_queues_fini(&s.queues);
	fab_schedule_fini(&s.schedule);
	free(s.freed.v);
	free(s.deadline);
	free(s.attempts);
	return 0;
}

void fab_transfer_fini(struct fab_transfer *t)
{
	free(t->finish_s);
	*t = (struct fab_transfer){0};
}

double fab_transfer_image_mbit(const struct fab_transfer_options *options)
{
	return (double)options->image_bytes * 8e-6;
}

double fab_transfer_equal_share_seconds(const struct fab_share *share,
					const struct fab_transfer_options *options)
{
	return options->n_files * options->request_seconds +
	       fab_transfer_image_mbit(options) / share->bandwidth_mbps;
}

bool fab_transfer_is_timed(const struct fab_machine *m,
			   const struct fab_transfer_options *options)
{
	return m->limits.connections || options->stagger_seconds > 0 ||
	       options->timeout_seconds > 0;
}
