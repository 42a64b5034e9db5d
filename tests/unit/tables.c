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
static void check_each_entry(const struct fab_mcast_problem *p, const uint16_t *mlid,
			     const struct fab_mft *mft, struct fab_rng *rng)
{
	uint64_t n = mft->first[mft->n];

	for (int i = 0; i < 16 / TEST_SHARE; i++) {
		uint64_t gone = fab_rng_below(rng, n);
		uint32_t peer = fab_port_peer(p->f, mft->port[gone]);
		bool is_link =
			mft->num[gone] && fab_node_is_switch(p->f, p->f->port_node[peer]);
		OWN(fab_loaded) loaded;
		struct fab_mft less = *mft;

		/* Tables without one of their entries. */
		less.first = FAB_NEW(mft->n + 1, uint64_t);
		less.sw = FAB_NEW(n, uint32_t);
		less.num = FAB_NEW(n, uint16_t);
		less.port = FAB_NEW(n, uint32_t);
		for (uint32_t m = 0; m <= mft->n; m++)
			less.first[m] = mft->first[m] - (mft->first[m] > gone);
		for (uint64_t e = 0; e < n; e++) {
			uint64_t to = e - (e > gone);

			if (e == gone)
				continue;
			less.sw[to] = mft->sw[e];
			less.num[to] = mft->num[e];
			less.port[to] = mft->port[e];
		}
		fab_loaded_of(p->f, p->groups, mlid, &less, NULL, &loaded);
		cr_assert_eq(loaded.n_broken, 1);
		cr_assert_eq(loaded.broken.n, 1);
		cr_assert_eq(loaded.broken.v[0].kind,
			     is_link ? FAB_BROKEN_ONE_SIDED : FAB_BROKEN_CUT_OFF);
		cr_assert_eq(loaded.broken.v[0].count, 1);
		cr_assert_gt(mlid[loaded.broken.v[0].group], 0);
		cr_assert_eq(loaded.broken.v[0].sw,
			     is_link ? p->f->port_node[peer] : mft->sw[gone]);
		FAB_FREE_ALL(less.first, less.sw, less.num, less.port);
	}
}

static void round_trip(const struct fab_fabric *f, const char *spec)
{
	OWN(fab_groups) *g = routed_groups(f, spec, 1);
	struct fab_mcast_problem p = {.f = f, .groups = g};
	OWN_HEAP uint16_t *mlid = FAB_NEW(g->n, uint16_t);
	struct fab_rng rng = test_rng(7);
	OWN(fab_dist) *dist = test_dist(f);

	p.dist = dist;
	MUST(fab_groups_give_mlids(g, mlid, ERR));
	for (size_t i = 0; i < fab_mcast_n_engines; i++) {
		FAB_AUTO(fab_mcast_result_fini)
		struct fab_mcast_result r = routed_by(&p, fab_mcast_engines[i], NULL);
		OWN_HEAP char *text =
			TEXT_BY(out, MUST(fab_export_mcfdbs(out, &p, &r, mlid, ERR)));
		OWN(fab_mft) *mft = read_tables(f, text);
		OWN(fab_loaded) loaded;
		struct fab_efi efi;

		cr_assert(fab_is_mcfdbs(text, strlen(text)));
		check_members(&p, mft);
		fab_loaded_of(f, g, mlid, mft, NULL, &loaded);
		fab_efi_of(&p, &r, &efi);
		cr_expect_eq(loaded.n_broken, 0, "%s", fab_mcast_engines[i]->name);
		cr_expect_eq(loaded.max_height, efi.max_height);
		cr_expect_eq(
			memcmp(loaded.load, r.load, f->n_switch_links * sizeof(*r.load)),
			0);
		check_each_entry(&p, mlid, mft, &rng);
	}
}

Test(tables, round_trip_on_generated_fabrics)
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
}

Test(tables, round_trip_on_random_fabrics)
{
	for (uint64_t seed = 1; seed <= test_some(20, 4, 1); seed++) {
		OWN(fab_fabric) *f = test_random_fabric(9, 7, 2, seed);

		round_trip(f, "random:groups=30,size=1-9");
	}
}

