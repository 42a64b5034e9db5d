/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Curves as SVG: axes with round numbers, a line and marks for each series, its name at
 * the right. Colours are the classes k0 to k7 of data/report/report.css, marks have five
 * shapes. Where lines coincide each is drawn in its own dashes, and marks are rings
 * around each other, so that none is hidden.
 */
#include "export/curves.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/macros.h"
#include "base/mem.h"
#include "base/order.h"
#include "present/report.h"

enum {
	LEFT = 70,
	PLOT_WIDTH = 500,
	HEIGHT = 260, /* of the plot itself, or more for many names */
	TOP = 14,
	TITLE = 26,
	BOTTOM = 46,
	SLOT = 64, /* for x = 0 next to a logarithmic axis */
	COLORS = 8,
	TEXT_LINE = 14,
	BAR = 22,
	KEY = 17,
	ROW_LABEL = 200,
	NEAR = 3, /* pixels: lines so near to each other coincide */
	DASH = 7,
	MANY_POINTS = 40, /* marks are smaller then, of lines without rings */
};

static const double LOG_FROM = 20, GLYPH_WIDTH = 6.8, MANY_DECADES = 2.5;
static const double LEADS[] = {1, 2, 5}; /* of ticks on a logarithmic axis */
static const char PALE
	[] = " fill-opacity=\".35\"",
    STYLE[] =
	    "<style>text{font-family:\"DejaVu Sans\",Helvetica,Arial,sans-serif;fill:#1b1f24}"
	    "path{fill:none;stroke-width:2}.axis{stroke:#c9d0d8;stroke-width:1}rect{stroke-width:.5}"
	    ".k0{stroke:#1f6fc0;fill:#1f6fc0}.k1{stroke:#c2410c;fill:#c2410c}.k2{stroke:#1a7f37;fill:#1a7f37}"
	    ".k3{stroke:#8f3fb0;fill:#8f3fb0}.k4{stroke:#7a6000;fill:#7a6000}.k5{stroke:#c01f6a;fill:#c01f6a}"
	    ".k6{stroke:#00727d;fill:#00727d}.k7{stroke:#5b5f66;fill:#5b5f66}path.line{fill:none}</style>\n";

struct axis {
	bool is_log;
	bool has_leads;		   /* ticks at 2 and 5 times a power of ten, too */
	double low, high;	   /* of a logarithmic one the logarithms */
	double from, to;	   /* in the picture */
	double zero;		   /* where 0 is on a logarithmic one; 0: nowhere */
	double least, most, shown; /* values above 0, and one that is shown in any case */
};

/* A pair of axes while it is drawn. */
struct panel {
	const struct fab_curves *c;
	struct axis x, y;
	int top, bottom;
};

/* A mark, or the line from the point before to it, in steps of NEAR pixels. */
struct piece {
	int at[4]; /* x, y, and those of the point before or INT_MIN */
	uint32_t series, point;
	bool is_mark;
	uint32_t rank, of; /* among the series that have the same piece */
};

static double value_of(const struct axis *a, double v)
{
	return a->is_log ? log10(v) : v;
}

static double at(const struct axis *a, double v)
{
	if (a->is_log && v <= 0)
		return a->zero;
	return a->from +
	       (value_of(a, v) - a->low) / (a->high - a->low) * (a->to - a->from);
}

static bool is_point(const struct panel *p, const struct fab_plot_series *s, size_t i)
{
	return isfinite(s->x[i]) && isfinite(s->y[i]) &&
	       (!p->x.is_log || s->x[i] > 0 || (s->x[i] >= 0 && p->x.zero > 0)) &&
	       (!p->y.is_log || s->y[i] > 0);
}

static void widen(struct axis *a, double v)
{
	if (a->is_log && !(v > 0))
		return;
	a->low = fmin(a->low, value_of(a, v));
	a->high = fmax(a->high, value_of(a, v));
}

/* 1, 2 or 5 times a power of ten: about five steps over the range. */
static double step_of(double range)
{
	double power = pow(10, floor(log10(range / 5))), lead = range / 5 / power;

	return power * (lead <= 1 ? 1 : lead <= 2 ? 2 : lead <= 5 ? 5 : 10);
}

