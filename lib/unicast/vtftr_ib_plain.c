/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The dependencies of all plain paths. Of a kfat that was whole most follow from its
 * shape, whatever the destination: only paths over switches whose hop is another than
 * without faults are walked.
 */
#include "unicast/phases_impl.h"
#include "unicast/vtftr_ib_lanes.h"

#include "unicast/faults.h"

#include <stdlib.h>

struct sources {
	const struct fab_phases *ph;
	struct fab_phase_space *space;
	uint32_t *queue, n_queue; /* [n_switches] */
	uint32_t *leaf, n_leaves; /* [n_switches] switches whose paths are walked */
	uint32_t *seen, stamp;	  /* [n_switches] */
};

static void see(struct sources *s, uint32_t sw)
{
	if (s->seen[sw] == s->stamp)
		return;
	s->seen[sw] = s->stamp;
	s->queue[s->n_queue++] = sw;
	if (s->ph->k->leaf_of[sw] != FAB_NONE)
		s->leaf[s->n_leaves++] = sw;
}

/* Leaf switches whose paths go over a switch with another hop. */
static void find_sources(struct sources *s, uint32_t leaf, const uint16_t *next)
{
	const struct fab_fabric *f = s->ph->k->f;
	uint32_t n = fab_whole_changed(s->ph, s->space, leaf, next, s->queue);

	s->stamp++;
	s->n_leaves = s->n_queue = 0;
	for (uint32_t i = 0; i < n; i++) /* in place: as many seen as read at most */
		see(s, s->queue[i]);
	for (uint32_t i = 0; i < s->n_queue; i++) {
		uint32_t sw = s->queue[i];

		for (uint32_t a = f->arc_first[sw]; a < f->arc_first[sw + 1]; a++)
			if (next[f->arc_peer[a]] == f->arc_reverse[a])
				see(s, f->arc_peer[a]);
	}
}

static void walk_changed(struct vtftr_ib_lanes *l, struct sources *s)
{
	const struct vtftr_ib *v = l->v;
	const struct fab_routes *r = v->routes;
	struct vtftr_ib_walk walk = {.v = v,
				     .paths = VTFTR_IB_PLAIN,
				     .take = vtftr_ib_take_plain,
				     .context = l,
				     .walked = l->walked,
				     .stamp = l->stamp};

	for (uint32_t i = 0; i < r->n_columns; i++) {
		find_sources(s, vtftr_ib_leaf(v, i),
			     r->next + (size_t)i * r->f->n_switches);
		vtftr_ib_walk_from(&walk, i, s->leaf, s->n_leaves);
	}
	l->stamp = walk.stamp;
}

void vtftr_ib_add_all_plain(struct vtftr_ib_lanes *l, const struct fab_phases *phases)
{
	size_t n = (size_t)l->k->f->n_switches + 1;
	struct sources s = {.ph = phases};

	if (!phases->whole) {
		for (uint32_t i = 0; i < l->v->routes->n_columns; i++)
			vtftr_ib_add_plain(l, i);
		return;
	}
	s.space = fab_phase_space_new(phases);
	s.queue = FAB_NEW(n, uint32_t);
	s.leaf = FAB_NEW(n, uint32_t);
	s.seen = FAB_NEW0(n, uint32_t);
	fab_whole_dependencies(phases, vtftr_ib_take_plain, l);
	walk_changed(l, &s);
	fab_phase_space_free(s.space);
	free(s.queue);
	free(s.leaf);
	free(s.seen);
}
