/* SPDX-License-Identifier: BSD-2-Clause */
/* fabric-faults: unicast routing under failures, by several algorithms side by side. */
#include <argp.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/num.h"
#include "base/rng.h"
#include "faults.h"

enum {
	OPT_FAIL = 0x100,
	OPT_FAIL_LINK,
	OPT_FAIL_FILE,
	OPT_RANDOM,
	OPT_OF,
	OPT_COUNT,
	OPT_EXHAUSTIVE,
	OPT_SHARD,
	OPT_ALGORITHM,
	OPT_MAX_VLS,
	OPT_MAX_SLS,
	OPT_ENDPOINTS,
	OPT_CHECK,
	DEFAULT_VLS = 2,
};

static const struct argp_option options[] = {
	{.doc = "What is dead, and how to route:", .group = 2},
	{"fail", OPT_FAIL, "LIST", 0,
	 "Switches, separated by commas: NAME, 0xGUID, lid:N, coordinates of a leaf such "
	 "as 3.7, host lists as ib[1-4], patterns; repeatable",
	 2},
	{"fail-link", OPT_FAIL_LINK, "LIST", 0,
	 "Links, separated by commas: SWITCH:PORT or HOST/PORT; repeatable", 2},
	{"fail-file", OPT_FAIL_FILE, "FILE", 0,
	 "A file of them, a line each: switches, or the word link and links; "
	 "repeatable",
	 2},
	{"random", OPT_RANDOM, "K", 0, "K more, drawn by --seed", 2},
	{"count", OPT_COUNT, "N", 0, "With --random: N sets of K, summed up (default 1)",
	 2},
	{"exhaustive", OPT_EXHAUSTIVE, "K", 0, "Every set of K more, summed up", 2},
	{"shard", OPT_SHARD, "K/N", 0,
	 "Only every N-th set or trial, from the K-th on; fabric-compare --merge "
	 "puts N such results together",
	 2},
	{"of", OPT_OF, "KIND", 0,
	 "With --random and --exhaustive: leaves (default), roots, links or any", 2},
	{"algorithm", OPT_ALGORITHM, "LIST", 0,
	 "Algorithms, separated by commas, or all: @UNICAST@ (default: vtftr-ib on a "
	 "kfat, minhop,updn elsewhere)",
	 2},
	{"max-vls", OPT_MAX_VLS, "N", 0,
	 "Virtual lanes that vtftr-ib may use, 1 to 15 (default 2); where they do not "
	 "suffice, paths get longer",
	 2},
	{"max-sls", OPT_MAX_SLS, "N", 0,
	 "Service levels that vtftr-ib may use, 1 to 16 (default 16)", 2},
	{"endpoints", OPT_ENDPOINTS, "KIND", 0,
	 "Pairs of what: leaves (switches; default on a kfat), hosts (default elsewhere "
	 "and with --lfts), adapters (SHARP nodes and routers, too) or all (switches' "
	 "port 0, too)",
	 2},
	{"check", OPT_CHECK, NULL, 0,
	 "Exit with status 1 when a pair is unreachable or a cycle exists", 2},
	{0},
};

static void parse_algorithms(struct faults_params *p, const char *list,
			     struct argp_state *state)
{
	struct fab_chosen_list chosen = {0};

	fab_cli_choose("--algorithm", &fab_unicast_choices, list, FAULTS_MAX_ENGINES - 1,
		       &chosen, state);
	p->has_algorithm = true;
	p->n_engines = chosen.of.n;
	for (size_t i = 0; i < chosen.of.n; i++) {
		p->engines[i] = fab_unicast_engines[chosen.of.v[i].row];
		p->is_optional[i] = chosen.of.v[i].by_all;
	}
	free(chosen.of.v);
}

static void parse_endpoints(struct faults_params *p, const char *arg,
			    struct argp_state *state)
{
	static const char *const names[] = {[FAB_ENDS_LEAVES] = "leaves",
					    [FAB_ENDS_HOSTS] = "hosts",
					    [FAB_ENDS_ADAPTERS] = "adapters",
					    [FAB_ENDS_ALL] = "all"};

