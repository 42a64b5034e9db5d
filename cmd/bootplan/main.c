/* SPDX-License-Identifier: BSD-2-Clause */
/* fabric-bootplan: which server boots which node, and how long that takes. */
#include <argp.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/num.h"
#include "boot/units.h"
#include "bootplan.h"
#include "source/source.h"
#include "source/unpack.h"

enum {
	OPT_MACHINE = 0x100,
	OPT_SERVERS,
	OPT_DEFAULT_RATE,
	OPT_RATE,
	OPT_FAIL_SERVER,
	OPT_BOOT,
	OPT_SWEEP,
	OPT_SHARD,
	OPT_ALGORITHM,
	OPT_LOADED,
	OPT_MODEL,
	OPT_IMAGE_SIZE,
	OPT_TARGET,
	OPT_CHECK,
	OPT_MAPPING_OUT,
	OPT_PLOT,
	DEFAULT_IMAGE_BYTES = 50000000,
	DEFAULT_RETRIES = 3,
	DEFAULT_CHUNK_BYTES = 1048576,
};
#define RETRIES_NOT_GIVEN UINT32_MAX
#define MAX_TARGET_NS (UINT64_C(1000000000) * 1000000)

static const struct argp_option options[] = {
	{.doc = "The machine:", .group = 2},
	{"machine", OPT_MACHINE, "SPEC", 0,
	 "Instead of FABRIC: preset:taihulight, levels as in "
	 "rack=4@20G,node=32@1G/server=2@10G, or a file that describes a machine",
	 2},
	{"servers", OPT_SERVERS, "FILE|LIST", 0,
	 "Hosts of FABRIC that are boot servers: names, host lists as io[1-4] and "
	 "patterns, separated by commas, or a file with such a list a line; repeatable",
	 2},
	{"default-rate", OPT_DEFAULT_RATE, "RATE", 0,
	 "Rate of cables of FABRIC whose speed is not known", 2},
	{"rate", OPT_RATE, "KIND", 0,
	 "What cables of FABRIC carry: data (default: QDR 32 Gb/s, FDR 54.5) or "
	 "signalling (with the line code: QDR 40, FDR 56)",
	 2},
	{"fail-server", OPT_FAIL_SERVER, "LIST", 0,
	 "Servers that are down: names, host lists and patterns; repeatable", 2},
	{.doc = "What boots, and from where:", .group = 3},
	{"boot", OPT_BOOT, "SPEC|FILE", 0,
	 "all (default), first:N, first:N:UNIT, unit:LIST, a list of nodes (names, host "
	 "lists as n[1-16], patterns), or a file with such a list a line",
	 3},
	{"sweep", OPT_SWEEP, "SPEC", OPTION_ARG_OPTIONAL,
	 "A series of batches: UNIT: 1, 2, 5, 10 ... units up to all (default: of every "
	 "level); every:UNIT: 1, 2, 3 ... units; "
	 "each:UNIT: every unit by itself; random:N: N subsets by chance",
	 3},
	{"shard", OPT_SHARD, "K/N", 0,
	 "With --sweep: only every N-th batch, from the K-th on; fabric-compare --merge "
	 "puts N such results together",
	 3},
	{"algorithm", OPT_ALGORITHM, "LIST", 0,
	 "Rules that give nodes their servers, separated by commas, or all (default "
	 "scda,bcda,balanced): @MAPPINGS@",
	 3},
	{"loaded", OPT_LOADED, "FILE", 0,
	 "What a site has now, a line NODE SERVER each, as algorithm loaded", 3},
	{"model", OPT_MODEL, "MODEL", 0,
	 "How nodes share bandwidth: equal-share (default), max-min (others take what a "
	 "node cannot use, and what it leaves when it is done) or all",
	 3},
	{"image-size", OPT_IMAGE_SIZE, "SIZE", 0,
	 "What every node loads, as 50MB (default) or 64MiB", 3},
	{"target", OPT_TARGET, "TIME", 0, "Say what boots within TIME, as 60s", 3},
	{"check", OPT_CHECK, NULL, 0,
	 "With --target: exit with status 1 when no algorithm keeps to it", 3},
	{"mapping-out", OPT_MAPPING_OUT, "FILE", 0,
	 "Write the servers of all nodes that boot to FILE as JSON lines (- is standard "
	 "output)",
	 3},
	{"plot", OPT_PLOT, "FILE", 0,
	 "With --sweep: draw time to boot against batch size into FILE.svg or FILE.png "
	 "(needs gnuplot)",
	 3},
	{0},
};

static void add_choice(struct bootplan_params *p, const struct fab_mapping_choice *choice)
{
	for (size_t i = 0; i < p->n_choices; i++)
		if (!strcmp(p->choices[i].name, choice->name))
			return;
	if (p->n_choices < BOOTPLAN_MAX_CHOICES)
		p->choices[p->n_choices++] = *choice;
}

