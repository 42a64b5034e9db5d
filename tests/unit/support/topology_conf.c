/* SPDX-License-Identifier: BSD-2-Clause */
#include "support/topology_conf.h"
#include "support/test.h"

#include <ctype.h>

typedef FAB_VEC(char *) names_t;

static void check_name(const char *name)
{
	cr_assert(*name, "empty name");
	cr_assert_leq(strlen(name), 64, "name too long: %s", name);
	for (const char *p = name; *p; p++)
		cr_assert(isalnum((unsigned char)*p) || strchr("._-", *p), "name: %s",
			  name);
}

static void add_name(names_t *list, const char *prefix, const char *number)
{
	char *name = fab_format("%s%s", prefix, number);

	check_name(name);
	FAB_PUSH(list, name);
}

/* lo-hi or one number, leading zeros kept as wide as lo is written. */
static void expand_range(names_t *list, const char *prefix, const char *range)
{
	char low[32], high[32], number[32];
	int width;

	if (sscanf(range, "%31[0-9]-%31[0-9]", low, high) != 2) {
		cr_assert_eq(strspn(range, "0123456789"), strlen(range), "range %s",
			     range);
		strcpy(low, range);
		strcpy(high, range);
	}
	width = (int)strlen(low);
	cr_assert_leq(strtoul(low, NULL, 10), strtoul(high, NULL, 10), "range %s", range);
	cr_assert_lt(strtoul(high, NULL, 10) - strtoul(low, NULL, 10), 65536);
	for (unsigned long i = strtoul(low, NULL, 10); i <= strtoul(high, NULL, 10);
	     i++) {
		snprintf(number, sizeof(number), "%0*lu", width, i);
		add_name(list, prefix, number);
	}
}

/* One element: a plain name or prefix[ranges]; cut out of the list. */
static void expand_element(names_t *list, char *element)
{
	char *open = strchr(element, '['), *range, *save = NULL;

	if (!open) {
		add_name(list, element, "");
		return;
	}
	cr_assert_eq(element[strlen(element) - 1], ']', "element %s", element);
	element[strlen(element) - 1] = '\0';
	*open = '\0';
	for (range = strtok_r(open + 1, ",", &save); range;
	     range = strtok_r(NULL, ",", &save))
		expand_range(list, element, range);
}

static void expand(names_t *list, char *text)
{
	int depth = 0;
	char *start = text;

	for (char *p = text;; p++) {
		bool is_end = !*p;

		depth += (*p == '[') - (*p == ']');
		if (!is_end && (*p != ',' || depth))
			continue;
		*p = '\0';
		expand_element(list, start);
		start = p + 1;
		if (is_end)
			return;
	}
}

static void read_line(struct conf *conf, char *line)
{
	struct conf_switch s = {0};
	char *space = strchr(line, ' ');
	names_t list = {0};
	bool is_leaf;

	cr_assert(!strncmp(line, "SwitchName=", 11) && space, "line %s", line);
	*space = '\0';
	s.name = fab_strdup(line + 11);
	check_name(s.name);
	is_leaf = !strncmp(space + 1, "Nodes=", 6);
	cr_assert(is_leaf || !strncmp(space + 1, "Switches=", 9), "line %s", space + 1);
	cr_assert_null(strpbrk(space + 1, " \t#"), "more than two fields: %s", space + 1);
	expand(&list, strchr(space + 1, '=') + 1);
	if (is_leaf) {
		for (size_t i = 0; i < list.n; i++) {
			FAB_PUSH(&s.nodes, list.v[i]);
			FAB_PUSH(&conf->hosts, list.v[i]);
		}
	} else {
		for (size_t i = 0; i < list.n; i++)
			FAB_PUSH(&s.switches, list.v[i]);
	}
	free(list.v);
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

static int by_text(const void *x, const void *y)
{
	return strcmp(*(char *const *)x, *(char *const *)y);
}

/* Walk down from every root; whoever is not met hangs on a cycle. */
static void check_tree(struct conf *conf)
{
	FAB_VEC(size_t) queue = {0};

	for (size_t i = 0; i < conf->switches.n; i++) {
		struct conf_switch *s = find(conf, conf->switches.v[i].name);

		for (size_t k = 0; k < s->switches.n; k++)
			find(conf, s->switches.v[k])->n_parents++;
	}
	for (size_t i = 0; i < conf->switches.n; i++) {
		struct conf_switch *s = &conf->switches.v[i];

		cr_assert_leq(s->n_parents, 1, "switch %s has several parents", s->name);
		if (s->n_parents)
			continue;
		s->root = (uint32_t)i;
		conf->n_roots++;
		FAB_PUSH(&queue, i);
	}
	for (size_t i = 0; i < queue.n; i++) {
		struct conf_switch *s = &conf->switches.v[queue.v[i]];

		if (s->depth > conf->max_depth)
			conf->max_depth = s->depth;
		for (size_t k = 0; k < s->switches.n; k++) {
			struct conf_switch *child = find(conf, s->switches.v[k]);
			size_t at = (size_t)(child - conf->switches.v);

			child->depth = s->depth + 1;
			child->root = s->root;
			FAB_PUSH(&queue, at);
		}
	}
	cr_assert_eq(queue.n, conf->switches.n, "a cycle");
	cr_assert_lt(conf->max_depth, 20, "Slurm gives up at 20 levels");
	free(queue.v);
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
	qsort(conf.hosts.v, conf.hosts.n, sizeof(char *), by_text);
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
