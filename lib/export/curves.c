/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Curves as SVG: axes with round numbers, a line and points for each series, its name at
 * the right end of the line. Colours are the classes k0 to k7 of data/report/report.css;
 * from the ninth series on lines are dashed, and bars pale.
 */
#include "export/curves.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/macros.h"
#include "base/mem.h"
#include "present/html.h"

enum {
	WIDTH = 760,
	HEIGHT = 320,
	LEFT = 70,
	RIGHT = 190, /* for names */
	TOP = 14,
	BOTTOM = 46,
	COLORS = 8,
	TEXT_LINE = 14,
	BAR = 22,
	ROW_LABEL = 200,
};

static const char DASHES[] = " stroke-dasharray=\"6 4\"",
		  PALE[] = " fill-opacity=\".45\"";

struct axis {
	bool is_log;
	double low, high; /* of a logarithmic one the logarithms */
	double from, to;  /* in the picture */
};

static double value_of(const struct axis *a, double v)
{
	return a->is_log ? log10(v) : v;
}

static double at(const struct axis *a, double v)
{
	return a->from +
	       (value_of(a, v) - a->low) / (a->high - a->low) * (a->to - a->from);
}

static bool is_point(const struct fab_curves *c, const struct fab_plot_series *s,
		     size_t i)
{
	return isfinite(s->x[i]) && isfinite(s->y[i]) && (!c->log_x || s->x[i] > 0) &&
	       (!c->log_y || s->y[i] > 0);
}

static void widen(struct axis *a, double v)
{
	a->low = fmin(a->low, value_of(a, v));
	a->high = fmax(a->high, value_of(a, v));
}

/* 1, 2 or 5 times a power of ten: about five steps over the range. */
static double step_of(double range)
{
	double power = pow(10, floor(log10(range / 5))), lead = range / 5 / power;

	return power * (lead <= 1 ? 1 : lead <= 2 ? 2 : lead <= 5 ? 5 : 10);
}

/* Ends at round numbers. */
static void settle(struct axis *a, bool from_zero)
{
	double step;

	if (!a->is_log && from_zero)
		a->low = fmin(a->low, 0);
	if (a->high - a->low < 1e-12 * (1 + fabs(a->high))) {
		a->low -= a->is_log || fabs(a->low) <= 0 ? 0.5 : fabs(a->low) / 2;
		a->high += a->is_log || fabs(a->high) <= 0 ? 0.5 : fabs(a->high) / 2;
	}
	if (a->is_log)
		return;
	step = step_of(a->high - a->low);
	a->low = floor(a->low / step + 1e-9) * step;
	a->high = ceil(a->high / step - 1e-9) * step;
}

static void put_tick(FILE *out, const struct axis *a, double v, bool is_x)
{
	double p = at(a, v);

	if (is_x)
		fprintf(out,
			"<path class=\"axis\" d=\"M%.5g %dV%d\"/><text font-size=\"11\" text-anchor=\"middle\" x=\"%.5g\" y=\"%d\">%.6g</text>\n",
			p, TOP, HEIGHT - BOTTOM, p, HEIGHT - BOTTOM + TEXT_LINE, v);
	else
		fprintf(out,
			"<path class=\"axis\" d=\"M%d %.5gH%d\"/><text font-size=\"11\" text-anchor=\"end\" x=\"%d\" y=\"%.5g\">%.6g</text>\n",
			LEFT, p, WIDTH - RIGHT, LEFT - 6, p + 4, v);
}

static void put_axis(FILE *out, const struct axis *a, bool is_x)
{
	static const double leads[] = {1, 2, 5};
	double step = a->is_log ? fmax(1, ceil((a->high - a->low) / 8))
				: step_of(a->high - a->low);
	size_t n_leads = a->is_log && a->high - a->low < 2.5 ? FAB_COUNT(leads) : 1;

	if (!a->is_log) {
		long n = lround((a->high - a->low) / step);

		for (long i = 0; i <= n; i++) {
			double v = a->low + (double)i * step;

			put_tick(out, a, fabs(v) < step / 1e6 ? 0 : v, is_x);
		}
		return;
	}
	for (double power = floor(a->low); power <= a->high; power += step)
		for (size_t i = 0; i < n_leads; i++) {
			double v = leads[i] * pow(10, power);

			if (log10(v) >= a->low - 1e-9 && log10(v) <= a->high + 1e-9)
				put_tick(out, a, v, is_x);
		}
}

