/* SPDX-License-Identifier: BSD-2-Clause */
/* Paths through tables: of one pair, those by a cable, those that are missing, and those
 * to switches that have no column. */
#include "unicast/path.h"

#include "base/arena.h"
#include "base/num.h"
#include "base/order.h"
#include "fabric/graph.h"
#include "fabric/label.h"
#include "fabric/planes.h"
#include "unicast/routes.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

uint64_t fab_arc_steps(const struct fab_fabric *f, uint64_t *first)
{
	uint64_t n = 0;

	for (uint32_t a = 0; a < f->arc_first[f->n_switches]; a++) {
		first[a] = n;
		n += fab_degree(f, f->arc_peer[a]);
	}
	return n;
}

uint32_t fab_path_column(const struct fab_routes *r, const struct fab_endpoint *to)
{
	for (uint32_t i = 0; i < r->n_columns; i++) {
		bool by_port = r->column_port && to->port != FAB_NONE;
		uint32_t offset = 0;

		if (by_port) {
			if (r->column_port[i] == to->port &&
			    (!to->lid || !r->column_lid || !r->column_lid[i] ||
			     r->column_lid[i] == to->lid))
				return i;
			continue;
		}
		if (r->column_switch[i] != to->sw ||
		    (r->column_port &&
		     !fab_node_is_switch(r->f, r->f->port_node[r->column_port[i]])))
			continue;
		if (!r->n_alternatives || to->port == FAB_NONE)
			return i;
		if (to->lid)
			offset = to->lid - (uint32_t)r->f->port_lid[to->port];
		return i + (r->turn[to->port] + offset) % r->n_alternatives[to->sw];
	}
	return FAB_NONE;
}

uint32_t *fab_path_columns(const struct fab_routes *r, uint32_t n, const uint32_t *sw,
			   const uint32_t *port)
{
	uint32_t *column = FAB_NEW((size_t)n + 1, uint32_t);
	FAB_AUTO(fab_columns_fini) struct fab_columns columns;

	fab_columns_init(&columns, r);
	for (uint32_t i = 0; i < n; i++)
		column[i] = fab_columns_of(
			&columns,
			port[i] != FAB_NONE ? port[i] : r->f->node_first_port[sw[i]], 0);
	return column;
}

uint32_t fab_path_hops(const struct fab_routes *r, uint32_t sw, uint32_t column,
		       struct fab_hop *hops)
{
	struct fab_path p = fab_path_from(r, sw, column);

	while (p.n_hops < FAB_PATH_MAX && fab_path_hop(&p, &hops[p.n_hops]))
		;
	return fab_path_end(&p) == FAB_PATH_ARRIVES ? p.n_hops : 0;
}

int fab_trace_end_of(const struct fab_fabric *f, uint32_t port, struct fab_endpoint *out,
		     struct fab_err *err)
{
	*out = (struct fab_endpoint){
		.port = port, .node = f->port_node[port], .sw = fab_port_switch(f, port)};
	if (out->sw == FAB_NONE)
		return fab_fail(err, ENOENT,
				"port %u of \"%s\" is not cabled to a switch",
				f->port_num[port], fab_node_name(f, out->node));
	if (fab_node_is_switch(f, out->node))
		out->port = FAB_NONE;
	return 0;
}

int fab_trace_pair(const struct fab_fabric *f, const struct fab_lookup *lookup,
		   const char *text, struct fab_endpoint ends[2], struct fab_err *err)
{
	FAB_AUTO(fab_planes_free_at) struct fab_planes *planes = NULL;
	struct fab_item pair[2];
	uint32_t ports[2];
	FAB_AUTOFREE char *apart = NULL;
	int rc = fab_list_pair(text, strlen(text), ",", pair, err);

	for (int i = 0; i < 2 && !rc; i++) {
		const struct fab_item *name = &pair[i];
		uint64_t lid;

		rc = lookup->find(lookup->of, name, &ports[i], err);
		if (!rc)
			rc = fab_trace_end_of(f, ports[i], &ends[i], err);
		if (!rc && !name->is_quoted && name->len > 4 &&
		    !strncasecmp(name->text, "lid:", 4) &&
		    fab_parse_u64(name->text + 4, name->len - 4, 1, UINT16_MAX, &lid))
			ends[i].lid = (uint16_t)lid;
	}
	if (rc)
		return rc;
	/* Ends on two planes have no path whatever the tables are. */
	planes = fab_planes_new(f);
	apart = fab_planes_apart(planes, f, ports[0], ports[1]);
	if (apart)
		rc = fab_fail(err, EINVAL, "%s", apart);
	return rc;
}

