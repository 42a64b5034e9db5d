/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A command line by the tables of a command: argp finds the options, rows take them.
 * Verbs, --help, messages that are safe for a terminal, and what shards of one sweep have
 * in common.
 */
#include <assert.h>
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/internal.h"

/* What the parser says while it runs; getopt knows no stream but stderr. */
static struct {
	FILE *terminal; /* the true standard error, NULL: not parsing */
	FILE *memory;
	char *text;
	size_t n;
} said;

FILE *fab_cli_terminal(void)
{
	return said.terminal ? said.terminal : stderr;
}

/* Behind the message argp points to --help, in a line or two of its own. */
static size_t message_len(const char *text)
{
	const char *hint = NULL;

	for (const char *at = text; (at = strstr(at, "\nTry ")); at++)
		hint = at;
	return hint ? (size_t)(hint - text) : strlen(text);
}

/* Print what was said: the message as one line, then argp's own text as it is. */
static void release(void)
{
	size_t len, size;
	char *message, *safe;

	if (!said.terminal)
		return;
	fclose(said.memory);
	stderr = said.terminal;
	said.terminal = NULL;
	len = message_len(said.text);
	if (len && said.text[len - 1] == '\n')
		len--;
	message = fab_strndup(said.text, len);
	size = 4 * len + 8;
	safe = fab_text_local(fab_text_safe(message, fab_alloc(size, 1), size));
	if (said.n)
		fprintf(stderr, "%s%s", safe, said.text + len);
	free(safe);
	free(message);
	free(said.text);
	said.text = NULL;
}

/* argp_parse() with messages that are safe for a terminal: whatever argp, getopt or a
 * parser says of an argument is one line without control characters. */
static void parse_line(const struct argp *argp, int argc, char **argv, void *input)
{
	static bool is_registered;

	if (!is_registered)
		atexit(release);
	is_registered = true;
	said.memory = open_memstream(&said.text, &said.n);
	if (!said.memory)
		fab_oom(0);
	said.terminal = stderr;
	stderr = said.memory;
	argp_parse(argp, argc, argv, ARGP_NO_HELP, NULL, input);
	release();
}

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

/* "run, sweep or trace"; on the heap. */
static char *names_text(const struct fab_verb *verbs)
{
	char *text = NULL;

	for (const struct fab_verb *v = verbs; v->name; v++)
		fab_append(&text, v[1].name ? ", " : " or ", "%s", v->name);
	return text;
}

static int take_verb(struct fab_given *g, const char *arg, struct fab_err *err)
{
	const struct fab_command *c = g->command;
	char *names;
	int rc;

	assert(c->verb.bytes == sizeof(uint32_t));
	for (const struct fab_verb *v = c->verbs; v->name; v++) {
		if (strcmp(v->name, arg) != 0)
			continue;
		g->verb = v;
		*(uint32_t *)((char *)g->params + c->verb.offset) =
			(uint32_t)(v - c->verbs);
		return 0;
	}
	names = names_text(c->verbs);
	rc = fab_fail(err, EINVAL, "'%s' is no verb of %s: expected %s", arg, c->name,
		      names);
	free(names);
	return rc;
}

int fab_verb_check(const struct fab_given *g, bool needs_fabric, struct fab_err *err)
{
	const struct fab_cli_input *input = fab_given_part(g, fab_cli_input_rows);
	bool has_fabric = input && input->fabric;
	char *names;
	int rc;

	if (!g->verb && !needs_fabric)
		return 0;
	if (!g->verb) {
		names = names_text(g->command->verbs);
		rc = fab_fail(err, EINVAL, "the verb is missing: %s", names);
		free(names);
		return rc;
	}
	if (!strstr(g->verb->args, "FABRIC") && has_fabric)
		return fab_fail(err, EINVAL, "%s takes no FABRIC: '%s'", g->verb->name,
				input->fabric);
	if (!needs_fabric || has_fabric || !strstr(g->verb->args, "FABRIC") ||
	    strstr(g->verb->args, "[FABRIC"))
		return 0;
	return fab_fail(err, EINVAL,
			"FABRIC is missing: a file, -, gen:KIND:PARAMETERS or ib:");
}

/* Arguments for --help; on the heap. */
static char *args_of(const struct fab_command *c)
{
	char *text = NULL;

	if (!c->verbs)
		return c->args ? fab_strdup(c->args) : NULL;
	for (const struct fab_verb *v = c->verbs; v->name; v++)
		fab_append(&text, "\n", "%s%s%s", v->name, *v->args ? " " : "", v->args);
	return text;
}

enum { HELP_COLUMNS = 78 };

/* "  NAME     what it does", further lines below the first. */
static void append_verb(char **text, const struct fab_verb *v, int width)
{
	const char *at = v->help, *line = at, *name = v->name;

	while (*at) {
		size_t n = fab_wrap_line(&at, (size_t)(HELP_COLUMNS - width - 3));

		fab_append(text, "", "\n  %-*s %.*s", width, name, (int)n, line);
		line = at;
		name = "";
	}
}

