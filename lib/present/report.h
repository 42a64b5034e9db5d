/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One interface to everything a command prints as its result: a document of fields and
 * tables that comes out as a table for people, as JSON or as CSV. Columns are data; no
 * command touches libsmartcols, jansson or quoting.
 *
 *   fab_report_new -> answer* -> field* -> (table_begin -> row* -> table_end)*
 *                  -> fab_report_finish
 *
 * table: the answer, wrapped; fields as aligned `name  value` lines, each table under its
 *        title. Within the width of the terminal long cells are wrapped and wide tables
 *        turned on their side; no value is ever cut. Colour only on a terminal, node
 *        names made safe.
 * json:  one object; `summary` is the answer; fields in order, each table an array of
 *        objects. A dot in a name nests: fabric.switches, seconds.total.
 * csv:   RFC 4180, the primary table only, heading row first; a dot becomes `_`.
 * page:  the document of `table`, in HTML, with a picture (struct fab_page).
 */
#pragma once

#include "base/err.h"
#include "fabric/fabric.h"

#include <stddef.h>
#include <stdio.h>

enum fab_format { FAB_FORMAT_TABLE, FAB_FORMAT_JSON, FAB_FORMAT_CSV };

enum fab_type {
	FAB_TEXT,   /* .text, NULL is null */
	FAB_UINT,   /* .u */
	FAB_REAL,   /* .real; NaN is null; 6 significant digits, 4 in a table */
	FAB_BOOL,   /* .u: 0 false, 1 true, FAB_UNKNOWN is null */
	FAB_NUMBER, /* .real; as FAB_REAL, but a whole number is printed as one */
	FAB_GUID,   /* .u, printed 0x%016x, a string in JSON */
	FAB_ROWS,   /* .rows, an array of objects in JSON; nothing in the other formats */
	FAB_NAMES,  /* .names, an array of strings in JSON; nothing in the others */
	FAB_NUMBERS, /* .numbers, an array of numbers in JSON; nothing in the others */
	FAB_COUNTS,  /* .counts, an object {"2": n, ...} in JSON; nothing in the others */
};

/* A truth value that was not computed. */
#define FAB_UNKNOWN UINT64_MAX

enum {
	FAB_COL_EXTRA = 1,     /* column, field: not in the table unless asked for */
	FAB_COL_NULL_ZERO = 2, /* FAB_UINT 0 means: no value */
	/* a number with its unit in a table (`8.9 us`), plain in JSON and CSV */
	FAB_COL_SECONDS = 4, /* FAB_REAL, FAB_NUMBER */
	FAB_COL_BYTES = 8,   /* FAB_UINT, FAB_NUMBER */
	FAB_COL_MBPS = 16,   /* FAB_REAL, FAB_NUMBER */
	/* on a terminal in the colour of FAB_TONE_BAD */
	FAB_COL_BAD_IF_ANY = 32, /* FAB_UINT above 0 */
	FAB_COL_BAD_IF_NO = 64,	 /* FAB_BOOL false */
	FAB_COL_UNKNOWN = 1024,	 /* table: what has no value is "unknown", no dash */
	FAB_COL_RIGHT = 2048,	 /* FAB_TEXT: numbers as texts, flush right in a table */
	FAB_COL_VERDICT = 4096,	 /* FAB_TEXT better, worse, gone: in the colour of that */
	FAB_COL_TRUTH = 16384,	 /* FAB_NUMBER: 1 and 0 are yes and no in a table */
	FAB_COL_MAX = 8192, /* FAB_UINT: the largest of parts of a sweep, not the sum */
	FAB_COL_EXACT = 32768, /* FAB_REAL: 15 digits in JSON and CSV, not 6: a time */
};

/* How good or bad something is: a colour on a terminal, in addition to words. */
enum fab_tone { FAB_TONE_PLAIN, FAB_TONE_GOOD, FAB_TONE_WARN, FAB_TONE_BAD };

/*
 * Kind of metric of a column: the store keeps numbers of all but the first, and
 * fabric-compare says which of two is better. The unit is that of the flags.
 */
enum fab_metric {
	FAB_METRIC_NONE,
	FAB_METRIC_PLAIN, /* no direction is better */
	FAB_METRIC_LESS,
	FAB_METRIC_MORE,
	FAB_METRIC_TIME, /* what the computation took: less, and differs from run to run
			  */
};

