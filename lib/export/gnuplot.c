/* SPDX-License-Identifier: BSD-2-Clause */
#include "export/gnuplot.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "export/curves.h"

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

/* The plot in a page. */
static void put_runs(FILE *out, enum fab_plot_kind kind,
		     const struct fab_plot_curve *curves, size_t n)
{
	FAB_AUTO(fab_arena_free) struct fab_arena a = FAB_ARENA_INIT;
	struct fab_plot_series *series =
		FAB_ARENA_NEW0(&a, n + 1, struct fab_plot_series);
	bool is_distribution = kind == FAB_PLOT_DISTRIBUTION;

	for (size_t i = 0; i < n; i++) {
		const struct fab_store_result *r = curves[i].result;
		size_t n_points = is_distribution ? r->n_bins : 1;
		double *x = FAB_ARENA_NEW(&a, n_points + 1, double);
		double *y = FAB_ARENA_NEW(&a, n_points + 1, double), count = 0;

		for (size_t k = n_points; k-- > 0;) {
			count += is_distribution ? (double)r->bins[k].links : 0;
			x[k] = is_distribution
				       ? (double)r->bins[k].load
				       : fab_store_number_get(r->metrics, r->n_metrics,
							      "seconds.total");
			y[k] = is_distribution
				       ? count
				       : fab_store_number_get(r->metrics, r->n_metrics,
							      "max_efi");
		}
		series[i] = (struct fab_plot_series){
			fab_arena_format(&a, "run %" PRIu64 " %s", curves[i].run->id,
					 r->algorithm),
			x, y, n_points};
	}
	fab_curves_write(
		out,
		&(struct fab_curves){
			.x_label = is_distribution ? "trees on a cable (EFI)" : "seconds",
			.y_label = is_distribution ? "cables with this number or more"
						   : "largest EFI",
			.log_x = !is_distribution,
			.log_y = is_distribution,
			.is_step = is_distribution,
			.from_zero = true,
			.series = series,
			.n = n});
}

void fab_export_gnuplot(FILE *out, enum fab_plot_kind kind,
			enum fab_plot_terminal terminal,
			const struct fab_plot_curve *curves, size_t n)
{
	if (terminal == FAB_PLOT_PAGE) {
		put_runs(out, kind, curves, n);
		return;
	}
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
	if (terminal == FAB_PLOT_PAGE) {
		fab_curves_write(out, &(struct fab_curves){.x_label = x_label,
							   .y_label = y_label,
							   .log_x = true,
							   .log_y = true,
							   .series = series,
							   .n = n});
		return;
	}
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

static void put_load(FILE *out, const char *latency_label,
		     const struct fab_plot_series *accepted,
		     const struct fab_plot_series *latency, size_t n)
{
	static const double ends[] = {0, 1};
	FAB_AUTOFREE struct fab_plot_series *all = FAB_NEW(n + 1, struct fab_plot_series);
	struct fab_curves c = {.x_label = "offered, share of the hosts' cables",
			       .y_label = "arrives, share of the cable",
			       .from_zero = true,
			       .series = all,
			       .n = n + 1};
	size_t most = 0;

	for (size_t i = 0; i < n; i++)
		most = accepted[i].n > most ? accepted[i].n : most;
	if (most < 2)
		return;
	memcpy(all, accepted, n * sizeof(*all));
	all[n] = (struct fab_plot_series){"offered", ends, ends, 2};
	fab_curves_write(out, &c);
	c.y_label = latency_label;
	c.log_y = true;
	c.series = latency;
	c.n = n;
	fab_curves_write(out, &c);
}

void fab_export_gnuplot_load(FILE *out, enum fab_plot_terminal terminal,
			     const char *latency_label,
			     const struct fab_plot_series *accepted,
			     const struct fab_plot_series *latency, size_t n)
{
	if (terminal == FAB_PLOT_PAGE) {
		put_load(out, latency_label, accepted, latency, n);
		return;
	}
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
	if (terminal == FAB_PLOT_PAGE) {
		fab_curves_write_timeline(out, x_label, rows, n_rows, kinds, n_kinds,
					  bars, n);
		return;
	}
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
