/* SPDX-License-Identifier: BSD-2-Clause */
/* Lower bounds of the EFI: sound on every shape, and what they say they are. */
#include "mcast/bounds.h"
#include "support/routed.h"
#include "support/test.h"

enum { STRIDE = TEST_SHARE > 1 ? 3 : 1 }; /* of shapes that are tried */

/* Shapes, and how many groups of how many members they get. */
static const struct {
	const char *spec;
	uint32_t n_groups, most;
} cases[] = {
	{"mesh:dims=8x4,hosts=1", 200, 3},
	{"mesh:dims=2,hosts=3", 20, 4},
	{"mesh:dims=3x3x3,hosts=1", 90, 4},
	{"torus:dims=6x5,hosts=1", 150, 3},
	{"torus:dims=9,hosts=2", 60, 3},
	{"torus:dims=4x4x4,hosts=1", 120, 6},
	{"hyperx:dims=5x4,hosts=1", 150, 3},
	{"hyperx:dims=6,hosts=2", 80, 3},
	{"dragonfly:a=4,p=2,h=2", 150, 4},
	{"dragonfly:a=3,p=1,h=1", 60, 3},
	{"kfat:dims=4x4,hosts=2", 120, 5},
	{"kfat:dims=3x3x3,hosts=1", 90, 3},
	{"kfat:dims=4x4,hosts=1,levels=2,radix=4", 90, 4},
	{"fattree:radix=6,levels=2", 90, 4},
	{"fattree:radix=4,levels=3", 90, 4},
	{"fattree:radix=4,levels=4", 90, 6},
	{"pgft:h=2,m=4/4,w=1/2,p=1/2", 90, 4},
	{"pgft:h=3,m=3/3/3,w=1/2/2,p=2/1/2", 90, 5},
	{"random:switches=26,degree=3,hosts=2,seed=3", 120, 4},
};

static bool is_switch(const struct plan *plan, uint32_t node)
{
	return plan->nodes.v[node].kind == FAB_SWITCH;
}

/* Every tenth cable between switches gone, as many doubled: what `seed` draws. */
static void damage(struct plan *plan, uint64_t seed)
{
	size_t n = plan->cables.n;
	struct fab_rng rng = test_rng(seed);

	for (size_t i = 0; i < n; i++) {
		struct plan_cable c = plan->cables.v[i];
		uint64_t what = fab_rng_below(&rng, 10);

		if (!is_switch(plan, c.a.node) || !is_switch(plan, c.b.node))
			continue;
		plan->cables.v[i].is_gone = what == 0;
		if (what == 1) {
			c.a.port = ++plan->nodes.v[c.a.node].n_ports;
			c.b.port = ++plan->nodes.v[c.b.node].n_ports;
			FAB_PUSH(&plan->cables, c);
		}
	}
}

/* Sound when seed is 0. */
static struct fab_fabric *make_fabric(const char *spec, uint64_t seed)
{
	struct fab_fabric *sound = test_gen_raw(spec), *f;
	struct plan plan;

	if (!seed)
		return sound;
	plan = plan_from_fabric(sound);
	damage(&plan, seed);
	f = plan_build(&plan, 0);
	plan_free(&plan);
	fab_fabric_free(sound);
	return f;
}

/* The plain way: sets of switches as booleans, one look at each group. */

static uint32_t up(uint64_t a, uint64_t b)
{
	return b ? (uint32_t)((a + b - 1) / b) : 0;
}

static uint32_t cut_of(const struct routed *s, const bool *is_in)
{
	const struct fab_fabric *f = s->f;
	uint64_t cables = 0, across = 0;

	for (uint32_t c = 0; c < f->n_switch_links; c++)
		cables += is_in[f->port_node[f->cable_a[c]]] !=
			  is_in[f->port_node[f->cable_b[c]]];
	for (uint32_t g = 0; g < s->groups->n; g++) {
		uint32_t in = 0, out = 0;

		for (uint64_t m = s->groups->first[g]; m < s->groups->first[g + 1]; m++)
			if (is_in[fab_port_switch(f, s->groups->member[m])])
				in++;
			else
				out++;
		across += in && out;
	}
	return up(across, cables);
}

/* All trees together need one cable less than they touch parts, of those between. */
static uint32_t joins_of(const struct routed *s, const uint32_t *part)
{
	const struct fab_fabric *f = s->f;
	uint64_t cables = 0, joins = 0;

	for (uint32_t c = 0; c < f->n_switch_links; c++)
		cables += part[f->port_node[f->cable_a[c]]] !=
			  part[f->port_node[f->cable_b[c]]];
	for (uint32_t g = 0; g < s->groups->n; g++) {
		FAB_AUTOFREE bool *is_touched = FAB_NEW0(f->n_switches, bool);
		uint32_t n = 0;

		for (uint64_t m = s->groups->first[g]; m < s->groups->first[g + 1]; m++)
			is_touched[part[fab_port_switch(f, s->groups->member[m])]] = true;
		for (uint32_t p = 0; p < f->n_switches; p++)
			n += is_touched[p];
		joins += n - 1;
	}
	return up(joins, cables);
}

