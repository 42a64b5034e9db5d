/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which switches share a box of a picture: single ones, those that are alike, ranks and
 * pods, folded as far as the width of the picture needs; and the hosts of each box.
 */
#include "export/dot_boxes.h"

#include "base/map.h"
#include "base/mem.h"
#include "base/order.h"
#include "base/rng.h"
#include "base/sets.h"
#include "base/text.h"
#include "export/slurm.h"
#include "fabric/ranks.h"
#include "fabric/shape.h"

#include <stdlib.h>
#include <string.h>

/* Digest of the boxes that a single switch is joined to. */
struct likeness {
	uint64_t digest;
	uint32_t rank, sw;
};

FAB_ORDER(by_likeness, struct likeness, rank, digest, sw)

/* Unite single switches of one rank that are joined to the same sets of `parent` by as
 * many cables; leaves not with `above_leaves`. */
static void unite_alike(struct fab_boxes *boxes, const struct fab_ranks *ranks,
			uint32_t *parent, bool above_leaves)
{
	const struct fab_fabric *f = boxes->f;
	struct likeness *v = FAB_ARENA_NEW(&boxes->arena, f->n_switches, struct likeness);
	uint32_t *size = FAB_ARENA_NEW0(&boxes->arena, f->n_switches, uint32_t), n = 0;

	for (uint32_t s = 0; s < f->n_switches; s++)
		size[fab_sets_root(parent, s)]++;
	for (uint32_t s = 0; s < f->n_switches; s++) {
		uint64_t digest = 0;

		if (size[fab_sets_root(parent, s)] > 1 ||
		    (above_leaves && !ranks->rank[s]))
			continue;
		for (uint32_t k = f->arc_first[s]; k < f->arc_first[s + 1]; k++) {
			uint64_t state = fab_sets_root(parent, f->arc_peer[k]);

			digest += fab_mix64(state + 1);
		}
		v[n++] = (struct likeness){digest, ranks->rank[s], s};
	}
	if (n)
		qsort(v, n, sizeof(*v), by_likeness);
	for (uint32_t i = 1; i < n; i++)
		if (v[i].rank == v[i - 1].rank && v[i].digest == v[i - 1].digest)
			fab_sets_unite(parent, v[i - 1].sw, v[i].sw);
}

/*
 * Unite the switches of a pod. In a tree a pod is what cables join below the top rank
 * (fabric/ranks.h); single switches, those of the top rank too, share a box when they are
 * alike. In a dragonfly a pod is a group. Other shapes have none.
 */
static void unite_pods(struct fab_boxes *boxes, const struct fab_shape *shape,
		       const struct fab_ranks *ranks, uint32_t *parent)
{
	const struct fab_fabric *f = boxes->f;

	for (uint32_t s = 0; s < f->n_switches; s++)
		for (uint32_t k = f->peer_first[s]; k < f->peer_first[s + 1]; k++) {
			uint32_t peer = f->peer[k];

			if (shape->group ? shape->group[s] == shape->group[peer]
					 : ranks->n_roots && !ranks->is_root[s] &&
						   !ranks->is_root[peer])
				fab_sets_unite(parent, s, peer);
		}
	if (!shape->group && ranks->n_roots)
		unite_alike(boxes, ranks, parent, false);
}

static bool is_before(const struct fab_fabric *f, uint32_t a, uint32_t b)
{
	return fab_text_natural_cmp(fab_node_name(f, a), fab_node_name(f, b)) < 0;
}

/* Boxes of the switches that are united. O(cables log cables). */
static void make_boxes(struct fab_boxes *boxes, const struct fab_ranks *ranks,
		       uint32_t *parent)
{
	const struct fab_fabric *f = boxes->f;
	uint32_t *n_hosts = FAB_ARENA_NEW(&boxes->arena, f->n_switches, uint32_t);

	fab_ranks_count_hosts(f, n_hosts);
	boxes->n = 0;
	for (uint32_t s = 0; s < f->n_switches; s++) {
		uint32_t root = fab_sets_root(parent, s), rank = ranks->rank[s];
		struct fab_box *b;

		boxes->of_switch[s] = root == s ? boxes->n++ : boxes->of_switch[root];
		b = &boxes->v[boxes->of_switch[s]];
		if (root == s)
			*b = (struct fab_box){.first = s, .last = s, .rank = rank};
		if (rank < b->rank) {
			b->first = b->last = s;
			b->rank = rank;
			b->n_lowest = 0;
		}
		b->n_switches++;
		b->n_hosts += n_hosts[s];
		if (rank != b->rank)
			continue;
		b->n_lowest++;
		b->first = is_before(f, s, b->first) ? s : b->first;
		b->last = is_before(f, b->last, s) ? s : b->last;
	}
}

