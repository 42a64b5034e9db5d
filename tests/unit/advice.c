/* SPDX-License-Identifier: BSD-2-Clause */
/* How many servers are enough, and what limits, against trying all sets of servers. */
#include "boot/advice.h"
#include "boot/share.h"
#include "support/boots.h"
#include "support/test.h"

static const struct fab_transfer_options one_file = {.image_bytes = 1000000,
						     .n_files = 1};

/* Up to 8 nodes and 7 servers of unlike rates. */
static struct fab_machine *draw_machine(uint64_t seed)
{
	struct fab_rng rng = test_rng(seed);
	struct boots_kind kind[] = {{5, 1, 45}, {0, 1, 15}, {0, 1, 32}};

	kind[1].n = test_below(&rng, 8) + 1;
	kind[2].n = test_below(&rng, 7) + 1;
	return boots_draw(&rng, kind);
}

/* By trying all sets of servers; 0: not even all are enough. */
static uint32_t fewest_brute(const struct fab_machine *m, const struct fab_batch *batch,
			     double mbps)
{
	struct fab_machine copy = *m;
	bool down[8];
	uint32_t best = 0;

	copy.server_is_down = down;
	for (uint32_t set = 1; set < 1U << m->n_servers; set++) {
		uint32_t n = (uint32_t)__builtin_popcount(set);

		for (uint32_t s = 0; s < m->n_servers; s++)
			down[s] = !(set >> s & 1);
		if ((!best || n < best) &&
		    fab_mapping_upper_bound_mbps(&copy, batch) >= mbps * (1 - 1e-9))
			best = n;
	}
	return best;
}

Test(advice, servers_needed_are_the_fewest)
{
	const struct fab_transfer_options o = {
		.image_bytes = 1000000, .n_files = 2, .request_seconds = 0.5};
	uint32_t n_some = 0, n_new = 0;

	for (uint64_t seed = 0; seed < 300; seed++) {
		OWN(fab_machine) *m = draw_machine(seed);
		OWN(fab_batch) all = boots_batch(m, "all");
		const struct fab_limits limits = {.flow_mbps = seed % 7 ? 0 : 6,
						  .disk_mbps = seed % 3 ? 0 : 11,
						  .connections = seed % 5 ? 0 : 2};

		fab_limits_apply(m, &limits, 0.5);
		for (double mbps = 1; mbps < 10; mbps *= 1.31) {
			double seconds = 1 + 8 / mbps;
			struct fab_servers_needed got =
				fab_advice_servers(m, &all, &o, seconds);
			uint32_t want = fewest_brute(m, &all, mbps);

			cr_expect_not(got.is_estimate);
			cr_expect_eq(got.n_up, m->n_servers);
			if (want)
				cr_expect(got.n == want && !got.n_new,
					  "seed %u, %g Mb/s: %u, not %u", (unsigned)seed,
					  mbps, got.n, want);
			else
				cr_expect(!got.n || got.n_new == got.n - got.n_up,
					  "seed %u, %g Mb/s", (unsigned)seed, mbps);
			n_some += want > 0 && want < m->n_servers;
			n_new += got.n_new > 0;
		}
	}
	cr_expect_gt(n_some, 100);
	cr_expect_gt(n_new, 20);
}

/* With images of several sizes the fewest lie between the two numbers, by the bound. */
Test(advice, servers_needed_for_several_sizes)
{
	double part[8] = {1, 0.25, 0.5, 1, 0.25, 0.25, 0.125, 0.5};
	uint32_t n_between = 0, n_met = 0;

	for (uint64_t seed = 0; seed < 100; seed++) {
		OWN(fab_machine) *m = seed ? draw_machine(seed)
					   : boots_machine("node=8@9M/server=7@10M");
		OWN(fab_batch) all = boots_batch(m, "all");

		m->image_part = part;
		for (double mbps = 1; mbps < 10; mbps *= 1.1) {
			struct fab_servers_needed got =
				fab_advice_servers(m, &all, &one_file, 8 / mbps);
			uint32_t want = fewest_brute(m, &all, mbps);

			cr_expect_leq(got.n_least, got.n);
			if (want)
				cr_expect(got.n_least <= want &&
						  (!got.n || want <= got.n),
					  "seed %u, %g Mb/s: %u to %u, not %u",
					  (unsigned)seed, mbps, got.n_least, got.n, want);
			n_between += got.n_least < got.n;
			n_met += got.n_least > 1 && got.n_least == want;
		}
	}
	cr_expect_gt(n_between, 100);
	cr_expect_gt(n_met, 10, "%u", n_met);
}

/* What is to be bought, bought: with so many the bound holds, with one less it does not.
 */
Test(advice, servers_to_buy_are_enough_and_needed)
{
	for (uint32_t nodes = 1; nodes <= 20; nodes++)
		for (uint32_t servers = 1; servers <= 3; servers++) {
			OWN_HEAP char *spec =
				fab_format("node=%u@100M/server=%u@70M", nodes, servers);
			OWN(fab_machine) *m = boots_machine(spec);
			OWN(fab_batch) all = boots_batch(m, "all");
			/* 8 Mbit in 0.3 s are 26.7 Mb/s: a server has two nodes */
			struct fab_servers_needed got =
				fab_advice_servers(m, &all, &one_file, 0.3);

			cr_expect_eq(got.n, (nodes + 1) / 2, "%s", spec);
			cr_expect_eq(got.n_new, got.n > servers ? got.n - servers : 0,
				     "%s", spec);
		}
}

/* Eight nodes of 1 Gb/s and four such servers: 100 MB at half the rate take 3.2 s; in 1.7
 * s each node needs a server of its own. Disks and blocks are not halved. */
Test(advice, limits_of_transfers_count)
{
	OWN(fab_machine) *m = boots_machine("node=8@1G/server=4@1G");
	OWN(fab_batch) all = boots_batch(m, "all");
	const struct fab_transfer_options o = {.image_bytes = 100000000, .n_files = 1};
	const struct fab_mapping_problem problem = {.m = m, .batch = &all};
	struct fab_advice advice[FAB_ADVICE_MAX];
	struct fab_servers_needed got;
	uint32_t n;

	fab_limits_apply(m, &(struct fab_limits){0}, 0.5);
	got = fab_advice_servers(m, &all, &o, 1.7);
	cr_expect_eq(got.n, 8);
	cr_expect_eq(got.n_new, 4);
	m->limits.disk_mbps = 250;
	cr_expect_eq(fab_advice_servers(m, &all, &o, 1.7).n, 0);
	cr_expect_eq(fab_advice_servers(m, &all, &o, 3.2).n, 8);
	MUST(fab_advice_raise(&problem, &o, advice, &n, ERR));
	cr_expect_eq(advice[0].levels, fab_limit_bit(FAB_LIMIT_DISK));
	m->limits = (struct fab_limits){.flow_mbps = 50};
	MUST(fab_advice_raise(&problem, &o, advice, &n, ERR));
	cr_expect_eq(advice[0].levels, fab_limit_bit(FAB_LIMIT_TRANSFER));
	m->limits.connections = 1;
	MUST(fab_advice_raise(&problem, &o, advice, &n, ERR));
	cr_expect_float_eq(advice[0].bandwidth_mbps, 50, 1e-6);
	cr_expect_float_eq(advice[0].seconds, 16, 1e-6);
	cr_expect_eq(fab_advice_servers(m, &all, &o, 15.9).n, 0);
	cr_expect_eq(fab_advice_servers(m, &all, &o, 16.1).n, 8);
	cr_expect_eq(fab_advice_servers(m, &all, &o, 0).n, 0);
}
