/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Targets below the largest load, in sequence. In a round all groups above the
 * target get another tree at prices of which each unit of excess costs more, and cables
 * above the target have a factor that rises. Where members lie far from the root, paths
 * are changed as long as that brings the excess down, which is quick, else whole trees
 * are grown again; in short trees other ways of as many hops are found before; and the
 * next target lies a part of the way to the mean load.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/progress.h"
#include "base/rng.h"
#include "mcast/search/search.h"

/* Price of a group in excess at first, its growth a round, and its limit; growth of the
 * factor of a cable, for each group in excess. */
static const double EXCESS = 4, EXCESS_GROWTH = 1.3, EXCESS_MAX = 1e6, FACTOR_STEP = 0.3;

/* With weights: the least step between two targets, in what a group adds on average; and
 * the factor by which equal levels may differ. */
static const double LEAST_STEP = 1.0 / 32, ROUNDING = 1 + FAB_LOAD_ROUNDING;

/* Prices of first trees rise up to the largest load times this: they are flat. */
static const double FLATNESS = 3;

/* Where members lie far apart: step to the next target, as a part of the way from the
 * largest load to the mean. */
static const double PART = 0.25;

/* Paths will not bring a larger part of all load below the target; of short trees. */
static const double HOPELESS = 0.025, HOPELESS_SHORT = 0.01;

/* Paths are changed as long as a round leaves less of the excess than this part; where
 * work has no limit, longer. */
static const double PROGRESS = 0.7, PROGRESS_FREE = 0.9;

/* Price of a hop of other paths, added to that of its cable: short ones leave more room.
 */
static const double HOP = 4, HOP_HASTY = 1;

/* Groups that show which first trees have fewer cables: deep ones avoid full cables,
 * short ones do not, and pay below this share of their cables. */
enum { SAMPLE = 32 };
/* Changes of plans of short trees, and plans of which the shortest stays; how often ways
 * are then found again, at prices that rise up to the largest load times this; and the
 * part of the excess that other ways and paths together are to leave at most, else they
 * count as that many rounds without progress. */
enum { CHANGES_HASTY = 25, CHANGES = 50, PLANS = 8, WAYS = 2, STALL_SHORT = 6 };
static const double WAYS_FLATNESS = 0.8, PROGRESS_SHORT = 0.95;
static const double WORTH = 0.93;

/* Groups of a batch whose trees are found side by side in large problems whose members
 * lie far apart. */
enum { BATCH = 64 };

struct negotiation {
	struct fab_mcast_state *s;
	const struct fab_negotiation *o;
	struct fab_prices prices;
	struct fab_reroute *reroute;
	struct fab_revision revision;
	double target; /* largest level (fab_mcast_level()) that is tried for */
	double step;   /* from the largest level to the target; 1 without weights */
	double bound;  /* lower bound of the largest level */
	double mean;   /* load that a group adds; 1 without weights */
	double excess; /* above the target, over all cables */
	double sum;    /* of all levels */
	uint64_t turn; /* rounds so far: the seed of each */
	double max;    /* largest level of the trees now, and cables that have it */
	uint32_t n_at_max;
	double kept_max; /* the same of the best trees so far */
	uint32_t kept_at_max;
	struct fab_forest kept;
	bool is_far;		      /* some members lie far from the root */
	bool is_short;		      /* trees began as short ones */
	bool is_starting, is_started; /* first trees of few cables */
	uint64_t start_steps;	      /* cables looked at for them */
	enum fab_mcast_ended ended;   /* DONE: not yet */
};

/* Find the largest level and the excess; copy the trees when they are the best so far. */
static void measure(struct negotiation *x)
{
	x->max = x->excess = x->sum = 0;
	x->n_at_max = 0;
	for (uint32_t c = 0; c < x->s->problem->f->n_switch_links; c++) {
		double level = fab_mcast_level(x->s, c);

		if (level > x->max) {
			x->max = level;
			x->n_at_max = 0;
		}
		x->n_at_max += level == x->max;
		x->sum += level;
		x->excess += level > x->target ? level - x->target : 0;
	}
	if (x->max > x->kept_max ||
	    (x->max == x->kept_max && x->n_at_max >= x->kept_at_max))
		return;
	x->kept_max = x->max;
	x->kept_at_max = x->n_at_max;
	fab_revision_copy(&x->revision, &x->kept);
}

/* Back to the best trees so far. */
static void restore_best(struct negotiation *x)
{
	if (x->max == x->kept_max && x->n_at_max == x->kept_at_max)
		return;
	for (uint32_t g = 0; g < x->kept.n; g++)
		fab_revision_restore(&x->revision, g, &x->kept);
	measure(x);
}

