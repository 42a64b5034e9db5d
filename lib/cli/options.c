/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A command line by the tables of a command: argp finds the options, rows take them.
 * Verbs, --help, and the arguments that shards of one sweep have in common. Settings are
 * expert options without a place in --help: --set NAME=VALUE sets one by its row in the
 * table of the command, --list-settings prints the table, as man/fill.c does for the
 * page.
 */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cli/command.h"
#include "cli/internal.h"

enum { KEY_FIRST = 0x100, KEY_SET = 0x10000, KEY_LIST_SETTINGS, KEY_USAGE };
enum { HELP_COLUMNS = 78 };

/* Options that shards may differ in. */
static const char *const apart[] = {"shard",   "store",	 "label",  "threads", "quiet",
				    "verbose", "output", "format", "columns", "no-header",
				    "check",   "plot",	 "report"};

/* One argument as a shell would read it; returns the end of what was written. */
static char *quote(char *out, const char *arg)
{
	static const char plain[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=+:,./@%^";

	if (*arg && strspn(arg, plain) == strlen(arg))
		return stpcpy(out, arg);
	*out++ = '\'';
	for (; *arg; arg++)
		if (*arg == '\'')
			out = stpcpy(out, "'\\''");
		else
			*out++ = *arg;
	*out++ = '\'';
	*out = 0;
	return out;
}

static char *quote_all(int n, char **args)
{
	size_t size = 1;
	char *text, *end;

	for (int i = 0; i < n; i++)
		size += 4 * strlen(args[i]) + 3;
	end = text = fab_zalloc(size, 1);
	for (int i = 0; i < n; i++) {
		if (i)
			*end++ = ' ';
		end = quote(end, args[i]);
	}
	return text;
}

/* Is a name one of those between commas? */
static bool is_among(const char *name, const char *names)
{
	size_t len = name ? strlen(name) : 0;

	for (const char *at = names; len && at && *at;) {
		size_t n = strcspn(at, ",");

		if (n == len && !memcmp(at, name, n))
			return true;
		at += n + (at[n] != '\0');
	}
	return false;
}

void fab_given_init(struct fab_given *g, const struct fab_command *c, void *params)
{
	*g = (struct fab_given){.command = c, .params = params};
	for (const struct fab_part *part = c->parts; part->rows; part++)
		for (const struct fab_option *o = part->rows; o->name || o->help; o++)
			if (!is_among(o->name, part->left_out))
				FAB_PUSH(&g->of,
					 ((struct fab_given_option){.row = o,
								    .at = (char *)params +
									  part->offset}));
	for (const struct fab_option *o = c->settings; o && o->name; o++)
		FAB_PUSH(&g->of, ((struct fab_given_option){
					 .row = o, .at = params, .is_setting = true}));
}

const struct fab_task *fab_given_task(const struct fab_given *g)
{
	const struct fab_command *c = g->command;

	const struct fab_verb *verb = g->verb ? g->verb : c->verbs;

	if (verb && verb->task)
		return verb->task;
	return c->choose ? c->choose(g->params) : c->task;
}

struct fab_cli_columns fab_given_columns(const struct fab_given *g)
{
	const struct fab_task *task = fab_given_task(g);

	return task->columns ? (struct fab_cli_columns){task->columns, *task->n_columns}
			     : (struct fab_cli_columns){0};
}

const struct fab_given_option *fab_given_option(const struct fab_given *g,
						const char *name)
{
	for (size_t i = 0; i < g->of.n; i++) {
		const struct fab_given_option *o = &g->of.v[i];

		if (o->row->name && !strcmp(o->row->name, name))
			return o;
	}
	assert(!"option of a file");
	return NULL;
}

struct fab_cli_plot *fab_given_plot(const struct fab_given *g, const char *option)
{
	const struct fab_given_option *o = fab_given_option(g, option);
	void *to = (char *)o->at + o->row->to.offset;

	return o->row->takes == FAB_TAKES_PLOT ? to : NULL;
}

static int key_of(const struct fab_given *g, size_t i)
{
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
		options[n++] = (struct argp_option){
			.name = o->name,
			.key = o->name ? key_of(g, i) : 0,
			.arg = o->arg,
			.flags = o->is_optional ? OPTION_ARG_OPTIONAL : 0,
			.doc = o->help,
			.group = everyday_only ? 0 : group};
	}
	for (size_t i = 0; g->command->settings && i < FAB_COUNT(settings); i++)
		options[n++] = settings[i];
	for (size_t i = 0; i < FAB_COUNT(general); i++)
		options[n++] = general[i];
	return options;
}

