/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where a group may leave a switch: in a tree of minimal height r, rooted at one of the
 * group's candidates, a member's switch that is not the root has its parent at most
 * r - 1 hops from that root. So of the switch's cables only those count whose other end
 * is within r - 1 hops of some candidate; all of them where the switch is a candidate
 * itself. Each group with members elsewhere uses one of them at least: the least largest
 * load over all choices, found by matching groups to cables, is a bound.
 */
#include "base/arena.h"
#include "base/map.h"
#include "base/order.h"
#include "base/progress.h"
#include "base/rng.h"
#include "mcast/bounds.h"

#include <stdlib.h>
#include <string.h>

/* Pairs of a group and a member's switch from which on it would take too long. */
static const uint64_t PAIRS_MAX = 4000000;

enum nearness { UNKNOWN, FAR, NEAR };

/* Groups of a switch that may leave it to the same neighbours. */
struct kind {
	uint32_t sw;
	uint64_t peers; /* first of its bits in `bits` */
	uint32_t n;	/* groups */
};

struct exits {
	const struct fab_mcast_problem *p;
	struct fab_roots_one *roots; /* NULL: the problem has them */
	size_t words;
	/* candidates of the group at hand, which many large groups have in common */
	uint64_t *set; /* [words] */
	uint8_t radius;
	uint8_t *near;	/* [n_switches] enum nearness: within radius - 1 hops of one */
	uint32_t *kind; /* [n_switches] of groups with these candidates, FAB_NONE */
	FAB_VEC(struct kind) kinds;
	FAB_VEC(uint64_t) bits;
	struct fab_map64 *known; /* digest of switch and bits to kind */
	/* of the switch being matched */
	uint32_t *room;	 /* [peers] cables to a neighbour */
	uint32_t *load;	 /* [peers] groups that leave to it */
	uint32_t *taken; /* [kinds * peers] of a kind to a neighbour */
	uint32_t *queue, *from_peer, *from_kind;
	struct fab_bound *out;
	struct fab_arena arena;
	FAB_VEC(uint64_t) proof; /* `peers` of the kinds that prove it */
};

static size_t words_of(const struct fab_fabric *f, uint32_t sw)
{
	return (f->peer_first[sw + 1] - f->peer_first[sw] + 63) / 64;
}

/* Is a switch within radius - 1 hops of a candidate? True when that is not known. */
static bool is_near(const struct exits *x, uint32_t sw)
{
	const struct fab_fabric *f = x->p->f;
	unsigned hops = x->radius - 1u;
	bool found = fab_roots_has(x->set, sw);
	const uint8_t *row;

	if (x->near[sw] != UNKNOWN)
		return x->near[sw] == NEAR;
	for (uint32_t i = f->peer_first[sw]; i < f->peer_first[sw + 1] && hops && !found;
	     i++)
		found = fab_roots_has(x->set, f->peer[i]);
	if (!found && hops > 1 && !fab_dist_is_whole(x->p->dist)) {
		found = true; /* maybe: no row is made for a bound */
	} else if (!found && hops > 1) {
		row = fab_dist_row(x->p->dist, sw);
		for (size_t w = 0; w < x->words && !found; w++)
			for (uint64_t left = x->set[w]; left && !found; left &= left - 1)
				found = row[w * 64 + (size_t)__builtin_ctzll(left)] <=
					hops;
	}
	x->near[sw] = found ? NEAR : FAR;
	return found;
}

/* The candidates of a group are those at hand. */
static void set_group(struct exits *x, uint32_t group)
{
	const struct fab_groups *g = x->p->groups;
	size_t bytes = x->words * sizeof(*x->set);
	const uint64_t *bits;
	uint8_t radius;

	if (x->roots) {
		radius = fab_roots_one_find(x->roots, g->sw + g->sw_first[group],
					    fab_group_n_switches(g, group));
		bits = x->roots->bits;
	} else {
		radius = fab_roots_radius(x->p->roots, group);
		bits = fab_roots_bits(x->p->roots, group);
	}
	if (radius == x->radius && !memcmp(x->set, bits, bytes))
		return;
	x->radius = radius;
	memcpy(x->set, bits, bytes);
	memset(x->near, UNKNOWN, x->p->f->n_switches);
	memset(x->kind, 0xff, x->p->f->n_switches * sizeof(*x->kind));
}

/* The neighbours that a group may leave a switch to, as bits behind the others. */
static void push_exits(struct exits *x, uint32_t sw)
{
	const struct fab_fabric *f = x->p->f;
	bool is_root = fab_roots_has(x->set, sw);
	size_t at = x->bits.n;

	for (size_t w = 0; w < words_of(f, sw); w++)
		FAB_PUSH(&x->bits, 0);
	for (uint32_t i = f->peer_first[sw]; i < f->peer_first[sw + 1]; i++)
		if (is_root || is_near(x, f->peer[i]))
			x->bits.v[at + (i - f->peer_first[sw]) / 64] |=
				(uint64_t)1 << ((i - f->peer_first[sw]) % 64);
}

