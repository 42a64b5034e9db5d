/* SPDX-License-Identifier: BSD-2-Clause */
#include "opensm/audit.h"

#include <math.h>

/* A comparison waits for replies; attempts count for some time. */
static const double WAIT_S = 0.2, FORGOTTEN_S = 300;

static void add(struct fab_audit_trees *t, const struct fab_fabric *f, uint32_t port)
{
	struct fab_audit_entry entry = {f->node_guid[f->port_node[port]],
					(uint8_t)f->port_num[port]};

	FAB_PUSH(&t->entries, entry);
}

void fab_audit_add(const struct fab_keeper *k, uint32_t group, struct fab_audit_trees *t)
{
	const struct fab_fabric *f = fab_keeper_fabric(k);
	struct fab_live_tree tree = fab_keeper_tree(k, group);

	if (tree.root == FAB_NONE)
		return;
	for (uint32_t i = 0; i < tree.n_edges; i++) {
		add(t, f, f->cable_a[tree.cable[i]]);
		add(t, f, f->cable_b[tree.cable[i]]);
	}
	for (uint32_t i = 0; i < tree.n_members; i++) {
		bool is_switch = fab_node_is_switch(f, f->port_node[tree.member[i]]);

		add(t, f, is_switch ? tree.member[i] : fab_port_peer(f, tree.member[i]));
	}
	FAB_PUSH(&t->groups, ((struct fab_audit_ends){group, t->entries.n}));
}

uint32_t fab_audit_add_part(const struct fab_keeper *k, uint32_t from, uint32_t end,
			    uint32_t n_entries, struct fab_audit_trees *t)
{
	while (from < end && t->entries.n < n_entries)
		fab_audit_add(k, from++, t);
	return from;
}

void fab_audit_trees_fini(struct fab_audit_trees *t)
{
	FAB_FREE_ALL(t->entries.v, t->groups.v);
	*t = (struct fab_audit_trees){0};
}

bool fab_audit_is_held(const struct fab_audit_tables *tables,
		       const struct fab_audit_trees *t, size_t i)
{
	size_t first = i ? t->groups.v[i - 1].end : 0, end = t->groups.v[i].end;
	uint32_t group = t->groups.v[i].group;

	if (!tables->exists(tables->context, group)) /* it needs no tree */
		return true;
	if (tables->n_ports(tables->context, group) != end - first)
		return false;
	for (size_t k = first; k < end; k++)
		if (!tables->has_port(tables->context, group, t->entries.v[k].guid,
				      t->entries.v[k].port))
			return false;
	return true;
}

void fab_audit_written(struct fab_audit *a, double now)
{
	if (!a->is_due)
		a->since = now;
	a->is_due = true;
}

enum fab_audit_verdict fab_audit_judge(struct fab_audit *a,
				       const struct fab_audit_found *found, double now)
{
	bool had_failed = a->n_failed > 0;

	a->at = now + WAIT_S;
	if (!found->is_quiet)
		return FAB_AUDIT_AGAIN;
	a->is_due = false;
	if (now - a->failed_at > FORGOTTEN_S)
		a->n_failed = 0;
	if (!found->n_wrong && !found->has_error) {
		a->n_failed = 0;
		return had_failed ? FAB_AUDIT_RECOVERED : FAB_AUDIT_HELD;
	}
	if (a->n_failed >= FAB_AUDIT_ATTEMPTS)
		return a->n_failed++ == FAB_AUDIT_ATTEMPTS ? FAB_AUDIT_LEFT
							   : FAB_AUDIT_SILENT;
	a->failed_at = now;
	a->at = now + (double)(1u << a->n_failed++);
	a->is_due = true;
	return found->has_error ? FAB_AUDIT_ASK_SWEEP : FAB_AUDIT_ASK_PASS;
}
