/* SPDX-License-Identifier: BSD-2-Clause */
/* Root candidates and verification where small fabrics show nothing. */
#include "mcast/roots.h"
#include "mcast/bounds.h"
#include "mcast/engine/state.h"
#include "mcast/route.h"
#include "support/routed.h"
#include "support/test.h"

/* Largest distance from each switch to those of a group; returns the least. */
static uint8_t eccentricities(const struct fab_dist *dist, const struct fab_groups *g,
			      uint32_t group, uint8_t *max, uint32_t n)
{
	uint8_t least = UINT8_MAX;

	memset(max, 0, n);
	for (uint64_t i = g->sw_first[group]; i < g->sw_first[group + 1]; i++)
		for (uint32_t s = 0; s < n; s++)
			if (fab_dist_row(dist, g->sw[i])[s] > max[s])
				max[s] = fab_dist_row(dist, g->sw[i])[s];
	for (uint32_t s = 0; s < n; s++)
		least = max[s] < least ? max[s] : least;
	return least;
}

/* More switches than are treated at a time, and groups larger than bounds look at; and so
 * few switches that candidates are found by balls, there for a few groups at a time. */
Test(roots, candidates_of_large_and_small_fabrics)
{
	static const char *const specs[] = {
		"torus:dims=48x47,hosts=1", "mesh:dims=70x33,hosts=1",
		"kfat:dims=46x46,hosts=1",  "fattree:radix=6,levels=3",
		"dragonfly:a=4,p=2,h=2",    "torus:dims=4x5,hosts=3"};

	for (size_t i = 0; i < FAB_COUNT(specs); i++) {
		OWN(fab_fabric) *f = test_gen_raw(specs[i]);
		OWN(fab_dist) *dist = test_dist(f);
		FAB_AUTOFREE uint8_t *max = FAB_NEW(f->n_switches, uint8_t);
		FAB_AUTO(fab_groups_free_at)
		struct fab_groups *g = routed_groups(f, "random:groups=60,size=1-40", 3);

		for (uint32_t done = 0; done < g->n;) {
			FAB_AUTO(fab_roots_fini) struct fab_roots roots = {0};

			fab_roots_find(dist, g, done,
				       i < 3   ? 1 << 24
				       : i % 2 ? 1
					       : 1000,
				       2, 0, &roots);
			cr_assert(i < 3 ? roots.n == g->n : roots.n > 0);
			for (uint32_t k = done; k < done + roots.n; k++) {
				uint8_t least =
					eccentricities(dist, g, k, max, f->n_switches);
				const uint64_t *bits = fab_roots_bits(&roots, k);

				cr_expect_eq(fab_roots_radius(&roots, k), least);
				for (uint32_t s = 0; s < f->n_switches; s++)
					cr_assert_eq(bits[s / 64] >> (s % 64) & 1,
						     max[s] == least,
						     "%s: group %u switch %u", specs[i],
						     k, s);
			}
			done += roots.n;
		}
	}
}

/* The last switch, wherever the members are. */
static uint32_t last_switch(struct fab_mcast_state *state, const struct fab_roots *roots,
			    uint32_t group)
{
	(void)roots;
	(void)group;
	return state->problem->f->n_switches - 1;
}

/* A sound tree of its height, but from a root farther away than it has to be. */
Test(roots, verification_finds_trees_that_are_too_high)
{
	OWN(fab_fabric) *f = test_ring(6);
	OWN(fab_dist) *dist = test_dist(f);
	struct fab_groups_builder *b = fab_groups_builder_new(f);
	struct fab_mcast_engine far = *fab_mcast_engine_find("minihop", 7), near = far;
	struct fab_mcast_problem problem = {.f = f, .dist = dist};
	FAB_AUTO(fab_mcast_result_fini) struct fab_mcast_result r;
	FAB_AUTO(fab_groups_free_at) struct fab_groups *g = NULL;

	fab_groups_builder_begin(b, "g", 1);
	fab_groups_builder_add(b, fab_port_find(f, 1, 0));
	fab_groups_builder_add(b, fab_port_find(f, 2, 0));
	MUST(fab_groups_builder_finish(b, false, &g, ERR));
	problem.groups = g;
	far.choose_root = last_switch;
	far.may_be_higher = true;
	r = routed_by(&problem, &far, NULL);
	cr_assert_eq(r.forest.height[0], 3);
	MUST(fab_mcast_verify(&problem, &r, ERR));
	r.engine = &near;
	FAILS(fab_mcast_verify(&problem, &r, ERR), -EPROTO, "is not of minimal height");
}

