/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What can stand on a command line, for the completions of shells: COMMAND --complete
 * WORD... prints what can replace the last word, a line each with a tab and its meaning,
 * by the table of options, the fabric on the line and the tables of names. A line
 * `:files` or `:folders` stands for their names, which begin with what is behind its tab.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "cli/internal.h"
#include "fabric/fabric.h"
#include "source/source.h"

struct fab_offers {
	const char *lead; /* stands before every word: "--fail=leaf01," */
	size_t lead_len;
	const char *begun; /* the rest of the last word of the line */
};

void fab_cli_offer(struct fab_offers *to, const char *word, const char *help)
{
	static const char plain[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._+:/@=-";
	size_t len = 0;

	/* up to names of a table, and to what a terminal would interpret */
	while (help && help[len] >= ' ' && help[len] <= '~' && help[len] != '@')
		len++;
	if (*word && !word[strspn(word, plain)] &&
	    !strncmp(word, to->begun, strlen(to->begun)))
		printf("%.*s%s\t%.*s\n", (int)to->lead_len, to->lead, word, (int)len,
		       help ? help : "");
}

static void offer_files(const struct fab_offers *to, const char *kind)
{
	printf(":%s\t%s\n", kind, to->begun);
}

/* Words between blanks, each with `end` behind it. */
static void offer_words(struct fab_offers *to, const char *words, const char *end)
{
	while (*words) {
		size_t len = strcspn(words, " ");
		FAB_AUTOFREE char *word = fab_format("%.*s%s", (int)len, words, end);

		fab_cli_offer(to, word, NULL);
		words += len + strspn(words + len, " ");
	}
}

/* The rest of the last word behind `begun` bytes of it is what is completed. */
static void begin_at(struct fab_offers *to, size_t n)
{
	to->lead_len += n;
	to->begun += n;
}

/* The same behind the last of these characters, if there is one. */
static void begin_behind(struct fab_offers *to, const char *marks)
{
	size_t len = strlen(to->begun);

	while (len && !strchr(marks, to->begun[len - 1]))
		len--;
	begin_at(to, len);
}

/* Forms as they are typed, up to an argument: "shift:" of "shift:K". */
static void offer_choices(struct fab_offers *to, const struct fab_choices *c)
{
	for (size_t i = 0; i < c->n; i++) {
		const struct fab_choice row =
			c->names ? (struct fab_choice){.form = c->names[i]} : c->at(i);
		FAB_AUTOFREE char *word = fab_strdup(row.form);

		word[strcspn(word, "ABCDEFGHIJKLMNOPQRSTUVWXYZ")] = '\0';
		fab_cli_offer(to, word, row.summary);
	}
}

/* The argument that is a fabric: a generated one or a file. */
static const char *find_fabric(int n, char **words)
{
	struct stat st;

	for (int i = 0; i + 1 < n; i++)
		if (!strncmp(words[i], "gen:", 4) ||
		    (*words[i] != '-' && !stat(words[i], &st) && S_ISREG(st.st_mode)))
			return words[i];
	return NULL;
}

static void offer_names(struct fab_offers *to, const char *fabric)
{
	struct fab_fabric *f;
	struct fab_err err;

	if (!fabric || fab_source_open(fabric, NULL, &f, &err))
		return;
	for (fab_node_id s = 0; s < f->n_switches; s++)
		fab_cli_offer(to, fab_node_name(f, s), "switch");
	for (fab_host_id h = 0; h < f->n_hosts; h++)
		fab_cli_offer(to, fab_host_name(f, h), "host");
	fab_fabric_free(f);
}

/* A file, the live fabric, or a generated one with its parameters. */
static void offer_fabrics(struct fab_offers *to)
{
	const char *kind = to->begun + 4, *colon;
	FAB_AUTOFREE char *words = NULL;

	if (strncmp(to->begun, "gen:", 4) != 0) {
		offer_files(to, "files");
		fab_cli_offer(to, "gen:", "a generated fabric");
		fab_cli_offer(to, "ib:", "the live fabric");
		return;
	}
	colon = strchr(kind, ':');
	words = fab_gen_words(kind, colon ? (size_t)(colon - kind) : 0);
	begin_behind(to, colon ? ":," : ":");
	offer_words(to, words, colon ? "=" : ":");
}

static void offer_value(struct fab_offers *to, const struct fab_given *g,
			const struct fab_option *o, const char *fabric)
{
	if (o->takes == FAB_TAKES_INPUT || o->takes == FAB_TAKES_OUTPUT ||
	    o->takes == FAB_TAKES_PLOT || o->takes == FAB_TAKES_FILE_OR_TEXT)
		offer_files(to, "files");
	if (!strcmp(o->name, "columns")) {
		struct fab_cli_columns columns = fab_given_columns(g);
		bool is_first = !strchr(to->begun, ',');

		begin_behind(to, ",");
		for (size_t i = 0; i < columns.n; i++)
			fab_cli_offer(to, columns.v[i].name, columns.v[i].help);
		if (is_first)
			fab_cli_offer(to, "help", "say which columns there are");
	} else if (o->offers && !strcmp(o->offers, FAB_OFFERS_FOLDERS)) {
		offer_files(to, "folders");
	} else if (o->offers && !strcmp(o->offers, FAB_OFFERS_NAMES)) {
		begin_behind(to, ",");
		offer_names(to, fabric);
	} else if (o->offers) {
		begin_behind(to, ",");
		offer_words(to, o->offers, "");
	} else if (o->takes == FAB_TAKES_ONE) {
		offer_choices(to, o->choices);
	} else if (o->takes == FAB_TAKES_CHOSEN) {
		begin_behind(to, ",");
		fab_cli_offer(to, "all", NULL);
		offer_choices(to, o->choices);
	} else {
		for (size_t i = 0; i < fab_cli_n_tables; i++) {
			FAB_AUTOFREE char *mark =
				fab_format("@%s@", fab_cli_tables[i].name);

			if (strstr(o->help, mark))
				offer_choices(to, fab_cli_tables[i].choices);
		}
	}
}

static void offer_options(struct fab_offers *to, const struct fab_given *g)
{
	static const char *const general[] = {"--help", "--usage", "--version"};

	for (size_t i = 0; i < g->of.n; i++) {
		const struct fab_option *o = g->of.v[i].row;
		const char *end = o->arg && !o->is_optional ? "=" : "";
		FAB_AUTOFREE char *word =
			o->name ? fab_format("--%s%s", o->name, end) : NULL;

		if (word && !g->of.v[i].is_setting)
			fab_cli_offer(to, word, o->help);
	}
	for (size_t i = 0; i < FAB_COUNT(general); i++)
		fab_cli_offer(to, general[i], NULL);
	if (!g->command->settings)
		return;
	fab_cli_offer(to, "--set=", "an expert setting");
	fab_cli_offer(to, "--list-settings", "the settings with their defaults");
}

/* The value of --set: names of settings, or the value of one. */
static void offer_settings(struct fab_offers *to, const struct fab_given *g,
			   const char *fabric)
{
	size_t len = strcspn(to->begun, "=");

	for (size_t i = 0; i < g->of.n; i++) {
		const struct fab_option *o = g->of.v[i].row;
		FAB_AUTOFREE char *word = NULL;

		if (!g->of.v[i].is_setting)
			continue;
		word = fab_format("%s%s", o->name, o->arg ? "=" : "");
		if (!to->begun[len]) {
			fab_cli_offer(to, word, o->help);
		} else if (o->arg && !strncmp(word, to->begun, len + 1)) {
			begin_at(to, len + 1);
			offer_value(to, g, o, fabric);
			return;
		}
	}
}

static void offer_argument(struct fab_offers *to, const struct fab_given *g,
			   const char *file)
{
	const struct fab_command *c = g->command;
	const char *args = g->verb ? g->verb->args : c->args;

	if (c->verbs && !g->verb) {
		for (const struct fab_verb *v = c->verbs; v->name; v++)
			fab_cli_offer(to, v->name, v->help);
	} else if (c->offer) {
		offer_files(to, "files");
		c->offer(to, NULL, file, to->begun);
	} else if (args && strstr(args, "FABRIC")) {
		offer_fabrics(to);
	}
}

/* Does a word that begins with a dash name the option: "--name" of this length, or "-x"?
 */
static bool names(const char *word, size_t len, const char *name, char letter)
{
	if (len == 2 && letter)
		return word[1] == letter;
	return len == strlen(name) + 2 && !strncmp(word, "--", 2) &&
	       !memcmp(word + 2, name, len - 2);
}

/* The option whose value is the last word, or what stands behind = in it, to which `to`
 * goes on then; "set", too. NULL: none. */
static const char *find_option(const struct fab_given *g, int n, char **words,
			       struct fab_offers *to)
{
	const char *equals = strchr(to->begun, '=');
	bool is_inside = !strncmp(to->begun, "--", 2) && equals;
	const char *word = is_inside ? to->begun : n > 1 ? words[n - 2] : "";
	size_t len = is_inside ? (size_t)(equals - word) : strlen(word);
	const char *found = NULL;

	for (size_t i = 0; i < g->of.n && !found; i++) {
		const struct fab_option *o = g->of.v[i].row;

		if (o->name && o->arg && !g->of.v[i].is_setting &&
		    (is_inside || !o->is_optional) &&
		    names(word, len, o->name, word[0] == '-' ? o->letter : 0))
			found = o->name;
	}
	if (!found && g->command->settings && names(word, len, "set", 0))
		found = "set";
	if (found && is_inside)
		begin_at(to, len + 1);
	return found;
}

void fab_given_complete(struct fab_given *g, int n, char **words)
{
	struct fab_offers to = {.lead = words[n - 1], .begun = words[n - 1]};
	const char *fabric = find_fabric(n, words), *option;

	for (const struct fab_verb *v = g->command->verbs; n > 1 && v && v->name; v++)
		if (!strcmp(v->name, words[0]))
			g->verb = v;
	option = find_option(g, n, words, &to);
	if (!option && *to.begun == '-')
		offer_options(&to, g);
	else if (!option)
		offer_argument(&to, g, fabric);
	else if (!strcmp(option, "set"))
		offer_settings(&to, g, fabric);
	else
		offer_value(&to, g, fab_given_option(g, option)->row, fabric);
	if (option && g->command->offer) {
		begin_behind(&to, ",");
		g->command->offer(&to, option, fabric, to.begun);
	}
}