/* ---- hosts as lists ---- */

enum { LINE = 26, LINES = 4 }; /* characters, and lines of a host list */

const char *fab_boxes_hosts(struct fab_boxes *boxes, const char *const *names, uint32_t n)
{
	char *list = fab_hostlist_fold(names, n), *out = NULL;
	uint32_t n_lines = 0;

	fab_append(&out, "", "%u host%s", n, n == 1 ? "" : "s");
	for (const char *at = list; *at; n_lines++) {
		size_t len = strlen(at), end = len;

		if (n_lines == LINES) {
			fab_append(&out, "", "\n...");
			break;
		}
		for (size_t i = 0; len > LINE && i < len; i++)
			if (at[i] == ',' && (i < LINE || end == len)) {
				end = i + 1;
				if (i >= LINE)
					break;
			}
		fab_append(&out, "", "\n%.*s", (int)end, at);
		at += end;
	}
	free(list);
	fab_arena_own(&boxes->arena, free, out);
	return out;
}

/* The hosts of each box, by all of their cables. */
static void list_hosts(struct fab_boxes *boxes)
{
	const struct fab_fabric *f = boxes->f;
	uint32_t *seen = FAB_ARENA_NEW(&boxes->arena, boxes->n, uint32_t);
	struct {
		FAB_VEC(const char *) of;
	} *names = FAB_ARENA_NEW0(&boxes->arena, boxes->n, __typeof__(*names));

	memset(seen, 0xff, boxes->n * sizeof(*seen));
	for (uint32_t h = 0; h < f->n_hosts; h++)
		for (uint32_t i = f->host_first_adapter[h];
		     i < f->host_first_adapter[h + 1]; i++)
			for (uint32_t p = f->node_first_port[f->host_adapter[i]];
			     p < f->node_first_port[f->host_adapter[i] + 1]; p++) {
				uint32_t s = fab_port_switch(f, p), box;

				if (s == FAB_NONE)
					continue;
				box = boxes->of_switch[s];
				if (seen[box] != h)
					FAB_PUSH(&names[box].of, boxes->names.of_host[h]);
				seen[box] = h;
			}
	for (uint32_t i = 0; i < boxes->n; i++) {
		if (names[i].of.n)
			boxes->v[i].hosts = fab_boxes_hosts(boxes, names[i].of.v,
							    (uint32_t)names[i].of.n);
		free(names[i].of.v);
	}
}

/* Hosts with cables to the same switches are one node of the picture. */
static void group_hosts(struct fab_boxes *boxes)
{
	const struct fab_fabric *f = boxes->f;
	FAB_AUTO(fab_map64_free_at) struct fab_map64 *first = fab_map64_new(f->n_hosts);

	boxes->group_of = FAB_ARENA_NEW(&boxes->arena, f->n_hosts, uint32_t);
	for (uint32_t h = 0; h < f->n_hosts; h++) {
		uint64_t digest = 1;

		for (uint32_t i = f->host_first_adapter[h];
		     i < f->host_first_adapter[h + 1]; i++)
			for (uint32_t p = f->node_first_port[f->host_adapter[i]];
			     p < f->node_first_port[f->host_adapter[i] + 1]; p++) {
				uint64_t s = fab_port_switch(f, p);

				digest += s == FAB_NONE ? 0 : fab_mix64(s + 1);
			}
		boxes->group_of[h] = fab_map64_put(first, digest, h);
	}
}

/* ---- how much is folded: as little as makes rows of FAB_BOXES_ROW_POINTS ---- */

enum {
	CHARACTER = 8,
	FRAME = 40,	  /* points, of a box and the gap to the next one */
	MOST_EDGES = 300, /* in a picture whose ranks are one row each */
	MOST_ROWS = 6,
	MOST_UNRANKED = 24, /* boxes of a picture without ranks */
};

