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
 * the factor by which equal levels may differ. */
static const double LEAST_STEP = 1.0 / 32, ROUNDING = 1 + FAB_LOAD_ROUNDING;

/* Prices are flat when they rise up to so many times the largest load. */
static const double FLATNESS = 3;

/* Prices that spread trees of few cables rise up to so many times the mean load. */
static const double SPREAD = 1.2;

/* Where members lie far apart, the next target is less by so much of what the largest
 * load is above the mean. */
static const double PART = 0.25;

/* Trees of searches are worth their time where those of some groups have so much less
 * cables than those grown by distances; these are no good where fewer than so many
 * switches are like the others: all paths would go through the middle. */
enum { SAMPLE = 32 };
static const double WORTH = 0.95, ALIKE = 0.95;

/* Where more than this of all load is above the target, near paths will not bring it
 * down; where they leave more than this, nor will whole trees in the steps that there
 * are.
 */
static const double HOPELESS = 0.025;

/* Progress is reported once in this many questions whether to stop. */
enum { REPORT = 16 };

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
	uint32_t stride; /* only every so manyth group is moved */
	bool is_far;	 /* some members lie far from the root */
	bool is_starting;
	uint32_t n_asked;	    /* times is_over() was called */
	uint64_t first_step;	    /* cables looked at until the start was over, */
	uint64_t near_steps;	    /* and for near paths of all trees once; 0: never */
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
		if (fab_revision_has(&x->revision, g, t))
			continue;
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

	if (group % x->stride)
		return false;
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
	if (x->n_asked++ % REPORT == 0)
		tell(x);
	return x->ended != FAB_ENDED_DONE;
}

/* Every group that is above the target when its turn comes; false: it is time to stop. */
static bool run_round(struct negotiation *x)
{
	struct fab_moves_round round = {
		.how = x->how, .is_wanted = is_above, .is_over = is_over, .context = x};

	round.n_expected = x->target > 0 ? 0 : x->s->forest.n / x->stride;
	round.how.turn = x->turn;
	x->is_kept = false;
	if (!fab_moves_run(x->moves, &round))
		return false;
	x->turn++;
	fab_revision_tidy(&x->revision);
	return !is_over(x, x->s->forest.n);
}

static double mean_level(const struct negotiation *x)
{
	uint32_t n = x->s->problem->f->n_switch_links;
	double sum = 0;

	for (uint32_t c = 0; c < n; c++)
		sum += fab_mcast_level(x->s, c);
	return sum / n;
}

/* Is too much of all load above the target, and no time to try nevertheless? */
static bool is_hopeless(const struct negotiation *x)
{
	return x->o->is_hasty && x->is_far &&
	       x->excess > HOPELESS * mean_level(x) * x->s->problem->f->n_switch_links;
}

/* Would near paths that bring all cables down take more steps than are left? A tree less
 * on one for each that is too many, and as many steps a tree as when all had their turn.
 */
static bool is_too_long(const struct negotiation *x)
{
	uint64_t used = fab_moves_steps(x->moves) - x->first_step;
	double share = x->excess / x->mean / x->s->forest.n;

	return x->o->is_hasty && x->o->n_steps &&
	       (double)used + (double)x->near_steps * fmin(share, 1) >
		       (double)x->o->n_steps;
}

/*
 * Rounds until no cable is above the target, or that is given up. Where members lie far
 * from the root, near paths are swapped as long as that halves the excess, which is
 * quick; where it does not, whole trees are grown again for once.
 */
static bool reach_target(struct negotiation *x, enum fab_reroute_how how)
{
	double excess = EXCESS, least, last = HUGE_VAL;
	uint32_t stalls = 0;

	measure(x);
	least = x->excess;
	if (is_hopeless(x) || is_too_long(x))
		return false;
	while (x->excess && stalls < x->o->n_rounds) {
		fab_prices_set_target(&x->prices, x->target, excess);
		x->how.least = excess;
		x->how.how =
			x->is_far && x->excess < last / 2 ? FAB_REROUTE_NEAR_PATHS : how;
		last = x->excess;
		if (!run_round(x))
			return false;
		measure(x);
		keep_best(x);
		raise_factors(x);
		excess *= EXCESS_GROWTH;
		excess = excess < EXCESS_MAX ? excess : EXCESS_MAX;
		stalls = x->excess < least ? 0 : stalls + 1;
		least = x->excess < least ? x->excess : least;
		if (x->how.how == FAB_REROUTE_NEAR_PATHS && is_hopeless(x))
			return false;
	}
	return !x->excess;
}

/* Is there nothing left to gain? One group on a cable is little enough. */
static bool is_least(const struct negotiation *x)
{
	return x->kept_max <= x->bound || (!x->s->units && x->kept_max <= 1);
}

/* The next target: less by a step, which with weights is large at first. False: rounding
 * leaves no level between it and what there is. */
static bool set_target(struct negotiation *x)
{
	if (x->s->units && x->step > (x->kept_max - x->bound) / 2)
		x->step = (x->kept_max - x->bound) / 2;
	if (!x->s->units && x->is_far)
		x->step = fmax(
			1, floor(fmin(x->step, PART * (x->kept_max - mean_level(x)))));
	x->target = x->kept_max - x->step;
	if (x->s->units)
		x->target *= ROUNDING;
	return x->target < x->kept_max;
}

/* A target was not reached: a nearer one, if there can be one. */
static bool has_nearer(struct negotiation *x)
{
	if (x->s->units ? x->step < LEAST_STEP * x->mean : x->step <= 1)
		return false;
	x->step /= 2;
	return true;
}

