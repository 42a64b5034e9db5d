/* SPDX-License-Identifier: BSD-2-Clause */
/* Dimension order (engine_dor.c) between the grid and the columns filled from it. */
#include "unicast/engine.h"

#include "base/mem.h"
#include "base/threads.h"
#include "fabric/shape.h"
#include "unicast/kfat/segments.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { DOR_NO_BIT = 0xff, DOR_RING_WITH_LANES = 5, DOR_RING_OF_FOUR = 4 };

enum dor_line { DOR_PATH, DOR_RING, DOR_COMPLETE };

/* One axis. */
struct dor_axis {
	enum dor_line line;
	uint32_t dim;	       /* of the shape */
	uint32_t size, stride; /* place = sum of coordinate * stride, the first slowest */
	uint32_t first_exit,
		n_exits;     /* exits of a switch: up and down, or by coordinate */
	uint8_t bit;	     /* of the service level, DOR_NO_BIT */
	uint32_t n_parallel; /* of a whole grid: cables of each exit */
	uint32_t first_row;  /* of these, in `row` */
};

struct dor {
	const struct fab_fabric *f;
	const struct fab_faults *faults;
	struct fab_shape *shape;
	struct dor_axis axis[FAB_SHAPE_DIMS_MAX];
	bool ties_go_up; /* of all rings */
	uint32_t n_axes, n_exits, n_bits;
	uint32_t *place;      /* [n_switches] */
	uint32_t *switch_at;  /* [n_switches] by place */
	uint32_t *coord;      /* [n_switches * n_axes] by place */
	uint32_t *exit_first; /* [n_switches * n_exits + 1] into exit_arc, by place */
	uint16_t *exit_arc;   /* live arcs of the switch */
	uint32_t *run; /* [n_switches * n_axes * 2] live hops on, up and down the axis */
	uint32_t n_ties, n_cables; /* alternatives of what is equally short, at most */
	/*
	 * Nothing is dead or missing, and along an axis all switches have the same number
	 * of parallel cables: then row[(first_row + (exit - first_exit) * n_parallel + k)
	 * * n_switches + place] is the arc of the k-th cable, else NULL.
	 */
	uint16_t *row;
	uint32_t n_rows;
	bool is_in_order; /* place and switch are the same number */
	struct fab_routes *r;
	bool is_cut; /* some pair has no path */
};

static inline uint32_t dor_n_live(const struct dor *x, uint32_t place, uint32_t exit)
{
	const uint32_t *first = x->exit_first + (size_t)place * x->n_exits + exit;

	return first[1] - first[0];
}

/* Places, exits and runs of the fabric; shape and axes are there. O(arcs + switches *
 * sizes of axes). */
void dor_set_grid(struct dor *x);
/* Fill the columns of x->r and service levels, where it has room for them; sets is_cut.
 * O(switches * columns). */
void dor_fill(struct dor *x, int n_threads);

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
 * Dead parts: a ring with one break is a line, which everybody follows (no circle); what
 * no line joins in this order of axes has no path.
 *
 * Source: Dally and Seitz 1987 (datelines); OpenSM's torus-2QoS has the same service
 * levels.
 */

static enum dor_line line_of(const struct fab_shape *s, uint32_t d)
{
	if (s->kind == FAB_SHAPE_HYPERX)
		return DOR_COMPLETE;
	return s->kind == FAB_SHAPE_TORUS && s->dims[d] > 2 ? DOR_RING : DOR_PATH;
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

static int look(struct dor *x, const struct fab_unicast_problem *problem, bool ties_go_up,
		struct fab_err *err)
{
	unsigned max_sls = problem->max_sls ? problem->max_sls : FAB_SLS_MAX;
	char text[256];
	const struct fab_shape *s;
	uint32_t stride = 1;

