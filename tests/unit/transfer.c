/* SPDX-License-Identifier: BSD-2-Clause */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/rng.h"
#include "boot/transfer.h"
#include "support/boots.h"
#include "support/refill.h"

static struct fab_transfer transfer(const struct fab_machine *m,
				    const struct fab_batch *batch, const uint32_t *of,
				    struct fab_transfer_options options)
{
	struct fab_transfer out;
	struct fab_err err;

	options.image_bytes = 50000000;
	options.n_files = 1;
	cr_assert_eq(fab_transfer_run(m, batch, of, &options, &out, &err), 0);
	return out;
}

/* Filling step by step, every node for itself: the least finishing time first. */
static void fill_naively(const struct fab_machine *m, const struct fab_batch *b,
			 const uint32_t *of, double *finish)
{
	double left[16], rate[16], now = 0;
	bool done[16] = {0};

	for (uint32_t i = 0; i < b->n; i++)
		left[i] = 400;
	for (uint32_t n_done = 0; n_done < b->n;) {
		double step = INFINITY;
		bool frozen[16];

		for (uint32_t i = 0; i < b->n; i++) {
			frozen[i] = done[i];
			rate[i] = 0;
		}
		for (;;) {
			double least = INFINITY;
			uint32_t at = FAB_NONE;
			int at_up = 0;

			for (uint32_t v = 1; v < m->n_vertices; v++)
				for (int up = 0; up < 2; up++) {
					double used = 0, n = 0;

					for (uint32_t i = 0; i < b->n; i++) {
						uint32_t s = of[i], k = b->node[i];
						bool in = k >= m->first_node[v] &&
							  k < m->end_node[v];
						bool sv = s >= m->first_interface[v] &&
							  s < m->end_interface[v];

						if (done[i] || in == sv ||
						    sv != (up == 1))
							continue;
						used += frozen[i] ? rate[i] : 0;
						n += !frozen[i];
					}
					if (n > 0 &&
					    (m->capacity_mbps[v] - used) / n < least) {
						least = (m->capacity_mbps[v] - used) / n;
						at = v;
						at_up = up;
					}
				}
			if (at == FAB_NONE)
				break;
			for (uint32_t i = 0; i < b->n; i++) {
				uint32_t s = of[i], k = b->node[i];
				bool in = k >= m->first_node[at] && k < m->end_node[at];
				bool sv = s >= m->first_interface[at] &&
					  s < m->end_interface[at];

				if (!frozen[i] && in != sv && sv == (at_up == 1)) {
					frozen[i] = true;
					rate[i] = least;
				}
			}
		}
		for (uint32_t i = 0; i < b->n; i++)
			if (!done[i])
				step = fmin(step, left[i] / rate[i]);
		now += step;
		for (uint32_t i = 0; i < b->n; i++) {
			left[i] -= done[i] ? 0 : rate[i] * step;
			if (!done[i] && left[i] < 1e-6) {
				done[i] = true;
				finish[i] = now;
				n_done++;
			}
		}
	}
}

Test(transfer, max_min_is_that_of_naive_filling)
{
	for (uint64_t seed = 0; seed < 100; seed++) {
		struct fab_machine *m = boots_random_machine(seed);
		struct fab_batch all = boots_batch(m, "all");
		struct fab_transfer t;
		double finish[16];
		struct fab_rng rng;
		uint32_t of[6];

		fab_rng_init(&rng, seed + 1000);
		for (int i = 0; i < 6; i++)
			of[i] = (uint32_t)fab_rng_below(&rng, 3);
		fill_naively(m, &all, of, finish);
		t = transfer(m, &all, of, (struct fab_transfer_options){0});
		for (int i = 0; i < 6; i++)
			cr_expect_float_eq(t.finish_s[i], finish[i], 1e-5, "seed %d",
					   (int)seed);
		fab_transfer_fini(&t);
		fab_batch_fini(&all);
		fab_machine_free(m);
	}
}

Test(transfer, max_min_on_the_preset)
{
	struct fab_machine *m = boots_machine("preset:taihulight");
	struct fab_batch all = boots_batch(m, "all");
	uint32_t *bcda = boots_map(m, "bcda", &all);
	struct fab_transfer t = transfer(m, &all, bcda, (struct fab_transfer_options){0});

	cr_expect_float_eq(t.last_s, 102.4, 1e-6);
	fab_transfer_fini(&t);
	/* 16 of a server's 256 at a time: the same bytes through the same segment */
	m->limits.connections = 16;
	t = transfer(m, &all, bcda, (struct fab_transfer_options){0});
	cr_expect_float_eq(t.last_s, 102.4, 1e-3);
	cr_expect_lt(t.first_s, 10);
	fab_transfer_fini(&t);
	m->limits = (struct fab_limits){.disk_mbps = 500};
	t = transfer(m, &all, bcda, (struct fab_transfer_options){0});
	cr_expect_float_eq(t.last_s, 204.8, 1e-6);
	fab_transfer_fini(&t);
	free(bcda);
	fab_batch_fini(&all);
	fab_machine_free(m);
}

