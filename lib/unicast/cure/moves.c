/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Trials of remedies, and cables that are moved to a free port: so that pairs get a path
 * up, then down, which they lack; or instead of being left out.
 */
#include "unicast/cure/impl.h"

#include "base/map.h"
#include "base/order.h"
#include "fabric/edit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Trials of remedies: the changed fabric is routed and analysed again, and kept if that
 * ends the loop. */

static enum fab_ends ends_of(const struct fab_cure_search *s, const struct fab_kfat *kfat)
{
	return s->options->has_ends ? s->options->ends
	       : kfat		    ? FAB_ENDS_LEAVES
				    : FAB_ENDS_HOSTS;
}

void fab_cure_tables_fini(struct fab_cure_tables *x)
{
	fab_analysis_fini(&x->j);
	fab_routes_free(x->routes);
}

int fab_cure_analyse(const struct fab_cure_search *s, const struct fab_unicast_problem *p,
		     struct fab_cure_tables *x, struct fab_err *err)
{
	const struct fab_analysis_options options = {.ends = ends_of(s, p->kfat),
						     .n_threads = p->n_threads};
	FAB_AUTO(fab_routes_free_at)
	struct fab_routes *whole =
		options.ends == FAB_ENDS_LEAVES || x->routes->column_lid
			? NULL
			: fab_routes_complete(x->routes);

	return fab_analyse(whole ? whole : x->routes, &options, &x->j, err);
}

int fab_cure_judge(const struct fab_cure_search *s, const struct fab_unicast_problem *p,
		   const struct fab_unicast_engine *engine, struct fab_cure_tables *x,
		   struct fab_err *err)
{
	int rc;

	*x = (struct fab_cure_tables){.routes = NULL};
	rc = fab_unicast_route(engine, p, &x->routes, err);
	if (rc)
		return rc;
	rc = fab_cure_analyse(s, p, x, err);
	if (rc) {
		fab_routes_free(x->routes);
		x->routes = NULL;
	}
	return rc;
}

bool fab_cure_is_proper(const struct fab_cure_search *s, uint32_t cable)
{
	const uint32_t *rank = s->ranks.rank;
	uint32_t a = rank[s->f->port_node[s->f->cable_a[cable]]];
	uint32_t b = rank[s->f->port_node[s->f->cable_b[cable]]];

	return a != FAB_NONE && b != FAB_NONE && (a + 1 == b || b + 1 == a);
}

bool fab_cure_works(const struct fab_cure_search *s, const struct fab_analysis *j,
		    uint64_t n_pairs)
{
	return j->deadlock_free && j->pairs == s->loop->pairs &&
	       j->unreachable <= s->loop->unreachable + n_pairs;
}

bool fab_cure_is_stopped(const struct fab_cure_search *s, uint64_t done, uint64_t total)
{
	return s->options->progress &&
	       s->options->progress(s->options->progress_context, done, total);
}

static unsigned port_of_entry(const struct fab_routes *r, const uint16_t *next,
			      uint32_t sw)
{
	const struct fab_fabric *f = r->f;
	uint32_t arc = f->arc_first[sw] + next[sw];

	return arc < f->arc_first[sw + 1] ? f->port_num[fab_arc_port(f, sw, arc)] : 0;
}

/* Entries with another port, of two fabrics with the same nodes. */
static uint64_t count_changed(const struct fab_routes *a, const struct fab_routes *b)
{
	uint64_t n = 0;

	if (!a->column_lid || !b->column_lid || a->n_columns != b->n_columns ||
	    a->f->n_switches != b->f->n_switches)
		return UINT64_MAX;
	for (uint32_t c = 0; c < a->n_columns; c++) {
		const uint16_t *x = fab_routes_next(a, c), *y = fab_routes_next(b, c);

		for (uint32_t s = 0; s < a->f->n_switches; s++)
			n += port_of_entry(a, x, s) != port_of_entry(b, y, s);
	}
	return n;
}

int fab_cure_keep(struct fab_cure_search *s, const struct fab_cure *cure,
		  const struct fab_cure_tables *x, struct fab_err *err)
{
	struct fab_cure c = *cure;
	int rc;

	c.entries = count_changed(s->now.routes, x->routes);
	c.max_hops = x->j.max_hops;
	c.vls = x->j.vls;
	c.valley_pairs = x->j.valley_pairs;
	rc = fab_uniform_load(x->routes, s->problem.n_threads, &c.load, err);
	if (!rc)
		FAB_PUSH(&s->out->of, c);
	return rc;
}