/* The tick of a logarithmic axis at a value or next to it, above or below. */
static double round_log(double v, bool by_decades, bool above)
{
	double power = floor(v + 1e-9), best = above ? power + 1 : power;

	for (size_t i = 0; i < FAB_COUNT(LEADS) && !by_decades; i++) {
		double tick = power + log10(LEADS[i]);

		if (above ? tick >= v - 1e-9 && tick < best
			  : tick <= v + 1e-9 && tick > best)
			best = tick;
	}
	return above && v - power < 2e-9 ? power : best;
}

/* Ends at round numbers. */
static void settle(struct axis *a, bool from_zero)
{
	double step;

	if (a->shown > 0)
		widen(a, a->shown);
	if (!a->is_log && from_zero)
		a->low = fmin(a->low, 0);
	if (a->high - a->low < 1e-12 * (1 + fabs(a->high))) {
		a->low -= a->is_log || fabs(a->low) <= 0 ? 0.5 : fabs(a->low) / 2;
		a->high += a->is_log || fabs(a->high) <= 0 ? 0.5 : fabs(a->high) / 2;
	}
	a->has_leads = a->is_log && a->high - a->low < MANY_DECADES;
	if (a->is_log) {
		a->low = round_log(a->low, !a->has_leads, false);
		a->high = round_log(a->high, !a->has_leads, true);
		return;
	}
	step = step_of(a->high - a->low);
	a->low = floor(a->low / step + 1e-9) * step;
	a->high = ceil(a->high / step - 1e-9) * step;
}

static void put_tick(FILE *out, const struct panel *p, double v, bool is_x)
{
	double place = at(is_x ? &p->x : &p->y, v);

	if (is_x)
		fprintf(out,
			"<path class=\"axis\" d=\"M%.5g %dV%d\"/><text font-size=\"11\" text-anchor=\"middle\" x=\"%.5g\" y=\"%d\">%.6g</text>\n",
			place, p->top, p->bottom, place, p->bottom + TEXT_LINE, v);
	else
		fprintf(out,
			"<path class=\"axis\" d=\"M%d %.5gH%d\"/><text font-size=\"11\" text-anchor=\"end\" x=\"%d\" y=\"%.5g\">%.6g</text>\n",
			LEFT, place, LEFT + PLOT_WIDTH, LEFT - 6, place + 4, v);
}

static void put_axis(FILE *out, const struct panel *p, bool is_x)
{
	const struct axis *a = is_x ? &p->x : &p->y;
	double step = a->is_log ? fmax(1, ceil((a->high - a->low) / 8))
				: step_of(a->high - a->low);
	size_t n_leads = a->has_leads ? FAB_COUNT(LEADS) : 1;

	if (!a->is_log) {
		long n = lround((a->high - a->low) / step);

		for (long i = 0; i <= n; i++) {
			double v = a->low + (double)i * step;

			put_tick(out, p, fabs(v) < step / 1e6 ? 0 : v, is_x);
		}
		return;
	}
	if (a->zero > 0)
		put_tick(out, p, 0, is_x);
	for (double power = floor(a->low); power <= a->high; power += step)
		for (size_t i = 0; i < n_leads; i++) {
			double v = LEADS[i] * pow(10, power);

			if (log10(v) >= a->low - 1e-9 && log10(v) <= a->high + 1e-9)
				put_tick(out, p, v, is_x);
		}
}

static void put_text(FILE *out, const char *attributes, double x, double y,
		     const char *text)
{
	fprintf(out, "<text %s x=\"%.5g\" y=\"%.5g\">", attributes, x, y);
	fab_html_put(out, text);
	fputs("</text>\n", out);
}

