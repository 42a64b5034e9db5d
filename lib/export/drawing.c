/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The picture of a fabric in a page: cables between boxes (one line) and between switches
 * (one line for parallel cables), loads as classes of colour, boxes, marks.
 * data/report/report.js opens boxes and enlarges; classes and ids are what it and
 * report.css know.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/order.h"
#include "base/units.h"
#include "export/drawing_impl.h"
#include "export/slurm.h"
#include "fabric/label.h"
#include "present/report.h"

enum {
	MOST_MARKS = 100,
	MOST_PLACES = 64,	  /* of a mark */
	MOST_PARTS = 24000,	  /* switches and lines in boxes that can be opened */
	MOST_HOST_BYTES = 600000, /* names of hosts for the search */
	MOST_CABLES = 8,	  /* in the text of a line */
	LOAD_CLASSES = 7,
};

FAB_ORDER_MIXED(by_ends, struct line,
		FAB_UP(box_a) FAB_UP(box_b) FAB_UP(sw_a) FAB_UP(sw_b) FAB_UP(cable))

/* ---- what is in it ---- */

/* All cables between different switches, by their boxes; of two boxes that of the lower
 * number first. */
static void sort_lines(struct fab_drawing *d)
{
	const struct fab_fabric *f = d->f;

	d->lines = FAB_ARENA_NEW(&d->arena, f->n_switch_links + 1, struct line);
	for (uint32_t c = 0; c < f->n_switch_links; c++) {
		uint32_t a = f->port_node[f->cable_a[c]], b = f->port_node[f->cable_b[c]];
		uint32_t box_a = d->boxes.of_switch[a], box_b = d->boxes.of_switch[b];

		if (a == b)
			continue;
		d->lines[d->n_lines++] = box_a < box_b || (box_a == box_b && a < b)
						 ? (struct line){box_a, box_b, a, b, c}
						 : (struct line){box_b, box_a, b, a, c};
	}
	if (d->n_lines)
		qsort(d->lines, d->n_lines, sizeof(*d->lines), by_ends);
}

struct fab_drawing *fab_drawing_new(const struct fab_fabric *f)
{
	struct fab_drawing *d = FAB_NEW0(1, struct fab_drawing);

	d->f = f;
	fab_boxes_init(&d->boxes, f, FAB_BOXES_PODS);
	d->box = FAB_ARENA_NEW0(&d->arena, d->boxes.n + 1, struct spot);
	d->sw = FAB_ARENA_NEW0(&d->arena, f->n_switches + 1, struct spot);
	d->is_open = FAB_ARENA_NEW0(&d->arena, d->boxes.n + 1, bool);
	fab_drawing_place(d);
	sort_lines(d);
	d->names = fab_strmap_new(f->n_switches);
	for (uint32_t s = 0; s < f->n_switches; s++) {
		const char *name = fab_node_name(f, s);

		if (fab_strmap_put(d->names, name, strlen(name), s) != s)
			fab_strmap_set(d->names, name, strlen(name), FAB_SHARED);
	}
	return d;
}

void fab_drawing_free(struct fab_drawing *d)
{
	if (!d)
		return;
	for (size_t i = 0; i < d->marks.n; i++)
		FAB_FREE_ALL(d->marks.v[i].text, d->marks.v[i].at.v);
	fab_strmap_free(d->names);
	fab_boxes_fini(&d->boxes);
	fab_arena_free(&d->arena);
	FAB_FREE_ALL(d->unit, d->what, d->marks.v, d);
}

double *fab_drawing_load(struct fab_drawing *d, const char *unit, const char *what)
{
	FAB_FREE_ALL(d->unit, d->what);
	d->unit = fab_strdup(unit);
	d->what = fab_strdup(what);
	d->load = FAB_ARENA_NEW(&d->arena, d->f->n_switch_links + 1, double);
	for (uint32_t c = 0; c < d->f->n_switch_links; c++)
		d->load[c] = NAN;
	return d->load;
}

