/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * JSON: values that are always valid, lines of bulk output, and the whole document as one
 * object. Fields of the document stay in a jansson object until the end, so that those
 * with a common prefix meet in one object wherever they come; rows are turned into text
 * at once, one line each, which takes a fraction of the memory.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "present/jsonl.h"
#include "present/writer.h"

/* jansson reports nothing but memory that ran out. */
static json_t *must(json_t *value)
{
	if (!value)
		fab_oom(sizeof(void *));
	return value;
}

static void must_be_set(int rc)
{
	if (rc)
		fab_oom(sizeof(void *));
}

json_t *fab_json_text(const char *text)
{
	json_t *value = text ? json_string(text) : json_null();
	FAB_AUTOFREE char *safe = NULL;

	if (value)
		return value;
	safe = fab_cell_safe_text(text);
	return must(json_string(safe));
}

json_t *fab_json_uint(uint64_t value)
{
	char digits[24];

	if (value <= UINT64_C(1) << 53)
		return must(json_integer((json_int_t)value));
	snprintf(digits, sizeof(digits), "%" PRIu64, value);
	return must(json_string(digits));
}

json_t *fab_json_real(double value, bool is_exact)
{
	char text[32];

	if (!is_exact) {
		snprintf(text, sizeof(text), "%.6g", value);
		value = strtod(text, NULL);
	}
	return must(json_real(value));
}

json_t *fab_json_guid(uint64_t guid)
{
	char text[24];

	snprintf(text, sizeof(text), "0x%016" PRIx64, guid);
	return must(json_string(text));
}

int fab_json_put(const char *text, size_t n, FILE *out)
{
	const char *del;

	for (; (del = memchr(text, '\x7f', n)) != NULL; text = del + 1) {
		fwrite(text, 1, (size_t)(del - text), out);
		fputs("\\u007f", out);
		n -= (size_t)(del + 1 - text);
	}
	fwrite(text, 1, n, out);
	return ferror(out) ? -1 : 0;
}

static int put_piece(const char *text, size_t n, void *out)
{
	return fab_json_put(text, n, out);
}

int fab_json_dump(const json_t *value, FILE *out, size_t flags)
{
	return json_dump_callback(value, put_piece, out, flags);
}

int fab_jsonl_write(FILE *out, json_t *object, struct fab_err *err)
{
	int errnum = 0;

	errno = 0;
	if (fab_json_dump(object, out, FAB_JSON_FLAGS | JSON_COMPACT) != 0 ||
	    putc('\n', out) == EOF)
		errnum = errno ? errno : EIO;
	json_decref(object);
	if (errnum)
		return fab_fail(err, errnum, "cannot write a line of JSON: %s",
				strerror(errnum));
	return 0;
}

struct rows {
	char *name;
	char *text;
	size_t len, cap;
};

struct json {
	FILE *out;
	json_t *root; /* a table stands in it as null, to keep its place */
	FAB_VEC(struct rows) tables;
};

static void *json_begin(FILE *out, const struct fab_report_options *options)
{
	struct json *json = FAB_NEW0(1, struct json);

	(void)options;
	json->out = out;
	json->root = must(json_object());
	return json;
}

static json_t *rows_value(const struct fab_rows *rows);

json_t *fab_json_cell(const struct fab_column *column, union fab_cell cell)
{
	if (column->type == FAB_ROWS)
		return rows_value(cell.rows);
	if (column->type == FAB_NAMES || column->type == FAB_NUMBERS) {
		bool is_names = column->type == FAB_NAMES;
		size_t n = is_names ? cell.names->n : cell.numbers->n;
		json_t *array = must(json_array());

		for (size_t i = 0; i < n; i++)
			must_be_set(json_array_append_new(
				array, is_names ? fab_json_text(cell.names->v[i])
						: fab_json_uint(cell.numbers->v[i])));
		return array;
	}
	if (column->type == FAB_COUNTS) {
		json_t *object = must(json_object());
		char key[24];

		for (size_t i = 0; i < cell.counts->n; i++) {
			snprintf(key, sizeof(key), "%zu", i);
			if (cell.counts->count[i])
				must_be_set(json_object_set_new(
					object, key,
					fab_json_uint(cell.counts->count[i])));
		}
		return object;
	}
	if (fab_cell_is_null(column, cell))
		return json_null();
	switch (column->type) {
	case FAB_TEXT:
		return fab_json_text(cell.text);
	case FAB_UINT:
		return fab_json_uint(cell.u);
	case FAB_GUID:
		return fab_json_guid(cell.u);
	case FAB_BOOL:
		return json_boolean(cell.u != 0);
	case FAB_NUMBER:
		if (fab_is_whole(cell.real))
			return fab_json_uint((uint64_t)cell.real);
		return fab_json_real(cell.real, column->flags & FAB_COL_EXACT);
	case FAB_REAL:
		/* 3.0 and not 3: a reader that distinguishes them sees one type */
		return fab_json_real(cell.real, column->flags & FAB_COL_EXACT);
	case FAB_ROWS: /* above */
	case FAB_NAMES:
	case FAB_NUMBERS:
	case FAB_COUNTS:
		break;
	}
	return json_null();
}

