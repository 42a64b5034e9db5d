/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Settings: expert options without a place in --help. --set NAME=VALUE sets one by its
 * row in the command's table, with the checks and sentences of options; --list-settings
 * prints the table, as man/fill.c does for the page and the completions.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/human.h"
#include "base/mem.h"
#include "cli/internal.h"

/* "--set NAME: SENTENCE" of a name without a row: the nearest name, or all of them. */
static int refuse_name(const struct fab_given *g, const char *name, size_t len,
		       struct fab_err *err)
{
	FAB_VEC(const char *) names = {0};
	struct fab_choices choices = {.what = "setting"};
	int rc;

	for (size_t i = 0; i < g->of.n; i++)
		if (g->of.v[i].is_setting)
			FAB_PUSH(&names, g->of.v[i].row->name);
	choices.names = names.v;
	choices.n = names.n;
	rc = fab_choices_refuse(&choices, name, len, NULL, err);
	free(names.v);
	return rc;
}

/* yes, or the name alone; no. */
static int take_switch(struct fab_given *g, size_t i, const char *value,
		       struct fab_err *err)
{
	struct fab_given_option *given = &g->of.v[i];

	if (value && strcmp(value, "yes") != 0 && strcmp(value, "no") != 0)
		return fab_fail(err, EINVAL, "'%s' is neither yes nor no", value);
	*(bool *)((char *)given->at + given->row->to.offset) =
		!value || !strcmp(value, "yes");
	given->is_given = true;
	return 0;
}

int fab_setting_take(struct fab_given *g, const char *arg, struct fab_err *err)
{
	size_t len = strcspn(arg, "="), i = 0;
	const char *value = arg[len] ? arg + len + 1 : NULL;
	const struct fab_option *o;
	int rc;

	while (i < g->of.n &&
	       !(g->of.v[i].is_setting && strlen(g->of.v[i].row->name) == len &&
		 !memcmp(g->of.v[i].row->name, arg, len)))
		i++;
	if (i == g->of.n)
		return refuse_name(g, arg, len, err);
	o = g->of.v[i].row;
	if (o->takes == FAB_TAKES_NOTHING)
		rc = take_switch(g, i, value, err);
	else if (!value && !o->is_optional)
		rc = fab_fail(err, EINVAL, "the value is missing: expected %s=%s",
			      o->name, o->arg);
	else
		rc = fab_given_take(g, i, value, err);
	if (rc) {
		char *where = fab_format("--set %s", o->name);

		fab_err_prefix(err, where);
		free(where);
	}
	return rc;
}

char *fab_option_range(const struct fab_option *o)
{
	char low[FAB_HUMAN_BYTES], high[FAB_HUMAN_BYTES];

	switch (o->takes) {
	case FAB_TAKES_NUMBER:
		return o->max == UINT64_MAX
			       ? fab_format("from %" PRIu64, o->min)
			       : fab_format("%" PRIu64 " to %" PRIu64, o->min, o->max);
	case FAB_TAKES_REAL:
		return fab_format("%g to %g", o->low, o->high);
	case FAB_TAKES_NS:
	case FAB_TAKES_SECONDS:
		return fab_format(o->min ? "%s to %s" : "%.0sup to %s",
				  fab_human_seconds((double)o->min / 1e9, low),
				  fab_human_seconds((double)o->max / 1e9, high));
	case FAB_TAKES_ONE:
		return fab_choices_text(o->choices, "or");
	case FAB_TAKES_NOTHING:
		return fab_strdup("yes or no");
	default:
		return NULL;
	}
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