/* Is it time to stop, `done` groups into a round? */
static bool should_stop(struct negotiation *x, uint32_t done)
{
	static _Thread_local char text[160];
	const struct fab_mcast_options *o = x->o->options;

	if (x->o->n_steps && !x->is_starting &&
	    fab_reroute_steps(x->reroute) - x->start_steps > x->o->n_steps)
		x->ended = FAB_ENDED_STALL;
	if (fab_mcast_is_over(o))
		x->ended = fab_mcast_why_over(o);
	if (o->progress && !x->o->is_reported &&
	    o->progress(o->progress_context, done, x->s->forest.n))
		x->ended = FAB_ENDED_FAILED;
	if (x->o->is_reported) {
		snprintf(text, sizeof(text),
			 "largest %s %.6g on %u cables, bound %.6g; trying %.6g,",
			 x->s->units ? "load" : "EFI", x->kept_max, x->kept_at_max,
			 x->bound, x->target);
		fab_progress_report(text, "rounds", x->turn, 0);
	}
	return x->ended != FAB_ENDED_DONE;
}

static bool is_above(const struct negotiation *x, uint32_t group)
{
	const uint32_t *cable = fab_revision_cables(&x->revision, group);

	for (uint32_t i = 0; i < fab_revision_size(&x->revision, group); i++)
		if (fab_mcast_level(x->s, cable[i]) > x->target)
			return true;
	return false;
}

/* Groups of a batch: where members lie near, trees of a batch would meet. */
static uint32_t batch_of(const struct negotiation *x)
{
	bool is_large = x->o->is_hasty || (x->o->is_afresh && !x->o->n_steps);

	return is_large && x->is_far ? BATCH : 1;
}

/* Every group that is above the target when its turn comes: from another one on each
 * round, forwards and backwards alternately. False: it is time to stop. */
static bool run_round(struct negotiation *x, struct fab_reroute_try how)
{
	uint32_t n = x->s->forest.n, batch[BATCH], n_batch = 0;
	uint32_t most = batch_of(x);
	uint32_t shift = (uint32_t)(fab_mix64(x->turn ^ x->o->options->seed) % n);

	how.turn = x->turn;
	for (uint32_t i = 0; i < n && x->ended == FAB_ENDED_DONE; i++) {
		uint32_t group = (x->turn & 1 ? n - 1 - i : i) + shift;

		group -= group >= n ? n : 0;
		if (is_above(x, group))
			batch[n_batch++] = group;
		if (!n_batch || (n_batch < most && i + 1 < n))
			continue;
		fab_reroute_find(x->reroute, batch, n_batch, &how);
		for (uint32_t k = 0; k < n_batch; k++)
			if (is_above(x, batch[k]))
				fab_reroute_take(x->reroute, k);
		n_batch = 0;
		should_stop(x, i);
	}
	if (x->ended == FAB_ENDED_DONE) {
		x->turn++;
		fab_revision_tidy(&x->revision);
	}
	measure(x);
	return x->ended == FAB_ENDED_DONE && !should_stop(x, n);
}

/* Is too much of all load above the target, and no time to try nevertheless? */
static bool is_hopeless(const struct negotiation *x)
{
	double part = x->is_short ? HOPELESS_SHORT : HOPELESS;

	return x->o->is_hasty && x->is_far && x->excess > part * x->sum;
}

/* Rounds until no cable is above the target, or that is given up. */
static bool reach_target(struct negotiation *x)
{
	struct fab_reroute_try how = {.least = EXCESS,
				      .per_hop = x->o->is_hasty ? HOP_HASTY : HOP};
	uint32_t stalls = 0;
	bool is_other = false;
	double least, last = HUGE_VAL, part = x->o->n_steps ? PROGRESS : PROGRESS_FREE;

	measure(x);
	least = x->excess;
	if (is_hopeless(x))
		return false;
	while (x->excess > 0 && stalls < x->o->n_rounds) {
		fab_prices_set_target(&x->prices, x->target, how.least);
		how.how = x->is_short && !is_other ? FAB_REROUTE_WAYS
			  : x->is_short || (x->is_far && x->excess < part * last)
				  ? FAB_REROUTE_PATHS
				  : FAB_REROUTE_ROOTS;
		is_other = how.how == FAB_REROUTE_WAYS;
		last = x->excess;
		if (!run_round(x, how))
			return false;
		fab_prices_raise_factors(&x->prices, x->target, FACTOR_STEP / x->mean);
		how.least = fmin(how.least * EXCESS_GROWTH, EXCESS_MAX);
		if (is_other) /* and then paths, before they count as one */
			continue;
		stalls = x->excess < (x->is_short ? PROGRESS_SHORT : 1) * least
				 ? 0
				 : stalls + (x->is_short ? STALL_SHORT : 1);
		least = fmin(least, x->excess);
		if (how.how == FAB_REROUTE_PATHS && is_hopeless(x))
			return false;
	}
	return x->excess <= 0;
}

