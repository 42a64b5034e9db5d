/* SPDX-License-Identifier: BSD-2-Clause */
#include "support/fences.h"
#include "event/schedule.h"
#include "sim/sim.h"
#include "support/test.h"

struct fab_fence_chosen test_fence(const char *name)
{
	struct fab_fence_chosen c;

	MUST(fab_fence_parse(name, strlen(name), &c, ERR));
	return c;
}

struct fab_fence_job test_fence_job(uint32_t n_nodes, const uint32_t *leaf,
				    uint64_t bytes)
{
	return (struct fab_fence_job){.n_nodes = n_nodes,
				      .bytes = bytes,
				      .leaf = leaf,
				      .costs = {1, 1.5, 0.1, 0.1}};
}

void test_near(double is, double should_be, double share)
{
	cr_assert(fabs(is - should_be) <= share * should_be, "%.12g instead of %.12g", is,
		  should_be);
}

/* Messages of each node in order, and the times of its parts. */
struct node {
	FAB_VEC(uint32_t) sends;
	FAB_VEC(uint32_t) receives;
	uint64_t n_sent, n_received;
	uint64_t processor, out, in; /* free at */
};

struct run {
	const struct fab_fence_plan *plan;
	const struct fab_fence_job *job;
	struct node *node;
	uint32_t *needs, *n_arrived; /* [messages] */
	struct fab_schedule heads;
	double ticks_per_us;
};

static void run_init(struct run *r, const struct fab_fence_plan *plan,
		     const struct fab_fence_job *job)
{
	const struct fab_fence_message *m = plan->messages.v;

	*r = (struct run){.plan = plan,
			  .job = job,
			  .node = FAB_NEW0((size_t)plan->n_nodes + 1, struct node),
			  .needs = FAB_NEW0(plan->messages.n + 1, uint32_t),
			  .n_arrived = FAB_NEW0(plan->messages.n + 1, uint32_t)};
	for (size_t i = 0; i < plan->messages.n; i++)
		FAB_PUSH(&r->node[m[i].to].receives, (uint32_t)i);
	for (size_t i = 0; i < plan->messages.n; i++) {
		const struct node *from = &r->node[m[i].from];

		FAB_PUSH(&r->node[m[i].from].sends, (uint32_t)i);
		while (r->needs[i] < from->receives.n &&
		       m[from->receives.v[r->needs[i]]].step < m[i].step)
			r->needs[i]++;
	}
}

static void run_fini(struct run *r)
{
	for (uint32_t i = 0; i < r->plan->n_nodes; i++) {
		free(r->node[i].sends.v);
		free(r->node[i].receives.v);
	}
	free(r->node);
	free(r->needs);
	free(r->n_arrived);
	fab_schedule_fini(&r->heads);
}

/* The next message of a node, FAB_NONE: it waits, or has sent all. */
static uint32_t next_message(struct run *r, struct node *node)
{
	uint64_t n = node->sends.n, repeat = n ? node->n_sent / n : 0;
	uint32_t message;

	if (!n || repeat >= r->plan->n_repeats)
		return FAB_NONE;
	message = node->sends.v[node->n_sent % n];
	if (node->n_received < repeat * node->receives.n + r->needs[message])
		return FAB_NONE;
	node->n_sent++;
	return message;
}

static void arrived(struct run *r, struct node *node, uint32_t message)
{
	r->n_arrived[message]++;
	while (r->n_arrived[node->receives.v[node->n_received % node->receives.n]] >
	       node->n_received / node->receives.n)
		node->n_received++;
}

static uint64_t ticks(const struct run *r, double us)
{
	return (uint64_t)llround(us * r->ticks_per_us);
}

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* Ticks of the bytes of a message at ns a byte. */
static uint64_t bytes_at(const struct run *r, uint32_t message, double ns)
{
	uint64_t bytes = r->plan->messages.v[message].n_blocks * r->job->bytes;

	return ticks(r, (double)bytes * ns / 1e3);
}

static void send_ready(struct run *r, struct node *node)
{
	uint32_t message;

	while ((message = next_message(r, node)) != FAB_NONE) {
		uint64_t head;

		node->processor += ticks(r, r->job->costs.o_us);
		head = later(node->processor, node->out);
		node->out = head + bytes_at(r, message, r->job->costs.G_ns);
		fab_schedule_add(&r->heads, head, 0, message);
	}
}

