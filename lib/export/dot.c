/* SPDX-License-Identifier: BSD-2-Clause */
/* Pictures for Graphviz: fabrics, trees, loads, and machines that boot. */
#include "export/dot.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/order.h"
#include "base/rng.h"
#include "base/sets.h"
#include "base/text.h"
#include "base/units.h"
#include "export/slurm.h"
#include "fabric/label.h"
#include "fabric/ranks.h"
#include "fabric/shape.h"

/* Parallel cables: between the same two boxes of the picture. */
struct edge {
	uint32_t upper, lower, cable;
};

struct dot {
	FILE *out;
	const struct fab_fabric *f;
	struct fab_boxes boxes;
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
static uint32_t node_of(const struct dot *d, uint32_t node)
{
	const struct fab_fabric *f = d->f;

	if (fab_node_is_switch(f, node))
		return d->boxes.v[d->boxes.of_switch[node]].first;
	return f->node_host[node] == FAB_NONE
		       ? node
		       : f->n_nodes + d->boxes.group_of[f->node_host[node]];
}

static void put_short_name(FILE *out, const struct fab_fabric *f, uint32_t sw)
{
	char label[FAB_LABEL_SIZE];

	put_text(out, fab_label_short(fab_node_name(f, sw), label, sizeof(label)));
}

/* Lines of fab_boxes_hosts(), in a label behind `gap`. */
static void put_hosts(FILE *out, const char *hosts, const char *gap)
{
	for (const char *at = hosts; at && *at; at += strcspn(at, "\n")) {
		at += *at == '\n';
		fprintf(out, "%s%.*s", gap, (int)strcspn(at, "\n"), at);
		gap = "\\n";
	}
}

static void put_switches(struct dot *d)
{
	const struct fab_fabric *f = d->f;
	/* how many switches have the short name, by its first one */
	uint32_t *n_equal = FAB_ARENA_NEW0(&d->boxes.arena, f->n_switches, uint32_t);
	uint32_t *first = FAB_ARENA_NEW(&d->boxes.arena, f->n_switches, uint32_t);
	FAB_AUTO(fab_strmap_free_at)
	struct fab_strmap *map = fab_strmap_new(f->n_switches);

	for (uint32_t s = 0; s < f->n_switches; s++) {
		char label[FAB_LABEL_SIZE];

		fab_label_short(fab_node_name(f, s), label, sizeof(label));
		first[s] = fab_strmap_put(map, label, strlen(label), s);
		n_equal[first[s]]++;
	}
	for (uint32_t i = 0; i < d->boxes.n; i++) {
		const struct fab_box *b = &d->boxes.v[i];
		unsigned long long guid = f->node_guid[b->first];
		bool is_pod = b->n_switches > 1;

		fprintf(d->out, "  n%u [%slabel=\"", b->first,
			is_pod ? "shape=box3d, " : "");
		put_short_name(d->out, f, b->first);
		if (!is_pod) {
			/* the GUID below the name where others have the same */
			if (n_equal[first[b->first]] > 1)
				fprintf(d->out, "\\n0x%016llx", guid);
			put_hosts(d->out, b->hosts, "\\n");
			fprintf(d->out, "\", tooltip=\"0x%016llx\"];\n", guid);
			continue;
		}
		if (b->last != b->first) {
			fputs(" .. ", d->out);
			put_short_name(d->out, f, b->last);
		}
		fprintf(d->out, "\\n%u switches", b->n_switches);
		if (b->n_lowest != b->n_switches)
			fprintf(d->out, ", %u of the lowest rank", b->n_lowest);
		put_hosts(d->out, b->hosts, "\\n");
		fputs("\"];\n", d->out);
	}
}

static int by_rank(const void *x, const void *y, void *boxes)
{
	const struct fab_box *v = boxes;
	const struct fab_box *a = &v[*(const uint32_t *)x], *b = &v[*(const uint32_t *)y];

	FAB_ORDER_BY(b, a, rank);
	return (a->first > b->first) - (a->first < b->first);
}

/* The hosts that are cabled as host h, if that is the first of them. */
static void put_group(struct dot *d, uint32_t h)
{
	FAB_AUTOFREE FAB_VEC(const char *) names = {0};

	for (uint32_t k = h; d->boxes.group_of[h] == h && k < d->f->n_hosts; k++)
		if (d->boxes.group_of[k] == h)
			FAB_PUSH(&names, d->boxes.names.of_host[k]);
	if (names.n == 1) {
		fprintf(d->out, "  n%u [shape=ellipse, label=", d->f->n_nodes + h);
		put_quoted(d->out, fab_host_name(d->f, h));
		fputs("];\n", d->out);
	} else if (names.n) {
		fprintf(d->out, "  n%u [style=rounded, label=\"", d->f->n_nodes + h);
		put_hosts(d->out, fab_boxes_hosts(&d->boxes, names.v, (uint32_t)names.n),
			  "");
		fputs("\"];\n", d->out);
	}
}

static void put_others(struct dot *d)
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
	for (uint32_t h = 0; h < f->n_hosts; h++)
		put_group(d, h);
}

