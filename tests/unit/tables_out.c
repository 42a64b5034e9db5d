/* SPDX-License-Identifier: BSD-2-Clause */
/* Unicast tables that are written, walked hop by hop as the switches would. */
#include "export/fabrics.h"
#include "export/tables.h"
#include "support/test.h"
#include "support/unicast_check.h"

enum { N_LIDS = 256, NO_PORT = 255 };

struct net {
	struct fab_fabric *f;
	struct fab_faults *faults;
	struct fab_routes *r;
};

/* Columns are switches with hosts. */
static struct net net_of(const char *spec, const char *dead)
{
	struct net n = {.f = test_gen(spec)};

	n.faults = *dead ? test_faults(n.f, dead) : fab_faults_new(n.f);
	n.r = test_tables(n.f, n.faults, *spec == 'k' ? "vtftr-ib" : "dor", 4);
	return n;
}

static void own_net(struct net *n)
{
	fab_routes_free(n->r);
	fab_faults_free(n->faults);
	fab_fabric_free(n->f);
}

typedef int (*write_fn)(FILE *out, const struct fab_routes *r, struct fab_err *err);

static char *written(const struct net *n, write_fn write)
{
	return TEXT_BY(out, MUST(write(out, n->r, ERR)));
}

static uint32_t by_guid(const struct fab_fabric *f, uint64_t guid)
{
	uint32_t i = 0;

	while (i < f->n_nodes && f->node_guid[i] != guid)
		i++;
	cr_assert_lt(i, f->n_nodes, "no node %lx", guid);
	return i;
}

static uint32_t port_of(const struct fab_fabric *f, uint32_t node)
{
	return fab_node_is_switch(f, node) ? f->node_first_port[node]
					   : fab_node_first_connected_port(f, node);
}

static uint32_t lid_of(const struct fab_fabric *f, uint32_t node)
{
	return f->port_lid[port_of(f, node)];
}

static uint32_t switch_of(const struct fab_fabric *f, uint32_t node)
{
	return fab_port_switch(f, port_of(f, node));
}

static bool is_live(const struct net *n, uint32_t node)
{
	return !n->faults->switch_is_dead[switch_of(n->f, node)];
}

struct entry {
	unsigned port, hops;
	bool is_optimal;
};

/* [n_switches * N_LIDS] of what is written. */
static struct entry *tables_by(const struct net *n, write_fn write)
{
	size_t size = (size_t)n->f->n_switches * N_LIDS;
	struct entry *t = FAB_NEW0(size, struct entry);
	FAB_AUTOFREE char *text = written(n, write);
	char *rest = text, *line, word[8];
	unsigned lid, port, hops;
	uint64_t guid;
	uint32_t sw = FAB_NONE;

	for (size_t i = 0; i < size; i++)
		t[i].port = NO_PORT;
	while ((line = strsep(&rest, "\n"))) {
		char *at = strstr(line, "witch 0x");

		if (!strncmp(line, "Unicast lids", 12))
			at = strstr(line, " guid 0x");
		if (at && strncmp(line, "0x", 2)) {
			cr_assert_eq(sscanf(strstr(at, "0x"), "%lx", &guid), 1);
			sw = by_guid(n->f, guid);
			cr_expect(!n->faults->switch_is_dead[sw]);
		} else if (sscanf(line, "%x : %u : %u : %7s", &lid, &port, &hops, word) ==
			   4) {
			cr_assert_lt(lid, N_LIDS);
			t[sw * N_LIDS + lid] =
				(struct entry){port, hops, !strcmp(word, "yes")};
		} else if (sscanf(line, "%x %u # ", &lid, &port) == 2) {
			cr_assert_lt(lid, N_LIDS);
			t[sw * N_LIDS + lid].port = port;
		}
	}
	return t;
}

/* Is a LID reached from a switch, and after how many hops? */
static bool walk(const struct net *n, const struct entry *t, uint32_t sw, uint32_t lid,
		 unsigned *hops)
{
	for (*hops = 0; *hops < 20; ++*hops) {
		unsigned out = t[sw * N_LIDS + lid].port;
		uint32_t port, peer;

		if (!out)
			return lid_of(n->f, sw) == lid;
		port = out == NO_PORT ? FAB_NONE : fab_port_find(n->f, sw, out);
		if (port == FAB_NONE || n->faults->cable_is_dead[n->f->port_cable[port]])
			return false;
		peer = fab_port_peer(n->f, port);
		sw = n->f->port_node[peer];
		if (!fab_node_is_switch(n->f, sw)) {
			++*hops;
			return n->f->port_lid[peer] == lid;
		}
	}
	return false;
}