uint8_t fab_trace_sl(const struct fab_routes *r, const struct fab_endpoint *from,
		     uint32_t column)
{
	uint8_t level = r->sl ? r->sl_default : 0;

	for (uint32_t i = 0; r->sl && i < r->n_sl_sources; i++) {
		uint32_t source = r->sl_source[i];

		/* switches come first: what the adapter has of its own counts */
		if (source == from->sw || source == from->node)
			level = r->sl[(size_t)i * r->n_columns + column];
	}
	return level;
}

static void add_hop(struct fab_trace *t, const struct fab_fabric *f, uint32_t out,
		    unsigned vl)
{
	struct fab_trace_hop hop = {out, fab_port_peer(f, out), vl};

	FAB_PUSH(&t->hops, hop);
}

/* Reasons of paths that do not arrive, by enum fab_path_end. */
static const char *const stops[] = {
	[FAB_PATH_NO_ENTRY] = "this switch has no entry for the destination",
	[FAB_PATH_BROKEN] =
		"the entry of this switch leads to no cable, or to the wrong adapter",
	[FAB_PATH_CIRCLE] = "the tables lead in a circle",
};

void fab_trace_init(struct fab_trace *t, const struct fab_routes *r,
		    const struct fab_endpoint *from, const struct fab_endpoint *to)
{
	const struct fab_fabric *f = r->f;
	uint32_t column = fab_path_column(r, to);
	/* between two ports of one switch its table decides, too */
	bool is_self = from->sw == to->sw && from->port == to->port;

	*t = (struct fab_trace){.sl = 0};
	if (is_self)
		return;
	if (from->port != FAB_NONE)
		add_hop(t, f, from->port, FAB_VL_UNKNOWN);
	if (column == FAB_NONE &&
	    (from->sw != to->sw || (to->port != FAB_NONE && r->column_port))) {
		t->stopped = "the tables have no such destination";
		return;
	}
	if (r->files && !r->files->has_sls)
		t->sl = FAB_SL_UNKNOWN;
	else if (column != FAB_NONE)
		t->sl = fab_trace_sl(r, from, column);
	if (t->sl == FAB_SL_NONE) {
		t->stopped = "the pair has no service level: no lanes without a cycle";
		return;
	}
	if (column != FAB_NONE) {
		struct fab_path path = fab_path_from(r, from->sw, column);
		bool has_lanes =
			t->sl != FAB_SL_UNKNOWN &&
			(!r->files || (r->files->has_sls && r->files->has_lanes));
		struct fab_hop hop;

		/* From switch to switch as far as the tables lead. */
		while (fab_path_hop(&path, &hop))
			add_hop(t, f, fab_arc_port(f, hop.sw, path.arc),
				has_lanes
					? fab_routes_vl(r, hop.sw, hop.in, hop.out, t->sl)
					: FAB_VL_UNKNOWN);
		t->stopped = stops[fab_path_end(&path)];
	}
	if (!t->stopped && to->port != FAB_NONE)
		add_hop(t, f, fab_port_peer(f, to->port), FAB_VL_UNKNOWN);
}

void fab_trace_fini(struct fab_trace *t)
{
	free(t->hops.v);
}

/* All paths to one destination, in the order of their distances. */

void fab_walk_init(struct fab_walk *w, const struct fab_fabric *f,
		   const struct fab_faults *faults)
{
	size_t n = (size_t)f->n_switches + 1;

	*w = (struct fab_walk){.f = f, .faults = faults};
	w->hops = FAB_ARENA_NEW(&w->arena, n, uint16_t);
	w->order = FAB_ARENA_NEW(&w->arena, n, uint32_t);
	w->arc = FAB_ARENA_NEW(&w->arena, n, uint32_t);
	w->to = FAB_ARENA_NEW(&w->arena, n, uint32_t);
	w->turns = FAB_ARENA_NEW0(&w->arena, n, uint8_t);
	w->path = FAB_ARENA_NEW(&w->arena, n, uint32_t);
}

