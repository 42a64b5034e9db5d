/* SPDX-License-Identifier: BSD-2-Clause */
/* Time of a plan without contention, step by step: no queue of events, no cables but
 * those of the nodes. */
#include <stdlib.h>

#include "launch/fence.h"

/* Of a node: when each part of it is free, and when it has all of the steps before. */
struct node {
	double processor, out, in, ready;
};

struct arrival {
	uint32_t to;
	double head, wire, copy; /* head: when it may begin to come in */
};

static int cmp(const void *a, const void *b)
{
	const struct arrival *x = a, *y = b;

	if (x->to != y->to)
		return x->to < y->to ? -1 : 1;
	return (x->head > y->head) - (x->head < y->head);
}

static double later(double a, double b)
{
	return a > b ? a : b;
}

static struct arrival send(struct node *from, const struct fab_fence_message *m,
			   const struct fab_fence_job *job)
{
	double bytes = (double)m->n_blocks * (double)job->bytes;
	struct arrival a = {.to = m->to,
			    .wire = bytes * job->costs.G_ns / 1e3,
			    .copy = bytes * job->costs.C_ns / 1e3};

	from->processor = later(from->processor, from->ready) + job->costs.o_us;
	a.head = later(from->processor, from->out);
	from->out = a.head + a.wire;
	return a;
}

static void receive(struct node *to, const struct arrival *a,
		    const struct fab_launch_costs *c)
{
	to->in = later(to->in, a->head) + a->wire;
	to->processor = later(to->processor, to->in + c->L_us) + c->o_us + a->copy;
	to->ready = later(to->ready, to->processor);
}

/* The messages v[n] of one step. */
static void do_step(struct node *nodes, const struct fab_fence_message *v, size_t n,
		    struct arrival *arrivals, const struct fab_fence_job *job)
{
	for (size_t i = 0; i < n; i++)
		arrivals[i] = send(&nodes[v[i].from], &v[i], job);
	qsort(arrivals, n, sizeof(*arrivals), cmp);
	for (size_t i = 0; i < n; i++)
		receive(&nodes[arrivals[i].to], &arrivals[i], &job->costs);
}

double fab_fence_model_of_plan(const struct fab_fence_plan *plan,
			       const struct fab_fence_job *job)
{
	struct node *nodes = FAB_NEW0(plan->n_nodes, struct node);
	struct arrival *arrivals = FAB_NEW(plan->messages.n + 1, struct arrival);
	double end = 0;

	for (uint32_t repeat = 0; repeat < plan->n_repeats; repeat++)
		for (size_t i = 0, n; i < plan->messages.n; i += n) {
			const struct fab_fence_message *v = plan->messages.v + i;

			for (n = 1; i + n < plan->messages.n && v[n].step == v->step; n++)
				;
			do_step(nodes, v, n, arrivals, job);
		}
	for (uint32_t i = 0; i < plan->n_nodes; i++)
		end = later(end, nodes[i].ready);
	free(arrivals);
	free(nodes);
	return end;
}
