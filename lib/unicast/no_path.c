/* SPDX-License-Identifier: BSD-2-Clause */
#include "unicast/no_path.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "fabric/label.h"
#include "fabric/planes.h"
#include "unicast/path.h"

/* Where packets of a row come to from a switch. */
enum fate { UNSET, FOLLOWED, ARRIVES, STOPS, CIRCLES };

/* Ends on one switch that send by one row of service levels. */
struct source {
	uint32_t sw, row, n, first, second; /* the lowest two of these ends */
};

struct search {
	const struct fab_routes *r;
	const uint32_t *sw;
	struct fab_planes *planes;
	uint8_t *fate;	/* [n_switches] of the row at hand */
	uint32_t *path; /* [n_switches] scratch */
	FAB_VEC(struct source) source;
	uint32_t *source_of; /* [ends] */
	uint64_t *on_part;   /* [parts] ends */
	struct fab_no_path *out;
};

/* The arc (an id) by which a switch sends packets of a row on, FAB_NONE: it does not. */
static uint32_t arc_of(const struct fab_routes *r, const uint16_t *next, uint32_t sw)
{
	const struct fab_path p = {
		.f = r->f, .faults = r->faults, .next = next, .at = sw};

	return fab_path_out(&p);
}

/* Fates of all switches in a row. Returns a switch on a circle, FAB_NONE. */
static uint32_t follow_row(struct search *x, const uint16_t *next, uint32_t root)
{
	const struct fab_fabric *f = x->r->f;
	uint32_t on_circle = FAB_NONE;

	memset(x->fate, UNSET, f->n_switches);
	for (uint32_t s = 0; s < f->n_switches; s++) {
		uint32_t n = 0, at = s, arc = FAB_NONE;
		enum fate fate;

		while (x->fate[at] == UNSET) {
			x->fate[at] = FOLLOWED;
			x->path[n++] = at;
			arc = arc_of(x->r, next, at);
			if (arc == FAB_NONE)
				break;
			at = f->arc_peer[arc];
		}
		fate = (enum fate)x->fate[at];
		if (fate == FOLLOWED && arc == FAB_NONE)
			fate = at == root && next[at] == FAB_ARC_HERE ? ARRIVES : STOPS;
		else if (fate == FOLLOWED)
			fate = CIRCLES;
		if (fate == CIRCLES && on_circle == FAB_NONE)
			on_circle = at;
		while (n)
			x->fate[x->path[--n]] = (uint8_t)fate;
	}
	return on_circle;
}

/* The circle that packets come into from a switch, from its lowest switch on. */
static void keep_circle(struct search *x, const uint16_t *next, uint32_t sw)
{
	const struct fab_fabric *f = x->r->f;
	uint32_t lowest, at;

	for (uint32_t i = 0; i < f->n_switches; i++) /* into it, if it was not */
		sw = f->arc_peer[arc_of(x->r, next, sw)];
	lowest = at = sw;
	do {
		lowest = at < lowest ? at : lowest;
		at = f->arc_peer[arc_of(x->r, next, at)];
	} while (at != sw);
	x->out->circle.n = 0;
	at = lowest;
	do {
		uint32_t arc = arc_of(x->r, next, at);

		FAB_PUSH(&x->out->circle, arc);
		at = f->arc_peer[arc];
	} while (at != lowest);
}

static int cmp_source(const void *pa, const void *pb)
{
	const struct source *a = pa, *b = pb;

	FAB_ORDER_BY(a, b, sw);
	FAB_ORDER_BY(a, b, row);
	FAB_ORDER_BY(a, b, first);
	return 0;
}

static void make_sources(struct search *x, uint32_t n, const uint32_t *port)
{
	const struct fab_fabric *f = x->r->f;
	uint32_t *rows = x->r->sl ? fab_routes_sl_rows(x->r) : NULL;
	struct source *all = FAB_NEW((size_t)n + 1, struct source);

	for (uint32_t e = 0; e < n; e++) {
		uint32_t row = rows ? rows[f->port_node[port[e]]] : FAB_NONE;

		if (rows && row == FAB_NONE)
			row = rows[x->sw[e]];
		all[e] = (struct source){x->sw[e], row, 1, e, e};
	}
	qsort(all, n, sizeof(*all), cmp_source);
	for (uint32_t i = 0; i < n; i++) {
		struct source *last = x->source.n ? &x->source.v[x->source.n - 1] : NULL;

		if (last && last->sw == all[i].sw && last->row == all[i].row) {
			if (last->n++ == 1)
				last->second = all[i].first;
		} else {
			FAB_PUSH(&x->source, all[i]);
		}
		x->source_of[all[i].first] = (uint32_t)x->source.n - 1;
	}
	free(all);
	free(rows);
}

/* No path from ends of a source to an end. */
static void note_pair(struct search *x, const struct source *s, uint32_t to)
{
	struct fab_no_path *out = x->out;
	uint32_t from = s->first != to ? s->first : s->second;

	if (from == to)
		return;
	if (out->to == FAB_NONE || to < out->to || (to == out->to && from < out->from)) {
		out->to = to;
		out->from = from;
	}
}

/* Ends without a path to an end by a column (FAB_NONE: it has none) of the row whose
 * fates are known. */
