/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * As OpenSM's engine updn, by a list of roots or without: then a switch is a root when
 * the ports of channel adapters, SHARP nodes included, stand at one distance from it,
 * more than 90 % of them, and no other distance has more than 5 %. Ranks are distances
 * from the roots; paths go up, then down. Without roots OpenSM falls back to the fewest
 * hops and says so in its log only. Where it is asked for, roots are the switches of the
 * top rank (fabric/ranks.h) if every pair of hosts has a path then, and where nothing is
 * found the switch nearest to all hosts.
 */
#include "unicast/balance.h"
#include "unicast/routes.h"

#include "fabric/graph.h"
#include "fabric/ranks.h"
#include "unicast/faults.h"
#include "unicast/updn.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* hosts at each distance of a switch: one bar over 90 %, and the same one alone over 5 %
 */
static bool is_root(const struct fab_fabric *f, const uint32_t *hosts, uint64_t all,
		    const uint32_t *dist, uint64_t *bars)
{
	unsigned n_high = 0, n_low = 0;

	memset(bars, 0, (f->n_switches + 1) * sizeof(*bars));
	for (uint32_t sw = 0; sw < f->n_switches; sw++)
		if (dist[sw] != FAB_NONE)
			bars[dist[sw]] += hosts[sw];
	for (uint32_t i = 0; i < f->n_switches; i++) {
		n_high += bars[i] * 10 > all * 9;
		n_low += bars[i] * 20 > all;
	}
	return n_high == 1 && n_low == 1;
}

/* What is looked up of each switch on the search for roots. */
struct look {
	uint32_t *part;
	uint32_t *hosts; /* live ports of channel adapters on it */
	uint32_t *dist;	 /* of the last search */
	uint32_t *order;
};

static void look_init(struct look *l, const struct fab_fabric *f,
		      const struct fab_faults *faults)
{
	*l = (struct look){.part = FAB_NEW(f->n_switches + 1, uint32_t),
			   .hosts = FAB_NEW0(f->n_switches + 1, uint32_t),
			   .dist = FAB_NEW(f->n_switches + 1, uint32_t),
			   .order = FAB_NEW(f->n_switches + 1, uint32_t)};
	fab_fabric_components(f, l->part);
	for (uint32_t c = f->n_switch_links; c < f->n_switch_links + f->n_host_links;
	     c++) {
		uint32_t kind = f->node_kind[f->port_node[f->cable_b[c]]];

		if (kind != FAB_ROUTER && fab_cable_is_live(faults, c))
			l->hosts[f->port_node[f->cable_a[c]]]++;
	}
}

static void look_fini(struct look *l)
{
	free(l->part);
	free(l->hosts);
	free(l->dist);
	free(l->order);
}

static uint32_t find_roots(const struct fab_fabric *f, const struct fab_faults *faults,
			   uint32_t *roots)
{
	uint64_t *bars = FAB_NEW(f->n_switches + 1, uint64_t);
	uint64_t *all = FAB_NEW0(f->n_switches + 1, uint64_t); /* hosts of each part */
	uint32_t n_roots = 0;
	struct look l;

	look_init(&l, f, faults);
	for (uint32_t sw = 0; sw < f->n_switches; sw++)
		all[l.part[sw]] += l.hosts[sw];
	for (uint32_t sw = 0; sw < f->n_switches; sw++)
		if (fab_faults_search(f, faults, sw, l.dist, l.order) &&
		    is_root(f, l.hosts, all[l.part[sw]], l.dist, bars))
			roots[n_roots++] = sw;
	free(all);
	free(bars);
	look_fini(&l);
	return n_roots;
}

/* Those of the list that are alive. */
static uint32_t take_roots(const struct fab_unicast_problem *problem, uint32_t *roots)
{
	bool *is_root = FAB_NEW0(problem->f->n_switches + 1, bool);
	uint32_t n = 0;

	for (uint32_t i = 0; i < problem->n_roots; i++) {
		uint32_t sw = problem->roots[i];

		if (is_root[sw] || !fab_switch_is_live(problem->faults, sw))
			continue;
		is_root[sw] = true;
		roots[n++] = sw;
	}
	free(is_root);
	return n;
}

uint32_t fab_updn_fill_roots(const struct fab_fabric *f, const struct fab_faults *faults,
			     const uint32_t *rank, uint32_t *roots, uint32_t n)
{
	/* of the part alive, by its first switch */
	uint32_t *best = FAB_NEW(f->n_switches + 1, uint32_t);
	uint64_t *least = FAB_NEW(f->n_switches + 1, uint64_t);
	struct look l;

	look_init(&l, f, faults);
	for (uint32_t sw = 0; sw < f->n_switches; sw++)
		best[sw] = FAB_NONE;
	for (uint32_t sw = 0; sw < f->n_switches; sw++) {
		uint32_t n_near =
			rank[sw] == FAB_NONE
				? fab_faults_search(f, faults, sw, l.dist, l.order)
				: 0;
		uint32_t first = sw;
		uint64_t hops = 0;

		for (uint32_t i = 0; i < n_near; i++) {
			uint32_t to = l.order[i];

			first = to < first ? to : first;
			hops += (uint64_t)l.hosts[to] * l.dist[to];
		}
		if (n_near && (best[first] == FAB_NONE || hops < least[first])) {
			best[first] = sw;
			least[first] = hops;
		}
	}
	for (uint32_t sw = 0; sw < f->n_switches; sw++)
		if (best[sw] != FAB_NONE)
			roots[n++] = best[sw];
	free(least);
	free(best);
	look_fini(&l);
	return n;
}