/* Graphviz draws the first end of an edge above the second. */
static bool is_above(const struct dot *d, uint32_t a, uint32_t b)
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

FAB_ORDER(by_boxes, struct edge, upper, lower, cable)

static void put_edges(struct dot *d, uint32_t n_cables)
{
	const struct fab_fabric *f = d->f;
	struct edge *edges = FAB_ARENA_NEW(&d->boxes.arena, n_cables, struct edge);
	size_t n_edges = 0;

	for (uint32_t c = 0; c < n_cables; c++) {
		uint32_t x = f->port_node[f->cable_a[c]], y = f->port_node[f->cable_b[c]];
		uint32_t a = node_of(d, x), b = node_of(d, y);

		if (a != b || x == y) /* not those within a pod */
			edges[n_edges++] = is_above(d, a, b) ? (struct edge){a, b, c}
							     : (struct edge){b, a, c};
	}
	qsort(edges, n_edges, sizeof(*edges), by_boxes);
	for (size_t i = 0, end; i < n_edges; i = end) {
		const struct edge *e = &edges[i];
		unsigned width = fab_cable_width(f, e->cable);
		const char *speed = fab_speed_name(fab_cable_speed(f, e->cable));
		size_t n;

		for (end = i + 1; end < n_edges && edges[end].upper == e->upper &&
				  edges[end].lower == e->lower;)
			end++;
		n = end - i;
		fprintf(d->out, "  n%u -- n%u", e->upper, e->lower);
		if (n > 1)
			fprintf(d->out,
				" [label=\"%zu\", penwidth=%.1f, tooltip=\"%zu x %ux%s\"];\n",
				n, n < 16 ? 1 + (double)n / 4 : 5.0, n, width, speed);
		else
			fprintf(d->out, " [tooltip=\"%ux%s\"];\n", width, speed);
	}
}

/* The boxes of each rank side by side, the highest first; of a fold in rows that are not
 * too wide. Where all have hosts, as in a torus, there is nothing to rank. */
static void put_ranks(struct dot *d, bool in_rows)
{
	uint32_t n = d->boxes.n;
	const uint32_t *order = fab_arena_sorted(&d->boxes.arena, n, by_rank, d->boxes.v);

	if (!n || d->boxes.v[order[0]].rank == d->boxes.v[order[n - 1]].rank)
		return;
	for (uint32_t i = 0, end, above = 0; i < n; i = end) {
		const struct fab_box *b = &d->boxes.v[order[i]];
		uint32_t points = fab_box_points(&d->boxes, b);

		for (end = i + 1; end < n && d->boxes.v[order[end]].rank == b->rank;
		     end++) {
			points += fab_box_points(&d->boxes, &d->boxes.v[order[end]]);
			if (in_rows && points > FAB_BOXES_ROW_POINTS)
				break;
		}
		/* in columns below the row before it */
		for (uint32_t k = i; k < end && i && k - i < i - above &&
				     d->boxes.v[order[i - 1]].rank == b->rank;
		     k++)
			fprintf(d->out, "  n%u -- n%u [style=invis, weight=100];\n",
				d->boxes.v[order[above + k - i]].first,
				d->boxes.v[order[k]].first);
		above = i;
		if (b->rank == FAB_NONE || end - i < 2)
			continue;
		fputs("  {rank=same", d->out);
		for (uint32_t k = i; k < end; k++)
			fprintf(d->out, "; n%u", d->boxes.v[order[k]].first);
		fputs("}\n", d->out);
	}
}

