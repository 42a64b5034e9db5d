/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lanes of the paths that are not plain, in three ways: path by path in the lowest
 * service level with a word of lanes that closes no cycle (vtftr_ib_place()); by the
 * direction of turns (vtftr_ib_order_turns()); by phases, packed (vtftr_ib_pack()). Lane
 * 0 is the last round, where the plain paths are, lane 1 the one before it, and so on.
 */
#include "unicast/vtftr/vtftr.h"

#include "fabric/graph.h"

#include <stdlib.h>
#include <string.h>

enum { SEGMENTS_MAX = 12 };

/*
 * The dependencies of a column's paths, from one arc to the next: each that no other path
 * of the column had before is handed to `take`, until that returns false. Paths are those
 * of the kinds in `kinds`, 1 << enum fab_path_kind.
 */
struct path_walk {
	const struct vtftr_ib *v;
	unsigned kinds;
	bool (*take)(void *context, uint32_t from, uint32_t to);
	void *context;
	uint32_t *walked; /* [switches], 0 at first */
	uint32_t stamp;	  /* 0 at first */
};

/* False: `take` returned it. O(switches). */
static bool walk_paths(struct path_walk *w, uint32_t column)
{
	const struct fab_routes *r = w->v->routes;
	const struct fab_fabric *f = r->f;
	const uint16_t *next = r->next + (size_t)column * f->n_switches;

	w->stamp++;
	if (!w->v->path[column] && !(w->kinds >> FAB_PATH_PLAIN & 1))
		return true;
	for (uint32_t s = 0; s < r->n_leaves; s++) {
		uint32_t sw = r->leaf[s], in = FAB_NONE;

		if (!(w->kinds >> vtftr_ib_kind(w->v, column, s) & 1))
			continue;
		while (next[sw] < FAB_ARC_BROKEN) {
			uint32_t out = f->arc_first[sw] + next[sw];

			if (in != FAB_NONE && !w->take(w->context, in, out))
				return false;
			if (w->walked[sw] == w->stamp)
				break; /* the rest was walked before */
			w->walked[sw] = w->stamp;
			in = out;
			sw = f->arc_peer[out];
		}
	}
	return true;
}

struct dependencies {
	const struct fab_fabric *f;
	FAB_VEC(uint32_t) from, to; /* arcs */
	uint64_t *first; /* [arcs] dependencies that arcs before it could have */
	uint64_t *known; /* bits */
};

static bool add_known(void *context, uint32_t from, uint32_t to)
{
	struct dependencies *d = context;
	uint64_t bit = d->first[from] + to - d->f->arc_first[d->f->arc_peer[from]];

	if (d->known[bit / 64] >> bit % 64 & 1)
		return true;
	d->known[bit / 64] |= (uint64_t)1 << bit % 64;
	FAB_PUSH(&d->from, from);
	FAB_PUSH(&d->to, to);
	return true;
}

bool vtftr_ib_fits_one_lane(const struct vtftr_ib *v)
{
	const struct fab_fabric *f = v->routes->f;
	uint32_t n_arcs = f->arc_first[f->n_switches];
	FAB_AUTO(fab_arena_free) struct fab_arena arena = FAB_ARENA_INIT;
	struct dependencies d = {.f = f,
				 .first = FAB_ARENA_NEW(&arena, n_arcs + 1U, uint64_t)};
	struct path_walk walk = {
		.v = v,
		.kinds = 1 << FAB_PATH_PHASED | 1 << FAB_PATH_LEFT,
		.take = add_known,
		.context = &d,
		.walked = FAB_ARENA_NEW0(&arena, f->n_switches + 1U, uint32_t)};
	FAB_AUTO(fab_graph_fini) struct fab_graph g;
	uint64_t n = fab_arc_steps(f, d.first);
	bool suffices;

	d.known = FAB_ARENA_NEW0(&arena, (size_t)(n / 64 + 1), uint64_t);
	for (uint32_t i = 0; i < v->routes->n_columns; i++)
		walk_paths(&walk, i);
	fab_graph_init(&g, n_arcs, d.from.n, d.from.v, d.to.v);
	suffices = !fab_graph_has_cycle(&g);
	free(d.from.v);
	free(d.to.v);
	return suffices;
}

