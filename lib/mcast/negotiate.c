/* SPDX-License-Identifier: BSD-2-Clause */
#include "mcast/negotiate.h"

#include "base/clock.h"
#include "base/mem.h"
#include "base/progress.h"
#include "base/rng.h"
#include "mcast/choose.h"
#include "mcast/moves.h"
#include "mcast/prices.h"
#include "mcast/revise.h"
#include "mcast/state.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Each group in excess costs so much at first, so much more a round, and this at most;
 * a cable with one too many becomes so much more expensive in a round. */
static const double EXCESS = 4, EXCESS_GROWTH = 1.3, EXCESS_MAX = 1e6, FACTOR_STEP = 0.3;

/* With weights: the least step between two targets, in what a group adds in the mean; and
 * levels that differ by less are equal. */
static const double LEAST_STEP = 1.0 / 32, ROUNDING = 1 + 1e-9;

/* Prices are flat when they rise up to so many times the largest load. */
static const double FLATNESS = 3;

struct negotiation {
	struct fab_mcast_state *s;
	const struct fab_negotiation *o;
	struct fab_prices prices;
	struct fab_moves *moves;
	struct fab_revision revision;
	double target; /* levels (fab_mcast_level()): largest that is tried for */
	double step;   /* how much less than there is; 1 without weights */
	double bound;  /* none can be less */
	double mean;   /* what a group adds; 1 without weights */
	double excess; /* above the target, over all cables */
	uint64_t turn; /* rounds so far: other chances each */
	double max;    /* level of the trees now */
	uint32_t n_at_max;
	double kept_max; /* of the best trees so far */
	uint32_t kept_at_max;
	struct fab_forest kept;
	bool is_kept; /* they are those there now */
	struct fab_reroute_try how;
	bool is_starting;
	uint64_t first_step;	    /* cables looked at until the start was over */
	enum fab_mcast_ended ended; /* DONE: not yet */
};

static void measure(struct negotiation *x)
{
	x->max = x->excess = 0;
	x->n_at_max = 0;
	for (uint32_t c = 0; c < x->s->problem->f->n_switch_links; c++) {
		double load = fab_mcast_level(x->s, c);

		if (load > x->max) {
			x->max = load;
			x->n_at_max = 0;
		}
		x->n_at_max += load == x->max;
		x->excess += load > x->target ? load - x->target : 0;
	}
}

/* Remember the trees when they are the best so far. */
static void keep_best(struct negotiation *x)
{
	if (x->max > x->kept_max ||
	    (x->max == x->kept_max && x->n_at_max >= x->kept_at_max))
		return;
	x->kept_max = x->max;
	x->kept_at_max = x->n_at_max;
	fab_forest_fini(&x->kept);
	fab_revision_copy(&x->revision, &x->kept);
	x->is_kept = true;
}

/* Back to the best trees so far. */
static void restore_best(struct negotiation *x)
{
	const struct fab_forest *t = &x->kept;

	measure(x);
	if (x->max == x->kept_max && x->n_at_max == x->kept_at_max)
		return;
	for (uint32_t g = 0; g < t->n; g++) {
		fab_revision_take_out(&x->revision, g);
		fab_revision_put(&x->revision, g, t->root[g], t->height[g],
				 fab_forest_size(t, g), t->sw + t->first[g],
				 t->cable + t->first[g]);
	}
	x->is_kept = true;
	measure(x);
}

static bool is_above(void *context, uint32_t group)
{
	const struct negotiation *x = context;
	const uint32_t *cable = fab_revision_cables(&x->revision, group);

	for (uint32_t i = 0; i < fab_revision_size(&x->revision, group); i++)
		if (fab_mcast_level(x->s, cable[i]) > x->target)
			return true;
	return false;
}

/* Cables above the target become more expensive for good. */
static void raise_factors(struct negotiation *x)
{
	for (uint32_t c = 0; c < x->s->problem->f->n_switch_links; c++) {
		double excess = fab_mcast_level(x->s, c) - x->target;

		if (excess > 0)
			x->prices.factor[c] += FACTOR_STEP * excess / x->mean;
	}
}

static void tell(const struct negotiation *x)
{
	static _Thread_local char text[160];

	if (!x->o->is_told)
		return;
	snprintf(text, sizeof(text),
		 "largest %s %.6g on %u cables, bound %.6g; trying %.6g,",
		 x->s->units ? "load" : "EFI", x->kept_max, x->kept_at_max, x->bound,
		 x->target);
	fab_progress_report(text, "rounds", x->turn, 0);
}

/* Is it time to stop, `done` groups into a round? */
static bool is_over(void *context, uint32_t done)
{
	struct negotiation *x = context;
	const struct fab_mcast_options *o = x->o->options;

	if (x->o->n_steps && !x->is_starting &&
	    fab_moves_steps(x->moves) - x->first_step > x->o->n_steps)
		x->ended = FAB_ENDED_STALL;
	if (o->until > 0 && fab_now() > o->until)
		x->ended = FAB_ENDED_TIME;
	if (o->is_over && o->is_over(o->is_over_context))
		x->ended = FAB_ENDED_STOPPED;
	if (o->progress && !x->o->is_told &&
	    o->progress(o->progress_context, done, x->s->forest.n))
		x->ended = FAB_ENDED_FAILED;
	tell(x);
	return x->ended != FAB_ENDED_DONE;
}

