/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Columns as data, and the document: it keeps what comes before the body, chooses the
 * columns of each table and passes cells on to the writer of the format.
 */
#include "present/report.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "present/writer.h"

/* Do the first `len` bytes of `text` name the column? `_` serves for the dot, too. */
static bool is_named(const struct fab_column *column, const char *text, size_t len)
{
	if (strlen(column->name) != len)
		return false;
	for (size_t i = 0; i < len; i++)
		if (column->name[i] != text[i] &&
		    !(column->name[i] == '.' && text[i] == '_'))
			return false;
	return true;
}

/* Index of the column that the first `len` bytes of `text` name, n_columns for none.
 * Where a name has a dot, `_` is taken as well: the CSV form of the name. */
static size_t find_column(const char *text, size_t len, const struct fab_column *columns,
			  size_t n_columns)
{
	for (size_t i = 0; i < n_columns; i++)
		if (is_named(&columns[i], text, len))
			return i;
	return n_columns;
}

static int unknown_column(const char *name, size_t len, const struct fab_column *columns,
			  size_t n_columns, struct fab_err *err)
{
	enum { MOST = 255 }; /* bytes of the list */
	FAB_AUTOFREE char *wanted = fab_strndup(name, len < 63 ? len : 63);
	FAB_AUTOFREE char *list = fab_strdup("");
	char safe[128];

	for (size_t i = 0; i < n_columns; i++)
		fab_append(&list, ", ", "%s", columns[i].name);
	return fab_fail(err, EINVAL, "%s%s%s; there are: %.*s%s",
			len ? "no column '" : "an empty column name",
			fab_text_safe(wanted, safe, sizeof(safe)), len ? "'" : "", MOST,
			list, strlen(list) > MOST ? "..." : "");
}

int fab_columns_check(const char *list, const struct fab_column *columns,
		      size_t n_columns, struct fab_err *err)
{
	const char *name = list;

	if (!list)
		return 0;
	for (;;) {
		size_t len = strcspn(name, ",");

		if (find_column(name, len, columns, n_columns) == n_columns)
			return unknown_column(name, len, columns, n_columns, err);
		if (!name[len])
			return 0;
		name += len + 1;
	}
}

static union fab_cell cell_of_count(const struct fab_column *column, uint64_t value)
{
	if (column->type == FAB_REAL || column->type == FAB_NUMBER)
		return (union fab_cell){.real = (double)value};
	return (union fab_cell){.u = value};
}

union fab_cell fab_column_read(const struct fab_column *column, const void *record)
{
	const void *at = (const char *)record + column->at.offset;

	switch (column->at.held) {
	case FAB_HELD_TEXT:
		return (union fab_cell){.text = *(const char *const *)at};
	case FAB_HELD_U64:
		return cell_of_count(column, *(const uint64_t *)at);
	case FAB_HELD_U32:
		return cell_of_count(column, *(const uint32_t *)at);
	case FAB_HELD_BOOL:
		return cell_of_count(column, *(const bool *)at);
	case FAB_HELD_DOUBLE:
		return (union fab_cell){.real = *(const double *)at};
	case FAB_HELD_STRUCT: /* any of them: all are pointers */
		return (union fab_cell){.rows = at};
	case FAB_HELD_NOWHERE:
		break;
	}
	assert(!"a column without a place");
	return (union fab_cell){.u = 0};
}

double fab_column_number(const struct fab_column *column, const void *record)
{
	union fab_cell cell = fab_column_read(column, record);

	if (column->type == FAB_TEXT || fab_cell_is_null(column, cell))
		return NAN;
	return column->type == FAB_REAL || column->type == FAB_NUMBER ? cell.real
								      : (double)cell.u;
}

static const struct {
	const char *name;
	unsigned flags;
} units[] = {{"s", FAB_COL_SECONDS}, {"Mb/s", FAB_COL_MBPS}, {"B", FAB_COL_BYTES}};

const char *fab_unit_name(unsigned flags)
{
	for (size_t i = 0; i < FAB_COUNT(units); i++)
		if (flags & units[i].flags)
			return units[i].name;
	return NULL;
}

