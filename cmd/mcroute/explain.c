/* SPDX-License-Identifier: BSD-2-Clause */
/* fabric-mcroute: why a tree looks as it does, and which groups share a cable. */
#include "mcroute.h"

#include <math.h>
#include <stdlib.h>

/* A root of the group that is explained. */
struct root_row {
	const char *algorithm, *group, *root;
	uint64_t guid, max_height, minimal;
	uint64_t n_candidates, n_rooted, least_rooted;
	uint64_t is_candidate;
};

#define AT(member) FAB_AT(struct root_row, member)
static const struct fab_column root_columns[] = {
	{"algorithm", FAB_TEXT, "routing algorithm", 0, AT(algorithm)},
	{"group", FAB_TEXT, "group", 0, AT(group)},
	{"root", FAB_TEXT, "switch at the root of its tree", 0, AT(root)},
	{"root_guid", FAB_GUID, "GUID of it", FAB_COL_EXTRA, AT(guid)},
	{"height", FAB_UINT, "switch hops from it to the farthest member", 0,
	 AT(max_height)},
	{"least_height", FAB_UINT, "the least that any root has", 0, AT(minimal)},
	{"candidates", FAB_UINT, "switches that have this least", 0, AT(n_candidates)},
	{"is_candidate", FAB_BOOL, "the root is one of them", FAB_COL_EXTRA,
	 AT(is_candidate)},
	{"groups_rooted", FAB_UINT, "groups with this root", 0, AT(n_rooted)},
	{"least_rooted", FAB_UINT, "the least of a candidate", 0, AT(least_rooted)},
};
#undef AT

/* A cable of its tree. */
struct link_row {
	const char *algorithm, *sw, *parent;
	uint64_t port, parent_port, depth, efi, choices, least, members;
	uint64_t guid, parent_guid;
	double load;
};

#define AT(member) FAB_AT(struct link_row, member)
static const struct fab_column link_columns[] = {
	{"algorithm", FAB_TEXT, "routing algorithm", 0, AT(algorithm)},
	{"depth", FAB_UINT, "hops from the root", 0, AT(depth)},
	{"switch", FAB_TEXT, "switch", 0, AT(sw)},
	{"port", FAB_UINT, "its port towards the root", 0, AT(port)},
	{"parent", FAB_TEXT, "switch at the other end", 0, AT(parent)},
	{"parent_port", FAB_UINT, "port there", 0, AT(parent_port)},
	{"efi", FAB_UINT, "groups on the cable, this one too", 0, AT(efi)},
	{"choices", FAB_UINT, "cables of the switch that lead as near to the root", 0,
	 AT(choices)},
	{"least_efi", FAB_UINT, "what the emptiest of these would have with this group",
	 0, AT(least)},
	{"load", FAB_NUMBER, "weighted load of the cable; null without weights",
	 FAB_COL_EXTRA, AT(load)},
	{"members", FAB_UINT, "members that are reached by it", 0, AT(members)},
	{"switch_guid", FAB_GUID, "GUID of the switch", FAB_COL_EXTRA, AT(guid)},
	{"parent_guid", FAB_GUID, "GUID of the parent", FAB_COL_EXTRA, AT(parent_guid)},
};
#undef AT

static const struct fab_column sharer_columns[] = {
	{"algorithm", FAB_TEXT, "routing algorithm", 0},
	{"group", FAB_TEXT, "group on the cable", 0},
	{"root", FAB_TEXT, "switch at the root of its tree", 0},
	{"below", FAB_TEXT, "end of the cable that is farther from the root", 0},
	{"members", FAB_UINT, "members of the group", 0},
	{"load", FAB_NUMBER, "what it adds to the load; null without weights",
	 FAB_COL_EXTRA},
};

/* Which end of a cable is at a switch. */
static uint32_t port_at(const struct fab_fabric *f, uint32_t cable, uint32_t sw)
{
	uint32_t a = f->cable_a[cable];

	return f->port_node[a] == sw ? a : f->cable_b[cable];
}

static const char *plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}

/* The group's tree, before all tables. */
static void say_tree(struct fab_report *r, const struct mcroute_outcome *o, size_t i,
		     uint32_t group)
{
	const char *name = fab_group_name(o->problem.groups, group);
	const char *root, *engine = o->results[i].engine->name;
	uint32_t height = o->results[i].forest.height[group], n_least = 0;
	struct fab_explained x;

	fab_mcast_explain(&o->problem, &o->results[i], group, &x);
	root = fab_node_name(o->problem.f, x.root);
	for (size_t k = 0; k < x.link.n; k++)
		n_least += x.link.v[k].load <= x.link.v[k].least;
	if (!x.link.n)
		fab_report_answer(r, FAB_TONE_PLAIN,
				  "%s needs no cable between switches: its members are "
				  "on one.",
				  name);
	else if (x.is_candidate)
		fab_report_answer(r, FAB_TONE_PLAIN,
				  "%s by %s: its root %s is one of %u switch%s within %u "
				  "hop%s of all members, and the root of %u group%s "
				  "(least of these switches: %u).",
				  name, engine, root, x.n_candidates,
				  x.n_candidates == 1 ? "" : "es", x.radius,
				  plural(x.radius), x.n_rooted, plural(x.n_rooted),
				  x.least_rooted);
	else
		fab_report_answer(r, FAB_TONE_PLAIN,
				  "%s by %s: its root %s is %u hop%s from a member; from "
				  "%u switch%s there are %u at most.",
				  name, engine, root, height, plural(height),
				  x.n_candidates, x.n_candidates == 1 ? "" : "es",
				  x.radius);
	if (x.link.n)
		fab_report_answer(r, FAB_TONE_PLAIN,
				  "Of its %zu cable%s %u had the fewest trees of those "
				  "that lead as near to the root.",
				  x.link.n, plural(x.link.n), n_least);
	fab_explained_fini(&x);
}

