/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * usage: fill man FILE       FILE with the names of tables filled in
 *        fill names TABLE    the names of a table, a line each
 * For the build and the tests. Where TABLE is one of lib/cli/values.c,
 *   @TABLE@         its names
 *   @TABLE_LIST@    a paragraph for each name
 *   @TABLE_LINE@    all of them as text
 * VERSION, FABRIC and the like are texts that pages share (below),
 * RESULTS_FAULTS_LIST and the like are the columns of a command's results,
 * SETTINGS_SIM_LIST and the like its settings (--set), SETTINGS_SIM_LIST:FIRST..LAST
 * a part of them, constants of models as text.
 * Between the lines .FIELDS and .END, a list: names, a tab, text; lines that begin with
 * a tab continue the text. Words in capitals in a name that begins with "-" are values.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "bootplan/bootplan.h"
#include "cli/cli.h"
#include "compare/compare.h"
#include "faults/faults.h"
#include "launch/launch.h"
#include "mcroute/mcroute.h"
#include "rdma/fabric_rdma.h"
#include "sim/fabric_sim.h"
#include "topo/topo.h"

static size_t fill_mark(const char *at);

/* Text in a page: `x` in bold, marks filled in, hyphens unchanged. */
static void print_text(const char *text)
{
	bool is_bold = false;

	for (const char *at = text; *at; at++) {
		size_t len = *at == '@' ? fill_mark(at) : 0;

		if (len) {
			at += len - 1;
		} else if (*at == '`') {
			is_bold = !is_bold;
			fputs(is_bold ? "\\fB" : "\\fR", stdout);
		} else if (*at == '-') {
			fputs("\\-", stdout);
		} else {
			putchar(*at);
		}
	}
}

static bool any_is_in_all(const struct fab_choices *c)
{
	for (size_t i = 0; i < c->n; i++)
		if (c->at(i).is_in_all)
			return true;
	return false;
}

static void print_names(const struct fab_choices *c)
{
	for (size_t i = 0; i < c->n; i++) {
		if (i)
			fputs(", ", stdout);
		print_text(c->at(i).form);
	}
}

static const struct {
	const char *mark;
	const struct fab_column *columns;
	const size_t *n;
} results[] = {
	{"@RESULTS_MCROUTE_LIST@", mcroute_columns, &mcroute_n_columns},
	{"@RESULTS_FAULTS_LIST@", faults_columns, &faults_n_columns},
	{"@RESULTS_RELIABILITY_LIST@", faults_reliability_columns,
	 &faults_reliability_n_columns},
	{"@RESULTS_BOOTPLAN_LIST@", bootplan_columns, &bootplan_n_columns},
	{"@RESULTS_SIM_LIST@", sim_columns, &sim_n_columns},
	{"@RESULTS_LAUNCH_STAGES_LIST@", launch_stages_columns, &launch_stages_n_columns},
	{"@RESULTS_LAUNCH_FENCE_LIST@", launch_fence_columns, &launch_fence_n_columns},
	{"@RESULTS_LAUNCH_MODEX_LIST@", launch_modex_columns, &launch_modex_n_columns},
	{"@RESULTS_LAUNCH_FAULTS_LIST@", launch_faults_columns, &launch_faults_n_columns},
	{"@RESULTS_RDMA_LIST@", rdma_columns, &rdma_n_columns},
	{"@RESULTS_LAUNCH_STORE_LIST@", launch_store_columns, &launch_store_n_columns},
	{"@RESULTS_LAUNCH_ADVISE_LIST@", launch_advise_columns, &launch_advise_n_columns},
	{"@RESULTS_LAUNCH_CALIBRATE_LIST@", launch_calibrate_columns,
	 &launch_calibrate_n_columns},
	{"@RESULTS_LAUNCH_MECHANISMS_LIST@", launch_mechanisms_columns,
	 &launch_mechanisms_n_columns},
	{"@RESULTS_LAUNCH_SIZE_LIST@", launch_size_columns, &launch_size_n_columns},
	{"@RESULTS_SEGMENT_LIST@", bootplan_segment_columns, &bootplan_segment_n_columns},
};

/* A list: paragraphs without a line between, each with a name in front. */
static void begin_list(void)
{
	puts(".PD 0");
}

static void end_list(void)
{
	fputs(".PD", stdout);
}

/* A name in bold; `has_values`: words in capitals stand for values. */
static void print_name(const char *name, size_t len, bool has_values)
{
	bool is_value = false;

	fputs("\\fB", stdout);
	for (size_t i = 0; i < len; i++) {
		bool is_capital = has_values && name[i] >= 'A' && name[i] <= 'Z' &&
				  (is_value || !i || name[i - 1] != '-');

		if (is_capital != is_value)
			fputs(is_capital ? "\\fI" : "\\fB", stdout);
		is_value = is_capital;
		if (name[i] == '-')
			putchar('\\');
		putchar(name[i]);
	}
	fputs("\\fR", stdout);
}

