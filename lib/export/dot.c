/* SPDX-License-Identifier: BSD-2-Clause */
#include "export/dot.h"

#include "base/map.h"
#include "base/mem.h"
#include "base/text.h"
#include "export/dot_fold.h"
#include "fabric/check.h"
#include "fabric/label.h"
#include "fabric/shape.h"

#include <stdlib.h>
#include <string.h>

/* Parallel cables: between the same two boxes of the picture. */
struct edge {
	uint32_t upper, lower, cable;
};

struct dot {
	FILE *out;
	const struct fab_fabric *f;
	struct fab_shape *shape;
	struct fab_dot_boxes boxes;
};

enum { LARGE = 100 }; /* boxes; of more dot draws straight lines, and in less time */

void fab_dot_put_text(FILE *out, const char *text)
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
	fab_dot_put_text(out, text);
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

	fab_dot_put_text(d->out,
			 fab_label_short(fab_node_name(d->f, sw), label, sizeof(label)));
}

/* A single switch; its GUID below the name where others have the same. */
static void put_switch(const struct dot *d, uint32_t sw, const struct fab_strmap *first,
		       const uint32_t *n_equal)
{
	unsigned long long guid = d->f->node_guid[sw];
	char label[FAB_LABEL_SIZE];

	fab_label_short(fab_node_name(d->f, sw), label, sizeof(label));
	fprintf(d->out, "  n%u [label=\"", sw);
	fab_dot_put_text(d->out, label);
	if (n_equal[fab_strmap_get(first, label, strlen(label))] > 1)
		fprintf(d->out, "\\n0x%016llx", guid);
	fprintf(d->out, "\", tooltip=\"0x%016llx\"];\n", guid);
}

/* A pod: from which to which switch, and how many of what. */
static void put_pod(const struct dot *d, const struct fab_dot_box *b)
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
		const struct fab_dot_box *b = &d->boxes.v[i];

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
	const struct fab_dot_box *v = boxes;
	const struct fab_dot_box *a = &v[*(const uint32_t *)x],
				 *b = &v[*(const uint32_t *)y];

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
		const struct fab_dot_box *b = &d->boxes.v[order[i]];

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

	fab_dot_boxes_init(&d.boxes, f, d.shape, fold);
	fputs("graph fabric {\n  label=", out);
	put_quoted(out, f->source);
	fputs(";\n  node [shape=box, fontname=\"sans-serif\"];\n", out);
	if (d.boxes.n > LARGE)
		fputs("  graph [splines=line, ranksep=4, nodesep=0.05, mclimit=0.05, "
		      "nslimit=1, nslimit1=1, maxiter=10];\n",
		      out);
	put_switches(&d);
	if (!without_hosts)
		put_others(&d);
	put_ranks(&d);
	put_edges(&d, without_hosts ? f->n_switch_links : f->n_cables);
	fputs("}\n", out);
	fab_dot_boxes_fini(&d.boxes);
	fab_shape_free(d.shape);
}