/* The path at hand, and everything fixed so far. */
struct lanes {
	struct vtftr_ib *v;
	const struct fab_kfat *k;
	struct fab_arena arena;
	unsigned n_rounds;
	struct fab_sl_packer *packer;
	struct fab_channel_order *order; /* channel = arc * n_rounds + lane; NULL until
					    there is a left-over */
	uint64_t *slot_first;	 /* [arcs] of dependencies, by the port out after it */
	FAB_VEC(uint32_t) added; /* dependencies, to take them back */
	struct path_walk walk;	 /* of plain paths */
	/* the path at hand */
	uint32_t n_hops, n_segments;
	struct fab_hop hops[FAB_PATH_MAX];
	uint8_t segment_of[FAB_PATH_MAX]; /* of a hop */
	uint8_t dim[FAB_PATH_MAX];	  /* of a segment */
	uint8_t segment_lane[FAB_PATH_MAX];
	uint8_t lane[FAB_PATH_MAX]; /* of a hop */
};

/* Take the path of a source at hand: hops, and the segments that they make. False: none.
 */
static bool read_path(struct lanes *l, uint32_t source, uint32_t column)
{
	const struct fab_kfat *k = l->k;
	const struct fab_routes *r = l->v->routes;

	l->n_segments = 0;
	l->n_hops = fab_path_hops(r, r->leaf[source], column, l->hops);
	for (uint32_t i = 0; i < l->n_hops; i++) {
		uint32_t sw = l->hops[i].sw, arc = k->f->arc_first[sw] + l->hops[i].out;
		uint32_t line = k->switch_line[k->f->arc_peer[arc]];

		if (k->leaf_of[sw] != FAB_NONE)
			l->dim[l->n_segments++] =
				line == FAB_NONE ? 0 : k->line_dim[line];
		l->segment_of[i] = (uint8_t)(l->n_segments - 1);
	}
	return l->n_hops > 0;
}

static void spread_lanes(struct lanes *l)
{
	for (uint32_t i = 0; i < l->n_hops; i++)
		l->lane[i] = l->segment_lane[l->segment_of[i]];
}

/* Lanes of the phases, from the destination back, of a path in phase order. */
static void lanes_of_phases(struct lanes *l)
{
	int n_dims = (int)l->k->n_dims, phi = (int)l->n_rounds * n_dims;

	for (uint32_t segment = l->n_segments; segment-- > 0;) {
		int d = l->dim[segment];

		phi = d + (phi - 1 - d) / n_dims * n_dims;
		l->segment_lane[segment] = (uint8_t)((int)l->n_rounds - 1 - phi / n_dims);
	}
	spread_lanes(l);
}

/* The next word of lanes of segments, from all 0 on; false after the last one. */
static bool next_word(struct lanes *l)
{
	for (uint32_t segment = l->n_segments; segment-- > 0;) {
		if (++l->segment_lane[segment] < l->n_rounds)
			return true;
		l->segment_lane[segment] = 0;
	}
	return false;
}

static void drop(struct lanes *l, size_t n)
{
	while (l->added.n > n)
		fab_channel_order_drop(l->order, l->added.v[--l->added.n]);
}

/* False: it would close a cycle. */
static bool add_dependency(struct lanes *l, uint32_t from_arc, uint32_t from_lane,
			   uint32_t to_arc, uint32_t to_lane)
{
	const struct fab_fabric *f = l->k->f;
	uint32_t from = from_arc * l->n_rounds + from_lane;
	uint32_t to = to_arc * l->n_rounds + to_lane, id;
	uint32_t slot = (uint32_t)l->slot_first[from_arc] + to_arc -
			f->arc_first[f->arc_peer[from_arc]];

	if (fab_channel_order_has(l->order, slot, from, to))
		return true;
	if (fab_channel_order_add(l->order, slot, from, to, &id) == FAB_EDGE_CYCLE)
		return false;
	FAB_PUSH(&l->added, id);
	return true;
}

