/* SPDX-License-Identifier: BSD-2-Clause */
/* fabric-mcroute: multicast trees for many groups, by several algorithms side by side. */
#include <errno.h>

#include "mcast/events.h"
#include "mcroute.h"

#define TO(member) FAB_TO(struct mcroute_params, member)
static const struct fab_option options[] = {
	{.help = "What to route:"},
	{"mcfdbs", "FILE",
	 "Analyse the multicast tables of FILE (opensm.mcfdbs) as algorithm loaded; without --groups the groups are taken from it",
	 FAB_TAKES_INPUT, TO(mcfdbs), .everyday = true},
	{"check", NULL,
	 "With --mcfdbs: exit with status 1 when a tree in the tables is broken",
	 FAB_TAKES_NOTHING, TO(check)},
	{"algorithm", "LIST",
	 "Algorithms, separated by commas, or all (default fulb): @MULTICAST@",
	 FAB_TAKES_CHOSEN, TO(algorithms), .flag = TO(has_algorithm),
	 .choices = &fab_mcast_choices, .max = MCROUTE_MAX_ENGINES - 1, .preset = "fulb",
	 .everyday = true},
	{"weight", "FILE",
	 "Demands of the groups, a line each: NAME: NUMBER; balanced and optimal lower the largest sum of demands on a cable instead of the number of trees",
	 FAB_TAKES_INPUT, TO(weight)},
	{"capacity", "RULE",
	 "What the demands on a cable are divided by: equal (default, nothing) or rate, its data rate in Gbit/s",
	 FAB_TAKES_ONE, TO(capacity),
	 .choices = FAB_NAME_LIST([MCROUTE_EQUAL] = "equal", [MCROUTE_RATE] = "rate")},
	{"time-limit", "TIME",
	 "Stop routing after TIME with the best trees so far (default: 10s for the search of optimal, none for balanced)",
	 FAB_TAKES_SECONDS, TO(time_limit_s), .min = 1, .max = FAB_MAX_SPAN_NS,
	 .like = "30s", .preset = "10s", .flag = TO(has_time_limit), .everyday = true},
	{"height-slack", "HOPS",
	 "Let trees of balanced and optimal be up to HOPS hops higher than the least (default 0)",
	 FAB_TAKES_NUMBER, TO(height_slack), .max = 64, .flag = TO(has_height_slack)},
	{"sweep", "height",
	 "Largest EFI of optimal for every --height-slack from 0 to 3, or to the one that is given",
	 FAB_TAKES_ONE, TO(sweep), .flag = TO(has_sweep),
	 .choices = FAB_NAME_LIST([MCROUTE_SWEEP_HEIGHT] = "height")},
	{"root-ties", "RULE",
	 "Which of equally good roots: spread over the fabric (default) or lowest",
	 FAB_TAKES_ONE, TO(root_ties),
	 .choices = FAB_NAME_LIST([FAB_TIES_SPREAD] = "spread", [FAB_TIES_LOWEST] =
									"lowest")},
	{"fullest", "N", "List the N fullest cables of each algorithm (default 5)",
	 FAB_TAKES_NUMBER, TO(fullest), .max = 1000000, .preset = "5"},
	{"explain", "GROUP",
	 "Why the tree of GROUP has this root and these cables, compared with those that would do",
	 FAB_TAKES_TEXT, TO(explain), .everyday = true},
	{"explain-cable", "SWITCH:PORT", "Which groups share this cable between switches",
	 FAB_TAKES_TEXT, TO(explain_cable), .offers = FAB_OFFERS_NAMES},
	{"dot-out", "FILE",
	 "Draw how full cables are, or with --explain the tree, to FILE for Graphviz, of the one algorithm (- is standard output)",
	 FAB_TAKES_OUTPUT, TO(dot_out)},
	{"trees-out", "FILE",
	 "Write every tree to FILE as JSON lines (- is standard output)",
	 FAB_TAKES_OUTPUT, TO(trees_out), .everyday = true},
	{"bound-out", "FILE",
	 "Write the lower bounds and what proves them to FILE as JSON lines (- is standard output)",
	 FAB_TAKES_OUTPUT, TO(bound_out)},
	{"mlid-cap", "N",
	 "Multicast LIDs that the switches hold (default 1024); given here, also what it costs to share them when there are more groups",
	 FAB_TAKES_NUMBER, TO(mlid_cap), .min = 1,
	 .max = FAB_MLID_LAST - FAB_MLID_FIRST + 1},
	{"mcfdbs-out", "FILE",
	 "Write the trees of the one algorithm to FILE as OpenSM dumps multicast tables (- is standard output)",
	 FAB_TAKES_OUTPUT, TO(mcfdbs_out)},

	{.help = "Groups that come and go:"},
	{"events", "FILE",
	 "Replay requests to join and to leave groups from FILE (- is standard input); with --mcfdbs after its groups and trees",
	 FAB_TAKES_INPUT, TO(events.path), .everyday = true},
	{"events-pattern", "SPEC",
	 "Make the requests from a group pattern, and gap=, skew=, hold=, loss=, retry=",
	 FAB_TAKES_TEXT, TO(events.pattern), .check = fab_events_check_pattern},
	{"events-out", "FILE",
	 "Write the requests of --events-pattern to FILE (- is standard output)",
	 FAB_TAKES_OUTPUT, TO(events.out)},
	{"events-states", "GROUP", "Batched: also report the states of this group",
	 FAB_TAKES_TEXT, TO(events.states)},
	{0},
};