void fab_drawing_without_load(struct fab_drawing *d, const char *why)
{
	d->what = fab_strdup(why);
}

void fab_drawing_mark(struct fab_drawing *d, enum fab_tone tone, const char *text)
{
	if (d->marks.n < MOST_MARKS)
		FAB_PUSH(&d->marks,
			 ((struct mark){.tone = tone, .text = fab_strdup(text)}));
	else
		d->n_more_marks++;
}

static void add_place(struct fab_drawing *d, bool is_cable, uint32_t id)
{
	struct mark *m = d->marks.n ? &d->marks.v[d->marks.n - 1] : NULL;

	if (m && !d->n_more_marks && m->at.n < MOST_PLACES)
		FAB_PUSH(&m->at, ((struct place){is_cable, id}));
}

void fab_drawing_mark_node(struct fab_drawing *d, fab_node_id node)
{
	fab_port_id port = fab_node_is_switch(d->f, node)
				   ? FAB_NONE
				   : fab_node_first_connected_port(d->f, node);

	if (port != FAB_NONE)
		node = fab_port_switch(d->f, port);
	if (node < d->f->n_switches)
		add_place(d, false, node);
}

void fab_drawing_mark_cable(struct fab_drawing *d, fab_cable_id cable)
{
	if (cable < d->f->n_switch_links)
		add_place(d, true, cable);
	else
		add_place(d, false, fab_port_switch(d->f, d->f->cable_a[cable]));
}

/* The switch of a place, of a cable that of one end. */
static uint32_t switch_of(const struct fab_drawing *d, const struct place *at, bool is_b)
{
	const struct fab_fabric *f = d->f;

	if (!at->is_cable)
		return at->id;
	return f->port_node[is_b ? f->cable_b[at->id] : f->cable_a[at->id]];
}

/* Boxes that can be opened: first those with marks, as long as the budget lasts. */
static void choose_open(struct fab_drawing *d)
{
	uint32_t *cost = FAB_ARENA_NEW0(&d->arena, d->boxes.n + 1, uint32_t);
	bool *is_marked = FAB_ARENA_NEW0(&d->arena, d->boxes.n + 1, bool);
	uint64_t left = MOST_PARTS;

	for (uint32_t i = 0; i < d->n_lines; i++) {
		const struct line *l = &d->lines[i];

		if (i && l[-1].sw_a == l->sw_a && l[-1].sw_b == l->sw_b)
			continue;
		cost[l->box_a]++;
		cost[l->box_b] += l->box_a != l->box_b;
	}
	for (size_t i = 0; i < d->marks.n; i++)
		for (size_t k = 0; k < d->marks.v[i].at.n; k++)
			is_marked[d->boxes.of_switch[switch_of(d, &d->marks.v[i].at.v[k],
							       false)]] = true;
	for (int marked = 1; marked >= 0; marked--)
		for (uint32_t b = 0; b < d->boxes.n; b++) {
			uint64_t needs = (uint64_t)cost[b] + d->boxes.v[b].n_switches;

			if (d->boxes.v[b].n_switches < 2 || is_marked[b] != marked ||
			    needs > left)
				continue;
			d->is_open[b] = true;
			left -= needs;
		}
}

void fab_drawing_settle(struct fab_drawing *d)
{
	choose_open(d);
	d->is_whole = true;
	for (uint32_t c = 0; d->load && c < d->f->n_switch_links; c++) {
		d->most_load = fmax(d->most_load, d->load[c]);
		d->is_whole &=
			isnan(d->load[c]) || fabs(rint(d->load[c]) - d->load[c]) <= 0;
	}
}

static bool is_pod(const struct fab_drawing *d, uint32_t box)
{
	return d->boxes.v[box].n_switches > 1;
}

bool fab_drawing_find(const struct fab_drawing *d, const char *name,
		      char id[FAB_ANCHOR_BYTES])
{
	uint32_t s = fab_strmap_get(d->names, name, strlen(name)), box;

	if (s >= d->f->n_switches)
		return false;
	box = d->boxes.of_switch[s];
	if (is_pod(d, box) && !d->is_open[box])
		snprintf(id, FAB_ANCHOR_BYTES, "p%u", box);
	else
		snprintf(id, FAB_ANCHOR_BYTES, "s%u", s);
	return true;
}

