/* SPDX-License-Identifier: BSD-2-Clause */
#include "export/dot_fold.h"

#include "base/mem.h"
#include "base/rng.h"
#include "base/sets.h"
#include "base/text.h"
#include "fabric/ranks.h"

#include <stdlib.h>

struct folding {
	const struct fab_fabric *f;
	struct fab_ranks ranks;
	uint32_t *parent; /* sets of switches that share a box */
};

static void unite_below_top(struct folding *x)
{
	const struct fab_fabric *f = x->f;

	for (uint32_t s = 0; s < f->n_switches; s++)
		for (uint32_t k = f->peer_first[s]; k < f->peer_first[s + 1]; k++)
			if (!x->ranks.is_root[s] && !x->ranks.is_root[f->peer[k]])
				fab_sets_unite(x->parent, s, f->peer[k]);
}

static void unite_groups(struct folding *x, const struct fab_shape *shape)
{
	uint32_t *first = FAB_NEW(shape->n_groups, uint32_t);

	for (uint32_t g = 0; g < shape->n_groups; g++)
		first[g] = FAB_NONE;
	for (uint32_t s = 0; s < x->f->n_switches; s++) {
		uint32_t *of_group = &first[shape->group[s]];

		if (*of_group == FAB_NONE)
			*of_group = s;
		fab_sets_unite(x->parent, *of_group, s);
	}
	free(first);
}

/* What a single switch is joined to, boxes as they were before, in one number. */
struct likeness {
	uint64_t digest;
	uint32_t rank, sw;
};

static int by_likeness(const void *a, const void *b)
{
	const struct likeness *x = a, *y = b;

	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	if (x->digest != y->digest)
		return x->digest < y->digest ? -1 : 1;
	return (x->sw > y->sw) - (x->sw < y->sw);
}

/* Switches alone in their box that are joined to the same boxes by as many cables. */
static void unite_alike(struct folding *x)
{
	const struct fab_fabric *f = x->f;
	struct likeness *v = FAB_NEW(f->n_switches, struct likeness);
	uint32_t *size = FAB_NEW0(f->n_switches, uint32_t), n = 0;

	for (uint32_t s = 0; s < f->n_switches; s++)
		size[fab_sets_root(x->parent, s)]++;
	for (uint32_t s = 0; s < f->n_switches; s++) {
		uint64_t digest = 0;

		if (size[fab_sets_root(x->parent, s)] > 1)
			continue;
		for (uint32_t k = f->arc_first[s]; k < f->arc_first[s + 1]; k++) {
			uint64_t state = fab_sets_root(x->parent, f->arc_peer[k]);

			digest += fab_mix64(state + 1);
		}
		v[n++] = (struct likeness){digest, x->ranks.rank[s], s};
	}
	qsort(v, n, sizeof(*v), by_likeness);
	for (uint32_t i = 1; i < n; i++)
		if (v[i].rank == v[i - 1].rank && v[i].digest == v[i - 1].digest)
			fab_sets_unite(x->parent, v[i - 1].sw, v[i].sw);
	free(v);
	free(size);
}

static bool is_before(const struct fab_fabric *f, uint32_t a, uint32_t b)
{
	return fab_text_natural_cmp(fab_node_name(f, a), fab_node_name(f, b)) < 0;
}

/* Number the sets and say what each holds. */
static void fill_boxes(struct fab_dot_boxes *boxes, struct folding *x)
{
	const struct fab_fabric *f = x->f;
	uint32_t *n_hosts = FAB_NEW(f->n_switches, uint32_t);

	fab_ranks_count_hosts(f, n_hosts);
	for (uint32_t s = 0; s < f->n_switches; s++) {
		uint32_t root = fab_sets_root(x->parent, s);
		struct fab_dot_box *b;

		boxes->of_switch[s] = root == s ? boxes->n++ : boxes->of_switch[root];
		b = &boxes->v[boxes->of_switch[s]];
		if (root == s)
			*b = (struct fab_dot_box){
				.first = s, .last = s, .rank = x->ranks.rank[s]};
		if (x->ranks.rank[s] < b->rank) {
			b->first = b->last = s;
			b->rank = x->ranks.rank[s];
			b->n_lowest = 0;
		}
		b->n_switches++;
		b->n_hosts += n_hosts[s];
		if (x->ranks.rank[s] != b->rank)
			continue;
		b->n_lowest++;
		b->first = is_before(f, s, b->first) ? s : b->first;
		b->last = is_before(f, b->last, s) ? s : b->last;
	}
	free(n_hosts);
}

void fab_dot_boxes_init(struct fab_dot_boxes *boxes, const struct fab_fabric *f,
			const struct fab_shape *shape, bool fold)
{
	struct folding x = {.f = f, .parent = FAB_NEW(f->n_switches, uint32_t)};

	fab_ranks_init(&x.ranks, f, shape);
	for (uint32_t s = 0; s < f->n_switches; s++)
		x.parent[s] = s;
	if (fold && shape->group) {
		unite_groups(&x, shape);
	} else if (fold && x.ranks.n_roots) {
		unite_below_top(&x);
		unite_alike(&x);
	}
	*boxes = (struct fab_dot_boxes){.v = FAB_NEW(f->n_switches, struct fab_dot_box),
					.of_switch = FAB_NEW(f->n_switches, uint32_t)};
	fill_boxes(boxes, &x);
	fab_ranks_fini(&x.ranks);
	free(x.parent);
}

void fab_dot_boxes_fini(struct fab_dot_boxes *boxes)
{
	free(boxes->v);
	free(boxes->of_switch);
}
