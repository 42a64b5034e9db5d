/* SPDX-License-Identifier: BSD-2-Clause */
/* fabric-mcroute: multicast trees for many groups, by several algorithms side by side. */
#include <argp.h>
#include <stdlib.h>
#include <string.h>

#include "mcroute.h"

enum {
	OPT_GROUPS = 0x100,
	OPT_PATTERN,
	OPT_IGNORE_UNKNOWN,
	OPT_ALGORITHM,
	OPT_TREES_OUT,
	OPT_MCFDBS,
	OPT_MCFDBS_OUT,
	OPT_CHECK,
	OPT_MLID_CAP,
	OPT_FULLEST,
	OPT_ROOT_TIES,
	DEFAULT_FULLEST = 5,
};

static const struct argp_option options[] = {
	{.doc = "What to route:", .group = 2},
	{"groups", OPT_GROUPS, "FILE", 0,
	 "Read groups from FILE (- is standard input), a line each: NAME: MEMBER MEMBER "
	 "...; "
	 "repeatable",
	 2},
	{"pattern", OPT_PATTERN, "SPEC", 0,
	 "Add the groups of a pattern: @PATTERNS@; repeatable", 2},
	{"ignore-unknown", OPT_IGNORE_UNKNOWN, NULL, 0,
	 "Go on without members that are not in the fabric, and say how many", 2},
	{"mcfdbs", OPT_MCFDBS, "FILE", 0,
	 "Judge the multicast tables of FILE (opensm.mcfdbs) as algorithm loaded; "
	 "without "
	 "--groups the groups are taken from it",
	 2},
	{"check", OPT_CHECK, NULL, 0,
	 "With --mcfdbs: exit with status 1 when a tree in the tables is broken", 2},
	{"algorithm", OPT_ALGORITHM, "LIST", 0,
	 "Algorithms, separated by commas, or all (default fulb): @MULTICAST@", 2},
	{"root-ties", OPT_ROOT_TIES, "RULE", 0,
	 "Which of equally good roots: spread over the fabric (default) or lowest", 2},
	{"fullest", OPT_FULLEST, "N", 0,
	 "List the N fullest cables of each algorithm (default 5)", 2},
	{"trees-out", OPT_TREES_OUT, "FILE", 0,
	 "Write every tree to FILE as JSON lines (- is standard output)", 2},
	{"mlid-cap", OPT_MLID_CAP, "N", 0,
	 "Multicast LIDs that the switches hold (default 1024); given here, also what it "
	 "costs to share them when there are more groups",
	 2},
	{"mcfdbs-out", OPT_MCFDBS_OUT, "FILE", 0,
	 "Write the trees of the one algorithm to FILE as OpenSM dumps multicast tables "
	 "(- is standard output)",
	 2},
	{0},
};

static void parse_algorithms(struct mcroute_params *p, const char *list,
			     struct argp_state *state)
{
	struct fab_chosen_list chosen = {0};

	fab_cli_choose("--algorithm", &fab_mcast_choices, list, MCROUTE_MAX_ENGINES - 1,
		       &chosen, state);
	p->n_engines = chosen.of.n;
	for (size_t i = 0; i < chosen.of.n; i++)
		p->engines[i] = fab_mcast_engines[chosen.of.v[i].row];
	free(chosen.of.v);
}

static void parse_fullest(struct mcroute_params *p, const char *arg,
			  struct argp_state *state)
{
	p->fullest = (uint32_t)fab_cli_number("--fullest", arg, 0, 1000000, state);
}

static void parse_root_ties(struct mcroute_params *p, const char *arg,
			    struct argp_state *state)
{
	if (!strcmp(arg, "spread"))
		p->root_ties = FAB_TIES_SPREAD;
	else if (!strcmp(arg, "lowest"))
		p->root_ties = FAB_TIES_LOWEST;
	else
		argp_error(state,
			   "--root-ties: '%s' is no rule: expected spread or lowest",
			   arg);
}

static void add_groups(struct mcroute_params *p, const char *arg, bool is_pattern,
		       struct argp_state *state)
{
	struct fab_err err;

	if (!is_pattern)
		arg = fab_cli_file_name("--groups", arg, state);
	if (is_pattern && fab_groups_check_pattern(arg, &err))
		argp_error(state, "%s", err.text);
	FAB_PUSH(&p->groups, ((struct mcroute_groups){arg, is_pattern}));
}

/* What goes with tables, and what does not. */
static void check_tables(struct mcroute_params *p, struct argp_state *state)
{
	if (p->check && !p->mcfdbs)
		argp_error(state, "--check goes with --mcfdbs=FILE only");
	if (p->mcfdbs && !p->has_algorithm)
		p->n_engines = 0;
	for (size_t i = 0; i < p->groups.n && p->mcfdbs; i++)
		if (p->groups.v[i].is_pattern)
			argp_error(state, "--pattern does not go with --mcfdbs: its "
					  "groups have no multicast LIDs");
	if (p->mcfdbs_out && p->n_engines != 1)
		argp_error(state,
			   "--mcfdbs-out writes the trees of one algorithm, "
			   "--algorithm names %zu",
			   p->n_engines);
	if (p->trees_out && !p->n_engines)
		argp_error(state, "--trees-out needs --algorithm beside --mcfdbs");
}

