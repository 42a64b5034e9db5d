/* SPDX-License-Identifier: BSD-2-Clause */
/* Multicast tables: written, read back, analysed. */
#include "mcast/tables.h"

#include "export/tables.h"
#include "support/routed.h"
#include "support/test.h"

OWN_POINTER(fab_groups)
OWN_POINTER(fab_mft)
OWN_VALUE(fab_loaded, fab_loaded_fini)

static struct fab_mft *read_tables(const struct fab_fabric *f, const char *text)
{
	struct fab_mft *mft = NULL;

	MUST(fab_mcfdbs_read(f, "t", text, strlen(text), false, &mft, ERR));
	return mft;
}

/* The members that tables tell are those of the groups that have a tree. */
static void check_members(const struct fab_mcast_problem *p, const struct fab_mft *mft)
{
	struct fab_groups_builder *b = fab_groups_builder_new(p->f);
	const struct fab_groups *g = p->groups;
	OWN(fab_groups) *got = NULL;
	uint32_t at = 0;
	FAB_AUTOFREE uint32_t *seen = FAB_NEW0(p->f->n_ports, uint32_t);

	fab_groups_add_mft(b, mft);
	MUST(fab_groups_builder_finish(b, false, &got, ERR));
	for (uint32_t i = 0; i < g->n; i++) {
		char name[FAB_MLID_TEXT];

		if (fab_group_size(g, i) < 2)
			continue;
		cr_assert_str_eq(fab_group_name(got, at),
				 fab_mlid_text((uint16_t)(FAB_MLID_FIRST + i), name));
		cr_assert_eq(fab_group_size(got, at), fab_group_size(g, i));
		for (uint64_t m = g->first[i]; m < g->first[i + 1]; m++)
			seen[g->member[m]] = i + 1;
		for (uint64_t m = got->first[at]; m < got->first[at + 1]; m++)
			cr_assert_eq(seen[got->member[m]], i + 1);
		at++;
	}
	cr_assert_eq(at, got->n);
}

/* Each entry is needed: without it one tree is broken, in the way that it must be. */
static void check_entry(const struct fab_mcast_problem *p, const uint16_t *mlid,
			const char *text, uint64_t seed)
{
	OWN(fab_mft) *mft = read_tables(p->f, text);
	uint64_t gone = seed % mft->first[mft->n], n = mft->first[mft->n] - 1 - gone;
	uint32_t sw = mft->sw[gone], peer = fab_port_peer(p->f, mft->port[gone]);
	bool is_link = mft->num[gone] && fab_node_is_switch(p->f, p->f->port_node[peer]);
	OWN(fab_loaded) loaded;

	for (uint32_t m = 0; m <= mft->n; m++)
		mft->first[m] -= mft->first[m] > gone;
	memmove(mft->sw + gone, mft->sw + gone + 1, n * sizeof(*mft->sw));
	memmove(mft->num + gone, mft->num + gone + 1, n * sizeof(*mft->num));
	memmove(mft->port + gone, mft->port + gone + 1, n * sizeof(*mft->port));
	fab_loaded_of(p->f, p->groups, mlid, mft, NULL, &loaded);
	cr_assert(loaded.n_broken == 1 && loaded.broken.n == 1);
	cr_assert_eq(loaded.broken.v[0].kind,
		     is_link ? FAB_BROKEN_ONE_SIDED : FAB_BROKEN_CUT_OFF);
	cr_assert_eq(loaded.broken.v[0].count, 1);
	cr_assert_gt(mlid[loaded.broken.v[0].group], 0);
	cr_assert_eq(loaded.broken.v[0].sw, is_link ? p->f->port_node[peer] : sw);
}

static void round_trip(const struct fab_fabric *f, const char *spec)
{
	OWN(fab_groups) *g = routed_groups(f, spec, 1);
	OWN(fab_dist) *dist = test_dist(f);
	const struct fab_mcast_problem p = {.f = f, .groups = g, .dist = dist};
	OWN_HEAP uint16_t *mlid = FAB_NEW(g->n, uint16_t);
	struct fab_rng rng = test_rng(7);

	MUST(fab_groups_give_mlids(g, mlid, ERR));
	for (size_t i = 0; i < fab_mcast_n_engines; i++) {
		OWN(fab_mcast_result) r = routed_by(&p, fab_mcast_engines[i], NULL);
		OWN_HEAP char *text =
			TEXT_BY(out, MUST(fab_export_mcfdbs(out, &p, &r, mlid, ERR)));
		OWN(fab_mft) *mft = read_tables(f, text);
		OWN(fab_loaded) loaded;
		struct fab_efi efi = routed_efi(&p, &r);

		cr_assert(fab_is_mcfdbs(text, strlen(text)));
		check_members(&p, mft);
		fab_loaded_of(f, g, mlid, mft, NULL, &loaded);
		cr_expect_eq(loaded.n_broken, 0, "%s", fab_mcast_engines[i]->name);
		cr_expect_eq(loaded.max_height, efi.max_height);
		cr_expect_arr_eq(loaded.load, r.load,
				 f->n_switch_links * sizeof(*r.load));
		for (int k = 0; k < 16 / TEST_SHARE; k++)
			check_entry(&p, mlid, text, fab_rng_next(&rng));
	}
}

