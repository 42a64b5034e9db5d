/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The report of fabric-mcroute: the answer in words, its tables, why a tree looks as it
 * does and which groups share a cable (--explain, --explain-cable), and what is stored.
 */
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/units.h"
#include "fabric/label.h"
#include "mcroute.h"
#include "store/store.h"

/* A row of any of the small tables. */
struct record {
	const char *algorithm, *group, *root, *below, *sw, *peer, *parent, *mlid,
		*problem;
	const char *bound, *holds_for;
	double load;
	uint64_t efi, cables, port, peer_port, switch_guid, peer_guid, parent_port;
	uint64_t parent_guid, root_guid, max_efi, max_efi_shared, count, value, complete;
	uint64_t height, least_height, candidates, is_candidate, groups_rooted;
	uint64_t least_rooted, depth, choices, least_efi, members;
};

/* Begin a table of such records, in which weighted loads are shown where there are any.
 */
static void begin(struct fab_report *r, const struct mcroute_outcome *o, const char *name,
		  const char *title, const struct fab_column *columns, size_t n)
{
	struct fab_column *own = FAB_ARENA_NEW(o->arena, n, struct fab_column);

	for (size_t i = 0; i < n; i++) {
		own[i] = columns[i];
		if (o->weights && !strcmp(columns[i].name, "load"))
			own[i].flags &= ~FAB_COL_EXTRA;
	}
	fab_report_table_begin(r, name, title, own, n);
}

static const char *plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}

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

/* Largest weighted loads, those of tables that were read included. */
static void say_loads(struct fab_report *r, const struct mcroute_outcome *o)
{
	size_t best = best_of(o, 0, true, 1), worst = best_of(o, 0, true, -1);
	double max = o->efi[best].max_load;
	char load[FAB_HUMAN_BYTES], least[FAB_HUMAN_BYTES], others[160] = "";
	bool is_least = max <= o->load_bound * (1 + FAB_LOAD_ROUNDING);
	const char *bound = "proven >= ", *trees = " whatever the trees";

	/* as many digits as it takes to see that they differ */
	for (int digits = 4; digits <= DBL_DIG; digits++) {
		snprintf(load, sizeof(load), "%.*g", digits, max);
		snprintf(least, sizeof(least), "%.*g", digits, o->load_bound);
		if (is_least || strcmp(load, least) != 0)
			break;
	}
	if (is_least)
		bound = "proven optimal: no trees can do with less";
	else if (o->results[best].ended == FAB_ENDED_EXACT)
		bound = exact_text(o, best);
	if (strcmp(bound, "proven >= ") != 0) {
		least[0] = '\0';
		trees = "";
	}
	if (worst != best)
		snprintf(others, sizeof(others),
			 "; of %zu algorithms the worst, %s, %.4g", o->n,
			 o->results[worst].engine->name, o->efi[worst].max_load);
	fab_report_answer(
		r, FAB_TONE_PLAIN,
		"%s: the largest load of a cable between switches is %s%s, %s%s%s%s.",
		o->results[best].engine->name, load,
		o->weights->has_capacities ? " of its rate" : "", bound, least, trees,
		others);
}