/* The fabric that edits leave, routed and analysed. */
struct changed {
	struct fab_fabric *f;
	struct fab_kfat *kfat;
	struct fab_cure_tables x; /* routes NULL: the algorithm does not fit */
};

static void changed_fini(struct changed *c)
{
	if (c->x.routes)
		fab_cure_tables_fini(&c->x);
	fab_kfat_free(c->kfat);
	fab_fabric_free(c->f);
}

/* Apply edits to the fabric, route and analyse what they leave; changed_fini(). EINVAL,
 * ENOENT: two edits want one port. */
static int change(const struct fab_cure_search *s, const char *edit,
		  const struct fab_unicast_engine *engine, struct changed *out,
		  struct fab_err *err)
{
	struct fab_editor *e = fab_editor_new(s->f);
	struct fab_unicast_problem p = s->problem;
	int rc = fab_editor_add(e, edit, strlen(edit), err);

	*out = (struct changed){.f = NULL};
	if (!rc)
		rc = fab_editor_finish(e, NULL, &out->f, err);
	fab_editor_free(e);
	if (rc)
		return rc;
	if (!p.kfat || fab_kfat_recognize(out->f, &out->kfat, NULL))
		out->kfat = NULL;
	p.f = out->f;
	p.kfat = out->kfat;
	if (fab_unicast_fits(engine, &p, NULL))
		return 0;
	rc = fab_cure_judge(s, &p, engine, &out->x, err);
	if (rc)
		changed_fini(out);
	return rc;
}

/* Change the fabric. 1: it is a cure and was kept if wanted, 0: it is not a cure. */
static int try_edit(struct fab_cure_search *s, const struct fab_cure *cure, bool keeps,
		    struct fab_err *err)
{
	struct changed c;
	int rc = change(s, cure->edit, cure->engine, &c, err);
	bool is_one;

	if (rc)
		return rc;
	is_one = c.x.routes && fab_cure_works(s, &c.x.j, 0);
	if (is_one && keeps)
		rc = fab_cure_keep(s, cure, &c.x, err);
	changed_fini(&c);
	return rc ? rc : is_one;
}

/* Moves. */

enum {
	MOVES_TRIED = 16, /* of single cables, on top of those before */
	MOVES_BEAM = 3,
	MOVES_SEEN = 4096, /* of single cables, of which the best are tried */
	MOVES_KEPT = 4,
	UP_MAX = 2048,	 /* switches above one that are looked at */
	PORTS_TRIED = 5, /* new switches for an end of a cable */
};

static bool has_free_port(const struct fab_fabric *f, uint32_t sw, uint16_t *port)
{
	for (uint32_t p = 1; p <= f->node_n_ports[sw]; p++) {
		if (!fab_port_is_free(f, sw, p))
			continue;
		*port = (uint16_t)p;
		return true;
	}
	return false;
}

static char *end_text(const struct fab_cure_search *s, uint32_t sw, uint16_t port)
{
	return fab_editor_end_text(s->f, s->resolver, (struct fab_socket){sw, port});
}

/* A cable from x upwards that could lead to y instead. */
struct move {
	uint32_t x, y;
	uint64_t pairs; /* that would have a path up, then down, and have none */
	uint32_t port;	/* of the cable, at its upper end */
	uint32_t n;	/* cables like it, itself included */
};

/* Fabrics on the way to a cure by moves. */
struct moved {
	char *edit; /* of the arena; NULL: the unchanged fabric */
	uint64_t channels, pairs;
};

/* A switch and those above it, by cables that go up only. Returns how many. */
static uint32_t find_above(const struct fab_cure_search *s, const struct fab_fabric *f,
			   uint32_t sw, bool *is_in, uint32_t out[UP_MAX])
{
	const uint32_t *rank = s->ranks.rank;
	uint32_t n = 1;

	memset(is_in, 0, f->n_switches * sizeof(*is_in));
	out[0] = sw;
	is_in[sw] = true;
	for (uint32_t i = 0; i < n; i++)
		FAB_EACH_ARC(f, out[i], a) {
			uint32_t v = f->arc_peer[a];

			if (rank[v] == FAB_NONE || rank[v] <= rank[out[i]] || is_in[v] ||
			    n == UP_MAX)
				continue;
			is_in[v] = true;
			out[n++] = v;
		}
	return n;
}

