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

static uint32_t most(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

static uint32_t up(uint64_t a, uint64_t b)
{
	return b ? (uint32_t)((a + b - 1) / b) : 0;
}

static uint32_t end_of(const struct fab_fabric *f, uint32_t cable, int end)
{
	return f->port_node[end ? f->cable_b[cable] : f->cable_a[cable]];
}

/* A cable between switches doubled, every fifth one gone. Takes the fabric. */
static struct fab_fabric *damaged(struct fab_fabric *f, uint64_t seed)
{
	struct fab_rng rng = test_rng(seed);
	OWN(fab_fabric) *more = test_with_cable(f, end_of(f, 0, 0), end_of(f, 0, 1));

	fab_fabric_free(f);
	return test_without(more, 5, &rng);
}

/* All trees together need one cable less than they touch parts, of those between. */
static uint32_t joins_of(const struct routed *s, const uint32_t *part)
{
	const struct fab_fabric *f = s->f;
	const struct fab_groups *groups = s->groups;
	uint64_t cables = 0, joins = 0;

	for (uint32_t c = 0; c < f->n_switch_links; c++)
		cables += part[end_of(f, c, 0)] != part[end_of(f, c, 1)];
	for (uint32_t g = 0; g < groups->n; g++) {
		FAB_AUTOFREE bool *is_touched = FAB_NEW0(f->n_switches, bool);

		for (uint64_t i = groups->sw_first[g]; i < groups->sw_first[g + 1]; i++)
			is_touched[part[groups->sw[i]]] = true;
		for (uint32_t p = 0; p < f->n_switches; p++)
			joins += is_touched[p];
		joins--;
	}
	return up(joins, cables);
}

/* Each part cut off, and all of them. */
static uint32_t division_of(const struct routed *s, const uint32_t *part)
{
	uint32_t n = s->f->n_switches, best = joins_of(s, part);
	FAB_AUTOFREE uint32_t *side = FAB_NEW(n, uint32_t);

	for (uint32_t p = 0; p < n; p++) {
		for (uint32_t i = 0; i < n; i++)
			side[i] = part[i] == p;
		best = most(best, joins_of(s, side));
	}
	return best;
}

/* Every switch alone, then what stays joined below each rank, the hops to the nearest
 * switch with a member; each part has the number of its lowest switch. */
static uint32_t pods_of(const struct routed *s)
{
	uint32_t n = s->f->n_switches, best, highest = 0;
	FAB_AUTOFREE uint32_t *rank = fab_none_new(n), *part = FAB_NEW(n, uint32_t);

	for (uint32_t i = 0; i < n; i++) {
		part[i] = i;
		for (uint64_t k = 0; k < s->groups->sw_first[s->groups->n]; k++) {
			uint32_t hops = fab_dist_row(s->dist, s->groups->sw[k])[i];

			if (hops != FAB_HOPS_UNREACHABLE && hops < rank[i])
				rank[i] = hops;
		}
		highest = rank[i] == FAB_NONE ? highest : most(highest, rank[i]);
	}
	best = division_of(s, part);
	for (uint32_t limit = 0; limit < highest; limit++) {
		for (bool changed = true; changed;) {
			changed = false;
			for (uint32_t c = 0; c < 2 * s->f->n_switch_links; c++) {
				uint32_t a = end_of(s->f, c / 2, c % 2);
				uint32_t b = end_of(s->f, c / 2, !(c % 2));

				if (rank[a] > limit || rank[b] > limit ||
				    part[a] <= part[b])
					continue;
				part[a] = part[b];
				changed = true;
			}
		}
		best = most(best, division_of(s, part));
	}
	return best;
}

/* Groups of a dragonfly; slabs of a torus, mesh or HyperX. */
static uint32_t shape_of(const struct routed *s)
{
	OWN(fab_shape) *shape = fab_shape_recognize(s->f);
	FAB_AUTOFREE uint32_t *side = FAB_NEW(s->f->n_switches, uint32_t);
	uint32_t best = 0;

	if (shape->kind == FAB_SHAPE_DRAGONFLY)
		return division_of(s, shape->group);
	if (shape->kind != FAB_SHAPE_TORUS && shape->kind != FAB_SHAPE_MESH &&
	    shape->kind != FAB_SHAPE_HYPERX)
		return 0;
	for (uint32_t dim = 0; dim < shape->n_dims; dim++)
		for (uint32_t low = 0; low < shape->dims[dim]; low++)
			for (uint32_t high = low; high < shape->dims[dim]; high++) {
				for (uint32_t i = 0; i < s->f->n_switches; i++) {
					uint32_t at =
						shape->coords[i * shape->n_dims + dim];

					side[i] = at >= low && at <= high;
				}
				best = most(best, joins_of(s, side));
			}
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
		uint64_t hops = spanning(s, g->sw + g->sw_first[i], k);

		total += most(k - 1, up(hops * k, 2 * (k - 1)));
	}
	return up(total, s->f->n_switch_links);
}

/* No engine gets below the bound, and the bound is what the header says; of a sound shape
 * (seed 0), or a damaged one. */