void fab_walk_fini(struct fab_walk *w)
{
	fab_arena_free(&w->arena);
}

enum { UNSET_HOPS = 0xffff, ON_PATH = 0xfffe }; /* not followed yet; being followed */

/* The arc by which the packets of `sw` go on, FAB_NONE: they are not sent on. */
static inline uint32_t walk_arc(const struct fab_walk *w, uint32_t sw)
{
	const struct fab_fabric *f = w->f;
	uint32_t arc = f->arc_first[sw] + w->next[sw];

	return arc < f->arc_first[sw + 1] && fab_arc_is_live(w->faults, arc) ? arc
									     : FAB_NONE;
}

/* A switch that sends by an arc to one that is led to the root, as the i-th. */
static inline void settle(struct fab_walk *w, uint32_t sw, uint32_t arc, uint32_t i)
{
	uint32_t to = w->f->arc_peer[arc];
	uint16_t hops = w->hops[to];

	w->hops[sw] = hops < FAB_HOPS_NEVER - 1 ? (uint16_t)(hops + 1) : hops;
	w->order[i] = sw;
	w->arc[i] = arc;
	w->to[i] = to;
	if (w->direction) {
		unsigned direction = w->direction[arc], turns = w->turns[to];

		w->turns[sw] =
			(uint8_t)(turns | (direction & 1) | (direction & turns << 1 & 2));
	}
}

/* Follow from a switch that was not followed yet. Amortised O(1). */
static void walk_from(struct fab_walk *w, uint32_t sw)
{
	uint32_t n = 0, at = sw;

	while (at != FAB_NONE && w->hops[at] == UNSET_HOPS) {
		uint32_t arc = walk_arc(w, at);

		w->hops[at] = ON_PATH;
		w->path[n++] = at;
		at = arc != FAB_NONE ? w->f->arc_peer[arc] : FAB_NONE;
	}
	if (at != FAB_NONE && w->hops[at] < FAB_HOPS_NEVER)
		for (; n; n--)
			settle(w, w->path[n - 1], walk_arc(w, w->path[n - 1]),
			       w->n_order++);
	while (n)
		w->hops[w->path[--n]] = FAB_HOPS_NEVER;
}

bool fab_walk_all(struct fab_walk *w, const uint16_t *next, uint32_t root)
{
	struct fab_walk here; /* a copy without aliases, kept in registers */
	uint32_t i = 1;

	w->next = next;
	w->n_order = 0;
	memset(w->hops, 0xff, w->f->n_switches * sizeof(*w->hops));
	if (next[root] != FAB_ARC_HERE)
		return false;
	w->hops[root] = 0;
	w->turns[root] = 0;
	w->order[0] = root;
	/* Mostly the next switch is known already: no path to keep. */
	here = *w;
	for (uint32_t s = 0; s < here.f->n_switches; s++) {
		uint32_t arc;

		if (here.hops[s] != UNSET_HOPS)
			continue;
		arc = walk_arc(&here, s);
		if (arc != FAB_NONE &&
		    here.hops[here.f->arc_peer[arc]] < FAB_HOPS_NEVER) {
			settle(&here, s, arc, i++);
			continue;
		}
		w->n_order = i;
		walk_from(w, s);
		i = w->n_order;
	}
	w->n_order = i;
	return true;
}

/* Which pairs use a cable. */

struct use_search {
	const struct fab_routes *r;
	struct fab_columns columns;
	struct fab_walk walk;	   /* of the column at hand */
	bool *goes_through;	   /* [n_switches] */
	struct fab_cable_use *use; /* direction at hand */
	uint32_t sw, arc, end;	   /* its switch and arc; end: port of the adapter of a
				      host cable, FAB_NONE */
};

/* All senders to one port by its column whose packets take the cable; pairs without a
 * service level send none. */
