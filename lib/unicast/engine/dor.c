/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Dimension order on tori, meshes and HyperX: a packet goes along the first axis until it
 * is right there, then along the second, and so on; along each by a shortest path. Axes
 * and places are those of fabric/shape.h: the largest axis first, of equal ones that
 * along which the numbers of switches step furthest (the first one of a generated
 * fabric).
 *
 * Both directions of an even ring are equally short between opposite places: which one is
 * taken alternates with the place where the packet enters the ring, in rings of six and
 * more also with the destination's places along later axes and with its LID, so that both
 * directions carry the same. Parallel cables take turns by destination.
 *
 * Tori need two lanes. A ring has two cables opposite each other, the dateline between
 * its last and its first place and another one: no path, at most half a ring long,
 * crosses both. Paths over the dateline have lane 1 along that axis from their first hop
 * on, paths over the other one lane 0; paths over neither have the lane of the one that
 * is farther. So no path crosses the dateline on lane 0 or the other on lane 1: neither
 * lane closes a circle, and channels of an axis wait for those of later axes only. Bit i
 * of the service level is the lane along the i-th axis that needs it. Rings of four need
 * no lanes, as paths of two hops begin at every second place; rings of three have no path
 * of two hops.
 *
 * dor-up goes up where both directions are equally short, as simple routers do: one
 * direction carries more, the other less. Then rings of four need lanes, too.
 *
 * Dead parts: a ring with one break is a line, which all packets follow (no circle); what
 * no line joins in this order of axes has no path.
 *
 * Source: Dally and Seitz 1987 (datelines); OpenSM's torus-2QoS has the same service
 * levels.
 */
#include "unicast/engine.h"

#include "base/arena.h"
#include "base/threads.h"
#include "fabric/shape.h"
#include "unicast/kfat/segments.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { NO_BIT = 0xff, RING_WITH_LANES = 5, RING_OF_FOUR = 4 };

enum line { PATH, RING, COMPLETE };

struct axis {
	enum line line;
	uint32_t dim;		      /* of the shape */
	uint32_t size, stride;	      /* place = sum of coordinate * stride */
	uint32_t first_exit, n_exits; /* of a switch: up and down, or by coordinate */
	uint8_t bit;		      /* of the service level, NO_BIT */
};

struct dor {
	struct fab_arena arena;
	const struct fab_fabric *f;
	const struct fab_faults *faults;
	struct fab_shape *shape;
	struct axis axis[FAB_SHAPE_DIMS_MAX];
	bool ties_go_up; /* of all rings */
	uint32_t n_axes, n_exits, n_bits;
	uint32_t *place;      /* [n_switches] */
	uint32_t *switch_at;  /* [n_switches] by place */
	uint32_t *coord;      /* [n_switches * n_axes] by place */
	uint32_t *exit_first; /* [n_exits * n_switches + 1] into exit_arc, by exit and
				 place */
	uint16_t *exit_arc;   /* live arcs of the switch */
	uint32_t *run;	      /* [n_switches * n_axes * 2] live hops up and down */
	/* No line is cut, and all exits have n_cables arcs: exits follow from
	 * coordinates. */
	bool is_regular;
	uint32_t n_ties, n_cables; /* alternatives of what is equally short, at most */
	struct fab_routes *r;
};

/* First of the live arcs by an exit, at a place; the next element is their end. */
static inline const uint32_t *arcs_by(const struct dor *x, uint32_t place, uint32_t exit)
{
	return x->exit_first + (size_t)exit * x->f->n_switches + place;
}

/* Of equal sizes the last first: that is how generators number their switches. */
static uint32_t dim_of_axis(const struct fab_shape *s, uint32_t axis)
{
	uint32_t first = axis, last = axis;

	while (first && s->dims[first - 1] == s->dims[axis])
		first--;
	while (last + 1 < s->n_dims && s->dims[last + 1] == s->dims[axis])
		last++;
	return first + last - axis;
}

