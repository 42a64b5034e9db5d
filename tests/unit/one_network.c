/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Messages (fabric-sim) and transfers (fabric-rdma) take the same network: the same
 * packets over the same tables arrive at the same time, to the picosecond.
 *
 * A transfer is a READ: its sender begins when the request is there, and it is done when
 * its last packet has come. Flows go from one half of a fabric to the other, so that
 * requests do not wait. Packets have one size: the sender of a transfer waits for room
 * for a full one.
 */
#include "event/stream.h"
#include "sim/sim.h"
#include "support/rdma_stage.h"
#include "support/test.h"

enum { FLOWS = 14, SEEDS = 6, CONTROL = 27, HEADER = 26, GAP_PS = 7001 };

static const struct net {
	const char *spec, *engine;
	uint32_t from, n_from, to, n_to; /* hosts that send, that receive */
} nets[] = {
	{"fattree:radix=8,levels=2", "minhop", 0, 16, 16, 16},
	/* around the end of a ring, on both of its lanes */
	{"torus:dims=8,hosts=4", "dor", 24, 8, 0, 8},
	{"mesh:dims=8,hosts=4", "dor", 0, 16, 16, 16},
};

/* The messages of each host, by time. */
struct script {
	struct {
		struct fab_message of[2 * FLOWS];
		uint32_t n, at;
	} host[32];
};

static void say(struct script *s, uint32_t from, uint32_t to, uint64_t time,
		uint32_t bytes)
{
	uint32_t at = s->host[from].n++;

	for (; at && s->host[from].of[at - 1].time > time; at--)
		s->host[from].of[at] = s->host[from].of[at - 1];
	s->host[from].of[at] =
		(struct fab_message){.time = time, .target = to, .bytes = bytes};
}

static bool next(void *context, uint32_t end, uint64_t now, struct fab_message *m)
{
	struct script *s = context;

	(void)now;
	if (s->host[end].at == s->host[end].n)
		return false;
	*m = s->host[end].of[s->host[end].at++];
	return true;
}

static struct fab_sim_params sim_params_of(const struct fab_rdma_params *p)
{
	struct fab_sim_params params = fab_sim_defaults();

	params.all_rates = true;
	params.mtu = p->mtu;
	params.header = p->header;
	params.buffer = p->buffer;
	params.buffer_per_vl = true;
	params.chooser = p->routing == FAB_SIM_SPRAY ? 2 : p->routing != FAB_SIM_BY_TABLE;
	params.seed = fab_mix64(p->seed + 4);
	params.time = params.warmup = 0;
	params.n_threads = 1;
	params.with_deliveries = true;
	return params;
}

static void compare(const struct net *net, enum fab_sim_routing routing, uint64_t seed)
{
	const uint32_t n = net->n_from < FLOWS ? net->n_from : FLOWS;
	const uint32_t mtu = 512u << seed % 3, control = CONTROL - HEADER;
	struct fab_stream chance = fab_stream_of(seed, 5);
	const uint64_t targets = 1 + fab_stream_below(&chance, net->n_to);
	uint64_t last[32] = {0}; /* arrival from each host */
	struct fab_rdma_transfer t[FLOWS];
	OWN(fab_rdma_result) r = {0};
	FAB_AUTO(fab_sim_result_fini) struct fab_sim_result plain = {0};
	struct fab_sim_params params;
	struct fab_sim_problem problem;
	OWN(rdma_stage) st;
	struct script script = {0};
	const struct fab_messages messages = {.context = &script, .next = next};

	for (uint32_t i = 0; i < n; i++)
		t[i] = (struct fab_rdma_transfer){
			/* the side that asks */
			.source = net->to + (uint32_t)fab_stream_below(&chance, targets),
			.target = net->from + i % net->n_from,
			.bytes = mtu * (1 + fab_stream_below(&chance, 30)),
			.start_ps = i * (uint64_t)GAP_PS,
			.is_read = true};
	rdma_stage_open(&st, net->spec, net->engine, t, n);
	st.params.mtu = mtu;
	st.params.control = CONTROL;
	st.params.buffer = 2112u << seed % 4;
	st.params.routing = routing;
	st.params.seed = seed;
	r = rdma_run(&st, "oracle");
	problem = (struct fab_sim_problem){
		.f = st.f, .ends = &st.ends, .routes = st.routes};
	params = sim_params_of(&st.params);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t from = t[i].target, to = t[i].source, hops;
		uint64_t latency;

		MUST(fab_sim_pair(&problem, &params, to, from, control, &latency, &hops,
				  ERR));
		say(&script, to, from, t[i].start_ps, control);
		say(&script, from, to, t[i].start_ps + latency, (uint32_t)t[i].bytes);
		say(&script, to, from, r.fate[i].done_ps, control);
	}
	MUST(fab_sim_run(&problem, &params, &messages, &plain, ERR));
	for (size_t i = 0; i < plain.deliveries.n; i++) /* by time */
		last[plain.deliveries.v[i].source] = plain.deliveries.v[i].delivered;
	for (uint32_t i = 0; i < n; i++)
		cr_expect_eq(r.fate[i].done_ps, last[t[i].target],
			     "%s, routing %d, seed %lu", net->spec, (int)routing, seed);
}

Test(one_network, same_times)
{
	for (size_t i = 0; i < FAB_COUNT(nets); i++)
		for (uint64_t seed = 0; seed < SEEDS; seed++) {
			compare(&nets[i], FAB_SIM_BY_TABLE, seed);
			compare(&nets[i], FAB_SIM_BY_QUEUE, seed);
			compare(&nets[i], FAB_SIM_SPRAY, seed);
		}
}

/* Without bounds on buffers the time of leaving is computed when a packet chooses; queues
 * at outputs with more room than ever is taken give the same, in any direction at once.
 */
Test(one_network, without_bounds)
{
	for (size_t i = 0; i < FAB_COUNT(nets) * SEEDS; i++) {
		const struct net *net = &nets[i / SEEDS];
		struct fab_stream chance = fab_stream_of(i % SEEDS, i / SEEDS);
		struct fab_rdma_transfer t[3 * FLOWS];
		OWN(fab_rdma_result) open = {0}, bounded = {0};
		OWN(rdma_stage) st;

		for (uint32_t k = 0; k < FAB_COUNT(t); k++) {
			t[k] = (struct fab_rdma_transfer){
				.source = (uint32_t)fab_stream_below(&chance, 32),
				.bytes = 1 + fab_stream_below(&chance, 50000),
				.start_ps = fab_stream_below(&chance, 3000000),
				.is_read = k % 2};
			t[k].target = (uint32_t)(t[k].source + 1 +
						 fab_stream_below(&chance, 31)) %
				      32;
		}
		rdma_stage_open(&st, net->spec, net->engine, t, FAB_COUNT(t));
		st.params.rto_ps = 1000000000;
		open = rdma_run(&st, "oracle");
		st.params.buffer = INT32_MAX;
		st.params.drop = FAB_SIM_TAIL;
		rdma_stage_net(&st);
		bounded = rdma_run(&st, "oracle");
		for (uint32_t k = 0; k < FAB_COUNT(t); k++)
			cr_expect_eq(open.fate[k].done_ps, bounded.fate[k].done_ps,
				     "%s, case %zu, transfer %u", net->spec, i, k);
	}
}
