/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The tree is a list of cables. Switches with one cable that are no member are cut with
 * it, again and again. A search by hops from each new member ends at the first tree
 * switches. In the end the tree is walked from a switch to the member farthest from it,
 * and from there to the one farthest from that: half of the way is the middle.
 */
#include "mcast/graft.h"

#include <math.h>

/* Prices fall no more where a cable has that many trees less than the fullest. */
enum { GAPS = 15 };

/* State of a switch. */
struct place {
	uint32_t member; /* == stamp: a member, */
	uint32_t in;	 /* in the tree, */
	uint32_t degree; /* with that many cables */
	uint32_t first;	 /* half-edge of the tree, FAB_NONE: none */
	uint32_t seen;	 /* == search: reached */
	uint32_t hops;
	double cost;
	uint32_t from, by; /* the switch before it and the cable */
};

struct fab_graft {
	const struct fab_fabric *f;
	struct place *at; /* [n_switches] */
	uint32_t stamp, search;
	FAB_VEC(uint32_t) edge; /* cables of the tree */
	FAB_VEC(uint32_t) next; /* [2 * edges] the next half-edge of its switch */
	FAB_VEC(uint32_t) queue;
	FAB_VEC(uint32_t) sw, cable;
};

static void release(void *graft)
{
	struct fab_graft *x = graft;

	FAB_FREE_ALL(x->edge.v, x->next.v, x->queue.v, x->sw.v, x->cable.v);
}

struct fab_graft *fab_graft_new(const struct fab_fabric *f, struct fab_arena *arena)
{
	struct fab_graft *x = FAB_ARENA_NEW0(arena, 1, struct fab_graft);

	x->f = f;
	x->at = FAB_ARENA_NEW0(arena, f->n_switches, struct place);
	fab_arena_own(arena, release, x);
	return x;
}

static uint32_t end_of(const struct fab_graft *x, uint32_t cable, unsigned end)
{
	return x->f->port_node[end ? x->f->cable_b[cable] : x->f->cable_a[cable]];
}

static void touch(struct fab_graft *x, uint32_t sw)
{
	struct place *p = &x->at[sw];

	if (p->in != x->stamp)
		p->degree = 0;
	p->in = x->stamp;
}

static void add(struct fab_graft *x, uint32_t cable)
{
	FAB_PUSH(&x->edge, cable);
	for (unsigned end = 0; end < 2; end++) {
		touch(x, end_of(x, cable, end));
		x->at[end_of(x, cable, end)].degree++;
	}
}

/* Cut branches that lead to no member. */
static void prune(struct fab_graft *x)
{
	for (bool is_cut = true; is_cut;) {
		size_t n = x->edge.n;

		x->edge.n = 0;
		for (size_t i = 0; i < n; i++) {
			uint32_t cable = x->edge.v[i];
			bool is_bare = false;

			for (unsigned end = 0; end < 2; end++) {
				const struct place *p = &x->at[end_of(x, cable, end)];

				is_bare |= p->degree == 1 && p->member != x->stamp;
			}
			if (!is_bare) {
				x->edge.v[x->edge.n++] = cable;
				continue;
			}
			for (unsigned end = 0; end < 2; end++) {
				struct place *p = &x->at[end_of(x, cable, end)];

				if (!--p->degree && p->member != x->stamp)
					p->in = 0;
			}
		}
		is_cut = x->edge.n < n;
	}
}

static void reach(struct fab_graft *x, uint32_t sw, uint32_t from, uint32_t by,
		  double cost)
{
	struct place *p = &x->at[sw];

	if (p->seen == x->search && (p->hops <= x->at[from].hops || p->cost <= cost))
		return;
	if (p->seen != x->search) {
		p->seen = x->search;
		p->hops = from == FAB_NONE ? 0 : x->at[from].hops + 1;
		FAB_PUSH(&x->queue, sw);
	}
	p->cost = cost;
	p->from = from;
	p->by = by;
}

/* Of a cable with another tree on it. */
static double price(uint32_t load, uint32_t largest)
{
	uint32_t gap = largest > load ? largest - load : 0;

	return ldexp(1, -2 * (int)(gap < GAPS ? gap : GAPS));
}

