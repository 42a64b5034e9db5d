/* SPDX-License-Identifier: BSD-2-Clause */
/* Dimension order: minimal, in order, balanced, free of deadlock; with faults never
 * wrong. */
#include "base/order.h"
#include "support/test.h"
#include "support/unicast_check.h"

/* The axis that comes as number i: the largest first, of equal ones the last. */
static uint32_t axis_at(const struct fab_shape *s, uint32_t i)
{
	uint32_t n_before = 0, d = s->n_dims;

	for (uint32_t e = 0; e < s->n_dims; e++)
		n_before += s->dims[e] > s->dims[i];
	for (uint32_t left = i - n_before; d-- > 0;)
		if (s->dims[d] == s->dims[i] && !left--)
			break;
	return d;
}

static const uint32_t *place_of(const struct fab_shape *s, uint32_t sw)
{
	return s->coords + (size_t)sw * s->n_dims;
}

/* The axis along which a packet leaves, by their order; FAB_NONE: it is there. */
static uint32_t leaves_along(const struct fab_shape *s, uint32_t sw, uint32_t to)
{
	for (uint32_t i = 0; i < s->n_dims; i++)
		if (place_of(s, sw)[axis_at(s, i)] != place_of(s, to)[axis_at(s, i)])
			return axis_at(s, i);
	return FAB_NONE;
}

/* Do two lanes free it of deadlock, and one does not? */
static bool needs_two(const struct fab_shape *s, const char *engine)
{
	uint32_t least = strcmp(engine, "dor") ? 4 : 5;
	bool is_long = false;

	for (uint32_t d = 0; d < s->n_dims; d++)
		is_long |= s->dims[d] >= least;
	return is_long && s->kind == FAB_SHAPE_TORUS;
}

static void check_sound(const char *spec, const char *engine)
{
	OWN(fab_fabric) *f = test_gen(spec);
	OWN(fab_routes) *r = test_tables(f, NULL, engine, 2);
	struct unicast_check c = unicast_check(r);
	OWN(fab_analysis) a = test_verified(r, FAB_ENDS_ALL);
	uint64_t pairs = (uint64_t)f->n_switches * (f->n_switches - 1);
	OWN(fab_shape) *s = fab_shape_recognize(f);

	cr_assert_eq(c.pairs, pairs, "%s", spec);
	cr_assert_eq(c.minimal, pairs, "%s: %lu of %lu shortest", spec, c.minimal, pairs);
	cr_assert_not(c.has_cycle, "%s", spec);
	cr_assert_eq(c.vls, needs_two(s, engine) ? 2 : 1, "%s: %u lanes", spec, c.vls);
	cr_assert(a.deadlock_free, "%s", spec);
	cr_assert_eq(a.minimal, a.pairs, "%s", spec);
	cr_assert_null(r->note);
	/* Every pair: right along an axis before the next one begins, by dor-up upwards
	 * where both ways round a ring are equally short. */
	for (uint64_t i = 0; i < (uint64_t)r->n_columns * f->n_switches; i++) {
		uint32_t to = r->column_switch[i / f->n_switches];
		struct fab_path p = fab_path_from(r, (uint32_t)(i % f->n_switches),
						  (uint32_t)(i / f->n_switches));

		for (uint32_t sw = p.at; fab_path_step(&p); sw = p.at) {
			uint32_t axis = leaves_along(s, sw, to), from, k;
			bool is_tie;

			cr_assert_neq(axis, FAB_NONE, "%s", spec);
			from = place_of(s, sw)[axis];
			k = s->dims[axis];
			is_tie = (place_of(s, to)[axis] + k - from) % k * 2 == k;
			cr_assert_neq(from, place_of(s, p.at)[axis], "%s", spec);
			if (is_tie && s->kind == FAB_SHAPE_TORUS && strcmp(engine, "dor"))
				cr_assert_eq(place_of(s, p.at)[axis], (from + 1) % k);
		}
		cr_assert_eq(fab_path_end(&p), FAB_PATH_ARRIVES, "%s", spec);
	}
}

