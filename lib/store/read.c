/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reading runs back: the filter as SQL chooses the runs, then one query for each kind of
 * rows gives them in the order of their owners. The file may come from anywhere: no value
 * is trusted.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "base/text.h"
#include "store/internal.h"

enum { MAX_NAME = 64 };

/* fab_glob(pattern, text) of SQL; null where the text is null. */
static void glob(sqlite3_context *context, int n, sqlite3_value **args)
{
	const char *pattern = (const char *)sqlite3_value_text(args[0]);
	const char *text = (const char *)sqlite3_value_text(args[1]);

	(void)n;
	if (pattern && text)
		sqlite3_result_int(context, fab_text_glob(pattern, text));
}

static const char make_chosen[] =
	"CREATE TEMP TABLE IF NOT EXISTS chosen (id INTEGER PRIMARY KEY);CREATE TEMP TABLE IF NOT EXISTS chosen_result (run, position, id, algorithm, PRIMARY KEY (run, position)) WITHOUT ROWID;DELETE FROM temp.chosen; DELETE FROM temp.chosen_result";

/* "algorithm IN ('fulb', 'sssp')" of a list between commas. */
static void append_algorithms(sqlite3_str *sql, const char *list)
{
	const char *between = "algorithm IN (";

	for (const char *at = list; *at; between = ", ") {
		size_t len = strcspn(at, ",");

		sqlite3_str_appendf(sql, "%s%.*Q", between, (int)len, at);
		at += len + (at[len] != '\0');
	}
	sqlite3_str_appendall(sql, *list ? ")" : "0");
}

/* A run passes by its traits, then by its id or as the last one, then by its age. */
static void append_choice(sqlite3_str *sql, const struct fab_store_filter *filter)
{
	const char *fabric = filter->fabric;
	uint64_t guid;

	sqlite3_str_appendall(
		sql,
		"INSERT INTO temp.chosen WITH traits AS NOT MATERIALIZED (SELECT id, label, time FROM run WHERE 1");
	if (fabric && !strncmp(fabric, "0x", 2) &&
	    fab_parse_guid(fabric, strlen(fabric), &guid))
		sqlite3_str_appendf(sql, " AND fingerprint = '0x%016llx'",
				    (unsigned long long)guid);
	else if (fabric)
		sqlite3_str_appendf(sql, " AND fab_glob(%Q, source)", fabric);
	if (filter->label)
		sqlite3_str_appendf(sql, " AND fab_glob(%Q, label)", filter->label);
	if (filter->command)
		sqlite3_str_appendf(sql, " AND command = %Q", filter->command);
	if (filter->algorithm) {
		sqlite3_str_appendall(sql, " AND id IN (SELECT run FROM result WHERE ");
		append_algorithms(sql, filter->algorithm);
		sqlite3_str_appendall(sql, ")");
	}
	sqlite3_str_appendall(sql, ") SELECT id FROM traits WHERE 1");
	if (filter->ids || filter->last) {
		sqlite3_str_appendall(sql, " AND id IN (-1");
		for (size_t i = 0; i < filter->n_ids; i++)
			sqlite3_str_appendf(sql, ", %llu",
					    (unsigned long long)filter->ids[i]);
		sqlite3_str_appendall(
			sql, filter->last ? ", (SELECT max(id) FROM traits))" : ")");
	}
	if (filter->before)
		sqlite3_str_appendf(sql, " AND time < %Q", filter->before);
	if (filter->keep)
		sqlite3_str_appendf(
			sql,
			" AND id NOT IN (SELECT id FROM (SELECT id, row_number() OVER (PARTITION BY label ORDER BY id DESC) AS newest FROM traits) WHERE newest <= %llu)",
			(unsigned long long)filter->keep);
	sqlite3_str_appendall(
		sql,
		";INSERT INTO temp.chosen_result SELECT run, position, result.id, algorithm FROM temp.chosen CROSS JOIN result ON run = chosen.id");
	if (filter->algorithm) {
		sqlite3_str_appendall(sql, " WHERE ");
		append_algorithms(sql, filter->algorithm);
	}
}

