/* SPDX-License-Identifier: BSD-2-Clause */
/* Short trees against exact ones (Dreyfus and Wagner, "The Steiner problem in graphs",
 * 1971, over all subsets of up to seven switches), estimates of roots against sums of
 * paths. */
#include "mcast/search/search.h"

#include "support/test.h"

enum { GROUPS = 30, MOST = 7, ANY_HEIGHT = 100 };

/* Cables of the shortest tree of the switches: least[set][s] is that of a set and s. */
static uint32_t exact_length(const struct fab_dist *dist, uint32_t n_switches,
			     const uint32_t *sw, uint32_t n)
{
	FAB_AUTOFREE uint32_t *least = FAB_NEW(n_switches << (n - 1), uint32_t);
	FAB_AUTOFREE uint32_t *joined = FAB_NEW(n_switches, uint32_t);

	for (uint32_t set = 1; set < 1u << (n - 1); set++) {
		uint32_t *own = least + (size_t)set * n_switches;

		for (uint32_t s = 0; s < n_switches; s++) {
			joined[s] = set & (set - 1) ? UINT32_MAX : 0;
			for (uint32_t part = (set - 1) & set; part;
			     part = (part - 1) & set) {
				uint32_t both =
					least[(size_t)part * n_switches + s] +
					least[(size_t)(set ^ part) * n_switches + s];

				joined[s] = both < joined[s] ? both : joined[s];
			}
		}
		if (!(set & (set - 1))) /* one switch */
			for (uint32_t s = 0; s < n_switches; s++)
				own[s] = fab_dist_row(dist, sw[__builtin_ctz(set)])[s];
		for (uint32_t s = 0; s < n_switches && (set & (set - 1)); s++) {
			own[s] = UINT32_MAX;
			for (uint32_t t = 0; t < n_switches; t++) {
				uint32_t by = joined[t] + fab_dist_row(dist, t)[s];

				own[s] = by < own[s] ? by : own[s];
			}
		}
	}
	return least[((size_t)(1u << (n - 1)) - 1) * n_switches + sw[n - 1]];
}

/* Every switch has one way to the root, no member is deeper than the height. */
static void check_tree(const struct fab_fabric *f, const struct fab_grown *tree,
		       uint32_t root, const uint32_t *sw, uint32_t n, uint32_t height)
{
	FAB_AUTOFREE uint32_t *parent = FAB_NEW(f->n_switches, uint32_t);

	memset(parent, 0xff, f->n_switches * sizeof(*parent));
	for (uint32_t i = 0; i < tree->n; i++) {
		cr_assert_eq(parent[tree->sw[i]], FAB_NONE);
		cr_assert_neq(tree->sw[i], root);
		parent[tree->sw[i]] = fab_cable_peer(f, tree->cable[i], tree->sw[i]);
	}
	for (uint32_t i = 0; i < n; i++) {
		uint32_t depth = 0, at = sw[i];

		for (; at != root && depth <= height; at = parent[at], depth++)
			cr_assert_neq(parent[at], FAB_NONE);
		cr_expect_leq(depth, height);
	}
}