enum { LEAST = 2, MOST = 7, SWITCHES_MAX = 216 };

/* Sizes 2 to 7 of n_dims more axes, largest first, of as many switches as take no time;
 * `spec` ends with the axes up to now, of n switches, the last of size `size`. */
static void check_all(const char *spec, uint32_t n_dims, uint32_t n, uint32_t size)
{
	static uint32_t n_sizes;

	for (uint32_t k = LEAST; n_dims && k <= size && n * k <= SWITCHES_MAX; k++) {
		OWN_HEAP char *more = fab_format("%s%s%u", spec, n > 1 ? "x" : "", k);

		check_all(more, n_dims - 1, n * k, k);
	}
	if (!n_dims && (n < 32 || n_sizes++ % test_step(1) == 0))
		check_sound(spec, "dor");
}

Test(dor, tori_and_meshes_of_all_sizes)
{
	for (uint32_t n = 1; n <= 4; n++)
		check_all("torus:dims=", n, 1, MOST);
	for (uint32_t n = 1; n <= 3; n++)
		check_all("mesh:dims=", n, 1, MOST);
}

Test(dor, hyperx_and_ties_that_go_up)
{
	static const char *const hyperx[] = {"hyperx:dims=4", "hyperx:dims=6x4",
					     "hyperx:dims=5x5x2",
					     "hyperx:dims=4x3x3,hosts=2"};
	static const char *const up[] = {
		"torus:dims=4",	  "torus:dims=8",     "torus:dims=5",
		"torus:dims=4x4", "torus:dims=8x6x4", "torus:dims=6x4x3x2",
		"torus:dims=3x3", "mesh:dims=4x3",    "hyperx:dims=4x4"};

	for (size_t i = 0; i < FAB_COUNT(hyperx); i++)
		check_sound(hyperx[i], "dor");
	for (size_t i = 0; i < FAB_COUNT(up); i++)
		check_sound(up[i], "dor-up");
}

/* With one lane only. */
Test(dor, long_rings_need_two_lanes)
{
	static const struct {
		const char *spec, *engine, *note;
	} cases[] = {
		{"torus:dims=5", "dor",
		 "rings of five or more need two lanes, there is one"},
		{"torus:dims=6x6", "dor",
		 "rings of five or more need two lanes, there is one"},
		{"torus:dims=4x4x3", "dor", NULL},
		{"mesh:dims=7x5", "dor", NULL},
		{"hyperx:dims=5x4", "dor", NULL},
		{"torus:dims=4", "dor-up",
		 "rings of four or more need two lanes, there is one"},
	};

	for (size_t i = 0; i < FAB_COUNT(cases); i++) {
		OWN(fab_fabric) *f = test_gen(cases[i].spec);
		OWN(fab_routes) *r = test_tables(f, NULL, cases[i].engine, 1);
		OWN(fab_analysis) a = test_verified(r, FAB_ENDS_HOSTS);

		cr_expect_eq(a.deadlock_free, !cases[i].note);
		cr_expect_eq(a.unreachable, 0);
		cr_expect_eq(r->n_vls, 1);
		cr_expect_str_eq(r->note ? r->note : "",
				 cases[i].note ? cases[i].note : "");
	}
}

/* Even rings: every cable carries the same, k / 8 of all paths to a column; two cables
 * beside each other: hosts of a switch take turns. */
