/* SPDX-License-Identifier: BSD-2-Clause */
/* Filters as SQL: which runs pass. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "base/text.h"
#include "store/query.h"

/* A condition that grows, and the texts of its parameters in order. */
struct condition {
	FILE *out;
	FAB_VEC(const char *) texts;
};

/* fab_glob(pattern, text) of SQL; null where the text is null. */
static void glob(sqlite3_context *context, int n, sqlite3_value **args)
{
	const char *pattern = (const char *)sqlite3_value_text(args[0]);
	const char *text = (const char *)sqlite3_value_text(args[1]);

	(void)n;
	if (pattern && text)
		sqlite3_result_int(context, fab_text_glob(pattern, text));
}

static bool is_plain(const char *pattern)
{
	return !pattern[strcspn(pattern, "*?[\\")];
}

/* ` AND column matches the text`: by an index where it is no pattern. */
static void add_pattern(struct condition *c, const char *column, const char *pattern)
{
	if (is_plain(pattern))
		fprintf(c->out, " AND %s = ? COLLATE NOCASE", column);
	else
		fprintf(c->out, " AND fab_glob(?, %s)", column);
	FAB_PUSH(&c->texts, pattern);
}

static void add_fabric(struct condition *c, const char *fabric)
{
	uint64_t guid;

	if (!strncmp(fabric, "0x", 2) && fab_parse_guid(fabric, strlen(fabric), &guid))
		fprintf(c->out, " AND fingerprint = '0x%016" PRIx64 "'", guid);
	else
		add_pattern(c, "source", fabric);
}

/* SQL for "the column is in the comma list": a parameter for each name; on the heap. */
static char *in_list(const char *column, const char *list)
{
	size_t size;
	char *text;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		fab_oom(0);
	fprintf(out, list ? "%s IN (?" : "1", column);
	for (const char *c = list; c && *c; c++)
		if (*c == ',')
			fputs(", ?", out);
	if (list)
		putc(')', out);
	fclose(out);
	return text;
}

static void bind_list(struct fab_query *q, const char *list)
{
	while (list) {
		size_t len = strcspn(list, ",");

		fab_query_bind(q, list, len);
		list = list[len] ? list + len + 1 : NULL;
	}
}

static void add_algorithm(struct condition *c, const char *list)
{
	char *in = in_list("algorithm", list);

	fprintf(c->out, " AND id IN (SELECT run FROM result WHERE %s)", in);
	FAB_PUSH(&c->texts, list);
	free(in);
}

/* What a run has to be, whatever its number. */
static void add_traits(struct condition *c, const struct fab_store_filter *filter)
{
	fputs("1", c->out);
	if (filter->fabric)
		add_fabric(c, filter->fabric);
	if (filter->label)
		add_pattern(c, "label", filter->label);
	if (filter->command) {
		fputs(" AND command = ?", c->out);
		FAB_PUSH(&c->texts, filter->command);
	}
	if (filter->algorithm)
		add_algorithm(c, filter->algorithm);
}

static void add_ids(struct condition *c, const struct fab_store_filter *filter)
{
	fputs(" AND (id IN (", c->out);
	for (size_t i = 0; i < filter->n_ids; i++)
		fprintf(c->out, "%s%" PRIu64, i ? ", " : "", filter->ids[i]);
	putc(')', c->out);
	if (filter->last) {
		fputs(" OR id = (SELECT max(id) FROM run WHERE ", c->out);
		add_traits(c, filter);
		putc(')', c->out);
	}
	putc(')', c->out);
}

static void add_age(struct condition *c, const struct fab_store_filter *filter)
{
	if (filter->before) {
		fputs(" AND time < ?", c->out);
		FAB_PUSH(&c->texts, filter->before);
	}
	if (!filter->keep)
		return;
	fputs(" AND id NOT IN (SELECT id FROM (SELECT id, row_number() OVER "
	      "(PARTITION BY label ORDER BY id DESC) AS newest FROM run WHERE ",
	      c->out);
	add_traits(c, filter);
	fprintf(c->out, ") WHERE newest <= %" PRIu64 ")", filter->keep);
}

/* On the heap; the texts of its parameters stay in `c`. */
static char *statement_of(struct condition *c, const struct fab_store_filter *filter)
{
	size_t size;
	char *sql;

	c->out = open_memstream(&sql, &size);
	if (!c->out)
		fab_oom(0);
	fputs("INSERT INTO temp.chosen SELECT id FROM run WHERE ", c->out);
	add_traits(c, filter);
	if (filter->ids || filter->last)
		add_ids(c, filter);
	add_age(c, filter);
	fclose(c->out);
	return sql;
}

static int choose_runs(struct fab_store *store, const struct fab_store_filter *filter,
		       struct fab_err *err)
{
	struct condition c = {0};
	struct fab_query q;
	char *sql = statement_of(&c, filter);
	int rc;

	fab_query_init(&q, store, NULL, sql);
	for (size_t i = 0; i < c.texts.n; i++) {
		/* a list has a parameter for each name */
		if (c.texts.v[i] == filter->algorithm)
			bind_list(&q, c.texts.v[i]);
		else
			fab_query_bind(&q, c.texts.v[i], strlen(c.texts.v[i]));
	}
	fab_query_next(&q);
	rc = fab_query_fini(&q, err);
	free(c.texts.v);
	free(sql);
	return rc;
}

static int choose_results(struct fab_store *store, const struct fab_store_filter *filter,
			  struct fab_err *err)
{
	char *in = in_list("algorithm", filter->algorithm);
	char *sql = fab_format("INSERT INTO temp.chosen_result "
			       "SELECT run, position, result.id, algorithm "
			       "FROM temp.chosen CROSS JOIN result "
			       "ON run = chosen.id WHERE %s",
			       in);
	struct fab_query q;

	fab_query_init(&q, store, NULL, sql);
	bind_list(&q, filter->algorithm);
	fab_query_next(&q);
	free(in);
	free(sql);
	return fab_query_fini(&q, err);
}

int fab_store_choose(struct fab_store *store, const struct fab_store_filter *filter,
		     struct fab_err *err)
{
	int rc;

	if (sqlite3_create_function(store->db, "fab_glob", 2,
				    SQLITE_UTF8 | SQLITE_DETERMINISTIC |
					    SQLITE_DIRECTONLY,
				    NULL, glob, NULL, NULL) != SQLITE_OK)
		fab_oom(0);
	rc = fab_store_exec(store,
			    "CREATE TEMP TABLE IF NOT EXISTS chosen "
			    "(id INTEGER PRIMARY KEY);"
			    "CREATE TEMP TABLE IF NOT EXISTS chosen_result "
			    "(run, position, id, algorithm, PRIMARY KEY (run, position)) "
			    "WITHOUT ROWID;"
			    "DELETE FROM temp.chosen; DELETE FROM temp.chosen_result",
			    "read", err);
	if (!rc)
		rc = choose_runs(store, filter, err);
	return rc ? rc : choose_results(store, filter, err);
}
