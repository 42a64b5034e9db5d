/* SPDX-License-Identifier: BSD-2-Clause */
/* A command line by the tables of a command: argp finds the options, rows take them. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/internal.h"

enum { KEY_FIRST = 0x100, KEY_SET = 0x10000, KEY_LIST_SETTINGS, KEY_USAGE };

void fab_given_init(struct fab_given *g, const struct fab_command *c, void *params)
{
	*g = (struct fab_given){.command = c, .params = params};
	for (const struct fab_part *part = c->parts; part->rows; part++)
		for (const struct fab_option *o = part->rows; o->name || o->help; o++)
			FAB_PUSH(&g->of,
				 ((struct fab_given_option){
					 .row = o, .at = (char *)params + part->offset}));
	for (const struct fab_option *o = c->settings; o && o->name; o++)
		FAB_PUSH(&g->of, ((struct fab_given_option){
					 .row = o, .at = params, .is_setting = true}));
}

const struct fab_task *fab_given_task(const struct fab_given *g)
{
	const struct fab_command *c = g->command;

	if (c->verbs)
		return (g->verb ? g->verb : c->verbs)->task;
	return c->choose ? c->choose(g->params) : c->task;
}

struct fab_cli_columns fab_given_columns(const struct fab_given *g)
{
	const struct fab_task *task = fab_given_task(g);

	if (!task && g->command->columns)
		return g->command->columns(g->params);
	return task && task->columns
		       ? (struct fab_cli_columns){task->columns, *task->n_columns}
		       : (struct fab_cli_columns){0};
}

static int key_of(const struct fab_given *g, size_t i)
{
	while (g->of.v[i].row->takes == FAB_TAKES_ALIAS)
		i--;
	return g->of.v[i].row->letter ? g->of.v[i].row->letter : KEY_FIRST + (int)i;
}

/* Options that every command has, and those of commands with settings. */
static const struct argp_option general[] = {
	{"help", '?', "all", OPTION_ARG_OPTIONAL,
	 "Give this help list; all: with every option", -1},
	{"usage", KEY_USAGE, NULL, 0, "Give a short usage message", -1},
	{"version", 'V', NULL, 0, "Print program version", -1},
	{NULL, 'h', NULL, OPTION_HIDDEN, "Give this help list", -1},
};
static const struct argp_option settings[] = {
	{"set", KEY_SET, "NAME=VALUE", 0, "Set an expert setting; repeatable", -2},
	{"list-settings", KEY_LIST_SETTINGS, NULL, 0,
	 "List the settings with their defaults, and stop", -2},
};

/* The rows as argp has them, up to a zeroed one; everyday options without headings. The
 * caller frees. */
static struct argp_option *argp_options(const struct fab_given *g, bool everyday_only)
{
	struct argp_option *options =
		FAB_NEW0(g->of.n + FAB_COUNT(general) + FAB_COUNT(settings) + 1,
			 struct argp_option);
	size_t n = 0;
	int group = 0;

