/* SPDX-License-Identifier: BSD-2-Clause */
/* fabric-faults: options that ask for more than routing. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "fabric/ranks.h"
#include "faults.h"
#include "unicast/criticality.h"
#include "unicast/local_reroute.h"

enum {
	OPT_EXPLAIN = 0x160,
	OPT_DODGE,
	OPT_CRITICALITY,
	OPT_PERMUTATION,
	OPT_RELIABILITY,
	OPT_MAX_FAULTS,
	OPT_TRIALS,
	OPT_MTBF,
	DEFAULT_CRITICALITY = 10,
};

static const uint64_t CRITICALITY_STEPS = UINT64_C(4) * 1000 * 1000 * 1000;
/* Cases from which on two unknown faults at once take minutes. */
static const uint64_t DODGE_CASES_MAX = 200 * 1000 * 1000;

static const struct argp_option options[] = {
	{.doc = "More questions:", .group = 6},
	{"explain", OPT_EXPLAIN, "SRC,DST", 0,
	 "Show the path from SRC to DST hop by hop, with lanes and reasons: switches or "
	 "adapters by name, host, GUID or lid:N",
	 6},
	{"permutation", OPT_PERMUTATION, "SPEC", 0,
	 "Load when each host sends to one other, before and after the faults: "
	 "@PERMUTATIONS@; repeatable",
	 6},
	{"criticality", OPT_CRITICALITY, "N", OPTION_ARG_OPTIONAL,
	 "Rank switches and links by what their loss costs; show N (default 10) of them",
	 6},
	{"local-reroute", OPT_DODGE, NULL, 0,
	 "Let sound leaves die unknown to the tables, one and two at a time, and reroute "
	 "around them locally as VTFTR does",
	 6},
	{"dodge", OPT_DODGE, NULL, OPTION_ALIAS | OPTION_HIDDEN, NULL, 6},
	{"reliability", OPT_RELIABILITY, NULL, 0,
	 "With --random=K: how likely K dead leaves cost a pair of sound ones", 6},
	{"max-faults", OPT_MAX_FAULTS, "K", 0,
	 "With --reliability: for 1 to K dead leaves", 6},
	{"trials", OPT_TRIALS, "N", 0, "With --reliability: sets to draw (default 1000)",
	 6},
	{"mtbf", OPT_MTBF, "TIME", 0,
	 "With --reliability --max-faults: mean time between failures of a leaf switch, "
	 "in hours (h), days (d), years (y) or seconds; mean time to the first "
	 "unreachable pair",
	 6},
	{0},
};

