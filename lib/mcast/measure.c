/* SPDX-License-Identifier: BSD-2-Clause */
/* Loads of cables, explanations of trees, rates, and groups that share MLIDs. */
#include "mcast/route.h"

#include "base/arena.h"
#include "base/order.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void fab_efi_of(const struct fab_mcast_problem *problem,
		const struct fab_mcast_result *result, struct fab_efi *out)
{
	const struct fab_fabric *f = problem->f;
	const struct fab_groups *g = problem->groups;
	uint32_t n = f->n_switch_links;
	FAB_AUTOFREE uint32_t *load = FAB_NEW0(f->n_host_links, uint32_t);

	*out = (struct fab_efi){0};
	for (uint32_t c = 0; c < n; c++) {
		if (result->load[c] > out->max) {
			out->max = result->load[c];
			out->n_at_max = 0;
		}
		out->n_at_max += out->max && result->load[c] == out->max;
		out->tree_links += result->load[c];
	}
	out->mean = n ? (double)out->tree_links / n : 0;
	/* Cables of hosts: groups of two endpoints or more that an adapter is in. */
	out->max_all = out->max;
	for (uint32_t i = 0; i < g->n; i++)
		for (uint64_t m = g->first[i];
		     fab_group_size(g, i) > 1 && m < g->first[i + 1]; m++) {
			uint32_t c = f->port_cable[g->member[m]];

			if (c == FAB_NONE || c < n)
				continue; /* port 0 of a switch */
			if (++load[c - n] > out->max_all)
				out->max_all = load[c - n];
		}
	out->max_load = out->mean_load = result->weighted ? 0 : (double)NAN;
	for (uint32_t c = 0; result->weighted && c < n; c++) {
		out->max_load = fmax(out->max_load, result->weighted[c]);
		out->mean_load += result->weighted[c] / n;
	}
	for (uint32_t i = 0; i < result->forest.n; i++)
		if (result->forest.height[i] > out->max_height)
			out->max_height = result->forest.height[i];
}

uint32_t *fab_efi_histogram(const struct fab_fabric *f, const uint32_t *load,
			    uint32_t max)
{
	uint32_t *count = FAB_NEW0((size_t)max + 1, uint32_t);

	for (uint32_t c = 0; c < f->n_switch_links; c++)
		count[load[c]]++;
	return count;
}

/* Is cable a to be listed before b? */
static bool is_before(const uint32_t *load, const double *weighted, uint32_t a,
		      uint32_t b)
{
	if (weighted && (weighted[a] < weighted[b] || weighted[a] > weighted[b]))
		return weighted[a] > weighted[b];
	return load[a] != load[b] ? load[a] > load[b] : a < b;
}

uint32_t fab_efi_fullest(const struct fab_fabric *f, const uint32_t *load,
			 const double *weighted, uint32_t want, uint32_t *out)
{
	uint32_t n = 0;

	for (uint32_t c = 0; c < f->n_switch_links; c++) {
		uint32_t at;

		if (!load[c] ||
		    (n == want && (!want || !is_before(load, weighted, c, out[n - 1]))))
			continue;
		for (at = n < want ? n++ : n - 1;
		     at && is_before(load, weighted, c, out[at - 1]); at--)
			out[at] = out[at - 1];
		out[at] = c;
	}
	return n;
}

FAB_ORDER(by_depth, struct fab_tree_link, depth, sw)

void fab_mcast_explain(const struct fab_mcast_problem *p,
		       const struct fab_mcast_result *r, uint32_t group,
		       struct fab_explained *out)
{
	const struct fab_groups *g = p->groups;
	const struct fab_forest *t = &r->forest;
	uint32_t n = p->f->n_switches;
	FAB_AUTO(fab_arena_free) struct fab_arena arena = FAB_ARENA_INIT;
	struct fab_roots_one *one = fab_roots_one_new(p->dist, &arena);
	uint32_t *rooted = FAB_ARENA_NEW0(&arena, n, uint32_t);
	uint32_t *at = fab_arena_none(&arena, n);
	const uint8_t *row;

