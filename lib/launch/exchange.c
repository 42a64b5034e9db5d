/* SPDX-License-Identifier: BSD-2-Clause */
/* Direct exchange: Gets followed one by one, an estimate, and the full fence. */
#include "launch/exchange.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/map.h"
#include "event/schedule.h"

struct fab_exchange_costs fab_exchange_costs_of(const struct fab_launch_params *p,
						bool has_no_cache)
{
	return (struct fab_exchange_costs){.get_us = FAB_PARAM(p, get_us),
					   .local_us = FAB_PARAM(p, get_first_us),
					   .remote_us = FAB_PARAM(p, get_remote_us),
					   .serve_us = FAB_PARAM(p, serve_us),
					   .unpack_ns = FAB_PARAM(p, unpack_ns_per_B),
					   .has_no_cache = has_no_cache};
}

int fab_exchange_costs_check(const struct fab_exchange_costs *costs, struct fab_err *err)
{
	const double all[] = {costs->get_us, costs->local_us, costs->remote_us,
			      costs->serve_us, costs->unpack_ns};

	for (size_t i = 0; i < FAB_COUNT(all); i++)
		if (!(all[i] >= 0 && all[i] <= 1e9))
			return fab_fail(
				err, EINVAL,
				"costs of direct exchange: expected 0 to 1e9, not %g",
				all[i]);
	if (costs->remote_us < costs->serve_us)
		return fab_fail(
			err, EINVAL,
			"a Get of another node takes %g us, less than its server needs, %g us",
			costs->remote_us, costs->serve_us);
	return 0;
}

/* An exchange that is followed. */
struct run {
	const struct fab_peers *peers;
	const struct fab_exchange_costs *costs;
	struct fab_exchange *out;
	struct fab_schedule schedule; /* times are fab_time_of_seconds(), of us */
	struct fab_map64 *asked;      /* node << 32 | process: number in there_us */
	FAB_VEC(double) there_us;
	uint32_t *next;	  /* [processes] next Get */
	double *free_us;  /* [nodes] server */
	uint64_t *served; /* [nodes] */
	double sum_us;
};

/*
 * Gets of a process, up to the next one that takes a request later than now: others may
 * request first. Requests reach a server in the order in which they are made, as all take
 * equally long.
 */
static void go_on(struct run *r, uint32_t p, double now)
{
	const struct fab_exchange_costs *c = r->costs;
	uint32_t degree = fab_peers_degree(r->peers, p), node = p / r->peers->ppn;
	double half = (c->remote_us - c->serve_us) / 2, wait;
	bool is_later = false;

	for (; r->next[p] < degree; r->next[p]++, is_later = true) {
		uint32_t peer = fab_peers_at(r->peers, p, r->next[p]);
		uint32_t server = peer / r->peers->ppn, id = FAB_NONE;
		uint64_t key = (uint64_t)node << 32 | peer;

		if (server == node) {
			r->out->local++;
			now += c->local_us;
			continue;
		}
		if (!c->has_no_cache)
			id = fab_map64_get(r->asked, key);
		if (id != FAB_NONE) {
			r->out->shared++;
			now = fmax(now, r->there_us.v[id]) + c->get_us;
			continue;
		}
		if (is_later) {
			fab_schedule_add(&r->schedule, fab_time_of_seconds(now), 0, p);
			return;
		}
		wait = fmax(0, r->free_us[server] - (now + half));
		r->free_us[server] = now + half + wait + c->serve_us;
		r->out->longest_wait_us = fmax(r->out->longest_wait_us, wait);
		r->out->requests++;
		r->served[server]++;
		now = r->free_us[server] + half;
		if (!c->has_no_cache) {
			fab_map64_put(r->asked, key, (uint32_t)r->there_us.n);
			FAB_PUSH(&r->there_us, now);
		}
	}
	r->out->gets += degree;
	r->sum_us += now;
	r->out->total_us = fmax(r->out->total_us, now);
}

int fab_exchange_run(const struct fab_peers *peers,
		     const struct fab_exchange_costs *costs, struct fab_exchange *out,
		     struct fab_err *err)
{
	FAB_AUTO(fab_arena_free) struct fab_arena memory = FAB_ARENA_INIT;
	double degree = fab_peers_mean_degree(peers);
	struct run r = {.peers = peers, .costs = costs, .out = out};
	struct fab_due due;
	int rc = fab_exchange_costs_check(costs, err);

