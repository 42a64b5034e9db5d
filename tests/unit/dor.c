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

static void check_sound(const char *spec, unsigned lanes)
{
	OWN(fab_fabric) *f = test_gen(spec);
	OWN(fab_routes) *r = test_tables(f, NULL, "dor", 2);
	struct unicast_check c = unicast_check(r);
	OWN(fab_analysis) a = test_verified(r, FAB_ENDS_ALL);
	uint64_t pairs = (uint64_t)f->n_switches * (f->n_switches - 1);
	OWN(fab_shape) *s = NULL;

	cr_assert_eq(c.pairs, pairs, "%s", spec);
	cr_assert_eq(c.minimal, pairs, "%s: %lu of %lu shortest", spec, c.minimal, pairs);
	cr_assert_not(c.has_cycle, "%s", spec);
	cr_assert_eq(c.vls, lanes, "%s: %u lanes", spec, c.vls);
	cr_assert(a.deadlock_free, "%s", spec);
	cr_assert_eq(a.minimal, a.pairs, "%s", spec);
	cr_assert_null(r->note);
	/* Every pair: right along an axis before the next one begins. */
	s = fab_shape_recognize(f);
	for (uint64_t i = 0; i < (uint64_t)r->n_columns * f->n_switches; i++) {
		uint32_t column = (uint32_t)(i / f->n_switches);
		struct fab_path p =
			fab_path_from(r, (uint32_t)(i % f->n_switches), column);

		for (uint32_t sw = p.at; fab_path_step(&p); sw = p.at) {
			uint32_t axis = leaves_along(s, sw, r->column_switch[column]);

			cr_assert_neq(axis, FAB_NONE, "%s", spec);
			cr_assert_neq(place_of(s, sw)[axis], place_of(s, p.at)[axis],
				      "%s", spec);
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
		check_sound(spec, *spec == 't' && strpbrk(spec, "567") ? 2 : 1);
}

Test(dor, tori_of_all_sizes)
{
	for (uint32_t n = 1; n <= 4; n++)
		check_all("torus:dims=", n, 1, MOST);
}

Test(dor, meshes_of_all_sizes)
{
	for (uint32_t n = 1; n <= 3; n++)
		check_all("mesh:dims=", n, 1, MOST);
}

Test(dor, hyperx)
{
	static const char *const specs[] = {"hyperx:dims=4", "hyperx:dims=6x4",
					    "hyperx:dims=5x5x2",
					    "hyperx:dims=4x3x3,hosts=2"};

	for (size_t i = 0; i < FAB_COUNT(specs); i++)
		check_sound(specs[i], 1);
}

/* Even rings: every cable carries the same, k / 8 of all paths to a column. */
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
		     {"torus:dims=6x6,hosts=3", 72, 54, 54}};

	for (size_t i = 0; i < FAB_COUNT(cases); i++) {
		OWN(fab_fabric) *f = test_gen(cases[i].spec);
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

/* Two cables beside each other: hosts of a switch take turns. */
Test(dor, parallel_cables_take_turns)
{
	OWN(fab_fabric) *f = test_gen("mesh:dims=2,hosts=4");
	OWN(fab_fabric) *two = test_with_cable(f, 0, 1);
	OWN(fab_routes) *r = test_tables(two, NULL, "dor", 2);
	FAB_AUTO(fab_columns_fini) struct fab_columns columns;
	uint32_t used[2] = {0};

	fab_columns_init(&columns, r);
	for (uint32_t p = 0; p < two->n_ports; p++)
		if (two->port_node[p] >= two->n_switches && fab_port_switch(two, p) == 1)
			used[fab_routes_next(r, fab_columns_of(&columns, p, 0))[0]]++;
	cr_expect_eq(used[0], 2);
	cr_expect_eq(used[1], 2);
}

Test(dor, one_lane_does_not_do_for_rings_of_five)
{
	static const char *const specs[] = {"torus:dims=5", "torus:dims=6x6",
					    "torus:dims=4x4x3", "mesh:dims=7x5",
					    "hyperx:dims=5x4"};

	for (size_t i = 0; i < FAB_COUNT(specs); i++) {
		OWN(fab_fabric) *f = test_gen(specs[i]);
		OWN(fab_routes) *r = test_tables(f, NULL, "dor", 1);
		OWN(fab_analysis) a = test_verified(r, FAB_ENDS_HOSTS);

		cr_expect_eq(a.deadlock_free, i >= 2);
		cr_expect_eq(a.unreachable, 0);
		cr_expect_eq(r->n_vls, 1);
		cr_expect_eq(r->note != NULL, i < 2);
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
	const struct fab_fabric *f = faults->f;
	bool is_there = false;

	for (uint32_t arc = f->arc_first[a]; arc < f->arc_first[a + 1]; arc++)
		is_there |= f->arc_peer[arc] == b && !faults->arc_is_dead[arc];
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
static void check_in_order(const struct fab_routes *r, const struct fab_shape *s,
			   const char *name)
{
	OWN(fab_analysis) a = test_verified(r, FAB_ENDS_ALL);

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

static const char *const sites[] = {"torus:dims=6",	      "torus:dims=7x4",
				    "torus:dims=6x5,hosts=2", "torus:dims=5x5,hosts=2",
				    "mesh:dims=5x4",	      "hyperx:dims=5x4"};

Test(dor, with_faults)
{
	for (uint64_t seed = 0; seed < 60; seed += (TEST_SHARE > 1 ? 5 : 1)) {
		const char *spec = sites[seed % FAB_COUNT(sites)];
		OWN(fab_fabric) *f = test_gen(spec);
		OWN(fab_faults) *faults = fab_faults_new(f);
		struct fab_stream rng = fab_stream_of(seed, 1);
		OWN(fab_shape) *s = fab_shape_recognize(f);
		OWN(fab_routes) *r = NULL;

		test_draw_faults(faults, FAB_FAULT_ANY, 1 + fab_stream_below(&rng, 6),
				 &rng);
		r = test_tables(f, faults, "dor", 2);
		check_in_order(r, s, spec);
	}
}

/* Two switches have two cables, all others one. */
Test(dor, with_one_parallel_cable)
{
	for (size_t i = 0; i < FAB_COUNT(sites); i++) {
		OWN(fab_fabric) *f = test_gen(sites[i]);
		OWN(fab_fabric) *two = test_with_cable(f, 0, 1);
		OWN(fab_shape) *s = fab_shape_recognize(two);
		OWN(fab_faults) *faults = fab_faults_new(two);
		OWN(fab_routes) *r = test_tables(two, faults, "dor", 2);

		check_in_order(r, s, sites[i]);
	}
}

/* Does a packet leave `sw` along the line of a cable? */
static bool takes_line(const struct fab_shape *s, uint32_t sw, uint32_t to,
		       const uint32_t end[2])
{
	uint32_t d = leaves_along(s, sw, to);
	bool is_same = d != FAB_NONE && d == leaves_along(s, end[0], end[1]);

	for (uint32_t e = 0; e < s->n_dims; e++)
		is_same &= e == d || place_of(s, sw)[e] == place_of(s, end[0])[e];
	return is_same;
}

/* Without faults columns are copied in pieces, with one they are filled place by place:
 * only what goes along the dead cable's line may differ. */
static void check_others_stay(const struct fab_fabric *f, uint32_t cable)
{
	const uint32_t end[2] = {f->port_node[f->cable_a[cable]],
				 f->port_node[f->cable_b[cable]]};
	OWN(fab_shape) *s = fab_shape_recognize(f);
	OWN(fab_faults) *faults = fab_faults_new(f);
	OWN(fab_routes) *whole = test_tables(f, NULL, "dor", 2), *r = NULL;
	uint64_t n_other = 0;

	fab_faults_kill_cable(faults, cable);
	r = test_tables(f, faults, "dor", 2);
	cr_assert_eq(r->n_columns, whole->n_columns);
	for (uint32_t c = 0; c < r->n_columns; c++)
		for (uint32_t sw = 0; sw < f->n_switches; sw++) {
			uint32_t to = r->column_switch[c];
			struct fab_path p = fab_path_from(whole, sw, c);
			bool is_other = takes_line(s, sw, to, end);

			if (!is_other && fab_routes_next(r, c)[sw] != FAB_ARC_NONE)
				cr_assert_eq(fab_routes_next(whole, c)[sw],
					     fab_routes_next(r, c)[sw]);
			while (fab_path_step(&p))
				is_other = is_other || takes_line(s, p.at, to, end);
			n_other += is_other;
			cr_assert(is_other || fab_routes_next(r, c)[sw] != FAB_ARC_NONE);
			cr_assert(is_other || !r->sl ||
				  whole->sl[(size_t)sw * r->n_columns + c] ==
					  r->sl[(size_t)sw * r->n_columns + c]);
		}
	cr_expect_gt(n_other, 0);
	cr_expect_lt(n_other, (uint64_t)r->n_columns * f->n_switches);
}

Test(dor, one_dead_cable_changes_its_line_alone)
{
	static const char *const specs[] = {"torus:dims=4x6x8,hosts=2",
					    "torus:dims=7x2x5", "mesh:dims=5x4x3",
					    "hyperx:dims=4x5,hosts=3", "torus:dims=6x6"};

	for (size_t i = 0; i < FAB_COUNT(specs); i++) {
		OWN(fab_fabric) *f = test_gen(specs[i]), *g = test_shuffled(f, i);

		check_others_stay(f, 0);
		check_others_stay(g, f->n_switch_links / 2);
	}
}

Test(dor, same_for_any_threads)
{
	OWN(fab_fabric) *f = test_gen("torus:dims=12x10x8");
	struct fab_unicast_problem problem = {.f = f, .max_vls = 2, .n_threads = 1};
	OWN(fab_routes) *one = NULL, *three = NULL;

	MUST(fab_unicast_route(&fab_unicast_dor, &problem, &one, ERR));
	problem.n_threads = 3;
	MUST(fab_unicast_route(&fab_unicast_dor, &problem, &three, ERR));
	cr_assert_eq(one->n_columns, three->n_columns);
	cr_expect(!memcmp(one->next, three->next,
			  (size_t)one->n_columns * f->n_switches * sizeof(*one->next)));
	cr_expect(!memcmp(one->sl, three->sl, (size_t)one->n_columns * f->n_switches));
}

/* Where both ways round a ring are equally short, dor-up goes up; lanes make that free of
 * deadlock, on rings of four too. */
Test(dor, ties_go_up)
{
	static const char *const specs[] = {
		"torus:dims=4",	  "torus:dims=8",     "torus:dims=5",
		"torus:dims=4x4", "torus:dims=8x6x4", "torus:dims=6x4x3x2",
		"torus:dims=3x3", "mesh:dims=4x3",    "hyperx:dims=4x4"};

	for (size_t i = 0; i < FAB_COUNT(specs); i++) {
		OWN(fab_fabric) *f = test_gen(specs[i]);
		OWN(fab_routes) *r = test_tables(f, NULL, "dor-up", 2);
		struct unicast_check c = unicast_check(r);
		OWN(fab_analysis) a = test_verified(r, FAB_ENDS_ALL);
		OWN(fab_shape) *s = fab_shape_recognize(f);

		cr_assert_not(c.has_cycle, "%s", specs[i]);
		cr_assert_eq(c.minimal, (uint64_t)f->n_switches * (f->n_switches - 1));
		cr_assert(a.deadlock_free, "%s", specs[i]);
		for (uint32_t to = 0; s->kind == FAB_SHAPE_TORUS && to < r->n_columns;
		     to++)
			for (uint32_t sw = 0; sw < f->n_switches; sw++) {
				struct fab_path p = fab_path_from(r, sw, to);
				uint32_t k = s->dims[0], from = *place_of(s, sw);
				uint32_t goal = *place_of(s, r->column_switch[to]);

				if ((goal + k - from) % k * 2 == k && fab_path_step(&p))
					cr_assert_neq(*place_of(s, p.at),
						      (from + k - 1) % k + (k == 2), "%s",
						      specs[i]);
			}
	}
}

/* One lane alone would not do. */
Test(dor, ties_that_go_up_need_lanes)
{
	OWN(fab_fabric) *f = test_gen("torus:dims=4");
	OWN(fab_routes) *r = test_tables(f, NULL, "dor-up", 1);
	struct unicast_check c = unicast_check(r);

	cr_assert(c.has_cycle);
	cr_assert_str_eq(r->note, "rings of four or more need two lanes, there is one");
}