static void add_algorithms(struct bootplan_params *p, const char *list,
			   struct argp_state *state)
{
	struct fab_chosen_list chosen = {0};
	struct fab_mapping_choice choice;
	struct fab_err err;

	fab_cli_choose("--algorithm", &fab_mapping_choices, list,
		       BOOTPLAN_MAX_CHOICES - 1, &chosen, state);
	for (size_t i = 0; i < chosen.of.n; i++) {
		if (fab_mapping_choose(&chosen.of.v[i], &choice, &err))
			argp_error(state, "--algorithm: %s", err.text);
		add_choice(p, &choice);
	}
	free(chosen.of.v);
}

static void parse_model(struct bootplan_params *p, const char *arg,
			struct argp_state *state)
{
	bool is_all = !strcmp(arg, "all");

	p->is_equal_share = is_all || !strcmp(arg, "equal-share");
	p->is_max_min = is_all || !strcmp(arg, "max-min");
	if (!p->is_equal_share && !p->is_max_min)
		argp_error(
			state,
			"--model: '%s' is unknown; there are: equal-share, max-min, all",
			arg);
}

static void parse_target(struct bootplan_params *p, const char *arg,
			 struct argp_state *state)
{
	uint64_t ns;

	if (!fab_parse_time_ns(arg, strlen(arg), MAX_TARGET_NS, &ns) || !ns)
		argp_error(state, "--target: '%s' is not a time: expected one as 60s",
			   arg);
	p->target_seconds = (double)ns / 1e9;
}

static const char *not_empty(const char *option, const char *arg,
			     struct argp_state *state)
{
	if (!*arg)
		argp_error(state, "%s: the value is empty", option);
	return arg;
}

/* A value that may be the name of a file. */
static const char *file_or_text(const char *option, const char *arg,
				struct argp_state *state)
{
	fab_cli_note_input(option, not_empty(option, arg, state));
	return arg;
}

static void check_machine(const struct bootplan_params *p, struct argp_state *state)
{
	if (!p->input.fabric && !p->machine)
		argp_error(state, "no machine: FABRIC or --machine=SPEC is missing");
	if (p->input.fabric && p->machine)
		argp_error(state, "FABRIC and --machine do not go together");
	if (p->machine && p->rate)
		argp_error(state,
			   "--rate is for cables of FABRIC: --machine has rates of "
			   "its own");
	if (p->machine && (p->servers.n || p->default_mbps > 0))
		argp_error(state, "%s goes with FABRIC only",
			   p->servers.n ? "--servers" : "--default-rate");
	if (p->input.fabric && !p->servers.n)
		argp_error(state, "no servers: --servers=FILE|LIST is missing");
}

/* What goes with the model and with --to. */
static void check_transfer(struct bootplan_params *p, struct argp_state *state)
{
	const struct fab_transfer_options *t = &p->transfer;

	const char *need = t->server_connections    ? "--server-connections"
			   : t->stagger_seconds > 0 ? "--stagger"
			   : t->timeout_seconds > 0 ? "--timeout"
						    : NULL;

	if (need && !p->is_max_min)
		argp_error(state, "%s needs --model=max-min", need);
	if (p->transfer.retries != RETRIES_NOT_GIVEN && !(t->timeout_seconds > 0))
		argp_error(state, "--retries goes with --timeout only");
	if (p->transfer.retries == RETRIES_NOT_GIVEN)
		p->transfer.retries = DEFAULT_RETRIES;
	if (p->export.path && p->n_choices != 1)
		argp_error(
			state,
			"--to writes the mapping of one algorithm, --algorithm names %zu",
			p->n_choices);
	if (p->plot && !p->is_sweep)
		argp_error(state, "--plot goes with --sweep only");
}

static void check_complete(struct bootplan_params *p, struct argp_state *state)
{
	struct fab_err err;

	if (p->output.columns && fab_columns_check(p->output.columns, bootplan_columns,
						   bootplan_n_columns, &err))
		argp_error(state, "--columns: %s", err.text);
	if (p->output.list_columns)
		return;
	check_machine(p, state);
	if (p->check && p->target_seconds <= 0)
		argp_error(state, "--check goes with --target=TIME only");
	if (p->shard.part.count && !p->is_sweep)
		argp_error(state, "--shard goes with --sweep only");
	if (p->boot && p->is_sweep)
		argp_error(state, "--boot and --sweep do not go together");
	for (size_t i = 0; i < p->n_choices; i++)
		if (p->choices[i].engine->needs_loaded && !p->loaded)
			argp_error(state, "--algorithm=%s needs --loaded=FILE",
				   p->choices[i].name);
	if (p->loaded)
		add_algorithms(p, "loaded", state);
	check_transfer(p, state);
}

static error_t parse_plan_option(int key, char *arg, struct bootplan_params *p,
				 struct argp_state *state)
{
	struct fab_err err;