void fab_export_dot(FILE *out, const struct fab_fabric *f,
		    const struct fab_dot_options *options)
{
	struct dot d = {.out = out, .f = f};
	bool fold = options && options->fold;
	bool without_hosts = fold || (options && options->without_hosts);

	fab_boxes_init(&d.boxes, f, fold ? FAB_BOXES_PICTURE : FAB_BOXES_EACH);
	fputs("graph fabric {\n  label=", out);
	put_quoted(out, f->source);
	fputs(";\n  size=\"31.25,500\";\n  node [shape=box, fontname=\"sans-serif\"];\n",
	      out);
	if (d.boxes.n > LARGE)
		fputs("  graph [splines=line, ranksep=4, nodesep=0.05, mclimit=0.05, nslimit=1, nslimit1=1, maxiter=10];\n",
		      out);
	put_switches(&d);
	if (!without_hosts)
		put_others(&d);
	put_ranks(&d, fold);
	put_edges(&d, without_hosts ? f->n_switch_links : f->n_cables);
	fputs("}\n", out);
	fab_boxes_fini(&d.boxes);
}

static void put_tree_switch(FILE *out, const struct fab_fabric *f, uint32_t sw,
			    const char *more)
{
	fprintf(out, "  n%u [label=\"", sw);
	put_short_name(out, f, sw);
	fprintf(out, "\", tooltip=\"0x%016llx\"%s];\n",
		(unsigned long long)f->node_guid[sw], more);
}

void fab_export_tree_dot(FILE *out, const struct fab_mcast_problem *problem,
			 const struct fab_mcast_result *result, uint32_t group)
{
	const struct fab_fabric *f = problem->f;
	const struct fab_groups *g = problem->groups;
	const struct fab_forest *t = &result->forest;
	FAB_AUTOFREE bool *is_member = FAB_NEW0((size_t)f->n_switches + 1, bool);
	uint32_t root = t->root[group];

	for (uint64_t i = g->sw_first[group]; i < g->sw_first[group + 1]; i++)
		is_member[g->sw[i]] = true;
	fputs("digraph tree {\n  label=\"", out);
	put_text(out, f->source);
	fputs(": ", out);
	put_text(out, fab_group_name(g, group));
	fprintf(out, ", by %s\";\n  node [shape=box];\n", result->engine->name);
	put_tree_switch(out, f, root,
			is_member[root] ? ", peripheries=2, style=filled"
					: ", peripheries=2");
	for (uint64_t e = t->first[group]; e < t->first[group + 1]; e++)
		put_tree_switch(out, f, t->sw[e],
				is_member[t->sw[e]] ? ", style=filled" : "");
	for (uint64_t e = t->first[group]; e < t->first[group + 1]; e++) {
		uint32_t a = f->port_node[f->cable_a[t->cable[e]]];
		uint32_t b = f->port_node[f->cable_b[t->cable[e]]];

		fprintf(out, "  n%u -> n%u [label=\"%u\"];\n", a == t->sw[e] ? b : a,
			t->sw[e], result->load[t->cable[e]]);
	}
	fputs("}\n", out);
}

void fab_export_loads_dot(FILE *out, const struct fab_mcast_problem *problem,
			  const struct fab_mcast_result *result)
{
	const struct fab_fabric *f = problem->f;
	uint32_t max = 0;

	for (uint32_t c = 0; c < f->n_switch_links; c++)
		max = result->load[c] > max ? result->load[c] : max;
	fputs("graph loads {\n  label=\"", out);
	put_text(out, f->source);
	fprintf(out,
		": groups on the fullest cable of each two switches, by %s\";\n  node [shape=box];\n",
		result->engine->name);
	for (uint32_t s = 0; s < f->n_switches; s++)
		put_tree_switch(out, f, s, "");
	for (uint32_t s = 0; s < f->n_switches; s++)
		FAB_EACH_PEER(f, s, i) {
			uint32_t peer = f->peer[i], most = 0, n = 0;

			/* One line for all cables of two switches: the fullest of
			 * them, and how many there are. */
			FAB_EACH_ARC(f, s, a)
				if (f->arc_peer[a] == peer && peer > s) {
					uint32_t load = result->load[f->arc_cable[a]];

					n++;
					most = load > most ? load : most;
				}
			if (!n)
				continue;
			fprintf(out, "  n%u -- n%u [color=", s, peer);
			if (most) /* from green to red */
				fprintf(out, "\"%.3f 1 0.8\", penwidth=%.1f, label=\"%u",
					0.33 * (1 - (double)most / max),
					1 + 3 * (double)most / max, most);
			if (most && n > 1)
				fprintf(out, " of %u cables", n);
			fputs(most ? "\"];\n" : "grey];\n", out);
		}
	fputs("}\n", out);
}

/* ---- machines that boot ---- */

enum { KINDS_SHOWN = 4 };

