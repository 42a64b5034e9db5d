/* SPDX-License-Identifier: BSD-2-Clause */
/* Adding a run: one transaction. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "store/store_impl.h"

/* A statement that is run for many rows; remembers the first failure. */
struct insert {
	struct fab_store *store;
	sqlite3_stmt *statement;
	int column; /* bound so far */
	int rc;
};

static void insert_init(struct insert *in, struct fab_store *store, const char *sql)
{
	*in = (struct insert){.store = store};
	in->rc = sqlite3_prepare_v2(store->db, sql, -1, &in->statement, NULL);
}

static void bind_text(struct insert *in, const char *text)
{
	if (in->rc == SQLITE_OK) /* NULL becomes a null */
		in->rc = sqlite3_bind_text(in->statement, ++in->column, text, -1,
					   SQLITE_TRANSIENT);
}

static void bind_uint(struct insert *in, uint64_t value)
{
	if (in->rc == SQLITE_OK)
		in->rc = sqlite3_bind_int64(in->statement, ++in->column,
					    (sqlite3_int64)value);
}

/* Whole numbers as such: 4 and not 4.0. */
static void bind_number(struct insert *in, double value)
{
	if (fabs(value) <= 9007199254740992.0 && floor(value) == value)
		bind_uint(in, (uint64_t)(int64_t)value);
	else if (in->rc == SQLITE_OK)
		in->rc = sqlite3_bind_double(in->statement, ++in->column, value);
}

static void run_insert(struct insert *in)
{
	if (in->rc != SQLITE_OK)
		return;
	fab_store_step(in->store);
	in->rc = sqlite3_step(in->statement);
	if (in->rc == SQLITE_DONE)
		in->rc = sqlite3_reset(in->statement);
	in->column = 0;
}

static void bind_real(struct insert *in, double value)
{
	if (in->rc != SQLITE_OK)
		return;
	in->column++;
	in->rc = isfinite(value) ? sqlite3_bind_double(in->statement, in->column, value)
				 : sqlite3_bind_null(in->statement, in->column);
}

/*
 * One row: for each letter of `types` a value. t: a text or NULL, u: uint64_t, n: a
 * double that is kept as a whole number where it is one, r: a double, null where not
 * finite.
 */
static void put(struct insert *in, const char *types, ...)
{
	va_list values;

	va_start(values, types);
	for (; *types; types++)
		switch (*types) {
		case 't':
			bind_text(in, va_arg(values, const char *));
			break;
		case 'u':
			bind_uint(in, va_arg(values, uint64_t));
			break;
		case 'n':
			bind_number(in, va_arg(values, double));
			break;
		default:
			bind_real(in, va_arg(values, double));
		}
	va_end(values);
	run_insert(in);
}

static int insert_fini(struct insert *in, struct fab_err *err)
{
	int rc =
		in->rc == SQLITE_OK ? 0 : fab_store_fail(in->store, in->rc, "write", err);

	sqlite3_finalize(in->statement);
	return rc;
}

static uint64_t last_id(const struct insert *in)
{
	return (uint64_t)sqlite3_last_insert_rowid(in->store->db);
}

static int add_run(struct fab_store *store, const struct fab_store_run *run, uint64_t *id,
		   struct fab_err *err)
{
	char fingerprint[32];
	struct insert in;