static int look(struct dor *x, const struct fab_unicast_engine *self,
		const struct fab_unicast_problem *problem, struct fab_err *err)
{
	unsigned max_sls = problem->max_sls ? problem->max_sls : FAB_SLS_MAX;
	char text[256];
	const struct fab_shape *s;
	uint32_t stride = 1;

	*x = (struct dor){.f = problem->f,
			  .faults = problem->faults,
			  .ties_go_up = self == &fab_unicast_dor_up};
	x->shape = fab_shape_recognize(problem->f);
	if (x->shape->kind != FAB_SHAPE_TORUS && x->shape->kind != FAB_SHAPE_MESH &&
	    x->shape->kind != FAB_SHAPE_HYPERX)
		return fab_fail(err, EINVAL,
				"%s needs a torus, a mesh or a hyperx, the shape is %s",
				self->name,
				x->shape->kind == FAB_SHAPE_NONE
					? "none that is known"
					: fab_shape_text(x->shape, text, sizeof(text)));
	s = x->shape;
	x->n_axes = s->n_dims;
	for (uint32_t d = s->n_dims; d-- > 0;) {
		enum line line = s->kind == FAB_SHAPE_HYPERX			? COMPLETE
				 : s->kind == FAB_SHAPE_TORUS && s->dims[d] > 2 ? RING
										: PATH;

		x->axis[d] = (struct axis){.line = line,
					   .dim = dim_of_axis(s, d),
					   .size = s->dims[d],
					   .stride = stride};
		stride *= s->dims[d];
	}
	for (uint32_t d = 0; d < s->n_dims; d++) {
		struct axis *a = &x->axis[d];
		uint32_t with_lanes = x->ties_go_up ? RING_OF_FOUR : RING_WITH_LANES;
		bool is_wide = a->line == RING && a->size >= with_lanes;

		a->bit = is_wide ? (uint8_t)x->n_bits++ : NO_BIT;
		a->first_exit = x->n_exits;
		a->n_exits = a->line == COMPLETE ? a->size : 2;
		x->n_exits += a->n_exits;
	}
	if (problem->max_vls > 1 && (x->n_bits > 4 || 1u << x->n_bits > max_sls))
		return fab_fail(
			err, EINVAL,
			"%s needs 2^%" PRIu32
			" service levels, for a lane of two along each axis of long rings: there are %u",
			self->name, x->n_bits, max_sls);
	return 0;
}

static void dor_fini(struct dor *x)
{
	fab_shape_free(x->shape);
	fab_arena_free(&x->arena);
}

static int fits(const struct fab_unicast_engine *self,
		const struct fab_unicast_problem *problem, struct fab_err *err)
{
	FAB_AUTO(dor_fini) struct dor x;

	return look(&x, self, problem, err);
}

/* The lanes of packets that leave a place by an exit of axis d. */
static void set_lanes_of(const struct dor *x, uint32_t place, uint32_t d, uint32_t exit,
			 struct fab_sl_packer *packer)
{
	const uint32_t *arcs = arcs_by(x, place, exit);
	uint32_t sw = x->switch_at[place], n = (fab_degree(x->f, sw) + 1) << x->n_bits;

	for (uint32_t i = arcs[0]; i < arcs[1]; i++)
		for (uint32_t k = 0; k < n; k++) {
			unsigned sl = k & ((1u << x->n_bits) - 1);
			const struct fab_hop hop = {sw, (uint16_t)(k >> x->n_bits),
						    x->exit_arc[i]};

			fab_sl_packer_set(packer, &hop, sl, sl >> x->axis[d].bit & 1);
		}
}

/* Lanes by service level and the axis along which a packet leaves. */
static int set_lanes(const struct dor *x, struct fab_err *err)
{
	struct fab_sl_packer *packer;
	int rc = fab_sl_packer_new(x->r, 1u << x->n_bits, &packer, err);

	for (uint32_t place = 0; place < x->f->n_switches && !rc; place++)
		for (uint32_t d = 0; d < x->n_axes; d++)
			for (uint32_t i = 0; x->axis[d].bit != NO_BIT && i < 2; i++)
				set_lanes_of(x, place, d, x->axis[d].first_exit + i,
					     packer);
	if (rc)
		return rc;
	fab_sl_packer_finish(packer);
	fab_sl_packer_free(packer);
	x->r->n_vls = 2;
	x->r->n_sls = (uint8_t)(1u << x->n_bits);
	return 0;
}