/* Seconds of "200000h", "5y", "30d", "3600". */
static double parse_mtbf(const char *arg, struct argp_state *state)
{
	static const struct {
		const char *unit;
		double seconds;
	} units[] = {{"", 1}, {"s", 1}, {"h", 3600}, {"d", 86400}, {"y", 31557600}};
	size_t digits = strspn(arg, "0123456789.");
	char *end;
	double value = strtod(arg, &end);

	for (size_t i = 0; i < FAB_COUNT(units); i++)
		if (digits && end == arg + digits && value > 0 && value <= 1e15 &&
		    !strcmp(arg + digits, units[i].unit))
			return value * units[i].seconds;
	argp_error(state, "--mtbf: '%s' is no time: expected a number and s, h, d or y",
		   arg);
	return 0;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct faults_questions *q = state->input;
	struct fab_err err;

	switch (key) {
	case ARGP_KEY_INIT:
		q->trials = 1000;
		return 0;
	case OPT_EXPLAIN:
		if (!strrchr(arg, ',') || *arg == ',' || arg[strlen(arg) - 1] == ',')
			argp_error(state, "--explain: '%s': expected SRC,DST", arg);
		q->explain = arg;
		return 0;
	case OPT_DODGE:
		q->reroute = true;
		return 0;
	case OPT_CRITICALITY:
		q->has_criticality = true;
		q->criticality = arg ? (uint32_t)fab_cli_number("--criticality", arg, 1,
								1000000, state)
				     : DEFAULT_CRITICALITY;
		return 0;
	case OPT_PERMUTATION:
		if (fab_permutation_check(arg, &err))
			argp_error(state, "--permutation: %s", err.text);
		if (!strncmp(arg, "file:", 5))
			fab_cli_note_input("--permutation", arg + 5);
		FAB_PUSH(&q->permutations, arg);
		return 0;
	case OPT_RELIABILITY:
		q->reliability = true;
		return 0;
	case OPT_MAX_FAULTS:
		q->max_faults =
			(uint32_t)fab_cli_number("--max-faults", arg, 1, 100000, state);
		return 0;
	case OPT_TRIALS:
		q->trials = fab_cli_number("--trials", arg, 1, 1000000000, state);
		return 0;
	case OPT_MTBF:
		q->mtbf_seconds = parse_mtbf(arg, state);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

const struct argp faults_questions_argp = {
	.options = options, .parser = parse_option, .help_filter = fab_cli_help};

static void check_reliability(const struct faults_params *p, struct argp_state *state)
{
	const struct faults_questions *q = &p->questions;
	const struct faults_wish *w = &p->wish;

	if (!q->reliability) {
		if (q->max_faults || q->mtbf_seconds > 0)
			argp_error(state, "%s goes with --reliability only",
				   q->max_faults ? "--max-faults" : "--mtbf");
		return;
	}
	if (!w->random == !q->max_faults)
		argp_error(state, "--reliability needs --random=K or --max-faults=K");
	if (q->mtbf_seconds > 0 && !q->max_faults)
		argp_error(state, "--mtbf needs --max-faults=K: every number of faults "
				  "is gone through");
	if (w->fail.n || w->fail_link.n || w->fail_file.n || w->exhaustive ||
	    w->of != FAB_FAULT_LEAVES)
		argp_error(state, "--reliability is for leaf switches that die by chance "
				  "only");
	if (p->files.lfts || q->explain || q->reroute || q->has_criticality ||
	    q->permutations.n)
		argp_error(state, "--reliability does not go with --lfts, --explain, "
				  "--local-reroute, --criticality or --permutation");
}

void faults_questions_check(const struct faults_params *p, struct argp_state *state)
{
	const struct faults_questions *q = &p->questions;
	bool is_one_set = !p->wish.exhaustive && (!p->wish.random || p->wish.count == 1);

	check_reliability(p, state);
	if (!is_one_set &&
	    (q->explain || q->reroute || q->has_criticality || q->permutations.n))
		argp_error(
			state,
			"--explain, --local-reroute, --criticality and --permutation are "
			"for one set of faults");
}

static const char *kind_name(const struct fab_loss *loss)
{
	if (loss->part.is_cable)
		return "link";
	return loss->is_leaf ? "leaf" : "root";
}

void faults_rank_parts(const struct faults_params *p, struct faults_outcome *o)
{
	/* the last algorithm that was asked for; of the default ones the first */
	const struct faults_result *r =
		&o->results[p->has_algorithm || p->files.lfts ? o->n - 1 : 0];
	const struct fab_unicast_problem problem = faults_problem(p, o, o->faults);
	struct fab_cli_progress *bar =
		fab_cli_progress_new(&p->run, "single losses", "parts");
	const struct fab_losses_progress progress = {fab_cli_progress_tick, bar};
	uint32_t *hosts = FAB_NEW(o->f->n_switches + 1, uint32_t);
	struct fab_losses losses;
	struct fab_err err;

	fab_ranks_count_hosts(o->f, hosts);
	if (fab_losses_rank(&problem, r->engine, r->routes, CRITICALITY_STEPS, &progress,
			    &losses, &err))
		fab_cli_die(&err);
	fab_cli_progress_free(bar);
	for (size_t i = 0; i < losses.of.n; i++) {
		const struct fab_loss *loss = &losses.of.v[i];
		struct faults_critical c = {.kind = kind_name(loss),
					    .pairs = loss->pairs,
					    .interrupted = loss->interrupted,
					    .unreachable = loss->unreachable,
					    .rerouted = loss->unreachable_rerouted,
					    .longer = loss->longer,
					    .load = loss->load};

		o->n_untried += r->engine && !loss->is_tried;
		if (i >= p->questions.criticality)
			continue;
		c.name = fab_fault_text(o->f, loss->part);
		c.host_ports = loss->part.is_cable ? 0 : hosts[loss->part.id];
		FAB_PUSH(&o->critical, c);
	}
	o->ranked = r;
	o->n_parts = losses.of.n;
	if (o->n_untried)
		fab_cli_warn(&p->run,
			     "--criticality: %llu parts with fewer pairs were not tried",
			     (unsigned long long)o->n_untried);
	free(losses.of.v);
	free(hosts);
}

void faults_local_reroute(const struct faults_params *p, struct faults_outcome *o)
{
	if (!o->kfat)
		fab_cli_exit(FAB_EXIT_ERROR,
			     "%s: --local-reroute needs a high-dimension fat tree; %s",
			     p->input.fabric, o->kfat_error.text);
	for (unsigned burst = 1; burst <= FAB_LOCAL_REROUTE_BURST_MAX; burst++) {
		uint64_t n = o->kfat->n_leaves;
		struct fab_local_reroute d;
		struct fab_err err;
		struct faults_local_reroutes row = {
			.unknown = burst, .known = (uint32_t)o->faults->named.n};

		if (burst > 1 && n * n * n > DODGE_CASES_MAX) {
			fab_cli_warn(&p->run,
				     "--local-reroute: two unknown faults at once are "
				     "not tried, "
				     "%llu leaf switches are too many",
				     (unsigned long long)n);
			break;
		}
		if (fab_local_reroute_all(o->kfat, o->faults, burst, p->run.threads, &d,
					  &err))
			fab_cli_die(&err);
		row.cases = d.cases;
		row.hops_more = d.segments_more * 2;
		row.stuck = d.stuck;
		FAB_PUSH(&o->rerouted, row);
	}
}
