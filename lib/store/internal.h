/* SPDX-License-Identifier: BSD-2-Clause */
/* Inside of lib/store: the handle, statements, the tables of the database. */
#pragma once

#include <sqlite3.h>
#include <stddef.h>

#include "store/store.h"

struct fab_store {
	sqlite3 *db;		 /* NULL: there is no file yet, the first run makes it */
	char *path;		 /* as given, for messages */
	bool is_new;		 /* the file is made by us, and no run is in it */
	bool lacks_schema;	 /* it comes with the first run */
	double deadline, step_s; /* on the clock: end of the statement; its length */
};

/* Create the file; its schema comes with the first transaction. */
int fab_store_make(struct fab_store *store, struct fab_err *err) FAB_MUST_CHECK;
/* In a transaction for writing: make the schema, or check the one there is. */
int fab_store_bring_up(struct fab_store *store, struct fab_err *err) FAB_MUST_CHECK;
/* SQL without results, in at most step_s seconds; fails with what SQLite says. */
int fab_store_exec(struct fab_store *store, const char *sql, const char *doing,
		   struct fab_err *err) FAB_MUST_CHECK;
/* Give up the transaction, if there is one. */
void fab_store_rollback(struct fab_store *store);

/* A statement. Its first failure stays in rc. Texts of rows live in the arena. */
enum { FAB_STATEMENT_NAMES = 64 };
struct fab_statement {
	struct fab_store *store;
	const char *doing;
	struct fab_arena *arena;
	sqlite3_stmt *of; /* NULL: not prepared */
	int rc, n_bound;
	size_t n_names; /* in `names`, for fab_statement_name() */
	const char *names[FAB_STATEMENT_NAMES];
};
void fab_statement_init(struct fab_statement *s, struct fab_store *store,
			const char *doing, const char *sql);
/* The next parameter; text NULL and what is not finite: null. */
void fab_statement_bind_text(struct fab_statement *s, const char *text);
void fab_statement_bind_uint(struct fab_statement *s, uint64_t value);
void fab_statement_bind_real(struct fab_statement *s, double value);
/* The next row. false: no more rows, and the statement can be bound again. */
bool fab_statement_next(struct fab_statement *s);
/* Free it; fails with the first failure. */
int fab_statement_fini(struct fab_statement *s, struct fab_err *err) FAB_MUST_CHECK;
/* A column of the row. NULL for a null. */
const char *fab_statement_text(struct fab_statement *s, int column);
/* "" for a null; one copy of the first texts that repeat from row to row. */
const char *fab_statement_name(struct fab_statement *s, int column);
/* 0 for negative values. */
uint64_t fab_statement_uint(struct fab_statement *s, int column);

enum fab_field_type {
	FAB_FIELD_ID,	    /* uint64_t: given by the database; always the first field */
	FAB_FIELD_TEXT,	    /* const char *, never NULL when read */
	FAB_FIELD_NAME,	    /* the same, of a text that repeats from row to row */
	FAB_FIELD_NULLABLE, /* const char * */
	FAB_FIELD_UINT,	    /* uint64_t; what is below zero is read as 0 */
	FAB_FIELD_REAL,	    /* double; null: not finite */
	FAB_FIELD_NUMBER,   /* double; whole numbers are kept as such: 4 and not 4.0 */
	FAB_FIELD_HEX,	    /* uint64_t; 0x and 16 digits */
};

/* A column of a table and the member that holds it. */
struct fab_field {
	const char *name;
	enum fab_field_type type;
	size_t offset;
};

/* The runs, then what belongs to runs, results and batches. */
enum {
	FAB_ROWS_RUN,
	FAB_ROWS_FACT,
	FAB_ROWS_ASKED,
	FAB_ROWS_SHARD,
	FAB_ROWS_RESULT,
	FAB_N_ROWS_OF_LIST,
	FAB_ROWS_METRIC = FAB_N_ROWS_OF_LIST,
	FAB_ROWS_BIN,
	FAB_ROWS_DETAIL,
	FAB_ROWS_BATCH,
	FAB_ROWS_SEGMENT,
	FAB_N_ROWS
};

/* Rows of one table. */
struct fab_rows_kind {
	const char *table;
	int owner;		  /* the kind that has them; -1: none */
	const char *owner_column; /* that holds the owner's id */
	bool is_last_needed; /* rows without a value in the last field are left out */
	bool has_place;	     /* `position` is the place in the owner's list, from 0 */
	const char *from;    /* SQL: those of the chosen runs, in the owners' order */
	const struct fab_field *fields; /* [n_fields] */
	size_t n_fields;
	size_t size;	/* of the structure of a row */
	size_t list, n; /* members of the owner: its rows, how many */
};

extern const struct fab_rows_kind fab_rows_kinds[FAB_N_ROWS];