/* Stages of the fold. */
enum fold {
	FOLD_NOTHING,	   /* a box for each switch */
	FOLD_ALIKE,	   /* above the leaves, those with the same neighbours */
	FOLD_ABOVE_LEAVES, /* a box for each rank above the leaves */
	FOLD_PODS,
	FOLD_ROOTS, /* and one for all roots */
	FOLD_RANKS, /* one for each rank */
};

uint32_t fab_box_points(const struct fab_boxes *boxes, const struct fab_box *b)
{
	char label[FAB_LABEL_SIZE];
	size_t most = b->n_switches > 1 ? 34 : 0, len;

	len = strlen(
		fab_label_short(fab_node_name(boxes->f, b->first), label, sizeof(label)));
	if (b->n_switches > 1)
		len += 4 + strlen(fab_label_short(fab_node_name(boxes->f, b->last), label,
						  sizeof(label)));
	most = len > most ? len : most;
	for (const char *at = b->hosts; at; at = strchr(at + 1, '\n')) {
		const char *end = strchr(at + 1, '\n');

		len = end ? (size_t)(end - at) : strlen(at);
		most = len > most ? len : most;
	}
	return (uint32_t)most * CHARACTER + FRAME;
}

/* Is the picture narrow enough, in so few rows that its lines can be followed? */
static bool is_narrow(const struct fab_boxes *boxes, bool has_ranks, uint32_t most_rows)
{
	uint32_t points[256] = {0}, n_edges = 0, most = 0;
	FAB_AUTO(fab_map64_free_at) struct fab_map64 *edges = fab_map64_new(64);

	for (uint32_t s = 0; s < boxes->f->n_switches; s++)
		for (uint32_t k = boxes->f->peer_first[s];
		     k < boxes->f->peer_first[s + 1]; k++) {
			uint64_t a = boxes->of_switch[s],
				 b = boxes->of_switch[boxes->f->peer[k]];

			if (a < b && n_edges <= MOST_EDGES)
				n_edges += fab_map64_put(edges, a << 32 | b, n_edges) ==
					   n_edges;
		}
	if (!has_ranks)
		return boxes->n <= MOST_UNRANKED;
	for (uint32_t i = 0; i < boxes->n; i++) {
		uint32_t rank = boxes->v[i].rank < 255 ? boxes->v[i].rank : 255;

		points[rank] += fab_box_points(boxes, &boxes->v[i]);
		most = points[rank] > most ? points[rank] : most;
	}
	/* lines that pass other rows take their place */
	return n_edges <= (most_rows > 1 ? MOST_EDGES / 4 : MOST_EDGES) &&
	       most <= most_rows * FAB_BOXES_ROW_POINTS;
}

static void unite_rank(struct fab_boxes *boxes, const struct fab_ranks *ranks,
		       uint32_t *parent, enum fold stage)
{
	const struct fab_fabric *f = boxes->f;
	uint32_t *part = FAB_ARENA_NEW(&boxes->arena, f->n_switches, uint32_t);
	uint32_t *first = FAB_ARENA_NEW(&boxes->arena, f->n_switches, uint32_t);
	FAB_AUTO(fab_map64_free_at) struct fab_map64 *of = fab_map64_new(64);

	fab_fabric_components(f, part);
	for (uint32_t s = 0; s < f->n_switches; s++) {
		uint64_t rank = ranks->rank[s];
		bool is_chosen = stage == FOLD_RANKS ||
				 (stage == FOLD_ROOTS && ranks->is_root[s]) ||
				 (stage == FOLD_ABOVE_LEAVES && rank);

		first[s] = is_chosen ? fab_map64_put(of, rank << 32 | part[s], s) : s;
		fab_sets_unite(parent, first[s], s);
	}
}

/* The boxes of a fold, of the first stage that makes a narrow picture. */
static void fold(struct fab_boxes *boxes, const struct fab_shape *shape,
		 const struct fab_ranks *ranks, uint32_t *parent)
{
	bool has_ranks = ranks->n_roots > 0;

	for (enum fold stage = FOLD_NOTHING; stage <= FOLD_RANKS; stage++) {
		for (uint32_t s = 0; s < boxes->f->n_switches; s++)
			parent[s] = s;
		if (!has_ranks && stage != FOLD_NOTHING && stage != FOLD_RANKS &&
		    (stage != FOLD_PODS || !shape->group))
			continue;
		if (stage == FOLD_ALIKE)
			unite_alike(boxes, ranks, parent, true);
		if (stage == FOLD_PODS || stage == FOLD_ROOTS)
			unite_pods(boxes, shape, ranks, parent);
		unite_rank(boxes, ranks, parent, stage);
		make_boxes(boxes, ranks, parent);
		list_hosts(boxes);
		if (is_narrow(boxes, has_ranks,
			      stage == FOLD_ABOVE_LEAVES || stage == FOLD_ROOTS
				      ? MOST_ROWS
				      : 1))
			return;
	}
}