/* Add the dependencies of the path at hand; false: they would close a cycle. */
static bool add_path(struct lanes *l)
{
	const uint32_t *first = l->k->f->arc_first;
	size_t n_before = l->added.n;

	for (uint32_t i = 1; i < l->n_hops; i++) {
		const struct fab_hop *a = &l->hops[i - 1], *b = &l->hops[i];

		if (!add_dependency(l, first[a->sw] + a->out, l->lane[i - 1],
				    first[b->sw] + b->out, l->lane[i])) {
			drop(l, n_before);
			return false;
		}
	}
	return true;
}

static bool take_plain(void *lanes, uint32_t from, uint32_t to)
{
	return add_dependency(lanes, from, 0, to, 0);
}

/* Add those of the plain paths of a column; on false some of them are added. */
static bool add_plain(struct lanes *l, uint32_t column)
{
	return walk_paths(&l->walk, column);
}

/* Channels by phase, within a phase up before down: paths in phase order ascend. */
static uint32_t *channel_keys(struct lanes *l)
{
	const struct fab_kfat *k = l->k;
	const struct fab_fabric *f = k->f;
	size_t n = (size_t)f->arc_first[f->n_switches] * l->n_rounds;
	uint32_t *key = FAB_ARENA_NEW(&l->arena, n + 1, uint32_t);
	bool *is_low = fab_kfat_low_switches(k, &l->arena);

	for (uint32_t sw = 0; sw < f->n_switches; sw++)
		FAB_EACH_ARC(f, sw, a) {
			bool from_leaf = k->leaf_of[sw] != FAB_NONE;
			bool to_leaf = k->leaf_of[f->arc_peer[a]] != FAB_NONE;
			uint32_t line = k->switch_line[from_leaf ? f->arc_peer[a] : sw];
			uint32_t d = line == FAB_NONE ? 0 : k->line_dim[line];
			uint32_t step = from_leaf ? 0 : to_leaf ? 3 : is_low[sw] ? 1 : 2;

			for (unsigned lane = 0; lane < l->n_rounds; lane++)
				key[a * l->n_rounds + lane] =
					((l->n_rounds - 1 - lane) * k->n_dims + d) * 4 +
					step;
		}
	return key;
}

/* The order of channels with the dependencies of the plain paths, and with `phased` of
 * all in phase order. */
static void begin_order(struct lanes *l, bool phased)
{
	const struct fab_fabric *f = l->k->f;
	uint32_t n_arcs = f->arc_first[f->n_switches];
	uint32_t n_columns = l->v->routes->n_columns, n;

	l->slot_first = FAB_ARENA_NEW(&l->arena, (size_t)n_arcs + 1, uint64_t);
	/* few: tables of lanes have 16 entries for each of them */
	n = (uint32_t)fab_arc_steps(f, l->slot_first);
	l->order = fab_channel_order_new(n_arcs * l->n_rounds, channel_keys(l), n);
	for (uint32_t i = 0; i < n_columns; i++)
		add_plain(l, i);
	for (uint32_t i = 0; phased && i < n_columns; i++)
		VTFTR_IB_EACH_OTHER(l->v, i, s)
			if (vtftr_ib_kind(l->v, i, s) == FAB_PATH_PHASED &&
			    read_path(l, s, i)) {
				lanes_of_phases(l);
				add_path(l);
			}
}