/* Exits of the groups with the switches of `group`, n of them. */
static void add_groups(struct exits *x, uint32_t group, uint32_t n)
{
	const struct fab_groups *g = x->p->groups;
	const uint32_t *sw = g->sw + g->sw_first[group];
	uint32_t n_sw = fab_group_n_switches(g, group);
	size_t words, at;

	set_group(x, group);
	for (uint32_t i = 0; i < n_sw; i++) {
		uint32_t *kind = &x->kind[sw[i]];

		if (*kind != FAB_NONE) {
			x->kinds.v[*kind].n += n;
			continue;
		}
		push_exits(x, sw[i]);
		/* Equal exits of a switch are one kind. */
		words = words_of(x->p->f, sw[i]);
		at = x->bits.n - words;
		*kind = fab_map64_put(x->known,
				      fab_hash_words(x->bits.v + at, words, sw[i]),
				      (uint32_t)x->kinds.n);
		if (*kind < x->kinds.n && x->kinds.v[*kind].sw == sw[i] &&
		    !memcmp(x->bits.v + x->kinds.v[*kind].peers, x->bits.v + at,
			    words * sizeof(uint64_t))) {
			x->kinds.v[*kind].n += n;
			x->bits.n = at;
		} else {
			*kind = (uint32_t)x->kinds.n;
			FAB_PUSH(&x->kinds, ((struct kind){sw[i], at, n}));
		}
	}
}

/* Make room for one group of `kind` by moving others; false: not with this cap. */
static bool move_others(struct exits *x, const struct kind *kinds, uint32_t kind,
			uint32_t n_kinds, uint32_t n_peers, uint32_t cap)
{
	uint32_t head = 0, tail = 0;

	memset(x->from_kind, 0xff, n_peers * sizeof(*x->from_kind));
	memset(x->from_peer, 0xff, n_kinds * sizeof(*x->from_peer));
	x->queue[tail++] = kind;
	x->from_peer[kind] = n_peers; /* where it starts */
	while (head < tail) {
		uint32_t k = x->queue[head++];

		for (uint32_t p = 0; p < n_peers; p++) {
			if (!(x->bits.v[kinds[k].peers + p / 64] >> (p % 64) & 1) ||
			    x->from_kind[p] != FAB_NONE)
				continue;
			x->from_kind[p] = k;
			if (x->load[p] < cap * x->room[p]) {
				x->load[p]++;
				for (uint32_t at = p; at != n_peers;) {
					uint32_t of = x->from_kind[at];

					x->taken[of * n_peers + at]++;
					at = x->from_peer[of];
					if (at != n_peers)
						x->taken[of * n_peers + at]--;
				}
				return true;
			}
			for (uint32_t u = 0; u < n_kinds; u++)
				if (x->from_peer[u] == FAB_NONE &&
				    x->taken[u * n_peers + p]) {
					x->from_peer[u] = p;
					x->queue[tail++] = u;
				}
		}
	}
	return false;
}

/*
 * No room for one more of a kind at this cap: the kinds that the search came to can leave
 * to the neighbours that it came to only, and those are full. They prove cap + 1.
 */
static void note(struct exits *x, const struct kind *kinds, uint32_t n_kinds,
		 uint32_t n_peers, uint32_t cap)
{
	const struct fab_fabric *f = x->p->f;
	struct fab_bound *b = x->out;
	uint32_t sw = kinds[0].sw, first = f->peer_first[sw];

	if (cap < b->value)
		return;
	fab_bound_fini(b);
	*b = (struct fab_bound){
		.kind = FAB_BOUND_MATCHING,
		.value = cap + 1,
		.sw = sw,
		.cable = FAB_NEW(f->arc_first[sw + 1] - f->arc_first[sw], uint32_t)};
	x->proof.n = 0;
	for (uint32_t k = 0; k < n_kinds; k++)
		if (x->from_peer[k] != FAB_NONE)
			FAB_PUSH(&x->proof, kinds[k].peers);
	for (uint32_t a = f->arc_first[sw]; a < f->arc_first[sw + 1]; a++)
		for (uint32_t p = 0; p < n_peers; p++)
			if (f->peer[first + p] == f->arc_peer[a] &&
			    x->from_kind[p] != FAB_NONE)
				b->cable[b->n_cables++] = f->arc_cable[a];
}

