/* SPDX-License-Identifier: BSD-2-Clause */
/* Inside of lib/store: tables of the database and the structures that hold their rows. */
#pragma once

#include <stddef.h>

#include "store/store.h"

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