/* ---- the lines ---- */

static double middle_x(struct spot s)
{
	return s.x + s.w / 2;
}

static double middle_y(struct spot s)
{
	return s.y + s.h / 2;
}

/* The class of a load, 0: none or unknown. */
static int class_of(const struct fab_drawing *d, double load)
{
	if (!(load > 0) || !(d->most_load > 0))
		return 0;
	return (int)fmax(1, ceil(load / d->most_load * LOAD_CLASSES - 1e-9));
}

/* From one to the other: straight between rows, an arc within one. */
static void put_path(const struct fab_drawing *d, FILE *out, struct spot a, struct spot b,
		     const char *class, int number)
{
	double ax = middle_x(a), bx = middle_x(b), ay = middle_y(a), by = middle_y(b);

	fprintf(out, "<path class=\"%s", class);
	if (number >= 0)
		fprintf(out, "l%d", number);
	if (!d->angle && fabs(ay - by) < fmax(a.h, b.h)) {
		double up = a.y - fmin(40, fabs(ax - bx) / 4 + 0.2 * a.h);

		fprintf(out, "\" d=\"M%.6g %.6gQ%.6g %.6g %.6g %.6g\">", ax, a.y,
			(ax + bx) / 2, up, bx, b.y);
		return;
	}
	if (!d->angle) {
		ay += (ay < by ? a.h : -a.h) / 2;
		by += (ay < by ? -b.h : b.h) / 2;
	}
	fprintf(out, "\" d=\"M%.6g %.6gL%.6g %.6g\">", ax, ay, bx, by);
}

static void put_name(FILE *out, const struct fab_fabric *f, uint32_t sw)
{
	char label[FAB_LABEL_SIZE];

	fab_html_put(out, fab_label_short(fab_node_name(f, sw), label, sizeof(label)));
}

/* "leaf1:3 - spine2:5, 4xHDR, 37 trees" */
static void put_cable(const struct fab_drawing *d, FILE *out, uint32_t cable)
{
	const struct fab_fabric *f = d->f;
	uint32_t a = f->cable_a[cable], b = f->cable_b[cable];
	uint8_t speed = fab_cable_speed(f, cable), width = fab_cable_width(f, cable);

	put_name(out, f, f->port_node[a]);
	fprintf(out, ":%u - ", f->port_num[a]);
	put_name(out, f, f->port_node[b]);
	fprintf(out, ":%u", f->port_num[b]);
	if (width && speed)
		fprintf(out, ", %ux%s", width, fab_speed_name(speed));
	else
		fputs(", speed unknown", out);
	if (d->load && isfinite(d->load[cable]))
		fprintf(out, ", %.4g %s", d->load[cable], d->unit);
}

/* Parallel cables of two switches, lines[i .. end - 1]. */
static void put_parallel(const struct fab_drawing *d, FILE *out, uint32_t i, uint32_t end)
{
	const struct line *l = &d->lines[i];
	double most = 0;

	for (uint32_t k = i; k < end && d->load; k++)
		most = fmax(most, d->load[d->lines[k].cable]);
	put_path(d, out, d->sw[l->sw_a], d->sw[l->sw_b], "", class_of(d, most));
	fputs("<title>", out);
	for (uint32_t k = i; k < end && k - i < MOST_CABLES; k++) {
		if (k > i)
			putc('\n', out);
		put_cable(d, out, d->lines[k].cable);
	}
	if (end - i > MOST_CABLES)
		fprintf(out, "\nand %u more", end - i - MOST_CABLES);
	fputs("</title></path>\n", out);
}

/* A box by its number, for lines: "pod leaf-0 .. leaf-19". */
static void put_box_name(const struct fab_drawing *d, FILE *out, uint32_t box)
{
	const struct fab_box *b = &d->boxes.v[box];

	put_name(out, d->f, b->first);
	if (b->last != b->first) {
		fputs(" .. ", out);
		put_name(out, d->f, b->last);
	}
}

