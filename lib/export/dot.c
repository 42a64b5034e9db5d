/* SPDX-License-Identifier: BSD-2-Clause */
/* Pictures for Graphviz: first which switches share a box, then fabrics, then trees and
 * loads. */
#include "export/dot.h"

#include "base/map.h"
#include "base/mem.h"
#include "base/rng.h"
#include "base/sets.h"
#include "base/text.h"
#include "fabric/check.h"
#include "fabric/label.h"
#include "fabric/ranks.h"
#include "fabric/shape.h"

#include <stdlib.h>
#include <string.h>

struct box {
	uint32_t first, last; /* switches of its lowest rank, first and last by name */
	uint32_t rank;	      /* lowest of its switches; FAB_NONE: none has one */
	uint32_t n_lowest;    /* switches of that rank */
	uint32_t n_switches;
	uint32_t n_hosts; /* cables to host adapters */
};

struct boxes {
	uint32_t n;
	struct box *v;	     /* [n] */
	uint32_t *of_switch; /* [n_switches] */
};

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
static void fill_boxes(struct boxes *boxes, struct folding *x)
{
	const struct fab_fabric *f = x->f;
	uint32_t *n_hosts = FAB_NEW(f->n_switches, uint32_t);

	fab_ranks_count_hosts(f, n_hosts);
	for (uint32_t s = 0; s < f->n_switches; s++) {
		uint32_t root = fab_sets_root(x->parent, s);
		struct box *b;

		boxes->of_switch[s] = root == s ? boxes->n++ : boxes->of_switch[root];
		b = &boxes->v[boxes->of_switch[s]];
		if (root == s)
			*b = (struct box){
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

/*
 * A box for each switch, or with `fold` for each pod. In a tree a pod is what cables join
 * below the top rank (fabric/ranks.h); single switches, those of the top rank too, share
 * a box when they are joined to the same pods, or switches, by as many cables. In a
 * dragonfly a pod is a group. Other shapes have none. The caller frees it. O(cables log
 * cables).
 */
static void boxes_init(struct boxes *boxes, const struct fab_fabric *f,
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
	*boxes = (struct boxes){.v = FAB_NEW(f->n_switches, struct box),
				.of_switch = FAB_NEW(f->n_switches, uint32_t)};
	fill_boxes(boxes, &x);
	fab_ranks_fini(&x.ranks);
	free(x.parent);
}

static void boxes_fini(struct boxes *boxes)
{
	free(boxes->v);
	free(boxes->of_switch);
}

/* Parallel cables: between the same two boxes of the picture. */
struct edge {
	uint32_t upper, lower, cable;
};

struct dot {
	FILE *out;
	const struct fab_fabric *f;
	struct fab_shape *shape;
	struct boxes boxes;
};

enum { LARGE = 100 }; /* boxes; of more dot draws straight lines, and in less time */

static void put_text(FILE *out, const char *text)
{
	char safe[4 * FAB_LABEL_SIZE];

	fab_text_safe(text, safe, sizeof(safe));
	for (const char *p = safe; *p; p++) {
		if (*p == '"' || *p == '\\')
			fputc('\\', out);
		fputc(*p, out);
	}
}

static void put_quoted(FILE *out, const char *text)
{
	fputc('"', out);
	put_text(out, text);
	fputc('"', out);
}

/* Nodes of the picture: boxes of switches by their first switch, other nodes by node id,
 * hosts behind them. */
static uint32_t box_of(const struct dot *d, uint32_t node)
{
	const struct fab_fabric *f = d->f;

	if (fab_node_is_switch(f, node))
		return d->boxes.v[d->boxes.of_switch[node]].first;
	return f->node_host[node] == FAB_NONE ? node : f->n_nodes + f->node_host[node];
}

/* How many switches have the short name, by its first one. */
static struct fab_strmap *count_labels(const struct fab_fabric *f, uint32_t *n_equal)
{
	struct fab_strmap *first = fab_strmap_new(f->n_switches);

	for (uint32_t s = 0; s < f->n_switches; s++) {
		char label[FAB_LABEL_SIZE];

		fab_label_short(fab_node_name(f, s), label, sizeof(label));
		n_equal[s] = 0;
		n_equal[fab_strmap_put(first, label, strlen(label), s)]++;
	}
	return first;
}

static void put_short_name(const struct dot *d, uint32_t sw)
{
	char label[FAB_LABEL_SIZE];

	put_text(d->out, fab_label_short(fab_node_name(d->f, sw), label, sizeof(label)));
}

/* A single switch; its GUID below the name where others have the same. */
static void put_switch(const struct dot *d, uint32_t sw, const struct fab_strmap *first,
		       const uint32_t *n_equal)
{
	unsigned long long guid = d->f->node_guid[sw];
	char label[FAB_LABEL_SIZE];

	fab_label_short(fab_node_name(d->f, sw), label, sizeof(label));
	fprintf(d->out, "  n%u [label=\"", sw);
	put_text(d->out, label);
	if (n_equal[fab_strmap_get(first, label, strlen(label))] > 1)
		fprintf(d->out, "\\n0x%016llx", guid);
	fprintf(d->out, "\", tooltip=\"0x%016llx\"];\n", guid);
}

/* A pod: from which to which switch, and how many of what. */
static void put_pod(const struct dot *d, const struct box *b)
{
	fprintf(d->out, "  n%u [shape=box3d, label=\"", b->first);
	put_short_name(d, b->first);
	if (b->last != b->first) {
		fputs(" .. ", d->out);
		put_short_name(d, b->last);
	}
	fprintf(d->out, "\\n%u switches", b->n_switches);
	if (b->n_lowest != b->n_switches)
		fprintf(d->out, ", %u of the lowest rank", b->n_lowest);
	if (b->n_hosts)
		fprintf(d->out, "\\n%u host cable%s", b->n_hosts,
			b->n_hosts == 1 ? "" : "s");
	fputs("\"];\n", d->out);
}

static void put_switches(const struct dot *d)
{
	uint32_t *n_equal = FAB_NEW(d->f->n_switches, uint32_t);
	struct fab_strmap *first = count_labels(d->f, n_equal);

	for (uint32_t i = 0; i < d->boxes.n; i++) {
		const struct box *b = &d->boxes.v[i];

		if (b->n_switches == 1)
			put_switch(d, b->first, first, n_equal);
		else
			put_pod(d, b);
	}
	fab_strmap_free(first);
	free(n_equal);
}

static int by_rank(const void *x, const void *y, void *boxes)
{
	const struct box *v = boxes;
	const struct box *a = &v[*(const uint32_t *)x], *b = &v[*(const uint32_t *)y];

	if (a->rank != b->rank)
		return a->rank > b->rank ? -1 : 1;
	return (a->first > b->first) - (a->first < b->first);
}

/* The boxes of each rank side by side, the highest first. Where all have hosts, as in a
 * torus, there is nothing to rank. */
static void put_ranks(const struct dot *d)
{
	uint32_t *order = FAB_NEW(d->boxes.n, uint32_t), n = d->boxes.n, end;

	for (uint32_t i = 0; i < n; i++)
		order[i] = i;
	qsort_r(order, n, sizeof(*order), by_rank, d->boxes.v);
	if (d->boxes.v[order[0]].rank == d->boxes.v[order[n - 1]].rank)
		n = 0;
	for (uint32_t i = 0; i < n; i = end) {
		const struct box *b = &d->boxes.v[order[i]];

		for (end = i + 1; end < n && d->boxes.v[order[end]].rank == b->rank;)
			end++;
		if (b->rank == FAB_NONE || end - i < 2)
			continue;
		fputs("  {rank=same", d->out);
		for (uint32_t k = i; k < end; k++)
			fprintf(d->out, "; n%u", d->boxes.v[order[k]].first);
		fputs("}\n", d->out);
	}
	free(order);
}

static void put_others(const struct dot *d)
{
	const struct fab_fabric *f = d->f;

	for (uint32_t i = f->n_switches; i < f->n_nodes; i++) {
		if (f->node_host[i] != FAB_NONE)
			continue;
		fprintf(d->out, "  n%u [shape=%s, label=", i,
			f->node_kind[i] == FAB_ROUTER ? "diamond" : "point");
		put_quoted(d->out, fab_node_name(f, i));
		fputs("];\n", d->out);
	}
	for (uint32_t h = 0; h < f->n_hosts; h++) {
		fprintf(d->out, "  n%u [shape=ellipse, label=", f->n_nodes + h);
		put_quoted(d->out, fab_host_name(f, h));
		fputs("];\n", d->out);
	}
}

/* Graphviz draws the first end of an edge above the second. */
static bool stands_above(const struct dot *d, uint32_t a, uint32_t b)
{
	bool a_is_switch = a < d->f->n_switches, b_is_switch = b < d->f->n_switches;
	uint32_t a_rank, b_rank;

	if (!a_is_switch || !b_is_switch)
		return a_is_switch || (!b_is_switch && a < b);
	a_rank = d->boxes.v[d->boxes.of_switch[a]].rank;
	b_rank = d->boxes.v[d->boxes.of_switch[b]].rank;
	if (a_rank != b_rank)
		return a_rank != FAB_NONE && (b_rank == FAB_NONE || a_rank > b_rank);
	return a < b;
}

static int by_boxes(const void *x, const void *y)
{
	const struct edge *a = x, *b = y;

	if (a->upper != b->upper)
		return a->upper < b->upper ? -1 : 1;
	if (a->lower != b->lower)
		return a->lower < b->lower ? -1 : 1;
	return (a->cable > b->cable) - (a->cable < b->cable);
}

static void put_edge(const struct dot *d, const struct edge *e, size_t n)
{
	const struct fab_fabric *f = d->f;
	unsigned width = fab_cable_width(f, e->cable);
	const char *speed = fab_speed_name(fab_cable_speed(f, e->cable));

	fprintf(d->out, "  n%u -- n%u", e->upper, e->lower);
	if (n > 1)
		fprintf(d->out,
			" [label=\"%zu\", penwidth=%.1f, tooltip=\"%zu x %ux%s\"];\n", n,
			n < 16 ? 1 + (double)n / 4 : 5.0, n, width, speed);
	else
		fprintf(d->out, " [tooltip=\"%ux%s\"];\n", width, speed);
}

static void put_edges(const struct dot *d, uint32_t n_cables)
{
	const struct fab_fabric *f = d->f;
	struct edge *edges = FAB_NEW(n_cables, struct edge);
	size_t n = 0;

	for (uint32_t c = 0; c < n_cables; c++) {
		uint32_t x = f->port_node[f->cable_a[c]], y = f->port_node[f->cable_b[c]];
		uint32_t a = box_of(d, x), b = box_of(d, y);
		bool is_above = stands_above(d, a, b);

		if (a != b || x == y) /* not those within a pod */
			edges[n++] = (struct edge){is_above ? a : b, is_above ? b : a, c};
	}
	n_cables = (uint32_t)n;
	qsort(edges, n_cables, sizeof(*edges), by_boxes);
	for (size_t i = 0, end; i < n_cables; i = end) {
		end = i + 1;
		while (end < n_cables && edges[end].upper == edges[i].upper &&
		       edges[end].lower == edges[i].lower)
			end++;
		put_edge(d, &edges[i], end - i);
	}
	free(edges);
}

void fab_export_dot(FILE *out, const struct fab_fabric *f,
		    const struct fab_dot_options *options)
{
	struct dot d = {.out = out, .f = f, .shape = fab_shape_recognize(f)};
	bool fold = options && options->fold;
	bool without_hosts = fold || (options && options->without_hosts);

	boxes_init(&d.boxes, f, d.shape, fold);
	fputs("graph fabric {\n  label=", out);
	put_quoted(out, f->source);
	fputs(";\n  node [shape=box, fontname=\"sans-serif\"];\n", out);
	if (d.boxes.n > LARGE)
		fputs("  graph [splines=line, ranksep=4, nodesep=0.05, mclimit=0.05, nslimit=1, nslimit1=1, maxiter=10];\n",
		      out);
	put_switches(&d);
	if (!without_hosts)
		put_others(&d);
	put_ranks(&d);
	put_edges(&d, without_hosts ? f->n_switch_links : f->n_cables);
	fputs("}\n", out);
	boxes_fini(&d.boxes);
	fab_shape_free(d.shape);
}

static void put_tree_switch(FILE *out, const struct fab_fabric *f, uint32_t sw,
			    const char *more)
{
	char label[FAB_LABEL_SIZE];

	fprintf(out, "  n%u [label=\"", sw);
	put_text(out, fab_label_short(fab_node_name(f, sw), label, sizeof(label)));
	fprintf(out, "\", tooltip=\"0x%016llx\"%s];\n",
		(unsigned long long)f->node_guid[sw], more);
}

static uint32_t other_end(const struct fab_fabric *f, uint32_t cable, uint32_t sw)
{
	uint32_t a = f->port_node[f->cable_a[cable]];

	return a == sw ? f->port_node[f->cable_b[cable]] : a;
}

void fab_export_tree_dot(FILE *out, const struct fab_mcast_problem *problem,
			 const struct fab_mcast_result *result, uint32_t group)
{
	const struct fab_fabric *f = problem->f;
	const struct fab_groups *g = problem->groups;
	const struct fab_forest *t = &result->forest;
	bool *is_member = FAB_NEW0((size_t)f->n_switches + 1, bool);
	uint32_t root = t->root[group];

	for (uint64_t i = g->sw_first[group]; i < g->sw_first[group + 1]; i++)
		is_member[g->sw[i]] = true;
	fputs("digraph tree {\n  label=\"", out);
	put_text(out, fab_group_name(g, group));
	fprintf(out, ", by %s\";\n  node [shape=box];\n", result->engine->name);
	put_tree_switch(out, f, root,
			is_member[root] ? ", peripheries=2, style=filled"
					: ", peripheries=2");
	for (uint64_t e = t->first[group]; e < t->first[group + 1]; e++)
		put_tree_switch(out, f, t->sw[e],
				is_member[t->sw[e]] ? ", style=filled" : "");
	for (uint64_t e = t->first[group]; e < t->first[group + 1]; e++)
		fprintf(out, "  n%u -> n%u [label=\"%u\"];\n",
			other_end(f, t->cable[e], t->sw[e]), t->sw[e],
			result->load[t->cable[e]]);
	fputs("}\n", out);
	free(is_member);
}

/* One line for all cables of two switches: the fullest of them, and how many there are.
 */
static void put_load(FILE *out, const struct fab_fabric *f, const uint32_t *load,
		     uint32_t sw, uint32_t peer, uint32_t max)
{
	uint32_t most = 0, n = 0;
	double share;

	for (uint32_t a = f->arc_first[sw]; a < f->arc_first[sw + 1]; a++)
		if (f->arc_peer[a] == peer) {
			n++;
			most = load[f->arc_cable[a]] > most ? load[f->arc_cable[a]]
							    : most;
		}
	share = max ? (double)most / max : 0;
	if (!most)
		fprintf(out, "  n%u -- n%u [color=grey", sw, peer);
	else /* from green to red */
		fprintf(out,
			"  n%u -- n%u [color=\"%.3f 1 0.8\", penwidth=%.1f, label=\"%u",
			sw, peer, 0.33 * (1 - share), 1 + 3 * share, most);
	if (most && n > 1)
		fprintf(out, " of %u cables", n);
	fputs(most ? "\"];\n" : "];\n", out);
}

void fab_export_loads_dot(FILE *out, const struct fab_mcast_problem *problem,
			  const struct fab_mcast_result *result)
{
	const struct fab_fabric *f = problem->f;
	uint32_t max = 0;

	for (uint32_t c = 0; c < f->n_switch_links; c++)
		max = result->load[c] > max ? result->load[c] : max;
	fprintf(out,
		"graph loads {\n  label=\"groups on the fullest cable of each two switches, by %s\";\n  node [shape=box];\n",
		result->engine->name);
	for (uint32_t s = 0; s < f->n_switches; s++)
		put_tree_switch(out, f, s, "");
	for (uint32_t s = 0; s < f->n_switches; s++)
		for (uint32_t i = f->peer_first[s]; i < f->peer_first[s + 1]; i++)
			if (f->peer[i] > s)
				put_load(out, f, result->load, s, f->peer[i], max);
	fputs("}\n", out);
}
