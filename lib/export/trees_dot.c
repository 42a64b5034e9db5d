/* SPDX-License-Identifier: BSD-2-Clause */
#include "export/trees_dot.h"

#include "base/mem.h"
#include "export/dot.h"
#include "fabric/label.h"

#include <stdlib.h>
#include <string.h>

static void put_switch(FILE *out, const struct fab_fabric *f, uint32_t sw,
		       const char *more)
{
	char label[FAB_LABEL_SIZE];

	fprintf(out, "  n%u [label=\"", sw);
	fab_dot_put_text(out,
			 fab_label_short(fab_node_name(f, sw), label, sizeof(label)));
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
	fab_dot_put_text(out, fab_group_name(g, group));
	fprintf(out, ", by %s\";\n  node [shape=box];\n", result->engine->name);
	put_switch(out, f, root,
		   is_member[root] ? ", peripheries=2, style=filled" : ", peripheries=2");
	for (uint64_t e = t->first[group]; e < t->first[group + 1]; e++)
		put_switch(out, f, t->sw[e], is_member[t->sw[e]] ? ", style=filled" : "");
	for (uint64_t e = t->first[group]; e < t->first[group + 1]; e++)
		fprintf(out, "  n%u -> n%u [label=\"%u\"];\n",
			other_end(f, t->cable[e], t->sw[e]), t->sw[e],
			result->load[t->cable[e]]);
	fputs("}\n", out);
	free(is_member);
}

/* One line for all cables of two switches: the fullest of them, and how many there are.
 */
static void put_line(FILE *out, const struct fab_fabric *f, const uint32_t *load,
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
		"graph loads {\n  label=\"groups on the fullest cable of each two "
		"switches, by %s\";\n  node [shape=box];\n",
		result->engine->name);
	for (uint32_t s = 0; s < f->n_switches; s++)
		put_switch(out, f, s, "");
	for (uint32_t s = 0; s < f->n_switches; s++)
		for (uint32_t i = f->peer_first[s]; i < f->peer_first[s + 1]; i++)
			if (f->peer[i] > s)
				put_line(out, f, result->load, s, f->peer[i], max);
	fputs("}\n", out);
}