/* All cables between two boxes, lines[i .. end - 1], as one line. */
static void put_sum(const struct fab_drawing *d, FILE *out, uint32_t i, uint32_t end)
{
	const struct line *l = &d->lines[i];
	double least = INFINITY, most = 0;

	for (uint32_t k = i; k < end && d->load; k++) {
		double load = d->load[d->lines[k].cable];

		most = fmax(most, load);
		least = fmin(least, isnan(load) ? 0 : load);
	}
	put_path(d, out, d->box[l->box_a], d->box[l->box_b], "sum ", class_of(d, most));
	fputs("<title>", out);
	put_box_name(d, out, l->box_a);
	fputs(" - ", out);
	put_box_name(d, out, l->box_b);
	fprintf(out, ": %u cable%s", end - i, end - i == 1 ? "" : "s");
	if (d->load)
		fprintf(out, ", %.4g to %.4g %s each", least, most, d->unit);
	fputs("</title></path>\n", out);
}

/* All cables between two boxes, lines[i .. end - 1]: as one line, and as one for each two
 * switches where a box can be opened. */
static void put_bundle(const struct fab_drawing *d, FILE *out, uint32_t i, uint32_t end)
{
	const struct line *l = &d->lines[i];
	uint32_t a = l->box_a, b = l->box_b;
	bool has_parts = d->is_open[a] || d->is_open[b];

	if (!is_pod(d, a) && !is_pod(d, b)) {
		put_parallel(d, out, i, end);
		return;
	}
	if (has_parts)
		fprintf(out, "<g class=\"e\" data-a=\"%c%u\" data-b=\"%c%u\">\n",
			is_pod(d, a) ? 'p' : 's', is_pod(d, a) ? a : l->sw_a,
			is_pod(d, b) ? 'p' : 's', is_pod(d, b) ? b : l->sw_b);
	if (a != b)
		put_sum(d, out, i, end);
	if (!has_parts)
		return;
	fputs("<g class=\"one\">\n", out);
	for (uint32_t k = i, to; k < end; k = to) {
		for (to = k; to < end && d->lines[to].sw_a == d->lines[k].sw_a &&
			     d->lines[to].sw_b == d->lines[k].sw_b;)
			to++;
		put_parallel(d, out, k, to);
	}
	fputs("</g></g>\n", out);
}

/* The fullest last, above the others. */
static void put_lines(const struct fab_drawing *d, FILE *out)
{
	fputs("<g>\n", out);
	for (int class = 0; class <= LOAD_CLASSES; class ++)
		for (uint32_t i = 0, end; i < d->n_lines; i = end) {
			const struct line *l = &d->lines[i];
			double most = 0;

			for (end = i;
			     end < d->n_lines && d->lines[end].box_a == l->box_a &&
			     d->lines[end].box_b == l->box_b;
			     end++)
				if (d->load)
					most = fmax(most, d->load[d->lines[end].cable]);
			if (class_of(d, most) == class)
				put_bundle(d, out, i, end);
		}
	fputs("</g>\n", out);
}

/* ---- the boxes ---- */

/* Hosts with cables to a switch, each once; borrowed names. */
struct names {
	FAB_VEC(const char *) plain;
	FAB_VEC(const char *) own;
};

static void find_hosts(const struct fab_drawing *d, uint32_t sw, struct names *names)
{
	const struct fab_fabric *f = d->f;
	uint32_t last = FAB_NONE;

	names->plain.n = names->own.n = 0;
	FAB_EACH_PORT(f, sw, p) {
		uint32_t peer = fab_port_peer(f, p), host;

		host = peer == FAB_NONE ? FAB_NONE : f->node_host[f->port_node[peer]];
		if (host == FAB_NONE || host == last)
			continue;
		last = host;
		FAB_PUSH(&names->plain, d->boxes.names.of_host[host]);
		FAB_PUSH(&names->own, fab_host_name(f, host));
	}
}