/* The largest EFI of the algorithms, and how far that can be from what is possible. */
static void say_efi(struct fab_report *r, const struct mcroute_outcome *o)
{
	size_t best = best_of(o, o->has_tables, false, 1);
	size_t worst = best_of(o, o->has_tables, false, -1), n = o->n - o->has_tables;
	const struct fab_mcast_result *result = &o->results[best];
	const char *name = result->engine->name;
	uint32_t max = o->efi[best].max;
	bool is_low = !result->engine->may_be_higher && !result->height_slack &&
		      o->height_bound > o->lower_bound;
	char trees[FAB_HUMAN_BYTES], bound[80] = "no lower bound is known";
	char others[160] = "";

	fab_human_count(o->problem.groups->n, trees);
	if (max <= o->lower_bound)
		snprintf(bound, sizeof(bound),
			 "proven optimal: no trees can do with fewer");
	else if (result->ended == FAB_ENDED_EXACT && !o->weights)
		snprintf(bound, sizeof(bound), "%s", exact_text(o, best));
	else if (is_low && max <= o->height_bound)
		snprintf(bound, sizeof(bound),
			 "proven optimal for trees of minimal height");
	else if (is_low)
		snprintf(bound, sizeof(bound), "proven >= %u for trees of minimal height",
			 o->height_bound);
	else if (o->lower_bound)
		snprintf(bound, sizeof(bound), "proven >= %u whatever the trees",
			 o->lower_bound);
	if (o->efi[worst].max > max)
		snprintf(others, sizeof(others), "; of %zu algorithms the worst, %s, %u",
			 n, o->results[worst].engine->name, o->efi[worst].max);
	else if (n > 1)
		snprintf(others, sizeof(others), "; the other algorithms the same");
	if (!max)
		fab_report_answer(
			r, FAB_TONE_PLAIN,
			"%s: no cable between switches is used, the members of every group (of %s) are on one switch.",
			name, trees);
	else
		fab_report_answer(
			r, FAB_TONE_PLAIN,
			"%s: the fullest cable between switches carries %u of %s trees, %s%s.",
			name, max, trees, bound, others);
}

/* What higher trees gain, or how to learn it. */
static void say_heights(struct fab_report *r, const struct mcroute_outcome *o)
{
	size_t result = best_of(o, o->has_tables, false, 1);
	const struct mcroute_sweep_row *least = o->sweep.v, *best = least;
	const char *proof = "";

	if (!o->sweep.n) {
		if (o->results[result].engine->takes_slack &&
		    !o->results[result].height_slack &&
		    o->efi[result].max > o->lower_bound)
			fab_report_answer(
				r, FAB_TONE_PLAIN,
				"Higher trees may do with fewer: --sweep=height tries them.");
		return;
	}
	for (size_t i = 1; i < o->sweep.n; i++)
		best = o->sweep.v[i].efi.max < best->efi.max ? &o->sweep.v[i] : best;
	if (best->efi.max <= o->lower_bound)
		proof = ", proven optimal";
	else if (best == least && o->sweep.n > 1)
		proof = ", no fewer were found for higher ones";
	if (best == least)
		fab_report_answer(
			r, FAB_TONE_PLAIN,
			"optimal: trees of the least height put %u on the fullest cable%s.",
			least->efi.max, proof);
	else
		fab_report_answer(
			r, FAB_TONE_PLAIN,
			"optimal: trees up to %u hop%s higher than the least (--height-slack=%u) put %u on the fullest cable%s; those of the least height %u.",
			best->slack, plural(best->slack), best->slack, best->efi.max,
			proof, least->efi.max);
}

/* The tree of the group that is explained. */
static void say_tree(struct fab_report *r, const struct mcroute_outcome *o, size_t i,
		     uint32_t group)
{
	const char *name = fab_group_name(o->problem.groups, group);
	const char *root, *engine = o->results[i].engine->name;
	uint32_t height = o->results[i].forest.height[group], n_least = 0;
	FAB_AUTO(fab_explained_fini) struct fab_explained x;

	fab_mcast_explain(&o->problem, &o->results[i], group, &x);
	root = fab_node_name(o->problem.f, x.root);
	for (size_t k = 0; k < x.link.n; k++)
		n_least += x.link.v[k].load <= x.link.v[k].least;
	if (!x.link.n)
		fab_report_answer(
			r, FAB_TONE_PLAIN,
			"%s needs no cable between switches: its members are on one.",
			name);
	else if (x.is_candidate)
		fab_report_answer(
			r, FAB_TONE_PLAIN,
			"%s by %s: its root %s is one of %u switch%s within %u hop%s of all members, and the root of %u group%s (least of these switches: %u).",
			name, engine, root, x.n_candidates,
			x.n_candidates == 1 ? "" : "es", x.radius, plural(x.radius),
			x.n_rooted, plural(x.n_rooted), x.least_rooted);
	else
		fab_report_answer(
			r, FAB_TONE_PLAIN,
			"%s by %s: its root %s is %u hop%s from a member; from %u switch%s there are %u at most.",
			name, engine, root, height, plural(height), x.n_candidates,
			x.n_candidates == 1 ? "" : "es", x.radius);
	if (x.link.n)
		fab_report_answer(
			r, FAB_TONE_PLAIN,
			"Of its %zu cable%s %u had the fewest trees of those that lead as near to the root.",
			x.link.n, plural(x.link.n), n_least);
}

