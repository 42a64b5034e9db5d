/* SPDX-License-Identifier: BSD-2-Clause */
/* Time of a plan without contention, step by step: no queue of events, no cables but
 * those of the nodes. */
#include <stdlib.h>

#include "launch/fence.h"

/* Of a node: when each part of it is free, and when it has all of the steps before. */
struct node {
	double processor, out, in, ready;
	size_t sends; /* the last step in which it does */
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

/* What has come to nodes that send in step `now` (0: to all) is received by them, in the
 * order in which it came; the rest waits on. Returns how many do. */
static size_t receive_all(struct node *nodes, struct arrival *v, size_t n, size_t now,
			  const struct fab_launch_costs *c)
{
	size_t left = 0;

	qsort(v, n, sizeof(*v), cmp);
	for (size_t i = 0; i < n; i++)
		if (!now || nodes[v[i].to].sends == now)
			receive(&nodes[v[i].to], &v[i], c);
		else
			v[left++] = v[i];
	return left;
}

static double time_of(const struct fab_fence_plan *plan, const struct fab_fence_job *job,
		      struct node *nodes, struct arrival *waiting)
{
	const struct fab_fence_message *m = plan->messages.v;
	size_t n_waiting = 0, now = 0;
	double end = 0;

	for (uint32_t repeat = 0; repeat < plan->n_repeats; repeat++)
		for (size_t i = 0, last; i < plan->messages.n; i = last) {
			now++;
			for (last = i;
			     last < plan->messages.n && m[last].step == m[i].step; last++)
				nodes[m[last].from].sends = now;
			n_waiting =
				receive_all(nodes, waiting, n_waiting, now, &job->costs);
			for (size_t k = i; k < last; k++)
				waiting[n_waiting++] =
					send(&nodes[m[k].from], &m[k], job);
		}
	receive_all(nodes, waiting, n_waiting, 0, &job->costs);
	for (uint32_t i = 0; i < plan->n_nodes; i++)
		end = later(end, nodes[i].ready);
	return end;
}

double fab_fence_model_of_plan(const struct fab_fence_plan *plan,
			       const struct fab_fence_job *job)
{
	struct node *nodes = FAB_NEW0(plan->n_nodes, struct node);
	/* what waits: of a plan that is repeated at most those of two repeats */
	struct arrival *waiting = FAB_NEW(2 * plan->messages.n + 1, struct arrival);
	double end = time_of(plan, job, nodes, waiting);

	free(waiting);
	free(nodes);
	return end;
}