/* The text of a switch, and names of its hosts for the search. */
static void begin_switch(const struct fab_drawing *d, FILE *out, uint32_t sw,
			 const char *class, struct names *names, size_t *host_bytes)
{
	const struct fab_fabric *f = d->f;
	const char *name = fab_node_name(f, sw);
	char label[FAB_LABEL_SIZE];

	find_hosts(d, sw, names);
	fprintf(out, "<g class=\"%s\" id=\"s%u\"", class, sw);
	if (names->own.n && *host_bytes < MOST_HOST_BYTES) {
		fputs(" data-h=\"", out);
		for (size_t i = 0; i < names->own.n; i++) {
			if (i)
				putc(' ', out);
			fab_html_put(out, names->own.v[i]);
			*host_bytes += strlen(names->own.v[i]) + 1;
		}
		putc('"', out);
	}
	fputs("><title>", out);
	fab_label_short(name, label, sizeof(label));
	fab_html_put(out, label);
	if (strcmp(label, name) != 0) {
		fputs(" (", out);
		fab_html_put(out, name);
		putc(')', out);
	}
	fprintf(out, "\nGUID 0x%016" PRIx64, f->node_guid[sw]);
	if (f->port_lid[f->node_first_port[sw]])
		fprintf(out, ", LID %u", f->port_lid[f->node_first_port[sw]]);
	if (names->plain.n) {
		FAB_AUTOFREE char *list =
			fab_hostlist_fold(names->plain.v, names->plain.n);

		fprintf(out, "\n%zu host%s: ", names->plain.n,
			names->plain.n == 1 ? "" : "s");
		fab_html_put(out, list);
	}
	fputs("</title>", out);
}

/* At most `most` characters of a text. */
static void put_cut(FILE *out, const char *text, uint32_t most)
{
	FAB_AUTOFREE char *cut = NULL;
	const char *at = text;
	size_t n;

	if (fab_display_width(text) <= most) {
		fab_html_put(out, text);
		return;
	}
	n = 0;
	for (uint32_t k = 0; k + 1 < most && at[n]; k++)
		for (n++; ((unsigned char)at[n] & 0xc0) == 0x80;)
			n++;
	cut = fab_strndup(text, n);
	fab_html_put(out, cut);
	fputs("\xe2\x80\xa6", out);
}

static bool is_flat(const struct fab_drawing *d, uint32_t box)
{
	return !d->angle && d->box[box].w > FLAT_PITCH - 12;
}

/* Lines of text in a box: side by side from below where the box is narrow, in a ring one
 * line outside. */
static void put_label(const struct fab_drawing *d, FILE *out, uint32_t box,
		      const char *const *text, uint32_t n)
{
	struct spot s = d->box[box];
	uint32_t most = (uint32_t)((is_flat(d, box) ? s.w : s.h) - 6) / CHARACTER;

	fputs("<g class=\"label\">", out);
	for (uint32_t i = 0; i < n; i++) {
		double shift = (i - (n - 1) / 2.0) * LINE;
		double x = middle_x(s), y = middle_y(s) + 4 + shift;

		if (d->angle) {
			double degrees = d->angle[box] * 180 / M_PI;
			bool is_left = degrees > 90 && degrees < 270;
			double away = RING_BOX * 0.8;

			x = middle_x(s) + away * cos(d->angle[box]);
			y = middle_y(s) + away * sin(d->angle[box]);
			fprintf(out,
				"<text font-size=\"11\"%s transform=\"translate(%.6g %.6g) rotate(%.6g)\" dy=\"4\">",
				is_left ? " text-anchor=\"end\"" : "", x, y,
				is_left ? degrees - 180 : degrees);
			most = (RING_LABEL - 10) / CHARACTER;
			n = 1;
		} else if (is_flat(d, box)) {
			fprintf(out,
				"<text font-size=\"11\" text-anchor=\"middle\" x=\"%.6g\" y=\"%.6g\">",
				x, y);
		} else if (LINE * (i + 1) <= s.w + 4) {
			x = middle_x(s) + 4 +
			    (LINE * n <= s.w + 4 ? shift : (i - 0.5) * LINE);
			fprintf(out,
				"<text font-size=\"11\" transform=\"translate(%.6g %.6g) rotate(-90)\">",
				x, s.y + s.h - 5);
		} else {
			break;
		}
		put_cut(out, text[i], most);
		fputs("</text>", out);
	}
	fputs("</g>", out);
}