/* Reservations: searches that ended early, faults, limits. */
static void say_doubts(struct fab_report *r, const struct mcroute_outcome *o)
{
	static const struct {
		enum fab_tone tone;
		const char *text;
	} ends[] = {
		[FAB_ENDED_TIME] =
			{FAB_TONE_WARN,
			 "stopped at --time-limit: more time may find better trees."},
		[FAB_ENDED_STOPPED] =
			{FAB_TONE_WARN,
			 "was interrupted: these are its best trees until then."},
		[FAB_ENDED_STALL] = {FAB_TONE_PLAIN,
				     "found nothing better in its last attempts."},
		[FAB_ENDED_FAILED] = {0},
	};
	const struct fab_groups *g = o->problem.groups;
	char count[FAB_HUMAN_BYTES], cap[FAB_HUMAN_BYTES];

	for (size_t i = o->has_tables; i < o->n; i++)
		if (ends[o->results[i].ended].text)
			fab_report_answer(r, ends[o->results[i].ended].tone, "%s %s",
					  o->results[i].engine->name,
					  ends[o->results[i].ended].text);
	for (size_t i = o->has_tables; o->was_verified && i < o->n; i++)
		if (!o->is_sound[i])
			fab_report_answer(
				r, FAB_TONE_BAD,
				"The trees of %s failed --verify: do not use them.",
				o->results[i].engine->name);
	if (g->n > o->mlid_cap)
		fab_report_answer(
			r, FAB_TONE_WARN,
			"%s groups need a multicast LID each, the switches hold %s.",
			fab_human_count(g->n, count), fab_human_count(o->mlid_cap, cap));
	if (g->n_unknown)
		fab_report_answer(r, FAB_TONE_WARN,
				  "Without %s members that are not in the fabric.",
				  fab_human_count(g->n_unknown, count));
}

static void answer(struct fab_report *r, const struct mcroute_params *p,
		   const struct mcroute_outcome *o)
{
	size_t best = best_of(o, o->has_tables, o->weights, 1);
	bool has_trees = o->n > o->has_tables;
	char count[FAB_HUMAN_BYTES];

	if (!o->problem.groups->n) {
		fab_report_answer(r, FAB_TONE_WARN,
				  "There are no groups: nothing was routed or analysed.");
		return;
	}
	if (has_trees && p->explain)
		say_tree(r, o, best, p->explained_group);
	if (has_trees && p->explain_cable) {
		uint32_t load = o->results[best].load[p->explained_cable];
		const char *name = o->results[best].engine->name;

		if (load)
			fab_report_answer(
				r, FAB_TONE_PLAIN,
				"The cable %s carries %u tree%s by %s (the fullest: %u).",
				p->explain_cable, load, plural(load), name,
				o->efi[best].max);
		else
			fab_report_answer(r, FAB_TONE_PLAIN,
					  "No tree by %s is on the cable %s.", name,
					  p->explain_cable);
	}
	if (o->weights)
		say_loads(r, o);
	if (has_trees)
		say_efi(r, o);
	if (has_trees && !o->weights)
		say_heights(r, o);
	if (o->has_tables) {
		fab_report_answer(
			r, FAB_TONE_PLAIN,
			"The tables that were read put %u of %s groups on their fullest cable.",
			o->efi[0].max, fab_human_count(o->problem.groups->n, count));
		if (o->loaded.n_broken)
			fab_report_answer(
				r, FAB_TONE_BAD,
				"%s of the groups %s broken in them (list below).",
				fab_human_count(o->loaded.n_broken, count),
				o->loaded.n_broken == 1 ? "is" : "are");
		else
			fab_report_answer(
				r, FAB_TONE_PLAIN,
				"All their trees reach their members without a loop.");
	}
	say_doubts(r, o);
}

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

