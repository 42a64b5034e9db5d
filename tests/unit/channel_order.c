/* SPDX-License-Identifier: BSD-2-Clause */
#include "unicast/vtftr/vtftr.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"

enum { N_MAX = 40, SLOTS = 7 };

/* The same by brute force. */
struct model {
	uint32_t n;
	bool edge[N_MAX][N_MAX];
};

static bool leads(const struct model *m, uint32_t from, uint32_t to)
{
	bool seen[N_MAX] = {false};
	uint32_t queue[N_MAX], n = 1;

	queue[0] = from;
	seen[from] = true;
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t v = 0; v < m->n; v++)
			if (m->edge[queue[i]][v] && !seen[v]) {
				seen[v] = true;
				queue[n++] = v;
			}
	return seen[to];
}

static enum fab_edge expected(const struct model *m, uint32_t from, uint32_t to)
{
	if (m->edge[from][to])
		return FAB_EDGE_KNOWN;
	return leads(m, to, from) ? FAB_EDGE_CYCLE : FAB_EDGE_NEW;
}

/* Any edge but one that closes a cycle is taken, in any order, dropped ones again. */
static void try_random(uint64_t seed)
{
	struct fab_rng rng;
	struct model m = {.n = 2 + (uint32_t)seed % (N_MAX - 2)};
	uint32_t key[N_MAX], n_ids = 0;
	struct {
		uint32_t from, to, id;
	} added[4000];
	struct fab_channel_order *o;

	fab_rng_init(&rng, seed);
	for (uint32_t v = 0; v < m.n; v++)
		key[v] = (uint32_t)fab_rng_below(&rng, 5);
	o = fab_channel_order_new(m.n, key, SLOTS);
	for (int i = 0; i < 2000; i++) {
		uint32_t from = (uint32_t)fab_rng_below(&rng, m.n);
		uint32_t to = (uint32_t)fab_rng_below(&rng, m.n), id;
		uint32_t slot = (from + 3 * to) % SLOTS;
		enum fab_edge want = expected(&m, from, to);

		cr_assert_eq(fab_channel_order_has(o, slot, from, to), m.edge[from][to]);
		cr_assert_eq(fab_channel_order_add(o, slot, from, to, &id), want,
			     "seed %llu, step %d", (unsigned long long)seed, i);
		if (want == FAB_EDGE_NEW) {
			m.edge[from][to] = true;
			added[n_ids].from = from;
			added[n_ids].to = to;
			added[n_ids++].id = id;
		}
		for (uint64_t back = fab_rng_below(&rng, 4) ? 0 : n_ids / 4; back;
		     back--) {
			n_ids--;
			fab_channel_order_drop(o, added[n_ids].id);
			m.edge[added[n_ids].from][added[n_ids].to] = false;
		}
	}
	fab_channel_order_free(o);
}

Test(channel_order, as_by_brute_force)
{
	for (uint64_t seed = 0; seed < 60; seed++)
		try_random(seed);
}

/* All moves to the same place: the room between labels runs out, the order stays. */
Test(channel_order, room_runs_out)
{
	enum { N = 500 };
	uint32_t key[N], id;
	struct fab_channel_order *o;

	for (uint32_t v = 0; v < N; v++)
		key[v] = v ? v : N;
	o = fab_channel_order_new(N, key, 1);
	for (uint32_t v = 1; v < N; v++)
		cr_assert_eq(fab_channel_order_add(o, 0, 0, v, &id), FAB_EDGE_NEW);
	for (uint32_t v = 2; v < N; v++)
		cr_assert_eq(fab_channel_order_add(o, 0, v, v - 1, &id), FAB_EDGE_NEW);
	for (uint32_t v = 1; v < N; v++) {
		cr_assert_eq(fab_channel_order_add(o, 0, v, 0, &id), FAB_EDGE_CYCLE);
		cr_assert_eq(fab_channel_order_add(o, 0, 1, v, &id), FAB_EDGE_CYCLE);
	}
	fab_channel_order_free(o);
}