/* Mark of a series, a ring when others of a lower rank have theirs there. */
static void put_mark(FILE *out, size_t series, double x, double y, double r,
		     uint32_t rank)
{
	const char *ring = rank ? "line " : "";

	r += 1.8 * rank;
	fprintf(out, "<path class=\"%sk%zu\" d=\"M%.5g %.5g", ring, series % COLORS, x,
		y);
	switch ((series + series / COLORS) % 5) {
	case 0:
		fprintf(out, "m%g 0a%g %g 0 1 0 %g 0a%g %g 0 1 0 %g 0z", -r, r, r, 2 * r,
			r, r, -2 * r);
		break;
	case 1:
		fprintf(out, "m%g %gh%gv%gh%gz", -r, -r, 2 * r, 2 * r, -2 * r);
		break;
	case 2:
		fprintf(out, "m0 %gl%g %gl%g %gl%g %gz", -1.3 * r, 1.3 * r, 1.3 * r,
			-1.3 * r, 1.3 * r, -1.3 * r, -1.3 * r);
		break;
	case 3:
		fprintf(out, "m0 %gl%g %gh%gz", -1.3 * r, 1.2 * r, 2.2 * r, -2.4 * r);
		break;
	default:
		fprintf(out, "m0 %gl%g %gh%gz", 1.3 * r, 1.2 * r, -2.2 * r, -2.4 * r);
	}
	fputs("\"", out);
}

FAB_ORDER_MIXED(by_place, struct piece,
		FAB_UP(at[0]) FAB_UP(at[1]) FAB_UP(at[2]) FAB_UP(at[3]) FAB_UP(series)
			FAB_UP(point))

/* Lines before marks, each in the order of the series. */
FAB_ORDER(by_series, struct piece, is_mark, series, point)

/* Both x are on the same side of the place of 0. */
static bool is_joined(const struct panel *p, const struct fab_plot_series *s, size_t i)
{
	return i && is_point(p, s, i - 1) &&
	       !(p->x.is_log && (s->x[i] > 0) != (s->x[i - 1] > 0));
}

/* Marks and lines, *n of them, with their ranks. */
static struct piece *pieces_of(const struct panel *p, size_t *n)
{
	const struct fab_curves *c = p->c;
	struct piece *v;
	size_t most = 1;

	for (size_t k = 0; k < c->n; k++)
		most += 2 * c->series[k].n;
	v = FAB_NEW(most, struct piece);
	*n = 0;
	for (size_t k = 0; k < c->n; k++)
		for (size_t i = 0; i < c->series[k].n; i++) {
			const struct fab_plot_series *s = &c->series[k];
			struct piece piece = {.series = (uint32_t)k,
					      .point = (uint32_t)i,
					      .is_mark = true};

			if (!is_point(p, s, i) || s->is_guide)
				continue;
			piece.at[0] = (int)lround(at(&p->x, s->x[i]) / NEAR);
			piece.at[1] = (int)lround(at(&p->y, s->y[i]) / NEAR);
			piece.at[2] = piece.at[3] = INT_MIN;
			v[(*n)++] = piece;
			if (c->is_scatter || !is_joined(p, s, i))
				continue;
			piece.is_mark = false;
			piece.at[2] = (int)lround(at(&p->x, s->x[i - 1]) / NEAR);
			piece.at[3] = (int)lround(at(&p->y, s->y[i - 1]) / NEAR);
			v[(*n)++] = piece;
		}
	qsort(v, *n, sizeof(*v), by_place);
	for (size_t i = 0, end; i < *n; i = end) {
		for (end = i; end < *n && !memcmp(v[end].at, v[i].at, sizeof(v->at));)
			end++;
		for (size_t k = i; k < end; k++) {
			v[k].rank = (uint32_t)(k - i);
			v[k].of = (uint32_t)(end - i);
		}
	}
	qsort(v, *n, sizeof(*v), by_series);
	return v;
}

