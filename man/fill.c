/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * usage: fill man FILE       FILE with the names of tables filled in
 *        fill names TABLE    the names of a table, a line each
 * For the build and the tests. Where TABLE is one of lib/cli/values.c,
 *   @TABLE@         its names
 *   @TABLE_LIST@    a paragraph for each name
 * METRICS_FAULTS_LIST and the like are the metrics among the columns of a command,
 * SETTINGS_SIM_LIST and the like its settings (--set).
 * Between the lines .FIELDS and .END, rows of a table: names, a tab, text; lines that
 * begin with a tab continue the text.
 */
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

/* Text in a page: `x` in bold, hyphens unchanged, a line for each sentence. */
static void print_text(const char *text)
{
	bool is_bold = false;

	for (const char *at = text; *at; at++) {
		if (*at == '`') {
			is_bold = !is_bold;
			fputs(is_bold ? "\\fB" : "\\fR", stdout);
		} else if (*at == '-') {
			fputs("\\-", stdout);
		} else if (*at == ' ' && at[-1] == '.') {
			putchar('\n');
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

/* What a row does, as a sentence where there is another behind it. */
static void print_row_text(const struct fab_choice *row, bool is_told_apart)
{
	const char *text = row->manual ? row->manual : row->summary;

	print_text(text);
	if (!is_told_apart)
		return;
	if (*text && text[strlen(text) - 1] != '.')
		putchar('.');
	fputs("\nNot in\n.BR all .", stdout);
}

static void print_list(const struct fab_choices *c)
{
	bool has_all = any_is_in_all(c);

	for (size_t i = 0; i < c->n; i++) {
		struct fab_choice row = c->at(i);
		int len = (int)fab_choice_row_len(&row);

		printf("%s.TP\n", i ? "\n" : "");
		if (row.form[len]) {
			printf(".BI \"%.*s:\" \"", len, row.form);
			print_text(row.form + len + 1);
			puts("\"");
		} else {
			fputs(".B ", stdout);
			print_text(row.form);
			putchar('\n');
		}
		print_row_text(&row, has_all && !row.is_in_all);
	}
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
} metrics[] = {
	{"@METRICS_MCROUTE_LIST@", mcroute_columns, &mcroute_n_columns},
	{"@METRICS_FAULTS_LIST@", faults_columns, &faults_n_columns},
	{"@METRICS_RELIABILITY_LIST@", faults_reliability_columns,
	 &faults_reliability_n_columns},
	{"@METRICS_BOOTPLAN_LIST@", bootplan_columns, &bootplan_n_columns},
	{"@METRICS_SIM_LIST@", sim_columns, &sim_n_columns},
	{"@METRICS_LAUNCH_STAGES_LIST@", launch_stages_columns, &launch_stages_n_columns},
	{"@METRICS_LAUNCH_FENCE_LIST@", launch_fence_columns, &launch_fence_n_columns},
	{"@METRICS_LAUNCH_MODEX_LIST@", launch_modex_columns, &launch_modex_n_columns},
	{"@METRICS_LAUNCH_FAULTS_LIST@", launch_faults_columns, &launch_faults_n_columns},
	{"@METRICS_RDMA_LIST@", rdma_columns, &rdma_n_columns},
	{"@METRICS_LAUNCH_STORE_LIST@", launch_store_columns, &launch_store_n_columns},
	{"@METRICS_LAUNCH_ADVISE_LIST@", launch_advise_columns, &launch_advise_n_columns},
	{"@METRICS_LAUNCH_CALIBRATE_LIST@", launch_calibrate_columns,
	 &launch_calibrate_n_columns},
	{"@METRICS_LAUNCH_MECHANISMS_LIST@", launch_mechanisms_columns,
	 &launch_mechanisms_n_columns},
	{"@METRICS_LAUNCH_SIZE_LIST@", launch_size_columns, &launch_size_n_columns},
	{"@METRICS_SEGMENT_LIST@", bootplan_segment_columns, &bootplan_segment_n_columns},
};

static void begin_table(void)
{
	puts(".TS\nlbw(23n) lx.");
}

/* A row of two columns, both wrapped: names, and a text that T} ends. */
static void begin_row(const char *names)
{
	puts("T{\n.ad l");
	print_text(names);
	puts("\nT}\tT{\n.ad l");
}

/* Name, meaning, unit, and which of two values is better. */
static void print_metrics(const struct fab_column *columns, size_t n)
{
	static const char *const better[] = {
		[FAB_METRIC_PLAIN] = "",
		[FAB_METRIC_LESS] = "; less is better",
		[FAB_METRIC_MORE] = "; more is better",
		[FAB_METRIC_TIME] = "; a time, which differs from run to run"};

	begin_table();
	for (size_t i = 0; i < n; i++) {
		const struct fab_column *c = &columns[i];

		if (c->metric == FAB_METRIC_NONE)
			continue;
		begin_row(c->name);
		print_text(c->help);
		if (fab_unit_name(c->flags))
			printf(" (%s)", fab_unit_name(c->flags));
		printf("%s\nT}\n", better[c->metric]);
	}
	fputs(".TE", stdout);
}

/* Who keeps what under each scheme, and its bits with a window of 128. */
static void print_schemes(void)
{
	puts(".TS\nl l l l r.\nscheme\tsender keeps\treceiver keeps\tanswers\tbits\n_");
	for (size_t i = 0; i < fab_rdma_n_schemes; i++) {
		const struct fab_rdma_scheme *s = fab_rdma_schemes[i];
		struct fab_rdma_context c;

		printf("\\fB");
		print_text(s->name);
		printf("\\fR\tT{\n.ad l\n%s\nT}\tT{\n.ad l\n%s\nT}\tT{\n.ad l\n%s\nT}\t",
		       s->sender, s->receiver, s->answers);
		if (fab_rdma_cost(s->name, 128, &fab_rdma_widths, &c))
			printf("%llu\n", (unsigned long long)c.bits);
		else
			puts("\\-");
	}
	fputs(".TE", stdout);
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

static void print_settings(const struct fab_option *rows)
{
	for (const struct fab_option *o = rows; o->name; o++) {
		const char *preset = o->preset ? o->preset : o->otherwise;
		char *range = fab_option_range(o);

		printf("%s.TP\n.BI ", o == rows ? "" : "\n");
		print_text(o->name);
		printf("= %s\n", o->arg ? o->arg : "yes\\fR|\\fPno");
		print_text(o->help);
		if (preset || range)
			fputs(" (", stdout);
		if (preset) {
			fputs("default ", stdout);
			print_text(preset);
		}
		if (range)
			printf("%s%s", preset ? "; " : "", range);
		if (preset || range)
			putchar(')');
		putchar('.');
		free(range);
	}
}

/* The mark that begins at `at`, "@SETTINGS_SIM_LIST@"; its length. */
static size_t fill_settings(const char *at)
{
	for (size_t i = 0; i < FAB_COUNT(settings); i++) {
		size_t len = strlen(settings[i].mark);

		if (!strncmp(at, settings[i].mark, len)) {
			print_settings(settings[i].rows);
			return len;
		}
	}
	return 0;
}

static size_t fill_metrics(const char *at)
{
	static const char schemes[] = "@RDMA_SCHEME_TABLE@";

	if (!strncmp(at, schemes, sizeof(schemes) - 1)) {
		print_schemes();
		return sizeof(schemes) - 1;
	}
	for (size_t t = 0; t < FAB_COUNT(metrics); t++)
		if (!strncmp(at, metrics[t].mark, strlen(metrics[t].mark))) {
			print_metrics(metrics[t].columns, *metrics[t].n);
			return strlen(metrics[t].mark);
		}
	return 0;
}

/* The mark that begins at `at`; its length, 0: no mark. */
static size_t fill_mark(const char *at)
{
	size_t i;

	for (i = 0; i < fab_cli_n_tables; i++) {
		const struct fab_choices *c = fab_cli_tables[i].choices;
		size_t len = strlen(fab_cli_tables[i].name);
		const char *behind = at + 1 + len;

		if (strncmp(at + 1, fab_cli_tables[i].name, len) != 0)
			continue;
		if (*behind == '@') {
			print_names(c);
			return len + 2;
		}
		if (!strncmp(behind, "_LIST@", 6)) {
			print_list(c);
			return len + 7;
		}
	}
	i = fill_settings(at);
	return i ? i : fill_metrics(at);
}

/* A line between .FIELDS and .END; `has_row`: the row before it has not ended. */
static void fill_field(char *line, bool *has_row)
{
	char *tab = strchr(line, '\t');

	line[strcspn(line, "\n")] = '\0';
	if (tab != line && *has_row)
		puts("T}");
	if (tab && tab != line) {
		*tab = '\0';
		begin_row(line);
	}
	*has_row = tab != NULL;
	if (tab) {
		print_text(tab + 1);
		putchar('\n');
	} else {
		puts(".TE");
	}
}

static int fill(const char *path)
{
	bool is_field = false, has_row = false;
	FILE *file = fopen(path, "r");
	char *line = NULL;
	size_t size = 0;

	if (!file) {
		fprintf(stderr, "%s: %s\n", path, strerror(errno));
		return 1;
	}
	while (getline(&line, &size, file) > 0) {
		if (is_field) {
			is_field = strcmp(line, ".END\n") != 0;
			fill_field(line, &has_row);
			continue;
		}
		if (!strcmp(line, ".FIELDS\n")) {
			is_field = true;
			begin_table();
			continue;
		}
		for (const char *at = line; *at;) {
			size_t len = *at == '@' ? fill_mark(at) : 0;

			if (!len)
				putchar(*at++);
			at += len;
		}
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
