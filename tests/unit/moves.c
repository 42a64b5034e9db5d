/* SPDX-License-Identifier: BSD-2-Clause */
/* Groups moved some at a time over the same loads: conflicts are seen, what is no longer
 * wanted is left alone, and the trees are no worse than those of one after the other. */
#include "mcast/moves.h"
#include "base/mem.h"
#include "mcast/choose.h"
#include "mcast/engines.h"
#include "mcast/roots.h"
#include "mcast/route.h"
#include "mcast/state.h"
#include "support/gen.h"
#include "support/routed.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

struct moved {
	struct routed s;
	struct fab_mcast_state state;
	struct fab_revision revision;
	struct fab_prices prices;
	struct fab_moves *moves;
	double target;
	uint32_t *n_asked; /* [groups] */
};

/* Three leaf switches and twenty spines; all trees by the first one. */
static void set_up(struct moved *m, uint32_t n_groups)
{
	static const struct fab_mcast_options options = {.n_threads = 1};
	const struct fab_mcast_engine *engine = &fab_mcast_minihop;
	struct fab_roots roots;

	*m = (struct moved){0};
	routed_init(&m->s, test_gen_raw("pgft:h=2,m=1/3,w=1/20,p=1/1"), n_groups, 3, 1);
	fab_mcast_state_init(&m->state, &m->s.problem, engine);
	fab_roots_find(m->s.dist, m->s.groups, 0, SIZE_MAX / 2, 1, &roots);
	for (uint32_t g = 0; g < n_groups; g++)
		fab_mcast_state_grow(&m->state, engine, &roots, g,
				     fab_root_choose(fab_roots_bits(&roots, g),
						     roots.words, FAB_TIES_LOWEST, NULL));
	fab_roots_fini(&roots);
	m->n_asked = FAB_NEW0(n_groups, uint32_t);
	m->revision = fab_revision_begin(&m->state);
	fab_prices_of(&m->prices, &m->state);
	m->moves = fab_moves_new(&m->revision, &m->prices, &options);
}

static void tear_down(struct moved *m)
{
	fab_moves_free(m->moves);
	fab_prices_fini(&m->prices);
	fab_revision_end(&m->revision);
	fab_mcast_state_fini(&m->state);
	routed_fini(&m->s);
	free(m->n_asked);
}

static bool is_above(void *context, uint32_t group)
{
	const struct moved *m = context;
	const uint32_t *cable = fab_revision_cables(&m->revision, group);

	for (uint32_t i = 0; i < fab_revision_size(&m->revision, group); i++)
		if (m->state.load[cable[i]] > m->target)
			return true;
	return false;
}

/* Wanted when it is chosen, and no more when its tree was found. */
static bool is_wanted_once(void *context, uint32_t group)
{
	const struct moved *m = context;

	return m->n_asked[group]++ % 2 == 0;
}

static bool never(void *context, uint32_t done)
{
	(void)context;
	return done == UINT32_MAX;
}

/* Trees found side by side take the same idle cables: the second one is too dear then,
 * and another is found. */
Test(moves, what_became_dearer_is_found_again)
{
	struct fab_moves_round round = {.is_wanted = is_above, .is_over = never};
	uint32_t most;
	struct moved m;

	set_up(&m, 3000);
	round.context = &m;
	most = fab_mcast_max_load(&m.state);
	m.target = most / 20 + 2;
	fab_prices_set_target(&m.prices, m.target, 100);
	cr_assert(fab_moves_run(m.moves, &round));
	cr_expect_leq(fab_mcast_max_load(&m.state), m.target, "%u of %u",
		      fab_mcast_max_load(&m.state), most);
	tear_down(&m);
}

Test(moves, what_is_not_wanted_any_more_stays)
{
	struct fab_moves_round round = {.is_wanted = is_wanted_once, .is_over = never};
	uint32_t *load;
	size_t bytes;
	struct moved m;

	set_up(&m, 200);
	round.context = &m;
	bytes = m.s.f->n_switch_links * sizeof(*load);
	load = FAB_NEW(m.s.f->n_switch_links, uint32_t);
	memcpy(load, m.state.load, bytes);
	fab_prices_set_target(&m.prices, 10, 100);
	cr_assert(fab_moves_run(m.moves, &round));
	cr_expect_arr_eq(m.state.load, load, bytes);
	round.is_wanted = is_above;
	m.target = 10;
	cr_assert(fab_moves_run(m.moves, &round));
	cr_expect(memcmp(m.state.load, load, bytes) != 0, "there was a better one");
	free(load);
	tear_down(&m);
}

static uint32_t max_of(const char *spec, const char *pattern)
{
	return routed_balanced(spec, pattern).max;
}

/* Trees grown side by side that come into conflict are grown again: no worse than one
 * after the other. */
Test(moves, conflicts_of_a_batch)
{
	cr_expect_leq(max_of("dragonfly:a=8,p=4,h=4", "grid:33x32"), 3);
	cr_expect_leq(max_of("fattree:radix=20,levels=3", "grid:25x8x10"), 2);
}

/* What was reached where members lie far apart: by near paths alone, with trees of
 * searches where these have far less cables, and where paths meet in the middle. */
Test(moves, far_members)
{
	cr_expect_leq(max_of("torus:dims=8x7x6,hosts=1", "random:groups=400,size=8-24"),
		      15);
	cr_expect_leq(max_of("torus:dims=15x10x10,hosts=2", "grid:10x15x20"), 5);
	cr_expect_leq(max_of("mesh:dims=6x5x4,hosts=2", "random:groups=400,size=8-24"),
		      47);
}
