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
			uint32_t d = f->arc_first[sw + 1] - f->arc_first[sw];
			uint64_t kind = fab_rng_below(&rng, 40);

			next[sw] = kind == 0   ? FAB_ARC_BROKEN
				   : kind == 1 ? FAB_ARC_HERE
				   : kind == 2 ? (uint16_t)d
				   : !d || kind == 3
					   ? FAB_ARC_NONE
					   : (uint16_t)fab_rng_below(&rng, d < 3 ? d : 3);
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
	uint32_t c = f->arc_cable[arc], a = f->port_node[f->cable_a[c]];

	return a == sw ? f->port_node[f->cable_b[c]] : a;
}

/* Hops as a child would count them; FAB_NONE, and why. */
static uint32_t count(const struct setting *s, uint32_t sw, uint32_t column,
		      enum fab_path_end *why)
{
	const struct fab_fabric *f = s->f;
	const uint16_t *next = s->r->next + (size_t)column * f->n_switches;

	for (uint32_t n = 0; n <= f->n_switches; n++) {
		uint32_t arc = f->arc_first[sw] + next[sw];

		*why = FAB_PATH_BROKEN;
		if (next[sw] == FAB_ARC_HERE && sw == s->r->column_switch[column])
			*why = FAB_PATH_ARRIVES;
		if (*why == FAB_PATH_ARRIVES)
			return n;
		if (next[sw] == FAB_ARC_NONE)
			*why = FAB_PATH_NO_ENTRY;
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

Test(path, is_what_following_the_tables_gives)
{
	uint32_t met[FAB_PATH_CIRCLE + 1] = {0};

	for (uint64_t seed = 0; seed < 30; seed++) {
		OWN(setting) s;

		setting_init(&s, seed);
		for (uint32_t c = 0; c < N_COLUMNS; c++)
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
	for (int why = 0; why <= FAB_PATH_CIRCLE; why++)
		cr_assert_gt(met[why], 50, "%d", why);
}

/* A fabric with columns for LIDs: port p has 1 + p % 3 of them. */
static struct fab_routes *by_lid(const struct fab_fabric *f)
{
	struct fab_routes *r = fab_routes_new_by_lid(f, NULL, 3 * f->n_ports);
	uint32_t n = 0;

	for (uint32_t p = 0; p < f->n_ports; p++)
		for (uint32_t k = 0; k <= p % 3 && fab_port_switch(f, p) != FAB_NONE;
		     k++) {
			bool is_switch = fab_node_is_switch(f, f->port_node[p]);

			if (is_switch && f->port_num[p])
				break;
			r->column_switch[n] = fab_port_switch(f, p);
			r->column_port[n] = p;
			r->column_lid[n++] = (uint16_t)(100 + 4 * p + k);
		}
	r->n_columns = n;
	return r;
}

Test(path, a_destination_has_a_column_for_each_lid)
{
	OWN(fab_fabric) *f = test_random_fabric(9, 20, 3, 5);
	OWN(fab_routes) *r = by_lid(f);
	OWN_HEAP uint32_t *port = FAB_NEW(r->n_columns, uint32_t), *all = NULL;

	for (uint32_t c = 0; c < r->n_columns; c++) {
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
	all = fab_path_columns(r, r->n_columns, r->column_switch, port);
	for (uint32_t c = 0; c < r->n_columns; c++)
		cr_assert_eq(all[c], c - (r->column_lid[c] - 100U) % 4);
}

/* All switches of one column at once: as many hops as each path has alone. */
Test(path, a_walk_is_all_paths_of_a_column)
{
	uint32_t n_led = 0, n_lost = 0;

	for (uint64_t seed = 0; seed < 30; seed++) {
		FAB_AUTO(fab_walk_fini) struct fab_walk all;
		OWN(setting) s;

		setting_init(&s, seed);
		fab_walk_init(&all, s.f, s.r->faults);
		for (uint32_t c = 0; c < N_COLUMNS; c++) {
			const uint16_t *next = fab_routes_next(s.r, c);
			uint32_t root = s.r->column_switch[c], n = 0;
			bool arrives = fab_walk_all(&all, next, root);

			cr_assert_eq(arrives, next[root] == FAB_ARC_HERE);
			for (uint32_t sw = s.f->n_switches; sw-- > 0;) {
				uint32_t hops = fab_path_length(s.r, sw, c);

				n += hops != FAB_NONE;
				n_lost += hops == FAB_NONE;
				if (!arrives || hops == FAB_NONE)
					cr_assert_geq(all.hops[sw], FAB_HOPS_NEVER);
				else
					cr_assert_eq(all.hops[sw], hops);
			}
			cr_assert_eq(all.n_order, n);
			n_led += n;
			for (uint32_t i = 1; i < n; i++) {
				uint32_t sw = all.order[i];

				/* after the switch that it sends to */
				sw = s.f->arc_peer[s.f->arc_first[sw] + next[sw]];
				for (n = 0; n < i && all.order[n] != sw; n++)
					;
				cr_assert_lt(n, i);
				n = all.n_order;
			}
		}
	}
	cr_assert_gt(n_led, 500);
	cr_assert_gt(n_lost, 500);
}