Test(tables, round_trip)
{
	static const char *const specs[] = {
		"fattree:radix=4,levels=3", "torus:dims=4x3x2,hosts=2",
		"dragonfly:a=4,p=2,h=2", "kfat:dims=4x4,hosts=2"};

	for (size_t i = 0; i < FAB_COUNT(specs); i++) {
		OWN(fab_fabric) *f = test_gen(specs[i]);

		if (TEST_SHARE == 1 || i % 2)
			round_trip(f, "random:groups=40,size=2-12");
		if (TEST_SHARE == 1 || i % 2 == 0)
			round_trip(f, "grid:4x4");
	}
	for (uint64_t seed = 1; seed <= test_some(20, 4, 1); seed++) {
		OWN(fab_fabric) *f = test_random_fabric(9, 7, 2, seed);

		round_trip(f, "random:groups=30,size=1-9");
	}
}

/* Two leaves, two spines, a host on each leaf; leaf port 1 is the host's. */
Test(tables, every_kind_of_fault_is_found)
{
	/* entries of leaf1, leaf2, spine1, spine2 */
	static const struct {
		const char *ports[4], *want;
	} cases[] = {
		{{"0x001  0x002", "0x001  0x002", "0x001  0x002", ""}, ""},
		{{"0x1 0x2 0x0", "0x1 0x2", "0x1 0x2 0x2", ""}, ""},
		{{"0x1 0x2 0x3", "0x1 0x2 0x3", "0x1 0x2", "0x1 0x2"},
		 "loop 1 leaf2[3]; "},
		{{"0x1 0x2 0x3", "0x1 0x2", "0x1 0x2", ""}, "one-sided 1 leaf1[3]; "},
		{{"0x1", "0x1 0x2", "0x2", ""}, "cut-off 1 leaf2[1]; "},
		{{"0x1", "0x1 0x2", "0x1 0x2", ""}, "one-sided 1 spine1[1]; "},
		{{"0x1 0x2", "0x1 0x2 0x4", "0x1 0x2", ""}, "no-cable 1 leaf2[4]; "},
		{{"", "0x1 0x5 0x6", "", ""}, "loop 1 leaf2[5]; "},
	};
	OWN(plan) plan = plan_tree(2, 2, 1);
	OWN(fab_fabric) *f = NULL;

	plan.nodes.v[1].n_ports = 6;
	plan_cable(&plan, 1, 5, 1, 6); /* to itself */
	f = plan_build(&plan, 0);
	for (size_t i = 0; i < FAB_COUNT(cases); i++) {
		OWN_HEAP char *text = NULL, *got = fab_strdup("");
		struct fab_groups_builder *b = fab_groups_builder_new(f);
		uint16_t mlid;
		OWN(fab_groups) *groups = NULL;
		OWN(fab_mft) *mft = NULL;
		OWN(fab_loaded) loaded;

		for (uint32_t sw = 0; sw < 4; sw++)
			fab_append(&text, "", "Switch 0x%lx\n0xC000 : %s\n",
				   f->node_guid[sw], cases[i].ports[sw]);
		mft = read_tables(f, text);
		fab_groups_add_mft(b, mft);
		MUST(fab_groups_builder_finish(b, false, &groups, ERR));
		cr_assert_eq(groups->n, 1);
		MUST(fab_groups_mlids(groups, &mlid, ERR));
		fab_loaded_of(f, groups, &mlid, mft, NULL, &loaded);
		for (size_t k = 0; k < loaded.broken.n; k++) {
			const struct fab_broken *x = &loaded.broken.v[k];

			fab_append(&got, "", "%s %u %s[%u]; ", fab_broken_name(x->kind),
				   x->count, fab_node_name(f, x->sw), x->port);
		}
		cr_expect_str_eq(got, cases[i].want, "%s is '%s' not '%s'", text, got,
				 cases[i].want);
		cr_expect_eq(loaded.n_broken, *cases[i].want != '\0');
		for (uint32_t c = 0; c < f->n_switch_links; c++)
			cr_expect_leq(loaded.load[c], 1);
	}
}

