/* SPDX-License-Identifier: BSD-2-Clause */
/* Short trees against exact ones (Dreyfus and Wagner, "The Steiner problem in graphs",
 * 1971, over all subsets of up to seven switches), estimates of roots against sums of
 * paths. */
#include "mcast/search/search.h"

#include "support/routed.h"
#include "support/test.h"

enum { GROUPS = 30, MOST = 7, ANY_HEIGHT = 100 };

/* Cables of the shortest tree of the switches: least[set][s] is that of a set and s. */
static uint32_t exact_length(const struct fab_dist *dist, uint32_t n_switches,
			     const uint32_t *sw, uint32_t n)
{
	FAB_AUTOFREE uint32_t *least = FAB_NEW(n_switches << (n - 1), uint32_t);
	FAB_AUTOFREE uint32_t *joined = FAB_NEW(n_switches, uint32_t);

	for (uint32_t set = 1; set < 1u << (n - 1); set++) {
		bool is_one = !(set & (set - 1));
		uint32_t *own = least + set * n_switches;
		const uint8_t *row = fab_dist_row(dist, sw[__builtin_ctz(set)]);

		for (uint32_t s = 0; s < n_switches; s++) {
			joined[s] = is_one ? row[s] : UINT32_MAX;
			for (uint32_t part = (set - 1) & set; part;
			     part = (part - 1) & set) {
				uint32_t both = least[part * n_switches + s] +
						least[(set ^ part) * n_switches + s];

				joined[s] = both < joined[s] ? both : joined[s];
			}
		}
		for (uint32_t s = 0; s < n_switches; s++) {
			own[s] = UINT32_MAX;
			for (uint32_t t = 0; t < n_switches; t++) {
				uint32_t by = joined[t] + fab_dist_row(dist, t)[s];

				own[s] = by < own[s] ? by : own[s];
			}
		}
	}
	return least[((1u << (n - 1)) - 1) * n_switches + sw[n - 1]];
}

/* Where trees grow. */
struct wood {
	struct fab_fabric *f;
	struct fab_dist *dist;
	struct fab_groups none;
	struct fab_mcast_problem p;
	struct fab_mcast_state state;
	struct fab_prices prices;
	struct fab_arena arena;
	struct fab_deep_tree *room;
};

static void wood_init(struct wood *w, const char *spec)
{
	*w = (struct wood){.f = test_gen_raw(spec), .arena = FAB_ARENA_INIT};
	w->dist = test_dist(w->f);
	w->p = (struct fab_mcast_problem){.f = w->f, .dist = w->dist, .groups = &w->none};
	fab_mcast_state_init(&w->state, &w->p, &fab_mcast_balanced);
	fab_prices_init(&w->prices, &w->state);
	w->room = fab_deep_tree_new(&w->p, &w->arena);
}

static void wood_fini(struct wood *w)
{
	fab_prices_fini(&w->prices);
	fab_mcast_state_fini(&w->state);
	fab_arena_free(&w->arena);
	fab_dist_free(w->dist);
	fab_fabric_free(w->f);
}

/* Members of a group, its candidates for the root, and their height. */
struct members {
	const uint32_t *sw;
	uint32_t n, root[FAB_SHORT_ROOTS], n_roots, height;
};

/* The first n switches of an order. */
static struct members members_of(const struct wood *w, const uint32_t *order, uint32_t n)
{
	struct members m = {.sw = order, .n = n, .height = UINT32_MAX};

	for (uint32_t s = 0; s < w->f->n_switches; s++) {
		uint32_t far = routed_farthest(w->dist, s, order, n);

		if (far < m.height) {
			m.height = far;
			m.n_roots = 0;
		}
		if (far == m.height && m.n_roots < FAB_SHORT_ROOTS)
			m.root[m.n_roots++] = s;
	}
	return m;
}

