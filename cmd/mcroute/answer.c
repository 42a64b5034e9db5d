/* SPDX-License-Identifier: BSD-2-Clause */
/* fabric-mcroute: the answer in words, before everything else. */
#include <float.h>
#include <inttypes.h>
#include <string.h>

#include "base/human.h"
#include "mcroute.h"

/* The result with the least of what is asked for; of equal ones the first. */
static size_t best_of(const struct mcroute_outcome *o, size_t first)
{
	size_t best = first;

	for (size_t i = first; i < o->n; i++)
		if (o->efi[i].max < o->efi[best].max)
			best = i;
	return best;
}

static size_t worst_of(const struct mcroute_outcome *o, size_t first)
{
	size_t worst = first;

	for (size_t i = first; i < o->n; i++)
		if (o->efi[i].max > o->efi[worst].max)
			worst = i;
	return worst;
}

static size_t best_load_of(const struct mcroute_outcome *o, size_t first)
{
	size_t best = first;

	for (size_t i = first; i < o->n; i++)
		best = o->efi[i].max_load < o->efi[best].max_load ? i : best;
	return best;
}

/* Were all trees of its heights compared, by what is asked for? */
static bool is_best_of_all(const struct mcroute_outcome *o, size_t result)
{
	return o->results[result].ended == FAB_ENDED_EXACT;
}

/* For which trees that is proven. */
static const char *exact_text(const struct mcroute_outcome *o, size_t result)
{
	return o->results[result].height_slack
		       ? "proven optimal for trees of this --height-slack"
		       : "proven optimal for trees of minimal height";
}

/* How far the best can still be from what is possible at all. */
static void bound_text(const struct mcroute_outcome *o, size_t result, char *out,
		       size_t size)
{
	uint32_t max = o->efi[result].max;
	bool is_exact = is_best_of_all(o, result);
	bool is_low = !o->results[result].engine->may_be_higher &&
		      !o->results[result].height_slack &&
		      o->height_bound > o->lower_bound;

	if (max <= o->lower_bound)
		snprintf(out, size, "proven optimal: no trees can do with fewer");
	else if (is_exact && !o->weights)
		snprintf(out, size, "%s", exact_text(o, result));
	else if (is_low && max <= o->height_bound)
		snprintf(out, size, "proven optimal for trees of minimal height");
	else if (is_low)
		snprintf(out, size, "proven >= %u for trees of minimal height",
			 o->height_bound);
	else if (o->lower_bound)
		snprintf(out, size, "proven >= %u whatever the trees", o->lower_bound);
	else
		snprintf(out, size, "no lower bound is known");
}

static void say_best(struct fab_report *r, const struct mcroute_outcome *o, size_t first)
{
	size_t best = best_of(o, first), worst = worst_of(o, first);
	const char *name = o->results[best].engine->name;
	uint32_t max = o->efi[best].max;
	char trees[FAB_HUMAN_BYTES], bound[80], others[160] = "";

	fab_human_count(o->problem.groups->n, trees);
	bound_text(o, best, bound, sizeof(bound));
	if (o->efi[worst].max > max)
		snprintf(others, sizeof(others), "; of %zu algorithms the worst, %s, %u",
			 o->n - first, o->results[worst].engine->name, o->efi[worst].max);
	else if (o->n - first > 1)
		snprintf(others, sizeof(others), "; the other algorithms the same");
	if (!max)
		fab_report_answer(r, FAB_TONE_PLAIN,
				  "%s: no cable between switches is used, the members "
				  "of every group (of %s) are on one switch.",
				  name, trees);
	else
		fab_report_answer(r, FAB_TONE_PLAIN,
				  "%s: the fullest cable between switches carries %u of "
				  "%s trees, %s%s.",
				  name, max, trees, bound, others);
}

/* A load and its bound with as many digits as it takes to see that they differ. */
static void print_loads(double load, double bound, char *load_text, char *bound_text)
{
	for (int digits = 4; digits <= DBL_DIG; digits++) {
		snprintf(load_text, FAB_HUMAN_BYTES, "%.*g", digits, load);
		snprintf(bound_text, FAB_HUMAN_BYTES, "%.*g", digits, bound);
		if (strcmp(load_text, bound_text) != 0 ||
		    load <= bound * (1 + FAB_LOAD_ROUNDING))
			return;
	}
}

