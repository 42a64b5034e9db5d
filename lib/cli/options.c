/* SPDX-License-Identifier: BSD-2-Clause */
/* A command line by the tables of a command: argp finds the options, rows take them. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/internal.h"

enum { KEY_FIRST = 0x100 };

void fab_given_init(struct fab_given *g, const struct fab_command *c, void *params)
{
	*g = (struct fab_given){.command = c, .params = params};
	for (const struct fab_part *part = c->parts; part->rows; part++)
		for (const struct fab_option *o = part->rows; o->name || o->help; o++)
			FAB_PUSH(&g->of,
				 ((struct fab_given_option){
					 .row = o, .at = (char *)params + part->offset}));
}

static int key_of(const struct fab_given *g, size_t i)
{
	while (g->of.v[i].row->takes == FAB_TAKES_ALIAS)
		i--;
	return g->of.v[i].row->letter ? g->of.v[i].row->letter : KEY_FIRST + (int)i;
}

/* The rows as argp has them, NULL-ended; the caller frees. */
static struct argp_option *argp_options(const struct fab_given *g)
{
	struct argp_option *options = FAB_NEW0(g->of.n + 2, struct argp_option);
	int group = 0;

	for (size_t i = 0; i < g->of.n; i++) {
		const struct fab_option *o = g->of.v[i].row;

		group += o->takes == FAB_TAKES_HEADING;
		options[i] = (struct argp_option){
			.name = o->name,
			.key = o->name ? key_of(g, i) : 0,
			.arg = o->arg,
			.flags = o->is_optional ? OPTION_ARG_OPTIONAL : 0,
			.doc = o->help,
			.group = group};
		if (o->takes == FAB_TAKES_ALIAS)
			options[i].flags = OPTION_ALIAS | OPTION_HIDDEN;
	}
	options[g->of.n] = (struct argp_option){
		.key = 'h', .flags = OPTION_HIDDEN, .doc = "Give this help list"};
	return options;
}

static _Noreturn void refuse(struct argp_state *state, const char *option,
			     const struct fab_err *err)
{
	/* sentences on patterns name their option */
	bool is_named = !option || !strncmp(err->text, "--", 2);

	argp_error(state, "%s%s%s%s", is_named ? "" : "--", is_named ? "" : option,
		   is_named ? "" : ": ", err->text);
	abort(); /* argp_error exits */
}

static void *target(const struct fab_given_option *given, const struct fab_target *to)
{
	return (char *)given->at + to->offset;
}

/* One use of an option; arg NULL: without its value. */
static void take(struct fab_given *g, size_t i, const char *arg, struct argp_state *state)
{
	struct fab_given_option *given = &g->of.v[i];
	const struct fab_option *o = given->row;
	struct fab_err err;

	given->is_given = true;
	given->text = arg = arg ? arg : o->bare;
	if (o->flag.bytes)
		*(bool *)target(given, &o->flag) = true;
	if (o->arg && !arg)
		return;
	if (fab_option_take(o, given->at, arg, &err))
		refuse(state, o->name, &err);
}

static void preset(struct fab_given *g)
{
	for (size_t i = 0; i < g->of.n; i++) {
		const struct fab_option *o = g->of.v[i].row;

		/* a bad one is a mistake in the table */
		if (o->preset && fab_option_take(o, g->of.v[i].at, o->preset, NULL))
			assert(!"preset");
	}
}

static void take_argument(struct fab_given *g, const char *arg, struct argp_state *state)
{
	struct fab_err err;

	if (g->command->verbs && !g->verb ? fab_verb_take(g, arg, &err)
	    : g->command->argument
		    ? g->command->argument(g->params, arg, &err)
		    : fab_cli_take_fabric(fab_given_part(g, fab_cli_input_rows), arg,
					  &err))
		refuse(state, NULL, &err);
}

/* All is read: does it go together? */
static void finish(struct fab_given *g, struct argp_state *state)
{
	const struct fab_cli_output *output = fab_given_part(g, fab_cli_output_rows);
	const struct fab_command *c = g->command;
	struct fab_cli_columns columns = c->columns(g->params);
	struct fab_err err;

	assert(output);
	if (output->columns && columns.v &&
	    fab_columns_check(output->columns, columns.v, columns.n, &err))
		refuse(state, "columns", &err);
	if (fab_given_check(g, output->list_columns, &err))
		refuse(state, NULL, &err);
	if (output->list_columns)
		return;
	if (c->complete && c->complete(g->params, &err))
		refuse(state, NULL, &err);
	if (fab_cli_find_clash(output, &err))
		refuse(state, NULL, &err);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct fab_given *g = state->input;

	if (key == ARGP_KEY_ARG) {
		take_argument(g, arg, state);
		return 0;
	}
	if (key == 'h')
		argp_state_help(state, stdout, ARGP_HELP_STD_HELP);
	if (key == ARGP_KEY_END) {
		finish(g, state);
		return 0;
	}
	for (size_t i = 0; i < g->of.n; i++)
		if (g->of.v[i].row->name && key_of(g, i) == key &&
		    g->of.v[i].row->takes != FAB_TAKES_ALIAS) {
			take(g, i, arg, state);
			return 0;
		}
	return ARGP_ERR_UNKNOWN;
}

void fab_cli_read(const struct fab_command *c, int argc, char **argv, void *params)
{
	struct fab_given g;
	char *args = fab_verb_args(c), *doc = fab_verb_doc(c);
	struct argp argp = {.parser = parse,
			    .args_doc = args,
			    .doc = doc,
			    .help_filter = fab_cli_help};
	struct argp_option *options;
	struct fab_cli_store *store;

	fab_given_init(&g, c, params);
	argp.options = options = argp_options(&g);
	store = fab_given_part(&g, fab_cli_store_rows);
	if (store) { /* parsing will change the order of the arguments */
		store->arguments = fab_cli_quote(argc - 1, argv + 1);
		store->job = fab_cli_job_text(&argp, argc, argv);
	}
	preset(&g);
	fab_cli_parse(&argp, argc, argv, &g);
	free(args);
	free(doc);
	free(options);
	free(g.of.v);
}

void *fab_given_part(const struct fab_given *g, const struct fab_option *rows)
{
	for (const struct fab_part *part = g->command->parts; part->rows; part++)
		if (part->rows == rows)
			return (char *)g->params + part->offset;
	return NULL;
}

void fab_cli_free_params(const struct fab_command *c, void *params)
{
	struct fab_given g;

	fab_given_init(&g, c, params);
	for (size_t i = 0; i < g.of.n; i++)
		fab_option_free(g.of.v[i].row, g.of.v[i].at);
	free(g.of.v);
}
