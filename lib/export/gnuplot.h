/* SPDX-License-Identifier: BSD-2-Clause */
/* Results as a script for gnuplot (5 or later), or as SVG in a page. */
#pragma once

#include <stdio.h>

#include "store/store.h"

enum fab_plot_kind {
	FAB_PLOT_DISTRIBUTION, /* cables (log) that carry at least a number of trees */
	FAB_PLOT_SECONDS,      /* max_efi against seconds.total (log) */
};
enum fab_plot_terminal {
	FAB_PLOT_SVG,
	FAB_PLOT_PNG,
	FAB_PLOT_PAGE, /* no script: what stands in a page (export/curves.h) */
};

/* One result of one run: a line or a point. */
struct fab_plot_curve {
	const struct fab_store_run *run;
	const struct fab_store_result *result;
};

/*
 * Write the script, which makes gnuplot print the picture to its standard output. Texts
 * that come from the database cannot leave their quotes and are plain ASCII. Whether all
 * was written is for the caller to ask of `out`. O(n curves + bins).
 */
void fab_export_gnuplot(FILE *out, enum fab_plot_kind kind,
			enum fab_plot_terminal terminal,
			const struct fab_plot_curve *curves, size_t n);

/* Points joined by a line, in the order given. */
struct fab_plot_series {
	const char *title;
	const double *x, *y; /* [n]; a point that is not finite is left out */
	size_t n;
};

/*
 * Script for series over two logarithmic axes; titles are any text. x and y are above
 * 0. O(points).
 */
void fab_export_gnuplot_series(FILE *out, enum fab_plot_terminal terminal,
			       const char *x_label, const char *y_label,
			       const struct fab_plot_series *series, size_t n);

/*
 * Two pictures, one above the other, against the offered load (share of the hosts'
 * cables, from 0 to 1): accepted load, with the line of the offered load, and latency
 * over a logarithmic axis. n series of both, titles of the first. O(points).
 */
void fab_export_gnuplot_load(FILE *out, enum fab_plot_terminal terminal,
			     const char *latency_label,
			     const struct fab_plot_series *accepted,
			     const struct fab_plot_series *latency, size_t n);

/* A stretch of time of one kind in a row. */
struct fab_plot_bar {
	uint32_t row, kind;
	double from, to;
};

/*
 * A timeline: rows from the top, a bar for each stretch, a colour for each kind; rows and
 * kinds are any text. O(bars + kinds).
 */
void fab_export_gnuplot_timeline(FILE *out, enum fab_plot_terminal terminal,
				 const char *x_label, const char *const *rows,
				 size_t n_rows, const char *const *kinds, size_t n_kinds,
				 const struct fab_plot_bar *bars, size_t n);
