/* SPDX-License-Identifier: BSD-2-Clause */
/* Paths through tables of any sort against plain following. */
#include "unicast/path.h"

#include "support/test.h"

enum { N_COLUMNS = 12 };

struct setting {
	struct fab_fabric *f;
	struct fab_faults *faults;
	struct fab_routes *r;
};

static void setting_init(struct setting *s, uint64_t seed)
{
	struct fab_rng rng = test_rng(seed);

	s->f = test_random_fabric(12 + (uint32_t)seed, 20, 4, seed);
	s->faults = fab_faults_new(s->f);
	for (uint32_t i = 0; i < seed % 4; i++)
		fab_faults_kill_cable(s->faults, test_below(&rng, s->f->n_switch_links));
	s->r = fab_routes_new(s->f, seed % 4 ? s->faults : NULL, N_COLUMNS);
	for (uint32_t c = 0; c < N_COLUMNS; c++) {
		const struct fab_fabric *f = s->f;
		uint16_t *next = s->r->next + (size_t)c * f->n_switches;

		/* Entries at random: to the root more often than not nowhere, or round
		 * and round. */
		s->r->column_switch[c] = test_below(&rng, f->n_switches);
		for (uint32_t sw = 0; sw < f->n_switches; sw++) {
			uint32_t d = fab_degree(f, sw), kind = test_below(&rng, 40);
			const uint16_t odd[] = {FAB_ARC_BROKEN, FAB_ARC_HERE, (uint16_t)d,
						FAB_ARC_NONE};

			next[sw] = kind < 4 ? odd[kind]
				   : d	    ? (uint16_t)test_below(&rng, d < 3 ? d : 3)
					    : FAB_ARC_NONE;
		}
		if (c % 4)
			next[s->r->column_switch[c]] = FAB_ARC_HERE;
	}
}

static void setting_fini(struct setting *s)
{
	fab_routes_free(s->r);
	fab_faults_free(s->faults);
	fab_fabric_free(s->f);
}

OWN_VALUE(setting, setting_fini)

/* Where the cable of an arc leads, by its ports. */
static uint32_t other_end(const struct fab_fabric *f, uint32_t sw, uint32_t arc)
{
	uint32_t c = f->arc_cable[arc];

	return f->port_node[f->cable_a[c]] ^ f->port_node[f->cable_b[c]] ^ sw;
}

/* Hops as a child would count them; FAB_NONE, and why. */
static uint32_t count(const struct setting *s, uint32_t sw, uint32_t column,
		      enum fab_path_end *why)
{
	const struct fab_fabric *f = s->f;
	const uint16_t *next = s->r->next + (size_t)column * f->n_switches;

	for (uint32_t n = 0; n <= f->n_switches; n++) {
		uint32_t arc = f->arc_first[sw] + next[sw];

		*why = next[sw] == FAB_ARC_NONE ? FAB_PATH_NO_ENTRY : FAB_PATH_BROKEN;
		if (next[sw] == FAB_ARC_HERE && sw == s->r->column_switch[column]) {
			*why = FAB_PATH_ARRIVES;
			return n;
		}
		if (arc >= f->arc_first[sw + 1] ||
		    s->faults->cable_is_dead[f->arc_cable[arc]])
			return FAB_NONE;
		sw = other_end(f, sw, arc);
	}
	*why = FAB_PATH_CIRCLE;
	return FAB_NONE;
}

/* The hops join: each begins where the last one ended, and came by its cable. */
static void expect_joined(const struct fab_fabric *f, uint32_t sw, struct fab_path path)
{
	uint32_t cable = FAB_NONE;
	struct fab_hop hop;

	while (fab_path_hop(&path, &hop)) {
		uint32_t d = f->arc_first[hop.sw + 1] - f->arc_first[hop.sw];

		cr_assert_eq(hop.sw, sw);
		if (cable == FAB_NONE)
			cr_assert_eq(hop.in, d);
		else
			cr_assert_eq(f->arc_cable[f->arc_first[sw] + hop.in], cable);
		cr_assert_eq(path.arc, f->arc_first[sw] + hop.out);
		cable = f->arc_cable[path.arc];
		sw = other_end(f, sw, path.arc);
		cr_assert_eq(path.at, sw);
	}
}

/* All switches of a column at once: as many hops as each path has alone, each after the
 * switch that it sends to. */