	p->has_ends = true;
	p->ends_text = arg;
	for (size_t i = 0; i < FAB_COUNT(names); i++)
		if (!strcmp(arg, names[i])) {
			p->ends = (enum fab_ends)i;
			return;
		}
	argp_error(
		state,
		"--endpoints: '%s' is unknown; there are: leaves, hosts, adapters, all",
		arg);
}

static void check_wish(const struct faults_params *p, struct argp_state *state)
{
	const struct faults_wish *w = &p->wish;

	if (w->random && w->exhaustive)
		argp_error(state, "--random and --exhaustive do not go together");
	if (w->count > 1 && !w->random)
		argp_error(state, "--count goes with --random=K only");
	if (p->shard.part.count && !w->exhaustive && w->count == 1 &&
	    !p->questions.reliability)
		argp_error(state, "--shard goes with --count, --exhaustive or "
				  "--reliability only");
}

static void check_columns(const struct faults_params *p, struct argp_state *state)
{
	bool is_reliability = p->questions.reliability;
	struct fab_err err;

	if (p->output.columns &&
	    fab_columns_check(
		    p->output.columns,
		    is_reliability ? faults_reliability_columns : faults_columns,
		    is_reliability ? faults_reliability_n_columns : faults_n_columns,
		    &err))
		argp_error(state, "--columns: %s", err.text);
}

static void check_complete(struct faults_params *p, struct argp_state *state)
{
	check_columns(p, state);
	if (p->output.list_columns)
		return;
	if (!p->input.fabric)
		argp_error(state,
			   "FABRIC is missing: a file, -, gen:KIND:PARAMETERS or ib:");
	check_wish(p, state);
	faults_files_check(p, state);
	faults_questions_check(p, state);
}

static error_t parse_fault_option(int key, char *arg, struct faults_params *p,
				  struct argp_state *state)
{
	struct faults_wish *w = &p->wish;

	switch (key) {
	case OPT_FAIL:
		FAB_PUSH(&w->fail, arg);
		return 0;
	case OPT_FAIL_LINK:
		FAB_PUSH(&w->fail_link, arg);
		return 0;
	case OPT_FAIL_FILE:
		FAB_PUSH(&w->fail_file, fab_cli_file_name("--fail-file", arg, state));
		return 0;
	case OPT_RANDOM:
		w->random = (uint32_t)fab_cli_number("--random", arg, 1, 1000000, state);
		return 0;
	case OPT_COUNT:
		w->count = fab_cli_number("--count", arg, 1, 1000000000, state);
		return 0;
	case OPT_EXHAUSTIVE:
		w->exhaustive =
			(uint32_t)fab_cli_number("--exhaustive", arg, 1, 1000, state);
		return 0;
	case OPT_OF:
		if (!fab_fault_kind_parse(arg, &w->of))
			argp_error(state,
				   "--of: '%s' is unknown; there are: leaves, roots, "
				   "links, any",
				   arg);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct faults_params *p = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &p->input;
		state->child_inputs[1] = &p->output;
		state->child_inputs[2] = &p->run;
		state->child_inputs[3] = &p->store;
		state->child_inputs[4] = &p->files;
		state->child_inputs[5] = &p->questions;
		return 0;
	case OPT_ALGORITHM:
		parse_algorithms(p, arg, state);
		return 0;
	case OPT_SHARD:
		fab_cli_parse_shard(&p->shard, arg, state);
		return 0;
	case OPT_MAX_VLS:
		p->max_vls = (unsigned)fab_cli_number("--max-vls", arg, 1, 15, state);
		return 0;
	case OPT_MAX_SLS:
		p->max_sls = (unsigned)fab_cli_number("--max-sls", arg, 1, 16, state);
		return 0;
	case OPT_ENDPOINTS:
		parse_endpoints(p, arg, state);
		return 0;
	case OPT_CHECK:
		p->check = true;
		return 0;
	case ARGP_KEY_ARG:
		fab_cli_set_fabric(&p->input, arg, state);
		return 0;
	case ARGP_KEY_END:
		check_complete(p, state);
		return 0;
	default:
		return parse_fault_option(key, arg, p, state);
	}
}

static const struct argp_child children[] = {
	{&fab_cli_input_argp, 0, NULL, 0},
	{&fab_cli_output_argp, 0, NULL, 0},
	{&fab_cli_run_argp, 0, NULL, 0},
	{&fab_cli_store_argp, 0, NULL, 0},
	{&faults_files_argp, 0, NULL, 0},
	{&faults_questions_argp, 0, NULL, 0},
	{0},
};

