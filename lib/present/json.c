/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The whole document as one JSON object. Fields stay in a jansson object until the end,
 * so that those with a common prefix meet in one object wherever they come; rows are
 * turned into text at once, one line each, which takes a fraction of the memory.
 */
#include <stdlib.h>
#include <string.h>

#include "present/jsonl.h"
#include "present/writer.h"

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
	json->root = json_object();
	if (!json->root)
		fab_oom(sizeof(void *));
	return json;
}

static json_t *rows_value(const struct fab_rows *rows);

static json_t *names_value(const struct fab_names *names)
{
	json_t *array = json_array();

	if (!array)
		fab_oom(sizeof(void *));
	for (size_t i = 0; i < names->n; i++)
		if (json_array_append_new(array, fab_json_text(names->v[i])))
			fab_oom(sizeof(void *));
	return array;
}

static json_t *numbers_value(const struct fab_numbers *numbers)
{
	json_t *array = json_array();

	if (!array)
		fab_oom(sizeof(void *));
	for (size_t i = 0; i < numbers->n; i++)
		if (json_array_append_new(array, fab_json_uint(numbers->v[i])))
			fab_oom(sizeof(void *));
	return array;
}

static json_t *counts_value(const struct fab_counts *counts)
{
	json_t *object = json_object();
	char key[24];

	if (!object)
		fab_oom(sizeof(void *));
	for (size_t i = 0; i < counts->n; i++) {
		snprintf(key, sizeof(key), "%zu", i);
		if (counts->count[i] &&
		    json_object_set_new(object, key, fab_json_uint(counts->count[i])))
			fab_oom(sizeof(void *));
	}
	return object;
}

json_t *fab_json_cell(const struct fab_column *column, union fab_cell cell)
{
	if (column->type == FAB_ROWS)
		return rows_value(cell.rows);
	if (column->type == FAB_NAMES)
		return names_value(cell.names);
	if (column->type == FAB_NUMBERS)
		return numbers_value(cell.numbers);
	if (column->type == FAB_COUNTS)
		return counts_value(cell.counts);
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
		/* 3.0 and not 3: a reader that tells the two apart sees one type */
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
		char *part = fab_strndup(name, (size_t)(dot - name));
		json_t *next = json_object_get(object, part);

		if (!json_is_object(next)) {
			next = json_object();
			if (!next || json_object_set_new(object, part, next) != 0)
				fab_oom(sizeof(void *));
		}
		free(part);
		object = next;
		name = dot + 1;
	}
	if (json_object_set_new(object, name, value) != 0)
		fab_oom(sizeof(void *));
}

static json_t *row_value(const struct fab_rows *rows, size_t row)
{
	const char *record = (const char *)rows->records + row * rows->record_size;
	json_t *object = json_object();

	if (!object)
		fab_oom(sizeof(void *));
	for (size_t i = 0; i < rows->n_columns; i++)
		set_nested(object, rows->columns[i].name,
			   fab_json_cell(&rows->columns[i],
					 fab_column_read(&rows->columns[i], record)));
	return object;
}

static json_t *rows_value(const struct fab_rows *rows)
{
	json_t *array = json_array();

	if (!array)
		fab_oom(sizeof(void *));
	for (size_t i = 0; i < rows->n; i++)
		if (json_array_append_new(array, row_value(rows, i)) != 0)
			fab_oom(sizeof(void *));
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
	char *joined =
		fab_format("%s%s%s", before ? before : "", before ? " " : "", text);

	(void)tone;
	set_nested(json->root, "summary", fab_json_text(joined));
	free(joined);
}

static void json_table_begin(void *state, const struct fab_table *table)
{
	struct json *json = state;

	FAB_PUSH(&json->tables, (struct rows){.name = fab_strdup(table->name)});
	if (json_object_set_new(json->root, table->name, json_null()) != 0)
		fab_oom(sizeof(void *));
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
	json_t *object = json_object();
	char *text;

	if (!object)
		fab_oom(sizeof(void *));
	for (size_t i = 0; i < table->n; i++)
		set_nested(object, table->columns[i]->name,
			   fab_json_cell(table->columns[i], cells[i]));
	text = json_dumps(object, FAB_JSON_FLAGS);
	if (!text)
		fab_oom(sizeof(void *));
	if (rows->len)
		append(rows, ",\n    ", 6);
	else
		append(rows, "    ", 4);
	append(rows, text, strlen(text));
	free(text);
	json_decref(object);
}

static const struct rows *find_table(const struct json *json, const char *name)
{
	for (size_t i = 0; i < json->tables.n; i++)
		if (strcmp(json->tables.v[i].name, name) == 0)
			return &json->tables.v[i];
	return NULL;
}

static void put_table(FILE *out, const struct rows *rows)
{
	if (!rows->len) {
		fputs("[]", out);
		return;
	}
	fputs("[\n", out);
	fab_json_put(rows->text, rows->len, out);
	fputs("\n  ]", out);
}

static void json_finish(void *state)
{
	struct json *json = state;
	const char *name, *separator = "{\n  ";
	json_t *value;

	json_object_foreach(json->root, name, value)
	{
		const struct rows *rows = find_table(json, name);

		fprintf(json->out, "%s\"%s\": ", separator, name);
		separator = ",\n  ";
		if (rows)
			put_table(json->out, rows);
		else
			fab_json_dump(value, json->out, FAB_JSON_FLAGS | JSON_ENCODE_ANY);
	}
	fputs("\n}\n", json->out);
	for (size_t i = 0; i < json->tables.n; i++) {
		free(json->tables.v[i].name);
		free(json->tables.v[i].text);
	}
	free(json->tables.v);
	json_decref(json->root);
	free(json);
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