	if (key == OPT_BOOT)
		p->boot = file_or_text("--boot", arg, state);
	else if (key == OPT_ALGORITHM) {
		p->n_choices = 0;
		add_algorithms(p, arg, state);
	} else if (key == OPT_MODEL)
		parse_model(p, arg, state);
	else if (key == OPT_LOADED)
		p->loaded = fab_cli_file_name("--loaded", arg, state);
	else if (key == OPT_TARGET)
		parse_target(p, arg, state);
	else if (key == OPT_CHECK)
		p->check = true;
	else if (key == OPT_MAPPING_OUT)
		p->mapping_out = fab_cli_output_name("--mapping-out", arg, state);
	else if (key == OPT_PLOT)
		p->plot = fab_cli_parse_plot(arg, &p->terminal, state);
	else if (key != OPT_IMAGE_SIZE)
		return ARGP_ERR_UNKNOWN;
	else if (fab_parse_size_bytes(arg, strlen(arg), &p->transfer.image_bytes, &err))
		argp_error(state, "--image-size: %s", err.text);
	return 0;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct bootplan_params *p = state->input;
	struct fab_err err;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &p->input;
		state->child_inputs[1] = &p->output;
		state->child_inputs[2] = &p->run;
		state->child_inputs[3] = &p->transfer;
		state->child_inputs[4] = &p->export;
		state->child_inputs[5] = &p->methods;
		state->child_inputs[6] = &p->store;
		return 0;
	case OPT_MACHINE:
		p->machine = file_or_text("--machine", arg, state);
		return 0;
	case OPT_SERVERS:
		FAB_PUSH(&p->servers, file_or_text("--servers", arg, state));
		return 0;
	case OPT_FAIL_SERVER:
		FAB_PUSH(&p->failed, not_empty("--fail-server", arg, state));
		return 0;
	case OPT_RATE:
		p->rate = arg;
		p->is_signalling = !strcmp(arg, "signalling");
		if (!p->is_signalling && strcmp(arg, "data") != 0)
			argp_error(state, "--rate: '%s' is neither data nor signalling",
				   arg);
		return 0;
	case OPT_DEFAULT_RATE:
		if (fab_parse_rate_mbps(arg, strlen(arg), &p->default_mbps, &err))
			argp_error(state, "--default-rate: %s", err.text);
		return 0;
	case OPT_SWEEP:
		p->is_sweep = true;
		p->sweep = arg;
		return 0;
	case OPT_SHARD:
		fab_cli_parse_shard(&p->shard, arg, state);
		return 0;
	case ARGP_KEY_ARG:
		fab_cli_set_fabric(&p->input, arg, state);
		return 0;
	case ARGP_KEY_END:
		check_complete(p, state);
		return 0;
	default:
		return parse_plan_option(key, arg, p, state);
	}
}

static const struct argp_child children[] = {
	{&fab_cli_input_argp, 0, NULL, 0},   {&fab_cli_output_argp, 0, NULL, 0},
	{&fab_cli_run_argp, 0, NULL, 0},     {&bootplan_protocol_argp, 0, NULL, 0},
	{&bootplan_export_argp, 0, NULL, 0}, {&bootplan_methods_argp, 0, NULL, 0},
	{&fab_cli_store_argp, 0, NULL, 0},   {0},
};

static const struct argp argp = {
	.options = options,
	.parser = parse_option,
	.args_doc = "[FABRIC]",
	.doc = "Say which server boots which node of a machine, what bandwidth the nodes "
	       "get when they boot together, and how long that takes, for several "
	       "mappings side by side.",
	.children = children,
	.help_filter = fab_cli_help,
};

int main(int argc, char **argv)
{
	struct bootplan_params p = {
		.run.seed = 1,
		.methods = {.engines = {fab_mcast_engine_find("fulb", 4)},
			    .n_engines = 1,
			    .chunk_bytes = DEFAULT_CHUNK_BYTES},
		.is_equal_share = true,
		.transfer = {.image_bytes = DEFAULT_IMAGE_BYTES,
			     .n_files = 1,
			     .retries = RETRIES_NOT_GIVEN,
			     .efficiency = 1}};
	struct fab_fabric *f = NULL;
	int status = FAB_EXIT_DONE;

	fab_cli_init("fabric-bootplan");
	add_algorithms(&p, "scda,bcda,balanced", NULL);
	fab_cli_parse(&argp, argc, argv, &p);
	if (p.output.list_columns) {
		fab_columns_list(stdout, bootplan_columns, bootplan_n_columns);
	} else {
		if (p.input.fabric)
			f = fab_cli_open_fabric(&p.input, &p.run);
		status = bootplan_run(&p, f);
		fab_fabric_free(f);
	}
	free(p.servers.v);
	free(p.failed.v);
	fab_cli_close_store(&p.store);
	return status;
}
