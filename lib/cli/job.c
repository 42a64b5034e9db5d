/* SPDX-License-Identifier: BSD-2-Clause */
/* What a command line asks for, apart from where and how it runs: what shards of one
 * sweep have in common. */
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cli/cli.h"
#include "cli/internal.h"

/* Options that shards may differ in. */
static const char *const apart[] = {"shard",	 "store",  "label",  "threads", "quiet",
				    "verbose",	 "output", "format", "columns", "color",
				    "no-header", "check",  "plot",   NULL};

struct table {
	FAB_VEC(struct option) longs;
	char shorts[256];
	size_t n_shorts;
};

/* All options of a parser and its children, as getopt knows them. */
static void collect(const struct argp *argp, struct table *t)
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
		collect(c->argp, t);
}

static bool is_apart(const char *name)
{
	size_t i = 0;

	while (apart[i] && strcmp(apart[i], name) != 0)
		i++;
	return apart[i] != NULL;
}

static const char *name_of(const struct table *t, int key, int at)
{
	if (at >= 0)
		return t->longs.v[at].name;
	for (size_t i = 0; i < t->longs.n; i++)
		if (t->longs.v[i].val == key)
			return t->longs.v[i].name;
	return NULL;
}

char *fab_cli_job_text(const struct argp *argp, int argc, char **argv)
{
	struct table t = {0};
	char **args = FAB_NEW0((size_t)argc + 1, char *), **job, *text;
	int n = 0, key, at = -1;

	collect(argp, &t);
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