/* Every group once at prices that rise smoothly up to `max`; false: it is time to stop.
 */
static bool pass(struct negotiation *x, enum fab_reroute_how how, double max)
{
	uint64_t first = fab_moves_steps(x->moves);

	x->how = (struct fab_reroute_try){.how = how};
	x->target = 0;
	fab_prices_set_smooth(&x->prices, max);
	if (!run_round(x))
		return false;
	if (how == FAB_REROUTE_NEAR_PATHS)
		x->near_steps = fab_moves_steps(x->moves) - first;
	measure(x);
	keep_best(x);
	return true;
}

/* Cables in the trees of some groups. */
static uint64_t sample_edges(const struct negotiation *x)
{
	uint64_t n = 0;

	for (uint32_t g = 0; g < x->s->forest.n; g += x->stride)
		n += fab_revision_size(&x->revision, g);
	return n;
}

/* Do nearly all switches have as many neighbours as the one that has most? */
static bool are_alike(const struct fab_fabric *f)
{
	uint32_t most = 0, n = 0;

	for (uint32_t i = 0; i < f->n_switches; i++) {
		uint32_t peers = f->peer_first[i + 1] - f->peer_first[i];

		n = peers > most ? 1 : n + (peers == most);
		most = peers > most ? peers : most;
	}
	return n >= ALIKE * f->n_switches;
}

/* Are most members in large groups? */
static bool are_large(const struct fab_groups *g)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < g->n; i++)
		if (fab_group_n_switches(g, i) > FAB_REROUTE_LARGE)
			n += fab_group_n_switches(g, i);
	return 2 * n > g->sw_first[g->n];
}

/* Trees of few cables by searches, or only by distances, which is far quicker? Tried with
 * some groups. */
static bool choose_start(struct negotiation *x, double max, enum fab_reroute_how *how)
{
	uint64_t n_near;
	bool goes_on;

	*how = x->o->start == FAB_START_NEAR ? FAB_REROUTE_NEAR : FAB_REROUTE_DEEP;
	if (x->o->start != FAB_START_CHOSEN || !are_alike(x->s->problem->f) ||
	    are_large(x->s->problem->groups))
		return true;
	x->stride = x->s->forest.n / SAMPLE + 1;
	goes_on = pass(x, FAB_REROUTE_NEAR, max);
	n_near = sample_edges(x);
	goes_on = goes_on && pass(x, FAB_REROUTE_DEEP, max);
	if ((double)sample_edges(x) >= WORTH * (double)n_near)
		*how = FAB_REROUTE_NEAR;
	x->stride = 1;
	return goes_on;
}

/* Trees of few cables, though maybe many on one: what they cost at first. */
static bool start_afresh(struct negotiation *x)
{
	double max = FLATNESS * x->max;
	enum fab_reroute_how how;
	bool goes_on;

	x->is_starting = true;
	goes_on = choose_start(x, max, &how) && pass(x, how, max);
	if (goes_on && how == FAB_REROUTE_NEAR)
		goes_on = pass(x, FAB_REROUTE_NEAR_PATHS,
			       fmin(x->max, SPREAD * mean_level(x)));
	x->is_starting = false;
	x->turn = 0;
	x->first_step = fab_moves_steps(x->moves);
	return goes_on;
}

/* Swap paths of all trees while that helps. */
static bool swap_paths(struct negotiation *x, enum fab_reroute_how how)
{
	double max;
	uint32_t n_at_max;

	do {
		max = x->kept_max;
		n_at_max = x->kept_at_max;
		if (is_least(x))
			return true;
		if (!pass(x, how, x->max))
			return false;
	} while (x->kept_max < max || x->kept_at_max < n_at_max);
	return true;
}

static void negotiate(struct negotiation *x)
{
	enum fab_reroute_how how;
	uint32_t given_up = 0;

	if (x->o->start == FAB_START_NEAR &&
	    (!x->is_far || are_large(x->s->problem->groups))) {
		x->ended = FAB_ENDED_STALL;
		return;
	}
	if (x->o->start != FAB_START_THERE && x->is_far && !is_least(x) &&
	    !start_afresh(x))
		return;
	if (x->o->has_swaps && x->is_far && !swap_paths(x, FAB_REROUTE_NEAR_PATHS))
		return;
	if (x->o->has_swaps && !swap_paths(x, FAB_REROUTE_PATHS))
		return;

	while (x->ended == FAB_ENDED_DONE) {
		if (is_least(x)) {
			x->ended = FAB_ENDED_BOUND;
			break;
		}
		if (!set_target(x)) {
			x->ended = FAB_ENDED_STALL;
			break;
		}
		how = x->o->has_swaps && given_up % 2 ? FAB_REROUTE_BOTH
						      : FAB_REROUTE_ROOTS;
		if (reach_target(x, how) || x->ended != FAB_ENDED_DONE)
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
	struct negotiation x = {.s = s,
				.o = o,
				.kept_max = HUGE_VAL,
				.mean = 1,
				.step = 1,
				.stride = 1,
				.is_far = fab_reroute_is_far(s)};
	uint32_t n_cables = s->problem->f->n_switch_links;

	x.bound = fab_mcast_bound_of(s->problem, o->options);
	if (s->units) {
		x.bound *= ROUNDING;
		x.mean = s->problem->weights->step;
		x.step = HUGE_VAL;
	}
	if (x.is_far)
		x.step = HUGE_VAL;
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
