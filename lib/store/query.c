/* SPDX-License-Identifier: BSD-2-Clause */
/* A query whose rows are copied. The file may come from anywhere: no value is trusted. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "store/query.h"

void *fab_store_keep(struct fab_store_memory *memory, void *block)
{
	FAB_PUSH(&memory->blocks, block);
	return block;
}

void fab_store_memory_free(struct fab_store_memory *memory)
{
	for (size_t i = 0; i < memory->blocks.n; i++)
		free(memory->blocks.v[i]);
	free(memory->blocks.v);
	free(memory);
}

void fab_query_init(struct fab_query *q, struct fab_store *store,
		    struct fab_store_memory *memory, const char *sql)
{
	*q = (struct fab_query){.store = store, .memory = memory};
	q->rc = sqlite3_prepare_v2(store->db, sql, -1, &q->statement, NULL);
}

void fab_query_bind(struct fab_query *q, const char *text, size_t len)
{
	if (q->rc == SQLITE_OK)
		q->rc = sqlite3_bind_text(q->statement, ++q->n_bound, text, (int)len,
					  SQLITE_TRANSIENT);
}

bool fab_query_next(struct fab_query *q)
{
	if (q->rc == SQLITE_OK || q->rc == SQLITE_ROW) {
		fab_store_step(q->store);
		q->rc = sqlite3_step(q->statement);
	}
	return q->rc == SQLITE_ROW;
}

int fab_query_fini(struct fab_query *q, struct fab_err *err)
{
	int rc = q->rc == SQLITE_DONE ? 0 : fab_store_fail(q->store, q->rc, "read", err);

	sqlite3_finalize(q->statement);
	return rc;
}

const char *fab_query_text(struct fab_query *q, int column)
{
	const unsigned char *text = sqlite3_column_text(q->statement, column);

	if (!text && sqlite3_column_type(q->statement, column) != SQLITE_NULL)
		fab_oom(0);
	return text ? fab_store_keep(q->memory, fab_strdup((const char *)text)) : NULL;
}

const char *fab_query_text_or_empty(struct fab_query *q, int column)
{
	const char *text = fab_query_text(q, column);

	return text ? text : "";
}

const char *fab_query_name(struct fab_query *q, int column)
{
	const unsigned char *text = sqlite3_column_text(q->statement, column);

	for (size_t i = 0; text && i < q->n_names; i++)
		if (!strcmp(q->names[i], (const char *)text))
			return q->names[i];
	if (!text || q->n_names == FAB_QUERY_NAMES)
		return fab_query_text_or_empty(q, column);
	return q->names[q->n_names++] = fab_query_text_or_empty(q, column);
}

uint64_t fab_query_uint(struct fab_query *q, int column)
{
	sqlite3_int64 value = sqlite3_column_int64(q->statement, column);

	return value < 0 ? 0 : (uint64_t)value;
}

double fab_query_real(struct fab_query *q, int column, double if_null)
{
	return sqlite3_column_type(q->statement, column) == SQLITE_NULL
		       ? if_null
		       : sqlite3_column_double(q->statement, column);
}
