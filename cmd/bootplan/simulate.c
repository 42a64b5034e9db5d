/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Ways to distribute an image as packets of a fabric (sim/sim.h): what an endpoint has,
 * it sends on to its targets, chunk by chunk.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bootplan.h"
#include "fabric/kfat.h"
#include "sim/sim.h"
#include "unicast/engine.h"
#include "unicast/faults.h"

/* Most bytes that all nodes together get: a simulation of seconds. */
#define BYTES_MAX 1e9

struct target {
	uint32_t from, to; /* endpoints; of multicast `to` is a group */
};

/* An endpoint: its targets are to[first .. first + n - 1]. */
struct sender {
	uint32_t first, n;
	uint32_t sent, received; /* chunks */
};

struct spreading {
	const struct bootplan_way *way;
	uint64_t image_bytes, chunk_bytes;
	uint32_t n_chunks;
	struct sender *sender; /* [ends] */
	uint32_t *to;	       /* targets of each sender: endpoints, or groups */
};

/* Chunk by chunk to all targets in turn, or target by target. */
static bool next_chunk(void *context, uint32_t endpoint, uint64_t now,
		       struct fab_message *out)
{
	const struct spreading *x = context;
	const struct bootplan_way *way = x->way;
	struct sender *s = &x->sender[endpoint];
	uint32_t chunk, target;

	if (s->sent >= (uint64_t)s->n * x->n_chunks)
		return false;
	chunk = way->one_by_one ? s->sent % x->n_chunks : s->sent / s->n;
	target = way->one_by_one ? s->sent / x->n_chunks : s->sent % s->n;
	if (s->received <= (way->waits ? x->n_chunks - 1 : chunk))
		return false;
	s->sent++;
	*out = (struct fab_message){
		.time = now,
		.target = x->to[s->first + target],
		.bytes = (uint32_t)(chunk + 1 < x->n_chunks
					    ? x->chunk_bytes
					    : x->image_bytes - chunk * x->chunk_bytes),
		.to_group = way->groups != NULL};
	return true;
}

static void receive_chunk(void *context, uint32_t endpoint,
			  const struct fab_delivery *delivery)
{
	(void)delivery;
	((struct spreading *)context)->sender[endpoint].received++;
}

/* Messages by sender, in the order of sending. */
static void find_targets(const struct bootplan_sim *sim, struct spreading *x)
{
	const struct fab_machine *m = sim->o->m;
	const struct bootplan_way *way = x->way;
	FAB_VEC(struct target) all = {0};
	uint32_t at = 0;

	for (uint32_t g = 0; way->groups && g < way->groups->n; g++)
		FAB_PUSH(&all, ((struct target){sim->end_of[way->source[g]], g}));
	for (uint32_t i = 0; way->interface_of && i < sim->o->largest->n; i++) {
		uint32_t node = sim->o->largest->node[i];

		FAB_PUSH(&all,
			 ((struct target){
				 sim->end_of[m->interface_port[way->interface_of[node]]],
				 sim->end_of[m->node_port[node]]}));
	}
	for (uint32_t i = 0; way->relay && i < way->relay->n; i++) {
		const struct fab_relay_hop *h = &way->relay->hop[i];
		uint32_t from = h->is_from_server ? m->interface_port[h->from]
						  : m->node_port[h->from];

		FAB_PUSH(&all, ((struct target){sim->end_of[from],
						sim->end_of[m->node_port[h->to]]}));
	}
	x->to = FAB_NEW(all.n + 1, uint32_t);
	for (size_t i = 0; i < all.n; i++)
		x->sender[all.v[i].from].n++;
	for (uint32_t e = 0; e < sim->ends.n; e++) {
		x->sender[e].first = at;
		at += x->sender[e].n;
		x->sender[e].n = 0;
	}
	for (size_t i = 0; i < all.n; i++) {
		struct sender *s = &x->sender[all.v[i].from];

		x->to[s->first + s->n++] = all.v[i].to;
	}
	/* servers have all of it */
	for (uint32_t i = 0; i < m->n_interfaces; i++)
		x->sender[sim->end_of[m->interface_port[i]]].received = x->n_chunks;
	free(all.v);
}

