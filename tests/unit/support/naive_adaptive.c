/* SPDX-License-Identifier: BSD-2-Clause */
/* Adaptive packets of the plain simulator, which escape to tables of one lane. */
#include "support/naive_impl.h"

#include "base/rng.h"

enum { FAR = 1000 };

/* Hops of live cables between two switches. */
static int hops(const struct naive *n, uint32_t from, uint32_t to)
{
	const struct fab_fabric *f = n->p->f;
	FAB_AUTOFREE int *at = FAB_NEW(f->n_switches, int);
	int result;

	for (uint32_t s = 0; s < f->n_switches; s++)
		at[s] = s == to ? 0 : FAR;
	for (uint32_t round = 0; round < f->n_switches; round++)
		for (uint32_t s = 0; s < f->n_switches; s++)
			for (uint32_t a = f->arc_first[s]; a < f->arc_first[s + 1]; a++)
				if (fab_arc_is_live(n->p->faults, a) &&
				    at[f->arc_peer[a]] + 1 < at[s])
					at[s] = at[f->arc_peer[a]] + 1;
	result = at[from];
	return result;
}

static int room_of(const struct naive *n, const struct packet *p, uint32_t out,
		   unsigned vl)
{
	return naive_room(n, n->first[p->sw] + out, vl);
}

static bool is_near(const struct naive *n, const struct packet *p, uint32_t out)
{
	const struct fab_fabric *f = n->p->f;
	uint32_t arc = f->arc_first[p->sw] + out, to = n->p->ends->sw[p->target];

	return out < naive_n_arcs(n, p->sw) && fab_arc_is_live(n->p->faults, arc) &&
	       hops(n, f->arc_peer[arc], to) + 1 == hops(n, p->sw, to);
}

/* One of `n_out` outputs with room, as the rule of the parameters says. */
static uint32_t pick(struct naive *n, const struct packet *p, const uint32_t *out,
		     uint32_t n_out)
{
	uint64_t in = n->first[p->sw] + p->in;
	uint64_t random = fab_mix64(n->params->seed ^ fab_mix64(n->now ^ in << 40));
	uint32_t a = (uint32_t)(random % n_out), b = (uint32_t)((random >> 32) % n_out);
	unsigned vl = n->n_vls - 1;
	uint32_t n_best = 0;
	int most = 0;

	switch (n->params->chooser - 1) {
	case 0: /* of those with most room the one of this number */
		for (uint32_t i = 0; i < n_out; i++)
			most = room_of(n, p, out[i], vl) > most
				       ? room_of(n, p, out[i], vl)
				       : most;
		for (uint32_t i = 0; i < n_out; i++)
			n_best += room_of(n, p, out[i], vl) == most;
		a = (uint32_t)(random % n_best);
		for (uint32_t i = 0;; i++)
			if (room_of(n, p, out[i], vl) == most && !a--)
				return out[i];
	case 1:
		return out[a];
	case 2:
		return room_of(n, p, out[b], vl) > room_of(n, p, out[a], vl) ? out[b]
									     : out[a];
	default:
		return out[n->next_choice[p->sw]++ % n_out];
	}
}

/* Where does a packet go on? false: it waits. */
static bool decide(struct naive *n, struct packet *p)
{
	int units = naive_units(n, p->size);
	uint32_t out[64], n_out = 0, next;

	for (uint32_t i = 0; i < naive_n_arcs(n, p->sw); i++)
		if (is_near(n, p, i) && room_of(n, p, i, n->n_vls - 1) >= units)
			out[n_out++] = i;
	if (n_out) {
		next = pick(n, p, out, n_out);
		naive_take(n, n->first[p->sw] + next, n->n_vls - 1, units);
		naive_go_on(n, p, next, n->n_vls - 1);
		return true;
	}
	next = naive_table(n, p);
	if (next < naive_n_arcs(n, p->sw)) {
		if (room_of(n, p, next, 0) < units)
			return false;
		naive_take(n, n->first[p->sw] + next, 0, units);
	}
	naive_go_on(n, p, next, 0);
	return true;
}

/* Is there room behind an output for a packet that waits? */
static bool may_take(const struct naive *n, const struct packet *p, uint32_t out)
{
	int units = naive_units(n, p->size);

	return (is_near(n, p, out) && room_of(n, p, out, n->n_vls - 1) >= units) ||
	       (naive_table(n, p) == out && room_of(n, p, out, 0) >= units);
}

/* The packet that waits at a switch and is next after `after`; NULL. */
static struct packet *next_waiting(struct naive *n, uint32_t sw, uint64_t after)
{
	struct packet *best = NULL;

	for (size_t i = 0; i < n->packets.n; i++) {
		struct packet *p = &n->packets.v[i];

		if (p->exists && !p->is_asking && p->waits_since > after && p->sw == sw &&
		    (!best || p->waits_since < best->waits_since))
			best = p;
	}
	return best;
}

/* The packet that comes to a switch by one of its inputs now; NULL. */
static struct packet *comer(struct naive *n, uint32_t sw, uint32_t in)
{
	for (size_t i = 0; i < n->packets.n; i++) {
		struct packet *p = &n->packets.v[i];

		if (p->exists && !p->is_asking && p->ready == n->now && p->sw == sw &&
		    p->in == in)
			return p;
	}
	return NULL;
}

void naive_adapt(struct naive *n)
{
	for (uint32_t sw = 0; sw < n->p->f->n_switches; sw++)
		for (uint32_t out = 0; out < naive_n_arcs(n, sw); out++) {
			struct packet *p = NULL;

			if (!n->is_credited[n->first[sw] + out])
				continue;
			n->is_credited[n->first[sw] + out] = false;
			for (uint64_t at = 0; (p = next_waiting(n, sw, at));) {
				at = p->waits_since;
				if (may_take(n, p, out))
					(void)decide(n, p);
			}
		}
	for (uint32_t sw = 0; sw < n->p->f->n_switches; sw++)
		for (uint32_t in = 0; in < naive_n_ports(n, sw); in++) {
			struct packet *p = comer(n, sw, in);

			if (p && !decide(n, p))
				p->waits_since = ++n->n_waits;
		}
}