/* The next item of a list, up to its text. */
static void begin_item(const char *name, size_t len, bool has_values)
{
	puts(".HP 4");
	print_name(name, len, has_values);
	fputs("\\ \\ ", stdout);
}

/* The names of a table with what each does. */
static void print_list(const struct fab_choices *c)
{
	bool has_all = any_is_in_all(c);

	begin_list();
	for (size_t i = 0; i < c->n; i++) {
		struct fab_choice row = c->at(i);
		const char *text = row.manual ? row.manual : row.summary;

		begin_item(row.form, strlen(row.form),
			   row.form[fab_choice_row_len(&row)]);
		print_text(text);
		if (has_all && !row.is_in_all)
			printf("%s\nNot in\n.BR all .",
			       *text && text[strlen(text) - 1] != '.' ? "." : "");
		putchar('\n');
	}
	end_list();
}

/* The end of a text that others follow, or that is the last. */
static void end_text(const char *text, bool is_last)
{
	if (*text && text[strlen(text) - 1] == '.')
		fputs(is_last ? "" : " ", stdout);
	else
		fputs(is_last ? "." : "; ", stdout);
}

/* The names of a table with what each does, as text. */
static void print_line(const struct fab_choices *c)
{
	for (size_t i = 0; i < c->n; i++) {
		struct fab_choice row = c->at(i);
		const char *text = row.manual ? row.manual : row.summary;

		print_name(row.form, strlen(row.form),
			   row.form[fab_choice_row_len(&row)]);
		fputs(": ", stdout);
		print_text(text);
		end_text(text, i + 1 == c->n);
	}
}

/* Columns of results: name, of a metric [which value is better, its unit], meaning. */
static void print_columns(const struct fab_column *columns, size_t n)
{
	static const char better[] = {
		[FAB_METRIC_PLAIN] = '=',
		[FAB_METRIC_LESS] = '-',
		[FAB_METRIC_MORE] = '+',
		[FAB_METRIC_TIME] = 't',
	};

	begin_list();
	for (size_t i = 0; i < n; i++) {
		const struct fab_column *c = &columns[i];
		const char *unit = fab_unit_name(c->flags);
		char name[128];

		if (c->metric == FAB_METRIC_NONE)
			snprintf(name, sizeof(name), "%s", c->name);
		else
			snprintf(name, sizeof(name), "%s [%c%s%s]", c->name,
				 better[c->metric], unit ? " " : "", unit ? unit : "");
		begin_item(name, strlen(name), false);
		print_text(c->help);
		putchar('\n');
	}
	end_list();
}

/* Schemes: behaviour, state of both sides, answers, bits with a window of 128. */
static void print_schemes(void)
{
	begin_list();
	for (size_t i = 0; i < fab_rdma_n_schemes; i++) {
		const struct fab_rdma_scheme *s = fab_rdma_schemes[i];
		struct fab_rdma_context c;

		begin_item(s->name, strlen(s->name), false);
		print_text(s->manual);
		if (fab_rdma_cost(s->name, 128, &fab_rdma_widths, &c))
			printf(" Sender: %s; receiver: %s; %s; %llu bits.", s->sender,
			       s->receiver, s->answers, (unsigned long long)c.bits);
		putchar('\n');
	}
	end_list();
}

/* Tables of settings; a command adds its own. */
static const struct {
	const char *mark;
	const struct fab_option *rows;
} settings[] = {
	{"@SETTINGS_LAUNCH_LIST@", launch_settings},
	{"@SETTINGS_BOOTPLAN_LIST@", bootplan_settings},
	{"@SETTINGS_RDMA_LIST@", rdma_settings},
	{"@SETTINGS_SIM_LIST@", sim_settings},
	{"@SETTINGS_TOPO_LIST@", topo_settings},
	{"@SETTINGS_FAULTS_LIST@", faults_settings},
	{"@SETTINGS_MCROUTE_LIST@", mcroute_settings},
	{"@SETTINGS_COMPARE_LIST@", compare_settings},
};