/* Candidates for the root; returns their number. */
static uint32_t find_roots(const struct fab_dist *dist, uint32_t n_switches,
			   const uint32_t *sw, uint32_t n, uint32_t *root,
			   uint32_t *height)
{
	uint32_t n_roots = 0;

	*height = UINT32_MAX;
	for (uint32_t s = 0; s < n_switches; s++) {
		uint32_t far = 0;

		for (uint32_t i = 0; i < n; i++)
			far = fab_dist_row(dist, s)[sw[i]] > far
				      ? fab_dist_row(dist, s)[sw[i]]
				      : far;
		if (far < *height)
			n_roots = 0;
		*height = far < *height ? far : *height;
		if (far == *height && n_roots < FAB_SHORT_ROOTS)
			root[n_roots++] = s;
	}
	return n_roots;
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

/* The same tree with other ways has no more cables, and goes no deeper. */
static void check_ways(struct wood *w, const struct fab_grown *tree, uint32_t root,
		       const uint32_t *sw, uint32_t n, uint32_t height)
{
	FAB_AUTOFREE uint32_t *own_sw = FAB_NEW(w->f->n_switches, uint32_t);
	FAB_AUTOFREE uint32_t *cable = FAB_NEW(w->f->n_switches, uint32_t);
	struct fab_grown old = {tree->n, own_sw, cable, 0, 0};

	for (uint32_t i = 0; i < old.n; i++) {
		own_sw[i] = tree->sw[i];
		cable[i] = tree->cable[i];
	}
	old = fab_same_branches_grow(w->room, &w->prices, sw, n, root, &old);
	check_tree(w->f, &old, root, sw, n, height);
	cr_expect_leq(old.n, tree->n);
}

static const struct {
	const char *fabric;
	double most; /* all short trees over all exact ones */
} nets[] = {{"torus:dims=5x4x4,hosts=1", 1.02},
	    {"mesh:dims=8x8,hosts=1", 1.02},
	    {"random:switches=60,degree=3,hosts=1,seed=3", 1.02},
	    {"kfat:dims=5x5,hosts=1", 1.02}};

Test(short_tree, exact_lengths)
{
	for (size_t net = 0; net < FAB_COUNT(nets); net++) {
		FAB_AUTO(wood_fini) struct wood w;
		uint32_t all_short = 0, all_exact = 0;
		struct fab_rng rng;

		wood_init(&w, nets[net].fabric);
		fab_rng_init(&rng, net);
		for (uint32_t g = 0; g < GROUPS; g++) {
			uint32_t n = 3 + test_below(&rng, MOST - 2), sw[MOST];
			uint32_t root[FAB_SHORT_ROOTS], n_roots, height, best, exact;
			struct fab_grown tree;

			for (uint32_t i = 0; i < n;) {
				uint32_t j = 0;

				sw[i] = test_below(&rng, w.f->n_switches);
				while (sw[j] != sw[i])
					j++;
				i += i == j;
			}
			exact = exact_length(w.dist, w.f->n_switches, sw, n);
			tree = fab_short_tree_grow(w.room, &w.prices, sw, n, sw, n, 50,
						   ANY_HEIGHT, g, &best);
			check_tree(w.f, &tree, best, sw, n, ANY_HEIGHT);
			cr_expect_geq(tree.n, exact);
			all_short += tree.n;
			all_exact += exact;
			n_roots =
				find_roots(w.dist, w.f->n_switches, sw, n, root, &height);
			tree = fab_short_tree_grow(w.room, &w.prices, sw, n, root,
						   n_roots, 50, height, g, &best);
			check_tree(w.f, &tree, best, sw, n, height);
			cr_expect_geq(tree.n, exact);
		}
		cr_expect_leq(all_short, nets[net].most * all_exact, "%s: %u, exact %u",
			      nets[net].fabric, all_short, all_exact);
		cr_log_info("%s: %u, exact %u", nets[net].fabric, all_short, all_exact);
	}
}

/* Many members: ways cross each other. */
Test(short_tree, heights)
{
	FAB_AUTO(wood_fini) struct wood w;
	uint32_t *sw;
	struct fab_rng rng;

	wood_init(&w, "torus:dims=7x6x5,hosts=1");
	sw = FAB_ARENA_NEW(&w.arena, w.f->n_switches, uint32_t);
	fab_rng_init(&rng, 7);
	for (uint32_t g = 0; g < 200; g++) {
		uint32_t n = 10 + test_below(&rng, 60);
		uint32_t root[FAB_SHORT_ROOTS], n_roots, height, best;
		struct fab_grown tree;

		/* the first n of an order */
		for (uint32_t i = 0; i < w.f->n_switches; i++) {
			uint32_t j = test_below(&rng, i + 1);

			sw[i] = sw[j];
			sw[j] = i;
		}
		n_roots = find_roots(w.dist, w.f->n_switches, sw, n, root, &height);
		tree = fab_short_tree_grow(w.room, &w.prices, sw, n, root, n_roots, 50,
					   height, g, &best);
		check_tree(w.f, &tree, best, sw, n, height);
		check_ways(&w, &tree, best, sw, n, height);
	}
}

/* Price of the cheapest shortest path of at most two hops; the second cable is shared by
 * all members one hop away from it. */
static double naive_path(const struct wood *w, const uint32_t *share, uint32_t member,
			 uint32_t root)
{
	const struct fab_fabric *f = w->f;
	double one = __DBL_MAX__, two = __DBL_MAX__;

	if (member == root)
		return 0;
	for (uint32_t a = f->arc_first[member]; a < f->arc_first[member + 1]; a++) {
		uint32_t via = f->arc_peer[a];
		double up = fab_price(&w->prices, f->arc_cable[a]);

		if (via == root && up < one)
			one = up;
		for (uint32_t b = f->arc_first[via]; b < f->arc_first[via + 1]; b++) {
			double both =
				up + fab_price(&w->prices, f->arc_cable[b]) / share[via];

			if (f->arc_peer[b] == root && both < two)
				two = both;
		}
	}
	return one < __DBL_MAX__ ? one : two;
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
			if (bits[s / 64] >> s % 64 & 1 &&
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
