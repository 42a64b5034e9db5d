/* SPDX-License-Identifier: BSD-2-Clause */
/* Disks, blocks, connections and cables in one model: mappings, times and advice. */
#include "boot/advice.h"
#include "boot/share.h"
#include "support/boots.h"
#include "support/test.h"

enum { NODES = 6, INTERFACES = 3 };

/* Limits of about the size of the cables; `joint`: servers 0 and 2 become one. */
static struct fab_machine *draw_small(uint64_t seed, bool joint)
{
	struct fab_machine *m = boots_random_machine(seed);
	struct fab_limits limits = {0};
	struct fab_rng rng = test_rng(seed + 5000);

	if (joint) {
		m->interface_server[2] = m->interface_server[0];
		m->n_servers = 2;
	}
	if (fab_rng_below(&rng, 3))
		limits.disk_mbps = (double)(1 + fab_rng_below(&rng, 8));
	if (!fab_rng_below(&rng, 3))
		limits.flow_mbps = (double)(1 + fab_rng_below(&rng, 3));
	if (fab_rng_below(&rng, 2))
		limits.connections = 1 + test_below(&rng, 3);
	fab_limits_apply(m, &limits, fab_rng_below(&rng, 2) ? 1 : 0.5);
	return m;
}

/* Of all mappings, and of all that leave some nodes where they are. */
Test(limits, balanced_is_the_best_of_all_mappings)
{
	for (uint64_t seed = 0; seed < 300 / TEST_SHARE; seed++) {
		OWN(fab_machine) *m = draw_small(seed, seed % 2);
		OWN(fab_batch) all = boots_batch(m, "all");
		OWN_HEAP uint32_t *of = boots_map(m, "balanced", &all);
		uint32_t fixed[NODES], completed[NODES];
		struct fab_rng rng = test_rng(seed + 9000);
		double best, own = boots_share(m, &all, of);

		memset(fixed, 0xff, sizeof(fixed)); /* FAB_NONE */
		best = boots_best(m, &all, fixed, 0);
		cr_expect_float_eq(own, fab_share_slowest_brute(m, &all, of), 1e-9 * own);
		cr_expect_float_eq(own, best, 1e-9 * best, "seed %d", (int)seed);
		cr_expect_float_eq(fab_mapping_upper_bound_mbps(m, &all), best,
				   1e-9 * best);
		for (uint32_t i = 0; i < NODES; i++)
			fixed[i] = fab_rng_below(&rng, 2) ? test_below(&rng, INTERFACES)
							  : FAB_NONE;
		memcpy(completed, fixed, sizeof(completed));
		fab_mapping_complete(m, &all, completed);
		best = boots_best(m, &all, fixed, 0);
		own = boots_share(m, &all, completed);
		cr_expect_float_eq(own, best, 1e-9 * best, "seed %d", (int)seed);
		for (uint32_t i = 0; i < NODES; i++)
			cr_expect(fixed[i] == FAB_NONE || completed[i] == fixed[i]);
	}
}

/* Three nodes of one disk, the first node alone on the other: the second one is the first
 * of the slowest. Interfaces have what their disk leaves them. */
Test(limits, the_slowest_node_is_that_of_the_full_disk)
{
	OWN(fab_machine) *m = boots_machine("node=4@1G/server=2@10G");
	OWN(fab_batch) all = boots_batch(m, "all");
	const uint32_t of[4] = {0, 1, 1, 1};
	struct fab_share share;
	OWN_HEAP double *rate = NULL;

	m->limits.disk_mbps = 900;
	MUST(fab_share_of(m, &all, of, &share, ERR));
	cr_expect_float_eq(share.bandwidth_mbps, 300, 1e-9);
	cr_expect_eq(share.slowest_node, 1);
	cr_expect_str_eq(share.segment[share.bottleneck].name, "disk");
	cr_expect_eq(share.segment[share.bottleneck].max_sharers, 3);
	m->n_servers = 1;
	m->interface_server[1] = 0;
	rate = fab_limits_interfaces(m);
	cr_expect(fabs(rate[0] - 450) < 1e-9 && fabs(rate[1] - 450) < 1e-9);
}

/* Servers of several interfaces: as many as advised are enough, those that are to be
 * bought are needed. */