static void put_pieces(FILE *out, const struct panel *p)
{
	size_t n;
	FAB_AUTOFREE struct piece *v = pieces_of(p, &n);

	for (size_t i = 0; i < n; i++) {
		const struct fab_plot_series *s = &p->c->series[v[i].series];
		size_t point = v[i].point;
		double x = at(&p->x, s->x[point]), y = at(&p->y, s->y[point]);

		if (v[i].is_mark) {
			bool many = s->n > MANY_POINTS, is_line = !p->c->is_scatter;

			put_mark(out, v[i].series, x, y,
				 !many	   ? 3
				 : is_line ? 0.8
					   : 1.8,
				 many && is_line ? 0 : v[i].rank);
			fputs("><title>", out);
			fab_html_put(out, s->title);
			fprintf(out, ": %.6g, %.6g</title></path>\n", s->x[point],
				s->y[point]);
			continue;
		}
		fprintf(out, "<path class=\"line k%u\" d=\"M%.5g %.5g",
			v[i].series % COLORS, at(&p->x, s->x[point - 1]),
			at(&p->y, s->y[point - 1]));
		fprintf(out, p->c->is_step ? "V%.5gH%.5g\"" : "L%.5g %.5g\"",
			p->c->is_step ? y : x, p->c->is_step ? x : y);
		if (v[i].of > 1)
			fprintf(out,
				" stroke-dasharray=\"%d %u\" stroke-dashoffset=\"%d\"",
				DASH, DASH * (v[i].of - 1), -DASH * (int)v[i].rank);
		fputs("/>\n", out);
	}
}

static void put_guides(FILE *out, const struct panel *p)
{
	for (size_t k = 0; k < p->c->n; k++) {
		const struct fab_plot_series *s = &p->c->series[k];

		if (!s->is_guide)
			continue;
		fputs("<path class=\"axis\" stroke-dasharray=\"6 4\" d=\"", out);
		for (size_t i = 0; i < s->n; i++)
			if (is_point(p, s, i))
				fprintf(out, "%c%.5g %.5g",
					is_joined(p, s, i) ? 'L' : 'M',
					at(&p->x, s->x[i]), at(&p->y, s->y[i]));
		fputs("\"/>\n", out);
	}
}

struct label {
	double y;
	size_t series;
};

FAB_ORDER(by_height, struct label, y, series)

/* Names at the ends of the lines, apart from each other. */
static void put_names(FILE *out, const struct panel *p)
{
	const struct fab_curves *c = p->c;
	FAB_AUTOFREE struct label *v = FAB_NEW(c->n, struct label);
	double below = p->bottom;
	size_t n = 0;

	for (size_t k = 0; k < c->n; k++) {
		size_t i = c->series[k].n;

		while (i && !is_point(p, &c->series[k], i - 1))
			i--;
		if (i)
			v[n++] = (struct label){at(&p->y, c->series[k].y[i - 1]), k};
	}
	qsort(v, n, sizeof(*v), by_height);
	for (size_t i = 1; i < n; i++)
		v[i].y = fmax(v[i].y, v[i - 1].y + TEXT_LINE);
	for (size_t i = n; i-- > 0; below = v[i].y - TEXT_LINE)
		v[i].y = fmin(v[i].y, below);
	for (size_t i = 0; i < n; i++) {
		const struct fab_plot_series *s = &c->series[v[i].series];
		int x = LEFT + PLOT_WIDTH + 8;

		if (s->is_guide)
			fprintf(out, "<path class=\"axis\" stroke-dasharray=\"6 4\"");
		else
			fprintf(out, "<path class=\"line k%zu\"", v[i].series % COLORS);
		if (!c->is_scatter)
			fprintf(out, " d=\"M%d %.5gh18\"", x, v[i].y);
		fputs("/>", out);
		if (!s->is_guide) {
			put_mark(out, v[i].series, x + 9, v[i].y, 3, 0);
			fputs("/>", out);
		}
		put_text(out, "font-size=\"12\"", x + 24, v[i].y + 4, s->title);
	}
}

static void begin(FILE *out, const struct fab_picture *of, int width, int height)
{
	fprintf(out, "%s<svg %sviewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"",
		of->is_in_page ? "<figure>\n" : "",
		of->is_in_page ? "class=\"curve\" "
			       : "xmlns=\"http://www.w3.org/2000/svg\" ",
		width, height);
	fab_html_put(out, of->title);
	fputc('"', out);
	if (!of->is_in_page)
		fprintf(out, " width=\"%d\" height=\"%d\"", width, height);
	fputs(">\n", out);
	if (!of->is_in_page) {
		fputs("<title>", out);
		fab_html_put(out, of->title);
		fprintf(out,
			"</title>\n%s<path style=\"fill:#fff\" d=\"M0 0H%dV%dH0z\"/>\n",
			STYLE, width, height);
	}
	put_text(out, "font-size=\"13\" font-weight=\"bold\"", 14, 18, of->title);
}

