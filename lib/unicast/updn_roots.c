/* SPDX-License-Identifier: BSD-2-Clause */
#include "unicast/updn.h"

#include "base/mem.h"
#include "base/threads.h"
#include "fabric/graph.h"
#include "unicast/faults.h"
#include "unicast/min_hops.h"

#include <stdlib.h>
#include <string.h>

/*
 * A part without roots has the fewest hops: between roots every path is legal, so that
 * all its switches are roots. Returns how many parts of several switches these are.
 */
static uint32_t free_parts(const struct fab_fabric *f, uint32_t *rank)
{
	uint32_t *part = FAB_NEW(f->n_switches + 1, uint32_t), n_free = 0;
	uint32_t n = fab_fabric_components(f, part);
	bool *has_root = FAB_NEW0((size_t)n + 1, bool);
	bool *is_counted = FAB_NEW0((size_t)n + 1, bool);

	for (uint32_t s = 0; s < f->n_switches; s++)
		has_root[part[s]] |= !rank[s];
	for (uint32_t s = 0; s < f->n_switches; s++) {
		bool has_peer = f->peer_first[s + 1] > f->peer_first[s];

		if (has_root[part[s]])
			continue;
		rank[s] = 0;
		n_free += has_peer && !is_counted[part[s]];
		is_counted[part[s]] |= has_peer;
	}
	free(part);
	free(has_root);
	free(is_counted);
	return n_free;
}

uint32_t fab_updn_rank(const struct fab_fabric *f, const struct fab_faults *faults,
		       const uint32_t *roots, uint32_t n_roots, uint32_t *rank)
{
	const struct fab_graph g = fab_graph_of_arcs(f);
	uint32_t *queue = FAB_NEW((size_t)f->n_switches + 1, uint32_t);

	memcpy(queue, roots, n_roots * sizeof(*roots));
	fab_graph_search(&g, faults ? faults->arc_is_dead : NULL, n_roots, rank, queue,
			 NULL);
	free(queue);
	return free_parts(f, rank);
}

/* Live host ports of each switch, those that --hca left out, too, and the first of their
 * adapters, or the switch itself. */
struct ends {
	uint32_t *n, *first; /* [n_switches] */
	uint32_t *part;	     /* [n_switches] of what is alive */
};

static void ends_init(struct ends *e, const struct fab_fabric *f,
		      const struct fab_faults *faults)
{
	const struct fab_graph g = fab_graph_of_arcs(f);

	*e = (struct ends){.n = FAB_NEW0((size_t)f->n_switches + 1, uint32_t),
			   .first = FAB_NEW((size_t)f->n_switches + 1, uint32_t),
			   .part = FAB_NEW((size_t)f->n_switches + 1, uint32_t)};
	fab_graph_parts(&g, faults ? faults->arc_is_dead : NULL, e->part);
	for (uint32_t s = 0; s < f->n_switches; s++) {
		e->n[s] = fab_switch_is_live(faults, s) ? f->switch_n_left_out[s] : 0;
		e->first[s] = s;
	}
	for (uint32_t c = f->n_switch_links; c < f->n_switch_links + f->n_host_links;
	     c++) {
		uint32_t sw = f->port_node[f->cable_a[c]];
		uint32_t node = f->port_node[f->cable_b[c]];

		if (f->node_kind[node] != FAB_ADAPTER || !fab_cable_is_live(faults, c))
			continue;
		if (e->first[sw] == sw)
			e->first[sw] = node;
		e->n[sw]++;
	}
}

static void ends_fini(struct ends *e)
{
	free(e->n);
	free(e->first);
	free(e->part);
}

/* Pairs towards one switch. */
static struct fab_updn_loss try_one(const struct fab_fabric *f, const struct ends *e,
				    struct fab_min_hops *m, uint32_t to)
{
	struct fab_updn_loss loss = {.from = FAB_NONE, .to = FAB_NONE};

	fab_min_hops_to(m, to);
	for (uint32_t s = 0; s < f->n_switches; s++) {
		uint64_t pairs = (uint64_t)e->n[to] * (e->n[s] - (s == to));

		if (!e->n[s] || e->part[s] != e->part[to])
			continue;
		loss.all += pairs;
		if (m->hops[s] != FAB_NONE)
			continue;
		loss.pairs += pairs;
		if (loss.from == FAB_NONE) {
			loss.from = e->first[s];
			loss.to = e->first[to];
		}
	}
	return loss;
}

struct fab_updn_loss fab_updn_try_roots(const struct fab_fabric *f,
					const struct fab_faults *faults,
					const uint32_t *roots, uint32_t n_roots,
					int n_threads)
{
	uint32_t *rank = FAB_NEW((size_t)f->n_switches + 1, uint32_t);
	struct fab_updn_loss *of =
		FAB_NEW0((size_t)f->n_switches + 1, struct fab_updn_loss);
	struct fab_updn_loss sum = {.from = FAB_NONE, .to = FAB_NONE};
	struct ends e;

	n_threads = fab_threads_for(n_threads, (uint64_t)f->n_switches *
						       f->arc_first[f->n_switches]);
	fab_updn_rank(f, faults, roots, n_roots, rank);
	ends_init(&e, f, faults);
#pragma omp parallel num_threads(n_threads)
	{
		struct fab_min_hops m;

		fab_min_hops_init(&m, f, faults, rank);
#pragma omp for schedule(dynamic)
		for (uint32_t s = 0; s < f->n_switches; s++)
			if (e.n[s])
				of[s] = try_one(f, &e, &m, s);
		fab_min_hops_fini(&m);
	}
	for (uint32_t s = 0; s < f->n_switches; s++) {
		if (sum.from == FAB_NONE && of[s].pairs) {
			sum.from = of[s].from;
			sum.to = of[s].to;
		}
		sum.all += of[s].all;
		sum.pairs += of[s].pairs;
	}
	ends_fini(&e);
	free(of);
	free(rank);
	return sum;
}
