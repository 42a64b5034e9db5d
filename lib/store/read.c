/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reading runs back: one query for each kind of rows, in the order of their owners. The
 * file may come from anywhere: no value is trusted.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "store/query.h"

enum { MAX_NAME = 64 };

/* The runs, then what belongs to runs, results and batches. */
enum {
	RUNS,
	FACTS,
	ASKED,
	SHARD,
	RESULTS,
	N_OF_LIST,
	METRICS = N_OF_LIST,
	BINS,
	DETAILS,
	BATCHES,
	SEGMENTS,
	N_KINDS
};

/* Rows of one kind: how they are read, and where an owner points to those it has. */
struct kind {
	int owner;	 /* kind that has them; their first column is its id */
	const char *sql; /* in the order of the owners */
	void (*read)(struct fab_query *q, void *out);
	size_t size, id; /* of an element; where its id is */
	size_t list, n;	 /* where the owner keeps them */
};

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

static void read_run(struct fab_query *q, void *out)
{
	*(struct fab_store_run *)out = (struct fab_store_run){
		.id = fab_query_uint(q, 0),
		.time = fab_query_text_or_empty(q, 1),
		.command = fab_query_name(q, 2),
		.version = fab_query_name(q, 3),
		.arguments = fab_query_text_or_empty(q, 4),
		.label = fab_query_text(q, 5),
		.host = fab_query_name(q, 6),
		.source = fab_query_name(q, 7),
		.fingerprint = guid_of(fab_query_name(q, 8)),
		.switches = fab_query_uint(q, 9),
		.adapters = fab_query_uint(q, 10),
		.aggregation_nodes = fab_query_uint(q, 11),
		.hosts = fab_query_uint(q, 12),
		.switch_links = fab_query_uint(q, 13),
		.host_links = fab_query_uint(q, 14),
	};
}

static void read_number(struct fab_query *q, void *out)
{
	*(struct fab_store_number *)out = (struct fab_store_number){
		fab_query_name(q, 1), fab_query_real(q, 2, NAN)};
}

static void read_asked(struct fab_query *q, void *out)
{
	*(struct fab_store_text *)out = (struct fab_store_text){
		fab_query_name(q, 1), fab_query_text_or_empty(q, 2)};
}

static void read_shard(struct fab_query *q, void *out)
{
	*(struct fab_store_shard *)out = (struct fab_store_shard){
		.number = fab_query_uint(q, 1),
		.count = fab_query_uint(q, 2),
		.unit = fab_query_name(q, 3),
		.items = fab_query_uint(q, 4),
		.all_items = fab_query_uint(q, 5),
		.job = fab_query_text_or_empty(q, 6),
		.input = guid_of(fab_query_text_or_empty(q, 7)),
	};
}

static void read_result(struct fab_query *q, void *out)
{
	*(struct fab_store_result *)out = (struct fab_store_result){
		.id = fab_query_uint(q, 1), .algorithm = fab_query_name(q, 2)};
}

static void read_bin(struct fab_query *q, void *out)
{
	*(struct fab_store_bin *)out =
		(struct fab_store_bin){fab_query_uint(q, 1), fab_query_uint(q, 2)};
}

static void read_detail(struct fab_query *q, void *out)
{
	*(struct fab_store_detail *)out = (struct fab_store_detail){
		fab_query_uint(q, 1), fab_query_name(q, 2), fab_query_name(q, 3),
		fab_query_real(q, 4, NAN)};
}

static void read_batch(struct fab_query *q, void *out)
{
	*(struct fab_store_batch *)out = (struct fab_store_batch){
		.id = fab_query_uint(q, 1),
		.algorithm = fab_query_name(q, 2),
		.name = fab_query_text_or_empty(q, 3),
		.nodes = fab_query_uint(q, 4),
		.servers = fab_query_uint(q, 5),
		.bandwidth_mbps = fab_query_real(q, 6, NAN),
		.boot_seconds = fab_query_real(q, 7, NAN),
		.bottleneck = fab_query_text(q, 8),
		.position = fab_query_uint(q, 9),
	};
}

