/* SPDX-License-Identifier: BSD-2-Clause */
/* fabric-launch: where the seconds of a job start go. */
#include <errno.h>
#include <stdlib.h>

#include "launch.h"

static const struct fab_verb verbs[] = {
	[LAUNCH_SIZE] = {"size", "",
			 "what a node contributes to a fence, exactly, and what each "
			 "optimisation of PMIx is worth"},
	{0},
};

static const struct launch_work *const works[] = {
	[LAUNCH_SIZE] = &launch_size,
};

static int take_keys(void *params, const char *arg, struct fab_err *err)
{
	struct launch_params *p = params;

	p->keys.of.n = 0;
	p->keys_text = arg;
	return fab_puts_parse(arg, &p->keys, err);
}

#define TO(member) FAB_TO(struct launch_params, member)
static const struct fab_option options[] = {
	{.help = "The job:"},
	{"nodes", "N", "Nodes of the job", FAB_TAKES_NUMBER, TO(n_nodes), .min = 1,
	 .max = 1 << 22},
	{"ppn", "P", "Processes a node (default 1)", FAB_TAKES_NUMBER, TO(ppn), .min = 1,
	 .max = FAB_SIZE_MAX_PPN, .preset = "1"},
	{"keys", "LIST",
	 "What each process puts: LENGTH:BYTES[:COUNT] between commas, a key of so many "
	 "characters with a value of so many bytes, as 14:51,9:8:4",
	 FAB_TAKES_OTHER, .take = take_keys},

	{.help = "Sizes:"},
	{"layout", "LIST", "Layouts, separated by commas: @LAYOUTS@ (default 4.2)",
	 FAB_TAKES_CHOSEN, TO(layouts), .flag = TO(has_layout),
	 .choices = &fab_size_layouts, .preset = "4.2"},
	{"opt", "LIST",
	 "Optimisations that are on, separated by commas, all or none: @OPTIMISATIONS@ "
	 "(default: those of the layout)",
	 FAB_TAKES_CHOSEN, TO(opts), .flag = TO(has_opt), .choices = &fab_size_opts,
	 .has_none = true},
	{"namespace", "N",
	 "Characters of the namespace's name, which counts without procid: 10 of Open "
	 "RTE, 21 and more of Slurm (default 21)",
	 FAB_TAKES_NUMBER, TO(namespace_chars), .min = 1, .max = FAB_NAMESPACE_MAX,
	 .preset = "21"},
	{0},
};

static const struct fab_part parts[] = {
	FAB_PART(fab_cli_input_rows, struct launch_params, input),
	{options, 0},
	FAB_PART(fab_cli_output_rows, struct launch_params, output),
	FAB_PART(fab_cli_store_rows, struct launch_params, store),
	FAB_PART(fab_cli_run_rows, struct launch_params, run),
	FAB_PART(fab_cli_chance_rows, struct launch_params, run),
	{0},
};

static const struct fab_relation relations[] = {
	{"layout,opt,namespace", FAB_GOES_WITH, "VERB=size"},
	{"VERB=size", FAB_NEEDS, "keys"},
	{0},
};

static int complete(void *params, struct fab_err *err)
{
	struct launch_params *p = params;

	if ((uint64_t)p->n_nodes * p->ppn > UINT32_MAX)
		return fab_fail(err, EINVAL,
				"--nodes=%u of --ppn=%u are more than 2^32 processes",
				p->n_nodes, p->ppn);
	return 0;
}

static struct fab_cli_columns columns(const void *params)
{
	const struct launch_work *work =
		works[((const struct launch_params *)params)->verb];

	return (struct fab_cli_columns){work->columns, *work->n_columns};
}

static int run(void *params, const struct fab_fabric *f, struct fab_err *err)
{
	struct launch_params *p = params;

	return works[p->verb]->run(p, f, err);
}

static const struct fab_command command = {
	.name = "fabric-launch",
	.doc = "Say where the seconds of a job start go: how long each phase takes with "
	       "PMI-1, PMI-2 and PMIx, what each improvement is worth, and which fence "
	       "to use on this fabric.",
	.parts = parts,
	.relations = relations,
	.verbs = verbs,
	.verb = TO(verb),
	.columns = columns,
	.complete = complete,
	.run = run,
};

int main(int argc, char **argv)
{
	struct launch_params p = {.run.seed = 1};
	int status = fab_cli_main(&command, argc, argv, &p);

	free(p.keys.of.v);
	return status;
}