static void put_rect(FILE *out, struct spot s, const char *class)
{
	fprintf(out,
		"<rect%s x=\"%.6g\" y=\"%.6g\" width=\"%.6g\" height=\"%.6g\" rx=\"%.3g\"/>",
		class, s.x, s.y, s.w, s.h, fmin(4, s.h / 8));
}

static void put_single(const struct fab_drawing *d, FILE *out, uint32_t box,
		       struct names *names, size_t *host_bytes)
{
	const struct fab_box *b = &d->boxes.v[box];
	char label[FAB_LABEL_SIZE], hosts[32];
	const char *text[] = {label, hosts};

	begin_switch(d, out, b->first, "s", names, host_bytes);
	put_rect(out, d->box[box], "");
	fab_label_short(fab_node_name(d->f, b->first), label, sizeof(label));
	snprintf(hosts, sizeof(hosts), "%zu host%s", names->own.n,
		 names->own.n == 1 ? "" : "s");
	put_label(d, out, box, text, names->own.n ? 2 : 1);
	fputs("</g>\n", out);
}

/* The switches inside of a box. */
static void put_inside(const struct fab_drawing *d, FILE *out, const uint32_t *sw,
		       uint32_t n, struct names *names, size_t *host_bytes)
{
	fputs("<g class=\"in\">\n", out);
	for (uint32_t i = 0; i < n; i++) {
		struct spot s = d->sw[sw[i]];
		double size = fmin(s.h * 0.4, s.w / 8);
		char label[FAB_LABEL_SIZE];

		begin_switch(d, out, sw[i], "s", names, host_bytes);
		put_rect(out, s, "");
		fprintf(out,
			"<text font-size=\"%.3g\" text-anchor=\"middle\" x=\"%.6g\" y=\"%.6g\">",
			size, middle_x(s), middle_y(s) + size / 3);
		put_cut(out,
			fab_label_short(fab_node_name(d->f, sw[i]), label, sizeof(label)),
			(uint32_t)(1.8 * s.w / size));
		fputs("</text></g>\n", out);
	}
	fputs("</g>", out);
}

static void put_pod(const struct fab_drawing *d, FILE *out, uint32_t box,
		    const uint32_t *sw, struct names *names, size_t *host_bytes)
{
	const struct fab_box *b = &d->boxes.v[box];
	char first[FAB_LABEL_SIZE], last[FAB_LABEL_SIZE], name[2 * FAB_LABEL_SIZE + 8];
	char switches[48];
	uint32_t n = 2;
	const char *text[4] = {first, last};
	FAB_AUTOFREE char *hosts =
		b->hosts ? fab_strndup(b->hosts, strcspn(b->hosts, "\n")) : NULL;

	fab_label_short(fab_node_name(d->f, b->first), first, sizeof(first));
	fab_label_short(fab_node_name(d->f, b->last), last, sizeof(last));
	snprintf(name, sizeof(name), "%s .. %s", first, last);
	snprintf(switches, sizeof(switches), "%u switches", b->n_switches);
	if (!is_flat(d, box)) {
		text[0] = name;
		n = 1;
	}
	text[n++] = switches;
	if (hosts)
		text[n++] = hosts;
	fprintf(out, "<g class=\"pod%s\" id=\"p%u\"><title>",
		d->is_open[box] ? " opens" : "", box);
	fab_html_put(out, name);
	fprintf(out, "\n%s", switches);
	if (b->n_lowest != b->n_switches)
		fprintf(out, ", %u of the lowest rank", b->n_lowest);
	if (b->hosts) {
		FAB_AUTOFREE char *line = fab_strdup(b->hosts);

		for (char *c = line; *c; c++)
			*c = *c == '\n' ? ' ' : *c;
		putc('\n', out);
		fab_html_put(out, line);
	}
	if (!d->is_open[box])
		fputs("\nToo many switches and cables to be opened in this page.", out);
	fputs("</title>", out);
	put_rect(out, d->box[box], " class=\"cover\"");
	put_label(d, out, box, text, n);
	if (d->is_open[box])
		put_inside(d, out, sw, b->n_switches, names, host_bytes);
	fputs("</g>\n", out);
}