/* "root-x.0 (0x...)", some of them; on the heap. */
static char *names_of(const struct fab_fabric *f, const uint32_t *roots, uint32_t n)
{
	const uint32_t most = 8;
	char *text = NULL;

	for (uint32_t i = 0; i < n && i < most; i++)
		fab_append(&text, ", ", "%s (0x%016" PRIx64 ")",
			   fab_node_name(f, roots[i]), f->node_guid[roots[i]]);
	if (n > most)
		fab_append(&text, " ", "and %u more", n - most);
	return text;
}

/* Ranks of all that is alive, from the roots that are there and those that are added. */
static char *rank_all(const struct fab_unicast_problem *problem, uint32_t *roots,
		      uint32_t n_roots, bool is_top, uint32_t *rank)
{
	const struct fab_graph g = fab_graph_of_arcs(problem->f);
	const bool *is_dead = problem->faults ? problem->faults->arc_is_dead : NULL;
	uint32_t *queue = FAB_NEW(problem->f->n_switches + 1, uint32_t), n;
	char *names, *note = NULL;

	memcpy(queue, roots, n_roots * sizeof(*roots));
	fab_graph_search(&g, is_dead, n_roots, rank, queue, NULL);
	n = fab_updn_fill_roots(problem->f, problem->faults, rank, roots, n_roots);
	memcpy(queue, roots, n * sizeof(*roots));
	fab_graph_search(&g, is_dead, n, rank, queue, NULL);
	if (is_top)
		fab_append(&note, "; ", "roots: the %u switch%s of the top rank", n_roots,
			   n_roots == 1 ? "" : "es");
	if (n > n_roots) {
		names = names_of(problem->f, roots + n_roots, n - n_roots);
		fab_append(&note, "; ", "root%s taken where OpenSM finds none: %s",
			   n - n_roots == 1 ? "" : "s", names);
		free(names);
	}
	free(queue);
	return note;
}

static char *note_of(const struct fab_unicast_problem *problem, uint32_t n_roots,
		     uint32_t n_free)
{
	if (!n_roots)
		return fab_format("no %s: falls back to the fewest hops, as OpenSM does",
				  problem->n_roots ? "root of the list is alive"
						   : "roots found");
	if (n_free)
		return fab_format("no roots %s on %u of the planes: these fall back to "
				  "the fewest hops, as OpenSM does",
				  problem->n_roots ? "of the list" : "found", n_free);
	return NULL;
}

/* The live roots of the rank finder, if every pair of hosts has a path from them. */
static uint32_t take_top(const struct fab_unicast_problem *problem, uint32_t *roots)
{
	const struct fab_fabric *f = problem->f;
	struct fab_shape *shape = fab_shape_recognize(f);
	struct fab_ranks ranks;
	uint32_t n = 0;

	fab_ranks_init(&ranks, f, shape);
	for (uint32_t s = 0; s < f->n_switches; s++)
		if (ranks.is_root[s] && fab_switch_is_live(problem->faults, s))
			roots[n++] = s;
	if (n &&
	    fab_updn_try_roots(f, problem->faults, roots, n, problem->n_threads).pairs)
		n = 0;
	fab_ranks_fini(&ranks);
	fab_shape_free(shape);
	return n;
}

static int route_updn(const struct fab_unicast_problem *problem, struct fab_routes **out,
		      struct fab_err *err)
{
	const struct fab_fabric *f = problem->f;
	uint32_t *rank = FAB_NEW(f->n_switches + 1, uint32_t);
	uint32_t *roots = FAB_NEW(f->n_switches + 1, uint32_t);
	uint32_t n_roots = 0, n_free = 0;
	bool fills = problem->fills_roots, is_top = false;
	char *note;

	(void)err;
	if (problem->n_roots)
		n_roots = take_roots(problem, roots);
	else if (fills)
		is_top = (n_roots = take_top(problem, roots)) > 0;
	if (!problem->n_roots && !n_roots)
		n_roots = find_roots(f, problem->faults, roots);
	if (!fills && n_roots)
		n_free = fab_updn_rank(f, problem->faults, roots, n_roots, rank);
	note = fills ? rank_all(problem, roots, n_roots, is_top, rank)
		     : note_of(problem, n_roots, n_free);
	*out = fab_balance_route(problem, n_roots || fills ? rank : NULL);
	(*out)->note = note;
	free(roots);
	free(rank);
	return 0;
}

const struct fab_unicast_engine fab_unicast_updn = {
	.name = "updn",
	.summary = "up, then down, from the roots that OpenSM would find",
	.manual =
		"Up, then down, from the roots of `--root-guids`, else from those that "
		"OpenSM finds without a list; without roots the fewest hops, as OpenSM "
		"does. With `--root-guids=auto` from the switches of the top rank, if "
		"every pair of hosts has a path from these, else from those that OpenSM "
		"finds, else from the switch nearest to all hosts. "
		"From one root every pair has a path, and there is no credit loop.",
	.imitates_opensm = true,
	.caveat = FAB_CAVEAT_OPENSM,
	.route = route_updn,
};
