/* SPDX-License-Identifier: BSD-2-Clause */
/* Dimension order: in order, as short as it can be, balanced, free of deadlock, with
 * faults, too. */
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

/* The live neighbour of a switch at another place of axis d, FAB_NONE: none. */
static uint32_t beside(const struct fab_routes *r, const struct fab_shape *s, uint32_t sw,
		       uint32_t d, uint32_t place)
{
	FAB_EACH_ARC(r->f, sw, a)
		if (fab_arc_is_live(r->faults, a) &&
		    place_of(s, r->f->arc_peer[a])[d] == place)
			return r->f->arc_peer[a];
	return FAB_NONE;
}

/* Hops in dimension order, the shorter live way round each ring; FAB_NONE: none. */
static uint32_t hops_in_order(const struct fab_routes *r, const struct fab_shape *s,
			      uint32_t from, uint32_t to)
{
	uint32_t sum = 0;

	for (uint32_t i = 0; i < s->n_dims; i++) {
		uint32_t d = axis_at(s, i), k = s->dims[d], goal = place_of(s, to)[d];
		uint32_t best = FAB_NONE, there = from;

		for (uint32_t way = 0; way < 2; way++) {
			uint32_t at = from, n = 0, by = way ? k - 1 : 1, next;

			for (; at != FAB_NONE && place_of(s, at)[d] != goal; n++) {
				next = (place_of(s, at)[d] + by) % k;
				next = s->kind == FAB_SHAPE_HYPERX ? goal : next;
				at = beside(r, s, at, d, next);
			}
			there = at == FAB_NONE ? there : at;
			best = at == FAB_NONE || n > best ? best : n;
		}
		if (best == FAB_NONE)
			return FAB_NONE;
		sum += best;
		from = there;
	}
	return sum;
}

/* Every pair: right along an axis before the next one begins, as short as that can be, by
 * dor-up upwards where both ways round a ring are equally short. */
static void check_path(const struct fab_routes *r, const struct fab_shape *s,
		       uint32_t from, uint32_t column, bool ties_go_up)
{
	uint32_t to = r->column_switch[column], want = hops_in_order(r, s, from, to);
	struct fab_path p = fab_path_from(r, from, column);

	cr_assert_eq(fab_path_length(r, from, column), want, "%s", r->f->source);
	if (want == FAB_NONE)
		cr_assert_eq(fab_routes_next(r, column)[from], FAB_ARC_NONE);
	for (uint32_t sw = from; fab_path_step(&p); sw = p.at) {
		uint32_t axis = leaves_along(s, sw, to), place, k;

		cr_assert_neq(axis, FAB_NONE, "%s", r->f->source);
		place = place_of(s, sw)[axis];
		k = s->dims[axis];
		cr_assert_neq(place, place_of(s, p.at)[axis], "%s", r->f->source);
		if (ties_go_up && s->kind == FAB_SHAPE_TORUS &&
		    (place_of(s, to)[axis] + k - place) % k * 2 == k)
			cr_assert_eq(place_of(s, p.at)[axis], (place + 1) % k);
	}
}

/* Free of deadlock; without faults shortest, by two lanes only where one does not do. */
static void check(const struct fab_fabric *f, const struct fab_faults *faults,
		  const char *engine)
{
	OWN(fab_routes) *r = test_tables(f, faults, engine, 2);
	OWN(fab_analysis) a = test_verified(r, FAB_ENDS_ALL);
	OWN(fab_shape) *s = fab_shape_recognize(f);
	bool ties_go_up = strcmp(engine, "dor"), is_long = false;

	cr_assert(a.deadlock_free, "%s", f->source);
	for (uint32_t d = 0; d < s->n_dims; d++)
		is_long |= s->dims[d] >= (ties_go_up ? 4 : 5);
	if (!faults) {
		cr_assert_eq(a.minimal, a.pairs, "%s", f->source);
		cr_assert_eq(a.vls, is_long && s->kind == FAB_SHAPE_TORUS ? 2 : 1);
		cr_assert_null(r->note);
	}
	for (uint32_t c = 0; c < r->n_columns; c++)
		for (uint32_t sw = 0; sw < f->n_switches; sw++)
			if (!faults || fab_switch_is_live(faults, sw))
				check_path(r, s, sw, c, ties_go_up);
}

static void check_sound(const char *spec, const char *engine)
{
	OWN(fab_fabric) *f = test_gen(spec);

	check(f, NULL, engine);
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

/* With what d-mod-k cannot, either. */
Test(dor, what_it_cannot_route)
{
	static const struct {
		const char *spec, *says, *engine;
		unsigned max_sls;
	} cases[] = {
		{"fattree:radix=4", "the shape is fattree levels=3 roots=4", "dor", 0},
		{"kfat:dims=3x3", "the shape is kfat 3x3", "dor", 0},
		{"dragonfly:a=4,p=2,h=2", "the shape is dragonfly", "dor", 0},
		{"random:switches=20,degree=3,seed=1", "none that is known", "dor", 0},
		{"torus:dims=5x5x5x5x5", "needs 2^5 service levels", "dor", 0},
		{"torus:dims=5x5", "there are 2", "dor", 2},
		{"torus:dims=4x4", "fat tree", "d-mod-k", 0},
		{"kfat:dims=4x4,hosts=2", "fat tree", "d-mod-k", 0},
		{"hyperx:dims=3x4", "fat tree", "d-mod-k", 0}};

	for (size_t i = 0; i < FAB_COUNT(cases); i++) {
		OWN(fab_fabric) *f = test_gen(cases[i].spec);
		const struct fab_unicast_engine *engine =
			fab_unicast_engine_find(cases[i].engine, strlen(cases[i].engine));
		const struct fab_unicast_problem problem = {
			.f = f, .max_vls = 2, .max_sls = cases[i].max_sls};
		struct fab_routes *r = NULL;

		FAILS(fab_unicast_fits(engine, &problem, ERR), -EINVAL, cases[i].says);
		cr_expect_eq(fab_unicast_route(engine, &problem, &r, NULL), -EINVAL);
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
		OWN(fab_faults) *faults = fab_faults_new(f);

		check(two, NULL, "dor");
		for (uint64_t seed = 0; seed < (TEST_SHARE > 1 ? 2 : 10); seed++) {
			struct fab_stream rng = fab_stream_of(seed, i);

			test_draw_faults(faults, FAB_FAULT_ANY,
					 1 + fab_stream_below(&rng, 6), &rng);
			check(f, faults, "dor");
		}
	}
}