unsigned fab_unit_flags(const char *unit)
{
	for (size_t i = 0; unit && i < FAB_COUNT(units); i++)
		if (!strcmp(unit, units[i].name))
			return units[i].flags;
	return 0;
}

void fab_columns_list(FILE *out, const struct fab_column *columns, size_t n_columns)
{
	size_t widest = 0;

	for (size_t i = 0; i < n_columns; i++)
		if (strlen(columns[i].name) > widest)
			widest = strlen(columns[i].name);
	for (size_t i = 0; i < n_columns; i++)
		fprintf(out, "%-*s  %s%s\n", (int)widest, columns[i].name,
			columns[i].help ? columns[i].help : "",
			columns[i].flags & FAB_COL_EXTRA
				? " (in a table only when asked for)"
				: "");
}

enum { SCHEMA = 1 };

struct sentence {
	char *text;
	enum fab_tone tone;
};

struct fab_report {
	FILE *out;
	int errnum; /* of the first write that failed */
	struct fab_report_options options;
	char *primary;
	const struct fab_writer *writer;
	void *state;

	struct fab_table table;		  /* name NULL: none is open */
	FAB_VEC(struct sentence) answer;  /* until it is written */
	const struct fab_fabric *fabric;  /* not yet written; else NULL */
	bool has_body;			  /* something follows the answer already */
	const struct fab_column *columns; /* of the caller */
	const struct fab_column **chosen;
	union fab_cell *cells;
};

bool fab_cell_is_null(const struct fab_column *column, union fab_cell cell)
{
	switch (column->type) {
	case FAB_TEXT:
		return !cell.text;
	case FAB_REAL:
	case FAB_NUMBER:
		return !isfinite(cell.real);
	case FAB_UINT:
	case FAB_GUID:
		return !cell.u && (column->flags & FAB_COL_NULL_ZERO);
	case FAB_BOOL:
		return cell.u == FAB_UNKNOWN;
	case FAB_ROWS: /* but in JSON, which does not ask */
	case FAB_NAMES:
	case FAB_NUMBERS:
	case FAB_COUNTS:
		return true;
	}
	return false;
}

bool fab_is_whole(double value)
{
	return value >= 0 && value <= 9007199254740992.0 && floor(value) == value;
}

const char *fab_cell_number(const struct fab_column *column, union fab_cell cell,
			    char *out)
{
	if (column->type == FAB_NUMBER && fab_is_whole(cell.real))
		snprintf(out, FAB_CELL_BYTES, "%.0f", cell.real);
	else if (column->type == FAB_REAL || column->type == FAB_NUMBER)
		snprintf(out, FAB_CELL_BYTES, "%.6g", cell.real);
	else if (column->type == FAB_GUID)
		snprintf(out, FAB_CELL_BYTES, "0x%016" PRIx64, cell.u);
	else
		snprintf(out, FAB_CELL_BYTES, "%" PRIu64, cell.u);
	return out;
}

char *fab_cell_safe_text(const char *text)
{
	size_t size = 4 * strlen(text) + 8;

	return fab_text_safe(text, fab_alloc(size, 1), size);
}

static void put_field(struct fab_report *r, const struct fab_column *column,
		      union fab_cell cell)
{
	if (r->writer->field &&
	    (r->writer->wants_extra || !(column->flags & FAB_COL_EXTRA)))
		r->writer->field(r->state, column, cell);
}

#define BRIEF(name, type, help) FAB_COLUMN_OF(struct fab_brief, name, type, help, 0, NONE)
const struct fab_column fab_brief_columns[FAB_BRIEF_COLUMNS] = {
	BRIEF(source, TEXT, "the FABRIC argument"),
	BRIEF(fingerprint, GUID, "digest of what is cabled to what"),
	BRIEF(switches, UINT, "switches"),
	BRIEF(adapters, UINT, "channel adapters, aggregation nodes included"),
	BRIEF(aggregation_nodes, UINT, "SHARP aggregation nodes"),
	BRIEF(hosts, UINT, "hosts"),
	BRIEF(switch_links, UINT, "cables between switches"),
	BRIEF(host_links, UINT, "cables between a switch and an adapter"),
};

