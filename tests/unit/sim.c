/* SPDX-License-Identifier: BSD-2-Clause */
/* What packets do: promises, wire times, figures of short runs, traces. */
#include "support/simulated.h"
#include "support/test.h"

/* Threads work apart for as long as the smallest packet lets them: a source that promised
 * too much is refused by any number of them. */
Test(sim, promise_of_least_payload)
{
	OWN(simulated) s;

	simulated_init(&s, "torus:dims=3x3", "dor");
	for (int n_threads = 1; n_threads <= 2; n_threads++) {
		struct fab_sim_params params = fab_sim_defaults();
		struct source source = {
			.size = 1000, .most = 1, .shift = 3, .least_payload = 2000};
		OWN(fab_sim_result) r;

		params.warmup = params.time = 0;
		params.n_threads = n_threads;
		FAILS_AS(simulated_send(&s, &params, source, &r), -EINVAL,
			 "a packet of endpoint 0 of 1000 bytes: its "
			 "source promised 2000 at least");
		source.size = 9000;
		source.least_payload = 808; /* the last packet */
		MUST(simulated_send(&s, &params, source, &r));
	}
}

/* A message takes its cable for all its packets, the last one short, headers with each.
 */
Test(sim, wire_ticks)
{
	struct fab_sim_params params = simulated_flits(VOQ, 16, 8, 0);
	OWN(simulated) s;
	const struct fab_sim_wires wires = {&s.problem, &params};

	simulated_init(&s, "torus:dims=3x3", "minhop");
	params.header = 3;
	cr_expect_eq(fab_sim_wire(&wires, 0, 1, false), 4);
	cr_expect_eq(fab_sim_wire(&wires, 0, 16, false), 19);
	cr_expect_eq(fab_sim_wire(&wires, 0, 17, false), 23);
	cr_expect_eq(fab_sim_wire(&wires, 0, 33, true), 33);
}

/* Figures of a time in which little happens are shares of it, and no alarm. What is there
 * of a run that was stopped is of the time that it had. */
static int stop_soon(void *context, uint64_t done, uint64_t total)
{
	(void)total;
	*(uint64_t *)context = done;
	return done >= 600;
}

Test(sim, short_times)
{
	struct fab_sim_params params = simulated_flits(VOQ, 16, 8, 0);
	OWN(fab_sim_result) r;
	OWN(simulated) s;
	uint64_t done = 0;

	simulated_init(&s, "fattree:radix=8,levels=2", "minhop");
	params.warmup = 100;
	for (uint64_t seed = 1; seed <= 20; seed++) {
		OWN(fab_sim_result) few, more;

		params.time = 5; /* packets take 16 */
		simulated_uniform(&s, &params, 0.5, 16, seed, &few);
		for (uint32_t i = 0; i < few.n_cables; i++)
			cr_expect_leq(few.cable[i].utilisation, 1);
		params.time = 40;
		simulated_uniform(&s, &params, 0.3, 16, seed, &more);
		cr_expect_not(more.is_saturated);
	}
	params.time = 10000;
	params.progress = stop_soon;
	params.progress_context = &done;
	simulated_uniform(&s, &params, 0.5, 16, 1, &r);
	cr_expect(r.is_stopped && r.end == done && done < 2000 && r.time == r.end - 100);
	cr_expect_float_eq(r.accepted, 0.5, 0.1, "%g", r.accepted);
}

/* More ports than have numbers are refused before anything is made for them. */
Test(sim, too_many_ports)
{
	struct fab_sim_params params = fab_sim_defaults();
	struct fab_sim_result r;
	OWN(simulated) s;

	simulated_init(&s, "torus:dims=3x3", "minhop");
	s.f->arc_first[s.f->n_switches] += FAB_SIM_PORTS_MAX;
	FAILS_AS(simulated_send(&s, &params, (struct source){0}, &r), -ERANGE,
		 "more than 2^28 ports");
	s.f->arc_first[s.f->n_switches] -= FAB_SIM_PORTS_MAX;
}

/* A packet that waits at its source for more than 2^32 ps has come when it was created.
 */
Test(sim, trace_of_a_long_wait)
{
	struct fab_sim_params params = fab_sim_defaults();
	const struct fab_sim_step *last;
	OWN(fab_sim_result) r;
	OWN(simulated) s;

	simulated_init(&s, "fattree:radix=4,levels=1", "minhop");
	params.mtu = 32768;
	params.buffer = 1 << 20;
	params.warmup = params.time = 0;
	params.n_traced = 10000;
	MUST(simulated_send(
		&s, &params,
		(struct source){.size = 80000000, .most = 1, .shift = 1, .n_senders = 1},
		&r));
	cr_assert_gt(r.trace.n, 2);
	last = &r.trace.v[r.trace.n - 2]; /* the last packet takes two cables */
	cr_expect(last->hop == 0 && last->target == 1 && last->arrived == 0);
	cr_expect_gt(last->left, UINT32_MAX);
}
