/* SPDX-License-Identifier: BSD-2-Clause */
/* Options of the run itself. */
#include <string.h>
#ifdef _OPENMP
#include <omp.h>
#endif

#include "base/num.h"
#include "cli/cli.h"
#include "cli/internal.h"

enum { KEY_THREADS = KEY_RUN, KEY_SEED, KEY_VERIFY };
enum { MAX_THREADS = 4096 };

static const struct argp_option run_options[] = {
	{.doc = "Run:", .group = FAB_CLI_GROUP_RUN},
	{.name = "quiet",
	 .key = 'q',
	 .doc = "No progress, no warnings; errors only",
	 .group = FAB_CLI_GROUP_RUN},
	{.name = "verbose",
	 .key = 'v',
	 .doc = "Say more, such as all warnings",
	 .group = FAB_CLI_GROUP_RUN},
	{.name = "threads",
	 .key = KEY_THREADS,
	 .arg = "N",
	 .doc = "Use N threads (default: one a processor); the result is the same",
	 .group = FAB_CLI_GROUP_RUN},
	{0},
};

static const struct argp_option chance_options[] = {
	{.name = "seed",
	 .key = KEY_SEED,
	 .arg = "N",
	 .doc = "Seed of everything that is left to chance",
	 .group = FAB_CLI_GROUP_RUN},
	{.name = "verify",
	 .key = KEY_VERIFY,
	 .doc = "Check the result by a second, independent computation",
	 .group = FAB_CLI_GROUP_RUN},
	{0},
};

static void set_threads(struct fab_cli_run *run, const char *arg,
			struct argp_state *state)
{
	uint64_t n;

	if (!fab_parse_u64(arg, strlen(arg), 1, MAX_THREADS, &n))
		argp_error(state, "--threads: '%s' is not a number from 1 to %d", arg,
			   MAX_THREADS);
	run->threads = (int)n;
#ifdef _OPENMP
	omp_set_num_threads(run->threads);
#endif
}

static void set_seed(struct fab_cli_run *run, const char *arg, struct argp_state *state)
{
	if (!fab_parse_u64(arg, strlen(arg), 0, UINT64_MAX, &run->seed))
		argp_error(state, "--seed: '%s' is not a number from 0 to 2^64-1", arg);
	run->has_seed = true;
}

static error_t parse_run(int key, char *arg, struct argp_state *state)
{
	struct fab_cli_run *run = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		/* the children of this parser fill the same struct */
		if (state->child_inputs)
			state->child_inputs[0] = run;
		return 0;
	case 'q':
		run->quiet = true;
		return 0;
	case 'v':
		run->verbose++;
		return 0;
	case KEY_THREADS:
		set_threads(run, arg, state);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static error_t parse_chance(int key, char *arg, struct argp_state *state)
{
	struct fab_cli_run *run = state->input;

	switch (key) {
	case KEY_SEED:
		set_seed(run, arg, state);
		return 0;
	case KEY_VERIFY:
		run->verify = true;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp chance_argp = {.options = chance_options,
					.parser = parse_chance};
static const struct argp_child run_children[] = {{.argp = &chance_argp}, {0}};

const struct argp fab_cli_run_argp = {
	.options = run_options, .parser = parse_run, .children = run_children};
const struct argp fab_cli_run_plain_argp = {.options = run_options, .parser = parse_run};