/* A trace brings its groups, and its trees come and go. */
static void refuse_with_events(const struct mcroute_params *p, struct argp_state *state)
{
	const char *other = p->groups.n		? "--groups and --pattern"
			    : p->ignore_unknown ? "--ignore-unknown"
			    : p->trees_out	? "--trees-out"
			    : p->mcfdbs		? "--mcfdbs"
			    : p->mcfdbs_out	? "--mcfdbs-out"
			    : p->check		? "--check"
			    : p->mlid_cap	? "--mlid-cap"
			    : p->store.path	? "--store"
						: NULL;

	if (other)
		argp_error(state, "--events and --events-pattern do not go with %s",
			   other);
	for (size_t i = 0; i < p->n_engines; i++)
		if (!p->engines[i]->grow)
			argp_error(
				state,
				"--events: %s routes all groups at once, not each as it "
				"comes",
				p->engines[i]->name);
}

static void check_complete(struct mcroute_params *p, struct argp_state *state)
{
	bool is_events = mcroute_events_given(&p->events);
	struct fab_err err;

	if (p->output.columns &&
	    fab_columns_check(p->output.columns,
			      is_events ? mcroute_events_columns : mcroute_columns,
			      is_events ? mcroute_events_n_columns : mcroute_n_columns,
			      &err))
		argp_error(state, "--columns: %s", err.text);
	if (p->output.list_columns)
		return;
	if (!p->input.fabric)
		argp_error(state,
			   "FABRIC is missing: a file, -, gen:KIND:PARAMETERS or ib:");
	mcroute_events_check(&p->events, state);
	if (is_events) {
		refuse_with_events(p, state);
		return;
	}
	if (!p->groups.n && !p->mcfdbs)
		argp_error(state,
			   "no groups: --groups=FILE or --pattern=SPEC is missing");
	check_tables(p, state);
}

static error_t parse_table_option(int key, char *arg, struct mcroute_params *p,
				  struct argp_state *state)
{
	if (key == OPT_MCFDBS)
		p->mcfdbs = fab_cli_file_name("--mcfdbs", arg, state);
	else if (key == OPT_MCFDBS_OUT)
		p->mcfdbs_out = fab_cli_output_name("--mcfdbs-out", arg, state);
	else if (key == OPT_MLID_CAP)
		p->mlid_cap = mcroute_parse_mlid_cap(arg, state);
	else if (key == OPT_CHECK)
		p->check = true;
	else
		return ARGP_ERR_UNKNOWN;
	return 0;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct mcroute_params *p = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &p->input;
		state->child_inputs[1] = &p->output;
		state->child_inputs[2] = &p->run;
		state->child_inputs[3] = &p->store;
		state->child_inputs[4] = &p->events;
		return 0;
	case OPT_GROUPS:
	case OPT_PATTERN:
		add_groups(p, arg, key == OPT_PATTERN, state);
		return 0;
	case OPT_IGNORE_UNKNOWN:
		p->ignore_unknown = true;
		return 0;
	case OPT_ALGORITHM:
		parse_algorithms(p, arg, state);
		p->has_algorithm = true;
		return 0;
	case OPT_FULLEST:
		parse_fullest(p, arg, state);
		return 0;
	case OPT_ROOT_TIES:
		parse_root_ties(p, arg, state);
		return 0;
	case OPT_TREES_OUT:
		p->trees_out = fab_cli_output_name("--trees-out", arg, state);
		return 0;
	case ARGP_KEY_ARG:
		fab_cli_set_fabric(&p->input, arg, state);
		return 0;
	case ARGP_KEY_END:
		check_complete(p, state);
		return 0;
	default:
		return parse_table_option(key, arg, p, state);
	}
}

static const struct argp_child children[] = {
	{&fab_cli_input_argp, 0, NULL, 0},  {&fab_cli_output_argp, 0, NULL, 0},
	{&fab_cli_run_argp, 0, NULL, 0},    {&fab_cli_store_argp, 0, NULL, 0},
	{&mcroute_events_argp, 0, NULL, 0}, {0},
};

static const struct argp argp = {
	.options = options,
	.parser = parse_option,
	.args_doc = "FABRIC",
	.doc = "Route many multicast groups and show how they share the links: heights "
	       "of the "
	       "trees, number of trees on every cable (EFI), lower bound and time, for "
	       "several "
	       "algorithms side by side.",
	.children = children,
	.help_filter = fab_cli_help,
};

static int run_events(struct mcroute_params *p, const struct fab_fabric *f)
{
	const struct mcroute_events_job job = {
		f, p->engines, p->n_engines, p->root_ties, &p->run, &p->output};
	int status = mcroute_events_run(&p->events, &job);

	fab_cli_close_store(&p->store);
	return status;
}

static void list_columns(const struct mcroute_params *p)
{
	if (mcroute_events_given(&p->events))
		fab_columns_list(stdout, mcroute_events_columns,
				 mcroute_events_n_columns);
	else
		fab_columns_list(stdout, mcroute_columns, mcroute_n_columns);
}

int main(int argc, char **argv)
{
	struct mcroute_params p = {.run.seed = 1, .fullest = DEFAULT_FULLEST};
	struct mcroute_outcome o = {0};
	struct fab_fabric *f;
	int status;

	fab_cli_init("fabric-mcroute");
	mcroute_events_init(&p.events);
	parse_algorithms(&p, "fulb", NULL);
	fab_cli_parse(&argp, argc, argv, &p);
	if (p.output.list_columns) {
		list_columns(&p);
		fab_cli_close_store(&p.store);
		return FAB_EXIT_DONE;
	}
	fab_cli_open_store(&p.store);
	f = fab_cli_open_fabric(&p.input, &p.run);
	status = mcroute_events_given(&p.events) ? run_events(&p, f)
						 : mcroute_run(&p, &o, f);
	fab_fabric_free(f);
	free(p.groups.v);
	return status;
}