static void expect_walk(struct fab_walk *all, const struct fab_routes *r, uint32_t column)
{
	const uint16_t *next = fab_routes_next(r, column);
	uint32_t root = r->column_switch[column], n_led = 0;
	OWN_HEAP uint32_t *place = fab_none_new(r->f->n_switches);
	bool arrives = fab_walk_all(all, next, root);

	cr_assert_eq(arrives, next[root] == FAB_ARC_HERE);
	for (uint32_t i = 0; i < all->n_order; i++) {
		uint32_t sw = all->order[i];

		place[sw] = i;
		cr_assert(!i ||
			  place[r->f->arc_peer[r->f->arc_first[sw] + next[sw]]] < i);
	}
	for (uint32_t sw = 0; sw < r->f->n_switches; sw++) {
		uint32_t hops = fab_path_length(r, sw, column);

		n_led += hops != FAB_NONE;
		if (!arrives || hops == FAB_NONE)
			cr_assert_geq(all->hops[sw], FAB_HOPS_NEVER);
		else
			cr_assert_eq(all->hops[sw], hops);
	}
	cr_assert_eq(all->n_order, n_led);
}

Test(path, is_what_following_the_tables_gives)
{
	uint32_t met[FAB_PATH_CIRCLE + 1] = {0};

	for (uint64_t seed = 0; seed < 30; seed++) {
		FAB_AUTO(fab_walk_fini) struct fab_walk all;
		OWN(setting) s;

		setting_init(&s, seed);
		fab_walk_init(&all, s.f, s.r->faults);
		for (uint32_t c = 0; c < N_COLUMNS; c++) {
			expect_walk(&all, s.r, c);
			for (uint32_t sw = 0; sw < s.f->n_switches; sw++) {
				struct fab_path p = fab_path_from(s.r, sw, c);
				struct fab_hop hops[FAB_PATH_MAX];
				enum fab_path_end why;
				uint32_t n = count(&s, sw, c, &why);

				cr_assert_eq(fab_path_length(s.r, sw, c), n);
				cr_assert_eq(fab_path_hops(s.r, sw, c, hops),
					     n == FAB_NONE ? 0 : n);
				expect_joined(s.f, sw, p);
				while (fab_path_step(&p))
					;
				cr_assert_eq(fab_path_end(&p), why, "seed %d", (int)seed);
				met[why]++;
			}
		}
	}
	for (int why = 0; why <= FAB_PATH_CIRCLE; why++)
		cr_assert_gt(met[why], why == FAB_PATH_ARRIVES ? 500 : 50, "%d", why);
}

/* Columns for LIDs: port p has 1 + p % 3 of them. */
Test(path, a_destination_has_a_column_for_each_lid)
{
	OWN(fab_fabric) *f = test_random_fabric(9, 20, 3, 5);
	OWN(fab_routes) *r = fab_routes_new_by_lid(f, NULL, 3 * f->n_ports);
	OWN_HEAP uint32_t *port = FAB_NEW(3 * (size_t)f->n_ports, uint32_t), *all = NULL;
	uint32_t n = 0;

	for (uint32_t i = 0; i < 3 * f->n_ports; i++) {
		uint32_t p = i / 3, k = i % 3;

		if (k > p % 3 ||
		    (fab_node_is_switch(f, f->port_node[p]) && f->port_num[p]))
			continue;
		r->column_switch[n] = fab_port_switch(f, p);
		r->column_port[n] = p;
		r->column_lid[n++] = (uint16_t)(100 + 4 * p + k);
	}
	r->n_columns = n;
	for (uint32_t c = 0; c < n; c++) {
		uint32_t node = f->port_node[r->column_port[c]];
		struct fab_endpoint to = {.port = r->column_port[c],
					  .node = node,
					  .sw = r->column_switch[c],
					  .lid = r->column_lid[c]};
		uint32_t first = c - (to.lid - 100U) % 4;

		cr_assert_eq(fab_path_column(r, &to), c);
		to.lid = 0;
		cr_assert_eq(fab_path_column(r, &to), first);
		port[c] = node < f->n_switches ? FAB_NONE : to.port;
		to.port = port[c];
		cr_assert_eq(fab_path_column(r, &to), first);
		to.port = r->column_port[c];
		to.lid = 7;
		cr_assert_eq(fab_path_column(r, &to), FAB_NONE);
	}
	all = fab_path_columns(r, n, r->column_switch, port);
	for (uint32_t c = 0; c < n; c++)
		cr_assert_eq(all[c], c - (r->column_lid[c] - 100U) % 4);
}