void mcroute_answer_explained(struct fab_report *r, const struct mcroute_params *p,
			      const struct mcroute_outcome *o, size_t result)
{
	if (p->explain)
		say_tree(r, o, result, p->explained_group);
	if (p->explain_cable) {
		uint32_t load = o->results[result].load[p->explained_cable];

		if (load)
			fab_report_answer(
				r, FAB_TONE_PLAIN,
				"The cable %s carries %u tree%s by %s (the fullest: %u).",
				p->explain_cable, load, plural(load),
				o->results[result].engine->name, o->efi[result].max);
		else
			fab_report_answer(
				r, FAB_TONE_PLAIN, "No tree by %s is on the cable %s.",
				o->results[result].engine->name, p->explain_cable);
	}
}

static void print_roots(struct fab_report *r, const struct mcroute_outcome *o,
			const struct fab_explained *x, uint32_t group)
{
	const struct fab_fabric *f = o->problem.f;

	fab_report_table_begin(r, "explain_root", "Root of the group", root_columns,
			       FAB_COUNT(root_columns));
	for (size_t i = o->has_tables; i < o->n; i++) {
		const struct root_row row = {
			.algorithm = o->results[i].engine->name,
			.group = fab_group_name(o->problem.groups, group),
			.root = fab_node_name(f, x[i].root),
			.guid = f->node_guid[x[i].root],
			.max_height = o->results[i].forest.height[group],
			.minimal = x[i].radius,
			.n_candidates = x[i].n_candidates,
			.is_candidate = x[i].is_candidate,
			.n_rooted = x[i].n_rooted,
			.least_rooted = x[i].least_rooted,
		};

		fab_report_record(r, &row);
	}
	fab_report_table_end(r);
}

static void print_links(struct fab_report *r, const struct mcroute_outcome *o, size_t i,
			const struct fab_explained *x)
{
	const struct fab_fabric *f = o->problem.f;
	const double *weighted = o->results[i].weighted;

	for (size_t k = 0; k < x->link.n; k++) {
		const struct fab_tree_link *l = &x->link.v[k];
		const struct link_row row = {
			.algorithm = o->results[i].engine->name,
			.sw = fab_node_name(f, l->sw),
			.parent = fab_node_name(f, l->parent),
			.port = f->port_num[port_at(f, l->cable, l->sw)],
			.parent_port = f->port_num[port_at(f, l->cable, l->parent)],
			.depth = l->depth,
			.efi = l->load,
			.choices = l->n_choices,
			.least = l->least,
			.members = l->n_members,
			.guid = f->node_guid[l->sw],
			.parent_guid = f->node_guid[l->parent],
			.load = weighted ? weighted[l->cable] : (double)NAN,
		};

		fab_report_record(r, &row);
	}
}

static void print_sharers(struct fab_report *r, const struct mcroute_outcome *o,
			  uint32_t cable)
{
	const struct fab_fabric *f = o->problem.f;
	const struct fab_groups *g = o->problem.groups;
	const struct fab_weights *w = o->weights;
	struct fab_column columns[FAB_COUNT(sharer_columns)];

	mcroute_show_loads(o, sharer_columns, FAB_COUNT(sharer_columns), columns);
	fab_report_table_begin(r, "explain_cable", "Groups on the cable", columns,
			       FAB_COUNT(columns));
	for (size_t i = o->has_tables; i < o->n; i++) {
		uint32_t n;
		struct fab_sharer *v = fab_mcast_sharers(&o->results[i], cable, &n);

		for (uint32_t k = 0; k < n; k++) {
			uint32_t root = o->results[i].forest.root[v[k].group];
			const union fab_cell cells[] = {
				{.text = o->results[i].engine->name},
				{.text = fab_group_name(g, v[k].group)},
				{.text = fab_node_name(f, root)},
				{.text = fab_node_name(f, v[k].sw)},
				{.u = fab_group_size(g, v[k].group)},
				{.real = w ? w->demand[v[k].group] / w->capacity[cable]
					   : (double)NAN},
			};

			fab_report_row(r, cells);
		}
		free(v);
	}
	fab_report_table_end(r);
}

void mcroute_print_explained(struct fab_report *r, const struct mcroute_params *p,
			     const struct mcroute_outcome *o)
{
	if (p->explain) {
		struct fab_column columns[FAB_COUNT(link_columns)];
		struct fab_explained x[MCROUTE_MAX_ENGINES];

		mcroute_show_loads(o, link_columns, FAB_COUNT(link_columns), columns);
		for (size_t i = o->has_tables; i < o->n; i++)
			fab_mcast_explain(&o->problem, &o->results[i], p->explained_group,
					  &x[i]);
		print_roots(r, o, x, p->explained_group);
		fab_report_table_begin(r, "explain_links", "Cables of its tree", columns,
				       FAB_COUNT(columns));
		for (size_t i = o->has_tables; i < o->n; i++) {
			print_links(r, o, i, &x[i]);
			fab_explained_fini(&x[i]);
		}
		fab_report_table_end(r);
	}
	if (p->explain_cable)
		print_sharers(r, o, p->explained_cable);
}
