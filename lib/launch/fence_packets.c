/* SPDX-License-Identifier: BSD-2-Clause */
#include "launch/fence_packets.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "launch/fence_lists.h"

enum { MTU = 2048, BUFFER = 1 << 20 };

/* Of a node. */
struct state {
	uint64_t processor; /* ps, free from then on */
	struct fence_progress progress;
};

/* The source of messages; times are picoseconds. */
struct source {
	const struct fab_fence_plan *plan;
	const struct fab_fence_job *job;
	struct fence_lists lists;
	struct state *node;
	uint32_t *came; /* [messages] so often */
};

static uint64_t ps(double us)
{
	return (uint64_t)llround(us * 1e6);
}

static uint64_t bytes_of(const struct source *s, uint32_t message)
{
	return s->plan->messages.v[message].n_blocks * s->job->bytes;
}

static bool next(void *context, uint32_t i, uint64_t now, struct fab_message *out)
{
	struct source *s = context;
	struct state *node = &s->node[i];
	uint32_t message =
		fence_lists_next(&s->lists, i, &node->progress, s->plan->n_repeats);
	uint64_t bytes;

	(void)now;
	if (message == FAB_NONE)
		return false;
	bytes = bytes_of(s, message);
	node->progress.n_sent++;
	node->processor += ps(s->job->costs.o_us);
	*out = (struct fab_message){.time = node->processor,
				    .target = s->plan->messages.v[message].to,
				    .bytes = bytes ? (uint32_t)bytes : 1};
	return true;
}

/* The first message from there that has not come: those of one pair keep their order. */
static uint32_t which(const struct source *s, uint32_t to, uint32_t from)
{
	const struct fence_lists *l = &s->lists;
	uint32_t first = FAB_NONE;

	for (uint32_t k = l->receives_first[to]; k < l->receives_first[to + 1]; k++) {
		uint32_t message = l->receives[k];

		if (s->plan->messages.v[message].from == from &&
		    (first == FAB_NONE || s->came[message] < s->came[first]))
			first = message;
	}
	return first;
}

static void received(void *context, uint32_t i, const struct fab_delivery *delivery)
{
	struct source *s = context;
	struct state *node = &s->node[i];
	uint32_t message = which(s, i, delivery->source);
	double copy_us = (double)bytes_of(s, message) * s->job->costs.C_ns / 1e3;

	if (node->processor < delivery->time)
		node->processor = delivery->time;
	node->processor += ps(s->job->costs.o_us + copy_us);
	s->came[message]++;
	fence_lists_advance(&s->lists, i, &node->progress, s->came);
}

static int check(const struct source *s, struct fab_err *err)
{
	if (!(s->job->costs.G_ns > 0))
		return fab_fail(err, EINVAL,
				"a byte on a cable takes no time: packets "
				"need some");
	for (size_t i = 0; i < s->plan->messages.n; i++)
		if (bytes_of(s, (uint32_t)i) > FAB_MESSAGE_BYTES_MAX)
			return fab_fail(err, EINVAL,
					"a message of %llu bytes: as packets at most %d",
					(unsigned long long)bytes_of(s, (uint32_t)i),
					FAB_MESSAGE_BYTES_MAX);
	return 0;
}

/* All messages there? */
static int check_end(const struct source *s, const struct fab_sim_result *result,
		     struct fab_err *err)
{
	for (size_t i = 0; i < s->plan->messages.n; i++)
		if (s->came[i] != s->plan->n_repeats)
			return fab_fail(err, result->lost ? EHOSTUNREACH : EINVAL,
					"the fence stalled: %s",
					result->is_deadlocked ? "a deadlock of packets"
					: result->lost || result->unroutable
						? "packets without a path"
						: "packets that do not arrive");
	return 0;
}

static struct fab_sim_params params_of(const struct source *s,
				       const struct fab_fence_packet_options *options)
{
	struct fab_sim_params p = fab_sim_defaults();

	p.kind = options->kind ? options->kind : fab_sim_switch_find("oq", 2);
	p.mtu = options->mtu ? options->mtu : MTU;
	p.buffer = options->buffer ? options->buffer : BUFFER;
	p.header = 0;
	p.rate_gbps = 8 / s->job->costs.G_ns;
	p.all_rates = true;
	p.switch_delay = 0;
	p.cable_delay = 1; /* one picosecond, as there must be something */
	p.host_delay = ps(s->job->costs.L_us);
	p.warmup = 0;
	p.time = 0;
	p.stall = UINT64_C(1) << 46;
	p.n_threads = 1;
	return p;
}

static int run(struct source *s, const struct fab_sim_problem *problem,
	       const struct fab_fence_packet_options *options,
	       struct fab_fence_packets *out, struct fab_err *err)
{
	struct fab_messages messages = {.context = s, .next = next, .received = received};
	struct fab_sim_params params = params_of(s, options);
	struct fab_sim_result result;
	uint64_t end = 0;
	int rc = fab_sim_run(problem, &params, &messages, &result, err);

	if (rc)
		return rc;
	rc = check_end(s, &result, err);
	for (uint32_t i = 0; i < s->plan->n_nodes; i++)
		if (s->node[i].processor > end)
			end = s->node[i].processor;
	*out = (struct fab_fence_packets){.us = (double)end / 1e6,
					  .packets = result.delivered,
					  .packet_hops = result.packet_hops,
					  .is_deadlocked = result.is_deadlocked};
	fab_sim_result_fini(&result);
	return rc;
}

int fab_fence_as_packets(const struct fab_fence_plan *plan,
			 const struct fab_launch_nodes *nodes,
			 const struct fab_routes *routes, const struct fab_fence_job *job,
			 const struct fab_fence_packet_options *options,
			 struct fab_fence_packets *out, struct fab_err *err)
{
	struct source s = {.plan = plan, .job = job};
	struct fab_flow_ends ends = {.n = nodes->n, .port = nodes->port, .sw = nodes->sw};
	struct fab_sim_problem problem = {
		.f = nodes->f, .faults = routes->faults, .ends = &ends, .routes = routes};
	int rc = fab_fence_job_check(job, err);

	*out = (struct fab_fence_packets){0};
	if (!rc && nodes->n != plan->n_nodes)
		rc = fab_fail(err, EINVAL, "a fence of %u nodes for a job of %u",
			      plan->n_nodes, nodes->n);
	if (!rc)
		rc = check(&s, err);
	if (rc || !plan->messages.n)
		return rc;
	fence_lists_init(&s.lists, plan);
	s.node = FAB_NEW0(plan->n_nodes, struct state);
	s.came = FAB_NEW0(plan->messages.n, uint32_t);
	rc = run(&s, &problem, options, out, err);
	fence_lists_fini(&s.lists);
	free(s.node);
	free(s.came);
	return rc;
}