/* Join a switch to the tree. */
static void join(struct fab_graft *x, const uint32_t *load, uint32_t largest, uint32_t sw)
{
	const struct fab_fabric *f = x->f;
	uint32_t best = FAB_NONE;

	x->search++;
	x->queue.n = 0;
	reach(x, sw, FAB_NONE, FAB_NONE, 0);
	for (size_t i = 0; i < x->queue.n; i++) {
		uint32_t here = x->queue.v[i];
		const struct place *p = &x->at[here];

		if (best != FAB_NONE && p->hops > x->at[best].hops)
			break;
		if (p->in == x->stamp) {
			if (best == FAB_NONE || p->cost < x->at[best].cost)
				best = here;
			continue;
		}
		for (uint32_t a = f->arc_first[here]; a < f->arc_first[here + 1]; a++)
			reach(x, f->arc_peer[a], here, f->arc_cable[a],
			      p->cost + price(load[f->arc_cable[a]], largest));
	}
	for (; best != FAB_NONE && best != sw; best = x->at[best].from)
		add(x, x->at[best].by);
}

/* Walk the tree from a switch: queue and cables are in the order of the walk; the member
 * farthest from it. */
static uint32_t walk(struct fab_graft *x, uint32_t start)
{
	uint32_t farthest = start;

	x->search++;
	x->queue.n = 0;
	reach(x, start, FAB_NONE, FAB_NONE, 0);
	for (size_t i = 0; i < x->queue.n; i++) {
		uint32_t here = x->queue.v[i];

		if (x->at[here].member == x->stamp)
			farthest = here;
		for (uint32_t h = x->at[here].first; h != FAB_NONE; h = x->next.v[h]) {
			uint32_t peer = end_of(x, x->edge.v[h / 2], !(h & 1));

			if (x->at[peer].seen != x->search)
				reach(x, peer, here, x->edge.v[h / 2], 0);
		}
	}
	return farthest;
}

/* The tree as seen from its middle. */
static struct fab_grafted hand_over(struct fab_graft *x, uint32_t member)
{
	struct fab_grafted out;
	uint32_t far, hops;

	x->next.n = 0;
	x->at[member].first = FAB_NONE;
	for (size_t i = 0; i < x->edge.n; i++)
		for (unsigned end = 0; end < 2; end++)
			x->at[end_of(x, x->edge.v[i], end)].first = FAB_NONE;
	for (size_t i = 0; i < x->edge.n; i++)
		for (unsigned end = 0; end < 2; end++) {
			struct place *p = &x->at[end_of(x, x->edge.v[i], end)];

			FAB_PUSH(&x->next, p->first);
			p->first = (uint32_t)(2 * i + end);
		}
	far = walk(x, walk(x, member));
	for (hops = x->at[far].hops / 2; hops; hops--)
		far = x->at[far].from;
	out.root = far;
	far = walk(x, far);
	out.height = (uint8_t)x->at[far].hops;
	x->sw.n = x->cable.n = 0;
	for (size_t i = 1; i < x->queue.n; i++) {
		FAB_PUSH(&x->sw, x->queue.v[i]);
		FAB_PUSH(&x->cable, x->at[x->queue.v[i]].by);
	}
	out.n = (uint32_t)x->sw.n;
	out.sw = x->sw.v;
	out.cable = x->cable.v;
	return out;
}

struct fab_grafted fab_graft_change(struct fab_graft *x, const uint32_t *load,
				    uint32_t largest, const uint32_t *cable, uint32_t n,
				    const uint32_t *sw, uint32_t n_sw)
{
	bool has_member = false;

	x->stamp++;
	x->edge.n = 0;
	for (uint32_t i = 0; i < n_sw; i++)
		x->at[sw[i]].member = x->stamp;
	for (uint32_t i = 0; i < n; i++)
		add(x, cable[i]);
	for (uint32_t i = 0; i < n_sw; i++)
		has_member |= x->at[sw[i]].in == x->stamp;
	if (has_member)
		prune(x);
	else {
		x->edge.n = 0;
		x->stamp++;
		for (uint32_t i = 0; i < n_sw; i++)
			x->at[sw[i]].member = x->stamp;
		touch(x, sw[0]);
	}
	for (uint32_t i = 0; i < n_sw; i++)
		if (x->at[sw[i]].in != x->stamp)
			join(x, load, largest, sw[i]);
	return hand_over(x, sw[0]);
}
