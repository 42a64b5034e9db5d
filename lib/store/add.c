/* SPDX-License-Identifier: BSD-2-Clause */
/* Adding a run: one transaction. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
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

static int insert_fini(struct insert *in, struct fab_err *err)
{
	int rc =
		in->rc == SQLITE_OK ? 0 : fab_store_fail(in->store, in->rc, "write", err);

	sqlite3_finalize(in->statement);
	return rc;
}

static int add_run(struct fab_store *store, const struct fab_store_run *run, uint64_t *id,
		   struct fab_err *err)
{
	char fingerprint[32];
	struct insert in;
	int rc;

	insert_init(&in, store,
		    "INSERT INTO run (time, command, version, arguments, label, host, "
		    "source, fingerprint, switches, adapters, aggregation_nodes, hosts, "
		    "switch_links, host_links) "
		    "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
	snprintf(fingerprint, sizeof(fingerprint), "0x%016" PRIx64, run->fingerprint);
	bind_text(&in, run->time);
	bind_text(&in, run->command);
	bind_text(&in, run->version);
	bind_text(&in, run->arguments);
	bind_text(&in, run->label);
	bind_text(&in, run->host);
	bind_text(&in, run->source);
	bind_text(&in, fingerprint);
	bind_uint(&in, run->switches);
	bind_uint(&in, run->adapters);
	bind_uint(&in, run->aggregation_nodes);
	bind_uint(&in, run->hosts);
	bind_uint(&in, run->switch_links);
	bind_uint(&in, run->host_links);
	run_insert(&in);
	rc = insert_fini(&in, err);
	*id = (uint64_t)sqlite3_last_insert_rowid(store->db);
	return rc;
}

/* Numbers that belong to the row `owner`. */
static int add_numbers(struct fab_store *store, const char *sql, uint64_t owner,
		       const struct fab_store_number *v, size_t n, struct fab_err *err)
{
	struct insert in;

	insert_init(&in, store, sql);
	for (size_t i = 0; i < n; i++) {
		if (!isfinite(v[i].value))
			continue;
		bind_uint(&in, owner);
		bind_text(&in, v[i].name);
		bind_number(&in, v[i].value);
		run_insert(&in);
	}
	return insert_fini(&in, err);
}

static int add_bins(struct fab_store *store, uint64_t result,
		    const struct fab_store_result *r, struct fab_err *err)
{
	struct insert in;

	insert_init(&in, store,
		    "INSERT INTO histogram (result, load, links) VALUES (?, ?, ?)");
	for (size_t i = 0; i < r->n_bins; i++) {
		bind_uint(&in, result);
		bind_uint(&in, r->bins[i].load);
		bind_uint(&in, r->bins[i].links);
		run_insert(&in);
	}
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

		if (!isfinite(d->value))
			continue;
		bind_uint(&in, result);
		bind_uint(&in, d->position);
		bind_text(&in, d->part);
		bind_text(&in, d->name);
		bind_number(&in, d->value);
		run_insert(&in);
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
	bind_uint(&in, run);
	bind_uint(&in, position);
	bind_text(&in, r->algorithm);
	run_insert(&in);
	rc = insert_fini(&in, err);
	if (rc)
		return rc;
	id = (uint64_t)sqlite3_last_insert_rowid(store->db);
	rc = add_numbers(store,
			 "INSERT INTO metric (result, name, value) VALUES (?, ?, ?)", id,
			 r->metrics, r->n_metrics, err);
	if (!rc)
		rc = add_bins(store, id, r, err);
	return rc ? rc : add_details(store, id, r, err);
}

static void bind_real(struct insert *in, double value)
{
	if (in->rc != SQLITE_OK)
		return;
	in->column++;
	in->rc = isfinite(value) ? sqlite3_bind_double(in->statement, in->column, value)
				 : sqlite3_bind_null(in->statement, in->column);
}

static void add_segments(struct insert *in, uint64_t batch,
			 const struct fab_store_batch *b)
{
	for (size_t i = 0; i < b->n_segments; i++) {
		const struct fab_store_segment *segment = &b->segments[i];

		bind_uint(in, batch);
		bind_uint(in, i);
		bind_text(in, segment->name);
		bind_real(in, segment->capacity_mbps);
		bind_uint(in, segment->max_sharers);
		bind_real(in, segment->share_mbps);
		bind_text(in, segment->tightest);
		run_insert(in);
	}
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
		bind_uint(&batch, run);
		bind_uint(&batch, i);
		bind_text(&batch, v[i].algorithm);
		bind_text(&batch, v[i].name);
		bind_uint(&batch, v[i].nodes);
		bind_uint(&batch, v[i].servers);
		bind_real(&batch, v[i].bandwidth_mbps);
		bind_real(&batch, v[i].boot_seconds);
		bind_text(&batch, v[i].bottleneck);
		run_insert(&batch);
		if (batch.rc == SQLITE_OK)
			add_segments(&segment,
				     (uint64_t)sqlite3_last_insert_rowid(store->db),
				     &v[i]);
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
	uint64_t run_id = 0;
	int rc = store->db ? 0 : fab_store_make(store, err);

	if (!rc)
		rc = fab_store_exec(store, "BEGIN IMMEDIATE", "write", err);
	if (!rc && store->lacks_schema)
		rc = fab_store_bring_up(store, store->schema, err);
	if (!rc)
		rc = add_all(store, run, &run_id, err);
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
