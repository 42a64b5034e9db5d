/* SPDX-License-Identifier: BSD-2-Clause */
#include "export/dot.h"

#include "base/mem.h"
#include "base/text.h"
#include "fabric/check.h"
#include "fabric/label.h"
#include "fabric/tiers.h"

#include <stdlib.h>

/* Parallel cables: between the same two boxes of the picture. */
struct edge {
	uint32_t upper, lower, cable;
};

struct dot {
	FILE *out;
	const struct fab_fabric *f;
	uint32_t *tier; /* [n_switches] */
};

/* A quoted string; what would steer a terminal or Graphviz becomes \xNN in words. */
static void put_quoted(FILE *out, const char *text)
{
	char safe[4 * FAB_LABEL_SIZE];

	fab_text_safe(text, safe, sizeof(safe));
	fputc('"', out);
	for (const char *p = safe; *p; p++) {
		if (*p == '"' || *p == '\\')
			fputc('\\', out);
		fputc(*p, out);
	}
	fputc('"', out);
}

/* Boxes: switches and other nodes by node id, hosts behind them. */
static uint32_t box_of(const struct fab_fabric *f, uint32_t node)
{
	return f->node_host[node] == FAB_NONE ? node : f->n_nodes + f->node_host[node];
}

static void put_switches(const struct dot *d)
{
	char label[FAB_LABEL_SIZE];

	for (uint32_t s = 0; s < d->f->n_switches; s++) {
		fprintf(d->out, "  n%u [label=", s);
		put_quoted(d->out,
			   fab_label_short(fab_node_name(d->f, s), label, sizeof(label)));
		fprintf(d->out, ", tooltip=\"0x%016llx\"];\n",
			(unsigned long long)d->f->node_guid[s]);
	}
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

	if (!a_is_switch || !b_is_switch)
		return a_is_switch || (!b_is_switch && a < b);
	if (d->tier[a] != d->tier[b])
		return d->tier[a] != FAB_NONE &&
		       (d->tier[b] == FAB_NONE || d->tier[a] > d->tier[b]);
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

	for (uint32_t c = 0; c < n_cables; c++) {
		uint32_t a = box_of(f, f->port_node[f->cable_a[c]]);
		uint32_t b = box_of(f, f->port_node[f->cable_b[c]]);
		bool is_above = stands_above(d, a, b);

		edges[c] = (struct edge){is_above ? a : b, is_above ? b : a, c};
	}
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
	struct dot d = {.out = out, .f = f, .tier = FAB_NEW(f->n_switches, uint32_t)};
	bool without_hosts = options && options->without_hosts;

	fab_tiers(f, d.tier);
	fputs("graph fabric {\n  label=", out);
	put_quoted(out, f->source);
	fputs(";\n  node [shape=box, fontname=\"sans-serif\"];\n", out);
	put_switches(&d);
	if (!without_hosts)
		put_others(&d);
	put_edges(&d, without_hosts ? f->n_switch_links : f->n_cables);
	fputs("}\n", out);
	free(d.tier);
}