	if (rc)
		return rc;
	*out = (struct fab_exchange){0};
	if (degree * peers->n > FAB_EXCHANGE_GETS_MAX) {
		*out = fab_exchange_model(peers->n_nodes, peers->ppn, degree, costs);
		return 0;
	}
	r.asked = fab_map64_new(peers->n);
	r.next = FAB_ARENA_NEW0(&memory, peers->n, uint32_t);
	r.free_us = FAB_ARENA_NEW0(&memory, peers->n_nodes, double);
	r.served = FAB_ARENA_NEW0(&memory, peers->n_nodes, uint64_t);
	for (uint32_t p = 0; p < peers->n; p++)
		fab_schedule_add(&r.schedule, 0, 0, p);
	while (fab_schedule_take(&r.schedule, &due))
		go_on(&r, (uint32_t)due.item, fab_seconds_of_time(due.time));
	for (uint32_t i = 0; i < peers->n_nodes; i++)
		if (r.served[i] > out->most_served) {
			out->most_served = r.served[i];
			out->busiest = i;
		}
	out->mean_us = r.sum_us / peers->n;
	out->busy_share = (double)out->most_served * costs->serve_us / out->total_us;
	fab_schedule_fini(&r.schedule);
	fab_map64_free(r.asked);
	free(r.there_us.v);
	return 0;
}

struct fab_exchange fab_exchange_model(uint32_t n_nodes, uint32_t ppn, double degree,
				       const struct fab_exchange_costs *costs)
{
	double n = (double)n_nodes * ppn, others = n > 1 ? n - 1 : 1;
	double remote = degree * (n - ppn) / others; /* Gets of a process, other nodes */
	/* processes of other nodes whose data any process of a node wants */
	double wanted = costs->has_no_cache
				? remote * ppn
				: (n - ppn) * -expm1(ppn * log1p(-degree / others));
	double first = remote > 0 ? wanted / (remote * ppn) : 0, process, server;
	struct fab_exchange e = {.is_model = true, .longest_wait_us = NAN};

	process = (degree - remote) * costs->local_us +
		  remote * (first * costs->remote_us + (1 - first) * costs->get_us);
	server = wanted > 0
			 ? wanted * costs->serve_us + costs->remote_us - costs->serve_us
			 : 0;
	e.gets = (uint64_t)llround(degree * n);
	e.local = (uint64_t)llround((degree - remote) * n);
	e.requests = (uint64_t)llround(wanted * n_nodes);
	/* each is rounded by itself */
	if (e.gets > e.local + e.requests)
		e.shared = e.gets - e.local - e.requests;
	e.most_served = (uint64_t)llround(wanted);
	e.total_us = e.mean_us = fmax(process, server);
	e.busy_share = wanted * costs->serve_us / e.total_us;
	return e;
}

double fab_exchange_full_us(uint32_t n_nodes, double degree,
			    const struct fab_exchange_full *full,
			    const struct fab_exchange_costs *costs)
{
	return full->fence_us +
	       (double)n_nodes * (double)full->bytes * costs->unpack_ns / 1e3 +
	       degree * costs->get_us;
}

/* True if the fence is no slower at this degree. */
static bool fence_wins(uint32_t n_nodes, uint32_t ppn, uint32_t degree,
		       const struct fab_exchange_full *full,
		       const struct fab_exchange_costs *costs)
{
	struct fab_exchange e = fab_exchange_model(n_nodes, ppn, degree, costs);

	return fab_exchange_full_us(n_nodes, degree, full, costs) <= e.total_us;
}

uint32_t fab_exchange_crossing(uint32_t n_nodes, uint32_t ppn,
			       const struct fab_exchange_full *full,
			       const struct fab_exchange_costs *costs)
{
	uint64_t low = 0, high = (uint64_t)n_nodes * ppn - 1;

	if (high > FAB_NONE - 1 || !fence_wins(n_nodes, ppn, (uint32_t)high, full, costs))
		return FAB_NONE;
	if (fence_wins(n_nodes, ppn, 0, full, costs))
		return 0;
	while (high - low > 1) { /* it does at high, not at low */
		uint64_t at = low + (high - low) / 2;

		if (fence_wins(n_nodes, ppn, (uint32_t)at, full, costs))
			high = at;
		else
			low = at;
	}
	return (uint32_t)high;
}

struct fab_exchange_memory fab_exchange_memory(uint32_t n_nodes, uint32_t ppn,
					       uint64_t bytes,
					       const struct fab_exchange *exchange)
{
	double each = (double)bytes / ppn; /* of a process */
	double brought = (double)exchange->requests / n_nodes;

	return (struct fab_exchange_memory){
		.full = (double)n_nodes * (double)bytes,
		.full_each = (double)n_nodes * (double)bytes * ppn,
		.direct = (double)bytes + brought * each,
	};
}