static void check_shape(size_t i, uint64_t seed)
{
	struct fab_mcast_result results[ROUTED_MAX_ENGINES];
	struct fab_efi efi[ROUTED_MAX_ENGINES];
	struct fab_fabric *f = test_gen_raw(cases[i].spec);
	FAB_AUTO(routed_fini) struct routed s;
	uint32_t bound, low_bound;

	routed_init(&s, seed ? damaged(f, seed) : f, cases[i].n_groups, cases[i].most,
		    seed + 1);
	routed_all(&s, results, efi);
	bound = fab_mcast_lower_bound(&s.problem);
	low_bound = fab_mcast_height_bound(&s.problem);
	for (size_t e = 0; e < fab_mcast_n_engines; e++) {
		const struct fab_mcast_engine *engine = results[e].engine;

		cr_expect_leq(engine->may_be_higher ? bound : most(bound, low_bound),
			      efi[e].max, "%s, seed %lu: %s reaches %u, bounds %u %u",
			      cases[i].spec, seed, engine->name, efi[e].max, bound,
			      low_bound);
	}
	cr_expect_eq(bound, most(pods_of(&s), most(shape_of(&s), edges_of(&s))),
		     "%s, seed %lu: %u", cases[i].spec, seed, bound);
	routed_end(results);
}

Test(bounds, sound_and_exact_on_every_shape)
{
	const size_t step = getenv("FAB_TEST_FULL") ? 1 : STRIDE + 1;

	for (size_t i = 0; i < FAB_COUNT(cases); i += STRIDE)
		check_shape(i, 0);
	for (size_t i = step / 2; i < FAB_COUNT(cases); i += step)
		check_shape(i, 1 + i / 2 % 2);
}

/* On a torus with distances on demand bounds ask for no row of them, and those by hops
 * are those of the rows. */
Test(bounds, no_rows_are_made)
{
	const struct fab_mcast_options work = {.n_threads = 1};
	FAB_AUTO(routed_fini) struct routed s;
	OWN(fab_dist) *some = NULL;
	FAB_AUTO(fab_bound_fini) struct fab_bound whole, some_hops, matching, dual;

	routed_init_pattern(&s, "torus:dims=30x20,hosts=1", "random:groups=40,size=12");
	MUST(fab_dist_new_on_demand(s.f, 1, &some, ERR));
	fab_mcast_natural_bound(&s.problem, &whole);
	s.problem.dist = some;
	fab_mcast_natural_bound(&s.problem, &some_hops);
	cr_expect_eq(some_hops.value, whole.value);
	cr_expect_eq(some_hops.kind, FAB_BOUND_HOPS);
	fab_mcast_matching_bound(&s.problem, &matching);
	fab_mcast_dual_bound(&s.problem, &work, 10000000, &dual);
	cr_expect_eq(fab_dist_bytes(some), 0);
}

/* Two groups of a dragonfly whose cables to each other are those of their first switches,
 * as many times as groups lie in both: no other bound is above 3. From each root of a
 * kfat of two dimensions a group has one tree of minimal height: the bound is that of a
 * linear program that gives each group parts of these trees (42.55, found by HiGHS),
 * rounded up. The members next to the root count, too. */
Test(bounds, forced)
{
	static const struct {
		const char *spec, *pattern;
		uint32_t least, value;
	} rows[] = {
		{"dragonfly:a=18,p=9,h=9,wiring=absolute", "grid:81x27x12", 3, 7},
		{"kfat:dims=12x12,hosts=12", "random:groups=600,size=6-16,seed=1", 0, 43},
	};

	for (size_t i = 0; i < FAB_COUNT(rows); i++) {
		FAB_AUTO(routed_fini) struct routed s;
		FAB_AUTO(fab_bound_fini) struct fab_bound bound;

		routed_init_pattern(&s, rows[i].spec, rows[i].pattern);
		fab_mcast_forced_bound(&s.problem, rows[i].least, &bound);
		cr_expect_eq(bound.kind, FAB_BOUND_FORCED);
		cr_expect_eq(bound.value, rows[i].value, "%u", bound.value);
	}
}

static bool always(void *n_asked)
{
	++*(unsigned *)n_asked;
	return true;
}

/* What is stopped, by a question or by the time, says so, and has found nothing. */
Test(bounds, stopped_by_the_clock)
{
	unsigned n_asked = 0;
	const struct fab_mcast_options work[] = {
		{.n_threads = 1, .is_over = always, .is_over_context = &n_asked},
		{.n_threads = 1, .until = 1e-9}};
	FAB_AUTO(routed_fini) struct routed s;

	routed_init_pattern(&s, "torus:dims=6x4x4,hosts=2", "grid:4x6x8");
	for (size_t i = 0; i < FAB_COUNT(work); i++) {
		FAB_AUTO(fab_bound_fini) struct fab_bound none;

		fab_mcast_dual_bound(&s.problem, &work[i], 100000000, &none);
		cr_expect(none.is_cut_short);
		cr_expect_eq(none.value, 0);
	}
	cr_expect_gt(n_asked, 0);
}