/* Every switch has one way to the root, no member is deeper than the height. */
static void check_tree(const struct fab_fabric *f, const struct fab_grown *tree,
		       uint32_t root, const struct members *m, uint32_t height)
{
	FAB_AUTOFREE uint32_t *parent = fab_none_new(f->n_switches);

	for (uint32_t i = 0; i < tree->n; i++) {
		cr_assert_eq(parent[tree->sw[i]], FAB_NONE);
		cr_assert_neq(tree->sw[i], root);
		parent[tree->sw[i]] = fab_cable_peer(f, tree->cable[i], tree->sw[i]);
	}
	for (uint32_t i = 0; i < m->n; i++) {
		uint32_t depth = 0, at = m->sw[i];

		for (; at != root && depth <= height; at = parent[at], depth++)
			cr_assert_neq(parent[at], FAB_NONE);
		cr_expect_leq(depth, height);
	}
}

/* From the candidates. */
static struct fab_grown grow(struct wood *w, const struct members *m, uint64_t seed,
			     uint32_t *root)
{
	struct fab_grown tree =
		fab_short_tree_grow(w->room, &w->prices, m->sw, m->n, m->root, m->n_roots,
				    50, m->height, seed, root);

	check_tree(w->f, &tree, *root, m, m->height);
	return tree;
}

Test(short_tree, exact_lengths)
{
	/* all short trees are at most so much longer than all exact ones */
	const double most = 1.02;
	static const char *const specs[] = {
		"torus:dims=5x4x4,hosts=1", "mesh:dims=8x8,hosts=1",
		"random:switches=60,degree=3,hosts=1,seed=3", "kfat:dims=5x5,hosts=1"};

	for (size_t net = 0; net < FAB_COUNT(specs); net++) {
		FAB_AUTO(wood_fini) struct wood w;
		uint32_t all_short = 0, all_exact = 0;
		struct fab_rng rng;

		wood_init(&w, specs[net]);
		fab_rng_init(&rng, net);
		for (uint32_t g = 0; g < GROUPS; g++) {
			OWN_HEAP uint32_t *order = test_order(w.f->n_switches, &rng);
			struct members m =
				members_of(&w, order, 3 + test_below(&rng, MOST - 2));
			uint32_t exact = exact_length(w.dist, w.f->n_switches, m.sw, m.n),
				 root;
			struct fab_grown tree =
				fab_short_tree_grow(w.room, &w.prices, m.sw, m.n, m.sw,
						    m.n, 50, ANY_HEIGHT, g, &root);

			check_tree(w.f, &tree, root, &m, ANY_HEIGHT);
			cr_expect_geq(tree.n, exact);
			all_short += tree.n;
			all_exact += exact;
			cr_expect_geq(grow(&w, &m, g, &root).n, exact);
		}
		cr_expect_leq(all_short, most * all_exact, "%s: %u, exact %u", specs[net],
			      all_short, all_exact);
	}
}

/* Many members: ways cross each other. The same tree with other ways has no more cables,
 * and goes no deeper. */
Test(short_tree, heights)
{
	FAB_AUTO(wood_fini) struct wood w;
	struct fab_rng rng;

	wood_init(&w, "torus:dims=7x6x5,hosts=1");
	fab_rng_init(&rng, 7);
	for (uint32_t g = 0; g < 200; g++) {
		OWN_HEAP uint32_t *order = test_order(w.f->n_switches, &rng);
		struct members m = members_of(&w, order, 10 + test_below(&rng, 60));
		uint32_t root;
		struct fab_grown tree = grow(&w, &m, g, &root), other = tree;
		size_t bytes = tree.n * sizeof(uint32_t);
		OWN_HEAP uint32_t *sw = memcpy(malloc(bytes), tree.sw, bytes);
		OWN_HEAP uint32_t *cable = memcpy(malloc(bytes), tree.cable, bytes);

		other.sw = sw;
		other.cable = cable;
		other = fab_same_branches_grow(w.room, &w.prices, m.sw, m.n, root,
					       &other);
		check_tree(w.f, &other, root, &m, m.height);
		cr_expect_leq(other.n, tree.n);
	}
}

/* Price of the cheapest shortest path of at most two hops; the second cable is shared by
 * all members one hop away from it. */
