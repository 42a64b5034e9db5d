/* SPDX-License-Identifier: BSD-2-Clause */
/* Engines that make and revise the trees of all groups at once. */
#include "base/mem.h"
#include "mcast/engine/state.h"
#include "mcast/route.h"
#include "support/gen.h"
#include "support/routed.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The shortest paths from `root` to the group by the lowest or highest ports. */
static uint32_t draw_tree(const struct fab_mcast_problem *p, uint32_t group,
			  uint32_t root, bool highest, uint32_t *sw, uint32_t *cable,
			  uint8_t *height)
{
	const struct fab_fabric *f = p->f;
	const struct fab_groups *g = p->groups;
	const uint8_t *row = fab_dist_row(p->dist, root);
	bool *is_in = FAB_NEW0(f->n_switches, bool);
	uint32_t n = 0;

	*height = 0;
	is_in[root] = true;
	for (uint64_t i = g->sw_first[group]; i < g->sw_first[group + 1]; i++) {
		uint32_t at = g->sw[i];

		*height = row[at] > *height ? row[at] : *height;
		while (!is_in[at]) {
			uint32_t arc = FAB_NONE;

			for (uint32_t a = f->arc_first[at]; a < f->arc_first[at + 1]; a++)
				if (row[f->arc_peer[a]] + 1 == row[at] &&
				    (highest || arc == FAB_NONE))
					arc = a;
			is_in[at] = true;
			sw[n] = at;
			cable[n++] = f->arc_cable[arc];
			at = f->arc_peer[arc];
		}
	}
	free(is_in);
	return n;
}

static uint64_t sum_of(const uint32_t *v, uint32_t n)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < n; i++)
		sum += v[i];
	return sum;
}

/* What is left of a group when it is taken out, and that putting it back changes nothing.
 */
static void check_out_and_back(struct fab_revision *r, uint32_t group)
{
	const struct fab_fabric *f = r->s->problem->f;
	uint32_t n = fab_revision_size(r, group);
	uint64_t loads = sum_of(r->s->load, f->n_switch_links);
	uint64_t adjacent = sum_of(r->s->adjacent, f->n_switches);
	uint32_t root = r->s->forest.root[group], uses = r->s->root_use[root];

	fab_revision_take_out(r, group);
	cr_assert_eq(sum_of(r->s->load, f->n_switch_links), loads - n);
	cr_assert_eq(sum_of(r->s->adjacent, f->n_switches), adjacent - 2 * (uint64_t)n);
	cr_assert_eq(r->s->root_use[root], uses - 1);
	fab_revision_put_back(r, group);
	cr_assert_eq(sum_of(r->s->load, f->n_switch_links), loads);
	cr_assert_eq(r->s->root_use[root], uses);
}

/* An earlier copy is put back: each tree is that of the copy again. */
static void check_restored(struct fab_revision *r, const struct fab_forest *copy)
{
	for (uint32_t i = 0; i < copy->n; i++) {
		uint32_t n = fab_forest_size(copy, i);

		fab_revision_restore(r, i, copy);
		cr_assert_eq(r->s->forest.root[i], copy->root[i]);
		cr_assert_eq(fab_revision_size(r, i), n);
		cr_assert_arr_eq(fab_revision_cables(r, i), copy->cable + copy->first[i],
				 n * sizeof(uint32_t));
	}
}

/*
 * Without grow(): the last group first, from the switch of its first member; then each
 * third group again, from that of its last member by other ports: smaller and larger
 * trees than before.
 */