/* Tables lead everywhere; those with hops count them. */
Test(tables_out, lead_everywhere)
{
	static const struct {
		const char *spec, *dead;
	} cases[] = {
		{"kfat:dims=3x3,hosts=2", ""},
		{"kfat:dims=4x4,hosts=2", "0.0,1.1,2.2,3.3"},
		{"kfat:dims=3x3x3,hosts=1", "0.1.0,2.2.2"},
		/* roots far from leaves */
		{"kfat:dims=4x4,hosts=2,levels=2,radix=4", "0.1"},
		{"torus:dims=9,hosts=1", "sw-1"},
	};

	for (size_t i = 0; i < 2 * FAB_COUNT(cases); i++) {
		FAB_AUTO(own_net)
		struct net n = net_of(cases[i / 2].spec, cases[i / 2].dead);
		bool has_hops = i % 2;
		FAB_AUTOFREE struct entry *t =
			tables_by(&n, has_hops ? fab_export_fdbs : fab_export_lfts);

		for (uint32_t k = 0; k < n.f->n_switches * n.f->n_nodes; k++) {
			uint32_t sw = k / n.f->n_nodes, node = k % n.f->n_nodes;
			uint32_t lid = lid_of(n.f, node);
			const struct entry *e = &t[sw * N_LIDS + lid];
			bool want = is_live(&n, sw) && is_live(&n, node);
			unsigned hops;

			cr_expect_eq(walk(&n, t, sw, lid, &hops), want, "%s: %u to %u",
				     cases[i / 2].spec, sw, lid);
			if (!want || !has_hops)
				continue;
			cr_expect_eq(e->hops, hops, "%s: %u to %u", cases[i / 2].spec, sw,
				     lid);
			cr_expect(node < n.f->n_switches || e->is_optimal);
		}
	}
}

/* A path once round a ring is none of the shortest; a missing entry stays missing. */
Test(tables_out, detours_and_holes_are_told)
{
	FAB_AUTO(own_net) struct net n = net_of("torus:dims=5,hosts=1", "");
	FAB_AUTOFREE struct entry *t = NULL;
	uint32_t lid = lid_of(n.f, n.f->n_switches); /* on switch 0 */

	for (uint32_t s = 1; s <= 2; s++)
		FAB_EACH_ARC(n.f, s, a)
			if (n.f->arc_peer[a] == s + 1)
				n.r->next[s] = (uint16_t)(a - n.f->arc_first[s]);
	n.r->next[4 * 5 + 2] = FAB_ARC_NONE;
	n.r->next[3 * 5 + 1] = FAB_ARC_BROKEN;
	t = tables_by(&n, fab_export_fdbs);
	cr_expect_eq(t[1 * N_LIDS + lid].hops, 5);
	cr_expect(!t[1 * N_LIDS + lid].is_optimal);
	cr_expect(t[4 * N_LIDS + lid].is_optimal);
	cr_expect_eq(t[2 * N_LIDS + lid_of(n.f, 4)].port, NO_PORT);
	cr_expect_eq(t[1 * N_LIDS + lid_of(n.f, 3)].port, NO_PORT);
}

static void expect_refused(const struct fab_routes *r, const char *what)
{
	static const write_fn all[] = {fab_export_lfts, fab_export_fdbs,
				       fab_export_path_sl};

	for (size_t i = 0; i < FAB_COUNT(all); i++) {
		FAB_AUTOFREE char *text =
			TEXT_BY(out, FAILS(all[i](out, r, ERR), -EINVAL, what));

		cr_expect_str_empty(text);
	}
}

Test(tables_out, lids_that_do_not_do)
{
	FAB_AUTO(own_net) struct net n = net_of("kfat:dims=3x3,hosts=2", "");
	OWN(fab_fabric) *large = test_gen_raw("kfat:dims=50x50,hosts=19");
	uint32_t port = port_of(n.f, n.f->n_switches);
	uint64_t guid = n.f->node_guid[4];
	const struct {
		uint16_t lid;
		uint8_t lmc;
		const char *what;
	} cases[] = {{FAB_LID_NONE, 0, "has no LID"},
		     {0xc000, 0, "LID 49152, expected at most 49151"},
		     {n.f->port_lid[0], 0, "belongs to"},
		     /* 128 LIDs, those of others among them */
		     {n.f->port_lid[port], 7, "belongs to"}};

	for (size_t i = 0; i < FAB_COUNT(cases); i++) {
		n.f->port_lid[port] = cases[i].lid;
		n.f->port_lmc[port] = cases[i].lmc;
		expect_refused(n.r, cases[i].what);
	}
	n.f->port_lmc[port] = 0;
	n.f->node_guid[4] = n.f->node_guid[1];
	expect_refused(n.r, "to have its own");
	n.f->node_guid[4] = guid;
	fab_faults_kill_switch(n.faults, 0); /* that host is on it: it needs none */
	n.f->port_lid[port] = FAB_LID_NONE;
	free(written(&n, fab_export_lfts));
	expect_refused(&(struct fab_routes){.f = large},
		       "need 50100 LIDs, but a subnet has 49151");
}