static void put_series(FILE *out, const struct fab_curves *c, size_t k,
		       const struct axis *x, const struct axis *y)
{
	const struct fab_plot_series *s = &c->series[k];
	bool has_begun = false;

	fprintf(out, "<path class=\"line k%zu\" d=\"", k % COLORS);
	for (size_t i = 0; i < s->n; i++) {
		if (!is_point(c, s, i)) {
			has_begun = false;
			continue;
		}
		if (c->is_step && has_begun)
			fprintf(out, "V%.5g", at(y, s->y[i]));
		fprintf(out, "%c%.5g %.5g", has_begun ? 'L' : 'M', at(x, s->x[i]),
			at(y, s->y[i]));
		has_begun = true;
	}
	fprintf(out, "\"%s/>\n", k >= COLORS ? DASHES : "");
	for (size_t i = 0; i < s->n; i++)
		if (is_point(c, s, i)) {
			fprintf(out,
				"<circle class=\"k%zu\" cx=\"%.5g\" cy=\"%.5g\" r=\"2.5\"><title>",
				k % COLORS, at(x, s->x[i]), at(y, s->y[i]));
			fab_html_put(out, s->title);
			fprintf(out, ": %.6g, %.6g</title></circle>\n", s->x[i], s->y[i]);
		}
}

struct label {
	double y;
	size_t series;
};

static int by_height(const void *x, const void *y)
{
	const struct label *a = x, *b = y;

	if (a->y < b->y || a->y > b->y)
		return a->y < b->y ? -1 : 1;
	return (a->series > b->series) - (a->series < b->series);
}

/* Names at the ends of the lines, apart from each other. */
static void put_names(FILE *out, const struct fab_curves *c, const struct axis *y)
{
	FAB_AUTOFREE struct label *v = FAB_NEW(c->n, struct label);
	double below = HEIGHT - BOTTOM;
	size_t n = 0;

	for (size_t k = 0; k < c->n; k++) {
		size_t i = c->series[k].n;

		while (i && !is_point(c, &c->series[k], i - 1))
			i--;
		if (i)
			v[n++] = (struct label){at(y, c->series[k].y[i - 1]), k};
	}
	qsort(v, n, sizeof(*v), by_height);
	for (size_t i = 1; i < n; i++)
		v[i].y = fmax(v[i].y, v[i - 1].y + TEXT_LINE);
	for (size_t i = n; i-- > 0; below = v[i].y - TEXT_LINE)
		v[i].y = fmin(v[i].y, below);
	for (size_t i = 0; i < n; i++) {
		fprintf(out,
			"<path class=\"line k%zu\" d=\"M%d %.5gh18\"%s/><text font-size=\"12\" x=\"%d\" y=\"%.5g\">",
			v[i].series % COLORS, WIDTH - RIGHT + 6, v[i].y,
			v[i].series >= COLORS ? DASHES : "", WIDTH - RIGHT + 28,
			v[i].y + 4);
		fab_html_put(out, c->series[v[i].series].title);
		fputs("</text>\n", out);
	}
}

static void begin(FILE *out, int height, const char *y_label, const char *x_label)
{
	fprintf(out,
		"<figure>\n<svg class=\"curve\" viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"",
		WIDTH, height);
	fab_html_put(out, y_label);
	fputs(" against ", out);
	fab_html_put(out, x_label);
	fputs("\">\n", out);
}

static void put_x_label(FILE *out, const char *label, int height)
{
	fprintf(out, "<text font-size=\"12\" text-anchor=\"middle\" x=\"%d\" y=\"%d\">",
		(LEFT + WIDTH - RIGHT) / 2, height - 8);
	fab_html_put(out, label);
	fputs("</text>\n</svg>\n</figure>\n", out);
}