static int solve_backwards(const struct fab_mcast_problem *p, struct fab_mcast_state *s,
			   const struct fab_mcast_options *o)
{
	struct fab_revision r = fab_revision_begin(s);
	uint32_t *sw = FAB_NEW(p->f->n_switches, uint32_t);
	uint32_t *cable = FAB_NEW(p->f->n_switches, uint32_t);
	const struct fab_groups *g = p->groups;
	struct fab_forest first = {0}, last = {0};
	int stopped = 0;

	for (int pass = 0; pass < 2 && !stopped; pass++) {
		if (pass)
			fab_revision_copy(&r, &first);
		for (uint32_t i = g->n; i-- > 0;) {
			uint32_t root =
				g->sw[pass ? g->sw_first[i + 1] - 1 : g->sw_first[i]];
			uint32_t n;
			uint8_t height;

			if (pass && i % 3)
				continue;
			n = draw_tree(p, i, root, pass, sw, cable, &height);
			cr_assert_eq(s->forest.root[i] == FAB_NONE, !pass);
			if (pass)
				fab_revision_take_out(&r, i);
			fab_revision_put(&r, i, root, height, n, sw, cable);
			cr_assert_eq(fab_revision_size(&r, i), n);
			check_out_and_back(&r, i);
		}
		stopped = o->progress ? o->progress(o->progress_context, 1, 2) : 0;
	}
	fab_revision_copy(&r, &last);
	check_restored(&r, &first);
	check_restored(&r, &last);
	fab_forest_fini(&last);
	fab_forest_fini(&first);
	fab_revision_end(&r);
	free(sw);
	free(cable);
	return stopped;
}

static const struct fab_mcast_engine backwards = {
	.name = "backwards", .may_be_higher = true, .solve = solve_backwards};

Test(solve, all_groups_at_once_beside_engines_that_grow)
{
	static const char *const specs[] = {
		"fattree:radix=8,levels=3", "torus:dims=5x4,hosts=2",
		"dragonfly:a=4,p=2,h=2", "fattree:radix=4,levels=1"};
	const struct fab_mcast_engine *const engines[] = {&backwards, &fab_mcast_fulb,
							  &fab_mcast_balanced};
	const struct fab_mcast_engine *const alone[] = {&fab_mcast_fulb};

	for (size_t i = 0; i < FAB_COUNT(specs); i++) {
		const struct fab_mcast_options options = {.n_threads = 2};
		struct fab_mcast_result results[3], fulb;
		struct fab_err err = {""};
		struct routed s;
		double seconds;

		routed_init(&s, test_gen_raw(specs[i]), 50, 9, i + 1);
		cr_assert_eq(fab_mcast_route(&s.problem, engines, 3, &options, results,
					     &seconds, &err),
			     0);
		for (size_t e = 0; e < 3; e++)
			cr_assert_eq(fab_mcast_verify(&s.problem, &results[e], &err), 0,
				     "%s: %s", specs[i], err.text);
		/* who solves changes nothing for who grows */
		cr_assert_eq(fab_mcast_route(&s.problem, alone, 1, &options, &fulb,
					     &seconds, &err),
			     0);
		cr_assert_arr_eq(results[1].load, fulb.load,
				 s.f->n_switch_links * sizeof(*fulb.load));
		for (uint32_t g = 0; g < s.groups->n; g++)
			cr_assert_eq(results[0].forest.root[g],
				     s.groups->sw[g % 3 ? s.groups->sw_first[g]
							: s.groups->sw_first[g + 1] - 1]);
		for (size_t e = 0; e < 3; e++)
			fab_mcast_result_fini(&results[e]);
		fab_mcast_result_fini(&fulb);
		routed_fini(&s);
	}
}

/* Alone, and stopped: no result is left. */
Test(solve, it_can_be_stopped)
{
	const struct fab_mcast_engine *const engines[] = {&backwards};
	struct fab_mcast_options options = {.n_threads = 1};
	struct fab_mcast_result result;
	struct fab_err err = {""};
	struct routed s;
	double seconds;

	routed_init(&s, test_gen_raw("torus:dims=4x4,hosts=1"), 20, 5, 3);
	cr_assert_eq(fab_mcast_route(&s.problem, engines, 1, &options, &result, &seconds,
				     &err),
		     0);
	cr_assert_eq(seconds, 0); /* nobody wanted candidates for roots */
	fab_mcast_result_fini(&result);
	options.progress = routed_stop;
	cr_assert_eq(fab_mcast_route(&s.problem, engines, 1, &options, &result, &seconds,
				     &err),
		     -ECANCELED);
	cr_assert_null(result.load);
	routed_fini(&s);
}
