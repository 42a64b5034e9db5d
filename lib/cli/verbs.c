/* SPDX-License-Identifier: BSD-2-Clause */
/* Commands of several questions: the first argument says which. */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cli/internal.h"
#include "present/wrap.h"

/* "run, sweep or trace"; on the heap. */
static char *names_text(const struct fab_verb *verbs)
{
	char *text = NULL;

	for (const struct fab_verb *v = verbs; v->name; v++)
		fab_append(&text, v[1].name ? ", " : " or ", "%s", v->name);
	return text;
}

int fab_verb_take(struct fab_given *g, const char *arg, struct fab_err *err)
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

char *fab_verb_args(const struct fab_command *c)
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

char *fab_verb_doc(const struct fab_command *c)
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