/* How the value of a column is held by the record that a row is made of: FAB_AT(). */
enum fab_held {
	FAB_HELD_NOWHERE,
	FAB_HELD_TEXT,
	FAB_HELD_U64,
	FAB_HELD_U32,
	FAB_HELD_BOOL,
	FAB_HELD_DOUBLE,
	FAB_HELD_STRUCT, /* fab_rows, fab_names, fab_numbers, fab_counts */
};
struct fab_place {
	size_t offset;
	enum fab_held held;
};
/* `member` (never an array) of `record`, a type. */
#define FAB_AT(record, member)                                                             \
	{                                                                                  \
		offsetof(record, member),                                                \
			_Generic(((record *)0)->member,                                  \
				 char *: FAB_HELD_TEXT,                                  \
				 const char *: FAB_HELD_TEXT,                            \
				 uint64_t: FAB_HELD_U64,                                 \
				 uint32_t: FAB_HELD_U32,                                 \
				 bool: FAB_HELD_BOOL,                                    \
				 double: FAB_HELD_DOUBLE,                                \
				 struct fab_rows: FAB_HELD_STRUCT,                       \
				 struct fab_names: FAB_HELD_STRUCT,                      \
				 struct fab_numbers: FAB_HELD_STRUCT,                    \
				 struct fab_counts: FAB_HELD_STRUCT) \
	}

struct fab_column {
	const char *name; /* stable, lower case with underscores; a dot nests */
	enum fab_type type;
	const char *help; /* one line, with the unit */
	unsigned flags;
	struct fab_place at; /* for fab_report_record() */
	enum fab_metric metric;
};

/* A column whose value has the same name in `struct record`, that of the file; TEXT for
 * FAB_TEXT. The second with flags. */
#define FAB_COLUMN(name, type, help) FAB_COLUMN_AS(name, type, help, 0)
/* The table row of any record, with its kind of metric; LESS for FAB_METRIC_LESS. */
#define FAB_COLUMN_OF(record, name, type, help, flags, metric)                           \
	{                                                                                \
#name, FAB_##type, help, flags, FAB_AT(record, name),                    \
			FAB_METRIC_##metric                                              \
	}
#define FAB_COLUMN_AS(name, type, help, flags)                                           \
	{                                                                                \
#name, FAB_##type, help, flags, FAB_AT(struct record, name)              \
	}

union fab_cell {
	const char *text; /* borrowed during the call */
	uint64_t u;
	double real;
	const struct fab_rows *rows; /* borrowed during the call */
	const struct fab_names *names;
	const struct fab_numbers *numbers;
	const struct fab_counts *counts;
};

struct fab_names {
	const char *const *v;
	size_t n;
};

struct fab_numbers {
	const uint32_t *v;
	size_t n;
};

/* count[i] by i; zeros are left out. */
struct fab_counts {
	const uint64_t *count;
	size_t n;
};

/* Rows inside a row. */
struct fab_rows {
	const struct fab_column *columns;
	size_t n_columns;
	const void
		*records; /* [n], each of record_size bytes; columns have places in it */
	size_t record_size, n;
};

/* A page of HTML: what stands around the document. Borrowed until it is finished. */
enum { FAB_ANCHOR_BYTES = 16 };
struct fab_page {
	const char *title;   /* "fabric-topo dump.txt" */
	const char *command; /* the command line that makes the page */
	/* Write the picture, as HTML, behind the answer; NULL: none. */
	void (*draw)(FILE *out, void *context);
	/* Does the text of a cell name a part of the picture? Its id, without #. NULL. */
	bool (*find)(void *context, const char *text, char id[FAB_ANCHOR_BYTES]);
	void *context;
};

struct fab_report_options {
	enum fab_format format;
	const struct fab_page *page; /* with FAB_FORMAT_TABLE: as HTML; NULL: text */
	const char *columns;	     /* comma list for the primary table, NULL default */
	bool no_header;
	bool color;	/* table: with escape sequences for colours */
	unsigned width; /* table: columns of the terminal, 0 unlimited */
};

struct fab_report;

/*
 * Start a document on `out` (borrowed). Writes the fields schema, command, version; and
 * with `fabric` its summary under `fabric`. `primary` names the table that CSV prints.
 * O(1).
 */
struct fab_report *fab_report_new(FILE *out, const struct fab_report_options *options,
				  const char *command, const char *primary,
				  const struct fab_fabric *fabric);
/* How it is printed, until it is finished. O(1). */
const struct fab_report_options *fab_report_how(const struct fab_report *r);
/* Before the first field: leave the fields of the fabric out. O(1). */
void fab_report_without_fabric(struct fab_report *r);
/* Before the main table: its columns in a table unless others are asked for; borrowed.
 * O(1). */
void fab_report_prefer(struct fab_report *r, const char *columns);
/*
 * A sentence of the answer, with its full stop; one to three of them, before any field or
 * table. They stand first in a table, each on a line of its own, and are joined to
 * `summary` in JSON; CSV and tables without headings leave them out. It must be true in
 * every state: what is not known is said to be so. O(1).
 */
