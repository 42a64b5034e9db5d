/* SPDX-License-Identifier: BSD-2-Clause */
#include "boot/transfer.h"
#include "base/order.h"
#include "event/stats.h"
#include "support/boots.h"
#include "support/refill.h"
#include "support/test.h"

static struct fab_transfer transfer(const struct fab_machine *m,
				    const struct fab_batch *batch, const uint32_t *of,
				    struct fab_transfer_options options)
{
	struct fab_transfer out;

	options.image_bytes = 50000000;
	options.n_files = 1;
	MUST(fab_transfer_run(m, batch, of, &options, &out, ERR));
	return out;
}

Test(transfer, max_min_on_the_preset)
{
	OWN(fab_machine) *m = boots_machine("preset:taihulight");
	OWN(fab_batch) all = boots_batch(m, "all");
	FAB_AUTOFREE uint32_t *bcda = boots_map(m, "bcda", &all);
	FAB_AUTO(fab_transfer_fini)
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
}

/* Nodes of one server, and when they are done. */
static void expect_finish(const char *spec, uint32_t connections,
			  struct fab_transfer_options options, const double *finish,
			  uint64_t n_retries, uint32_t n_failed)
{
	OWN(fab_machine) *m = boots_machine(spec);
	OWN(fab_batch) all = boots_batch(m, "all");
	uint32_t of[8] = {0};
	FAB_AUTO(fab_transfer_fini) struct fab_transfer t;

	m->limits.connections = connections;
	t = transfer(m, &all, of, options);

	cr_expect_eq(t.n_retries, n_retries);
	cr_expect_eq(t.n_failed, n_failed);
	for (uint32_t i = 0; i < all.n; i++)
		if (isfinite(finish[i]))
			cr_expect_float_eq(t.finish_s[i], finish[i], 1e-9, "node %u", i);
		else
			cr_expect(isinf(t.finish_s[i]), "node %u", i);
}

Test(transfer, who_times_out_asks_again)
{
	const char *three = "rack=1,node=3@1G/server=1@1G";
	struct fab_transfer_options o = {.timeout_seconds = 0.5};

	/* together they take 1.2 s: none is ever done */
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

/* Without limits nodes have their image at once. */
Test(transfer, nothing_is_limited)
{
	struct fab_transfer_options o = {.request_seconds = 0.1, .stagger_seconds = 0.2};

	expect_finish("node=3/server=1", 0, o, (double[]){0.1, 0.3, 0.5}, 0, 0);
}

/* The first and the median time; INFINITY where nodes gave up. */
static void expect_quantiles(const struct fab_transfer *t, uint32_t n, uint64_t seed)
{
	FAB_AUTOFREE double *sorted = FAB_NEW(n, double);
	double middle;

	memcpy(sorted, t->finish_s, n * sizeof(*sorted));
	qsort(sorted, n, sizeof(*sorted), fab_cmp_double);
	middle = fab_quantile(sorted, n, 0.5);
	cr_expect(!(t->first_s < sorted[0]) && !(t->first_s > sorted[0]), "seed %lu",
		  seed);
	cr_expect(!(t->median_s < middle) && !(t->median_s > middle), "seed %lu", seed);
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
		expect_quantiles(&own, all.n, seed);
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
	}
	cr_expect_gt(n_retries, 1000);
	cr_expect_gt(n_failed, 300);
}
