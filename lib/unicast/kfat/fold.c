/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Planes of a kfat that are copies of each other: where only leaf switches are dead, an
 * engine whose choices are the same in each plane gives each alternative of a leaf the
 * tables of one plane. So one plane with one host a leaf is routed and analysed, and the
 * result is that of all planes.
 */
#include "unicast/kfat/segments.h"

#include "fabric/builder.h"
#include "unicast/analysis.h"
#include "unicast/faults.h"

#include <stdlib.h>
#include <string.h>

/* First switch of each line, if all lines have `n_planes` switches and every leaf a cable
 * to each of its lines' switches; else false. */
static bool find_first(const struct fab_kfat *k, uint32_t *first)
{
	const struct fab_fabric *f = k->f;
	FAB_AUTOFREE uint32_t *n = FAB_NEW0(k->n_lines + 1, uint32_t);
	bool are_alike = k->n_planes > 1 && !k->has_deep_lines;

	memset(first, 0xff, k->n_lines * sizeof(*first));
	for (uint32_t s = 0; s < f->n_switches; s++)
		if (k->switch_line[s] != FAB_NONE && !n[k->switch_line[s]]++)
			first[k->switch_line[s]] = s;
	for (uint32_t line = 0; line < k->n_lines; line++)
		are_alike &= n[line] == k->n_planes;
	for (uint32_t i = 0; i < k->n_leaves && are_alike; i++) {
		uint32_t sw = k->leaf[i], n_arcs = fab_degree(f, sw);

		are_alike = n_arcs == k->n_dims * k->n_planes &&
			    f->peer_first[sw + 1] - f->peer_first[sw] == n_arcs;
	}
	return are_alike;
}

/* LIDs behind each leaf if all have the same number, a multiple of the planes; else 0. */
static uint32_t lids_of_leaves(const struct fab_kfat *k, uint32_t *host)
{
	const struct fab_fabric *f = k->f;
	uint32_t all = 0;

	for (uint32_t i = 0; i < k->n_leaves; i++) {
		uint32_t sw = k->leaf[i], n = 0;

		FAB_EACH_PORT(f, sw, p) {
			uint32_t peer = fab_port_peer(f, p);

			if (peer == FAB_NONE || fab_node_is_switch(f, f->port_node[peer]))
				continue;
			if (f->node_kind[f->port_node[peer]] != FAB_ADAPTER)
				return 0;
			if (!n)
				host[i] = f->port_node[peer];
			n += fab_port_n_lids(f, peer);
		}
		if (!n || n % k->n_planes || (i && n != all))
			return 0;
		all = n;
	}
	return all;
}

static struct fab_kfat *fold_kfat(const struct fab_kfat *k, const struct fab_fabric *f,
				  const uint32_t *id)
{
	struct fab_kfat *to = FAB_NEW0(1, struct fab_kfat);
	struct fab_arena arena = FAB_ARENA_INIT;
	size_t n = (size_t)k->n_leaves * k->n_dims, n_switches = f->n_switches;

	*to = *k;
	to->f = f;
	to->n_planes = 1;
	to->leaf = FAB_ARENA_NEW(&arena, (size_t)k->n_leaves + 1, uint32_t);
	to->leaf_of = FAB_ARENA_NEW(&arena, n_switches + 1, uint32_t);
	to->switch_line = FAB_ARENA_NEW(&arena, n_switches + 1, uint32_t);
	to->coord = FAB_ARENA_NEW(&arena, n + 1, uint32_t);
	to->line_of = FAB_ARENA_NEW(&arena, n + 1, uint32_t);
	to->line_dim = FAB_ARENA_NEW(&arena, (size_t)k->n_lines + 1, uint8_t);
	memcpy(to->coord, k->coord, n * sizeof(*to->coord));
	memcpy(to->line_of, k->line_of, n * sizeof(*to->line_of));
	memcpy(to->line_dim, k->line_dim, k->n_lines);
	for (uint32_t s = 0; s < k->f->n_switches; s++)
		if (id[s] != FAB_NONE) {
			to->leaf_of[id[s]] = k->leaf_of[s];
			to->switch_line[id[s]] = k->switch_line[s];
			if (k->leaf_of[s] != FAB_NONE)
				to->leaf[k->leaf_of[s]] = id[s];
		}
	to->arena = arena;
	return to;
}