/* Two triangles with hosts, one switch without between them: its cables carry all. */
Test(roots, bound_of_leaf_switches_that_are_joined)
{
	struct plan plan = {0};
	struct fab_mcast_problem problem;
	struct fab_groups_builder *b;
	FAB_AUTO(fab_groups_free_at) struct fab_groups *g = NULL;
	OWN(fab_fabric) *f = NULL;
	OWN(fab_dist) *dist = NULL;
	static const uint32_t cables[][2] = {{0, 1}, {1, 2}, {2, 0}, {2, 6},
					     {6, 3}, {3, 4}, {4, 5}, {5, 3}};

	plan_switches(&plan, 7, "s", 8);
	for (size_t i = 0; i < FAB_COUNT(cables); i++)
		plan_join(&plan, cables[i][0], cables[i][1]);
	f = plan_end(&plan);
	dist = test_dist(f);
	b = fab_groups_builder_new(f);
	for (uint32_t i = 0; i < 9; i++) {
		fab_groups_builder_begin(b, "g", 1);
		fab_groups_builder_add(b, fab_port_find(f, i % 3, 0));
		fab_groups_builder_add(b, fab_port_find(f, 3 + i / 3, 0));
	}
	MUST(fab_groups_builder_finish(b, false, &g, ERR));
	problem = (struct fab_mcast_problem){f, dist, g};
	cr_assert_eq(fab_mcast_lower_bound(&problem), 9);
}

enum { SWITCHES = 300, PADDED = FAB_ROOTS_PADDED(SWITCHES) };

/* Does it come before? By value, then in the order in which ties are broken. */
static bool comes_before(const uint32_t *value, enum fab_root_ties ties, uint32_t x,
			 uint32_t y)
{
	uint64_t bits[SWITCHES / 64 + 1] = {0};
	uint32_t same[PADDED] = {0};

	if (value[x] != value[y])
		return value[x] < value[y];
	bits[x / 64] |= (uint64_t)1 << x % 64;
	bits[y / 64] |= (uint64_t)1 << y % 64;
	return fab_root_choose(bits, SWITCHES / 64 + 1, ties, same) == x;
}

/* For each candidate as many as come before it: that is its place. */
Test(roots, candidates_in_the_order_of_a_value)
{
	enum { TIMES = 20, WORDS = SWITCHES / 64 + 1 };
	for (uint32_t t = 0; t < TIMES; t++) {
		enum fab_root_ties ties = t % 2 ? FAB_TIES_LOWEST : FAB_TIES_SPREAD;
		uint64_t bits[WORDS] = {0};
		uint32_t value[PADDED] = {0}, sw[SWITCHES], n = 0;

		for (uint32_t i = 0; i < SWITCHES; i++) {
			value[i] = (uint32_t)(fab_mix64(t * SWITCHES + i) % (1 + t * 3));
			if (fab_mix64(i ^ t << 10) % 20 > t)
				continue;
			bits[i / 64] |= (uint64_t)1 << i % 64;
			sw[n++] = i;
		}
		cr_assert_gt(n, 0);
		for (uint32_t i = 0; i < n; i++) {
			uint32_t place = 0;

			for (uint32_t j = 0; j < n; j++)
				place +=
					j != i && comes_before(value, ties, sw[j], sw[i]);
			cr_assert(place ||
				  fab_root_choose(bits, WORDS, ties, value) == sw[i]);
		}
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

			cr_assert(bits[root / 64] >> root % 64 & 1);
			for (uint32_t sw = 0; sw < s.f->n_switches; sw++) {
				uint32_t other = hops_to_all(&s, g, sw);

				if (!(bits[sw / 64] >> sw % 64 & 1))
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