/* The service level of a pair, and the numbers of levels and lanes that this makes. */
static void note_level(struct lanes *l, uint32_t source, uint32_t column, unsigned sl)
{
	struct fab_routes *r = l->v->routes;

	r->sl[(size_t)source * r->n_columns + column] = (uint8_t)sl;
	if (sl >= r->n_sls)
		r->n_sls = (uint8_t)(sl + 1);
	for (uint32_t h = 0; h < l->n_hops; h++)
		if (l->lane[h] >= r->n_vls)
			r->n_vls = (uint8_t)(l->lane[h] + 1);
}

/* Nothing fixed; service level 0 for all. */
static int lanes_init(struct lanes *l, struct vtftr_ib *v, unsigned n_rounds,
		      struct fab_err *err)
{
	int rc;

	*l = (struct lanes){.v = v, .k = v->problem->kfat, .n_rounds = n_rounds};
	rc = fab_sl_packer_new(v->routes, vtftr_ib_levels(v), &l->packer, err);
	if (rc)
		return rc;
	l->walk = (struct path_walk){
		.v = v,
		.kinds = 1 << FAB_PATH_PLAIN,
		.take = take_plain,
		.context = l,
		.walked = FAB_ARENA_NEW0(&l->arena, l->k->f->n_switches + 1U, uint32_t)};
	v->routes->n_vls = v->routes->n_sls = 1;
	return 0;
}

/* Hand the tables of lanes over to the routes. */
static void lanes_end(struct lanes *l)
{
	struct fab_routes *r = l->v->routes;

	free(r->vl_first);
	free(r->sl2vl);
	fab_sl_packer_finish(l->packer);
	fab_sl_packer_free(l->packer);
	fab_channel_order_free(l->order);
	free(l->added.v);
	fab_arena_free(&l->arena);
}

/* A pair whose path has the lanes of its phases, or is a left-over: the first word of
 * lanes that closes no cycle. */
static void pack_pair(struct lanes *l, uint32_t s, uint32_t i, bool is_left)
{
	struct vtftr_ib *v = l->v;
	unsigned sl = FAB_SL_NONE;
	bool has_word = !is_left;

	if (!read_path(l, s, i))
		return;
	if (!is_left) {
		lanes_of_phases(l);
	} else if (l->n_segments <= SEGMENTS_MAX) {
		memset(l->segment_lane, 0, l->n_segments);
		do {
			spread_lanes(l);
			has_word = add_path(l);
		} while (!has_word && next_word(l));
	}
	if (has_word)
		sl = fab_sl_packer_add(l->packer, l->hops, l->lane, l->n_hops, 1);
	if (sl == FAB_SL_NONE) {
		v->routes->sl[(size_t)s * v->routes->n_columns + i] = FAB_SL_NONE;
		v->is_stuck[vtftr_ib_leaf(v, i)] = true;
		v->n_stuck++;
		return;
	}
	note_level(l, s, i, sl);
}

static void pack_all(struct lanes *l, enum fab_path_kind kind)
{
	for (uint32_t i = 0; i < l->v->routes->n_columns; i++)
		VTFTR_IB_EACH_OTHER(l->v, i, s)
			if (vtftr_ib_kind(l->v, i, s) == kind)
				pack_pair(l, s, i, kind == FAB_PATH_LEFT);
}

int vtftr_ib_pack(struct vtftr_ib *v, unsigned n_rounds, struct fab_err *err)
{
	struct lanes l;
	int rc = lanes_init(&l, v, n_rounds, err);

	if (rc)
		return rc;
	v->n_stuck = 0;
	memset(v->is_stuck, 0, l.k->n_leaves * sizeof(*v->is_stuck));
	pack_all(&l, FAB_PATH_PHASED);
	if (v->n_left) {
		begin_order(&l, true);
		pack_all(&l, FAB_PATH_LEFT);
	}
	lanes_end(&l);
	return 0;
}

/*
 * Few service levels: path by path. Short paths, which have no choice, come first; then
 * column by column the others, and a column that needs another level is tried with other
 * tables first. Paths of two segments have one order of dimensions that is sound.
 */
