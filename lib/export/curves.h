/* SPDX-License-Identifier: BSD-2-Clause */
/* Curves and timelines as SVG: a file of its own, or a figure inside a page of HTML. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Points joined by a line, in the order given. */
struct fab_plot_series {
	const char *title;
	const double *x, *y; /* [n]; a point that is not finite breaks the line */
	size_t n;
	bool is_guide; /* a thin line without points: what the others are compared with */
};

/* A pair of axes. Labels are any text. */
struct fab_curves {
	const char *x_label, *y_label;
	/* Points that are not above 0 are left out there; x = 0 has a place of its own.
	 */
	bool log_x, log_y;
	bool log_by_range; /* logarithmic where the values span a factor of 20 or more */
	bool is_step;	   /* y holds from the x before on */
	bool is_scatter;   /* points without a line */
	bool from_zero;	   /* axes that are not logarithmic begin at 0 */
	double x_shown, y_shown; /* values that are on the axes in any case; 0: none */
	const struct fab_plot_series *series; /* [n] */
	size_t n;
};

struct fab_picture {
	const char *title; /* any text */
	bool is_in_page;   /* colours are those of the page (data/report/report.css) */
};

/*
 * Pairs of axes, one below the other. Writes nothing where there is no point, and in a
 * page where no series has two. Errors are left to ferror(out). O(points log points).
 */
void fab_curves_write(FILE *out, const struct fab_picture *of,
		      const struct fab_curves *panels, size_t n);

/* A stretch of time of one kind in a row. */
struct fab_plot_bar {
	uint32_t row, kind;
	double from, to;
};

/*
 * A timeline: rows from the top, a bar for each stretch, a colour for each kind that has
 * one; rows and kinds are any text. Nothing where no bar ends above 0. O(bars + kinds).
 */
void fab_curves_write_timeline(FILE *out, const struct fab_picture *of,
			       const char *x_label, const char *const *rows,
			       size_t n_rows, const char *const *kinds, size_t n_kinds,
			       const struct fab_plot_bar *bars, size_t n);