/* The exit of a switch by which an arc leaves it, FAB_NONE: a cable to itself. */
static uint32_t exit_of(const struct dor *x, uint32_t sw, uint32_t arc)
{
	const uint32_t *from = x->coord + (size_t)x->place[sw] * x->n_axes;
	const uint32_t *to = x->coord + (size_t)x->place[x->f->arc_peer[arc]] * x->n_axes;

	for (uint32_t d = 0; d < x->n_axes; d++) {
		const struct axis *a = &x->axis[d];

		if (from[d] == to[d])
			continue;
		if (a->line == COMPLETE)
			return a->first_exit + to[d];
		if (a->line == PATH)
			return a->first_exit + (to[d] < from[d]);
		return a->first_exit + (to[d] != (from[d] + 1) % a->size);
	}
	return FAB_NONE;
}

/* Places of switches, and live arcs by exit. */
static void set_exits(struct dor *x)
{
	const struct fab_fabric *f = x->f;
	size_t n = (size_t)f->n_switches, n_exits = n * x->n_exits, n_used = 0;
	uint32_t n_arcs = f->arc_first[f->n_switches];
	uint32_t *exit = FAB_ARENA_NEW(&x->arena, (size_t)n_arcs + 1, uint32_t);

	x->place = FAB_ARENA_NEW0(&x->arena, n + 1, uint32_t);
	x->switch_at = FAB_ARENA_NEW(&x->arena, n + 1, uint32_t);
	x->coord = FAB_ARENA_NEW(&x->arena, n * x->n_axes + 1, uint32_t);
	for (uint32_t s = 0; s < n; s++) {
		const uint32_t *coord = x->shape->coords + (size_t)s * x->n_axes;

		for (uint32_t d = 0; d < x->n_axes; d++)
			x->place[s] += coord[x->axis[d].dim] * x->axis[d].stride;
		x->switch_at[x->place[s]] = s;
		for (uint32_t d = 0; d < x->n_axes; d++)
			x->coord[(size_t)x->place[s] * x->n_axes + d] =
				coord[x->axis[d].dim];
	}
	x->exit_first = FAB_ARENA_NEW0(&x->arena, n_exits + 2, uint32_t);
	x->exit_arc = FAB_ARENA_NEW(&x->arena, (size_t)n_arcs + 1, uint16_t);
	x->n_cables = 1;
	for (uint32_t sw = 0; sw < n; sw++)
		FAB_EACH_ARC(f, sw, a) {
			exit[a] = fab_arc_is_live(x->faults, a) ? exit_of(x, sw, a)
								: FAB_NONE;
			if (exit[a] != FAB_NONE)
				x->exit_first[exit[a] * n + x->place[sw] + 2]++;
		}
	for (size_t i = 2; i < n_exits + 2; i++) {
		n_used += x->exit_first[i] > 0;
		if (x->exit_first[i] > x->n_cables)
			x->n_cables = x->exit_first[i];
		x->exit_first[i] += x->exit_first[i - 1];
	}
	x->is_regular = n_used * x->n_cables == x->exit_first[n_exits + 1];
	for (uint32_t sw = 0; sw < n; sw++)
		FAB_EACH_ARC(f, sw, a)
			if (exit[a] != FAB_NONE)
				x->exit_arc[x->exit_first[exit[a] * n + x->place[sw] +
							  1]++] =
					(uint16_t)(a - f->arc_first[sw]);
}

