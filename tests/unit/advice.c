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
	cr_expect(test_reaches(n_some > 100 && n_new > 20));
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
	cr_expect(test_reaches(n_between > 100 && n_met > 10), "%u", n_met);
}