/* The cable of x to the rank of y of which there are most alike; false: none. */
static bool choose_cable(const struct fab_cure_search *s, const struct fab_fabric *f,
			 struct move *m)
{
	const uint32_t *rank = s->ranks.rank;

	m->n = 0;
	FAB_EACH_ARC(f, m->x, a) {
		uint32_t z = f->arc_peer[a], n = 0;

		if (rank[z] != rank[m->y])
			continue;
		FAB_EACH_ARC(f, m->x, b)
			n += f->arc_peer[b] == z;
		if (n <= m->n)
			continue;
		m->n = n;
		m->port = fab_cable_port(f, f->arc_cable[a], z);
	}
	return m->n > 0;
}

static int by_pairs(const void *a, const void *b)
{
	const struct move *x = a, *y = b;

	FAB_ORDER_BY(y, x, pairs);
	if ((x->n > 1) != (y->n > 1))
		return x->n > 1 ? -1 : 1;
	FAB_ORDER_BY(x, y, x);
	return x->y < y->y ? -1 : x->y > y->y;
}

struct moves {
	FAB_VEC(struct move) of;
	struct fab_map64 *at; /* by x and y */
	bool *has_free_port;  /* [n_switches] */
};

/* Cables from those above `from` to those above `to`. */
static void add_moves(const struct fab_cure_search *s, const struct fab_fabric *f,
		      const uint32_t *from, uint32_t n_from, const uint32_t *to,
		      uint32_t n_to, uint64_t pairs, struct moves *out)
{
	const uint32_t *rank = s->ranks.rank;

	for (uint32_t i = 0; i < n_from; i++)
		for (uint32_t k = 0; k < n_to; k++) {
			struct move m = {.x = from[i], .y = to[k]};
			uint64_t key = (uint64_t)m.x << 32 | m.y;
			uint32_t at;

			if (rank[m.y] != rank[m.x] + 1 || !out->has_free_port[m.y])
				continue;
			at = fab_map64_get(out->at, key);
			if (at == FAB_NONE) {
				if (out->of.n == MOVES_SEEN || !choose_cable(s, f, &m))
					continue;
				at = (uint32_t)out->of.n;
				fab_map64_set(out->at, key, at);
				FAB_PUSH(&out->of, m);
			}
			out->of.v[at].pairs += pairs;
		}
}

/* Moves after which pairs that turn up again, because nothing above joins them, need not:
 * those for most pairs first. */
static void find_moves(const struct fab_cure_search *s, const struct fab_fabric *f,
		       const struct fab_analysis *j, struct moves *out)
{
	uint32_t(*above)[UP_MAX] = fab_alloc(2, sizeof(*above));
	bool *is_in[2];

	*out = (struct moves){.at = fab_map64_new(64)};
	out->has_free_port = FAB_NEW((size_t)f->n_switches + 1, bool);
	for (uint32_t u = 0; u < f->n_switches; u++)
		out->has_free_port[u] = has_free_port(f, u, &(uint16_t){0});
	for (int k = 0; k < 2; k++)
		is_in[k] = FAB_NEW((size_t)f->n_switches + 1, bool);
	for (size_t i = 0; i < j->valleys.n; i++) {
		const struct fab_pairs *pairs = &j->valleys.v[i];
		uint32_t n[2];
		bool is_joined = false;

		n[0] = find_above(s, f, pairs->from, is_in[0], above[0]);
		n[1] = find_above(s, f, pairs->to, is_in[1], above[1]);
		for (uint32_t u = 0; u < f->n_switches && !is_joined; u++)
			is_joined = is_in[0][u] && is_in[1][u];
		if (is_joined)
			continue;
		for (int k = 0; k < 2; k++)
			add_moves(s, f, above[k], n[k], above[!k], n[!k], pairs->pairs,
				  out);
	}
	FAB_SORT(&out->of, by_pairs);
	fab_map64_free(out->at);
	free(out->has_free_port);
	for (int k = 0; k < 2; k++)
		free(is_in[k]);
	free(above);
}