/* Each part cut off, and all of them. */
static uint32_t division_of(const struct routed *s, const uint32_t *part)
{
	uint32_t n = s->f->n_switches, best = joins_of(s, part);
	FAB_AUTOFREE bool *is_in = FAB_NEW(n, bool);

	for (uint32_t p = 0; p < n; p++) {
		uint32_t bound;

		for (uint32_t i = 0; i < n; i++)
			is_in[i] = part[i] == p;
		bound = cut_of(s, is_in);
		best = bound > best ? bound : best;
	}
	return best;
}

/* Hops to the nearest switch with a member. */
static uint32_t rank_of(const struct routed *s, uint32_t sw)
{
	uint32_t rank = FAB_NONE;

	for (uint64_t i = 0; i < s->groups->sw_first[s->groups->n]; i++) {
		uint32_t hops = fab_dist_row(s->dist, s->groups->sw[i])[sw];

		if (hops != FAB_HOPS_UNREACHABLE && hops < rank)
			rank = hops;
	}
	return rank;
}

/* What stays joined below a rank: each part has the number of its lowest switch. */
static void join_below(const struct routed *s, const uint32_t *rank, uint32_t limit,
		       uint32_t *part)
{
	const struct fab_fabric *f = s->f;
	bool changed = true;

	for (uint32_t i = 0; i < f->n_switches; i++)
		part[i] = i;
	while (changed) {
		changed = false;
		for (uint32_t i = 0; i < f->n_switches; i++)
			for (uint32_t k = f->peer_first[i]; k < f->peer_first[i + 1];
			     k++) {
				uint32_t t = f->peer[k];

				if (rank[i] > limit || rank[t] > limit ||
				    part[t] >= part[i])
					continue;
				part[i] = part[t];
				changed = true;
			}
	}
}

static uint32_t pods_of(const struct routed *s)
{
	uint32_t n = s->f->n_switches, best = 0, max = 0;
	FAB_AUTOFREE uint32_t *rank = FAB_NEW(n, uint32_t), *part = FAB_NEW(n, uint32_t);

	for (uint32_t i = 0; i < n; i++) {
		rank[i] = rank_of(s, i);
		if (rank[i] != FAB_NONE && rank[i] > max)
			max = rank[i];
		part[i] = i;
	}
	best = division_of(s, part); /* every switch alone */
	for (uint32_t limit = 0; limit < max; limit++) {
		uint32_t bound;

		join_below(s, rank, limit, part);
		bound = division_of(s, part);
		best = bound > best ? bound : best;
	}
	return best;
}

static uint32_t slabs_of(const struct routed *s, const struct fab_shape *shape)
{
	FAB_AUTOFREE bool *is_in = FAB_NEW(s->f->n_switches, bool);
	uint32_t best = 0;

	for (uint32_t dim = 0; dim < shape->n_dims; dim++)
		for (uint32_t low = 0; low < shape->dims[dim]; low++)
			for (uint32_t high = low; high < shape->dims[dim]; high++) {
				uint32_t bound;

				for (uint32_t i = 0; i < s->f->n_switches; i++) {
					uint32_t at =
						shape->coords[i * shape->n_dims + dim];

					is_in[i] = at >= low && at <= high;
				}
				bound = cut_of(s, is_in);
				best = bound > best ? bound : best;
			}
	return best;
}

static uint32_t shape_of(const struct routed *s)
{
	FAB_AUTO(fab_shape_free_at) struct fab_shape *shape = fab_shape_recognize(s->f);
	uint32_t best = 0;

	if (shape->kind == FAB_SHAPE_DRAGONFLY)
		best = division_of(s, shape->group);
	if (shape->kind == FAB_SHAPE_TORUS || shape->kind == FAB_SHAPE_MESH ||
	    shape->kind == FAB_SHAPE_HYPERX)
		best = slabs_of(s, shape);
	return best;
}