	insert_init(&in, store,
		    "INSERT INTO run (time, command, version, arguments, label, host, "
		    "source, fingerprint, switches, adapters, aggregation_nodes, hosts, "
		    "switch_links, host_links) "
		    "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
	snprintf(fingerprint, sizeof(fingerprint), "0x%016" PRIx64, run->fingerprint);
	put(&in, "ttttttttuuuuuu", run->time, run->command, run->version, run->arguments,
	    run->label, run->host, run->source, fingerprint, run->switches, run->adapters,
	    run->aggregation_nodes, run->hosts, run->switch_links, run->host_links);
	*id = last_id(&in);
	return insert_fini(&in, err);
}

/* Numbers that belong to the row `owner`. */
static int add_numbers(struct fab_store *store, const char *sql, uint64_t owner,
		       const struct fab_store_number *v, size_t n, struct fab_err *err)
{
	struct insert in;

	insert_init(&in, store, sql);
	for (size_t i = 0; i < n; i++)
		if (isfinite(v[i].value))
			put(&in, "utn", owner, v[i].name, v[i].value);
	return insert_fini(&in, err);
}

static int add_asked(struct fab_store *store, uint64_t run,
		     const struct fab_store_text *v, size_t n, struct fab_err *err)
{
	struct insert in;

	insert_init(&in, store, "INSERT INTO asked (run, name, value) VALUES (?, ?, ?)");
	for (size_t i = 0; i < n; i++)
		if (v[i].value)
			put(&in, "utt", run, v[i].name, v[i].value);
	return insert_fini(&in, err);
}

static int add_shard(struct fab_store *store, uint64_t run,
		     const struct fab_store_shard *s, struct fab_err *err)
{
	char input[32];
	struct insert in;

	insert_init(&in, store,
		    "INSERT INTO shard (run, number, count, unit, items, all_items, job, "
		    "input) VALUES (?, ?, ?, ?, ?, ?, ?, ?)");
	snprintf(input, sizeof(input), "0x%016" PRIx64, s->input);
	put(&in, "uuutuutt", run, s->number, s->count, s->unit, s->items, s->all_items,
	    s->job, input);
	return insert_fini(&in, err);
}

static const char *unit_of(const struct fab_column *column)
{
	return column->flags & FAB_COL_SECONDS ? "s"
	       : column->flags & FAB_COL_MBPS  ? "Mb/s"
	       : column->flags & FAB_COL_BYTES ? "B"
					       : NULL;
}

/* Counts are added up, but for those of which the largest counts. */
static const char *merge_of(const struct fab_column *c)
{
	if (c->flags & FAB_COL_MAX)
		return "max";
	if (c->type == FAB_BOOL)
		return "all";
	return c->type == FAB_UINT || c->metric == FAB_METRIC_TIME ? "sum" : NULL;
}

static const char *better_of(enum fab_metric metric)
{
	return metric == FAB_METRIC_PLAIN  ? NULL
	       : metric == FAB_METRIC_MORE ? "more"
					   : "less";
}

/* What the tables of a run say of metrics; the first of a name counts. Nothing is written
 * that is there already. */
static int add_kinds(struct fab_store *store, const struct fab_store_run *run,
		     struct fab_err *err)
{
	uint64_t position = 0;
	struct insert in;

	insert_init(&in, store,
		    "INSERT INTO metric_kind (command, name, position, better, is_time, "
		    "unit, help, merge) VALUES (?, ?, ?, ?, ?, ?, ?, ?) "
		    "ON CONFLICT (command, name) DO UPDATE SET position = "
		    "excluded.position, better = excluded.better, "
		    "is_time = excluded.is_time, unit = excluded.unit, "
		    "help = excluded.help, merge = excluded.merge "
		    "WHERE (position, better, is_time, unit, help, merge) IS NOT "
		    "(excluded.position, excluded.better, excluded.is_time, "
		    "excluded.unit, excluded.help, excluded.merge)");
	/* backwards: the first of a name is written last */
	for (size_t t = 0; t < run->n_tables; t++)
		position += run->tables[t].n;
	for (size_t t = run->n_tables; t-- > 0;)
		for (size_t i = run->tables[t].n; i-- > 0; position--) {
			const struct fab_column *c = &run->tables[t].columns[i];

			if (c->metric != FAB_NO_METRIC)
				put(&in, "ttututtt", run->command, c->name, position,
				    better_of(c->metric),
				    (uint64_t)(c->metric == FAB_METRIC_TIME), unit_of(c),
				    c->help, merge_of(c));
		}
	return insert_fini(&in, err);
}

static int add_bins(struct fab_store *store, uint64_t result,
		    const struct fab_store_result *r, struct fab_err *err)
{
	struct insert in;

	insert_init(&in, store,
		    "INSERT INTO histogram (result, load, links) VALUES (?, ?, ?)");
	for (size_t i = 0; i < r->n_bins; i++)
		put(&in, "uuu", result, r->bins[i].load, r->bins[i].links);
	return insert_fini(&in, err);
}

static int add_details(struct fab_store *store, uint64_t result,
		       const struct fab_store_result *r, struct fab_err *err)
{
	struct insert in;

	insert_init(&in, store,
		    "INSERT INTO detail (result, position, part, name, value) "
		    "VALUES (?, ?, ?, ?, ?)");
	for (size_t i = 0; i < r->n_details; i++) {
		const struct fab_store_detail *d = &r->details[i];

		if (isfinite(d->value))
			put(&in, "uuttn", result, d->position, d->part, d->name,
			    d->value);
	}
	return insert_fini(&in, err);
}

static int add_result(struct fab_store *store, uint64_t run, size_t position,
		      const struct fab_store_result *r, struct fab_err *err)
{
	struct insert in;
	uint64_t id;
	int rc;

	insert_init(&in, store,
		    "INSERT INTO result (run, position, algorithm) VALUES (?, ?, ?)");
	put(&in, "uut", run, (uint64_t)position, r->algorithm);
	id = last_id(&in);
	rc = insert_fini(&in, err);
	if (!rc)
		rc = add_numbers(
			store,
			"INSERT INTO metric (result, name, value) VALUES (?, ?, ?)", id,
			r->metrics, r->n_metrics, err);
	if (!rc)
		rc = add_bins(store, id, r, err);
	return rc ? rc : add_details(store, id, r, err);
}

static int add_batches(struct fab_store *store, uint64_t run,
		       const struct fab_store_batch *v, size_t n, struct fab_err *err)
{
	struct insert batch, segment;
	int rc, second;

	insert_init(&batch, store,
		    "INSERT INTO batch (run, position, algorithm, name, nodes, servers, "
		    "bandwidth_mbps, boot_seconds, bottleneck) "
		    "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)");
	insert_init(&segment, store,
		    "INSERT INTO segment (batch, position, name, capacity_mbps, "
		    "max_sharers, share_mbps, tightest) VALUES (?, ?, ?, ?, ?, ?, ?)");
	for (size_t i = 0; i < n && batch.rc == SQLITE_OK && segment.rc == SQLITE_OK;
	     i++) {
		const struct fab_store_batch *b = &v[i];
		uint64_t id;

		put(&batch, "uuttuurrt", run, b->position, b->algorithm, b->name,
		    b->nodes, b->servers, b->bandwidth_mbps, b->boot_seconds,
		    b->bottleneck);
		id = last_id(&batch);
		for (size_t k = 0; k < b->n_segments && batch.rc == SQLITE_OK; k++) {
			const struct fab_store_segment *s = &b->segments[k];

			put(&segment, "uutrurt", id, (uint64_t)k, s->name,
			    s->capacity_mbps, s->max_sharers, s->share_mbps, s->tightest);
		}
	}
	rc = insert_fini(&batch, err);
	second = insert_fini(&segment, rc ? NULL : err);
	return rc ? rc : second;
}

static int add_all(struct fab_store *store, const struct fab_store_run *run, uint64_t *id,
		   struct fab_err *err)
{
	int rc = add_run(store, run, id, err);

