/* SPDX-License-Identifier: BSD-2-Clause */
/* Reading runs back. The file may come from anywhere: no value is trusted. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/num.h"
#include "base/text.h"
#include "store/store_impl.h"

enum { MAX_NAME = 64 };

/* Everything that the runs point to, freed together. */
struct memory {
	FAB_VEC(void *) blocks;
};

/* A query on its way; the first failure stays in rc. */
struct query {
	struct fab_store *store;
	struct memory *memory;
	sqlite3_stmt *statement;
	int rc;
};

static void *keep(struct memory *memory, void *block)
{
	FAB_PUSH(&memory->blocks, block);
	return block;
}

static void query_init(struct query *q, struct fab_store *store, struct memory *memory,
		       const char *sql, uint64_t key)
{
	*q = (struct query){.store = store, .memory = memory};
	q->rc = sqlite3_prepare_v2(store->db, sql, -1, &q->statement, NULL);
	if (q->rc == SQLITE_OK && sqlite3_bind_parameter_count(q->statement))
		q->rc = sqlite3_bind_int64(q->statement, 1, (sqlite3_int64)key);
}

static bool query_next(struct query *q)
{
	if (q->rc == SQLITE_OK || q->rc == SQLITE_ROW) {
		fab_store_step(q->store);
		q->rc = sqlite3_step(q->statement);
	}
	return q->rc == SQLITE_ROW;
}

static int query_fini(struct query *q, struct fab_err *err)
{
	int rc = q->rc == SQLITE_DONE ? 0 : fab_store_fail(q->store, q->rc, "read", err);

	sqlite3_finalize(q->statement);
	return rc;
}

/* A copy that lives as long as the runs; NULL for a null. */
static const char *text_at(struct query *q, int column)
{
	const unsigned char *text = sqlite3_column_text(q->statement, column);

	if (!text && sqlite3_column_type(q->statement, column) != SQLITE_NULL)
		fab_oom(0);
	return text ? keep(q->memory, fab_strdup((const char *)text)) : NULL;
}

static const char *text_or_empty(struct query *q, int column)
{
	const char *text = text_at(q, column);

	return text ? text : "";
}

/* What is below zero is 0. */
static uint64_t uint_at(struct query *q, int column)
{
	sqlite3_int64 value = sqlite3_column_int64(q->statement, column);

	return value < 0 ? 0 : (uint64_t)value;
}

static uint64_t guid_of(const char *text)
{
	uint64_t guid = 0;

	return fab_parse_guid(text, strlen(text), &guid) ? guid : 0;
}

static bool is_chosen(const struct fab_store_filter *filter, uint64_t id)
{
	if (!filter->ids)
		return true;
	for (size_t i = 0; i < filter->n_ids; i++)
		if (filter->ids[i] == id)
			return true;
	return false;
}

static bool is_fabric(const char *pattern, const struct fab_store_run *run)
{
	uint64_t guid;

	if (!strncmp(pattern, "0x", 2) && fab_parse_guid(pattern, strlen(pattern), &guid))
		return guid == run->fingerprint;
	return fab_text_glob(pattern, run->source);
}

static bool run_passes(const struct fab_store_filter *filter,
		       const struct fab_store_run *run)
{
	if (!is_chosen(filter, run->id))
		return false;
	if (filter->command && strcmp(filter->command, run->command) != 0)
		return false;
	if (filter->label && !(run->label && fab_text_glob(filter->label, run->label)))
		return false;
	return !filter->fabric || is_fabric(filter->fabric, run);
}

/* Is the name in the comma list? Without a list every name is. */
static bool is_listed(const char *list, const char *name)
{
	size_t len = strlen(name);

	while (list) {
		size_t n = strcspn(list, ",");

		if (n == len && !strncmp(list, name, n))
			return true;
		if (!list[n])
			return false;
		list += n + 1;
	}
	return true;
}

static int read_numbers(struct fab_store *store, struct memory *memory, const char *sql,
			uint64_t owner, const struct fab_store_number **out, size_t *n,
			struct fab_err *err)
{
	FAB_VEC(struct fab_store_number) list = {0};
	struct query q;

	query_init(&q, store, memory, sql, owner);
	while (query_next(&q))
		FAB_PUSH(&list, ((struct fab_store_number){
					text_or_empty(&q, 0),
					sqlite3_column_double(q.statement, 1)}));
	*out = keep(memory, list.v);
	*n = list.n;
	return query_fini(&q, err);
}

static int read_bins(struct fab_store *store, struct memory *memory, uint64_t result,
		     struct fab_store_result *out, struct fab_err *err)
{
	FAB_VEC(struct fab_store_bin) list = {0};
	struct query q;

	query_init(&q, store, memory,
		   "SELECT load, links FROM histogram WHERE result = ? ORDER BY load",
		   result);
	while (query_next(&q))
		FAB_PUSH(&list, ((struct fab_store_bin){uint_at(&q, 0), uint_at(&q, 1)}));
	out->bins = keep(memory, list.v);
	out->n_bins = list.n;
	return query_fini(&q, err);
}

static int read_result(struct fab_store *store, struct memory *memory, uint64_t id,
		       struct fab_store_result *out, struct fab_err *err)
{
	int rc = read_numbers(store, memory,
			      "SELECT name, value FROM metric WHERE result = ? "
			      "ORDER BY name",
			      id, &out->metrics, &out->n_metrics, err);

	return rc ? rc : read_bins(store, memory, id, out, err);
}