double test_fence_plan_us(const struct fab_fence_plan *plan,
			  const struct fab_fence_job *job)
{
	const struct fab_launch_costs *c = &job->costs;
	struct fab_due due;
	uint64_t end = 0;
	FAB_AUTO(run_fini) struct run r;

	run_init(&r, plan, job);
	/* fences take less than 2^26 us, those without costs of processors 2^10 us */
	r.ticks_per_us = c->o_us > 0 ? 1e9 : 1e12;
	for (uint32_t i = 0; i < plan->n_nodes; i++)
		send_ready(&r, &r.node[i]);
	while (fab_schedule_take(&r.heads, &due)) {
		uint32_t message = (uint32_t)due.item;
		struct node *node = &r.node[plan->messages.v[message].to];

		node->in = later(node->in, due.time) + bytes_at(&r, message, c->G_ns);
		node->processor = later(node->processor, node->in + ticks(&r, c->L_us)) +
				  ticks(&r, c->o_us) + bytes_at(&r, message, c->C_ns);
		end = later(end, node->processor);
		arrived(&r, node, message);
		send_ready(&r, node);
	}
	return (double)end / r.ticks_per_us;
}

static bool next(void *context, uint32_t i, uint64_t now, struct fab_message *out)
{
	struct run *r = context;
	struct node *node = &r->node[i];
	uint32_t message = next_message(r, node);
	const struct fab_fence_message *m;

	(void)now;
	if (message == FAB_NONE)
		return false;
	m = &r->plan->messages.v[message];
	node->processor += ticks(r, r->job->costs.o_us);
	*out = (struct fab_message){.time = node->processor,
				    .target = m->to,
				    .bytes = (uint32_t)(m->n_blocks * r->job->bytes)};
	return true;
}

static void received(void *context, uint32_t i, const struct fab_delivery *delivery)
{
	struct run *r = context;
	struct node *node = &r->node[i];
	uint32_t message = FAB_NONE;

	/* the first one from there that has not arrived: a pair keeps its order */
	for (size_t k = 0; k < node->receives.n; k++) {
		uint32_t m = node->receives.v[k];

		if (r->plan->messages.v[m].from == delivery->source &&
		    (message == FAB_NONE || r->n_arrived[m] < r->n_arrived[message]))
			message = m;
	}
	node->processor = later(node->processor, delivery->time) +
			  ticks(r, r->job->costs.o_us) +
			  bytes_at(r, message, r->job->costs.C_ns);
	arrived(r, node, message);
}

double test_fence_packets(const struct fab_fence_setup *setup,
			  const struct fab_launch_nodes *nodes,
			  const struct fab_routes *routes, uint64_t bytes)
{
	struct fab_flow_ends ends = {.n = nodes->n, .port = nodes->port, .sw = nodes->sw};
	struct fab_sim_problem problem = {
		.f = nodes->f, .faults = routes->faults, .ends = &ends, .routes = routes};
	struct fab_fence_job job = setup->job;
	struct run r;
	struct fab_messages messages = {
		.context = &r, .next = next, .received = received};
	struct fab_sim_params p = fab_sim_defaults();
	struct fab_sim_result result;
	uint64_t end = 0;

	job.bytes = bytes;
	p.kind = &fab_sim_switches[0];
	p.mtu = 2048;
	p.buffer = 1 << 20;
	p.header = 0;
	p.rate_gbps = 8 / job.costs.G_ns;
	p.all_rates = true;
	p.switch_delay = 0;
	p.cable_delay = 1; /* one picosecond, as there must be one */
	p.warmup = 0;
	p.time = 0;
	p.stall = UINT64_C(1) << 46;
	p.n_threads = 1;
	run_init(&r, &setup->plan, &job);
	r.ticks_per_us = 1e6;
	p.host_delay = ticks(&r, job.costs.L_us);
	MUST(fab_sim_run(&problem, &p, &messages, &result, ERR));
	for (size_t i = 0; i < setup->plan.messages.n; i++)
		cr_assert_eq(r.n_arrived[i], setup->plan.n_repeats);
	for (uint32_t i = 0; i < nodes->n; i++)
		end = later(end, r.node[i].processor);
	fab_sim_result_fini(&result);
	run_fini(&r);
	return (double)end / 1e6;
}
