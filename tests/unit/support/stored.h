/* SPDX-License-Identifier: BSD-2-Clause */
/* Databases of the suites of the store: runs of made-up results, and questions in SQL. */
#pragma once

#include "store/store.h"

enum { N_METRICS = 3, N_BINS = 200, N_RESULTS = 4 };

/* A run of N_RESULTS results; what its numbers are depends on `mark`. */
struct sample {
	struct fab_store_run run;
	struct fab_store_number facts[2];
	struct fab_store_result results[N_RESULTS];
	struct fab_store_number metrics[N_RESULTS][N_METRICS];
	struct fab_store_bin bins[N_RESULTS][N_BINS];
};

void fill_sample(struct sample *s, uint64_t mark, const char *label);
struct fab_store_run plain_run(void);
/* OWN(fab_store) *store = open_store(path, FAB_STORE_WRITE) */
struct fab_store *open_store(const char *path, enum fab_store_mode mode);
static inline void own_fab_store(struct fab_store **store)
{
	fab_store_close(*store);
}
/* Stores a sample; its number. */
uint64_t add(struct fab_store *store, uint64_t mark, const char *label);
struct fab_store_runs read_all(struct fab_store *store);
/* Adds a sample to the database a.db. */
void make(void);

/* The rows that statements give, values with | between them; NULL: none. */
char *sql(const char *path, const char *text);
void expect_sql(const char *path, const char *text, const char *want);