	*x = (struct dor){
		.f = problem->f, .faults = problem->faults, .ties_go_up = ties_go_up};
	x->shape = fab_shape_recognize(problem->f);
	if (x->shape->kind != FAB_SHAPE_TORUS && x->shape->kind != FAB_SHAPE_MESH &&
	    x->shape->kind != FAB_SHAPE_HYPERX)
		return fab_fail(err, EINVAL,
				"%s needs a torus, a mesh or a hyperx, the shape is %s",
				ties_go_up ? fab_unicast_dor_up.name
					   : fab_unicast_dor.name,
				x->shape->kind == FAB_SHAPE_NONE
					? "none that is known"
					: fab_shape_text(x->shape, text, sizeof(text)));
	s = x->shape;
	x->n_axes = s->n_dims;
	for (uint32_t d = s->n_dims; d-- > 0;) {
		x->axis[d] = (struct dor_axis){.line = line_of(s, d),
					       .dim = dim_of_axis(s, d),
					       .size = s->dims[d],
					       .stride = stride};
		stride *= s->dims[d];
	}
	for (uint32_t d = 0; d < s->n_dims; d++) {
		struct dor_axis *a = &x->axis[d];
		uint32_t with_lanes =
			x->ties_go_up ? DOR_RING_OF_FOUR : DOR_RING_WITH_LANES;
		bool is_wide = a->line == DOR_RING && a->size >= with_lanes;

		a->bit = is_wide ? (uint8_t)x->n_bits++ : DOR_NO_BIT;
		a->first_exit = x->n_exits;
		a->n_exits = a->line == DOR_COMPLETE ? a->size : 2;
		x->n_exits += a->n_exits;
	}
	if (problem->max_vls > 1 && (x->n_bits > 4 || 1u << x->n_bits > max_sls))
		return fab_fail(
			err, EINVAL,
			"%s needs 2^%" PRIu32
			" service levels, for a lane of two along each axis of long rings: there are %u",
			ties_go_up ? fab_unicast_dor_up.name : fab_unicast_dor.name,
			x->n_bits, max_sls);
	return 0;
}

static void dor_fini(struct dor *x)
{
	fab_shape_free(x->shape);
	free(x->place);
	free(x->switch_at);
	free(x->coord);
	free(x->exit_first);
	free(x->exit_arc);
	free(x->run);
	free(x->row);
}

static int dor_fits(const struct fab_unicast_problem *problem, struct fab_err *err)
{
	struct dor x;
	int rc = look(&x, problem, false, err);

	dor_fini(&x);
	return rc;
}

static int dor_up_fits(const struct fab_unicast_problem *problem, struct fab_err *err)
{
	struct dor x;
	int rc = look(&x, problem, true, err);

	dor_fini(&x);
	return rc;
}

/* Lanes by service level and the axis along which a packet leaves. */
static int set_lanes(const struct dor *x, struct fab_err *err)
{
	struct fab_sl_packer *packer;
	int rc = fab_sl_packer_new(x->r, 1u << x->n_bits, &packer, err);

	if (rc)
		return rc;
	for (uint32_t place = 0; place < x->f->n_switches; place++)
		for (uint32_t d = 0; d < x->n_axes; d++) {
			const uint32_t *first = x->exit_first +
						(size_t)place * x->n_exits +
						x->axis[d].first_exit;

			for (uint32_t i = first[0];
			     x->axis[d].bit != DOR_NO_BIT && i < first[2]; i++) {
				uint32_t n_arcs =
					x->f->arc_first[x->switch_at[place] + 1] -
					x->f->arc_first[x->switch_at[place]];

				/* Lane of an exit of an axis for all that leaves by it.
				 */
				for (uint32_t in = 0; in <= n_arcs; in++)
					for (unsigned sl = 0; sl < 1u << x->n_bits;
					     sl++) {
						const struct fab_hop hop = {
							x->switch_at[place], (uint16_t)in,
							x->exit_arc[i]};

						fab_sl_packer_set(packer, &hop, sl,
								  sl >> x->axis[d].bit &
									  1);
					}
			}
		}
	fab_sl_packer_finish(packer);
	fab_sl_packer_free(packer);
	x->r->n_vls = 2;
	x->r->n_sls = (uint8_t)(1u << x->n_bits);
	return 0;
}

static int route(const struct fab_unicast_problem *problem, bool ties_go_up,
		 struct fab_routes **out, struct fab_err *err)
{
	struct dor x;
	int rc = look(&x, problem, ties_go_up, err);

