/* SPDX-License-Identifier: BSD-2-Clause */
#include "fabric/dist.h"

#include "support/test.h"

/* Plain breadth-first search from one switch. */
static void slow_row(const struct fab_fabric *f, uint32_t source, uint8_t *row)
{
	uint32_t head = 0, tail = 0;
	FAB_AUTOFREE uint32_t *queue = FAB_NEW(f->n_switches, uint32_t);

	memset(row, FAB_HOPS_UNREACHABLE, f->n_switches);
	row[source] = 0;
	queue[tail++] = source;
	while (head < tail) {
		uint32_t v = queue[head++];

		for (uint32_t a = f->arc_first[v]; a < f->arc_first[v + 1]; a++)
			if (row[f->arc_peer[a]] == FAB_HOPS_UNREACHABLE) {
				row[f->arc_peer[a]] = (uint8_t)(row[v] + 1);
				queue[tail++] = f->arc_peer[a];
			}
	}
}

/* Rows on demand, and parts of one before and after it is there. */
static void check_rows(const struct fab_fabric *f, const struct fab_dist *all,
		       int n_threads)
{
	OWN(fab_dist) *some = NULL;
	size_t stride = fab_dist_stride(all);
	uint32_t sw = f->n_switches / 2;
	uint8_t room[64];

	MUST(fab_dist_new_on_demand(f, n_threads, &some, ERR));
	cr_assert_eq(fab_dist_bytes(some), 0);
	cr_assert(fab_dist_is_whole(all) && !fab_dist_is_whole(some));
	for (size_t from = 0; from < 2 * stride; from += 64) {
		if (from == stride)
			(void)fab_dist_row(some, sw);
		cr_assert_arr_eq(fab_dist_part(some, sw, from % stride, 64, room),
				 fab_dist_row(all, sw) + from % stride, 64);
	}
	for (uint32_t s = f->n_switches; s-- > 0;)
		cr_assert_arr_eq(fab_dist_row(some, s), fab_dist_row(all, s), stride,
				 "row %u", s);
	cr_assert_eq(fab_dist_bytes(some), fab_dist_bytes(all));
}

/* Takes the fabric. */
static void check_all(struct fab_fabric *f, int n_threads)
{
	FAB_AUTOFREE uint8_t *row = FAB_NEW(f->n_switches, uint8_t);
	OWN(fab_dist) *d = NULL;
	unsigned diameter = 0;

	MUST(fab_dist_new(f, n_threads, &d, ERR));
	for (uint32_t s = 0; s < f->n_switches; s++) {
		slow_row(f, s, row);
		cr_assert_arr_eq(fab_dist_row(d, s), row, f->n_switches, "row %u of %u",
				 s, f->n_switches);
		for (size_t i = f->n_switches; i < fab_dist_stride(d); i++)
			cr_assert_eq(fab_dist_row(d, s)[i], FAB_HOPS_UNREACHABLE);
		for (uint32_t v = 0; v < f->n_switches; v++)
			if (row[v] != FAB_HOPS_UNREACHABLE && row[v] > diameter)
				diameter = row[v];
	}
	cr_assert_eq(fab_fabric_diameter(f, n_threads), diameter);
	check_rows(f, d, n_threads);
	fab_fabric_free(f);
}

Test(dist, equals_plain_search)
{
	static const uint32_t sizes[] = {1, 2, 3, 63, 64, 65, 511, 512, 513, 700};

	for (size_t i = 0; i < FAB_COUNT(sizes); i++)
		for (uint32_t extra = 0; extra < 3 * sizes[i]; extra += sizes[i])
			check_all(test_random_fabric(sizes[i], extra, 1, i + extra),
				  1 + (int)i % 3);
	check_all(test_ring(3), 1);
	check_all(test_ring(509), 2); /* 254 hops */
}

/* Rows on demand come from the coordinates there. */
Test(dist, equals_plain_search_on_grids)
{
	static const char *const specs[] = {
		"torus:dims=7x4x3,hosts=1", "torus:dims=2x2x5,hosts=1",
		"torus:dims=9,hosts=1",	    "mesh:dims=5x4x2,hosts=1",
		"mesh:dims=11,hosts=1",	    "hyperx:dims=4x5,hosts=1",
		"hyperx:dims=6,hosts=1",    "torus:dims=30x20,hosts=1"};

	for (size_t i = 0; i < FAB_COUNT(specs); i++)
		check_all(test_gen_raw(specs[i]), 2);
}

/* 255 hops; on demand, too, in a fabric that is no grid. */
Test(dist, refuses_what_a_byte_cannot_hold)
{
	OWN(fab_fabric) *f = test_ring(510), *mesh = test_gen("mesh:dims=2x300,hosts=1");
	OWN(fab_fabric) *no_grid = test_edited(mesh, "remove sw-0.0");
	struct fab_dist *d;

	FAILS(fab_dist_new(f, 1, &d, ERR), -ERANGE, "more than 254 hops");
	cr_assert_eq(fab_fabric_diameter(f, 1), 255);
	FAILS(fab_dist_new_on_demand(no_grid, 1, &d, ERR), -ERANGE, "more than 254 hops");
}
