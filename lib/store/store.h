/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Results that are kept: a SQLite database to which every run of a command adds itself in
 * one transaction. What fab_store_add() has reported stored survives a crash of the
 * machine; a run that was cut off leaves nothing. Several programs may write at once:
 * they wait for each other, up to a minute.
 *
 * The database has one file and a rollback journal next to it while it is written, not a
 * write-ahead log: it can then lie on a file system that several hosts share, be read
 * from a read-only one, and be copied as one file. synchronous=EXTRA, because only that
 * syncs the folder after the journal is gone, without which a power cut may undo a
 * commit.
 *
 * The schema is data/schema.sql, its meaning is in fabric-store(5). A
 * database of another version of the schema is refused.
 */
#pragma once

#include <stdbool.h>

#include "base/arena.h"
#include "base/err.h"
#include "present/report.h"

struct fab_store;

enum fab_store_mode {
	FAB_STORE_READ,	 /* must exist */
	FAB_STORE_WRITE, /* made with the first run when it does not exist */
};

/*
 * Open a database of results; the caller closes it. Refused with a sentence that begins
 * with the path: what is no regular file, no SQLite database or one of another program,
 * another schema, a view or virtual table in place of a table (EINVAL), a file or folder
 * that cannot be written (EROFS, EACCES), one that another program keeps locked (EBUSY).
 * O(1).
 */
int fab_store_open(const char *path, enum fab_store_mode mode, struct fab_store **out,
		   struct fab_err *err) FAB_MUST_CHECK;
/* NULL is accepted. O(size). */
void fab_store_close(struct fab_store *store);
/* The longest time that a statement may take from now on, at first 120 s. O(1). */
void fab_store_limit(struct fab_store *store, double seconds);

/* A number with the name that it has in the JSON output. Whole numbers up to 2^53. */
struct fab_store_number {
	const char *name;
	double value; /* one that is not finite is not stored */
};

/* The number of this name among n; NaN when it is missing. O(n). */
double fab_store_number_get(const struct fab_store_number *numbers, size_t n,
			    const char *name);

/* A number of one part of a result: of a segment, of a set of faults. */
struct fab_store_detail {
	uint64_t position; /* of the part, from 0 */
	const char *part;  /* its name */
	const char *name;  /* differs within a part */
	double value;	   /* one that is not finite is not stored */
};

/* Number of cables with a load. */
struct fab_store_bin {
	uint64_t load, links;
};

/* Result of one algorithm. */
struct fab_store_result {
	const char *algorithm;
	const struct fab_store_number *metrics; /* [n_metrics], names differ */
	size_t n_metrics;
	const struct fab_store_bin *bins; /* [n_bins], loads differ */
	size_t n_bins;
	const struct fab_store_detail *details; /* [n_details], part by part */
	size_t n_details;
	uint64_t id; /* given by the database; not read by fab_store_add() */
};

/* Of a run that is one shard of a sweep: what it has of it. */
struct fab_store_shard {
	uint64_t number, count; /* number from 1 to count */
	uint64_t items, all_items;
	const char *unit; /* "sets of faults", "trials", "batches" */
	const char *job;  /* arguments, but for those that say where and how it runs */
	uint64_t input;	  /* digest of what files and names stood for */
};

/* A text with its name: what was asked for. */
struct fab_store_text {
	const char *name, *value; /* value NULL: not stored */
};

/* Metric of all shards together: undefined, the sum, the largest, all true. */
enum fab_merge { FAB_MERGE_NONE, FAB_MERGE_SUM, FAB_MERGE_MAX, FAB_MERGE_ALL };

/* A metric of a command. */
struct fab_store_kind {
	const char *command;
	const char *name; /* lower case, digits, _ and dots only */
	int better;	  /* less -1, more 1, neither 0 */
	bool is_time;	  /* differs from run to run */
	const char *unit; /* s, Mb/s, B; NULL: a plain number */
	const char *help; /* printable ASCII */
	enum fab_merge merge;
};