static void end(FILE *out, const struct fab_picture *of)
{
	fputs(of->is_in_page ? "</svg>\n</figure>\n" : "</svg>\n", out);
}

/* The least and the greatest value above 0 of an axis, for all series. */
static void measure(struct panel *p)
{
	p->x.least = p->y.least = INFINITY;
	for (size_t k = 0; k < p->c->n; k++) {
		const struct fab_plot_series *s = &p->c->series[k];

		for (size_t i = 0; i < s->n; i++) {
			if (!isfinite(s->x[i]) || !isfinite(s->y[i]))
				continue;
			if (s->x[i] > 0) {
				p->x.least = fmin(p->x.least, s->x[i]);
				p->x.most = fmax(p->x.most, s->x[i]);
			} else if (s->x[i] >= 0) {
				p->x.zero = LEFT + SLOT / 4;
			}
			if (s->y[i] > 0) {
				p->y.least = fmin(p->y.least, s->y[i]);
				p->y.most = fmax(p->y.most, s->y[i]);
			}
		}
	}
	p->x.is_log =
		p->c->log_x || (p->c->log_by_range && p->x.most >= LOG_FROM * p->x.least);
	p->y.is_log =
		p->c->log_y || (p->c->log_by_range && p->y.most >= LOG_FROM * p->y.least);
	if (!p->x.is_log)
		p->x.zero = 0;
}

/* Place the axes. The most points that a series has. */
static size_t place(struct panel *p, int top)
{
	const struct fab_curves *c = p->c;
	size_t most = 0;

	measure(p);
	p->top = top;
	p->bottom = top + (int)fmax(HEIGHT, (double)c->n * TEXT_LINE);
	p->x.low = p->y.low = INFINITY;
	p->x.high = p->y.high = -INFINITY;
	p->x.from = LEFT + (p->x.zero > 0 ? SLOT : 0);
	p->x.to = LEFT + PLOT_WIDTH;
	p->x.shown = c->x_shown;
	p->y.from = p->bottom;
	p->y.to = p->top;
	p->y.shown = c->y_shown;
	for (size_t k = 0; k < c->n; k++) {
		size_t n = 0;

		for (size_t i = 0; i < c->series[k].n; i++) {
			if (!is_point(p, &c->series[k], i))
				continue;
			widen(&p->x, c->series[k].x[i]);
			widen(&p->y, c->series[k].y[i]);
			n++;
		}
		most = n > most && !c->series[k].is_guide ? n : most;
	}
	settle(&p->x, c->from_zero);
	settle(&p->y, c->from_zero);
	return most;
}

static void put_panel(FILE *out, const struct panel *p)
{
	const struct fab_curves *c = p->c;
	double middle = (p->top + p->bottom) / 2.0;

	put_axis(out, p, true);
	put_axis(out, p, false);
	put_guides(out, p);
	put_pieces(out, p);
	put_names(out, p);
	fprintf(out, "<g transform=\"translate(14 %.5g) rotate(-90)\">", middle);
	put_text(out, "font-size=\"12\" text-anchor=\"middle\"", 0, 0, c->y_label);
	fputs("</g>\n", out);
	put_text(out, "font-size=\"12\" text-anchor=\"middle\"", LEFT + PLOT_WIDTH / 2.0,
		 p->bottom + BOTTOM - 14, c->x_label);
}

/* Width of a text of 12 pixels, about. */
static int width_of(const char *text)
{
	return (int)((double)strlen(text) * GLYPH_WIDTH);
}