Test(limits, servers_of_several_interfaces_that_are_enough)
{
	const struct fab_transfer_options o = {.image_bytes = 1000000, .n_files = 1};
	uint32_t n_some = 0, n_new = 0;

	for (uint64_t seed = 0; seed < 300 / TEST_SHARE; seed++) {
		OWN(fab_machine) *m = draw_small(seed, true);
		OWN(fab_batch) all = boots_batch(m, "all");

		for (double mbps = 0.2; mbps < 4; mbps *= 1.4) {
			struct fab_servers_needed got =
				fab_advice_servers(m, &all, &o, 8 / mbps);
			double with_one = 0, with_all;

			with_all = fab_mapping_upper_bound_mbps(m, &all);
			for (uint32_t s = 0; s < 2; s++) {
				m->server_is_down[!s] = true;
				with_one = fmax(with_one,
						fab_mapping_upper_bound_mbps(m, &all));
				m->server_is_down[!s] = false;
			}
			cr_expect(got.is_estimate);
			cr_expect_eq(with_all >= mbps * (1 - 1e-9), got.n && !got.n_new,
				     "seed %d, %g Mb/s", (int)seed, mbps);
			if (got.n && !got.n_new)
				cr_expect_eq(got.n == 1, with_one >= mbps * (1 - 1e-9),
					     "seed %d, %g Mb/s", (int)seed, mbps);
			n_some += got.n == 1;
			n_new += got.n_new > 0;
		}
	}
	cr_expect(n_some > 100 / TEST_SHARE && n_new > 20 / TEST_SHARE);
}

/* A new server takes as many nodes as the disk of the old one leaves too little for;
 * nodes outside the batch have a server, too. */
Test(limits, keep_moves_nodes_off_a_full_disk)
{
	OWN(fab_machine) *m = boots_machine("node=6@1G/server=2@10G");
	OWN(fab_batch) all = boots_batch(m, "all"), two = boots_batch(m, "first:2");
	const struct fab_mapping_engine *keep = boots_engine("keep");
	uint32_t loaded[NODES] = {0}, of[NODES];
	bool was_down[2] = {false, true};
	struct fab_mapping_problem problem = {
		.m = m, .batch = &all, .loaded = loaded, .was_down = was_down};

	MUST(keep->map(&problem, of, ERR));
	for (uint32_t i = 0; i < NODES; i++)
		cr_expect_eq(of[i], 0); /* 10 Gb/s are enough */
	m->limits.disk_mbps = 900;
	MUST(keep->map(&problem, of, ERR));
	cr_expect_eq(of[0] + of[1] + of[2] + of[3] + of[4] + of[5], 3);
	m->limits.disk_mbps = 0;
	memset(loaded, 0xff, sizeof(loaded)); /* FAB_NONE */
	problem = (struct fab_mapping_problem){.m = m, .batch = &two, .loaded = loaded};
	MUST(keep->map(&problem, of, ERR));
	for (uint32_t i = 0; i < NODES; i++)
		cr_expect_lt(of[i], 2);
}

/* Servers of 10 and 1 Gb/s with equal disks: each prefix is halved. */
Test(limits, prefixes_count_disks)
{
	static const char text[] = "n1 - 1G node\nn2 - 1G node\nn3 - 1G node\n"
				   "n4 - 1G node\ns1 - 10G server\ns2 - 1G server\n";
	OWN(fab_machine) *m = boots_read(text);
	OWN(fab_batch) two = boots_batch(m, "first:2");
	const struct fab_mapping_problem problem = {
		.m = m, .batch = &two, .purpose = FAB_FOR_PREFIXES};
	uint32_t of[4];

	m->limits.disk_mbps = 1000;
	MUST(boots_engine("balanced")->map(&problem, of, ERR));
	cr_expect(of[0] != of[1] && of[2] != of[3]);
}

/* ---- the acceptance of the model on drawn machines ---- */

struct drawn {
	struct fab_machine *m;
	struct fab_batch all;
	struct fab_transfer_options options;
	bool is_max_min;
};

/* Up to 14 nodes and 6 servers in up to 4 tiers, with limits; every second machine has
 * few capacities. */
static void draw(uint64_t seed, struct drawn *d)
{
	struct fab_limits limits = {0};
	struct fab_rng rng = test_rng(seed + 77000);
	uint64_t rate = seed % 2 ? 1000 : 1, n_rates = seed % 2 ? 4 : 6000;
	const struct boots_kind kind[] = {{test_below(&rng, 5), rate, n_rates},
					  {1 + test_below(&rng, 14), rate, n_rates},
					  {1 + test_below(&rng, 6), rate, n_rates}};

	d->m = boots_draw(&rng, kind);
	d->all = boots_batch(d->m, "all");
	d->options = (struct fab_transfer_options){
		.image_bytes = 50000000,
		.n_files = 1 + test_below(&rng, 2),
		.request_seconds = fab_rng_below(&rng, 4) ? 0 : 0.02};
	d->is_max_min = fab_rng_below(&rng, 2);
	if (fab_rng_below(&rng, 5) < 3)
		limits.disk_mbps = 200 + (double)fab_rng_below(&rng, 4000);
	if (fab_rng_below(&rng, 3) == 0)
		limits.flow_mbps = 100 * (double)(1 + fab_rng_below(&rng, 20));
	if (d->is_max_min && fab_rng_below(&rng, 2))
		limits.connections = 1 + test_below(&rng, 5);
	if (d->is_max_min && !fab_rng_below(&rng, 5))
		d->options.stagger_seconds = 0.01;
	if (d->is_max_min && !fab_rng_below(&rng, 5)) {
		d->options.timeout_seconds = 0.3 + 0.1 * (double)fab_rng_below(&rng, 20);
		d->options.retries = test_below(&rng, 3);
	}
	fab_limits_apply(d->m, &limits, fab_rng_below(&rng, 2) ? 1 : 0.94);
}

