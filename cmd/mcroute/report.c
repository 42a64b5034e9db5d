/* SPDX-License-Identifier: BSD-2-Clause */
/* The report of fabric-mcroute: the answer in words, its tables, and what is stored. */
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/human.h"
#include "base/mem.h"
#include "mcroute.h"
#include "store/store.h"

/* The result with the least EFI (by_load: weighted load) or, with `sign` -1, the most; of
 * equal ones the first. */
static size_t best_of(const struct mcroute_outcome *o, size_t first, bool by_load,
		      int sign)
{
	size_t best = first;

	for (size_t i = first; i < o->n; i++) {
		const struct fab_efi *x = &o->efi[i], *y = &o->efi[best];

		if (sign * (by_load ? x->max_load : x->max) <
		    sign * (by_load ? y->max_load : y->max))
			best = i;
	}
	return best;
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
	bool is_exact = o->results[result].ended == FAB_ENDED_EXACT;
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

/* Largest weighted loads, those of tables that were read included. */
static void say_loads(struct fab_report *r, const struct mcroute_outcome *o)
{
	size_t best = best_of(o, 0, true, 1), worst = best_of(o, 0, true, -1);
	char load[FAB_HUMAN_BYTES], least[FAB_HUMAN_BYTES], bound[128], others[160] = "";

	print_loads(o->efi[best].max_load, o->load_bound, load, least);
	if (o->efi[best].max_load <= o->load_bound * (1 + FAB_LOAD_ROUNDING))
		snprintf(bound, sizeof(bound),
			 "proven optimal: no trees can do with less");
	else if (o->results[best].ended == FAB_ENDED_EXACT)
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

/* A search that was ended early. */
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

/* Reservations: searches that ended early, faults, limits. */
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

static void answer(struct fab_report *r, const struct mcroute_params *p,
		   const struct mcroute_outcome *o)
{
	if (!o->problem.groups->n) {
		fab_report_answer(r, FAB_TONE_WARN,
				  "There are no groups: nothing was routed or analysed.");
		return;
	}
	if (o->n > o->has_tables)
		mcroute_answer_explained(r, p, o,
					 best_of(o, o->has_tables, o->weights, 1));
	if (o->weights)
		say_loads(r, o);
	if (o->n > o->has_tables) {
		size_t best = best_of(o, o->has_tables, false, 1),
		       worst = best_of(o, o->has_tables, false, -1);
		const char *name = o->results[best].engine->name;
		uint32_t max = o->efi[best].max;
		char trees[FAB_HUMAN_BYTES], bound[80], others[160] = "";

		fab_human_count(o->problem.groups->n, trees);
		bound_text(o, best, bound, sizeof(bound));
		if (o->efi[worst].max > max)
			snprintf(others, sizeof(others),
				 "; of %zu algorithms the worst, %s, %u",
				 o->n - o->has_tables, o->results[worst].engine->name,
				 o->efi[worst].max);
		else if (o->n - o->has_tables > 1)
			snprintf(others, sizeof(others),
				 "; the other algorithms the same");
		if (!max)
			fab_report_answer(
				r, FAB_TONE_PLAIN,
				"%s: no cable between switches is used, the members "
				"of every group (of %s) are on one switch.",
				name, trees);
		else
			fab_report_answer(
				r, FAB_TONE_PLAIN,
				"%s: the fullest cable between switches carries %u of "
				"%s trees, %s%s.",
				name, max, trees, bound, others);
	}
	if (o->has_tables)
		say_tables(r, o);
	say_doubts(r, o);
}

/* A row of any of the small tables. */
struct record {
	const char *algorithm, *sw, *peer, *mlid, *problem;
	double load;
	uint64_t efi, cables, port, peer_port, switch_guid, peer_guid;
	uint64_t max_efi, max_efi_shared, count;
};

#define AT(member) FAB_AT(struct record, member)
static const struct fab_column histogram_columns[] = {
	FAB_COLUMN(algorithm, TEXT, "routing algorithm"),
	FAB_COLUMN(efi, UINT, "number of trees on a cable"),
	FAB_COLUMN(cables, UINT, "switch-to-switch cables with that number"),
};

static const struct fab_column fullest_columns[] = {
	FAB_COLUMN(algorithm, TEXT, "routing algorithm"),
	FAB_COLUMN(efi, UINT, "number of trees on the cable"),
	FAB_COLUMN_AS(load, NUMBER, "its weighted load; null without weights",
		      FAB_COL_EXTRA),
	{"switch", FAB_TEXT, "name of the switch at one end", 0, AT(sw)},
	FAB_COLUMN(port, UINT, "port there"),
	FAB_COLUMN(peer, TEXT, "name of the switch at the other end"),
	FAB_COLUMN(peer_port, UINT, "port there"),
	FAB_COLUMN_AS(switch_guid, GUID, "GUID of the switch", FAB_COL_EXTRA),
	FAB_COLUMN_AS(peer_guid, GUID, "GUID of the peer", FAB_COL_EXTRA),
};
#undef AT

static struct mcroute_row row_of(const struct mcroute_outcome *o, size_t i)
{
	const struct fab_mcast_result *result = &o->results[i];
	bool has_bound = o->height_bound && !result->engine->may_be_higher &&
			 !result->height_slack;

	return (struct mcroute_row){
		.algorithm = result->engine->name,
		.efi = o->efi[i],
		.lower_bound = o->lower_bound,
		.height_bound = has_bound ? mcroute_low_bound(o) : (double)NAN,
		.load_bound = o->weights ? o->load_bound : (double)NAN,
		.verified = o->was_verified ? o->is_sound[i] : FAB_UNKNOWN,
		.ended = i < o->has_tables ? NULL : fab_mcast_ended_name(result->ended),
		.distances = o->distances_seconds,
		.roots = o->roots_seconds,
		.trees = result->trees_seconds,
		.total = o->distances_seconds + o->roots_seconds + result->trees_seconds,
	};
}

static void print_results(struct fab_report *r, const struct mcroute_outcome *o)
{
	fab_report_table_begin(r, "results", "Algorithms", mcroute_columns,
			       mcroute_n_columns);
	for (size_t i = 0; i < o->n; i++) {
		const struct mcroute_row row = row_of(o, i);

		fab_report_record(r, &row);
	}
	fab_report_table_end(r);
}

static void print_histogram(struct fab_report *r, const struct mcroute_outcome *o)
{
	fab_report_table_begin(r, "histogram",
			       "Switch-to-switch cables by number of trees",
			       histogram_columns, FAB_COUNT(histogram_columns));
	for (size_t i = 0; i < o->n; i++) {
		uint32_t *count = fab_efi_histogram(o->problem.f, o->results[i].load,
						    o->efi[i].max);

		for (uint32_t e = 0; e <= o->efi[i].max; e++) {
			const struct record row = {
				.algorithm = o->results[i].engine->name,
				.efi = e,
				.cables = count[e],
			};

			if (count[e])
				fab_report_record(r, &row);
		}
		free(count);
	}
	fab_report_table_end(r);
}

/* For people: ranges of trees down, one column an algorithm. */
static void print_ranges(struct fab_report *r, const struct mcroute_outcome *o)
{
	struct fab_column columns[MCROUTE_MAX_ENGINES + 1] = {
		{"trees", FAB_TEXT, "number of trees on a cable", 0}};
	uint32_t max = 0, low = 0, high = 0;

	for (size_t i = 0; i < o->n; i++) {
		columns[i + 1] = (struct fab_column){o->results[i].engine->name, FAB_UINT,
						     "cables", 0};
		max = o->efi[i].max > max ? o->efi[i].max : max;
	}
	fab_report_table_begin(r, "histogram",
			       "Switch-to-switch cables by number of trees", columns,
			       o->n + 1);
	while (low <= max) {
		union fab_cell cells[MCROUTE_MAX_ENGINES + 1];
		char range[32];

		snprintf(range, sizeof(range), low == high ? "%u" : "%u-%u", low, high);
		cells[0].text = range;
		for (size_t i = 0; i < o->n; i++) {
			const uint32_t *load = o->results[i].load;

			cells[i + 1].u = 0;
			for (uint32_t c = 0; c < o->problem.f->n_switch_links; c++)
				cells[i + 1].u += load[c] >= low && load[c] <= high;
		}
		fab_report_row(r, cells);
		low = high + 1;
		high = 2 * high > low ? 2 * high : low;
	}
	fab_report_table_end(r);
}

static void print_cable(struct fab_report *r, const struct mcroute_outcome *o,
			size_t engine, uint32_t cable)
{
	const struct fab_fabric *f = o->problem.f;
	const double *weighted = o->results[engine].weighted;
	uint32_t a = f->cable_a[cable], b = f->cable_b[cable];
	const struct record row = {
		.algorithm = o->results[engine].engine->name,
		.efi = o->results[engine].load[cable],
		.load = weighted ? weighted[cable] : (double)NAN,
		.sw = fab_node_name(f, f->port_node[a]),
		.port = f->port_num[a],
		.peer = fab_node_name(f, f->port_node[b]),
		.peer_port = f->port_num[b],
		.switch_guid = f->node_guid[f->port_node[a]],
		.peer_guid = f->node_guid[f->port_node[b]],
	};

	fab_report_record(r, &row);
}

void mcroute_show_loads(const struct mcroute_outcome *o, const struct fab_column *columns,
			size_t n, struct fab_column *out)
{
	for (size_t i = 0; i < n; i++) {
		out[i] = columns[i];
		if (o->weights && !strcmp(columns[i].name, "load"))
			out[i].flags &= ~FAB_COL_EXTRA;
	}
}

static void print_fullest(struct fab_report *r, const struct mcroute_outcome *o,
			  uint32_t n_fullest)
{
	uint32_t *cable = FAB_NEW(n_fullest, uint32_t);
	struct fab_column columns[FAB_COUNT(fullest_columns)];

	mcroute_show_loads(o, fullest_columns, FAB_COUNT(fullest_columns), columns);
	fab_report_table_begin(r, "fullest", "Fullest cables", columns,
			       FAB_COUNT(columns));
	for (size_t i = 0; i < o->n; i++) {
		uint32_t n = fab_efi_fullest(o->problem.f, o->results[i].load,
					     o->results[i].weighted, n_fullest, cable);

		for (uint32_t k = 0; k < n; k++)
			print_cable(r, o, i, cable[k]);
	}
	fab_report_table_end(r);
	free(cable);
}

static void print_bounds(struct fab_report *r, const struct mcroute_outcome *o)
{
	static const struct fab_column columns[] = {
		{"bound", FAB_TEXT,
		 "how it was found: cut, parts, hops, dual, weighted, reach or "
		 "matching",
		 0},
		{"value", FAB_UINT, "no trees have a smaller max_efi", 0},
		{"holds_for", FAB_TEXT, "any trees, or those of minimal height", 0},
		{"complete", FAB_BOOL, "the search for it was not stopped", 0},
	};

	fab_report_table_begin(r, "bounds", "Lower bounds", columns, FAB_COUNT(columns));
	for (size_t i = 0; i < MCROUTE_N_BOUNDS; i++) {
		const struct fab_bound *b = &o->bounds[i];
		const union fab_cell cells[] = {
			{.text = fab_bound_name(b->kind)},
			{.u = b->value},
			{.text = fab_bound_is_low_only(b->kind) ? "minimal height"
								: "any trees"},
			{.u = !b->is_cut_short},
		};

		if (b->kind != FAB_BOUND_NONE)
			fab_report_row(r, cells);
	}
	fab_report_table_end(r);
}

#define AT(member) FAB_AT(struct mcroute_sweep_row, member)
static const struct fab_column sweep_columns[] = {
	{"height_slack", FAB_UINT, "hops that trees may be higher than the least", 0,
	 AT(slack)},
	{"max_height", FAB_UINT,
	 "switch hops from a root to its farthest member, largest", 0,
	 AT(efi.max_height)},
	{"max_efi", FAB_UINT, "largest number of trees on a switch-to-switch cable", 0,
	 AT(efi.max)},
	{"links_at_max", FAB_UINT, "switch-to-switch cables with the largest number", 0,
	 AT(efi.n_at_max)},
	{"bound", FAB_UINT, "no such trees can have a smaller max_efi", 0, AT(bound)},
	{"tree_links", FAB_UINT, "switch-to-switch cables of all trees together", 0,
	 AT(efi.tree_links)},
	{"ended", FAB_TEXT,
	 "why the search stopped: bound, exact, stall, time or interrupt", 0, AT(ended)},
	{"verified", FAB_BOOL, "every tree was checked by --verify; null without it",
	 FAB_COL_EXTRA | FAB_COL_BAD_IF_NO, AT(verified)},
	{"seconds", FAB_REAL, "time for the trees", FAB_COL_EXTRA | FAB_COL_SECONDS,
	 AT(seconds)},
};
#undef AT

static void print_sweep(struct fab_report *r, const struct mcroute_outcome *o)
{
	fab_report_table_begin(r, "sweep", "Largest EFI by height", sweep_columns,
			       FAB_COUNT(sweep_columns));
	for (size_t i = 0; i < o->sweep.n; i++)
		fab_report_record(r, &o->sweep.v[i]);
	fab_report_table_end(r);
}

static const struct fab_column sharing_columns[] = {
	FAB_COLUMN(algorithm, TEXT, "routing algorithm"),
	FAB_COLUMN(max_efi, UINT,
		   "largest number of groups on a cable, each with its own MLID"),
	FAB_COLUMN(max_efi_shared, UINT, "the same with MLIDs that groups share"),
};

static void print_sharing(struct fab_report *r, const struct mcroute_outcome *o)
{
	fab_report_table_begin(r, "sharing", "Groups that share multicast LIDs",
			       sharing_columns, FAB_COUNT(sharing_columns));
	for (size_t i = o->has_tables; i < o->n; i++) {
		const struct record row = {
			.algorithm = o->results[i].engine->name,
			.max_efi = o->efi[i].max,
			.max_efi_shared = o->shared_efi[i],
		};

		fab_report_record(r, &row);
	}
	fab_report_table_end(r);
}

#define AT(member) FAB_AT(struct record, member)
static const struct fab_column broken_columns[] = {
	FAB_COLUMN(mlid, TEXT, "multicast LID of the group"),
	FAB_COLUMN(problem, TEXT, "loop, cut-off, one-sided or no-cable"),
	FAB_COLUMN(count, UINT, "cables too many, members, ports"),
	{"switch", FAB_TEXT, "name of the switch where the first of them is", 0, AT(sw)},
	FAB_COLUMN(port, UINT, "port there"),
	FAB_COLUMN_AS(switch_guid, GUID, "GUID of the switch", FAB_COL_EXTRA),
};
#undef AT

void mcroute_report(struct fab_report *r, const struct fab_work *w)
{
	static const struct fab_column fields[] = {
		{"groups", FAB_UINT, "multicast groups", 0},
		{"members", FAB_UINT, "members of all groups together", 0},
		{"unknown_members", FAB_UINT, "members left out by --ignore-unknown",
		 FAB_COL_EXTRA},
		{"mlids_needed", FAB_UINT, "multicast LIDs, one a group", FAB_COL_EXTRA},
		{"mlid_cap", FAB_UINT, "multicast LIDs that the switches hold",
		 FAB_COL_EXTRA},
	};
	const struct mcroute_params *p = w->params;
	const struct mcroute_outcome *o = w->outcome;
	const struct fab_groups *g = o->problem.groups;
	const uint64_t values[] = {g->n, g->first[g->n], g->n_unknown, g->n, o->mlid_cap};
	bool is_table = fab_report_how(r)->format == FAB_FORMAT_TABLE;

	answer(r, p, o);
	for (size_t i = 0; i < FAB_COUNT(fields); i++)
		fab_report_field(r, &fields[i], (union fab_cell){.u = values[i]});
	print_results(r, o);
	mcroute_print_explained(r, p, o);
	if (o->sweep.n)
		print_sweep(r, o);
	print_bounds(r, o);
	if (o->has_sharing)
		print_sharing(r, o);
	if (o->has_tables) {
		const struct fab_fabric *f = o->problem.f;

		fab_report_table_begin(r, "broken", "Broken trees in the tables",
				       broken_columns, FAB_COUNT(broken_columns));
		for (size_t i = 0; i < o->loaded.broken.n; i++) {
			const struct fab_broken *b = &o->loaded.broken.v[i];
			const struct record row = {
				.mlid = fab_group_name(o->problem.groups, b->group),
				.problem = fab_broken_name(b->kind),
				.count = b->count,
				.sw = fab_node_name(f, b->sw),
				.port = b->port,
				.switch_guid = f->node_guid[b->sw],
			};

			fab_report_record(r, &row);
		}
		fab_report_table_end(r);
	}
	if (is_table)
		print_ranges(r, o);
	else
		print_histogram(r, o);
	if (p->fullest || !is_table)
		print_fullest(r, o, p->fullest);
}

/* Where groups come from, as the command line has it; on the heap. */
static char *join_groups(const struct mcroute_params *p, bool is_pattern)
{
	char *text = NULL;

	for (size_t i = 0; i < p->groups.of.n; i++)
		if (p->groups.of.v[i].is_pattern == is_pattern)
			fab_append(&text, " ", "%s", p->groups.of.v[i].text);
	return text;
}

/* Where a pattern is drawn; on the heap. */
static char *seed_of(const struct mcroute_params *p)
{
	for (size_t i = 0; i < p->groups.of.n; i++)
		if (p->groups.of.v[i].is_pattern &&
		    !strncmp(p->groups.of.v[i].text, "random", 6))
			return fab_format("%" PRIu64, p->run.seed);
	return NULL;
}

void mcroute_store(struct fab_draft *d, const struct fab_work *w)
{
	const struct mcroute_params *p = w->params;
	const struct mcroute_outcome *o = w->outcome;
	const struct fab_groups *g = o->problem.groups;

	fab_draft_fact(d, "groups", g->n);
	fab_draft_fact(d, "members", (double)g->first[g->n]);
	fab_draft_fact(d, "unknown_members", (double)g->n_unknown);
	fab_draft_asked(d, "pattern", join_groups(p, true));
	fab_draft_asked(d, "groups", join_groups(p, false));
	if (p->weight)
		fab_draft_asked(d, "weight", fab_strdup(p->weight));
	if (p->capacity == MCROUTE_RATE)
		fab_draft_asked(d, "capacity", fab_strdup("rate"));
	fab_draft_asked(d, "seed", seed_of(p));
	if (o->has_tables)
		fab_draft_asked(d, "tables", fab_strdup(p->mcfdbs));
	for (size_t i = 0; i < o->n; i++) {
		const struct mcroute_row row = row_of(o, i);
		uint32_t max = o->efi[i].max;
		uint32_t *count =
			fab_efi_histogram(o->problem.f, o->results[i].load, max);

		fab_draft_result(d, row.algorithm, mcroute_columns, mcroute_n_columns,
				 &row);
		for (uint32_t e = 0; e <= max; e++)
			if (count[e])
				fab_draft_bin(d, e, count[e]);
		free(count);
	}
}