static void count_target(struct search *x, uint32_t column, uint32_t to)
{
	const struct fab_routes *r = x->r;
	uint32_t part = x->planes->of_switch[x->sw[to]];

	for (uint32_t i = 0; i < x->planes->n; i++)
		if (!fab_planes_are_parallel(x->planes, part, i))
			x->out->pairs += x->on_part[i] - (i == part);
	for (uint32_t i = 0; i < x->source.n; i++) {
		const struct source *s = &x->source.v[i];
		bool is_own = x->source_of[to] == i;
		uint64_t pairs = s->n - is_own;
		enum fate fate = column == FAB_NONE ? STOPS : (enum fate)x->fate[s->sw];

		if (fate == ARRIVES && r->sl && s->row != FAB_NONE &&
		    r->sl[(size_t)s->row * r->n_columns + column] == FAB_SL_NONE)
			fate = STOPS;
		if (fate == ARRIVES ||
		    fab_planes_are_parallel(x->planes, part, x->planes->of_switch[s->sw]))
			continue;
		x->out->without += pairs;
		if (fate == CIRCLES)
			x->out->circling += pairs;
		note_pair(x, s, to);
	}
}

/* A column by the row that it has, and an end that it leads to; FAB_NONE: none. */
struct led {
	uint32_t row, column, end;
};

static int cmp_led(const void *pa, const void *pb)
{
	const struct led *a = pa, *b = pb;

	FAB_ORDER_BY(a, b, row);
	FAB_ORDER_BY(a, b, column);
	FAB_ORDER_BY(a, b, end);
	return 0;
}

static uint32_t row_of(const struct fab_routes *r, uint32_t column)
{
	return r->column_row && column != FAB_NONE ? r->column_row[column] : column;
}

/* All columns, and all ends with theirs, row by row. */
static void follow_all(struct search *x, const struct led *led, size_t n)
{
	const struct fab_routes *r = x->r;
	struct fab_no_path *out = x->out;
	uint32_t on_circle = FAB_NONE;

	for (size_t i = 0; i < n; i++) {
		uint32_t c = led[i].column;

		if (c != FAB_NONE && (!i || led[i].row != led[i - 1].row))
			on_circle =
				follow_row(x, fab_routes_next(r, c), r->column_switch[c]);
		if (c != FAB_NONE && on_circle != FAB_NONE &&
		    (!i || c != led[i - 1].column)) {
			out->circles++;
			if (c < out->column) {
				out->column = c;
				keep_circle(x, fab_routes_next(r, c), on_circle);
			}
		}
		if (led[i].end != FAB_NONE)
			count_target(x, c, led[i].end);
	}
}

void fab_no_path_find(const struct fab_routes *r, uint32_t n, const uint32_t *sw,
		      const uint32_t *port, struct fab_no_path *out)
{
	struct search x = {.r = r, .sw = sw, .out = out};
	uint32_t *column = fab_path_columns(r, n, sw, port);
	FAB_VEC(struct led) led = {0};

	*out = (struct fab_no_path){.from = FAB_NONE, .to = FAB_NONE, .column = FAB_NONE};
	x.planes = fab_planes_new(r->f);
	x.fate = FAB_NEW((size_t)r->f->n_switches + 1, uint8_t);
	x.path = FAB_NEW((size_t)r->f->n_switches + 1, uint32_t);
	x.source_of = FAB_NEW((size_t)n + 1, uint32_t);
	x.on_part = FAB_NEW0((size_t)x.planes->n + 1, uint64_t);
	for (uint32_t e = 0; e < n; e++)
		x.on_part[x.planes->of_switch[sw[e]]]++;
	make_sources(&x, n, port);
	for (uint32_t c = 0; c < r->n_columns; c++)
		FAB_PUSH(&led, ((struct led){row_of(r, c), c, FAB_NONE}));
	for (uint32_t e = 0; e < n; e++)
		FAB_PUSH(&led, ((struct led){row_of(r, column[e]), column[e], e}));
	if (led.n)
		qsort(led.v, led.n, sizeof(*led.v), cmp_led);
	follow_all(&x, led.v, led.n);
	free(led.v);
	free(column);
	fab_planes_free(x.planes);
	free(x.fate);
	free(x.path);
	free(x.source_of);
	free(x.on_part);
	free(x.source.v);
}

void fab_no_path_fini(struct fab_no_path *x)
{
	free(x->circle.v);
	*x = (struct fab_no_path){0};
}

enum { STEPS_SHOWN = 8 };

char *fab_no_path_circle_text(const struct fab_routes *r, const struct fab_no_path *x)
{
	const struct fab_fabric *f = r->f;
	char *steps = NULL, *target, *text, *lid = NULL;
	uint32_t c = x->column;

	if (c == FAB_NONE || !x->circle.n)
		return NULL;
	for (size_t i = 0; i < x->circle.n && i < STEPS_SHOWN; i++) {
		uint32_t sw = f->arc_peer[x->circle.v[i ? i - 1 : x->circle.n - 1]];
		char *name = fab_node_text(f, sw);

		fab_append(&steps, ", ", "%s:%u", name,
			   f->port_num[fab_arc_port(f, sw, x->circle.v[i])]);
		free(name);
	}
	if (x->circle.n > STEPS_SHOWN)
		fab_append(&steps, ", ", "..");
	target = fab_node_text(f, r->column_port ? f->port_node[r->column_port[c]]
						 : r->column_switch[c]);
	if (r->column_lid && r->column_lid[c])
		lid = fab_format("LID %u (%s)", r->column_lid[c], target);
	text = fab_format("LFTs send %s in a circle: %s", lid ? lid : target, steps);
	if (x->circles > 1)
		fab_append(&text, "; ", "so they do %" PRIu32 " other%s", x->circles - 1,
			   x->circles == 2 ? "" : "s");
	free(lid);
	free(target);
	free(steps);
	return text;
}
