/* SPDX-License-Identifier: BSD-2-Clause */
#include "boot/transfer_impl.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

double fab_transfer_tftp_mbps(uint32_t block_bytes, uint32_t window_blocks,
			      double rtt_seconds)
{
	return 8e-6 * block_bytes * window_blocks / rtt_seconds;
}

/* The member of a class that started as number k; one that is done makes room. */
static struct fab_transfer_member *
member_of(const struct fab_simulation *s, const struct fab_transfer_class *c, uint32_t k)
{
	return &s->member[c->first + k % c->n];
}

static void start_node(struct fab_simulation *s, uint32_t at)
{
	struct fab_transfer_class *c = &s->class[s->class_of[at]];
	struct fab_transfer_member *member = member_of(s, c, c->next++);

	member->at = at;
	member->target = c->received + s->image_mbit;
	s->connections[s->m->interface_server[c->interface]]++;
}

/* A node asks its server: it starts, or waits for a connection. */
static void arrive(struct fab_simulation *s, uint32_t at)
{
	uint32_t server = s->m->interface_server[s->class[s->class_of[at]].interface];

	s->deadline[at] = s->o->timeout_seconds > 0 ? s->now + s->o->timeout_seconds
						    : (double)INFINITY;
	if (!s->o->server_connections ||
	    s->connections[server] < s->o->server_connections)
		start_node(s, at);
	else
		fab_queues_append(&s->queues, server, at);
}

static double requests_of(const struct fab_simulation *s)
{
	return s->o->n_files * s->o->request_seconds;
}

/* When the next node asks, for the first time or again. */
static double next_arrival(const struct fab_simulation *s)
{
	uint32_t again = s->queues.head[s->m->n_servers];
	double first = s->arrived < s->batch->n
			       ? requests_of(s) + s->arrived * s->o->stagger_seconds
			       : INFINITY;

	return again == FAB_NONE ? first : fmin(first, s->deadline[again]);
}

static void arrive_all(struct fab_simulation *s)
{
	uint32_t again = s->m->n_servers;

	while (s->arrived < s->batch->n &&
	       requests_of(s) + s->arrived * s->o->stagger_seconds <= s->now)
		arrive(s, s->arrived++);
	while (s->queues.head[again] != FAB_NONE &&
	       s->deadline[s->queues.head[again]] <= s->now)
		arrive(s, fab_queues_pop(&s->queues, again));
}

/* When the next node gives up: of a class, and of those that wait, the first asked first.
 */
static double next_expiry(const struct fab_simulation *s)
{
	double least = INFINITY;

	if (!(s->o->timeout_seconds > 0))
		return INFINITY;
	for (uint32_t i = 0; i < s->n_classes; i++) {
		const struct fab_transfer_class *c = &s->class[i];

		if (fab_transfer_active(c))
			least = fmin(least, s->deadline[member_of(s, c, c->done)->at]);
	}
	for (uint32_t v = 0; v < s->m->n_servers; v++)
		if (s->queues.head[v] != FAB_NONE)
			least = fmin(least, s->deadline[s->queues.head[v]]);
	return least;
}

static void give_up(struct fab_simulation *s, uint32_t at, struct fab_transfer *out)
{
	if (s->attempts[at]++ < s->o->retries) {
		s->deadline[at] = s->now + requests_of(s);
		fab_queues_append(&s->queues, s->m->n_servers, at);
		out->n_retries++;
	} else {
		out->finish_s[at] = INFINITY;
		out->n_failed++;
	}
}

static void expire(struct fab_simulation *s, struct fab_transfer *out)
{
	for (uint32_t i = 0; i < s->n_classes; i++) {
		struct fab_transfer_class *c = &s->class[i];

		while (fab_transfer_active(c) &&
		       s->deadline[member_of(s, c, c->done)->at] <= s->now) {
			s->connections[s->m->interface_server[c->interface]]--;
			give_up(s, member_of(s, c, c->done++)->at, out);
		}
	}
	for (uint32_t v = 0; v < s->m->n_servers; v++)
		while (s->queues.head[v] != FAB_NONE &&
		       s->deadline[s->queues.head[v]] <= s->now)
			give_up(s, fab_queues_pop(&s->queues, v), out);
}

