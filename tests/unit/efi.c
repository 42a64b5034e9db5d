/* SPDX-License-Identifier: BSD-2-Clause */
/* Loads of trees, of groups that need none, and of the cables to hosts. */
#include "mcast/route.h"
#include "mcast/tables.h"
#include "support/routed.h"
#include "support/test.h"

static uint32_t port_of(const struct fab_fabric *f, uint32_t seat)
{
	if (seat >= 4)
		return fab_port_find(f, seat - 4, 0);
	return fab_node_first_connected_port(f, f->n_switches + seat);
}

/* A ring of 4, and groups of the endpoints that `seats` has bits for: 0 .. 3 adapters,
 * 4 .. 7 switches. */
static void ring_init(struct routed *r, const unsigned *seats, size_t n)
{
	struct fab_fabric *f = test_ring(4);
	struct fab_groups_builder *b = fab_groups_builder_new(f);

	for (size_t i = 0; i < n; i++) {
		fab_groups_builder_begin(b, "g", 1);
		for (uint32_t seat = 0; seat < 8; seat++)
			if (seats[i] >> seat & 1)
				fab_groups_builder_add(b, port_of(f, seat));
	}
	routed_init_builder(r, f, b);
}

static struct fab_efi efi_with(const unsigned *seats, size_t n)
{
	FAB_AUTO(routed_fini) struct routed r;
	FAB_AUTO(fab_mcast_result_fini) struct fab_mcast_result trees;

	ring_init(&r, seats, n);
	trees = routed_by(&r.problem, fab_mcast_engines[0], NULL);
	return routed_efi(&r.problem, &trees);
}

Test(efi, groups_of_one_member_load_no_cable)
{
	const unsigned seats[] = {1, 1, 1, 2};
	struct fab_efi efi = efi_with(seats, 4);

	cr_assert_eq(efi.max, 0);
	cr_assert_eq(efi.max_all, 0);
	cr_assert_eq(efi.n_at_max, 0);
	cr_assert_eq(efi.tree_links, 0);
	cr_assert_eq(efi.max_height, 0);
	cr_assert_eq(efi.mean, 0);
}

Test(efi, host_cables_count_groups_of_two_and_more)
{
	/* the first adapter alone, twice with the second; a switch has no host cable */
	const unsigned seats[] = {1, 3, 3, 1 | 16};
	struct fab_efi efi = efi_with(seats, 4);

	cr_assert_eq(efi.max, 2);
	cr_assert_eq(efi.n_at_max, 1);
	cr_assert_eq(efi.max_all, 3);
	cr_assert_eq(efi.max_height, 1);
	cr_assert_float_eq(efi.mean, 0.5, 1e-12);
}

Test(efi, switches_as_members_load_no_host_cable)
{
	const unsigned seats[] = {16 | 32, 16 | 64};
	struct fab_efi efi = efi_with(seats, 2);

	cr_assert_eq(efi.max_all, efi.max);
	cr_assert_gt(efi.max, 0);
}

Test(efi, fullest_cables_of_few)
{
	const unsigned seats[] = {3, 3, 6};
	uint32_t load[4] = {0, 2, 5, 2}, out[4];
	FAB_AUTO(routed_fini) struct routed r;

	ring_init(&r, seats, 3);
	cr_assert_eq(fab_efi_fullest(r.f, load, NULL, 0, out), 0);
	cr_assert_eq(fab_efi_fullest(r.f, load, NULL, 1, out), 1);
	cr_assert_eq(out[0], 2);
	cr_assert_eq(fab_efi_fullest(r.f, load, NULL, 4, out), 3);
	cr_assert_eq(out[0], 2);
	cr_assert_eq(out[1], 1);
	cr_assert_eq(out[2], 3);
}

/* A table of the first switch with these lines. */
static int read_lines(const struct fab_fabric *f, const char *lines, struct fab_mft **mft)
{
	OWN_HEAP char *text = fab_format("Switch 0x%016llx\nLID    : Out Port(s)\n%s",
					 (unsigned long long)f->node_guid[0], lines);

	return fab_mcfdbs_read(f, "t", text, strlen(text), false, mft, ERR);
}

/* The MLIDs of tables go from 0xc000 to 0xfffe. */
Test(efi, first_and_last_mlid)
{
	OWN(fab_fabric) *f = test_ring(4);
	struct fab_mft *mft;

	for (int i = 0; i < 2; i++) {
		MUST(read_lines(f, i ? "0xFFFE : 0x001\n" : "0xC000 : 0x001\n", &mft));
		fab_mft_free(mft);
	}
	cr_expect_eq(read_lines(f, "0xBFFF : 0x001\n", &mft), -EINVAL);
	cr_expect_eq(read_lines(f, "0xFFFF : 0x001\n", &mft), -EINVAL);
}

/* A line that comes again adds nothing. */
Test(efi, mlids_that_come_twice)
{
	OWN(fab_fabric) *f = test_ring(4);
	struct fab_mft *mft = NULL;

	MUST(read_lines(f, "0xC000 : 0x001\n0xC000 : 0x001\n", &mft));
	cr_expect_eq(mft->n, 1);
	cr_expect_eq(mft->first[1], 1);
	fab_mft_free(mft);
}
