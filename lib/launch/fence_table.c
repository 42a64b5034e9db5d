/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fences by algorithm, size, order and number of nodes: each algorithm with each group of
 * nodes is an item of a sweep. Then the choice of auto, the ranges of sizes in which an
 * algorithm is the fastest, and the seconds over the possible values of the constants.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "launch/fence.h"

enum { MAX_LOADS = 64 }; /* steps whose loads are listed */

double fab_fence_row_us(const struct fab_fence_row *row)
{
	return isnan(row->simulated_us) ? row->contended_us : row->simulated_us;
}

static int fill_row(const struct fab_fence_table *t, const struct fab_fence_group *g,
		    const struct fab_fence_setup *s, struct fab_fence_item *x, size_t i,
		    struct fab_err *err)
{
	struct fab_fence_sim_options options = {.n_pieces = t->n_pieces};
	struct fab_fence_time time;
	char *loads = NULL;
	int rc = fab_fence_setup_time(s, t->bytes[i], t->model_only ? NULL : &options,
				      &time, err);

	/* "1,2,4,8"; of many steps the first ones */
	for (uint32_t k = 0; k < s->load.n_steps && k < MAX_LOADS; k++)
		fab_append(&loads, ",", "%" PRIu64, s->load.step[k].load);
	if (s->load.n_steps > MAX_LOADS)
		fab_append(&loads, ",", "...");
	fab_arena_own(&x->memory, free, loads);
	x->rows[i] = (struct fab_fence_row){
		.algorithm = x->name,
		.stands_for = x->is_alias ? fab_fence_text(&x->memory, s->is) : NULL,
		.order = g->order,
		.loads = loads,
		.shard = t->shard_text,
		.nodes = g->nodes.n,
		.bytes = t->bytes[i],
		.steps = s->plan.n_steps,
		.max_link_load = s->load.max,
		.max_between = s->load.max_between,
		.model_us = time.model_us,
		.contended_us = time.contended_us,
		.simulated_us = time.simulated_us,
		.daemons_us =
			time.contended_us +
			(FAB_PARAM(t->params, daemon_us) - s->job.costs.o_us) * s->n_o,
		.factor = s->load.factor,
		.by_symmetry = t->model_only ? UINT64_MAX : time.sim.by_symmetry,
	};
	return rc;
}

/* One algorithm with one group, at all sizes. */
static int work_on_item(void *context, void *memory, uint64_t number, void *result,
			struct fab_err *err)
{
	const struct fab_fence_table *t = context;
	const struct fab_fence_group *g = &t->groups.v[number / t->fences.n];
	struct fab_fence_chosen chosen = t->fences.v[number % t->fences.n];
	struct fab_fence_setup setup = {.is = {FAB_FENCE_AUTO, 0}};
	struct fab_fence_item *x = result;
	int rc = 0;

	(void)memory;
	x->name = fab_fence_text(&x->memory, chosen);
	x->rows = FAB_ARENA_NEW0(&x->memory, t->n_bytes, struct fab_fence_row);
	x->is_alias = chosen.algorithm == FAB_FENCE_SLURM_AUTO;
	for (size_t i = 0; i < t->n_bytes && !rc; i++) {
		struct fab_fence_job job =
			fab_fence_job_of(t->params, g->nodes.n, g->nodes.sw, t->bytes[i]);

		if (!fab_fence_equal(fab_fence_stands_for(chosen, &job), setup.is)) {
			fab_fence_setup_fini(&setup);
			rc = fab_fence_setup_init(&setup, chosen, &job, &g->nodes,
						  t->routes, err);
		}
		if (!rc)
			rc = fill_row(t, g, &setup, x, i, err);
	}
	if (!rc) {
		uint32_t n = setup.load.n_steps;

		x->line = setup.contended;
		x->load = setup.load;
		x->load.step = FAB_ARENA_NEW(&x->memory, n + 1, struct fab_fence_step);
		memcpy(x->load.step, setup.load.step, n * sizeof(*x->load.step));
		x->port = FAB_ARENA_NEW(&x->memory, n + 1, uint32_t);
		for (uint32_t i = 0; i < n; i++)
			x->port[i] = setup.paths.port[x->load.step[i].cable];
	}
	fab_fence_setup_fini(&setup);
	if (rc)
		fab_arena_free(&x->memory);
	return rc;
}

