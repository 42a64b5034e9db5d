/* SPDX-License-Identifier: BSD-2-Clause */
/* Inside of lib/store: a query that runs, and the memory of what was read. */
#pragma once

#include "base/mem.h"
#include "store/store_impl.h"

enum { FAB_QUERY_NAMES = 64 };

/* Everything that runs which were read point to, freed together. */
struct fab_store_memory {
	FAB_VEC(void *) blocks;
};
/* Let the memory free a block of the heap; returns it. NULL is allowed. */
void *fab_store_keep(struct fab_store_memory *memory, void *block);
void fab_store_memory_free(struct fab_store_memory *memory);

/* The first failure stays in rc. Texts live as long as the memory. */
struct fab_query {
	struct fab_store *store;
	struct fab_store_memory *memory;
	sqlite3_stmt *statement;
	int rc, n_bound;
	size_t n_names; /* that came so far, for fab_query_name() */
	const char *names[FAB_QUERY_NAMES];
};
void fab_query_init(struct fab_query *q, struct fab_store *store,
		    struct fab_store_memory *memory, const char *sql);
/* The next parameter. */
void fab_query_bind(struct fab_query *q, const char *text, size_t len);
/* Is there a row more? */
bool fab_query_next(struct fab_query *q);
/* Frees the statement; fails with what stopped it before its end. */
int fab_query_fini(struct fab_query *q, struct fab_err *err) FAB_MUST_CHECK;

/* A copy of a column; NULL for a null. */
const char *fab_query_text(struct fab_query *q, int column);
const char *fab_query_text_or_empty(struct fab_query *q, int column);
/* The same for texts that repeat from row to row: one copy of the first ones. */
const char *fab_query_name(struct fab_query *q, int column);
/* What is below zero is 0. */
uint64_t fab_query_uint(struct fab_query *q, int column);
double fab_query_real(struct fab_query *q, int column, double if_null);

/*
 * In a transaction: the runs that pass into the table temp.chosen (id), their results
 * that pass into temp.chosen_result (run, position, id, algorithm).
 */
int fab_store_choose(struct fab_store *store, const struct fab_store_filter *filter,
		     struct fab_err *err) FAB_MUST_CHECK;
