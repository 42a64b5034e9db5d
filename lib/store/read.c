/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reading runs back: one query for each kind of rows, in the order of their owners. The
 * file may come from anywhere: no value is trusted.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "store/query.h"
#include "store/rows.h"

enum { MAX_NAME = 64 };

/* Elements of one kind, on the heap. */
struct list {
	char *v;
	size_t n, cap;
};

static uint64_t guid_of(const char *text)
{
	uint64_t guid = 0;

	return fab_parse_guid(text, strlen(text), &guid) ? guid : 0;
}

static void read_field(struct fab_query *q, int column, const struct fab_field *field,
		       char *row)
{
	void *out = row + field->offset;

	switch (field->type) {
	case FAB_FIELD_TEXT:
		*(const char **)out = fab_query_text_or_empty(q, column);
		return;
	case FAB_FIELD_NAME:
		*(const char **)out = fab_query_name(q, column);
		return;
	case FAB_FIELD_NULLABLE:
		*(const char **)out = fab_query_text(q, column);
		return;
	case FAB_FIELD_REAL:
	case FAB_FIELD_NUMBER:
		*(double *)out = fab_query_real(q, column, NAN);
		return;
	case FAB_FIELD_HEX:
		*(uint64_t *)out = guid_of(fab_query_name(q, column));
		return;
	default:
		*(uint64_t *)out = fab_query_uint(q, column);
	}
}

/* The owner's id, then the fields. */
static void read_row(struct fab_query *q, const struct fab_rows_kind *kind, char *row)
{
	memset(row, 0, kind->size);
	for (size_t i = 0; i < kind->n_fields; i++)
		read_field(q, (int)i + (kind->owner_column != NULL), &kind->fields[i],
			   row);
}

/* On the heap. */
static char *select_of(const struct fab_rows_kind *kind)
{
	size_t size;
	char *sql;
	FILE *out = open_memstream(&sql, &size);

	if (!out)
		fab_oom(0);
	fputs("SELECT ", out);
	if (kind->owner_column)
		fprintf(out, "t.%s, ", kind->owner_column);
	for (size_t i = 0; i < kind->n_fields; i++)
		fprintf(out, "%st.%s", i ? ", " : "", kind->fields[i].name);
	fprintf(out, " FROM %s", kind->from);
	fclose(out);
	return sql;
}

static char *add_element(struct list *list, const struct fab_rows_kind *kind)
{
	if (list->n == list->cap) {
		list->cap = fab_grow(list->cap, list->n + 1);
		list->v = fab_realloc(list->v, list->cap, kind->size);
	}
	return list->v + kind->size * list->n++;
}

/* Let the owner have n elements from number `first` on. */
static void give(char *owner, const struct fab_rows_kind *kind, const struct list *list,
		 size_t first, size_t n)
{
	const void *v = list->v ? list->v + kind->size * first : NULL;

	memcpy(owner + kind->list, &v, sizeof(v));
	memcpy(owner + kind->n, &n, sizeof(n));
}

static uint64_t id_of(const struct list *list, const struct fab_rows_kind *kind, size_t i)
{
	uint64_t id;

	memcpy(&id, list->v + kind->size * i + kind->fields->offset, sizeof(id));
	return id;
}

/*
 * Copy all rows of a kind; n_of [owners] counts those of each owner. One that no owner
 * has means that an index of the file is broken.
 */
static int read_rows(struct fab_query *q, struct list *lists, int which, size_t *n_of,
		     struct fab_err *err)
{
	const struct fab_rows_kind *kind = &fab_rows_kinds[which];
	size_t at = 0;

	while (fab_query_next(q)) {
		if (n_of) {
			const struct list *owners = &lists[kind->owner];
			uint64_t id = fab_query_uint(q, 0);

			while (at < owners->n &&
			       id_of(owners, &fab_rows_kinds[kind->owner], at) != id)
				at++;
			if (at == owners->n)
				return fab_fail(err, EINVAL,
						"%s: the database is damaged: rows "
						"without an owner",
						q->store->path);
			n_of[at]++;
		}
		read_row(q, kind, add_element(&lists[which], kind));
	}
	return 0;
}