Test(tables, names_give_mlids)
{
	static const char *const none[] = {"0xffff", "0xbfff", "0xc0000",
					   "0xc00g", "c000",   ""};

	cr_expect_eq(fab_mlid_parse("0xc000", 6), 0xc000);
	cr_expect_eq(fab_mlid_parse("0XFFFE", 6), 0xfffe);
	for (size_t i = 0; i < FAB_COUNT(none); i++)
		cr_expect_eq(fab_mlid_parse(none[i], strlen(none[i])), 0);
}

/* MLIDs go from 0xc000 to 0xfffe; a line that comes again adds nothing; switches that are
 * not there are refused, or counted. */
Test(tables, lines_of_a_switch)
{
	static const char there[] = "0x0000000000000001", absent[] = "0x123456";
	static const struct {
		const char *guid, *lines, *error;
		bool ignores;
		uint32_t n, n_entries;
	} cases[] = {{there, "0xC000 : 0x001\n", NULL, false, 1, 1},
		     {there, "0xFFFE : 0x001\n", NULL, false, 1, 1},
		     {there, "0xC000 : 0x001\n0xC000 : 0x001\n", NULL, false, 1, 1},
		     {there, "0xBFFF : 0x001\n", "", false, 0, 0},
		     {there, "0xFFFF : 0x001\n", "", false, 0, 0},
		     {absent, "0xC000 : 0x001 \n", NULL, true, 0, 0},
		     {absent, "0xC000 : 0x001 \n",
		      "t:1: switch 0x0000000000123456 is not in the fabric", false, 0,
		      0}};
	OWN(fab_fabric) *f = test_ring(3);

	f->node_guid[0] = 1;
	for (size_t i = 0; i < FAB_COUNT(cases); i++) {
		OWN_HEAP char *text =
			fab_format("Switch %s\n%s", cases[i].guid, cases[i].lines);
		OWN(fab_mft) *mft = NULL;
		int rc = fab_mcfdbs_read(f, "t", text, strlen(text), cases[i].ignores,
					 &mft, ERR);

		if (cases[i].error) {
			FAILS(rc, -EINVAL, cases[i].error);
			cr_expect_null(mft);
			continue;
		}
		cr_assert_eq(rc, 0, "%s", text);
		cr_expect(mft->n == cases[i].n &&
			  mft->first[mft->n] == cases[i].n_entries);
		cr_expect_eq(mft->n_unknown_switches, cases[i].ignores);
		cr_expect_eq(fab_mft_find(mft, 0xbfff), FAB_NONE);
	}
	fab_mft_free(NULL);
}

/* By definition: who shares, and how many groups a cable carries. */
Test(tables, sharing_counts_groups)
{
	OWN(fab_fabric) *f = test_gen("torus:dims=4x3,hosts=2");
	OWN(fab_groups) *g = routed_groups(f, "random:groups=23,size=2-5", 1);
	OWN(fab_dist) *dist = test_dist(f);

	for (uint32_t cap = 1; cap <= 23; cap++) {
		uint32_t max = 0;
		OWN(fab_groups) *shared = NULL;
		struct fab_mcast_problem p = {.f = f, .dist = dist};
		FAB_AUTOFREE uint32_t *load = FAB_NEW0(f->n_switch_links, uint32_t);
		OWN(fab_mcast_result) r = {0};

		MUST(fab_groups_share(f, g, cap, &shared, ERR));
		cr_assert_eq(shared->n, cap);
		p.groups = shared;
		r = routed_by(&p, fab_mcast_engine_find("fulb", 4), NULL);
		for (uint32_t i = 0; i < g->n; i++) {
			uint32_t m = i % cap;

			for (uint64_t k = g->first[i]; k < g->first[i + 1]; k++) {
				uint64_t j = shared->first[m];

				while (j < shared->first[m + 1] &&
				       shared->member[j] != g->member[k])
					j++;
				cr_expect_lt(j, shared->first[m + 1]);
			}
			for (uint64_t e = r.forest.first[m]; e < r.forest.first[m + 1];
			     e++)
				if (++load[r.forest.cable[e]] > max)
					max = load[r.forest.cable[e]];
		}
		cr_expect_eq(fab_shared_max_efi(f, &r, g->n, cap), max);
	}
}
