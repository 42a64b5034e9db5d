/* SPDX-License-Identifier: BSD-2-Clause */
#include "boot/transfer.h"
#include "base/order.h"
#include "event/stats.h"
#include "support/boots.h"
#include "support/refill.h"
#include "support/test.h"

/* As equal as `slack` says, or both infinite. */
static void expect_time(double got, double want, double slack)
{
	if (isinf(want))
		cr_expect(isinf(got), "%.12g", got);
	else
		cr_expect_float_eq(got, want, slack, "%.12g, not %.12g", got, want);
}

/* Nodes of one server, of which each takes 0.4 s alone, and when they are done. */
Test(transfer, by_hand)
{
	static const char two[] = "rack=1,node=2@1G/server=1@1G";
	static const char three[] = "rack=1,node=3@1G/server=1@1G";
	static const struct {
		const char *spec;
		uint32_t connections, retries;
		double timeout, request, stagger, finish[3]; /* 0: gives up */
		uint32_t n_retries, n_failed;
	} rows[] = {
		/* together they take 1.2 s: none is ever done */
		{three, 0, 0, 0.5, 0, 0, {0}, 0, 3},
		{three, 0, 7, 0.5, 0, 0, {0}, 21, 3},
		{three, 0, 7, 1.2, 0, 0, {1.2, 1.2, 1.2}, 0, 0},
		/* one at a time: the last one gives up twice, waiting and receiving */
		{three, 1, 1, 0.5, 0, 0, {0.4, 0.9, 0}, 2, 1},
		{three, 1, 2, 0.5, 0, 0, {0.4, 0.9, 1.4}, 3, 0},
		/* the second, served from 0.5 on, gives up at 0.6 with three quarters */
		{two, 1, 2, 0.5, 0.1, 0, {0.5, 1.1}, 1, 0},
		/* alone on the way from 0.7 on: what the other one left behind counts */
		{two, 0, 1, 0.7, 0, 0.2, {0.6, 0.8}, 0, 0},
		/* without limits nodes have their image at once */
		{"node=3/server=1", 0, 0, 0, 0.1, 0.2, {0.1, 0.3, 0.5}, 0, 0},
	};

	for (size_t k = 0; k < FAB_COUNT(rows); k++) {
		OWN(fab_machine) *m = boots_machine(rows[k].spec);
		OWN(fab_batch) all = boots_batch(m, "all");
		const struct fab_transfer_options o = {.image_bytes = 50000000,
						       .n_files = 1,
						       .timeout_seconds = rows[k].timeout,
						       .retries = rows[k].retries,
						       .request_seconds = rows[k].request,
						       .stagger_seconds =
							       rows[k].stagger};
		uint32_t of[3] = {0};
		FAB_AUTO(fab_transfer_fini) struct fab_transfer t = {0};

		m->limits.connections = rows[k].connections;
		MUST(fab_transfer_run(m, &all, of, &o, &t, ERR));
		cr_expect_eq(t.n_retries, rows[k].n_retries, "row %zu", k);
		cr_expect_eq(t.n_failed, rows[k].n_failed, "row %zu", k);
		for (uint32_t i = 0; i < all.n; i++)
			expect_time(t.finish_s[i],
				    rows[k].finish[i] > 0 ? rows[k].finish[i]
							  : (double)INFINITY,
				    1e-9);
	}
}

/* A tree of up to 40 nodes and 6 servers, everywhere; few capacities, so that many
 * segments are full at once, or many. */
static struct fab_machine *draw_machine(struct fab_rng *rng)
{
	uint64_t n_rates = fab_rng_below(rng, 2) ? 3 : 1000;
	const struct boots_kind kind[] = {{1 + test_below(rng, 8), 4, n_rates},
					  {1 + test_below(rng, 40), 1, n_rates},
					  {1 + test_below(rng, 6), 1, n_rates}};

	return boots_draw(rng, kind);
}

static struct fab_transfer_options draw_options(struct fab_rng *rng,
						struct fab_limits *limits)
{
	struct fab_transfer_options o = {.image_bytes = 12500000,
					 .n_files = 1 + test_below(rng, 3)};

	if (fab_rng_below(rng, 3))
		o.stagger_seconds = (double)(1 + fab_rng_below(rng, 90000)) * 1e-3;
	if (fab_rng_below(rng, 2))
		o.request_seconds = (double)fab_rng_below(rng, 5);
	if (!fab_rng_below(rng, 4))
		limits->flow_mbps = (double)(1 + fab_rng_below(rng, 3));
	if (!fab_rng_below(rng, 4))
		limits->disk_mbps = (double)(1 + fab_rng_below(rng, 6));
	if (!fab_rng_below(rng, 3))
		limits->connections = 1 + test_below(rng, 5);
	if (!fab_rng_below(rng, 3)) {
		o.timeout_seconds = 20.123456 + (double)fab_rng_below(rng, 300);
		o.retries = test_below(rng, 4);
	}
	return o;
}

/* Rates that follow changes are those of filling all pipes again at every event: times,
 * retries, nodes that gave up, for any machine and options. */
Test(transfer, changes_are_what_refilling_all_gives)
{
	uint64_t n_retries = 0, n_failed = 0;

	for (uint64_t seed = 0; seed < 400; seed++) {
		struct fab_transfer_options o;
		double middle;
		FAB_AUTO(fab_transfer_fini) struct fab_transfer own = {0}, plain = {0};
		struct fab_rng rng = test_rng(seed);
		OWN(fab_machine) *m = draw_machine(&rng);
		OWN(fab_batch) all = boots_batch(m, "all");
		FAB_AUTOFREE uint32_t *of = FAB_NEW(m->n_nodes, uint32_t);

		for (uint32_t i = 0; i < m->n_nodes; i++)
			of[i] = test_below(&rng, m->n_interfaces);
		o = draw_options(&rng, &m->limits);
		MUST(fab_transfer_run(m, &all, of, &o, &own, ERR));
		plain = refill_run(m, &all, of, &o);
		for (uint32_t i = 0; i < all.n; i++)
			expect_time(own.finish_s[i], plain.finish_s[i],
				    1e-6 * plain.finish_s[i]);
		cr_expect_eq(own.n_retries, plain.n_retries, "seed %lu", seed);
		cr_expect_eq(own.n_failed, plain.n_failed, "seed %lu", seed);
		if (isfinite(plain.first_rate_mbps))
			expect_time(own.first_rate_mbps, plain.first_rate_mbps,
				    1e-6 * plain.first_rate_mbps);
		qsort(plain.finish_s, all.n, sizeof(double), fab_cmp_double);
		expect_time(own.first_s, plain.finish_s[0], 1e-6 * plain.finish_s[0]);
		middle = fab_quantile(plain.finish_s, all.n, 0.5);
		expect_time(own.median_s, middle, 1e-6 * middle);
		n_retries += plain.n_retries;
		n_failed += plain.n_failed;
	}
	cr_expect(test_reaches(n_retries > 1000 && n_failed > 300));
}
