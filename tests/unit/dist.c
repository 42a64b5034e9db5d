/* SPDX-License-Identifier: BSD-2-Clause */
#include "fabric/dist.h"

#include "source/source.h"
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

/* Parts of rows, before and after the row is there, and where it ends. */
static void check_parts(const struct fab_dist *all, struct fab_dist *some)
{
	size_t stride = fab_dist_stride(all);
	uint8_t room[64];

	for (int is_made = 0; is_made < 2; is_made++) {
		uint32_t sw = fab_dist_n(all) / 2;

		for (size_t from = 0; from < stride; from += 64)
			cr_assert_arr_eq(fab_dist_part(some, sw, from, 64, room),
					 fab_dist_row(all, sw) + from, 64);
		(void)fab_dist_row(some, sw);
	}
}

static void check_rows(const struct fab_fabric *f, int n_threads)
{
	OWN(fab_dist) *all = NULL, *some = NULL;

	MUST(fab_dist_new(f, n_threads, &all, ERR));
	MUST(fab_dist_new_on_demand(f, n_threads, &some, ERR));
	cr_assert_eq(fab_dist_bytes(some), 0);
	cr_assert(fab_dist_is_whole(all));
	cr_assert_not(fab_dist_is_whole(some));
	check_parts(all, some);
	for (uint32_t s = f->n_switches; s-- > 0;)
		cr_assert_arr_eq(fab_dist_row(some, s), fab_dist_row(all, s),
				 fab_dist_stride(all), "row %u", s);
	cr_assert_eq(fab_dist_bytes(some), fab_dist_bytes(all));
}

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
	check_rows(f, n_threads);
	fab_fabric_free(f);
}

Test(dist, equals_plain_search_on_random_fabrics)
{
	static const uint32_t sizes[] = {1, 2, 3, 63, 64, 65, 511, 512, 513, 700};

	for (size_t i = 0; i < FAB_COUNT(sizes); i++)
		for (uint32_t extra = 0; extra < 3 * sizes[i]; extra += sizes[i])
			check_all(test_random_fabric(sizes[i], extra, 1, i + extra),
				  1 + (int)i % 3);
}

Test(dist, equals_plain_search_on_rings)
{
	check_all(test_ring(3), 1);
	check_all(test_ring(509), 2); /* 254 hops */
}

/* Rows on demand come from the coordinates there. */
Test(dist, equals_plain_search_on_grids)
{
	static const char *const specs[] = {
		"gen:torus:dims=7x4x3,hosts=1", "gen:torus:dims=2x2x5,hosts=1",
		"gen:torus:dims=9,hosts=1",	"gen:mesh:dims=5x4x2,hosts=1",
		"gen:mesh:dims=11,hosts=1",	"gen:hyperx:dims=4x5,hosts=1",
		"gen:hyperx:dims=6,hosts=1",	"gen:torus:dims=30x20,hosts=1",
	};

	for (size_t i = 0; i < FAB_COUNT(specs); i++) {
		struct fab_fabric *f;

		MUST(fab_source_open(specs[i], NULL, &f, ERR));
		check_all(f, 2);
	}
}

Test(dist, refuses_what_a_byte_cannot_hold)
{
	OWN(fab_fabric) *f = test_ring(510); /* 255 hops */
	struct fab_dist *d;

	FAILS(fab_dist_new(f, 1, &d, ERR), -ERANGE, "more than 254 hops");
	cr_assert_eq(fab_fabric_diameter(f, 1), 255);
}

/* The same for rows on demand, in a fabric that is no grid. */
Test(dist, refuses_it_on_demand)
{
	OWN(fab_fabric) *mesh = test_gen("mesh:dims=2x300,hosts=1");
	OWN(fab_fabric) *f = test_edited(mesh, "remove sw-0.0");
	struct fab_dist *d;

	FAILS(fab_dist_new_on_demand(f, 1, &d, ERR), -ERANGE, "more than 254 hops");
}