/* The least largest load of a switch's cables, at least `cap`. */
static uint32_t match(struct exits *x, const struct kind *kinds, uint32_t n_kinds,
		      uint32_t cap)
{
	const struct fab_fabric *f = x->p->f;
	uint32_t sw = kinds[0].sw, first = f->peer_first[sw];
	uint32_t n_peers = f->peer_first[sw + 1] - first;
	FAB_AUTO(fab_arena_free) struct fab_arena arena = FAB_ARENA_INIT;

	x->room = FAB_ARENA_NEW0(&arena, n_peers, uint32_t);
	x->load = FAB_ARENA_NEW0(&arena, n_peers, uint32_t);
	x->taken = FAB_ARENA_NEW0(&arena, (size_t)n_kinds * n_peers, uint32_t);
	x->queue = FAB_ARENA_NEW(&arena, n_kinds, uint32_t);
	x->from_peer = FAB_ARENA_NEW(&arena, n_kinds, uint32_t);
	x->from_kind = FAB_ARENA_NEW(&arena, n_peers, uint32_t);
	for (uint32_t a = f->arc_first[sw]; a < f->arc_first[sw + 1]; a++)
		for (uint32_t p = 0; p < n_peers; p++)
			x->room[p] += f->peer[first + p] == f->arc_peer[a];
	for (uint32_t k = 0; k < n_kinds; k++)
		for (uint32_t i = 0; i < kinds[k].n; i++)
			while (!move_others(x, kinds, k, n_kinds, n_peers, cap) &&
			       cap < x->p->groups->n)
				note(x, kinds, n_kinds, n_peers, cap++);
	return cap;
}

FAB_ORDER(by_switch, struct kind, sw, peers)

/* May a group leave the switch to the neighbours of one of the kinds of the proof only?
 */
static bool is_in_proof(struct exits *x, uint32_t group, uint32_t sw)
{
	const struct fab_groups *g = x->p->groups;
	const uint32_t *switches = g->sw + g->sw_first[group];
	size_t at = x->bits.n, bytes = words_of(x->p->f, sw) * sizeof(uint64_t);
	uint32_t n = fab_group_n_switches(g, group), i = 0;
	bool is_equal = false;

	while (i < n && switches[i] != sw)
		i++;
	if (i == n || n < 2)
		return false;
	set_group(x, group);
	push_exits(x, sw);
	for (size_t k = 0; k < x->proof.n && !is_equal; k++)
		is_equal = !memcmp(x->bits.v + x->proof.v[k], x->bits.v + at, bytes);
	x->bits.n = at;
	return is_equal;
}

void fab_mcast_matching_bound(const struct fab_mcast_problem *problem,
			      struct fab_bound *out)
{
	const struct fab_groups *g = problem->groups;
	uint32_t bound = 0, *n_same;
	struct exits x = {.p = problem, .out = out};

	*out = (struct fab_bound){.kind = FAB_BOUND_NONE};
	if (g->sw_first[g->n] > PAIRS_MAX)
		return;
	x.words = fab_dist_stride(problem->dist) / 64;
	if (!problem->roots)
		x.roots = fab_roots_one_new(problem->dist, &x.arena);
	x.known = fab_map64_new(1024);
	x.set = FAB_ARENA_NEW(&x.arena, x.words, uint64_t);
	x.near = FAB_ARENA_NEW(&x.arena, problem->f->n_switches, uint8_t);
	x.kind = FAB_ARENA_NEW(&x.arena, problem->f->n_switches, uint32_t);
	/* groups with the same switches are counted with the first of them */
	n_same = FAB_ARENA_NEW0(&x.arena, g->n, uint32_t);
	for (uint32_t i = 0; i < g->n; i++)
		n_same[g->same_as[i]]++;
	for (uint32_t i = 0; i < g->n; i++) {
		fab_progress_report("bound by height: exits", "groups", i, g->n);
		if (n_same[i] && fab_group_n_switches(g, i) > 1)
			add_groups(&x, i, n_same[i]);
	}
	FAB_SORT(&x.kinds, by_switch);
	for (size_t i = 0, end; i < x.kinds.n; i = end) {
		for (end = i; end < x.kinds.n && x.kinds.v[end].sw == x.kinds.v[i].sw;)
			end++;
		fab_progress_report("bound by height: matching", "sets of groups", i,
				    x.kinds.n);
		bound = match(&x, x.kinds.v + i, (uint32_t)(end - i), bound);
	}
	if (out->kind != FAB_BOUND_NONE)
		out->group = FAB_NEW(g->n, uint32_t);
	for (uint32_t i = 0; i < g->n && out->group; i++)
		if (is_in_proof(&x, i, out->sw))
			out->group[out->n_groups++] = i;
	fab_map64_free(x.known);
	FAB_FREE_ALL(x.kinds.v, x.bits.v, x.proof.v);
	fab_arena_free(&x.arena);
}

uint32_t fab_mcast_height_bound(const struct fab_mcast_problem *problem)
{
	FAB_AUTO(fab_bound_fini) struct fab_bound bound;

	fab_mcast_matching_bound(problem, &bound);
	return bound.value;
}
