/* SPDX-License-Identifier: BSD-2-Clause */
#include "export/gnuplot.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/*
 * In single quotes, where gnuplot has no escapes and no commands in backquotes; a quote
 * is doubled.
 */
static void put_text(FILE *out, const char *text)
{
	for (; *text; text++)
		if (*text == '\'')
			fputs("''", out);
		else
			putc(*text >= ' ' && *text <= '~' ? *text : '?', out);
}

static void put_terminal(FILE *out, enum fab_plot_terminal terminal)
{
	if (terminal == FAB_PLOT_SVG)
		fputs("set terminal svg size 900,600 noenhanced background '#ffffff'\n",
		      out);
	else
		fputs("if (strstrt(GPVAL_TERMINALS, 'pngcairo') > 0) set terminal pngcairo size 900,600 noenhanced; else set terminal png size 900,600 noenhanced\n",
		      out);
}

void fab_export_gnuplot(FILE *out, enum fab_plot_kind kind,
			enum fab_plot_terminal terminal,
			const struct fab_plot_curve *curves, size_t n)
{
	put_terminal(out, terminal);
	if (kind == FAB_PLOT_DISTRIBUTION)
		fputs("set xlabel 'trees (EFI)'\n"
		      "set ylabel 'switch-to-switch cables with this number or more'\n"
		      "set logscale y\n"
		      "set yrange [0.5:*]\n"
		      "set xrange [-0.5:*]\n",
		      out);
	else
		fputs("set xlabel 'seconds'\n"
		      "set ylabel 'largest number of trees on a cable (EFI)'\n"
		      "set logscale x\n"
		      "set yrange [0:*]\n"
		      "set offsets graph 0.1, graph 0.1, graph 0.1, 0\n",
		      out);
	fputs("set key outside right top\nset grid\n", out);
	for (size_t i = 0; i < n; i++) {
		const struct fab_store_result *r = curves[i].result;

		fprintf(out, "$d%zu << EOD\n", i);
		if (kind == FAB_PLOT_DISTRIBUTION) {
			uint64_t count = 0;

			/* For every load how many cables carry at least as much. */
			for (size_t k = 0; k < r->n_bins; k++)
				count += r->bins[k].links;
			for (size_t k = 0; k < r->n_bins; k++) {
				fprintf(out, "%" PRIu64 " %" PRIu64 "\n", r->bins[k].load,
					count);
				count -= r->bins[k].links;
			}
		} else
			fprintf(out, "%.9g %.9g\n",
				fab_store_number_get(r->metrics, r->n_metrics,
						     "seconds.total"),
				fab_store_number_get(r->metrics, r->n_metrics,
						     "max_efi"));
		fputs("EOD\n", out);
	}
	for (size_t i = 0; i < n; i++) {
		const struct fab_plot_curve *curve;

		fprintf(out, "%s$d%zu using 1:2 with %s ", i ? ", \\\n  " : "plot ", i,
			kind == FAB_PLOT_DISTRIBUTION ? "fsteps linewidth 2"
						      : "points pointsize 1.5");
		curve = &curves[i];
		fprintf(out, "title 'run %" PRIu64 " ", curve->run->id);
		put_text(out, curve->result->algorithm);
		if (curve->run->label) {
			fputs(" (", out);
			put_text(out, curve->run->label);
			putc(')', out);
		}
		putc('\'', out);
	}
	putc('\n', out);
}

/* Data blocks named by a prefix and a number: $d0, $d1. */
static void put_points(FILE *out, char letter, const struct fab_plot_series *series,
		       size_t n)
{
	for (size_t i = 0; i < n; i++) {
		fprintf(out, "$%c%zu << EOD\n", letter, i);
		for (size_t k = 0; k < series[i].n; k++)
			if (isfinite(series[i].x[k]) && isfinite(series[i].y[k]))
				fprintf(out, "%.9g %.9g\n", series[i].x[k],
					series[i].y[k]);
		fputs("EOD\n", out);
	}
}