	if (!rc) {
		const struct fab_fabric *f = x.f;
		uint32_t most, n = 0;
		uint16_t *turn;
		uint16_t *turns;
		struct fab_routes *r;

		dor_set_grid(&x);
		/* A column for each live switch and turn. */
		/* Alternatives of what is equally short: directions and parallel cables.
		 */
		x.n_ties = 1;
		for (uint32_t d = 0; d < x.n_axes; d++)
			if (x.axis[d].bit != DOR_NO_BIT && x.axis[d].size % 2 == 0 &&
			    !x.ties_go_up)
				x.n_ties = 2;
		most = x.n_ties * x.n_cables;
		turn = FAB_NEW0((size_t)f->n_ports + 1, uint16_t);
		turns = FAB_NEW0((size_t)f->n_switches + 1, uint16_t);
		for (uint32_t s = 0; s < f->n_switches; s++)
			if (fab_switch_is_live(x.faults, s))
				n += turns[s] = (uint16_t)fab_alternatives_turns(
					f, s, most, turn);
		r = x.r = fab_routes_new(f, x.faults, n);
		n = 0;
		for (uint32_t s = 0; s < f->n_switches; s++)
			for (uint32_t i = 0; i < turns[s]; i++)
				r->column_switch[n++] = s;
		if (most > 1) {
			r->n_alternatives = turns;
			r->turn = turn;
		} else {
			free(turns);
			free(turn);
		}
		r->leaf = FAB_NEW((size_t)f->n_switches + 1, uint32_t);
		r->n_leaves = fab_destination_switches(f, x.faults, NULL, r->leaf);
		if (x.n_bits && problem->max_vls > 1) {
			/* Service levels from every live switch. */
			r->sl_source = FAB_NEW((size_t)x.f->n_switches + 1, uint32_t);
			for (uint32_t s = 0; s < x.f->n_switches; s++)
				if (fab_switch_is_live(x.faults, s))
					r->sl_source[r->n_sl_sources++] = s;
			r->sl = FAB_NEW0((size_t)r->n_sl_sources * r->n_columns + 1,
					 uint8_t);
			rc = set_lanes(&x, err);
		}
	}
	if (!rc) {
		dor_fill(&x, problem->n_threads);
		if (x.is_cut)
			x.r->note = fab_strdup(
				"the faults cut lines: pairs that the order of the axes does not join have no path");
		else if (x.n_bits && problem->max_vls < 2)
			x.r->note = fab_format(
				"rings of %s or more need two lanes, there is one",
				ties_go_up ? "four" : "five");
		*out = x.r;
	} else {
		fab_routes_free(x.r);
	}
	dor_fini(&x);
	return rc;
}

static int route_dor(const struct fab_unicast_problem *problem, struct fab_routes **out,
		     struct fab_err *err)
{
	return route(problem, false, out, err);
}

static int route_dor_up(const struct fab_unicast_problem *problem,
			struct fab_routes **out, struct fab_err *err)
{
	return route(problem, true, out, err);
}

const struct fab_unicast_engine fab_unicast_dor = {
	.name = "dor",
	.summary = "dimension order on a torus, mesh or hyperx, two lanes on tori",
	.manual =
		"Dimension order on a torus, a mesh or a hyperx: first axis first (the largest one; of equal ones the first one of a generated fabric), along each by a shortest path. On rings of five or more two lanes, by datelines, with a bit of the service level for each such axis, at most four. Faults are gone round only within a ring; what the order of axes does not join has no path.",
	.fits = dor_fits,
	.route = route_dor,
};

const struct fab_unicast_engine fab_unicast_dor_up = {
	.name = "dor-up",
	.summary = "the same, upwards where both directions of a ring are equally short",
	.manual =
		"As `dor`, but where both directions of a ring are equally short all packets go up, as in textbooks and simple routers: shifts by half a ring load one direction twice as much. Rings of four need two lanes, too.",
	.fits = dor_up_fits,
	.route = route_dor_up,
};

/* The exit of a switch by which an arc leaves it, FAB_NONE: a cable to itself. */
static uint32_t exit_of(const struct dor *x, uint32_t sw, uint32_t arc)
{
	const uint32_t *from = x->coord + (size_t)x->place[sw] * x->n_axes;
	const uint32_t *to = x->coord + (size_t)x->place[x->f->arc_peer[arc]] * x->n_axes;

	for (uint32_t d = 0; d < x->n_axes; d++) {
		const struct dor_axis *a = &x->axis[d];

		if (from[d] == to[d])
			continue;
		if (a->line == DOR_COMPLETE)
			return a->first_exit + to[d];
		if (a->line == DOR_PATH)
			return a->first_exit + (to[d] < from[d]);
		return a->first_exit + (to[d] != (from[d] + 1) % a->size);
	}
	return FAB_NONE;
}

/* Live arcs by exit. */
static void set_exits(struct dor *x)
{
	const struct fab_fabric *f = x->f;
	size_t n = (size_t)f->n_switches * x->n_exits;
	uint32_t *exit = FAB_NEW((size_t)f->arc_first[f->n_switches] + 1, uint32_t);

	x->exit_first = FAB_NEW0(n + 2, uint32_t);
	x->exit_arc = FAB_NEW((size_t)f->arc_first[f->n_switches] + 1, uint16_t);
	x->n_cables = 1;
	for (uint32_t sw = 0; sw < f->n_switches; sw++)
		for (uint32_t a = f->arc_first[sw]; a < f->arc_first[sw + 1]; a++) {
			exit[a] = fab_arc_is_live(x->faults, a) ? exit_of(x, sw, a)
								: FAB_NONE;
			if (exit[a] != FAB_NONE)
				x->exit_first[x->place[sw] * (size_t)x->n_exits +
					      exit[a] + 2]++;
		}
	for (size_t i = 2; i < n + 2; i++) {
		if (x->exit_first[i] > x->n_cables)
			x->n_cables = x->exit_first[i];
		x->exit_first[i] += x->exit_first[i - 1];
	}
	for (uint32_t sw = 0; sw < f->n_switches; sw++)
		for (uint32_t a = f->arc_first[sw]; a < f->arc_first[sw + 1]; a++)
			if (exit[a] != FAB_NONE)
				x->exit_arc[x->exit_first[x->place[sw] *
								  (size_t)x->n_exits +
							  exit[a] + 1]++] =
					(uint16_t)(a - f->arc_first[sw]);
	free(exit);
}

/* The place next up (or down) an axis of a place; on a path the last has none beyond. */
static uint32_t next_place(const struct dor *x, uint32_t place, uint32_t d, bool is_down)
{
	const struct dor_axis *a = &x->axis[d];
	uint32_t at = x->coord[(size_t)place * x->n_axes + d];
	uint32_t to = (at + (is_down ? a->size - 1 : 1)) % a->size;

	return place - at * a->stride + to * a->stride;
}

/* Is every cable of this axis there, at this place; are there always equally many? */
static bool is_whole_at(const struct dor *x, uint32_t d, uint32_t place, uint32_t *n)
{
	const struct dor_axis *a = &x->axis[d];
	const uint32_t *run = x->run + ((size_t)place * x->n_axes + d) * 2;
	uint32_t at = x->coord[(size_t)place * x->n_axes + d];

	if (a->line == DOR_RING && (run[0] < a->size || run[1] < a->size))
		return false;
	if (a->line == DOR_PATH && (run[0] < a->size - 1 - at || run[1] < at))
		return false;
	for (uint32_t i = 0; i < a->n_exits; i++) {
		uint32_t live = dor_n_live(x, place, a->first_exit + i);

		if (!live && a->line == DOR_COMPLETE && i != at)
			return false;
		if (live && *n && live != *n)
			return false;
		if (live)
			*n = live;
	}
	return true;
}

static bool is_whole(struct dor *x)
{
	uint32_t n_rows = 0;

	for (uint32_t s = 0; s < x->f->n_switches; s++)
		if (!fab_switch_is_live(x->faults, s))
			return false;
	for (uint32_t d = 0; d < x->n_axes; d++) {
		struct dor_axis *a = &x->axis[d];

		a->n_parallel = 0;
		for (uint32_t place = 0; place < x->f->n_switches; place++)
			if (!is_whole_at(x, d, place, &a->n_parallel))
				return false;
		a->first_row = n_rows;
		n_rows += a->n_exits * a->n_parallel;
	}
	x->n_rows = n_rows;
	return true;
}

/* Arcs by exit and cable, so that a column takes them in one piece. */
static void set_rows(struct dor *x)
{
	uint32_t n = x->f->n_switches;

	x->is_in_order = true;
	for (uint32_t s = 0; s < n; s++)
		x->is_in_order = x->is_in_order && x->place[s] == s;
	if (!is_whole(x))
		return;
	x->row = FAB_NEW0((size_t)x->n_rows * n + 1, uint16_t);
	for (uint32_t d = 0; d < x->n_axes; d++)
		for (uint32_t i = 0; i < x->axis[d].n_exits; i++)
			for (uint32_t place = 0; place < n; place++) {
				const struct dor_axis *a = &x->axis[d];
				const uint32_t *first = x->exit_first +
							(size_t)place * x->n_exits +
							a->first_exit + i;
				size_t row = a->first_row + (size_t)i * a->n_parallel;

				/* Arcs of exit number i of an axis. */
				for (uint32_t k = 0; k < first[1] - first[0]; k++)
					x->row[(row + k) * x->f->n_switches + place] =
						x->exit_arc[first[0] + k];
			}
}

void dor_set_grid(struct dor *x)
{
	uint32_t n = x->f->n_switches, n_axes = x->n_axes;
	uint32_t k = x->f->n_switches;

	/* The grid of dimension order: which arc leaves a switch along which axis. */
	x->place = FAB_NEW0((size_t)n + 1, uint32_t);
	x->switch_at = FAB_NEW((size_t)n + 1, uint32_t);
	x->coord = FAB_NEW((size_t)n * n_axes + 1, uint32_t);
	for (uint32_t s = 0; s < n; s++) {
		const uint32_t *coord = x->shape->coords + (size_t)s * n_axes;

		for (uint32_t d = 0; d < n_axes; d++)
			x->place[s] += coord[x->axis[d].dim] * x->axis[d].stride;
		x->switch_at[x->place[s]] = s;
		for (uint32_t d = 0; d < n_axes; d++)
			x->coord[(size_t)x->place[s] * n_axes + d] =
				coord[x->axis[d].dim];
	}
	set_exits(x);
	/* How far one gets from each place in both directions of each axis. */
	x->run = FAB_NEW0((size_t)k * x->n_axes * 2 + 1, uint32_t);
	for (uint32_t place = 0; place < k; place++)
		for (uint32_t i = 0; i < x->n_axes * 2; i++) {
			const struct dor_axis *a = &x->axis[i / 2];
			uint32_t at = place, hops = 0;

			if (a->line == DOR_COMPLETE)
				continue;
			while (hops < a->size &&
			       dor_n_live(x, at, a->first_exit + i % 2)) {
				at = next_place(x, at, i / 2, i % 2);
				hops++;
			}
			x->run[(size_t)place * x->n_axes * 2 + i] = hops;
		}
	set_rows(x);
}

/* The columns of dimension order. */

/* Data that decides between equally short paths. */
struct goal {
	uint32_t place, turn; /* alternative of its switch */
	const uint32_t *coord;
};

/* Does a packet that enters a ring go down it where up is as short? */
static bool tie_goes_down(const struct dor *x, const struct goal *to, uint32_t d,
			  uint32_t from)
{
	uint32_t sum = from;

	if (x->ties_go_up)
		return false;
	if (x->axis[d].size == DOR_RING_OF_FOUR)
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
	const struct dor_axis *a = &x->axis[d];
	const uint32_t *run = x->run + ((size_t)place * x->n_axes + d) * 2;
	uint32_t goal = to->coord[d], up = (goal + a->size - from) % a->size;
	uint32_t down = a->size - up;
	bool has_up, has_down, is_down;

	if (a->line == DOR_COMPLETE)
		return dor_n_live(x, place, a->first_exit + goal) ? a->first_exit + goal
								  : FAB_NONE;
	has_up = run[0] >= up && (a->line == DOR_RING || goal > from);
	has_down = run[1] >= down && (a->line == DOR_RING || goal < from);
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
static bool takes_lane_1(const struct dor_axis *a, uint32_t from, uint32_t goal,
			 bool is_down)
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

/* Its bit of the service level, for a packet that leaves by an exit. */
static uint8_t level_bit(const struct dor_axis *a, uint32_t from, uint32_t goal,
			 uint32_t exit)
{
	if (a->bit == DOR_NO_BIT || !takes_lane_1(a, from, goal, exit != a->first_exit))
		return 0;
	return (uint8_t)(1u << a->bit);
}

/* Which of n parallel cables. */
static uint32_t cable_of(const struct dor *x, const struct goal *to, uint32_t n)
{
	uint32_t number = 0;

	if (n > 1) {
		number = to->turn / x->n_ties;
		for (uint32_t e = 0; e < x->n_axes; e++)
			number += to->coord[e];
	}
	return n ? number % n : 0;
}

/* One column: arcs, and the service level from each place (NULL: there is one). */
struct column {
	struct goal to;
	uint16_t *next;
	uint8_t *level; /* [n_switches] by place */
};

/* A place that differs from the goal along axis d first; `corner` is where it is right
 * there. */
static void fill_place(const struct dor *x, const struct column *c, uint32_t d,
		       uint32_t place, uint32_t corner)
{
	const struct dor_axis *a = &x->axis[d];
	uint32_t from = x->coord[(size_t)place * x->n_axes + d];
	uint32_t sw = x->switch_at[place], exit, n;

	c->level[place] = 0;
	c->next[sw] = FAB_ARC_NONE;
	exit = exit_towards(x, &c->to, d, place, from);
	if (c->next[x->switch_at[corner]] == FAB_ARC_NONE || exit == FAB_NONE)
		return;
	n = dor_n_live(x, place, exit);
	c->next[sw] = x->exit_arc[x->exit_first[(size_t)place * x->n_exits + exit] +
				  cable_of(x, &c->to, n)];
	c->level[place] = c->level[corner];
	c->level[place] |= level_bit(a, from, c->to.coord[d], exit);
}

/* Axes backwards: what is right along the first d axes comes before what is not. */
static bool fill_column(const struct dor *x, const struct column *c)
{
	uint32_t base = c->to.place;
	bool is_cut = false;

	c->next[x->switch_at[base]] = FAB_ARC_HERE;
	c->level[base] = 0;
	for (uint32_t d = x->n_axes; d-- > 0;) {
		const struct dor_axis *a = &x->axis[d];
		uint32_t block = base - base % (a->size * a->stride);
		uint32_t right = block + c->to.coord[d] * a->stride;

		for (uint32_t i = 0; i < a->size * a->stride; i++) {
			uint32_t place = block + i;

			if (place >= right && place < right + a->stride)
				continue;
			fill_place(x, c, d, place, right + i % a->stride);
			is_cut |= c->next[x->switch_at[place]] == FAB_ARC_NONE &&
				  fab_switch_is_live(x->faults, x->switch_at[place]);
		}
	}
	return is_cut;
}

static struct goal goal_of(const struct dor *x, uint32_t column)
{
	uint32_t place = x->place[x->r->column_switch[column]];

	return (struct goal){place, fab_routes_alternative(x->r, column),
			     x->coord + (size_t)place * x->n_axes};
}

/* Column by column, place by place. */
static void fill_each(struct dor *x, int n_threads)
{
	struct fab_routes *r = x->r;
	size_t n = x->f->n_switches;
	bool is_cut = false;

#pragma omp parallel num_threads(n_threads) reduction(|| : is_cut)
	{
		uint8_t *level = FAB_NEW0(n + 1, uint8_t);

#pragma omp for schedule(dynamic, 16)
		for (uint32_t i = 0; i < r->n_columns; i++) {
			const struct column c = {.to = goal_of(x, i),
						 .next = r->next + i * n,
						 .level = level};

			is_cut = fill_column(x, &c) || is_cut;
			for (uint32_t k = 0; r->sl && k < r->n_sl_sources; k++)
				r->sl[(size_t)k * r->n_columns + i] =
					level[x->place[r->sl_source[k]]];
		}
		free(level);
	}
	x->is_cut = is_cut;
}

/* Of a whole grid: what is different along axis d first takes the exit and cable that its
 * place along this axis alone decides, so that arcs are copied in pieces. */
static void copy_arcs(const struct dor *x, const struct goal *to, uint32_t d,
		      uint32_t from, uint32_t exit, uint16_t *next)
{
	const struct dor_axis *a = &x->axis[d];
	uint32_t first = to->place - to->place % (a->size * a->stride) + from * a->stride;
	size_t row = a->first_row + (size_t)(exit - a->first_exit) * a->n_parallel +
		     cable_of(x, to, a->n_parallel);
	const uint16_t *arc = x->row + row * x->f->n_switches + first;

	if (x->is_in_order) {
		memcpy(next + first, arc, a->stride * sizeof(*next));
		return;
	}
	for (uint32_t i = 0; i < a->stride; i++)
		next[x->switch_at[first + i]] = arc[i];
}

/* Columns of a whole grid that are filled together: bits of their service levels by
 * axis and place along it, bit[(line of the axis + place) * BLOCK + column]. */
enum { BLOCK = 256 };

static void fill_whole(const struct dor *x, uint32_t column, uint8_t *bit)
{
	const struct goal to = goal_of(x, column);
	uint16_t *next = x->r->next + (size_t)column * x->f->n_switches;

	next[x->switch_at[to.place]] = FAB_ARC_HERE;
	for (uint32_t d = 0; d < x->n_axes; d++) {
		const struct dor_axis *a = &x->axis[d];

		for (uint32_t from = 0; from < a->size; from++, bit += BLOCK) {
			uint32_t exit;

			*bit = 0;
			if (from == to.coord[d])
				continue;
			/* any place that has `from` there */
			exit = exit_towards(x, &to, d, from * a->stride, from);
			copy_arcs(x, &to, d, from, exit, next);
			*bit = level_bit(a, from, to.coord[d], exit);
		}
	}
}

/* Service levels of a block from one source: the bits of all axes. */
static void join_bits(const struct dor *x, uint32_t place, const uint8_t *bits,
		      uint32_t n, uint8_t *level)
{
	for (uint32_t d = 0; d < x->n_axes; d++) {
		const struct dor_axis *a = &x->axis[d];
		const uint8_t *bit =
			bits + (size_t)x->coord[(size_t)place * x->n_axes + d] * BLOCK;

		for (uint32_t i = 0; i < n && a->bit != DOR_NO_BIT; i++)
			level[i] |= bit[i];
		bits += (size_t)a->size * BLOCK;
	}
}

void dor_fill(struct dor *x, int n_threads)
{
	n_threads = fab_threads_for(n_threads,
				    (uint64_t)x->r->n_columns * x->f->n_switches * 8);
	if (x->row) {
		struct fab_routes *r = x->r;
		size_t n_lines = 0;

		for (uint32_t d = 0; d < x->n_axes; d++)
			n_lines += x->axis[d].size;
#pragma omp parallel num_threads(n_threads)
		{
			uint8_t *bits = FAB_NEW(n_lines * BLOCK + 1, uint8_t);

#pragma omp for schedule(dynamic, 1)
			for (uint32_t first = 0; first < r->n_columns; first += BLOCK) {
				uint32_t n = r->n_columns - first;

				n = n < BLOCK ? n : BLOCK;
				for (uint32_t i = 0; i < n; i++)
					fill_whole(x, first + i, bits + i);
				for (uint32_t i = 0; r->sl && i < r->n_sl_sources; i++)
					join_bits(x, x->place[r->sl_source[i]], bits, n,
						  r->sl + (size_t)i * r->n_columns +
							  first);
			}
			free(bits);
		}
	} else
		fill_each(x, n_threads);
	fab_threads_rest(n_threads);
}