static void read_segment(struct fab_query *q, void *out)
{
	*(struct fab_store_segment *)out = (struct fab_store_segment){
		.name = fab_query_name(q, 1),
		.tightest = fab_query_text_or_empty(q, 2),
		.capacity_mbps = fab_query_real(q, 3, NAN),
		.share_mbps = fab_query_real(q, 4, NAN),
		.max_sharers = fab_query_uint(q, 5),
	};
}

#define OF(owner, member)                                                                \
	offsetof(struct owner, member), offsetof(struct owner, n_##member)
#define NO_ID 0

static const struct kind kinds[N_KINDS] = {
	[RUNS] = {-1,
		  "SELECT id, time, command, version, arguments, label, host, source, "
		  "fingerprint, switches, adapters, aggregation_nodes, hosts, "
		  "switch_links, host_links FROM run "
		  "WHERE id IN (SELECT id FROM temp.chosen) ORDER BY id",
		  read_run, sizeof(struct fab_store_run),
		  offsetof(struct fab_store_run, id), 0, 0},
	[FACTS] = {RUNS,
		   "SELECT run, name, value FROM temp.chosen CROSS JOIN fact "
		   "ON run = chosen.id ORDER BY chosen.id, name",
		   read_number, sizeof(struct fab_store_number), NO_ID,
		   OF(fab_store_run, facts)},
	[ASKED] = {RUNS,
		   "SELECT run, name, value FROM temp.chosen CROSS JOIN asked "
		   "ON run = chosen.id ORDER BY chosen.id, name",
		   read_asked, sizeof(struct fab_store_text), NO_ID,
		   OF(fab_store_run, asked)},
	[SHARD] = {RUNS,
		   "SELECT run, number, count, unit, items, all_items, job, input "
		   "FROM temp.chosen CROSS JOIN shard ON run = chosen.id "
		   "ORDER BY chosen.id",
		   read_shard, sizeof(struct fab_store_shard), NO_ID,
		   OF(fab_store_run, shard)},
	[RESULTS] = {RUNS,
		     "SELECT run, id, algorithm FROM temp.chosen_result "
		     "ORDER BY run, position",
		     read_result, sizeof(struct fab_store_result),
		     offsetof(struct fab_store_result, id), OF(fab_store_run, results)},
	[METRICS] = {RESULTS,
		     "SELECT r.id, name, value FROM temp.chosen_result AS r "
		     "CROSS JOIN metric ON result = r.id "
		     "ORDER BY r.run, r.position, name",
		     read_number, sizeof(struct fab_store_number), NO_ID,
		     OF(fab_store_result, metrics)},
	[BINS] = {RESULTS,
		  "SELECT r.id, load, links FROM temp.chosen_result AS r "
		  "CROSS JOIN histogram ON result = r.id "
		  "ORDER BY r.run, r.position, load",
		  read_bin, sizeof(struct fab_store_bin), NO_ID,
		  OF(fab_store_result, bins)},
	[DETAILS] = {RESULTS,
		     "SELECT r.id, d.position, part, name, value "
		     "FROM temp.chosen_result AS r CROSS JOIN detail AS d "
		     "ON result = r.id ORDER BY r.run, r.position, d.position, name",
		     read_detail, sizeof(struct fab_store_detail), NO_ID,
		     OF(fab_store_result, details)},
	[BATCHES] =
		{RUNS,
		 "SELECT run, batch.id, algorithm, name, nodes, servers, "
		 "bandwidth_mbps, boot_seconds, bottleneck, position FROM temp.chosen "
		 "CROSS JOIN batch ON run = chosen.id WHERE algorithm IN "
		 "(SELECT algorithm FROM temp.chosen_result AS r "
		 "WHERE r.run = chosen.id) ORDER BY chosen.id, position",
		 read_batch, sizeof(struct fab_store_batch),
		 offsetof(struct fab_store_batch, id), OF(fab_store_run, batches)},
	[SEGMENTS] = {BATCHES,
		      "SELECT batch, segment.name, tightest, capacity_mbps, share_mbps, "
		      "max_sharers FROM temp.chosen CROSS JOIN batch AS b "
		      "ON run = chosen.id CROSS JOIN segment ON batch = b.id "
		      "WHERE algorithm IN (SELECT algorithm FROM temp.chosen_result AS r "
		      "WHERE r.run = chosen.id) "
		      "ORDER BY chosen.id, b.position, segment.position",
		      read_segment, sizeof(struct fab_store_segment), NO_ID,
		      OF(fab_store_batch, segments)},
};

static void *add_element(struct list *list, const struct kind *kind)
{
	if (list->n == list->cap) {
		list->cap = fab_grow(list->cap, list->n + 1);
		list->v = fab_realloc(list->v, list->cap, kind->size);
	}
	return list->v + kind->size * list->n++;
}

/* Let the owner have n elements from number `first` on. */
static void give(char *owner, const struct kind *kind, const struct list *list,
		 size_t first, size_t n)
{
	const void *v = list->v + kind->size * first;

	memcpy(owner + kind->list, &v, sizeof(v));
	memcpy(owner + kind->n, &n, sizeof(n));
}

static uint64_t id_of(const struct list *list, const struct kind *kind, size_t i)
{
	uint64_t id;

	memcpy(&id, list->v + kind->size * i + kind->id, sizeof(id));
	return id;
}

/*
 * Copy all rows of a kind; n_of [owners] counts those of each owner. One that no owner
 * has means that an index of the file is broken.
 */
static int read_rows(struct fab_query *q, struct list *lists, int which, size_t *n_of,
		     struct fab_err *err)
{
	const struct kind *kind = &kinds[which];
	size_t at = 0;

	while (fab_query_next(q)) {
		if (n_of) {
			const struct list *owners = &lists[kind->owner];
			uint64_t id = fab_query_uint(q, 0);

			while (at < owners->n &&
			       id_of(owners, &kinds[kind->owner], at) != id)
				at++;
			if (at == owners->n)
				return fab_fail(err, EINVAL,
						"%s: the database is damaged: rows "
						"without an owner",
						q->store->path);
			n_of[at]++;
		}
		kind->read(q, add_element(&lists[which], kind));
	}
	return 0;
}

static int read_kind(struct fab_store *store, struct fab_store_memory *memory,
		     struct list *lists, int which, struct fab_err *err)
{
	const struct kind *kind = &kinds[which];
	struct list *owners = kind->owner < 0 ? NULL : &lists[kind->owner];
	size_t *n_of = owners ? FAB_NEW0(owners->n + 1, size_t) : NULL, first = 0;
	struct fab_query q;
	int rc, second;

	fab_query_init(&q, store, memory, kind->sql);
	rc = read_rows(&q, lists, which, n_of, err);
	if (rc)
		sqlite3_finalize(q.statement);
	second = rc ? rc : fab_query_fini(&q, err);
	fab_store_keep(memory, lists[which].v);
	for (size_t i = 0; owners && i < owners->n; first += n_of[i++])
		give(owners->v + kinds[kind->owner].size * i, kind, &lists[which], first,
		     n_of[i]);
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
	int n_kinds = filter->names_only ? N_OF_LIST : N_KINDS;
	struct list lists[N_KINDS] = {0};
	int rc = read_metrics(store, runs->memory, runs, err);

	if (!rc)
		rc = fab_store_choose(store, filter, err);
	for (int i = 0; i < n_kinds && !rc; i++)
		rc = read_kind(store, runs->memory, lists, i, err);
	runs->v = (const struct fab_store_run *)(const void *)lists[RUNS].v;
	runs->n = lists[RUNS].n;
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