/* Draw them, and `more`. */
static void put_lines(FILE *out, char letter, const struct fab_plot_series *series,
		      size_t n, const char *more)
{
	for (size_t i = 0; i < n; i++) {
		fprintf(out, "%s$%c%zu using 1:2 with linespoints linewidth 2 title '",
			i ? ", \\\n  " : "plot ", letter, i);
		put_text(out, series[i].title);
		putc('\'', out);
	}
	if (more)
		fputs(more, out);
	putc('\n', out);
}

void fab_export_gnuplot_series(FILE *out, enum fab_plot_terminal terminal,
			       const char *x_label, const char *y_label,
			       const struct fab_plot_series *series, size_t n)
{
	put_terminal(out, terminal);
	fputs("set xlabel '", out);
	put_text(out, x_label);
	fputs("'\nset ylabel '", out);
	put_text(out, y_label);
	fputs("'\nset logscale xy\n"
	      "set key outside right top\nset grid\n",
	      out);
	put_points(out, 'd', series, n);
	put_lines(out, 'd', series, n, NULL);
}

void fab_export_gnuplot_load(FILE *out, enum fab_plot_terminal terminal,
			     const char *latency_label,
			     const struct fab_plot_series *accepted,
			     const struct fab_plot_series *latency, size_t n)
{
	put_terminal(out, terminal);
	put_points(out, 'a', accepted, n);
	put_points(out, 'l', latency, n);
	fputs("set xrange [0:1]\nset grid\nset key left top\n"
	      "set multiplot layout 2,1\n"
	      "set ylabel 'arrives, share of the cable'\nset yrange [0:1]\n",
	      out);
	put_lines(out, 'a', accepted, n,
		  ", \\\n  x with lines dashtype 2 linecolor 'gray' title 'offered'");
	fputs("set xlabel 'offered, share of the hosts'' cables'\n"
	      "set ylabel '",
	      out);
	put_text(out, latency_label);
	fputs("'\nset yrange [*:*]\nset logscale y\n", out);
	put_lines(out, 'l', latency, n, NULL);
	fputs("unset multiplot\n", out);
}

void fab_export_gnuplot_timeline(FILE *out, enum fab_plot_terminal terminal,
				 const char *x_label, const char *const *rows,
				 size_t n_rows, const char *const *kinds, size_t n_kinds,
				 const struct fab_plot_bar *bars, size_t n)
{
	put_terminal(out, terminal);
	for (size_t i = 0; i < n_kinds; i++) {
		/* The bars of one kind, as what gnuplot draws a box from. */
		fprintf(out, "$k%u << EOD\n", (uint32_t)i);
		for (size_t j = 0; j < n; j++)
			if (bars[j].kind == (uint32_t)i && isfinite(bars[j].from) &&
			    isfinite(bars[j].to))
				fprintf(out, "%.9g %d %.9g %.9g %.1f %.1f\n",
					(bars[j].from + bars[j].to) / 2,
					-(int)bars[j].row, bars[j].from, bars[j].to,
					-(int)bars[j].row - 0.4, -(int)bars[j].row + 0.4);
		/* one that is not seen, so that no block of data is empty */
		fprintf(out, "0 1e9 0 0 1e9 1e9\nEOD\n");
	}
	fputs("set xlabel '", out);
	put_text(out, x_label);
	fputs("'\nset ytics (", out);
	for (size_t i = 0; i < n_rows; i++) {
		fputs(i ? ", '" : "'", out);
		put_text(out, rows[i]);
		fprintf(out, "' %d", -(int)i);
	}
	fprintf(out,
		")\nset yrange [%d.5:0.5]\nset xrange [0:*]\nset grid x\n"
		"set style fill solid 0.8 border -1\nset key outside right\nplot ",
		-(int)n_rows);
	for (size_t i = 0; i < n_kinds; i++) {
		fprintf(out, "%s$k%zu using 1:2:3:4:5:6 with boxxyerrorbars title '",
			i ? ", \\\n  " : "", i);
		put_text(out, kinds[i]);
		fputs("'", out);
	}
	fputs("\n", out);
}