/* How far live cables lead from each place in both directions of each axis. */
static void set_runs(struct dor *x)
{
	uint32_t n = x->f->n_switches;

	x->run = FAB_ARENA_NEW0(&x->arena, (size_t)n * x->n_axes * 2 + 1, uint32_t);
	for (uint32_t i = 0; i < n * x->n_axes * 2; i++) {
		uint32_t d = i / 2 % x->n_axes, place = i / 2 / x->n_axes, hops = 0;
		const struct axis *a = &x->axis[d];
		uint32_t at = x->coord[(size_t)place * x->n_axes + d], here = place;
		uint32_t line = place - at * a->stride, step = i % 2 ? a->size - 1 : 1;
		uint32_t needed = a->line == RING ? a->size
				  : i % 2	  ? at
						  : a->size - 1 - at;

		if (a->line == COMPLETE) {
			for (uint32_t k = 0; k < a->size; k++) {
				const uint32_t *arcs =
					arcs_by(x, place, a->first_exit + k);

				x->is_regular &= k == at || arcs[1] > arcs[0];
			}
			continue;
		}
		for (; hops < a->size; hops++) {
			const uint32_t *arcs = arcs_by(x, here, a->first_exit + i % 2);

			if (arcs[1] == arcs[0])
				break;
			at = (at + step) % a->size;
			here = line + at * a->stride;
		}
		x->run[i] = hops;
		x->is_regular &= hops >= needed;
	}
}

/* A column: what decides between equally short paths, its arcs and service levels. */
struct goal {
	uint32_t place, turn; /* alternative of its switch */
	uint32_t cable;	      /* number that chooses among parallel cables */
	const uint32_t *coord;
	uint16_t *next;
	uint8_t *level; /* [n_switches] by place */
};

/* Does a packet that enters a ring go down it where up is as short? */
static bool tie_goes_down(const struct dor *x, const struct goal *to, uint32_t d,
			  uint32_t from)
{
	uint32_t sum = from;

	if (x->ties_go_up)
		return false;
	if (x->axis[d].size == RING_OF_FOUR)
		return from & 1;
	for (uint32_t e = d + 1; e < x->n_axes; e++)
		sum += to->coord[e];
	return (sum + to->turn % x->n_ties) & 1;
}

/* The exit towards the goal's place along axis d, at a place that has `from` there;
 * FAB_NONE: the line is cut. */
static uint32_t exit_towards(const struct dor *x, const struct goal *to, uint32_t d,
			     uint32_t place, uint32_t from)
{
	const struct axis *a = &x->axis[d];
	const uint32_t *run = x->run + ((size_t)place * x->n_axes + d) * 2;
	uint32_t goal = to->coord[d], up = (goal + a->size - from) % a->size;
	uint32_t down = a->size - up;
	bool has_up, has_down, is_down;

	if (a->line == COMPLETE)
		return arcs_by(x, place, a->first_exit + goal)[0] <
				       arcs_by(x, place, a->first_exit + goal)[1]
			       ? a->first_exit + goal
			       : FAB_NONE;
	has_up = run[0] >= up && (a->line == RING || goal > from);
	has_down = run[1] >= down && (a->line == RING || goal < from);
	if (!has_up && !has_down)
		return FAB_NONE;
	is_down = up == down ? tie_goes_down(x, to, d, from) : down < up;
	if (!has_up || !has_down)
		is_down = has_down;
	return a->first_exit + is_down;
}

/* How far two places are on a circle. */
static uint32_t around(uint32_t a, uint32_t b, uint32_t size)
{
	uint32_t up = (a + size - b) % size;

	return up < size - up ? up : size - up;
}

/* The lane along a ring. Cable i joins the places i and i + 1; the last is the dateline.
 */
static bool takes_lane_1(const struct axis *a, uint32_t from, uint32_t goal, bool is_down)
{
	uint32_t k = a->size, dateline = k - 1, other = k / 2 - 1;
	uint32_t first = is_down ? goal : from, last = is_down ? from : goal;
	uint32_t n = (last + k - first) % k, middle = 2 * first + n - 1;
	uint32_t to_dateline, to_other;

	if ((dateline + k - first) % k < n)
		return true;
	if ((other + k - first) % k < n)
		return false;
	to_dateline = around(middle % (2 * k), 2 * dateline, 2 * k);
	to_other = around(middle % (2 * k), 2 * other, 2 * k);
	return to_dateline == to_other ? first & 1 : to_dateline > to_other;
}

/* The exit towards the goal of a place that has `from` along axis d, and the bit of its
 * lane. */
