/* SPDX-License-Identifier: BSD-2-Clause */
#include "unicast/placement.h"

#include "support/test.h"
#include "support/unicast_check.h"
#include "unicast/engine.h"
#include "unicast/path.h"

static uint32_t leaf_of(const struct fab_fabric *f, uint32_t host)
{
	return fab_port_switch(f, fab_host_endpoint(f, host));
}

static uint32_t n_leaves_of(const struct fab_fabric *f, const uint32_t *hosts, uint32_t n)
{
	uint32_t n_leaves = 0;

	for (uint32_t i = 0, k = 0; i < n; i++, k = 0) {
		while (leaf_of(f, hosts[k]) != leaf_of(f, hosts[i]))
			k++;
		n_leaves += k == i;
	}
	return n_leaves;
}

static uint64_t hops_of(const struct fab_fabric *f, const struct fab_dist *dist,
			const uint32_t *hosts, uint32_t n)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < n * n; i++)
		sum += fab_dist_row(dist,
				    leaf_of(f, hosts[i / n]))[leaf_of(f, hosts[i % n])];
	return sum;
}

/* Free hosts: each with this probability. */
static uint32_t some_free(const struct fab_fabric *f, struct fab_rng *rng, uint32_t *free)
{
	uint32_t n = 0;

	for (uint32_t h = 0; h < f->n_hosts; h++)
		if (fab_rng_below(rng, 10) < 7)
			free[n++] = h;
	return n;
}

/* The fewest switches and the fewest hops of all subsets of n free hosts. */
static void best_of_all(const struct fab_fabric *f, const struct fab_dist *dist,
			const uint32_t *free, uint32_t n_free, uint32_t n,
			uint32_t *n_leaves, uint64_t *hops)
{
	*n_leaves = UINT32_MAX;
	for (uint32_t set = 0; set < 1u << n_free; set++) {
		uint32_t hosts[16], k = 0, leaves;
		uint64_t sum;

		for (uint32_t i = 0; i < n_free; i++)
			if (set >> i & 1)
				hosts[k++] = free[i];
		if (k != n)
			continue;
		leaves = n_leaves_of(f, hosts, n);
		sum = hops_of(f, dist, hosts, n);
		if (leaves < *n_leaves || (leaves == *n_leaves && sum < *hops)) {
			*n_leaves = leaves;
			*hops = sum;
		}
	}
}

/* Of small fabrics all choices are tried: the one that is made is on as few switches, and
 * hardly another one is nearer. */
Test(placement, no_choice_is_on_fewer_switches)
{
	static const struct {
		const char *spec;
		double most; /* hops, by those of the best */
	} cases[] = {{"fattree:radix=4,levels=3", 1.15},
		     {"pgft:h=2,m=4/4,w=1/2,p=1/1", 1},
		     {"torus:dims=4x2,hosts=2", 1.15},
		     {"dragonfly:a=3,p=1,h=1", 1.15},
		     {"hyperx:dims=4x3,hosts=1", 1.15}};
	struct fab_rng rng = test_rng(11);

	for (size_t i = 0; i < FAB_COUNT(cases); i++) {
		OWN(fab_fabric) *f = test_gen(cases[i].spec);
		OWN(fab_dist) *dist = test_dist(f);

		for (int round = 0; round < 12; round++) {
			uint32_t free[64], chosen[64], n_leaves;
			uint32_t n_free = some_free(f, &rng, free), n;
			uint64_t hops = 0, got;

			n_free = n_free > 14 ? 14 : n_free;
			if (!n_free)
				continue;
			n = 1 + test_below(&rng, n_free);
			MUST(fab_placement_choose(f, free, n_free, n, 1, chosen, ERR));
			best_of_all(f, dist, free, n_free, n, &n_leaves, &hops);
			for (uint32_t k = 0; k < n; k++) {
				uint32_t j = 0;

				while (j < n_free && free[j] != chosen[k])
					j++;
				cr_assert_lt(j, n_free, "not free, or twice");
				free[j] = FAB_NONE;
			}
			cr_expect_eq(n_leaves_of(f, chosen, n), n_leaves, "%s: %u of %u",
				     cases[i].spec, n, n_free);
			got = hops_of(f, dist, chosen, n);
			cr_expect_leq((double)got, (double)hops * cases[i].most,
				      "%s: %u of %u: %lu, best %lu", cases[i].spec, n,
				      n_free, got, hops);
		}
	}
}

