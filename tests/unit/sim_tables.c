/* SPDX-License-Identifier: BSD-2-Clause */
/* The simulator's tables by leaf are the routes' tables, entry by entry. */
#include <criterion/criterion.h>

#include "base/rng.h"
#include "sim/tables.h"
#include "support/simulated.h"
#include "unicast/faults.h"

/* Each entry that a host's packets can see. Are the tables by leaf? */
static bool check(const struct simulated *s)
{
	const struct fab_sim_params params = fab_sim_defaults_by_flit();
	struct sim_tables t;
	struct sim_net net;
	uint64_t n_wrong = 0;
	struct fab_err err;
	bool is_by_leaf;

	cr_assert_eq(sim_net_init(&net, &s->problem, &params, &err), 0, "%s", err.text);
	sim_tables_init(&t, &net);
	for (uint32_t e = 0; e < net.n_ends; e++) {
		uint32_t row = net.end_row[e];

		if (row == FAB_NONE) {
			n_wrong += t.end_row[e] != FAB_NONE;
			continue;
		}
		for (uint32_t sw = 0; sw < net.n_switches; sw++)
			n_wrong += sim_tables_next(&t, t.end_row[e], sw) !=
				   s->routes->next[(size_t)row * net.n_switches + sw];
	}
	cr_assert_eq(n_wrong, 0);
	is_by_leaf = t.number;
	if (is_by_leaf)
		cr_assert_lt(4 * sim_tables_bytes(&t), (size_t)s->routes->n_rows *
							       net.n_switches *
							       sizeof(*s->routes->next));
	sim_tables_fini(&t);
	sim_net_fini(&net);
	return is_by_leaf;
}

static void check_spec(const char *spec, const char *engine)
{
	struct simulated s;

	simulated_init(&s, spec, engine);
	cr_assert(check(&s), "%s", spec);
	s.faults = fab_faults_new(s.f);
	for (uint32_t cable = 7; cable < s.f->n_cables; cable += s.f->n_cables / 20)
		fab_faults_kill_cable(s.faults, cable);
	simulated_route(&s, engine);
	cr_assert(check(&s), "%s", spec);
	simulated_fini(&s);
}

Test(sim_tables, by_leaf)
{
	check_spec("kfat:dims=16x16,hosts=16,planes=16", "minhop");
	check_spec("fattree:radix=22,levels=3", "minhop");
}

/* Rows of which no two agree, of nearly all hosts; rows that some hosts share. */
Test(sim_tables, by_chance)
{
	struct fab_rng rng;
	struct simulated s;
	size_t n;

	fab_rng_init(&rng, 1);
	simulated_init(&s, "fattree:radix=22,levels=3", "minhop");
	n = (size_t)s.routes->n_rows * s.f->n_switches;
	for (size_t i = 0; i < n / 50; i++)
		s.routes->next[fab_rng_below(&rng, n)] =
			(uint16_t)fab_rng_below(&rng, 30);
	cr_assert(check(&s));
	for (size_t i = 0; i < n; i++)
		s.routes->next[i] = (uint16_t)fab_rng_below(&rng, 30);
	cr_assert_not(check(&s));
	simulated_fini(&s);
}

/* Small ones, those with one row a leaf, and those without any are used as they are. */
Test(sim_tables, as_they_are)
{
	struct simulated s;

	simulated_init(&s, "fattree:radix=8,levels=2", "minhop");
	cr_assert_not(check(&s));
	simulated_fini(&s);
	simulated_init(&s, "torus:dims=12x12x8,hosts=1", "minhop");
	cr_assert_not(check(&s));
	simulated_fini(&s);
}