/* A machine with the loads of a mapping; siblings that are alike share a box. */
struct machine_dot {
	FILE *out;
	const struct fab_machine *m;
	const struct fab_batch *batch;
	const uint32_t *interface_of;
	uint32_t *down, *up;	/* [n_vertices] nodes on the segment above, each way */
	uint32_t *n_booting;	/* [n_vertices] nodes of the batch below */
	uint64_t *look;		/* [n_vertices] equal where subtrees and loads are */
	uint32_t *first, *next; /* children of a vertex */
	bool *is_used;		/* [n_servers] */
	double least_mbps;	/* least share of a node on any segment */
};

static uint32_t sharers_of(const struct machine_dot *d, uint32_t v)
{
	return d->down[v] > d->up[v] ? d->down[v] : d->up[v];
}

/* Levels from the nodes to the servers, the fullest segments first, equals together. */
static int cmp_child(const void *x, const void *y, void *dot)
{
	const struct machine_dot *d = dot;
	uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;
	uint32_t n = sharers_of(d, a), k = sharers_of(d, b);

	if (d->m->level_of[a] != d->m->level_of[b])
		return d->m->level_of[a] < d->m->level_of[b] ? -1 : 1;
	if (n != k)
		return n > k ? -1 : 1;
	if (d->look[a] != d->look[b])
		return d->look[a] < d->look[b] ? -1 : 1;
	return a < b ? -1 : a > b;
}

/* A box for n alike vertices, of which v is the first, and the segment above it: as wide
 * and red as full. `least` sharers: those of the one with the fewest. */
static void put_kind(const struct machine_dot *d, uint32_t v, uint32_t n, uint32_t least)
{
	const struct fab_machine *m = d->m;
	const struct fab_machine_level *level = &m->level[m->level_of[v]];
	uint32_t p = m->parent[v], most = sharers_of(d, v);
	uint32_t n_nodes = m->end_node[v] - m->first_node[v];
	uint32_t n_servers = 0;
	double capacity = m->capacity_mbps[v], share = most ? capacity / most : INFINITY;
	char name[FAB_MACHINE_NAME_BYTES], rate[FAB_HUMAN_BYTES];

	/* Servers that serve nodes below a vertex. */
	memset(d->is_used, 0, m->n_servers * sizeof(*d->is_used));
	FAB_EACH_NODE(d->batch, node) {
		uint32_t interface = d->interface_of[node];
		bool *is_used;

		if (node < m->first_node[v] || node >= m->end_node[v] ||
		    interface == FAB_NONE)
			continue;
		is_used = &d->is_used[m->interface_server[interface]];
		n_servers += !*is_used;
		*is_used = true;
	}
	if (n == 1)
		fab_machine_vertex_name(m, v, name);
	else
		snprintf(name, sizeof(name), "%u x %s", n, level->unit);
	fprintf(d->out, "  v%u [%slabel=\"", v,
		level->is_server ? "style=rounded, " : "");
	put_text(d->out, name);
	if (n_nodes > 1 && d->n_booting[v])
		fprintf(d->out, "\\n%u of %u nodes, by %u server%s", d->n_booting[v],
			n_nodes, n_servers, n_servers == 1 ? "" : "s");
	else if (n_nodes > 1)
		fprintf(d->out, "\\n%u nodes", n_nodes);
	fprintf(d->out, "\"];\n  v%u -- v%u [", level->is_server ? v : p,
		level->is_server ? p : v);
	if (!most) {
		fputs("color=grey", d->out);
	} else { /* from green to red */
		double full = isfinite(share) ? d->least_mbps / share : 0;

		fprintf(d->out, "color=\"%.3f 1 0.8\", penwidth=%.1f", 0.33 * (1 - full),
			1 + 3 * full);
	}
	fputs(", label=\"", d->out);
	put_text(d->out, level->segment);
	if (isfinite(capacity))
		fprintf(d->out, " %s", fab_human_mbps(capacity, rate));
	if (most && least < most)
		fprintf(d->out, "\\n%u to %u nodes", least, most);
	else if (most)
		fprintf(d->out, "\\n%u node%s", most, most == 1 ? "" : "s");
	if (isfinite(share))
		fprintf(d->out, "\\n%s each", fab_human_mbps(share, rate));
	fputs("\"];\n", d->out);
}

/* Boxes of the children of a vertex, and below the first of each kind, where nodes boot
 * or no sibling shows it. */