/* The order of the free hosts does not count; the hosts are those of one part. */
Test(placement, parts_and_order)
{
	FAB_AUTO(plan_free) struct plan plan = plan_tree(3, 2, 2);
	uint32_t far = plan_switch(&plan, "far", 12), a[12], b[12];
	uint32_t free[12], back[12];
	OWN(fab_fabric) *f = NULL;

	for (uint16_t i = 0; i < 4; i++)
		plan_host(&plan, far, "far%u HCA-1", i);
	plan_adapter(&plan, "adrift HCA-1");
	f = plan_build(&plan, 0);
	cr_assert_eq(f->n_hosts, 11);
	for (uint32_t h = 0; h < 10; h++) {
		free[h] = h;
		back[h] = 9 - h;
	}
	/* four on one switch, which is not joined to the tree; six in the tree only */
	MUST(fab_placement_choose(f, free, 10, 4, 1, a, ERR));
	cr_assert_eq(n_leaves_of(f, a, 4), 1);
	MUST(fab_placement_choose(f, free, 10, 6, 1, a, ERR));
	cr_assert_eq(n_leaves_of(f, a, 6), 3);
	MUST(fab_placement_choose(f, back, 10, 6, 1, b, ERR));
	cr_assert_arr_eq(a, b, 6 * sizeof(*a));
	FAILS_AS(fab_placement_choose(f, free, 10, 7, 1, a, ERR), -EINVAL,
		 "7 hosts are wanted; 10 are free, at most 6 in one part of the fabric");
	FAILS_AS(fab_placement_choose(f, free, 3, 5, 1, a, ERR), -EINVAL,
		 "5 hosts are wanted, 3 are free");
	free[0] = 10;
	FAILS_AS(fab_placement_choose(f, free, 10, 2, 1, a, ERR), -EINVAL,
		 "host 'adrift' has no cable to a switch");
}

/* Costs as found pair by pair. */
Test(placement, costs_are_those_of_all_pairs)
{
	static const char *const specs[] = {"fattree:radix=6,levels=3",
					    "torus:dims=4x3,hosts=2",
					    "dragonfly:a=4,p=2,h=2"};
	struct fab_rng rng = test_rng(3);

	for (size_t i = 0; i < FAB_COUNT(specs); i++) {
		OWN(fab_fabric) *f = test_gen(specs[i]);
		OWN(fab_routes) *routes = test_tables(f, NULL, "minhop", 2);
		struct fab_placement_cost cost;
		uint32_t hosts[256], port[256], sw[256], max_hops = 0;
		uint32_t n = some_free(f, &rng, hosts);
		OWN_HEAP uint64_t *load = FAB_NEW0(f->arc_first[f->n_switches], uint64_t);
		OWN_HEAP uint32_t *column = NULL;
		uint64_t hops = 0, most = 0;

		fab_placement_measure(routes, hosts, n, &cost);
		for (uint32_t a = 0; a < n; a++) {
			port[a] = fab_host_endpoint(f, hosts[a]);
			sw[a] = leaf_of(f, hosts[a]);
		}
		column = fab_path_columns(routes, n, sw, port);
		for (uint32_t k = 0; k < n * n; k++) {
			struct fab_path p =
				fab_path_from(routes, sw[k / n], column[k % n]);

			while (k / n != k % n && fab_path_step(&p))
				load[p.arc]++;
			hops += p.n_hops;
			max_hops = p.n_hops > max_hops ? p.n_hops : max_hops;
		}
		for (uint32_t a = 0; a < f->arc_first[f->n_switches]; a++)
			most = load[a] > most ? load[a] : most;
		cr_expect_eq(cost.pairs, (uint64_t)n * (n - 1));
		cr_expect_eq(cost.unreachable, 0);
		cr_expect_eq(cost.every, 1);
		cr_expect_eq(cost.n_leaves, n_leaves_of(f, hosts, n));
		cr_expect_eq(cost.max_load, (double)most, "%s", specs[i]);
		cr_expect_eq(cost.max_hops, max_hops);
		cr_expect_float_eq(cost.mean_hops, (double)hops / (n * (n - 1.0)), 1e-9);
	}
}