/* One lane, or that of the service level, in all lines; where a pair has no level nothing
 * is written. */
Test(tables_out, lanes_and_levels)
{
	FAB_AUTO(own_net) struct net n = net_of("kfat:dims=3x3,hosts=2", "0.2");
	uint32_t n_columns = n.r->n_columns;
	FAB_AUTOFREE char *nothing = NULL;

	for (int i = 0; i < 2; i++) {
		FAB_AUTOFREE char *text = NULL;
		char *rest, *line;
		uint32_t n_lines = 0;
		uint64_t guid;

		n.r->lanes = i ? FAB_LANES_SL : FAB_LANES_ONE;
		rest = text = written(&n, fab_export_sl2vl);
		while ((line = strsep(&rest, "\n")) && *line) {
			cr_assert_eq(sscanf(line, "0x%lx", &guid), 1);
			cr_expect(is_live(&n, by_guid(n.f, guid)));
			HAS(line, i ? " 0x01 0x23 0x45 0x67 0x89 0xab 0xcd 0xef"
				    : " 0x00 0x00 0x00 0x00 0x00 0x00 0x00 0x00");
			n_lines++;
		}
		/* leaf 2 is dead: 8 leaves of 4 ports, 4 roots of 3, 2 of 2; 16 hosts */
		cr_expect_eq(n_lines, 8 * 5 * 4 + 4 * 4 * 3 + 2 * 3 * 2 + 16);
	}
	free(n.r->sl_source);
	free(n.r->sl);
	n.r->sl_source = fab_none_new(n_columns);
	n.r->n_sl_sources = n_columns;
	for (uint32_t i = 0; i < n_columns; i++)
		n.r->sl_source[i] = n.r->column_switch[i];
	n.r->sl = FAB_NEW0(n_columns * n_columns, uint8_t);
	free(written(&n, fab_export_path_sl));
	n.r->sl[1] = FAB_SL_NONE;
	nothing = TEXT_BY(out, FAILS(fab_export_path_sl(out, n.r, ERR), -EINVAL,
				     "without a service level"));
	cr_expect_str_empty(nothing);
}

Test(tables_out, what_is_left_is_a_fabric)
{
	FAB_AUTO(own_net) struct net n = net_of("kfat:dims=3x3,hosts=2", "0.2");
	OWN(fab_fabric) *left = NULL, *again = NULL, *all = NULL;
	uint32_t n_cables = 0;
	FAB_AUTOFREE char *text = NULL;

	fab_faults_kill_switch(n.faults, 9);		      /* a root */
	fab_faults_kill_cable(n.faults, n.f->n_switch_links); /* host of leaf 0 */
	MUST(fab_fabric_without(n.f, n.faults, &left, ERR));
	cr_expect_eq(left->n_switches, n.f->n_switches - 2);
	cr_expect_eq(left->n_adapters, n.f->n_adapters - 3);
	cr_expect_eq(left->n_warnings_total, 0);
	for (uint32_t c = 0; c < n.f->n_cables; c++)
		n_cables += !n.faults->cable_is_dead[c];
	cr_expect_eq(left->n_cables, n_cables);
	for (uint32_t i = 0; i < left->n_nodes; i++) {
		uint32_t was = by_guid(n.f, left->node_guid[i]);

		cr_expect_str_eq(fab_node_name(left, i), fab_node_name(n.f, was));
		cr_expect_eq(lid_of(left, i), lid_of(n.f, was));
	}
	text = TEXT_BY(out, MUST(fab_export_subnet_lst(out, left, ERR)));
	again = text_open(text);
	cr_expect_eq(fab_fabric_fingerprint(again), fab_fabric_fingerprint(left));
	MUST(fab_fabric_without(n.f, NULL, &all, ERR));
	cr_expect_eq(fab_fabric_fingerprint(all), fab_fabric_fingerprint(n.f));
	for (uint32_t s = 0; s < n.f->n_switches; s++)
		fab_faults_kill_switch(n.faults, s);
	cr_expect_eq(fab_fabric_without(n.f, n.faults, &all, ERR), -EINVAL);
}