static int by_rest(const void *a, const void *b)
{
	const struct moved *x = a, *y = b;

	FAB_ORDER_BY(x, y, channels);
	FAB_ORDER_BY(x, y, pairs);
	return strcmp(x->edit, y->edit);
}

struct moved_list {
	FAB_VEC(struct moved) of;
};

/* One more move on top of `from`, whose fabric and analysis are given: cures are kept,
 * the others added to *next. */
static int extend_moves(struct fab_cure_search *s, const struct moved *from,
			const struct fab_fabric *f, const struct fab_analysis *j,
			uint32_t n_cables, struct moved_list *next, struct fab_err *err)
{
	struct moves moves;
	int rc = 0;

	find_moves(s, f, j, &moves);
	for (size_t i = 0; i < moves.of.n && i < MOVES_TRIED && !rc; i++) {
		const struct move *m = &moves.of.v[i];
		uint32_t z = f->port_node[m->port];
		struct fab_cure cure = {
			.kind = FAB_CURE_MOVE, .n_cables = n_cables, .engine = s->engine};
		uint16_t port = 0;
		struct changed c;
		char *goes;
		FAB_AUTOFREE char *to = NULL;

		if (s->out->of.n >= MOVES_KEPT)
			break;
		has_free_port(f, m->y, &port);
		goes = end_text(s, z, f->port_num[m->port]);
		to = end_text(s, m->y, port);
		cure.edit = fab_arena_format(&s->out->arena, "%s%smove %s %s",
					     from->edit ? from->edit : "",
					     from->edit ? "; " : "", goes, to);
		free(goes);
		rc = change(s, cure.edit, s->engine, &c, err);
		if (rc)
			break;
		s->out->n_tried++;
		if (fab_cure_is_stopped(s, s->out->n_tried, 0))
			rc = fab_fail(err, ECANCELED, "stopped");
		else if (c.x.routes && fab_cure_works(s, &c.x.j, 0))
			rc = fab_cure_keep(s, &cure, &c.x, err);
		else if (c.x.routes)
			FAB_PUSH(&next->of,
				 ((struct moved){cure.edit, c.x.j.cycle_channels,
						 c.x.j.pairs_on_cycles}));
		changed_fini(&c);
	}
	free(moves.of.v);
	return rc;
}

int fab_cure_search_moves(struct fab_cure_search *s, struct fab_err *err)
{
	struct moved_list last = {.of = {0}};
	int rc;

	rc = extend_moves(s, &(struct moved){.edit = NULL}, s->f, s->loop, 1, &last, err);
	for (uint32_t n = 2; n <= FAB_CURE_DEPTH && !rc && !s->out->of.n && last.of.n;
	     n++) {
		struct moved_list next = {.of = {0}};

		qsort(last.of.v, last.of.n, sizeof(*last.of.v), by_rest);
		for (size_t i = 0; i < last.of.n && i < MOVES_BEAM && !rc; i++) {
			struct changed c;

			rc = change(s, last.of.v[i].edit, s->engine, &c, err);
			if (rc)
				break;
			rc = extend_moves(s, &last.of.v[i], c.f, &c.x.j, n, &next, err);
			changed_fini(&c);
		}
		free(last.of.v);
		last = next;
	}
	free(last.of.v);
	if (s->out->of.n)
		s->most_cables = s->out->of.v[0].n_cables;
	return rc;
}

/* A switch that an end of a cable could go to. */
struct place {
	uint32_t sw;
	uint32_t joined; /* cables that it has with the other end */
	uint32_t near;	 /* ways from there over two switches */
};

/* Few cables so far, many that are like it. */
FAB_ORDER_MIXED(by_place, struct place, FAB_UP(joined) FAB_DOWN(near) FAB_UP(sw))

/* Switches that an end of a cable could go to, of which the other end is at `stays`: of
 * one rank above or below, near, with a free port; those with fewest cables to it first.
 */