/* Text of --help; on the heap. */
static char *doc_of(const struct fab_command *c)
{
	char *text = c->doc ? fab_strdup(c->doc) : NULL;
	int width = 0;

	for (const struct fab_verb *v = c->verbs; v && v->name; v++)
		width = (int)strlen(v->name) > width ? (int)strlen(v->name) : width;
	if (c->verbs)
		fab_append(&text, "", "\n");
	for (const struct fab_verb *v = c->verbs; v && v->name; v++)
		append_verb(&text, v, width);
	return text;
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

	if (g->command->verbs && !g->verb ? take_verb(g, arg, &err)
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

/* The table that is named at `mark`, "@NAME@"; *end: behind it. */
static const struct fab_cli_table *table_at(const char *mark, const char **end)
{
	for (size_t i = 0; i < fab_cli_n_tables; i++) {
		size_t len = strlen(fab_cli_tables[i].name);

		if (!strncmp(mark + 1, fab_cli_tables[i].name, len) &&
		    mark[len + 1] == '@') {
			*end = mark + len + 2;
			return &fab_cli_tables[i];
		}
	}
	return NULL;
}

/* argp's help_filter: the names of a table in place of @MULTICAST@ and the like. */
static char *fill_names(int key, const char *text, void *input)
{
	char *mark = text ? strchr(text, '@') : NULL, *names, *filled;
	const char *end;
	const struct fab_cli_table *table = mark ? table_at(mark, &end) : NULL;

	(void)key;
	(void)input;
	if (!table)
		return (char *)(uintptr_t)text;
	names = fab_choices_text(table->choices, "");
	filled = fab_format("%.*s%s%s", (int)(mark - text), text, names, end);
	free(names);
	return filled;
}

/* Options that shards may differ in. */
static const char *const apart[] = {"shard",	 "store",  "label",  "threads", "quiet",
				    "verbose",	 "output", "format", "columns", "color",
				    "no-header", "check",  "plot",   NULL};

struct getopt_table {
	FAB_VEC(struct option) longs;
	char shorts[256];
	size_t n_shorts;
};

/* All options of a parser and its children, as getopt knows them. */
static void collect_options(const struct argp *argp, struct getopt_table *t)
{
	for (const struct argp_option *o = argp->options;
	     o && (o->name || o->key || o->doc || o->group); o++) {
		int arg = !o->arg			   ? no_argument
			  : o->flags & OPTION_ARG_OPTIONAL ? optional_argument
							   : required_argument;

		if (o->name)
			FAB_PUSH(&t->longs, ((struct option){.name = o->name,
							     .has_arg = arg,
							     .val = o->key}));
		if (o->key > ' ' && o->key < 127 && t->n_shorts + 4 < sizeof(t->shorts)) {
			t->shorts[t->n_shorts++] = (char)o->key;
			for (int i = 0; i < arg; i++)
				t->shorts[t->n_shorts++] = ':';
		}
	}
	for (const struct argp_child *c = argp->children; c && c->argp; c++)
		collect_options(c->argp, t);
}

static bool is_apart(const char *name)
{
	size_t i = 0;

	while (apart[i] && strcmp(apart[i], name) != 0)
		i++;
	return apart[i] != NULL;
}

static const char *name_of(const struct getopt_table *t, int key, int at)
{
	if (at >= 0)
		return t->longs.v[at].name;
	for (size_t i = 0; i < t->longs.n; i++)
		if (t->longs.v[i].val == key)
			return t->longs.v[i].name;
	return NULL;
}

/* The arguments that shards of one sweep have in common, options by their long names; on
 * the heap. What the parser will refuse is left out. */
static char *job_text(const struct argp *argp, int argc, char **argv)
{
	struct getopt_table t = {0};
	char **args = FAB_NEW0((size_t)argc + 1, char *), **job, *text;
	int n = 0, key, at = -1;

	collect_options(argp, &t);
	FAB_PUSH(&t.longs, ((struct option){0}));
	t.longs.n--;
	memcpy(args, argv, (size_t)argc * sizeof(*args));
	job = FAB_NEW0((size_t)argc + 1, char *);
	opterr = 0;
	optind = 0; /* start anew */
	while ((key = getopt_long(argc, args, t.shorts, t.longs.v, &at)) != -1) {
		const char *name = key == '?' ? NULL : name_of(&t, key, at);

		at = -1;
		if (name && !is_apart(name))
			job[n++] = optarg ? fab_format("--%s=%s", name, optarg)
					  : fab_format("--%s", name);
	}
	for (int i = optind; i < argc && n < argc; i++)
		job[n++] = fab_strdup(args[i]);
	text = fab_cli_quote(n, job);
	for (int i = 0; i < n; i++)
		free(job[i]);
	free(job);
	free(args);
	free(t.longs.v);
	return text;
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
	char *args = args_of(c), *doc = doc_of(c);
	struct argp_option *options = argp_options(g, false);
	struct argp argp = {.options = options,
			    .parser = parse,
			    .args_doc = args,
			    .doc = doc,
			    .help_filter = fill_names};
	struct fab_cli_store *store = fab_given_part(g, fab_cli_store_rows);

	if (store) { /* parsing will change the order of the arguments */
		store->arguments = fab_cli_quote(argc - 1, argv + 1);
		store->job = job_text(&argp, argc, argv);
	}
	preset(g);
	parse_line(&argp, argc, argv, g);
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