/* Nodes of one server, and when they are done. */
static void expect_finish(const char *spec, uint32_t connections,
			  struct fab_transfer_options options, const double *finish,
			  uint64_t n_retries, uint32_t n_failed)
{
	struct fab_machine *m = boots_machine(spec);
	struct fab_batch all = boots_batch(m, "all");
	uint32_t of[8] = {0};
	struct fab_transfer t;

	m->limits.connections = connections;
	t = transfer(m, &all, of, options);

	cr_expect_eq(t.n_retries, n_retries);
	cr_expect_eq(t.n_failed, n_failed);
	for (uint32_t i = 0; i < all.n; i++)
		if (isfinite(finish[i]))
			cr_expect_float_eq(t.finish_s[i], finish[i], 1e-9, "node %u", i);
		else
			cr_expect(isinf(t.finish_s[i]), "node %u", i);
	fab_transfer_fini(&t);
	fab_batch_fini(&all);
	fab_machine_free(m);
}

Test(transfer, who_times_out_asks_again)
{
	const char *three = "rack=1,node=3@1G/server=1@1G";
	struct fab_transfer_options o = {.timeout_seconds = 0.5};

	/* together they take 1.2 s: nobody is ever done */
	expect_finish(three, 0, o, (double[]){INFINITY, INFINITY, INFINITY}, 0, 3);
	o.retries = 7;
	expect_finish(three, 0, o, (double[]){INFINITY, INFINITY, INFINITY}, 21, 3);
	o.timeout_seconds = 1.2;
	expect_finish(three, 0, o, (double[]){1.2, 1.2, 1.2}, 0, 0);
	/* one at a time, 0.4 s each: the last one gives up twice, while it waits and
	 * while it receives */
	o = (struct fab_transfer_options){.timeout_seconds = 0.5, .retries = 1};
	expect_finish(three, 1, o, (double[]){0.4, 0.9, INFINITY}, 2, 1);
	o.retries = 2;
	expect_finish(three, 1, o, (double[]){0.4, 0.9, 1.4}, 3, 0);
	/* the second is served from 0.5 on, and gives up at 0.6 with three quarters */
	o.request_seconds = 0.1;
	expect_finish("rack=1,node=2@1G/server=1@1G", 1, o, (double[]){0.5, 1.1}, 1, 0);
	/* alone on the way from 0.7 on: what the other one left behind counts */
	o = (struct fab_transfer_options){
		.timeout_seconds = 0.7, .stagger_seconds = 0.2, .retries = 1};
	expect_finish("rack=1,node=2@1G/server=1@1G", 0, o, (double[]){0.6, 0.8}, 0, 0);
}

/* Whoever has time enough is done as without a limit; all others retry or fail. */
Test(transfer, timeouts_lose_nobody)
{
	for (uint64_t seed = 0; seed < 200; seed++) {
		struct fab_machine *m = boots_random_machine(seed);
		struct fab_batch all = boots_batch(m, "all");
		struct fab_transfer_options o = {0};
		struct fab_transfer free_run, long_run, short_run;
		struct fab_rng rng;
		uint32_t of[6], n_failed = 0;

		m->limits.connections = (uint32_t)(seed % 3);
		fab_rng_init(&rng, seed + 2000);
		for (int i = 0; i < 6; i++)
			of[i] = (uint32_t)fab_rng_below(&rng, 3);
		free_run = transfer(m, &all, of, o);
		o.timeout_seconds = free_run.last_s * (1 + 1e-9);
		o.retries = 2;
		long_run = transfer(m, &all, of, o);
		cr_expect_eq(long_run.n_retries + long_run.n_failed, 0);
		o.timeout_seconds = free_run.last_s * 0.6;
		short_run = transfer(m, &all, of, o);
		cr_expect_gt(short_run.n_retries, 0);
		for (int i = 0; i < 6; i++) {
			cr_expect_float_eq(long_run.finish_s[i], free_run.finish_s[i],
					   1e-6);
			n_failed += isinf(short_run.finish_s[i]);
			cr_expect_gt(short_run.finish_s[i], 0);
		}
		cr_expect_eq(n_failed, short_run.n_failed);
		cr_expect_leq(short_run.n_retries, 12);
		fab_transfer_fini(&free_run);
		fab_transfer_fini(&long_run);
		fab_transfer_fini(&short_run);
		fab_batch_fini(&all);
		fab_machine_free(m);
	}
}

/* A tree of up to 40 nodes and 6 servers, everywhere; few capacities, so that many
 * segments are full at once, or many. */