static size_t find_places(const struct fab_cure_search *s, uint32_t stays,
			  uint32_t leaves, struct place out[PORTS_TRIED])
{
	const struct fab_fabric *f = s->f;
	FAB_AUTOFREE uint32_t *near = FAB_NEW0((size_t)f->n_switches + 1, uint32_t);
	FAB_AUTOFREE uint32_t *joined = FAB_NEW0((size_t)f->n_switches + 1, uint32_t);
	FAB_AUTOFREE FAB_VEC(struct place) list = {.n = 0};
	uint16_t port;
	size_t n;

	FAB_EACH_ARC(f, stays, a) {
		uint32_t v = f->arc_peer[a];

		joined[v]++;
		near[v]++;
		/* switches other than its neighbours: two cables on */
		FAB_EACH_ARC(f, v, b) {
			uint32_t w = f->arc_peer[b];

			FAB_EACH_ARC(f, w, c)
				near[f->arc_peer[c]]++;
		}
	}
	for (uint32_t w = 0; w < f->n_switches; w++) {
		uint32_t up = s->ranks.rank[w], own = s->ranks.rank[stays];

		if (near[w] && w != stays && w != leaves && up != FAB_NONE &&
		    own != FAB_NONE && (up == own + 1 || up + 1 == own) &&
		    has_free_port(f, w, &port))
			FAB_PUSH(&list, ((struct place){w, joined[w], near[w]}));
	}
	n = list.n < PORTS_TRIED ? list.n : PORTS_TRIED;
	FAB_SORT(&list, by_place);
	for (size_t i = 0; i < n; i++)
		out[i] = list.v[i];
	return n;
}

/* "move A:40 B:39" instead of leaving cable number i of the set out, the others as
 * edits[] has them; the first that works. */
static int move_cable(struct fab_cure_search *s, const struct fab_cure_set *set, size_t i,
		      char **edits, struct fab_err *err)
{
	const struct fab_fabric *f = s->f;
	uint32_t cable = set->cables[i];
	const uint32_t ends[2] = {f->cable_a[cable], f->cable_b[cable]};
	char *old = edits[i];
	int rc = 0;

	for (int k = 0; k < 2 && !rc; k++) {
		uint32_t goes = ends[k], stays = f->port_node[ends[!k]];
		struct place places[PORTS_TRIED];
		size_t n = find_places(s, stays, f->port_node[goes], places);
		FAB_AUTOFREE char *from =
			end_text(s, f->port_node[goes], f->port_num[goes]);

		for (size_t m = 0; m < n && !rc; m++) {
			struct fab_cure cure = {.engine = s->engine};
			char *text = NULL;
			FAB_AUTOFREE char *to = NULL;
			uint16_t port = 0;

			has_free_port(f, places[m].sw, &port);
			to = end_text(s, places[m].sw, port);
			edits[i] =
				fab_arena_format(&s->out->arena, "move %s %s", from, to);
			for (size_t e = 0; e < set->n; e++)
				fab_append(&text, "; ", "%s", edits[e]);
			cure.edit = text;
			rc = try_edit(s, &cure, false, err);
			/* two cables may have been given the same port */
			if (rc == -EINVAL || rc == -ENOENT)
				rc = 0;
			free(text);
		}
	}
	if (!rc)
		edits[i] = old;
	return rc < 0 ? rc : 0;
}

int fab_cure_keep_set(struct fab_cure_search *s, const struct fab_cure_set *set,
		      bool moves, struct fab_err *err)
{
	struct fab_cure cure = {.kind = FAB_CURE_REMOVE,
				.n_cables = (uint32_t)set->n,
				.n_proper = (uint32_t)set->n_proper,
				.engine = s->engine};
	char *edits[FAB_CURE_DEPTH];
	FAB_AUTOFREE char *text = NULL;
	size_t n_moved = 0;
	int rc = 0;

	for (size_t i = 0; i < set->n; i++) {
		uint32_t port = s->f->cable_a[set->cables[i]];
		FAB_AUTOFREE char *end =
			end_text(s, s->f->port_node[port], s->f->port_num[port]);

		edits[i] = fab_arena_format(&s->out->arena, "remove %s", end);
	}
	for (size_t i = 0; i < set->n && moves && !rc; i++)
		rc = move_cable(s, set, i, edits, err);
	for (size_t i = 0; i < set->n; i++) {
		n_moved += *edits[i] == 'm';
		fab_append(&text, "; ", "%s", edits[i]);
	}
	cure.edit = fab_arena_strdup(&s->out->arena, text);
	if (n_moved == set->n)
		cure.kind = FAB_CURE_MOVE;
	if (!rc && (!moves || n_moved))
		rc = try_edit(s, &cure, true, err);
	return rc < 0 ? rc : 0;
}
