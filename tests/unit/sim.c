/* SPDX-License-Identifier: BSD-2-Clause */
/* The laws of what packets do: latencies, rates, queues, conservation. */
#include "support/simulated.h"
#include "support/test.h"
#include "support/uniform.h"

#include <criterion/parameterized.h>

/* Between hosts in other rows and columns: six cables; detours of two and four more. */
Test(sim, idle_pair_of_the_paper)
{
	struct fab_sim_params params = fab_sim_defaults();
	FAB_AUTO(simulated_fini) struct simulated s;
	uint64_t latency;
	uint32_t hops;

	simulated_init(&s, "kfat:dims=8x8,hosts=1", "xy");
	params.cable_delay = 35000;
	params.switch_delay = 0;
	params.host_delay = 11000;
	params.header = 0;
	params.all_rates = true;
	params.rate_gbps = 100;
	MUST(fab_sim_pair(&s.problem, &params, 0, 63, 200, &latency, &hops, ERR));
	cr_expect_eq(latency, 237000);
	cr_expect_eq(hops, 4);
}

static bool next_once(void *context, uint32_t e, uint64_t now, struct fab_message *m)
{
	uint32_t *left = context;

	(void)now;
	if (!left[e])
		return false;
	left[e]--;
	*m = (struct fab_message){.target = (e + 3) % 9, .bytes = 1000 * (e + 1)};
	return true;
}

/* Finite traffic ends with its last packet, and cables are busy for a share of that. */
Test(sim, finite_traffic_ends_with_its_last_packet)
{
	for (int n_threads = 1; n_threads <= 2; n_threads++) {
		struct fab_sim_params params = fab_sim_defaults();
		uint32_t left[9] = {1, 1, 1, 1, 1, 1, 1, 1, 1};
		struct fab_messages messages = {.context = left, .next = next_once};
		FAB_AUTO(fab_sim_result_fini) struct fab_sim_result r;
		FAB_AUTO(simulated_fini) struct simulated s;
		uint64_t last = 0;

		params.warmup = 0;
		params.time = 0;
		params.n_threads = n_threads;
		params.with_deliveries = true;
		simulated_init(&s, "torus:dims=3x3", "dor");
		MUST(fab_sim_run(&s.problem, &params, &messages, &r, ERR));
		for (size_t i = 0; i < r.deliveries.n; i++)
			if (r.deliveries.v[i].delivered > last)
				last = r.deliveries.v[i].delivered;
		cr_expect_gt(last, 0);
		cr_expect_eq(r.end, last);
		cr_expect_eq(r.time, last);
	}
}

/* Threads work apart for as long as the smallest packet lets them: a source that promised
 * too much is refused by any number of them. */
Test(sim, promise_of_least_payload)
{
	for (int n_threads = 1; n_threads <= 2; n_threads++) {
		struct fab_sim_params params = fab_sim_defaults();
		uint32_t left[9] = {1, 1, 1, 1, 1, 1, 1, 1, 1};
		struct fab_messages messages = {
			.context = left, .least_payload = 2000, .next = next_once};
		FAB_AUTO(fab_sim_result_fini) struct fab_sim_result r;
		FAB_AUTO(simulated_fini) struct simulated s;

		params.warmup = 0;
		params.time = 0;
		params.n_threads = n_threads;
		simulated_init(&s, "torus:dims=3x3", "dor");
		FAILS_AS(fab_sim_run(&s.problem, &params, &messages, &r, ERR), -EINVAL,
			 "a packet of endpoint 0 of 1000 bytes: its "
			 "source promised 2000 at least");
		for (size_t e = 0; e < 9; e++)
			left[e] = 1;
		messages.least_payload = 808; /* of 9000 bytes, the last packet */
		MUST(fab_sim_run(&s.problem, &params, &messages, &r, ERR));
	}
}

/* A message takes its cable for all its packets, the last one short, headers with each.
 */
Test(sim, wire_ticks)
{
	struct fab_sim_params params = fab_sim_defaults_by_flit();
	FAB_AUTO(simulated_fini) struct simulated s;
	const struct fab_sim_wires wires = {&s.problem, &params};

	simulated_init(&s, "torus:dims=3x3", "minhop");
	params.header = 3; /* the MTU is 16 */
	cr_expect_eq(fab_sim_wire(&wires, 0, 1, false), 4);
	cr_expect_eq(fab_sim_wire(&wires, 0, 16, false), 19);
	cr_expect_eq(fab_sim_wire(&wires, 0, 17, false), 23);
	cr_expect_eq(fab_sim_wire(&wires, 0, 33, true), 33);
}