static uint32_t exit_and_bit(const struct dor *x, const struct goal *to, uint32_t d,
			     uint32_t place, uint32_t from, uint8_t *bit)
{
	const struct axis *a = &x->axis[d];
	uint32_t exit = exit_towards(x, to, d, place, from);

	*bit = 0;
	if (exit != FAB_NONE && a->bit != NO_BIT &&
	    takes_lane_1(a, from, to->coord[d], exit != a->first_exit))
		*bit = (uint8_t)(1u << a->bit);
	return exit;
}

/* The places that have `from` along axis d, and the goal's coordinate along earlier axes.
 * False: a live switch has no path. */
static bool fill_places(const struct dor *x, const struct goal *to, uint32_t d,
			uint32_t from)
{
	const struct axis *a = &x->axis[d];
	uint32_t block = to->place - to->place % (a->size * a->stride);
	uint32_t first = block + from * a->stride, n = a->stride, exit;
	const uint32_t *sw = x->switch_at + first;
	const uint32_t *corner = x->switch_at + block + to->coord[d] * n;
	const uint8_t *restrict corner_level = to->level + block + to->coord[d] * n;
	uint8_t *restrict level = to->level + first, bit;
	uint16_t *next = to->next;
	bool is_joined = true;

	if (x->is_regular) {
		const uint16_t *arc;

		exit = exit_and_bit(x, to, d, first, from, &bit);
		arc = x->exit_arc + *arcs_by(x, first, exit) + to->cable % x->n_cables;
		for (uint32_t i = 0; i < n; i++)
			next[sw[i]] = arc[(size_t)i * x->n_cables];
		for (uint32_t i = 0; i < n; i++)
			level[i] = corner_level[i] | bit;
		return true;
	}
	for (uint32_t i = 0; i < n; i++) {
		const uint32_t *arcs;

		exit = exit_and_bit(x, to, d, first + i, from, &bit);
		next[sw[i]] = FAB_ARC_NONE;
		level[i] = 0;
		if (exit == FAB_NONE || next[corner[i]] == FAB_ARC_NONE) {
			is_joined &= !fab_switch_is_live(x->faults, sw[i]);
			continue;
		}
		arcs = arcs_by(x, first + i, exit);
		next[sw[i]] = x->exit_arc[arcs[0] + to->cable % (arcs[1] - arcs[0])];
		level[i] = corner_level[i] | bit;
	}
	return is_joined;
}

/* Axes backwards: what is right along the first d axes comes before what is not. False:
 * a live switch has no path. */
static bool fill_column(const struct dor *x, const struct goal *to)
{
	bool is_joined = true;

	to->next[x->switch_at[to->place]] = FAB_ARC_HERE;
	to->level[to->place] = 0;
	for (uint32_t d = x->n_axes; d-- > 0;)
		for (uint32_t from = 0; from < x->axis[d].size; from++)
			if (from != to->coord[d])
				is_joined &= fill_places(x, to, d, from);
	return is_joined;
}

static struct goal goal_of(const struct dor *x, uint32_t column, uint8_t *level)
{
	uint32_t place = x->place[x->r->column_switch[column]];
	struct goal to = {.place = place,
			  .turn = fab_routes_alternative(x->r, column),
			  .coord = x->coord + (size_t)place * x->n_axes,
			  .next = x->r->next + (size_t)column * x->f->n_switches,
			  .level = level};

	to.cable = to.turn / x->n_ties;
	for (uint32_t d = 0; d < x->n_axes; d++)
		to.cable += to.coord[d];
	return to;
}

/* Number of columns that are filled before their service levels are copied, so that
 * adjacent bytes of a source are written together. */
enum { BLOCK = 64 };