/* Two leaves, two spines, a host on each leaf; leaf port 1 is the host's. */
static struct fab_loaded analyse(const struct fab_fabric *f, const char *text,
				 struct fab_groups **groups)
{
	struct fab_groups_builder *b = fab_groups_builder_new(f);
	OWN(fab_mft) *mft = read_tables(f, text);
	uint16_t mlid[4];
	struct fab_loaded loaded;

	fab_groups_add_mft(b, mft);
	MUST(fab_groups_builder_finish(b, false, groups, ERR));
	cr_assert_leq((*groups)->n, 4);
	MUST(fab_groups_mlids(*groups, mlid, ERR));
	fab_loaded_of(f, *groups, mlid, mft, NULL, &loaded);
	return loaded;
}

static void expect(const struct fab_fabric *f, char *text, const char *want)
{
	OWN(fab_groups) *groups = NULL;
	OWN(fab_loaded) loaded = analyse(f, text, &groups);
	char got[256] = "";

	for (size_t i = 0; i < loaded.broken.n; i++) {
		const struct fab_broken *b = &loaded.broken.v[i];
		size_t at = strlen(got);

		snprintf(got + at, sizeof(got) - at, "%s %u %s[%u]; ",
			 fab_broken_name(b->kind), b->count, fab_node_name(f, b->sw),
			 b->port);
	}
	cr_expect_str_eq(got, want, "%s is '%s' not '%s'", text, got, want);
	cr_expect_eq(loaded.n_broken, *want != '\0');
	free(text);
}

Test(tables, every_kind_of_fault_is_found)
{
	OWN(plan) plan = plan_tree(2, 2, 1);
	OWN(fab_fabric) *f = NULL;
	const uint64_t *guid;

	plan.nodes.v[1].n_ports = 4;
	f = plan_build(&plan, 0);
	guid = f->node_guid; /* leaf1, leaf2, spine1, spine2 */

#define TABLES(a, b, c, d)                                                               \
	fab_format("Switch 0x%lx\n0xC000 :" a "\nSwitch 0x%lx\n0xC000 :" b               \
		   "\nSwitch 0x%lx\n0xC000 :" c "\nSwitch 0x%lx\n0xC000 :" d "\n",       \
		   guid[0], guid[1], guid[2], guid[3])
	expect(f, TABLES(" 0x001  0x002", " 0x001  0x002", " 0x001  0x002", ""), "");
	expect(f, TABLES(" 0x1 0x2 0x0", " 0x1 0x2", " 0x1 0x2 0x2", ""), "");
	expect(f, TABLES(" 0x1 0x2 0x3", " 0x1 0x2 0x3", " 0x1 0x2", " 0x1 0x2"),
	       "loop 1 leaf2[3]; ");
	expect(f, TABLES(" 0x1 0x2 0x3", " 0x1 0x2", " 0x1 0x2", ""),
	       "one-sided 1 leaf1[3]; ");
	expect(f, TABLES(" 0x1", " 0x1 0x2", " 0x2", ""), "cut-off 1 leaf2[1]; ");
	expect(f, TABLES(" 0x1", " 0x1 0x2", " 0x1 0x2", ""), "one-sided 1 spine1[1]; ");
	expect(f, TABLES(" 0x1 0x2", " 0x1 0x2 0x4", " 0x1 0x2", ""),
	       "no-cable 1 leaf2[4]; ");
}