static const struct fab_part parts[] = {
	FAB_PART(fab_cli_input_rows, struct mcroute_params, input),
	FAB_PART(fab_cli_groups_rows, struct mcroute_params, groups),
	{options, 0},
	FAB_PART(fab_cli_output_rows, struct mcroute_params, output),
	FAB_PART(fab_cli_store_rows, struct mcroute_params, store),
	FAB_PART(fab_cli_run_rows, struct mcroute_params, run),
	FAB_PART(fab_cli_chance_rows, struct mcroute_params, run),
	{0},
};

static const struct fab_relation relations[] = {
	{"events-out,events-compute,events-timeout,events-loss,events-poll,events-notify,events-states",
	 FAB_NEEDS, "events,events-pattern"},
	{"events", FAB_EXCLUDES, "events-pattern"},
	{"events-out", FAB_NEEDS, "events-pattern"},
	{"events-pattern", FAB_EXCLUDES, "mcfdbs",
	 "the groups of a pattern have no multicast LIDs"},
	/* a trace brings its groups, and its trees come and go */
	{"events,events-pattern", FAB_EXCLUDES,
	 "groups,pattern,ignore-unknown,weight,capacity,trees-out,bound-out,sweep,height-slack,explain,explain-cable,dot-out,mcfdbs-out,check,mlid-cap,store"},
	{"groups,pattern", FAB_REQUIRED, "mcfdbs,events,events-pattern", "no groups"},
	{"check", FAB_GOES_WITH, "mcfdbs"},
	{"sweep", FAB_EXCLUDES, "weight,capacity", "the sweep is one of EFI"},
	{"pattern", FAB_EXCLUDES, "mcfdbs",
	 "the groups of a pattern have no multicast LIDs"},
	{0},
};

static int complete(void *params, struct fab_err *err)
{
	struct mcroute_params *p = params;
	const struct {
		bool is_given;
		const char *text;
	} single[] = {
		{p->mcfdbs_out, "--mcfdbs-out writes the trees of one algorithm"},
		{p->dot_out, "--dot-out draws what one algorithm does"},
	};
	bool is_events = p->events.path || p->events.pattern;

	for (size_t i = 0; i < p->algorithms.of.n; i++)
		p->engines[p->n_engines++] = fab_mcast_engines[p->algorithms.of.v[i].row];
	if (p->mcfdbs && !p->has_algorithm && !is_events)
		p->n_engines = 0;
	for (size_t i = 0; i < FAB_COUNT(single); i++)
		if (single[i].is_given && p->n_engines != 1)
			return fab_fail(err, EINVAL, "%s, --algorithm names %zu",
					single[i].text, p->n_engines);
	if ((p->explain || p->explain_cable || p->trees_out) && !p->n_engines)
		return fab_fail(err, EINVAL, "%s --algorithm in addition to --mcfdbs",
				p->explain || p->explain_cable
					? "--explain and --explain-cable need"
					: "--trees-out needs");
	p->has_search = p->has_sweep;
	for (size_t i = 0; i < p->n_engines; i++)
		p->has_search |= p->engines[i]->takes_slack;
	if ((p->has_height_slack || p->has_time_limit) && !p->has_search)
		return fab_fail(
			err, EINVAL,
			"--%s goes with --algorithm=balanced or optimal, and with --sweep=height",
			p->has_height_slack ? "height-slack" : "time-limit");
	for (size_t i = 0; i < p->n_engines && is_events; i++)
		if (!p->engines[i]->grow)
			return fab_fail(
				err, EINVAL,
				"--events: %s routes all groups at once, not each as it comes",
				p->engines[i]->name);
	return 0;
}

static const struct fab_task *choose(const void *params)
{
	const struct mcroute_params *p = params;

	return p->events.path || p->events.pattern ? &mcroute_events_task : &mcroute_task;
}

static const struct fab_command command = {
	.name = "fabric-mcroute",
	.args = "FABRIC",
	.doc = "Route many multicast groups and show how they share the links: heights of the trees, number of trees on every cable (EFI), lower bound and time, for several algorithms side by side.",
	.parts = parts,
	.relations = relations,
	.choose = choose,
	.complete = complete,
	.settings = mcroute_settings,
};

int main(int argc, char **argv)
{
	struct mcroute_params p = {.run.seed = 1, .events.compute_ns = MCROUTE_MEASURED};
	int status = fab_cli_main(&command, argc, argv, &p);

	fab_cli_groups_fini(&p.groups);
	return status;
}