/* The results that the filter lets pass, and all that belongs to them. */
static int read_results(struct fab_store *store, struct memory *memory,
			const struct fab_store_filter *filter, struct fab_store_run *run,
			struct fab_err *err)
{
	FAB_VEC(struct fab_store_result) list = {0};
	struct query q;
	int rc = 0;

	query_init(&q, store, memory,
		   "SELECT id, algorithm FROM result WHERE run = ? ORDER BY position",
		   run->id);
	while (!rc && query_next(&q)) {
		struct fab_store_result r = {.algorithm = text_or_empty(&q, 1)};

		if (!is_listed(filter->algorithm, r.algorithm))
			continue;
		rc = read_result(store, memory,
				 (uint64_t)sqlite3_column_int64(q.statement, 0), &r, err);
		FAB_PUSH(&list, r);
	}
	run->results = keep(memory, list.v);
	run->n_results = list.n;
	if (rc) {
		sqlite3_finalize(q.statement);
		return rc;
	}
	return query_fini(&q, err);
}

static struct fab_store_run run_at(struct query *q)
{
	return (struct fab_store_run){
		.id = uint_at(q, 0),
		.time = text_or_empty(q, 1),
		.command = text_or_empty(q, 2),
		.version = text_or_empty(q, 3),
		.arguments = text_or_empty(q, 4),
		.label = text_at(q, 5),
		.host = text_or_empty(q, 6),
		.source = text_or_empty(q, 7),
		.fingerprint = guid_of(text_or_empty(q, 8)),
		.switches = uint_at(q, 9),
		.adapters = uint_at(q, 10),
		.aggregation_nodes = uint_at(q, 11),
		.hosts = uint_at(q, 12),
		.switch_links = uint_at(q, 13),
		.host_links = uint_at(q, 14),
	};
}

/* The runs themselves; their numbers come after. */
static int read_runs(struct fab_store *store, struct memory *memory,
		     const struct fab_store_filter *filter, struct fab_store_run **out,
		     size_t *n, struct fab_err *err)
{
	FAB_VEC(struct fab_store_run) list = {0};
	struct query q;

	query_init(&q, store, memory,
		   "SELECT id, time, command, version, arguments, label, host, source, "
		   "fingerprint, switches, adapters, aggregation_nodes, hosts, "
		   "switch_links, host_links FROM run ORDER BY id",
		   0);
	while (query_next(&q)) {
		struct fab_store_run run = run_at(&q);

		if (run_passes(filter, &run))
			FAB_PUSH(&list, run);
	}
	*out = keep(memory, list.v);
	*n = list.n;
	return query_fini(&q, err);
}

/* Complete the runs; those without a result that passes fall out. */
static int read_details(struct fab_store *store, struct memory *memory,
			const struct fab_store_filter *filter, struct fab_store_run *runs,
			size_t *n, struct fab_err *err)
{
	size_t n_kept = 0;

	for (size_t i = 0; i < *n; i++) {
		int rc = read_numbers(store, memory,
				      "SELECT name, value FROM fact WHERE run = ? "
				      "ORDER BY name",
				      runs[i].id, &runs[i].facts, &runs[i].n_facts, err);

		if (!rc)
			rc = read_results(store, memory, filter, &runs[i], err);
		if (rc)
			return rc;
		if (runs[i].n_results || !filter->algorithm)
			runs[n_kept++] = runs[i];
	}
	*n = n_kept;
	return 0;
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

static int read_kinds(struct fab_store *store, struct memory *memory,
		      struct fab_store_runs *out, struct fab_err *err)
{
	FAB_VEC(struct fab_store_kind) list = {0};
	struct query q;

	query_init(&q, store, memory,
		   "SELECT name, coalesce(better = 'more', 0) - "
		   "coalesce(better = 'less', 0), is_time, help "
		   "FROM metric_kind ORDER BY position, name",
		   0);
	while (query_next(&q)) {
		struct fab_store_kind kind = {
			text_or_empty(&q, 0), sqlite3_column_int(q.statement, 1),
			sqlite3_column_int(q.statement, 2) != 0, text_or_empty(&q, 3)};

		if (!is_word(kind.name))
			continue;
		if (!is_line(kind.help))
			kind.help = "";
		FAB_PUSH(&list, kind);
	}
	out->kinds = keep(memory, list.v);
	out->n_kinds = list.n;
	return query_fini(&q, err);
}

static int read_all(struct fab_store *store, const struct fab_store_filter *filter,
		    struct fab_store_runs *runs, struct fab_err *err)
{
	struct fab_store_run *v = NULL;
	int rc = read_kinds(store, runs->memory, runs, err);

	if (!rc)
		rc = read_runs(store, runs->memory, filter, &v, &runs->n, err);
	if (!rc)
		rc = read_details(store, runs->memory, filter, v, &runs->n, err);
	runs->v = v;
	return rc;
}

int fab_store_read(struct fab_store *store, const struct fab_store_filter *filter,
		   struct fab_store_runs *out, struct fab_err *err)
{
	struct fab_store_runs runs = {.memory = FAB_NEW0(1, struct memory)};
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
	struct memory *memory = runs->memory;

	if (!memory)
		return;
	for (size_t i = 0; i < memory->blocks.n; i++)
		free(memory->blocks.v[i]);
	free(memory->blocks.v);
	free(memory);
	*runs = (struct fab_store_runs){0};
}

double fab_store_number_get(const struct fab_store_number *numbers, size_t n,
			    const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(numbers[i].name, name))
			return numbers[i].value;
	return NAN;
}