Test(tables, a_self_loop_is_a_loop)
{
	OWN(fab_fabric) *ring = test_ring(3);
	OWN(fab_fabric) *f = test_with_cable(ring, 1, 1);
	uint32_t cable = FAB_NONE;
	OWN(fab_groups) *groups = NULL;
	OWN(fab_loaded) loaded;
	OWN_HEAP char *text = NULL;

	for (uint32_t c = 0; c < f->n_switch_links; c++)
		if (f->port_node[f->cable_a[c]] == f->port_node[f->cable_b[c]])
			cable = c;
	cr_assert_neq(cable, FAB_NONE);
	text = fab_format("Switch 0x%lx\n0xC000 : 0x0 0x%x 0x%x\n", f->node_guid[1],
			  f->port_num[f->cable_a[cable]], f->port_num[f->cable_b[cable]]);
	loaded = analyse(f, text, &groups);
	cr_expect_eq(loaded.broken.n, 1);
	cr_expect_eq(loaded.broken.v[0].kind, FAB_BROKEN_LOOP);
	cr_expect_eq(loaded.load[cable], 1);
}

Test(tables, names_give_mlids)
{
	cr_expect_eq(fab_mlid_parse("0xc000", 6), 0xc000);
	cr_expect_eq(fab_mlid_parse("0XFFFE", 6), 0xfffe);
	cr_expect_eq(fab_mlid_parse("0xffff", 6), 0);
	cr_expect_eq(fab_mlid_parse("0xbfff", 6), 0);
	cr_expect_eq(fab_mlid_parse("0xc0000", 7), 0);
	cr_expect_eq(fab_mlid_parse("0xc00g", 6), 0);
	cr_expect_eq(fab_mlid_parse("c000", 4), 0);
	cr_expect_eq(fab_mlid_parse("", 0), 0);
}

Test(tables, switches_that_are_not_there)
{
	static const char text[] = "Switch 0x123456\n0xC000 : 0x001 \n";
	OWN(fab_fabric) *f = test_ring(3);
	OWN(fab_mft) *mft = NULL;

	FAILS_AS(fab_mcfdbs_read(f, "t", text, strlen(text), false, &mft, ERR), -EINVAL,
		 "t:1: switch 0x0000000000123456 is not in the fabric");
	cr_expect_null(mft);
	MUST(fab_mcfdbs_read(f, "t", text, strlen(text), true, &mft, ERR));
	cr_expect_eq(mft->n, 0);
	cr_expect_eq(mft->n_unknown_switches, 1);
	cr_expect_eq(fab_mft_find(mft, 0xc000), FAB_NONE);
	fab_mft_free(NULL);
}

/* By definition: who shares, and how many groups a cable carries. */
Test(tables, sharing_counts_groups)
{
	OWN(fab_fabric) *f = test_gen("torus:dims=4x3,hosts=2");
	struct fab_groups *shared = NULL;
	FAB_AUTO(fab_groups_free_at)
	struct fab_groups *g = routed_groups(f, "random:groups=23,size=2-5", 1);
	struct fab_mcast_problem p = {.f = f};
	OWN(fab_dist) *dist = test_dist(f);

	p.dist = dist;
	for (uint32_t cap = 1; cap <= 23; cap++) {
		uint32_t max = 0;
		FAB_AUTOFREE uint32_t *load = FAB_NEW0(f->n_switch_links, uint32_t);
		FAB_AUTO(fab_mcast_result_fini) struct fab_mcast_result r = {0};

		MUST(fab_groups_share(f, g, cap, &shared, ERR));
		cr_assert_eq(shared->n, cap);
		p.groups = shared;
		r = routed_by(&p, fab_mcast_engine_find("fulb", 4), NULL);
		MUST(fab_mcast_verify(&p, &r, ERR));
		for (uint32_t i = 0; i < g->n; i++) {
			uint32_t m = i % cap;

			for (uint64_t k = g->first[i]; k < g->first[i + 1]; k++) {
				bool is_in = false;

				for (uint64_t j = shared->first[m];
				     j < shared->first[m + 1]; j++)
					is_in |= shared->member[j] == g->member[k];
				cr_expect(is_in);
			}
			for (uint64_t e = r.forest.first[m]; e < r.forest.first[m + 1];
			     e++)
				if (++load[r.forest.cable[e]] > max)
					max = load[r.forest.cable[e]];
		}
		cr_expect_eq(fab_shared_max_efi(f, &r, g->n, cap), max);
		fab_groups_free(shared);
	}
}