	*out = (struct fab_explained){.root = t->root[group], .least_rooted = FAB_NONE};
	for (uint32_t i = 0; i < t->n; i++)
		if (t->root[i] != FAB_NONE)
			rooted[t->root[i]]++;
	out->radius = fab_roots_one_find(one, g->sw + g->sw_first[group],
					 fab_group_n_switches(g, group));
	for (uint32_t s = 0; s < n; s++) {
		if (!fab_roots_has(one->bits, s))
			continue;
		out->n_candidates++;
		out->is_candidate |= s == out->root;
		if (rooted[s] < out->least_rooted)
			out->least_rooted = rooted[s];
	}
	out->n_rooted = rooted[out->root];
	row = fab_dist_row(p->dist, out->root);
	for (uint64_t e = t->first[group]; e < t->first[group + 1]; e++) {
		struct fab_tree_link l = {.sw = t->sw[e], .cable = t->cable[e]};

		l.parent = fab_cable_peer(p->f, l.cable, l.sw);
		l.load = r->load[l.cable];
		/* Cables that lead as near to the root as the one that was taken. */
		const struct fab_fabric *f = p->f;

		l.least = l.load;
		for (uint32_t a = f->arc_first[l.sw]; a < f->arc_first[l.sw + 1]; a++) {
			uint32_t c = f->arc_cable[a], load = r->load[c] + (c != l.cable);

			if (row[f->arc_peer[a]] > row[l.parent])
				continue;
			l.n_choices++;
			l.least = load < l.least ? load : l.least;
		}
		at[l.sw] = (uint32_t)out->link.n;
		FAB_PUSH(&out->link, l);
	}
	for (size_t i = 0; i < out->link.n; i++)
		for (uint32_t sw = out->link.v[i].sw; at[sw] != FAB_NONE;
		     sw = out->link.v[at[sw]].parent)
			out->link.v[i].depth++;
	for (uint64_t m = g->first[group]; m < g->first[group + 1]; m++)
		for (uint32_t sw = fab_port_switch(p->f, g->member[m]);
		     at[sw] != FAB_NONE; sw = out->link.v[at[sw]].parent)
			out->link.v[at[sw]].n_members++;
	FAB_SORT(&out->link, by_depth);
}

void fab_explained_fini(struct fab_explained *explained)
{
	free(explained->link.v);
	*explained = (struct fab_explained){.root = FAB_NONE};
}

struct fab_sharer *fab_mcast_sharers(const struct fab_mcast_result *r, uint32_t cable,
				     uint32_t *n)
{
	const struct fab_forest *t = &r->forest;
	struct fab_sharer *out = FAB_NEW((size_t)r->load[cable] + 1, struct fab_sharer);

	*n = 0;
	for (uint32_t g = 0; g < t->n; g++)
		for (uint64_t e = t->first[g]; e < t->first[g + 1]; e++)
			if (t->cable[e] == cable && *n < r->load[cable])
				out[(*n)++] = (struct fab_sharer){g, t->sw[e]};
	return out;
}

double fab_mcast_slowest_mbps(const struct fab_mcast_problem *problem,
			      const uint32_t *load, double default_mbps,
			      bool is_signalling)
{
	const struct fab_fabric *f = problem->f;
	const struct fab_groups *g = problem->groups;
	FAB_AUTOFREE uint32_t *trees = FAB_NEW0((size_t)f->n_cables + 1, uint32_t);
	double least = INFINITY;

	memcpy(trees, load, f->n_switch_links * sizeof(*load));
	for (uint64_t i = 0; i < g->first[g->n]; i++)
		trees[f->port_cable[g->member[i]]]++;
	for (uint32_t c = 0; c < f->n_cables; c++) {
		double gbps =
			is_signalling ? fab_cable_gbps(f, c) : fab_cable_data_gbps(f, c);
		double mbps = gbps * 1000;

		if (trees[c])
			least = fmin(least, (mbps > 0 ? mbps : default_mbps) / trees[c]);
	}
	return least;
}

int fab_groups_share(const struct fab_fabric *f, const struct fab_groups *groups,
		     uint32_t n_mlids, struct fab_groups **out, struct fab_err *err)
{
	struct fab_groups_builder *b = fab_groups_builder_new(f);

	for (uint32_t m = 0; m < n_mlids && m < groups->n; m++) {
		const char *name = fab_group_name(groups, m);

		fab_groups_builder_begin(b, name, strlen(name));
		for (uint64_t g = m; g < groups->n; g += n_mlids)
			for (uint64_t i = groups->first[g]; i < groups->first[g + 1]; i++)
				fab_groups_builder_add(b, groups->member[i]);
	}
	return fab_groups_builder_finish(b, false, out, err);
}

uint32_t fab_shared_max_efi(const struct fab_fabric *f,
			    const struct fab_mcast_result *result, uint32_t n_groups,
			    uint32_t n_mlids)
{
	const struct fab_forest *t = &result->forest;
	uint32_t max = 0;
	FAB_AUTOFREE uint32_t *load = FAB_NEW0(f->n_switch_links, uint32_t);

	for (uint32_t m = 0; m < t->n; m++) {
		uint32_t sharing = (n_groups - m - 1) / n_mlids + 1;

		for (uint64_t e = t->first[m]; e < t->first[m + 1]; e++) {
			load[t->cable[e]] += sharing;
			if (load[t->cable[e]] > max)
				max = load[t->cable[e]];
		}
	}
	return max;
}