static double naive_path(const struct wood *w, const uint32_t *share, uint32_t member,
			 uint32_t root)
{
	const struct fab_fabric *f = w->f;
	double one = INFINITY, two = INFINITY;

	if (member == root)
		return 0;
	FAB_EACH_ARC(f, member, a) {
		uint32_t via = f->arc_peer[a];
		double up = fab_price(&w->prices, f->arc_cable[a]);

		if (via == root)
			one = fmin(one, up);
		FAB_EACH_ARC(f, via, b)
			if (f->arc_peer[b] == root)
				two = fmin(two,
					   up + fab_price(&w->prices, f->arc_cable[b]) /
							   share[via]);
	}
	return one < INFINITY ? one : two;
}

/* Roots by the sums of their paths, of equal ones by the hash of the seed. */
static void check_root_prices(struct wood *w, struct fab_root_prices *prices,
			      struct fab_rng *rng, const uint32_t *sw, uint32_t n)
{
	enum { WANT = 5 };
	uint32_t n_switches = w->f->n_switches, got[WANT], n_roots = 0, n_got;
	FAB_AUTOFREE uint32_t *share = FAB_NEW0(n_switches, uint32_t);
	FAB_AUTOFREE uint64_t *bits = FAB_NEW0(fab_dist_stride(w->dist) / 64, uint64_t);
	FAB_AUTOFREE double *sum = FAB_NEW0(n_switches, double);
	uint64_t seed = fab_rng_next(rng);

	for (uint32_t s = 0; s < n_switches; s++)
		for (uint32_t i = 0; i < n; i++)
			share[s] += fab_dist_row(w->dist, s)[sw[i]] == 1;
	for (uint32_t s = 0; s < n_switches; s++) {
		bool is_near = test_below(rng, 4);

		for (uint32_t i = 0; i < n; i++)
			is_near &= fab_dist_row(w->dist, s)[sw[i]] <= 2;
		for (uint32_t i = 0; i < n && is_near; i++)
			sum[s] += naive_path(w, share, sw[i], s);
		bits[s / 64] |= (uint64_t)is_near << s % 64;
		n_roots += is_near;
	}
	n_got = fab_root_prices_best(prices, &w->prices, sw, n, bits, 2, seed, WANT, got);
	cr_assert_eq(n_got, n_roots < WANT ? n_roots : WANT);
	for (uint32_t k = 0; k < n_got; k++) {
		uint32_t best = FAB_NONE;

		for (uint32_t s = 0; s < n_switches; s++)
			if (fab_roots_has(bits, s) &&
			    (best == FAB_NONE || sum[s] < sum[best] ||
			     (sum[s] <= sum[best] &&
			      fab_mix64(seed ^ s) < fab_mix64(seed ^ best))))
				best = s;
		cr_assert_eq(got[k], best, "%u of %u: %g, not %g", k, n_roots,
			     sum[got[k]], sum[best]);
		bits[best / 64] &= ~(1ull << best % 64);
	}
}

Test(short_tree, prices_of_roots)
{
	static const char *const specs[] = {"fattree:radix=12,levels=2",
					    "fattree:radix=8,levels=3",
					    "random:switches=40,degree=6,hosts=1,seed=3",
					    "kfat:dims=5x5,hosts=1,planes=2"};

	for (size_t net = 0; net < FAB_COUNT(specs); net++) {
		FAB_AUTO(wood_fini) struct wood w;
		struct fab_rng rng = test_rng(net);
		struct fab_root_prices *prices;

		wood_init(&w, specs[net]);
		prices = fab_root_prices_new(&w.p, &w.arena);
		fab_prices_set_smooth(&w.prices, 9);
		for (uint32_t g = 0; g < GROUPS; g++) {
			uint32_t n = 1 + test_below(&rng, 4), sw[4];

			for (uint32_t c = 0; c < w.f->n_switch_links; c++)
				w.state.load[c] = test_below(&rng, 1 + g % 10);
			for (uint32_t i = 0, first = test_below(&rng, w.f->n_switches);
			     i < n; i++)
				sw[i] = (first + i * 3) % w.f->n_switches;
			check_root_prices(&w, prices, &rng, sw, n);
		}
	}
}