static struct fab_machine *draw_machine(struct fab_rng *rng)
{
	uint32_t n_switches = 1 + (uint32_t)fab_rng_below(rng, 8), at = 0;
	uint32_t n_nodes = 1 + (uint32_t)fab_rng_below(rng, 40);
	uint32_t n_servers = 1 + (uint32_t)fab_rng_below(rng, 6);
	uint64_t n_rates = fab_rng_below(rng, 2) ? 3 : 1000;
	struct fab_machine *m;
	struct fab_err err;
	char text[4096];

	for (uint32_t i = 0; i < n_switches + n_nodes + n_servers; i++) {
		uint32_t above = (uint32_t)fab_rng_below(
			rng, (i < n_switches ? i : n_switches) + 1);
		uint64_t rate = 1 + fab_rng_below(rng, n_rates);
		char parent[20] = "-";

		if (above)
			snprintf(parent, sizeof(parent), "s%u", above - 1);
		at += (uint32_t)snprintf(
			text + at, sizeof(text) - at, "%c%u %s %llu %s\n",
			i < n_switches		   ? 's'
			: i < n_switches + n_nodes ? 'n'
						   : 'v',
			i, parent, (unsigned long long)(i < n_switches ? rate * 4 : rate),
			i < n_switches		   ? ""
			: i < n_switches + n_nodes ? "node"
						   : "server");
	}
	cr_assert_eq(fab_machine_read("test", text, at, &m, &err), 0, "%s", err.text);
	return m;
}

static struct fab_transfer_options draw_options(struct fab_rng *rng,
						struct fab_limits *limits)
{
	struct fab_transfer_options o = {.image_bytes = 12500000,
					 .n_files = 1 + (uint32_t)fab_rng_below(rng, 3)};

	if (fab_rng_below(rng, 3))
		o.stagger_seconds = (double)(1 + fab_rng_below(rng, 90000)) * 1e-3;
	if (fab_rng_below(rng, 2))
		o.request_seconds = (double)fab_rng_below(rng, 5);
	if (!fab_rng_below(rng, 4))
		limits->flow_mbps = (double)(1 + fab_rng_below(rng, 3));
	if (!fab_rng_below(rng, 4))
		limits->disk_mbps = (double)(1 + fab_rng_below(rng, 6));
	if (!fab_rng_below(rng, 3))
		limits->connections = 1 + (uint32_t)fab_rng_below(rng, 5);
	if (!fab_rng_below(rng, 3)) {
		o.timeout_seconds = 20.123456 + (double)fab_rng_below(rng, 300);
		o.retries = (uint32_t)fab_rng_below(rng, 4);
	}
	return o;
}

/* What follows only changes is what all anew at every event gives: times, retries, nodes
 * that gave up, whatever the machine and the options. */
Test(transfer, changes_are_what_refilling_all_gives)
{
	uint64_t n_retries = 0, n_failed = 0;

	for (uint64_t seed = 0; seed < 400; seed++) {
		struct fab_transfer_options o;
		struct fab_transfer own, plain;
		struct fab_machine *m;
		struct fab_batch all;
		struct fab_rng rng;
		struct fab_err err;
		uint32_t *of;

		fab_rng_init(&rng, seed);
		m = draw_machine(&rng);
		all = boots_batch(m, "all");
		of = FAB_NEW(m->n_nodes, uint32_t);
		for (uint32_t i = 0; i < m->n_nodes; i++)
			of[i] = (uint32_t)fab_rng_below(&rng, m->n_interfaces);
		o = draw_options(&rng, &m->limits);
		cr_assert_eq(fab_transfer_run(m, &all, of, &o, &own, &err), 0);
		plain = refill_run(m, &all, of, &o);
		for (uint32_t i = 0; i < all.n; i++)
			if (isinf(plain.finish_s[i]))
				cr_expect(isinf(own.finish_s[i]), "seed %d node %u",
					  (int)seed, i);
			else
				cr_expect_float_eq(own.finish_s[i], plain.finish_s[i],
						   1e-6 * plain.finish_s[i],
						   "seed %d node %u: %.12g, not %.12g",
						   (int)seed, i, own.finish_s[i],
						   plain.finish_s[i]);
		cr_expect_eq(own.n_retries, plain.n_retries, "seed %d", (int)seed);
		cr_expect_eq(own.n_failed, plain.n_failed, "seed %d", (int)seed);
		if (isfinite(plain.first_rate_mbps))
			cr_expect_float_eq(own.first_rate_mbps, plain.first_rate_mbps,
					   1e-6 * plain.first_rate_mbps, "seed %d",
					   (int)seed);
		n_retries += plain.n_retries;
		n_failed += plain.n_failed;
		fab_transfer_fini(&own);
		fab_transfer_fini(&plain);
		free(of);
		fab_batch_fini(&all);
		fab_machine_free(m);
	}
	cr_expect_gt(n_retries, 1000);
	cr_expect_gt(n_failed, 300);
}