static void take_item(void *context, uint64_t number, void *result)
{
	struct fab_fence_table *t = context;

	t->items.v[number] = *(struct fab_fence_item *)result;
}

static void drop_item(void *context, void *result)
{
	(void)context;
	fab_arena_free(&((struct fab_fence_item *)result)->memory);
}

const struct fab_fence_item *fab_fence_best(const struct fab_fence_table *t, size_t group,
					    size_t i, bool by_daemons)
{
	const struct fab_fence_item *items = &t->items.v[group * t->fences.n];
	const struct fab_fence_item *best = NULL;
	double least_us = INFINITY;

	for (size_t k = 0; k < t->fences.n; k++) {
		const struct fab_fence_row *row =
			items[k].rows ? &items[k].rows[i] : NULL;
		double us = !row || items[k].is_alias ? INFINITY
			    : by_daemons	      ? row->daemons_us
						      : fab_fence_row_us(row);

		if (us < least_us) {
			best = &items[k];
			least_us = us;
		}
	}
	return best;
}

/* The reason why the best is the best. */
static const char *why_text(struct fab_fence_table *t, size_t group, size_t i,
			    const struct fab_fence_item *best)
{
	const struct fab_fence_item *items = &t->items.v[group * t->fences.n];
	const struct fab_fence_item *next = NULL;
	double us = fab_fence_row_us(&best->rows[i]), next_us = INFINITY;
	char a[FAB_HUMAN_BYTES], b[FAB_HUMAN_BYTES];

	for (size_t k = 0; k < t->fences.n; k++) {
		double other = items[k].rows ? fab_fence_row_us(&items[k].rows[i]) : 0;

		if (other > us && other < next_us) {
			next = &items[k];
			next_us = other;
		}
	}
	if (!next)
		return "none takes longer";
	fab_human_seconds(us / 1e6, a);
	fab_human_seconds(next_us / 1e6, b);
	if (best->load.max < 2)
		return fab_arena_format(
			t->memory,
			"%s, %s the next with %s; no two messages share a cable", a,
			next->name, b);
	return fab_arena_format(t->memory,
				"%s, %s the next with %s; up to %" PRIu64
				" messages share a cable",
				a, next->name, b, best->load.max);
}

/* Ranges of sizes of one group. */
static void find_ranges(struct fab_fence_table *t, size_t group)
{
	const struct fab_fence_item *items = &t->items.v[group * t->fences.n];
	size_t n = 0, n_ranges, most = t->fences.n + 1;
	struct fab_fence_line *lines =
		FAB_ARENA_NEW(t->memory, most, struct fab_fence_line);
	struct fab_fence_range *of =
		FAB_ARENA_NEW(t->memory, most, struct fab_fence_range);
	size_t *fence = FAB_ARENA_NEW(t->memory, most, size_t);

	for (size_t i = 0; i < t->fences.n; i++)
		if (items[i].rows && !items[i].is_alias) {
			fence[n] = i;
			lines[n++] = items[i].line;
		}
	n_ranges = fab_fence_ranges(lines, n, (double)FAB_FENCE_BYTES_MAX, of);
	for (size_t i = 0; i < n_ranges; i++) {
		bool is_last = i + 1 == n_ranges;
		struct fab_fence_best_range row = {
			.order = t->groups.v[group].order,
			.nodes = t->groups.v[group].nodes.n,
			.algorithm = items[fence[of[i].line]].name,
			.from_bytes = of[i].from_bytes,
			.to_bytes = is_last ? (double)NAN : of[i + 1].from_bytes};

		FAB_PUSH(&t->ranges, row);
	}
}