/* A kind of segment that a batch uses. */
struct fab_store_segment {
	const char *name, *tightest;
	double capacity_mbps, share_mbps; /* not finite: no limit */
	uint64_t max_sharers;
};

/* A batch of nodes by one algorithm; what is not finite is not stored. */
struct fab_store_batch {
	uint64_t position; /* in the run, ascending */
	const char *algorithm, *name;
	uint64_t nodes, servers;
	double bandwidth_mbps, boot_seconds;
	const char *bottleneck;			  /* NULL: none */
	const struct fab_store_segment *segments; /* [n_segments] */
	size_t n_segments;
	uint64_t id; /* as that of a result */
};

/* One run of a command. Texts are never NULL, but for `label`. */
struct fab_store_run {
	uint64_t id;	  /* given by the database; not read by fab_store_add() */
	const char *time; /* UTC, 2026-11-20T12:34:56Z */
	const char *command, *version, *arguments, *host;
	const char *label; /* NULL: none */
	struct fab_brief fabric;
	const struct fab_store_number *facts; /* [n_facts] of the run, names differ */
	size_t n_facts;
	const struct fab_store_result *results; /* [n_results] */
	size_t n_results;
	const struct fab_store_batch *batches; /* [n_batches] */
	size_t n_batches;
	const struct fab_store_text *asked; /* [n_asked], names differ */
	size_t n_asked;
	const struct fab_store_shard *shard; /* [n_shard] */
	size_t n_shard;			     /* 0: all of it; or 1 */
	/* written only, those of its command (NULL: of this one); the first of a name */
	const struct fab_store_kind *kinds; /* [n_kinds], in reading order */
	size_t n_kinds;
};

/*
 * Add a run, all of it or nothing: 0 means that it is on the disk. *id (may be NULL) is
 * its number, which is never given again. ENOSPC, EIO, EBUSY with a sentence. O(numbers +
 * bins), and a few waits for the disk.
 */
int fab_store_add(struct fab_store *store, const struct fab_store_run *run, uint64_t *id,
		  struct fab_err *err) FAB_MUST_CHECK;

/*
 * Add a run, and in the same transaction remove the runs that it replaces: EBUSY when
 * one of them is not there any more. O(rows of the runs).
 */
int fab_store_replace(struct fab_store *store, const uint64_t *ids, size_t n_ids,
		      const struct fab_store_run *run, uint64_t *id,
		      struct fab_err *err) FAB_MUST_CHECK;

/* Which runs to read. What is NULL, false or 0 lets everything pass. */
struct fab_store_filter {
	bool names_only; /* of runs facts, what was asked for and algorithms: for a list
			  */
	const uint64_t *ids; /* [n_ids], only these */
	size_t n_ids;
	bool last; /* in addition to ids: the newest of those that pass the rest */
	const char *fabric;    /* pattern for the source, or the fingerprint 0x... */
	const char *label;     /* pattern; what has no label does not pass */
	const char *command;   /* exactly */
	const char *algorithm; /* comma list; other results are left out, and so are runs
				  that have none of these */
	const char *before;    /* UTC as in fab_store_run: only runs that ended earlier */
	uint64_t keep; /* without this many newest runs of each label that pass the above
			  but `before`; runs without a label are one label */
};

struct fab_store_runs {
	const struct fab_store_run *v; /* [n], oldest first */
	size_t n;
	const struct fab_store_kind *kinds; /* [n_kinds], by command, in reading order */
	size_t n_kinds;
	struct fab_arena memory; /* private */
};

/*
 * Read runs with what belongs to them, as of one moment. Patterns are those of
 * fab_text_glob(). The caller frees *out with fab_store_runs_fini(). EINVAL when the
 * database is damaged. O(runs + rows of those that pass).
 */