static void add_target(struct use_search *s, uint32_t column, uint32_t to,
		       bool is_outward)
{
	const struct fab_fabric *f = s->r->f;
	bool has_levels = !s->r->files || s->r->files->has_sls;
	struct fab_cable_use *use = s->use;
	uint32_t receiver = f->node_host[f->port_node[to]];

	for (uint32_t c = f->n_switch_links; c < f->n_switch_links + f->n_host_links;
	     c++) {
		uint32_t from = f->cable_b[c], sw = f->port_node[f->cable_a[c]];
		const struct fab_endpoint end = {.node = f->port_node[from], .sw = sw};
		uint32_t sender = f->node_host[end.node];
		bool takes_it = s->end == FAB_NONE
					? s->goes_through[sw]
					: s->walk.hops[sw] < FAB_HOPS_NEVER &&
						  (is_outward ? to : from) == s->end;

		if (!takes_it || from == to || f->node_kind[end.node] != FAB_ADAPTER ||
		    (has_levels && fab_trace_sl(s->r, &end, column) == FAB_SL_NONE))
			continue;
		use->pairs++;
		use->n_senders += !use->sends[sender];
		use->n_receivers += !use->receives[receiver];
		use->sends[sender] = use->receives[receiver] = true;
	}
}

/* One direction: from the port `use->from`. */
static void search_use(struct use_search *s)
{
	const struct fab_fabric *f = s->r->f;
	uint32_t from = s->use->from, to = fab_port_peer(f, from);
	uint32_t a = f->port_node[from], b = f->port_node[to];
	bool is_outward = fab_node_is_switch(f, a);

	s->end = !is_outward ? from : fab_node_is_switch(f, b) ? FAB_NONE : to;
	s->sw = is_outward ? a : b;
	s->arc = 0;
	while (s->end == FAB_NONE &&
	       f->arc_cable[f->arc_first[s->sw] + s->arc] != f->port_cable[from])
		s->arc++;
	for (uint32_t c = 0; c < s->r->n_columns; c++) {
		const struct fab_routes *r = s->r;
		uint32_t sw = r->column_switch[c], port;

		if ((s->end == FAB_NONE && fab_routes_next(r, c)[s->sw] != s->arc) ||
		    !fab_walk_all(&s->walk, fab_routes_next(r, c), sw))
			continue;
		/* Switches that send through the direction at hand by this column. */
		memset(s->goes_through, false, f->n_switches * sizeof(*s->goes_through));
		for (uint32_t i = 1; i < s->walk.n_order; i++) {
			uint32_t k = s->walk.order[i];

			s->goes_through[k] = (k == s->sw && s->walk.next[k] == s->arc) ||
					     s->goes_through[s->walk.to[i]];
		}
		if (!r->column_port) {
			FAB_EACH_PORT(f, sw, p) {
				uint32_t end = fab_port_peer(f, p), n;

				if (end == FAB_NONE ||
				    f->node_kind[f->port_node[end]] != FAB_ADAPTER)
					continue;
				n = fab_port_n_lids(f, end);
				for (uint32_t k = 0; k < n; k++)
					if (fab_columns_of(&s->columns, end, k) == c)
						add_target(s, c, end, is_outward);
			}
			continue;
		}
		port = r->column_port[c];
		if (f->node_kind[f->port_node[port]] == FAB_ADAPTER &&
		    (s->end == FAB_NONE || !is_outward || port == s->end))
			add_target(s, c, port, is_outward);
	}
}

void fab_cable_use_init(struct fab_cable_use use[2], const struct fab_routes *r,
			fab_cable_id cable)
{
	const struct fab_fabric *f = r->f;
	FAB_AUTOFREE bool *goes_through = FAB_NEW(f->n_switches + 1U, bool);
	struct use_search s = {.r = r, .goes_through = goes_through};

	fab_columns_init(&s.columns, r);
	fab_walk_init(&s.walk, f, r->faults);
	for (int i = 0; i < 2; i++) {
		use[i] = (struct fab_cable_use){.from = i ? f->cable_b[cable]
							  : f->cable_a[cable],
						.sends = FAB_NEW0(f->n_hosts, bool),
						.receives = FAB_NEW0(f->n_hosts, bool)};
		s.use = &use[i];
		if (f->port_node[f->cable_a[cable]] != f->port_node[f->cable_b[cable]])
			search_use(&s);
	}
	fab_columns_fini(&s.columns);
	fab_walk_fini(&s.walk);
}