/* Arguments and text of --help, with the verbs; on the heap. */
static void make_texts(const struct fab_command *c, char **args, char **doc)
{
	int width = 0;

	*args = c->args ? fab_strdup(c->args) : NULL;
	*doc = c->doc ? fab_strdup(c->doc) : NULL;
	if (!c->verbs)
		return;
	fab_append(doc, "", "\n");
	for (const struct fab_verb *v = c->verbs; v->name; v++)
		if ((int)strlen(v->name) > width)
			width = (int)strlen(v->name);
	for (const struct fab_verb *v = c->verbs; v->name; v++) {
		const char *at = v->help, *line = at, *name = v->name;

		fab_append(args, "\n", "%s%s%s", v->name, *v->args ? " " : "", v->args);
		while (*at) { /* "  NAME     what it does", further lines below it */
			size_t n = fab_wrap_line(&at, (size_t)(HELP_COLUMNS - width - 3));

			fab_append(doc, "", "\n  %-*s %.*s", width, name, (int)n, line);
			line = at;
			name = "";
		}
	}
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

/* One use of an option or a setting; `arg` NULL: without its value. EINVAL. */
static int take_given(struct fab_given *g, size_t i, const char *arg, struct fab_err *err)
{
	struct fab_given_option *given = &g->of.v[i];
	const struct fab_option *o = given->row;
	FAB_AUTOFREE char *name =
		fab_format("%s%s", given->is_setting ? "--set " : "--", o->name);
	int rc;

	given->is_given = true;
	given->text = arg = arg ? arg : o->bare;
	if (o->flag.bytes)
		*(bool *)((char *)given->at + o->flag.offset) = true;
	rc = o->arg && !arg ? 0 : fab_option_take(o, given->at, arg, err);
	if (!rc && (o->takes == FAB_TAKES_OUTPUT || o->takes == FAB_TAKES_PLOT))
		fab_cli_note_output(name, arg);
	else if (!rc &&
		 (o->takes == FAB_TAKES_INPUT || o->takes == FAB_TAKES_FILE_OR_TEXT))
		fab_cli_note_input(name, arg);
	return rc;
}

/* Part of the job that shards of one sweep have in common: an option or an argument. */
static void note_job(struct fab_given *g, const char *option, const char *arg)
{
	const char *name = option && arg && !strcmp(option, "set") ? arg : option;
	size_t len = name ? strcspn(name, "=") : 0;

	for (size_t i = 0; name && i < FAB_COUNT(apart); i++)
		if (strlen(apart[i]) == len && !strncmp(name, apart[i], len))
			return;
	FAB_PUSH(&g->job,
		 option ? fab_format("--%s%s%s", option, arg ? "=" : "", arg ? arg : "")
			: fab_strdup(arg));
}

/* A verb, then FABRIC or what the command takes. */
static int take_argument(struct fab_given *g, const char *arg, struct fab_err *err)
{
	const struct fab_command *c = g->command;
	FAB_AUTOFREE char *names = NULL;

	note_job(g, NULL, arg);
	if (!c->verbs || g->verb)
		return c->argument
			       ? c->argument(g->params, arg, err)
			       : fab_cli_take_fabric(
					 fab_given_part(g, fab_cli_input_rows), arg, err);
	assert(c->verb.bytes == sizeof(uint32_t));
	for (const struct fab_verb *v = c->verbs; v->name; v++) {
		if (strcmp(v->name, arg) != 0)
			continue;
		g->verb = v;
		*(uint32_t *)((char *)g->params + c->verb.offset) =
			(uint32_t)(v - c->verbs);
		return 0;
	}
	names = fab_verb_names(c->verbs);
	return fab_fail(err, EINVAL, "'%s' is no verb of %s: expected %s", arg, c->name,
			names);
}

/* All is read: does it go together? */
static void finish(struct fab_given *g, struct argp_state *state)
{
	struct fab_cli_output *output = fab_given_part(g, fab_cli_output_rows);
	const struct fab_command *c = g->command;
	struct fab_cli_columns columns = fab_given_columns(g);
	struct fab_err err;
	bool lists;

	assert(output);
	output->list_columns = output->columns && !strcmp(output->columns, "help");
	if (output->list_columns)
		output->columns = NULL;
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

/* argp's help_filter: the names of a table in place of @MULTICAST@ and the like. */
static char *fill_names(int key, const char *text, void *input)
{
	const char *mark = text ? strchr(text, '@') : NULL;

	(void)key;
	(void)input;
	for (size_t i = 0; mark && i < fab_cli_n_tables; i++) {
		const struct fab_cli_table *table = &fab_cli_tables[i];
		size_t len = strlen(table->name);
		char *filled;
		FAB_AUTOFREE char *names = NULL;

		if (strncmp(mark + 1, table->name, len) != 0 || mark[len + 1] != '@')
			continue;
		names = fab_choices_text(table->choices, "");
		filled = fab_format("%.*s%s%s", (int)(mark - text), text, names,
				    mark + len + 2);
		return filled;
	}
	return (char *)(uintptr_t)text;
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

/* yes, or the name alone; no. */
static int take_switch(struct fab_given *g, size_t i, const char *value,
		       struct fab_err *err)
{
	struct fab_given_option *given = &g->of.v[i];

	if (value && strcmp(value, "yes") != 0 && strcmp(value, "no") != 0)
		return fab_fail(err, EINVAL, "'%s' is unknown; expected yes or no",
				value);
	*(bool *)((char *)given->at + given->row->to.offset) =
		!value || !strcmp(value, "yes");
	given->is_given = true;
	return 0;
}

static int take_setting(struct fab_given *g, const char *arg, struct fab_err *err)
{
	size_t len = strcspn(arg, "="), i = 0;
	const char *value = arg[len] ? arg + len + 1 : NULL;
	const struct fab_option *o;
	int rc;

	while (i < g->of.n &&
	       !(g->of.v[i].is_setting && strlen(g->of.v[i].row->name) == len &&
		 !memcmp(g->of.v[i].row->name, arg, len)))
		i++;
	if (i == g->of.n) {
		FAB_AUTOFREE FAB_VEC(const char *) names = {0};
		struct fab_choices choices = {.what = "setting"};

		for (size_t k = 0; k < g->of.n; k++)
			if (g->of.v[k].is_setting)
				FAB_PUSH(&names, g->of.v[k].row->name);
		choices.names = names.v;
		choices.n = names.n;
		return fab_choices_refuse(&choices, arg, len, NULL, err);
	}
	o = g->of.v[i].row;
	if (o->takes == FAB_TAKES_NOTHING)
		rc = take_switch(g, i, value, err);
	else if (!value && !o->is_optional)
		rc = fab_fail(err, EINVAL, "the value is missing: expected %s=%s",
			      o->name, o->arg);
	else
		rc = take_given(g, i, value, err);
	if (rc) {
		FAB_AUTOFREE char *where = fab_format("--set %s", o->name);

		fab_err_prefix(err, where);
	}
	return rc;
}

/* The setting that a word gives as an option, as other commands have it; NULL: none. */
static const struct fab_option *misplaced(const struct fab_given *g, const char *word)
{
	const struct fab_option *found = NULL;
	size_t len = strcspn(word, "=");

	for (size_t i = 0; i < g->of.n && !strncmp(word, "--", 2); i++) {
		const struct fab_option *o = g->of.v[i].row;

		if (!o->name || strlen(o->name) != len - 2 ||
		    strncmp(word + 2, o->name, len - 2) != 0)
			continue;
		if (!g->of.v[i].is_setting)
			return NULL;
		found = o;
	}
	return found;
}

static void refuse_misplaced(const struct fab_given *g, struct argp_state *state)
{
	struct fab_err err;

	for (int i = 1; i < state->argc && strcmp(state->argv[i], "--") != 0; i++) {
		const struct fab_option *o = misplaced(g, state->argv[i]);

		if (!o)
			continue;
		(void)fab_fail(&err, EINVAL, "--%s is a setting: --set %s%s%s", o->name,
			       o->name, o->arg ? "=" : "", o->arg ? o->arg : "");
		refuse(state, NULL, &err);
	}
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct fab_given *g = state->input;
	struct fab_err err;

	for (size_t i = 0; i < g->of.n; i++) {
		const struct fab_given_option *o = &g->of.v[i];

		if (!o->row->name || o->is_setting || key_of(g, i) != key)
			continue;
		note_job(g, o->row->name, arg);
		if (take_given(g, i, arg, &err))
			refuse(state, o->row->name, &err);
		return 0;
	}
	switch (key) {
	case ARGP_KEY_INIT:
		state->name = program_invocation_short_name; /* set later, too */
		refuse_misplaced(g, state);
		return 0;
	case ARGP_KEY_ARG:
		if (take_argument(g, arg, &err))
			refuse(state, NULL, &err);
		return 0;
	case ARGP_KEY_END:
		finish(g, state);
		return 0;
	case '?':
		if (arg && strcmp(arg, "all") != 0) {
			(void)fab_fail(&err, EINVAL, "'%s' is unknown; expected all",
				       arg);
			refuse(state, "help", &err);
		}
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
		note_job(g, "set", arg);
		if (take_setting(g, arg, &err))
			refuse(state, "set", &err);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

void fab_given_read(struct fab_given *g, int argc, char **argv)
{
	FAB_AUTOFREE struct argp_option *options = argp_options(g, false);
	struct fab_cli_store *store = fab_given_part(g, fab_cli_store_rows);
	FAB_AUTOFREE char *args = NULL, *doc = NULL;
	struct argp argp = {
		.options = options, .parser = parse, .help_filter = fill_names};

	make_texts(g->command, &args, &doc);
	argp.args_doc = args;
	argp.doc = doc;
	/* parsing will change the order of the arguments */
	g->arguments = quote_all(argc - 1, argv + 1);
	if (store)
		store->arguments = fab_strdup(g->arguments);
	for (size_t i = 0; i < g->of.n; i++) {
		const struct fab_option *o = g->of.v[i].row;

		/* a bad one is a mistake in the table */
		if (o->preset && fab_option_take(o, g->of.v[i].at, o->preset, NULL))
			assert(!"preset");
	}
	fab_cli_hold();
	if (argp_parse(&argp, argc, argv, ARGP_NO_HELP, NULL, g) != 0)
		fab_oom(0);
	fab_cli_release();
	if (store)
		store->job = quote_all((int)g->job.n, g->job.v);
	for (size_t i = 0; i < g->job.n; i++)
		free(g->job.v[i]);
	free(g->job.v);
}

void fab_given_fini(struct fab_given *g)
{
	for (size_t i = 0; i < g->of.n; i++)
		fab_option_free(g->of.v[i].row, g->of.v[i].at);
	FAB_FREE_ALL(g->of.v, g->arguments);
}

/* A row of the list. */
struct record {
	const char *setting, *preset, *help;
	char *range; /* on the heap */
};

int fab_settings_list(const struct fab_given *g, struct fab_err *err)
{
	static const struct fab_column columns[] = {
		FAB_COLUMN(setting, TEXT, "name"),
		{"default", FAB_TEXT, "value without --set", 0,
		 FAB_AT(struct record, preset)},
		FAB_COLUMN(range, TEXT, "values that it takes"),
		FAB_COLUMN(help, TEXT, "effect"),
	};
	struct fab_cli_results results = {.n = 0};
	struct fab_report_options options;
	FILE *file = fab_cli_open_report(&results, fab_given_part(g, fab_cli_output_rows),
					 &options);
	struct fab_report *r;
	int rc;

	options.columns = NULL;
	r = fab_cli_begin_report(file, &options, g->command->name, "settings", NULL);
	fab_report_table_begin(r, "settings", NULL, columns, FAB_COUNT(columns));
	for (size_t i = 0; i < g->of.n; i++) {
		const struct fab_option *o = g->of.v[i].row;
		struct record row = {o->name,
				     o->preset			     ? o->preset
				     : o->otherwise		     ? o->otherwise
				     : o->takes == FAB_TAKES_NOTHING ? "no"
								     : NULL,
				     o->help, NULL};

		if (!g->of.v[i].is_setting)
			continue;
		row.range = fab_option_range(o);
		fab_report_record(r, &row);
		free(row.range);
	}
	fab_report_table_end(r);
	rc = fab_report_finish(r, err);
	return rc ? rc : fab_cli_commit_results(&results, err);
}