void fab_report_answer(struct fab_report *r, enum fab_tone tone, const char *format, ...)
	FAB_PRINTF(3, 4);
/* One value of the document itself. O(1). */
void fab_report_field(struct fab_report *r, const struct fab_column *column,
		      union fab_cell cell);
/* Short forms for a text (NULL: no value) and numbers, with flags of a column. O(1). */
void fab_report_text(struct fab_report *r, const char *name, const char *text);
void fab_report_uint(struct fab_report *r, const char *name, uint64_t value);
void fab_report_uint_as(struct fab_report *r, const char *name, unsigned flags,
			uint64_t value);
void fab_report_real(struct fab_report *r, const char *name, unsigned flags,
		     double value);
/* The fields NAME.source, NAME.switches and so on of a fabric. O(1). */
enum { FAB_BRIEF_COLUMNS = 8 };
extern const struct fab_column fab_brief_columns[FAB_BRIEF_COLUMNS];
void fab_report_brief(struct fab_report *r, const char *name,
		      const struct fab_brief *brief);
/* A table. `title` is for people, `name` for scripts. Columns are borrowed until
 * table_end. O(1). */
void fab_report_table_begin(struct fab_report *r, const char *name, const char *title,
			    const struct fab_column *columns, size_t n_columns);
/* fab_report_table_begin() with an array of columns. */
#define FAB_TABLE_BEGIN(r, name, title, columns)                                         \
	fab_report_table_begin(r, name, title, columns, FAB_COUNT(columns))
/* n_columns cells. O(cells). */
void fab_report_row(struct fab_report *r, const union fab_cell *cells);
/* A row from a record: every column has its place (FAB_AT) in it. O(cells). */
void fab_report_record(struct fab_report *r, const void *record);
/* A row from a record, with a tone for the first cell. O(cells). */
void fab_report_record_tone(struct fab_report *r, enum fab_tone tone, const void *record);
/* O(rows * columns). */
void fab_report_table_end(struct fab_report *r);
/* A whole table from an array of n records, each of `size` bytes. O(n * columns). */
void fab_report_table(struct fab_report *r, const char *name, const char *title,
		      const struct fab_column *columns, size_t n_columns,
		      const void *records, size_t size, size_t n);
#define FAB_TABLE(r, name, title, columns, records, n)                                   \
	fab_report_table(r, name, title, columns, FAB_COUNT(columns), records,           \
			 sizeof(*(records)), n)
/* Write what is buffered and free; fails with the errno of the write. O(size). */
int fab_report_finish(struct fab_report *r, struct fab_err *err) FAB_MUST_CHECK;

/*
 * Are all names of the comma list among the columns? EINVAL with a sentence that names
 * the first that is not and lists those there are. O(columns * len).
 */
int fab_columns_check(const char *list, const struct fab_column *columns,
		      size_t n_columns, struct fab_err *err) FAB_MUST_CHECK;
/* The value of a column in a record. What a FAB_BOOL does not know is FAB_UNKNOWN. */
union fab_cell fab_column_read(const struct fab_column *column, const void *record);
/* The value of a column as a number, true as 1; NaN: no value. O(1). */
double fab_column_number(const struct fab_column *column, const void *record);
/* The cell as a table shows it, on the heap: with its unit, a dash where it is null.
 * O(1). */
char *fab_cell_human(const struct fab_column *column, union fab_cell cell);
/* The unit that the flags name: s, Mb/s, B; NULL: none. And its flag. O(1). */
const char *fab_unit_name(unsigned flags);
unsigned fab_unit_flags(const char *unit);
/* Print `name  help` lines: what --columns=help shows. O(columns * len). */
void fab_columns_list(FILE *out, const struct fab_column *columns, size_t n_columns);

/* Columns of a terminal that a safe text takes: East Asian characters take two, combining
 * ones none. O(len). */
size_t fab_display_width(const char *text);
/*
 * Step over one line of *text: bytes of it that fit into `width` columns (at least one
 * character), broken at a blank where there is one, else behind one of / _ . , ; : where
 * there is one; the blanks of the break are skipped. Returns the number of bytes of the
 * line. At the end *text points to the NUL. O(len).
 */
size_t fab_wrap_line(const char **text, size_t width);

/* Text in HTML: the one place where it is escaped. */

/*
 * Write any text as content of an element, or of an attribute between double quotes:
 * characters of markup as references, control and bidirectional ones and bytes that are
 * no UTF-8 as \xNN (fab_text_safe). O(len).
 */
void fab_html_put(FILE *out, const char *text);
/* A text for people: switches by their short names (fab_label_shorten). O(len). */
void fab_html_put_short(FILE *out, const char *text);