/* Edges of the least spanning tree of a group's switches by their distances. */
static uint64_t spanning(const struct routed *s, const uint32_t *sw, uint32_t k)
{
	FAB_AUTOFREE bool *is_in = FAB_NEW0(k, bool);
	uint64_t hops = 0;

	is_in[0] = true;
	for (uint32_t joined = 1; joined < k; joined++) {
		uint32_t best = FAB_NONE, who = 0;

		for (uint32_t a = 0; a < k; a++)
			for (uint32_t b = 0; b < k; b++)
				if (is_in[a] && !is_in[b] &&
				    fab_dist_row(s->dist, sw[a])[sw[b]] < best) {
					best = fab_dist_row(s->dist, sw[a])[sw[b]];
					who = b;
				}
		hops += best;
		is_in[who] = true;
	}
	return hops;
}

static uint32_t edges_of(const struct routed *s)
{
	const struct fab_groups *g = s->groups;
	uint64_t total = 0;

	for (uint32_t i = 0; i < g->n; i++) {
		uint32_t k = fab_group_n_switches(g, i);
		uint64_t least = k - 1, walk;

		if (k > 1) {
			walk = up(spanning(s, g->sw + g->sw_first[i], k) * k,
				  2 * (k - 1));
			least = walk > least ? walk : least;
		}
		total += least;
	}
	return up(total, s->f->n_switch_links);
}

static uint32_t plain_bound(const struct routed *s)
{
	const uint32_t bounds[] = {pods_of(s), shape_of(s), edges_of(s)};
	uint32_t best = 0;

	for (size_t i = 0; i < FAB_COUNT(bounds); i++)
		best = bounds[i] > best ? bounds[i] : best;
	return best;
}

/* No engine gets below the bound, and the bound is what the header says. */
static void check_shape(size_t i, uint64_t seed)
{
	struct fab_mcast_result results[ROUTED_MAX_ENGINES];
	struct fab_efi efi[ROUTED_MAX_ENGINES];
	FAB_AUTO(routed_fini) struct routed s;
	uint32_t bound, low_bound;

	routed_init(&s, make_fabric(cases[i].spec, seed), cases[i].n_groups,
		    cases[i].most, seed + 1);
	routed_all(&s, results, efi);
	bound = fab_mcast_lower_bound(&s.problem);
	low_bound = fab_mcast_height_bound(&s.problem);
	for (size_t e = 0; e < fab_mcast_n_engines; e++) {
		cr_expect_leq(bound, efi[e].max, "%s, seed %llu: %s reaches %u, not %u",
			      cases[i].spec, (unsigned long long)seed,
			      results[e].engine->name, efi[e].max, bound);
		cr_expect(results[e].engine->may_be_higher || low_bound <= efi[e].max,
			  "%s, seed %llu: %s reaches %u, not %u", cases[i].spec,
			  (unsigned long long)seed, results[e].engine->name, efi[e].max,
			  low_bound);
	}
	cr_expect_eq(bound, plain_bound(&s), "%s, seed %llu: %u is not %u", cases[i].spec,
		     (unsigned long long)seed, bound, plain_bound(&s));
	routed_end(results);
}

Test(bounds, sound_and_exact_on_every_shape)
{
	for (size_t i = 0; i < FAB_COUNT(cases); i += STRIDE)
		check_shape(i, 0);
}

Test(bounds, sound_and_exact_on_damaged_shapes)
{
	const size_t step = getenv("FAB_TEST_FULL") ? 1 : STRIDE + 1;

	for (size_t i = step / 2; i < FAB_COUNT(cases); i += step)
		check_shape(i, 1 + i / 2 % 2);
}

/* Groups of the first adapters of two switches. */
static void check_pairs(const char *spec, const uint32_t (*pair)[2], uint32_t n,
			uint32_t bound, uint32_t height_bound)
{
	FAB_AUTO(fab_fabric_free_at) struct fab_fabric *f = test_gen_raw(spec);
	struct fab_groups_builder *b = fab_groups_builder_new(f);
	struct fab_mcast_problem problem = {.f = f};
	FAB_AUTO(fab_groups_free_at) struct fab_groups *g = NULL;
	OWN(fab_dist) *dist = test_dist(f);

	for (uint32_t i = 0; i < n; i++) {
		fab_groups_builder_begin(b, "x", 1);
		for (int end = 0; end < 2; end++)
			fab_groups_builder_add(b,
					       fab_node_first_connected_port(
						       f, f->n_switches + pair[i][end]));
	}
	MUST(fab_groups_builder_finish(b, false, &g, ERR));
	problem.groups = g;
	problem.dist = dist;
	cr_expect_eq(fab_mcast_lower_bound(&problem), bound);
	cr_expect_eq(fab_mcast_height_bound(&problem), height_bound);
}

/* A ring of 6, where minimal height leaves one way of two; and a chain of 4, of which
 * only the middle cable is needed, by 3 groups of 5. */
