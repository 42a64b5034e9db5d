/* SPDX-License-Identifier: BSD-2-Clause */
/* Unicast tables that are written, walked hop by hop as the switches would. */
#include "export/fabrics.h"
#include "export/tables.h"
#include "support/test.h"

enum { N_LIDS = 256, NO_PORT = 255 };

struct net {
	struct fab_fabric *f;
	struct fab_faults *faults;
	struct fab_routes r;
};

/* Shortest paths to each sound switch with hosts. */
static void make(struct net *n, const char *spec, const uint32_t *dead, uint32_t n_dead)
{
	*n = (struct net){.f = test_gen(spec)};
	n->faults = fab_faults_new(n->f);
	for (uint32_t i = 0; i < n_dead; i++)
		fab_faults_kill_switch(n->faults, dead[i]);
	n->r.f = n->f;
	n->r.faults = n->faults;
	n->r.column_switch = FAB_NEW(n->f->n_switches, uint32_t);
	n->r.next = FAB_NEW((size_t)n->f->n_switches * n->f->n_switches, uint16_t);
	for (uint32_t s = 0; s < n->f->n_switches; s++) {
		const struct fab_fabric *f = n->f;
		uint16_t *next = n->r.next + (size_t)n->r.n_columns * f->n_switches;
		uint32_t head = 0, tail = 0;
		FAB_AUTOFREE uint32_t *queue = FAB_NEW(f->n_switches, uint32_t);

		if (n->faults->switch_is_dead[s] || !test_n_hosts_on(f, s))
			continue;
		for (uint32_t i = 0; i < f->n_switches; i++)
			next[i] = FAB_ARC_NONE;
		next[s] = FAB_ARC_HERE;
		queue[tail++] = s;
		while (head < tail) {
			uint32_t u = queue[head++];

			for (uint32_t v = 0; v < f->n_switches; v++)
				for (uint32_t a = f->arc_first[v];
				     a < f->arc_first[v + 1]; a++)
					if (f->arc_peer[a] == u &&
					    next[v] == FAB_ARC_NONE &&
					    !n->faults->cable_is_dead[f->arc_cable[a]]) {
						next[v] = (uint16_t)(a - f->arc_first[v]);
						queue[tail++] = v;
					}
		}
		n->r.column_switch[n->r.n_columns++] = s;
	}
}

static void end(struct net *n)
{
	free(n->r.next);
	free(n->r.column_switch);
	FAB_FREE_ALL(n->r.sl, n->r.vl_first, n->r.sl2vl);
	fab_faults_free(n->faults);
	fab_fabric_free(n->f);
}

struct entry {
	unsigned port, hops;
	bool is_optimal;
};

/* [n_switches * N_LIDS] */
typedef int (*write_fn)(FILE *out, const struct fab_routes *r, struct fab_err *err);

static char *written(const struct net *n, write_fn write)
{
	return TEXT_BY(out, MUST(write(out, &n->r, ERR)));
}

static uint32_t by_guid(const struct fab_fabric *f, unsigned long long guid)
{
	for (uint32_t i = 0; i < f->n_nodes; i++)
		if (f->node_guid[i] == guid)
			return i;
	cr_assert_fail("no node %llx", guid);
	return FAB_NONE;
}

static struct entry *read_tables(const struct net *n, char *text)
{
	struct entry *t = FAB_NEW0((size_t)n->f->n_switches * N_LIDS, struct entry);
	char *rest = text, *line, word[8];
	unsigned lid, port, hops;
	unsigned long long guid;
	uint32_t sw = FAB_NONE;