	for (size_t i = 0; i < g->of.n && !g->of.v[i].is_setting; i++) {
		const struct fab_option *o = g->of.v[i].row;

		group += o->takes == FAB_TAKES_HEADING;
		if (everyday_only && !o->everyday)
			continue;
		options[n] = (struct argp_option){
			.name = o->name,
			.key = o->name ? key_of(g, i) : 0,
			.arg = o->arg,
			.flags = o->is_optional ? OPTION_ARG_OPTIONAL : 0,
			.doc = o->help,
			.group = everyday_only ? 0 : group};
		if (o->takes == FAB_TAKES_ALIAS)
			options[n].flags = OPTION_ALIAS | OPTION_HIDDEN;
		n++;
	}
	for (size_t i = 0; g->command->settings && i < FAB_COUNT(settings); i++)
		options[n++] = settings[i];
	for (size_t i = 0; i < FAB_COUNT(general); i++)
		options[n++] = general[i];
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

int fab_given_take(struct fab_given *g, size_t i, const char *arg, struct fab_err *err)
{
	struct fab_given_option *given = &g->of.v[i];
	const struct fab_option *o = given->row;

	given->is_given = true;
	given->text = arg = arg ? arg : o->bare;
	if (o->flag.bytes)
		*(bool *)target(given, &o->flag) = true;
	return o->arg && !arg ? 0 : fab_option_take(o, given->at, arg, err);
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
	struct fab_cli_columns columns = fab_given_columns(g);
	struct fab_err err;
	bool lists;

	assert(output);
	lists = output->list_columns || g->lists_settings;
	if (output->columns && columns.v &&
	    fab_columns_check(output->columns, columns.v, columns.n, &err))
		refuse(state, "columns", &err);
	if (fab_given_check(g, lists, &err))
		refuse(state, NULL, &err);
	if (lists)
		return;
	if (c->complete && c->complete(g->params, &err))
		refuse(state, NULL, &err);
	if (fab_cli_find_clash(output, &err))
		refuse(state, NULL, &err);
}

/* --help: everyday options only, if the command says which they are and others are left.
 */
static _Noreturn void print_help(const struct fab_given *g, const struct argp *full,
				 bool all)
{
	struct argp argp = *full;
	struct argp_option *options;
	bool has_everyday = false;
	char name[64], *doc = NULL;

	for (const struct fab_part *part = g->command->parts; part->rows; part++)
		for (const struct fab_option *o = part->rows; o->name || o->help; o++)
			has_everyday |= o->everyday && !part->offset;
	all |= !has_everyday;
	argp.options = options = argp_options(g, !all);
	if (!all)
		argp.doc = doc =
			fab_format("%s%s--help=all lists the other options.", full->doc,
				   strchr(full->doc, '\v') ? "\n" : "\v");
	snprintf(name, sizeof(name), "%s", g->command->name);
	setenv("ARGP_HELP_FMT", "no-dup-args-note", 0);
	argp_help(&argp, stdout, ARGP_HELP_STD_HELP, name);
	free(options);
	free(doc);
	exit(0);
}

static error_t parse_general(struct fab_given *g, int key, const char *arg,
			     struct argp_state *state)
{
	struct fab_err err;

	switch (key) {
	case '?':
		if (arg && strcmp(arg, "all") != 0)
			argp_error(state, "--help: '%s' is not 'all'", arg);
		/* fall through */
	case 'h':
		print_help(g, state->root_argp, arg != NULL);
	case KEY_USAGE:
		argp_state_help(state, stdout, ARGP_HELP_USAGE | ARGP_HELP_EXIT_OK);
		return 0;
	case 'V':
		puts(argp_program_version);
		exit(0);
	case KEY_LIST_SETTINGS:
		g->lists_settings = true;
		return 0;
	case KEY_SET:
		if (fab_setting_take(g, arg, &err))
			refuse(state, "set", &err);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct fab_given *g = state->input;
	struct fab_err err;

	if (key == ARGP_KEY_ARG) {
		take_argument(g, arg, state);
		return 0;
	}
	if (key == ARGP_KEY_END) {
		finish(g, state);
		return 0;
	}
	for (size_t i = 0; i < g->of.n; i++) {
		const struct fab_given_option *o = &g->of.v[i];

		if (!o->row->name || o->is_setting || key_of(g, i) != key ||
		    o->row->takes == FAB_TAKES_ALIAS)
			continue;
		if (fab_given_take(g, i, arg, &err))
			refuse(state, o->row->name, &err);
		return 0;
	}
	return parse_general(g, key, arg, state);
}

void fab_given_read(struct fab_given *g, int argc, char **argv)
{
	const struct fab_command *c = g->command;
	char *args = fab_verb_args(c), *doc = fab_verb_doc(c);
	struct argp_option *options = argp_options(g, false);
	struct argp argp = {.options = options,
			    .parser = parse,
			    .args_doc = args,
			    .doc = doc,
			    .help_filter = fab_cli_help};
	struct fab_cli_store *store = fab_given_part(g, fab_cli_store_rows);

	if (store) { /* parsing will change the order of the arguments */
		store->arguments = fab_cli_quote(argc - 1, argv + 1);
		store->job = fab_cli_job_text(&argp, argc, argv);
	}
	preset(g);
	fab_cli_parse(&argp, argc, argv, g);
	free(args);
	free(doc);
	free(options);
}

void fab_cli_read(const struct fab_command *c, int argc, char **argv, void *params)
{
	struct fab_given g;

	fab_given_init(&g, c, params);
	fab_given_read(&g, argc, argv);
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