static void put_children(struct machine_dot *d, uint32_t v)
{
	FAB_AUTOFREE FAB_VEC(uint32_t) child = {0};
	uint32_t n_kinds = 0;

	for (uint32_t c = d->first[v]; c != FAB_NONE; c = d->next[c])
		FAB_PUSH(&child, c);
	if (child.n)
		qsort_r(child.v, child.n, sizeof(*child.v), cmp_child, d);
	for (size_t i = 0, end; i < child.n; i = end) {
		uint32_t at = child.v[i], level = d->m->level_of[at];
		bool is_rest;

		n_kinds = i && d->m->level_of[child.v[i - 1]] == level ? n_kinds + 1 : 1;
		is_rest = n_kinds == KINDS_SHOWN;
		for (end = i + 1; end < child.n &&
				  d->m->level_of[child.v[end]] == level &&
				  (is_rest || d->look[child.v[end]] == d->look[at]);)
			end++;
		put_kind(d, at, (uint32_t)(end - i), sharers_of(d, child.v[end - 1]));
		if (n_kinds == 1 || sharers_of(d, at))
			put_children(d, at);
	}
}

void fab_export_machine_dot(FILE *out, const struct fab_machine *m,
			    const struct fab_batch *batch, const uint32_t *interface_of,
			    const char *algorithm)
{
	FAB_AUTO(fab_arena_free) struct fab_arena a = FAB_ARENA_INIT;
	uint32_t nv = m->n_vertices;
	struct machine_dot d = {.out = out,
				.m = m,
				.batch = batch,
				.interface_of = interface_of,
				.down = FAB_ARENA_NEW0(&a, nv, uint32_t),
				.up = FAB_ARENA_NEW0(&a, nv, uint32_t),
				.n_booting = FAB_ARENA_NEW0(&a, nv, uint32_t),
				.look = FAB_ARENA_NEW0(&a, nv, uint64_t),
				.first = fab_arena_none(&a, nv),
				.next = FAB_ARENA_NEW(&a, nv, uint32_t),
				.is_used =
					FAB_ARENA_NEW(&a, (size_t)m->n_servers + 1, bool),
				.least_mbps = INFINITY};

	FAB_EACH_NODE(batch, node) {
		uint32_t v = m->node_vertex[node], s;

		for (uint32_t x = v; x != FAB_NONE; x = m->parent[x])
			d.n_booting[x]++;
		if (interface_of[node] == FAB_NONE)
			continue;
		s = m->interface_vertex[interface_of[node]];
		for (struct fab_climb c = {v, s}; fab_climb_next(&c, m);)
			(c.is_up ? d.up : d.down)[c.at]++;
	}

	for (uint32_t v = nv; v-- > 1;) {
		uint32_t p = m->parent[v];
		const double content[] = {m->capacity_mbps[v], m->level_of[v], d.down[v],
					  d.up[v], d.n_booting[v]};

		d.look[v] = fab_hash_bytes(content, sizeof(content), d.look[v]);
		d.look[p] += d.look[v];
		d.next[v] = d.first[p];
		d.first[p] = v;
		if (sharers_of(&d, v))
			d.least_mbps = fmin(d.least_mbps,
					    m->capacity_mbps[v] / sharers_of(&d, v));
	}
	fputs("graph machine {\n  label=\"", out);
	put_text(out, m->source);
	fputs(": ", out);
	put_text(out, batch->text);
	fputs(" by ", out);
	put_text(out, algorithm);
	fputs(": nodes on the fullest segment of each kind\";\n  node [shape=box];\n  v0 [label=\"",
	      out);
	put_text(out, m->level[0].unit);
	fputs("\"];\n", out);
	put_children(&d, 0);
	fputs("}\n", out);
}

/*
 * Which switches share a box of a picture: single ones, those that are alike, ranks and
 * pods, folded as far as the width of the picture needs; and the hosts of each box.
 *//* Digest of the boxes that a single switch is joined to. */
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
		FAB_EACH_ARC(f, s, k) {
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
		FAB_EACH_PEER(f, s, k) {
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
	uint32_t *seen = fab_arena_none(&boxes->arena, boxes->n);
	struct {
		FAB_VEC(const char *) of;
	} *names = FAB_ARENA_NEW0(&boxes->arena, boxes->n, __typeof__(*names));

	for (uint32_t h = 0; h < f->n_hosts; h++)
		FAB_EACH_HOST_PORT(f, h, p) {
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

		FAB_EACH_HOST_PORT(f, h, p) {
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
		FAB_EACH_PEER(boxes->f, s, k) {
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
	return fab_arena_sorted(&boxes->arena, boxes->n, by_rank_and_name, boxes);
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