void fab_cable_use_fini(struct fab_cable_use use[2])
{
	for (int i = 0; i < 2; i++) {
		free(use[i].sends);
		free(use[i].receives);
	}
}

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
static uint32_t row_arc(const struct fab_routes *r, const uint16_t *next, uint32_t sw)
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
			arc = row_arc(x->r, next, at);
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

FAB_ORDER(cmp_source, struct source, sw, row, first)

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
		struct fab_no_path *out = x->out;
		uint32_t from;

		if (fate == ARRIVES && fab_routes_level(r, s->row, column) == FAB_SL_NONE)
			fate = STOPS;
		if (fate == ARRIVES ||
		    fab_planes_are_parallel(x->planes, part, x->planes->of_switch[s->sw]))
			continue;
		x->out->without += pairs;
		if (fate == CIRCLES)
			x->out->circling += pairs;
		/* No path from ends of a source to an end. */
		from = s->first != to ? s->first : s->second;
		if (from == to)
			continue;
		if (out->to == FAB_NONE || to < out->to ||
		    (to == out->to && from < out->from)) {
			out->to = to;
			out->from = from;
		}
	}
}

/* A column by the row that it has, and an end that it leads to; FAB_NONE: none. */
struct led {
	uint32_t row, column, end;
};

FAB_ORDER(cmp_led, struct led, row, column, end)

/* A circle of a column, which packets come into from `sw`: arcs from its lowest switch
 * on. */
static void name_circle(struct search *x, uint32_t column, uint32_t sw)
{
	const struct fab_routes *r = x->r;
	const uint16_t *next = fab_routes_next(r, column);
	const uint32_t *peer = r->f->arc_peer;
	uint32_t lowest, at;

	x->out->column = column;
	for (uint32_t k = 0; k < r->f->n_switches; k++) /* into it, if it was not */
		sw = peer[row_arc(r, next, sw)];
	lowest = at = sw;
	do {
		at = peer[row_arc(r, next, at)];
		lowest = at < lowest ? at : lowest;
	} while (at != sw);
	x->out->circle.n = 0;
	at = lowest;
	do {
		uint32_t arc = row_arc(r, next, at);

		FAB_PUSH(&x->out->circle, arc);
		at = peer[arc];
	} while (at != lowest);
}

/* All columns, and all ends with theirs, row by row. */
static void follow_all(struct search *x, const struct led *led, size_t n)
{
	const struct fab_routes *r = x->r;
	uint32_t on_circle = FAB_NONE;

	for (size_t i = 0; i < n; i++) {
		uint32_t c = led[i].column;

		if (c != FAB_NONE && (!i || led[i].row != led[i - 1].row))
			on_circle =
				follow_row(x, fab_routes_next(r, c), r->column_switch[c]);
		if (c != FAB_NONE && on_circle != FAB_NONE &&
		    (!i || c != led[i - 1].column)) {
			x->out->circles++;
			if (c < x->out->column)
				name_circle(x, c, on_circle);
		}
		if (led[i].end != FAB_NONE)
			count_target(x, c, led[i].end);
	}
}