/* The runs that pass into the table temp.chosen (id), their results that pass into
 * temp.chosen_result (run, position, id, algorithm). */
static int choose(struct fab_store *store, const struct fab_store_filter *filter,
		  struct fab_err *err)
{
	sqlite3_str *sql = sqlite3_str_new(store->db);
	char *text;
	int rc;

	if (sqlite3_create_function(store->db, "fab_glob", 2,
				    SQLITE_UTF8 | SQLITE_DETERMINISTIC |
					    SQLITE_DIRECTONLY,
				    NULL, glob, NULL, NULL) != SQLITE_OK)
		fab_oom(0);
	append_choice(sql, filter);
	text = sqlite3_str_finish(sql);
	if (!text)
		fab_oom(0);
	rc = fab_store_exec(store, make_chosen, "read", err);
	if (!rc)
		rc = fab_store_exec(store, text, "read", err);
	sqlite3_free(text);
	return rc;
}

/* Elements of one kind, on the heap. */
struct list {
	char *v;
	size_t n, cap;
};

static void read_field(struct fab_statement *q, int column, const struct fab_field *field,
		       char *row)
{
	void *out = row + field->offset;
	const char *text;

	switch (field->type) {
	case FAB_FIELD_TEXT:
		text = fab_statement_text(q, column);
		*(const char **)out = text ? text : "";
		return;
	case FAB_FIELD_NAME:
		*(const char **)out = fab_statement_name(q, column);
		return;
	case FAB_FIELD_NULLABLE:
		*(const char **)out = fab_statement_text(q, column);
		return;
	case FAB_FIELD_REAL:
	case FAB_FIELD_NUMBER:
		*(double *)out = sqlite3_column_type(q->of, column) == SQLITE_NULL
					 ? (double)NAN
					 : sqlite3_column_double(q->of, column);
		return;
	case FAB_FIELD_HEX:
		text = fab_statement_name(q, column);
		if (!fab_parse_guid(text, strlen(text), out))
			*(uint64_t *)out = 0;
		return;
	default:
		*(uint64_t *)out = fab_statement_uint(q, column);
	}
}

/* Element i of a list. */
static char *element(const struct list *list, int which, size_t i)
{
	return list->v + fab_rows_kinds[which].size * i;
}

/*
 * Copy all rows of a kind: the owner's id, then the fields. They come in the order of
 * their owners, which get them as a list. A row that no owner has means that an index of
 * the file is broken.
 */
static int read_kind(struct fab_store *store, struct fab_arena *arena, struct list *lists,
		     int which, struct fab_err *err)
{
	const struct fab_rows_kind *kind = &fab_rows_kinds[which];
	struct list *own = &lists[which];
	struct list *owners = kind->owner < 0 ? NULL : &lists[kind->owner];
	size_t at = 0, first = 0;
	FAB_AUTOFREE size_t *n_of = owners ? FAB_NEW0(owners->n + 1, size_t) : NULL;
	struct fab_statement q;
	FAB_AUTOFREE char *sql =
		owners ? fab_format("SELECT t.%s", kind->owner_column) : NULL;
	int rc = 0, second;

	for (size_t i = 0; i < kind->n_fields; i++)
		fab_append(&sql, ", ", "%st.%s", sql ? "" : "SELECT ",
			   kind->fields[i].name);
	fab_append(&sql, " ", "FROM %s", kind->from);
	fab_statement_init(&q, store, "read", sql);
	q.arena = arena;
	while (!rc && fab_statement_next(&q)) {
		uint64_t id = fab_statement_uint(&q, 0), owner;

		for (; owners && at < owners->n; at++) {
			memcpy(&owner,
			       element(owners, kind->owner, at) +
				       fab_rows_kinds[kind->owner].fields->offset,
			       sizeof(owner));
			if (owner == id)
				break;
		}
		if (owners && at == owners->n) {
			rc = fab_fail(
				err, EINVAL,
				"%s: the database is damaged: rows without an owner",
				store->path);
			break;
		}
		if (owners)
			n_of[at]++;
		if (own->n == own->cap) {
			own->cap = fab_grow(own->cap, own->n + 1);
			own->v = fab_realloc(own->v, own->cap, kind->size);
		}
		memset(element(own, which, own->n), 0, kind->size);
		for (size_t i = 0; i < kind->n_fields; i++)
			read_field(&q, (int)i + (owners != NULL), &kind->fields[i],
				   element(own, which, own->n));
		own->n++;
	}
	second = fab_statement_fini(&q, rc ? NULL : err);
	fab_arena_own(arena, free, own->v);
	for (size_t i = 0; owners && i < owners->n; first += n_of[i++]) {
		const void *v = own->v ? element(own, which, first) : NULL;

		memcpy(element(owners, kind->owner, i) + kind->list, &v, sizeof(v));
		memcpy(element(owners, kind->owner, i) + kind->n, &n_of[i],
		       sizeof(n_of[i]));
	}
	return rc ? rc : second;
}