static void put_boxes(const struct fab_drawing *d, FILE *out)
{
	struct names names = {0};
	size_t host_bytes = 0;

	fputs("<g>\n", out);
	for (uint32_t i = 0, end; i < d->f->n_switches; i = end) {
		uint32_t box = d->boxes.of_switch[d->sorted[i]];

		end = i + d->boxes.v[box].n_switches;
		if (is_pod(d, box))
			put_pod(d, out, box, d->sorted + i, &names, &host_bytes);
		else
			put_single(d, out, box, &names, &host_bytes);
	}
	fputs("</g>\n", out);
	FAB_FREE_ALL(names.plain.v, names.own.v);
}

/* ---- marks, legend, the whole ---- */

/* The boxes to open for a mark, each once. */
static void put_pods_of(const struct fab_drawing *d, FILE *out, const struct mark *m)
{
	uint32_t boxes[2 * MOST_PLACES], n = 0;

	for (size_t i = 0; i < 2 * m->at.n; i++) {
		uint32_t box = d->boxes.of_switch[switch_of(d, &m->at.v[i / 2], i % 2)],
			 k = 0;

		while (k < n && boxes[k] != box)
			k++;
		if (k < n || !d->is_open[box])
			continue;
		fprintf(out, "%sp%u", n ? " " : " data-p=\"", box);
		boxes[n++] = box;
	}
	if (n)
		putc('"', out);
}

static void put_mark(const struct fab_drawing *d, FILE *out, size_t i)
{
	static const double RADIUS = 9;
	const struct mark *m = &d->marks.v[i];

	for (size_t k = 0; k < m->at.n; k++)
		if (m->at.v[k].is_cable) {
			put_path(d, out, d->sw[switch_of(d, &m->at.v[k], false)],
				 d->sw[switch_of(d, &m->at.v[k], true)],
				 m->tone == FAB_TONE_BAD ? "loop" : "loop plain", -1);
			fputs("<title>", out);
			put_cable(d, out, m->at.v[k].id);
			fputs("</title></path>\n", out);
		}
	for (size_t k = 0; k < m->at.n; k++) {
		const struct place *at = &m->at.v[k];
		struct spot a = d->sw[switch_of(d, at, false)];
		struct spot b = d->sw[switch_of(d, at, true)];
		double x = (middle_x(a) + middle_x(b)) / 2,
		       y = (middle_y(a) + middle_y(b)) / 2;

		if (k && at->is_cable)
			continue; /* of a loop one */
		if (!at->is_cable && !is_pod(d, d->boxes.of_switch[at->id])) {
			x = a.x + a.w;
			y = a.y;
		}
		fprintf(out, "<a class=\"mark%s\" href=\"#f%zu\"",
			m->tone == FAB_TONE_BAD ? "" : " plain", i + 1);
		if (!k) {
			fprintf(out, " id=\"m%zu\"", i + 1);
			put_pods_of(d, out, m);
		}
		fputs("><title>", out);
		fab_html_put_short(out, m->text);
		fprintf(out,
			"</title><circle cx=\"%.6g\" cy=\"%.6g\" r=\"%g\"/><text font-size=\"10\" text-anchor=\"middle\" x=\"%.6g\" y=\"%.6g\" dy=\".35em\">%zu</text></a>\n",
			x, y, RADIUS, x, y, i + 1);
	}
}