/* All columns and their service levels. False: some pair has no path. */
static bool fill(const struct dor *x, int n_threads)
{
	struct fab_routes *r = x->r;
	size_t n = x->f->n_switches, stride = n + 64;
	bool is_cut = false;

	n_threads = fab_threads_for(n_threads, (uint64_t)r->n_columns * n * 8);
#pragma omp parallel num_threads(n_threads) reduction(|| : is_cut)
	{
		FAB_AUTOFREE uint8_t *levels = FAB_NEW(stride * BLOCK, uint8_t);

#pragma omp for schedule(dynamic, 1)
		for (uint32_t first = 0; first < r->n_columns; first += BLOCK) {
			uint32_t end = first + BLOCK < r->n_columns ? first + BLOCK
								    : r->n_columns;

			for (uint32_t c = first; c < end; c++) {
				struct goal to =
					goal_of(x, c, levels + (c - first) * stride);

				is_cut = !fill_column(x, &to) || is_cut;
			}
			for (uint32_t k = 0; r->sl && k < r->n_sl_sources; k++) {
				uint8_t *sl = r->sl + (size_t)k * r->n_columns;
				const uint8_t *level = levels + x->place[r->sl_source[k]];

				for (uint32_t c = first; c < end; c++, level += stride)
					sl[c] = *level;
			}
		}
	}
	fab_threads_rest(n_threads);
	return !is_cut;
}

static int route(const struct fab_unicast_engine *self,
		 const struct fab_unicast_problem *problem, struct fab_routes **out,
		 struct fab_err *err)
{
	FAB_AUTO(dor_fini) struct dor x;
	int rc = look(&x, self, problem, err);

	if (!rc) {
		const struct fab_fabric *f = x.f;
		uint32_t *live = FAB_ARENA_NEW(&x.arena, f->n_switches, uint32_t);
		uint32_t n_live = 0;
		struct fab_routes *r;

		set_exits(&x);
		set_runs(&x);
		/* Alternatives of what is equally short: directions and parallel cables.
		 */
		x.n_ties = 1;
		for (uint32_t d = 0; d < x.n_axes; d++)
			if (x.axis[d].bit != NO_BIT && x.axis[d].size % 2 == 0 &&
			    !x.ties_go_up)
				x.n_ties = 2;
		for (uint32_t s = 0; s < f->n_switches; s++)
			if (fab_switch_is_live(x.faults, s))
				live[n_live++] = s;
		r = x.r = fab_alternatives_new_routes(f, x.faults, live, n_live,
						      x.n_ties * x.n_cables);
		r->leaf = FAB_NEW((size_t)f->n_switches + 1, uint32_t);
		r->n_leaves = fab_destination_switches(f, x.faults, NULL, r->leaf);
		if (x.n_bits && problem->max_vls > 1) {
			/* Service levels from every live switch. */
			r->n_sl_sources = n_live;
			r->sl_source = FAB_NEW((size_t)n_live + 1, uint32_t);
			memcpy(r->sl_source, live, n_live * sizeof(*live));
			r->sl = FAB_NEW0((size_t)r->n_sl_sources * r->n_columns + 1,
					 uint8_t);
			rc = set_lanes(&x, err);
		}
	}
	if (!rc) {
		if (!fill(&x, problem->n_threads))
			x.r->note = fab_strdup(
				"the faults cut lines: pairs that the order of the axes does not join have no path");
		else if (x.n_bits && problem->max_vls < 2)
			x.r->note = fab_format(
				"rings of %s or more need two lanes, there is one",
				x.ties_go_up ? "four" : "five");
		*out = x.r;
	} else {
		fab_routes_free(x.r);
	}
	return rc;
}

const struct fab_unicast_engine fab_unicast_dor = {
	.name = "dor",
	.summary = "dimension order on a torus, mesh or hyperx, two lanes on tori",
	.manual =
		"Dimension order on a torus, a mesh or a hyperx: first axis first (the largest one; of equal ones the first one of a generated fabric), along each by a shortest path. On rings of five or more two lanes, by datelines, with a bit of the service level for each such axis, at most four. Faults are gone round only within a ring; what the order of axes does not join has no path.",
	.fits = fits,
	.route = route,
};

const struct fab_unicast_engine fab_unicast_dor_up = {
	.name = "dor-up",
	.summary = "the same, upwards where both directions of a ring are equally short",
	.manual =
		"As `dor`, but all packets go up where both directions are equally short, as in textbooks and simple routers: half-ring shifts load one direction twice as much. Rings of four need two lanes, too.",
	.fits = fits,
	.route = route,
};