static int read_kind(struct fab_store *store, struct fab_store_memory *memory,
		     struct list *lists, int which, struct fab_err *err)
{
	const struct fab_rows_kind *kind = &fab_rows_kinds[which];
	struct list *owners = kind->owner < 0 ? NULL : &lists[kind->owner];
	size_t *n_of = owners ? FAB_NEW0(owners->n + 1, size_t) : NULL, first = 0;
	struct fab_query q;
	char *sql = select_of(kind);
	int rc, second;

	fab_query_init(&q, store, memory, sql);
	free(sql);
	rc = read_rows(&q, lists, which, n_of, err);
	if (rc)
		sqlite3_finalize(q.statement);
	second = rc ? rc : fab_query_fini(&q, err);
	fab_store_keep(memory, lists[which].v);
	for (size_t i = 0; owners && i < owners->n; first += n_of[i++])
		give(owners->v + fab_rows_kinds[kind->owner].size * i, kind,
		     &lists[which], first, n_of[i]);
	free(n_of);
	return second;
}

/* Names of metrics become names of columns: nothing but what such a name may have. */
static bool is_word(const char *text)
{
	size_t n = strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789_.");

	return n && n <= MAX_NAME && !text[n];
}

static bool is_line(const char *text)
{
	while (*text >= ' ' && *text <= '~')
		text++;
	return !*text;
}

static int read_metrics(struct fab_store *store, struct fab_store_memory *memory,
			struct fab_store_runs *out, struct fab_err *err)
{
	FAB_VEC(struct fab_store_kind) list = {0};
	struct fab_query q;

	fab_query_init(&q, store, memory,
		       "SELECT command, name, coalesce(better = 'more', 0) - "
		       "coalesce(better = 'less', 0), is_time, unit, help, "
		       "CASE merge WHEN 'sum' THEN 1 WHEN 'max' THEN 2 "
		       "WHEN 'all' THEN 3 ELSE 0 END FROM metric_kind ORDER BY command, "
		       "position, name");
	while (fab_query_next(&q)) {
		struct fab_store_kind kind = {fab_query_name(&q, 0),
					      fab_query_text_or_empty(&q, 1),
					      sqlite3_column_int(q.statement, 2),
					      sqlite3_column_int(q.statement, 3) != 0,
					      fab_query_name(&q, 4),
					      fab_query_text_or_empty(&q, 5),
					      (enum fab_merge)fab_query_uint(&q, 6)};

		if (!is_word(kind.name))
			continue;
		if (!*kind.unit)
			kind.unit = NULL;
		if (!is_line(kind.help))
			kind.help = "";
		FAB_PUSH(&list, kind);
	}
	out->kinds = fab_store_keep(memory, list.v);
	out->n_kinds = list.n;
	return fab_query_fini(&q, err);
}

static int read_all(struct fab_store *store, const struct fab_store_filter *filter,
		    struct fab_store_runs *runs, struct fab_err *err)
{
	int n_kinds = filter->names_only ? FAB_N_ROWS_OF_LIST : FAB_N_ROWS;
	struct list lists[FAB_N_ROWS] = {0};
	int rc = read_metrics(store, runs->memory, runs, err);

	if (!rc)
		rc = fab_store_choose(store, filter, err);
	for (int i = 0; i < n_kinds && !rc; i++)
		rc = read_kind(store, runs->memory, lists, i, err);
	runs->v = (const struct fab_store_run *)(const void *)lists[FAB_ROWS_RUN].v;
	runs->n = lists[FAB_ROWS_RUN].n;
	return rc;
}

int fab_store_read(struct fab_store *store, const struct fab_store_filter *filter,
		   struct fab_store_runs *out, struct fab_err *err)
{
	struct fab_store_runs runs = {.memory = FAB_NEW0(1, struct fab_store_memory)};
	int rc;

	if (!store->db) { /* no file yet */
		*out = runs;
		return 0;
	}
	/* one transaction: all queries see the same moment */
	rc = fab_store_exec(store, "BEGIN", "read", err);
	if (!rc)
		rc = read_all(store, filter, &runs, err);
	fab_store_rollback(store);
	if (rc) {
		fab_store_runs_fini(&runs);
		return rc;
	}
	*out = runs;
	return 0;
}

void fab_store_runs_fini(struct fab_store_runs *runs)
{
	if (runs->memory)
		fab_store_memory_free(runs->memory);
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