	for (size_t i = 0; i < (size_t)n->f->n_switches * N_LIDS; i++)
		t[i].port = NO_PORT;
	while ((line = strsep(&rest, "\n"))) {
		char *at = strstr(line, "witch 0x");

		if (!strncmp(line, "Unicast lids", 12))
			at = strstr(line, " guid 0x");
		if (at && strncmp(line, "0x", 2)) {
			cr_assert_eq(sscanf(strstr(at, "0x"), "%llx", &guid), 1);
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

/* Hops from a switch until the LID is reached, 0: it is not. */
static unsigned walk(const struct net *n, const struct entry *t, uint32_t sw,
		     uint32_t lid, unsigned *hops)
{
	for (*hops = 0; *hops < 20; ++*hops) {
		unsigned out = t[sw * N_LIDS + lid].port;
		uint32_t port, peer;

		if (!out)
			return n->f->port_lid[n->f->node_first_port[sw]] == lid;
		port = out == NO_PORT ? FAB_NONE : fab_port_find(n->f, sw, out);
		if (port == FAB_NONE || n->faults->cable_is_dead[n->f->port_cable[port]])
			return 0;
		peer = fab_port_peer(n->f, port);
		if (!fab_node_is_switch(n->f, n->f->port_node[peer])) {
			++*hops;
			return n->f->port_lid[peer] == lid;
		}
		sw = n->f->port_node[peer];
	}
	return 0;
}

static bool is_live(const struct net *n, uint32_t node)
{
	uint32_t sw = node;

	if (!fab_node_is_switch(n->f, node))
		sw = fab_port_switch(n->f, fab_node_first_connected_port(n->f, node));
	return !n->faults->switch_is_dead[sw];
}

static uint32_t lid_of(const struct fab_fabric *f, uint32_t node)
{
	uint32_t port = fab_node_is_switch(f, node)
				? f->node_first_port[node]
				: fab_node_first_connected_port(f, node);

	return f->port_lid[port];
}

static void check_all_reached(const char *spec, const uint32_t *dead, uint32_t n_dead,
			      write_fn write)
{
	FAB_AUTO(end) struct net n;
	FAB_AUTOFREE struct entry *t = NULL;
	unsigned hops;
	FAB_AUTOFREE char *text = NULL;

	make(&n, spec, dead, n_dead);
	text = written(&n, write);
	t = read_tables(&n, text);
	for (uint32_t s = 0; s < n.f->n_switches; s++)
		for (uint32_t node = 0; node < n.f->n_nodes; node++) {
			uint32_t lid = lid_of(n.f, node);
			bool want = is_live(&n, s) && is_live(&n, node);

			cr_expect_eq(walk(&n, t, s, lid, &hops), want, "%s: %u to %u",
				     spec, s, lid);
			if (want && write == fab_export_fdbs)
				cr_expect_eq(t[s * N_LIDS + lid].hops, hops,
					     "%s: %u to %u", spec, s, lid);
			if (want && write == fab_export_fdbs && node >= n.f->n_switches)
				cr_expect(t[s * N_LIDS + lid].is_optimal);
		}
}

static const struct {
	const char *spec;
	uint32_t n_dead, dead[4];
} cases[] = {
	{"kfat:dims=3x3,hosts=2", 0, {0}},
	{"kfat:dims=4x4,hosts=2", 4, {0, 5, 10, 15}},
	{"kfat:dims=3x3x3,hosts=1", 2, {3, 26}},
	{"kfat:dims=4x4,hosts=2,levels=2,radix=4", 1, {1}}, /* roots far from leaves */
	{"torus:dims=3x3,hosts=1", 1, {4}},
};

Test(tables_out, lfts_lead_everywhere)
{
	for (size_t i = 0; i < FAB_COUNT(cases); i++)
		check_all_reached(cases[i].spec, cases[i].dead, cases[i].n_dead,
				  fab_export_lfts);
}

Test(tables_out, fdbs_lead_everywhere_and_count_hops)
{
	for (size_t i = 0; i < FAB_COUNT(cases); i++)
		check_all_reached(cases[i].spec, cases[i].dead, cases[i].n_dead,
				  fab_export_fdbs);
}

/* A path once round a ring is none of the shortest; a missing entry stays missing. */
Test(tables_out, detours_and_holes_are_told)
{
	FAB_AUTO(end) struct net n;
	FAB_AUTOFREE struct entry *t = NULL;
	FAB_AUTOFREE char *text = NULL;
	uint32_t lid;

	make(&n, "torus:dims=5,hosts=1", NULL, 0);
	for (uint32_t a = n.f->arc_first[1]; a < n.f->arc_first[2]; a++)
		if (n.f->arc_peer[a] == 2)
			n.r.next[1] = (uint16_t)(a - n.f->arc_first[1]);
	for (uint32_t a = n.f->arc_first[2]; a < n.f->arc_first[3]; a++)
		if (n.f->arc_peer[a] == 3)
			n.r.next[2] = (uint16_t)(a - n.f->arc_first[2]);
	n.r.next[4 * 5 + 2] = FAB_ARC_NONE;
	n.r.next[3 * 5 + 1] = FAB_ARC_BROKEN;
	text = written(&n, fab_export_fdbs);
	t = read_tables(&n, text);
	lid = lid_of(n.f, n.f->n_switches); /* on switch 0 */
	cr_expect_eq(t[1 * N_LIDS + lid].hops, 5);
	cr_expect(!t[1 * N_LIDS + lid].is_optimal);
	cr_expect(t[4 * N_LIDS + lid].is_optimal);
	cr_expect_eq(t[2 * N_LIDS + lid_of(n.f, 4)].port, NO_PORT);
	cr_expect_eq(t[1 * N_LIDS + lid_of(n.f, 3)].port, NO_PORT);
}

/* Tables that were read have a column a LID: only those LIDs have entries. */
Test(tables_out, a_column_can_be_a_lid)
{
	FAB_AUTO(end) struct net n;
	FAB_AUTOFREE struct entry *t = NULL;
	FAB_AUTOFREE char *text = NULL;
	unsigned hops;
	uint16_t lids[2];
	uint32_t ports[2];

	make(&n, "torus:dims=3x3,hosts=1", NULL, 0);
	n.r.n_columns = 2;
	for (uint32_t i = 0; i < 2; i++) {
		uint32_t node = i ? n.f->n_switches + 1 : 0; /* switch 0, host of 1 */

		lids[i] = (uint16_t)lid_of(n.f, node);
		ports[i] = i ? fab_node_first_connected_port(n.f, node)
			     : n.f->node_first_port[node];
	}
	n.r.column_lid = lids;
	n.r.column_port = ports;
	text = written(&n, fab_export_lfts);
	t = read_tables(&n, text);
	for (uint32_t s = 0; s < n.f->n_switches; s++)
		for (uint32_t node = 0; node < n.f->n_nodes; node++)
			cr_expect_eq(walk(&n, t, s, lid_of(n.f, node), &hops),
				     node == 0 || node == n.f->n_switches + 1);
}

static void expect_refused(struct net *n, const char *what)
{
	static const write_fn all[] = {fab_export_lfts, fab_export_fdbs,
				       fab_export_path_sl};

	for (size_t i = 0; i < FAB_COUNT(all); i++) {
		FAB_AUTOFREE char *text =
			TEXT_BY(out, FAILS(all[i](out, &n->r, ERR), -EINVAL, what));

		cr_expect_str_empty(text);
	}
}

Test(tables_out, lids_that_do_not_do)
{
	FAB_AUTO(end) struct net n;
	uint32_t port;
	uint64_t guid;
	uint16_t was;

	make(&n, "kfat:dims=3x3,hosts=2", NULL, 0);
	port = fab_node_first_connected_port(n.f, n.f->n_switches);
	was = n.f->port_lid[port];
	n.f->port_lid[port] = FAB_LID_NONE;
	expect_refused(&n, "has no LID");
	n.f->port_lid[port] = 0xc000;
	expect_refused(&n, "LID 49152, expected at most 49151");
	n.f->port_lid[port] = (uint16_t)lid_of(n.f, 0);
	expect_refused(&n, "belongs to");
	n.f->port_lid[port] = was;
	n.f->port_lmc[port] = 7; /* 128 LIDs, those of others among them */
	expect_refused(&n, "belongs to");
	n.f->port_lmc[port] = 0;
	guid = n.f->node_guid[4];
	n.f->node_guid[4] = n.f->node_guid[1];
	expect_refused(&n, "to have its own");
	n.f->node_guid[4] = guid;
	fab_faults_kill_switch(n.faults, 0); /* that host is on it: it needs none */
	n.f->port_lid[port] = FAB_LID_NONE;
	free(written(&n, fab_export_lfts));
}

Test(tables_out, a_subnet_that_is_too_small)
{
	OWN(fab_fabric) *f = test_gen_raw("kfat:dims=50x50,hosts=19");
	struct net n = {.f = f, .r = {.f = f}};

	expect_refused(&n, "need 50100 LIDs, but a subnet has 49151");
}

Test(tables_out, service_levels_of_paths)
{
	uint32_t dead = 2, sources[9] = {0}, n_lines = 0;
	unsigned long long guid;
	unsigned lid, sl;
	FAB_AUTO(end) struct net n;
	FAB_AUTOFREE char *text = NULL, *nothing = NULL;
	char *rest, *line;

	make(&n, "kfat:dims=3x3,hosts=2", &dead, 1);
	n.r.sl_source = n.r.column_switch;
	n.r.n_sl_sources = n.r.n_columns;
	n.r.sl = FAB_NEW(n.r.n_columns * n.r.n_columns, uint8_t);
	for (uint32_t i = 0; i < n.r.n_columns; i++) {
		sources[n.r.column_switch[i]] = i;
		for (uint32_t c = 0; c < n.r.n_columns; c++)
			n.r.sl[i * n.r.n_columns + c] = (uint8_t)((3 * i + c) % 16);
	}
	rest = text = written(&n, fab_export_path_sl);
	while ((line = strsep(&rest, "\n")) && *line) {
		uint32_t node, from, to = 0, want = 0;

		cr_assert_eq(sscanf(line, "0x%llx %u %u", &guid, &lid, &sl), 3);
		node = by_guid(n.f, guid);
		from = fab_port_switch(n.f, fab_node_first_connected_port(n.f, node));
		while (lid_of(n.f, to) != lid)
			to++;
		cr_expect(is_live(&n, node) && is_live(&n, to));
		if (!fab_node_is_switch(n.f, to))
			to = fab_port_switch(n.f, fab_node_first_connected_port(n.f, to));
		if (to < 9)
			want = (3 * sources[from] + sources[to]) % 16;
		cr_expect_eq(sl, want, "%s", line);
		n_lines++;
	}
	cr_expect_eq(n_lines, 16 * (16 + 8 + 6));
	/* one pair without a level: nothing is written */
	n.r.sl[1] = FAB_SL_NONE;
	nothing = TEXT_BY(out, FAILS(fab_export_path_sl(out, &n.r, ERR), -EINVAL,
				     "without a service level"));
	cr_expect_str_empty(nothing);
}

static uint32_t arc_of_port(const struct fab_fabric *f, uint32_t sw, unsigned num)
{
	uint32_t port = fab_port_find(f, sw, num), a = f->arc_first[sw];

	while (a < f->arc_first[sw + 1] && f->arc_cable[a] != f->port_cable[port])
		a++;
	return a - f->arc_first[sw];
}

static void check_lanes(const struct net *n)
{
	FAB_AUTOFREE char *text = written(n, fab_export_sl2vl);
	char *rest = text, *line;
	unsigned long long guid;
	unsigned in, to, n_lines = 0;
	int at;

	while ((line = strsep(&rest, "\n")) && *line) {
		uint32_t node;

		cr_assert_eq(sscanf(line, "0x%llx %u %u%n", &guid, &in, &to, &at), 3);
		node = by_guid(n->f, guid);
		cr_expect(is_live(n, node));
		for (unsigned sl = 0; sl < 16; sl++) {
			char digit[2] = {line[at + 3 + 5 * (sl / 2) + sl % 2], 0};
			unsigned want = n->r.lanes == FAB_LANES_SL ? sl : 0;

			if (fab_node_is_switch(n->f, node))
				want = fab_routes_vl(&n->r, node,
						     arc_of_port(n->f, node, in),
						     arc_of_port(n->f, node, to), sl);
			cr_expect_eq(strtoul(digit, NULL, 16), want, "%s", line);
		}
		n_lines++;
	}
	/* leaf 2 is dead: 8 leaves of 4 ports, 4 roots of 3, 2 of 2; 16 hosts */
	cr_expect_eq(n_lines, 8 * 5 * 4 + 4 * 4 * 3 + 2 * 3 * 2 + 16);
}

Test(tables_out, lanes)
{
	FAB_AUTO(end) struct net n;
	uint32_t dead = 2;
	uint64_t size = 0;

	make(&n, "kfat:dims=3x3,hosts=2", &dead, 1);
	check_lanes(&n);
	n.r.lanes = FAB_LANES_SL;
	check_lanes(&n);
	/* Lanes that differ in switch, port in, port out, level. */
	n.r.lanes = FAB_LANES_TABLE;
	n.r.vl_first = FAB_NEW(n.f->n_switches + 1, uint64_t);
	for (uint32_t s = 0; s <= n.f->n_switches; s++) {
		uint64_t d = s < n.f->n_switches
				     ? n.f->arc_first[s + 1] - n.f->arc_first[s] + 1
				     : 0;

		n.r.vl_first[s] = size;
		size += d * d * 16;
	}
	n.r.sl2vl = FAB_NEW(size, uint8_t);
	for (uint64_t i = 0; i < size; i++)
		n.r.sl2vl[i] = (uint8_t)((i * 2654435761u >> 7) % 15);
	check_lanes(&n);
}

Test(tables_out, what_is_left_is_a_fabric)
{
	FAB_AUTO(end) struct net n;
	OWN(fab_fabric) *left = NULL, *again = NULL, *all = NULL;
	uint32_t dead[2] = {2, 9}, n_cables = 0; /* a leaf and a root switch */
	FAB_AUTOFREE char *text = NULL;

	make(&n, "kfat:dims=3x3,hosts=2", dead, 2);
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
