/* SPDX-License-Identifier: BSD-2-Clause */
/* Recognition of kfats, whole and with parts missing. */
#include "support/test.h"
#include "support/unicast_check.h"
#include "unicast/engine.h"

/* Coordinates in the names must be those found, but for which number stands for which. */
static void expect_coords(const struct fab_kfat *k)
{
	for (uint32_t i = 0; i < k->n_leaves; i++)
		for (uint32_t j = 0; j < i; j++) {
			char *a = strrchr(fab_node_name(k->f, k->leaf[i]), '-') + 1;
			char *b = strrchr(fab_node_name(k->f, k->leaf[j]), '-') + 1;

			for (uint32_t d = 0; d < k->n_dims; d++) {
				unsigned long x = strtoul(a, &a, 10);
				unsigned long y = strtoul(b, &b, 10);
				bool same = k->coord[i * k->n_dims + d] ==
					    k->coord[j * k->n_dims + d];

				cr_assert_eq(same, x == y);
				a += *a == '.';
				b += *b == '.';
			}
		}
}

static void expect_degraded(const char *spec, enum fab_fault_kind kind, size_t dead,
			    uint32_t n_dims)
{
	OWN(fab_fabric) *f = test_gen_raw(spec);
	OWN(fab_faults) *faults = fab_faults_new(f);
	struct fab_stream rng = fab_stream_of(dead, 0);

	for (unsigned i = 0; i < 30; i++) {
		OWN(fab_fabric) *left = NULL;
		OWN(fab_kfat) *k = NULL;

		test_draw_faults(faults, kind, dead, &rng);
		MUST(fab_fabric_without(f, faults, &left, ERR));
		cr_assert_eq(fab_kfat_recognize(left, &k, ERR), 0, "%s: %s", spec,
			     test_err.text);
		cr_assert_eq(k->n_dims, n_dims);
		cr_assert_not(fab_kfat_is_whole(k));
		if (kind == FAB_FAULT_LEAVES)
			expect_coords(k);
	}
}

Test(kfat, parts_missing)
{
	expect_degraded("kfat:dims=6x6,hosts=1", FAB_FAULT_LEAVES, 5, 2);
	expect_degraded("kfat:dims=6x6,hosts=1", FAB_FAULT_ROOTS, 2, 2);
	expect_degraded("kfat:dims=6x6,hosts=1", FAB_FAULT_LINKS, 6, 2);
	expect_degraded("kfat:dims=4x4x4,hosts=1", FAB_FAULT_LEAVES, 6, 3);
	expect_degraded("kfat:dims=4x4x4,hosts=1", FAB_FAULT_LINKS, 5, 3);
	expect_degraded("kfat:dims=6x6,hosts=1,levels=2,radix=8", FAB_FAULT_LEAVES, 4, 2);
	expect_degraded("kfat:dims=6x6,hosts=1,planes=2", FAB_FAULT_ANY, 6, 2);
}

/* Without a row's root switch its leaves are still one row; one that lost its cable to
 * the row's stands in the gap. */
Test(kfat, strays_keep_their_places)
{
	OWN(fab_fabric) *f = test_gen_raw("kfat:dims=8x6,hosts=1"), *left = NULL;
	OWN(fab_fabric) *none =
		test_gen_raw("random:switches=20,degree=4,hosts=0,seed=1");
	OWN(fab_faults) *faults = fab_faults_new(f);
	OWN(fab_kfat) *k = NULL;

	FAILS(fab_kfat_recognize(none, &k, ERR), -EINVAL, "0 switches have hosts");
	MUST(fab_faults_add_switches(faults, "1.1,root-x.2,root-x.4", ERR));
	MUST(fab_faults_add_cables(faults, "root-x.3:7", ERR));
	MUST(fab_fabric_without(f, faults, &left, ERR));
	MUST(fab_kfat_recognize(left, &k, ERR));
	cr_assert(k->dims[0] * k->dims[1] == 48 && k->n_leaves == 47);
}