static bool is_equal(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

/* The first of the rows with the name, text and default of `o`; *n: how many there are.
 */
static const struct fab_option *first_of(const struct fab_option *o, int *n)
{
	const struct fab_option *first = NULL;

	*n = 0;
	for (size_t t = 0; t < FAB_COUNT(settings); t++)
		for (const struct fab_option *s = settings[t].rows; s->name; s++)
			if (is_equal(s->name, o->name) && is_equal(s->help, o->help) &&
			    is_equal(s->preset, o->preset) && !(*n)++)
				first = s;
	return first;
}

/* Have several commands this setting? */
static bool is_shared(const struct fab_option *o)
{
	int n;

	(void)first_of(o, &n);
	return n > 1;
}

/* Does the text of a setting name all of its values? */
static bool names_all(const struct fab_option *o)
{
	const struct fab_choices *c = o->choices;

	for (size_t i = 0; c && c->names && i < c->n; i++) {
		const char *at = strstr(o->help, c->names[i]);

		if (!at || isalpha((unsigned char)at[strlen(c->names[i])]))
			return false;
	}
	return c && c->names;
}

/* [default; range] of a setting; `usual`: a range that is not printed, NULL: none. */
static void print_limits(const struct fab_option *o, const char *usual)
{
	const char *preset = o->preset ? o->preset : o->otherwise;
	char *range = o->arg && !names_all(o) ? fab_option_range(o) : NULL;

	if (range && !is_equal(range, usual))
		printf(" [%s%s%s]", preset ? preset : "", preset ? "; " : "", range);
	else if (preset)
		printf(" [%s]", preset);
	free(range);
}

static void print_setting(const struct fab_option *o)
{
	char form[128];

	snprintf(form, sizeof(form), "%s=%s", o->name, o->arg ? o->arg : "yes|no");
	begin_item(form, strlen(form), true);
	print_text(o->help);
	print_limits(o, NULL);
	putchar('\n');
}

/* Settings up to `end`, those that other commands have as well by name only. */
static void print_settings(const struct fab_option *rows, const struct fab_option *end)
{
	bool has_shared = false;

	begin_list();
	for (const struct fab_option *o = rows; o != end; o++)
		if (!is_shared(o))
			print_setting(o);
	for (const struct fab_option *o = rows; o != end; o++)
		if (is_shared(o)) {
			fputs(has_shared ? ", " : ".HP 4\n", stdout);
			print_name(o->name, strlen(o->name), false);
			has_shared = true;
		}
	if (has_shared)
		puts("\\ \\ As in \\fBfabric\\-options\\fR(7).");
	end_list();
}

/* Constants of models, up to `end`, as text; the page says their usual range. */
static void print_constants(const struct fab_option *rows, const struct fab_option *end)
{
	for (const struct fab_option *o = rows; o != end; o++) {
		print_name(o->name, strlen(o->name), false);
		fputs(": ", stdout);
		print_text(o->help);
		print_limits(o, "0 to 1e+09");
		end_text("", o + 1 == end);
	}
}

/* The settings that several commands have, once. */
static void print_shared_settings(void)
{
	int n;

	begin_list();
	for (size_t t = 0; t < FAB_COUNT(settings); t++)
		for (const struct fab_option *o = settings[t].rows; o->name; o++)
			if (first_of(o, &n) == o && n > 1)
				print_setting(o);
	end_list();
}

/* Texts that several pages have. */
static const struct {
	const char *mark, *text;
} texts[] = {
	{"@FABRIC@",
	 "\\fIFABRIC\\fR is a file or `-` for standard input (output of `ibnetdiscover`(8), net file of `ibsim`(8), cabling plan, also compressed), `gen:`\\fIKIND\\fR`:`\\fIPARAMETERS\\fR or `ib:`, the live fabric; see `fabric-options`(7)."},
	{"@OPTIONS@",
	 "`fabric-options`(7) explains what all commands have: input (`--node-name-map`, `--hca`, `--edit`), output (`--output`, `--report`, `--format`, `--columns`, `--no-header`), `--quiet`, `--verbose`, `--set`, `--list-settings`, `--help`, `--usage`, `--version`, exit status, environment."},
	{"@RUN_OPTIONS@", "Also there: `--store`, `--label`, `--threads`, `--seed`."},
	{"@EXIT_STATUS@",
	 "0: done; 1: done, and something that was asked about was found; 2: wrong command line; 3: it could not be done; 130: interrupted. See `fabric-options`(7)."},
};

/* The length of `mark` where it begins at `at`, else 0. */
static size_t length_of(const char *at, const char *mark)
{
	size_t len = strlen(mark);

	return strncmp(at, mark, len) ? 0 : len;
}

/* The row of that name; without one the end of the table. */
static const struct fab_option *row_of(const struct fab_option *rows, const char *name)
{
	while (rows->name && strcmp(rows->name, name) != 0)
		rows++;
	return rows;
}

/* The mark that begins at `at`, "@SETTINGS_SIM_LIST@"; its length. */
static size_t fill_settings(const char *at)
{
	size_t shared = length_of(at, "@SETTINGS_SHARED_LIST@");

	if (shared) {
		print_shared_settings();
		return shared;
	}
	for (size_t i = 0; i < FAB_COUNT(settings); i++) {
		size_t len = strlen(settings[i].mark) - 1;
		const struct fab_option *rows = settings[i].rows, *end;
		char first[64], last[64];

		if (strncmp(at, settings[i].mark, len) != 0)
			continue;
		if (at[len] == '@') {
			puts("Of \\fB\\-\\-set\\fR; in brackets the default, if there is one, and the range.");
			print_settings(rows, row_of(rows, ""));
			return len + 1;
		}
		if (sscanf(at + len, ":%63[^.]..%63[^@]@", first, last) != 2)
			continue;
		end = row_of(rows, last);
		rows = row_of(rows, first);
		if (!rows->name || !end++->name)
			continue;
		(rows->takes == FAB_TAKES_REAL ? print_constants : print_settings)(rows,
										   end);
		return (size_t)(strchr(at + len, '@') + 1 - at);
	}
	return 0;
}

static size_t fill_results(const char *at)
{
	size_t len = length_of(at, "@RDMA_BITS_LIST@");

	if (len)
		print_schemes();
	for (size_t t = 0; !len && t < FAB_COUNT(results); t++) {
		len = length_of(at, results[t].mark);
		if (len)
			print_columns(results[t].columns, *results[t].n);
	}
	return len;
}

/* The names of a table of lib/cli/values.c, in one of three forms. */
static size_t fill_table(const char *at)
{
	for (size_t i = 0; i < fab_cli_n_tables; i++) {
		const struct fab_choices *c = fab_cli_tables[i].choices;
		size_t len = length_of(at + 1, fab_cli_tables[i].name);
		const char *behind = at + 1 + len;

		if (len && *behind == '@') {
			print_names(c);
			return len + 2;
		}
		if (len && length_of(behind, "_LIST@")) {
			print_list(c);
			return len + 7;
		}
		if (len && length_of(behind, "_LINE@")) {
			print_line(c);
			return len + 7;
		}
	}
	return 0;
}

/* The mark that begins at `at`; its length, 0: no mark. */
static size_t fill_mark(const char *at)
{
	size_t len;

	if (length_of(at, "@DATE@"))
		return fputs(PAGE_DATE, stdout), 6;
	if (length_of(at, "@VERSION@"))
		return fputs(FAB_VERSION, stdout), 9;
	for (size_t i = 0; i < FAB_COUNT(texts); i++) {
		len = length_of(at, texts[i].mark);
		if (len) {
			print_text(texts[i].text);
			return len;
		}
	}
	len = fill_table(at);
	len = len ? len : fill_settings(at);
	return len ? len : fill_results(at);
}

/* The marks of a line and what is between them. */
static void fill_line(const char *line)
{
	for (const char *at = line; *at;) {
		size_t len = *at == '@' ? fill_mark(at) : 0;

		if (!len)
			putchar(*at++);
		at += len;
	}
}

/* A line between .FIELDS and .END: a name and its text, more text, or a line of roff. */
static void fill_field(char *line)
{
	char *tab = strchr(line, '\t');

	if (!tab) {
		fill_line(line);
		if (*line == '@')
			begin_list(); /* goes on: the list within it has ended */
		return;
	}
	if (tab != line)
		begin_item(line, (size_t)(tab - line), *line == '-');
	print_text(tab + 1);
}

static int fill(const char *path)
{
	bool is_field = false;
	FILE *file = fopen(path, "r");
	char *line = NULL;
	size_t size = 0;

	if (!file) {
		fprintf(stderr, "%s: %s\n", path, strerror(errno));
		return 1;
	}
	while (getline(&line, &size, file) > 0) {
		bool was_field = is_field;

		if (is_field)
			is_field = strcmp(line, ".END\n") != 0;
		else
			is_field = !strcmp(line, ".FIELDS\n");
		if (is_field && was_field)
			fill_field(line);
		else if (is_field)
			begin_list();
		else if (was_field)
			puts(".PD");
		else
			fill_line(line);
		if (!strncmp(line, ".TH ", 4))
			puts(".ad l\n.nr HY 0");
		if (!strncmp(line, ".TH ", 4) || !strcmp(line, ".EE\n"))
			puts(".hy 0"); /* .EE begins to hyphenate again */
	}
	free(line);
	return fclose(file) || fflush(stdout) ? 1 : 0;
}

int main(int argc, char **argv)
{
	if (argc != 3)
		return 2;
	if (!strcmp(argv[1], "man"))
		return fill(argv[2]);
	for (size_t i = 0; i < fab_cli_n_tables; i++)
		for (size_t k = 0; !strcmp(argv[2], fab_cli_tables[i].name) &&
				   k < fab_cli_tables[i].choices->n;
		     k++)
			puts(fab_cli_tables[i].choices->at(k).form);
	return 0;
}