/* Tables of --explain. */

static const struct fab_column root_columns[] = {
	FAB_COLUMN(algorithm, TEXT, "routing algorithm"),
	FAB_COLUMN(group, TEXT, "group"),
	FAB_COLUMN(root, TEXT, "switch at the root of its tree"),
	FAB_COLUMN_AS(root_guid, GUID, "GUID of it", FAB_COL_EXTRA),
	FAB_COLUMN(height, UINT, "switch hops from it to the farthest member"),
	FAB_COLUMN(least_height, UINT, "the least that any root has"),
	FAB_COLUMN(candidates, UINT, "switches that have this least"),
	FAB_COLUMN_AS(is_candidate, BOOL, "the root is one of them", FAB_COL_EXTRA),
	FAB_COLUMN(groups_rooted, UINT, "groups with this root"),
	FAB_COLUMN(least_rooted, UINT, "the least of a candidate"),
};

static const struct fab_column link_columns[] = {
	FAB_COLUMN(algorithm, TEXT, "routing algorithm"),
	FAB_COLUMN(depth, UINT, "hops from the root"),
	{"switch", FAB_TEXT, "switch", 0, FAB_AT(struct record, sw)},
	FAB_COLUMN(port, UINT, "its port towards the root"),
	FAB_COLUMN(parent, TEXT, "switch at the other end"),
	FAB_COLUMN(parent_port, UINT, "port there"),
	FAB_COLUMN(efi, UINT, "groups on the cable, this one too"),
	FAB_COLUMN(choices, UINT, "cables of the switch that lead as near to the root"),
	FAB_COLUMN(least_efi, UINT,
		   "what the emptiest of these would have with this group"),
	FAB_COLUMN_AS(load, NUMBER, "weighted load of the cable; null without weights",
		      FAB_COL_EXTRA),
	FAB_COLUMN(members, UINT, "members that are reached by it"),
	FAB_COLUMN_AS(switch_guid, GUID, "GUID of the switch", FAB_COL_EXTRA),
	FAB_COLUMN_AS(parent_guid, GUID, "GUID of the parent", FAB_COL_EXTRA),
};

/* Why the trees of a group look as they do. */
static void explain(struct fab_report *r, const struct mcroute_outcome *o, uint32_t group)
{
	const struct fab_fabric *f = o->problem.f;
	struct fab_explained x[MCROUTE_MAX_ENGINES];

	begin(r, o, "explain_root", "Root of the group", root_columns,
	      FAB_COUNT(root_columns));
	for (size_t i = o->has_tables; i < o->n; i++) {
		fab_mcast_explain(&o->problem, &o->results[i], group, &x[i]);
		fab_report_record(r, &(struct record){
					     .algorithm = o->results[i].engine->name,
					     .group = fab_group_name(o->groups, group),
					     .root = fab_node_name(f, x[i].root),
					     .root_guid = f->node_guid[x[i].root],
					     .height = o->results[i].forest.height[group],
					     .least_height = x[i].radius,
					     .candidates = x[i].n_candidates,
					     .is_candidate = x[i].is_candidate,
					     .groups_rooted = x[i].n_rooted,
					     .least_rooted = x[i].least_rooted,
				     });
	}
	fab_report_table_end(r);
	begin(r, o, "explain_links", "Cables of its tree", link_columns,
	      FAB_COUNT(link_columns));
	for (size_t i = o->has_tables; i < o->n; i++) {
		const double *weighted = o->results[i].weighted;

		for (size_t k = 0; k < x[i].link.n; k++) {
			const struct fab_tree_link *l = &x[i].link.v[k];
			uint32_t port = fab_cable_port(f, l->cable, l->sw);
			const struct record row = {
				.algorithm = o->results[i].engine->name,
				.sw = fab_node_name(f, l->sw),
				.parent = fab_node_name(f, l->parent),
				.port = f->port_num[port],
				.parent_port = f->port_num[fab_port_peer(f, port)],
				.depth = l->depth,
				.efi = l->load,
				.choices = l->n_choices,
				.least_efi = l->least,
				.members = l->n_members,
				.switch_guid = f->node_guid[l->sw],
				.parent_guid = f->node_guid[l->parent],
				.load = weighted ? weighted[l->cable] : (double)NAN,
			};

			fab_report_record(r, &row);
		}
		fab_explained_fini(&x[i]);
	}
	fab_report_table_end(r);
}