enum { SHORT_SEGMENTS = 2, CHOICES = 24, HOPS_ONE_BY_ONE = 8 };

struct place {
	struct lanes l;
	struct fab_phases *phases, base; /* as the tables were grown */
	struct fab_phase_space *space;
	enum vtftr_ib_first first;
};

/* The path at hand with its lanes in that service level, if both allow it. */
static bool try_lanes(struct lanes *l, unsigned sl)
{
	if (!fab_sl_packer_fits(l->packer, l->hops, l->lane, l->n_hops, sl) ||
	    !add_path(l))
		return false;
	fab_sl_packer_add(l->packer, l->hops, l->lane, l->n_hops, sl);
	return true;
}

/* All words of lanes in a service level, in the end those that change the lane within a
 * segment. */
static bool try_level(struct lanes *l, bool phases_first, unsigned sl)
{
	if (phases_first) {
		lanes_of_phases(l);
		if (try_lanes(l, sl))
			return true;
	}
	memset(l->segment_lane, 1, l->n_segments);
	spread_lanes(l);
	if (try_lanes(l, sl))
		return true;
	memset(l->segment_lane, 0, l->n_segments);
	do {
		spread_lanes(l);
		if (try_lanes(l, sl))
			return true;
	} while (next_word(l));
	for (unsigned word = 0; l->n_hops <= HOPS_ONE_BY_ONE && word < 1U << l->n_hops;
	     word++) {
		for (uint32_t i = 0; i < l->n_hops; i++)
			l->lane[i] = word >> i & 1;
		if (try_lanes(l, sl))
			return true;
	}
	return false;
}

/* Place the paths of a column of at most max_segments in levels up to `last`. */
static bool place_paths(struct place *p, uint32_t column, uint32_t max_segments,
			unsigned last)
{
	struct lanes *l = &p->l;

	VTFTR_IB_EACH_OTHER(l->v, column, s) {
		bool phases_first = p->first == VTFTR_IB_PHASES_FIRST &&
				    vtftr_ib_kind(l->v, column, s) == FAB_PATH_PHASED;
		unsigned sl = 1;

		if (!read_path(l, s, column) || l->n_segments > max_segments)
			continue;
		if (l->n_segments > SEGMENTS_MAX)
			return false;
		while (sl <= last && !try_level(l, phases_first, sl))
			sl++;
		if (sl > last)
			return false;
		note_level(l, s, column, sl);
	}
	return true;
}

/* Another table; false: its plain paths close a cycle. */
static bool grow_column(struct place *p, uint32_t column)
{
	struct vtftr_ib *v = p->l.v;
	struct fab_routes *r = v->routes;
	uint32_t leaf = vtftr_ib_leaf(v, column);
	const struct fab_phase_rows rows = {.first = fab_routes_alternative(r, column),
					    .n = 1,
					    .next = r->next +
						    (size_t)column * r->f->n_switches};

	for (uint32_t s = 0; s < r->n_leaves; s++)
		r->sl[(size_t)s * r->n_columns + column] = 0;
	fab_phases_column(p->phases, p->space, leaf, v->is_longer[leaf], &rows,
			  v->path[column]);
	return add_plain(&p->l, column);
}

/* A column by the tables that it has, by those of other choices (along few lines first,
 * then spread; by rows and by columns alternately), in the end with one level more. */