static const struct argp argp = {
	.options = options,
	.parser = parse_option,
	.args_doc = "FABRIC",
	.doc = "Let switches and links of a fabric die and say what is left: pairs "
	       "without "
	       "a path, hops, virtual lanes, credit loops, for several routing "
	       "algorithms "
	       "of high-dimension fat trees side by side, or for the tables of a real "
	       "fabric.",
	.children = children,
	.help_filter = fab_cli_help,
};

/* What is dead by name. */
static void name_faults(const struct faults_params *p, struct faults_outcome *o)
{
	const struct faults_wish *w = &p->wish;
	struct fab_err err;
	int rc = 0;

	o->faults = fab_faults_new(o->f);
	o->faults->matches.with_names = p->run.verbose;
	for (size_t i = 0; i < w->fail.n && !rc; i++) {
		rc = fab_faults_add_switches(o->faults, w->fail.v[i], &err);
		fab_cli_tell_matches(&p->run, "--fail", &o->faults->matches);
	}
	if (rc)
		fab_err_prefix(&err, "--fail");
	for (size_t i = 0; i < w->fail_link.n && !rc; i++) {
		rc = fab_faults_add_cables(o->faults, w->fail_link.v[i], &err);
		fab_cli_tell_matches(&p->run, "--fail-link", &o->faults->matches);
		if (rc)
			fab_err_prefix(&err, "--fail-link");
	}
	for (size_t i = 0; i < w->fail_file.n && !rc; i++) {
		rc = fab_faults_add_file(o->faults, w->fail_file.v[i], &err);
		fab_cli_tell_matches(&p->run, w->fail_file.v[i], &o->faults->matches);
	}
	if (rc)
		fab_cli_die(&err);
}

/* What is used when nothing is said: what fits the shape. Tables are written of one. */
static void add_default_engines(struct faults_params *p, const struct faults_outcome *o)
{
	if (p->has_algorithm || p->files.lfts)
		return;
	if (o->kfat || p->questions.reliability) {
		p->engines[p->n_engines++] = &fab_unicast_vtftr_ib;
		return;
	}
	p->engines[p->n_engines++] = &fab_unicast_minhop;
	if (!faults_writes_tables(p))
		p->engines[p->n_engines++] = &fab_unicast_updn;
}

static _Noreturn void refuse_engine(const struct faults_params *p,
				    const struct faults_outcome *o,
				    const struct fab_err *err)
{
	const char *why = o->kfat ? "" : o->kfat_error.text, *more = o->kfat ? "" : "; ";
	char names[160] = "";
	size_t at = 0;

	for (size_t i = 0; i < fab_unicast_n_engines && at < sizeof(names); i++) {
		struct fab_err none;

		if (!fab_unicast_fits(fab_unicast_engines[i], o->kfat, &none))
			at += (size_t)snprintf(names + at, sizeof(names) - at, "%s%s",
					       at ? ", " : "",
					       fab_unicast_engines[i]->name);
	}
	fab_cli_exit(FAB_EXIT_ERROR, "%s: algorithm %s%s%s; what routes it: %s",
		     p->input.fabric, err->text, more, why, names);
}

/* Algorithms that cannot route the fabric: those of `all` are left out. */
static void choose_engines(struct faults_params *p, const struct faults_outcome *o)
{
	size_t n = 0;

	add_default_engines(p, o);
	for (size_t i = 0; i < p->n_engines; i++) {
		struct fab_err err;

		if (!fab_unicast_fits(p->engines[i], o->kfat, &err))
			p->engines[n++] = p->engines[i];
		else if (p->is_optional[i])
			fab_cli_warn(&p->run, "left out: algorithm %s", err.text);
		else
			refuse_engine(p, o, &err);
	}
	p->n_engines = n;
}

struct keeping {
	struct faults_params *p;
	const struct faults_outcome *o;
};

static void keep(void *context)
{
	const struct keeping *k = context;

	if (k->p->questions.reliability)
		faults_store_reliability(k->p, k->o);
	else
		faults_store(k->p, k->o);
}