enum { NEVER_S = 1000000 }; /* for each node that gives up */

static struct fab_mapping_problem
problem_of(const struct drawn *d, const struct fab_machine *m, uint32_t argument)
{
	bool is_timed = d->is_max_min && fab_transfer_is_timed(m, &d->options);

	return (struct fab_mapping_problem){.m = m,
					    .batch = &d->all,
					    .argument = argument,
					    .timed = is_timed ? &d->options : NULL};
}

/* How long the mapping of an engine takes by the model. */
static double time_of(const struct drawn *d, const struct fab_machine *m,
		      const struct fab_mapping_engine *e, uint32_t argument)
{
	const struct fab_mapping_problem problem = problem_of(d, m, argument);
	const struct fab_transfer_options *o = &d->options;
	FAB_AUTO(fab_transfer_fini) struct fab_transfer t = {0};
	uint32_t of[32];

	MUST(e->map(&problem, of, ERR));
	if (!d->is_max_min)
		return o->n_files * o->request_seconds +
		       400 / fab_share_slowest_brute(m, &d->all, of);
	MUST(fab_transfer_run(m, &d->all, of, o, &t, ERR));
	return t.n_failed ? (double)NEVER_S * t.n_failed : t.last_s;
}

/* No other rule is quicker. */
static void expect_quickest(uint64_t seed, const struct drawn *d)
{
	double own = time_of(d, d->m, boots_engine("balanced"), 0);

	for (size_t i = 0; i < fab_mapping_n_engines; i++) {
		const struct fab_mapping_engine *e = &fab_mapping_engines[i];
		bool is_block = !strcmp(e->form, "block:N");

		if (e->needs_loaded)
			continue;
		for (uint32_t k = 0; k < (is_block ? 4 : 1); k++)
			cr_expect_leq(own, time_of(d, d->m, e, k + 1) * (1 + 1e-9),
				      "seed %d: %s", (int)seed, e->form);
	}
}

/* Advice followed by hand: `balanced` on that machine takes the time that was promised.
 * Returns how many pieces there are. */
static uint32_t expect_attained(uint64_t seed, const struct drawn *d)
{
	const struct fab_mapping_problem problem = problem_of(d, d->m, 0);
	struct fab_advice advice[FAB_ADVICE_MAX];
	uint32_t n;

	MUST(fab_advice_raise(&problem, &d->options, advice, &n, ERR));
	for (uint32_t i = 0; i < n; i++) {
		struct fab_machine better = *d->m;
		double got;

		better.capacity_mbps = FAB_NEW(better.n_vertices, double);
		for (uint32_t v = 0; v < better.n_vertices; v++)
			better.capacity_mbps[v] =
				d->m->capacity_mbps[v] *
				(1 + (advice[i].levels >> better.level_of[v] & 1));
		if (advice[i].levels & fab_limit_bit(FAB_LIMIT_DISK))
			better.limits.disk_mbps *= 2;
		if (advice[i].levels & fab_limit_bit(FAB_LIMIT_TRANSFER))
			better.limits.flow_mbps *= 2;
		if (advice[i].levels & fab_limit_bit(FAB_LIMIT_CONNECTIONS))
			better.limits.connections *= 2;
		got = time_of(d, &better, boots_engine("balanced"), 0);
		if (isinf(advice[i].seconds))
			cr_expect_geq(got, NEVER_S);
		else
			cr_expect_float_eq(got, advice[i].seconds, 1e-9 * got,
					   "seed %d, levels %x", (int)seed,
					   advice[i].levels);
		free(better.capacity_mbps);
	}
	return n;
}

TEST_EACH(part, 4, limits, balanced_is_quickest_and_advice_is_attained)
{
	uint32_t n_advice = 0;

	for (uint64_t seed = (uint64_t)*part; seed < 1000 / TEST_SHARE; seed += 4) {
		struct drawn d;

		draw(seed, &d);
		expect_quickest(seed, &d);
		n_advice += expect_attained(seed, &d);
		fab_batch_fini(&d.all);
		fab_machine_free(d.m);
	}
	cr_expect_gt(n_advice, 500 / TEST_SHARE);
}
