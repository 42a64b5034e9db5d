/* SPDX-License-Identifier: BSD-2-Clause */
/* Time of a plan without contention: no cables but those of the nodes. */
#include <stdlib.h>

#include "event/schedule.h"
#include "launch/fence_lists.h"
#include "launch/fence_ticks.h"

/* Of a node: when each part of it is free, in ticks. */
struct node {
	uint64_t processor, out, in;
	struct fence_progress progress;
};

struct model {
	const struct fab_fence_plan *plan;
	const struct fab_fence_job *job;
	struct fence_ticks ticks;
	struct fence_lists lists;
	uint32_t *came; /* [messages] so often */
	struct node *node;
	struct fab_schedule heads; /* of messages, as they come to their receivers */
	uint64_t end;
};

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* Time of the bytes of a message at ns a byte. */
static uint64_t bytes_at(const struct model *m, uint32_t message, double ns)
{
	double bytes =
		(double)m->plan->messages.v[message].n_blocks * (double)m->job->bytes;

	return fence_ticks_of(&m->ticks, bytes * ns / 1e3);
}

static void send_all(struct model *m, uint32_t i)
{
	struct node *node = &m->node[i];
	uint32_t message;

	while ((message = fence_lists_next(&m->lists, i, &node->progress,
					   m->plan->n_repeats)) != FAB_NONE) {
		uint64_t head;

		node->progress.n_sent++;
		node->processor += m->ticks.o;
		head = later(node->processor, node->out);
		node->out = head + bytes_at(m, message, m->job->costs.G_ns);
		fab_schedule_add(&m->heads, head, 0, message);
	}
}

static void receive(struct model *m, uint32_t message, uint64_t head)
{
	uint32_t i = m->plan->messages.v[message].to;
	struct node *node = &m->node[i];

	node->in = later(node->in, head) + bytes_at(m, message, m->job->costs.G_ns);
	node->processor = later(node->processor, node->in + m->ticks.L) + m->ticks.o +
			  bytes_at(m, message, m->job->costs.C_ns);
	m->end = later(m->end, node->processor);
	m->came[message]++;
	fence_lists_advance(&m->lists, i, &node->progress, m->came);
	send_all(m, i);
}

double fab_fence_model_of_plan(const struct fab_fence_plan *plan,
			       const struct fab_fence_job *job)
{
	struct model m = {.plan = plan, .job = job};
	struct fab_fence_paths paths;
	struct fab_fence_load load;
	struct fab_due due;

	/* without a fabric nothing goes wrong */
	if (fab_fence_paths_init(&paths, plan, NULL, NULL, NULL))
		return NAN;
	fab_fence_load_init(&load, plan, &paths);
	m.ticks = fence_ticks_for(fab_fence_contended(&load, &job->costs), job);
	fab_fence_load_fini(&load);
	fab_fence_paths_fini(&paths);
	fence_lists_init(&m.lists, plan);
	m.came = FAB_NEW0(plan->messages.n + 1, uint32_t);
	m.node = FAB_NEW0((size_t)plan->n_nodes + 1, struct node);
	for (uint32_t i = 0; i < plan->n_nodes; i++)
		send_all(&m, i);
	while (fab_schedule_take(&m.heads, &due))
		receive(&m, (uint32_t)due.item, due.time);
	fence_lists_fini(&m.lists);
	free(m.came);
	free(m.node);
	fab_schedule_fini(&m.heads);
	return (double)m.end / m.ticks.per_us;
}