/* ---- pods and groups, at most MOST_BOXES of a rank ---- */

enum { FEW_SWITCHES = 64, MOST_BOXES = 48 };

static int by_rank_and_name(const void *x, const void *y, void *context)
{
	const struct fab_boxes *boxes = context;
	const struct fab_box *a = &boxes->v[*(const uint32_t *)x];
	const struct fab_box *b = &boxes->v[*(const uint32_t *)y];
	int order;

	if (a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	order = fab_text_natural_cmp(fab_node_name(boxes->f, a->first),
				     fab_node_name(boxes->f, b->first));
	return order ? order : (a->first > b->first) - (a->first < b->first);
}

uint32_t *fab_boxes_sort(struct fab_boxes *boxes)
{
	uint32_t *order = FAB_ARENA_NEW(&boxes->arena, boxes->n + 1, uint32_t);

	for (uint32_t i = 0; i < boxes->n; i++)
		order[i] = i;
	if (boxes->n)
		qsort_r(order, boxes->n, sizeof(*order), by_rank_and_name, boxes);
	return order;
}

static void fold_pods(struct fab_boxes *boxes, const struct fab_shape *shape,
		      const struct fab_ranks *ranks, uint32_t *parent)
{
	uint32_t *order;

	if (boxes->f->n_switches > FEW_SWITCHES)
		unite_pods(boxes, shape, ranks, parent);
	make_boxes(boxes, ranks, parent);
	order = fab_boxes_sort(boxes);
	for (uint32_t i = 0, end; i < boxes->n; i = end) {
		uint32_t rank = boxes->v[order[i]].rank, n;

		for (end = i; end < boxes->n && boxes->v[order[end]].rank == rank;)
			end++;
		n = end - i;
		for (uint32_t k = i + 1; k < end && n > FEW_SWITCHES; k++)
			if ((uint64_t)(k - i) * MOST_BOXES / n ==
			    (uint64_t)(k - i - 1) * MOST_BOXES / n)
				fab_sets_unite(parent, boxes->v[order[k - 1]].first,
					       boxes->v[order[k]].first);
	}
	make_boxes(boxes, ranks, parent);
	list_hosts(boxes);
}

void fab_boxes_init(struct fab_boxes *boxes, const struct fab_fabric *f,
		    enum fab_boxes_fold how)
{
	FAB_AUTO(fab_shape_free_at) struct fab_shape *shape = fab_shape_recognize(f);
	FAB_AUTO(fab_ranks_fini) struct fab_ranks ranks;
	uint32_t *parent;

	*boxes = (struct fab_boxes){.f = f};
	parent = FAB_ARENA_NEW(&boxes->arena, f->n_switches, uint32_t);
	fab_ranks_init(&ranks, f, shape);
	boxes->v = FAB_ARENA_NEW(&boxes->arena, f->n_switches, struct fab_box);
	boxes->of_switch = FAB_ARENA_NEW(&boxes->arena, f->n_switches, uint32_t);
	boxes->rank = FAB_ARENA_NEW(&boxes->arena, f->n_switches + 1, uint32_t);
	memcpy(boxes->rank, ranks.rank, f->n_switches * sizeof(*boxes->rank));
	boxes->has_ranks = ranks.n_roots > 0;
	fab_plain_names_init(&boxes->names, f);
	for (uint32_t s = 0; s < f->n_switches; s++)
		parent[s] = s;
	if (how == FAB_BOXES_PICTURE) {
		fold(boxes, shape, &ranks, parent);
	} else if (how == FAB_BOXES_PODS) {
		fold_pods(boxes, shape, &ranks, parent);
	} else {
		make_boxes(boxes, &ranks, parent);
		group_hosts(boxes);
	}
}

void fab_boxes_fini(struct fab_boxes *boxes)
{
	fab_plain_names_fini(&boxes->names);
	fab_arena_free(&boxes->arena);
}
