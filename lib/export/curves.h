/* SPDX-License-Identifier: BSD-2-Clause */
/* Curves and timelines as SVG inside a page of HTML; without gnuplot. */
#pragma once

#include <stdio.h>

#include "export/gnuplot.h"

/* One picture. Labels are any text. */
struct fab_curves {
	const char *x_label, *y_label;
	bool log_x, log_y; /* points that are not above 0 are left out there */
	bool is_step;	   /* y holds from the x before on */
	bool from_zero;	   /* axes that are not logarithmic begin at 0 */
	const struct fab_plot_series *series; /* [n] */
	size_t n;
};

/* Nothing where no series has two points. Errors are left to ferror(out). O(points). */
void fab_curves_write(FILE *out, const struct fab_curves *curves);
/* A timeline as fab_export_gnuplot_timeline() draws it. O(bars + kinds). */
void fab_curves_write_timeline(FILE *out, const char *x_label, const char *const *rows,
			       size_t n_rows, const char *const *kinds, size_t n_kinds,
			       const struct fab_plot_bar *bars, size_t n);