/* The last result: with it all of them are committed. */
static void print_report(struct faults_params *p, const struct faults_outcome *o,
			 struct fab_cli_results *results)
{
	struct keeping keeping = {p, o};
	struct fab_report_options report;
	struct fab_err err;
	FILE *file;

	results->keep = keep;
	results->context = &keeping;
	file = fab_cli_open_result(results, p->output.path);
	report = fab_cli_report_options(&p->output, &results->sinks[results->n - 1]);
	if (faults_report(file, &report, p, o, &err))
		fab_cli_die(&err);
	fab_cli_commit_results(results);
}

/* 1 when something was found that was asked for. */
static int status_of(const struct faults_params *p, const struct faults_outcome *o)
{
	for (size_t i = 0; i < o->n; i++) {
		const struct faults_result *r = &o->results[i];

		if (p->check)
			faults_warn_unknown(p, r);
		if (!r->is_sound ||
		    (p->check && (r->sum.unreachable || !r->sum.deadlock_free)))
			return FAB_EXIT_FOUND;
	}
	return FAB_EXIT_DONE;
}

/* What is dead in every set, by whatever names. */
static void note_input(struct faults_params *p, const struct faults_outcome *o)
{
	for (size_t i = 0; i < o->faults->named.n; i++) {
		const struct fab_fault *fault = &o->faults->named.v[i];

		p->shard.input = fab_mix64(p->shard.input ^
					   ((uint64_t)fault->id << 1 | fault->is_cable));
	}
	p->store.shard = &p->shard;
}

static int run(struct faults_params *p, struct faults_outcome *o)
{
	struct fab_cli_results results = {.n = 0};

	if (p->questions.reliability) {
		faults_try_reliability(p, o);
		print_report(p, o, &results);
		return FAB_EXIT_DONE;
	}
	if (p->questions.explain)
		faults_find_pair(p, o);
	faults_solve(p, o);
	faults_flow(p, o);
	if (p->questions.has_criticality && o->n)
		faults_rank_parts(p, o);
	if (p->questions.reroute)
		faults_local_reroute(p, o);
	faults_write_tables(p, o, &results);
	print_report(p, o, &results);
	return status_of(p, o);
}

static void free_outcome(struct faults_outcome *o)
{
	for (size_t i = 0; i < o->n; i++) {
		fab_analysis_fini(&o->results[i].sum);
		fab_routes_free(o->results[i].routes);
		for (size_t k = 0; k < o->results[i].each.n; k++)
			free(o->results[i].each.v[k].dead);
		free(o->results[i].each.v);
		free(o->results[i].note);
		free(o->results[i].worst);
	}
	for (size_t i = 0; i < o->critical.n; i++)
		free(o->critical.v[i].name);
	free(o->flows.v);
	free(o->reliability.v);
	free(o->critical.v);
	free(o->rerouted.v);
	free(o->reliability_text);
	fab_faults_free(o->faults);
	fab_kfat_free(o->kfat);
}

static void free_params(struct faults_params *p)
{
	free(p->wish.fail.v);
	free(p->wish.fail_link.v);
	free(p->wish.fail_file.v);
	free(p->questions.permutations.v);
	fab_cli_close_store(&p->store);
}

static void list_columns(const struct faults_params *p)
{
	if (p->questions.reliability)
		fab_columns_list(stdout, faults_reliability_columns,
				 faults_reliability_n_columns);
	else
		fab_columns_list(stdout, faults_columns, faults_n_columns);
}

int main(int argc, char **argv)
{
	struct faults_params p = {.run.seed = 1, .wish.count = 1, .max_vls = DEFAULT_VLS};
	struct faults_outcome o = {0};
	struct fab_fabric *f;
	int status;

	fab_cli_init("fabric-faults");
	fab_cli_parse(&argp, argc, argv, &p);
	if (p.output.list_columns) {
		list_columns(&p);
		free_params(&p);
		return FAB_EXIT_DONE;
	}
	fab_cli_open_store(&p.store);
	f = fab_cli_open_fabric(&p.input, &p.run);
	o.f = f;
	if (fab_kfat_recognize(f, &o.kfat, &o.kfat_error))
		o.kfat = NULL;
	name_faults(&p, &o);
	choose_engines(&p, &o);
	note_input(&p, &o);
	status = run(&p, &o);
	free_outcome(&o);
	free_params(&p);
	fab_fabric_free(f);
	return status;
}