/* Seconds of a fence by formula. */
struct figure {
	struct fab_fence_chosen fence;
	const struct fab_launch_nodes *nodes;
	uint64_t bytes;
};

static int seconds_of(void *context, const struct fab_launch_params *params, double *out,
		      struct fab_err *err)
{
	const struct figure *x = context;
	struct fab_fence_job job =
		fab_fence_job_of(params, x->nodes->n, x->nodes->sw, x->bytes);
	double us;
	int rc = fab_fence_plain_us(x->fence, &job, &us, err);

	*out = us / 1e6;
	return rc;
}

size_t fab_fence_table_plan(struct fab_fence_table *t)
{
	t->n_shown = t->fences.n;
	for (size_t i = 0; t->has_auto && i < FAB_N_FENCE_CANDIDATES; i++) {
		size_t k = 0;

		while (k < t->fences.n &&
		       !fab_fence_equal(t->fences.v[k], fab_fence_candidates[i]))
			k++;
		if (k == t->fences.n)
			FAB_PUSH(&t->fences, fab_fence_candidates[i]);
	}
	return t->groups.n * t->fences.n;
}

static void end_table(void *table)
{
	struct fab_fence_table *t = table;

	for (size_t i = 0; i < t->items.n; i++)
		fab_arena_free(&t->items.v[i].memory);
	FAB_FREE_ALL(t->items.v, t->groups.v, t->fences.v, t->autos.v, t->ranges.v);
}

void fab_fence_table_begin(struct fab_fence_table *t, struct fab_arena *memory)
{
	*t = (struct fab_fence_table){.memory = memory};
	fab_arena_own(memory, end_table, t);
}

int fab_fence_table_run(struct fab_fence_table *t, struct fab_err *err)
{
	struct fab_sweep sweep = {.what = "fence",
				  .n_items = t->groups.n * t->fences.n,
				  .shard = t->shard,
				  .n_threads = t->n_threads,
				  .result_bytes = sizeof(struct fab_fence_item),
				  .context = t,
				  .work = work_on_item,
				  .take = take_item,
				  .drop = drop_item,
				  .progress = t->progress,
				  .progress_context = t->progress_context};
	const struct fab_fence_item *best;
	size_t last = t->n_bytes - 1;
	int rc;

	FAB_RESERVE(&t->items, sweep.n_items + 1);
	t->items.n = sweep.n_items;
	memset(t->items.v, 0, sweep.n_items * sizeof(*t->items.v));
	rc = fab_sweep_run(&sweep, err);
	t->seconds = (struct fab_launch_range){
		.low = (double)NAN, .high = (double)NAN, .by = FAB_N_LAUNCH_CONSTANTS};
	for (size_t g = 0; g < t->groups.n && !rc; g++)
		find_ranges(t, g);
	best = rc ? NULL : fab_fence_best(t, 0, last, false);
	if (best) {
		struct figure figure = {.fence = t->fences.v[best - t->items.v],
					.nodes = &t->groups.v[0].nodes,
					.bytes = t->bytes[last]};

		rc = fab_launch_range_find(t->params, t->uses,
					   fab_fence_row_us(&best->rows[last]) / 1e6,
					   seconds_of, &figure, &t->seconds, err);
	}
	for (size_t g = 0; t->has_auto && g < t->groups.n && !rc; g++)
		for (size_t i = 0; i < t->n_bytes; i++) {
			struct fab_fence_row row;

			best = fab_fence_best(t, g, i, false);
			if (!best)
				continue;
			row = best->rows[i];
			row.algorithm = "auto";
			row.stands_for = best->name;
			row.why = why_text(t, g, i, best);
			FAB_PUSH(&t->autos, row);
		}
	return rc;
}