int fab_store_read(struct fab_store *store, const struct fab_store_filter *filter,
		   struct fab_store_runs *out, struct fab_err *err) FAB_MUST_CHECK;
void fab_store_runs_fini(struct fab_store_runs *runs);
/* The metric of this name of the command; NULL: none is known. O(kinds). */
const struct fab_store_kind *fab_store_kind_get(const struct fab_store_runs *runs,
						const char *command, const char *name);

/*
 * Remove runs with all that belongs to them, all or none; numbers that are no run are
 * passed over. The room that they took is given back to the file system. ENOSPC, EIO,
 * EBUSY with a sentence. O(file).
 */
int fab_store_remove(struct fab_store *store, const uint64_t *ids, size_t n,
		     struct fab_err *err) FAB_MUST_CHECK;

/* A shard, and the file that it was read from, for messages. */
struct fab_merge_part {
	const struct fab_store_run *run;
	const char *path;
};

/*
 * The run without shards, made of all its shards: counts are added, maxima taken,
 * intervals computed from the sums; parts and batches are sorted. `kinds` says how
 * metrics are merged. Times are added; time is that of the last shard, arguments are the
 * job. *out borrows from the shards and the arena. EINVAL with a sentence: a run that is
 * no shard, shards of different sweeps (command, version, fabric, arguments, files),
 * shards that are missing or there twice, values that contradict each other. O(numbers *
 * log).
 */
int fab_store_merge(const struct fab_merge_part *parts, size_t n,
		    const struct fab_store_kind *kinds, size_t n_kinds,
		    struct fab_arena *arena, struct fab_store_run *out,
		    struct fab_err *err) FAB_MUST_CHECK;

/*
 * A run before it is stored: what was measured is added piece by piece, and all of it is
 * freed together. Starts as {0}. The caller may fill `run`, such as the source.
 */
struct fab_draft {
	struct fab_store_run run;
	/* private */
	struct fab_arena texts;
	FAB_VEC(const struct fab_column *) tables;
	FAB_VEC(struct fab_store_kind) kinds;
	FAB_VEC(struct fab_store_number) facts, metrics;
	FAB_VEC(struct fab_store_text) asked;
	FAB_VEC(struct fab_store_result) results;
	FAB_VEC(struct fab_store_bin) bins;
	FAB_VEC(struct fab_store_detail) details;
	FAB_VEC(struct fab_store_batch) batches;
	FAB_VEC(struct fab_store_segment) segments;
};

/*
 * Names of facts, of what was asked and of columns are borrowed until the draft is freed,
 * other texts are copied. What has no value (not finite, NULL) is not stored. O(text) or
 * O(columns) each.
 */
void fab_draft_fact(struct fab_draft *d, const char *name, double value);
/* Takes `value`, on the heap. */
void fab_draft_asked(struct fab_draft *d, const char *name, char *value);
/* Columns of which some are metrics: what the command measures. */
void fab_draft_table(struct fab_draft *d, const struct fab_column *columns, size_t n);
/* A result with those columns of the record that are metrics. */
void fab_draft_result(struct fab_draft *d, const char *algorithm,
		      const struct fab_column *columns, size_t n, const void *record);
/* Of the result that came last: a part with its metrics; cables with a load. */
void fab_draft_part(struct fab_draft *d, uint64_t position, const char *part,
		    const struct fab_column *columns, size_t n, const void *record);
void fab_draft_bin(struct fab_draft *d, uint64_t load, uint64_t links);
/* A batch without segments, and a segment of the batch that came last. */
void fab_draft_batch(struct fab_draft *d, const struct fab_store_batch *batch);
void fab_draft_segment(struct fab_draft *d, const struct fab_store_segment *segment);

/* The run, until something is added or the draft is freed. O(results + batches). */
const struct fab_store_run *fab_draft_run(struct fab_draft *d);
void fab_draft_fini(struct fab_draft *d);