void fab_curves_write(FILE *out, const struct fab_curves *c)
{
	struct axis x = {c->log_x, INFINITY, -INFINITY, LEFT, WIDTH - RIGHT};
	struct axis y = {c->log_y, INFINITY, -INFINITY, HEIGHT - BOTTOM, TOP};
	size_t most = 0;

	for (size_t k = 0; k < c->n; k++) {
		size_t n = 0;

		for (size_t i = 0; i < c->series[k].n; i++) {
			if (!is_point(c, &c->series[k], i))
				continue;
			widen(&x, c->series[k].x[i]);
			widen(&y, c->series[k].y[i]);
			n++;
		}
		most = n > most ? n : most;
	}
	if (most < 2)
		return;
	settle(&x, c->from_zero);
	settle(&y, c->from_zero);
	begin(out, HEIGHT, c->y_label, c->x_label);
	put_axis(out, &x, true);
	put_axis(out, &y, false);
	for (size_t k = 0; k < c->n; k++)
		put_series(out, c, k, &x, &y);
	put_names(out, c, &y);
	fprintf(out,
		"<text font-size=\"12\" text-anchor=\"middle\" transform=\"translate(14 %d) rotate(-90)\">",
		(TOP + HEIGHT - BOTTOM) / 2);
	fab_html_put(out, c->y_label);
	fputs("</text>\n", out);
	put_x_label(out, c->x_label, HEIGHT);
}

void fab_curves_write_timeline(FILE *out, const char *x_label, const char *const *rows,
			       size_t n_rows, const char *const *kinds, size_t n_kinds,
			       const struct fab_plot_bar *bars, size_t n)
{
	struct axis x = {false, 0, 0, ROW_LABEL, WIDTH - RIGHT};
	int height = (int)(n_rows > n_kinds ? n_rows : n_kinds) * BAR + TOP + BOTTOM;
	double step;

	for (size_t i = 0; i < n; i++)
		if (isfinite(bars[i].to))
			widen(&x, bars[i].to);
	if (!(x.high > 0))
		return;
	settle(&x, true);
	begin(out, height, "phases", x_label);
	step = step_of(x.high);
	for (long i = 0; i <= lround(x.high / step); i++)
		fprintf(out,
			"<path class=\"axis\" d=\"M%.5g %dV%d\"/><text font-size=\"11\" text-anchor=\"middle\" x=\"%.5g\" y=\"%d\">%.6g</text>\n",
			at(&x, (double)i * step), TOP, height - BOTTOM,
			at(&x, (double)i * step), height - BOTTOM + TEXT_LINE,
			(double)i * step);
	for (size_t i = 0; i < n_rows; i++) {
		fprintf(out,
			"<text font-size=\"11\" text-anchor=\"end\" x=\"%d\" y=\"%zu\">",
			ROW_LABEL - 6, TOP + i * BAR + BAR / 2 + 4);
		fab_html_put(out, rows[i]);
		fputs("</text>\n", out);
	}
	for (size_t i = 0; i < n; i++) {
		const struct fab_plot_bar *b = &bars[i];

		if (!isfinite(b->from) || !isfinite(b->to))
			continue;
		fprintf(out,
			"<rect class=\"k%u\"%s x=\"%.6g\" y=\"%u\" width=\"%.6g\" height=\"%d\"><title>",
			b->kind % COLORS, b->kind >= COLORS ? PALE : "", at(&x, b->from),
			TOP + b->row * BAR + 3, at(&x, b->to) - at(&x, b->from), BAR - 6);
		fab_html_put(out, kinds[b->kind]);
		fprintf(out, ": %.6g to %.6g</title></rect>\n", b->from, b->to);
	}
	for (size_t k = 0; k < n_kinds; k++) {
		fprintf(out,
			"<rect class=\"k%zu\"%s x=\"%d\" y=\"%zu\" width=\"12\" height=\"12\"/><text font-size=\"12\" x=\"%d\" y=\"%zu\">",
			k % COLORS, k >= COLORS ? PALE : "", WIDTH - RIGHT + 12,
			TOP + k * BAR, WIDTH - RIGHT + 30, TOP + k * BAR + 11);
		fab_html_put(out, kinds[k]);
		fputs("</text>\n", out);
	}
	put_x_label(out, x_label, height);
}
