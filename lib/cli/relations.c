/* SPDX-License-Identifier: BSD-2-Clause */
/* How the options of a command go together. */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cli/command.h"
#include "cli/faults.h"
#include "cli/internal.h"

char *fab_verb_names(const struct fab_verb *verbs)
{
	char *text = NULL;

	for (const struct fab_verb *v = verbs; v->name; v++)
		fab_append(&text, v[1].name ? ", " : " or ", "%s", v->name);
	return text;
}

void *fab_given_part(const struct fab_given *g, const struct fab_option *rows)
{
	for (const struct fab_part *part = g->command->parts; part->rows; part++)
		if (part->rows == rows)
			return (char *)g->params + part->offset;
	return NULL;
}

/* One of a list of names, `to=dot` with its value; `VERB=run`. */
struct side {
	const struct fab_given_option *option; /* NULL: FABRIC, or a verb */
	bool is_verb;
	const char *name;
	size_t len;
	const char *value; /* NULL: any */
};

static struct side side_of(const struct fab_given *g, const char *name)
{
	size_t len = strcspn(name, "=,");
	struct side side = {.name = name, .len = strcspn(name, ",")};

	if (name[len] == '=')
		side.value = name + len + 1;
	for (size_t i = 0; i < g->of.n; i++)
		if (g->of.v[i].row->name && strlen(g->of.v[i].row->name) == len &&
		    !memcmp(g->of.v[i].row->name, name, len))
			side.option = &g->of.v[i];
	side.is_verb = len == 4 && !memcmp(name, "VERB", 4);
	/* a name that no row has is a mistake in the table */
	assert(side.option || side.is_verb || (len == 6 && !memcmp(name, "FABRIC", 6)));
	return side;
}

static bool was_given(const struct fab_given *g, const struct side *side)
{
	size_t len = side->value ? (size_t)(side->name + side->len - side->value) : 0;
	const char *text;

	if (side->is_verb)
		return g->verb && strlen(g->verb->name) == len &&
		       !memcmp(g->verb->name, side->value, len);
	if (!side->option) {
		const struct fab_cli_input *input = fab_given_part(g, fab_cli_input_rows);

		return input && input->fabric;
	}
	text = side->option->text;
	return side->option->is_given &&
	       (!side->value ||
		(text && strlen(text) == len && !memcmp(text, side->value, len)));
}

/* Over the names of a list. */
static const char *next(const char *at)
{
	at += strcspn(at, ",");
	return *at ? at + 1 : NULL;
}

/* The first of a list that was given, behind `after`. */
static bool find_given(const struct fab_given *g, const char *list, struct side *out)
{
	for (const char *at = list; at; at = next(at)) {
		*out = side_of(g, at);
		if (was_given(g, out))
			return true;
	}
	return false;
}

/* `--to=dot`, or `--target=TIME` where the value is open and must be there. */
static char *text_of(const struct side *side, bool with_arg)
{
	const struct fab_option *o = side->option ? side->option->row : NULL;
	bool has_arg = with_arg && o && o->arg && !o->is_optional && !side->value;
	size_t skipped = side->is_verb ? sizeof("VERB=") - 1 : 0;
	const char *dashes = !o ? "" : side->option->is_setting ? "--set " : "--";

	return fab_format("%s%.*s%s%s", dashes, (int)(side->len - skipped),
			  side->name + skipped, has_arg ? "=" : "",
			  has_arg ? o->arg : "");
}

/* "--a=X, --b or --c" of a list; on the heap. */
static char *list_text(const struct fab_given *g, const char *list)
{
	char *text = fab_strdup("");

	for (const char *at = list; at; at = next(at)) {
		struct side side = side_of(g, at);
		FAB_AUTOFREE char *one = text_of(&side, true);
		char *more = fab_format("%s%s%s", text,
					at == list ? ""
					: next(at) ? ", "
						   : " or ",
					one);

		free(text);
		text = more;
	}
	return text;
}