/* Set object.a.b.c for the name "a.b.c", making the objects on the way. */
static void set_nested(json_t *object, const char *name, json_t *value)
{
	const char *dot;

	while ((dot = strchr(name, '.'))) {
		FAB_AUTOFREE char *part = fab_strndup(name, (size_t)(dot - name));
		json_t *next = json_object_get(object, part);

		if (!json_is_object(next)) {
			next = must(json_object());
			must_be_set(json_object_set_new(object, part, next));
		}
		object = next;
		name = dot + 1;
	}
	must_be_set(json_object_set_new(object, name, value));
}

static json_t *row_value(const struct fab_rows *rows, size_t row)
{
	const char *record = (const char *)rows->records + row * rows->record_size;
	json_t *object = must(json_object());

	for (size_t i = 0; i < rows->n_columns; i++)
		set_nested(object, rows->columns[i].name,
			   fab_json_cell(&rows->columns[i],
					 fab_column_read(&rows->columns[i], record)));
	return object;
}

static json_t *rows_value(const struct fab_rows *rows)
{
	json_t *array = must(json_array());

	for (size_t i = 0; i < rows->n; i++)
		must_be_set(json_array_append_new(array, row_value(rows, i)));
	return array;
}

static void json_field(void *state, const struct fab_column *column, union fab_cell cell)
{
	struct json *json = state;

	set_nested(json->root, column->name, fab_json_cell(column, cell));
}

static void json_answer(void *state, enum fab_tone tone, const char *text)
{
	struct json *json = state;
	const char *before = json_string_value(json_object_get(json->root, "summary"));
	FAB_AUTOFREE char *joined =
		fab_format("%s%s%s", before ? before : "", before ? " " : "", text);

	(void)tone;
	set_nested(json->root, "summary", fab_json_text(joined));
}

static void json_table_begin(void *state, const struct fab_table *table)
{
	struct json *json = state;

	FAB_PUSH(&json->tables, (struct rows){.name = fab_strdup(table->name)});
	must_be_set(json_object_set_new(json->root, table->name, json_null()));
}

static void append(struct rows *rows, const char *text, size_t len)
{
	if (rows->len + len > rows->cap) {
		rows->cap = fab_grow(rows->cap, rows->len + len);
		rows->text = fab_realloc(rows->text, rows->cap, 1);
	}
	memcpy(rows->text + rows->len, text, len);
	rows->len += len;
}

static void json_row(void *state, const struct fab_table *table,
		     const union fab_cell *cells)
{
	struct json *json = state;
	struct rows *rows = &json->tables.v[json->tables.n - 1];
	json_t *object = must(json_object());
	FAB_AUTOFREE char *text = NULL;

	for (size_t i = 0; i < table->n; i++)
		set_nested(object, table->columns[i]->name,
			   fab_json_cell(table->columns[i], cells[i]));
	text = json_dumps(object, FAB_JSON_FLAGS);
	must_be_set(!text);
	if (rows->len)
		append(rows, ",\n    ", 6);
	else
		append(rows, "    ", 4);
	append(rows, text, strlen(text));
	json_decref(object);
}

static void json_finish(void *state)
{
	struct json *json = state;
	const char *name, *separator = "{\n  ";
	json_t *value;

	json_object_foreach(json->root, name, value)
	{
		size_t i = 0;

		fprintf(json->out, "%s\"%s\": ", separator, name);
		separator = ",\n  ";
		while (i < json->tables.n && strcmp(json->tables.v[i].name, name) != 0)
			i++;
		if (i == json->tables.n) {
			fab_json_dump(value, json->out, FAB_JSON_FLAGS | JSON_ENCODE_ANY);
		} else if (!json->tables.v[i].len) {
			fputs("[]", json->out);
		} else {
			fputs("[\n", json->out);
			fab_json_put(json->tables.v[i].text, json->tables.v[i].len,
				     json->out);
			fputs("\n  ]", json->out);
		}
	}
	fputs("\n}\n", json->out);
	for (size_t i = 0; i < json->tables.n; i++)
		FAB_FREE_ALL(json->tables.v[i].name, json->tables.v[i].text);
	json_decref(json->root);
	FAB_FREE_ALL(json->tables.v, json);
}

const struct fab_writer fab_json_writer = {
	.wants_extra = true,
	.begin = json_begin,
	.answer = json_answer,
	.field = json_field,
	.table_begin = json_table_begin,
	.row = json_row,
	.finish = json_finish,
};
