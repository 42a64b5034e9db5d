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
 * crosses both. Who crosses the dateline has lane 1 along that axis from its first hop
 * on, who crosses the other one lane 0; who crosses neither has the lane of the one that
 * it is farther from. So nobody crosses the dateline on lane 0, nor the other on lane 1:
 * neither lane closes a circle, and channels of an axis wait for those of later axes
 * only. Bit i of the service level is the lane along the i-th axis that needs it. Rings
 * of four need no lanes, as who goes two hops begins at every second place; rings of
 * three have no path of two hops.
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
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "unicast/alternatives.h"
#include "unicast/destinations.h"
#include "unicast/dor.h"
#include "unicast/service_levels.h"

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

static void set_axes(struct dor *x)
{
	const struct fab_shape *s = x->shape;
	uint32_t stride = 1;

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
}

static int look(struct dor *x, const struct fab_unicast_problem *problem, bool ties_go_up,
		struct fab_err *err)
{
	unsigned max_sls = problem->max_sls ? problem->max_sls : FAB_SLS_MAX;
	char text[256];

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
	set_axes(x);
	if (problem->max_vls > 1 && (x->n_bits > 4 || 1u << x->n_bits > max_sls))
		return fab_fail(err, EINVAL,
				"%s needs 2^%" PRIu32
				" service levels, for a lane of two along each "
				"axis of long rings: there are %u",
				ties_go_up ? fab_unicast_dor_up.name
					   : fab_unicast_dor.name,
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

/* Lane of an exit of an axis for all that leaves by it. */
static void set_lane(const struct dor *x, struct fab_sl_packer *packer, uint32_t sw,
		     uint16_t arc, uint8_t bit)
{
	uint32_t n_arcs = x->f->arc_first[sw + 1] - x->f->arc_first[sw];

	for (uint32_t in = 0; in <= n_arcs; in++)
		for (unsigned sl = 0; sl < 1u << x->n_bits; sl++) {
			const struct fab_hop hop = {sw, (uint16_t)in, arc};

			fab_sl_packer_set(packer, &hop, sl, sl >> bit & 1);
		}
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
			     x->axis[d].bit != DOR_NO_BIT && i < first[2]; i++)
				set_lane(x, packer, x->switch_at[place], x->exit_arc[i],
					 x->axis[d].bit);
		}
	fab_sl_packer_finish(packer);
	fab_sl_packer_free(packer);
	x->r->n_vls = 2;
	x->r->n_sls = (uint8_t)(1u << x->n_bits);
	return 0;
}

/* Service levels from every live switch. */
static void add_levels(const struct dor *x)
{
	struct fab_routes *r = x->r;

	r->sl_source = FAB_NEW((size_t)x->f->n_switches + 1, uint32_t);
	for (uint32_t s = 0; s < x->f->n_switches; s++)
		if (fab_switch_is_live(x->faults, s))
			r->sl_source[r->n_sl_sources++] = s;
	r->sl = FAB_NEW0((size_t)r->n_sl_sources * r->n_columns + 1, uint8_t);
}

/* Alternatives of what is equally short: directions and parallel cables. */
static uint32_t most_turns(struct dor *x)
{
	x->n_ties = 1;
	for (uint32_t d = 0; d < x->n_axes; d++)
		if (x->axis[d].bit != DOR_NO_BIT && x->axis[d].size % 2 == 0 &&
		    !x->ties_go_up)
			x->n_ties = 2;
	return x->n_ties * x->n_cables;
}

/* A column for each live switch and turn. */
static void add_columns(struct dor *x)
{
	const struct fab_fabric *f = x->f;
	uint32_t most = most_turns(x), n = 0;
	uint16_t *turn = FAB_NEW0((size_t)f->n_ports + 1, uint16_t);
	uint16_t *turns = FAB_NEW0((size_t)f->n_switches + 1, uint16_t);
	struct fab_routes *r;

	for (uint32_t s = 0; s < f->n_switches; s++)
		if (fab_switch_is_live(x->faults, s))
			n += turns[s] =
				(uint16_t)fab_alternatives_turns(f, s, most, turn);
	r = x->r = fab_routes_new(f, x->faults, n);
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
	r->n_leaves = fab_destination_switches(f, x->faults, NULL, r->leaf);
}

static int route(const struct fab_unicast_problem *problem, bool ties_go_up,
		 struct fab_routes **out, struct fab_err *err)
{
	struct dor x;
	int rc = look(&x, problem, ties_go_up, err);

	if (!rc) {
		dor_set_grid(&x);
		add_columns(&x);
		if (x.n_bits && problem->max_vls > 1) {
			add_levels(&x);
			rc = set_lanes(&x, err);
		}
	}
	if (!rc) {
		dor_fill(&x, problem->n_threads);
		if (x.is_cut)
			x.r->note = fab_strdup("the faults cut lines: pairs that the "
					       "order of the axes does not join have no "
					       "path");
		else if (x.n_bits && problem->max_vls < 2)
			x.r->note = fab_format("rings of %s or more need two lanes, "
					       "there is one",
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
	.manual = "Dimension order on a torus, a mesh or a hyperx: first axis first "
		  "(the largest one; of equal ones the first one of a generated "
		  "fabric), along each by a shortest path. On rings of five or more two "
		  "lanes, by datelines, with a bit of the service level for each such "
		  "axis, at most four. Faults are gone round only within a ring; what "
		  "the order of axes does not join has no path.",
	.fits = dor_fits,
	.route = route_dor,
};

const struct fab_unicast_engine fab_unicast_dor_up = {
	.name = "dor-up",
	.summary = "the same, upwards where both directions of a ring are equally short",
	.manual = "As `dor`, but where both directions of a ring are equally short all "
		  "packets go up, as in textbooks and simple routers: shifts by half a "
		  "ring load one direction twice as much. Rings of four need two lanes, "
		  "too.",
	.fits = dor_up_fits,
	.route = route_dor_up,
};