/* The groups that share a cable. */
static void explain_cable(struct fab_report *r, const struct mcroute_outcome *o,
			  uint32_t cable)
{
	static const struct fab_column columns[] = {
		FAB_COLUMN(algorithm, TEXT, "routing algorithm"),
		FAB_COLUMN(group, TEXT, "group on the cable"),
		FAB_COLUMN(root, TEXT, "switch at the root of its tree"),
		FAB_COLUMN(below, TEXT, "end of the cable that is farther from the root"),
		FAB_COLUMN(members, UINT, "members of the group"),
		FAB_COLUMN_AS(load, NUMBER,
			      "what it adds to the load; null without weights",
			      FAB_COL_EXTRA),
	};
	const struct fab_fabric *f = o->problem.f;
	const struct fab_weights *w = o->weights;

	begin(r, o, "explain_cable", "Groups on the cable", columns, FAB_COUNT(columns));
	for (size_t i = o->has_tables; i < o->n; i++) {
		uint32_t n;
		FAB_AUTOFREE struct fab_sharer *v =
			fab_mcast_sharers(&o->results[i], cable, &n);

		for (uint32_t k = 0; k < n; k++) {
			uint32_t g = v[k].group;
			const struct record row = {
				.algorithm = o->results[i].engine->name,
				.group = fab_group_name(o->groups, g),
				.root = fab_node_name(f, o->results[i].forest.root[g]),
				.below = fab_node_name(f, v[k].sw),
				.members = fab_group_size(o->groups, g),
				.load = w ? w->demand[g] / w->capacity[cable]
					  : (double)NAN,
			};

			fab_report_record(r, &row);
		}
	}
	fab_report_table_end(r);
}

/* Cables by number of trees. */
static void print_histogram(struct fab_report *r, const struct mcroute_outcome *o)
{
	static const struct fab_column columns[] = {
		FAB_COLUMN(algorithm, TEXT, "routing algorithm"),
		FAB_COLUMN(efi, UINT, "number of trees on a cable"),
		FAB_COLUMN(cables, UINT, "switch-to-switch cables with that number"),
	};

	begin(r, o, "histogram", "Switch-to-switch cables by number of trees", columns,
	      FAB_COUNT(columns));
	for (size_t i = 0; i < o->n; i++) {
		FAB_AUTOFREE uint32_t *count = fab_efi_histogram(
			o->problem.f, o->results[i].load, o->efi[i].max);

		for (uint32_t e = 0; e <= o->efi[i].max; e++)
			if (count[e])
				fab_report_record(
					r,
					&(struct record){
						.algorithm = o->results[i].engine->name,
						.efi = e,
						.cables = count[e]});
	}
	fab_report_table_end(r);
}