static void put_legend(const struct fab_drawing *d, FILE *out)
{
	double last = 0;

	fputs("<figcaption>", out);
	if (d->load && d->most_load > 0) {
		fab_html_put_short(out, d->what);
		fputs(":<svg class=\"key\" viewBox=\"0 0 26 7\" aria-hidden=\"true\"><path class=\"l0\" d=\"M0 3.5H26\"/></svg>none",
		      out);
		for (int k = 1; k <= LOAD_CLASSES; k++) {
			double bound = d->most_load * k / LOAD_CLASSES;

			bound = d->is_whole ? floor(bound + 1e-9) : bound;
			if (bound > last)
				fprintf(out,
					"<svg class=\"key\" viewBox=\"0 0 26 7\" aria-hidden=\"true\"><path class=\"l%d\" d=\"M0 3.5H26\"/></svg>up to %.4g",
					k, bound);
			last = bound;
		}
		putc(' ', out);
		fab_html_put(out, d->unit);
	} else if (d->load) {
		fab_html_put_short(out, d->what);
		fputs(": none on any cable.", out);
	} else if (d->what) {
		fab_html_put_short(out, d->what);
	}
	fputs("</figcaption>\n", out);
}

static void put_list(const struct fab_drawing *d, FILE *out)
{
	char more[FAB_HUMAN_BYTES];

	if (!d->marks.n)
		return;
	fputs("<h3>Marked in the picture</h3>\n<ol class=\"marks\">\n", out);
	for (size_t i = 0; i < d->marks.n; i++) {
		const struct mark *m = &d->marks.v[i];

		fprintf(out, "<li id=\"f%zu\"%s>", i + 1,
			m->tone == FAB_TONE_BAD	   ? " class=\"bad\""
			: m->tone == FAB_TONE_WARN ? " class=\"warn\""
						   : "");
		if (m->at.n)
			fprintf(out, "<a href=\"#m%zu\">", i + 1);
		fab_html_put_short(out, m->text);
		fputs(m->at.n ? "</a></li>\n" : "</li>\n", out);
	}
	fputs("</ol>\n", out);
	if (d->n_more_marks)
		fprintf(out, "<p class=\"note\">and %s more, which are not marked.</p>\n",
			fab_human_count(d->n_more_marks, more));
}

void fab_drawing_write(const struct fab_drawing *d, FILE *out)
{
	const struct fab_fabric *f = d->f;
	uint32_t n_pods = 0, n_open = 0;
	char switches[FAB_HUMAN_BYTES], cables[FAB_HUMAN_BYTES];

	for (uint32_t b = 0; b < d->boxes.n; b++) {
		n_pods += is_pod(d, b);
		n_open += d->is_open[b];
	}
	fprintf(out,
		"<section>\n<h2 id=\"fabric\">Fabric</h2>\n<p class=\"note\">%s switch%s and %s cable%s between switches%s",
		fab_human_count(f->n_switches, switches), f->n_switches == 1 ? "" : "es",
		fab_human_count(f->n_switch_links, cables),
		f->n_switch_links == 1 ? "" : "s",
		d->boxes.has_ranks ? ", in rows by rank, the roots on top" : "");
	if (n_pods)
		fprintf(out, "; %u boxes are several switches each, %s", n_pods,
			n_open == n_pods ? "a click opens one"
			: n_open ? "a click opens one of those that are not too large"
				 : "too many to be opened here");
	fprintf(out,
		".</p>\n<figure>\n<svg id=\"map\" viewBox=\"0 0 %.6g %.6g\" role=\"group\" aria-labelledby=\"fabric\">\n",
		d->width, d->height);
	put_lines(d, out);
	put_boxes(d, out);
	fputs("<g>\n", out);
	for (size_t i = 0; i < d->marks.n; i++)
		put_mark(d, out, i);
	fputs("</g>\n</svg>\n", out);
	put_legend(d, out);
	fputs("</figure>\n", out);
	put_list(d, out);
	fputs("</section>\n", out);
}
