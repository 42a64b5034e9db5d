/* SPDX-License-Identifier: BSD-2-Clause */
#include "support/topology_conf.h"
#include "support/test.h"

#include <ctype.h>

static char *checked(char *name)
{
	cr_assert(*name, "empty name");
	cr_assert_leq(strlen(name), 64, "name too long: %s", name);
	for (const char *p = name; *p; p++)
		cr_assert(isalnum((unsigned char)*p) || strchr("._-", *p), "name: %s",
			  name);
	return name;
}

/* The ranges after a prefix; returns the text behind them. A range is lo-hi or one
 * number, leading zeros kept as wide as lo is written. */
static char *expand_ranges(conf_names *list, int len, const char *prefix, char *text)
{
	do {
		const char *from = ++text;
		unsigned long low = strtoul(from, &text, 10), high = low;
		int width = (int)(text - from);

		cr_assert(isdigit((unsigned char)*from), "range %s", from);
		if (*text == '-') {
			cr_assert(isdigit((unsigned char)text[1]));
			high = strtoul(text + 1, &text, 10);
		}
		cr_assert(low <= high && high - low < 65536, "range %s", from);
		for (; low <= high; low++)
			FAB_PUSH(list, checked(fab_format("%.*s%0*lu", len, prefix, width,
							  low)));
	} while (*text == ',');
	cr_assert_eq(*text, ']', "element %s", prefix);
	return text + 1;
}

/* Plain names or prefix[ranges]. */
static void expand(conf_names *list, char *text)
{
	do {
		const char *prefix = text;
		int len = (int)strcspn(text, ",[");

		text += len;
		if (*text == '[')
			text = expand_ranges(list, len, prefix, text);
		else
			FAB_PUSH(list, checked(fab_format("%.*s", len, prefix)));
		cr_assert(!*text || *text == ',', "element %s", prefix);
	} while (*text++);
}

static void read_line(struct conf *conf, char *line)
{
	struct conf_switch s = {0};
	char *space = strchr(line, ' ');
	bool is_leaf;

	cr_assert(!strncmp(line, "SwitchName=", 11) && space, "line %s", line);
	*space = '\0';
	s.name = checked(fab_strdup(line + 11));
	is_leaf = !strncmp(space + 1, "Nodes=", 6);
	cr_assert(is_leaf || !strncmp(space + 1, "Switches=", 9), "line %s", space + 1);
	cr_assert_null(strpbrk(space + 1, " \t#"), "more than two fields: %s", space + 1);
	expand(is_leaf ? &s.nodes : &s.switches, strchr(space + 1, '=') + 1);
	for (size_t i = 0; i < s.nodes.n; i++)
		FAB_PUSH(&conf->hosts, s.nodes.v[i]);
	FAB_PUSH(&conf->switches, s);
}

static struct conf_switch *find(struct conf *conf, const char *name)
{
	struct conf_switch *found = NULL;

	for (size_t i = 0; i < conf->switches.n; i++)
		if (!strcmp(conf->switches.v[i].name, name)) {
			cr_assert_null(found, "switch %s is defined twice", name);
			found = &conf->switches.v[i];
		}
	cr_assert_not_null(found, "switch %s is not defined", name);
	return found;
}

/* How many switches are at and below one; `depth` above it. */
static size_t walk(struct conf *conf, const struct conf_switch *s, unsigned depth)
{
	size_t n = 1;

	cr_assert_lt(depth, 20, "Slurm gives up at 20 levels");
	if (depth > conf->max_depth)
		conf->max_depth = depth;
	for (size_t k = 0; k < s->switches.n; k++)
		n += walk(conf, find(conf, s->switches.v[k]), depth + 1);
	return n;
}

/* Walk down from every root; whoever is not met hangs on a cycle. */
static void check_tree(struct conf *conf)
{
	size_t n = 0;

	for (size_t i = 0; i < conf->switches.n; i++) {
		struct conf_switch *s = find(conf, conf->switches.v[i].name);

		for (size_t k = 0; k < s->switches.n; k++)
			find(conf, s->switches.v[k])->n_parents++;
	}
	for (size_t i = 0; i < conf->switches.n; i++) {
		struct conf_switch *s = &conf->switches.v[i];

		cr_assert_leq(s->n_parents, 1, "switch %s has several parents", s->name);
		conf->n_roots += !s->n_parents;
		n += s->n_parents ? 0 : walk(conf, s, 0);
	}
	cr_assert_eq(n, conf->switches.n, "a cycle");
}

int conf_by_text(const void *x, const void *y)
{
	return strcmp(*(char *const *)x, *(char *const *)y);
}

struct conf conf_read(const char *text)
{
	struct conf conf = {0};
	char *save = NULL;
	FAB_AUTOFREE char *copy = fab_strdup(text);

	cr_assert(*text && text[strlen(text) - 1] == '\n');
	for (char *line = strtok_r(copy, "\n", &save); line;
	     line = strtok_r(NULL, "\n", &save))
		if (*line != '#')
			read_line(&conf, line);
	check_tree(&conf);
	qsort(conf.hosts.v, conf.hosts.n, sizeof(char *), conf_by_text);
	for (size_t i = 1; i < conf.hosts.n; i++)
		cr_assert_str_neq(conf.hosts.v[i - 1], conf.hosts.v[i]);
	return conf;
}

void conf_free(struct conf *conf)
{
	for (size_t i = 0; i < conf->switches.n; i++) {
		struct conf_switch *s = &conf->switches.v[i];

		for (size_t k = 0; k < s->switches.n; k++)
			free(s->switches.v[k]);
		free(s->name);
		free(s->nodes.v);
		free(s->switches.v);
	}
	for (size_t i = 0; i < conf->hosts.n; i++)
		free(conf->hosts.v[i]);
	free(conf->switches.v);
	free(conf->hosts.v);
}