/* Cables that a sample of groups would have. */
static double sample(struct negotiation *x, enum fab_reroute_how kind)
{
	const struct fab_reroute_try how = {.how = kind, .n_changes = CHANGES_HASTY};
	uint32_t group[SAMPLE], n;
	double edges = 0;

	for (uint32_t i = 0; i < SAMPLE; i++)
		group[i] = (uint32_t)((uint64_t)i * x->s->forest.n / SAMPLE);
	fab_reroute_find(x->reroute, group, SAMPLE, &how);
	for (uint32_t i = 0; i < SAMPLE; i++)
		edges += fab_reroute_found(x->reroute, i, &n)
				 ? n
				 : fab_revision_size(&x->revision, group[i]);
	return edges;
}

static void negotiate(struct negotiation *x)
{
	struct fab_reroute_try how = {.n_changes =
					      x->o->is_hasty ? CHANGES_HASTY : CHANGES};
	uint32_t given_up = 0, n_cables = x->s->problem->f->n_switch_links;
	int rounds;
	uint64_t first;

	while (x->ended == FAB_ENDED_DONE) {
		/* one group on a cable is the least without weights */
		if (x->kept_max <= x->bound || (!x->s->units && x->kept_max <= 1)) {
			x->ended = FAB_ENDED_BOUND;
			break;
		}
		if (!x->is_started) {
			/* cheap trees, though some cables may have many */
			x->is_starting = x->is_started = true;
			x->target = 0;
			fab_prices_set_smooth(&x->prices, FLATNESS * x->max);
			first = fab_reroute_steps(x->reroute);
			/* The kind of the first trees: where members lie far apart, those
			 * of few cables, in a hurry by the kind that a sample prefers. */
			how.how = !x->is_far			      ? FAB_REROUTE_ROOTS
				  : x->o->is_afresh && !x->o->n_steps ? FAB_REROUTE_SHORT
								      : FAB_REROUTE_DEEP;
			if (x->is_far && x->o->is_hasty &&
			    sample(x, FAB_REROUTE_SHORT) <
				    WORTH * sample(x, FAB_REROUTE_DEEP))
				how.how = FAB_REROUTE_SHORT;
			x->is_short = how.how == FAB_REROUTE_SHORT;
			rounds = x->o->is_hasty || !x->is_short ? 1 : PLANS;
			for (int i = 0; i < rounds + (x->is_short ? WAYS : 0) &&
					x->ended == FAB_ENDED_DONE;
			     i++) {
				if (i >= rounds) {
					how.how = FAB_REROUTE_WAYS;
					fab_prices_set_smooth(&x->prices,
							      WAYS_FLATNESS * x->max);
				}
				run_round(x, how);
			}
			x->is_starting = false;
			x->turn = given_up ? x->turn : 0;
			x->start_steps += fab_reroute_steps(x->reroute) - first;
			x->step = x->s->units || x->is_far ? HUGE_VAL : 1;
			continue;
		}
		/* The next target: less by a step, which with weights is large at first.
		 */
		if (x->s->units && x->step > (x->kept_max - x->bound) / 2)
			x->step = (x->kept_max - x->bound) / 2;
		if (!x->s->units && x->is_far)
			x->step =
				fmax(1, floor(fmin(x->step, PART * (x->kept_max -
								    x->sum / n_cables))));
		x->target = (x->kept_max - x->step) * (x->s->units ? ROUNDING : 1);
		if (x->target >= x->kept_max) { /* by rounding */
			x->ended = FAB_ENDED_STALL;
			break;
		}
		if (reach_target(x) || x->ended != FAB_ENDED_DONE)
			continue;
		restore_best(x);
		fab_prices_reset_factors(&x->prices);
		/* a nearer target, if there can be one */
		if (x->s->units ? x->step >= LEAST_STEP * x->mean : x->step > 1)
			x->step /= 2;
		else if (++given_up >= x->o->n_attempts)
			x->ended = FAB_ENDED_STALL;
		else
			x->is_started = false;
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
				.is_started = !o->is_afresh,
				.is_far = fab_mcast_is_far(s)};

	x.bound = fab_mcast_bound_of(s->problem, o->options);
	if (s->units) {
		x.bound *= ROUNDING;
		x.mean = s->problem->weights->step;
	}
	if (s->units || x.is_far)
		x.step = HUGE_VAL;
	fab_prices_init(&x.prices, s);
	fab_prices_reset_factors(&x.prices);
	x.revision = fab_revision_begin(s);
	x.reroute = fab_reroute_new(&x.revision, &x.prices, o->options, batch_of(&x));
	measure(&x);
	negotiate(&x);
	restore_best(&x);
	fab_forest_fini(&x.kept); /* before the last copy is made */
	fab_revision_end(&x.revision);
	fab_reroute_free(x.reroute);
	fab_prices_fini(&x.prices);
	return x.ended;
}