	if (!rc)
		rc = add_numbers(store,
				 "INSERT INTO fact (run, name, value) VALUES (?, ?, ?)",
				 *id, run->facts, run->n_facts, err);
	if (!rc)
		rc = add_asked(store, *id, run->asked, run->n_asked, err);
	if (!rc && run->n_shard)
		rc = add_shard(store, *id, run->shard, err);
	if (!rc)
		rc = add_kinds(store, run, err);
	for (size_t i = 0; i < run->n_results && !rc; i++)
		rc = add_result(store, *id, i, &run->results[i], err);
	return rc || !run->n_batches
		       ? rc
		       : add_batches(store, *id, run->batches, run->n_batches, err);
}

/* Who made the file and failed has taken it away again: what was written is in none. */
static int check_place(struct fab_store *store, struct fab_err *err)
{
	int has_moved = 0;

	if (sqlite3_file_control(store->db, "main", SQLITE_FCNTL_HAS_MOVED, &has_moved) ==
		    SQLITE_OK &&
	    has_moved)
		return fab_fail(err, ENOENT,
				"%s: was removed or renamed while the run was written",
				store->path);
	return 0;
}

/* A file that we made and that holds nothing yet goes. */
static void give_up(struct fab_store *store)
{
	struct stat st;

	if (store->db)
		fab_store_rollback(store);
	if (store->is_new && stat(store->path, &st) == 0 && !st.st_size)
		unlink(store->path);
}

int fab_store_add(struct fab_store *store, const struct fab_store_run *run, uint64_t *id,
		  struct fab_err *err)
{
	return fab_store_replace(store, NULL, 0, run, id, err);
}

int fab_store_replace(struct fab_store *store, const uint64_t *ids, size_t n_ids,
		      const struct fab_store_run *run, uint64_t *id, struct fab_err *err)
{
	uint64_t run_id = 0;
	int rc = store->db ? 0 : fab_store_make(store, err);

	if (!rc)
		rc = fab_store_exec(store, "BEGIN IMMEDIATE", "write", err);
	if (!rc && store->lacks_schema)
		rc = fab_store_bring_up(store, store->schema, err);
	if (!rc)
		rc = add_all(store, run, &run_id, err);
	if (!rc && n_ids)
		rc = fab_store_take_out(store, ids, n_ids, true, err);
	if (!rc)
		rc = fab_store_exec(store, "COMMIT", "write", err);
	if (!rc)
		rc = check_place(store, err);
	if (rc) {
		give_up(store);
		return rc;
	}
	store->is_new = store->lacks_schema = false;
	if (id)
		*id = run_id;
	return 0;
}