int bootplan_sim_open(const struct bootplan_params *p, const struct bootplan_outcome *o,
		      struct bootplan_sim *sim, struct fab_err *err)
{
	/* tables by the shape of the fabric: the first that fits */
	static const struct fab_unicast_engine *const engines[] = {
		&fab_unicast_vtftr_ib, &fab_unicast_dor, &fab_unicast_dmodk,
		&fab_unicast_updn};
	const struct fab_fabric *f = o->m->fabric;
	struct fab_unicast_problem problem = {
		.f = f, .max_vls = 8, .fills_roots = true, .n_threads = p->run.threads};
	FAB_AUTO(fab_kfat_free_at) struct fab_kfat *kfat = NULL;
	double bytes = (double)p->transfer.image_bytes * o->largest->n;
	struct fab_err ignored;
	size_t at = 0;

	*sim = (struct bootplan_sim){.o = o, .p = p};
	if (bytes > BYTES_MAX)
		return fab_fail(
			err, EINVAL,
			"--set simulate: %u nodes with %g MB each are more than %g MB together: give a smaller --image-size",
			o->largest->n, (double)p->transfer.image_bytes / 1e6,
			BYTES_MAX / 1e6);
	if (fab_kfat_recognize(f, &kfat, &ignored))
		kfat = NULL;
	problem.kfat = kfat;
	fab_flow_ends_init(&sim->ends, f, NULL, NULL);
	sim->end_of = fab_none_new((size_t)f->n_ports + 1);
	for (uint32_t e = 0; e < sim->ends.n; e++)
		sim->end_of[sim->ends.port[e]] = e;
	for (uint32_t i = 0; i < o->m->n_nodes + o->m->n_interfaces; i++)
		if (sim->end_of[i < o->m->n_nodes
					? o->m->node_port[i]
					: o->m->interface_port[i - o->m->n_nodes]] ==
		    FAB_NONE)
			return fab_fail(
				err, EINVAL,
				"--set simulate: a node or server is cabled to no switch");
	sim->faults = fab_faults_new(f);
	problem.faults = sim->faults;
	while (at + 1 < FAB_COUNT(engines) &&
	       fab_unicast_fits(engines[at], &problem, &ignored))
		at++;
	return fab_unicast_route(engines[at], &problem, &sim->routes, err);
}

void bootplan_sim_fini(struct bootplan_sim *sim)
{
	fab_routes_free(sim->routes);
	fab_faults_free(sim->faults);
	if (sim->end_of)
		fab_flow_ends_fini(&sim->ends);
	free(sim->end_of);
}

int bootplan_sim_run(const struct bootplan_sim *sim, const struct bootplan_way *way,
		     double *seconds, struct fab_err *err)
{
	const struct bootplan_params *p = sim->p;
	const struct fab_sim_problem problem = {.f = sim->o->m->fabric,
						.faults = sim->faults,
						.ends = &sim->ends,
						.routes = sim->routes,
						.groups = way->groups,
						.forest = way->forest};
	struct fab_sim_params params = fab_sim_defaults();
	struct spreading x = {.way = way,
			      .image_bytes = p->transfer.image_bytes,
			      .chunk_bytes = p->methods.chunk_bytes,
			      .sender = FAB_NEW0((size_t)sim->ends.n + 1, struct sender)};
	const struct fab_messages messages = {
		.context = &x, .next = next_chunk, .received = receive_chunk};
	struct fab_sim_result result;
	int rc;

	if (x.chunk_bytes > x.image_bytes)
		x.chunk_bytes = x.image_bytes;
	x.n_chunks = (uint32_t)((x.image_bytes + x.chunk_bytes - 1) / x.chunk_bytes);
	find_targets(sim, &x);
	params.warmup = 0;
	params.time = 0;
	params.header = params.group_header = 0;
	params.n_threads = p->run.threads;
	if (p->default_mbps > 0)
		params.rate_gbps = p->default_mbps / 1000;
	rc = fab_sim_run(&problem, &params, &messages, &result, err);
	if (!rc) {
		bool is_whole = !result.is_stalled && !result.unroutable && !result.lost;

		*seconds = is_whole ? (double)result.end * 1e-12 / p->efficiency
				    : (double)NAN;
		fab_sim_result_fini(&result);
	}
	FAB_FREE_ALL(x.sender, x.to);
	return rc;
}