void fab_report_brief(struct fab_report *r, const char *name,
		      const struct fab_brief *brief)
{
	for (size_t i = 0; i < FAB_BRIEF_COLUMNS; i++) {
		struct fab_column column = fab_brief_columns[i];
		char *full = fab_format("%s.%s", name, column.name);

		column.name = full;
		fab_report_field(r, &column, fab_column_read(&column, brief));
		free(full);
	}
}

struct fab_report *fab_report_new(FILE *out, const struct fab_report_options *options,
				  const char *command, const char *primary,
				  const struct fab_fabric *fabric)
{
	static const struct fab_writer *const writers[] = {
		[FAB_FORMAT_TABLE] = &fab_table_writer,
		[FAB_FORMAT_JSON] = &fab_json_writer,
		[FAB_FORMAT_CSV] = &fab_csv_writer,
	};
	struct fab_report *r = FAB_NEW0(1, struct fab_report);

	r->out = out;
	r->options = *options;
	r->primary = fab_strdup(primary ? primary : "");
	r->writer = options->page ? &fab_html_writer : writers[options->format];
	r->state = r->writer->begin(out, &r->options);
	if (options->format == FAB_FORMAT_JSON) {
		put_field(r, &(struct fab_column){.name = "schema", .type = FAB_UINT},
			  (union fab_cell){.u = SCHEMA});
		put_field(r, &(struct fab_column){.name = "command", .type = FAB_TEXT},
			  (union fab_cell){.text = command});
		put_field(r, &(struct fab_column){.name = "version", .type = FAB_TEXT},
			  (union fab_cell){.text = FAB_VERSION});
	}
	r->fabric = fabric;
	return r;
}

const struct fab_report_options *fab_report_how(const struct fab_report *r)
{
	return &r->options;
}

void fab_report_without_fabric(struct fab_report *r)
{
	assert(!r->has_body);
	r->fabric = NULL;
}

void fab_report_prefer(struct fab_report *r, const char *columns)
{
	if (!r->options.columns && r->options.format == FAB_FORMAT_TABLE)
		r->options.columns = columns;
}

void fab_report_answer(struct fab_report *r, enum fab_tone tone, const char *format, ...)
{
	struct sentence sentence = {.tone = tone};
	va_list values;

	assert(!r->has_body);
	va_start(values, format);
	if (vasprintf(&sentence.text, format, values) < 0)
		fab_oom(strlen(format));
	va_end(values);
	FAB_PUSH(&r->answer, sentence);
}

/* Write what stands before everything else, once. */
static void begin_body(struct fab_report *r)
{
	const struct fab_fabric *f = r->fabric;

	if (r->has_body)
		return;
	r->has_body = true;
	for (size_t i = 0; i < r->answer.n; i++) {
		if (r->writer->answer)
			r->writer->answer(r->state, r->answer.v[i].tone,
					  r->answer.v[i].text);
		free(r->answer.v[i].text);
	}
	free(r->answer.v);
	if (f) {
		const struct fab_brief brief = fab_fabric_brief(f);

		fab_report_brief(r, "fabric", &brief);
	}
}

void fab_report_field(struct fab_report *r, const struct fab_column *column,
		      union fab_cell cell)
{
	begin_body(r);
	put_field(r, column, cell);
}

void fab_report_text(struct fab_report *r, const char *name, const char *text)
{
	fab_report_field(r, &(struct fab_column){.name = name, .type = FAB_TEXT},
			 (union fab_cell){.text = text});
}

void fab_report_uint_as(struct fab_report *r, const char *name, unsigned flags,
			uint64_t value)
{
	fab_report_field(r, &(struct fab_column){name, FAB_UINT, NULL, flags},
			 (union fab_cell){.u = value});
}

void fab_report_uint(struct fab_report *r, const char *name, uint64_t value)
{
	fab_report_uint_as(r, name, 0, value);
}

void fab_report_real(struct fab_report *r, const char *name, unsigned flags, double value)
{
	fab_report_field(r, &(struct fab_column){name, FAB_REAL, NULL, flags},
			 (union fab_cell){.real = value});
}