void fab_curves_write(FILE *out, const struct fab_picture *of,
		      const struct fab_curves *panels, size_t n)
{
	FAB_AUTOFREE struct panel *v = FAB_NEW0(n, struct panel);
	size_t most = 0;
	int names = 60, top = TOP + TITLE;

	for (size_t i = 0; i < n; i++) {
		size_t n_points;

		v[i].c = &panels[i];
		n_points = place(&v[i], top);
		if (n_points && (panels[i].is_scatter || !of->is_in_page))
			most = 2;
		most = n_points > most ? n_points : most;
		top = v[i].bottom + BOTTOM + TOP;
		for (size_t k = 0; k < panels[i].n; k++)
			names = (int)fmax(names, width_of(panels[i].series[k].title));
	}
	if (most < 2)
		return;
	begin(out, of,
	      (int)fmax(LEFT + PLOT_WIDTH + 40 + names, width_of(of->title) * 1.2 + 28),
	      top - TOP);
	for (size_t i = 0; i < n; i++)
		put_panel(out, &v[i]);
	end(out, of);
}

/* Bars, and the key of the kinds that have one. */
static void put_bars(FILE *out, const struct panel *p, const char *const *kinds,
		     const struct fab_plot_bar *bars, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct fab_plot_bar *b = &bars[i];

		if (!isfinite(b->from) || !isfinite(b->to))
			continue;
		fprintf(out,
			"<rect class=\"k%u\"%s x=\"%.6g\" y=\"%u\" width=\"%.6g\" height=\"%d\"><title>",
			b->kind % COLORS, b->kind >= COLORS ? PALE : "",
			at(&p->x, b->from), (uint32_t)p->top + b->row * BAR + 3,
			at(&p->x, b->to) - at(&p->x, b->from), BAR - 6);
		fab_html_put(out, kinds[b->kind]);
		fprintf(out, ": %.6g to %.6g</title></rect>\n", b->from, b->to);
	}
}

static void put_key(FILE *out, int y, const char *const *kinds, const bool *is_used,
		    size_t n_kinds)
{
	for (size_t k = 0; k < n_kinds; k++) {
		if (!is_used[k])
			continue;
		fprintf(out,
			"<rect class=\"k%zu\"%s x=\"%d\" y=\"%d\" width=\"12\" height=\"12\"/>",
			k % COLORS, k >= COLORS ? PALE : "", ROW_LABEL + PLOT_WIDTH + 12,
			y);
		put_text(out, "font-size=\"12\"", ROW_LABEL + PLOT_WIDTH + 30, y + 11,
			 kinds[k]);
		y += KEY;
	}
}

void fab_curves_write_timeline(FILE *out, const struct fab_picture *of,
			       const char *x_label, const char *const *rows,
			       size_t n_rows, const char *const *kinds, size_t n_kinds,
			       const struct fab_plot_bar *bars, size_t n)
{
	struct panel p = {.x = {.from = ROW_LABEL, .to = ROW_LABEL + PLOT_WIDTH},
			  .top = TOP + TITLE};
	FAB_AUTOFREE bool *is_used = FAB_NEW0(n_kinds, bool);
	size_t n_used = 0;
	int names = 60;
	double step;

	for (size_t i = 0; i < n; i++)
		if (isfinite(bars[i].from) && isfinite(bars[i].to) &&
		    bars[i].to > bars[i].from) {
			widen(&p.x, bars[i].to);
			n_used += !is_used[bars[i].kind];
			is_used[bars[i].kind] = true;
			names = (int)fmax(names, width_of(kinds[bars[i].kind]));
		}
	if (!(p.x.high > 0))
		return;
	settle(&p.x, true);
	p.bottom = p.top + (int)fmax((double)n_rows * BAR, (double)n_used * KEY);
	begin(out, of, ROW_LABEL + PLOT_WIDTH + 40 + names, p.bottom + BOTTOM);
	step = step_of(p.x.high);
	for (long i = 0; i <= lround(p.x.high / step); i++)
		put_tick(out, &p, (double)i * step, true);
	for (size_t i = 0; i < n_rows; i++)
		put_text(out, "font-size=\"11\" text-anchor=\"end\"", ROW_LABEL - 6,
			 p.top + (double)i * BAR + BAR / 2 + 4, rows[i]);
	put_bars(out, &p, kinds, bars, n);
	put_key(out, p.top, kinds, is_used, n_kinds);
	put_text(out, "font-size=\"12\" text-anchor=\"middle\"",
		 ROW_LABEL + PLOT_WIDTH / 2.0, p.bottom + BOTTOM - 10, x_label);
	end(out, of);
}