/* The sentence "FIRST BETWEEN SECOND AFTER"; takes the texts. */
static int refuse(const struct fab_relation *r, char *first, const char *between,
		  char *second, const char *after, struct fab_err *err)
{
	int rc = fab_fail(err, EINVAL, "%s%s%s%s%s%s", first, between, second, after,
			  r->why ? ": " : "", r->why ? r->why : "");

	free(first);
	free(second);
	return rc;
}

static int check(const struct fab_given *g, const struct fab_relation *r,
		 struct fab_err *err)
{
	struct side side, other;
	bool is_given = find_given(g, r->names, &side);
	FAB_AUTOFREE char *list = NULL;
	int rc;

	switch (r->relates) {
	case FAB_APART: /* the two first ones that were given */
		if (is_given && next(side.name) && find_given(g, next(side.name), &other))
			return refuse(r, text_of(&side, false), " and ",
				      text_of(&other, false), " do not go together", err);
		return 0;
	case FAB_REQUIRED:
		if (is_given || (r->others && find_given(g, r->others, &other)))
			return 0;
		list = list_text(g, r->names);
		rc = fab_fail(err, EINVAL, "%s%s%s is missing", r->why ? r->why : "",
			      r->why ? ": " : "", list);
		return rc;
	default:
		break;
	}
	if (!is_given || find_given(g, r->others, &other) != (r->relates == FAB_EXCLUDES))
		return 0;
	if (r->relates == FAB_EXCLUDES)
		return refuse(r, text_of(&side, false), " and ", text_of(&other, false),
			      " do not go together", err);
	return refuse(r, text_of(&side, false),
		      r->relates == FAB_NEEDS ? " needs " : " goes with ",
		      list_text(g, r->others), r->relates == FAB_NEEDS ? "" : " only",
		      err);
}

/* Is there a verb, and a FABRIC where one is needed and only there? */
static int check_arguments(const struct fab_given *g, bool lists, struct fab_err *err)
{
	const struct fab_cli_input *input = fab_given_part(g, fab_cli_input_rows);
	bool has_fabric = input && input->fabric;
	const char *args = g->command->args;

	if (g->command->verbs && !g->verb) {
		FAB_AUTOFREE char *names = fab_verb_names(g->command->verbs);
		int rc = lists ? 0
			       : fab_fail(err, EINVAL, "the verb is missing: %s", names);

		return rc;
	}
	if (g->verb) {
		args = strstr(g->verb->args, "[FABRIC");
		args = args ? args : strstr(g->verb->args, "FABRIC");
		if (!args && has_fabric)
			return fab_fail(err, EINVAL, "%s takes no FABRIC: '%s'",
					g->verb->name, input->fabric);
	}
	if (lists || !input || has_fabric || !args || *args == '[')
		return 0;
	return fab_fail(err, EINVAL,
			"FABRIC is missing: a file, -, gen:KIND:PARAMETERS or ib:");
}

int fab_given_check(const struct fab_given *g, bool lists, struct fab_err *err)
{
	/* options of the shared parts that say something of a FABRIC */
	static const struct {
		const struct fab_option *part;
		struct fab_relation relation;
	} shared[] = {
		{fab_cli_input_rows, {"node-name-map,hca", FAB_GOES_WITH, "FABRIC"}},
		{fab_cli_faults_rows, {"fail,fail-link", FAB_GOES_WITH, "FABRIC"}},
		{fab_cli_random_rows, {"random", FAB_GOES_WITH, "FABRIC"}},
		{fab_cli_tables_rows, {"lfts", FAB_GOES_WITH, "FABRIC"}},
		{fab_cli_opensm_rows, {"opensm-conf", FAB_GOES_WITH, "algorithm"}},
		{fab_cli_store_rows, {"label", FAB_GOES_WITH, "store"}},
	};
	int rc = check_arguments(g, lists, err);

	for (size_t i = 0; i < FAB_COUNT(shared) && !rc && !lists; i++)
		if (fab_given_part(g, shared[i].part))
			rc = check(g, &shared[i].relation, err);
	/* of a list only relations that name --columns count */
	for (const struct fab_relation *r = g->command->relations; r && r->names && !rc;
	     r++)
		if (!lists || strstr(r->names, "columns") ||
		    (r->others && strstr(r->others, "columns")))
			rc = check(g, r, err);
	return rc;
}
