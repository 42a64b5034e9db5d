/* SPDX-License-Identifier: BSD-2-Clause */
/* d-mod-k: shortest, one turn, no shared cable for shifts; with faults never wrong. */
#include "support/test.h"
#include "support/unicast_check.h"

static uint64_t worst_shift(struct fab_fabric *f, const struct fab_routes *r)
{
	OWN(fab_faults) *none = fab_faults_new(f);
	const struct kfat_net n = {.f = f, .faults = none};
	uint64_t worst = 0;

	for (uint32_t shift = 1; shift < f->n_hosts; shift++) {
		OWN_HEAP char *name = fab_format("shift:%u", shift);
		struct fab_flow_load load = test_load(&n, r, name);

		cr_assert(load.lost == 0 && load.flows > 0);
		worst = load.max > worst ? load.max : worst;
	}
	return worst;
}

/* On full trees no shift shares a cable; on tapered ones as many as must. */
Test(dmodk, shifts_share_no_cable, .timeout = 60)
{
	static const struct {
		const char *spec;
		uint64_t worst;
	} trees[] = {{"fattree:radix=8,levels=2", 1},
		     {"fattree:radix=8,levels=3", 1},
		     {"fattree:radix=4,levels=4", 1},
		     {"fattree:radix=12,levels=2", 1},
		     {"pgft:h=2,m=8/6,w=1/4,p=1/2", 1},
		     {"pgft:h=3,m=4/4/4,w=1/4/2,p=1/1/2", 1},
		     {"pgft:h=2,m=16/8,w=1/4,p=1/1", 4},
		     {"pgft:h=2,m=8/8,w=1/4,p=1/1", 2}};

	for (size_t i = 0; i < FAB_COUNT(trees); i++) {
		OWN(fab_fabric) *f = test_gen(trees[i].spec);
		OWN(fab_routes) *r = test_tables(f, NULL, "d-mod-k", 1);
		OWN(fab_analysis)
		a = test_verified(r, FAB_ENDS_ALL), j = test_verified(r, FAB_ENDS_LEAVES);
		uint64_t worst = worst_shift(f, r);

		cr_assert(a.deadlock_free && a.vls == 1, "%s", trees[i].spec);
		cr_assert_eq(j.minimal, j.pairs, "%s", trees[i].spec);
		cr_assert_null(r->note);
		cr_assert_eq(worst, trees[i].worst, "%s: %u", trees[i].spec,
			     (unsigned)worst);
	}
}

/* What can be reached upwards from a leaf switch, level by level. */
static void mark_above(const struct fab_faults *faults, const struct fab_shape *s,
		       uint32_t from, bool *above)
{
	const struct fab_fabric *f = faults->f;

	memset(above, 0, f->n_switches);
	above[from] = !faults->switch_is_dead[from];
	for (uint32_t level = 0; level < s->n_levels; level++)
		for (uint32_t sw = 0; sw < f->n_switches; sw++)
			FAB_EACH_ARC(f, sw, a)
				above[f->arc_peer[a]] |= above[sw] &&
							 s->level[sw] == level &&
							 !faults->arc_is_dead[a] &&
							 s->level[f->arc_peer[a]] > level;
}

Test(dmodk, with_faults_what_can_be_joined_is)
{
	OWN(fab_fabric) *f = test_gen("fattree:radix=4,levels=3");
	OWN(fab_shape) *s = fab_shape_recognize(f);
	uint32_t n = f->n_switches;
	OWN_HEAP bool *above = FAB_NEW(n * n, bool);
	OWN(fab_faults) *faults = fab_faults_new(f);
	bool any_lost = false;

	for (uint32_t trial = 0; trial < 60; trial++) {
		struct fab_stream stream = fab_stream_of(9, trial);
		OWN(fab_routes) *r = NULL;
		OWN(fab_analysis) a;

		test_draw_faults(faults, FAB_FAULT_ANY, 1 + trial % 9, &stream);
		r = test_tables(f, faults, "d-mod-k", 1);
		a = test_verified(r, FAB_ENDS_ALL);
		cr_assert(a.deadlock_free && a.vls == 1);
		for (uint32_t sw = 0; sw < n; sw++)
			mark_above(faults, s, sw, above + sw * n);
		for (uint32_t i = 0; i < r->n_columns * r->n_leaves; i++) {
			uint32_t c = i / r->n_leaves, leaf = r->leaf[i % r->n_leaves];
			bool joined = false;

			for (uint32_t sw = 0; sw < n; sw++)
				joined |= above[leaf * n + sw] &&
					  above[r->column_switch[c] * n + sw];
			cr_assert_eq(fab_path_length(r, leaf, c) != FAB_NONE, joined);
			any_lost |= !joined;
			cr_assert(joined || r->note);
		}
	}
	cr_assert(any_lost);
}