struct fab_fold *fab_fold_new(const struct fab_kfat *k)
{
	const struct fab_fabric *f = k->f;
	struct fab_fold *fold = FAB_NEW0(1, struct fab_fold);
	FAB_AUTO(fab_arena_free) struct fab_arena arena = FAB_ARENA_INIT;
	uint32_t *first = FAB_ARENA_NEW(&arena, (size_t)k->n_lines + 1, uint32_t);
	uint32_t *host = FAB_ARENA_NEW(&arena, (size_t)k->n_leaves + 1, uint32_t);
	uint32_t *id = FAB_ARENA_NEW(&arena, (size_t)f->n_nodes + 1, uint32_t);
	bool *is_kept = FAB_ARENA_NEW0(&arena, (size_t)f->n_nodes + 1, bool);
	struct fab_builder *b;
	int rc = -1;

	*fold = (struct fab_fold){.of = k, .n_planes = k->n_planes};
	if (find_first(k, first))
		fold->n_lids = lids_of_leaves(k, host);
	if (fold->n_lids) {
		for (uint32_t i = 0; i < k->n_leaves; i++)
			is_kept[k->leaf[i]] = is_kept[host[i]] = true;
		for (uint32_t line = 0; line < k->n_lines; line++)
			is_kept[first[line]] = true;
		b = fab_builder_new();
		for (uint32_t i = 0; i < f->n_nodes; i++)
			id[i] = is_kept[i] ? fab_builder_copy_node(b, f, i) : FAB_NONE;
		for (uint32_t c = 0; c < f->n_cables; c++)
			if (id[f->port_node[f->cable_a[c]]] != FAB_NONE &&
			    id[f->port_node[f->cable_b[c]]] != FAB_NONE)
				fab_builder_copy_cable(b, f, c, id);
		rc = fab_builder_finish(b, f->source, f->format, NULL, &fold->f, NULL);
	}
	if (!rc) {
		fold->kfat = fold_kfat(k, fold->f, id);
		fold->original = FAB_NEW((size_t)fold->f->n_switches + 1, uint32_t);
		fold->copies = FAB_NEW((size_t)fold->f->n_switches + 1, uint32_t);
		for (uint32_t s = 0; s < f->n_switches; s++)
			if (id[s] != FAB_NONE) {
				fold->original[id[s]] = s;
				fold->copies[id[s]] =
					k->leaf_of[s] == FAB_NONE ? k->n_planes : 1;
			}
	} else {
		free(fold);
		fold = NULL;
	}
	return fold;
}

void fab_fold_free(struct fab_fold *fold)
{
	if (!fold)
		return;
	fab_kfat_free(fold->kfat);
	fab_fabric_free(fold->f);
	FAB_FREE_ALL(fold->original, fold->copies, fold);
}

struct fab_faults *fab_fold_faults(const struct fab_fold *fold,
				   const struct fab_faults *faults)
{
	struct fab_faults *to = fab_faults_new(fold->f);

	for (size_t i = 0; i < faults->named.n; i++) {
		struct fab_fault fault = faults->named.v[i];
		uint32_t leaf = fault.is_cable ? FAB_NONE : fold->of->leaf_of[fault.id];

		if (leaf == FAB_NONE) {
			fab_faults_free(to);
			return NULL;
		}
		fab_faults_kill_switch(to, fold->kfat->leaf[leaf]);
	}
	return to;
}

static void rename_pairs(const struct fab_fold *fold, struct fab_pair_list *pairs)
{
	for (size_t i = 0; i < pairs->n; i++) {
		struct fab_pairs *p = &pairs->v[i];

		p->from = fold->original[p->from];
		p->to = fold->original[p->to];
		p->at = p->at == FAB_NONE ? FAB_NONE : fold->original[p->at];
	}
}

void fab_fold_undo(const struct fab_fold *fold, struct fab_analysis *j)
{
	const struct fab_fabric *f = fold->f, *of = fold->of->f;

	j->cycle_channels *= fold->n_planes;
	rename_pairs(fold, &j->valleys);
	rename_pairs(fold, &j->unreached);
	for (size_t i = 0; i < j->cycle.n; i++) {
		struct fab_channel *c = &j->cycle.v[i];
		uint32_t to = fold->original[f->arc_peer[f->arc_first[c->sw] + c->arc]];

		c->sw = fold->original[c->sw];
		c->arc = 0;
		while (of->arc_peer[of->arc_first[c->sw] + c->arc] != to)
			c->arc++;
	}
}