void fab_no_path_find(const struct fab_routes *r, uint32_t n, const uint32_t *sw,
		      const uint32_t *port, struct fab_no_path *out)
{
	const struct fab_fabric *f = r->f;
	FAB_AUTO(fab_arena_free) struct fab_arena arena = FAB_ARENA_INIT;
	struct search x = {.r = r, .sw = sw, .out = out, .planes = fab_planes_new(f)};
	FAB_AUTOFREE uint32_t *column = fab_path_columns(r, n, sw, port);
	FAB_AUTOFREE uint32_t *rows = fab_routes_sl_rows(r);
	struct source *all = FAB_ARENA_NEW(&arena, (size_t)n + 1, struct source);
	size_t n_led = (size_t)r->n_columns + n;
	struct led *led = FAB_ARENA_NEW(&arena, n_led + 1, struct led);

	*out = (struct fab_no_path){.from = FAB_NONE, .to = FAB_NONE, .column = FAB_NONE};
	x.fate = FAB_ARENA_NEW(&arena, (size_t)f->n_switches + 1, uint8_t);
	x.path = FAB_ARENA_NEW(&arena, (size_t)f->n_switches + 1, uint32_t);
	x.source_of = FAB_ARENA_NEW(&arena, (size_t)n + 1, uint32_t);
	x.on_part = FAB_ARENA_NEW0(&arena, (size_t)x.planes->n + 1, uint64_t);
	for (uint32_t e = 0; e < n; e++) {
		uint32_t row = rows[f->port_node[port[e]]];

		x.on_part[x.planes->of_switch[sw[e]]]++;
		all[e] = (struct source){sw[e], row != FAB_NONE ? row : rows[sw[e]], 1, e,
					 e};
	}
	qsort(all, n, sizeof(*all), cmp_source);
	for (uint32_t i = 0; i < n; i++) {
		struct source *last = x.source.n ? &x.source.v[x.source.n - 1] : NULL;

		if (last && last->sw == all[i].sw && last->row == all[i].row) {
			if (last->n++ == 1)
				last->second = all[i].first;
		} else {
			FAB_PUSH(&x.source, all[i]);
		}
		x.source_of[all[i].first] = (uint32_t)x.source.n - 1;
	}
	for (size_t i = 0; i < n_led; i++) {
		uint32_t end = i < r->n_columns ? FAB_NONE : (uint32_t)i - r->n_columns;
		uint32_t c = end == FAB_NONE ? (uint32_t)i : column[end];

		led[i] = (struct led){
			r->column_row && c != FAB_NONE ? r->column_row[c] : c, c, end};
	}
	if (n_led)
		qsort(led, n_led, sizeof(*led), cmp_led);
	follow_all(&x, led, n_led);
	fab_planes_free(x.planes);
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
	char *text;
	FAB_AUTOFREE char *steps = NULL, *target = NULL, *lid = NULL;
	uint32_t c = x->column;

	if (c == FAB_NONE || !x->circle.n)
		return NULL;
	for (size_t i = 0; i < x->circle.n && i < STEPS_SHOWN; i++) {
		uint32_t sw = f->arc_peer[x->circle.v[i ? i - 1 : x->circle.n - 1]];
		FAB_AUTOFREE char *name = fab_node_text(f, sw);

		fab_append(&steps, ", ", "%s:%u", name,
			   f->port_num[fab_arc_port(f, sw, x->circle.v[i])]);
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
	return text;
}

/* A column to `root` from that of a neighbour. */
static void fill_column(const struct fab_routes *r, const uint32_t *column_of,
			const uint32_t *entries, uint32_t root, uint16_t *next)
{
	FAB_AUTO(fab_arena_free) struct fab_arena arena = FAB_ARENA_INIT;
	const struct fab_fabric *f = r->f;
	const struct fab_graph g = fab_graph_of_arcs(f);
	size_t n_switches = (size_t)f->n_switches + 1;
	uint32_t *dist = FAB_ARENA_NEW(&arena, n_switches, uint32_t);
	uint32_t *order = FAB_ARENA_NEW(&arena, n_switches, uint32_t);
	uint32_t *by = FAB_ARENA_NEW(&arena, n_switches, uint32_t);
	uint32_t back = 0, column = FAB_NONE, n = 0, n_led;
	struct fab_walk walk;

	for (uint32_t s = 0; s < f->n_switches; s++)
		next[s] = FAB_ARC_NONE;
	/* The neighbour whose column has the most entries; back: the arc from there. */
	FAB_EACH_ARC(f, root, a) {
		uint32_t c = column_of[f->arc_peer[a]];

		if (c == FAB_NONE || !fab_arc_is_live(r->faults, a) ||
		    (column != FAB_NONE && entries[c] <= entries[column]))
			continue;
		column = c;
		back = f->arc_reverse[a];
	}
	if (column != FAB_NONE) {
		uint32_t leaf = r->column_switch[column];

		memcpy(next, r->next + (size_t)column * f->n_switches,
		       f->n_switches * sizeof(*next));
		next[leaf] = (uint16_t)back;
	}
	/* Give the switches that are not led to `root` the shortest path to one that is.
	 */
	next[root] = FAB_ARC_HERE;
	fab_walk_init(&walk, f, r->faults);
	fab_walk_all(&walk, next, root);
	for (uint32_t s = 0; s < f->n_switches; s++)
		if (walk.hops[s] < FAB_HOPS_NEVER)
			order[n++] = s;
	n_led = n;
	n = fab_graph_search(&g, r->faults ? r->faults->arc_is_dead : NULL, n, dist,
			     order, by);
	for (uint32_t s = 0; s < f->n_switches; s++)
		if (dist[s])
			next[s] = FAB_ARC_NONE;
	for (uint32_t i = n_led; i < n; i++)
		next[order[i]] = f->arc_reverse[by[order[i]]];
	fab_walk_fini(&walk);
}

static void *copy_of(const void *from, size_t n, size_t size)
{
	void *to;

	if (!from)
		return NULL;
	to = fab_alloc(n + 1, size);
	memcpy(to, from, n * size);
	return to;
}

struct fab_routes *fab_routes_complete(const struct fab_routes *r)
{
	const struct fab_fabric *f = r->f;
	uint32_t n = r->n_columns;
	uint32_t n_switches = f->n_switches;
	FAB_AUTOFREE uint32_t *column_of = fab_none_new((size_t)n_switches + 1);
	FAB_AUTOFREE uint32_t *entries = FAB_NEW0((size_t)n + 1, uint32_t);
	struct fab_routes *to;

	for (uint32_t c = r->n_columns; c-- > 0;)
		column_of[r->column_switch[c]] = c;
	for (uint32_t s = 0; s < f->n_switches; s++)
		n += column_of[s] == FAB_NONE && fab_switch_is_live(r->faults, s);
	to = fab_routes_new(f, r->faults, n);
	memcpy(to->column_switch, r->column_switch,
	       r->n_columns * sizeof(*r->column_switch));
	memcpy(to->next, r->next, (size_t)r->n_columns * n_switches * sizeof(*r->next));
	to->turn = copy_of(r->turn, r->f->n_ports, sizeof(*r->turn));
	to->n_alternatives =
		copy_of(r->n_alternatives, n_switches, sizeof(*r->n_alternatives));
	to->n_leaves = r->leaf ? r->n_leaves : r->n_columns;
	to->leaf = copy_of(r->leaf ? r->leaf : r->column_switch, to->n_leaves,
			   sizeof(*r->leaf));
	to->n_sl_sources = r->n_sl_sources;
	to->sl_source = copy_of(r->sl_source, r->n_sl_sources, sizeof(*r->sl_source));
	/* service level 0 towards new columns */
	to->sl = r->sl ? FAB_NEW0((size_t)r->n_sl_sources * n + 1, uint8_t) : NULL;
	for (uint32_t s = 0; r->sl && s < r->n_sl_sources; s++)
		memcpy(to->sl + (size_t)s * n, r->sl + (size_t)s * r->n_columns,
		       r->n_columns);
	to->lanes = r->lanes;
	to->n_vls = r->n_vls;
	to->n_sls = r->n_sls;
	to->vl_first = copy_of(r->vl_first, (size_t)n_switches + 1, sizeof(*r->vl_first));
	to->sl2vl = copy_of(r->sl2vl, r->vl_first ? r->vl_first[n_switches] : 0, 1);
	to->note = r->note ? fab_strdup(r->note) : NULL;
	to->instead = r->instead ? fab_strdup(r->instead) : NULL;
	n = r->n_columns;
	for (uint32_t c = 0; c < n; c++)
		for (uint32_t s = 0; s < n_switches; s++)
			entries[c] += fab_routes_next(r, c)[s] < FAB_ARC_BROKEN;
	for (uint32_t s = 0; s < f->n_switches; s++) {
		if (column_of[s] != FAB_NONE || !fab_switch_is_live(r->faults, s))
			continue;
		to->column_switch[n] = s;
		if (to->n_alternatives)
			to->n_alternatives[s] = 1;
		fill_column(r, column_of, entries, s,
			    to->next + (size_t)n++ * f->n_switches);
	}
	return to;
}