/* Every group that is above the target when its turn comes; false: it is time to stop. */
static bool run_round(struct negotiation *x)
{
	struct fab_moves_round round = {
		.how = x->how, .is_wanted = is_above, .is_over = is_over, .context = x};

	round.how.turn = x->turn;
	x->is_kept = false;
	if (!fab_moves_run(x->moves, &round))
		return false;
	x->turn++;
	fab_revision_tidy(&x->revision);
	return !is_over(x, x->s->forest.n);
}

/* Rounds until no cable is above the target, or that is given up. */
static bool reach_target(struct negotiation *x)
{
	double excess = EXCESS;
	uint32_t stalls = 0;
	double least;

	measure(x);
	least = x->excess;
	while (x->excess && stalls < x->o->n_rounds) {
		fab_prices_set_target(&x->prices, x->target, excess);
		x->how.least = excess;
		if (!run_round(x))
			return false;
		measure(x);
		keep_best(x);
		raise_factors(x);
		excess *= EXCESS_GROWTH;
		excess = excess < EXCESS_MAX ? excess : EXCESS_MAX;
		stalls = x->excess < least ? 0 : stalls + 1;
		least = x->excess < least ? x->excess : least;
	}
	return !x->excess;
}

/* Is there nothing left to gain? One group on a cable is little enough. */
static bool is_least(const struct negotiation *x)
{
	return x->kept_max <= x->bound || (!x->s->units && x->kept_max <= 1);
}

/* The next target: less by a step, which with weights is large at first. */
static void set_target(struct negotiation *x)
{
	if (x->s->units && x->step > (x->kept_max - x->bound) / 2)
		x->step = (x->kept_max - x->bound) / 2;
	x->target = x->kept_max - x->step;
	if (x->s->units)
		x->target *= ROUNDING;
}

/* A target was not reached: a nearer one, if there can be one. */
static bool has_nearer(struct negotiation *x)
{
	if (!x->s->units || x->step < LEAST_STEP * x->mean)
		return false;
	x->step /= 2;
	return true;
}

/* Every group once at prices that rise smoothly up to `max`; false: it is time to stop.
 */
static bool pass(struct negotiation *x, enum fab_reroute_how how, double max)
{
	x->how = (struct fab_reroute_try){.how = how};
	x->target = 0;
	fab_prices_set_smooth(&x->prices, max);
	if (!run_round(x))
		return false;
	measure(x);
	keep_best(x);
	return true;
}

/* Trees of few cables, though maybe many on one: what they cost at first. */
static bool start_afresh(struct negotiation *x)
{
	bool goes_on;

	x->is_starting = true;
	goes_on = pass(x, FAB_REROUTE_DEEP, FLATNESS * x->max);
	x->is_starting = false;
	x->turn = 0;
	x->first_step = fab_moves_steps(x->moves);
	return goes_on;
}

/* Swap paths of all trees while that helps. */
static bool swap_paths(struct negotiation *x)
{
	double max;
	uint32_t n_at_max;

	do {
		max = x->kept_max;
		n_at_max = x->kept_at_max;
		if (is_least(x))
			return true;
		if (!pass(x, FAB_REROUTE_PATHS, x->max))
			return false;
	} while (x->kept_max < max || x->kept_at_max < n_at_max);
	return true;
}

static void negotiate(struct negotiation *x)
{
	uint32_t given_up = 0;

	if (x->o->is_fresh && !is_least(x) && !start_afresh(x))
		return;
	if (x->o->has_swaps && !swap_paths(x))
		return;

	while (x->ended == FAB_ENDED_DONE) {
		if (is_least(x)) {
			x->ended = FAB_ENDED_BOUND;
			break;
		}
		set_target(x);
		x->how.how = x->o->has_swaps && given_up % 2 ? FAB_REROUTE_BOTH
							     : FAB_REROUTE_ROOTS;
		if (reach_target(x) || x->ended != FAB_ENDED_DONE)
			continue;
		restore_best(x);
		for (uint32_t c = 0; c < x->s->problem->f->n_switch_links; c++)
			x->prices.factor[c] = 1;
		if (!has_nearer(x) && ++given_up >= x->o->n_attempts)
			x->ended = FAB_ENDED_STALL;
	}
}

enum fab_mcast_ended fab_negotiate(struct fab_mcast_state *s,
				   const struct fab_negotiation *o)
{
	struct negotiation x = {
		.s = s, .o = o, .kept_max = HUGE_VAL, .mean = 1, .step = 1};
	uint32_t n_cables = s->problem->f->n_switch_links;

	x.bound = fab_mcast_bound_of(s->problem, o->options);
	if (s->units) {
		x.bound *= ROUNDING;
		x.mean = s->problem->weights->step;
		x.step = HUGE_VAL;
	}
	fab_prices_of(&x.prices, s);
	x.prices.factor = FAB_NEW(n_cables, double);
	for (uint32_t c = 0; c < n_cables; c++)
		x.prices.factor[c] = 1;
	x.revision = fab_revision_begin(s);
	x.moves = fab_moves_new(&x.revision, &x.prices, o->options);
	measure(&x);
	keep_best(&x);
	negotiate(&x);
	restore_best(&x);
	fab_moves_free(x.moves);
	fab_prices_fini(&x.prices);
	if (x.is_kept) {
		fab_revision_end_with(&x.revision, &x.kept);
	} else {
		fab_forest_fini(&x.kept); /* before the last copy is made */
		fab_revision_end(&x.revision);
	}
	return x.ended;
}