int fab_store_read(struct fab_store *store, const struct fab_store_filter *filter,
		   struct fab_store_runs *out, struct fab_err *err)
{
	int n_kinds = filter->names_only ? FAB_N_ROWS_OF_LIST : FAB_N_ROWS, rc;
	struct list lists[FAB_N_ROWS] = {0};

	*out = (struct fab_store_runs){0};
	if (!store->db) /* no file yet */
		return 0;
	/* one transaction: all queries see the same moment */
	rc = fab_store_exec(store, "BEGIN", "read", err);
	if (!rc) {
		FAB_VEC(struct fab_store_kind) list = {0};
		struct fab_statement q;

		fab_statement_init(
			&q, store, "read",
			"SELECT command, name, coalesce(better = 'more', 0) - coalesce(better = 'less', 0), is_time, unit, help, CASE merge WHEN 'sum' THEN 1 WHEN 'max' THEN 2 WHEN 'all' THEN 3 ELSE 0 END FROM metric_kind ORDER BY command, position, name");
		q.arena = &out->memory;
		while (fab_statement_next(&q)) {
			struct fab_store_kind kind = {
				fab_statement_name(&q, 0),
				fab_statement_name(&q, 1),
				sqlite3_column_int(q.of, 2),
				sqlite3_column_int(q.of, 3) != 0,
				fab_statement_name(&q, 4),
				fab_statement_name(&q, 5),
				(enum fab_merge)fab_statement_uint(&q, 6)};

			size_t n = strspn(kind.name,
					  "abcdefghijklmnopqrstuvwxyz0123456789_.");

			/* names of metrics become names of columns, help one line of a
			 * list */
			if (!n || n > MAX_NAME || kind.name[n])
				continue;
			if (!*kind.unit)
				kind.unit = NULL;
			for (const char *c = kind.help; *c; c++)
				if (*c < ' ' || *c > '~') {
					kind.help = "";
					break;
				}
			FAB_PUSH(&list, kind);
		}
		out->kinds = list.v;
		fab_arena_own(&out->memory, free, list.v);
		out->n_kinds = list.n;
		rc = fab_statement_fini(&q, err);
	}
	if (!rc)
		rc = choose(store, filter, err);
	for (int i = 0; i < n_kinds && !rc; i++)
		rc = read_kind(store, &out->memory, lists, i, err);
	fab_store_rollback(store);
	out->v = (const struct fab_store_run *)(const void *)lists[FAB_ROWS_RUN].v;
	out->n = lists[FAB_ROWS_RUN].n;
	if (rc)
		fab_store_runs_fini(out);
	return rc;
}

void fab_store_runs_fini(struct fab_store_runs *runs)
{
	fab_arena_free(&runs->memory);
	*runs = (struct fab_store_runs){0};
}

const struct fab_store_kind *fab_store_kind_get(const struct fab_store_runs *runs,
						const char *command, const char *name)
{
	for (size_t i = 0; i < runs->n_kinds; i++)
		if (!strcmp(runs->kinds[i].command, command) &&
		    !strcmp(runs->kinds[i].name, name))
			return &runs->kinds[i];
	return NULL;
}

double fab_store_number_get(const struct fab_store_number *numbers, size_t n,
			    const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(numbers[i].name, name))
			return numbers[i].value;
	return NAN;
}