Test(dor, ties_are_balanced)
{
	static const struct {
		const char *spec;
		uint32_t n_columns, load, least;
	} cases[] = {{"torus:dims=8", 8, 8, 8},
		     {"torus:dims=4", 4, 2, 2},
		     {"torus:dims=8x8", 64, 64, 64},
		     {"torus:dims=4x4x4", 64, 32, 32},
		     {"torus:dims=5x5", 25, 15, 15},
		     /* the first axis in turn by the place along the second */
		     {"torus:dims=6x4", 24, 18, 12},
		     /* the last axis of 6 by the place alone: 5 and 4 of 9 halves */
		     {"torus:dims=6x6", 36, 30, 24},
		     {"torus:dims=6x6,hosts=2", 72, 54, 54},
		     {"torus:dims=6x6,hosts=3", 72, 54, 54},
		     /* with a second cable */
		     {"mesh:dims=2,hosts=4", 4, 1, 1}};

	for (size_t i = 0; i < FAB_COUNT(cases); i++) {
		OWN(fab_fabric) *one = test_gen(cases[i].spec);
		OWN(fab_fabric) *two = test_with_cable(one, 0, 1);
		const struct fab_fabric *f = *cases[i].spec == 'm' ? two : one;
		OWN(fab_routes) *r = test_tables(f, NULL, "dor", 2);
		uint32_t n = f->arc_first[f->n_switches];
		OWN_HEAP uint32_t *load = FAB_NEW0(n, uint32_t);

		cr_expect_eq(r->n_columns, cases[i].n_columns, "%s", cases[i].spec);
		for (uint32_t at = 0; at < r->n_columns * f->n_switches; at++) {
			struct fab_path p =
				fab_path_from(r, at % f->n_switches, at / f->n_switches);

			while (fab_path_step(&p))
				load[p.arc]++;
		}
		qsort(load, n, sizeof(*load), fab_cmp_u32);
		cr_expect_eq(load[n - 1], cases[i].load, "%s: %u", cases[i].spec,
			     load[n - 1]);
		cr_expect_eq(load[0], cases[i].least, "%s: %u", cases[i].spec, load[0]);
	}
}

Test(dor, what_it_cannot_route)
{
	static const struct {
		const char *spec, *says;
		unsigned max_sls;
	} cases[] = {{"fattree:radix=4", "the shape is fattree levels=3 roots=4", 0},
		     {"kfat:dims=3x3", "the shape is kfat 3x3", 0},
		     {"dragonfly:a=4,p=2,h=2", "the shape is dragonfly", 0},
		     {"random:switches=20,degree=3,seed=1", "none that is known", 0},
		     {"torus:dims=5x5x5x5x5", "needs 2^5 service levels", 0},
		     {"torus:dims=5x5", "there are 2", 2}};

	for (size_t i = 0; i < FAB_COUNT(cases); i++) {
		OWN(fab_fabric) *f = test_gen(cases[i].spec);
		const struct fab_unicast_problem problem = {
			.f = f, .max_vls = 2, .max_sls = cases[i].max_sls};
		struct fab_routes *r = NULL;

		FAILS(fab_unicast_fits(&fab_unicast_dor, &problem, ERR), -EINVAL,
		      cases[i].says);
		cr_expect_eq(fab_unicast_route(&fab_unicast_dor, &problem, &r, NULL),
			     -EINVAL);
	}
}

/* A switch by its coordinates. */
static uint32_t switch_at(const struct fab_shape *s, const uint32_t *place)
{
	uint32_t sw = 0;

	while (memcmp(place_of(s, sw), place, s->n_dims * sizeof(*place)))
		sw++;
	return sw;
}

static bool has_cable(const struct fab_faults *faults, uint32_t a, uint32_t b)
{
	bool is_there = false;

	FAB_EACH_ARC(faults->f, a, arc)
		is_there |= faults->f->arc_peer[arc] == b && !faults->arc_is_dead[arc];
	return is_there;
}

/* Hops from `at` to `goal` on axis d one way round, FAB_NONE: there is no cable. */
static uint32_t hops_round(const struct fab_faults *faults, const struct fab_shape *s,
			   const uint32_t *at, uint32_t d, uint32_t goal, uint32_t by)
{
	uint32_t c[4], hops = 0;

	memcpy(c, at, s->n_dims * sizeof(*c));
	for (; c[d] != goal; hops++) {
		uint32_t from = switch_at(s, c);

		c[d] = s->kind == FAB_SHAPE_HYPERX ? goal : (c[d] + by) % s->dims[d];
		if (!has_cable(faults, from, switch_at(s, c)))
			return FAB_NONE;
	}
	return hops;
}

