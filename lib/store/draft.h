/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A run before it is stored: what was measured is added piece by piece, and all of
 * it is freed together.
 */
#pragma once

#include "base/mem.h"
#include "store/store.h"

/* Starts as {0}. `run` may be given what belongs to the run itself, such as `source`. */
struct fab_draft {
	struct fab_store_run run;
	/* private */
	FAB_VEC(struct fab_store_table) tables;
	FAB_VEC(struct fab_store_number) facts, metrics;
	FAB_VEC(struct fab_store_text) asked;
	FAB_VEC(struct fab_store_result) results;
	FAB_VEC(struct fab_store_bin) bins;
	FAB_VEC(struct fab_store_detail) details;
	FAB_VEC(struct fab_store_batch) batches;
	FAB_VEC(struct fab_store_segment) segments;
	FAB_VEC(char *) texts;
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
/* Of the result that came last: a part with its metrics, so many cables with a load. */
void fab_draft_part(struct fab_draft *d, uint64_t position, const char *part,
		    const struct fab_column *columns, size_t n, const void *record);
void fab_draft_bin(struct fab_draft *d, uint64_t load, uint64_t links);
/* A batch without segments, and a segment of the batch that came last. */
void fab_draft_batch(struct fab_draft *d, const struct fab_store_batch *batch);
void fab_draft_segment(struct fab_draft *d, const struct fab_store_segment *segment);

/* The run, until something is added or the draft is freed. O(results + batches). */
const struct fab_store_run *fab_draft_run(struct fab_draft *d);
void fab_draft_fini(struct fab_draft *d);