Test(bounds, of_a_ring_and_a_chain)
{
	static const uint32_t ring[][2] = {{0, 2}, {0, 2}, {0, 2},
					   {0, 2}, {0, 2}, {0, 2}};
	static const uint32_t chain[][2] = {{2, 5}, {2, 5}, {2, 5}, {0, 1}, {0, 1}};

	check_pairs("torus:dims=6,hosts=1", ring, FAB_COUNT(ring), 3, 6);
	check_pairs("mesh:dims=4,hosts=2", chain, FAB_COUNT(chain), 3, 2);
}

static bool always(void *n_asked)
{
	++*(unsigned *)n_asked;
	return true;
}

static void expect_stopped(const struct fab_mcast_problem *p,
			   const struct fab_mcast_options *work)
{
	FAB_AUTO(fab_bound_fini) struct fab_bound none;

	fab_mcast_dual_bound(p, work, 100000000, &none);
	cr_expect(none.is_cut_short);
	cr_expect_eq(none.value, 0);
}

/* Groups of a pattern on a fabric. */
static struct fab_mcast_problem problem_of(struct routed *x, const char *spec,
					   const char *pattern)
{
	const char *const patterns[] = {pattern, NULL};

	routed_init_patterns(x, test_gen_raw(spec), patterns, 0);
	return x->problem;
}

/* On a torus with distances on demand bounds ask for no row of them, and those by hops
 * are those of the rows. */
Test(bounds, no_rows_are_made)
{
	FAB_AUTO(routed_fini) struct routed x;
	struct fab_mcast_problem p =
		problem_of(&x, "torus:dims=30x20,hosts=1", "random:groups=40,size=12");
	const struct fab_mcast_options work = {.n_threads = 1};
	struct fab_dist *some;
	struct fab_bound bound;
	FAB_AUTO(fab_bound_fini) struct fab_bound whole;

	MUST(fab_dist_new_on_demand(p.f, 1, &some, ERR));
	fab_mcast_natural_bound(&p, &whole);
	p.dist = some;
	fab_mcast_natural_bound(&p, &bound);
	cr_expect_eq(bound.value, whole.value);
	cr_expect_eq(bound.kind, FAB_BOUND_HOPS, "%s", fab_bound_name(bound.kind));
	fab_bound_fini(&bound);
	fab_mcast_matching_bound(&p, &bound);
	fab_bound_fini(&bound);
	fab_mcast_dual_bound(&p, &work, 10000000, &bound);
	fab_bound_fini(&bound);
	cr_expect_eq(fab_dist_bytes(some), 0);
	fab_dist_free(some);
}

/* Two groups of a dragonfly whose cables to each other are those of their first switches,
 * as many times as groups lie in both: no other bound is above 3. */
Test(bounds, forced_cables)
{
	FAB_AUTO(routed_fini) struct routed x;
	struct fab_mcast_problem p =
		problem_of(&x, "dragonfly:a=18,p=9,h=9,wiring=absolute", "grid:81x27x12");
	FAB_AUTO(fab_bound_fini) struct fab_bound bound;

	fab_mcast_forced_bound(&p, 3, &bound);
	cr_expect_eq(bound.kind, FAB_BOUND_FORCED);
	cr_expect_eq(bound.value, 7, "%u", bound.value);
	cr_expect(fab_bound_is_low_only(bound.kind));
}

/* From each root of a kfat of two dimensions a group has one tree of minimal height: the
 * bound is that of a linear program that gives each group parts of these trees (42.55,
 * found by HiGHS), rounded up. The members next to the root count, too. */
Test(bounds, forced_trees)
{
	FAB_AUTO(routed_fini) struct routed x;
	struct fab_mcast_problem p = problem_of(&x, "kfat:dims=12x12,hosts=12",
						"random:groups=600,size=6-16,seed=1");
	FAB_AUTO(fab_bound_fini) struct fab_bound bound;

	fab_mcast_forced_bound(&p, 0, &bound);
	cr_expect_eq(bound.value, 43, "%u", bound.value);
}

/* What is stopped says so, and is no more than it would have been. */
Test(bounds, stopped_by_the_clock)
{
	FAB_AUTO(routed_fini) struct routed x;
	struct fab_mcast_problem p =
		problem_of(&x, "torus:dims=6x4x4,hosts=2", "grid:4x6x8");
	struct fab_mcast_options work = {.n_threads = 1};
	unsigned n_asked = 0;

	work.is_over = always;
	work.is_over_context = &n_asked;
	expect_stopped(&p, &work);
	cr_expect_gt(n_asked, 0);
	work.is_over = NULL;
	work.until = 1e-9; /* long ago */
	expect_stopped(&p, &work);
}
