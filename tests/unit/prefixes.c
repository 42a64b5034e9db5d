/* SPDX-License-Identifier: BSD-2-Clause */
/* One mapping for all prefixes: what it costs, against trying all mappings. */
#include "boot/share.h"
#include "support/boots.h"
#include "support/test.h"

enum { NODES = 6, SERVERS = 3 };

/* How much slower than the best mapping for it the worst prefix is. */
static double loss(const struct fab_machine *m, const double best[NODES + 1],
		   const uint32_t *of)
{
	static const uint32_t node[NODES] = {0, 1, 2, 3, 4, 5};
	double most = 1;

	for (uint32_t n = 1; n <= m->n_nodes; n++) {
		OWN(fab_batch) batch;

		fab_batch_of(node, n, "prefix", &batch);
		most = fmax(most, best[n] / fab_share_slowest_brute(m, &batch, of));
	}
	return most;
}

/* Of the best of all mappings, and of `balanced` for prefixes and for the whole. */
struct losses {
	double best, prefixes, all;
};

static struct losses losses_of(const struct fab_machine *m)
{
	struct losses out = {.best = INFINITY};
	double best[NODES + 1];
	OWN(fab_batch) all = fab_batch_all(m);
	struct fab_mapping_problem p = {.m = m, .batch = &all};
	const struct fab_mapping_engine *balanced = boots_engine("balanced");
	uint32_t of[NODES], n_mappings = 1;

	for (uint32_t n = 1; n <= m->n_nodes; n++) {
		struct fab_batch first = all;

		first.n = n;
		best[n] = fab_mapping_upper_bound_mbps(m, &first);
		n_mappings *= m->n_interfaces;
	}
	for (uint32_t code = 0; code < n_mappings; code++) {
		for (uint32_t i = 0, c = code; i < m->n_nodes; i++, c /= m->n_interfaces)
			of[i] = c % m->n_interfaces;
		out.best = fmin(out.best, loss(m, best, of));
	}
	p.purpose = FAB_FOR_PREFIXES;
	MUST(balanced->map(&p, of, ERR));
	out.prefixes = loss(m, best, of);
	p.purpose = FAB_FOR_ALL;
	MUST(balanced->map(&p, of, ERR));
	out.all = loss(m, best, of);
	return out;
}

/* Over machines by chance one mapping for all prefixes costs next to nothing; that which
 * is best for the whole machine may cost its prefixes a lot. */
Test(prefixes, price_of_serving_all)
{
	double best = 0, prefixes = 0, all = 0, worst = 0;
	uint32_t n_machines = test_some(200, 1, 50), n_best = 0;

	for (uint64_t seed = 0; seed < n_machines; seed++) {
		OWN(fab_machine) *m = boots_random_machine(seed);
		struct losses l = losses_of(m);

		cr_expect_geq(l.prefixes, l.best * (1 - 1e-9));
		best += l.best / n_machines;
		prefixes += l.prefixes / n_machines;
		all += l.all / n_machines;
		worst = fmax(worst, l.prefixes);
		n_best += l.prefixes <= l.best * (1 + 1e-9);
	}
	cr_expect_leq(best, 1.002);
	cr_expect_leq(prefixes, 1.02);
	cr_expect_leq(worst, 2);
	cr_expect_geq(n_best, n_machines * 97 / 100);
	cr_expect_geq(all, 1.15);
}

/* `keep` moves the orphans only, and no other mapping of them is better. */
Test(prefixes, orphans_are_spread_best)
{
	for (uint64_t seed = 0; seed < 200 / TEST_SHARE; seed++) {
		OWN(fab_machine) *m = boots_random_machine(seed);
		OWN(fab_batch) all = fab_batch_all(m);
		bool was_down[SERVERS] = {0};
		uint32_t loaded[NODES], kept[NODES], of[NODES];
		const struct fab_mapping_problem p = {
			.m = m, .batch = &all, .loaded = loaded, .was_down = was_down};

		m->server_is_down[seed % SERVERS] = true;
		for (uint32_t i = 0; i < NODES; i++) {
			loaded[i] =
				(uint32_t)(seed / 3 * 7 + i * (seed % 5 + 1)) % SERVERS;
			kept[i] = loaded[i] == seed % SERVERS ? FAB_NONE : loaded[i];
		}
		MUST(boots_engine("keep")->map(&p, of, ERR));
		for (uint32_t i = 0; i < NODES; i++)
			cr_expect(kept[i] == FAB_NONE || of[i] == kept[i]);
		MUST(fab_mapping_verify(m, &all, of, ERR));
		cr_expect_float_eq(fab_share_slowest_brute(m, &all, of),
				   boots_best(m, &all, kept, 0), 1e-9, "seed %lu", seed);
	}
}

/* Who is served from outside of its server's share moves to the new server, nobody else.
 */
Test(prefixes, new_servers_take_the_fewest)
{
	OWN(fab_machine) *m = boots_machine("node=40@10G,servers=5@1G");
	OWN(fab_batch) all = fab_batch_all(m);
	bool was_down[] = {false, false, false, false, true};
	uint32_t loaded[40], of[40], moved = 0;
	const struct fab_mapping_problem p = {
		.m = m, .batch = &all, .loaded = loaded, .was_down = was_down};

	for (uint32_t i = 0; i < 40; i++)
		loaded[i] = i % 4;
	MUST(boots_engine("keep")->map(&p, of, ERR));
	for (uint32_t i = 0; i < 40; i++) {
		moved += of[i] != loaded[i];
		cr_expect(of[i] == loaded[i] || of[i] == 4);
	}
	cr_expect_eq(moved, 8);
	cr_expect_float_eq(fab_share_slowest_brute(m, &all, of), 125, 1e-9);
}