/* Figures of a time in which little happens are shares of it, and no alarm. */
Test(sim, short_times)
{
	struct fab_sim_params params = fab_sim_defaults_by_flit();
	FAB_AUTO(simulated_fini) struct simulated s;

	simulated_init(&s, "fattree:radix=8,levels=2", "minhop");
	params.warmup = 100;
	params.drain = 0;
	for (uint64_t seed = 1; seed <= 20; seed++) {
		FAB_AUTO(fab_sim_result_fini) struct fab_sim_result r, longer;

		params.time = 5; /* packets take 16 */
		simulated_seed(&s, &params, 0.5, 16, seed, &r);
		for (uint32_t i = 0; i < r.n_cables; i++)
			cr_expect_leq(r.cable[i].utilisation, 1);
		params.time = 40;
		simulated_seed(&s, &params, 0.3, 16, seed, &longer);
		cr_expect_not(longer.is_saturated, "%zu of %zu", longer.backlog,
			      longer.born);
	}
}

/* A buffer that just covers the round trip of its credit is large enough. */
Test(sim, credit_limited)
{
	for (uint32_t buffer = 1; buffer <= 2; buffer++) {
		struct fab_sim_params params = fab_sim_defaults_by_flit();
		FAB_AUTO(fab_sim_result_fini) struct fab_sim_result r;
		FAB_AUTO(simulated_fini) struct simulated s;

		simulated_init(&s, "fattree:radix=4,levels=2", "minhop");
		params.mtu = 2; /* 1 out, 2 for the packet, 1 back */
		params.buffer = buffer;
		params.time = 100;
		simulated_uniform(&s, &params, 0.1, 2, &r);
		/* to switches: from each host, and both ways between switches */
		cr_expect_eq(r.credit_limited,
			     buffer == 1 ? s.ends.n + 2 * s.f->n_switch_links : 0);
	}
}

static int stop_soon(void *context, uint64_t done, uint64_t total)
{
	(void)total;
	*(uint64_t *)context = done;
	return done >= 600;
}

/* What is there of a run that was stopped is of the time that it had. */
Test(sim, stopped)
{
	struct fab_sim_params params = fab_sim_defaults_by_flit();
	FAB_AUTO(fab_sim_result_fini) struct fab_sim_result r;
	FAB_AUTO(simulated_fini) struct simulated s;
	uint64_t done = 0;

	simulated_init(&s, "fattree:radix=8,levels=2", "minhop");
	params.warmup = 200;
	params.time = 10000;
	params.progress = stop_soon;
	params.progress_context = &done;
	simulated_uniform(&s, &params, 0.5, 16, &r);
	cr_expect(r.is_stopped);
	cr_expect_eq(r.end, done);
	cr_expect_lt(r.end, 2000);
	cr_expect_eq(r.time, r.end - 200);
	cr_expect_float_eq(r.accepted, 0.5, 0.1, "%g", r.accepted);
}

/* More ports than have numbers are refused before anything is made for them. */
Test(sim, too_many_ports)
{
	struct fab_sim_params params = fab_sim_defaults();
	struct fab_messages messages = {0};
	struct fab_sim_result r;
	FAB_AUTO(simulated_fini) struct simulated s;
	uint32_t *last;

	simulated_init(&s, "torus:dims=3x3", "minhop");
	last = &s.f->arc_first[s.f->n_switches];
	*last += FAB_SIM_PORTS_MAX;
	FAILS_AS(fab_sim_run(&s.problem, &params, &messages, &r, ERR), -ERANGE,
		 "more than 2^28 ports");
	*last -= FAB_SIM_PORTS_MAX;
}

static bool next_of_two(void *context, uint32_t e, uint64_t now, struct fab_message *m)
{
	uint32_t *left = context;

	(void)now;
	if (e || !*left)
		return false;
	*m = (struct fab_message){.target = *left, .bytes = *left == 2 ? 80000000 : 1};
	--*left;
	return true;
}

/* A packet that waits at its source for more than 2^32 ps has come when it was created.
 */
Test(sim, trace_of_a_long_wait)
{
	struct fab_sim_params params = fab_sim_defaults();
	struct fab_messages messages = {.next = next_of_two};
	const struct fab_sim_step *last;
	FAB_AUTO(fab_sim_result_fini) struct fab_sim_result r;
	FAB_AUTO(simulated_fini) struct simulated s;
	uint32_t left = 2;

	simulated_init(&s, "fattree:radix=4,levels=1", "minhop");
	messages.context = &left;
	params.mtu = 32768;
	params.buffer = 1 << 20;
	params.warmup = 0;
	params.time = 0;
	params.n_traced = 10000;
	MUST(fab_sim_run(&s.problem, &params, &messages, &r, ERR));
	cr_assert_gt(r.trace.n, 2);
	last = &r.trace.v[r.trace.n - 2]; /* of the second message: two cables */
	cr_expect_eq(last->hop, 0);
	cr_expect_eq(last->target, 1);
	cr_expect_eq(last->arrived, 0);
	cr_expect_gt(last->left, UINT32_MAX);
}