/* Who waits takes the connections that became free. */
static void admit(struct fab_simulation *s)
{
	for (uint32_t v = 0; v < s->m->n_servers && s->o->server_connections; v++)
		while (s->queues.head[v] != FAB_NONE &&
		       s->connections[v] < s->o->server_connections)
			start_node(s, fab_queues_pop(&s->queues, v));
}

/* When the next member of any class is done. */
static double next_finish(const struct fab_simulation *s)
{
	double least = INFINITY;

	for (uint32_t i = 0; i < s->n_classes; i++) {
		const struct fab_transfer_class *c = &s->class[i];

		if (fab_transfer_active(c))
			least = fmin(least,
				     (member_of(s, c, c->done)->target - c->received) /
					     c->rate);
	}
	return s->now + least;
}

static void advance(struct fab_simulation *s, double to)
{
	for (uint32_t i = 0; i < s->n_classes; i++)
		s->class[i].received += s->class[i].rate * (to - s->now);
	s->now = to;
}

static void finish_members(struct fab_simulation *s, struct fab_transfer *out)
{
	double slack = s->image_mbit * 1e-9;

	for (uint32_t i = 0; i < s->n_classes; i++) {
		struct fab_transfer_class *c = &s->class[i];
		uint32_t server = s->m->interface_server[c->interface];

		while (fab_transfer_active(c) &&
		       member_of(s, c, c->done)->target <= c->received + slack) {
			out->finish_s[member_of(s, c, c->done)->at] = s->now;
			c->done++;
			s->connections[server]--;
		}
	}
}

static int cmp_double(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
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
	qsort(sorted, batch->n, sizeof(*sorted), cmp_double);
	if (batch->n) {
		out->first_s = sorted[0];
		out->median_s = sorted[batch->n / 2];
	}
	free(sorted);
}

static void simulate(struct fab_simulation *s, struct fab_transfer *out)
{
	out->first_rate_mbps = INFINITY;
	for (bool was_full = false;;) {
		double finish = next_finish(s);
		double to = fmin(fmin(next_arrival(s), next_expiry(s)), finish);

		if (!isfinite(to))
			break;
		advance(s, to);
		if (finish <= s->now * (1 + 1e-12))
			finish_members(s, out);
		if (s->o->timeout_seconds > 0)
			expire(s, out);
		admit(s);
		arrive_all(s);
		fab_transfer_fill(s);
		out->n_events++;
		if (s->arrived == s->batch->n && !was_full)
			for (uint32_t i = 0; i < s->n_classes; i++)
				if (fab_transfer_active(&s->class[i]))
					out->first_rate_mbps = fmin(out->first_rate_mbps,
								    s->class[i].rate);
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
	s.image_mbit = (double)options->image_bytes * 8e-6 / options->efficiency;
	*out = (struct fab_transfer){.finish_s = FAB_NEW0((size_t)batch->n + 1, double)};
	fab_transfer_prepare(&s, interface_of);
	s.connections = FAB_NEW0(m->n_servers, uint32_t);
	s.queues = fab_queues_new((size_t)m->n_servers + 1, batch->n);
	s.deadline = FAB_NEW((size_t)batch->n + 1, double);
	s.attempts = FAB_NEW0((size_t)batch->n + 1, uint32_t);
	simulate(&s, out);
	sum_up(batch, out);
	fab_transfer_unprepare(&s);
	free(s.connections);
	fab_queues_fini(&s.queues);
	free(s.deadline);
	free(s.attempts);
	return 0;
}

void fab_transfer_fini(struct fab_transfer *t)
{
	free(t->finish_s);
	*t = (struct fab_transfer){0};
}

double fab_transfer_equal_share_seconds(const struct fab_machine *m,
					const struct fab_batch *batch,
					const uint32_t *interface_of,
					const struct fab_share *share,
					const struct fab_transfer_options *options)
{
	double rate = share->bandwidth_mbps;
	uint32_t *of_server = FAB_NEW0(m->n_servers, uint32_t), most = 1;

	for (uint32_t i = 0; i < batch->n; i++) {
		uint32_t server = m->interface_server[interface_of[batch->node[i]]];

		if (++of_server[server] > most)
			most = of_server[server];
	}
	free(of_server);
	if (options->server_disk_mbps > 0)
		rate = fmin(rate, options->server_disk_mbps / most);
	if (options->flow_cap_mbps > 0)
		rate = fmin(rate, options->flow_cap_mbps);
	return options->n_files * options->request_seconds +
	       (double)options->image_bytes * 8e-6 / options->efficiency / rate;
}
