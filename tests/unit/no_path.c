/* SPDX-License-Identifier: BSD-2-Clause */
/* Pairs without a path, and circles of tables, against walks of every pair. */
#include "unicast/path.h"

#include "support/test.h"
#include "support/unicast_check.h"

/* Tables by LID with entries changed at random; service levels, some of them missing. */
static struct fab_routes *spoiled(const struct fab_fabric *f, struct fab_rng *rng)
{
	struct fab_routes *r = test_tables(f, NULL, "minhop", 1);
	size_t n = (size_t)(r->column_row ? r->n_rows : r->n_columns) * f->n_switches;

	for (uint64_t i = fab_rng_below(rng, 6); i; i--)
		r->next[fab_rng_below(rng, n)] = fab_rng_below(rng, 4)
							 ? (uint16_t)fab_rng_below(rng, 3)
						 : i % 2 ? FAB_ARC_HERE
							 : FAB_ARC_NONE;
	if (fab_rng_below(rng, 2))
		return r;
	r->n_sls = 2;
	r->sl_source = FAB_NEW(f->n_nodes, uint32_t);
	for (uint32_t node = 0; node < f->n_nodes; node++)
		if (node < f->n_switches || fab_rng_below(rng, 2))
			r->sl_source[r->n_sl_sources++] = node;
	r->sl = FAB_NEW((size_t)r->n_sl_sources * r->n_columns, uint8_t);
	for (size_t i = 0; i < (size_t)r->n_sl_sources * r->n_columns; i++)
		r->sl[i] = fab_rng_below(rng, 30) ? 0 : FAB_SL_NONE;
	return r;
}

/* How the packets of a column end that are at a switch. */
static enum fab_path_end end_of(const struct fab_routes *r, uint32_t sw, uint32_t column)
{
	struct fab_path p = fab_path_from(r, sw, column);

	while (fab_path_step(&p))
		;
	return fab_path_end(&p);
}

/* Does an end have a service level to a column, by its own row, else by its switch's? */
static bool has_level(const struct fab_routes *r, const struct fab_flow_ends *ends,
		      uint32_t from, uint32_t column)
{
	uint32_t row = FAB_NONE;

	for (uint32_t i = 0; r->sl && i < r->n_sl_sources; i++)
		if (r->sl_source[i] == r->f->port_node[ends->port[from]] ||
		    (r->sl_source[i] == ends->sw[from] && row == FAB_NONE))
			row = i;
	return !r->sl || r->sl[(size_t)row * r->n_columns + column] != FAB_SL_NONE;
}

static void compare(const struct fab_routes *r, int seed)
{
	const struct fab_fabric *f = r->f;
	OWN(fab_planes) *planes = fab_planes_new(f);
	struct fab_no_path plain = {.from = FAB_NONE, .to = FAB_NONE};
	FAB_AUTO(fab_no_path_fini) struct fab_no_path x;
	OWN(fab_flow_ends) ends;
	OWN_HEAP uint32_t *column = NULL;

	fab_flow_ends_init(&ends, f, NULL, NULL);
	column = fab_path_columns(r, ends.n, ends.sw, ends.port);
	fab_no_path_find(r, ends.n, ends.sw, ends.port, &x);
	for (uint32_t to = 0; to < ends.n; to++)
		for (uint32_t from = 0; from < ends.n; from++) {
			uint32_t c = column[to];
			enum fab_path_end end = c == FAB_NONE
							? FAB_PATH_NO_ENTRY
							: end_of(r, ends.sw[from], c);

			if (from == to || fab_planes_are_parallel(
						  planes, planes->of_switch[ends.sw[to]],
						  planes->of_switch[ends.sw[from]]))
				continue;
			plain.pairs++;
			plain.circling += end == FAB_PATH_CIRCLE;
			if (end == FAB_PATH_ARRIVES && has_level(r, &ends, from, c))
				continue;
			if (!plain.without++) {
				plain.from = from;
				plain.to = to;
			}
		}
	for (uint32_t c = 0; c < r->n_columns; c++)
		for (uint32_t sw = 0; sw < f->n_switches; sw++)
			if (end_of(r, sw, c) == FAB_PATH_CIRCLE) {
				plain.column = plain.circles++ ? plain.column : c;
				break;
			}
	cr_assert_eq(x.pairs, plain.pairs, "%d", seed);
	cr_assert_eq(x.without, plain.without, "%d", seed);
	cr_assert_eq(x.circling, plain.circling, "%d", seed);
	cr_assert_eq(x.circles, plain.circles, "%d", seed);
	cr_assert(x.from == plain.from && x.to == plain.to, "%d", seed);
	cr_assert_eq(x.column, plain.circles ? plain.column : FAB_NONE, "%d", seed);
	for (size_t i = 0; i < x.circle.n; i++) { /* each arc leads to the next, around */
		uint32_t sw = f->arc_peer[x.circle.v[i ? i - 1 : x.circle.n - 1]];

		cr_assert_eq(x.circle.v[i],
			     f->arc_first[sw] + fab_routes_next(r, x.column)[sw]);
		cr_assert_geq(sw, f->arc_peer[x.circle.v[x.circle.n - 1]]);
	}
	cr_assert_eq(x.circle.n > 0, x.circles > 0);
}

/* The last fabric has hosts of two planes: nobody wants a path from one to the other. */
Test(no_path, beside_walks_of_every_pair)
{
	for (uint64_t seed = 0; seed <= 300; seed++) {
		struct fab_rng rng = test_rng(seed);
		uint32_t n_switches = 2 + test_below(&rng, 9);
		uint32_t extra = test_below(&rng, 6), hosts = 1 + test_below(&rng, 3);
		OWN(fab_fabric) *f =
			seed < 300 ? test_random_fabric(n_switches, extra, hosts, seed)
				   : test_gen_raw("kfat:dims=3x3,hosts=2,planes=2");
		OWN(fab_routes) *r = spoiled(f, &rng);

		compare(r, (int)seed);
	}
}

Test(no_path, circle_in_words)
{
	OWN(fab_fabric) *f = test_gen_raw("torus:dims=4,hosts=1");
	OWN(fab_flow_ends) ends;
	FAB_AUTO(fab_no_path_fini) struct fab_no_path x;
	OWN(fab_routes) *r = test_tables(f, NULL, "minhop", 1);
	OWN_HEAP char *text = NULL;

	fab_flow_ends_init(&ends, f, NULL, NULL);
	fab_no_path_find(r, ends.n, ends.sw, ends.port, &x);
	cr_expect(x.pairs == 12 && x.without == 0);
	cr_expect_null(fab_no_path_circle_text(r, &x));
	fab_no_path_fini(&x);
	for (uint32_t sw = 0; sw < 4; sw++) /* LID 5, that of h0: all clockwise */
		for (uint32_t a = f->arc_first[sw]; a < f->arc_first[sw + 1]; a++)
			if (f->arc_peer[a] == (sw + 1) % 4)
				r->next[(r->column_row ? r->column_row[4] : 4) * 4 + sw] =
					(uint16_t)(a - f->arc_first[sw]);
	fab_no_path_find(r, ends.n, ends.sw, ends.port, &x);
	cr_expect(x.without == 3 && x.circling == 3);
	text = fab_no_path_circle_text(r, &x);
	cr_expect_str_eq(text, "LFTs send LID 5 (h0 HCA-1) in a circle: sw-0:2, sw-1:2, "
			       "sw-2:2, sw-3:2");
}