/* Hops in dimension order, the shorter live way round each ring; FAB_NONE: none. */
static uint32_t hops_in_order(const struct fab_faults *faults, const struct fab_shape *s,
			      uint32_t from, uint32_t to)
{
	const uint32_t *goal = place_of(s, to);
	uint32_t at[4], sum = 0;

	memcpy(at, place_of(s, from), s->n_dims * sizeof(*at));
	for (uint32_t i = 0; i < s->n_dims; i++) {
		uint32_t d = axis_at(s, i);
		uint32_t up = hops_round(faults, s, at, d, goal[d], 1);
		uint32_t down = hops_round(faults, s, at, d, goal[d], s->dims[d] - 1);

		if (up == FAB_NONE && down == FAB_NONE)
			return FAB_NONE;
		sum += up < down ? up : down;
		at[d] = goal[d];
	}
	return sum;
}

/* Paths are in order, as short as they can be, and free of deadlock. */
static void check_in_order(const struct fab_routes *r, const char *name)
{
	OWN(fab_analysis) a = test_verified(r, FAB_ENDS_ALL);
	OWN(fab_shape) *s = fab_shape_recognize(r->f);

	cr_assert(a.deadlock_free, "%s", name);
	for (uint32_t c = 0; c < r->n_columns; c++)
		for (uint32_t sw = 0; sw < r->f->n_switches; sw++) {
			uint32_t want =
				hops_in_order(r->faults, s, sw, r->column_switch[c]);

			if (!fab_switch_is_live(r->faults, sw))
				continue;
			cr_assert_eq(fab_path_length(r, sw, c), want, "%s", name);
			if (want == FAB_NONE)
				cr_assert_eq(fab_routes_next(r, c)[sw], FAB_ARC_NONE);
		}
}

/* Without faults, but two cables between two switches; then with faults. */
Test(dor, with_parallel_cables_and_faults)
{
	static const char *const specs[] = {
		"torus:dims=6",		  "torus:dims=7x4", "torus:dims=6x5,hosts=2",
		"torus:dims=5x5,hosts=2", "mesh:dims=5x4",  "hyperx:dims=5x4"};

	for (size_t i = 0; i < FAB_COUNT(specs); i++) {
		OWN(fab_fabric) *f = test_gen(specs[i]), *two = test_with_cable(f, 0, 1);
		OWN(fab_faults) *none = fab_faults_new(two), *faults = fab_faults_new(f);
		OWN(fab_routes) *of_two = test_tables(two, none, "dor", 2);

		check_in_order(of_two, specs[i]);
		for (uint64_t seed = 0; seed < (TEST_SHARE > 1 ? 2 : 10); seed++) {
			struct fab_stream rng = fab_stream_of(seed, i);
			OWN(fab_routes) *r = NULL;

			test_draw_faults(faults, FAB_FAULT_ANY,
					 1 + fab_stream_below(&rng, 6), &rng);
			r = test_tables(f, faults, "dor", 2);
			check_in_order(r, specs[i]);
		}
	}
}

Test(dor, same_for_any_threads)
{
	OWN(fab_fabric) *f = test_gen("torus:dims=12x10x8");
	struct fab_unicast_problem problem = {.f = f, .max_vls = 2, .n_threads = 1};
	OWN(fab_routes) *one = test_route(&problem, "dor"), *three = NULL;
	size_t n = (size_t)one->n_columns * f->n_switches;

	problem.n_threads = 3;
	three = test_route(&problem, "dor");
	cr_expect_arr_eq(one->next, three->next, n * sizeof(*one->next));
	cr_expect_arr_eq(one->sl, three->sl, n);
}