static bool place_column(struct place *p, uint32_t column)
{
	struct lanes *l = &p->l;
	struct fab_routes *r = l->v->routes;
	unsigned most = vtftr_ib_levels(l->v) - 1;
	unsigned last = r->n_sls > 1 ? r->n_sls - 1U : 1;
	size_t n_fixed = fab_sl_packer_mark(l->packer), n_kept = l->added.n;
	uint8_t n_sls = r->n_sls, n_vls = r->n_vls;

	if (last > most)
		last = most;
	if (place_paths(p, column, UINT32_MAX, last))
		return true;
	for (uint32_t i = 0; i <= CHOICES; i++) {
		fab_sl_packer_back(l->packer, n_fixed);
		drop(l, n_kept);
		r->n_sls = n_sls;
		r->n_vls = n_vls;
		if (i == CHOICES)
			break;
		p->phases->rows_first = p->phases->plain && i % 2 == 0;
		p->phases->concentrate = i < 2;
		p->phases->salt = i / 2;
		if (grow_column(p, column) && place_paths(p, column, UINT32_MAX, last))
			return true;
	}
	*p->phases = p->base;
	return grow_column(p, column) && place_paths(p, column, UINT32_MAX, most);
}

int vtftr_ib_place(struct vtftr_ib *v, struct fab_phases *phases,
		   enum vtftr_ib_first first, bool *is_done, struct fab_err *err)
{
	struct place p = {.phases = phases, .base = *phases, .first = first};
	int rc = lanes_init(&p.l, v, phases->n_rounds, err);

	if (rc)
		return rc;
	p.space = fab_phase_space_new(phases, &p.l.arena);
	begin_order(&p.l, false);
	*is_done = true;
	for (uint32_t i = 0; i < v->routes->n_columns && *is_done; i++)
		*is_done = place_paths(&p, i, SHORT_SEGMENTS, vtftr_ib_levels(v) - 1);
	for (uint32_t i = 0; i < v->routes->n_columns && *is_done; i++)
		*is_done = !v->path[i] || place_column(&p, i);
	*phases = p.base;
	lanes_end(&p.l);
	return 0;
}

/*
 * Two service levels and three lanes for two dimensions, whatever is dead, as long as no
 * path turns more than once from the second dimension (columns) back into the first
 * (rows) or goes through two switches of a line in sequence; paths of at most three
 * segments do not.
 *
 * A path that turns from column a along a row to column b has service level 1 if b > a,
 * else 0, as all paths without such a turn. A packet's lane is its service level, but on
 * the cable from a leaf switch to the switch of its row:
 *
 *                             from an adapter   from a column
 *     service level 0                0                2
 *     service level 1                0                1
 *
 * That is a function of service level, in-port and out-port, as SL2VL tables need it.
 *
 * No cycle: nothing leads to a channel on which packets are injected into a row. Of the
 * others, those on lanes 0 and 2 are used by level 0 only, those on lane 1 by level 1
 * only, so that a cycle has channels of one level. Within a row and within a column the
 * channels of a path go up, then down, so that a cycle must turn from a column into a
 * row. There it goes over a channel of lane 2 (1), which only packets that come from a
 * column use, and each of them leaves the row at a lower (higher) column; from there the
 * cycle stays in that column until it turns again. So the columns at which it turns only
 * descend (ascend), and it never closes. That takes lines of one level of switches: in a
 * deeper line a packet that turned shares channels with injected ones behind its first
 * switch, where its lane cannot differ from theirs, and cycles were seen. It does not
 * matter at which of several switches of a row or column the channels are, plane by
 * plane.
 *
 * Where a row is whole, two levels and two lanes suffice: every pair whose direct paths
 * are dead can go along its column to that row, along the row, and along the column of
 * the destination, all on lane 1. A column there leads from other leaves to one of that
 * row or from one of that row to others, and nothing goes on from a path's last segment:
 * no cycle. Columns likewise. The engine finds its lanes without this construction.
 *
 * Whether two levels and two lanes always suffice together is open. For the 153 sets of
 * dead leaves of 4x3 and 4x4, up to symmetry, that touch every row and column and leave
 * two leaves or more, and for six of 5x5, a SAT solver found tables of shortest paths: no
 * counterexample, and no proof. Checked with this engine: 10 000 random sets each of 29
 * dead leaves of 16x16, 12 of 8x8, 7 of 5x5 and 5 of 4x4 that touch every row and column:
 * no cycle and all paths shortest, with two levels, and with two lanes.
 */