static void print_broken(struct fab_report *r, const struct mcroute_outcome *o)
{
	static const struct fab_column broken[] = {
		FAB_COLUMN(mlid, TEXT, "multicast LID of the group"),
		FAB_COLUMN(problem, TEXT, "loop, cut-off, one-sided or no-cable"),
		FAB_COLUMN(count, UINT, "cables too many, members, ports"),
		{"switch", FAB_TEXT, "name of the switch where the first of them is", 0,
		 FAB_AT(struct record, sw)},
		FAB_COLUMN(port, UINT, "port there"),
		FAB_COLUMN_AS(switch_guid, GUID, "GUID of the switch", FAB_COL_EXTRA),
	};
	const struct fab_fabric *f = o->problem.f;

	begin(r, o, "broken", "Broken trees in the tables", broken, FAB_COUNT(broken));
	for (size_t i = 0; i < o->loaded.broken.n; i++) {
		const struct fab_broken *b = &o->loaded.broken.v[i];
		const struct record row = {
			.mlid = fab_group_name(o->groups, b->group),
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

/* Lists of cables, bounds, heights, shared multicast LIDs, broken tables. */
static void print_details(struct fab_report *r, const struct mcroute_outcome *o)
{
#define AT(member) FAB_AT(struct mcroute_sweep_row, member)
	static const struct fab_column sweep[] = {
		{"height_slack", FAB_UINT, "hops that trees may be higher than the least",
		 0, AT(slack)},
		{"max_height", FAB_UINT,
		 "switch hops from a root to its farthest member, largest", 0,
		 AT(efi.max_height)},
		{"max_efi", FAB_UINT,
		 "largest number of trees on a switch-to-switch cable", 0, AT(efi.max)},
		{"links_at_max", FAB_UINT,
		 "switch-to-switch cables with the largest number", 0, AT(efi.n_at_max)},
		{"bound", FAB_UINT, "no such trees can have a smaller max_efi", 0,
		 AT(bound)},
		{"tree_links", FAB_UINT, "switch-to-switch cables of all trees together",
		 0, AT(efi.tree_links)},
		{"ended", FAB_TEXT,
		 "why the search stopped: bound, exact, stall, time or interrupt", 0,
		 AT(ended)},
		{"verified", FAB_BOOL,
		 "every tree was checked by --verify; null without it",
		 FAB_COL_EXTRA | FAB_COL_BAD_IF_NO, AT(verified)},
		{"seconds", FAB_REAL, "time for the trees",
		 FAB_COL_EXTRA | FAB_COL_SECONDS, AT(seconds)},
	};
#undef AT
	static const struct fab_column bounds[] = {
		FAB_COLUMN(
			bound, TEXT,
			"how it was found: cut, parts, hops, dual, forced or matching"),
		FAB_COLUMN(value, UINT, "no trees have a smaller max_efi"),
		FAB_COLUMN(holds_for, TEXT, "any trees, or those of minimal height"),
		FAB_COLUMN(complete, BOOL, "the search for it was not stopped"),
	};
	static const struct fab_column sharing[] = {
		FAB_COLUMN(algorithm, TEXT, "routing algorithm"),
		FAB_COLUMN(max_efi, UINT,
			   "largest number of groups on a cable, each with its own MLID"),
		FAB_COLUMN(max_efi_shared, UINT, "the same with MLIDs that groups share"),
	};

	if (o->sweep.n)
		fab_report_table(r, "sweep", "Largest EFI by height", sweep,
				 FAB_COUNT(sweep), o->sweep.v, sizeof(*o->sweep.v),
				 o->sweep.n);
	begin(r, o, "bounds", "Lower bounds", bounds, FAB_COUNT(bounds));
	for (size_t i = 0; i < MCROUTE_N_BOUNDS; i++) {
		const struct fab_bound *b = &o->bounds[i];
		const struct record row = {
			.bound = fab_bound_name(b->kind),
			.value = b->value,
			.holds_for = fab_bound_is_low_only(b->kind) ? "minimal height"
								    : "any trees",
			.complete = !b->is_cut_short,
		};

		if (b->kind != FAB_BOUND_NONE)
			fab_report_record(r, &row);
	}
	fab_report_table_end(r);
	if (o->has_sharing) {
		begin(r, o, "sharing", "Groups that share multicast LIDs", sharing,
		      FAB_COUNT(sharing));
		for (size_t i = o->has_tables; i < o->n; i++)
			fab_report_record(
				r,
				&(struct record){.algorithm = o->results[i].engine->name,
						 .max_efi = o->efi[i].max,
						 .max_efi_shared = o->shared_efi[i]});
		fab_report_table_end(r);
	}
	if (o->has_tables)
		print_broken(r, o);
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

static void print_fullest(struct fab_report *r, const struct mcroute_outcome *o,
			  uint32_t n_fullest)
{
	static const struct fab_column columns[] = {
		FAB_COLUMN(algorithm, TEXT, "routing algorithm"),
		FAB_COLUMN(efi, UINT, "number of trees on the cable"),
		FAB_COLUMN_AS(load, NUMBER, "its weighted load; null without weights",
			      FAB_COL_EXTRA),
		{"switch", FAB_TEXT, "name of the switch at one end", 0,
		 FAB_AT(struct record, sw)},
		FAB_COLUMN(port, UINT, "port there"),
		FAB_COLUMN(peer, TEXT, "name of the switch at the other end"),
		FAB_COLUMN(peer_port, UINT, "port there"),
		FAB_COLUMN_AS(switch_guid, GUID, "GUID of the switch", FAB_COL_EXTRA),
		FAB_COLUMN_AS(peer_guid, GUID, "GUID of the peer", FAB_COL_EXTRA),
	};
	const struct fab_fabric *f = o->problem.f;
	uint32_t *cable = FAB_ARENA_NEW(o->arena, n_fullest, uint32_t);

	begin(r, o, "fullest", "Fullest cables", columns, FAB_COUNT(columns));
	for (size_t i = 0; i < o->n; i++) {
		const struct fab_mcast_result *result = &o->results[i];
		const double *weighted = result->weighted;
		uint32_t n = fab_efi_fullest(f, result->load, weighted, n_fullest, cable);

		for (uint32_t k = 0; k < n; k++) {
			uint32_t a = f->cable_a[cable[k]], b = f->cable_b[cable[k]];
			const struct record row = {
				.algorithm = result->engine->name,
				.efi = result->load[cable[k]],
				.load = weighted ? weighted[cable[k]] : (double)NAN,
				.sw = fab_node_name(f, f->port_node[a]),
				.port = f->port_num[a],
				.peer = fab_node_name(f, f->port_node[b]),
				.peer_port = f->port_num[b],
				.switch_guid = f->node_guid[f->port_node[a]],
				.peer_guid = f->node_guid[f->port_node[b]],
			};

			fab_report_record(r, &row);
		}
	}
	fab_report_table_end(r);
}

void mcroute_report(struct fab_report *r, const struct fab_work *w)
{
	const struct mcroute_params *p = w->params;
	const struct mcroute_outcome *o = w->outcome;
	const struct fab_groups *g = o->groups;
	bool is_table = fab_report_how(r)->format == FAB_FORMAT_TABLE;

	answer(r, p, o);
	fab_report_uint(r, "groups", g->n);
	fab_report_uint(r, "members", g->first[g->n]);
	fab_report_uint_as(r, "unknown_members", FAB_COL_EXTRA, g->n_unknown);
	fab_report_uint_as(r, "mlids_needed", FAB_COL_EXTRA, g->n);
	fab_report_uint_as(r, "mlid_cap", FAB_COL_EXTRA, o->mlid_cap);
	fab_report_table_begin(r, "results", "Algorithms", mcroute_columns,
			       mcroute_n_columns);
	for (size_t i = 0; i < o->n; i++) {
		const struct mcroute_row row = row_of(o, i);

		fab_report_record(r, &row);
	}
	fab_report_table_end(r);
	if (p->explain)
		explain(r, o, p->explained_group);
	if (p->explain_cable)
		explain_cable(r, o, p->explained_cable);
	print_details(r, o);
	if (is_table)
		print_ranges(r, o);
	else
		print_histogram(r, o);
	if (p->fullest || !is_table)
		print_fullest(r, o, p->fullest);
}

void mcroute_draw(struct fab_drawing *d, const struct fab_work *w)
{
	const struct mcroute_params *p = w->params;
	const struct mcroute_outcome *o = w->outcome;
	const struct fab_fabric *f = w->f;
	size_t best = o->n > o->has_tables ? best_of(o, o->has_tables, false, 1) : 0;
	const struct fab_mcast_result *result = &o->results[best];
	const char *name = result->engine->name;
	uint32_t n = p->fullest, *cable = FAB_ARENA_NEW(w->arena, n + 1, uint32_t);
	double *load;

	if (!o->n)
		return;
	load = fab_drawing_load(
		d, "trees", fab_arena_format(w->arena, "Trees on a cable, by %s", name));
	for (uint32_t c = 0; c < f->n_switch_links; c++)
		load[c] = result->load[c];
	n = fab_efi_fullest(f, result->load, result->weighted, n, cable);
	for (uint32_t k = 0; k < n; k++) {
		FAB_AUTOFREE char *text = fab_cable_text(f, f->cable_a[cable[k]]);

		fab_drawing_mark(d, FAB_TONE_PLAIN,
				 fab_arena_format(w->arena, "%u trees by %s: %s",
						  result->load[cable[k]], name, text));
		fab_drawing_mark_cable(d, cable[k]);
	}
	for (size_t i = 0; i < o->loaded.broken.n; i++) {
		const struct fab_broken *b = &o->loaded.broken.v[i];

		fab_drawing_mark(d, FAB_TONE_BAD,
				 fab_arena_format(w->arena, "%s of group %s at %s",
						  fab_broken_name(b->kind),
						  fab_group_name(o->groups, b->group),
						  fab_node_name(f, b->sw)));
		fab_drawing_mark_node(d, b->sw);
	}
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

void mcroute_store(struct fab_draft *d, const struct fab_work *w)
{
	const struct mcroute_params *p = w->params;
	const struct mcroute_outcome *o = w->outcome;
	const struct fab_groups *g = o->groups;
	bool is_drawn = false;

	for (size_t i = 0; i < p->groups.of.n; i++)
		is_drawn |= p->groups.of.v[i].is_pattern &&
			    !strncmp(p->groups.of.v[i].text, "random", 6);
	fab_draft_fact(d, "groups", g->n);
	fab_draft_fact(d, "members", (double)g->first[g->n]);
	fab_draft_fact(d, "unknown_members", (double)g->n_unknown);
	fab_draft_asked(d, "pattern", join_groups(p, true));
	fab_draft_asked(d, "groups", join_groups(p, false));
	if (p->weight)
		fab_draft_asked(d, "weight", fab_strdup(p->weight));
	if (p->capacity == MCROUTE_RATE)
		fab_draft_asked(d, "capacity", fab_strdup("rate"));
	fab_draft_asked(d, "seed", is_drawn ? fab_format("%" PRIu64, p->run.seed) : NULL);
	if (o->has_tables)
		fab_draft_asked(d, "tables", fab_strdup(p->mcfdbs));
	for (size_t i = 0; i < o->n; i++) {
		const struct mcroute_row row = row_of(o, i);
		uint32_t max = o->efi[i].max;
		FAB_AUTOFREE uint32_t *count =
			fab_efi_histogram(o->problem.f, o->results[i].load, max);

		fab_draft_result(d, row.algorithm, mcroute_columns, mcroute_n_columns,
				 &row);
		for (uint32_t e = 0; e <= max; e++)
			if (count[e])
				fab_draft_bin(d, e, count[e]);
	}
}
