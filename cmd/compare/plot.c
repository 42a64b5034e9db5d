/* SPDX-License-Identifier: BSD-2-Clause */
/* Pictures of the runs chosen: a curve or a point for each result. */
#include "compare.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/mem.h"

enum { MAX_CURVES = 64 };

typedef FAB_VEC(struct fab_plot_series) series_vec;

/* Add the curve of a result when it has points. */
static void add(series_vec *to, const struct fab_work *w, const struct fab_store_run *run,
		const char *algorithm, struct fab_plot_series curve)
{
	curve.title =
		fab_arena_format(w->arena, "run %" PRIu64 " %s%s%s%s", run->id, algorithm,
				 run->label ? " (" : "", run->label ? run->label : "",
				 run->label ? ")" : "");
	if (curve.n)
		FAB_PUSH(to, curve);
}

/* Sweeps of fabric-bootplan: time of the batches by their size. */
static struct fab_plot_series sweep(const struct fab_work *w,
				    const struct fab_store_run *run,
				    const struct fab_store_result *r)
{
	double *x = FAB_ARENA_NEW(w->arena, 2 * run->n_batches + 1, double);
	double *y = x + run->n_batches;
	struct fab_plot_series curve = {.x = x, .y = y};

	for (size_t b = 0; b < run->n_batches; b++) {
		const struct fab_store_batch *batch = &run->batches[b];

		if (strcmp(batch->algorithm, r->algorithm) != 0 ||
		    !(batch->boot_seconds > 0) || !isfinite(batch->boot_seconds))
			continue;
		x[curve.n] = (double)batch->nodes;
		y[curve.n++] = batch->boot_seconds;
	}
	return curve;
}

/* For every load how many cables carry at least as much. */
static struct fab_plot_series distribution(const struct fab_work *w,
					   const struct fab_store_run *run,
					   const struct fab_store_result *r)
{
	double *x = FAB_ARENA_NEW(w->arena, 2 * r->n_bins + 1, double);
	double *y = x + r->n_bins, count = 0;

	(void)run;
	for (size_t k = r->n_bins; k-- > 0;) {
		count += (double)r->bins[k].links;
		x[k] = (double)r->bins[k].load;
		y[k] = count;
	}
	return (struct fab_plot_series){.x = x, .y = y, .n = r->n_bins};
}

static struct fab_plot_series seconds(const struct fab_work *w,
				      const struct fab_store_run *run,
				      const struct fab_store_result *r)
{
	double *at = FAB_ARENA_NEW(w->arena, 2, double);

	(void)run;
	at[0] = fab_store_number_get(r->metrics, r->n_metrics, "seconds.total");
	at[1] = fab_store_number_get(r->metrics, r->n_metrics, "max_efi");
	return (struct fab_plot_series){
		.x = at, .y = at + 1, .n = at[0] > 0 && at[1] >= 0};
}

/* The source that all have, or how many runs there are. */
static const char *source_of(const struct fab_work *w)
{
	const struct compare_outcome *o = w->outcome;
	const char *source = o->n_items ? o->items[0].run->fabric.source : NULL;

	for (size_t i = 1; i < o->n_items && source; i++) {
		const char *other = o->items[i].run->fabric.source;

		if (!other || strcmp(source, other) != 0)
			source = NULL;
	}
	return source ? source
		      : fab_arena_format(w->arena, "%zu runs of several fabrics",
					 o->n_items);
}

static const struct {
	const char *what;
	struct fab_plot_series (*of)(const struct fab_work *w,
				     const struct fab_store_run *run,
				     const struct fab_store_result *r);
	struct fab_curves curves;
} plots[] = {
	[COMPARE_DISTRIBUTION] = {"Trees on cables",
				  distribution,
				  {.x_label = "trees on a cable (EFI)",
				   .y_label = "cables with this number or more",
				   .log_y = true,
				   .is_step = true,
				   .from_zero = true,
				   .y_shown = 1}},
	[COMPARE_SECONDS] = {"Fullest cable and time",
			     seconds,
			     {.x_label = "seconds to compute the trees",
			      .y_label = "trees on the fullest cable (EFI)",
			      .log_by_range = true,
			      .is_scatter = true,
			      .from_zero = true}},
	[COMPARE_SECONDS + 1] = {"Time to boot",
				 sweep,
				 {.x_label = "nodes that boot together",
				  .y_label = "seconds until all have booted",
				  .log_by_range = true,
				  .from_zero = true}},
};

static int plot(FILE *out, const struct fab_work *w, struct fab_err *err)
{
	const struct compare_params *p = w->params;
	const struct compare_outcome *o = w->outcome;
	FAB_AUTOFREE series_vec series = {0};
	bool are_sweeps = o->n_items > 0;
	struct fab_picture picture;
	struct fab_curves curves;
	size_t kind;

	for (size_t i = 0; i < o->n_items; i++)
		are_sweeps &= o->items[i].run->n_batches > 0;
	kind = are_sweeps ? COMPARE_SECONDS + 1 : p->plot_kind;
	for (size_t i = 0; i < o->n_items; i++) {
		const struct fab_store_run *run = o->items[i].run;

		for (size_t k = 0; k < run->n_results; k++) {
			const struct fab_store_result *r = &run->results[k];

			if (compare_has(&o->items[i], r->algorithm))
				add(&series, w, run, r->algorithm,
				    plots[kind].of(w, run, r));
		}
	}
	if (!series.n)
		return fab_fail(err, ENODATA,
				"--plot: nothing to draw in the runs chosen");
	if (series.n > MAX_CURVES)
		return fab_fail(
			err, E2BIG,
			"--plot: %zu results are too many for one picture (at most %d): choose runs or use --algorithm",
			series.n, MAX_CURVES);
	picture = fab_cli_picture(w, &p->plot, plots[kind].what, source_of(w));
	curves = plots[kind].curves;
	curves.series = series.v;
	curves.n = series.n;
	fab_curves_write(out, &picture, &curves, 1);
	return 0;
}

const struct fab_task_file compare_files[] = {{"plot", plot}, {0}};
