/* SPDX-License-Identifier: BSD-2-Clause */
/* Root candidates where small fabrics show nothing. */
#include "mcast/roots.h"
#include "mcast/engine/state.h"
#include "mcast/route.h"
#include "support/routed.h"
#include "support/test.h"

/* The first group with the same switches in the same order. */
static uint32_t first_like(const struct fab_groups *g, uint32_t group)
{
	uint32_t n = fab_group_n_switches(g, group), i = 0;

	while (fab_group_n_switches(g, i) != n ||
	       memcmp(g->sw + g->sw_first[i], g->sw + g->sw_first[group],
		      n * sizeof(*g->sw)))
		i++;
	return i;
}

/* More switches than are treated at a time, and groups larger than bounds look at; and so
 * few switches that candidates are found by balls, there for a few groups at a time. */
Test(roots, candidates_of_large_and_small_fabrics)
{
	static const struct {
		const char *spec;
		size_t max_bytes;
	} cases[] = {{"torus:dims=48x47,hosts=1", 1 << 24},
		     {"mesh:dims=70x33,hosts=1", 1 << 24},
		     {"kfat:dims=46x46,hosts=1", 1 << 24},
		     {"fattree:radix=6,levels=3", 1},
		     {"dragonfly:a=4,p=2,h=2", 1000},
		     {"torus:dims=4x5,hosts=3", 1}};

	for (size_t i = 0; i < FAB_COUNT(cases); i++) {
		OWN(fab_fabric) *f = test_gen_raw(cases[i].spec);
		OWN(fab_dist) *dist = test_dist(f);
		FAB_AUTO(fab_groups_free_at)
		struct fab_groups *g = routed_groups(f, "random:groups=60,size=1-40", 3);

		for (uint32_t done = 0, n; done < g->n; done += n) {
			FAB_AUTO(fab_roots_fini) struct fab_roots roots = {0};

			fab_roots_find(dist, g, done, cases[i].max_bytes, 2, 0, &roots);
			n = roots.n;
			cr_assert(i < 3 ? n == g->n : n > 0);
			for (uint32_t k = done; k < done + n; k++) {
				uint8_t least = UINT8_MAX,
					radius = fab_roots_radius(&roots, k);
				const uint64_t *bits = fab_roots_bits(&roots, k);

				for (uint32_t s = 0; s < f->n_switches; s++) {
					uint8_t far = routed_farthest(
						dist, s, g->sw + g->sw_first[k],
						fab_group_n_switches(g, k));

					least = far < least ? far : least;
					cr_assert_eq(fab_roots_has(bits, s),
						     far == radius,
						     "%s: group %u switch %u",
						     cases[i].spec, k, s);
				}
				cr_expect_eq(radius, least);
				cr_expect_eq(g->same_as[k], first_like(g, k));
			}
		}
	}
}

/* Of random candidates that of the least value, of equal ones the first in the order in
 * which ties are broken. */
Test(roots, least_value)
{
	enum { SWITCHES = 300, WORDS = SWITCHES / 64 + 1 };

	for (uint32_t t = 0; t < 20; t++) {
		enum fab_root_ties ties = t % 2 ? FAB_TIES_LOWEST : FAB_TIES_SPREAD;
		uint64_t bits[WORDS] = {0}, least = UINT64_MAX;
		uint32_t value[FAB_ROOTS_PADDED(SWITCHES)] = {0}, best = FAB_NONE;

		for (uint32_t i = 0; i < SWITCHES; i++) {
			uint32_t tie = t % 2 ? i : (uint32_t)(i * 2654435769u);
			uint64_t key;

			value[i] = (uint32_t)(fab_mix64(t * SWITCHES + i) % (1 + t * 3));
			if (fab_mix64(i ^ t << 10) % 20 > t)
				continue;
			bits[i / 64] |= (uint64_t)1 << i % 64;
			key = (uint64_t)value[i] << 32 | tie;
			best = key < least ? i : best;
			least = key < least ? key : least;
		}
		cr_assert_eq(fab_root_choose(bits, WORDS, ties, value), best);
	}
}

static uint32_t hops_to_all(const struct routed *s, uint32_t group, uint32_t root)
{
	const struct fab_groups *g = s->groups;
	uint32_t sum = 0;

	for (uint64_t m = g->first[group]; m < g->first[group + 1]; m++)
		sum += fab_dist_row(s->dist, fab_port_switch(s->f, g->member[m]))[root];
	return sum;
}

/* fulb-mean, minihop-mean, sssp-mean: no candidate is nearer to the members together, and
 * of those as near none was the root less often; groups have few candidates, or many. */
Test(roots, least_mean_distance)
{
	static const char *const specs[] = {"dragonfly:a=6,p=3,h=3",
					    "torus:dims=9x8,hosts=3"};
	static const struct fab_mcast_engine *const engines[] = {
		&fab_mcast_fulb_mean, &fab_mcast_minihop_mean, &fab_mcast_sssp_mean};
	uint32_t n_few = 0, n_many = 0;

	for (size_t i = 0; i < 2 * FAB_COUNT(engines); i++) {
		const struct fab_mcast_engine *engine = engines[i / 2];
		FAB_AUTO(routed_fini) struct routed s;
		FAB_AUTO(fab_mcast_state_fini) struct fab_mcast_state state;
		FAB_AUTO(fab_roots_fini) struct fab_roots roots = {0};

		routed_init(&s, test_gen_raw(specs[i % 2]), 300, 12, i);
		fab_roots_find(s.dist, s.groups, 0, SIZE_MAX / 2, 1, 0, &roots);
		fab_mcast_state_init(&state, &s.problem, engine);
		for (uint32_t g = 0; g < s.groups->n; g++) {
			const uint64_t *bits = fab_roots_bits(&roots, g);
			uint32_t root = engine->choose_root(&state, &roots, g), n = 0;
			uint32_t hops = hops_to_all(&s, g, root);

			cr_assert(fab_roots_has(bits, root));
			for (uint32_t sw = 0; sw < s.f->n_switches; sw++) {
				uint32_t other = hops_to_all(&s, g, sw);

				if (!fab_roots_has(bits, sw))
					continue;
				n++;
				cr_assert_geq(other, hops);
				cr_assert(other > hops ||
					  state.root_use[sw] >= state.root_use[root]);
			}
			n_few += n < 4;
			n_many += n > 8;
			fab_mcast_state_grow(&state, engine, &roots, g, root);
		}
	}
	cr_expect_gt(n_few, 20);
	cr_expect_gt(n_many, 20);
}