enum { ROWS, COLUMNS, LANE_TURN_DOWN = 2, LANE_TURN_UP = 1, N_LANES = 3, N_LEVELS = 2 };

/* The level of the path at hand; FAB_SL_NONE: it turns into a row more than once, or
 * changes switches of one line at a leaf. */
static unsigned level_of(const struct lanes *l)
{
	const struct fab_kfat *k = l->k;
	uint32_t n_turns = 0;
	unsigned sl = 0;

	for (uint32_t i = 1, segment = 0; i < l->n_hops; i++) {
		uint32_t last = l->n_hops - 1, from = k->leaf_of[l->hops[i].sw], to;

		if (l->segment_of[i] == segment)
			continue;
		segment = l->segment_of[i];
		if (l->dim[segment - 1] == l->dim[segment])
			return FAB_SL_NONE;
		if (l->dim[segment] != ROWS)
			continue;
		while (l->segment_of[last] > segment)
			last--;
		to = k->leaf_of[k->f->arc_peer[k->f->arc_first[l->hops[last].sw] +
					       l->hops[last].out]];
		n_turns++;
		sl = k->coord[(size_t)to * k->n_dims + ROWS] >
		     k->coord[(size_t)from * k->n_dims + ROWS];
	}
	return n_turns > 1 ? FAB_SL_NONE : sl;
}

/* Does an arc join a leaf switch and its row? */
static bool is_of_row(const struct fab_kfat *k, uint32_t arc)
{
	uint32_t line = k->switch_line[k->f->arc_peer[arc]];

	return line != FAB_NONE && k->line_dim[line] == ROWS;
}

int vtftr_ib_order_turns(struct vtftr_ib *v, bool *is_done, struct fab_err *err)
{
	const struct fab_kfat *k = v->problem->kfat;
	const uint32_t *first = k->f->arc_first;
	struct lanes l;
	int rc;

	*is_done = false;
	if (k->n_dims != 2 || k->has_deep_lines || v->problem->max_vls < N_LANES ||
	    vtftr_ib_levels(v) < N_LEVELS)
		return 0;
	rc = lanes_init(&l, v, N_LANES, err);
	if (rc)
		return rc;
	*is_done = true;
	for (uint32_t i = 0; i < v->routes->n_columns; i++)
		VTFTR_IB_EACH_OTHER(v, i, s) {
			unsigned sl = 0;

			if (!*is_done || !read_path(&l, s, i))
				continue;
			sl = level_of(&l);
			*is_done = sl != FAB_SL_NONE;
			if (*is_done)
				v->routes->sl[(size_t)s * v->routes->n_columns + i] =
					(uint8_t)sl;
		}
	/* SL2VL tables: of levels that no pair has, too */
	for (uint32_t sw = 0; *is_done && sw < k->f->n_switches; sw++) {
		uint16_t d = (uint16_t)(first[sw + 1] - first[sw]);

		for (uint32_t i = 0; i < (d + 1U) * d * N_LEVELS; i++) {
			unsigned sl = i % N_LEVELS;
			const struct fab_hop hop = {sw, (uint16_t)(i / N_LEVELS / d),
						    (uint16_t)(i / N_LEVELS % d)};
			bool turns = k->leaf_of[sw] != FAB_NONE &&
				     is_of_row(k, first[sw] + hop.out);
			bool is_injected = turns && (hop.in == d ||
						     is_of_row(k, first[sw] + hop.in));

			fab_sl_packer_set(l.packer, &hop, sl,
					  is_injected ? 0
					  : !turns    ? (uint8_t)sl
					  : sl	      ? LANE_TURN_UP
						      : LANE_TURN_DOWN);
		}
	}
	if (*is_done) {
		v->routes->n_vls = N_LANES;
		v->routes->n_sls = N_LEVELS;
	}
	lanes_end(&l);
	return 0;
}