/* Is it shown when no columns are asked for? */
static bool is_by_default(const struct fab_report *r, const struct fab_column *column)
{
	if (column->type >= FAB_ROWS && r->options.format != FAB_FORMAT_JSON)
		return false;
	/* equal inputs give equal pages */
	if (r->options.page && column->metric == FAB_METRIC_TIME)
		return false;
	return r->writer->wants_extra || !(column->flags & FAB_COL_EXTRA);
}

/* Fill r->chosen with the columns that this table shows in this format. */
static size_t choose(struct fab_report *r, const struct fab_column *columns,
		     size_t n_columns)
{
	const char *name = r->table.is_primary ? r->options.columns : NULL;
	size_t n = 0, room = n_columns;

	for (const char *c = name; c && *c; c++)
		room += *c == ',';
	room++;
	r->columns = columns;
	r->chosen = FAB_NEW(room, const struct fab_column *);
	r->cells = FAB_NEW(room, union fab_cell);
	while (name) {
		size_t len = strcspn(name, ",");
		size_t i = find_column(name, len, columns, n_columns);

		if (i < n_columns)
			r->chosen[n++] = &columns[i];
		name = name[len] ? name + len + 1 : NULL;
	}
	if (!r->table.is_primary || !r->options.columns)
		for (size_t i = 0; i < n_columns; i++)
			if (is_by_default(r, &columns[i]))
				r->chosen[n++] = &columns[i];
	return n;
}

static bool is_shown(const struct fab_report *r)
{
	return r->table.name && (r->table.is_primary || !r->writer->only_primary);
}

void fab_report_table_begin(struct fab_report *r, const char *name, const char *title,
			    const struct fab_column *columns, size_t n_columns)
{
	begin_body(r);
	r->table = (struct fab_table){.name = name, .title = title};
	r->table.is_primary = strcmp(name, r->primary) == 0;
	r->table.n = choose(r, columns, n_columns);
	r->table.columns = r->chosen;
	if (is_shown(r))
		r->writer->table_begin(r->state, &r->table);
}

/* Note the errno of a failed write. */
static void note_failure(struct fab_report *r)
{
	if (!r->errnum && ferror(r->out))
		r->errnum = errno ? errno : EIO;
}

static void put_row(struct fab_report *r, enum fab_tone tone)
{
	r->table.tone = tone;
	r->writer->row(r->state, &r->table, r->cells);
	note_failure(r);
}

void fab_report_row(struct fab_report *r, const union fab_cell *cells)
{
	if (!is_shown(r))
		return;
	for (size_t i = 0; i < r->table.n; i++)
		r->cells[i] = cells[r->chosen[i] - r->columns];
	put_row(r, FAB_TONE_PLAIN);
}

void fab_report_record_tone(struct fab_report *r, enum fab_tone tone, const void *record)
{
	if (!is_shown(r))
		return;
	for (size_t i = 0; i < r->table.n; i++)
		r->cells[i] = fab_column_read(r->chosen[i], record);
	put_row(r, tone);
}

void fab_report_record(struct fab_report *r, const void *record)
{
	fab_report_record_tone(r, FAB_TONE_PLAIN, record);
}

void fab_report_table_end(struct fab_report *r)
{
	if (is_shown(r) && r->writer->table_end)
		r->writer->table_end(r->state, &r->table);
	note_failure(r);
	FAB_FREE_ALL(r->chosen, r->cells);
	r->chosen = NULL;
	r->cells = NULL;
	r->table = (struct fab_table){0};
}

void fab_report_table(struct fab_report *r, const char *name, const char *title,
		      const struct fab_column *columns, size_t n_columns,
		      const void *records, size_t size, size_t n)
{
	fab_report_table_begin(r, name, title, columns, n_columns);
	for (size_t i = 0; i < n; i++)
		fab_report_record(r, (const char *)records + i * size);
	fab_report_table_end(r);
}

int fab_report_finish(struct fab_report *r, struct fab_err *err)
{
	int errnum;

	if (r->table.name)
		fab_report_table_end(r);
	begin_body(r);
	r->writer->finish(r->state);
	note_failure(r);
	if (!r->errnum && fflush(r->out) != 0)
		r->errnum = errno;
	errnum = r->errnum;
	free(r->primary);
	free(r);
	if (errnum)
		return fab_fail(err, errnum, "cannot write the result: %s",
				strerror(errnum));
	return 0;
}