/* The same by weighted loads, tables that were read too. */
static void say_loads(struct fab_report *r, const struct mcroute_outcome *o)
{
	size_t best = best_load_of(o, 0), worst = 0;
	char load[FAB_HUMAN_BYTES], least[FAB_HUMAN_BYTES], bound[128], others[160] = "";

	for (size_t i = 1; i < o->n; i++)
		worst = o->efi[i].max_load > o->efi[worst].max_load ? i : worst;
	print_loads(o->efi[best].max_load, o->load_bound, load, least);
	if (o->efi[best].max_load <= o->load_bound * (1 + FAB_LOAD_ROUNDING))
		snprintf(bound, sizeof(bound),
			 "proven optimal: no trees can do with less");
	else if (is_best_of_all(o, best))
		snprintf(bound, sizeof(bound), "%s", exact_text(o, best));
	else
		snprintf(bound, sizeof(bound), "proven >= %s whatever the trees", least);
	if (worst != best)
		snprintf(others, sizeof(others),
			 "; of %zu algorithms the worst, %s, %.4g", o->n,
			 o->results[worst].engine->name, o->efi[worst].max_load);
	fab_report_answer(
		r, FAB_TONE_PLAIN,
		"%s: the largest load of a cable between switches is %s%s, %s%s.",
		o->results[best].engine->name, load,
		o->weights->has_capacities ? " of its rate" : "", bound, others);
}

/* The tables that were read: never better than they are. */
static void say_tables(struct fab_report *r, const struct mcroute_outcome *o)
{
	char broken[FAB_HUMAN_BYTES], trees[FAB_HUMAN_BYTES];

	fab_human_count(o->problem.groups->n, trees);
	fab_report_answer(r, FAB_TONE_PLAIN,
			  "The tables that were read put %u of %s groups on their "
			  "fullest cable.",
			  o->efi[0].max, trees);
	if (o->loaded.n_broken)
		fab_report_answer(r, FAB_TONE_BAD,
				  "%s of the groups %s broken in them (list below).",
				  fab_human_count(o->loaded.n_broken, broken),
				  o->loaded.n_broken == 1 ? "is" : "are");
	else
		fab_report_answer(r, FAB_TONE_PLAIN,
				  "All their trees reach their members without a loop.");
}

/* What was not done to its end. */
static void say_ended(struct fab_report *r, const struct mcroute_outcome *o, size_t i)
{
	const char *name = o->results[i].engine->name;

	if (o->results[i].ended == FAB_ENDED_TIME)
		fab_report_answer(r, FAB_TONE_WARN,
				  "%s stopped at --time-limit: more time may find better "
				  "trees.",
				  name);
	else if (o->results[i].ended == FAB_ENDED_STOPPED)
		fab_report_answer(r, FAB_TONE_WARN,
				  "%s was interrupted: these are its best trees until "
				  "then.",
				  name);
	else if (o->results[i].ended == FAB_ENDED_STALL)
		fab_report_answer(r, FAB_TONE_PLAIN,
				  "%s found nothing better in its last attempts.", name);
}

/* What keeps the rest from being the whole truth. */
static void say_doubts(struct fab_report *r, const struct mcroute_outcome *o)
{
	const struct fab_groups *g = o->problem.groups;
	char count[FAB_HUMAN_BYTES], cap[FAB_HUMAN_BYTES];

	for (size_t i = o->has_tables; i < o->n; i++)
		say_ended(r, o, i);
	for (size_t i = o->has_tables; o->was_verified && i < o->n; i++)
		if (!o->is_sound[i])
			fab_report_answer(r, FAB_TONE_BAD,
					  "The trees of %s failed --verify: do not use "
					  "them.",
					  o->results[i].engine->name);
	if (g->n > o->mlid_cap)
		fab_report_answer(r, FAB_TONE_WARN,
				  "%s groups need a multicast LID each, the switches "
				  "hold %s.",
				  fab_human_count(g->n, count),
				  fab_human_count(o->mlid_cap, cap));
	if (g->n_unknown)
		fab_report_answer(r, FAB_TONE_WARN,
				  "Without %s members that are not in the fabric.",
				  fab_human_count(g->n_unknown, count));
}

void mcroute_answer(struct fab_report *r, const struct mcroute_params *p,
		    const struct mcroute_outcome *o)
{
	if (!o->problem.groups->n) {
		fab_report_answer(r, FAB_TONE_WARN,
				  "There are no groups: nothing was routed or analysed.");
		return;
	}
	if (o->n > o->has_tables)
		mcroute_answer_explained(r, p, o,
					 o->weights ? best_load_of(o, o->has_tables)
						    : best_of(o, o->has_tables));
	if (o->weights)
		say_loads(r, o);
	if (o->n > o->has_tables)
		say_best(r, o, o->has_tables);
	if (o->has_tables)
		say_tables(r, o);
	say_doubts(r, o);
}
