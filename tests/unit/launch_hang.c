/* SPDX-License-Identifier: BSD-2-Clause */
#include "launch/detector.h"
#include "support/fences.h"
#include "support/test.h"

static struct fab_arena memory = FAB_ARENA_INIT; /* ends with the process */

/* Messages of a plan with its repeats that are sent when one node is lost, until nothing
 * moves any more; nodes that have not received all of theirs. */
static uint32_t follow(const struct fab_fence_plan *plan, uint32_t lost, double *sent)
{
	size_t n = plan->messages.n, all = n * plan->n_repeats, n_done = 0;
	uint32_t each = n ? plan->messages.v[n - 1].step + 1 : 0, n_waiting = 0;
	bool *done = FAB_ARENA_NEW0(&memory, all + 1, bool);

	for (bool moved = true; moved;) {
		moved = false;
		for (size_t i = 0; i < all; i++) {
			const struct fab_fence_message *m = &plan->messages.v[i % n], *x;
			uint32_t step = m->step + each * (uint32_t)(i / n);
			bool ready = m->from != lost && !done[i];

			for (size_t k = 0; k < all && ready; k++) {
				x = &plan->messages.v[k % n];
				ready = x->to != m->from || done[k] ||
					x->step + each * (uint32_t)(k / n) >= step;
			}
			done[i] |= ready;
			moved |= ready;
			n_done += ready;
		}
	}
	for (uint32_t node = 0; node < plan->n_nodes; node++) {
		size_t i = 0;

		while (i < all && (plan->messages.v[i % n].to != node || done[i]))
			i++;
		n_waiting += i < all && node != lost;
	}
	*sent = all ? (double)n_done / (double)all : 0;
	return n_waiting;
}

Test(launch_hang, every_lost_node_by_brute_force)
{
	static const char names[][8] = {"ring", "tree:2", "tree:16", "bruck", "recdbl"};

	for (size_t k = 0; k < FAB_COUNT(names); k++)
		for (uint32_t n = 2; n < 20; n += n < 6 ? 1 : 5) {
			struct fab_fence_job job = {.n_nodes = n, .bytes = 1};
			struct fab_fence_chosen fence = test_fence(names[k]);
			struct fab_fence_plan plan;
			struct fab_hang x;
			uint32_t least = UINT32_MAX, most = 0;
			double sent_least = 1, sent_most = 0;

			MUST(fab_fence_plan_make(&memory, fence, &job, &plan, ERR));
			MUST(fab_hang_find(&memory, fence, &job, &x, ERR));
			for (uint32_t lost = 0; lost < n; lost++) {
				double sent;
				uint32_t waiting = follow(&plan, lost, &sent);

				least = waiting < least ? waiting : least;
				most = waiting > most ? waiting : most;
				sent_least = fmin(sent_least, sent);
				sent_most = fmax(sent_most, sent);
			}
			cr_expect(x.waiting_least == least && x.waiting_most == most);
			cr_expect_float_eq(x.sent_least, sent_least, 1e-9);
			cr_expect_float_eq(x.sent_most, sent_most, 1e-9);
			cr_expect_eq(x.waiting_least, n - 1); /* nobody ends */
			cr_expect_geq(x.direct_least, 1);
			/* in a tree of one level 16 wait for the root */
			if (!strcmp(names[k], "tree:16") && n == 16)
				cr_expect(x.direct_least == 1 && x.direct_most == 15);
		}
}

Test(launch_hang, settings_that_end_it)
{
	static const struct {
		double slurmd_s, pmix_s, least_s, most_s;
	} cases[] = {{60, 300, 60, 80},
		     {300, 0, 300, 400},
		     {0, 45, 45, 45},
		     {0, 0, (double)INFINITY, (double)INFINITY}};
	struct fab_hang_setting settings[FAB_N_HANG_SETTINGS];
	struct fab_launch_params params;

	fab_launch_params_init(&params);
	for (size_t i = 0; i < FAB_COUNT(cases); i++) {
		double least_s, most_s;

		params.of[FAB_CONST_slurmd_timeout_s].value = cases[i].slurmd_s;
		params.of[FAB_CONST_pmix_timeout_s].value = cases[i].pmix_s;
		fab_hang_settings(&params, settings, &least_s, &most_s);
		cr_expect(least_s == cases[i].least_s && most_s == cases[i].most_s);
	}
}
